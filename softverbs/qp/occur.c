/* SPDX-License-Identifier: BSD-3-Clause */
#include "occur.h"
#include "qp_error.h"
#include "qp_table.h"
#include "srq.h"
#include "softverbs/cq/made.h"

/* Which object, and what becomes of it. */
struct occurrence {
	enum soft_incident incident;
	unsigned int of; /* its number; the lowest one while it is searched */
	bool search, done;
};

/*
 * The number of the object of this queue pair, or 0.  While the receive lock is held the queue pair
 * is not destroyed, and so are not the queues that it uses.
 */
static unsigned int
occur_number(const struct soft_qp *qp, const struct occurrence *occurrence)
    REQUIRES(soft_locks.receive)
{
	const struct soft_cq *send = soft_cq_of(qp->ibv.send_cq),
			     *recv = soft_cq_of(qp->ibv.recv_cq);

	switch (occurrence->incident) {
	case SOFT_INCIDENT_CQ_ERR:
		if (!occurrence->search)
			return send->made == occurrence->of ? send->made : recv->made;
		return send->made < recv->made ? send->made : recv->made;
	case SOFT_INCIDENT_SRQ_ERR:
	case SOFT_INCIDENT_SRQ_LIMIT:
		return qp->srq ? qp->srq->made : 0;
	default:
		/* One that is not connected has no errors of its connection. */
		return qp->state >= IBV_QPS_RTR && qp->state < IBV_QPS_ERR ? qp->made : 0;
	}
}

static enum ibv_event_type
occur_event(enum soft_incident incident)
{
	switch (incident) {
	case SOFT_INCIDENT_QP_REQ_ERR:
		return IBV_EVENT_QP_REQ_ERR;
	case SOFT_INCIDENT_QP_ACCESS_ERR:
		return IBV_EVENT_QP_ACCESS_ERR;
	case SOFT_INCIDENT_PATH_MIG:
		return IBV_EVENT_PATH_MIG;
	case SOFT_INCIDENT_PATH_MIG_ERR:
		return IBV_EVENT_PATH_MIG_ERR;
	case SOFT_INCIDENT_SRQ_ERR:
		return IBV_EVENT_SRQ_ERR;
	case SOFT_INCIDENT_SRQ_LIMIT:
		return IBV_EVENT_SRQ_LIMIT_REACHED;
	default:
		return IBV_EVENT_QP_FATAL;
	}
}

/* Its object is the one; true if the queue pair is to enter the error state, with the event. */
static bool
occur_to(struct soft_qp *qp, struct occurrence *occurrence, int *event) REQUIRES(soft_locks.receive)
{
	const enum ibv_event_type type = occur_event(occurrence->incident);

	switch (occurrence->incident) {
	case SOFT_INCIDENT_CQ_ERR:
		if (soft_cq_of(qp->ibv.send_cq)->made == occurrence->of)
			soft_cq_fail(soft_cq_of(qp->ibv.send_cq));
		else
			soft_cq_fail(soft_cq_of(qp->ibv.recv_cq));
		occurrence->done = true;
		return false;
	case SOFT_INCIDENT_SRQ_LIMIT:
		occurrence->done = occurrence->done || soft_srq_occur(qp->srq, type);
		return false;
	case SOFT_INCIDENT_SRQ_ERR:
		/* All its queue pairs fail, with LAST_WQE_REACHED; the queue has one event. */
		if (!occurrence->done)
			(void)soft_srq_occur(qp->srq, type);
		occurrence->done = true;
		*event = SOFT_NO_EVENT;
		return true;
	case SOFT_INCIDENT_PATH_MIG:
	case SOFT_INCIDENT_PATH_MIG_ERR:
		soft_async_raise(qp->context, &qp->async, type);
		occurrence->done = true;
		return false;
	default:
		occurrence->done = true;
		*event = (int)type;
		return true;
	}
}

static void
occur_mark(struct soft_qp *qp) REQUIRES(soft_locks.receive)
{
	soft_cq_make(soft_cq_of(qp->ibv.send_cq), SOFT_MADE_QP_ERR);
	soft_cq_make(soft_cq_of(qp->ibv.recv_cq), SOFT_MADE_QP_ERR);
}

static void
occur_one(struct soft_qp *qp, void *arg) SOFT_NO_SEND_LOCK
{
	struct occurrence *occurrence = arg;
	unsigned int number;
	bool fails = false;
	int event;

	soft_qp_lock_receive(qp);
	/* An object of a device that was removed has no more events. */
	number =
	    qp->dead || soft_context_is_removed(qp->context) ? 0 : occur_number(qp, occurrence);
	if (!number || (!occurrence->search && number != occurrence->of)) {
		/* another one */
	} else if (occurrence->search) {
		if (!occurrence->of || number < occurrence->of)
			occurrence->of = number;
	} else {
		fails = occur_to(qp, occurrence, &event);
	}
	if (fails)
		occur_mark(qp);
	soft_qp_unlock_receive(qp);
	if (fails)
		soft_qp_error(qp, event);
}

bool
soft_qp_occur(enum soft_incident incident, unsigned int of)
{
	struct occurrence occurrence = { incident, of, !of, false };

	if (!of)
		soft_qp_table_each(occur_one, &occurrence);
	occurrence.search = false;
	if (occurrence.of)
		soft_qp_table_each(occur_one, &occurrence);
	return occurrence.done;
}

static void
occur_fail(struct soft_qp *qp, void *arg) SOFT_NO_SEND_LOCK
{
	const soft_ports *ports = arg;

	/* A device has a first port. */
	if (soft_ports_have(*ports, &soft_topology()->devices[qp->context->index].ports[0]))
		soft_qp_error(qp, SOFT_NO_EVENT);
}

void
soft_qp_fail_all(soft_ports ports)
{
	soft_qp_table_each(occur_fail, &ports);
}
