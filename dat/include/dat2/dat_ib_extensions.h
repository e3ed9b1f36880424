/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_ib_extensions.h -- what InfiniBand can do beyond DAT
 *
 * Atomics, immediate data, datagrams, counters, and the names of collectives.
 *
 * Every operation here goes through dat_extension_op().  A provider has it if its specific
 * attribute (dat_ia_query()) of the name below has the value "TRUE".
 * Numbers, layouts and names are those of version 209 of the OpenFabrics header.  A provider
 * answers an operation it has not with DAT_NOT_IMPLEMENTED or DAT_MODEL_NOT_SUPPORTED.
 *
 * A provider of Rearm has all of them but the collectives, which return DAT_MODEL_NOT_SUPPORTED.
 *
 * The macros convert their arguments to the types that dat_extension_op() passes on.
 *
 *	`ep`		the endpoint
 *	`cookie`	eight bytes, which the completion event returns: a DAT_CONTEXT
 *	`flags`		bits: DAT_COMPLETION_DEFAULT_FLAG, or DAT_COMPLETION_SUPPRESS_FLAG and
 *			others
 */
#ifndef _DAT_IB_EXTENSIONS_H_
#define _DAT_IB_EXTENSIONS_H_

#include <dat2/udat.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DAT_IB_EXTENSION_VERSION 209

/* Names of attributes. */
#define DAT_IB_ATTR_COUNTERS		"DAT_COUNTERS"
#define DAT_IB_ATTR_FETCH_AND_ADD	"DAT_IB_FETCH_AND_ADD"
#define DAT_IB_ATTR_CMP_AND_SWAP	"DAT_IB_CMP_AND_SWAP"
#define DAT_IB_ATTR_IMMED_DATA		"DAT_IB_IMMED_DATA"
#define DAT_IB_ATTR_UD			"DAT_IB_UD"
#define DAT_IB_COLL_SET_CLOCK		"DAT_COLL_SET_CLOCK"
#define DAT_IB_COLL_READ_CLOCK		"DAT_COLL_READ_CLOCK"
#define DAT_IB_COLL_BROADCAST		"DAT_COLL_BROADCAST"
#define DAT_IB_COLL_BARRIER		"DAT_COLL_BARRIER"
#define DAT_IB_COLL_SCATTER		"DAT_COLL_SCATTER"
#define DAT_IB_COLL_SCATTERV		"DAT_COLL_SCATTERV"
#define DAT_IB_COLL_GATHER		"DAT_COLL_GATHER"
#define DAT_IB_COLL_GATHERV		"DAT_COLL_GATHERV"
#define DAT_IB_COLL_ALLGATHER		"DAT_COLL_ALLGATHER"
#define DAT_IB_COLL_ALLGATHERV		"DAT_COLL_ALLGATHERV"
#define DAT_IB_COLL_ALLTOALL		"DAT_COLL_ALLTOALL"
#define DAT_IB_COLL_ALLTOALLV		"DAT_COLL_ALLTOALLV"
#define DAT_IB_COLL_REDUCE		"DAT_COLL_REDUCE"
#define DAT_IB_COLL_ALLREDUCE		"DAT_COLL_ALLREDUCE"
#define DAT_IB_COLL_REDUCE_SCATTER	"DAT_COLL_REDUCE_SCATTER"
#define DAT_IB_COLL_SCAN		"DAT_COLL_SCAN"

typedef DAT_HANDLE DAT_IB_COLLECTIVE_HANDLE;

/*
 * The data of these events is in event_data and, as DAT_IB_EXTENSION_EVENT_DATA, in
 * event_extension_data.
 */
typedef enum dat_ib_event_number {
	DAT_IB_DTO_EVENT = DAT_IB_EXTENSION_RANGE_BASE,
	DAT_IB_UD_CONNECTION_REQUEST_EVENT = 0x40001,
	DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED = 0x40002,
	DAT_IB_UD_CONNECTION_REJECT_EVENT = 0x40003,
	DAT_IB_UD_CONNECTION_ERROR_EVENT = 0x40004,
	DAT_IB_COLLECTIVE_EVENT = 0x40005
} DAT_IB_EVENT_NUMBER;

/* Operation numbers of dat_extension_op(). */
typedef enum dat_ib_op {
	DAT_IB_FETCH_AND_ADD_OP = 0,
	DAT_IB_CMP_AND_SWAP_OP = 1,
	DAT_IB_RDMA_WRITE_IMMED_OP = 2,
	DAT_IB_UD_SEND_OP = 3,
	DAT_IB_QUERY_COUNTERS_OP = 4,
	DAT_IB_PRINT_COUNTERS_OP = 5,
	DAT_IB_COLLECTIVE_CREATE_MEMBER_OP = 6,
	DAT_IB_COLLECTIVE_FREE_MEMBER_OP = 7,
	DAT_IB_COLLECTIVE_CREATE_GROUP_OP = 8,
	DAT_IB_COLLECTIVE_FREE_GROUP_OP = 9,
	DAT_IB_COLLECTIVE_SET_CLOCK_OP = 10,
	DAT_IB_COLLECTIVE_READ_CLOCK_OP = 11,
	DAT_IB_COLLECTIVE_SCATTER_OP = 12,
	DAT_IB_COLLECTIVE_SCATTERV_OP = 13,
	DAT_IB_COLLECTIVE_GATHER_OP = 14,
	DAT_IB_COLLECTIVE_GATHERV_OP = 15,
	DAT_IB_COLLECTIVE_ALLGATHER_OP = 16,
	DAT_IB_COLLECTIVE_ALLGATHERV_OP = 17,
	DAT_IB_COLLECTIVE_ALLTOALL_OP = 18,
	DAT_IB_COLLECTIVE_ALLTOALLV_OP = 19,
	DAT_IB_COLLECTIVE_REDUCE_OP = 20,
	DAT_IB_COLLECTIVE_ALLREDUCE_OP = 21,
	DAT_IB_COLLECTIVE_REDUCE_SCATTER_OP = 22,
	DAT_IB_COLLECTIVE_SCAN_OP = 23,
	DAT_IB_COLLECTIVE_BROADCAST_OP = 24,
	DAT_IB_COLLECTIVE_BARRIER_OP = 25,
	DAT_IB_START_COUNTERS_OP = 26,
	DAT_IB_STOP_COUNTERS_OP = 27,
	DAT_IB_UD_CM_FREE_OP = 28,
	DAT_IB_UD_AH_FREE_OP = 29,
	DAT_IB_OPEN_QUERY_OP = DAT_OPEN_EXTENSION_BASE,
	DAT_IB_CLOSE_QUERY_OP = DAT_CLOSE_EXTENSION_BASE
} DAT_IB_OP;

