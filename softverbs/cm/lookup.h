/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lookup -- what ids of the port space of datagrams do: they ask a service for its queue pair
 *
 * A request is answered once, with a queue pair or with a refusal; there is no connection.  The
 * number and the key of the queue pair, and the way to it, come with the event.
 */
#ifndef SOFT_CM_LOOKUP_H
#define SOFT_CM_LOOKUP_H

#include "cm.h"

/* Private data is padded to these sizes. */
#define SOFT_CM_LOOKUP_DATA 180
#define SOFT_CM_FOUND_DATA 136

/* Why a request was refused, as consumers see it in the status of the event. */
#define SOFT_CM_LOOKUP_NO_SERVICE 1
#define SOFT_CM_LOOKUP_REFUSED 2

static inline bool
soft_id_is_datagram(const struct soft_id *id)
{
	return id->public.ps == RDMA_PS_UDP;
}

/* The private data of a REQ that an id of this port space may have. */
static inline uint8_t
soft_cm_request_data(unsigned int port_space)
{
	if (port_space == RDMA_PS_UDP)
		return SOFT_CM_LOOKUP_DATA;
	return port_space == RDMA_PS_IB ? SOFT_CM_REQ_DATA_IB : SOFT_CM_REQ_DATA;
}

/* The parameters of an event.  `answer`: of a message that answers a request. */
void soft_lookup_fill_event(const struct soft_id *id, struct soft_event *event,
    const struct soft_cm_message *message, bool answer);

/* The answer to a request came. */
void soft_lookup_found(struct soft_id *id, const struct soft_cm_message *reply)
    REQUIRES(soft_locks.cm);
void soft_lookup_refused(struct soft_id *id, const struct soft_cm_message *rejection)
    REQUIRES(soft_locks.cm);

#endif
