/* SPDX-License-Identifier: BSD-3-Clause */
/* The callbacks of the queues of librearm, and the calls that they make. */
#include <errno.h>

#include "actor.h"
#include "options.h"
#include "queue.h"
#include "report.h"
#include "run.h"

/* The argument of a callback names the place of the queue, and which one of that place it is. */
#define PLACE_BITS 8

static void *
arg_of(const struct queue *queue)
{
	return (void *)(uintptr_t)(queue->life.serial << PLACE_BITS | queue->place);
}

static struct queue *
enter(void *arg)
{
	struct queue *queue = queue_of_place((uintptr_t)arg & ((1u << PLACE_BITS) - 1));
	const struct life *life = &queue->life;

	pthread_mutex_lock(&queue->life.lock);
	if (arg_of(queue) != arg)
		report_wrong(life, NULL, "a callback of queue %llu, which ended long ago",
		    (unsigned long long)((uintptr_t)arg >> PLACE_BITS));
	if (queue->state == QUEUE_ENDED && !queue->freed_inside)
		report_wrong(life, NULL, "a callback starts after the free has returned");
	if (queue->policy == QUEUE_TORN)
		report_wrong(life, NULL, "a callback starts after the teardown has returned");
	if (!queue->many && queue->inside)
		report_wrong(life, NULL, "a callback starts while another one runs");
	queue->inside++;
	pthread_mutex_unlock(&queue->life.lock);
	return queue;
}

static void
leave(struct queue *queue)
{
	pthread_mutex_lock(&queue->life.lock);
	queue->inside--;
	pthread_mutex_unlock(&queue->life.lock);
}

/* Those of a queue whose policy is never MANY come in order. */
static unsigned int
bound_of(const struct queue *queue)
{
	return queue->many ? 0 : queue->last_called;
}

static void
act_inside(struct queue *queue)
{
	struct queue *other;
	int before;

	if (run_is_calm() || !chance(15))
		return;
	switch (pick(8)) {
	case 0:
		if (options.group[GROUP_INSIDE] && chance(30))
			queue_end(queue, true, 0);
		break;
	case 1:
		queue_post(queue, 1 + pick(4));
		break;
	case 2:
		(void)queue_take(queue);
		break;
	case 3:
		queue_ask(queue);
		break;
	case 4:
		if (!queue_set_begin(queue, &before))
			break;
		queue_disable(queue, true, before);
		break;
	case 5:
		other = queue_pick(queue->loop);
		if (!other)
			break;
		if (queue_set_begin(other, &before))
			queue_enable(other, before);
		queue_leave(other);
		break;
	default:
		if (queue_set_begin(queue, &before))
			queue_enable(queue, before);
	}
}

void
queue_drain(struct queue *queue)
{
	while (queue_take(queue) > 0)
		;
}

static void
on_batch(void *arg, const struct ibv_wc *wc, int n, int more)
{
	struct queue *queue = enter(arg);
	struct trace_line *line = trace("callback", life_name(&queue->life), 0, (uint64_t)n);

	if (more != 0 && more != 1)
		report_wrong(&queue->life, NULL, "more is %d", more);
	if (wc ? n < 1 || n > QUEUE_BATCH : n != 0)
		report_wrong(&queue->life, NULL, "a callback with %d completions", n);
	if (wc)
		queue->last_called = queue_got(queue, wc, n, bound_of(queue));
	else
		queue_drain(queue);
	act_inside(queue);
	trace_done(line, 0);
	leave(queue);
}

void
queue_request_done(struct rearm_request *of, const struct ibv_wc *wc, void *arg)
{
	struct queue *queue = enter(arg);
	struct trace_line *line = trace("done", life_name(&queue->life), 0, 0);

	if ((uintptr_t)of != wc->wr_id)
		report_wrong(&queue->life, NULL, "a completion of another request");
	queue->last_called = queue_got(queue, wc, 1, bound_of(queue));
	act_inside(queue);
	trace_done(line, 0);
	leave(queue);
}

static void
on_event(void *arg, const union rearm_event *event)
{
	struct queue *queue = enter(arg);
	struct trace_line *line = trace("event", life_name(&queue->life), 0, 0);

	if (event)
		queue->last_called = queue_got_event(queue, event, bound_of(queue));
	else
		queue_drain(queue);
	act_inside(queue);
	trace_done(line, 0);
	leave(queue);
}

/* ---- policies ---- */

static int
enable(struct queue *queue, enum rearm_policy policy, bool same, enum rearm_pending pending)
{
	const bool requests = policy != REARM_NOTIFY && chance(30);
	const struct rearm_upcall upcall = { requests ? rearm_call_requests : on_batch,
		arg_of(queue), 1 + (int)pick(QUEUE_BATCH) };
	const struct rearm_event_upcall event = { on_event, arg_of(queue) };

	if (queue_has_events(queue))
		return QUEUE_CALL(queue, "rearm_queue_enable_events",
		    rearm_queue_enable_events(queue->queue, policy, same ? NULL : &event, pending),
		    EBUSY, pending == REARM_NEW ? EAGAIN : 0, 0);
	return QUEUE_CALL(queue, "rearm_queue_enable",
	    rearm_queue_enable(queue->queue, policy, same ? NULL : &upcall, pending), EBUSY,
	    pending == REARM_NEW ? EAGAIN : 0, 0);
}

void
queue_enable(struct queue *queue, int before)
{
	static const enum rearm_policy policies[] = { REARM_SINGLE, REARM_NOTIFY, REARM_MANY };
	const enum rearm_policy policy = policies[pick(queue->many ? 3 : 2)];
	const bool same = queue->given && policy != REARM_NOTIFY && chance(40);
	const int r = enable(queue, policy, same, chance(70) ? REARM_ANY : REARM_NEW);

	queue->given = queue->given || r == 0;
	queue_set_end(queue, r == 0 ? (int)policy : before);
}

/* Callbacks that were claimed before may still start, but for a teardown from outside. */
void
queue_disable(struct queue *queue, bool inside, int before)
{
	const bool tears = chance(50);
	const int r =
	    tears ?
		QUEUE_CALL(queue, "rearm_queue_teardown", rearm_queue_teardown(queue->queue), 0) :
		QUEUE_CALL(queue, "rearm_queue_disable", rearm_queue_disable(queue->queue), 0);

	queue_set_end(queue, r ? before : tears && !inside ? QUEUE_TORN : 0);
}
