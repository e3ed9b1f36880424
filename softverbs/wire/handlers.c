/* SPDX-License-Identifier: BSD-3-Clause */
#include "handlers.h"

const struct soft_handlers *_Atomic soft_handlers;

void
soft_handlers_set(const struct soft_handlers *handlers)
{
	soft_handlers = handlers;
}