/* What an extension event reports. */
typedef enum dat_ib_ext_type {
	DAT_IB_FETCH_AND_ADD = 0,
	DAT_IB_CMP_AND_SWAP = 1,
	DAT_IB_RDMA_WRITE_IMMED = 2,
	DAT_IB_RDMA_WRITE_IMMED_DATA = 3,
	DAT_IB_RECV_IMMED_DATA = 4,
	DAT_IB_UD_CONNECT_REQUEST = 5,
	DAT_IB_UD_REMOTE_AH = 6,
	DAT_IB_UD_PASSIVE_REMOTE_AH = 7,
	DAT_IB_UD_SEND = 8,
	DAT_IB_UD_RECV = 9,
	DAT_IB_UD_CONNECT_REJECT = 10,
	DAT_IB_UD_CONNECT_ERROR = 11,
	DAT_IB_COLLECTIVE_CREATE_STATUS = 12,
	DAT_IB_COLLECTIVE_CREATE_DATA = 13,
	DAT_IB_COLLECTIVE_CLOCK_SET_STATUS = 14,
	DAT_IB_COLLECTIVE_SCATTER_STATUS = 15,
	DAT_IB_COLLECTIVE_SCATTERV_STATUS = 16,
	DAT_IB_COLLECTIVE_GATHER_STATUS = 17,
	DAT_IB_COLLECTIVE_GATHERV_STATUS = 18,
	DAT_IB_COLLECTIVE_ALLGATHER_STATUS = 19,
	DAT_IB_COLLECTIVE_ALLGATHERV_STATUS = 20,
	DAT_IB_COLLECTIVE_ALLTOALL_STATUS = 21,
	DAT_IB_COLLECTIVE_ALLTOALLV_STATUS = 22,
	DAT_IB_COLLECTIVE_REDUCE_STATUS = 23,
	DAT_IB_COLLECTIVE_ALLREDUCE_STATUS = 24,
	DAT_IB_COLLECTIVE_REDUCE_SCATTER_STATUS = 25,
	DAT_IB_COLLECTIVE_SCAN_STATUS = 26,
	DAT_IB_COLLECTIVE_BROADCAST_STATUS = 27,
	DAT_IB_COLLECTIVE_BARRIER_STATUS = 28
} DAT_IB_EXT_TYPE;

typedef enum dat_ib_status {
	DAT_OP_SUCCESS = DAT_SUCCESS,
	DAT_IB_OP_ERR = 1,
	DAT_IB_COLL_COMP_ERR = 2
} DAT_IB_STATUS;

typedef enum dat_ib_return {
	DAT_IB_ERR = DAT_EXTENSION_BASE,
	DAT_IB_COLLECTIVE_ERR = DAT_EXTENSION_BASE + 1
} DAT_IB_RETURN;

typedef enum dat_ib_dtos {
	DAT_IB_DTO_RDMA_WRITE_IMMED = DAT_DTO_EXTENSION_BASE,
	DAT_IB_DTO_RECV_IMMED = 9,
	DAT_IB_DTO_FETCH_ADD = 10,
	DAT_IB_DTO_CMP_SWAP = 11,
	DAT_IB_DTO_RECV_MSG_IMMED = 12,
	DAT_IB_DTO_SEND_UD = 13,
	DAT_IB_DTO_RECV_UD = 14,
	DAT_IB_DTO_RECV_UD_IMMED = 15,
	DAT_IB_DTO_COLLECTIVES = 16
} DAT_IB_DTOS;

typedef enum dat_ib_handle_type {
	DAT_IB_HANDLE_TYPE_EXT = DAT_HANDLE_TYPE_EXTENSION_BASE,
	DAT_IB_HANDLE_TYPE_COLLECTIVE = 13
} DAT_IB_HANDLE_TYPE;

typedef enum dat_ib_evd_extension_flags {
	DAT_IB_EVD_EXTENSION_FLAG = DAT_EVD_EXTENSION_BASE
} DAT_IB_EVD_EXTENSION_FLAGS;

typedef enum dat_ib_mem_priv_flags {
	DAT_IB_MEM_PRIV_REMOTE_ATOMIC = DAT_MEM_PRIV_EXTENSION_BASE
} DAT_IB_MEM_PRIV_FLAGS;

typedef enum dat_ib_service_type {
	DAT_IB_SERVICE_TYPE_UD = DAT_SERVICE_TYPE_EXTENSION_BASE
} DAT_IB_SERVICE_TYPE;

/* The address of a datagram endpoint. */
typedef struct dat_ib_addr_handle {
	struct ibv_ah *ah;
	DAT_UINT32 qpn;
	DAT_SOCK_ADDR6 ia_addr;
} DAT_IB_ADDR_HANDLE;

/* Immediate data, in the byte order of the sending host: providers do not swap it. */
typedef struct dat_ib_immed_data {
	DAT_UINT32 data;
} DAT_IB_IMMED_DATA;

typedef struct dat_ib_collective_event_data {
	DAT_HANDLE handle;
	DAT_CONTEXT context;
} DAT_IB_COLLECTIVE_EVENT_DATA;

/* Lies over event_extension_data of a DAT_EVENT: 64 bytes. */
typedef struct dat_ib_extension_event_data {
	DAT_IB_EXT_TYPE type;
	DAT_IB_STATUS status;
	union {
		DAT_IB_IMMED_DATA immed;
	} val;
	__extension__ union {
		DAT_IB_ADDR_HANDLE remote_ah;
		DAT_IB_COLLECTIVE_EVENT_DATA coll;
	};
	DAT_CONTEXT context;
} DAT_IB_EXTENSION_EVENT_DATA;

/*
 * Counters of an IA, an endpoint and an EVD.  The last of each list stands for all of them: its
 * value is their number.
 */
