/* SPDX-License-Identifier: BSD-3-Clause */
#include "grant.h"

/* The upper half is random, so that a process with the number of one that has ended is recognised. */
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

void
soft_grant_revoke(void)
{
	number++;
}

void
soft_grant_revoke_used(void)
{
	if (queues)
		number++;
}
