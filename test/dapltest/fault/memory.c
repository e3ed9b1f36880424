/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that runs out: one allocation of the provider, or inside the device, fails. */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>

static _Thread_local int left; /* the allocation that fails, counted down; 0: none */

void
fault_memory_fail_at(int n)
{
	left = n;
}

bool
fault_memory_missed(void)
{
	const bool missed = left > 0;

	left = 0;
	return missed;
}

static bool
fails_now(void)
{
	if (left == 0 || --left > 0)
		return false;
	errno = ENOMEM;
	return true;
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *
__wrap_calloc(size_t count, size_t size)
{
	return fails_now() ? NULL : __real_calloc(count, size);
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *
__wrap_malloc(size_t size)
{
	return fails_now() ? NULL : __real_malloc(size);
}
