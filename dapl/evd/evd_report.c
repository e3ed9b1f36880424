/* SPDX-License-Identifier: BSD-3-Clause */
/* evd_report -- reports of failures on an adapter's EVD for asynchronous events */
#include "dapl/evd/evd_object.h"
#include "dapl/ia/ia_count.h"
#include "dapl/object/registry.h"

static DAT_EVENT
report_event(DAT_EVENT_NUMBER number, DAT_HANDLE handle, DAT_COUNT reason)
{
	return (DAT_EVENT){
		.event_number = number,
		.event_data.asynch_error_event_data = { .dat_handle = handle, .reason = reason },
	};
}

/* Posts an asynchronous event; false if the IA has no EVD for such events. */
static bool
report_post(struct dapl_ia *ia, const DAT_EVENT *event) DAPL_NO_ADAPTER_LOCK
{
	struct dapl_evd *evd;

	dapl_ia_lock(ia);
	evd = ia->async;
	/*
	 * If the async EVD itself overflows, no event can report that: the next call on the EVD
	 * returns an error.
	 */
	if (evd && dapl_evd_post(evd, EVD_STREAM_ASYNC, event, NULL) == -ENOSPC)
		(void)evd_mark_overflow(dapl_evd_ref(evd));
	dapl_ia_unlock(ia);
	return evd != NULL;
}

/* An async event for the first IA of the device that has an EVD for it. */
struct search {
	const struct ibv_context *verbs;
	const DAT_EVENT *event;
};

static bool
report_post_elsewhere(struct dapl_ia *ia, void *arg)
    REQUIRES(dapl_locks.adapters) DAPL_NO_ADAPTER_LOCK
{
	const struct search *search = arg;

	return ia->verbs == search->verbs && report_post(ia, search->event);
}

void
dapl_ia_report(struct dapl_ia *ia, DAT_EVENT_NUMBER number, DAT_HANDLE handle, DAT_COUNT reason)
{
	const DAT_EVENT event = report_event(number, handle, reason);
	struct search search = { ia->verbs, &event };

	dapl_ia_count(ia, DCNT_IA_ASYNC_ERROR);
	/* With DAT_EVD_ASYNC_EXISTS another opening of the device has the EVD. */
	if (!report_post(ia, &event) && ia->async_elsewhere)
		(void)dapl_ia_find(report_post_elsewhere, &search);
}

static bool
report_find_evd(struct dapl_ia *ia, struct evd_ref *ref) DAPL_NO_ADAPTER_LOCK
{
	dapl_ia_lock(ia);
	if (ia->async)
		*ref = dapl_evd_ref(ia->async);
	dapl_ia_unlock(ia);
	return ref->evd != NULL;
}

struct room {
	const struct ibv_context *verbs;
	struct evd_ref *evd;
};

static bool
report_find_evd_elsewhere(struct dapl_ia *ia, void *arg)
    REQUIRES(dapl_locks.adapters) DAPL_NO_ADAPTER_LOCK
{
	const struct room *room = arg;

	return ia->verbs == room->verbs && report_find_evd(ia, room->evd);
}

int
dapl_ia_get_report_room(struct dapl_ia *ia, int n, struct evd_ref *evd)
{
	struct room room = { ia->verbs, evd };
	int r;

	*evd = (struct evd_ref){ .evd = NULL };
	if (!report_find_evd(ia, evd) && ia->async_elsewhere)
		(void)dapl_ia_find(report_find_evd_elsewhere, &room);
	r = evd->evd ? evd_reserve(*evd, n) : 0;
	if (r != -ENODEV)
		return r;
	evd->evd = NULL; /* its adapter is closing */
	return 0;
}

void
dapl_ia_put_report_room(const struct evd_ref *room, int n)
{
	if (room->evd)
		(void)evd_reserve(*room, -n);
}

/* Reports to this IA alone: each IA of the device gets a report of its own. */
void
dapl_ia_report_self(struct dapl_ia *ia, DAT_EVENT_NUMBER number, DAT_COUNT reason)
{
	const DAT_EVENT event = report_event(number, dapl_registry_ia_handle(ia->self), reason);

	dapl_ia_count(ia, DCNT_IA_ASYNC_ERROR);
	(void)report_post(ia, &event);
}

