/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handle -- from a program's handle to its provider's functions, without trusting the handle
 *
 * An IA handle is a number of the IA table.  Any other handle points to memory of its provider
 * whose first word is the provider's table.  What no registered provider can have handed out is
 * DAT_INVALID_HANDLE and is not looked at; a stale handle, or one of another kind, is for the provider
 * to detect.
 */
#ifndef REARM_DAT_HANDLE_H
#define REARM_DAT_HANDLE_H

#include <stdint.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#include "dat/ia_table.h"
#include "dat/range.h"

/* NULL if there is no provider to be found behind the handle. */
static inline const DAT_PROVIDER *
handle_provider(DAT_HANDLE handle)
{
	return range_table((uintptr_t)handle);
}

/* Whatever the call takes: an IA by its number, anything else as it is. */
static inline DAT_HANDLE
handle_resolve(DAT_HANDLE handle)
{
	return (uintptr_t)handle < IA_TABLE_LIMIT ? ia_table_get(handle) : handle;
}

/*
 * Calls `slot` of the provider behind `handle`, or answers DAT_INVALID_HANDLE with `subtype`.  A
 * provider that left the slot empty has not implemented the call.
 */
#define HANDLE_CALL(handle, subtype, slot, ...)                                                   \
	({                                                                                         \
		const DAT_PROVIDER *provider_ = handle_provider(handle);                           \
		DAT_RETURN ret_;                                                                   \
		if (provider_ == NULL)                                                             \
			ret_ = DAT_ERROR(DAT_INVALID_HANDLE, subtype);                             \
		else if (provider_->slot == NULL)                                                  \
			ret_ = DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);                     \
		else                                                                               \
			ret_ = provider_->slot(__VA_ARGS__);                                       \
		ret_;                                                                              \
	})

#endif
