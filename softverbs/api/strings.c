/* SPDX-License-Identifier: BSD-3-Clause */
#include "softverbs/device/soft.h"

#include <rdma/rdma_cma.h>

#define NAME_OF(table, value) \
	((size_t)(value) < sizeof(table) / sizeof *(table) && (table)[value] ? (table)[value] : \
									       "unknown")

#define EVENT_NAME(event) [event] = #event

const char *
ibv_wc_status_str(enum ibv_wc_status status)
{
	static const char *const names[] = {
		[IBV_WC_SUCCESS] = "success",
		[IBV_WC_LOC_LEN_ERR] = "local length error",
		[IBV_WC_LOC_QP_OP_ERR] = "local QP operation error",
		[IBV_WC_LOC_EEC_OP_ERR] = "local EE context operation error",
		[IBV_WC_LOC_PROT_ERR] = "local protection error",
		[IBV_WC_WR_FLUSH_ERR] = "work request flushed",
		[IBV_WC_MW_BIND_ERR] = "memory window bind error",
		[IBV_WC_BAD_RESP_ERR] = "bad response",
		[IBV_WC_LOC_ACCESS_ERR] = "local access error",
		[IBV_WC_REM_INV_REQ_ERR] = "remote side calls the request invalid",
		[IBV_WC_REM_ACCESS_ERR] = "remote access error",
		[IBV_WC_REM_OP_ERR] = "remote operation error",
		[IBV_WC_RETRY_EXC_ERR] = "no answer after all retries",
		[IBV_WC_RNR_RETRY_EXC_ERR] = "receiver not ready after all retries",
		[IBV_WC_LOC_RDD_VIOL_ERR] = "local RDD violation",
		[IBV_WC_REM_INV_RD_REQ_ERR] = "remote side calls the RD request invalid",
		[IBV_WC_REM_ABORT_ERR] = "remote side aborted",
		[IBV_WC_INV_EECN_ERR] = "invalid EE context number",
		[IBV_WC_INV_EEC_STATE_ERR] = "invalid EE context state",
		[IBV_WC_FATAL_ERR] = "fatal error",
		[IBV_WC_RESP_TIMEOUT_ERR] = "response timeout",
		[IBV_WC_GENERAL_ERR] = "general error",
		[IBV_WC_TM_ERR] = "tag matching error",
		[IBV_WC_TM_RNDV_INCOMPLETE] = "tag matching rendezvous incomplete",
	};

	return NAME_OF(names, status);
}

const char *
ibv_event_type_str(enum ibv_event_type event)
{
	static const char *const names[] = {
		[IBV_EVENT_CQ_ERR] = "CQ error",
		[IBV_EVENT_QP_FATAL] = "QP fatal error",
		[IBV_EVENT_QP_REQ_ERR] = "QP invalid request",
		[IBV_EVENT_QP_ACCESS_ERR] = "QP access violation",
		[IBV_EVENT_COMM_EST] = "communication established",
		[IBV_EVENT_SQ_DRAINED] = "send queue drained",
		[IBV_EVENT_PATH_MIG] = "path migrated",
		[IBV_EVENT_PATH_MIG_ERR] = "path migration failed",
		[IBV_EVENT_DEVICE_FATAL] = "device fatal error",
		[IBV_EVENT_PORT_ACTIVE] = "port active",
		[IBV_EVENT_PORT_ERR] = "port down",
		[IBV_EVENT_LID_CHANGE] = "LID changed",
		[IBV_EVENT_PKEY_CHANGE] = "P_Key table changed",
		[IBV_EVENT_SM_CHANGE] = "subnet manager changed",
		[IBV_EVENT_SRQ_ERR] = "SRQ error",
		[IBV_EVENT_SRQ_LIMIT_REACHED] = "SRQ limit reached",
		[IBV_EVENT_QP_LAST_WQE_REACHED] = "last WQE of the SRQ reached",
		[IBV_EVENT_CLIENT_REREGISTER] = "client must register again",
		[IBV_EVENT_GID_CHANGE] = "GID table changed",
		[IBV_EVENT_WQ_FATAL] = "WQ fatal error",
	};

	return NAME_OF(names, event);
}

const char *
ibv_node_type_str(enum ibv_node_type type)
{
	static const char *const names[] = {
		[IBV_NODE_CA] = "channel adapter",
		[IBV_NODE_SWITCH] = "switch",
		[IBV_NODE_ROUTER] = "router",
		[IBV_NODE_RNIC] = "iWARP adapter",
		[IBV_NODE_USNIC] = "usNIC",
		[IBV_NODE_USNIC_UDP] = "usNIC over UDP",
		[IBV_NODE_UNSPECIFIED] = "unspecified",
	};

	return NAME_OF(names, type);
}

const char *
ibv_port_state_str(enum ibv_port_state state)
{
	static const char *const names[] = {
		[IBV_PORT_NOP] = "no change",
		[IBV_PORT_DOWN] = "down",
		[IBV_PORT_INIT] = "initializing",
		[IBV_PORT_ARMED] = "armed",
		[IBV_PORT_ACTIVE] = "active",
		[IBV_PORT_ACTIVE_DEFER] = "active, deferred",
	};

	return NAME_OF(names, state);
}

const char *
rdma_event_str(enum rdma_cm_event_type event)
{
	static const char *const names[] = {
		EVENT_NAME(RDMA_CM_EVENT_ADDR_RESOLVED),
		EVENT_NAME(RDMA_CM_EVENT_ADDR_ERROR),
		EVENT_NAME(RDMA_CM_EVENT_ROUTE_RESOLVED),
		EVENT_NAME(RDMA_CM_EVENT_ROUTE_ERROR),
		EVENT_NAME(RDMA_CM_EVENT_CONNECT_REQUEST),
		EVENT_NAME(RDMA_CM_EVENT_CONNECT_RESPONSE),
		EVENT_NAME(RDMA_CM_EVENT_CONNECT_ERROR),
		EVENT_NAME(RDMA_CM_EVENT_UNREACHABLE),
		EVENT_NAME(RDMA_CM_EVENT_REJECTED),
		EVENT_NAME(RDMA_CM_EVENT_ESTABLISHED),
		EVENT_NAME(RDMA_CM_EVENT_DISCONNECTED),
		EVENT_NAME(RDMA_CM_EVENT_DEVICE_REMOVAL),
		EVENT_NAME(RDMA_CM_EVENT_MULTICAST_JOIN),
		EVENT_NAME(RDMA_CM_EVENT_MULTICAST_ERROR),
		EVENT_NAME(RDMA_CM_EVENT_ADDR_CHANGE),
		EVENT_NAME(RDMA_CM_EVENT_TIMEWAIT_EXIT),
	};

	return NAME_OF(names, event);
}
