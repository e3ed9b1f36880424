/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat.h -- the types that uDAPL and kDAPL share
 *
 * Programs include dat2/udat.h, which includes this file; including it alone does the same.
 * Sizes, offsets and values are those of DAT 2.0 as OpenFabrics ships it: programs and
 * providers compiled against either set of headers work together.
 *
 * Units: a DAT_TIMEOUT is in microseconds, a length in bytes, a DAT_COUNT is a number of things;
 * the size of private data is in bytes.
 *
 * A DAT_EVENT is what dat_evd_wait() and dat_evd_dequeue() return and an upcall gets.  Its
 * event_number says which member of event_data is set:
 *
 *	DAT_DTO_COMPLETION_EVENT		dto_completion_event_data: a send, receive, RDMA
 *						read or RDMA write has completed, with its `status`
 *	DAT_RMR_BIND_COMPLETION_EVENT		rmr_completion_event_data: a dat_rmr_bind() has
 *						completed
 *	DAT_CONNECTION_REQUEST_EVENT		cr_arrival_event_data: a client wants to connect;
 *						answer by dat_cr_accept() or dat_cr_reject()
 *	DAT_CONNECTION_EVENT_ESTABLISHED	connect_event_data: the connection stands; the
 *						client gets the private data of dat_cr_accept()
 *	DAT_CONNECTION_EVENT_PEER_REJECTED	connect_event_data: the server called
 *						dat_cr_reject(), with its private data
 *	DAT_CONNECTION_EVENT_NON_PEER_REJECTED	connect_event_data: no program listens there, or its
 *						EVD had no room
 *	DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR	connect_event_data: the client had gone
 *						before its request was accepted
 *	DAT_CONNECTION_EVENT_DISCONNECTED	connect_event_data: either side has disconnected
 *	DAT_CONNECTION_EVENT_BROKEN		connect_event_data: the connection has failed
 *	DAT_CONNECTION_EVENT_TIMED_OUT		connect_event_data: the timeout of dat_ep_connect()
 *						has passed
 *	DAT_CONNECTION_EVENT_UNREACHABLE	connect_event_data: the address cannot be reached
 *	DAT_ASYNC_ERROR_EVD_OVERFLOW		asynch_error_event_data: an EVD was full and has
 *						lost an event; its handle
 *	DAT_ASYNC_ERROR_IA_CATASTROPHIC		asynch_error_event_data: the device is gone or has
 *						failed, or, by `reason`, its port is down; the
 *						handle of the adapter
 *	DAT_ASYNC_ERROR_EP_BROKEN		asynch_error_event_data: an endpoint has failed; its
 *						handle.  Also, with the handle of a shared receive
 *						queue, that the queue has failed, or that fewer
 *						buffers are left than dat_srq_set_lw() wants: see
 *						`reason`
 *	DAT_ASYNC_ERROR_TIMED_OUT		asynch_error_event_data: a provider of Rearm does
 *						not report it
 *	DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR	asynch_error_event_data: the device cannot be
 *						armed or polled for the upcalls or the CNO of an
 *						EVD, whose handle it has; the provider goes on
 *						trying
 *	DAT_HA_DOWN_TO_1			asynch_error_event_data: a provider of Rearm does
 *						not report it
 *	DAT_HA_UP_TO_MULTI_PATH			asynch_error_event_data: a provider of Rearm does
 *						not report it
 *	DAT_SOFTWARE_EVENT			software_event_data: dat_evd_post_se() was called
 *
 * Numbers from DAT_IB_EXTENSION_RANGE_BASE on are those of dat_ib_extensions.h.
 *
 * The members of a DAT_EVENT and of its event_data:
 *
 *	`event_number`		which event it is
 *	`evd_handle`		the EVD that it was in
 *	`event_data`		a union: one of the members below
 *	`event_extension_data`	of an extension: dat_ib_extensions.h
 *	`dto_completion_event_data`	a DAT_DTO_COMPLETION_EVENT_DATA
 *	`rmr_completion_event_data`	a DAT_RMR_BIND_COMPLETION_EVENT_DATA
 *	`cr_arrival_event_data`	a DAT_CR_ARRIVAL_EVENT_DATA
 *	`connect_event_data`	a DAT_CONNECTION_EVENT_DATA
 *	`asynch_error_event_data`	a DAT_ASYNCH_ERROR_EVENT_DATA
 *	`software_event_data`	a DAT_SOFTWARE_EVENT_DATA
 *	`ep_handle`		the endpoint
 *	`user_cookie`		the cookie of the call that posted the request
 *	`status`		DAT_DTO_SUCCESS, or why it failed.  Then only this, ep_handle or
 *				rmr_handle, and user_cookie are valid.  dat_dto_status_str() has its
 *				name
 *	`transfered_length`	bytes: of a receive or read what arrived, else what was posted
 *	`operation`		DAT_DTO_SEND, DAT_DTO_RECEIVE, DAT_DTO_RDMA_WRITE,
 *				DAT_DTO_RDMA_READ, ...
 *	`rmr_context`		of a receive of a message that ended a remote context
 *				(dat_ep_post_send_with_invalidate()): this context; else 0
 *	`rmr_handle`		the region that was bound
 *	`sp_handle`		the service point: psp_handle, rsp_handle or csp_handle, as it was
 *				created
 *	`local_ia_address_ptr`	the address of the adapter that the client has called
 *	`conn_qual`		the qualifier (port) that it has called
 *	`cr_handle`		the request, for dat_cr_query(), dat_cr_accept() and dat_cr_reject()
 *	`truncate_flag`		DAT_TRUE: the private data was cut to fit
 *	`private_data_size`	bytes of private data; 0 is none
 *	`private_data`		what the other side sent; valid until the endpoint is reset or freed
 *	`dat_handle`		the object that the error is about
 *	`reason`		a value for its kind of object, such as DAT_EVD_OVERFLOW_ERROR,
 *				DAT_EP_TRANSFER_TO_ERROR or DAT_SRQ_LOW_WATERMARK_EVENT
 *	`pointer`		what dat_evd_post_se() was given
 */
