/* SPDX-License-Identifier: BSD-3-Clause */
/* poll -- operations of a context, which are no functions that the linker could wrap */
#ifndef REARM_TEST_FAULT_POLL_H
#define REARM_TEST_FAULT_POLL_H

#include <stdbool.h>

#include <infiniband/verbs.h>

/* Polls of the context have the faults of cq.c from now on. */
void cq_wrap_poll(struct ibv_context *context);

/* The same for the moderation of queues; `lacks`: the context does not have the operation. */
void cq_wrap_modify(struct verbs_context *verbs, bool lacks);

#endif
