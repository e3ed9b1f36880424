/* SPDX-License-Identifier: BSD-3-Clause */
#include "qp.h"
#include "answers.h"
#include "mw.h"
#include "qp_table.h"
#include "requester.h"
#include "sq.h"
#include "srq.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/device.h"
#include "softverbs/device/pd.h"
#include "softverbs/device/runtime.h"
#include "softverbs/device/unserved.h"
#include "softverbs/fault/fault.h"

#include <stdlib.h>

/* Replaces the requested sizes by those of the queue pair, which are at least as large. */
static int
qp_check_cap(const struct ibv_device_attr *limits, struct ibv_qp_init_attr *init)
{
	const uint32_t max_wr = (uint32_t)limits->max_qp_wr, max_sge = (uint32_t)limits->max_sge;
	struct ibv_qp_cap *cap = &init->cap;

	if (init->srq)
		cap->max_recv_wr = cap->max_recv_sge = 0; /* whatever the caller has there */
	if (cap->max_send_wr > max_wr || cap->max_recv_wr > max_wr || cap->max_send_sge > max_sge ||
	    cap->max_recv_sge > max_sge || cap->max_inline_data > SOFT_MAX_INLINE)
		return -EINVAL;
	if (!cap->max_send_wr)
		cap->max_send_wr = 1;
	if (!cap->max_send_sge)
		cap->max_send_sge = 1;
	if (!init->srq && !cap->max_recv_sge)
		cap->max_recv_sge = 1;
	return 0;
}

/* The send queue of a queue pair that no other thread knows. */
static int
qp_init_sq(struct soft_qp *qp, struct ibv_qp_init_attr *init) UNCHECKED
{
	const struct ibv_device_attr *limits = soft_limits(&qp->context->verbs.context);
	struct soft_sq *sq = &qp->sq;
	size_t payload = init->cap.max_send_sge * sizeof(struct ibv_sge), slots = 1;

	if (payload < init->cap.max_inline_data)
		payload = init->cap.max_inline_data;
	payload = (payload + 15) & ~(size_t)15;
	while (slots < init->cap.max_send_wr)
		slots <<= 1;
	sq->stride = sizeof(struct soft_send) + payload;
	sq->ring = calloc(slots, sq->stride);
	if (!sq->ring)
		return -ENOMEM;
	init->cap.max_inline_data = (uint32_t)payload;
	sq->mask = (uint32_t)slots - 1;
	sq->size = init->cap.max_send_wr;
	sq->max_sge = init->cap.max_send_sge;
	sq->max_read_sge = (uint32_t)limits->max_sge_rd;
	sq->atomics = limits->atomic_cap != IBV_ATOMIC_NONE;
	sq->max_inline = (uint32_t)payload;
	sq->sig_all = init->sq_sig_all;
	sq->head = sq->tail = sq->next = SOFT_COUNT_FIRST;
	/* A late answer to an earlier queue pair of this number has another epoch. */
	sq->epoch = soft_random32();
	soft_mutex_init(&sq->lock);
	soft_timer_init(&sq->timer, soft_sq_timer);
	return 0;
}

static int
qp_check_init(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	if (soft_context_is_stale(soft_context_of(pd->context)))
		return -EIO;
	if (init->qp_type != IBV_QPT_RC && init->qp_type != IBV_QPT_UD) {
		SOFT_UNSERVED("ibv_create_qp of another type than IBV_QPT_RC and IBV_QPT_UD");
		return -EOPNOTSUPP;
	}
	if (!init->send_cq || !init->recv_cq || init->send_cq->context != pd->context ||
	    init->recv_cq->context != pd->context ||
	    (init->srq && init->srq->context != pd->context))
		return -EINVAL;
	return qp_check_cap(soft_limits(pd->context), init);
}