#include <dat2/udat.h>

#ifndef _DAT_H_
#define _DAT_H_

#include <dat2/dat_error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef const char *DAT_NAME_PTR;
#define DAT_NAME_MAX_LENGTH 256		/* with the terminating NUL */

/* A name and its value, both text. */
typedef struct dat_named_attr {
	const char *name;
	const char *value;
} DAT_NAMED_ATTR;

typedef enum dat_boolean {
	DAT_FALSE = 0,
	DAT_TRUE = 1
} DAT_BOOLEAN;

#ifdef DAT_EXTENSIONS
#define DAT_IB_EXTENSION 1
#define DAT_IW_EXTENSION 2
#endif

/* How several paths share the load of one connection. */
typedef DAT_UINT32 DAT_HA_LB;
#define DAT_HA_LB_NONE	    ((DAT_HA_LB)0)
#define DAT_HA_LB_INTERCOMM ((DAT_HA_LB)1)	/* between connections */
#define DAT_HA_LB_INTRACOMM ((DAT_HA_LB)2)	/* within a connection */

/* Eight bytes of the consumer, which the provider stores and returns. */
typedef union dat_context {
	DAT_PVOID as_ptr;
	DAT_UINT64 as_64;
	DAT_UVERYLONG as_index;
} DAT_CONTEXT;

typedef DAT_CONTEXT DAT_DTO_COOKIE;
typedef DAT_CONTEXT DAT_RMR_COOKIE;

typedef DAT_UINT32 DAT_TIMEOUT;		/* microseconds, from the call on */
#define DAT_TIMEOUT_INFINITE ((DAT_TIMEOUT)~0)

/*
 * The handle of an IA is a small integer that the registry assigns.  Every other handle points to
 * memory of the provider, whose first word is the address of the provider's function table.
 */
typedef DAT_PVOID DAT_HANDLE;
typedef DAT_HANDLE DAT_CR_HANDLE;	/* connection request */
typedef DAT_HANDLE DAT_EP_HANDLE;	/* endpoint */
typedef DAT_HANDLE DAT_EVD_HANDLE;	/* event dispatcher */
typedef DAT_HANDLE DAT_IA_HANDLE;	/* interface adapter */
typedef DAT_HANDLE DAT_LMR_HANDLE;	/* local memory region */
typedef DAT_HANDLE DAT_PSP_HANDLE;	/* public service point */
typedef DAT_HANDLE DAT_PZ_HANDLE;	/* protection zone */
typedef DAT_HANDLE DAT_RMR_HANDLE;	/* remote memory region */
typedef DAT_HANDLE DAT_RSP_HANDLE;	/* reserved service point */
typedef DAT_HANDLE DAT_SRQ_HANDLE;	/* shared receive queue */
typedef DAT_HANDLE DAT_CSP_HANDLE;	/* common service point */
#define DAT_HANDLE_NULL ((DAT_HANDLE)NULL)

typedef DAT_SOCK_ADDR *DAT_IA_ADDRESS_PTR;
typedef DAT_UINT64 DAT_CONN_QUAL;	/* the port number of a service point */
typedef DAT_UINT64 DAT_PORT_QUAL;

typedef DAT_UINT32 DAT_LMR_CONTEXT;	/* names a region in a local segment */
typedef DAT_UINT32 DAT_RMR_CONTEXT;	/* names a region to the remote side */
typedef DAT_UINT64 DAT_VLEN;
typedef DAT_UINT64 DAT_VADDR;
typedef DAT_UINT32 DAT_SEG_LENGTH;

/* Defined in udat.h: these differ between uDAPL and kDAPL. */
typedef struct dat_provider_attr DAT_PROVIDER_ATTR;
typedef struct dat_evd_param DAT_EVD_PARAM;
typedef struct dat_lmr_param DAT_LMR_PARAM;
typedef enum dat_lmr_param_mask DAT_LMR_PARAM_MASK;
typedef struct dat_ia_attr DAT_IA_ATTR;

