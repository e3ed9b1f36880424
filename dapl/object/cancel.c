/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/object/cancel.h"

#include <stddef.h>

/* Of devices whose drivers call the kernel to post and to arm: rxe, siw, hfi1 and qib. */
static const uint32_t calling_vendors[] = { 0xffffff, 0x626d74, 0x1175 };

bool dapl_posts_may_cancel;

void
dapl_cancel_expect(uint32_t vendor)
{
	for (size_t i = 0; i < sizeof calling_vendors / sizeof calling_vendors[0]; i++)
		if (vendor == calling_vendors[i])
			__atomic_store_n(&dapl_posts_may_cancel, true, __ATOMIC_RELAXED);
}
