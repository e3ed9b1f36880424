/* SPDX-License-Identifier: BSD-3-Clause */
/* ops_ep -- operations on endpoints, service points and connection requests */
#include <stddef.h>

#include "actor.h"
#include "adapter.h"
#include "ep.h"
#include "evd.h"
#include "ops.h"
#include "psp.h"
#include "take.h"

#define EPS_MOST 16
#define PSPS_MOST 3
#define DEPTH_MOST (STREAM_RING - 28)

static struct ep *
an_ep(struct adapter *adapter)
{
	return ep_of(adapter_pick_child(adapter, LIFE_EP));
}

/* An EVD with these streams, used, or NULL. */
static struct evd *
an_evd_with(struct adapter *adapter, unsigned int streams)
{
	for (int tries = 0; tries < 8; tries++) {
		struct evd *evd = evd_of(adapter_pick_child(adapter, LIFE_EVD));

		if (evd && (evd->streams & streams) == streams)
			return evd;
		if (evd)
			life_unuse(&evd->life);
	}
	return NULL;
}

/* ---- endpoints ---- */

static DAT_COMPLETION_FLAGS
some_flags(DAT_COMPLETION_FLAGS usual)
{
	if (!options.group[GROUP_FLAGS] || chance(60))
		return usual;
	return chance(50) ? DAT_COMPLETION_SOLICITED_WAIT_FLAG : DAT_COMPLETION_UNSIGNALLED_FLAG;
}

static void
make_ep(struct adapter *adapter)
{
	const unsigned int merged = DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG;
	const bool one = chance(65);
	struct ep_plan plan = {
		.recv_flags = some_flags(adapter->ep_attr.recv_completion_flags),
		.request_flags = some_flags(adapter->ep_attr.request_completion_flags),
		.depth =
		    chance(50) ? 4 + (DAT_COUNT)pick(12) : 16 + (DAT_COUNT)pick(DEPTH_MOST - 16),
		.tame = adapter->life.tame ? chance(70) : chance(40),
	};
	struct ep *ep;

	if (!adapter_has_room(adapter, LIFE_EP, EPS_MOST))
		return;
	plan.recv = an_evd_with(adapter, one ? merged : DAT_EVD_DTO_FLAG);
	plan.request = one ? plan.recv : an_evd_with(adapter, DAT_EVD_DTO_FLAG);
	plan.connect = one ? plan.recv : an_evd_with(adapter, DAT_EVD_CONNECTION_FLAG);
	if (plan.recv && plan.request && plan.connect) {
		ep = ep_make(adapter, &plan);
		if (ep)
			life_unuse(&ep->life);
	}
	if (plan.recv)
		life_unuse(&plan.recv->life);
	if (plan.request && !one)
		life_unuse(&plan.request->life);
	if (plan.connect && !one)
		life_unuse(&plan.connect->life);
}

static void
end_ep(struct adapter *adapter)
{
	struct ep *ep = an_ep(adapter);

	if (!ep)
		return;
	(void)ep_end(&ep->life);
	life_unuse(&ep->life);
}

static void
free_ep(struct adapter *adapter)
{
	struct ep *ep = an_ep(adapter);

	if (!ep)
		return;
	if (!ep->life.tame)
		(void)ep_free_rudely(ep);
	life_unuse(&ep->life);
}

/* ---- connections ---- */

static void
make_psp(struct adapter *adapter)
{
	struct evd *evd;
	struct psp *psp;

	if (!adapter_has_room(adapter, LIFE_PSP, PSPS_MOST))
		return;
	evd = an_evd_with(adapter, DAT_EVD_CR_FLAG);
	if (!evd)
		return;
	psp = psp_make(adapter, evd, chance(50));
	if (psp)
		life_unuse(&psp->life);
	life_unuse(&evd->life);
}

static void
end_psp(struct adapter *adapter)
{
	struct life *life = adapter_pick_child(adapter, LIFE_PSP);

	if (!life)
		return;
	if (life->tame)
		(void)psp_end(life);
	else
		(void)psp_free_rudely((struct psp *)life);
	life_unuse(life);
}

static void
connect_ep(struct adapter *adapter)
{
	struct ep *ep = an_ep(adapter);

	if (!ep)
		return;
	ep_connect(ep);
	life_unuse(&ep->life);
}

static void
answer(struct adapter *adapter)
{
	struct life *cr = adapter_pick_child(adapter, LIFE_CR);
	struct ep *ep = NULL;

	if (!cr)
		return;
	for (int tries = 0; tries < 6 && !ep && chance(95); tries++) {
		ep = an_ep(adapter);
		if (ep && ep_phase(ep) != EP_IDLE && chance(95)) {
			life_unuse(&ep->life);
			ep = NULL;
		}
	}
	if (ep)
		for (unsigned int n = pick(6); n; n--)
			(void)ep_post_receive(ep);
	if (ep || chance(30))
		cr_answer(cr, ep);
	if (ep)
		life_unuse(&ep->life);
	life_unuse(cr);
}

static void
disconnect(struct adapter *adapter)
{
	struct ep *ep = an_ep(adapter);

	if (!ep)
		return;
	(void)ep_disconnect(ep, chance(70) ? DAT_CLOSE_ABRUPT_FLAG : DAT_CLOSE_GRACEFUL_FLAG);
	life_unuse(&ep->life);
}

static void
reset(struct adapter *adapter)
{
	struct ep *ep = an_ep(adapter);

	if (!ep)
		return;
	ep_reset(ep);
	life_unuse(&ep->life);
}

/* ---- transfers ---- */

/* Transfers that are flushed at once take room that a tame EVD needs for other events. */
static bool
may_post(struct ep *ep)
{
	return ep_phase(ep) != EP_OVER || (!ep->life.tame && !ep->recv->life.tame && chance(20));
}

static void
post_receives(struct adapter *adapter)
{
	struct ep *ep = an_ep(adapter);

	if (!ep)
		return;
	for (unsigned int n = 1 + pick(chance(20) ? 60 : 6); n && may_post(ep); n--)
		if (ep_post_receive(ep) != DAT_SUCCESS)
			break;
	life_unuse(&ep->life);
}

static void
post_requests(struct adapter *adapter)
{
	struct ep *ep = an_ep(adapter);

	if (!ep)
		return;
	for (unsigned int n = 1 + pick(6); n && may_post(ep); n--)
		if (ep_post_request(ep) != DAT_SUCCESS)
			break;
	life_unuse(&ep->life);
}

const struct op ops_ep[] = {
	{ "create an endpoint", GROUP_CONN, 800, make_ep },
	{ "end an endpoint", GROUP_CONN, 100, end_ep },
	{ "create a service point", GROUP_CONN, 200, make_psp },
	{ "end a service point", GROUP_CONN, 20, end_psp },
	{ "connect", GROUP_CONN, 1500, connect_ep },
	{ "answer a request", GROUP_CONN, 2500, answer },
	{ "disconnect", GROUP_CONN, 300, disconnect },
	{ "reset", GROUP_CONN, 800, reset },
	{ "post receives", GROUP_DTO, 3000, post_receives },
	{ "post requests", GROUP_DTO, 3000, post_requests },
	{ "free an endpoint", GROUP_FREE, 200, free_ep },
	{ NULL, GROUP_SOFT, 0, NULL },
};