/* Completion flags, of an endpoint and of a single request.  Several may be set. */
typedef enum dat_completion_flags {
	DAT_COMPLETION_DEFAULT_FLAG = 0x00,
	DAT_COMPLETION_SUPPRESS_FLAG = 0x01,		/* no event if it succeeds */
	DAT_COMPLETION_SOLICITED_WAIT_FLAG = 0x02,	/* wake the remote waiter */
	DAT_COMPLETION_UNSIGNALLED_FLAG = 0x04,		/* queue the event, wake no waiter */
	DAT_COMPLETION_BARRIER_FENCE_FLAG = 0x08,	/* start after earlier RDMA reads */
	DAT_COMPLETION_EVD_THRESHOLD_FLAG = 0x10,	/* waiters may give a threshold */
	DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG = 0x20	/* start after earlier invalidates */
} DAT_COMPLETION_FLAGS;

/* The operation that completed. */
typedef enum dat_dtos {
	DAT_DTO_SEND = 0,
	DAT_DTO_RDMA_WRITE = 1,
	DAT_DTO_RDMA_READ = 2,
	DAT_DTO_RECEIVE = 3,
	DAT_DTO_RECEIVE_WITH_INVALIDATE = 4,
	DAT_DTO_BIND_MW = 5,
	DAT_DTO_LMR_FMR = 6,
	DAT_DTO_LMR_INVALIDATE = 7
#ifdef DAT_EXTENSIONS
	,
	DAT_DTO_EXTENSION_BASE = 8
#endif
} DAT_DTOS;

typedef enum dat_qos {
	DAT_QOS_BEST_EFFORT = 0x00,
	DAT_QOS_HIGH_THROUGHPUT = 0x01,
	DAT_QOS_LOW_LATENCY = 0x02,
	DAT_QOS_ECONOMY = 0x04,
	DAT_QOS_PREMIUM = 0x08
} DAT_QOS;

/* Two names of one value: sources use either. */
#define DAT_CONNECT_MULTIPATH_REQUESTED_FLAG DAT_CONNECT_MULTIPATH_FLAG

typedef enum dat_connect_flags {
	DAT_CONNECT_DEFAULT_FLAG = 0x00,
	DAT_CONNECT_MULTIPATH_FLAG = 0x01,
	DAT_CONNECT_MULTIPATH_REQUIRED_FLAG = 0x02
} DAT_CONNECT_FLAGS;

typedef enum dat_close_flags {
	DAT_CLOSE_ABRUPT_FLAG = 0x00,
	DAT_CLOSE_GRACEFUL_FLAG = 0x01
} DAT_CLOSE_FLAGS;
#define DAT_CLOSE_DEFAULT DAT_CLOSE_ABRUPT_FLAG

/* The event streams that feed an EVD. */
typedef enum dat_evd_flags {
	DAT_EVD_SOFTWARE_FLAG = 0x001,
	DAT_EVD_CR_FLAG = 0x010,
	DAT_EVD_DTO_FLAG = 0x020,
	DAT_EVD_CONNECTION_FLAG = 0x040,
	DAT_EVD_RMR_BIND_FLAG = 0x080,
	DAT_EVD_ASYNC_FLAG = 0x100,
	DAT_EVD_DEFAULT_FLAG = 0x1f0		/* all but software events */
#ifdef DAT_EXTENSIONS
	,
	DAT_EVD_EXTENSION_BASE = 0x200
#endif
} DAT_EVD_FLAGS;

/* Who creates the endpoint that a connection request is accepted on. */
typedef enum dat_psp_flags {
	DAT_PSP_CONSUMER_FLAG = 0x00,
	DAT_PSP_PROVIDER_FLAG = 0x01
} DAT_PSP_FLAGS;

/* Part of a local region. */
typedef struct dat_lmr_triplet {
	DAT_VADDR virtual_address;
	DAT_SEG_LENGTH segment_length;
	DAT_LMR_CONTEXT lmr_context;
} DAT_LMR_TRIPLET;

/* Part of a region of the remote side; segment_length is the room there. */
typedef struct dat_rmr_triplet {
	DAT_VADDR virtual_address;
	DAT_SEG_LENGTH segment_length;
	DAT_RMR_CONTEXT rmr_context;
} DAT_RMR_TRIPLET;

typedef enum dat_mem_priv_flags {
	DAT_MEM_PRIV_NONE_FLAG = 0x00,
	DAT_MEM_PRIV_LOCAL_READ_FLAG = 0x01,
	DAT_MEM_PRIV_REMOTE_READ_FLAG = 0x02,
	DAT_MEM_PRIV_LOCAL_WRITE_FLAG = 0x10,
	DAT_MEM_PRIV_REMOTE_WRITE_FLAG = 0x20,
	DAT_MEM_PRIV_ALL_FLAG = 0x33
#ifdef DAT_EXTENSIONS
	,
	DAT_MEM_PRIV_EXTENSION_BASE = 0x40
#endif
} DAT_MEM_PRIV_FLAGS;

/* Local and remote at once; DAT 1.x had only these. */
#define DAT_MEM_PRIV_READ_FLAG	(DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG)
#define DAT_MEM_PRIV_WRITE_FLAG (DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG)

/* Where the addresses of a region start. */
typedef enum dat_va_type {
	DAT_VA_TYPE_VA = 0x0,			/* at the memory's own address */
	DAT_VA_TYPE_ZB = 0x1			/* at zero */
} DAT_VA_TYPE;

