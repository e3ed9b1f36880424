/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ia/ia.h"

#include <string.h>

#include "dapl/api.h"
#include "dapl/trace/err.h"
#include "dapl/evd/evd.h"

static void
prepare(void *slot)
{
	struct ia *ia = slot;

	object_prepare(slot, KIND_IA);
	os_mutex_init(&ia->cm_lock);
}

static struct slab ia_slab = SLAB_INITIALIZER(struct ia, prepare);

/* All open IAs: a device tells the whole process of its end through one descriptor. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ia *list;

void
ia_list(struct ia *ia)
{
	pthread_mutex_lock(&list_lock);
	ia->next = list;
	list = ia;
	pthread_mutex_unlock(&list_lock);
}

bool
ia_unlist(struct ia *ia)
{
	bool last;

	pthread_mutex_lock(&list_lock);
	for (struct ia **at = &list; *at; at = &(*at)->next)
		if (*at == ia) {
			*at = ia->next;
			break;
		}
	last = !list;
	pthread_mutex_unlock(&list_lock);
	return last;
}

void
ia_for_each_on(struct ibv_context *verbs, void (*fn)(struct ia *ia, void *arg), void *arg)
{
	pthread_mutex_lock(&list_lock);
	for (struct ia *ia = list; ia; ia = ia->next)
		if (ia->verbs == verbs)
			fn(ia, arg);
	pthread_mutex_unlock(&list_lock);
}

void
ia_base_get(struct ia *ia)
{
	atomic_fetch_add_explicit(&ia->bases, 1, memory_order_relaxed);
}

void
ia_base_put_locked(struct ia *ia)
{
	const bool last =
	    atomic_fetch_sub_explicit(&ia->bases, 1, memory_order_acq_rel) == 1;

	park_list_wake_all(&ia->closers);
	os_unlock(&ia->obj.lock);
	if (!last)
		return;
	ia_device_close(ia);
	slab_free(&ia_slab, ia);
}

void
ia_base_put(struct ia *ia)
{
	os_lock(&ia->obj.lock);
	ia_base_put_locked(ia);
}

void
ia_decide_begin(struct ia *ia)
{
	ia_base_get(ia);
	atomic_fetch_add_explicit(&ia->deciding, 1, memory_order_relaxed);
}

void
ia_decide_end(struct ia *ia)
{
	os_lock(&ia->obj.lock);
	atomic_fetch_sub_explicit(&ia->deciding, 1, memory_order_relaxed);
	ia_base_put_locked(ia);
}

void
ia_stir(struct ia *ia)
{
	os_lock(&ia->obj.lock);
	park_list_wake_all(&ia->closers);
	os_unlock(&ia->obj.lock);
}

struct ia *
ia_borrow(DAT_IA_HANDLE handle)
{
	struct ia *ia = object_lock(handle, KIND_IA);

	if (!ia)
		return NULL;
	ia_base_get(ia);
	ia->borrowers++;
	os_unlock(&ia->obj.lock);
	return ia;
}

void
ia_return(struct ia *ia)
{
	os_lock(&ia->obj.lock);
	ia->borrowers--;
	ia_base_put_locked(ia);
}

struct ia *
ia_enter(DAT_IA_HANDLE handle)
{
	struct ia *ia = object_lock(handle, KIND_IA);

	if (!ia)
		return NULL;
	ia_base_get(ia);
	ia->inside++;
	os_unlock(&ia->obj.lock);
	return ia;
}

void
ia_leave(struct ia *ia)
{
	os_lock(&ia->obj.lock);
	ia->inside--;
	ia_base_put_locked(ia);
}

/* ---- asynchronous events ---- */

static DAT_EVENT
async_event(DAT_EVENT_NUMBER number, DAT_HANDLE handle, DAT_COUNT reason)
{
	DAT_EVENT event = { .event_number = number };

	event.event_data.asynch_error_event_data.dat_handle = handle;
	event.event_data.asynch_error_event_data.reason = reason;
	return event;
}

/* False when the IA has no EVD for them. */
static bool
post_async(struct ia *ia, const DAT_EVENT *event)
{
	struct dapl_evd *evd;

	os_lock(&ia->obj.lock);
	evd = ia->async;
	/* A full async EVD can tell nobody but its own consumer. */
	if (evd && evd_post(dapl_evd_ref(evd), EVD_STREAM_ASYNC, event) == -ENOSPC)
		(void)evd_mark_overflow(dapl_evd_ref(evd));
	os_unlock(&ia->obj.lock);
	return evd != NULL;
}

void
ia_post_async(struct ia *ia, DAT_EVENT_NUMBER number, DAT_HANDLE handle, DAT_COUNT reason)
{
	const DAT_EVENT event = async_event(number, handle, reason);
	bool posted = post_async(ia, &event);
	struct ia *other;

	if (posted || !ia->async_elsewhere)
		return;
	/* It was opened on the word that another opening has the one EVD for the device. */
	pthread_mutex_lock(&list_lock);
	for (other = list; other && !posted; other = other->next)
		posted = other->verbs == ia->verbs && post_async(other, &event);
	pthread_mutex_unlock(&list_lock);
}

/* Reports to this IA alone: each IA of the device gets a report of its own. */
void
ia_post_async_self(struct ia *ia, DAT_EVENT_NUMBER number, DAT_COUNT reason)
{
	const DAT_EVENT event = async_event(number, registry_ia_handle(ia->self), reason);

	(void)post_async(ia, &event);
}

