/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target -- serves a file as a block device
 *
 * The upcall of the listener answers every connection request; the hello in the request has the
 * queue depth and the block size.  The main thread only frees connections that have ended.
 */
#ifndef ISER_TARGET_H
#define ISER_TARGET_H

#include "adapter.h"
#include "backing.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct bell;
struct options;
struct tconn;

struct target {
	const struct options *options;
	struct bell *bell;
	struct adapter adapter;
	struct backing *device;
	bool growable; /* a login may make the device larger; guarded by lock */
	struct watch listener;
	DAT_PSP_HANDLE psp; /* DAT_HANDLE_NULL: does not listen */
	uint16_t port;	    /* where it listens */
	pthread_mutex_t lock;
	struct tconn *conns;   /* guarded by lock: all that were not freed yet */
	unsigned int accepted; /* guarded by lock */
	unsigned int refused;  /* guarded by lock: requests turned down */
	unsigned int living;   /* main thread: connections found by the last target_reap() */
	unsigned int ended;    /* main thread: connections freed */
	unsigned int lost;     /* main thread: ... that had not logged out */
	int failures;	       /* main thread: calls that failed and must not */
	atomic_ullong bytes_written, bytes_read, commands, errors;
};

/*
 * Opens the adapter and listens; port 0: the first free one from 3260 on.  The device stays the
 * caller's.  0, or -1 when that fails: why was said, and target_close() is still due.
 */
int target_open(struct target *target, const struct options *options, struct bell *bell,
    struct backing *device, bool growable, uint16_t port);

/* Main thread, after the bell: frees connections that have ended. */
void target_reap(struct target *target);

/* Main thread: waits until no connection lives.  False when the deadline came first. */
bool target_settle(struct target *target, uint64_t deadline);

/*
 * Disconnects the connections that are left, waits for their end, and frees everything.  Returns
 * the number of calls that failed and should not; each was reported.
 */
int target_close(struct target *target);

#endif
