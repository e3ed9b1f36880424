/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/object/object.h"

#include "dapl/api.h"
#include "dapl/ia/ia.h"

void
object_prepare(struct object *obj, enum kind kind)
{
	os_mutex_init(&obj->lock);
	obj->kind = kind;
}

int
object_open(struct object *obj, struct ia *ia, const DAT_PROVIDER *provider)
{
	struct handle *handle;
	uint64_t serial;

	handle = handle_create(provider, obj->kind, obj, &serial);
	if (!handle)
		return -ENOMEM;
	os_lock(&obj->lock);
	obj->ia = ia;
	obj->refs = 0;
	obj->context.as_64 = 0;
	obj->handle = handle;
	obj->serial = serial;
	os_unlock(&obj->lock);
	return 0;
}

void
object_abandon(struct object *obj)
{
	os_lock(&obj->lock);
	object_close_locked(obj);
	os_unlock(&obj->lock);
}

int
object_publish(struct object *obj)
{
	struct ia *ia = obj->ia;

	os_lock(&ia->obj.lock);
	if (ia->closing) {
		os_unlock(&ia->obj.lock);
		return -ENODEV;
	}
	obj->prev = NULL;
	obj->next = ia->children[obj->kind];
	if (obj->next)
		obj->next->prev = obj;
	ia->children[obj->kind] = obj;
	obj->listed = true;
	ia_base_get(ia);
	os_unlock(&ia->obj.lock);
	return 0;
}

void
object_close_locked(struct object *obj)
{
	handle_retire(obj->handle);
	obj->handle = NULL;
}

void
object_unlink(struct object *obj)
{
	struct ia *ia = obj->ia;

	os_lock(&ia->obj.lock);
	if (!obj->listed) {
		os_unlock(&ia->obj.lock);
		return;
	}
	obj->listed = false;
	if (obj->next)
		obj->next->prev = obj->prev;
	if (obj->prev)
		obj->prev->next = obj->next;
	else
		ia->children[obj->kind] = obj->next;
	ia_base_put_locked(ia);
}

int
object_close(struct object *obj, uint64_t serial)
{
	int r = 0;

	os_lock(&obj->lock);
	if (!object_is(obj, serial))
		r = -ENODEV;
	else if (obj->refs)
		r = -EBUSY;
	else
		object_close_locked(obj);
	os_unlock(&obj->lock);
	return r;
}

static bool
is_none(void *count)
{
	return *(const unsigned int *)count == 0;
}

void
object_await_none(struct object *obj, struct park_list *list, unsigned int *count)
{
	park_list_await(list, &obj->lock, is_none, count);
}

void *
object_lock(DAT_HANDLE handle, enum kind kind)
{
	uint64_t serial;
	struct object *obj = handle_object(handle, kind, &serial);

	if (!obj)
		return NULL;
	os_lock(&obj->lock);
	if (object_is(obj, serial))
		return obj;
	os_unlock(&obj->lock);
	return NULL;
}

void *
object_hold(DAT_HANDLE handle, enum kind kind, const struct ia *ia)
{
	struct object *obj = object_lock(handle, kind);

	if (!obj)
		return NULL;
	if (ia && obj->ia != ia) {
		os_unlock(&obj->lock);
		return NULL;
	}
	obj->refs++;
	os_unlock(&obj->lock);
	return obj;
}

void
object_drop(struct object *obj)
{
	struct ia *ia;
	bool last;

	os_lock(&obj->lock);
	ia = obj->ia;
	last = --obj->refs == 0;
	os_unlock(&obj->lock);
	/* A close may wait for that.  The IA may be gone by now: then nothing waits there. */
	if (last)
		ia_stir(ia);
}

DAT_RETURN
dapl_set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context)
{
	struct object *obj = object_lock(handle, KIND_NONE);

	if (!obj)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	obj->context = context;
	os_unlock(&obj->lock);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT *context)
{
	struct object *obj;

	obj = object_lock(handle, KIND_NONE);
	if (!obj)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	if (context)
		*context = obj->context;
	os_unlock(&obj->lock);
	return context ? DAT_SUCCESS : DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
}

DAT_RETURN
dapl_get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type)
{
	static const DAT_HANDLE_TYPE types[KINDS] = {
		[KIND_IA] = DAT_HANDLE_TYPE_IA,
		[KIND_PZ] = DAT_HANDLE_TYPE_PZ,
		[KIND_LMR] = DAT_HANDLE_TYPE_LMR,
		[KIND_EVD] = DAT_HANDLE_TYPE_EVD,
		[KIND_CNO] = DAT_HANDLE_TYPE_CNO,
		[KIND_EP] = DAT_HANDLE_TYPE_EP,
		[KIND_PSP] = DAT_HANDLE_TYPE_PSP,
		[KIND_RSP] = DAT_HANDLE_TYPE_RSP,
		[KIND_CSP] = DAT_HANDLE_TYPE_CSP,
		[KIND_CR] = DAT_HANDLE_TYPE_CR,
	};
	struct object *obj = object_lock(handle, KIND_NONE);
	enum kind kind;

	if (!obj)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	kind = obj->kind;
	os_unlock(&obj->lock);
	if (!type)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	*type = types[kind];
	return DAT_SUCCESS;
}
