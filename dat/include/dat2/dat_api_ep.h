/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_ep.h -- endpoints: one queue pair and at most one connection each
 *
 * Several calls depend on the endpoint's state.  Where they fail for it, the code is
 * DAT_INVALID_STATE with the subtype of the state: EP_UNCONNECTED, EP_ACTCONNPENDING,
 * EP_PASSCONNPENDING, EP_TENTCONNPENDING, EP_UNCONFTENTATIVE, EP_CONNECTED, EP_DISCONNECTED,
 * EP_RESERVED, EP_COMPLPENDING, EP_DISCPENDING; below this is written DAT_INVALID_STATE/state.
 *
 * dat_api_ia.h says how the calls are described.
 */
#include <dat2/udat.h>

#ifndef _DAT_API_EP_H_
#define _DAT_API_EP_H_

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Creates an endpoint, unconnected.
 *
 * The EVDs must have the stream: DTO for `recv_evd` and `request_evd` (RMR_BIND, too, for binds),
 * CONNECTION for `connect_evd`.  An EVD may be DAT_HANDLE_NULL; what would need it then fails.
 * Their length is not compared with the endpoint's depth.  `attr` NULL means the provider's
 * defaults: 16 receives and 16 requests of 4 segments each, and the device's largest message.
 *
 *	DAT_SUCCESS				*ep is the new endpoint
 *	DAT_INVALID_HANDLE/IA, PZ		ia or pz is not one
 *	DAT_INVALID_HANDLE/EVD_RECV		recv_evd is not one, or lacks the stream
 *	DAT_INVALID_HANDLE/EVD_REQUEST		the same of request_evd
 *	DAT_INVALID_HANDLE/EVD_CONN		the same of connect_evd
 *	DAT_INVALID_PARAMETER/ARG6		an attribute is out of range, more than the device
 *						has, or a type or quality of service that the
 *						provider does not have
 *	DAT_INVALID_PARAMETER/ARG7		ep is NULL
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY, TEP	no memory, or no further queue pair
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
			    DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd,
			    const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep);

