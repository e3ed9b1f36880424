/* SPDX-License-Identifier: BSD-3-Clause */
/* stats -- the page of statistics of the queues of this process, for dat_top */
#include <stdlib.h>

#include "rearm/internal.h"

#define STATS_MS_MIN 10
#define STATS_MS_MAX 60000

/* A program goes on without statistics if there can be none; nothing is printed. */
bool
rearm_stats_start(void)
{
	const char *text = secure_getenv("REARM_STATS");
	const int ms = text ? evd_stats_interval(text, STATS_MS_MIN, STATS_MS_MAX) : 0;

	return ms > 0 && evd_stats_start((unsigned int)ms, rearm_slot_sample) == 0;
}