struct purge {
	bool (*match)(const DAT_EVENT *event, const void *who);
	const void *who;
};

static void
purge_async(struct ia *ia, void *arg)
{
	const struct purge *purge = arg;

	os_lock(&ia->obj.lock);
	if (ia->async)
		evd_purge(dapl_evd_ref(ia->async), NULL, NULL, purge->match, purge->who);
	os_unlock(&ia->obj.lock);
}

void
ia_purge_async(struct ia *ia, bool (*match)(const DAT_EVENT *event, const void *who),
    const void *who)
{
	struct purge purge = { match, who };

	if (ia->async_elsewhere)
		ia_for_each_on(ia->verbs, purge_async, &purge);
	else
		purge_async(ia, &purge);
}

/*
 * Holds another adapter's EVD of asynchronous events; NULL if it is not one, or not of the same device.
 * That adapter may be closing.  It lasts as long as the EVD lives, which the EVD's lock shows; later its
 * slot may serve an adapter of another device.
 */
static struct dapl_evd *
hold_async(const struct ia *ia, DAT_EVD_HANDLE given)
{
	struct dapl_evd *evd = object_lock(given, KIND_EVD);
	bool fits;

	if (!evd)
		return NULL;
	fits = (evd->flags & DAT_EVD_ASYNC_FLAG) && evd->obj.ia->verbs == ia->verbs;
	if (fits)
		evd->obj.refs++;
	os_unlock(&evd->obj.lock);
	return fits ? evd : NULL;
}

/* Takes over, or makes, the EVD of asynchronous events.  A DAT_RETURN: each case has its own. */
static DAT_RETURN
attach_async(struct ia *ia, DAT_COUNT qlen, DAT_EVD_HANDLE given)
{
	struct evd_plan plan = {
		.qlen = qlen, .flags = DAT_EVD_ASYNC_FLAG, .private_channel = true
	};
	struct dapl_evd *evd;
	int r;

	ia->async = NULL;
	ia->async_ours = false;
	ia->async_elsewhere = given == DAT_EVD_ASYNC_EXISTS;
	if (ia->async_elsewhere)
		return DAT_SUCCESS;
	if (given == DAT_HANDLE_NULL) {
		r = evd_object_create(ia, &plan, &evd);
		if (r)
			return err_resource(r, DAT_RESOURCE_MEMORY);
		os_lock(&evd->obj.lock);
		evd->obj.refs++;
		os_unlock(&evd->obj.lock);
		ia->async_ours = true;
		ia->async = evd;
		return DAT_SUCCESS;
	}
	evd = hold_async(ia, given);
	if (!evd)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_ASYNC);
	ia->async = evd;
	return DAT_SUCCESS;
}

void
ia_detach_async(struct ia *ia)
{
	struct dapl_evd *evd;

	os_lock(&ia->obj.lock);
	evd = ia->async;
	ia->async = NULL;
	os_unlock(&ia->obj.lock);
	if (evd)
		evd_release(evd);
}

/* Another IA may have been opened with this one's async EVD. */
void
ia_withdraw_async(struct ia *ia)
{
	struct ia *found;

	do {
		pthread_mutex_lock(&list_lock);
		for (found = list; found; found = found->next) {
			bool ours;

			os_lock(&found->obj.lock);
			ours = found->async && found->async->obj.ia == ia;
			os_unlock(&found->obj.lock);
			if (ours)
				break;
		}
		if (found)
			ia_detach_async(found);
		pthread_mutex_unlock(&list_lock);
	} while (found);
}

/* ---- open ---- */

DAT_RETURN
dapl_ia_open(struct provider *provider, DAT_COUNT qlen, DAT_EVD_HANDLE *async_evd,
    DAT_IA_HANDLE *ia_handle)
{
	char params[PROVIDER_PARAMS_MAX];
	struct ia_options options;
	DAT_RETURN ret;
	struct ia *ia;
	int r;

	if (!async_evd)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	if (!ia_handle)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
	if (*async_evd == DAT_HANDLE_NULL && qlen <= 0)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	provider_params(provider, params);
	r = ia_options_parse(params, &options);
	if (r)
		return err_ia_open(r);

	ia = slab_alloc(&ia_slab);
	if (!ia)
		return DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	ia->provider = provider;
	memset(ia->children, 0, sizeof ia->children);
	r = ia_device_open(ia, &options);
	if (r) {
		ret = err_ia_open(r);
		goto free_slot;
	}
	atomic_store_explicit(&ia->bases, 1, memory_order_relaxed);
	atomic_store_explicit(&ia->deciding, 0, memory_order_relaxed);
	r = object_open(&ia->obj, NULL, &provider->table);
	if (r) {
		ret = err_resource(r, DAT_RESOURCE_MEMORY);
		goto close_device;
	}
	os_lock(&ia->obj.lock);
	ia->self = ia->obj.handle;
	ia->closing = false;
	ia->inside = ia->borrowers = 0;
	ia->closers = (struct park_list){ NULL };
	os_unlock(&ia->obj.lock);
	ret = attach_async(ia, qlen, *async_evd);
	if (ret != DAT_SUCCESS)
		goto abandon;
	ia_list(ia);
	if (ia->async_ours)
		*async_evd = ia->async->obj.handle;
	*ia_handle = ia->self;
	return DAT_SUCCESS;

abandon:
	object_abandon(&ia->obj);
close_device:
	ia_device_quiet(ia);
	ia_base_put(ia);
	return ret;
free_slot:
	slab_free(&ia_slab, ia);
	return ret;
}
