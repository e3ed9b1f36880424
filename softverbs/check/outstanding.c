/* SPDX-License-Identifier: BSD-3-Clause */
#include "outstanding.h"
#include "softverbs/cm/id.h"
#include "softverbs/qp/qp_table.h"
#include "softverbs/qp/sq.h"
#include "softverbs/qp/srq.h"

#include <stdlib.h>

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

/* --- queue pairs whose connection has ended */

/* Pairs are only compared: the program may destroy one meanwhile. */
static struct {
	struct end {
		const struct ibv_qp *qp;
		bool unread;
	} * ends;
	size_t count, room;
	bool listens;
} ended;

static void
outstanding_take_id(struct soft_id *id, void *unused) REQUIRES(soft_locks.cm)
{
	struct end *grown;

	(void)unused;
	ended.listens |= id->state == SOFT_ID_LISTENING;
	if (id->state != SOFT_ID_DISCONNECTED || !id->public.qp)
		return;
	if (ended.count == ended.room) {
		grown = realloc(ended.ends, (2 * ended.room + 16) * sizeof *grown);
		if (!grown)
			return;
		ended.ends = grown;
		ended.room = 2 * ended.room + 16;
	}
	ended.ends[ended.count++] = (struct end){ id->public.qp, id->disconnected.queued };
}

static int
outstanding_compare(const void *a, const void *b)
{
	const uintptr_t one = (uintptr_t)((const struct end *)a)->qp,
			two = (uintptr_t)((const struct end *)b)->qp;

	return one < two ? -1 : one > two;
}

static void
outstanding_find_ended(void) SOFT_NO_CM_LOCK
{
	ended.count = 0;
	ended.listens = false;
	soft_cm_lock();
	soft_id_each(outstanding_take_id, NULL);
	soft_cm_unlock();
	if (ended.count)
		qsort(ended.ends, ended.count, sizeof *ended.ends, outstanding_compare);
}

/* Requests that were added to the view: are they of a queue pair that has ended? */
static void
outstanding_count_ended(struct soft_check_view *view, const struct soft_qp *qp, uint32_t requests)
{
	const struct end key = { .qp = &qp->ibv }, *end = NULL;

	if (ended.count)
		end =
		    bsearch(&key, ended.ends, ended.count, sizeof *ended.ends, outstanding_compare);
	if (!end || !requests)
		return;
	view->gone += requests;
	view->unread_end |= end->unread;
	view->listens = ended.listens;
}

static void
outstanding_count_sends(struct soft_qp *qp) SOFT_NO_SEND_LOCK
{
	struct soft_check_view *view;
	uint32_t sends = 0;

	soft_qp_lock_send(qp);
	view = outstanding_is_live(qp) ? outstanding_view(qp->ibv.send_cq) : NULL;
	if (view) {
		for (uint32_t i = qp->sq.head; i != qp->sq.tail; i++)
			sends += soft_sq_at(&qp->sq, i)->signaled;
		view->sends += sends;
		outstanding_count_ended(view, qp, sends);
	}
	soft_qp_unlock_send(qp);
}

static void
outstanding_count_receives(struct soft_qp *qp) SOFT_NO_RECEIVE_LOCK
{
	struct soft_check_view *view;
	uint32_t receives;

	soft_qp_lock_receive(qp);
	view = outstanding_is_live(qp) ? outstanding_view(qp->ibv.recv_cq) : NULL;
	if (view && qp->srq) {
		soft_srq_lock(qp->srq);
		view->receives += qp->srq->rq.tail - qp->srq->rq.head;
		soft_srq_unlock(qp->srq);
	} else if (view) {
		receives = qp->rq.tail - qp->rq.head;
		view->receives += receives;
		outstanding_count_ended(view, qp, receives);
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

	return view->exists && view->quiet && view->fd >= 0 && !state->visible && !state->held &&
	       !state->due && !state->unread;
}

void
soft_check_count_outstanding(void)
{
	struct soft_check_view *view;
	bool any = false, unarmed = false;

	for (struct soft_check_queue *queue = soft_check_queues(); queue; queue = queue->next) {
		view = queue->view;
		if (!view)
			continue;
		view->sends = view->receives = view->gone = 0;
		view->unread_end = view->listens = false;
		view->counted = outstanding_matters(view);
		any |= view->counted;
		unarmed |= view->counted && view->state.armed == SOFT_UNARMED;
	}
	if (!any)
		return;
	outstanding_find_ended();
	if (unarmed || ended.count)
		soft_qp_table_each(outstanding_count, NULL);
}
