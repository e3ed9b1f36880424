/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iconn -- a connection of the initiator: its tasks, and what it does in its upcalls
 *
 * Each connection takes the next block of the job that no other has taken yet, as long as it
 * has a free task.  There are as many tasks as the queue depth: that is the flow control.
 */
#ifndef ISER_ICONN_H
#define ISER_ICONN_H

#include "conn.h"
#include "histogram.h"
#include "task.h"

struct initiator;
struct job;

struct itask {
	enum itask_state state;
	uint64_t block;
	uint32_t length;
	uint64_t start;	 /* bell_now() */
	struct job *job; /* NULL for the control task */
};

/* Touched by the connection's upcall alone, once iconn_connect() was called. */
struct iconn {
	struct conn conn; /* first: the upcall gets its address */
	struct itask *tasks;
	struct task_stack free;
	unsigned int control;	   /* the task of logins and logouts */
	struct job *job;	   /* the order being carried out, or NULL */
	struct histogram *latency; /* [0] of writes, [1] of reads */
};

/* Orders for conn_order(), besides a struct job. */
extern char iconn_logout, iconn_abort;

/* 0, or -1 after a message; then nothing is allocated. */
int iconn_open(struct iconn *ic, struct initiator *initiator, unsigned int index);

/* Returns the number of calls that failed and should not; each was reported. */
int iconn_close(struct iconn *ic);

#endif
