/* SPDX-License-Identifier: BSD-3-Clause */
#include "memlock.h"
#include "softverbs/device/settings.h"
#include "softverbs/fault/fault.h"

#include <sys/resource.h>
#include <unistd.h>

static _Atomic uint64_t locked;	 /* pages */
static _Atomic uint64_t of_rule; /* bytes, or 0 */

static uint64_t
memlock_pages(const void *address, size_t length, uint64_t page)
{
	const uint64_t first = (uintptr_t)address / page;

	return length ? ((uintptr_t)address + length - 1) / page - first + 1 : 0;
}

/* In pages: the smaller one of the two. */
static uint64_t
memlock_limit(uint64_t page)
{
	const uint64_t bytes = of_rule;
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	if (soft_settings_memlock())
		(void)getrlimit(RLIMIT_MEMLOCK, &limit);
	if (bytes && bytes < limit.rlim_cur)
		limit.rlim_cur = bytes;
	return limit.rlim_cur / page;
}

int
soft_memlock_add(const void *address, size_t length, uint64_t *pages)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t before, limit;

	*pages = 0;
	if (!soft_settings_memlock() && !soft_faults_have_incidents)
		return 0;
	limit = memlock_limit(page);
	*pages = memlock_pages(address, length, page);
	before = atomic_fetch_add(&locked, *pages);
	if (before + *pages <= limit)
		return 0;
	soft_memlock_remove(*pages);
	soft_debug("%llu pages cannot be locked: %llu are, of %llu", (unsigned long long)*pages,
	    (unsigned long long)before, (unsigned long long)limit);
	return -ENOMEM;
}

void
soft_memlock_set_limit(uint64_t bytes)
{
	of_rule = bytes;
}

void
soft_memlock_remove(uint64_t pages)
{
	atomic_fetch_sub(&locked, pages);
}

void
soft_memlock_reset(void)
{
	locked = of_rule = 0;
}
