/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * park -- where a thread sleeps until another thread wakes it
 *
 * Each thread has one park, made when the thread parks for the first time and released when the
 * thread ends.  A thread that waits for something adds itself to a list under the lock that guards
 * it, drops the lock, sleeps in park_sleep(), takes the lock and checks again.  A wake-up between
 * the check and the sleep is kept by the park.  Therefore park_reset() is called before the check,
 * never after it.
 *
 * A thread that waits for nothing else sleeps on a flag in memory: one system call, or two where it
 * can be cancelled, and one for the thread that wakes it.  A thread that also waits for descriptors
 * sleeps on them and on an eventfd.
 * To wake a thread that is not asleep takes no system call.
 *
 * On a thread of a loop park_sleep() also pumps that loop, because no other thread does: it reads
 * notifications, queues events, wakes sinks and triggers CNOs.  It makes no upcall and calls no
 * agent.
 */
#ifndef REARM_EVD_PARK_H
#define REARM_EVD_PARK_H

#include <stdbool.h>
#include <stdint.h>

#include "evd/annotate.h"

struct os_mutex;
struct park; /* the calling thread's */

struct park_entry {
	struct park_entry *next;
	struct park *park;
};

/* Guarded by the lock of the object it belongs to. */
struct park_list {
	struct park_entry *first;
};

/* The park of the calling thread, or NULL with errno set if it cannot get a descriptor. */
struct park *park_self(void);

/*
 * Closes the descriptor of the calling thread, if it has one; the next park_self() opens a new one.
 * For a thread that closed its last adapter and may live on.
 */
void park_close_self(void);

/* Clears the wake-up that ended the last sleep. */
void park_reset(struct park *park);

/*
 * Ends the sleep of the park's thread, or its next one.  No effect for NULL, or on the calling
 * thread itself, which is awake and checks before it sleeps.
 */
void park_wake(struct park *park);

void park_list_add(struct park_list *list, struct park_entry *entry, struct park *park);
void park_list_remove(struct park_list *list, struct park_entry *entry);
void park_list_wake_all(struct park_list *list);
bool park_list_wake_first(struct park_list *list);

#define PARK_FOREVER UINT64_MAX

/*
 * Sleeps until it is woken, until `deadline` (as os_clock_ns()), until fd (or -1) is readable, or
 * until a signal handler ran.  Returns 0, -ETIMEDOUT, -EINTR or another -errno.  *fd_ready is set
 * if fd is readable; without an fd it may be NULL.  Spurious wake-ups are possible.  With a NULL
 * park (no descriptor available) it sleeps for a millisecond, so that a call that must not fail, a
 * free or a teardown, still ends.
 */
int park_sleep(struct park *park, uint64_t deadline, int fd, bool *fd_ready) NO_CORE_LOCK;

/*
 * The same for a thread of the consumer that waits, which may be cancelled: then leave(arg) is
 * called, and the thread ends.  On a thread of a loop, which cannot be cancelled, it is
 * park_sleep().
 */
int park_sleep_or_leave(struct park *park, uint64_t deadline, int fd, bool *fd_ready,
    void (*leave)(void *arg), void *arg) NO_CORE_LOCK;

/*
 * The caller holds `lock`, which guards the list and what `over` reads.  Sleeps without a time
 * limit until over(arg) is true, and returns with the lock held; drops and retakes it around each
 * sleep.  The caller keeps the object valid meanwhile.
 */
void park_list_await(
    struct park_list *list, struct os_mutex *lock, bool (*over)(void *arg), void *arg);

#endif
