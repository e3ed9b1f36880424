/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/state/cm_event.h"

#define HAPPENS(what) \
	{ \
		DAPL_CM_HAPPENS, DAPL_EP_##what \
	}

/* Events that are not listed change nothing; multicast events belong to no endpoint. */
static const struct dapl_cm_meaning cm_meanings[DAPL_CM_EVENTS] = {
	[RDMA_CM_EVENT_ADDR_RESOLVED] = { .sense = DAPL_CM_HAS_ADDRESS },
	[RDMA_CM_EVENT_ADDR_ERROR] = { .sense = DAPL_CM_HAS_NEITHER },
	[RDMA_CM_EVENT_ROUTE_RESOLVED] = { .sense = DAPL_CM_HAS_ROUTE },
	[RDMA_CM_EVENT_ROUTE_ERROR] = { .sense = DAPL_CM_HAS_NEITHER },
	[RDMA_CM_EVENT_ESTABLISHED] = HAPPENS(IS_ESTABLISHED),
	[RDMA_CM_EVENT_REJECTED] = { .sense = DAPL_CM_REJECTED },
	[RDMA_CM_EVENT_UNREACHABLE] = HAPPENS(IS_UNREACHABLE),
	[RDMA_CM_EVENT_CONNECT_ERROR] = HAPPENS(HAS_FAILED),
	[RDMA_CM_EVENT_DISCONNECTED] = HAPPENS(IS_DISCONNECTED),
	[RDMA_CM_EVENT_DEVICE_REMOVAL] = HAPPENS(IS_BROKEN),
};

const struct dapl_cm_meaning *
dapl_cm_meaning(enum rdma_cm_event_type type)
{
	static const struct dapl_cm_meaning none = { .sense = DAPL_CM_MEANS_NOTHING };

	return (unsigned int)type < DAPL_CM_EVENTS ? &cm_meanings[type] : &none;
}
