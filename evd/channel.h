/* SPDX-License-Identifier: BSD-3-Clause */
/* channel -- a notification arrives: on the private channel of an EVD, or on one that EVDs share */
#ifndef REARM_EVD_CHANNEL_H
#define REARM_EVD_CHANNEL_H

#include "evd/evd.h"
#include "evd/lead.h"

/* ---- private ---- */

/* Registers the private channel with the loop, for a sink that the loop serves. */
int evd_list_new_channel(struct evd *evd) REQUIRES(core_locks.trigger);

/* The same, unless there is none, or the loop has it. */
static inline int
evd_list_channel(struct evd *evd) REQUIRES(core_locks.trigger)
{
	return evd->cfg.channel_fd < 0 || evd->channel.id ? 0 : evd_list_new_channel(evd);
}

/* ---- shared ---- */

/*
 * Reads notifications, and reports to the CNOs what they are for.  lead_read() is for the thread
 * that leads, when the descriptor is readable; lead_read_all() reads all that are there, for any
 * thread.  False: the channel cannot be read.  It may stay readable, so the thread does not watch
 * it any longer; the loop does.
 */
bool lead_read(struct lead *lead) NO_CORE_LOCK;
void lead_read_all(struct lead *lead) NO_CORE_LOCK;

#endif