typedef enum dat_rmr_scope {
	DAT_RMR_SCOPE_EP = 0,			/* usable through one endpoint */
	DAT_RMR_SCOPE_PZ = 1,			/* usable through every endpoint of the zone */
	DAT_RMR_SCOPE_ANY = 2			/* both kinds are available */
} DAT_RMR_SCOPE;

typedef struct dat_rmr_param {
	DAT_IA_HANDLE ia_handle;
	DAT_PZ_HANDLE pz_handle;
	DAT_LMR_TRIPLET lmr_triplet;
	DAT_MEM_PRIV_FLAGS mem_priv;
	DAT_RMR_CONTEXT rmr_context;
	DAT_RMR_SCOPE rmr_scope;
	DAT_VA_TYPE va_type;
} DAT_RMR_PARAM;

typedef enum dat_rmr_param_mask {
	DAT_RMR_FIELD_IA_HANDLE = 0x01,
	DAT_RMR_FIELD_PZ_HANDLE = 0x02,
	DAT_RMR_FIELD_LMR_TRIPLET = 0x04,
	DAT_RMR_FIELD_MEM_PRIV = 0x08,
	DAT_RMR_FIELD_RMR_CONTEXT = 0x10,
	DAT_RMR_FIELD_RMR_SCOPE = 0x20,
	DAT_RMR_FIELD_VA_TYPE = 0x40,
	DAT_RMR_FIELD_ALL = 0x7f
} DAT_RMR_PARAM_MASK;

/* Who owns the segment array of a post after the call has returned. */
typedef enum dat_iov_ownership {
	DAT_IOV_CONSUMER = 0x0,			/* the consumer */
	DAT_IOV_PROVIDER_NOMOD = 0x1,		/* the provider, which only reads it */
	DAT_IOV_PROVIDER_MOD = 0x2		/* the provider, which may change it */
} DAT_IOV_OWNERSHIP;

typedef enum dat_ep_creator_for_psp {
	DAT_PSP_CREATES_EP_NEVER = 0,
	DAT_PSP_CREATES_EP_IFASKED = 1,
	DAT_PSP_CREATES_EP_ALWAYS = 2
} DAT_EP_CREATOR_FOR_PSP;

typedef enum dat_extension {
	DAT_EXTENSION_NONE = 0,
	DAT_EXTENSION_IB = 1,
	DAT_EXTENSION_IW = 2
} DAT_EXTENSION;

/* Names of DAT 1.x. */
#define max_rdma_read_per_ep	       max_rdma_read_per_ep_in
#define max_mtu_size		       max_message_size
#define DAT_IA_FIELD_IA_MAX_DTO_PER_OP DAT_IA_FIELD_IA_MAX_DTO_PER_EP_IN
#define DAT_IA_FIELD_IA_MAX_MTU_SIZE   DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE

/* One bit per member of DAT_IA_ATTR, in its order; the last six are in udat.h. */
typedef DAT_UINT64 DAT_IA_ATTR_MASK;
#define DAT_IA_FIELD_IA_ADAPTER_NAME				UINT64_C(0x000000001)
#define DAT_IA_FIELD_IA_VENDOR_NAME				UINT64_C(0x000000002)
#define DAT_IA_FIELD_IA_HARDWARE_MAJOR_VERSION			UINT64_C(0x000000004)
#define DAT_IA_FIELD_IA_HARDWARE_MINOR_VERSION			UINT64_C(0x000000008)
#define DAT_IA_FIELD_IA_FIRMWARE_MAJOR_VERSION			UINT64_C(0x000000010)
#define DAT_IA_FIELD_IA_FIRMWARE_MINOR_VERSION			UINT64_C(0x000000020)
#define DAT_IA_FIELD_IA_ADDRESS_PTR				UINT64_C(0x000000040)
#define DAT_IA_FIELD_IA_MAX_EPS					UINT64_C(0x000000080)
#define DAT_IA_FIELD_IA_MAX_DTO_PER_EP				UINT64_C(0x000000100)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_IN			UINT64_C(0x000000200)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_OUT		UINT64_C(0x000000400)
#define DAT_IA_FIELD_IA_MAX_EVDS				UINT64_C(0x000000800)
#define DAT_IA_FIELD_IA_MAX_EVD_QLEN				UINT64_C(0x000001000)
#define DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_DTO		UINT64_C(0x000002000)
#define DAT_IA_FIELD_IA_MAX_LMRS				UINT64_C(0x000004000)
#define DAT_IA_FIELD_IA_MAX_LMR_BLOCK_SIZE			UINT64_C(0x000008000)
#define DAT_IA_FIELD_IA_MAX_LMR_VIRTUAL_ADDRESS			UINT64_C(0x000010000)
#define DAT_IA_FIELD_IA_MAX_PZS					UINT64_C(0x000020000)
#define DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE			UINT64_C(0x000040000)
#define DAT_IA_FIELD_IA_MAX_RDMA_SIZE				UINT64_C(0x000080000)
#define DAT_IA_FIELD_IA_MAX_RMRS				UINT64_C(0x000100000)
#define DAT_IA_FIELD_IA_MAX_RMR_TARGET_ADDRESS			UINT64_C(0x000200000)
#define DAT_IA_FIELD_IA_MAX_SRQS				UINT64_C(0x000400000)
#define DAT_IA_FIELD_IA_MAX_EP_PER_SRQ				UINT64_C(0x000800000)
#define DAT_IA_FIELD_IA_MAX_RECV_PER_SRQ			UINT64_C(0x001000000)
#define DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_RDMA_READ		UINT64_C(0x002000000)
#define DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_RDMA_WRITE		UINT64_C(0x004000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_IN			UINT64_C(0x008000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_OUT			UINT64_C(0x010000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_IN_GUARANTEED	UINT64_C(0x020000000)
#define DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_OUT_GUARANTEED	UINT64_C(0x040000000)
#define DAT_IA_FIELD_IA_ZB_SUPPORTED				UINT64_C(0x080000000)
#define DAT_IA_FIELD_IA_EXTENSIONS_SUPPORTED			UINT64_C(0x100000000)
#define DAT_IA_ALL						DAT_IA_FIELD_ALL
#define DAT_IA_FIELD_NONE					UINT64_C(0x0)

