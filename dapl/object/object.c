/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/object/object.h"

/* ---- parent ---- */

void
dapl_parent_get(struct dapl_parent *parent)
{
	atomic_fetch_add_explicit(&parent->bases, 1, memory_order_relaxed);
}

void
dapl_parent_put_locked(struct dapl_parent *parent)
{
	const bool last = atomic_fetch_sub_explicit(&parent->bases, 1, memory_order_acq_rel) == 1;

	park_list_wake_all(&parent->closers);
	os_unlock(parent->lock);
	if (last)
		parent->end(parent);
}

void
dapl_parent_put(struct dapl_parent *parent)
{
	os_lock(parent->lock);
	dapl_parent_put_locked(parent);
}

void
dapl_parent_decide_begin(struct dapl_parent *parent)
{
	dapl_parent_get(parent);
	atomic_fetch_add_explicit(&parent->deciding, 1, memory_order_relaxed);
}

void
dapl_parent_decide_end(struct dapl_parent *parent)
{
	os_lock(parent->lock);
	atomic_fetch_sub_explicit(&parent->deciding, 1, memory_order_relaxed);
	dapl_parent_put_locked(parent);
}

void
dapl_parent_wake(struct dapl_parent *parent)
{
	os_lock(parent->lock);
	park_list_wake_all(&parent->closers);
	os_unlock(parent->lock);
}

/* ---- object ---- */

void
dapl_object_prepare(struct dapl_object *obj, enum dapl_kind kind)
{
	os_mutex_init(&obj->lock);
	obj->kind = kind;
}

int
dapl_object_create(
    struct dapl_object *obj, struct dapl_parent *parent, const DAT_PROVIDER *provider)
{
	struct dapl_handle *handle;
	uint64_t serial;

	handle = dapl_handle_create(provider, obj->kind, obj, &serial);
	if (!handle)
		return -ENOMEM;
	os_lock(&obj->lock);
	obj->parent = parent;
	obj->refs = 0;
	obj->context.as_64 = 0;
	obj->handle = handle;
	obj->serial = serial;
	os_unlock(&obj->lock);
	return 0;
}

void
dapl_object_discard(struct dapl_object *obj)
{
	os_lock(&obj->lock);
	dapl_object_free_locked(obj);
	os_unlock(&obj->lock);
}

int
dapl_object_attach(struct dapl_object *obj)
{
	struct dapl_parent *parent = obj->parent;

	os_lock(parent->lock);
	if (parent->closing) {
		os_unlock(parent->lock);
		return -ENODEV;
	}
	obj->prev = NULL;
	obj->next = parent->children[obj->kind];
	if (obj->next)
		obj->next->prev = obj;
	parent->children[obj->kind] = obj;
	obj->listed = true;
	dapl_parent_get(parent);
	os_unlock(parent->lock);
	return 0;
}

void
dapl_object_free_locked(struct dapl_object *obj)
{
	dapl_handle_free(obj->handle);
	obj->handle = NULL;
}

void
dapl_object_detach(struct dapl_object *obj)
{
	struct dapl_parent *parent = obj->parent;

	os_lock(parent->lock);
	if (!obj->listed) {
		os_unlock(parent->lock);
		return;
	}
	obj->listed = false;
	if (obj->next)
		obj->next->prev = obj->prev;
	if (obj->prev)
		obj->prev->next = obj->next;
	else
		parent->children[obj->kind] = obj->next;
	dapl_parent_put_locked(parent);
}

int
dapl_object_free(struct dapl_object *obj, uint64_t serial)
{
	int r = 0;

	os_lock(&obj->lock);
	if (!dapl_object_is(obj, serial))
		r = -ENODEV;
	else if (obj->refs)
		r = -EBUSY;
	else
		dapl_object_free_locked(obj);
	os_unlock(&obj->lock);
	return r;
}

static bool
object_is_none(void *count)
{
	return *(const unsigned int *)count == 0;
}

void
dapl_object_await_none(struct dapl_object *obj, struct park_list *list, unsigned int *count)
{
	park_list_await(list, &obj->lock, object_is_none, count);
}

void *
dapl_object_lock(DAT_HANDLE handle, enum dapl_kind kind)
{
	uint64_t serial;
	struct dapl_object *obj = dapl_handle_object(handle, kind, &serial);

	if (!obj)
		return NULL;
	os_lock(&obj->lock);
	if (dapl_object_is(obj, serial))
		return obj;
	os_unlock(&obj->lock);
	return NULL;
}

void *
dapl_object_get(DAT_HANDLE handle, enum dapl_kind kind, const struct dapl_parent *parent)
{
	struct dapl_object *obj = dapl_object_lock(handle, kind);

	if (!obj)
		return NULL;
	if (parent && obj->parent != parent) {
		os_unlock(&obj->lock);
		return NULL;
	}
	obj->refs++;
	os_unlock(&obj->lock);
	return obj;
}

void
dapl_object_put(struct dapl_object *obj)
{
	struct dapl_parent *parent;
	bool last;

	os_lock(&obj->lock);
	parent = obj->parent;
	last = --obj->refs == 0;
	os_unlock(&obj->lock);
	/* A close may wait for that.  The parent may be gone by now: then nothing waits there. */
	if (last)
		dapl_parent_wake(parent);
}
