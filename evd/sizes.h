/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sizes -- of batches, budgets and tables
 *
 * The builds of the explorer have an os.h of their own, which makes them small.
 */
#ifndef REARM_EVD_SIZES_H
#define REARM_EVD_SIZES_H

/* Completions per poll of the device: enough to amortise its lock, few enough for the cache. */
#define EVD_BATCH 32
/*
 * The same for a consumer that takes one at a time, where posted events are rare: the completions
 * before one cost more.
 */
#define EVD_BATCH_PLAIN 64
/* Notifications per acknowledgement: the device takes a lock for each. */
#define EVD_ACK_BATCH 64
/*
 * Passes, and events taken, before other EVDs and the sources of the loop get their turn.  An
 * upcall that drains its EVD takes many events in one pass; they count in the same way.
 */
#define EVD_BUDGET 64
/*
 * The same for upcalls that get several events: no more of these than of the others, if each gets
 * eight, and each event costs less.  The end of a run, and the read of the sources, would not.
 */
#define EVD_BUDGET_ARRAY 512
/*
 * Waits in a row that slept, after which the next one arms before it polls.  If it is wrong it
 * costs two system calls; at one error in so many waits this is less than the polls that it saves.
 */
#define EVD_SLEPT_WAITS 8
/* Polls of one spin at most, whatever the clock says: spin.h. */
#define SPIN_POLLS 100000
/*
 * Runs for a CNO that poll before they arm, after one that was notified and found nothing: one
 * wake-up in so many is for nothing where the device answers each arm before a poll with a
 * notification.
 */
#define EVD_POLLS_FIRST 64
/* Descriptors read per turn of a loop; more only delays the jobs. */
#define LOOP_BATCH 32
/*
 * Jobs run, and events taken by them, after which the thread of a loop reads its sources.  Half a
 * run of one EVD, so that this changes little; enough for the system call to cost little for each
 * event.
 */
#define LOOP_SPAN 32
/* Notifications read from a channel at once; the rest must not delay the jobs. */
#define LOOP_READS 64
/*
 * How often one is read, at most, before all are read: a rare attempt costs little if it is vain.
 */
#define LOOP_SINGLES 63
/* Descriptors that a loop has room for at first. */
#define LOOP_SOURCES 8
/* Looks at a lock that is held before a thread sleeps: about as long as a section takes. */
#define LOCK_LOOKS 40

#endif
