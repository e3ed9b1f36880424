/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs: calls of the test when the provider fails or destroys one. */
#include "fault.h"

#include <stdatomic.h>

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

struct ibv_qp *__real_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *__wrap_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *
__wrap_ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
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

	/* iWARP has neither partitions nor, in a queue pair, ports. */
	if (qp->context->device->transport_type == IBV_TRANSPORT_IWARP && mask & IBV_QP_STATE &&
	    attr->qp_state == IBV_QPS_INIT)
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	r = __real_ibv_modify_qp(qp, attr, mask);
	if (call && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_ERR)
		call();
	return r;
}
