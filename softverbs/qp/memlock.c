/* SPDX-License-Identifier: BSD-3-Clause */
#include "memlock.h"
#include "softverbs/device/settings.h"

#include <sys/resource.h>
#include <unistd.h>

static _Atomic uint64_t locked; /* pages */

static uint64_t
memlock_pages(const void *address, size_t length, uint64_t page)
{
	const uint64_t first = (uintptr_t)address / page;

	return length ? ((uintptr_t)address + length - 1) / page - first + 1 : 0;
}

int
soft_memlock_add(const void *address, size_t length, uint64_t *pages)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct rlimit limit;
	uint64_t before;

	*pages = 0;
	if (!soft_settings_memlock() || getrlimit(RLIMIT_MEMLOCK, &limit))
		return 0;
	*pages = memlock_pages(address, length, page);
	before = atomic_fetch_add(&locked, *pages);
	if (limit.rlim_cur == RLIM_INFINITY || before + *pages <= limit.rlim_cur / page)
		return 0;
	soft_memlock_remove(*pages);
	soft_debug("%llu pages cannot be locked: %llu are, of %llu", (unsigned long long)*pages,
	    (unsigned long long)before, (unsigned long long)(limit.rlim_cur / page));
	return -ENOMEM;
}

void
soft_memlock_remove(uint64_t pages)
{
	atomic_fetch_sub(&locked, pages);
}

void
soft_memlock_reset(void)
{
	locked = 0;
}
