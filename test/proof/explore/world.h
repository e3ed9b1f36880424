/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world -- the system the dispatcher runs on: locks, memory, descriptors, time, threads
 *
 * Judges its user all the while: a lock taken twice or out of order, memory freed twice or touched
 * after it was freed, a closed descriptor used, a thread that blocks with a lock held.
 */
#ifndef REARM_EXPLORE_WORLD_H
#define REARM_EXPLORE_WORLD_H

#include <setjmp.h>

#include "sched.h"

#define WORLD_FDS 64

/* What may fail, for a scenario's fault mask. */
enum world_fault {
	FAULT_ALLOC = 1,
	FAULT_OPEN = 2,	 /* no descriptor is to be had */
	FAULT_EPOLL = 4, /* no room in the kernel for a watched descriptor */
	FAULT_EINTR = 8, /* a signal handler ran */
	FAULT_THREAD = 16,
	FAULT_ARM = 32, /* of the device, as the next two */
	FAULT_POLL = 64,
	FAULT_EXCESS = 128, /* the poll returns a larger number than was requested */
	FAULT_VERBS = 256,  /* the device has none left of what is to be made */
	FAULT_CANCEL = 512, /* the thread of a wait is cancelled while it sleeps */
};

extern unsigned int world_faults;
/*
 * A wait that may be cancelled returns this: to the next thread of the program, which goes on with
 * what the actor does.  No call returns it by itself.
 */
#define WORLD_CANCELLED (-ENOTRECOVERABLE)

/*
 * In sched.self->left while the fiber is in such a wait: where world_leave() goes on, after
 * leave().  Threads of the library cannot be cancelled.
 */
struct world_left {
	jmp_buf place;
};

static inline bool
world_may_be_cancelled(void)
{
	return world_faults & FAULT_CANCEL && !os_self()->loop && !os_in_callback();
}

/* Whether this fails now. */
bool world_fails(unsigned int fault, const struct os_site *site);

/* The locks are those of evd/lock.h over flags; else they are modelled.  Constant in a run. */
extern bool world_shipped_locks;

void world_reset(void);

/* A blocked fiber's condition holds. */
bool world_is_ready(const struct fiber *f);

/* The order of locks: the rank rises.  Unnamed ones are the loops'. */
enum {
	RANK_MEMBERS = 1,
	RANK_BINDS,
	RANK_IA_LIST,
	RANK_IA,
	RANK_EP,
	RANK_EVD,
	RANK_CNO,
	RANK_LOOP,
	RANK_SRQ
};
/* Called when a lock was taken, and before it is dropped; or NULL. */
extern void (*world_section)(struct os_mutex *m, bool begins);
void world_mutex_name(struct os_mutex *m, unsigned int rank, const char *name);

/* A descriptor of the device: readable while `level` is above 0.  The name is kept, not copied. */
int world_channel_open(const char *name);
void world_channel_set(int fd, unsigned int level);
bool world_is_readable(int fd);

/* A variable that is no lock's is about to be read or written. */
void world_atomic(const volatile void *address, bool writes, const struct os_site *site);

/* No thread can run: none sleeps for a lock. */
void world_check_rest(void);

/* No fiber but the stage is left, nothing is allocated, open or locked. */
void world_check_balance(void);

const char *world_object_name(unsigned int object, char *text, size_t size);

/* The consumer's code is about to run. */
void world_check_call_out(const char *what);

#endif