typedef enum dat_ia_counters {
	DCNT_IA_PZ_CREATE = 0,
	DCNT_IA_PZ_FREE = 1,
	DCNT_IA_LMR_CREATE = 2,
	DCNT_IA_LMR_FREE = 3,
	DCNT_IA_RMR_CREATE = 4,
	DCNT_IA_RMR_FREE = 5,
	DCNT_IA_PSP_CREATE = 6,
	DCNT_IA_PSP_CREATE_ANY = 7,
	DCNT_IA_PSP_FREE = 8,
	DCNT_IA_RSP_CREATE = 9,
	DCNT_IA_RSP_FREE = 10,
	DCNT_IA_EVD_CREATE = 11,
	DCNT_IA_EVD_FREE = 12,
	DCNT_IA_EP_CREATE = 13,
	DCNT_IA_EP_FREE = 14,
	DCNT_IA_SRQ_CREATE = 15,
	DCNT_IA_SRQ_FREE = 16,
	DCNT_IA_SP_CR = 17,
	DCNT_IA_SP_CR_ACCEPTED = 18,
	DCNT_IA_SP_CR_REJECTED = 19,
	DCNT_IA_MEM_ALLOC = 20,
	DCNT_IA_MEM_ALLOC_DATA = 21,
	DCNT_IA_MEM_FREE = 22,
	DCNT_IA_ASYNC_ERROR = 23,
	DCNT_IA_ASYNC_QP_ERROR = 24,
	DCNT_IA_ASYNC_CQ_ERROR = 25,
	DCNT_IA_CM_LISTEN = 26,
	DCNT_IA_CM_REQ_TX = 27,
	DCNT_IA_CM_REQ_RX = 28,
	DCNT_IA_CM_REP_TX = 29,
	DCNT_IA_CM_REP_RX = 30,
	DCNT_IA_CM_RTU_TX = 31,
	DCNT_IA_CM_RTU_RX = 32,
	DCNT_IA_CM_USER_REJ_TX = 33,
	DCNT_IA_CM_USER_REJ_RX = 34,
	DCNT_IA_CM_ACTIVE_EST = 35,
	DCNT_IA_CM_PASSIVE_EST = 36,
	DCNT_IA_CM_AH_REQ_TX = 37,
	DCNT_IA_CM_AH_REQ_RX = 38,
	DCNT_IA_CM_AH_RESOLVED = 39,
	DCNT_IA_CM_DREQ_TX = 40,
	DCNT_IA_CM_DREQ_RX = 41,
	DCNT_IA_CM_DREP_TX = 42,
	DCNT_IA_CM_DREP_RX = 43,
	DCNT_IA_CM_MRA_TX = 44,
	DCNT_IA_CM_MRA_RX = 45,
	DCNT_IA_CM_REQ_FULLQ_POLL = 46,
	DCNT_IA_CM_ERR = 47,
	DCNT_IA_CM_ERR_REQ_FULLQ = 48,
	DCNT_IA_CM_ERR_REQ_DUP = 49,
	DCNT_IA_CM_ERR_REQ_RETRY = 50,
	DCNT_IA_CM_ERR_REP_DUP = 51,
	DCNT_IA_CM_ERR_REP_RETRY = 52,
	DCNT_IA_CM_ERR_RTU_DUP = 53,
	DCNT_IA_CM_ERR_RTU_RETRY = 54,
	DCNT_IA_CM_ERR_REFUSED = 55,
	DCNT_IA_CM_ERR_RESET = 56,
	DCNT_IA_CM_ERR_TIMEOUT = 57,
	DCNT_IA_CM_ERR_REJ_TX = 58,
	DCNT_IA_CM_ERR_REJ_RX = 59,
	DCNT_IA_CM_ERR_DREQ_DUP = 60,
	DCNT_IA_CM_ERR_DREQ_RETRY = 61,
	DCNT_IA_CM_ERR_DREP_DUP = 62,
	DCNT_IA_CM_ERR_DREP_RETRY = 63,
	DCNT_IA_CM_ERR_MRA_DUP = 64,
	DCNT_IA_CM_ERR_MRA_RETRY = 65,
	DCNT_IA_CM_ERR_UNEXPECTED = 66,
	DCNT_IA_LNK_ERR_RCV = 67,
	DCNT_IA_LNK_ERR_RCV_REM_PHYS = 68,
	DCNT_IA_LNK_ERR_RCV_CONSTRAINT = 69,
	DCNT_IA_LNK_ERR_XMT_DISCARDS = 70,
	DCNT_IA_LNK_ERR_XMT_CONTRAINT = 71,
	DCNT_IA_LNK_ERR_INTEGRITY = 72,
	DCNT_IA_LNK_ERR_EXC_BUF_OVERRUN = 73,
	DCNT_IA_LNK_WARN_RCV_SW_RELAY = 74,
	DCNT_IA_LNK_WARN_XMT_WAIT = 75,
	DCNT_IA_DIAG_ERR_RQ_RAE = 76,
	DCNT_IA_DIAG_ERR_RQ_OOS = 77,
	DCNT_IA_DIAG_ERR_RQ_RIRE = 78,
	DCNT_IA_DIAG_ERR_RQ_UDSDPRD = 79,
	DCNT_IA_DIAG_ERR_SQ_RAE = 80,
	DCNT_IA_DIAG_ERR_SQ_OOS = 81,
	DCNT_IA_DIAG_ERR_SQ_RIRE = 82,
	DCNT_IA_DIAG_ERR_SQ_RREE = 83,
	DCNT_IA_DIAG_ERR_SQ_TREE = 84,
	DCNT_IA_ALL_COUNTERS = 85
} DAT_IA_COUNTERS;

