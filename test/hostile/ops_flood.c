/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ops_flood -- many requests at once to one service point
 *
 * The endpoints of a flood have no records: one thread creates, connects and ends them.
 * Each must get exactly one end, and before it at most one ESTABLISHED.
 */
#include <stddef.h>

#include "actor.h"
#include "adapter.h"
#include "board.h"
#include "call.h"
#include "clock.h"
#include "evd.h"
#include "ops.h"
#include "report.h"

#define FLOOD_MOST 48
#define END_TICKS 4000

struct wave {
	DAT_EP_HANDLE ep;
	bool asked, established, over;
};

struct flood {
	struct adapter *adapter;
	struct evd *evd;
	struct wave wave[FLOOD_MOST];
	unsigned int n, open; /* those whose end has not come */
};

static void
judge(struct flood *flood, const DAT_EVENT *event)
{
	const DAT_EP_HANDLE ep = event->event_data.connect_event_data.ep_handle;
	struct wave *wave = NULL;

	for (unsigned int i = 0; i < flood->n; i++)
		if (flood->wave[i].ep == ep)
			wave = &flood->wave[i];
	if (!wave || !wave->asked || event->evd_handle != atomic_load(&flood->evd->life.handle))
		report_wrong(&flood->evd->life, NULL, "%s of %p on %p",
		    dat_event_str(event->event_number), ep, event->evd_handle);
	if (wave->over ||
	    (wave->established && event->event_number != DAT_CONNECTION_EVENT_DISCONNECTED &&
		event->event_number != DAT_CONNECTION_EVENT_BROKEN))
		report_wrong(&flood->evd->life, NULL, "%s of %p after %s",
		    dat_event_str(event->event_number), ep, wave->over ? "its end" : "ESTABLISHED");
	if (event->event_number == DAT_CONNECTION_EVENT_ESTABLISHED) {
		wave->established = true;
	} else {
		wave->over = true;
		flood->open--;
	}
}

static void
take(struct flood *flood)
{
	DAT_EVENT event;

	while (dat_evd_dequeue(atomic_load(&flood->evd->life.handle), &event) == DAT_SUCCESS)
		judge(flood, &event);
}

/* Endpoints that transfer nothing. */
static void
make_waves(struct flood *flood, unsigned int n)
{
	const struct adapter *adapter = flood->adapter;
	struct call call;

	for (flood->n = 0; flood->n < n; flood->n++) {
		call_begin(
		    &call, CALL_EP_CREATE, &flood->adapter->life, &flood->evd->life, flood->n);
		if (call_end(&call, dat_ep_create(adapter->ia, adapter->pz, DAT_HANDLE_NULL,
					DAT_HANDLE_NULL, atomic_load(&flood->evd->life.handle),
					NULL, &flood->wave[flood->n].ep)))
			return;
	}
}

static void
connect_all(struct flood *flood, const struct sockaddr_storage *address, DAT_CONN_QUAL qual)
{
	struct call call;

	for (unsigned int i = 0; i < flood->n; i++) {
		struct wave *wave = &flood->wave[i];

		call_begin(&call, CALL_EP_CONNECT, &flood->adapter->life, &flood->evd->life, qual);
		wave->asked = true;
		flood->open++;
		if (call_end(&call, dat_ep_connect(wave->ep, (DAT_IA_ADDRESS_PTR)address, qual,
					DAT_TIMEOUT_INFINITE, 0, NULL, DAT_QOS_BEST_EFFORT,
					DAT_CONNECT_DEFAULT_FLAG))) {
			wave->asked = false;
			flood->open--;
		}
	}
}

static void
end_all(struct flood *flood)
{
	struct call call;

	for (unsigned int i = 0; i < flood->n; i++) {
		if (!flood->wave[i].asked)
			continue;
		call_begin(&call, CALL_EP_DISCONNECT, &flood->adapter->life, &flood->evd->life, i);
		(void)call_end(&call, dat_ep_disconnect(flood->wave[i].ep, DAT_CLOSE_ABRUPT_FLAG));
	}
}

static void
await_ends(struct flood *flood)
{
	uint64_t since = clock_tick();
	unsigned int left = flood->open;

	while (flood->open && !life_may_be_ending(&flood->adapter->life)) {
		take(flood);
		if (flood->open != left) {
			left = flood->open;
			since = clock_tick();
		}
		if (clock_tick() - since > END_TICKS)
			report_wrong(&flood->evd->life, NULL,
			    "%u of %u connections of a flood were ended, but their end "
			    "does not come",
			    flood->open, flood->n);
		clock_nap_us(100);
	}
}

static void
flood_it(struct adapter *adapter)
{
	struct evd_plan plan = {
		.streams = DAT_EVD_CONNECTION_FLAG, .qlen = 4 * FLOOD_MOST, .tame = true
	};
	struct flood flood = { .adapter = adapter };
	struct sockaddr_storage address;
	DAT_CONN_QUAL qual;
	struct call call;

	if (!board_choose(&address, &qual))
		return;
	flood.evd = evd_make_apart(adapter, &plan);
	if (!flood.evd)
		return;
	make_waves(&flood, 8 + pick(FLOOD_MOST - 8));
	connect_all(&flood, &address, qual);
	clock_nap_us(pick(5000));
	take(&flood);
	end_all(&flood);
	await_ends(&flood);
	for (unsigned int i = 0; i < flood.n; i++) {
		call_begin(&call, CALL_EP_FREE, &adapter->life, &flood.evd->life, i);
		(void)call_end(&call, dat_ep_free(flood.wave[i].ep));
	}
	(void)evd_free_rudely(flood.evd);
	life_unuse(&flood.evd->life);
}

const struct op ops_flood[] = {
	{ "flood", GROUP_FLOOD, 40, flood_it },
	{ NULL, GROUP_SOFT, 0, NULL },
};
