/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch -- an EVD whose events are drained by upcalls
 */
#ifndef ISER_WATCH_H
#define ISER_WATCH_H

#include "iser/datamover/drain.h"

/* What all the EVDs of one side did, summed up when they are closed. */
struct tally {
	struct dat_rearm_evd_counters evd;
	uint64_t upcalls;
	uint64_t events;
	uint64_t refusals;
	uint64_t largest;
};

struct watch {
	DAT_EVD_HANDLE evd; /* DAT_HANDLE_NULL: closed */
	struct drain drain;
};

/* Creates the EVD, enabled.  handle() and its context must stay until watch_close(). */
DAT_RETURN watch_open(struct watch *watch, DAT_IA_HANDLE ia, DAT_COUNT qlen, DAT_EVD_FLAGS flags,
    void (*handle)(void *context, const DAT_EVENT *event), void *context);

/* The same for an EVD that exists, as the asynchronous one of an IA does. */
DAT_RETURN watch_adopt(struct watch *watch, DAT_EVD_HANDLE evd,
    void (*handle)(void *context, const DAT_EVENT *event), void *context);

/* Stops the upcalls and waits for those in progress; what the drain counted may now be read. */
void watch_stop(struct watch *watch);

/*
 * Stops, adds to the tally, and frees the EVD unless it was adopted.  Returns the number of calls
 * that failed and should not; each was reported.  Safe on a closed watch.
 */
int watch_close(struct watch *watch, struct tally *tally);
int watch_release(struct watch *watch, struct tally *tally); /* of an adopted one */

void tally_add(struct tally *into, const struct tally *from);

#endif
