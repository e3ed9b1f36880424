/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memlock -- the limit for locked memory, as a kernel enforces it for an adapter
 *
 * The software device locks nothing.  With SOFTVERBS_MEMLOCK each region counts with its pages
 * against RLIMIT_MEMLOCK nevertheless, and with a rule against that of the rule, so that a program
 * can be tested with the limit that it will have.
 * A kernel counts a page as often as it is registered, and so does this; it exempts CAP_IPC_LOCK,
 * and this does not.
 */
#ifndef SOFT_MEMLOCK_H
#define SOFT_MEMLOCK_H

#include "softverbs/device/soft.h"

/*
 * Counts a region: 0, or -ENOMEM if the limit is exceeded.  *pages is what the second takes back.
 */
int soft_memlock_add(const void *address, size_t length, uint64_t *pages);
void soft_memlock_remove(uint64_t pages);

/* A rule has this limit, in bytes; 0: none. */
void soft_memlock_set_limit(uint64_t bytes);
void soft_memlock_reset(void); /* in a forked child */

#endif
