/* SPDX-License-Identifier: BSD-3-Clause */
/* loop_body -- the members of a loop, for loop.c (threads, jobs) and source.c (sources) */
#ifndef REARM_EVD_LOOP_BODY_H
#define REARM_EVD_LOOP_BODY_H

#include "evd/annotate.h"
#include "evd/loop.h"
#include "evd/os.h"
#include "evd/park.h"

struct loop_source {
	int fd; /* -1: free slot */
	uint32_t generation;
	void (*handler)(void *arg, uint64_t serial);
	void *arg;
	uint64_t serial;
	bool busy; /* the thread of the loop is inside the handler */
};

struct loop {
	struct os_mutex lock;
	enum loop_kind kind;
	int epfd;
	int doorbell;
	int sleeping; /* threads that saw the ready list empty and for which no token is in the
			 doorbell */
	int tokens;   /* tokens in the doorbell */
	bool stop;
	bool orphan;	       /* freed by one of its own threads, which releases it when it ends */
	uint64_t turn;	       /* the number of the current turn */
	struct loop_job ready; /* list heads */
	struct loop_job
	    delayed; /* not ordered: EVDs whose device failed, and timers of other jobs */
	struct loop_source *sources;
	uint32_t n_sources;
	struct park_list removers;
	int n_threads;
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
