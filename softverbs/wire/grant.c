/* SPDX-License-Identifier: BSD-3-Clause */
#include "grant.h"

/*
 * The upper half is random, so that a process with the number of one that has ended is recognised.
 */
static _Atomic(uint64_t) number;
static atomic_uint queues; /* that wait for an answer to addresses */

void
soft_grant_open(void)
{
	number = (uint64_t)soft_random32() << 32;
	queues = 0;
}

uint64_t
soft_grant_number(void)
{
	return number;
}

const void *
soft_grant_address(void)
{
	return &number;
}

bool
soft_grant_is_alike(uint64_t a, uint64_t b)
{
	return !((a ^ b) >> 32);
}

void
soft_grant_begin(void)
{
	queues++;
}

void
soft_grant_end(void)
{
	queues--;
}

/* The least size of a page that Linux has. */
#define PAGE 4096

/* The program may store to the same bytes, which it must not, at this moment. */
__attribute__((no_sanitize("thread", "address"))) void
soft_grant_touch(const struct iovec *data, int count)
{
	const volatile char *bytes;

	for (int i = 0; i < count; i++) {
		bytes = data[i].iov_base;
		for (size_t at = 0; at < data[i].iov_len; at += PAGE)
			(void)bytes[at];
		if (data[i].iov_len)
			(void)bytes[data[i].iov_len - 1];
	}
}

/*
 * What this thread stores next is visible after the number.  A store that releases is ordered
 * before a load that acquires, and that before all that follows.
 */
static void
grant_change(void)
{
	number++;
	(void)atomic_load(&number);
}

void
soft_grant_revoke(void)
{
	grant_change();
}

void
soft_grant_revoke_used(void)
{
	if (queues)
		grant_change();
}
