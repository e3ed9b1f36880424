/* SPDX-License-Identifier: BSD-3-Clause */
#include "srq.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/device.h"
#include "softverbs/device/pd.h"
#include "softverbs/fault/fault.h"

#include <stdlib.h>

/* Moves the requests to a new ring, in their order. */
static int
srq_resize(struct soft_srq *srq, uint32_t max_wr) REQUIRES(soft_locks.srq)
{
	struct soft_receive *moved;
	struct soft_rq bigger;
	int r;

	if (!max_wr || max_wr > (uint32_t)soft_limits(srq->ibv.context)->max_srq_wr ||
	    max_wr < srq->rq.tail - srq->rq.head)
		return -EINVAL;
	moved = malloc(sizeof *moved);
	if (!moved)
		return -ENOMEM;
	r = soft_rq_init(&bigger, max_wr, srq->rq.max_sge);
	if (!r) {
		while (soft_rq_take(&srq->rq, moved))
			(void)soft_rq_post(&bigger, &(struct ibv_recv_wr){ .wr_id = moved->wr_id,
							.sg_list = moved->sge,
							.num_sge = moved->num_sge });
		soft_rq_fini(&srq->rq);
		srq->rq = bigger;
	}
	free(moved);
	return r;
}

/* Raises the event once when the number of receives falls below the limit. */
static void
srq_check_limit(struct soft_srq *srq) REQUIRES(soft_locks.srq)
{
	if (!srq->limit || srq->rq.tail - srq->rq.head >= srq->limit)
		return;
	srq->limit = 0;
	soft_async_raise(
	    soft_context_of(srq->ibv.context), &srq->async, IBV_EVENT_SRQ_LIMIT_REACHED);
}

/* No other thread has it yet. */
static void
srq_init_starved(struct soft_srq *srq) UNCHECKED
{
	TAILQ_INIT(&srq->starved);
}

bool
soft_srq_occur(struct soft_srq *srq, enum ibv_event_type event)
{
	bool armed;

	soft_srq_lock(srq);
	armed = srq->limit;
	if (event == IBV_EVENT_SRQ_LIMIT_REACHED)
		srq->limit = 0;
	soft_srq_unlock(srq);
	if (event == IBV_EVENT_SRQ_LIMIT_REACHED && !armed)
		return false;
	soft_async_raise(soft_context_of(srq->ibv.context), &srq->async, event);
	return true;
}

struct ibv_srq *
soft_ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	SOFT_UNCANCELLED;
	static atomic_uint handles;
	struct soft_context *ctx = soft_context_of(pd->context);
	struct soft_srq *srq;
	int r;

	if (soft_context_is_stale(ctx))
		r = -EIO;
	else if (!init->attr.max_wr ||
		 init->attr.max_wr > (uint32_t)soft_limits(pd->context)->max_srq_wr ||
		 init->attr.max_sge > (uint32_t)soft_limits(pd->context)->max_srq_sge)
		r = -EINVAL;
	else
		r = soft_context_count(&ctx->srqs, soft_limits(pd->context)->max_srq);
	if (r)
		goto fail;
	srq = calloc(1, sizeof *srq);
	r = -ENOMEM;
	if (!srq)
		goto uncount;
	if (!init->attr.max_sge)
		init->attr.max_sge = 1;
	r = soft_rq_init(&srq->rq, init->attr.max_wr, init->attr.max_sge);
	if (r)
		goto free_srq;
	srq->ibv.context = pd->context;
	srq->ibv.srq_context = init->srq_context;
	srq->ibv.pd = pd;
	srq->pd = soft_pd_root(pd);
	srq->ibv.handle = ++handles;
	srq->made = soft_fault_made(SOFT_OBJECT_SRQ);
	pthread_mutex_init(&srq->ibv.mutex, NULL);
	pthread_cond_init(&srq->ibv.cond, NULL);
	soft_mutex_init(&srq->lock);
	srq_init_starved(srq);
	soft_async_source_init(&srq->async, &srq->ibv);
	soft_pd_of(pd)->users++;
	return &srq->ibv;

free_srq:
	free(srq);
uncount:
	ctx->srqs--;
fail:
	errno = -r;
	return NULL;
}

int
soft_ibv_modify_srq(struct ibv_srq *ibv, struct ibv_srq_attr *attr, int mask) SOFT_NO_SRQ_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_srq *srq = soft_srq_of(ibv);
	int r = 0;

	if (soft_context_is_stale(soft_context_of(ibv->context)))
		return EIO;
	if (mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT) ||
	    (mask & IBV_SRQ_MAX_WR &&
		!(soft_limits(ibv->context)->device_cap_flags & IBV_DEVICE_SRQ_RESIZE)))
		return EINVAL;
	soft_srq_lock(srq);
	if (mask & IBV_SRQ_LIMIT &&
	    attr->srq_limit > (mask & IBV_SRQ_MAX_WR ? attr->max_wr : srq->rq.size))
		r = -EINVAL;
	if (!r && mask & IBV_SRQ_MAX_WR)
		r = srq_resize(srq, attr->max_wr);
	if (!r && mask & IBV_SRQ_LIMIT) {
		srq->limit = attr->srq_limit;
		srq_check_limit(srq);
	}
	soft_srq_unlock(srq);
	return -r;
}

int
soft_ibv_query_srq(struct ibv_srq *ibv, struct ibv_srq_attr *attr) SOFT_NO_SRQ_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_srq *srq = soft_srq_of(ibv);

	if (soft_context_is_stale(soft_context_of(ibv->context)))
		return EIO;
	soft_srq_lock(srq);
	attr->max_wr = srq->rq.size;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = srq->limit;
	soft_srq_unlock(srq);
	return 0;
}

int
soft_ibv_destroy_srq(struct ibv_srq *ibv) SOFT_NO_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_srq *srq = soft_srq_of(ibv);
	struct soft_context *ctx = soft_context_of(ibv->context);
	struct soft_judged_wait wait;
	uint32_t asyncs;
	int state;

	if (soft_context_is_stale(ctx))
		return 0;
	if (srq->users)
		return EBUSY;
	asyncs = soft_async_source_fini(ctx, &srq->async);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	wait = (struct soft_judged_wait){ "ibv_destroy_srq()", "shared receive queue", 0, asyncs,
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
	pthread_mutex_destroy(&ibv->mutex);
	pthread_cond_destroy(&ibv->cond);
	soft_mutex_destroy(&srq->lock);
	soft_rq_fini(&srq->rq);
	soft_pd_of(ibv->pd)->users--;
	free(srq);
	ctx->srqs--;
	return 0;
}

bool
soft_srq_take(struct soft_srq *srq, struct soft_qp *qp)
{
	bool taken;

	soft_srq_lock(srq);
	taken = soft_rq_take(&srq->rq, &qp->current);
	if (taken) {
		srq_check_limit(srq);
	} else if (!qp->srq_waiting) {
		qp->srq_waiting = true;
		soft_qp_get(qp);
		TAILQ_INSERT_TAIL(&srq->starved, qp, srq_link);
	}
	soft_srq_unlock(srq);
	return taken;
}

void
soft_srq_detach(struct soft_srq *srq, struct soft_qp *qp)
{
	bool waited;

	soft_srq_lock(srq);
	waited = qp->srq_waiting;
	if (waited) {
		TAILQ_REMOVE(&srq->starved, qp, srq_link);
		qp->srq_waiting = false;
	}
	soft_srq_unlock(srq);
	if (waited)
		soft_qp_put(qp);
}