typedef enum dat_ep_counters {
	DCNT_EP_CONNECT = 0,
	DCNT_EP_DISCONNECT = 1,
	DCNT_EP_POST_SEND = 2,
	DCNT_EP_POST_SEND_DATA = 3,
	DCNT_EP_POST_SEND_UD = 4,
	DCNT_EP_POST_SEND_UD_DATA = 5,
	DCNT_EP_POST_RECV = 6,
	DCNT_EP_POST_RECV_DATA = 7,
	DCNT_EP_POST_WRITE = 8,
	DCNT_EP_POST_WRITE_DATA = 9,
	DCNT_EP_POST_WRITE_IMM = 10,
	DCNT_EP_POST_WRITE_IMM_DATA = 11,
	DCNT_EP_POST_READ = 12,
	DCNT_EP_POST_READ_DATA = 13,
	DCNT_EP_POST_CMP_SWAP = 14,
	DCNT_EP_POST_FETCH_ADD = 15,
	DCNT_EP_RECV = 16,
	DCNT_EP_RECV_DATA = 17,
	DCNT_EP_RECV_UD = 18,
	DCNT_EP_RECV_UD_DATA = 19,
	DCNT_EP_RECV_IMM = 20,
	DCNT_EP_RECV_IMM_DATA = 21,
	DCNT_EP_RECV_RDMA_IMM = 22,
	DCNT_EP_RECV_RDMA_IMM_DATA = 23,
	DCNT_EP_ALL_COUNTERS = 24
} DAT_EP_COUNTERS;

typedef enum dat_evd_counters {
	DCNT_EVD_WAIT = 0,
	DCNT_EVD_WAIT_BLOCKED = 1,
	DCNT_EVD_WAIT_NOTIFY = 2,
	DCNT_EVD_DEQUEUE = 3,
	DCNT_EVD_DEQUEUE_FOUND = 4,
	DCNT_EVD_DEQUEUE_NOT_FOUND = 5,
	DCNT_EVD_DEQUEUE_POLL = 6,
	DCNT_EVD_DEQUEUE_POLL_FOUND = 7,
	DCNT_EVD_CONN_CALLBACK = 8,
	DCNT_EVD_DTO_CALLBACK = 9,
	DCNT_EVD_ALL_COUNTERS = 10
} DAT_EVD_COUNTERS;

/* Groups of IA counters that can be started and stopped. */
typedef enum dat_ia_counter_type {
	DCNT_IA_CM = 0,
	DCNT_IA_LNK = 1,
	DCNT_IA_DIAG = 2
} DAT_IA_COUNTER_TYPE;

typedef enum dat_ib_collective_data_type {
	DAT_IB_COLLECTIVE_TYPE_INT8 = 0,
	DAT_IB_COLLECTIVE_TYPE_UINT8 = 1,
	DAT_IB_COLLECTIVE_TYPE_INT16 = 2,
	DAT_IB_COLLECTIVE_TYPE_UINT16 = 3,
	DAT_IB_COLLECTIVE_TYPE_INT32 = 4,
	DAT_IB_COLLECTIVE_TYPE_UINT32 = 5,
	DAT_IB_COLLECTIVE_TYPE_INT64 = 6,
	DAT_IB_COLLECTIVE_TYPE_UINT64 = 7,
	DAT_IB_COLLECTIVE_TYPE_FLOAT = 8,
	DAT_IB_COLLECTIVE_TYPE_DOUBLE = 9,
	DAT_IB_COLLECTIVE_TYPE_LONG_DOUBLE = 10,
	DAT_IB_COLLECTIVE_TYPE_SHORT_INT = 11,
	DAT_IB_COLLECTIVE_TYPE_2INT = 12,
	DAT_IB_COLLECTIVE_TYPE_FLOAT_INT = 13,
	DAT_IB_COLLECTIVE_TYPE_LONG_INT = 14,
	DAT_IB_COLLECTIVE_TYPE_DOUBLE_INT = 15
} DAT_IB_COLLECTIVE_DATA_TYPE;

typedef enum dat_ib_collective_reduce_data_op {
	DAT_IB_COLLECTIVE_REDUCE_OP_MAX = 0,
	DAT_IB_COLLECTIVE_REDUCE_OP_MIN = 1,
	DAT_IB_COLLECTIVE_REDUCE_OP_SUM = 2,
	DAT_IB_COLLECTIVE_REDUCE_OP_PROD = 3,
	DAT_IB_COLLECTIVE_REDUCE_OP_LAND = 4,
	DAT_IB_COLLECTIVE_REDUCE_OP_BAND = 5,
	DAT_IB_COLLECTIVE_REDUCE_OP_LOR = 6,
	DAT_IB_COLLECTIVE_REDUCE_OP_BOR = 7,
	DAT_IB_COLLECTIVE_REDUCE_OP_LXOR = 8,
	DAT_IB_COLLECTIVE_REDUCE_OP_BXOR = 9,
	DAT_IB_COLLECTIVE_REDUCE_OP_MAXLOC = 10,
	DAT_IB_COLLECTIVE_REDUCE_OP_MINLOC = 11
} DAT_IB_COLLECTIVE_REDUCE_DATA_OP;

typedef unsigned int DAT_IB_COLLECTIVE_RANK;
typedef unsigned int DAT_IB_COLLECTIVE_ID;
typedef void *DAT_IB_COLLECTIVE_MEMBER;

typedef struct dat_ib_collective_group {
	int local_size;
	int local_rank;
	int *local_ranks;
	int external_size;
	int external_rank;
	int *external_ranks;
	int *intranode_table;
	int *internode_table;
	int is_comm_world;
} DAT_IB_COLLECTIVE_GROUP;

/*
 * Describes the return value of an extended operation: as dat_strerror(), without a second
 * sentence.
 *
 *	`value`		what an operation has returned
 *	`message`	output: the sentence
 *
 *	DAT_SUCCESS				the value is known
 *	DAT_INVALID_PARAMETER			the value is unknown; *message is set
 *
 * Threads: any.  From: headers.
 */
static inline DAT_RETURN
dat_strerror_extension(DAT_IB_RETURN value, const char **message)
{
	const char *minor;

	if ((DAT_UINT32)value == (DAT_UINT32)DAT_IB_COLLECTIVE_ERR) {
		*message = "A collective operation failed.";
		return DAT_SUCCESS;
	}
	if (DAT_GET_TYPE(value) == (DAT_UINT32)DAT_IB_ERR) {
		*message = "An InfiniBand extended operation failed.";
		return DAT_SUCCESS;
	}
	return dat_strerror((DAT_RETURN)value, message, &minor);
}

