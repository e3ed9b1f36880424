/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that take a handle of any kind.
 */
#include "dat/handle.h"

DAT_RETURN DAT_API
dat_set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context)
{
	return ANY_CALL(handle, set_consumer_context_func, context);
}

DAT_RETURN DAT_API
dat_get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT *context)
{
	return ANY_CALL(handle, get_consumer_context_func, context);
}

DAT_RETURN DAT_API
dat_get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type)
{
	return ANY_CALL(handle, get_handle_type_func, type);
}
