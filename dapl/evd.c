/* SPDX-License-Identifier: BSD-3-Clause */
/* evd -- life of an EVD as a DAT object */
#include "dapl/evd.h"

#include "dapl/api.h"
#include "dapl/cno.h"
#include "dapl/debug.h"
#include "dapl/err.h"
#include "dapl/ia.h"
#include "dapl/trace.h"

#define EVD_FLAGS_EXTENSION 0x200 /* the extension stream, which comes out of the CQ */
#define EVD_FLAGS_KNOWN (DAT_EVD_DEFAULT_FLAG | DAT_EVD_SOFTWARE_FLAG | EVD_FLAGS_EXTENSION)

static void
prepare(void *slot)
{
	struct dapl_evd *evd = slot;

	object_prepare(&evd->obj, KIND_EVD);
	evd_slot_init(&evd->core);
}

struct slab evd_slab = SLAB_INITIALIZER(struct dapl_evd, prepare);

static struct dapl_evd *
of_core(struct evd *core)
{
	return (struct dapl_evd *)((char *)core - offsetof(struct dapl_evd, core));
}

void
evd_object_overflowed(struct dapl_evd *evd)
{
	DAT_HANDLE handle;

	if (!evd_mark_overflow(&evd->core))
		return;
	os_lock(&evd->obj.lock);
	handle = evd->obj.handle;
	os_unlock(&evd->obj.lock);
	if (handle)
		ia_post_async(
		    evd->obj.ia, DAT_ASYNC_ERROR_EVD_OVERFLOW, handle, DAT_EVD_OVERFLOW_ERROR);
}

/* The device cannot be armed or polled: the consumer learns it once, from the async EVD. */
static void
fault(struct evd *core, int error)
{
	struct dapl_evd *evd = of_core(core);
	DAT_HANDLE handle;

	if (error == -EOVERFLOW) {
		evd_object_overflowed(evd);
		return;
	}
	os_lock(&evd->obj.lock);
	handle = evd->obj.handle;
	os_unlock(&evd->obj.lock);
	if (handle)
		ia_post_async(evd->obj.ia, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, handle,
		    DAT_EVD_OTHER_ERROR);
}

/* Nothing of evd/ is inside any more, on any thread. */
static void
destroyed(struct evd *core)
{
	struct dapl_evd *evd = of_core(core);
	struct ia *ia = evd->obj.ia;

	evd_cq_destroy(evd);
	os_lock(&evd->obj.lock);
	evd->orphan = evd->obj.refs > 0;
	if (!evd->orphan)
		slab_free(&evd_slab, evd);
	os_unlock(&evd->obj.lock);
	ia_base_put(ia);
}

void
evd_release(struct dapl_evd *evd)
{
	os_lock(&evd->obj.lock);
	if (--evd->obj.refs == 0 && evd->orphan) {
		evd->orphan = false;
		slab_free(&evd_slab, evd);
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
	evd = slab_alloc(&evd_slab);
	if (!evd)
		goto detach_cno;
	if (debug_wants(DEBUG_CALLS | DEBUG_RESULTS))
		config.call = trace_make_upcall;
	l = ia_pick_loop(ia, &vector);
	evd->flags = plan->flags;
	evd->promised = 0;
	evd->deciders = 0;
	evd->notice = EVD_NOTICE_UNDECIDED;
	evd->of_ia = false;
	evd->orphan = false;
	evd->cq = NULL;
	evd->channel = NULL;
	if (plan->flags & (EVD_CQ_FLAGS | EVD_FLAGS_EXTENSION)) {
		r = evd_cq_create(
		    ia, evd, plan->qlen, l->channel, vector, plan->private_channel);
		if (r)
			goto free_slot;
		config.qlen = evd->cq->cqe;
		config.ops = &evd_cq_ops;
		config.source = evd;
		config.raw_size = sizeof(struct ibv_wc);
		if (evd->channel)
			config.channel_fd = evd->channel->fd;
	}
	r = object_open(&evd->obj, ia, &ia->provider->table);
	if (r)
		goto destroy_cq;
	config.handle = evd->obj.handle;
	config.loop = l->loop;
	config.crew = ia->stepped ? l->loop : NULL;
	ia_base_get(ia);
	r = evd_open(&evd->core, &config);
	if (r)
		goto abandon;
	evd->cno = cno;
	if (cno)
		(void)evd_set_listener(&evd->core, cno_listener(&cno->core), plan->cno);
	r = object_publish(&evd->obj);
	if (r) {
		object_abandon(&evd->obj);
		(void)evd_free(&evd->core); /* ends in destroyed() */
		goto detach_cno;
	}
	*out = evd;
	return 0;

abandon:
	ia_base_put(ia);
	object_abandon(&evd->obj);
destroy_cq:
	evd_cq_destroy(evd);
free_slot:
	slab_free(&evd_slab, evd);
detach_cno:
	if (cno)
		cno_detach(cno);
	return r;
}

#define REQUESTS_AT_ONCE 32

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
	DAT_CR_HANDLE handles[REQUESTS_AT_ONCE];
	int n;
	const struct requests taken = { handles, &n };

	do {
		n = 0;
		evd_purge(&evd->core, NULL, NULL, take_request, &taken);
		for (int i = 0; i < n; i++)
			(void)cr_destroy(handles[i]);
	} while (n == REQUESTS_AT_ONCE);
}

