/* SPDX-License-Identifier: BSD-3-Clause */
/* stats -- the page of statistics of the queues of this process, for dat_top */
#include <stdlib.h>

#include "rearm/internal.h"

#define STATS_MS_MIN 10
#define STATS_MS_MAX 60000

static struct {
	pthread_mutex_t lock;
	int loops; /* guarded by the lock, as are starts and stops */
	bool runs;
	struct evd_stats_publisher core;
} stats = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A program goes on without statistics if there can be none; nothing is printed. */
void
rearm_stats_start(void)
{
	const char *text = secure_getenv(REARM_STATS_VARIABLE);
	const int ms = text ? evd_stats_interval(text, STATS_MS_MIN, STATS_MS_MAX) : 0;

	pthread_mutex_lock(&stats.lock);
	stats.loops++;
	if (!stats.runs && ms > 0)
		stats.runs =
		    evd_stats_publish(&stats.core, (unsigned int)ms, rearm_slot_sample) == 0;
	pthread_mutex_unlock(&stats.lock);
}

void
rearm_stats_stop(void)
{
	pthread_mutex_lock(&stats.lock);
	if (--stats.loops == 0 && stats.runs) {
		evd_stats_end(&stats.core);
		stats.runs = false;
	}
	pthread_mutex_unlock(&stats.lock);
}

/* Many programs end without a free. */
__attribute__((destructor)) static void
stats_end(void)
{
	if (pthread_mutex_trylock(&stats.lock))
		return; /* another thread starts or stops, or did so at a fork */
	if (stats.runs)
		evd_stats_page_abandon(&stats.core.page);
	pthread_mutex_unlock(&stats.lock);
}