void
dapl_ia_report_catastrophe(struct dapl_ia *ia)
{
	bool again;

	dapl_ia_lock(ia);
	again = ia->catastrophe;
	ia->catastrophe = true;
	dapl_ia_unlock(ia);
	if (!again)
		dapl_ia_report_self(ia, DAT_ASYNC_ERROR_IA_CATASTROPHIC, DAT_IA_CATASTROPHIC_ERROR);
}

/* Locked: of the adapter. */
static void
report_to_sharer(struct dapl_evd *evd, const struct dapl_ia_loop *loop)
    REQUIRES(dapl_locks.adapter) DAPL_NO_OBJECT_LOCK
{
	if (evd->loop == loop && evd->cq && !evd->channel)
		evd_channel_lost(dapl_evd_ref(evd));
}

void
dapl_ia_lost_channel(struct dapl_ia *ia, struct dapl_ia_loop *loop)
{
	bool again;

	dapl_ia_lock(ia);
	again = ia->catastrophe;
	ia->catastrophe = true;
	if (loop) {
		loop->lost = true;
		for (struct dapl_object *child = ia->parent.children[DAPL_KIND_EVD]; child;
		     child = child->next)
			report_to_sharer((struct dapl_evd *)child, loop);
	}
	dapl_ia_unlock(ia);
	if (!again)
		dapl_ia_report(ia, DAT_ASYNC_ERROR_IA_CATASTROPHIC,
		    dapl_registry_ia_handle(ia->self), DAT_IA_CATASTROPHIC_ERROR);
}

void
dapl_evd_check_channel(struct dapl_evd *evd)
{
	struct dapl_ia *ia = dapl_ia_of(&evd->obj);

	dapl_ia_lock(ia);
	if (evd->loop->lost)
		report_to_sharer(evd, evd->loop);
	dapl_ia_unlock(ia);
}

struct purge {
	bool (*match)(const void *event, const void *who);
	const void *who;
};

static void
report_purge(struct dapl_ia *ia, void *arg) DAPL_NO_ADAPTER_LOCK
{
	const struct purge *purge = arg;

	dapl_ia_lock(ia);
	if (ia->async)
		evd_purge(dapl_evd_ref(ia->async), NULL, NULL, purge->match, purge->who);
	dapl_ia_unlock(ia);
}

void
dapl_ia_purge_reports(
    struct dapl_ia *ia, bool (*match)(const void *event, const void *who), const void *who)
{
	struct purge purge = { match, who };

	if (ia->async_elsewhere)
		dapl_ia_for_each_on(ia->verbs, report_purge, &purge);
	else
		report_purge(ia, &purge);
}

/* To the IA's async EVD, if the EVD still exists. */
void
dapl_evd_report(struct evd_ref ref, DAT_EVENT_NUMBER number, DAT_COUNT reason)
{
	struct dapl_evd *evd = dapl_evd_of(ref.evd);
	DAT_HANDLE handle = DAT_HANDLE_NULL;
	struct dapl_ia *ia = NULL;

	dapl_object_lock(&evd->obj);
	if (dapl_object_is(&evd->obj, ref.serial)) {
		handle = evd->obj.handle;
		ia = dapl_ia_of(&evd->obj);
		dapl_parent_get(&ia->parent); /* keeps the IA after the unlock */
	}
	dapl_object_unlock(&evd->obj);
	if (!ia)
		return;
	dapl_ia_report(ia, number, handle, reason);
	dapl_parent_put(&ia->parent);
}

#define DRAIN_ATTEMPTS 16

int
dapl_evd_drain(struct evd_ref ref)
{
	int r = -EIO;

	for (int i = 0; i < DRAIN_ATTEMPTS && r == -EIO; i++)
		r = evd_drain(ref);
	return r;
}

void
dapl_evd_drain_or_lose(struct evd_ref ref)
{
	if (dapl_evd_drain(ref) == -EIO)
		dapl_evd_overflowed(ref);
}

void
dapl_evd_overflowed(struct evd_ref ref)
{
	if (evd_mark_overflow(ref))
		dapl_evd_report(ref, DAT_ASYNC_ERROR_EVD_OVERFLOW, DAT_EVD_OVERFLOW_ERROR);
}
