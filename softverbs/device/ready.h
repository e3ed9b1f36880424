/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ready -- the descriptor of a list of events, which is readable while the list has an event
 *
 * It is an eventfd.  It is written to when the list gets an event while it has none, and read when
 * the last event is taken.  A thread that waits for edges sees one for each time that the list got
 * an event and had none.
 *
 * A thread that waits in read(2) has emptied the descriptor when it returns.  Before it looks at
 * the list, events can be added that find the descriptor written to.  So this thread writes again
 * if it leaves events in the list.  If a thread that reads could make one that clears wait, with
 * the lock held, threads wait in poll(2) instead, and only the last event empties the descriptor.
 *
 * The lock of the list guards the structure.  It is held in soft_ready_update(), soft_ready_begin()
 * and soft_ready_end(), which are no cancellation points.
 */
#ifndef SOFT_READY_H
#define SOFT_READY_H

#include "soft.h"

struct soft_ready;

/* Of a thread that found the list empty, and waits. */
struct soft_ready_wait {
	uint32_t writes; /* that had been made when the list was empty */
	uint64_t
	    /* how many of them the thread has read; 0: it did not wait, or was interrupted */
	    taken;
};

/*
 * A thread was cancelled in a wait: takes the lock, and calls soft_ready_end() and
 * soft_ready_update().
 */
typedef void soft_ready_cancelled(struct soft_ready *ready, const struct soft_ready_wait *wait);

struct soft_ready {
	int fd;
	bool polled; /* threads do not read it */
	soft_ready_cancelled *cancelled;
	bool
	    /* it is readable, or a thread has just read it and is about to look at the list */
	    rung;
	bool filled;	 /* it may be readable */
	uint32_t writes; /* that were made so far; wraps */
};

/* 0 or -errno. */
int soft_ready_open(struct soft_ready *ready, soft_ready_cancelled *cancelled);
void soft_ready_close(struct soft_ready *ready);

/* The list may have changed: it has an event, or none. */
void soft_ready_update(struct soft_ready *ready, bool event);

/* The list is empty, and the caller is about to wait. */
struct soft_ready_wait soft_ready_begin(const struct soft_ready *ready);

/* A wait is over: before the caller takes an event of the list and calls soft_ready_update(). */
void soft_ready_end(struct soft_ready *ready, const struct soft_ready_wait *wait);

/*
 * Waits until the descriptor is readable, unless it does not block, and reads it: 0, or -1 with
 * errno.  It is one system call, or two if it is polled, and a cancellation point; the caller holds
 * no lock.
 */
int soft_ready_wait(struct soft_ready *ready, struct soft_ready_wait *wait);

#endif
