/* SPDX-License-Identifier: BSD-3-Clause */
#include "pull.h"
#include "grant.h"
#include "ring.h"

#include <string.h>

uint32_t
soft_pull_parse(struct soft_pull *pull, const struct soft_frame *frame, const char *payload)
{
	uint64_t length = 0;

	pull->count = (int)(frame->length / sizeof *pull->segments);
	pull->number = frame->compare_add;
	memcpy(pull->segments, payload, frame->length);
	soft_ring_copied();
	for (int i = 0; i < pull->count; i++) {
		if (pull->segments[i].length > SOFT_WIRE_PAYLOAD)
			return 0;
		length += pull->segments[i].length;
	}
	return length <= SOFT_WIRE_PAYLOAD ? (uint32_t)length : 0;
}

/*
 * One system call, so that data and number are of the same process.  They are read in their order.
 */
static char *
pull_call(struct soft_grantor *from, const struct soft_wire_segment *segments, int count,
    uint64_t *number) REQUIRES(soft_locks.fetch)
{
	struct iovec pieces[SOFT_FETCH_PIECES];
	size_t length = 0;
	char *bytes;

	for (int i = 0; i < count; i++) {
		pieces[i].iov_base = (void *)(uintptr_t)segments[i].address;
		pieces[i].iov_len = segments[i].length;
		length += segments[i].length;
	}
	pieces[count] = (struct iovec){ (void *)(uintptr_t)from->address, sizeof *number };
	if (soft_fetch(&from->source, pieces, count + 1, &bytes))
		return NULL;
	memcpy(number, bytes + length, sizeof *number);
	return bytes;
}

char *
soft_pull_read(const struct soft_pull *pull)
{
	uint64_t number = 0;
	char *bytes = pull_call(pull->from, pull->segments, pull->count, &number);

	return number == pull->number ? bytes : NULL;
}

bool
soft_pull_works(struct soft_grantor *from, uint64_t number)
{
	uint64_t now = 0;
	bool works;

	if (from->source.pid <= 0)
		return false;
	soft_fetch_lock();
	works = pull_call(from, NULL, 0, &now) && soft_grant_is_alike(now, number);
	soft_fetch_unlock();
	return works;
}
