/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm_event -- what each event of the connection manager means to an endpoint, as a table
 */
#ifndef REARM_DAPL_CM_EVENT_H
#define REARM_DAPL_CM_EVENT_H

#include <rdma/rdma_cma.h>

#include "dapl/state/ep_state.h"

#define DAPL_CM_EVENTS (RDMA_CM_EVENT_TIMEWAIT_EXIT + 1)

enum dapl_cm_sense {
	DAPL_CM_MEANS_NOTHING,
	DAPL_CM_HAS_ADDRESS, /* next: resolve the route */
	DAPL_CM_HAS_ROUTE,   /* next: send the request */
	DAPL_CM_HAS_NEITHER, /* try again, or give up as unreachable */
	DAPL_CM_REJECTED,    /* the private data shows whether a consumer did it */
	DAPL_CM_HAPPENS,     /* `what` happened to the connection */
};

struct dapl_cm_meaning {
	enum dapl_cm_sense sense;
	enum dapl_ep_happening what;
};

/* Never NULL, also for unknown events. */
const struct dapl_cm_meaning *dapl_cm_meaning(enum rdma_cm_event_type type);

#endif
