/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ia_close -- the end of an adapter
 *
 * Close marks the adapter, wakes the threads that wait on its objects, destroys the objects,
 * children before parents, and waits until everything is gone: objects that other threads are
 * freeing, objects that were freed from inside their own upcall or agent, calls in progress.  Each
 * of them is a child of the adapter or holds one of its bases.  A thread that removes a child or
 * drops a base wakes the closing thread.
 *
 * No object's destroy() waits for upcalls or agents; the last thread to leave an EVD or a CNO
 * destroys it.  The close does not wait for two kinds of callbacks, because they may wait for the
 * closing thread:
 *
 *	- callbacks that the closing thread is inside of.  Their objects are destroyed when they
 *	  return, and the device with the last object.
 *	- if it is inside any: callbacks whose threads are in dat_ia_close() themselves, of another
 *	  adapter.
 */
#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/evd/cno.h"
#include "dapl/trace/err.h"
#include "dapl/evd/evd_object.h"
#include "dapl/ia/ia.h"
#include "dapl/provider/kinds.h"
#include "dapl/stats/publish.h"

/* What a close still has to wait for. */
struct rest {
	const struct dapl_kind_ops *ops; /* of the child; NULL: there is none */
	struct dapl_object *child;
	uint64_t serial;
	DAT_HANDLE handle; /* DAT_HANDLE_NULL: another thread destroys it */
	unsigned int left; /* children that are not waited for */
};

static DAT_HANDLE
close_live_handle(struct dapl_object *obj) DAPL_NO_OBJECT_LOCK
{
	DAT_HANDLE handle;

	dapl_object_lock(obj);
	handle = obj->handle;
	dapl_object_unlock(obj);
	return handle;
}

/*
 * Finds the first kind that has children.  Returns one of them that is not freed, else one that is
 * being destroyed.
 */
static struct rest
close_find_rest(const struct dapl_ia *ia) REQUIRES(dapl_locks.adapter) DAPL_NO_OBJECT_LOCK
{
	struct rest rest = { .left = 0 };

	for (const struct dapl_kind_ops *e = dapl_kind_table; e->free && !rest.ops; e++) {
		for (struct dapl_object *child = ia->parent.children[e->kind]; child;
		     child = child->next) {
			const DAT_HANDLE handle = close_live_handle(child);

			if (!handle && e->is_left && e->is_left(child)) {
				rest.left++;
				continue;
			}
			if (handle || !rest.ops) {
				rest.ops = e;
				rest.child = child;
				rest.serial = child->serial;
				rest.handle = handle;
			}
			if (handle)
				break;
		}
	}
	return rest;
}

/*
 * True if the only references are that of the adapter itself and those that the close does not wait
 * for.
 */
static bool
close_is_alone(const struct dapl_ia *ia, const struct rest *rest) REQUIRES(dapl_locks.adapter)
{
	return atomic_load_explicit(&ia->parent.bases, memory_order_acquire) ==
	       1 + ia->parent.borrowers + rest->left;
}

/* False if there was nothing to do; the thread has not slept in that case. */
static bool
close_advance(const struct rest *rest) DAPL_NO_LOCK
{
	if (!rest->ops)
		return false;
	if (rest->handle)
		return rest->ops->free(rest->handle) == 0;
	return rest->ops->await_others && rest->ops->await_others(rest->child, rest->serial);
}

static bool
close_same(const struct rest *a, const struct rest *b)
{
	return a->child == b->child && a->serial == b->serial && a->handle == b->handle;
}

/*
 * Drops and retakes the lock.  If another thread uses or destroys the child that was found, this
 * thread cannot advance; it sleeps until that thread removes the child.  It searches once more
 * before it sleeps: another thread may have begun to destroy a child, and may wait for this thread.
 */
static void
close_free_children(struct dapl_ia *ia) REQUIRES(dapl_locks.adapter) DAPL_NO_OBJECT_LOCK
{
	struct park *park = NULL;
	struct park_entry entry;
	struct rest rest, again;
	bool listed = false, advances;

	for (;;) {
		park_reset(park);
		rest = close_find_rest(ia);
		if (!rest.ops && close_is_alone(ia, &rest))
			break;
		dapl_ia_unlock(ia);
		advances = close_advance(&rest);
		dapl_ia_lock(ia);
		again = close_find_rest(ia);
		if (advances || !close_same(&rest, &again))
			continue;
		if (!listed) {
			/*
			 * Parking may open a descriptor, so only a close that must sleep does it.
			 */
			park = park_self();
			park_list_add(&ia->parent.closers, &entry, park);
			listed = true;
			continue;
		}
		dapl_ia_unlock(ia);
		(void)park_sleep(park, PARK_FOREVER, -1, NULL);
		dapl_ia_lock(ia);
	}
	if (listed)
		park_list_remove(&ia->parent.closers, &entry);
}

/* Runs under the lock, so that the adapter is not destroyed before the lock is dropped. */
static bool
close_is_decided(void *arg) REQUIRES(dapl_locks.adapter)
{
	struct dapl_ia *ia = arg;

	return atomic_load_explicit(&ia->parent.deciding, memory_order_relaxed) == 0;
}

