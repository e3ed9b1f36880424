/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults of completion queues.  soft_cq_push() is a call inside the device, the others are calls of
 * the provider.
 */
#include "fault.h"
#include "poll.h"

#include "soft/cq/cq.h"
#include "soft/device/context.h"
#include "soft/soft_arm.h"

static atomic_int overruns, refused_arms, repeated;
static atomic_uint polls, arms;
static atomic_bool resize_fails, poll_fails;
static void (*_Atomic change_completion)(struct ibv_wc *wc);
static _Atomic(struct ibv_cq *) last;
static int (*real_poll)(struct ibv_cq *, int, struct ibv_wc *);

/* Uses up one of the faults that are left. */
static bool
use_up(atomic_int *left)
{
	int n = *left;

	while (n > 0)
		if (atomic_compare_exchange_weak(left, &n, n == FAULT_ALWAYS ? n : n - 1))
			return true;
	return false;
}

void
fault_cq_overrun(int n)
{
	overruns = n;
}

void
fault_cq_refuse_arms(int n)
{
	refused_arms = n;
}

void
fault_cq_refuse_resize(bool on)
{
	resize_fails = on;
}

void
fault_cq_refuse_poll(bool on)
{
	poll_fails = on;
}

void
fault_cq_repeat(int n)
{
	repeated = n;
}

void
fault_cq_change(void (*change)(struct ibv_wc *wc))
{
	change_completion = change;
}

struct fault_cq_calls
fault_cq_calls(void)
{
	return (struct fault_cq_calls){ polls, arms };
}

struct ibv_cq *
fault_cq_last(void)
{
	return last;
}

static int
poll_changed(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	void (*change)(struct ibv_wc *) = change_completion;
	int n;

	polls++;
	n = poll_fails ? -1 : real_poll(cq, max, wc);
	while (n > 0 && n < max && use_up(&repeated)) {
		wc[n] = wc[n - 1];
		n++;
	}
	for (int i = 0; change && i < n; i++)
		change(&wc[i]);
	return n;
}

void
cq_wrap_poll(struct ibv_context *context)
{
	if (context->ops.poll_cq == poll_changed)
		return;
	real_poll = context->ops.poll_cq;
	context->ops.poll_cq = poll_changed;
}

int __real_soft_cq_push(struct soft_cq *cq, const struct ibv_wc *wc, bool solicited);
int __wrap_soft_cq_push(struct soft_cq *cq, const struct ibv_wc *wc, bool solicited);
int
__wrap_soft_cq_push(struct soft_cq *cq, const struct ibv_wc *wc, bool solicited)
{
	bool before;

	if (use_up(&overruns)) {
		soft_cq_lock(cq);
		before = cq->overrun;
		cq->overrun = true;
		soft_cq_unlock(cq);
		if (!before)
			soft_async_raise(
			    soft_context_of(cq->ibv.context), &cq->async, IBV_EVENT_CQ_ERR);
	}
	return __real_soft_cq_push(cq, wc, solicited);
}

int __real_soft_cq_arm(struct ibv_cq *cq, int solicited_only);
int __wrap_soft_cq_arm(struct ibv_cq *cq, int solicited_only);
int
__wrap_soft_cq_arm(struct ibv_cq *cq, int solicited_only)
{
	arms++;
	return use_up(&refused_arms) ? -EIO : __real_soft_cq_arm(cq, solicited_only);
}

int __real_ibv_resize_cq(struct ibv_cq *cq, int cqe);
int __wrap_ibv_resize_cq(struct ibv_cq *cq, int cqe);
int
__wrap_ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	return resize_fails ? EOPNOTSUPP : __real_ibv_resize_cq(cq, cqe);
}

struct ibv_cq *__real_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector);
struct ibv_cq *__wrap_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector);
struct ibv_cq *
__wrap_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector)
{
	last = __real_ibv_create_cq(context, cqe, cq_context, channel, vector);
	return last;
}
