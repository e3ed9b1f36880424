/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * upcall -- events that the consumer gets by upcalls: a backlog, bursts at an idle EVD, and the
 * switching of policies
 */
#include "workload.h"

#include "connect.h"
#include "device.h"
#include "measure.h"

#include <dat2/dat_upcall.h>
#include <stdatomic.h>

#define ENDPOINTS 8
#define WINDOW (ENDPOINTS * 256u)
#define WINDOWS 8
#define LONG_WINDOW \
	(4 * WINDOW)	  /* so that to enable callbacks is as little of it as it should be */
#define SOFTWARE_EACH 64u /* completions for a software event of a merged queue */
#define POSTED (ENDPOINTS * ENGINE_DEPTH)
#define BURSTS 64u /* of a window, at most */

static struct queue queue;
static _Atomic uint64_t handled, completions;
static unsigned int array; /* events of an upcall at most; 0: an upcall has one */

/* The upcall posts the software events of a merged queue; this is not counted. */
static void
upcall_count(DAT_PVOID data, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)data;
	(void)more;
	engine_dat_consume(event);
	if (queue.kind == QUEUE_MERGED && event->event_number == DAT_DTO_COMPLETION_EVENT &&
	    atomic_fetch_add(&completions, 1) % SOFTWARE_EACH == 0) {
		measure_pause();
		engine_dat.software(&queue);
		measure_resume();
	}
	atomic_fetch_add_explicit(&handled, 1, memory_order_release);
}

/* The same for several events. */
static void
upcall_count_array(DAT_PVOID data, const DAT_EVENT *events, DAT_COUNT n, DAT_BOOLEAN more)
{
	(void)data;
	(void)more;
	for (DAT_COUNT i = 0; i < n; i++) {
		engine_dat_consume(&events[i]);
		if (queue.kind == QUEUE_MERGED &&
		    events[i].event_number == DAT_DTO_COMPLETION_EVENT &&
		    atomic_fetch_add(&completions, 1) % SOFTWARE_EACH == 0) {
			measure_pause();
			engine_dat.software(&queue);
			measure_resume();
		}
	}
	atomic_fetch_add_explicit(&handled, (uint64_t)n, memory_order_release);
}

/* The upcall of NOTIFY has no event. */
static void
upcall_dequeue(DAT_PVOID data, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	DAT_EVENT next;
	uint64_t n = 0;

	(void)data;
	(void)event;
	(void)more;
	for (; dat_evd_dequeue(queue.evd, &next) == DAT_SUCCESS; n++)
		engine_dat_consume(&next);
	atomic_fetch_add_explicit(&handled, n, memory_order_release);
}

/* The upcall of doc/upcall-policy.md: disable, dequeue all, enable unless more has come. */
static void
upcall_switch(DAT_PVOID data, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	uint64_t n = 1;
	DAT_EVENT next;
	DAT_RETURN ret;

	(void)data;
	(void)more;
	if (dat_evd_modify_upcall(
		queue.evd, DAT_UPCALL_DISABLE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW))
		__builtin_trap();
	engine_dat_consume(event);
	do {
		for (; dat_evd_dequeue(queue.evd, &next) == DAT_SUCCESS; n++)
			engine_dat_consume(&next);
		ret = dat_evd_modify_upcall(
		    queue.evd, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW);
	} while (DAT_GET_TYPE(ret) == DAT_INVALID_STATE);
	atomic_fetch_add_explicit(&handled, n, memory_order_release);
}

static void
upcall_open(const struct engine *engine, enum queue_kind kind, DAT_UPCALL_FUNC function)
{
	const DAT_UPCALL_OBJECT object = { NULL, function };

	engine->open();
	queue.kind = kind;
	queue.cq = device_cqs();
	dat_must("dat_evd_kcreate", dat_evd_kcreate(engine_ia, 4 * WINDOW, DAT_UPCALL_DISABLE,
					&object, engine_dat_flags(kind), &queue.evd));
	engine->feed(&queue, ENDPOINTS);
}

/* The same for an EVD that was created without a CNO, to be waited on: its channel is its own. */
static void
upcall_open_private(const struct engine *engine, DAT_UPCALL_FUNC function)
{
	const DAT_UPCALL_OBJECT object = { NULL, function };

	engine->open();
	queue.kind = QUEUE_PLAIN;
	queue.cq = device_cqs();
	dat_must("dat_evd_create", dat_evd_create(engine_ia, 4 * WINDOW, DAT_HANDLE_NULL,
				       engine_dat_flags(QUEUE_PLAIN), &queue.evd));
	dat_must("dat_evd_modify_upcall",
	    dat_evd_modify_upcall(queue.evd, DAT_UPCALL_DISABLE, &object, DAT_UPCALL_INVOC_ANY));
	engine->feed(&queue, ENDPOINTS);
}

