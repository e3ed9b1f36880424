/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock -- the lock of the shipped library
 *
 * Without contention taking it is one compare-and-exchange and dropping it one exchange, both
 * inline.  A thread that does not get it looks a few times more, then sleeps in the kernel (a
 * futex).
 *
 *     FREE     no thread has it
 *     HELD     a thread has it, and no thread sleeps for it
 *     WAITED   a thread has it, and threads may sleep for it: dropping it wakes one of them
 *
 * A thread that slept takes the lock as WAITED, because it does not know whether others sleep.  So
 * at worst a wake-up finds no sleeper; none is lost: a thread sleeps only while the word is WAITED,
 * which the kernel compares in the same step, and a thread that changes it from WAITED wakes another.
 *
 * It is not fair, not recursive, and knows no owner.  It has no state outside its word: in the child
 * of a fork() the lock is as it was in the parent at that moment, and no thread drops it if another
 * thread of the parent had it.  (The child of a program that uses RDMA may call exec, but no DAT
 * function.)  None of its functions is a cancellation point.  The word may be released memory when
 * a drop wakes a sleeper: the kernel uses its address only.
 *
 * Builds with a sanitizer and those of the tests have the lock of pthread in its place (os.h), which
 * their tools know.  The schedule explorer has a lock of its own.  Model lock.pml checks this one.
 */
#ifndef REARM_EVD_LOCK_H
#define REARM_EVD_LOCK_H

#include <stdint.h>

enum lock_state { LOCK_FREE, LOCK_HELD, LOCK_WAITED };

struct lock {
	lock_word state; /* enum lock_state; os.h has the type, and the steps on it */
};

#define LOCK_LOOKS 40 /* before a thread sleeps: about as long as a section takes */

/* The part with contention: the caller did not get the lock at once. */
static inline void
lock_take_slowly(struct lock *lock)
{
	for (int i = 0; i < LOCK_LOOKS && lock_word_load(&lock->state) == LOCK_HELD; i++)
		lock_pause();
	if (lock_word_load(&lock->state) == LOCK_FREE &&
	    lock_word_replace(&lock->state, LOCK_FREE, LOCK_HELD))
		return;
	while (lock_word_swap(&lock->state, LOCK_WAITED) != LOCK_FREE)
		lock_sleep(&lock->state, LOCK_WAITED);
}

#endif
