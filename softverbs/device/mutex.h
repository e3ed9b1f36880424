/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mutex -- the locks on the way of a request and of a completion
 *
 * Taking a free lock, and releasing one that no thread waits for, is one atomic operation in the
 * caller.  A thread that must wait sleeps in futex(2), so that the checker sees it there.  None of
 * these is a cancellation point, and none changes errno.  A lock is not recursive and belongs to
 * one process; a forked child initialises it anew.
 *
 * Under ThreadSanitizer they are those of the C library, whose order it checks.
 */
#ifndef SOFT_MUTEX_H
#define SOFT_MUTEX_H

#include "soft.h"

#ifndef _GNU_SOURCE
#error "it is needed under ThreadSanitizer: what builds without it would fail there alone"
#endif

#if !SOFT_TSAN

enum { SOFT_MUTEX_FREE, SOFT_MUTEX_HELD, SOFT_MUTEX_WAITED_FOR };

struct soft_mutex {
	atomic_uint state;
};
#define SOFT_MUTEX_INITIALIZER \
	{ \
		SOFT_MUTEX_FREE \
	}

/* Another thread holds it; one waits for it. */
void soft_mutex_wait(struct soft_mutex *mutex);
void soft_mutex_wake(struct soft_mutex *mutex);

static inline void
soft_mutex_init(struct soft_mutex *mutex)
{
	atomic_init(&mutex->state, SOFT_MUTEX_FREE);
}

static inline void
soft_mutex_destroy(struct soft_mutex *mutex)
{
	(void)mutex;
}

static inline bool
soft_mutex_trylock(struct soft_mutex *mutex)
{
	unsigned int state = SOFT_MUTEX_FREE;

	return atomic_compare_exchange_strong_explicit(
	    &mutex->state, &state, SOFT_MUTEX_HELD, memory_order_acquire, memory_order_relaxed);
}

static inline void
soft_mutex_lock(struct soft_mutex *mutex)
{
	if (!soft_mutex_trylock(mutex))
		soft_mutex_wait(mutex);
}

/* The next holder may free it as soon as it is free. */
static inline void
soft_mutex_unlock(struct soft_mutex *mutex)
{
	if (atomic_exchange_explicit(&mutex->state, SOFT_MUTEX_FREE, memory_order_release) ==
	    SOFT_MUTEX_WAITED_FOR)
		soft_mutex_wake(mutex);
}

#define SOFT_RWLOCK_WRITER (1u << 31) /* there is one, which holds the lock or waits */

/*
 * Shared by readers.  A writer that waits keeps new readers out; a reader does not take it twice.
 */
struct soft_rwlock {
	atomic_uint state;    /* the number of readers, and the writer */
	atomic_uint sleepers; /* readers that wait */
	struct soft_mutex writers;
};
#define SOFT_RWLOCK_INITIALIZER \
	{ \
		0, 0, SOFT_MUTEX_INITIALIZER \
	}

static inline void
soft_rwlock_init(struct soft_rwlock *lock)
{
	atomic_init(&lock->state, 0);
	atomic_init(&lock->sleepers, 0);
	soft_mutex_init(&lock->writers);
}

/* A reader has counted itself and found a writer; the last reader has left a writer that waits. */
void soft_rwlock_step_back(struct soft_rwlock *lock);
void soft_rwlock_wake(struct soft_rwlock *lock);
void soft_rwlock_write(struct soft_rwlock *lock);
void soft_rwlock_unwrite(struct soft_rwlock *lock);

static inline void
soft_rwlock_read(struct soft_rwlock *lock)
{
	if (atomic_fetch_add_explicit(&lock->state, 1, memory_order_acquire) & SOFT_RWLOCK_WRITER)
		soft_rwlock_step_back(lock);
}

static inline void
soft_rwlock_unread(struct soft_rwlock *lock)
{
	if (atomic_fetch_sub_explicit(&lock->state, 1, memory_order_release) ==
	    (SOFT_RWLOCK_WRITER | 1))
		soft_rwlock_wake(lock);
}

#else

struct soft_mutex {
	pthread_mutex_t real;
};
#define SOFT_MUTEX_INITIALIZER \
	{ \
		PTHREAD_MUTEX_INITIALIZER \
	}

static inline void
soft_mutex_init(struct soft_mutex *mutex)
{
	pthread_mutex_init(&mutex->real, NULL);
}

static inline void
soft_mutex_destroy(struct soft_mutex *mutex)
{
	pthread_mutex_destroy(&mutex->real);
}

static inline void
soft_mutex_lock(struct soft_mutex *mutex)
{
	pthread_mutex_lock(&mutex->real);
}

static inline bool
soft_mutex_trylock(struct soft_mutex *mutex)
{
	return !pthread_mutex_trylock(&mutex->real);
}

static inline void
soft_mutex_unlock(struct soft_mutex *mutex)
{
	pthread_mutex_unlock(&mutex->real);
}

/*
 * Shared by readers.  A writer that waits keeps new readers out; a reader does not take it twice.
 */
struct soft_rwlock {
	pthread_rwlock_t real;
};
#define SOFT_RWLOCK_INITIALIZER \
	{ \
		PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP \
	}

static inline void
soft_rwlock_init(struct soft_rwlock *lock)
{
	*lock = (struct soft_rwlock)SOFT_RWLOCK_INITIALIZER;
}

static inline void
soft_rwlock_read(struct soft_rwlock *lock)
{
	pthread_rwlock_rdlock(&lock->real);
}

static inline void
soft_rwlock_unread(struct soft_rwlock *lock)
{
	pthread_rwlock_unlock(&lock->real);
}

static inline void
soft_rwlock_write(struct soft_rwlock *lock)
{
	pthread_rwlock_wrlock(&lock->real);
}

static inline void
soft_rwlock_unwrite(struct soft_rwlock *lock)
{
	pthread_rwlock_unlock(&lock->real);
}

#endif
#endif
