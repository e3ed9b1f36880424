/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tconn -- a connection of the target: its tasks, and what it does in its upcalls
 */
#ifndef ISER_TCONN_H
#define ISER_TCONN_H

#include "conn.h"
#include "task.h"

struct target;

struct ttask {
	enum ttask_state state;
	struct pdu command;
};

/* A command that found no free task; it keeps its receive slot, and so the initiator waits. */
struct waiting {
	unsigned int slot;
	enum pdu_status status; /* what is wrong with it, if anything */
	struct pdu command;
};

/* Touched by the connection's upcall alone, but for `next`. */
struct tconn {
	struct conn conn;      /* first: the upcall gets its address */
	struct tconn *next;    /* guarded by target->lock */
	uint32_t depth;	       /* agreed in the hello */
	uint64_t device_bytes; /* sent in the login response */
	uint32_t outstanding;  /* commands received and not yet answered */
	struct ttask *tasks;
	struct task_stack free;
	struct waiting *waiting; /* a ring of conn.shape.recvs */
	unsigned int waiting_head, waiting_count;
};

/* The order for conn_order(): disconnect. */
extern char tconn_abort;

/*
 * Ready to accept the queue depth and block size of the hello.  NULL after a message; then nothing
 * is allocated.
 */
struct tconn *tconn_new(struct target *target, unsigned int index, const struct hello *hello);

/* Returns the number of calls that failed and should not; each was reported. */
int tconn_free(struct tconn *tc);

#endif
