/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * batch -- the work requests that are built between ibv_wr_start() and ibv_wr_complete()
 */
#ifndef SOFT_BATCH_H
#define SOFT_BATCH_H

#include "softverbs/device/mutex.h"

/* A request; its segments, or a copy of its inline data, follow it. */
struct soft_entry {
	struct ibv_send_wr wr;
	struct ibv_sge copy; /* of inline data */
	struct ibv_sge sge[];
};

struct soft_batch {
	/* From the start of a batch to its end, in code of the program.  It guards the rest. */
	struct soft_mutex lock;
	uint64_t operations; /* that the program asked for */
	char *entries;
	size_t stride;
	uint32_t size, count;
	struct soft_entry *last; /* of which members are set; NULL at first and after an error */
	int error;		 /* the first of this batch */
};

static inline struct soft_entry *
soft_batch_at(const struct soft_batch *batch, uint32_t i)
{
	return (struct soft_entry *)(void *)(batch->entries + i * batch->stride);
}

/* Room for so many requests, each with so many bytes behind it; NULL without memory. */
struct soft_batch *soft_batch_create(uint32_t size, size_t payload);
void soft_batch_free(struct soft_batch *batch); /* NULL is ignored */

#endif
