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
	dapl_parent_unlock(parent);
	if (last)
		parent->free(parent);
}

void
dapl_parent_put(struct dapl_parent *parent)
{
	dapl_parent_lock(parent);
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
	dapl_parent_lock(parent);
	atomic_fetch_sub_explicit(&parent->deciding, 1, memory_order_relaxed);
	dapl_parent_put_locked(parent);
}

void
dapl_parent_await(struct dapl_parent *parent, bool (*over)(void *arg), void *arg)
{
	park_list_await(&parent->closers, parent->lock, over, arg);
}

void
dapl_parent_wake(struct dapl_parent *parent)
{
	dapl_parent_lock(parent);
	park_list_wake_all(&parent->closers);
	dapl_parent_unlock(parent);
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
	dapl_object_lock(obj);
	obj->parent = parent;
	obj->refs = 0;
	obj->context.as_64 = 0;
	obj->handle = handle;
	obj->serial = serial;
	dapl_object_unlock(obj);
	return 0;
}

void
dapl_object_free_unattached(struct dapl_object *obj)
{
	dapl_object_lock(obj);
	dapl_object_free_locked(obj);
	dapl_object_unlock(obj);
}

int
dapl_object_attach(struct dapl_object *obj)
{
	struct dapl_parent *parent = obj->parent;

	dapl_parent_lock(parent);
	if (dapl_parent_is_closing(parent)) {
		dapl_parent_unlock(parent);
		return -ENODEV;
	}
	obj->prev = NULL;
	obj->next = parent->children[obj->kind];
	if (obj->next)
		obj->next->prev = obj;
	parent->children[obj->kind] = obj;
	obj->listed = true;
	parent->attached[obj->kind]++;
	dapl_parent_get(parent);
	dapl_parent_unlock(parent);
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

	dapl_parent_lock(parent);
	if (!obj->listed) {
		dapl_parent_unlock(parent);
		return;
	}
	obj->listed = false;
	parent->detached[obj->kind]++;
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

	dapl_object_lock(obj);
	if (!dapl_object_is(obj, serial))
		r = -ENODEV;
	else if (obj->refs)
		r = -EBUSY;
	else
		dapl_object_free_locked(obj);
	dapl_object_unlock(obj);
	return r;
}

void *
dapl_object_lock_handle(DAT_HANDLE handle, enum dapl_kind kind)
{
	uint64_t serial;
	struct dapl_object *obj = dapl_handle_object(handle, kind, &serial);

	if (!obj)
		return NULL;
	dapl_object_lock(obj);
	if (dapl_object_is(obj, serial))
		return obj;
	dapl_object_unlock(obj);
	return NULL;
}

void *
dapl_object_get(DAT_HANDLE handle, enum dapl_kind kind, const struct dapl_parent *parent)
{
	struct dapl_object *obj = dapl_object_lock_handle(handle, kind);

	if (!obj)
		return NULL;
	if (parent && obj->parent != parent) {
		dapl_object_unlock(obj);
		return NULL;
	}
	obj->refs++;
	dapl_object_unlock(obj);
	return obj;
}

void
dapl_object_put(struct dapl_object *obj)
{
	struct dapl_parent *parent;
	bool last;

	dapl_object_lock(obj);
	parent = obj->parent;
	last = --obj->refs == 0;
	dapl_object_unlock(obj);
	/*
	 * A close may be waiting for this reference.  If the parent is gone by now, no close waits.
	 */
	if (last)
		dapl_parent_wake(parent);
}
