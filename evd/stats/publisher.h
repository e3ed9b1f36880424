/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * publisher -- a thread that writes the counters of all EVDs of a front end into a page
 *
 * It takes the locks of one EVD after the other for some copies; nothing else of the dispatcher
 * knows of it.
 */
#ifndef REARM_EVD_STATS_PUBLISHER_H
#define REARM_EVD_STATS_PUBLISHER_H

#include "evd/evd.h"
#include "evd/stats/page.h"

/*
 * Of the front end: fills the row of its EVD with this index, counted from 0.  1; 0 if there is
 * none; -ENOENT if there is none with this or a higher index.  On the thread that publishes.
 */
typedef int evd_stats_sample(uint32_t index, struct evd_stats_row *row);

/*
 * There is one thread and one page for all users of the front end, who may be on any thread.  The
 * first one decides the interval.  0 or -errno; evd_stats_stop() follows then.
 */
int evd_stats_start(unsigned int interval_ms, evd_stats_sample *sample);
/* A user has gone.  After the last one neither thread nor page exists any more. */
void evd_stats_stop(void);

/* What the text asks for; -EINVAL if it is no number of this range, and not 0. */
int evd_stats_interval(const char *text, unsigned int least, unsigned int most);

/* The members of a row that the dispatcher knows: -ENODEV. */
int evd_stats_fill(struct evd_ref ref, struct evd_stats_row *row) NO_CORE_LOCK;

/* The name of its adapter or device, as far as there is room. */
void evd_stats_name(struct evd_stats_row *row, const char *name);

#endif
