/* SPDX-License-Identifier: BSD-3-Clause */
/* evd -- an EVD as a DAT object: created, closed, freed */
#include "dapl/evd/evd_object.h"
#include "dapl/evd/slow.h"

#include "dapl/evd/cno.h"
#include "dapl/object/cancel.h"
#include "dapl/trace/debug.h"
#include "dapl/ia/channel.h"
#include "dapl/ia/ia.h"
#include "dapl/state/event.h"
#include "dapl/state/upcall.h"
#include "dapl/trace/callback.h"

static void
dapl_evd_prepare(void *slot)
{
	struct dapl_evd *evd = slot;

	dapl_object_prepare(&evd->obj, DAPL_KIND_EVD);
	evd_slot_init(&evd->core);
}

struct dapl_slab dapl_evd_slab = DAPL_SLAB_INITIALIZER(struct dapl_evd, dapl_evd_prepare);

/*
 * The device cannot be armed or polled.  This is reported once, on the async EVD.  If the
 * completion queue has overrun, which the device may have reported already, that report is the only
 * one.
 */
static void
dapl_evd_fault(struct evd *core, int error) DAPL_NO_LOCK
{
	/* its job is RUNNING on this thread, so it is not destroyed */
	const struct evd_ref ref = evd_self(core);

	struct dapl_ia *ia = dapl_ia_of(&dapl_evd_of(core)->obj);
	struct evd_status status;

	(void)error;
	ia->ops->read_async(ia, 0);
	dapl_channel_await_async();
	/* These two were reported. */
	if (evd_query(ref, &status) || !(status.channel_lost || status.overflowed))
		dapl_evd_report(ref, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, DAT_EVD_OTHER_ERROR);
}

/* No thread uses the core EVD any more. */
static void
dapl_evd_freed(struct evd *core) DAPL_NO_LOCK
{
	DAPL_UNCANCELLED; /* perhaps at the end of a wait or dequeue of another thread */
	struct dapl_evd *evd = dapl_evd_of(core);

	dapl_evd_cq_close(evd);
	dapl_object_detach(&evd->obj);
	dapl_object_lock(&evd->obj);
	evd->orphan = evd->obj.refs > 0;
	if (!evd->orphan)
		dapl_slab_free(&dapl_evd_slab, evd);
	dapl_object_unlock(&evd->obj);
}

void
dapl_evd_put(struct dapl_evd *evd)
{
	dapl_object_lock(&evd->obj);
	if (--evd->obj.refs == 0 && evd->orphan) {
		evd->orphan = false;
		dapl_slab_free(&dapl_evd_slab, evd);
	}
	dapl_object_unlock(&evd->obj);
}