/*
 * Describes the status of an extension event with one sentence.
 *
 *	`value`		the status
 *	`message`	output: the sentence
 *
 *	DAT_SUCCESS				the value is known
 *	DAT_INVALID_PARAMETER			the value is unknown; *message is set
 *
 * Threads: any.  From: headers.
 */
static inline DAT_RETURN
dat_strerror_ext_status(DAT_IB_STATUS value, const char **message)
{
	switch ((int)value) {
	case DAT_OP_SUCCESS:
		*message = "The extended operation succeeded.";
		return DAT_SUCCESS;
	case DAT_IB_OP_ERR:
		*message = "The extended operation failed.";
		return DAT_SUCCESS;
	case DAT_IB_COLL_COMP_ERR:
		*message = "The collective operation failed.";
		return DAT_SUCCESS;
	default:
		*message = "unknown extension status";
		return DAT_INVALID_PARAMETER;
	}
}

/*
 * Changes 8 bytes of remote memory: adds to them, or exchanges them if they are equal to a value.
 *
 * The other side gets no event.  The old value arrives in local memory, in the byte order of the
 * device, before the request completes.  The provider has the operations if
 * DAT_IB_ATTR_FETCH_AND_ADD and DAT_IB_ATTR_CMP_AND_SWAP are "TRUE".  Argument numbers in return
 * codes count from the handle on, the number of the operation included.
 *
 *	`add`		what is added
 *	`cmp`		what the old value is compared with
 *	`swap`		the new value, if it was equal
 *	`lbuf`		8 bytes for the old value: address, length and lmr_context
 *	`rbuf`		the 8 bytes: address, a multiple of 8, length and rmr_context.  The region
 *			must allow DAT_IB_MEM_PRIV_REMOTE_ATOMIC
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint; /1: it is no object
 *	DAT_INVALID_PARAMETER/ARG4, ARG6	fetch_and_add: lbuf or rbuf is NULL
 *	DAT_INVALID_PARAMETER/ARG5, ARG7	cmp_and_swap: the same
 *	DAT_INVALID_PARAMETER/ARG7, ARG8	unknown flags: of fetch_and_add, of cmp_and_swap
 *	DAT_LENGTH_ERROR			the local or the remote memory has less than 8 bytes
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	the queue of the endpoint is full
 *	DAT_INVALID_STATE/EP_EVD_REQUEST	the endpoint has no request EVD
 *	DAT_INVALID_STATE/state			neither connected nor disconnected
 *	DAT_MODEL_NOT_SUPPORTED			the device has no atomics, or the endpoint is one
 *						for datagrams
 *
 * Threads: any.  From: headers.
 */
#define dat_ib_post_fetch_and_add(ep, add, lbuf, cookie, rbuf, flags) \
	dat_extension_op((DAT_EP_HANDLE)(ep), (DAT_IB_OP)DAT_IB_FETCH_AND_ADD_OP, \
		(DAT_UINT64)(add), (DAT_LMR_TRIPLET *)(lbuf), (cookie), (DAT_RMR_TRIPLET *)(rbuf), \
		(DAT_COMPLETION_FLAGS)(flags))

#define dat_ib_post_cmp_and_swap(ep, cmp, swap, lbuf, cookie, rbuf, flags) \
	dat_extension_op((DAT_EP_HANDLE)(ep), (DAT_IB_OP)DAT_IB_CMP_AND_SWAP_OP, \
		(DAT_UINT64)(cmp), (DAT_UINT64)(swap), (DAT_LMR_TRIPLET *)(lbuf), (cookie), \
		(DAT_RMR_TRIPLET *)(rbuf), (DAT_COMPLETION_FLAGS)(flags))

/*
 * Writes to remote memory with immediate data.
 *
 * As dat_ep_post_rdma_write(), but the other side gets the completion of a receive: a
 * DAT_IB_DTO_EVENT whose extension data has `idata`.  The buffer of that receive is not used.
 *
 *	`size`		the number of pieces in `lbuf`
 *	`lbuf`		the local memory: address, length in bytes, and lmr_context of each piece
 *	`rbuf`		the remote memory: address, length in bytes, and rmr_context
 *	`idata`		32 bits, in the byte order of this host; the provider does not swap them
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint; /1: it is no object
 *	DAT_INVALID_PARAMETER/ARG3		size is negative or more than the endpoint has
 *	DAT_INVALID_PARAMETER/ARG4		lbuf is NULL with pieces
 *	DAT_INVALID_PARAMETER/ARG6		rbuf is NULL
 *	DAT_INVALID_PARAMETER/ARG8		unknown flags
 *	DAT_LENGTH_ERROR			lbuf is longer than *rbuf, or longer than
 *						the adapter's largest message
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	the queue of the endpoint is full
 *	DAT_INVALID_STATE/EP_EVD_REQUEST	the endpoint has no request EVD
 *	DAT_INVALID_STATE/state			neither connected nor disconnected
 *	DAT_MODEL_NOT_SUPPORTED			the device has no immediate data (iWARP), or the
 *						endpoint is one for datagrams
 *
 * Threads: any.  From: headers.
 */
#define dat_ib_post_rdma_write_immed(ep, size, lbuf, cookie, rbuf, idata, flags) \
	dat_extension_op((DAT_EP_HANDLE)(ep), (DAT_IB_OP)DAT_IB_RDMA_WRITE_IMMED_OP, \
		(DAT_COUNT)(size), (DAT_LMR_TRIPLET *)(lbuf), (cookie), (DAT_RMR_TRIPLET *)(rbuf), \
		(DAT_UINT32)(idata), (DAT_COMPLETION_FLAGS)(flags))