struct ibv_qp *
soft_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	SOFT_UNCANCELLED;
	struct soft_context *ctx = soft_context_of(pd->context);
	struct ibv_qp_cap asked = init->cap;
	struct soft_qp *qp;
	int r;

	r = qp_check_init(pd, init);
	if (r)
		goto fail;
	r = soft_runtime_start();
	if (r)
		goto fail;
	r = soft_context_count(&ctx->qps, soft_limits(pd->context)->max_qp);
	if (r)
		goto fail;
	qp = calloc(1, sizeof *qp);
	r = -ENOMEM;
	if (!qp)
		goto uncount;
	qp->ibv = (struct ibv_qp){
		.context = pd->context,
		.qp_context = init->qp_context,
		.pd = pd,
		.send_cq = init->send_cq,
		.recv_cq = init->recv_cq,
		.srq = init->srq,
		.state = IBV_QPS_RESET,
		.qp_type = init->qp_type,
	};
	qp->context = soft_context_of(pd->context);
	qp->port = soft_device_port(pd->context, 1);
	qp->pd = soft_pd_root(pd);
	qp->srq = init->srq ? soft_srq_of(init->srq) : NULL;
	qp->refs = 1;
	qp->made = soft_fault_made(SOFT_OBJECT_QP);
	r = soft_rq_init(&qp->rq, init->cap.max_recv_wr, init->cap.max_recv_sge);
	if (r)
		goto free_qp;
	r = qp_init_sq(qp, init);
	if (r)
		goto free_rq;
	qp->init = *init;
	pthread_mutex_init(&qp->ibv.mutex, NULL);
	pthread_cond_init(&qp->ibv.cond, NULL);
	soft_mutex_init(&qp->rq_lock);
	soft_async_source_init(&qp->async, &qp->ibv);
	r = soft_qp_table_add(qp);
	if (r) {
		soft_qp_put(qp);
		goto uncount;
	}
	soft_pd_of(pd)->users++;
	soft_cq_of(init->send_cq)->users++;
	soft_cq_of(init->recv_cq)->users++;
	if (qp->srq)
		qp->srq->users++;
	return &qp->ibv;

free_rq:
	soft_rq_fini(&qp->rq);
free_qp:
	free(qp);
uncount:
	ctx->qps--;
fail:
	init->cap = asked;
	errno = -r;
	return NULL;
}

int
soft_ibv_query_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask,
    struct ibv_qp_init_attr *init) SOFT_NO_SEND_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_qp *qp = soft_qp_of(ibv);

	if (soft_context_is_stale(qp->context))
		return EIO;
	soft_qp_lock_send(qp);
	*attr = qp->attr; /* the mask selects nothing here: all are set */
	attr->qp_state = attr->cur_qp_state = qp->state;
	if (mask & IBV_QP_STATE)
		ibv->state = qp->state;
	attr->cap = qp->init.cap;
	attr->sq_draining = qp->state == IBV_QPS_SQD && soft_sq_has_begun(&qp->sq);
	attr->path_mig_state = IBV_MIG_MIGRATED;
	*init = qp->init;
	soft_qp_unlock_send(qp);
	return 0;
}

int
soft_ibv_destroy_qp(struct ibv_qp *ibv) SOFT_NO_SEND_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_qp *qp = soft_qp_of(ibv);
	struct soft_qp *peer, *starved;
	struct soft_judged_wait wait;
	uint32_t asyncs;
	int state;

	if (soft_context_is_stale(qp->context))
		return 0;
	soft_qp_table_remove(qp);
	soft_qp_lock_send(qp);
	soft_sq_end_stall(qp);
	peer = qp->sq.peer;
	qp->sq.peer = NULL;
	qp->sq.head = qp->sq.tail;
	soft_sq_revoke(qp);
	soft_sq_go_back(qp);
	soft_qp_lock_receive(qp);
	qp->dead = true;
	soft_answers_revoke(qp);
	qp->state = IBV_QPS_RESET;
	starved = qp->starved;
	qp->starved = NULL;
	if (qp->srq)
		soft_srq_detach(qp->srq, qp);
	soft_qp_unlock_receive(qp);
	soft_qp_unlock_send(qp);
	soft_mw_unbind_all(qp);
	if (starved) {
		soft_sq_resume(starved); /* it finds that this end is gone */
		soft_qp_put(starved);
	}
	if (peer)
		soft_qp_put(peer);

	asyncs = soft_async_source_fini(qp->context, &qp->async);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	wait = (struct soft_judged_wait){ "ibv_destroy_qp()", "queue pair", ibv->qp_num, asyncs,
		soft_completed_read(&ibv->mutex, &ibv->events_completed), NULL };
	soft_judge_waiting(&wait);
	soft_completed_lock(&ibv->mutex);
	while (ibv->events_completed != asyncs) {
		pthread_cond_wait(&ibv->cond, &ibv->mutex);
		soft_judge_waits(&wait, ibv->events_completed);
	}
	soft_completed_unlock(&ibv->mutex);
	soft_judge_waited(&wait);
	pthread_setcancelstate(state, NULL);

	/*
	 * Its completions stay until they are polled, but no delayed one becomes visible from now
	 * on.
	 */
	soft_cq_show(soft_cq_of(ibv->send_cq));
	soft_cq_show(soft_cq_of(ibv->recv_cq));
	soft_pd_of(ibv->pd)->users--;
	soft_cq_of(ibv->send_cq)->users--;
	soft_cq_of(ibv->recv_cq)->users--;
	if (qp->srq)
		qp->srq->users--;
	qp->context->qps--;
	soft_qp_put(qp);
	return 0;
}

int
ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
	(void)qp, (void)op, (void)flags;
	return 0;
}
