/* SPDX-License-Identifier: BSD-3-Clause */
/* deliver -- messages that have arrived, for tests of what takes them */
#ifndef REARM_TEST_DAPL_DELIVER_H
#define REARM_TEST_DAPL_DELIVER_H

#include "lib/dt.h"

/* Another EVD for receives, and an endpoint with room for two more than that holds: its length. */
static inline DAT_COUNT
give_evd(struct dt_side *side, DAT_EVD_FLAGS flags, DAT_COUNT qlen)
{
	DAT_EVD_PARAM evd;
	DAT_EP_PARAM ep;

	side->recv = dt_evd(side, flags, qlen);
	dt_ok(dat_evd_query(side->recv, DAT_EVD_FIELD_ALL, &evd));
	dt_ok(dat_ep_query(side->ep, DAT_EP_FIELD_ALL, &ep));
	dt_ok(dat_ep_free(side->ep));
	ep.ep_attr.max_recv_dtos = evd.evd_qlen + 2;
	side->ep = dt_ep(side, &ep.ep_attr);
	return evd.evd_qlen;
}

/* Sends a message of so many bytes, and waits until it has arrived. */
static inline void
deliver(struct dt_pair *pair, size_t length, DAT_UINT64 cookie)
{
	DAT_EVENT event;

	dt_recv(&pair->b, 0, 64, cookie);
	dt_send(&pair->a, 0, length, cookie);
	dt_expect_dto(pair->a.request, pair->a.ep, cookie, DAT_DTO_SUCCESS, &event);
}

#endif