typedef enum dat_service_type {
	DAT_SERVICE_TYPE_RC = 0
#ifdef DAT_EXTENSIONS
	,
	DAT_SERVICE_TYPE_EXTENSION_BASE = 1
#endif
} DAT_SERVICE_TYPE;

typedef struct dat_ep_attr {
	DAT_SERVICE_TYPE service_type;
	DAT_SEG_LENGTH max_message_size;
	DAT_SEG_LENGTH max_rdma_size;
	DAT_QOS qos;
	DAT_COMPLETION_FLAGS recv_completion_flags;
	DAT_COMPLETION_FLAGS request_completion_flags;
	DAT_COUNT max_recv_dtos;
	DAT_COUNT max_request_dtos;
	DAT_COUNT max_recv_iov;
	DAT_COUNT max_request_iov;
	DAT_COUNT max_rdma_read_in;
	DAT_COUNT max_rdma_read_out;
	DAT_COUNT srq_soft_hw;			/* soft high watermark */
	DAT_COUNT max_rdma_read_iov;
	DAT_COUNT max_rdma_write_iov;
	DAT_COUNT ep_transport_specific_count;
	DAT_NAMED_ATTR *ep_transport_specific;
	DAT_COUNT ep_provider_specific_count;
	DAT_NAMED_ATTR *ep_provider_specific;
} DAT_EP_ATTR;

#define DAT_EP_STATE_ERROR DAT_EP_STATE_DISCONNECTED	/* DAT 1.x */

typedef enum dat_ep_state {
	DAT_EP_STATE_UNCONNECTED = 0,
	DAT_EP_STATE_UNCONFIGURED_UNCONNECTED = 1,
	DAT_EP_STATE_RESERVED = 2,
	DAT_EP_STATE_UNCONFIGURED_RESERVED = 3,
	DAT_EP_STATE_PASSIVE_CONNECTION_PENDING = 4,
	DAT_EP_STATE_UNCONFIGURED_PASSIVE = 5,
	DAT_EP_STATE_ACTIVE_CONNECTION_PENDING = 6,
	DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING = 7,
	DAT_EP_STATE_UNCONFIGURED_TENTATIVE = 8,
	DAT_EP_STATE_CONNECTED = 9,
	DAT_EP_STATE_DISCONNECT_PENDING = 10,
	DAT_EP_STATE_DISCONNECTED = 11,
	DAT_EP_STATE_COMPLETION_PENDING = 12,
	DAT_EP_STATE_CONNECTED_SINGLE_PATH = 13,
	DAT_EP_STATE_CONNECTED_MULTI_PATH = 14
} DAT_EP_STATE;

typedef struct dat_ep_param {
	DAT_IA_HANDLE ia_handle;
	DAT_EP_STATE ep_state;
	DAT_COMM comm;
	DAT_IA_ADDRESS_PTR local_ia_address_ptr;
	DAT_PORT_QUAL local_port_qual;
	DAT_IA_ADDRESS_PTR remote_ia_address_ptr;
	DAT_PORT_QUAL remote_port_qual;
	DAT_PZ_HANDLE pz_handle;
	DAT_EVD_HANDLE recv_evd_handle;
	DAT_EVD_HANDLE request_evd_handle;
	DAT_EVD_HANDLE connect_evd_handle;
	DAT_SRQ_HANDLE srq_handle;
	DAT_EP_ATTR ep_attr;
} DAT_EP_PARAM;

