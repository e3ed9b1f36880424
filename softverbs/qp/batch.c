/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch.h"

#include <stdlib.h>

struct soft_batch *
soft_batch_create(uint32_t size, size_t payload)
{
	struct soft_batch *batch = calloc(1, sizeof *batch);

	if (!batch)
		return NULL;
	batch->size = size;
	batch->stride = sizeof(struct soft_entry) + payload;
	batch->entries = calloc(size, batch->stride);
	if (!batch->entries) {
		free(batch);
		return NULL;
	}
	soft_mutex_init(&batch->lock);
	return batch;
}

void
soft_batch_free(struct soft_batch *batch)
{
	if (!batch)
		return;
	soft_mutex_destroy(&batch->lock);
	free(batch->entries);
	free(batch);
}
