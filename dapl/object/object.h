/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * object -- what all DAT objects of an IA have in common
 *
 * Each object has a lock, which guards the members of struct dapl_object.  The links are guarded by
 * the lock of the IA.  The lock of an IA is of the class dapl_locks.adapter, all others are of the
 * class dapl_locks.object; a thread holds at most one lock of a class.  The lock is made once per
 * slot and never destroyed.
 */
#ifndef REARM_DAPL_OBJECT_H
#define REARM_DAPL_OBJECT_H

#include <stdatomic.h>

#include "evd/park.h"

#include "dapl/object/handle.h"
#include "dapl/object/lock.h"
#include "dapl/object/slab.h"

struct dapl_object {
	struct dapl_slab_slot slot;
	struct os_mutex lock;
	enum dapl_kind kind;	    /* constant for the slot */
	struct dapl_handle *handle; /* NULL: freed */
	uint64_t serial; /* of the object in the slot, or of the last one; see handle.h */
	struct dapl_parent *parent; /* the adapter; NULL for an adapter itself */
	DAT_CONTEXT context;
	unsigned int refs;		 /* objects that need this one */
	bool listed;			 /* among the parent's children; guarded by its lock */
	struct dapl_object *next, *prev; /* among those of this kind */
};

/*
 * An adapter as the parent of its objects.  Its references, the bases, keep its device and loops:
 * the adapter has one while it is open, each object until it is destroyed, and each call that uses
 * them.  The thread that drops the last one calls free().
 *
 * (L): guarded by the lock.
 */
struct dapl_parent {
	struct os_mutex *lock;		    /* the adapter's; constant for the slot, as is free() */
	void (*free)(struct dapl_parent *); /* no lock is held, and nothing uses the adapter */
	struct dapl_object *children[DAPL_KIND_COUNT];		       /* (L) */
	uint64_t attached[DAPL_KIND_COUNT], detached[DAPL_KIND_COUNT]; /* (L) counts */
	atomic_bool closing;					       /* set under (L) */
	unsigned int inside;	  /* (L) calls between dapl_ia_enter() and dapl_ia_leave() */
	unsigned int borrowers;	  /* (L) calls between dapl_ia_get() and dapl_ia_put() */
	struct park_list closers; /* (L) the thread that waits for calls and objects */
	atomic_uint bases;	  /* decreases under (L) */
	/* dapl_parent_decide_begin() without dapl_parent_decide_end(); decreases under (L) */
	atomic_uint deciding;
};

static inline void
dapl_parent_lock(struct dapl_parent *parent)
    ACQUIRE(dapl_locks.adapter) DAPL_NO_OBJECT_LOCK UNCHECKED
{
	os_lock(parent->lock);
}

static inline void
dapl_parent_unlock(struct dapl_parent *parent) RELEASE(dapl_locks.adapter) UNCHECKED
{
	os_unlock(parent->lock);
}

/*
 * Whether the adapter is being closed.  What the device refuses to free then, although nothing of
 * the adapter uses it, stays until the device is closed: the close would wait for ever.
 */
static inline bool
dapl_parent_is_closing(const struct dapl_parent *parent)
{
	return atomic_load_explicit(&parent->closing, memory_order_relaxed);
}

/* Takes a reference, under any lock.  The caller knows that there is one. */
void dapl_parent_get(struct dapl_parent *parent);
/* Drops a reference. */
void dapl_parent_put(struct dapl_parent *parent) DAPL_NO_LOCK;
/* The same with the lock held, which it drops.  The parent must not be used afterwards. */
void dapl_parent_put_locked(struct dapl_parent *parent) RELEASE(dapl_locks.adapter);

/*
 * Sleeps until over(arg), which the lock guards, is true.  Drops and retakes the lock.  The caller
 * has a reference.
 */
void dapl_parent_await(struct dapl_parent *parent, bool (*over)(void *arg), void *arg)
    REQUIRES(dapl_locks.adapter);

/*
 * dapl_parent_decide_begin() and dapl_parent_decide_end() enclose code that accepts or refuses a
 * connection request.  Meanwhile a CR and its endpoint may exist which the consumer does not know
 * and which the code may destroy.  A graceful close that finds such an object waits for the end and
 * searches again.  The thread that called begin neither waits for an event nor calls the consumer
 * until it has called end.
 *
 * Begin may be called under any lock by a caller that has a reference.  After end the parent must
 * not be used.
 */
