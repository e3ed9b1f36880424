/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * task -- one command, on either side
 *
 * A task owns a slot for a PDU to send and a data buffer of one block.  Neither may be reused
 * before the device has finished with it, which only a completion shows.  Therefore the state
 * machines have completions as events, besides the answers of the peer.
 */
#ifndef ISER_TASK_H
#define ISER_TASK_H

#include "machine.h"

#include <stdbool.h>

/* Initiator. */
enum itask_state {
	ITASK_FREE,	/* nothing going on: the task may take the next command */
	ITASK_ISSUED,	/* command posted; neither its completion nor the response is here */
	ITASK_SENT,	/* the command's send completed; the response is awaited */
	ITASK_ANSWERED, /* the response overtook the send's completion, which is still due */
	ITASK_STATES,
};

enum itask_event {
	ITASK_ISSUE,	 /* a command is posted */
	ITASK_SEND_DONE, /* its send completed */
	ITASK_RESPONSE,	 /* the response arrived */
	ITASK_EVENTS,
};

extern const struct machine itask_machine;

/* Target. */
enum ttask_state {
	TTASK_FREE,	  /* nothing going on: the task may take the next command */
	TTASK_FETCHING,	  /* write command: an RDMA read brings the data from the initiator */
	TTASK_STORING,	  /* the fetched data are being written to the device's file */
	TTASK_PUSHING,	  /* read command: RDMA write posted, the response posted behind it */
	TTASK_RESPONDING, /* only the completion of the response's send is missing */
	TTASK_STATES,
};

enum ttask_event {
	TTASK_FETCH,	 /* RDMA read posted */
	TTASK_PUSH,	 /* RDMA write and response posted */
	TTASK_RESPOND,	 /* response posted: to a refused command, or to stored data */
	TTASK_RDMA_DONE, /* the RDMA read or write completed */
	TTASK_SEND_DONE, /* the response's send completed */
	TTASK_EVENTS,
};

extern const struct machine ttask_machine;

/*
 * A stack of free task numbers.  Last in, first out: the buffer that was used last is the
 * one still in the cache.
 */
struct task_stack {
	unsigned int *numbers;
	unsigned int count;
	unsigned int size;
};

/* Filled with 0 ... size - 1; 0 is on top.  0 or -ENOMEM. */
int task_stack_init(struct task_stack *stack, unsigned int size);
void task_stack_fini(struct task_stack *stack);

/* False when none is free. */
bool task_stack_take(struct task_stack *stack, unsigned int *number);

/* The number must have been taken from this stack. */
void task_stack_put(struct task_stack *stack, unsigned int number);

#endif