/*
 * Sends a datagram to an address handle of the endpoint.  dat_ib_ud_ah_free() frees an address
 * handle.
 *
 * An endpoint whose attribute service_type is DAT_IB_SERVICE_TYPE_UD sends datagrams, of at most
 * one packet (max_message_size).  It gets address handles of others by dat_ep_connect(), any number
 * of times, and by accepting their requests; it is UNCONNECTED before the first, CONNECTED
 * afterwards.  Events, on the EVDs that connected endpoints use, with their private data:
 *
 *	UD_CONNECTION_REQUEST		as CONNECTION_REQUEST; only a datagram endpoint can accept
 *					it
 *	UD_CONNECTION_ESTABLISHED	type UD_REMOTE_AH after a connect, UD_PASSIVE_REMOTE_AH
 *					after an accept; remote_ah is an address handle, context is
 *					for dat_ib_ud_cm_free()
 *	UD_CONNECTION_REJECT, _ERROR	after a connect: its consumer rejected it; any other failure
 *
 * Datagrams may come before the event, and may be lost.  The first 40 bytes of a receive are not
 * the sender's; transfered_length counts them.  Completions are DAT_IB_DTO_EVENTs.  An address
 * handle is of use to its endpoint only; those that are left are freed with the endpoint, or when
 * it is reset, and with them the private data of their events.  That of a rejection is also given
 * up when 64 more of the endpoint's requests were rejected.  dat_ib_ud_cm_free() releases what the
 * connection manager needed to get an address handle; Rearm has nothing to release.
 *
 * A service point of the consumer's endpoints takes requests from the first datagram endpoint of
 * its adapter on; if another program has the port in the port space of datagrams, then
 * dat_psp_create() returns DAT_CONN_QUAL_IN_USE.
 *
 *	`lbuf`		the local memory: address, length in bytes, and lmr_context of each piece
 *	`segments`	the number of pieces in `lbuf`
 *	`ah`		an address handle of the endpoint
 *	`cm`		the context of the event that brought the address handle
 *
 *	DAT_SUCCESS				it is posted, or freed
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint; /1: it is no object
 *	DAT_INVALID_PARAMETER/ARG3		send_ud: segments is negative or more than the
 *						endpoint has; ud_ah_free: not an address handle of
 *						the endpoint; ud_cm_free: cm is NULL
 *	DAT_INVALID_PARAMETER/ARG4		lbuf is NULL with segments
 *	DAT_INVALID_PARAMETER/ARG5		send_ud: not an address handle of the endpoint
 *	DAT_INVALID_PARAMETER/ARG7		unknown flags
 *	DAT_LENGTH_ERROR			longer than a packet
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	the queue of the endpoint is full
 *	DAT_INVALID_STATE/state			the endpoint has no address yet
 *	DAT_MODEL_NOT_SUPPORTED			the endpoint is none for datagrams
 *
 * Threads: any.  From: headers.
 */
#define dat_ib_post_send_ud(ep, segments, lbuf, ah, cookie, flags) \
	dat_extension_op((DAT_EP_HANDLE)(ep), (DAT_IB_OP)DAT_IB_UD_SEND_OP, (DAT_COUNT)(segments), \
		(DAT_LMR_TRIPLET *)(lbuf), (DAT_IB_ADDR_HANDLE *)(ah), (cookie), \
		(DAT_COMPLETION_FLAGS)(flags))

#define dat_ib_post_recv_ud dat_ep_post_recv

#define dat_ib_ud_cm_free(ep, cm) \
	dat_extension_op((DAT_EP_HANDLE)(ep), (DAT_IB_OP)DAT_IB_UD_CM_FREE_OP, (cm))

#define dat_ib_ud_ah_free(ep, ah) \
	dat_extension_op((DAT_EP_HANDLE)(ep), (DAT_IB_OP)DAT_IB_UD_AH_FREE_OP, \
		(DAT_IB_ADDR_HANDLE *)(ah))

/*
 * Copies or prints counters of an IA, endpoint or EVD.
 *
 * A query copies the counter `which` to `out[which]`, or all of them.  dat_ib_print_counters()
 * prints them on standard output, one line for each.
 *
 * Rearm does not read the counters of the link and of the device, DCNT_IA_LNK_... and
 * DCNT_IA_DIAG_...: they stay 0.  What only the connection manager of the host
 * knows stays 0, too: repeated messages.  Posts are counted when the device has taken them, with
 * the bytes of their segments; receives when their events are taken.
 *
 *	`handle`	an IA, an endpoint or an EVD
 *	`which`		a counter of the object; or all: DCNT_IA_ALL_COUNTERS, DCNT_EP_ALL_COUNTERS,
 *			DCNT_EVD_ALL_COUNTERS
 *	`out`		output: memory for all counters of the object, 8 bytes each
 *	`reset`		not 0: those that were copied or printed count from 0 again
 *
 *	DAT_SUCCESS				done
 *	DAT_INVALID_HANDLE			not an IA, endpoint or EVD; /1: no object
 *	DAT_INVALID_PARAMETER/ARG3		no such counter of the object
 *	DAT_INVALID_PARAMETER/ARG4		out is NULL
 *
 * Threads: any.  From: headers.
 */
#define dat_ib_query_counters(handle, which, out, reset) \
	dat_extension_op((DAT_HANDLE)(handle), (DAT_IB_OP)DAT_IB_QUERY_COUNTERS_OP, (int)(which), \
		(DAT_UINT64 *)(out), (int)(reset))

#define dat_ib_print_counters(handle, which, reset) \
	dat_extension_op((DAT_HANDLE)(handle), (DAT_IB_OP)DAT_IB_PRINT_COUNTERS_OP, (int)(which), \
		(int)(reset))

/*
 * Starts or stops a group of counters of an IA.
 *
 * The counters of Rearm always run, so starting or stopping DCNT_IA_CM changes nothing.
 *
 *	`handle`	an IA
 *	`type`		a group of counters: DCNT_IA_CM, DCNT_IA_LNK or DCNT_IA_DIAG
 *
 *	DAT_SUCCESS				done
 *	DAT_INVALID_HANDLE/IA			no IA; /1: no object
 *	DAT_INVALID_PARAMETER/ARG3		no such group
 *	DAT_MODEL_NOT_SUPPORTED			the provider does not read that group
 *
 * Threads: any.  From: headers.
 */
#define dat_ib_start_counter(handle, type) \
	dat_extension_op((DAT_HANDLE)(handle), (DAT_IB_OP)DAT_IB_START_COUNTERS_OP, (int)(type))

#define dat_ib_stop_counter(handle, type) \
	dat_extension_op((DAT_HANDLE)(handle), (DAT_IB_OP)DAT_IB_STOP_COUNTERS_OP, (int)(type))

