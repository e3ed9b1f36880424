/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * publish -- the thread that writes the counters of all EVDs into the page of statistics
 *
 * There is one while an adapter is open that publishes: by DAPL_STATS or by the word stats= of its
 * parameters.  It takes the locks of one EVD after the other for some copies; nothing else of the
 * provider knows of it.
 */
#ifndef REARM_DAPL_PUBLISH_H
#define REARM_DAPL_PUBLISH_H

#include <stdbool.h>

#include "dapl/object/lock.h"

#define DAPL_STATS_VARIABLE "DAPL_STATS"

/*
 * For an adapter that is opened with the word stats=word_ms (0: without it).  Returns true if it
 * publishes; dapl_stats_stop() follows then.  If it should and cannot, a line says why.
 */
bool dapl_stats_start(unsigned int word_ms) DAPL_NO_LOCK;
/* Such an adapter was closed.  After the last one the page does not exist any more. */
void dapl_stats_stop(void) DAPL_NO_LOCK;

#endif
