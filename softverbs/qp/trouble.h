/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trouble -- what queue pairs do while messages do not pass (device/changes.h)
 *
 * Nothing that was put on a link is taken back, so a message is stopped where it is begun.  A
 * requester whose requests do not arrive waits as for a peer that is not connected: it tries again
 * until its retries are used up.  A responder that does not get requests refuses them as one that
 * is not connected; one whose answers do not arrive keeps them.  When the trouble is over, heal.h
 * lets all go on.  What was on its way when it began arrives.
 */
#ifndef SOFT_TROUBLE_H
#define SOFT_TROUBLE_H

#include "qp.h"
#include "softverbs/device/changes.h"

/* Whether the connection is one to an address that has changed since it was made. */
bool soft_trouble_is_lost(const struct soft_qp *qp);

/* Whether the requests of a queue pair do not leave; its send lock is held. */
static inline bool
soft_trouble_holds_requests(const struct soft_qp *qp) REQUIRES(soft_locks.send)
{
	const unsigned int now = soft_troubles(SOFT_TROUBLE_NO_OUTPUT | SOFT_TROUBLE_MOVED);

	return __builtin_expect(now, 0) &&
	       (now & SOFT_TROUBLE_DOWN || (now & SOFT_TROUBLE_NO_OUTPUT && qp->sq.remote) ||
		   (now & SOFT_TROUBLE_MOVED && soft_trouble_is_lost(qp)));
}

/* Whether requests do not come to it; its receive lock is held.  `remote`: of other processes. */
static inline bool
soft_trouble_refuses(const struct soft_qp *qp, bool remote) REQUIRES(soft_locks.receive)
{
	const unsigned int now = soft_troubles(SOFT_TROUBLE_NO_INPUT | SOFT_TROUBLE_MOVED);

	return __builtin_expect(now, 0) &&
	       (now & SOFT_TROUBLE_DOWN || (now & SOFT_TROUBLE_NO_INPUT && remote) ||
		   (now & SOFT_TROUBLE_MOVED && soft_trouble_is_lost(qp)));
}

/* Whether the request is not to be executed yet, since messages take longer: then it stalls. */
bool soft_trouble_delays(struct soft_qp *qp, struct soft_send *send) REQUIRES(soft_locks.send);

#endif
