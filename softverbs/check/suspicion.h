/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * suspicion -- whether a queue looks as if its program had lost a wake-up
 *
 * A suspicion is about one moment.  It is reported when it has lasted, without any call with the
 * queue:
 *
 * - STRONG for as long as softverbs-run --stranded-after says.  The thread that should be woken
 * sleeps; or all threads
 *   do, without a time limit and for nothing that comes from outside.
 *   Threads that only poll other queues, and find nothing, do not count while one waits for the
 *   channel.
 * - WEAK for five times as long.  A thread runs, or sleeps for a time, or waits for something else,
 * and could look at
 *   the queue when it comes back.
 *
 * soft_suspicion_lasts() alone decides that, also for calls that wait for acknowledgements: of the
 * events of a queue, or of another object (pending.h).  Any thread that can wake may have read an
 * event, and handle it before it acknowledges it.
 *
 * A thread that sleeps while requests are outstanding, of which no completion is there yet, is
 * suspected, too: WEAK, or STRONG if every thread sleeps for nothing but this channel and the other
 * threads.
 *
 * So is one that sleeps for a queue that is armed, when the peers of all its requests have
 * disconnected: nothing flushes them.  If the event was read, only while every thread sleeps
 * without a time limit, and nothing listens.
 *
 * A thread that has read the event of a queue and waits again, with no poll and no arm after it,
 * may have left the queue to another thread, and so may one that is not the last that used the
 * queue: WEAK if another one sleeps for a time, or for something from outside.
 *
 * A program that asks for events of a channel that does not block waits for it, too; that is WEAK.
 *
 * A thread that sleeps for a time wakes by itself, and can poll then.  So the time does not count
 * until it has come back, once, if a queue was never armed and it sleeps on the channel; or if it
 * is the thread that polled, armed or read an event last, and none sleeps on the channel.  A queue
 * that was armed and missed its completion counts: then only the time limit rescues the program.
 *
 * What is no proof:
 *
 * - Time in which the program had no processor, or was stopped: its threads are not asleep then,
 * and the sentry, a
 *   thread of the same process, counts only the time in which it runs itself.
 * - A queue that is only polled, or armed and never waited for: programs look at it when they want.
 * - Completions that were flushed, while no thread waits for the queue: programs leave them when
 * they disconnect.
 * - Receives that are outstanding, while another thread runs or can be woken.
 * - Unsolicited completions while the queue is armed for solicited ones, and completions in a queue
 * that was never armed
 *   while its channel can still wake the thread; but messages are WEAK.
 * - A completion or event that the device holds back.
 */
#ifndef SOFT_CHECK_SUSPICION_H
#define SOFT_CHECK_SUSPICION_H

#include "kind.h"
#include "sleep.h"
#include "view.h"

enum soft_strength { SOFT_INNOCENT, SOFT_WEAK, SOFT_STRONG };

struct soft_suspicion {
	enum soft_strength strength;
	enum soft_kind kind;
	pid_t sleeper; /* a thread that waits for the channel; 0: none */
	const char *call;
	pid_t napper; /* a thread that will come back, and look at the queue; 0: none */
	unsigned long naps;
};

/* A call of this thread waits until another thread does something; its other threads may do it. */
enum soft_strength soft_suspicion_of_call(const struct soft_sleepers *sleepers, pid_t thread);

/* So much time has passed since the last call: true if it is to be reported. */
bool soft_suspicion_lasts(
    struct soft_lasting *lasting, enum soft_strength strength, uint64_t passed);

struct soft_suspicion soft_suspect(
    const struct soft_check_view *view, const struct soft_sleepers *sleepers);

/* True if it is worth looking at the threads. */
bool soft_suspicion_is_possible(const struct soft_check_view *view);

#endif
