/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handle -- finds the provider of a handle, without trusting the handle
 *
 * The handle of an IA is a number of the IA table.  Any other handle points to memory of its
 * provider whose first word is the function table of the provider.  A value that no registered
 * provider can have returned gives DAT_INVALID_HANDLE, and its memory is not read.  The provider
 * detects handles that were freed or have the wrong kind.
 */
#ifndef REARM_DAT_HANDLE_H
#define REARM_DAT_HANDLE_H

#include <stdint.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#include "dat/cancel.h"
#include "dat/ia_table.h"
#include "dat/range.h"

/* NULL if the handle has no provider. */
static inline const DAT_PROVIDER *
handle_provider(DAT_HANDLE handle)
{
	return range_table((uintptr_t)handle);
}

/* For a call that takes any handle: an IA by its number, any other handle as it is. */
static inline DAT_HANDLE
handle_resolve(DAT_HANDLE handle)
{
	return (uintptr_t)handle < IA_TABLE_LIMIT ? ia_table_get(handle) : handle;
}

/* DAT_INVALID_HANDLE with the subtype, and the hint why. */
DAT_RETURN handle_refuse(const char *call, DAT_HANDLE handle, DAT_RETURN_SUBTYPE subtype)
    __attribute__((cold));

/*
 * Calls `slot` of the provider of `handle`, or returns DAT_INVALID_HANDLE with `subtype`.  An empty
 * slot means that the provider does not implement the call.
 */
#define HANDLE_CALL_ANY(handle, subtype, slot, ...) \
	({ \
		const DAT_PROVIDER *any_ = handle_provider(handle); \
		any_ == NULL	   ? handle_refuse(__func__, handle, subtype) : \
		any_->slot == NULL ? (DAT_RETURN)DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE) : \
				     any_->slot(__VA_ARGS__); \
	})

/* The same, quickly for a provider that implements every call. */
#define HANDLE_CALL(handle, subtype, slot, ...) \
	({ \
		const DAT_PROVIDER *full_ = range_full_table((uintptr_t)(handle)); \
		full_ != NULL ? full_->slot(__VA_ARGS__) : \
				HANDLE_CALL_ANY(handle, subtype, slot, __VA_ARGS__); \
	})

/*
 * The body of a call that must be quick and has many arguments: the general way is in another
 * function, with the same arguments, so that the quick one need not save them.
 */
#define HANDLE_CALL_OR(handle, general, slot, ...) \
	({ \
		const DAT_PROVIDER *full_ = range_full_table((uintptr_t)(handle)); \
		full_ != NULL ? full_->slot(__VA_ARGS__) : general(__VA_ARGS__); \
	})

/*
 * The body of a call that takes the number of an IA, and of one that takes any handle.  The table
 * has a lock, so no thread is cancelled in them.  The calls above take no lock before the provider
 * disables cancellation, or waits.
 */
#define TABLE_CALL(find, subtype, slot, ...) \
	({ \
		REGISTRY_UNCANCELLED; \
		DAT_HANDLE own_ = (find); \
		HANDLE_CALL(own_, subtype, slot, own_, __VA_ARGS__); \
	})
#define IA_CALL(ia, slot, ...) \
	TABLE_CALL(ia_table_get(ia), DAT_INVALID_HANDLE_IA, slot, __VA_ARGS__)
#define ANY_CALL(handle, slot, ...) \
	TABLE_CALL(handle_resolve(handle), DAT_INVALID_HANDLE1, slot, __VA_ARGS__)

#endif
