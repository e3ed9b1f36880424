/* SPDX-License-Identifier: BSD-3-Clause */
/* loop_body -- what a loop is made of: for loop.c (threads, jobs) and source.c (what it reads) */
#ifndef REARM_EVD_LOOP_BODY_H
#define REARM_EVD_LOOP_BODY_H

#include "evd/loop.h"
#include "evd/os.h"
#include "evd/park.h"

struct loop_source {
	int fd; /* -1: free slot */
	uint32_t generation;
	void (*handler)(void *arg, uint64_t serial);
	void *arg;
	uint64_t serial;
	bool busy; /* the loop's thread is inside the handler */
};

struct loop {
	struct os_mutex lock;
	enum loop_kind kind;
	int epfd;
	int doorbell;
	int sleeping; /* threads that saw the ready list empty and have no token in the doorbell */
	int tokens;   /* in the doorbell */
	bool stop;
	bool orphan; /* destroyed by one of its own threads, which frees it when it ends */
	struct loop_job ready;	 /* list heads */
	struct loop_job delayed; /* unordered: runs that back off, and other jobs' timers */
	struct loop_source *sources;
	uint32_t n_sources;
	struct park_list removers;
	int n_threads;
	struct os_thread *threads;
};

/*
 * source.c, not locked.  Enters the handlers of what epoll reported, if it did (n > 0); returns how
 * many.
 */
int loop_serve(struct loop *loop, const struct epoll_event *events, int n);

#endif