int
dapl_evd_create_object(struct dapl_ia *ia, const struct dapl_evd_plan *plan, struct dapl_evd **out)
{
	struct evd_config config = { .qlen = plan->qlen,
		.posted_on_demand = !(plan->flags & DAPL_EVD_POSTED_FLAGS),
		.event_size = sizeof(DAT_EVENT),
		.channel_fd = -1,
		.call = dapl_make_upcall,
		.call_array = dapl_make_upcall_array,
		.fault = dapl_evd_fault,
		.destroyed = dapl_evd_freed };
	struct dapl_cno *cno = NULL;
	struct dapl_ia_loop *l;
	struct dapl_evd *evd;
	int vector, r;

	if (plan->cno != DAT_HANDLE_NULL) {
		cno = dapl_cno_attach(plan->cno, ia);
		if (!cno)
			return -EBADF;
	}
	r = -ENOMEM;
	evd = dapl_slab_alloc(&dapl_evd_slab);
	if (!evd)
		goto detach_cno;
	if (dapl_debug_wants(DAPL_DEBUG_CALLS | DAPL_DEBUG_RESULTS)) {
		config.call = dapl_trace_make_upcall;
		config.call_array = dapl_trace_make_upcall_array;
	}
	if (ia->slow_ns) {
		config.call = dapl_slow_make_upcall;
		config.call_array = dapl_slow_make_upcall_array;
	}
	l = dapl_ia_pick_loop(ia, &vector);
	/* Clears what the slot's last EVD left. */
	os_clear_from(evd, flags);
	evd->flags = plan->flags;
	evd->slow_ns = ia->slow_ns;
	evd->loop = l;
	atomic_store_explicit(&evd->one_at_a_time, false, memory_order_relaxed);
	if (plan->flags & (DAPL_EVD_CQ_FLAGS | DAPL_EVD_FLAGS_EXTENSION)) {
		r = dapl_evd_cq_open(
		    ia, evd, plan->qlen, l->channel, vector, plan->private_channel);
		if (r)
			goto free_slot;
		config.qlen = evd->cq->cqe;
		config.ops = ia->ops->completions;
		config.source = evd;
		if (evd->channel)
			config.channel_fd = evd->channel->fd;
		else
			config.lead = dapl_ia_lead(ia);
	}
	atomic_store_explicit(&evd->on_cq, evd->cq != NULL, memory_order_relaxed);
	atomic_store_explicit(
	    &evd->software, (plan->flags & DAT_EVD_SOFTWARE_FLAG) != 0, memory_order_relaxed);
	r = dapl_object_create(&evd->obj, &ia->parent, &ia->provider->table);
	if (r)
		goto destroy_cq;
	if (evd->context)
		evd->context->ref = dapl_evd_ref(evd);
	config.serial = evd->obj.serial;
	config.handle = evd->obj.handle;
	config.loop = l->loop;
	config.pool = ia->stepped ? l->loop : NULL;
	config.spin_ns = ia->spin_ns;
	r = evd_create(&evd->core, &config);
	if (r)
		goto free_handle;
	evd->cno = cno;
	if (cno)
		(void)evd_set_listener(dapl_evd_ref(evd), cno_listener(&cno->core), plan->cno);
	r = dapl_object_attach(&evd->obj);
	if (r) {
		dapl_object_free_unattached(&evd->obj);
		(void)evd_free(dapl_evd_ref(evd)); /* ends in dapl_evd_freed() */
		goto detach_cno;
	}
	dapl_evd_check_channel(evd);
	*out = evd;
	return 0;

free_handle:
	dapl_object_free_unattached(&evd->obj);
destroy_cq:
	dapl_evd_cq_close(evd);
free_slot:
	dapl_slab_free(&dapl_evd_slab, evd);
detach_cno:
	if (cno)
		dapl_cno_detach(cno);
	return r;
}

#ifndef REQUESTS_AT_ONCE
#define REQUESTS_AT_ONCE 32
#endif

struct requests {
	DAT_CR_HANDLE *handles;
	int *n;
};

/* `who` is struct requests. */
static bool
dapl_evd_take_request(const void *posted, const void *who) REQUIRES(core_locks.trigger)
{
	const struct requests *taken = who;
	const DAT_EVENT *event = posted;

	if (!dapl_event_is_request(event->event_number) || *taken->n == REQUESTS_AT_ONCE)
		return false;
	taken->handles[(*taken->n)++] = event->event_data.cr_arrival_event_data.cr_handle;
	return true;
}

/*
 * Without a refusal the senders of queued requests would wait. The requests are purged, not
 * dequeued: while a waiter waits for more events, a dequeue fails.
 */
static void
dapl_evd_refuse_queued_requests(struct dapl_evd *evd) DAPL_NO_LOCK
{
	const struct dapl_ia *ia = dapl_ia_of(&evd->obj);
	DAT_CR_HANDLE handles[REQUESTS_AT_ONCE];
	int n;
	const struct requests taken = { handles, &n };

	do {
		n = 0;
		evd_purge(dapl_evd_ref(evd), NULL, NULL, dapl_evd_take_request, &taken);
		for (int i = 0; i < n; i++)
			(void)ia->ops->refuse(handles[i]);
	} while (n == REQUESTS_AT_ONCE);
}

