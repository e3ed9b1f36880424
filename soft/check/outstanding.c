/* SPDX-License-Identifier: BSD-3-Clause */
#include "outstanding.h"
#include "soft/qp/qp_table.h"
#include "soft/qp/sq.h"
#include "soft/qp/srq.h"

/* Only the sentry has views; this thread is it. */
static struct soft_check_view *
outstanding_view(struct ibv_cq *cq)
{
	const struct soft_check_queue *queue = soft_check_queue_of(soft_cq_of(cq));
	struct soft_check_view *view = queue ? queue->view : NULL;

	return view && view->exists && view->counted ? view : NULL;
}

/* A queue pair that is connected.  The queues of one that is dead may be destroyed. */
static bool
outstanding_is_live(const struct soft_qp *qp)
{
	return !qp->dead && (qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS);
}

static void
outstanding_count_sends(struct soft_qp *qp) SOFT_NO_SEND_LOCK
{
	struct soft_check_view *view;

	soft_qp_lock_send(qp);
	view = outstanding_is_live(qp) ? outstanding_view(qp->ibv.send_cq) : NULL;
	if (view)
		for (uint32_t i = qp->sq.head; i != qp->sq.tail; i++)
			view->sends += soft_sq_at(&qp->sq, i)->signaled;
	soft_qp_unlock_send(qp);
}

static void
outstanding_count_receives(struct soft_qp *qp) SOFT_NO_RECEIVE_LOCK
{
	struct soft_check_view *view;

	soft_qp_lock_receive(qp);
	view = outstanding_is_live(qp) ? outstanding_view(qp->ibv.recv_cq) : NULL;
	if (view && qp->srq) {
		soft_srq_lock(qp->srq);
		view->receives += qp->srq->rq.tail - qp->srq->rq.head;
		soft_srq_unlock(qp->srq);
	} else if (view) {
		view->receives += qp->rq.tail - qp->rq.head;
	}
	soft_qp_unlock_receive(qp);
}

static void
outstanding_count(struct soft_qp *qp, void *unused) SOFT_NO_SEND_LOCK
{
	(void)unused;
	outstanding_count_sends(qp);
	outstanding_count_receives(qp);
}

/* Whether the view needs the numbers. */
static bool
outstanding_matters(const struct soft_check_view *view)
{
	const struct soft_check_state *state = &view->state;

	return view->exists && view->quiet && view->fd >= 0 && state->armed == SOFT_UNARMED &&
	       !state->visible && !state->held && !state->due && !state->unread;
}

void
soft_check_count_outstanding(void)
{
	struct soft_check_view *view;
	bool any = false;

	for (struct soft_check_queue *queue = soft_check_queues(); queue; queue = queue->next) {
		view = queue->view;
		if (!view)
			continue;
		view->sends = view->receives = 0;
		view->counted = outstanding_matters(view);
		any |= view->counted;
	}
	if (any)
		soft_qp_table_each(outstanding_count, NULL);
}
