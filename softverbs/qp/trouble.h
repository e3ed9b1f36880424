/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trouble -- what queue pairs do while messages do not pass (device/changes.h)
 *
 * Nothing that was put on a link is taken back, so a message is stopped where it is begun.  A
 * requester whose requests do not arrive waits as for a peer that is not connected: it tries again
 * until its retries are used up.  A responder that does not get requests refuses them as one that
 * is not connected; one whose answers do not arrive keeps them, and so does a requester that does
 * not get them (held.h).  When the trouble is over, heal.h lets all go on.
 */
#ifndef SOFT_TROUBLE_H
#define SOFT_TROUBLE_H

#include "qp.h"
#include "softverbs/device/changes.h"

/* How often the addresses of its port and of the one of its peer have changed. */
uint32_t soft_trouble_moves(const struct soft_qp *qp);

/* Whether the connection is one to an address that has changed since it was made. */
bool soft_trouble_is_lost(const struct soft_qp *qp);

/* Whether its port is down. */
static inline bool
soft_trouble_is_down(const struct soft_qp *qp)
{
	return __builtin_expect(soft_troubles(SOFT_TROUBLE_DOWN), 0) && qp->port &&
	       soft_port_is_down(qp->port);
}

/* Whether nothing passes that way between it and the process at the slot. */
bool soft_trouble_stops(const struct soft_qp *qp, unsigned int way, unsigned int slot);

/* Whether the requests of a queue pair do not leave; its send lock is held. */
static inline bool
soft_trouble_holds_requests(const struct soft_qp *qp) REQUIRES(soft_locks.send)
{
	return __builtin_expect(
		   soft_troubles(SOFT_TROUBLE_DOWN | SOFT_TROUBLE_OUT | SOFT_TROUBLE_MOVED), 0) &&
	       soft_trouble_stops(qp, SOFT_TROUBLE_OUT, soft_qpn_slot(qp->attr.dest_qp_num));
}

/* Whether requests of the process at the slot do not come to it; its receive lock is held. */
static inline bool
soft_trouble_refuses(const struct soft_qp *qp, unsigned int slot) REQUIRES(soft_locks.receive)
{
	return __builtin_expect(
		   soft_troubles(SOFT_TROUBLE_DOWN | SOFT_TROUBLE_IN | SOFT_TROUBLE_MOVED), 0) &&
	       soft_trouble_stops(qp, SOFT_TROUBLE_IN, slot);
}

/* Whether the request is not to be executed yet, since messages take longer: then it stalls. */
bool soft_trouble_delays(struct soft_qp *qp, struct soft_send *send) REQUIRES(soft_locks.send);

#endif
