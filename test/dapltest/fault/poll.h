/* SPDX-License-Identifier: BSD-3-Clause */
/* poll -- the polling of a context, which is no function that the linker could wrap */
#ifndef REARM_TEST_FAULT_POLL_H
#define REARM_TEST_FAULT_POLL_H

struct ibv_context;

/* Polls of the context have the faults of cq.c from now on. */
void cq_wrap_poll(struct ibv_context *context);

#endif
