/* SPDX-License-Identifier: BSD-3-Clause */
#include "soft.h"

#include <sys/random.h>

uint32_t
soft_random32(void)
{
	uint32_t value;

	/* Up to 256 bytes come whole once the kernel's pool is seeded; before, mix the clock. */
	if (getrandom(&value, sizeof value, GRND_NONBLOCK) != sizeof value)
		value = (uint32_t)(soft_now() * 2654435761u);
	return value;
}
