/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv() */
#include "dapl/stats/publish.h"

#include <stdlib.h>
#include <string.h>

#include "dapl/evd/sample.h"
#include "dapl/ia/ia.h"
#include "dapl/trace/debug.h"
#include "evd/stats/publisher.h"

static struct publisher {
	pthread_mutex_t lock;
	/* adapters that publish; guarded by the lock, as are starts and stops */
	unsigned int users;
	struct evd_stats_publisher core;
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

/* What the environment asks for, or the word if the environment has no opinion. */
static unsigned int
publish_interval(unsigned int word_ms)
{
	const char *text = secure_getenv(DAPL_STATS_VARIABLE);
	int ms;

	if (!text || !*text)
		return word_ms;
	ms = evd_stats_interval(text, DAPL_IA_STATS_MS_MIN, DAPL_IA_STATS_MS_MAX);
	if (ms >= 0)
		return (unsigned int)ms;
	dapl_debug_error(DAPL_STATS_VARIABLE
	    "=%s: expected 0 or a number of milliseconds from %d to %d",
	    text, DAPL_IA_STATS_MS_MIN, DAPL_IA_STATS_MS_MAX);
	return word_ms;
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
		r = evd_stats_publish(&publisher.core, interval, dapl_evd_sample);
	if (!r)
		publisher.users++;
	publish_unlock();
	if (r)
		dapl_debug_error(
		    "no statistics are published: " EVD_STATS_FOLDER ": %s", strerror(-r));
	return !r;
}

void
dapl_stats_stop(void)
{
	publish_lock();
	if (--publisher.users == 0)
		evd_stats_end(&publisher.core);
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
	evd_stats_page_abandon(&publisher.core.page);
	pthread_mutex_unlock(&publisher.lock);
}