static void
upcall_policy_array(DAT_UPCALL_POLICY policy)
{
	const DAT_UPCALL_ARRAY_OBJECT object = { NULL, upcall_count_array, (DAT_COUNT)array };

	dat_must("dat_evd_modify_upcall_array",
	    dat_evd_modify_upcall_array(queue.evd, policy, &object, DAT_UPCALL_INVOC_ANY));
}

static void
upcall_policy(DAT_UPCALL_POLICY policy)
{
	if (array) {
		upcall_policy_array(policy);
		return;
	}
	dat_must("dat_evd_modify_upcall",
	    dat_evd_modify_upcall(queue.evd, policy, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY));
}

static void
upcall_post(const struct engine *engine, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		engine->receive(&queue, i % ENDPOINTS);
}

/* DAT has a policy for it, librearm a call. */
static void
upcall_enable(const struct engine *engine, DAT_UPCALL_POLICY policy)
{
	if (!engine->enable)
		upcall_policy(policy);
	else if (policy == DAT_UPCALL_DISABLE)
		engine->disable(&queue);
	else
		engine->enable(&queue, array, &handled);
}

/* Bursts of n; each comes when all threads of the engine sleep. */
static void
upcall_bursts(const struct engine *engine, unsigned int n, DAT_UPCALL_POLICY policy)
{
	const unsigned int bursts = POSTED / n > BURSTS ? BURSTS : POSTED / n;
	uint64_t until = 0;

	upcall_enable(engine, policy);
	for (unsigned int w = 0; w <= WINDOWS; w++) {
		upcall_post(engine, bursts * n);
		device_await_quiet();
		if (w)
			measure_begin();
		for (unsigned int i = 0; i < bursts; i++) {
			device_complete_receives(queue.cq, n);
			device_await(&handled, until += n);
			device_await_quiet();
		}
		if (!w)
			continue;
		measure_end();
		measure_events(bursts * n);
	}
}

/* All completions of a window are there before upcalls are enabled. */
static void
upcall_windows(
    const struct engine *engine, unsigned int window, unsigned int events, DAT_UPCALL_POLICY policy)
{
	for (unsigned int w = 0; w <= WINDOWS; w++) {
		const uint64_t until = (w + 1) * events;

		upcall_post(engine, window);
		device_complete_receives(queue.cq, window);
		device_await_quiet();
		if (w)
			measure_begin();
		upcall_enable(engine, policy);
		device_await(&handled, until);
		if (w)
			measure_end();
		device_await_quiet();
		upcall_enable(engine, DAT_UPCALL_DISABLE);
		if (w)
			measure_events(events);
	}
}

static void
upcall_backlog(const struct engine *engine, enum queue_kind kind, DAT_UPCALL_POLICY policy)
{
	upcall_open(engine, kind, upcall_count);
	upcall_windows(engine, WINDOW,
	    kind == QUEUE_MERGED ? WINDOW + WINDOW / SOFTWARE_EACH : WINDOW, policy);
}

/* Up to n events with a callback of librearm. */
void
upcall_callback(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	array = n;
	engine->open();
	engine->create(&queue, LONG_WINDOW, kind);
	engine->feed(&queue, ENDPOINTS);
	upcall_windows(engine, LONG_WINDOW, LONG_WINDOW, DAT_UPCALL_SINGLE_INSTANCE);
}

/* The same when all threads sleep: bursts of one event. */
void
upcall_callback_idle(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	array = n;
	engine->open();
	engine->create(&queue, 4 * WINDOW, kind);
	engine->feed(&queue, ENDPOINTS);
	upcall_bursts(engine, 1, DAT_UPCALL_SINGLE_INSTANCE);
}

void
upcall_backlog_single(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	(void)n;
	upcall_backlog(engine, kind, DAT_UPCALL_SINGLE_INSTANCE);
}

void
upcall_backlog_many(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	(void)n;
	upcall_backlog(engine, kind, DAT_UPCALL_MANY);
}

/* Up to n events with an upcall. */
void
upcall_backlog_array(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	array = n;
	upcall_backlog(engine, kind, DAT_UPCALL_SINGLE_INSTANCE);
}

static void
upcall_idle(const struct engine *engine, enum queue_kind kind, unsigned int n,
    DAT_UPCALL_POLICY policy, DAT_UPCALL_FUNC function)
{
	upcall_open(engine, kind, function);
	upcall_bursts(engine, n, policy);
}

void
upcall_idle_single(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	upcall_idle(engine, kind, n, DAT_UPCALL_SINGLE_INSTANCE, upcall_count);
}

void
upcall_idle_many(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	upcall_idle(engine, kind, n, DAT_UPCALL_MANY, upcall_count);
}

void
upcall_idle_notify(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	upcall_idle(engine, kind, n, DAT_UPCALL_NOTIFY, upcall_dequeue);
}

void
upcall_switching(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	upcall_idle(engine, kind, n, DAT_UPCALL_SINGLE_INSTANCE, upcall_switch);
}

void
upcall_switching_private(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	(void)kind;
	upcall_open_private(engine, upcall_switch);
	upcall_bursts(engine, n, DAT_UPCALL_SINGLE_INSTANCE);
}
