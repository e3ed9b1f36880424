/* SPDX-License-Identifier: BSD-3-Clause */
/* upcall -- claims events, and calls the function of the consumer with them */
#ifndef REARM_EVD_UPCALL_H
#define REARM_EVD_UPCALL_H

#include "evd/evd.h"

/* How a series of upcalls ended. */
enum evd_upcalls {
	EVD_UPCALLS_NONE,     /* none was made: a poll found no event that can be taken now */
	EVD_UPCALLS_HAVE_JOB, /* the calling thread still has the job */
	/* the same, and in this lock section a poll found the device queue empty */
	EVD_UPCALLS_SAW_EMPTY,
	EVD_UPCALLS_LEFT_JOB, /* the calling thread has the job no more */
};

/*
 * Make upcalls for the events that are queued, or that a poll finds, until evd_taken() has reached
 * `stop`.  They drop and retake the lock.  Under NOTIFY an upcall must be wanted.  The second one
 * is for an EVD that has an object for several events.  They return enum evd_upcalls, or an error
 * as evd_poll() if no upcall was made because the poll for the first one failed.
 */
int evd_make_upcalls(struct evd *evd, uint64_t stop) REQUIRES(core_locks.trigger);
int evd_make_array_upcalls(struct evd *evd, uint64_t stop) REQUIRES(core_locks.trigger);

#endif
