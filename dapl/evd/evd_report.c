/* SPDX-License-Identifier: BSD-3-Clause */
/* evd_report -- reports of failures on an adapter's EVD for asynchronous events */
#include "dapl/evd/evd.h"
#include "dapl/ia/ia.h"
#include "dapl/object/registry.h"

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

/* An async event that looks for an EVD, on whichever IA of the device has one. */
struct search {
	const struct ibv_context *verbs;
	const DAT_EVENT *event;
};

static bool
post_elsewhere(struct ia *ia, void *arg)
{
	const struct search *search = arg;

	return ia->verbs == search->verbs && post_async(ia, search->event);
}

void
ia_post_async(struct ia *ia, DAT_EVENT_NUMBER number, DAT_HANDLE handle, DAT_COUNT reason)
{
	const DAT_EVENT event = async_event(number, handle, reason);
	struct search search = { ia->verbs, &event };

	/* With DAT_EVD_ASYNC_EXISTS another opening of the device has the EVD. */
	if (!post_async(ia, &event) && ia->async_elsewhere)
		(void)ia_find(post_elsewhere, &search);
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

/* To the IA's async EVD, if the EVD still lives. */
void
evd_object_report(struct evd_ref ref, DAT_EVENT_NUMBER number, DAT_COUNT reason)
{
	struct dapl_evd *evd = dapl_evd_of(ref.evd);
	DAT_HANDLE handle = DAT_HANDLE_NULL;
	struct ia *ia = NULL;

	os_lock(&evd->obj.lock);
	if (object_is(&evd->obj, ref.serial)) {
		handle = evd->obj.handle;
		ia = ia_of(&evd->obj);
		parent_get(&ia->parent); /* for after the unlock */
	}
	os_unlock(&evd->obj.lock);
	if (!ia)
		return;
	ia_post_async(ia, number, handle, reason);
	parent_put(&ia->parent);
}

void
evd_object_overflowed(struct evd_ref ref)
{
	if (evd_mark_overflow(ref))
		evd_object_report(ref, DAT_ASYNC_ERROR_EVD_OVERFLOW, DAT_EVD_OVERFLOW_ERROR);
}

/*
 * A call may find that the device's queue overflowed before the asynchronous event about it is
 * read.  Unless the call reports it, the consumer gets the same answer for ever: dequeue what is
 * left.
 */
int
evd_report_overflow(struct evd_ref ref, int r)
{
	if (r == -EOVERFLOW)
		evd_object_overflowed(ref);
	return r;
}
