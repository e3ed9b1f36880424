/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues: calls of the test when the provider changes one. */
#include "call.h"
#include "fault.h"

#include <assert.h>
#include <stdatomic.h>

static _Atomic(struct ibv_srq *) last;
static void (*_Atomic on_modify)(void);
static atomic_bool overlooks;
static _Atomic(uint32_t) limit; /* that is overlooked */

struct ibv_srq *
fault_srq_last(void)
{
	return last;
}

void
fault_srq_on_modify(void (*call)(void))
{
	on_modify = call;
}

void
fault_srq_overlook_limit(bool on)
{
	overlooks = on;
	limit = 0;
}

struct ibv_srq *__real_ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init);
struct ibv_srq *__wrap_ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init);
struct ibv_srq *
__wrap_ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	if (fault_error_of("ibv_create_srq"))
		return NULL;
	last = __real_ibv_create_srq(pd, init);
	return last;
}

struct ibv_srq *
fault_srq_create(struct ibv_qp *qp)
{
	struct ibv_srq_init_attr attr = { .srq_context = qp->qp_context,
		.attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_srq *srq = __real_ibv_create_srq(qp->pd, &attr);

	assert(srq);
	return srq;
}

void
fault_srq_free(struct ibv_srq *srq)
{
	int r = ibv_destroy_srq(srq);

	assert(r == 0);
	(void)r;
}

int __real_ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int __wrap_ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int
__wrap_ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	void (*call)(void) = on_modify;
	int r = fault_error_of("ibv_modify_srq");

	if (r)
		return r;
	if (overlooks && mask == IBV_SRQ_LIMIT)
		limit = attr->srq_limit;
	else
		r = __real_ibv_modify_srq(srq, attr, mask);
	if (call)
		call();
	return r;
}

int __real_ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int __wrap_ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int
__wrap_ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	int r = __real_ibv_query_srq(srq, attr);

	if (overlooks)
		attr->srq_limit = limit;
	return r;
}
