/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_loops -- each event loop serves the events of a CNO, loses no wake-up, and serves its other
 * sources
 *
 *	test_loops ADAPTER
 *
 * A wake-up that is lost is a loop that sleeps without end: the alarm ends the program.
 */
#include "drivers.h"
#include "lessons/common.h"

#include <err.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { QUEUES = 3, WAKES = 500, STREAM = 6000, MESSAGES = 300, LENGTH = 64, PATIENCE = 60 };

static struct adapter adapter;
static char now[80]; /* the test that runs */

/* A source, its EVDs for software events, and what its handler has seen. */
struct side {
	struct cno_source source;
	DAT_EVD_HANDLE evd[QUEUES];
	int handled[QUEUES]; /* events; each has its number as its pointer */
	bool disorder;
	bool again; /* post an event for each that was handled */
	sem_t seen;
};

static void
on_alarm(int signal)
{
	static const char text[] = ": no event for a minute: a wake-up is lost\n";

	(void)signal;
	if (write(2, now, strlen(now)) < 0 || write(2, text, sizeof text - 1) < 0)
		_exit(2);
	_exit(1);
}

static void
post(DAT_EVD_HANDLE evd, int number)
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	DAT_RETURN ret;

	event.event_data.software_event_data.pointer = (DAT_PVOID)(intptr_t)number;
	while (DAT_GET_TYPE(ret = dat_evd_post_se(evd, &event)) == DAT_QUEUE_FULL)
		sched_yield();
	must("dat_evd_post_se", ret);
}

static void
on_event(void *context, const DAT_EVENT *event)
{
	const intptr_t number = (intptr_t)event->event_data.software_event_data.pointer;
	struct side *side = context;
	int i = 0;

	while (side->evd[i] != event->evd_handle)
		i++;
	side->disorder |= number != side->handled[i]++;
	if (side->again)
		post(side->evd[i], (int)number + 1);
	sem_post(&side->seen);
}

static void
side_open(struct side *side)
{
	*side = (struct side){ .disorder = false };
	sem_init(&side->seen, 0, 0);
	must("cno_source_open", cno_source_open(&side->source, adapter.ia, on_event, side));
	for (int i = 0; i < QUEUES; i++)
		must("dat_evd_create", dat_evd_create(adapter.ia, 1024, side->source.cno,
					   DAT_EVD_SOFTWARE_FLAG, &side->evd[i]));
}

static void
side_close(struct side *side)
{
	for (int i = 0; i < QUEUES; i++)
		must("dat_evd_free", dat_evd_free(side->evd[i]));
	must("cno_source_close", cno_source_close(&side->source));
}

static int
handled(const struct side *side)
{
	int sum = 0;

	for (int i = 0; i < QUEUES; i++)
		sum += side->handled[i];
	return sum;
}

static bool
readable(const struct side *side)
{
	struct pollfd entry = { .fd = side->source.fd, .events = POLLIN };

	return poll(&entry, 1, 0) > 0;
}

/* More events than a dispatch handles are there before the loop; then it may sleep. */
static bool
early(const struct driver *driver, void *loop)
{
	struct side side;
	void *added;
	bool idle;

	side_open(&side);
	for (int i = 0; i < 4 * CNO_SOURCE_BATCH; i++)
		post(side.evd[0], i);
	added = driver->add(loop, &side.source);
	while (handled(&side) < 4 * CNO_SOURCE_BATCH)
		driver->turn(loop);
	idle = !readable(&side);
	driver->remove(loop, added);
	side_close(&side);
	return !side.disorder && idle;
}

static void *
wake(void *context)
{
	struct side *side = context;

	for (int i = 0; i < WAKES; i++) {
		post(side->evd[i % QUEUES], i / QUEUES);
		wait_for(&side->seen);
	}
	return NULL;
}

static void *
stream(void *context)
{
	struct side *side = context;

	for (int i = 0; i < STREAM; i++)
		post(side->evd[i % QUEUES], i / QUEUES);
	return NULL;
}

/* Another thread posts `events` events. */
static bool
serve(const struct driver *driver, void *loop, void *(*poster)(void *), int events)
{
	pthread_t thread;
	struct side side;
	void *added;

	side_open(&side);
	added = driver->add(loop, &side.source);
	if (pthread_create(&thread, NULL, poster, &side))
		errx(1, "no thread");
	while (handled(&side) < events)
		driver->turn(loop);
	pthread_join(thread, NULL);
	driver->remove(loop, added);
	side_close(&side);
	return !side.disorder;
}

/* Each event comes while the loop sleeps, or is about to. */
static bool
one_by_one(const struct driver *driver, void *loop)
{
	return serve(driver, loop, wake, WAKES);
}

/* Events come while the loop dequeues. */
static bool
in_a_stream(const struct driver *driver, void *loop)
{
	return serve(driver, loop, stream, STREAM);
}

