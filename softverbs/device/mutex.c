/* SPDX-License-Identifier: BSD-3-Clause */
#include "mutex.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#if !SOFT_TSAN

/* Returns at once if the word has another value, and perhaps for no reason. */
static void
mutex_word_wait(atomic_uint *word, unsigned int value)
{
	const int saved = errno;

	(void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
	errno = saved;
}

/*
 * The memory may have been freed since: then this wakes no thread, or one that checks its word
 * again.
 */
static void
mutex_word_wake(atomic_uint *word, int threads)
{
	const int saved = errno;

	(void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
	errno = saved;
}

/* A thread that has waited takes the lock as one that is waited for: there may be others. */
void
soft_mutex_wait(struct soft_mutex *mutex)
{
	while (atomic_exchange_explicit(
		   &mutex->state, SOFT_MUTEX_WAITED_FOR, memory_order_acquire) != SOFT_MUTEX_FREE)
		mutex_word_wait(&mutex->state, SOFT_MUTEX_WAITED_FOR);
}

void
soft_mutex_wake(struct soft_mutex *mutex)
{
	mutex_word_wake(&mutex->state, 1);
}

/* Readers and the writer wait for one word, so all of them are woken. */
void
soft_rwlock_wake(struct soft_rwlock *lock)
{
	mutex_word_wake(&lock->state, INT_MAX);
}

/*
 * A reader counts itself and then looks at the word; the writer clears the word and then looks for
 * readers.
 */
static void
mutex_rwlock_sleep(struct soft_rwlock *lock)
{
	unsigned int state;

	atomic_fetch_add(&lock->sleepers, 1);
	while ((state = atomic_load(&lock->state)) & SOFT_RWLOCK_WRITER)
		mutex_word_wait(&lock->state, state);
	atomic_fetch_sub(&lock->sleepers, 1);
}

void
soft_rwlock_step_back(struct soft_rwlock *lock)
{
	do {
		soft_rwlock_unread(lock);
		mutex_rwlock_sleep(lock);
	} while (
	    atomic_fetch_add_explicit(&lock->state, 1, memory_order_acquire) & SOFT_RWLOCK_WRITER);
}

void
soft_rwlock_write(struct soft_rwlock *lock)
{
	unsigned int state;

	soft_mutex_lock(&lock->writers);
	atomic_fetch_or_explicit(&lock->state, SOFT_RWLOCK_WRITER, memory_order_relaxed);
	while ((state = atomic_load_explicit(&lock->state, memory_order_acquire)) !=
	       SOFT_RWLOCK_WRITER)
		mutex_word_wait(&lock->state, state);
}

void
soft_rwlock_unwrite(struct soft_rwlock *lock)
{
	atomic_fetch_and(&lock->state, ~SOFT_RWLOCK_WRITER);
	if (atomic_load(&lock->sleepers))
		soft_rwlock_wake(lock);
	soft_mutex_unlock(&lock->writers);
}

#endif
