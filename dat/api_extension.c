/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extended operations.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include "dat/cancel.h"
#include "dat/extension.h"
#include "dat/handle.h"
#include "dat/log.h"
#include "dat/lookup.h"
#include "dat/registry.h"

static atomic_bool extensions_allowed;

void
extension_allow(void)
{
	atomic_store(&extensions_allowed, true);
}

/*
 * Operations on a name open the IA for queries.  The first argument is the name, the second the
 * address of the handle.  The program gets a number, as from dat_ia_open().
 */
static DAT_RETURN
extension_open(DAT_EXTENDED_OP op, va_list args)
{
	struct registry_entry *entry;
	DAT_IA_HANDLE number, *place;
	DAT_NAME_PTR name;
	DAT_RETURN ret;
	va_list peek;

	va_copy(peek, args);
	name = va_arg(peek, DAT_NAME_PTR);
	place = va_arg(peek, DAT_IA_HANDLE *);
	va_end(peek);
	if (name == NULL || strnlen(name, DAT_NAME_MAX_LENGTH) == DAT_NAME_MAX_LENGTH)
		return LOG_REFUSED("dat_extension_op", DAT_INVALID_PARAMETER, DAT_INVALID_ARG3,
		    "argument 3: the name is NULL, or has more than 255 bytes");
	if (place == NULL)
		return LOG_REFUSED("dat_extension_op", DAT_INVALID_PARAMETER, DAT_INVALID_ARG4,
		    "argument 4: there is no place for the handle of the adapter");

	entry = lookup_provider(name, DAT_VERSION_MAJOR, DAT_VERSION_MINOR, DAT_FALSE);
	if (entry == NULL)
		return DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
	if (ia_table_reserve(&number) < 0) {
		ret = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
		goto release_entry;
	}
	ret = entry->extendedop == NULL ? DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE) :
					  entry->extendedop(NULL, op, args);
	if (DAT_GET_TYPE(ret) != DAT_SUCCESS)
		goto drop_number;
	if (handle_provider(*place) == NULL) {
		ret = DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
		goto drop_number;
	}
	ia_table_publish(number, *place, entry);
	*place = number;
	return ret;

drop_number:
	ia_table_drop(number);
release_entry:
	registry_release(entry);
	return ret;
}

/* Closes an IA that an extended operation or dat_ia_open() opened. */
static DAT_RETURN
extension_close(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args)
{
	struct registry_entry *entry;
	DAT_IA_HANDLE own;
	DAT_RETURN ret;

	if (ia_table_begin_close(handle, &own, &entry) < 0)
		return handle_refuse("dat_extension_op", handle, DAT_INVALID_HANDLE1);
	ret = HANDLE_CALL(own, DAT_INVALID_HANDLE1, handle_extendedop_func, own, op, args);
	if (DAT_GET_TYPE(ret) != DAT_SUCCESS) {
		ia_table_cancel_close(handle);
		return ret;
	}
	ia_table_drop(handle);
	registry_release(entry);
	return ret;
}

static __attribute__((noinline)) DAT_RETURN
extension_call(DAT_HANDLE handle, DAT_EXTENDED_OP op, va_list args)
{
	REGISTRY_UNCANCELLED;
	DAT_HANDLE own;

	if (op & DAT_OPEN_EXTENSION_BASE)
		return extension_open(op, args);
	if (op & DAT_CLOSE_EXTENSION_BASE)
		return extension_close(handle, op, args);
	own = handle_resolve(handle);
	if (handle_provider(own) == NULL)
		return handle_refuse("dat_extension_op", handle, DAT_INVALID_HANDLE1);
	if (!atomic_load(&extensions_allowed))
		return DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE);
	return HANDLE_CALL_ANY(own, DAT_INVALID_HANDLE1, handle_extendedop_func, own, op, args);
}

/*
 * Upcall policies and batches of events come this way: quick for a provider that implements every
 * call.
 */
DAT_RETURN DAT_API
dat_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP op, ...)
{
	const DAT_PROVIDER *full = range_full_table((uintptr_t)handle);
	DAT_RETURN ret;
	va_list args;

	va_start(args, op);
	if (full != NULL && !(op & (DAT_OPEN_EXTENSION_BASE | DAT_CLOSE_EXTENSION_BASE)) &&
	    atomic_load_explicit(&extensions_allowed, memory_order_acquire))
		ret = full->handle_extendedop_func(handle, op, args);
	else
		ret = extension_call(handle, op, args);
	va_end(args);
	return ret;
}
