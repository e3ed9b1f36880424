/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy -- moving bytes between scatter/gather lists
 */
#ifndef SOFT_COPY_H
#define SOFT_COPY_H

#include "key.h"
#include "softverbs/wire/pull.h"

/*
 * A place in a list of segments.  A remote range is a list of one segment whose key is the
 * remote key; `raw` memory, such as inline data, needs no key.
 */
struct soft_cursor {
	const struct ibv_sge *sge;
	int left;	 /* segments, the current one included */
	uint32_t offset; /* in the current segment */
	char *raw;	 /* if not NULL, the cursor is in this memory */
	bool foreign;	 /* they came from another process */
	/* The bytes are in the memory of another process, and all of them are copied at once. */
	const struct soft_pull *pull;
	const struct ibv_pd *pd;
	const struct soft_qp *qp; /* of a remote range: the one whose peer names it */
	unsigned int access;	  /* flags that every key must have */
};

enum soft_copy_result { SOFT_COPIED, SOFT_SOURCE_FAULT, SOFT_TARGET_FAULT };

/*
 * Copies `length` bytes and moves both cursors.  The lists must be long enough.  Keys are checked
 * for each piece just before it is copied; bytes that were copied before a fault stay.  The last 8
 * bytes become visible to other threads after all others, and the last byte of all not before the 7
 * bytes in front of it.  A source that cannot be pulled is a SOFT_SOURCE_FAULT.
 */
enum soft_copy_result soft_copy(
    struct soft_cursor *target, struct soft_cursor *source, uint64_t length) SOFT_NO_FETCH_LOCK;

/* The total length of a list of segments. */
static inline uint64_t
soft_sge_length(const struct ibv_sge *sge, int n)
{
	uint64_t sum = 0;

	while (n-- > 0)
		sum += (sge++)->length;
	return sum;
}

#endif
