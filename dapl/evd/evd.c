/* SPDX-License-Identifier: BSD-3-Clause */
/* evd -- life of an EVD as a DAT object */
#include "dapl/evd/evd.h"

#include <string.h>

#include "dapl/evd/cno.h"
#include "dapl/trace/debug.h"
#include "dapl/ia/channel.h"
#include "dapl/ia/ia.h"
#include "dapl/trace/callback.h"

static void
prepare(void *slot)
{
	struct dapl_evd *evd = slot;

	object_prepare(&evd->obj, KIND_EVD);
	evd_slot_init(&evd->core);
}

static struct slab slab = SLAB_INITIALIZER(struct dapl_evd, prepare);

/* The device cannot be armed or polled: the consumer learns it once, from the async EVD. */
static void
fault(struct evd *core, int error)
{
	const struct evd_ref ref = evd_self(core); /* a loop has it: it cannot be destroyed */

	if (error == -EOVERFLOW)
		evd_object_overflowed(ref);
	else
		evd_object_report(ref, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, DAT_EVD_OTHER_ERROR);
}

/* Nothing of evd/ is inside any more, on any thread. */
static void
destroyed(struct evd *core)
{
	struct dapl_evd *evd = dapl_evd_of(core);

	evd_cq_destroy(evd);
	object_unlink(&evd->obj);
	os_lock(&evd->obj.lock);
	evd->orphan = evd->obj.refs > 0;
	if (!evd->orphan)
		slab_free(&slab, evd);
	os_unlock(&evd->obj.lock);
}

void
evd_release(struct dapl_evd *evd)
{
	os_lock(&evd->obj.lock);
	if (--evd->obj.refs == 0 && evd->orphan) {
		evd->orphan = false;
		slab_free(&slab, evd);
	}
	os_unlock(&evd->obj.lock);
}

int
evd_object_create(struct ia *ia, const struct evd_plan *plan, struct dapl_evd **out)
{
	struct evd_config config = {
		.qlen = plan->qlen, .channel_fd = -1, .fault = fault, .destroyed = destroyed
	};
	struct dapl_cno *cno = NULL;
	struct ia_loop *l;
	struct dapl_evd *evd;
	int vector, r;

	if (plan->cno != DAT_HANDLE_NULL) {
		cno = cno_attach(plan->cno, ia);
		if (!cno)
			return -EBADF;
	}
	r = -ENOMEM;
	evd = slab_alloc(&slab);
	if (!evd)
		goto detach_cno;
	if (debug_wants(DEBUG_CALLS | DEBUG_RESULTS))
		config.call = trace_make_upcall;
	l = ia_pick_loop(ia, &vector);
	/* Nothing of the slot's last EVD is left, whatever members there are. */
	memset((char *)evd + offsetof(struct dapl_evd, flags), 0,
	    sizeof *evd - offsetof(struct dapl_evd, flags));
	evd->flags = plan->flags;
	atomic_store_explicit(&evd->one_at_a_time, false, memory_order_relaxed);
	if (plan->flags & (EVD_CQ_FLAGS | EVD_FLAGS_EXTENSION)) {
		r = evd_cq_create(
		    ia, evd, plan->qlen, l->channel, vector, plan->private_channel);
		if (r)
			goto free_slot;
		config.qlen = evd->cq->cqe;
		config.ops = ia->ops->completions;
		config.source = evd;
		config.raw_size = sizeof(struct ibv_wc);
		if (evd->channel)
			config.channel_fd = evd->channel->fd;
	}
	atomic_store_explicit(&evd->on_cq, evd->cq != NULL, memory_order_relaxed);
	atomic_store_explicit(
	    &evd->software, (plan->flags & DAT_EVD_SOFTWARE_FLAG) != 0, memory_order_relaxed);
	r = object_open(&evd->obj, &ia->parent, &ia->provider->table);
	if (r)
		goto destroy_cq;
	if (evd->context)
		evd->context->ref = dapl_evd_ref(evd);
	config.serial = evd->obj.serial;
	config.handle = evd->obj.handle;
	config.loop = l->loop;
	config.pool = ia->stepped ? l->loop : NULL;
	r = evd_create(&evd->core, &config);
	if (r)
		goto abandon;
	evd->cno = cno;
	if (cno)
		(void)evd_set_listener(dapl_evd_ref(evd), cno_listener(&cno->core), plan->cno);
	r = object_publish(&evd->obj);
	if (r) {
		object_abandon(&evd->obj);
		(void)evd_free(dapl_evd_ref(evd)); /* ends in destroyed() */
		goto detach_cno;
	}
	*out = evd;
	return 0;

abandon:
	object_abandon(&evd->obj);
destroy_cq:
	evd_cq_destroy(evd);
free_slot:
	slab_free(&slab, evd);
detach_cno:
	if (cno)
		cno_detach(cno);
	return r;
}