/* Whether another adapter shares the EVD for asynchronous events, which this one has made. */
static bool
close_is_shared(const struct dapl_ia *ia) REQUIRES(dapl_locks.adapter) DAPL_NO_OBJECT_LOCK
{
	struct dapl_evd *evd = ia->async;
	bool shared;

	if (!ia->async_ours)
		return false;
	dapl_object_lock(&evd->obj);
	shared = evd->obj.refs > 1;
	dapl_object_unlock(&evd->obj);
	return shared;
}

/*
 * True if the consumer has objects that it did not free yet.  An object that is being freed counts
 * as freed; the close waits for it later.  With `all` false, CRs and endpoints do not count,
 * because they may belong to connection requests.
 */
static bool
close_has_children(const struct dapl_ia *ia, bool all)
    REQUIRES(dapl_locks.adapter) DAPL_NO_OBJECT_LOCK
{
	if (close_is_shared(ia))
		return true;
	for (const struct dapl_kind_ops *e = dapl_kind_table; e->free; e++) {
		const enum dapl_kind kind = e->kind;

		if (!all && (kind == DAPL_KIND_CR || kind == DAPL_KIND_EP))
			continue;
		for (struct dapl_object *child = ia->parent.children[kind]; child;
		     child = child->next)
			if (!(ia->async_ours && child == &ia->async->obj) &&
			    close_live_handle(child))
				return true;
	}
	return false;
}

/* Sleeps until no connection request is being accepted or rejected. */
static void
close_await_decided(struct dapl_ia *ia) RELEASE(dapl_locks.adapter)
{
	dapl_parent_get(&ia->parent); /* keeps the adapter: another thread may close it */
	dapl_parent_await(&ia->parent, close_is_decided, ia);
	dapl_parent_put_locked(&ia->parent);
}

/*
 * The locked IA to close, or NULL with the reason.  A graceful close is refused while objects are
 * left.  If the only objects are CRs and endpoints, they may belong to a request that the provider
 * refuses, and that the consumer has never seen, or that another thread is rejecting: the close
 * waits for the end of these calls and checks again.
 */
static struct dapl_ia *
close_begin(DAT_IA_HANDLE handle, bool graceful, DAT_RETURN *ret)
    TRY_ACQUIRE(dapl_locks.adapter) DAPL_NO_LOCK
{
	for (;;) {
		struct dapl_ia *ia = dapl_ia_lock_handle(handle);

		if (!ia) {
			*ret = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
			return NULL;
		}
		if (!graceful || !close_has_children(ia, true))
			return ia;
		if (close_has_children(ia, false) || close_is_decided(ia)) {
			dapl_ia_unlock(ia);
			*ret = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE);
			return NULL;
		}
		close_await_decided(ia);
	}
}

static void
close_notify_children(struct dapl_ia *ia) DAPL_NO_ADAPTER_LOCK
{
	dapl_ia_lock(ia);
	for (const struct dapl_kind_ops *e = dapl_kind_table; e->free; e++)
		for (struct dapl_object *child = e->closing ? ia->parent.children[e->kind] : NULL;
		     child; child = child->next)
			e->closing(child);
	dapl_ia_unlock(ia);
}

static bool
close_has_no_calls(void *arg) REQUIRES(dapl_locks.adapter)
{
	const struct dapl_ia *ia = arg;

	return ia->parent.inside == 0;
}

DAT_RETURN
dapl_ia_close(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS flags)
{
	DAPL_UNCANCELLED;
	struct dapl_ia *ia;
	DAT_RETURN ret;

	if (flags != DAT_CLOSE_ABRUPT_FLAG && flags != DAT_CLOSE_GRACEFUL_FLAG)
		return dapl_handle_is(ia_handle, DAPL_KIND_IA) ?
			   DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2) :
			   DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	ia = close_begin(ia_handle, flags == DAT_CLOSE_GRACEFUL_FLAG, &ret);
	if (!ia)
		return ret;
	atomic_store_explicit(&ia->parent.closing, true, memory_order_relaxed);
	dapl_ia_free_handle(ia); /* no further call can enter */
	if (!close_has_no_calls(ia))
		dapl_parent_await(&ia->parent, close_has_no_calls, ia);
	dapl_ia_unlock(ia);

	evd_enter_close();
	cno_enter_close();
	/*
	 * This comes first: upcalls for which the close waits may be blocked in waits on these
	 * objects.
	 */
	close_notify_children(ia);
	dapl_ia_detach_async_elsewhere(ia);
	dapl_ia_detach_async(ia);
	dapl_ia_lock(ia);
	close_free_children(ia);
	dapl_ia_unlock(ia);
	dapl_ia_device_stop(ia);
	if (ia->stepped)
		loop_stop(ia->loops[0].loop); /* a thread that pumps it may be asleep there */
	if (dapl_ia_list_remove(ia))
		park_close_self();
	if (ia->published)
		dapl_stats_stop();
	cno_leave_close();
	evd_leave_close();
	dapl_parent_put(&ia->parent);
	return DAT_SUCCESS;
}
