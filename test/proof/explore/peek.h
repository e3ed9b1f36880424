/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peek -- what the explorer reads of an EVD's and a CNO's own members
 *
 * The rules are written from the outside; where one needs to know what the dispatcher believes, it
 * asks here, and nowhere else.
 */
#ifndef REARM_EXPLORE_PEEK_H
#define REARM_EXPLORE_PEEK_H

#include "cno/cno.h"
#include "evd/evd.h"

/*
 * Stores at most `max` sequence numbers of the events that can be taken; returns how many there
 * are.
 */
unsigned int peek_numbers(const struct evd *evd, uint64_t *numbers, unsigned int max);
/* The number that the next event will get. */
uint64_t peek_next_number(const struct evd *evd);

/* The i-th completion that was polled and has not left, or NULL. */
const void *peek_record(const struct evd *evd, unsigned int i);
/* The i-th posted event that has not left, be it open or closed, or NULL. */
const void *peek_posted(const struct evd *evd, unsigned int i);
/* Events that wake a sink. */
unsigned int peek_signalled(const struct evd *evd);
/* Events that wait for the device to be polled. */
unsigned int peek_queued(const struct evd *evd); /* what can be taken */
unsigned int peek_closed(const struct evd *evd);
unsigned int peek_posts(const struct evd *evd); /* posted events, open and closed */
unsigned int peek_room(const struct evd *evd);	/* for posted events */
/* A poll found no room in the ring, and none was made since. */
bool peek_full(const struct evd *evd);
/* An event entered that was not reported to the sink yet. */
bool peek_unseen(const struct evd *evd);

/* The job is queued, running, or in an upcall. */
bool peek_busy(const struct evd *evd);
/* The thread with the job is in an upcall and continues the run afterwards. */
bool peek_in_call(const struct evd *evd);
/* The loop whose list has the job; NULL: none. */
const struct loop *peek_queued_on(const struct evd *evd);
/* The job waits until its thread returns from a callback. */
bool peek_deferred(const struct evd *evd);
bool peek_delayed(const struct evd *evd); /* its job, by the loop */
/* Its device queue overflowed and failed: it is not polled or armed any more. */
bool peek_over(const struct evd *evd);
bool peek_backs_off(const struct evd *evd);
uint64_t peek_due(const struct evd *evd); /* until when */
bool peek_ready(const struct evd *evd);	  /* it waits for its turn alone */
/* An episode of failures has been reported, and did not end yet. */
bool peek_failing(const struct evd *evd);

/* What it believes the device was asked for: 0 nothing, 1 solicited completions, 2 all. */
int peek_armed(const struct evd *evd);

#endif
