/* SPDX-License-Identifier: BSD-3-Clause */
#include "ready.h"
#include "bell.h"

#include <unistd.h>

struct waiter {
	struct soft_ready *ready;
	struct soft_ready_wait *wait;
};

int
soft_ready_open(struct soft_ready *ready, soft_ready_cancelled *cancelled)
{
	*ready = (struct soft_ready){ .fd = soft_bell_open(), .cancelled = cancelled };
	if (ready->fd < 0)
		return -errno;
	ready->polled = !soft_bell_may_be_read(ready->fd);
	return 0;
}

void
soft_ready_close(struct soft_ready *ready)
{
	soft_close(ready->fd);
}

void
soft_ready_update(struct soft_ready *ready, bool event)
{
	if (event && !ready->rung) {
		ready->filled = true;
		ready->writes++;
		soft_bell_ring(ready->fd);
	} else if (!event && ready->filled) {
		ready->filled = false;
		soft_bell_clear(ready->fd);
	}
	ready->rung = event;
}

struct soft_ready_wait
soft_ready_begin(const struct soft_ready *ready)
{
	return (struct soft_ready_wait){ .writes = ready->writes };
}

/*
 * When the wait began, nothing could be read.  If it has read all writes since, nothing can be read
 * now.
 */
void
soft_ready_end(struct soft_ready *ready, const struct soft_ready_wait *wait)
{
	if (!wait->taken)
		return;
	ready->rung = false;
	if (wait->taken == (uint32_t)(ready->writes - wait->writes))
		ready->filled = false;
}

/* A thread can be cancelled after the kernel has emptied the descriptor for it. */
static void
ready_cancelled(void *arg)
{
	const struct waiter *waiter = arg;

	waiter->ready->cancelled(waiter->ready, waiter->wait);
}

int
soft_ready_wait(struct soft_ready *ready, struct soft_ready_wait *wait)
{
	struct waiter waiter = { ready, wait };
	volatile int r; /* kept over the cleanup handler, which saves and restores registers */

	if (ready->polled)
		return soft_bell_wait(ready->fd);
	pthread_cleanup_push(ready_cancelled, &waiter);
	r = read(ready->fd, &wait->taken, sizeof wait->taken) < 0 ? -1 : 0;
	pthread_cleanup_pop(0);
	return r;
}