void dapl_parent_decide_begin(struct dapl_parent *parent);
void dapl_parent_decide_end(struct dapl_parent *parent) DAPL_NO_LOCK;

/* Wakes a thread that closes the adapter, so that it searches again. */
void dapl_parent_wake(struct dapl_parent *parent) DAPL_NO_ADAPTER_LOCK;

static inline void
dapl_object_lock(struct dapl_object *obj) ACQUIRE(dapl_locks.object) DAPL_NO_OBJECT_LOCK UNCHECKED
{
	os_lock(&obj->lock);
}

/* As dapl_object_lock(), but may fail while another thread has the lock. */
static inline bool
dapl_object_trylock(struct dapl_object *obj)
    TRY_ACQUIRE(dapl_locks.object) DAPL_NO_OBJECT_LOCK UNCHECKED
{
	return os_trylock(&obj->lock);
}

static inline void
dapl_object_unlock(struct dapl_object *obj) RELEASE(dapl_locks.object) UNCHECKED
{
	os_unlock(&obj->lock);
}

/* For prepare() of a slab. */
void dapl_object_prepare(struct dapl_object *obj, enum dapl_kind kind);

/*
 * Gives the object in a slot a new handle and serial number. No other thread knows it yet.
 * -ENOMEM. The caller then calls dapl_object_attach(), or dapl_object_free_unattached() if it
 * cannot create the rest of the object.
 */
int dapl_object_create(struct dapl_object *obj, struct dapl_parent *parent,
    const DAT_PROVIDER *provider) DAPL_NO_OBJECT_LOCK;
void dapl_object_free_unattached(struct dapl_object *obj) DAPL_NO_OBJECT_LOCK;

/*
 * Makes a complete object a child of its parent, with a reference to it.  -ENODEV when the parent
 * is closing.
 */
int dapl_object_attach(struct dapl_object *obj) DAPL_NO_ADAPTER_LOCK;

/*
 * Frees the handle of an object: -EBUSY if another object refers to it, -ENODEV if the slot has
 * another object, or none. The caller owns the object afterwards and destroys it. Until
 * dapl_object_detach() it stays a child, and a close waits for it.
 */
int dapl_object_free(struct dapl_object *obj, uint64_t serial) DAPL_NO_OBJECT_LOCK;

/* The same for a caller that has made these checks under the lock. */
void dapl_object_free_locked(struct dapl_object *obj) REQUIRES(dapl_locks.object);

/*
 * The last step when an object is destroyed: removes it from the list of children of the adapter.
 * The caller has released what the device held for the object, and no reference to the object is
 * left.  After the call another thread may destroy the adapter, so the caller must not use it.  The
 * caller then frees the slot of the object.
 */
void dapl_object_detach(struct dapl_object *obj) DAPL_NO_LOCK;

/*
 * The locked object of a handle, or NULL.  With DAPL_KIND_NONE it may be an adapter, whose lock
 * counts as an object's here; the caller takes no other lock then.
 */
void *dapl_object_lock_handle(DAT_HANDLE handle, enum dapl_kind kind)
    TRY_ACQUIRE(dapl_locks.object) DAPL_NO_OBJECT_LOCK;

/*
 * Returns the object of a handle and increments its refs, so that it cannot be freed.  NULL for a
 * bad handle, or one of another parent (parent not NULL).
 */
void *dapl_object_get(
    DAT_HANDLE handle, enum dapl_kind kind, const struct dapl_parent *parent) DAPL_NO_OBJECT_LOCK;
void dapl_object_put(struct dapl_object *obj) DAPL_NO_ADAPTER_LOCK;

/* Whether the slot has an object that was not freed. */
static inline bool
dapl_object_is_alive(const struct dapl_object *obj) REQUIRES(dapl_locks.object)
{
	return obj->handle != NULL;
}

/* Whether the slot has the object with this serial number. */
static inline bool
dapl_object_is(const struct dapl_object *obj, uint64_t serial) REQUIRES(dapl_locks.object)
{
	return dapl_object_is_alive(obj) && obj->serial == serial;
}

/* The handle of a live object or DAT_HANDLE_NULL; the object may be NULL. */
static inline DAT_HANDLE
dapl_object_handle(const struct dapl_object *obj)
{
	return obj ? (DAT_HANDLE)obj->handle : DAT_HANDLE_NULL;
}

#endif
