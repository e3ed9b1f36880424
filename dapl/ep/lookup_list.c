/* SPDX-License-Identifier: BSD-3-Clause */
/* lookup_list -- the lookups of an endpoint, and how they end without an address */
#include <string.h>

#include "dapl/ep/lookup_list.h"
#include "dapl/ia/ia_count.h"
#include "evd/probe.h"

void
dapl_lookup_post(struct dapl_ep *ep, DAT_EVENT *event)
{
	struct dapl_evd *evd = ep->parts.connect;
	const struct evd_order order = { .endpoint = ep->self };

	event->event_data.connect_event_data.ep_handle = ep->self;
	REARM_PROBE_INT(connection, ep->self, event->event_number);
	if (dapl_evd_post(evd, EVD_STREAM_CONNECTION, event, &order) == -ENOSPC)
		dapl_evd_overflowed(dapl_evd_ref(evd));
}

/* Several rejections may be queued, each with its data.  Without memory they have none. */
static void
lookup_create_refusals(struct dapl_ep *ep) DAPL_NO_OBJECT_LOCK
{
	struct dapl_refusals *refusals = NULL;
	bool needed;

	dapl_object_lock(&ep->obj);
	needed = !ep->refusals;
	dapl_object_unlock(&ep->obj);
	if (needed)
		refusals = os_alloc(1, sizeof *refusals);
	dapl_object_lock(&ep->obj);
	if (!ep->refusals) {
		ep->refusals = refusals;
		refusals = NULL;
	}
	dapl_object_unlock(&ep->obj);
	os_free(refusals);
}

void
dapl_refusals_free(struct dapl_ep *ep)
{
	struct dapl_refusals *refusals;

	dapl_object_lock(&ep->obj);
	refusals = ep->refusals;
	ep->refusals = NULL;
	dapl_object_unlock(&ep->obj);
	os_free(refusals);
}

void
dapl_lookup_fail(struct dapl_ep *ep, bool by_peer, const uint8_t *data, size_t size)
{
	const DAT_IB_EVENT_NUMBER number =
	    by_peer ? DAT_IB_UD_CONNECTION_REJECT_EVENT : DAT_IB_UD_CONNECTION_ERROR_EVENT;
	DAT_EVENT event = { .event_number = (DAT_EVENT_NUMBER)number };
	DAT_IB_EXTENSION_EVENT_DATA *ib =
	    (DAT_IB_EXTENSION_EVENT_DATA *)(void *)event.event_extension_data;
	uint8_t *kept;

	ib->type = by_peer ? DAT_IB_UD_CONNECT_REJECT : DAT_IB_UD_CONNECT_ERROR;
	ib->status = DAT_IB_OP_ERR;
	if (size > DAPL_EP_ANSWER_MAX)
		size = DAPL_EP_ANSWER_MAX;
	if (size)
		lookup_create_refusals(ep);
	dapl_object_lock(&ep->obj);
	if (size && ep->refusals) {
		kept = ep->refusals->data[ep->refusals->next++ % DAPL_REFUSALS];
		memcpy(kept, data, size);
		event.event_data.connect_event_data.private_data_size = (DAT_COUNT)size;
		event.event_data.connect_event_data.private_data = kept;
	}
	dapl_ia_count(dapl_ia_of(&ep->obj), by_peer ? DCNT_IA_CM_USER_REJ_RX : DCNT_IA_CM_ERR);
	dapl_object_unlock(&ep->obj);
	dapl_lookup_post(ep, &event);
}

static void
lookup_unlink(struct dapl_ep *ep, struct dapl_lookup *lookup) REQUIRES(dapl_locks.object)
{
	struct dapl_lookup **at = &ep->lookups;

	while (*at != lookup)
		at = &(*at)->next;
	*at = lookup->next;
	lookup->next = NULL;
	lookup->over = true;
}

static void
lookup_free(struct dapl_lookup *lookup) DAPL_NO_LOCK
{
	dapl_conn_close(lookup->conn);
	os_free(lookup);
}

/* The timer of an endpoint that is neither connecting nor ending is that of its lookups. */
void
dapl_lookup_set_timer(struct dapl_ep *ep)
{
	const uint64_t now = os_clock_ns();
	uint64_t first = UINT64_MAX;

	for (const struct dapl_lookup *l = ep->lookups; l; l = l->next)
		if (l->deadline < first)
			first = l->deadline;
	if (first == UINT64_MAX)
		return;
	dapl_ep_set_timer(ep, first > now ? first - now : 0);
}

/* A user of the lookup with that id, or NULL. */
struct dapl_lookup *
dapl_lookup_enter(struct dapl_ep *ep, const struct dapl_conn *conn, uint32_t generation)
{
	struct dapl_lookup *lookup = NULL;

	dapl_object_lock(&ep->obj);
	if (dapl_object_is_alive(&ep->obj) && dapl_conn_is(conn, generation))
		for (lookup = ep->lookups; lookup && lookup->conn != conn; lookup = lookup->next)
			;
	if (lookup) {
		lookup->users++;
		dapl_ep_get_pin(ep);
	}
	dapl_object_unlock(&ep->obj);
	return lookup;
}

void
dapl_lookup_leave(struct dapl_ep *ep, struct dapl_lookup *lookup)
{
	bool last;

	dapl_object_lock(&ep->obj);
	last = --lookup->users == 0 && lookup->over;
	dapl_object_unlock(&ep->obj);
	if (last)
		lookup_free(lookup);
	dapl_ep_put_pin(ep);
}

/* For a user: ends the lookup; false if another thread did. */
bool
dapl_lookup_end(struct dapl_ep *ep, struct dapl_lookup *lookup)
{
	bool ours;

	dapl_object_lock(&ep->obj);
	ours = !lookup->over;
	if (ours)
		lookup_unlink(ep, lookup);
	dapl_object_unlock(&ep->obj);
	return ours;
}

struct dapl_lookup *
dapl_lookups_end(struct dapl_ep *ep)
{
	struct dapl_lookup *ended = NULL, *lookup;

	while ((lookup = ep->lookups)) {
		lookup_unlink(ep, lookup);
		if (lookup->users)
			continue;
		lookup->next = ended;
		ended = lookup;
	}
	return ended;
}

void
dapl_lookups_close(struct dapl_lookup *ended)
{
	struct dapl_lookup *next;

	for (; ended; ended = next) {
		next = ended->next;
		lookup_free(ended);
	}
}

void
dapl_lookups_expire(struct dapl_ep *ep)
{
	const uint64_t now = os_clock_ns();
	struct dapl_lookup *expired = ep->lookups;

	while (expired && expired->deadline > now)
		expired = expired->next;
	if (!expired) {
		dapl_lookup_set_timer(ep);
		dapl_object_unlock(&ep->obj);
		return;
	}
	lookup_unlink(ep, expired);
	expired->users++;
	dapl_lookup_set_timer(ep);
	dapl_ep_get_pin(ep);
	dapl_object_unlock(&ep->obj);
	dapl_lookup_fail(ep, false, NULL, 0);
	dapl_lookup_leave(ep, expired);
	/* The next one, if its time is over, too: the timer was set for it. */
}
