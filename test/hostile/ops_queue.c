/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on librearm. */
#include <errno.h>
#include <stddef.h>

#include "actor.h"
#include "clock.h"
#include "ops.h"
#include "queue.h"
#include "report.h"

static void
with_loop(void (*act)(struct queue_loop *loop))
{
	struct queue_loop *loop = queue_loop_pick();

	if (!loop) {
		queue_loop_make();
		return;
	}
	act(loop);
	queue_loop_leave(loop);
}

static struct queue *
taken_from(struct queue_loop *loop)
{
	struct queue *queue = queue_pick(loop);

	if (!queue)
		queue_make(loop);
	return queue;
}

static void
step(struct queue_loop *loop)
{
	queue_loop_step(loop, (int)pick(3));
}

static void
post(struct queue_loop *loop)
{
	struct queue *queue = taken_from(loop);

	if (!queue)
		return;
	queue_post(queue, queue_has_events(queue) ? 1 : 1 + pick(12));
	queue_leave(queue);
}

static void
take(struct queue_loop *loop)
{
	struct queue *queue = taken_from(loop);

	if (!queue)
		return;
	(void)queue_take(queue);
	queue_leave(queue);
}

/* An end of a wait that comes too early is found out here, one that comes late by the watch. */
static void
wait(struct queue_loop *loop)
{
	struct queue *queue = taken_from(loop);
	int64_t timeout;
	double begin;
	int r;

	if (!queue)
		return;
	timeout = chance(20) ? -1 : chance(50) ? (int64_t)pick(20000) : 0;
	begin = clock_seconds();
	r = queue_wait(queue, 1 + (int)pick(queue_has_events(queue) ? 1 : 6), timeout);
	if (r == -ETIMEDOUT && clock_seconds() - begin < (double)timeout * 1e-6)
		report_wrong(&queue->life, NULL, "a wait of %lld us has ended after %g s",
		    (long long)timeout, clock_seconds() - begin);
	queue_leave(queue);
}

static void
policy(struct queue_loop *loop)
{
	struct queue *queue = taken_from(loop);
	int before;

	if (!queue)
		return;
	if (queue_set_begin(queue, &before)) {
		if (chance(60))
			queue_enable(queue, before);
		else
			queue_disable(queue, false, before);
	}
	queue_leave(queue);
}

static void
ask(struct queue_loop *loop)
{
	struct queue *queue = taken_from(loop);

	if (!queue)
		return;
	queue_ask(queue);
	queue_leave(queue);
}

static void
end(struct queue_loop *loop)
{
	struct queue *queue = taken_from(loop);

	if (!queue)
		return;
	queue_end(queue, false, 1);
	queue_leave(queue);
}

static void
make(struct queue_loop *loop)
{
	queue_make(loop);
}

#define OP(name) \
	static void op_##name(struct adapter *adapter) \
	{ \
		(void)adapter; \
		with_loop(name); \
	}

OP(step)
OP(post)
OP(take)
OP(wait)
OP(policy)
OP(ask)
OP(end)
OP(make)

static void
op_loop_end(struct adapter *adapter)
{
	(void)adapter;
	queue_loop_end_any();
}

const struct op ops_queue[] = {
	{ "a turn of a loop", GROUP_REARM, 60, op_step },
	{ "post to a queue", GROUP_REARM, 80, op_post },
	{ "take from a queue", GROUP_REARM, 40, op_take },
	{ "wait on a queue", GROUP_REARM, 25, op_wait },
	{ "the policy of a queue", GROUP_REARM, 50, op_policy },
	{ "settings and counters of a queue", GROUP_REARM, 20, op_ask },
	{ "make a queue", GROUP_REARM, 12, op_make },
	{ "free a queue", GROUP_REARM, 6, op_end },
	{ "free a loop", GROUP_REARM, 1, op_loop_end },
	{ NULL, GROUP_REARM, 0, NULL },
};
