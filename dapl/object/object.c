/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/object/object.h"

/* ---- parent ---- */

void
parent_get(struct parent *parent)
{
	atomic_fetch_add_explicit(&parent->bases, 1, memory_order_relaxed);
}

void
parent_put_locked(struct parent *parent)
{
	const bool last =
	    atomic_fetch_sub_explicit(&parent->bases, 1, memory_order_acq_rel) == 1;

	park_list_wake_all(&parent->closers);
	os_unlock(parent->lock);
	if (last)
		parent->end(parent);
}

void
parent_put(struct parent *parent)
{
	os_lock(parent->lock);
	parent_put_locked(parent);
}

void
parent_decide_begin(struct parent *parent)
{
	parent_get(parent);
	atomic_fetch_add_explicit(&parent->deciding, 1, memory_order_relaxed);
}

void
parent_decide_end(struct parent *parent)
{
	os_lock(parent->lock);
	atomic_fetch_sub_explicit(&parent->deciding, 1, memory_order_relaxed);
	parent_put_locked(parent);
}

void
parent_wake(struct parent *parent)
{
	os_lock(parent->lock);
	park_list_wake_all(&parent->closers);
	os_unlock(parent->lock);
}

/* ---- object ---- */

void
object_prepare(struct object *obj, enum kind kind)
{
	os_mutex_init(&obj->lock);
	obj->kind = kind;
}

int
object_open(struct object *obj, struct parent *parent, const DAT_PROVIDER *provider)
{
	struct handle *handle;
	uint64_t serial;

	handle = handle_create(provider, obj->kind, obj, &serial);
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
object_abandon(struct object *obj)
{
	os_lock(&obj->lock);
	object_close_locked(obj);
	os_unlock(&obj->lock);
}

int
object_publish(struct object *obj)
{
	struct parent *parent = obj->parent;

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
	parent_get(parent);
	os_unlock(parent->lock);
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
	struct parent *parent = obj->parent;

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
	parent_put_locked(parent);
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
object_hold(DAT_HANDLE handle, enum kind kind, const struct parent *parent)
{
	struct object *obj = object_lock(handle, kind);

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
object_drop(struct object *obj)
{
	struct parent *parent;
	bool last;

	os_lock(&obj->lock);
	parent = obj->parent;
	last = --obj->refs == 0;
	os_unlock(&obj->lock);
	/* A close may wait for that.  The parent may be gone by now: then nothing waits there. */
	if (last)
		parent_wake(parent);
}
