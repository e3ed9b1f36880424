/* SPDX-License-Identifier: BSD-3-Clause */
/* loop_body -- the members of a loop, for loop.c (threads, jobs) and source.c (sources) */
#ifndef REARM_EVD_LOOP_BODY_H
#define REARM_EVD_LOOP_BODY_H

#include "evd/annotate.h"
#include "evd/loop.h"
#include "evd/os.h"
#include "evd/park.h"

struct loop_source {
	int fd BY_LOOP; /* -1: free slot */
	uint32_t generation BY_LOOP;
	void (*handler)(void *arg, uint64_t serial);
	void *arg BY_LOOP;
	uint64_t serial BY_LOOP;
	bool busy BY_LOOP; /* the thread of the loop is inside the handler */
};

struct loop {
	struct os_mutex lock;
	enum loop_kind kind;
	int epfd;
	int doorbell;
	/*
	 * The same of a pool, whose threads have no sources to wait for: it changes under the lock,
	 * with each token.
	 */
	struct os_flag bell;
	/* threads that saw the ready list empty and for which no token is in the doorbell */
	int sleeping BY_LOOP;
	int tokens BY_LOOP; /* tokens in the doorbell */
	bool stop BY_LOOP;
	bool drained BY_LOOP;  /* the last turn found no source readable */
	bool orphan BY_LOOP;   /* freed by one of its own threads, which releases it when it ends */
	uint64_t turn BY_LOOP; /* the number of the current turn */
	struct loop_job ready BY_LOOP; /* list heads */
	/* not ordered: EVDs whose device failed, and timers of other jobs */
	struct loop_job delayed BY_LOOP;
	struct loop_source *sources BY_LOOP;
	uint32_t n_sources BY_LOOP;
	struct park_list removers BY_LOOP;
	int n_threads; /* this and the next: constant once they all run */
	struct os_thread *threads;
};

static inline void
loop_lock(struct loop *loop) ACQUIRE(core_locks.loop) UNCHECKED
{
	os_lock(&loop->lock);
}

static inline void
loop_unlock(struct loop *loop) RELEASE(core_locks.loop) UNCHECKED
{
	os_unlock(&loop->lock);
}

/*
 * source.c.  Calls the handlers of the events that epoll reported (if n > 0); returns how many.
 * Drops the lock for each handler.
 */
int loop_serve(struct loop *loop, const struct epoll_event *events, int n)
    REQUIRES(core_locks.loop);

#endif
