/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults of completion queues.  soft_cq_push() is a call inside the device, the others are calls of
 * the provider.
 */
#include "call.h"
#include "fault.h"
#include "poll.h"

#include "softverbs/cq/cq.h"
#include "softverbs/device/context.h"
#include "softverbs/soft_arm.h"

static atomic_int overruns, refused_arms, repeated;
static atomic_uint polls, arms;
static atomic_bool resize_fails, poll_fails, periods_stand;
static atomic_int moderation_error;
static atomic_uint moderated,
    last_moderation; /* that: the count, and the period in the upper half */
static void (*_Atomic change_completion)(struct ibv_wc *wc);
static _Atomic(struct ibv_cq *) last;
static int (*real_poll)(struct ibv_cq *, int, struct ibv_wc *);
static int (*real_modify)(struct ibv_cq *, struct ibv_modify_cq_attr *);

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
fault_cq_refuse_moderation(int error)
{
	moderation_error = error;
}

void
fault_cq_stop_periods(bool on)
{
	periods_stand = on;
}

unsigned int
fault_cq_moderated(void)
{
	return moderated;
}

struct ibv_moderate_cq
fault_cq_last_moderation(void)
{
	const unsigned int value = last_moderation;

	return (struct ibv_moderate_cq){ .cq_count = (uint16_t)value,
		.cq_period = (uint16_t)(value >> 16) };
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

unsigned int
fault_cq_notifications(struct ibv_cq *ibv) UNCHECKED
{
	struct soft_cq *cq = soft_cq_of(ibv);
	unsigned int n;

	soft_mutex_lock(&cq->channel->lock);
	n = soft_cq_unread(cq) + cq->delivered;
	soft_mutex_unlock(&cq->channel->lock);
	return n;
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

static int
modify_changed(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	const int error = moderation_error;

	moderated++;
	last_moderation = attr->moderate.cq_count | (unsigned int)attr->moderate.cq_period << 16;
	return error ? error : real_modify(cq, attr);
}

void
cq_wrap_modify(struct verbs_context *verbs, bool lacks)
{
	if (verbs->modify_cq && verbs->modify_cq != modify_changed)
		real_modify = verbs->modify_cq;
	verbs->modify_cq = lacks ? NULL : modify_changed;
}

int __real_soft_personality_moderate(struct soft_cq *cq, uint32_t count, uint64_t period);
int __wrap_soft_personality_moderate(struct soft_cq *cq, uint32_t count, uint64_t period);
int
__wrap_soft_personality_moderate(struct soft_cq *cq, uint32_t count, uint64_t period)
{
	return __real_soft_personality_moderate(
	    cq, count, periods_stand ? 24 * 3600 * (uint64_t)SOFT_SECOND : period);
}

int __real_soft_cq_push(struct soft_cq *cq, const struct ibv_wc *wc, bool solicited);
int __wrap_soft_cq_push(struct soft_cq *cq, const struct ibv_wc *wc, bool solicited);
int
__wrap_soft_cq_push(struct soft_cq *cq, const struct ibv_wc *wc, bool solicited)
{
	if (use_up(&overruns)) {
		soft_cq_lock(cq);
		/* The event first, as in the device: the provider reads it when a call fails. */
		if (!cq->overrun)
			soft_async_raise(
			    soft_context_of(cq->ibv.context), &cq->async, IBV_EVENT_CQ_ERR);
		cq->overrun = true;
		soft_cq_unlock(cq);
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
	const int error = resize_fails ? EOPNOTSUPP : fault_error_of("ibv_resize_cq");

	return error ? error : __real_ibv_resize_cq(cq, cqe);
}

struct ibv_cq *__real_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector);
struct ibv_cq *__wrap_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector);
struct ibv_cq *
__wrap_ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector)
{
	if (fault_error_of("ibv_create_cq"))
		return NULL;
	last = __real_ibv_create_cq(context, cqe, cq_context, channel, vector);
	return last;
}
