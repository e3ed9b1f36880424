/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/trace/name.h"

#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

const char *
dapl_name_ep_state(DAT_EP_STATE state)
{
#define STATE(name) [DAT_EP_STATE_##name] = #name
	static const char *const names[DAPL_EP_STATES] = {
		STATE(UNCONNECTED),
		STATE(UNCONFIGURED_UNCONNECTED),
		STATE(RESERVED),
		STATE(UNCONFIGURED_RESERVED),
		STATE(PASSIVE_CONNECTION_PENDING),
		STATE(UNCONFIGURED_PASSIVE),
		STATE(ACTIVE_CONNECTION_PENDING),
		STATE(TENTATIVE_CONNECTION_PENDING),
		STATE(UNCONFIGURED_TENTATIVE),
		STATE(CONNECTED),
		STATE(DISCONNECT_PENDING),
		STATE(DISCONNECTED),
		STATE(COMPLETION_PENDING),
		STATE(CONNECTED_SINGLE_PATH),
		STATE(CONNECTED_MULTI_PATH),
	};
#undef STATE

	return (unsigned int)state < COUNT(names) ? names[state] : NULL;
}

const char *
dapl_name_ep_happening(enum dapl_ep_happening what)
{
	static const char *const names[DAPL_EP_HAPPENINGS] = {
		[DAPL_EP_IS_ASKED] = "is requested at its reserved service point",
		[DAPL_EP_IS_ESTABLISHED] = "is established",
		[DAPL_EP_IS_REJECTED_BY_PEER] = "is rejected by the consumer at the other end",
		[DAPL_EP_IS_REJECTED] =
		    "is rejected by the transport, not by the consumer at the other end",
		[DAPL_EP_IS_UNREACHABLE] = "cannot be made: the target is unreachable",
		[DAPL_EP_HAS_FAILED] = "cannot be set up",
		[DAPL_EP_HAS_TIMED_OUT] = "is not established within the timeout",
		[DAPL_EP_IS_DISCONNECTED] = "is disconnected by the other end",
		[DAPL_EP_DISCONNECTS] = "is disconnected by this end",
		[DAPL_EP_IS_BROKEN] = "breaks",
	};

	return (unsigned int)what < COUNT(names) ? names[what] : NULL;
}

const char *
dapl_name_cm_event(enum rdma_cm_event_type type)
{
#define CM(name) [RDMA_CM_EVENT_##name] = #name
	static const char *const names[DAPL_CM_EVENTS] = {
		CM(ADDR_RESOLVED),
		CM(ADDR_ERROR),
		CM(ROUTE_RESOLVED),
		CM(ROUTE_ERROR),
		CM(CONNECT_REQUEST),
		CM(CONNECT_RESPONSE),
		CM(CONNECT_ERROR),
		CM(UNREACHABLE),
		CM(REJECTED),
		CM(ESTABLISHED),
		CM(DISCONNECTED),
		CM(DEVICE_REMOVAL),
		CM(MULTICAST_JOIN),
		CM(MULTICAST_ERROR),
		CM(ADDR_CHANGE),
		CM(TIMEWAIT_EXIT),
	};
#undef CM

	return (unsigned int)type < COUNT(names) ? names[type] : NULL;
}
