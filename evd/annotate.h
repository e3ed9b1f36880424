/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * annotate -- which lock a function needs, takes or must not hold, as clang checks it
 *
 * A build with clang and -Wthread-safety checks every call against these annotations.  Other
 * compilers ignore them.  A lock is named by its class, not by its object: no function of the
 * library holds two locks of one class, and an EVD or CNO is reached through a reference that clang
 * cannot follow.
 *
 *     REQUIRES(lock)     the caller holds the lock, and holds it on return
 *     ACQUIRE(lock)      the function returns with the lock held
 *     TRY_ACQUIRE(lock)  the same if it returns true, or a pointer that is not NULL
 *     RELEASE(lock)      the caller holds the lock, and does not hold it on return
 *     EXCLUDES(lock)     the caller must not hold the lock
 *     NO_CORE_LOCK       the caller must hold no lock of evd/ and cno/, because code of the
 *                        consumer runs, or the thread sleeps
 *     GUARDED_BY(lock)   a member that is accessed with the lock held; not if only its address is
 *                        taken
 *     UNCHECKED          the body is not checked, because it does what the annotation describes
 */
#ifndef REARM_EVD_ANNOTATE_H
#define REARM_EVD_ANNOTATE_H

#ifdef __clang__
#define ANNOTATE(x) __attribute__((x))
#else
#define ANNOTATE(x)
#endif

#define CAPABILITY(name) ANNOTATE(capability(name))
#define REQUIRES(...) ANNOTATE(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) ANNOTATE(acquire_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) ANNOTATE(try_acquire_capability(1, __VA_ARGS__))
#define RELEASE(...) ANNOTATE(release_capability(__VA_ARGS__))
#define EXCLUDES(...) ANNOTATE(locks_excluded(__VA_ARGS__))
#define GUARDED_BY(lock) ANNOTATE(guarded_by(lock))
#define UNCHECKED ANNOTATE(no_thread_safety_analysis)

/* A class of locks.  It is declared for the annotations and exists nowhere. */
struct CAPABILITY("lock") lock_class {
	char unused;
};

/*
 * The locks of evd/ and cno/, in their order: a thread that holds one takes only those after it.
 */
extern struct core_locks {
	struct lock_class trigger; /* of an EVD: struct evd */
	struct lock_class cno;	   /* of a CNO: struct cno */
	struct lock_class loop;	   /* of a loop: struct loop */
} core_locks;

#define BY_TRIGGER GUARDED_BY(core_locks.trigger)
#define BY_CNO GUARDED_BY(core_locks.cno)
#define BY_LOOP GUARDED_BY(core_locks.loop)

#define NO_CORE_LOCK EXCLUDES(core_locks.trigger, core_locks.cno, core_locks.loop)

/*
 * ASSUME(x): what the function requires of its caller.  Builds with a sanitizer and those of the
 * schedule explorer check it; the product does not evaluate it.
 */
#ifdef REARM_CHECKED
#include <assert.h>
#define ASSUME(x) assert(x)
#else
#define ASSUME(x) ((void)0)
#endif

#endif
