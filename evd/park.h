/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * park -- a thread's place to sleep until somebody wakes it
 *
 * One eventfd per thread, made when the thread first parks and closed when it ends.  A thread
 * lists itself under the lock of what it waits for, drops the lock, sleeps in park_sleep(), takes
 * the lock again and looks.  A wake that comes between the look and the sleep is kept by the
 * eventfd; park_reset() is therefore called before the look, never after it.
 *
 * On a loop's thread park_sleep() also pumps that loop, because no other thread does: notifications
 * are read, booked and turned into kicks, and CNOs are triggered; no upcall and no agent is called.
 */
#ifndef REARM_EVD_PARK_H
#define REARM_EVD_PARK_H

#include <stdbool.h>
#include <stdint.h>

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

/* The calling thread's park, or NULL with errno set when no descriptor is to be had. */
struct park *park_self(void);

/*
 * Closes the calling thread's descriptor, if it has one; the next park_self() makes a new one.  For
 * a thread that closed its last IA and may live on.
 */
void park_close_self(void);

/* Forgets the wake that ended the last sleep. */
void park_reset(struct park *park);

void park_list_add(struct park_list *list, struct park_entry *entry, struct park *park);
void park_list_remove(struct park_list *list, struct park_entry *entry);
/* Waking does not wake the calling thread: that is awake, and will look before it sleeps. */
void park_list_wake_all(struct park_list *list);
bool park_list_wake_first(struct park_list *list);

#define PARK_FOREVER UINT64_MAX

/*
 * Sleeps until woken, until `deadline` (os_clock_ns() time), until fd (or -1) is readable, or until
 * a signal handler ran.  Returns 0, -ETIMEDOUT, -EINTR or another -errno; *fd_ready tells about fd;
 * without an fd it may be NULL.
 * Wakes without a reason may happen.  A NULL park (no descriptor was to be had) naps for a
 * millisecond, so that what must not fail -- a free, a teardown -- still ends.
 */
int park_sleep(struct park *park, uint64_t deadline, int fd, bool *fd_ready);

/*
 * `lock`, which guards the list and what `over` looks at, is held by the caller.  Sleeps without a
 * time limit until over(arg), and returns with the lock held; drops and retakes it around each sleep.
 * The caller keeps the object alive meanwhile.
 */
void park_list_await(struct park_list *list, struct os_mutex *lock, bool (*over)(void *arg),
    void *arg);

#endif