/*
 * As dat_ep_create(), but received messages take their buffers from a shared receive queue:
 * dat_ep_post_recv() is not for such an endpoint.
 *
 * Not served: a provider of Rearm answers DAT_NOT_IMPLEMENTED.
 *
 *	DAT_SUCCESS				*ep is the new endpoint
 *	DAT_INVALID_HANDLE/SRQ			srq is not one of this IA
 *	DAT_INVALID_PARAMETER/ARG7, ARG8	an attribute is out of range; ep is NULL
 *	otherwise				as dat_ep_create()
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_create_with_srq(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
			    DAT_EVD_HANDLE recv_evd, DAT_EVD_HANDLE request_evd,
			    DAT_EVD_HANDLE connect_evd, DAT_SRQ_HANDLE srq,
			    const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep);

/*
 * Tells the parameters of an endpoint: state, addresses and ports, objects, attributes.  The
 * addresses belong to the provider and live as long as the endpoint.
 *
 *	DAT_SUCCESS				the members asked for are filled in
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_query(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM *param);

/*
 * Changes parameters of an endpoint that is not connected: the members whose bits are in `mask`.
 * The protection zone and the EVDs can be changed before a connection is begun only; state and
 * addresses never.  An endpoint that the provider brought with a request
 * (DAT_EP_STATE_UNCONFIGURED_TENTATIVE) gets its parts by this call, one after another or all at
 * once; with the protection zone it is DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING.
 *
 *	DAT_SUCCESS				all of them are changed
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_HANDLE			a new object is not one of its kind
 *	DAT_INVALID_PARAMETER/ARG2		a bit of a member that cannot be changed
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL or a value is out of range
 *	DAT_INVALID_STATE/state			too late for this: nothing is changed
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_modify(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask,
			    const DAT_EP_PARAM *param);

/*
 * Tells the state of an endpoint, and whether nothing is outstanding: `*recv_idle` no posted
 * receive, `*request_idle` no request.  Each pointer may be NULL.
 *
 *	DAT_SUCCESS				what the pointers point to is set
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_get_status(DAT_EP_HANDLE ep, DAT_EP_STATE *state,
			    DAT_BOOLEAN *recv_idle, DAT_BOOLEAN *request_idle);

/*
 * Begins to connect to a service point.  What becomes of it is one connection event on the
 * endpoint's connect EVD: ESTABLISHED, PEER_REJECTED, NON_PEER_REJECTED, UNREACHABLE, TIMED_OUT,
 * or DISCONNECTED after dat_ep_disconnect().
 *
 * Of `address` the family and the address count, the port is `qual`.  `timeout` is in microseconds
 * for the whole of it; DAT_TIMEOUT_INFINITE leaves it to the transport.  Up to
 * max_private_data_size bytes go with the request and are copied.  ESTABLISHED and PEER_REJECTED
 * bring the other side's data, which may be padded with zeros to a size of the transport's.
 *
 *	DAT_SUCCESS				it is on the way
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		address is NULL
 *	DAT_INVALID_PARAMETER/ARG4		timeout is 0
 *	DAT_INVALID_PARAMETER/ARG5		size is negative or more than max_private_data_size
 *	DAT_INVALID_PARAMETER/ARG6		size is not 0 and data NULL
 *	DAT_INVALID_ADDRESS/UNSUPPORTED		the family of the address
 *	DAT_INVALID_STATE/EP_NOTREADY		the endpoint has no connect EVD
 *	DAT_INVALID_STATE/state			the endpoint is not unconnected
 *	DAT_INVALID_PARAMETER/ARG8		unknown flags
 *	DAT_MODEL_NOT_SUPPORTED			a quality of service that is not in the attribute
 *						dat_qos_supported (a provider of Rearm has best
 *						effort alone), or a multipath flag that the
 *						provider does not have
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address,
			    DAT_CONN_QUAL qual, DAT_TIMEOUT timeout, DAT_COUNT size,
			    const DAT_PVOID data, DAT_QOS qos, DAT_CONNECT_FLAGS flags);

/*
 * As dat_ep_connect(), to a common service point; the port is in the address.  Not in Debian's
 * libdat2.
 *
 *	DAT_SUCCESS				it is on the way
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		address is NULL
 *	DAT_INVALID_PARAMETER/ARG3		timeout is 0
 *	DAT_INVALID_PARAMETER/ARG4		size is negative or more than max_private_data_size
 *	DAT_INVALID_PARAMETER/ARG5		size is not 0 and data NULL
 *	DAT_INVALID_ADDRESS/MALFORMED		the port is 0
 *	DAT_MODEL_NOT_SUPPORTED			the provider has no common service points
 *	otherwise				as dat_ep_connect()
 *
 * Threads: any.  From: headers.
 */
DAT_RETURN DAT_API dat_ep_common_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address,
			    DAT_TIMEOUT timeout, DAT_COUNT size, const DAT_PVOID data);

