/* SPDX-License-Identifier: BSD-3-Clause */
#include "pull.h"
#include "grant.h"
#include "ring.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* For each piece of the target its body and its end; see soft_copy(). */
#define TARGETS_MAX (2 * SOFT_MAX_SGE)

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
static int
pull_call(const struct soft_pull *pull, const struct iovec *to, int count, uint64_t *number)
{
	struct iovec local[TARGETS_MAX + 1], remote[SOFT_MAX_SGE + 1];
	uint64_t length = sizeof *number;
	long n;

	for (int i = 0; i < count; i++)
		local[i] = to[i];
	local[count] = (struct iovec){ number, sizeof *number };
	for (int i = 0; i < pull->count; i++) {
		remote[i].iov_base = (void *)(uintptr_t)pull->segments[i].address;
		remote[i].iov_len = pull->segments[i].length;
		length += pull->segments[i].length;
	}
	remote[pull->count] =
	    (struct iovec){ (void *)(uintptr_t)pull->from->address, sizeof *number };
	n = syscall(
	    SYS_process_vm_readv, pull->from->pid, local, count + 1, remote, pull->count + 1, 0);
	if (n < 0)
		return -errno;
	return (uint64_t)n == length ? 0 : -EFAULT;
}

int
soft_pull_read(const struct soft_pull *pull, const struct iovec *to, int count)
{
	uint64_t number = 0;
	int r = pull_call(pull, to, count, &number);

	if (r)
		return r;
	return number == pull->number ? 0 : -ESTALE;
}

bool
soft_pull_works(const struct soft_grantor *from, uint64_t number)
{
	const struct soft_pull nothing = { .from = from };
	uint64_t now = 0;

	return from->pid > 0 && !pull_call(&nothing, NULL, 0, &now) &&
	       soft_grant_is_alike(now, number);
}