void
dapl_evd_set_closing(struct dapl_object *obj)
{
	struct dapl_evd *evd = (void *)obj;

	evd_set_closing(dapl_evd_ref(evd));
}

bool
dapl_evd_is_left(const struct dapl_object *obj)
{
	struct dapl_evd *evd = (void *)(uintptr_t)obj;

	return evd_is_left_to_closers((struct evd_ref){ &evd->core, obj->serial });
}

bool
dapl_evd_await_others(struct dapl_object *obj, uint64_t serial)
{
	struct dapl_evd *evd = (void *)obj;

	return evd_await_others((struct evd_ref){ &evd->core, serial });
}

/*
 * From here on no handle leads to it, and the caller calls dapl_evd_free_rest().  Requests that
 * it still holds never reach the consumer.
 */
static void
dapl_evd_free_locked(struct dapl_evd *evd) REQUIRES(dapl_locks.object)
{
	if (evd->flags & DAT_EVD_CR_FLAG)
		dapl_parent_decide_begin(evd->obj.parent);
	dapl_object_free_locked(&evd->obj);
}

/* `free_core` is evd_free() or evd_free_nowait(). */
static void
dapl_evd_free_rest(struct dapl_evd *evd, int (*free_core)(struct evd_ref ref)) DAPL_NO_LOCK
{
	struct dapl_cno *cno = evd->cno;

	if (evd->flags & DAT_EVD_CR_FLAG) {
		dapl_evd_refuse_queued_requests(evd);
		dapl_parent_decide_end(evd->obj.parent); /* the EVD still has a base */
	}
	/*
	 * Before this thread waits for upcalls: one of them may close the adapter, and with it
	 * the CNO.
	 */
	if (cno) {
		(void)evd_set_listener(dapl_evd_ref(evd), NULL, DAT_HANDLE_NULL);
		dapl_cno_detach(cno);
	}
	(void)free_core(dapl_evd_ref(evd));
}

int
dapl_evd_free_by_handle(DAT_HANDLE handle)
{
	struct dapl_evd *evd = dapl_object_lock_handle(handle, DAPL_KIND_EVD);

	if (!evd)
		return -ENODEV;
	dapl_evd_free_locked(evd);
	dapl_object_unlock(&evd->obj);
	dapl_evd_free_rest(evd, evd_free_nowait);
	return 0;
}

int
dapl_evd_give_pool(DAT_EVD_HANDLE handle)
{
	struct dapl_evd *evd = dapl_object_lock_handle(handle, DAPL_KIND_EVD);
	struct loop *pool;
	struct evd_ref ref;
	struct dapl_ia *ia;
	int r = 0;

	if (!evd)
		return -ENODEV;
	ia = dapl_ia_of(&evd->obj);
	ref = dapl_evd_ref(evd);
	dapl_parent_get(&ia->parent); /* the IA's lock is not taken under this one */
	dapl_object_unlock(&evd->obj);
	if (!ia->stepped) {
		r = dapl_ia_pool(ia, &pool);
		if (!r)
			evd_set_pool(ref, pool);
	}
	dapl_parent_put(&ia->parent);
	return r;
}

/* -EBUSY while something uses it, -ENODEV. */
int
dapl_evd_free_object(struct dapl_evd *evd, uint64_t serial)
{
	int r = 0;

	dapl_object_lock(&evd->obj);
	if (!dapl_object_is(&evd->obj, serial))
		r = -ENODEV;
	else if (evd->obj.refs)
		r = -EBUSY;
	else
		dapl_evd_free_locked(evd);
	dapl_object_unlock(&evd->obj);
	if (!r)
		dapl_evd_free_rest(evd, evd_free);
	return r;
}