typedef DAT_UINT64 DAT_EP_PARAM_MASK;
#define DAT_EP_FIELD_IA_HANDLE					UINT64_C(0x00000001)
#define DAT_EP_FIELD_EP_STATE					UINT64_C(0x00000002)
#define DAT_EP_FIELD_COMM					UINT64_C(0x00000004)
#define DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR			UINT64_C(0x00000008)
#define DAT_EP_FIELD_LOCAL_PORT_QUAL				UINT64_C(0x00000010)
#define DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR			UINT64_C(0x00000020)
#define DAT_EP_FIELD_REMOTE_PORT_QUAL				UINT64_C(0x00000040)
#define DAT_EP_FIELD_PZ_HANDLE					UINT64_C(0x00000080)
#define DAT_EP_FIELD_RECV_EVD_HANDLE				UINT64_C(0x00000100)
#define DAT_EP_FIELD_REQUEST_EVD_HANDLE				UINT64_C(0x00000200)
#define DAT_EP_FIELD_CONNECT_EVD_HANDLE				UINT64_C(0x00000400)
#define DAT_EP_FIELD_SRQ_HANDLE					UINT64_C(0x00000800)
#define DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE			UINT64_C(0x00001000)
#define DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE			UINT64_C(0x00002000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE			UINT64_C(0x00004000)
#define DAT_EP_FIELD_EP_ATTR_QOS				UINT64_C(0x00008000)
#define DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS		UINT64_C(0x00010000)
#define DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS		UINT64_C(0x00020000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS			UINT64_C(0x00040000)
#define DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS			UINT64_C(0x00080000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV			UINT64_C(0x00100000)
#define DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV			UINT64_C(0x00200000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN			UINT64_C(0x00400000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT			UINT64_C(0x00800000)
#define DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW			UINT64_C(0x01000000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV			UINT64_C(0x02000000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV			UINT64_C(0x04000000)
#define DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR			UINT64_C(0x08000000)
#define DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR		UINT64_C(0x10000000)
#define DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR			UINT64_C(0x20000000)
#define DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR		UINT64_C(0x40000000)
#define DAT_EP_FIELD_EP_ATTR_ALL				UINT64_C(0x7ffff000)
#define DAT_EP_FIELD_ALL					UINT64_C(0x7fffffff)

#define DAT_WATERMARK_INFINITE ((DAT_COUNT)~0)
#define DAT_HW_DEFAULT	       DAT_WATERMARK_INFINITE
#define DAT_SRQ_LW_DEFAULT     0x0
#define DAT_VALUE_UNKNOWN      (((DAT_COUNT)~0) - 1)	/* the count is not available */

typedef enum dat_srq_state {
	DAT_SRQ_STATE_ERROR = 0,
	DAT_SRQ_STATE_OPERATIONAL = 1,
	DAT_SRQ_STATE_SHUTDOWN = 2
} DAT_SRQ_STATE;

typedef struct dat_srq_attr {
	DAT_COUNT max_recv_dtos;
	DAT_COUNT max_recv_iov;
	DAT_COUNT low_watermark;
} DAT_SRQ_ATTR;

typedef struct dat_srq_param {
	DAT_IA_HANDLE ia_handle;
	DAT_SRQ_STATE srq_state;
	DAT_PZ_HANDLE pz_handle;
	DAT_COUNT max_recv_dtos;
	DAT_COUNT max_recv_iov;
	DAT_COUNT low_watermark;
	DAT_COUNT available_dto_count;		/* or DAT_VALUE_UNKNOWN */
	DAT_COUNT outstanding_dto_count;	/* or DAT_VALUE_UNKNOWN */
} DAT_SRQ_PARAM;

typedef enum dat_srq_param_mask {
	DAT_SRQ_FIELD_IA_HANDLE = 0x001,
	DAT_SRQ_FIELD_SRQ_STATE = 0x002,
	DAT_SRQ_FIELD_PZ_HANDLE = 0x004,
	DAT_SRQ_FIELD_MAX_RECV_DTO = 0x008,
	DAT_SRQ_FIELD_MAX_RECV_IOV = 0x010,
	DAT_SRQ_FIELD_LOW_WATERMARK = 0x020,
	DAT_SRQ_FIELD_AVAILABLE_DTO_COUNT = 0x040,
	DAT_SRQ_FIELD_OUTSTANDING_DTO_COUNT = 0x080,
	DAT_SRQ_FIELD_ALL = 0x0ff
} DAT_SRQ_PARAM_MASK;

typedef struct dat_pz_param {
	DAT_IA_HANDLE ia_handle;
} DAT_PZ_PARAM;

typedef enum dat_pz_param_mask {
	DAT_PZ_FIELD_IA_HANDLE = 0x01,
	DAT_PZ_FIELD_ALL = 0x01
} DAT_PZ_PARAM_MASK;

typedef struct dat_psp_param {
	DAT_IA_HANDLE ia_handle;
	DAT_CONN_QUAL conn_qual;
	DAT_EVD_HANDLE evd_handle;
	DAT_PSP_FLAGS psp_flags;
} DAT_PSP_PARAM;

typedef enum dat_psp_param_mask {
	DAT_PSP_FIELD_IA_HANDLE = 0x01,
	DAT_PSP_FIELD_CONN_QUAL = 0x02,
	DAT_PSP_FIELD_EVD_HANDLE = 0x04,
	DAT_PSP_FIELD_PSP_FLAGS = 0x08,
	DAT_PSP_FIELD_ALL = 0x0f
} DAT_PSP_PARAM_MASK;

typedef struct dat_rsp_param {
	DAT_IA_HANDLE ia_handle;
	DAT_CONN_QUAL conn_qual;
	DAT_EVD_HANDLE evd_handle;
	DAT_EP_HANDLE ep_handle;
} DAT_RSP_PARAM;

typedef enum dat_rsp_param_mask {
	DAT_RSP_FIELD_IA_HANDLE = 0x01,
	DAT_RSP_FIELD_CONN_QUAL = 0x02,
	DAT_RSP_FIELD_EVD_HANDLE = 0x04,
	DAT_RSP_FIELD_EP_HANDLE = 0x08,
	DAT_RSP_FIELD_ALL = 0x0f
} DAT_RSP_PARAM_MASK;

