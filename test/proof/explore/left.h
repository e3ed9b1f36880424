/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * left -- what the last section of a lock that the calling fiber was in left behind
 *
 * A call decides in one section of the EVD's or the CNO's lock.  What it returns is judged by the
 * state that this section left, whatever others did to the object since.
 */
#ifndef REARM_EXPLORE_LEFT_H
#define REARM_EXPLORE_LEFT_H

#include "stage.h"

struct left_evd {
	bool alive;
	unsigned int queued;	/* events that can be taken */
	unsigned int signalled; /* that are worth waking for */
	unsigned int stored;	/* all: also what waits behind a barrier */
	unsigned int posted;	/* of those the posted ones */
	unsigned int room;	/* for posted events */
	unsigned int qlen;
	bool listened; /* to, by a CNO */
	bool busy;     /* a run is on the way */
	bool waiting, waitable, made_unwaitable, closing, overflowed, enabled, solicited_only;
	int policy;
};

struct left_cno {
	bool alive, closing, triggered, last_detached, last_detaches;
	int evds, waiters;
};

void left_reset(void);
/* A section of the object's lock ends, of the calling fiber. */
void left_section(const struct evd *evd);
void left_section_cno(const struct cno *cno);
const struct left_evd *left_evd(void);
const struct left_cno *left_cno(void);

#endif
