/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that take a handle of any kind.
 */
#include "dat/handle.h"

DAT_RETURN DAT_API
dat_set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context)
{
	DAT_HANDLE own = handle_resolve(handle);

	return HANDLE_CALL(own, DAT_INVALID_HANDLE1, set_consumer_context_func, own, context);
}

DAT_RETURN DAT_API
dat_get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT *context)
{
	DAT_HANDLE own = handle_resolve(handle);

	return HANDLE_CALL(own, DAT_INVALID_HANDLE1, get_consumer_context_func, own, context);
}

DAT_RETURN DAT_API
dat_get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type)
{
	DAT_HANDLE own = handle_resolve(handle);

	return HANDLE_CALL(own, DAT_INVALID_HANDLE1, get_handle_type_func, own, type);
}