typedef struct dat_csp_param {
	DAT_IA_HANDLE ia_handle;
	DAT_COMM *comm;
	DAT_IA_ADDRESS_PTR address_ptr;
	DAT_EVD_HANDLE evd_handle;
} DAT_CSP_PARAM;

typedef enum dat_csp_param_mask {
	DAT_CSP_FIELD_IA_HANDLE = 0x01,
	DAT_CSP_FIELD_COMM = 0x02,
	DAT_CSP_FIELD_IA_ADDRESS = 0x04,
	DAT_CSP_FIELD_EVD_HANDLE = 0x08,
	DAT_CSP_FIELD_ALL = 0x0f
} DAT_CSP_PARAM_MASK;

/*
 * The consumer may read and change private_data until dat_cr_accept() or dat_cr_reject() returns.
 */
typedef struct dat_cr_param {
	DAT_IA_ADDRESS_PTR remote_ia_address_ptr;
	DAT_PORT_QUAL remote_port_qual;
	DAT_COUNT private_data_size;
	DAT_PVOID private_data;
	DAT_EP_HANDLE local_ep_handle;
} DAT_CR_PARAM;

typedef enum dat_cr_param_mask {
	DAT_CR_FIELD_REMOTE_IA_ADDRESS_PTR = 0x01,
	DAT_CR_FIELD_REMOTE_PORT_QUAL = 0x02,
	DAT_CR_FIELD_PRIVATE_DATA_SIZE = 0x04,
	DAT_CR_FIELD_PRIVATE_DATA = 0x08,
	DAT_CR_FIELD_LOCAL_EP_HANDLE = 0x10,
	DAT_CR_FIELD_ALL = 0x1f
} DAT_CR_PARAM_MASK;

typedef enum dat_dto_completion_status {
	DAT_DTO_SUCCESS = 0,
	DAT_DTO_ERR_FLUSHED = 1,
	DAT_DTO_ERR_LOCAL_LENGTH = 2,
	DAT_DTO_ERR_LOCAL_EP = 3,
	DAT_DTO_ERR_LOCAL_PROTECTION = 4,
	DAT_DTO_ERR_BAD_RESPONSE = 5,
	DAT_DTO_ERR_REMOTE_ACCESS = 6,
	DAT_DTO_ERR_REMOTE_RESPONDER = 7,
	DAT_DTO_ERR_TRANSPORT = 8,
	DAT_DTO_ERR_RECEIVER_NOT_READY = 9,
	DAT_DTO_ERR_PARTIAL_PACKET = 10,
	DAT_RMR_OPERATION_FAILED = 11,
	DAT_DTO_ERR_LOCAL_MM_ERROR = 12
} DAT_DTO_COMPLETION_STATUS;

/* Names of DAT 1.x, and of bind completions. */
#define DAT_DTO_LENGTH_ERROR	       DAT_DTO_ERR_LOCAL_LENGTH
#define DAT_DTO_FAILURE		       DAT_DTO_ERR_FLUSHED
#define DAT_RMR_BIND_SUCCESS	       DAT_DTO_SUCCESS
#define DAT_RMR_BIND_FAILURE	       DAT_DTO_ERR_FLUSHED
#define DAT_RMR_BIND_COMPLETION_STATUS DAT_DTO_COMPLETION_STATUS

typedef struct dat_dto_completion_event_data {
	DAT_EP_HANDLE ep_handle;
	DAT_DTO_COOKIE user_cookie;
	DAT_DTO_COMPLETION_STATUS status;
	DAT_SEG_LENGTH transfered_length;	/* valid if status is DAT_DTO_SUCCESS */
	DAT_DTOS operation;
	DAT_RMR_CONTEXT rmr_context;
} DAT_DTO_COMPLETION_EVENT_DATA;

typedef struct dat_rmr_bind_completion_event_data {
	DAT_RMR_HANDLE rmr_handle;
	DAT_RMR_COOKIE user_cookie;
	DAT_RMR_BIND_COMPLETION_STATUS status;
} DAT_RMR_BIND_COMPLETION_EVENT_DATA;

/* The service point of a request; the consumer knows which kind it created. */
typedef union dat_sp_handle {
	DAT_RSP_HANDLE rsp_handle;
	DAT_PSP_HANDLE psp_handle;
	DAT_CSP_HANDLE csp_handle;
} DAT_SP_HANDLE;

typedef struct dat_cr_arrival_event_data {
	DAT_SP_HANDLE sp_handle;
	DAT_IA_ADDRESS_PTR local_ia_address_ptr;
	DAT_CONN_QUAL conn_qual;
	DAT_CR_HANDLE cr_handle;
	DAT_BOOLEAN truncate_flag;		/* private data was cut to fit */
} DAT_CR_ARRIVAL_EVENT_DATA;

/* private_data stays valid until the endpoint is reset or freed. */
typedef struct dat_connection_event_data {
	DAT_EP_HANDLE ep_handle;
	DAT_COUNT private_data_size;
	DAT_PVOID private_data;
} DAT_CONNECTION_EVENT_DATA;

