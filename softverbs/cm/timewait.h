/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timewait -- TIMEWAIT_EXIT, some time after the connection of an id has ended
 *
 * On a wire the queue pair is not used again until its last packets have arrived or are lost.  Here
 * nothing is on its way, but programs wait for the event before they destroy the id.  The time is
 * the one in which a packet is acknowledged, as in the kernel.
 *
 * The ids are in a list, ordered by time, and share one timer.  Its function takes the CM lock and
 * finds ids in the list only, so it never acts on an id that was freed.
 *
 * The CM lock is held.
 */
#ifndef SOFT_CM_TIMEWAIT_H
#define SOFT_CM_TIMEWAIT_H

#include "cm.h"

/* The id gets DISCONNECTED now, and TIMEWAIT_EXIT later. */
void soft_timewait_start(struct soft_id *id) REQUIRES(soft_locks.cm);

/* The id is about to be freed: it gets no event. */
void soft_timewait_stop(struct soft_id *id) REQUIRES(soft_locks.cm);
void soft_timewait_reset(void); /* in a forked child */

#endif