#ifndef REQUESTS_AT_ONCE
#define REQUESTS_AT_ONCE 32
#endif

struct requests {
	DAT_CR_HANDLE *handles;
	int *n;
};

/* Locked (the trigger lock).  `who` is struct requests. */
static bool
take_request(const DAT_EVENT *event, const void *who)
{
	const struct requests *taken = who;

	if (event->event_number != DAT_CONNECTION_REQUEST_EVENT || *taken->n == REQUESTS_AT_ONCE)
		return false;
	taken->handles[(*taken->n)++] = event->event_data.cr_arrival_event_data.cr_handle;
	return true;
}

/*
 * Requests that nobody saw would leave their senders waiting.  They are not dequeued: a waiter that
 * has not seen enough yet would keep them.
 */
static void
refuse_queued_requests(struct dapl_evd *evd)
{
	const struct ia *ia = ia_of(&evd->obj);
	DAT_CR_HANDLE handles[REQUESTS_AT_ONCE];
	int n;
	const struct requests taken = { handles, &n };

	do {
		n = 0;
		evd_purge(dapl_evd_ref(evd), NULL, NULL, take_request, &taken);
		for (int i = 0; i < n; i++)
			(void)ia->ops->refuse(handles[i]);
	} while (n == REQUESTS_AT_ONCE);
}

void
evd_object_closing(struct object *obj)
{
	struct dapl_evd *evd = (void *)obj;

	evd_set_closing(dapl_evd_ref(evd));
}

bool
evd_object_is_left(const struct object *obj)
{
	struct dapl_evd *evd = (void *)(uintptr_t)obj;

	return evd_is_left_to_closers((struct evd_ref){ &evd->core, obj->serial });
}

bool
evd_object_await_others(struct object *obj, uint64_t serial)
{
	struct dapl_evd *evd = (void *)obj;

	return evd_await_others((struct evd_ref){ &evd->core, serial });
}

/*
 * Locked.  From here on no handle leads to it, and the caller calls dispose().  Requests that it still
 * holds never reach the consumer.
 */
static void
close_locked(struct dapl_evd *evd)
{
	if (evd->flags & DAT_EVD_CR_FLAG)
		parent_decide_begin(evd->obj.parent);
	object_close_locked(&evd->obj);
}

/* By evd_free() or evd_free_nowait(). */
static void
dispose(struct dapl_evd *evd, int (*end)(struct evd_ref ref))
{
	struct dapl_cno *cno = evd->cno;

	if (evd->flags & DAT_EVD_CR_FLAG) {
		refuse_queued_requests(evd);
		parent_decide_end(evd->obj.parent); /* the EVD still has a base */
	}
	/* Before upcalls are waited for: one of them may close the adapter, and with it the CNO. */
	if (cno) {
		(void)evd_set_listener(dapl_evd_ref(evd), NULL, DAT_HANDLE_NULL);
		cno_detach(cno);
	}
	(void)end(dapl_evd_ref(evd));
}

int
evd_destroy(DAT_HANDLE handle)
{
	struct dapl_evd *evd = object_lock(handle, KIND_EVD);

	if (!evd)
		return -ENODEV;
	close_locked(evd);
	os_unlock(&evd->obj.lock);
	dispose(evd, evd_free_nowait);
	return 0;
}

int
evd_give_pool(DAT_EVD_HANDLE handle)
{
	struct dapl_evd *evd = object_lock(handle, KIND_EVD);
	struct loop *pool = NULL;
	struct evd_ref ref;
	struct ia *ia;

	if (!evd)
		return -ENODEV;
	ia = ia_of(&evd->obj);
	ref = dapl_evd_ref(evd);
	parent_get(&ia->parent); /* the IA's lock is not taken under this one */
	os_unlock(&evd->obj.lock);
	if (!ia->stepped) {
		pool = ia_pool(ia);
		if (pool)
			evd_set_pool(ref, pool);
	}
	pool = ia->stepped ? ia->loops[0].loop : pool;
	parent_put(&ia->parent);
	return pool ? 0 : -ENOMEM;
}

/* -EBUSY while something uses it, -ENODEV. */
int
evd_object_free(struct dapl_evd *evd, uint64_t serial)
{
	int r = 0;

	os_lock(&evd->obj.lock);
	if (!object_is(&evd->obj, serial))
		r = -ENODEV;
	else if (evd->obj.refs)
		r = -EBUSY;
	else
		close_locked(evd);
	os_unlock(&evd->obj.lock);
	if (!r)
		dispose(evd, evd_free);
	return r;
}
