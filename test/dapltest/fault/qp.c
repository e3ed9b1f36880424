/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs: calls of the test when the provider fails or destroys one. */
#include "call.h"
#include "fault.h"

#include <pthread.h>
#include <stdatomic.h>

#include "softverbs/qp/key.h"
#include "softverbs/qp/qp.h"

static _Atomic(struct ibv_qp *) last;
static void (*_Atomic on_error)(void);
static void (*_Atomic on_destroy)(struct ibv_qp *qp);

struct ibv_qp *
fault_qp_last(void)
{
	return last;
}

void
fault_qp_on_error(void (*call)(void))
{
	on_error = call;
}

void
fault_qp_on_destroy(void (*call)(struct ibv_qp *qp))
{
	on_destroy = call;
}

bool
fault_qp_has_windows(struct ibv_qp *qp)
{
	bool has;

	soft_keys_lock();
	has = !LIST_EMPTY(&soft_qp_of(qp)->windows);
	soft_keys_unlock();
	return has;
}

/* Receives that are overlooked: their ids, without their segments. */
#define OVERLOOKED_MAX 16
static atomic_bool overlooks;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
	struct ibv_qp *qp;
	uint64_t id;
} overlooked[OVERLOOKED_MAX];
static int n_overlooked;
static int (*real_post_recv)(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **);

void
fault_qp_overlook_receives(bool on)
{
	overlooks = on;
}

static int
post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const int error = fault_error_of("ibv_post_recv");

	if (error)
		return error;
	if (!overlooks || qp->state != IBV_QPS_ERR)
		return real_post_recv(qp, wr, bad);
	pthread_mutex_lock(&mutex);
	if (n_overlooked < OVERLOOKED_MAX) {
		overlooked[n_overlooked].qp = qp;
		overlooked[n_overlooked++].id = wr->wr_id;
	}
	pthread_mutex_unlock(&mutex);
	return 0;
}

/* The device notices them, and flushes them. */
static void
look_again(struct ibv_qp *qp)
{
	struct ibv_recv_wr *bad;
	int kept = 0;

	pthread_mutex_lock(&mutex);
	for (int i = 0; i < n_overlooked; i++) {
		struct ibv_recv_wr wr = { .wr_id = overlooked[i].id };

		if (overlooked[i].qp == qp)
			(void)real_post_recv(qp, &wr, &bad);
		else
			overlooked[kept++] = overlooked[i];
	}
	n_overlooked = kept;
	pthread_mutex_unlock(&mutex);
}

struct ibv_qp *__real_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *__wrap_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *
__wrap_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	if (pd->context->ops.post_recv != post_recv) {
		real_post_recv = pd->context->ops.post_recv;
		pd->context->ops.post_recv = post_recv;
	}
	if (fault_error_of("ibv_create_qp"))
		return NULL;
	last = __real_ibv_create_qp(pd, attr);
	return last;
}

int __real_ibv_destroy_qp(struct ibv_qp *qp);
int __wrap_ibv_destroy_qp(struct ibv_qp *qp);
int
__wrap_ibv_destroy_qp(struct ibv_qp *qp)
{
	void (*call)(struct ibv_qp *) = on_destroy;

	if (call)
		call(qp);
	return __real_ibv_destroy_qp(qp);
}

int __real_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int __wrap_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int
__wrap_ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	void (*call)(void) = on_error;
	int r;

	r = fault_error_of("ibv_modify_qp");
	if (r)
		return r;
	/* iWARP has neither partitions nor, in a queue pair, ports. */
	if (qp->context->device->transport_type == IBV_TRANSPORT_IWARP && mask & IBV_QP_STATE &&
	    attr->qp_state == IBV_QPS_INIT)
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	r = __real_ibv_modify_qp(qp, attr, mask);
	if (r == 0 && qp->state == IBV_QPS_ERR)
		look_again(qp);
	if (call && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_ERR)
		call();
	return r;
}