/* A source that always has events does not keep another one from its turn. */
static bool
beside_a_flood(const struct driver *driver, void *loop)
{
	void *added_flood, *added_other;
	struct side flood, other;

	side_open(&flood);
	side_open(&other);
	added_flood = driver->add(loop, &flood.source);
	added_other = driver->add(loop, &other.source);
	flood.again = true;
	post(flood.evd[0], 0);
	post(other.evd[0], 0);
	while (handled(&other) < 1 || handled(&flood) < 10 * CNO_SOURCE_BATCH)
		driver->turn(loop);
	flood.again = false;
	while (readable(&flood))
		driver->turn(loop);
	driver->remove(loop, added_flood);
	driver->remove(loop, added_other);
	side_close(&flood);
	side_close(&other);
	return !flood.disorder && !other.disorder;
}

/* Two endpoints that send a message to and fro. */
struct ends {
	struct cno_source source;
	DAT_EVD_HANDLE evd[2];
	DAT_EP_HANDLE ep[2];
	struct buffer buffer;
	int messages, completed;
};

static void
ends_send(struct ends *ends, int from)
{
	post_recv(ends->ep[!from], &ends->buffer, 0, LENGTH, 0);
	post_send(ends->ep[from], &ends->buffer, LENGTH, LENGTH, 0);
}

static void
on_completion(void *context, const DAT_EVENT *event)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *data = completion(event);
	struct ends *ends = context;

	ends->completed++;
	ends->messages += data->operation == DAT_DTO_RECEIVE;
	/* Both completions of a message, on two EVDs, before the next one. */
	if (ends->completed % 2 == 0 && ends->messages < MESSAGES)
		ends_send(ends, ends->messages % 2);
}

static bool
completions(const struct driver *driver, void *loop)
{
	struct ends ends = { .messages = 0 };
	void *added;

	must("cno_source_open", cno_source_open(&ends.source, adapter.ia, on_completion, &ends));
	buffer_create(&ends.buffer, &adapter, 2 * LENGTH);
	for (int i = 0; i < 2; i++) {
		ends.evd[i] = evd_create(&adapter, ends.source.cno);
		ends.ep[i] = ep_create(&adapter, ends.evd[i]);
	}
	ep_connect(&adapter, ends.ep[0], ends.ep[1]);
	added = driver->add(loop, &ends.source);
	ends_send(&ends, 0);
	while (ends.completed < 2 * MESSAGES)
		driver->turn(loop);
	driver->remove(loop, added);
	for (int i = 0; i < 2; i++)
		must("dat_ep_free", dat_ep_free(ends.ep[i]));
	for (int i = 0; i < 2; i++)
		must("dat_evd_free", dat_evd_free(ends.evd[i]));
	must("cno_source_close", cno_source_close(&ends.source));
	buffer_free(&ends.buffer);
	return ends.messages == MESSAGES;
}

/*
 * The handler of one event frees the EVD, which has more.  The last EVD leaves while the loop runs.
 */
static void
on_event_free(void *context, const DAT_EVENT *event)
{
	must("dat_evd_free", dat_evd_free(event->evd_handle));
	++*(int *)context;
}

static bool
freed_by_its_handler(const struct driver *driver, void *loop)
{
	struct cno_source source;
	DAT_EVD_HANDLE evd[2];
	void *added;
	int calls = 0;

	must("cno_source_open", cno_source_open(&source, adapter.ia, on_event_free, &calls));
	added = driver->add(loop, &source);
	for (int i = 0; i < 2; i++) {
		must("dat_evd_create",
		    dat_evd_create(adapter.ia, 8, source.cno, DAT_EVD_SOFTWARE_FLAG, &evd[i]));
		for (int number = 0; number < 3; number++)
			post(evd[i], number);
	}
	while (calls < 2)
		driver->turn(loop);
	driver->remove(loop, added);
	must("cno_source_close", cno_source_close(&source));
	return calls == 2;
}

static const struct {
	const char *name;
	bool (*run)(const struct driver *driver, void *loop);
} tests[] = {
	{ "events that were there before", early },
	{ "each wakes the loop", one_by_one },
	{ "a stream of events", in_a_stream },
	{ "another source beside a flood", beside_a_flood },
	{ "completions of two endpoints", completions },
	{ "an EVD that its handler frees", freed_by_its_handler },
};

int
main(int argc, char **argv)
{
	int count[2] = { 0, 0 };

	if (argc != 2)
		errx(2, "usage: test_loops ADAPTER");
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGALRM, on_alarm);
	adapter_open(&adapter, argv[1]);
	for (const struct driver *driver = drivers; driver->name; driver++)
		for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
			void *loop = driver->open();
			bool passed;

			snprintf(now, sizeof now, "%s: %s", driver->name, tests[i].name);
			alarm(PATIENCE);
			passed = tests[i].run(driver, loop);
			driver->close(loop);
			printf("%s  %s\n", passed ? "ok  " : "FAIL", now);
			count[passed]++;
		}
	adapter_close(&adapter);
	printf("%d passed, %d failed\n", count[true], count[false]);
	return count[false] > 0;
}