/* dat_handle is the object; reason is a value of the enumeration for its kind, below. */
typedef struct dat_asynch_error_event_data {
	DAT_HANDLE dat_handle;
	DAT_COUNT reason;
} DAT_ASYNCH_ERROR_EVENT_DATA;

typedef enum ia_async_error_reason {
	DAT_IA_CATASTROPHIC_ERROR = 0,
	DAT_IA_OTHER_ERROR = 1
} DAT_IA_ASYNC_ERROR_REASON;

typedef enum ep_async_error_reason {
	DAT_EP_TRANSFER_TO_ERROR = 0,
	DAT_EP_OTHER_ERROR = 1,
	DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT = 2
} DAT_EP_ASYNC_ERROR_REASON;

typedef enum evd_async_error_reason {
	DAT_EVD_OVERFLOW_ERROR = 0,
	DAT_EVD_OTHER_ERROR = 1
} DAT_EVD_ASYNC_ERROR_REASON;

typedef enum srq_async_error_reason {
	DAT_SRQ_TRANSFER_TO_ERROR = 0,
	DAT_SRQ_OTHER_ERROR = 1,
	DAT_SRQ_LOW_WATERMARK_EVENT = 2
} DAT_SRQ_ASYNC_ERROR_REASON;

typedef enum lmr_async_error_reason {
	DAT_LMR_OTHER_ERROR = 0
} DAT_LMR_ASYNC_ERROR_REASON;

typedef enum rmr_async_error_reason {
	DAT_RMR_OTHER_ERROR = 0
} DAT_RMR_ASYNC_ERROR_REASON;

typedef enum pz_async_error_reason {
	DAT_PZ_OTHER_ERROR = 0
} DAT_PZ_ASYNC_ERROR_REASON;

typedef struct dat_software_event_data {
	DAT_PVOID pointer;
} DAT_SOFTWARE_EVENT_DATA;

/* The upper part of a number is the stream it belongs to. */
typedef enum dat_event_number {
	DAT_DTO_COMPLETION_EVENT = 0x00001,
	DAT_RMR_BIND_COMPLETION_EVENT = 0x01001,
	DAT_CONNECTION_REQUEST_EVENT = 0x02001,
	DAT_CONNECTION_EVENT_ESTABLISHED = 0x04001,
	DAT_CONNECTION_EVENT_PEER_REJECTED = 0x04002,
	DAT_CONNECTION_EVENT_NON_PEER_REJECTED = 0x04003,
	DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR = 0x04004,
	DAT_CONNECTION_EVENT_DISCONNECTED = 0x04005,
	DAT_CONNECTION_EVENT_BROKEN = 0x04006,
	DAT_CONNECTION_EVENT_TIMED_OUT = 0x04007,
	DAT_CONNECTION_EVENT_UNREACHABLE = 0x04008,
	DAT_ASYNC_ERROR_EVD_OVERFLOW = 0x08001,
	DAT_ASYNC_ERROR_IA_CATASTROPHIC = 0x08002,
	DAT_ASYNC_ERROR_EP_BROKEN = 0x08003,
	DAT_ASYNC_ERROR_TIMED_OUT = 0x08004,
	DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR = 0x08005,
	DAT_HA_DOWN_TO_1 = 0x08101,
	DAT_HA_UP_TO_MULTI_PATH = 0x08102,
	DAT_SOFTWARE_EVENT = 0x10001
#ifdef DAT_EXTENSIONS
	,
	DAT_EXTENSION_EVENT = 0x20000,
	DAT_IB_EXTENSION_RANGE_BASE = 0x40000,
	DAT_IW_EXTENSION_RANGE_BASE = 0x80000
#endif
} DAT_EVENT_NUMBER;

typedef union dat_event_data {
	DAT_DTO_COMPLETION_EVENT_DATA dto_completion_event_data;
	DAT_RMR_BIND_COMPLETION_EVENT_DATA rmr_completion_event_data;
	DAT_CR_ARRIVAL_EVENT_DATA cr_arrival_event_data;
	DAT_CONNECTION_EVENT_DATA connect_event_data;
	DAT_ASYNCH_ERROR_EVENT_DATA asynch_error_event_data;
	DAT_SOFTWARE_EVENT_DATA software_event_data;
} DAT_EVENT_DATA;

typedef struct dat_event {
	DAT_EVENT_NUMBER event_number;
	DAT_EVD_HANDLE evd_handle;
	DAT_EVENT_DATA event_data;
	DAT_UINT64 event_extension_data[8];
} DAT_EVENT;

/* The key of a registered provider: all four members. */
typedef struct dat_provider_info {
	char ia_name[DAT_NAME_MAX_LENGTH];
	DAT_UINT32 dapl_version_major;
	DAT_UINT32 dapl_version_minor;
	DAT_BOOLEAN is_thread_safe;
} DAT_PROVIDER_INFO;

#ifdef DAT_EXTENSIONS
/* An operation number.  These two bits mark operations on a name instead of a handle. */
typedef int DAT_EXTENDED_OP;
#define DAT_OPEN_EXTENSION_BASE	 0x1000
#define DAT_CLOSE_EXTENSION_BASE 0x2000
#endif

#ifdef __cplusplus
}
#endif

#endif