/*
 * Opens an IA by name for queries.
 *
 * dat_ib_open_query() opens the IA as dat_ia_open() does, with an asynchronous EVD that belongs to
 * the IA and that dat_ia_query() returns, and returns the attributes.  dat_ib_close_query() is
 * dat_ia_close() with DAT_CLOSE_ABRUPT_FLAG: it closes an IA however it was opened, and destroys
 * the objects of the IA.
 *
 *	`name`		the name of a line of dat.conf(5)
 *	`ia`		output: the handle of the IA; the IA to close
 *	`ia_mask`, `ia_attr`, `provider_mask`, `provider_attr`  as with dat_ia_query()
 *
 *	DAT_SUCCESS				the IA is open, or closed
 *	DAT_INVALID_HANDLE/1			close: ia is not an open IA
 *	DAT_INVALID_PARAMETER/ARG3, ARG4	name or ia is NULL, or the name too long; unknown
 *						bits in ia_mask, or ia_mask is set and ia_attr NULL
 *	DAT_INVALID_PARAMETER/ARG5, ARG6	unknown bits in provider_mask, or it is set and
 *						provider_attr NULL
 *	DAT_INVALID_PARAMETER/ARG1		the provider cannot read the parameters in the line
 *						of dat.conf
 *	DAT_PROVIDER_NOT_FOUND/NAME_NOT_REGISTERED
 *						there is no provider for the name
 *	DAT_INVALID_ADDRESS/UNSUPPORTED		as with dat_ia_openv()
 *	DAT_PRIVILEGES_VIOLATION		this user may not use the device
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory, or 65,535 IAs are open
 *	DAT_INSUFFICIENT_RESOURCES/DEVICE	the device has not enough resources
 *
 * Threads: any.  From: headers.
 */
#define dat_ib_open_query(name, ia, ia_mask, ia_attr, provider_mask, provider_attr) \
	dat_extension_op((DAT_HANDLE)(DAT_HANDLE_NULL), (DAT_IB_OP)DAT_IB_OPEN_QUERY_OP, \
		(DAT_NAME_PTR)(name), (DAT_HANDLE *)(ia), (DAT_IA_ATTR_MASK)(ia_mask), \
		(DAT_IA_ATTR *)(ia_attr), (DAT_PROVIDER_ATTR_MASK)(provider_mask), \
		(DAT_PROVIDER_ATTR *)(provider_attr))

#define dat_ib_close_query(ia) \
	dat_extension_op((DAT_HANDLE)(ia), (DAT_IB_OP)DAT_IB_CLOSE_QUERY_OP)

/*
 * Calls a collective operation, which no provider of Rearm has.
 *
 * The macros are here so that sources compile that use them where a provider has collectives.
 * A provider of Rearm has none of the attributes DAT_IB_COLL_BARRIER and so on.
 *
 *	`member`, `members`  a process as a member of groups; all members of a group
 *	`self`, `root`	the number of a member: this one; the one that sends to all, or gets from
 *			all
 *	`coll`, `id`, `info`  a group, its number, and where its members are
 *	`progress`	a function that makes progress
 *	`evd`, `pz`	the EVD for events of the group, and its protection zone
 *	`sendbuf`, `recvbuf`, `buf`  memory
 *	`sendsize`, `recvsize`, `sendsizes`, `recvsizes`, `size`  lengths in bytes; of create_group,
 *			the number of members; of create_member, output: the length of `member`
 *	`displs`, `senddispls`, `recvdispls`  offsets in bytes, one for each member
 *	`op`, `type`	what a reduction does, and the type of its operands
 *	`clock`		a time
 *	`context`	eight bytes, which the event returns
 *
 *	DAT_MODEL_NOT_SUPPORTED			a provider of Rearm has no collectives
 *
 * Threads: any.  From: headers.
 */
#define dat_ib_collective_create_member(ia, progress, member, size) \
	dat_extension_op((DAT_IA_HANDLE)(ia), (DAT_IB_OP)DAT_IB_COLLECTIVE_CREATE_MEMBER_OP, \
		(void *)(progress), (DAT_IB_COLLECTIVE_MEMBER *)(member), (DAT_UINT32 *)(size))

#define dat_ib_collective_free_member(ia, member) \
	dat_extension_op((DAT_IA_HANDLE)(ia), (DAT_IB_OP)DAT_IB_COLLECTIVE_FREE_MEMBER_OP, \
		(DAT_IB_COLLECTIVE_MEMBER)(member))

#define dat_ib_collective_create_group(members, size, self, id, info, evd, pz, context) \
	dat_extension_op((DAT_EVD_HANDLE)(evd), (DAT_IB_OP)DAT_IB_COLLECTIVE_CREATE_GROUP_OP, \
		(DAT_IB_COLLECTIVE_MEMBER *)(members), (DAT_COUNT)(size), \
		(DAT_IB_COLLECTIVE_RANK)(self), (DAT_IB_COLLECTIVE_ID)(id), \
		(DAT_IB_COLLECTIVE_GROUP *)(info), (DAT_PZ_HANDLE)(pz), (context))

#define dat_ib_collective_free_group(coll) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), \
		(DAT_IB_OP)DAT_IB_COLLECTIVE_FREE_GROUP_OP)

#define dat_ib_collective_set_clock(coll, clock, context) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), \
		(DAT_IB_OP)DAT_IB_COLLECTIVE_SET_CLOCK_OP, (DAT_UINT64)(clock), (context))

#define dat_ib_collective_read_clock(coll, clock) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), \
		(DAT_IB_OP)DAT_IB_COLLECTIVE_READ_CLOCK_OP, (DAT_UINT64 *)(clock))

#define dat_ib_collective_scatter(coll, sendbuf, sendsize, recvbuf, recvsize, root, context, \
		flags) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), \
		(DAT_IB_OP)DAT_IB_COLLECTIVE_SCATTER_OP, (DAT_PVOID)(sendbuf), \
		(DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
		(DAT_IB_COLLECTIVE_RANK)(root), (context), (DAT_COMPLETION_FLAGS)(flags))

#define dat_ib_collective_scatterv(coll, sendbuf, sendsizes, displs, recvbuf, recvsize, root, \
		context, flags) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), \
		(DAT_IB_OP)DAT_IB_COLLECTIVE_SCATTERV_OP, (DAT_PVOID)(sendbuf), \
		(DAT_COUNT *)(sendsizes), (DAT_COUNT *)(displs), (DAT_PVOID)(recvbuf), \
		(DAT_COUNT)(recvsize), (DAT_IB_COLLECTIVE_RANK)(root), (context), \
		(DAT_COMPLETION_FLAGS)(flags))

