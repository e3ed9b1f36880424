/* SPDX-License-Identifier: BSD-3-Clause */
/* stream -- events that are there before the consumer asks: dequeue, wait; and posts */
#include "workload.h"

#include "device.h"
#include "measure.h"

#include <dat2/dat_upcall.h>
#include <stdlib.h>

#define ENDPOINTS 8
#define WINDOW (ENDPOINTS * 256u) /* events of one window; as many receives are posted before it */
#define WINDOWS 8
#define SOFTWARE_EACH 64u /* completions for a software event of a merged queue */
#define SEVERAL 16

static struct queue queue;

static void
stream_open(const struct engine *engine, enum queue_kind kind)
{
	engine->open();
	engine->create(&queue, 4 * WINDOW, kind);
	if (kind != QUEUE_SOFTWARE)
		engine->feed(&queue, ENDPOINTS);
}

static void
stream_post(const struct engine *engine, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		engine->receive(&queue, i % ENDPOINTS);
}

/*
 * Adds a software event to a merged queue, which is not counted: 1 if it did.  It is queued behind
 * the completions that were polled already, and before those that were not.
 */
static unsigned int
stream_mix(const struct engine *engine, enum queue_kind kind)
{
	if (kind != QUEUE_MERGED)
		return 0;
	measure_pause();
	engine->software(&queue);
	measure_resume();
	return 1;
}

/* Takes that many events, up to `each` with a call. */
static void
stream_take_several(unsigned int events, unsigned int each)
{
	DAT_EVENT got[SEVERAL];
	DAT_COUNT n;

	while (events > 0) {
		if (dat_evd_dequeue_n(
			queue.evd, (DAT_COUNT)(events < each ? events : each), got, &n))
			abort();
		for (DAT_COUNT i = 0; i < n; i++)
			engine_dat_consume(&got[i]);
		events -= (unsigned int)n;
	}
}

/*
 * All completions of a window are there; the consumer takes them, up to n with a call; 0: one with
 * each, by the function of the engine.
 */
void
stream_backlog(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	stream_open(engine, kind);
	measure_must(n <= SEVERAL, "no room for so many events");
	for (unsigned int w = 0; w <= WINDOWS; w++) {
		unsigned int taken = 0, more;

		stream_post(engine, WINDOW);
		device_complete_receives(queue.cq, WINDOW);
		if (w)
			measure_begin();
		for (unsigned int i = 0; i < WINDOW; i += SOFTWARE_EACH) {
			more = stream_mix(engine, kind);
			if (n)
				stream_take_several(SOFTWARE_EACH + more, n);
			else
				engine->take(&queue, SOFTWARE_EACH + more);
			taken += SOFTWARE_EACH + more;
		}
		if (!w)
			continue;
		measure_end();
		measure_events(taken);
	}
}

/* n completions, then the consumer takes events until there are none. */
void
stream_bursts(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	stream_open(engine, kind);
	for (unsigned int w = 0; w <= WINDOWS; w++) {
		unsigned int taken = 0, due = WINDOW;

		stream_post(engine, WINDOW);
		if (w)
			measure_begin();
		for (unsigned int i = 0; i < WINDOW; i += n) {
			if (i % SOFTWARE_EACH == 0)
				due += stream_mix(engine, kind);
			device_complete_receives(queue.cq, n);
			taken += engine->drain(&queue);
		}
		if (w)
			measure_end();
		measure_must(taken == due, "events are missing");
		if (w)
			measure_events(taken);
	}
}

/* As stream_backlog(), with a wait for each event. */
void
stream_wait(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	(void)n;
	stream_open(engine, kind);
	for (unsigned int w = 0; w <= WINDOWS; w++) {
		unsigned int taken = 0, due = 0;

		stream_post(engine, WINDOW);
		device_complete_receives(queue.cq, WINDOW);
		if (w)
			measure_begin();
		for (unsigned int i = 0; i < WINDOW; i += SOFTWARE_EACH) {
			due += SOFTWARE_EACH + stream_mix(engine, kind);
			while (taken < due)
				taken += engine->wait(&queue);
		}
		if (!w)
			continue;
		measure_end();
		measure_events(taken);
	}
}

/* A software event is posted and dequeued. */
void
stream_software(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	(void)n;
	stream_open(engine, kind);
	for (unsigned int w = 0; w <= WINDOWS; w++) {
		if (w)
			measure_begin();
		for (unsigned int i = 0; i < WINDOW; i++) {
			engine->software(&queue);
			engine->take(&queue, 1);
		}
		if (!w)
			continue;
		measure_end();
		measure_events(WINDOW);
	}
}

static void
stream_posts(const struct engine *engine, enum queue_kind kind,
    void (*post)(struct queue *queue, unsigned int endpoint),
    void (*complete)(unsigned int, unsigned int))
{
	stream_open(engine, kind);
	for (unsigned int w = 0; w <= WINDOWS; w++) {
		if (w)
			measure_begin();
		for (unsigned int i = 0; i < WINDOW; i++)
			post(&queue, i % ENDPOINTS);
		if (w) {
			measure_end();
			measure_events(WINDOW);
		}
		complete(queue.cq, WINDOW);
		engine->take(&queue, WINDOW);
	}
}

void
stream_receive(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	(void)n;
	stream_posts(engine, kind, engine->receive, device_complete_receives);
}

void
stream_send(const struct engine *engine, enum queue_kind kind, unsigned int n)
{
	(void)n;
	stream_posts(engine, kind, engine->send, device_complete_sends);
}
