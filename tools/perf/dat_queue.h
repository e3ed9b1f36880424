/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_queue -- the EVDs of an end, and the loop or the upcalls by which it gets their events
 *
 * A CNO has one EVD for each endpoint, since it is for several; otherwise there is one EVD for all.
 */
#ifndef PERF_DAT_QUEUE_H
#define PERF_DAT_QUEUE_H

#include "cpu.h"
#include "dat_adapter.h"
#include "flow.h"

#include <dat2/dat_upcall.h>

struct dat_queue {
	struct end *end;
	DAT_CNO_HANDLE cno;
	DAT_FD fd; /* of the CNO, or -1 */
	DAT_UPCALL_OBJECT upcall;
	unsigned int evds, used;
	DAT_EVD_HANDLE evd[];
};

/* dat_loop.c: the loops of a thread of the program */
void dat_loop_run(struct dat_queue *queue);

/* dat_upcall.c */
bool dat_upcall_has(enum consumer consumer);
/* The upcall, for the creation of the EVD, which has it disabled. */
DAT_UPCALL_OBJECT dat_upcall_object(struct dat_queue *queue);
void dat_upcall_run(struct dat_queue *queue);

static inline void
dat_queue_event(struct dat_queue *queue, const DAT_EVENT *event)
{
	struct completion completion;

	dat_complete(event, &completion);
	flow_event(queue->end, &completion);
}

#endif
