/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * object -- what every DAT object of an IA has in common
 *
 * The lock of an object is its own (rank IA for an IA, EP for all others; two of the latter
 * are never held at once) and guards everything in struct object but the links, which belong to
 * the IA's lock.  It is made once per slot and never destroyed.
 */
#ifndef REARM_DAPL_OBJECT_H
#define REARM_DAPL_OBJECT_H

#include "evd/park.h"

#include "dapl/object/handle.h"
#include "dapl/object/slab.h"

struct ia;

struct object {
	struct slab_slot slot;
	struct os_mutex lock;
	enum kind kind;	       /* constant for the slot */
	struct handle *handle; /* NULL: dead */
	uint64_t serial;	       /* of the object in the slot, or of the last one; see handle.h */
	struct ia *ia;
	DAT_CONTEXT context;
	unsigned int refs;	    /* objects that need this one */
	bool listed;		    /* among the IA's children; guarded by the IA's lock */
	struct object *next, *prev; /* among those of this kind */
};

/* For prepare() of a slab. */
void object_prepare(struct object *obj, enum kind kind);

/*
 * Brings a slot to life under a new handle, which nobody knows yet.  -ENOMEM.
 * What follows is object_publish(), or object_abandon() when the rest could not be had.
 */
int object_open(struct object *obj, struct ia *ia, const DAT_PROVIDER *provider);
void object_abandon(struct object *obj);

/*
 * Makes a complete object a child of its IA, with a base of the IA's.  -ENODEV when the IA is
 * closing.
 */
int object_publish(struct object *obj);

/*
 * Ends the life of an object that nothing refers to: -EBUSY otherwise, -ENODEV when another one
 * lives in the slot, or none.  From here on no handle leads to it, and it belongs to the caller,
 * who destroys it.  Until object_unlink() it stays a child, for which a close waits.
 */
int object_close(struct object *obj, uint64_t serial);

/* For callers that hold the lock and have tested. */
void object_close_locked(struct object *obj);

/*
 * The last step of destroying, after all calls of the device and all references it gave back: it is
 * a child no more.  With its base the IA may go.  The slot is the caller's to free.
 */
void object_unlink(struct object *obj);

/*
 * Locked.  Sleeps until *count, which the lock guards, is 0; who takes it there wakes the list.
 * Drops and retakes the lock.
 */
void object_await_none(struct object *obj, struct park_list *list, unsigned int *count);

/* The locked object of a handle, or NULL. */
void *object_lock(DAT_HANDLE handle, enum kind kind);

/* The object of a handle with its refs raised by one: it cannot be freed.  NULL for a bad handle,
 * or one of another IA (ia not NULL). */
void *object_hold(DAT_HANDLE handle, enum kind kind, const struct ia *ia);
void object_drop(struct object *obj);

/* Locked.  Whether the object that is meant lives in the slot. */
static inline bool
object_is(const struct object *obj, uint64_t serial)
{
	return obj->handle && obj->serial == serial;
}

/* The handle of a live object or DAT_HANDLE_NULL; the object may be NULL. */
static inline DAT_HANDLE
object_handle(const struct object *obj)
{
	return obj ? (DAT_HANDLE)obj->handle : DAT_HANDLE_NULL;
}

#endif
