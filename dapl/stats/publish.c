/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv() */
#include "dapl/stats/publish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapl/evd/evd_object.h"
#include "dapl/evd/sample.h"
#include "dapl/ia/ia.h"
#include "dapl/stats/page.h"
#include "dapl/trace/debug.h"

/* All but `stop` and `interval_ms` is the thread's while it runs. */
static struct publisher {
	pthread_mutex_t lock;
	/* adapters that publish; guarded by the lock, as are starts and stops */
	unsigned int users;
	struct os_thread thread;
	struct os_flag stop;
	atomic_uint interval_ms;
	struct dapl_stats_page page;
	struct dapl_stats_row *rows;
	uint64_t room; /* rows that there is memory for */
} publisher = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
publish_lock(void) ACQUIRE(dapl_locks.stats) UNCHECKED
{
	pthread_mutex_lock(&publisher.lock);
}

static void
publish_unlock(void) RELEASE(dapl_locks.stats) UNCHECKED
{
	pthread_mutex_unlock(&publisher.lock);
}

static void
publish_fill(struct dapl_stats_row *row, const struct dapl_evd_sample *sample)
{
	const struct evd_counters *c = &sample->counters;
	const struct evd_calls *calls = &sample->calls;

	*row = (struct dapl_stats_row){
		.evd = (uintptr_t)sample->handle,
		.serial = sample->serial,
		.ia = (uintptr_t)sample->ia,
		.flags = (uint64_t)sample->flags,
		.policy = (uint64_t)sample->status.policy,
		.has_cno = sample->status.cno != DAT_HANDLE_NULL,
		.length = (uint64_t)sample->status.qlen,
		.depth = (uint64_t)sample->status.queued,
		.max_depth = c->max_depth,
		.dto_events = c->completions,
		.connection_events = c->connections,
		.cr_events = c->requests,
		.software_events = c->software,
		.async_events = c->asyncs,
		.upcalls = c->upcalls,
		.notifications = c->notifications,
		.spurious = c->spurious_notifications,
		.arms = c->arms,
		.arm_failures = c->arm_failures,
		.races = c->races_closed,
		.busy = c->busy_skips,
		.overflows = c->overflows,
		.waits = calls->waits,
		.sleeps = calls->sleeps,
		.dequeues = calls->dequeues,
		.dequeued = calls->dequeued,
		.polls = calls->polls,
		.polls_found = calls->polls_found,
		.rnr_stalls = (uint64_t)sample->rnr_stalls,
		.slow_us = sample->slow_ns / OS_NS_PER_US,
		.slow_upcalls = sample->slow_upcalls,
	};
	snprintf(row->adapter, sizeof row->adapter, "%s", sample->adapter);
}

/* Room for one more row.  False without memory. */
static bool
publish_grow(uint64_t count)
{
	const uint64_t room = count ? 2 * count : 64;
	struct dapl_stats_row *rows;

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
publish_snapshot(void) DAPL_NO_LOCK
{
	struct dapl_evd_sample sample;
	uint64_t count = 0, missing = 0;
	int r;

	for (uint32_t i = 0; (r = dapl_evd_sample(i, &sample)) >= 0; i++) {
		if (r == 0)
			continue;
		if (publish_grow(count))
			publish_fill(&publisher.rows[count++], &sample);
		else
			missing++;
	}
	dapl_stats_page_write(&publisher.page, publisher.rows, count, missing, os_clock_ns());
}

static void *
publish_thread(void *arg) DAPL_NO_LOCK
{
	unsigned int interval;

	(void)arg;
	do {
		publish_snapshot();
		interval = atomic_load_explicit(&publisher.interval_ms, memory_order_relaxed);
		(void)os_flag_wait(
		    &publisher.stop, 0, os_clock_ns() + (uint64_t)interval * OS_NS_PER_MS);
	} while (!os_flag_get(&publisher.stop));
	return NULL;
}

/* What the environment asks for, or the word if the environment has no opinion. */
static unsigned int
publish_interval(unsigned int word_ms)
{
	const char *text = secure_getenv(DAPL_STATS_VARIABLE);
	unsigned long ms;

	if (!text || !*text)
		return word_ms;
	ms = strtoul(text, NULL, 10);
	if (text[strspn(text, "0123456789")] ||
	    (ms && (ms < DAPL_IA_STATS_MS_MIN || ms > DAPL_IA_STATS_MS_MAX))) {
		dapl_debug_error(DAPL_STATS_VARIABLE
		    "=%s: expected 0 or a number of milliseconds from %d to %d",
		    text, DAPL_IA_STATS_MS_MIN, DAPL_IA_STATS_MS_MAX);
		return word_ms;
	}
	return (unsigned int)ms;
}

static int
publish_start(unsigned int interval) REQUIRES(dapl_locks.stats)
{
	int r = dapl_stats_page_open(&publisher.page, interval);

	if (r)
		return r;
	atomic_store_explicit(&publisher.stop.value, 0, memory_order_relaxed);
	atomic_store_explicit(&publisher.interval_ms, interval, memory_order_relaxed);
	r = os_thread_start(&publisher.thread, publish_thread, NULL);
	if (r)
		dapl_stats_page_close(&publisher.page);
	return r;
}

bool
dapl_stats_start(unsigned int word_ms)
{
	const unsigned int interval = publish_interval(word_ms);
	int r = 0;

	if (!interval)
		return false;
	publish_lock();
	if (!publisher.users)
		r = publish_start(interval);
	if (!r)
		publisher.users++;
	publish_unlock();
	if (r)
		dapl_debug_error(
		    "no statistics are published: " DAPL_STATS_FOLDER ": %s", strerror(-r));
	return !r;
}

void
dapl_stats_stop(void)
{
	publish_lock();
	if (--publisher.users == 0) {
		(void)os_flag_swap(&publisher.stop, 1);
		os_flag_wake(&publisher.stop);
		os_thread_join(&publisher.thread);
		dapl_stats_page_close(&publisher.page);
		os_free(publisher.rows);
		publisher.rows = NULL;
		publisher.room = 0;
	}
	publish_unlock();
}

/* Many programs end without a close. */
__attribute__((destructor)) static void
publish_end(void)
{
	if (pthread_mutex_trylock(&publisher.lock))
		/*
		 * another thread opens or closes an adapter, or did so when this process was forked
		 */
		return;
	dapl_stats_page_abandon(&publisher.page);
	pthread_mutex_unlock(&publisher.lock);
}
