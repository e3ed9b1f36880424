/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/stats/publisher.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* All but `stop` and `interval_ms` is the thread's while it runs. */
static struct publisher {
	pthread_mutex_t lock;
	/* guarded by the lock, as are starts and stops; the two that follow are constant while the
	   thread runs */
	unsigned int users;
	unsigned int interval_ms;
	evd_stats_sample *sample;
	struct os_thread thread;
	struct os_flag stop;
	struct evd_stats_page page;
	struct evd_stats_row *rows;
	uint64_t room; /* rows that there is memory for */
} publisher = { .lock = PTHREAD_MUTEX_INITIALIZER };

int
evd_stats_fill(struct evd_ref ref, struct evd_stats_row *row)
{
	struct evd_status status;
	struct evd_counters c;
	struct evd_calls calls;

	/* A section of the lock for each part, so they are not of one moment. */
	if (evd_query(ref, &status) || evd_query_counters(ref, &c) || evd_query_calls(ref, &calls))
		return -ENODEV;
	*row = (struct evd_stats_row){
		.policy = (uint64_t)status.policy,
		.has_cno = status.cno != NULL,
		.length = (uint64_t)status.qlen,
		.depth = (uint64_t)status.queued,
		.max_depth = c.max_depth,
		.dto_events = c.completions,
		.connection_events = c.connections,
		.cr_events = c.requests,
		.software_events = c.software,
		.async_events = c.asyncs,
		.upcalls = c.upcalls,
		.notifications = c.notifications,
		.spurious = c.spurious_notifications,
		.arms = c.arms,
		.arm_failures = c.arm_failures,
		.races = c.races_closed,
		.busy = c.busy_skips,
		.overflows = c.overflows,
		.waits = calls.waits,
		.sleeps = calls.sleeps,
		.dequeues = calls.dequeues,
		.dequeued = calls.dequeued,
		.polls = calls.polls,
		.polls_found = calls.polls_found,
	};
	return 0;
}

void
evd_stats_name(struct evd_stats_row *row, const char *name)
{
	const size_t length = strnlen(name, sizeof row->adapter - 1);

	memcpy(row->adapter, name, length);
	row->adapter[length] = '\0';
}

/* Room for one more row.  False without memory. */
static bool
publisher_grow(uint64_t count)
{
	const uint64_t room = count ? 2 * count : 64;
	struct evd_stats_row *rows;

	if (count < publisher.room)
		return true;
	rows = os_alloc(room, sizeof *rows);
	if (!rows)
		return false;
	if (count)
		memcpy(rows, publisher.rows, count * sizeof *rows);
	os_free(publisher.rows);
	publisher.rows = rows;
	publisher.room = room;
	return true;
}

static void
publisher_snapshot(void)
{
	struct evd_stats_row row;
	uint64_t count = 0, missing = 0;
	int r;

	for (uint32_t i = 0; (r = publisher.sample(i, &row)) >= 0; i++) {
		if (r == 0)
			continue;
		if (publisher_grow(count))
			publisher.rows[count++] = row;
		else
			missing++;
	}
	evd_stats_page_write(&publisher.page, publisher.rows, count, missing, os_clock_ns());
}

static void *
publisher_thread(void *arg)
{
	(void)arg;
	do {
		publisher_snapshot();
		(void)os_flag_wait(&publisher.stop, 0,
		    os_clock_ns() + (uint64_t)publisher.interval_ms * OS_NS_PER_MS);
	} while (!os_flag_get(&publisher.stop));
	return NULL;
}

static int
publisher_start(unsigned int interval_ms, evd_stats_sample *sample)
{
	int r = evd_stats_page_open(&publisher.page, interval_ms);

	if (r)
		return r;
	(void)os_flag_swap(&publisher.stop, 0);
	publisher.interval_ms = interval_ms;
	publisher.sample = sample;
	r = os_thread_start(&publisher.thread, publisher_thread, NULL);
	if (r)
		evd_stats_page_close(&publisher.page);
	return r;
}

int
evd_stats_start(unsigned int interval_ms, evd_stats_sample *sample)
{
	int r = 0;

	pthread_mutex_lock(&publisher.lock);
	if (!publisher.users)
		r = publisher_start(interval_ms, sample);
	if (!r)
		publisher.users++;
	pthread_mutex_unlock(&publisher.lock);
	return r;
}

void
evd_stats_stop(void)
{
	pthread_mutex_lock(&publisher.lock);
	if (--publisher.users == 0) {
		(void)os_flag_swap(&publisher.stop, 1);
		os_flag_wake(&publisher.stop);
		os_thread_join(&publisher.thread);
		evd_stats_page_close(&publisher.page);
		os_free(publisher.rows);
		publisher.rows = NULL;
		publisher.room = 0;
	}
	pthread_mutex_unlock(&publisher.lock);
}

/* Many programs end without a close. */
__attribute__((destructor)) static void
publisher_end(void)
{
	if (pthread_mutex_trylock(&publisher.lock))
		return; /* another thread starts or stops, or did so at a fork */
	evd_stats_page_abandon(&publisher.page);
	pthread_mutex_unlock(&publisher.lock);
}

int
evd_stats_interval(const char *text, unsigned int least, unsigned int most)
{
	const unsigned long ms = strtoul(text, NULL, 10);

	if (text[strspn(text, "0123456789")] || (ms && (ms < least || ms > most)))
		return -EINVAL;
	return (int)ms;
}