/*
 * As dat_ep_connect(), to where the connected endpoint `dup` is connected.
 *
 *	DAT_SUCCESS				it is on the way
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_HANDLE			dup is not an endpoint
 *	DAT_INVALID_STATE/state			ep is not unconnected, or dup not connected
 *	otherwise				as dat_ep_connect()
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_dup_connect(DAT_EP_HANDLE ep, DAT_EP_HANDLE dup, DAT_TIMEOUT timeout,
			    DAT_COUNT size, const DAT_PVOID data, DAT_QOS qos);

/*
 * Ends the connection, or the attempt to connect.
 *
 * Abrupt: outstanding requests and receives complete with DAT_DTO_ERR_FLUSHED, or as they did.
 * Graceful: outstanding requests complete first, and no new ones are taken.  Either way each side
 * gets exactly one DISCONNECTED event, after the successful completions, and the endpoint ends in
 * DISCONNECTED; dat_ep_reset() makes it usable again.  The event is BROKEN instead if a request fails
 * during a graceful disconnection, or if the completion queue of the requests is lost meanwhile.  On an
 * endpoint that is disconnected already nothing happens and no event comes.
 *
 *	DAT_SUCCESS				the event comes, or has come
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		unknown flag; graceful while disconnecting
 *	DAT_INVALID_STATE/EP_UNCONNECTED	there is no connection
 *	DAT_INVALID_STATE/state			reserved, or with a request that has not been
 *						accepted
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_disconnect(DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS flags);

/*
 * Makes a disconnected endpoint unconnected, ready for another connection.  Posted receives are
 * gone; take the completions of the old connection before.
 *
 *	DAT_SUCCESS				it is unconnected
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_STATE/state			neither disconnected nor unconnected
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_reset(DAT_EP_HANDLE ep);

/*
 * Destroys an endpoint, disconnecting it abruptly if need be.  After it returned no event names
 * the endpoint; completions that were queued may be gone.  Posted buffers are the consumer's
 * again.
 *
 *	DAT_SUCCESS				the handle is not valid any more
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_STATE/state			reserved by a service point, brought with a request,
 *						or with one that has neither been accepted nor
 *						rejected
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_free(DAT_EP_HANDLE ep);

/*
 * Sends a message from `segments` pieces of local memory.
 *
 * The array is the consumer's again when the call returns, the memory when the request completes.
 * `cookie` comes back in the completion.  DAT_COMPLETION_SUPPRESS_FLAG leaves out the completion
 * if it succeeds, SOLICITED_WAIT wakes a remote waiter that waits for such only, UNSIGNALLED
 * queues the completion without waking anybody, BARRIER_FENCE waits for earlier RDMA reads.  On a
 * disconnected endpoint the request is taken and flushed.
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		segments is negative or more than the endpoint has
 *	DAT_INVALID_PARAMETER/ARG3		iov is NULL with segments
 *	DAT_LENGTH_ERROR			longer than the adapter's largest message
 *	DAT_PROTECTION_VIOLATION		a segment is not in a region of the endpoint's
 *						zone; a provider may let the request complete with
 *						an error instead
 *	DAT_PRIVILEGES_VIOLATION		the region does not allow it; likewise
 *	DAT_INVALID_PARAMETER/ARG5		unknown flags
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	as many are outstanding as the endpoint has
 *	DAT_INVALID_STATE/state			neither connected nor disconnected
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
			    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags);

/*
 * As dat_ep_post_send(); if `invalidate` is true the remote side's region `context` is invalid
 * once the message has arrived.  Not in Debian's libdat2.
 *
 * Not served: a provider of Rearm answers DAT_NOT_IMPLEMENTED.
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_MODEL_NOT_SUPPORTED			the provider cannot
 *	otherwise				as dat_ep_post_send()
 *
 * Threads: any.  From: headers; DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_post_send_with_invalidate(DAT_EP_HANDLE ep, DAT_COUNT segments,
			    DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
			    DAT_COMPLETION_FLAGS flags, DAT_BOOLEAN invalidate,
			    DAT_RMR_CONTEXT context);

/*
 * Posts a buffer of `segments` pieces for one message.  It may be posted in every state; on a
 * disconnected endpoint it is flushed.  A message longer than the buffer completes with
 * DAT_DTO_ERR_LOCAL_LENGTH and breaks the connection.
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		segments is negative or more than the endpoint has
 *	DAT_INVALID_PARAMETER/ARG3		iov is NULL with segments
 *	DAT_INVALID_PARAMETER/ARG5		unknown flags
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	as many are outstanding as the endpoint has
 *	DAT_INVALID_STATE/SRQ_IN_USE		the endpoint receives from a shared receive queue
 *	DAT_INVALID_STATE/EP_UNCONFTENTATIVE	it has no protection zone yet
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_post_recv(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
			    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags);

/*
 * Reads from the remote side's memory into `segments` pieces of local memory.  The remote side's
 * program is not told.  `*remote` is copied; its region must allow remote reads, the local ones
 * local writes.
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		segments is negative or more than the endpoint has
 *	DAT_INVALID_PARAMETER/ARG3		iov is NULL with segments
 *	DAT_LENGTH_ERROR			longer than the adapter's largest message
 *	DAT_PROTECTION_VIOLATION		a segment is not in a region of the endpoint's
 *						zone; a provider may let the request complete with
 *						an error instead
 *	DAT_PRIVILEGES_VIOLATION		the region does not allow it; likewise
 *	DAT_INVALID_PARAMETER/ARG5		remote is NULL
 *	DAT_INVALID_PARAMETER/ARG6		unknown flags
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	as many are outstanding as the endpoint has
 *	DAT_INVALID_STATE/state			neither connected nor disconnected
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_post_rdma_read(DAT_EP_HANDLE ep, DAT_COUNT segments,
			    DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
			    const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags);

/*
 * As dat_ep_post_rdma_read(), into one piece of memory named by its remote context.  Not in
 * Debian's libdat2.
 *
 * Not served: a provider of Rearm answers DAT_NOT_IMPLEMENTED.
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_MODEL_NOT_SUPPORTED			the provider cannot
 *	otherwise				as dat_ep_post_rdma_read()
 *
 * Threads: any.  From: headers; DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep, const DAT_RMR_TRIPLET *local,
			    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
			    DAT_COMPLETION_FLAGS flags);

/*
 * Writes from `segments` pieces of local memory into the remote side's memory.  The remote side's
 * program is not told: a message sent behind it tells that the data is there.  `*remote` is
 * copied; its region must allow remote writes.
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		segments is negative or more than the endpoint has
 *	DAT_INVALID_PARAMETER/ARG3		iov is NULL with segments
 *	DAT_LENGTH_ERROR			longer than the adapter's largest message
 *	DAT_PROTECTION_VIOLATION		a segment is not in a region of the endpoint's
 *						zone; a provider may let the request complete with
 *						an error instead
 *	DAT_PRIVILEGES_VIOLATION		the region does not allow it; likewise
 *	DAT_INVALID_PARAMETER/ARG5		remote is NULL
 *	DAT_INVALID_PARAMETER/ARG6		unknown flags
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	as many are outstanding as the endpoint has
 *	DAT_INVALID_STATE/state			neither connected nor disconnected
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT segments,
			    DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
			    const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags);

/*
 * Tells how many receive buffers of a shared receive queue the endpoint has in use, and the span
 * of its message numbers.
 *
 * Not served: a provider of Rearm answers DAT_NOT_IMPLEMENTED.
 *
 *	DAT_SUCCESS				what the pointers point to is set
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2, ARG3	a pointer is NULL
 *	DAT_NOT_IMPLEMENTED			ep_recv_info_supported is 0
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_recv_query(DAT_EP_HANDLE ep, DAT_COUNT *allocated, DAT_COUNT *span);

/*
 * Limits the receive buffers that an endpoint takes from its shared receive queue: above `soft`
 * there is one asynchronous event, above `hard` the connection breaks.  DAT_WATERMARK_INFINITE is
 * no limit.
 *
 * Not served: a provider of Rearm answers DAT_NOT_IMPLEMENTED.
 *
 *	DAT_SUCCESS				they are set
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2, ARG3	a negative watermark
 *	DAT_NOT_IMPLEMENTED			srq_watermarks_supported is 0
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_set_watermark(DAT_EP_HANDLE ep, DAT_COUNT soft, DAT_COUNT hard);

#ifdef __cplusplus
}
#endif

#endif