#define dat_ib_collective_gather(coll, sendbuf, sendsize, recvbuf, recvsize, root, context, \
		flags) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), (DAT_IB_OP)DAT_IB_COLLECTIVE_GATHER_OP, \
		(DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), \
		(DAT_COUNT)(recvsize), (DAT_IB_COLLECTIVE_RANK)(root), (context), \
		(DAT_COMPLETION_FLAGS)(flags))

#define dat_ib_collective_gatherv(coll, sendbuf, sendsize, recvbuf, recvsizes, displs, root, \
		context, flags) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), \
		(DAT_IB_OP)DAT_IB_COLLECTIVE_GATHERV_OP, (DAT_PVOID)(sendbuf), \
		(DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT *)(recvsizes), \
		(DAT_COUNT *)(displs), (DAT_IB_COLLECTIVE_RANK)(root), (context), \
		(DAT_COMPLETION_FLAGS)(flags))

#define dat_ib_collective_allgather(coll, sendbuf, sendsize, recvbuf, recvsize, context, flags) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), \
		(DAT_IB_OP)DAT_IB_COLLECTIVE_ALLGATHER_OP, (DAT_PVOID)(sendbuf), \
		(DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), (context), \
		(DAT_COMPLETION_FLAGS)(flags))

#define dat_ib_collective_allgatherv(coll, sendbuf, sendsize, recvbuf, recvsizes, displs, context, \
		flags) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), \
		(DAT_IB_OP)DAT_IB_COLLECTIVE_ALLGATHERV_OP, (DAT_PVOID)(sendbuf), \
		(DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT *)(recvsizes), \
		(DAT_COUNT *)(displs), (context), (DAT_COMPLETION_FLAGS)(flags))

#define dat_ib_collective_alltoall(coll, sendbuf, sendsize, recvbuf, recvsize, context, flags) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), \
		(DAT_IB_OP)DAT_IB_COLLECTIVE_ALLTOALL_OP, (DAT_PVOID)(sendbuf), \
		(DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), (context), \
		(DAT_COMPLETION_FLAGS)(flags))

#define dat_ib_collective_alltoallv(coll, sendbuf, sendsizes, senddispls, recvbuf, recvsizes, \
		recvdispls, context, flags) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), \
		(DAT_IB_OP)DAT_IB_COLLECTIVE_ALLTOALLV_OP, (DAT_PVOID)(sendbuf), \
		(DAT_COUNT *)(sendsizes), (DAT_COUNT *)(senddispls), (DAT_PVOID)(recvbuf), \
		(DAT_COUNT *)(recvsizes), (DAT_COUNT *)(recvdispls), (context), \
		(DAT_COMPLETION_FLAGS)(flags))

#define dat_ib_collective_reduce(coll, sendbuf, sendsize, recvbuf, recvsize, op, type, root, \
		context, flags) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), (DAT_IB_OP)DAT_IB_COLLECTIVE_REDUCE_OP, \
		(DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), \
		(DAT_COUNT)(recvsize), (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), \
		(DAT_IB_COLLECTIVE_DATA_TYPE)(type), (DAT_IB_COLLECTIVE_RANK)(root), (context), \
		(DAT_COMPLETION_FLAGS)(flags))

#define dat_ib_collective_allreduce(coll, sendbuf, sendsize, recvbuf, recvsize, op, type, context, \
		flags) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), \
		(DAT_IB_OP)DAT_IB_COLLECTIVE_ALLREDUCE_OP, (DAT_PVOID)(sendbuf), \
		(DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT)(recvsize), \
		(DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), (DAT_IB_COLLECTIVE_DATA_TYPE)(type), \
		(context), (DAT_COMPLETION_FLAGS)(flags))

#define dat_ib_collective_reduce_scatter(coll, sendbuf, sendsize, recvbuf, recvsizes, op, type, \
		context, flags) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), \
		(DAT_IB_OP)DAT_IB_COLLECTIVE_REDUCE_SCATTER_OP, (DAT_PVOID)(sendbuf), \
		(DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), (DAT_COUNT *)(recvsizes), \
		(DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), (DAT_IB_COLLECTIVE_DATA_TYPE)(type), \
		(context), (DAT_COMPLETION_FLAGS)(flags))

#define dat_ib_collective_scan(coll, sendbuf, sendsize, recvbuf, recvsize, op, type, context, \
		flags) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), (DAT_IB_OP)DAT_IB_COLLECTIVE_SCAN_OP, \
		(DAT_PVOID)(sendbuf), (DAT_COUNT)(sendsize), (DAT_PVOID)(recvbuf), \
		(DAT_COUNT)(recvsize), (DAT_IB_COLLECTIVE_REDUCE_DATA_OP)(op), \
		(DAT_IB_COLLECTIVE_DATA_TYPE)(type), (context), (DAT_COMPLETION_FLAGS)(flags))

#define dat_ib_collective_broadcast(coll, buf, size, root, context, flags) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), \
		(DAT_IB_OP)DAT_IB_COLLECTIVE_BROADCAST_OP, (DAT_PVOID)(buf), (DAT_COUNT)(size), \
		(DAT_IB_COLLECTIVE_RANK)(root), (context), (DAT_COMPLETION_FLAGS)(flags))

#define dat_ib_collective_barrier(coll, context, flags) \
	dat_extension_op((DAT_IB_COLLECTIVE_HANDLE)(coll), \
		(DAT_IB_OP)DAT_IB_COLLECTIVE_BARRIER_OP, (context), (DAT_COMPLETION_FLAGS)(flags))

/* Older names of the same. */
#define DAT_ATTR_COUNTERS     DAT_IB_ATTR_COUNTERS
#define dat_query_counters    dat_ib_query_counters
#define dat_print_counters    dat_ib_print_counters
#define DAT_QUERY_COUNTERS_OP DAT_IB_QUERY_COUNTERS_OP
#define DAT_PRINT_COUNTERS_OP DAT_IB_PRINT_COUNTERS_OP

#ifdef __cplusplus
}
#endif

#endif
