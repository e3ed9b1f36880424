/* SPDX-License-Identifier: BSD-3-Clause */
#include "task.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* Short names, for the tables to fit on the page. */
enum {
	NEVER = MACHINE_NEVER,
	FREE = TTASK_FREE,
	FETCHING = TTASK_FETCHING,
	STORING = TTASK_STORING,
	PUSHING = TTASK_PUSHING,
	RESPONDING = TTASK_RESPONDING,
};

static const char *const itask_states[] = {
	[ITASK_FREE] = "FREE",
	[ITASK_ISSUED] = "ISSUED",
	[ITASK_SENT] = "SENT",
	[ITASK_ANSWERED] = "ANSWERED",
};

static const char *const itask_events[] = {
	[ITASK_ISSUE] = "ISSUE",
	[ITASK_SEND_DONE] = "SEND_DONE",
	[ITASK_RESPONSE] = "RESPONSE",
};

/* clang-format off */
static const signed char itask_table[ITASK_STATES][ITASK_EVENTS] = {
	/*                    ISSUE          SEND_DONE     RESPONSE       */
	[ITASK_FREE] =      { ITASK_ISSUED,  NEVER,        NEVER          },
	[ITASK_ISSUED] =    { NEVER,         ITASK_SENT,   ITASK_ANSWERED },
	[ITASK_SENT] =      { NEVER,         NEVER,        ITASK_FREE     },
	[ITASK_ANSWERED] =  { NEVER,         ITASK_FREE,   NEVER          },
};
/* clang-format on */

const struct machine itask_machine = {
	.name = "initiator task",
	.states = ITASK_STATES,
	.events = ITASK_EVENTS,
	.state_names = itask_states,
	.event_names = itask_events,
	.next = itask_table[0],
};

static const char *const ttask_states[] = {
	[TTASK_FREE] = "FREE",
	[TTASK_FETCHING] = "FETCHING",
	[TTASK_STORING] = "STORING",
	[TTASK_PUSHING] = "PUSHING",
	[TTASK_RESPONDING] = "RESPONDING",
};

static const char *const ttask_events[] = {
	[TTASK_FETCH] = "FETCH",
	[TTASK_PUSH] = "PUSH",
	[TTASK_RESPOND] = "RESPOND",
	[TTASK_RDMA_DONE] = "RDMA_DONE",
	[TTASK_SEND_DONE] = "SEND_DONE",
};

/* clang-format off */
static const signed char ttask_table[TTASK_STATES][TTASK_EVENTS] = {
	/*               FETCH     PUSH     RESPOND     RDMA_DONE   SEND_DONE */
	[FREE] =       { FETCHING, PUSHING, RESPONDING, NEVER,      NEVER     },
	[FETCHING] =   { NEVER,    NEVER,   NEVER,      STORING,    NEVER     },
	[STORING] =    { NEVER,    NEVER,   RESPONDING, NEVER,      NEVER     },
	[PUSHING] =    { NEVER,    NEVER,   NEVER,      RESPONDING, NEVER     },
	[RESPONDING] = { NEVER,    NEVER,   NEVER,      NEVER,      FREE      },
};
/* clang-format on */

const struct machine ttask_machine = {
	.name = "target task",
	.states = TTASK_STATES,
	.events = TTASK_EVENTS,
	.state_names = ttask_states,
	.event_names = ttask_events,
	.next = ttask_table[0],
};

int
task_stack_init(struct task_stack *stack, unsigned int size)
{
	stack->numbers = calloc(size, sizeof *stack->numbers);
	if (!stack->numbers)
		return -ENOMEM;
	stack->size = size;
	stack->count = size;
	for (unsigned int i = 0; i < size; i++)
		stack->numbers[i] = size - 1 - i;
	return 0;
}

void
task_stack_fini(struct task_stack *stack)
{
	free(stack->numbers);
	*stack = (struct task_stack){ 0 };
}

bool
task_stack_take(struct task_stack *stack, unsigned int *number)
{
	if (stack->count == 0)
		return false;
	*number = stack->numbers[--stack->count];
	return true;
}

void
task_stack_put(struct task_stack *stack, unsigned int number)
{
	assert(stack->count < stack->size && number < stack->size);
	stack->numbers[stack->count++] = number;
}
