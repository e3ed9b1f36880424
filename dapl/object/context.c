/* SPDX-License-Identifier: BSD-3-Clause */
/* context -- the consumer context of an object */
#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/object/object.h"

DAT_RETURN
dapl_set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context)
{
	DAPL_UNCANCELLED;
	struct dapl_object *obj = dapl_object_lock_handle(handle, DAPL_KIND_NONE);

	if (!obj)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	obj->context = context;
	dapl_object_unlock(obj);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT *context)
{
	DAPL_UNCANCELLED;
	struct dapl_object *obj;

	obj = dapl_object_lock_handle(handle, DAPL_KIND_NONE);
	if (!obj)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	if (context)
		*context = obj->context;
	dapl_object_unlock(obj);
	return context ? DAT_SUCCESS : DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
}