void
evd_object_closing(struct object *obj)
{
	struct dapl_evd *evd = (void *)obj;

	evd_set_closing(&evd->core);
}

/* The second half of freeing: no handle leads to it any more. */
static void
dispose(struct dapl_evd *evd)
{
	struct dapl_cno *cno = evd->cno;

	if (evd->flags & DAT_EVD_CR_FLAG)
		refuse_queued_requests(evd);
	(void)evd_free(&evd->core);
	if (cno)
		cno_detach(cno);
}

/* -EBUSY while something uses it, -ENODEV. */
static int
free_object(struct dapl_evd *evd, DAT_HANDLE handle)
{
	int r = object_close(&evd->obj, handle);

	if (!r)
		dispose(evd);
	return r;
}

int
evd_destroy(DAT_HANDLE handle)
{
	struct dapl_evd *evd = object_lock(handle, KIND_EVD);

	if (!evd)
		return -ENODEV;
	object_close_locked(&evd->obj);
	os_unlock(&evd->obj.lock);
	object_unlink(&evd->obj);
	dispose(evd);
	return 0;
}

/* ---- the calls ---- */

/* What evd_create and evd_kcreate refuse alike; they count their arguments differently. */
static DAT_RETURN
check_create(
    const struct ia *ia, DAT_COUNT min_qlen, DAT_EVD_FLAGS flags, DAT_RETURN_SUBTYPE flags_arg)
{
	if (min_qlen <= 0)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (min_qlen > ia->device.max_cqe)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD);
	if (!flags || (flags & ~EVD_FLAGS_KNOWN))
		return DAT_ERROR(DAT_INVALID_PARAMETER, flags_arg);
	return DAT_SUCCESS;
}

DAT_RETURN
dapl_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT min_qlen, DAT_CNO_HANDLE cno,
    DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd_handle)
{
	struct evd_plan plan = { .qlen = min_qlen, .flags = flags, .cno = cno };
	struct dapl_evd *evd;
	DAT_RETURN ret;
	struct ia *ia;
	int r;

	ia = ia_enter(ia_handle);
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	ret = check_create(ia, min_qlen, flags, DAT_INVALID_ARG4);
	if (ret == DAT_SUCCESS && !evd_handle)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
	if (ret != DAT_SUCCESS)
		goto leave;
	plan.private_channel = cno == DAT_HANDLE_NULL;
	r = evd_object_create(ia, &plan, &evd);
	if (r)
		ret = r == -EBADF ? DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO) :
				    err_resource(r, DAT_RESOURCE_MEMORY);
	else
		*evd_handle = evd->obj.handle;
leave:
	ia_leave(ia);
	return ret;
}

int
evd_give_crew(struct dapl_evd *evd)
{
	struct loop *crew;

	if (evd->obj.ia->stepped)
		return 0;
	crew = ia_crew(evd->obj.ia);
	if (!crew)
		return -ENOMEM;
	evd_set_crew(&evd->core, crew);
	return 0;
}

DAT_RETURN
dapl_evd_kcreate(DAT_IA_HANDLE ia_handle, DAT_COUNT min_qlen, DAT_UPCALL_POLICY policy,
    const DAT_UPCALL_OBJECT *upcall, DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd_handle)
{
	struct evd_plan plan = { .qlen = min_qlen, .flags = flags };
	DAT_EVD_HANDLE handle, before;
	struct dapl_evd *evd;
	DAT_RETURN ret;
	struct ia *ia;
	int r;

	ia = ia_enter(ia_handle);
	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	ret = check_create(ia, min_qlen, flags, DAT_INVALID_ARG5);
	if (ret == DAT_SUCCESS && !evd_policy_calls(policy) && policy != DAT_UPCALL_DISABLE &&
	    policy != DAT_UPCALL_TEARDOWN)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	if (ret == DAT_SUCCESS && evd_policy_calls(policy) && (!upcall || !upcall->upcall_func))
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	if (ret == DAT_SUCCESS && !evd_handle)
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
	if (ret != DAT_SUCCESS)
		goto leave;
	r = evd_object_create(ia, &plan, &evd);
	if (r) {
		ret = err_resource(r, DAT_RESOURCE_MEMORY);
		goto leave;
	}
	/* Before the first upcall can start the consumer knows the EVD. */
	handle = evd->obj.handle;
	before = *evd_handle;
	*evd_handle = handle;
	r = policy == DAT_UPCALL_MANY ? evd_give_crew(evd) : 0;
	if (!r)
		r = evd_modify_upcall(&evd->core, policy, upcall, DAT_UPCALL_INVOC_ANY);
	if (r) {
		*evd_handle = before;
		(void)free_object(evd, handle);
		ret = err_evd_modify_upcall(r);
	}
leave:
	ia_leave(ia);
	return ret;
}

DAT_RETURN
dapl_evd_free(DAT_EVD_HANDLE handle)
{
	struct dapl_evd *evd = handle_object(handle, KIND_EVD);
	int r = evd ? 0 : -ENODEV;

	if (evd && evd->of_ia)
		r = -EBUSY;
	else if (evd)
		r = free_object(evd, handle);
	switch (r) {
	case 0:
		return DAT_SUCCESS;
	case -EBUSY:
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE);
	default:
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
	}
}
