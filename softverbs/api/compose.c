/* SPDX-License-Identifier: BSD-3-Clause */
#include "compose.h"
#include "occur.h"
#include "verbs.h"
#include "softverbs/cm/deliver.h"
#include "softverbs/cm/reset.h"
#include "softverbs/control/control.h"
#include "softverbs/cq/personality.h"
#include "softverbs/device/runtime.h"
#include "softverbs/device/settings.h"
#include "softverbs/fault/fault.h"
#include "softverbs/qp/datagram.h"
#include "softverbs/qp/held.h"
#include "softverbs/qp/key.h"
#include "softverbs/qp/memlock.h"
#include "softverbs/qp/qp_table.h"
#include "softverbs/qp/remote.h"
#include "softverbs/qp/remote_requester.h"
#include "softverbs/qp/remote_responder.h"
#include "softverbs/wire/acceptor.h"
#include "softverbs/wire/fetch.h"
#include "softverbs/wire/grant.h"
#include "softverbs/wire/input.h"

static int
compose_open_wire(void)
{
	int r = soft_input_open();

	if (r)
		return r;
	soft_grant_open();
	r = soft_acceptor_open();
	if (r)
		soft_input_close();
	return r;
}

static void
compose_close_wire(void)
{
	soft_acceptor_close();
	soft_peers_close();
	soft_fetch_stop();
	soft_input_close();
}

static void
compose_reset_wire(void)
{
	soft_acceptor_reset();
	soft_peers_reset();
	soft_fetch_reset();
	soft_input_reset();
}

static void
compose_reset_qp(void)
{
	soft_held_reset();
	soft_memlock_reset();
	soft_keys_reset();
	soft_qp_table_reset();
}

/* The links of a slot carry queue pairs and ids. */
static void
compose_link_lost(unsigned int slot, bool outgoing, bool gone)
{
	soft_remote_link_lost(slot, outgoing, gone);
	soft_cm_link_lost(slot, !outgoing);
}

static const struct soft_part wire = {
	.start = compose_open_wire,
	.stop = compose_close_wire,
	.reset = compose_reset_wire,
};
static int
compose_open_faults(struct soft_context *ctx)
{
	(void)ctx;
	return soft_faults_open();
}

static const struct soft_part fault = {
	.start = soft_faults_start,
	.open_context = compose_open_faults,
};
static const struct soft_part cq = { .open_context = soft_personality_open_context };
static const struct soft_part qp = { .stop = soft_qp_table_free, .reset = compose_reset_qp };
static const struct soft_part cm = { .reset = soft_cm_reset };
static const struct soft_part control = {
	.start = soft_control_open,
	.stop = soft_control_close,
	.reset = soft_control_reset,
};
static const struct soft_part verbs = { .init_context = soft_verbs_init_context };

static const struct soft_part *const parts[] = { &fault, &wire, &cq, &qp, &cm, &control, &verbs };

static const struct soft_handlers handlers = {
	.request = soft_remote_responder_request,
	.response = soft_remote_requester_response,
	.pulled = soft_remote_responder_pulled,
	.datagram = soft_datagram_arrived,
	.message = soft_cm_frame,
	.requester = SOFT_REMOTE_REQUESTER_TURN,
	.responder = SOFT_REMOTE_RESPONDER_TURN,
	.misbehaved = soft_remote_misbehaved,
	.lost = compose_link_lost,
};

/* While no answer is held, none is looked at for that. */
static struct soft_handlers holding;

void
soft_compose_hold(bool holds)
{
	soft_handlers_set(holds ? &holding : &handlers);
}

static void
compose(void)
{
	holding = handlers;
	holding.response = soft_held_response;
	soft_handlers_set(&handlers);
	soft_faults_set_actor(soft_occur);
	soft_runtime_set_parts(parts, sizeof parts / sizeof parts[0]);
}

void
soft_compose(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, compose);
}

/* Commands may come before the device is opened. */
static __attribute__((constructor)) void
compose_for_commands(void)
{
	if (soft_settings_read_control())
		soft_compose();
}
