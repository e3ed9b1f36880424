/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock -- the lock of the shipped library
 *
 * Without contention taking it is one compare-and-exchange and dropping it one exchange, both
 * inline.  A thread that does not get it looks a few times more, then sleeps on its word, a flag of
 * os.h, which is a futex.
 *
 *     FREE     no thread has it
 *     HELD     a thread has it, and no thread sleeps for it
 *     WAITED   a thread has it, and threads may sleep for it: dropping it wakes one of them
 *
 * A thread that slept takes the lock as WAITED, because it does not know whether others sleep.  So
 * at worst a wake-up finds no sleeper; none is lost: a thread sleeps only while the word is WAITED,
 * which the kernel compares in the same step, and a thread that changes it from WAITED wakes
 * another.
 *
 * It is not fair, not recursive, and knows no owner.  It has no state outside its word: in the
 * child of a fork() the lock is as it was in the parent at that moment, and no thread drops it if
 * another thread of the parent had it.  (The child of a program that uses RDMA may call exec, but
 * no DAT function.)  None of its functions is a cancellation point.  The word may be released
 * memory when a drop wakes a sleeper: the kernel uses its address only.
 *
 * Builds with a sanitizer and those of the tests have the lock of pthread in its place (os.h),
 * which their tools know.  The schedule explorer has a modelled lock in most scenarios; in some it
 * plays this code, on its own flags.  Model lock.pml checks the protocol.
 *
 * The caller saves errno.
 */
#ifndef REARM_EVD_LOCK_H
#define REARM_EVD_LOCK_H

#include <stdbool.h>
#include <stdint.h>

enum lock_state { LOCK_FREE, LOCK_HELD, LOCK_WAITED };

struct lock {
	struct os_flag word; /* enum lock_state */
};

/* False if the lock is not free. */
static inline bool
lock_try(struct lock *lock)
{
	return os_flag_change(&lock->word, LOCK_FREE, LOCK_HELD);
}

/* Takes the lock; for a caller that did not get it at once. */
static inline void
lock_take_slowly(struct lock *lock)
{
	for (int i = 0; i < LOCK_LOOKS && os_flag_get(&lock->word) == LOCK_HELD; i++)
		os_pause();
	if (os_flag_get(&lock->word) == LOCK_FREE && lock_try(lock))
		return;
	while (os_flag_swap(&lock->word, LOCK_WAITED) != LOCK_FREE)
		(void)os_flag_wait(&lock->word, LOCK_WAITED, UINT64_MAX);
}

/* Returns true if threads may sleep for the lock: then the caller calls lock_wake(). */
static inline bool
lock_drop(struct lock *lock)
{
	return os_flag_swap(&lock->word, LOCK_FREE) == LOCK_WAITED;
}

static inline void
lock_wake(struct lock *lock)
{
	os_flag_wake(&lock->word);
}

#endif
