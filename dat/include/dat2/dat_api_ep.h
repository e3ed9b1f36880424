/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_ep.h -- endpoints: one queue pair and at most one connection each
 *
 * Several calls depend on the state of the endpoint.  In a state that does not allow the call they
 * fail with DAT_INVALID_STATE and the subtype of the state: EP_UNCONNECTED, EP_ACTCONNPENDING,
 * EP_PASSCONNPENDING, EP_TENTCONNPENDING, EP_UNCONFTENTATIVE, EP_CONNECTED, EP_DISCONNECTED,
 * EP_RESERVED, EP_COMPLPENDING, EP_DISCPENDING.  Below this is written DAT_INVALID_STATE/state.
 *
 * Post the receives before dat_ep_connect() or dat_cr_accept(), because the other side may send at
 * once.  A message that finds no receive posted waits: the device of the sender tries again, in a
 * provider of Rearm without limit, so that the send completes after a receive was posted.
 *
 * The order of the end: free the endpoint before its EVDs and its protection zone.
 *
 * Arguments of these calls:
 *
 *	`ep`		the endpoint
 *	`pz`		a protection zone
 *	`recv_evd`	the EVD for completions of receives, or DAT_HANDLE_NULL
 *	`request_evd`	the EVD for completions of requests (sends, RDMA, binds), or DAT_HANDLE_NULL
 *	`connect_evd`	the EVD for connection events, or DAT_HANDLE_NULL
 *	`attr`		the attributes, or NULL for the defaults
 *	`address`	the address of the other side: what dat_ia_query() returns there as
 *			ia_address_ptr; for an endpoint of the same adapter, its own
 *	`timeout`	in microseconds, for the whole attempt; DAT_TIMEOUT_INFINITE is no limit
 *	`qos`		the quality of service: DAT_QOS_BEST_EFFORT, or what dat_qos_supported has
 *	`remote`	the memory of the other side: address, length in bytes, and the rmr_context
 *			of its region
 *	`flags`		bits: DAT_COMPLETION_DEFAULT_FLAG, or DAT_COMPLETION_SUPPRESS_FLAG and
 *			others
 *
 * dat_api_ia.h explains how the calls are described.
 */
#include <dat2/udat.h>

#ifndef _DAT_API_EP_H_
#define _DAT_API_EP_H_

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Creates an unconnected endpoint.
 *
 * The EVDs must have the right streams: DTO for `recv_evd` and `request_evd` (and RMR_BIND, for
 * binds), CONNECTION for `connect_evd`.  An EVD may be DAT_HANDLE_NULL; calls that need it then
 * fail.  The length of an EVD is not compared with the depth of the endpoint; dat_api_evd.h
 * describes how long an EVD should be.  `attr` NULL means the defaults of the provider: 16 receives
 * and 16 requests of 4 segments each, and the largest message of the device.
 *
 * In a DAT_EP_ATTR a 0 is not the default, but the value 0: max_recv_dtos 0 is an endpoint without
 * receives.  Only max_message_size and max_rdma_size (the largest of the device), max_rdma_read_iov
 * and max_rdma_write_iov (as max_request_iov) are chosen by the provider if they are 0.  To change
 * one default, create the endpoint with NULL, and use dat_ep_modify() with the bit of the member
 * before receives are posted.
 *
 *	`ep`		output: the new endpoint
 *
 *	DAT_SUCCESS				*ep is the new endpoint
 *	DAT_INVALID_HANDLE/IA, PZ		ia or pz is not valid
 *	DAT_INVALID_HANDLE/EVD_RECV		recv_evd is not an EVD, or lacks the stream
 *	DAT_INVALID_HANDLE/EVD_REQUEST		the same for request_evd
 *	DAT_INVALID_HANDLE/EVD_CONN		the same for connect_evd, which may be of another IA
 *	DAT_INVALID_PARAMETER/ARG6		an attribute is out of range, more than the device
 *						has, or a type or quality of service that the
 *						provider does not have
 *	DAT_INVALID_PARAMETER/ARG7		ep is NULL
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY, TEP	no memory, or no more queue pairs
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
			    DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd,
			    const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep);

/*
 * Creates an endpoint that receives from a shared receive queue.  As dat_ep_create(), but received
 * messages use buffers of that queue.  dat_ep_post_recv() fails for such an endpoint.  The queue
 * may be of another protection zone; it cannot be freed while the endpoint exists.
 *
 *	`srq`		the shared receive queue
 *	`ep`		output: the new endpoint
 *
 *	DAT_SUCCESS				*ep is the new endpoint
 *	DAT_INVALID_HANDLE/IA, PZ		ia or pz is not valid
 *	DAT_INVALID_HANDLE/SRQ			srq is not a queue of this IA
 *	DAT_INVALID_HANDLE/EVD_RECV		recv_evd is not valid, or DAT_HANDLE_NULL: messages
 *						would take buffers, and no event would return them
 *	DAT_INVALID_HANDLE/EVD_REQUEST		request_evd is not an EVD, or lacks the stream
 *	DAT_INVALID_HANDLE/EVD_CONN		the same for connect_evd, which may be of another IA
 *	DAT_INVALID_PARAMETER/ARG7		an attribute is out of range, as with
 *						dat_ep_create(); or the endpoint is one for
 *						datagrams
 *	DAT_INVALID_PARAMETER/ARG8		ep is NULL
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY, TEP	no memory, or no more queue pairs
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_create_with_srq(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
			    DAT_EVD_HANDLE recv_evd, DAT_EVD_HANDLE request_evd,
			    DAT_EVD_HANDLE connect_evd, DAT_SRQ_HANDLE srq,
			    const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep);

/*
 * Returns the parameters of an endpoint: state, addresses and ports, objects, attributes.  The
 * addresses are memory of the provider; they are valid until the endpoint is freed.
 *
 *	DAT_SUCCESS				the requested members are filled in
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_query(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM *param);

/*
 * Changes parameters of an endpoint: those whose bits are in `mask`.  The endpoint must not be
 * connected.  The protection zone and the EVDs can be changed only before a connection is started.
 * State and addresses cannot be changed.  An endpoint that the provider created for a request
 * (DAT_EP_STATE_UNCONFIGURED_TENTATIVE) gets its protection zone and EVDs by this call, in one or
 * more calls.  With the protection zone its state becomes
 * DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING.
 *
 *	`mask`		which members change: bits such as DAT_EP_FIELD_PZ_HANDLE
 *	`param`		the new values
 *
 *	DAT_SUCCESS				all of them are changed
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_HANDLE			a new object has the wrong kind
 *	DAT_INVALID_PARAMETER/ARG2		a bit of a member that cannot be changed
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL or a value is out of range
 *	DAT_INVALID_STATE/EP_NOTREADY		receives are posted, and the change needs another
 *						queue pair: nothing changed
 *	DAT_INVALID_STATE/state			the state does not allow the change: nothing changed
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY, TEP	no memory, or no more queue pairs
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_modify(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask,
			    const DAT_EP_PARAM *param);

/*
 * Returns the state of an endpoint, and whether it is idle: `*recv_idle` is true if no receive is
 * posted, `*request_idle` if no request is outstanding.  Each pointer may be NULL.
 *
 *	`state`		output: the state; or NULL
 *	`recv_idle`	output: whether no receive is posted; or NULL
 *	`request_idle`	output: whether no request is outstanding; or NULL
 *
 *	DAT_SUCCESS				the output is set
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_get_status(DAT_EP_HANDLE ep, DAT_EP_STATE *state,
			    DAT_BOOLEAN *recv_idle, DAT_BOOLEAN *request_idle);

/*
 * Starts to connect to a service point.  The result is one event on the connect EVD of the
 * endpoint:
 *
 *	ESTABLISHED		it is connected
 *	PEER_REJECTED		the program at the other side refused, by dat_cr_reject()
 *	NON_PEER_REJECTED	the host answers, but no program listens at that qualifier, or its
 *				EVD of requests is full
 *	UNREACHABLE		there is no route to the address, the host does not answer, or the
 *				connection cannot be set up
 *	TIMED_OUT		`timeout` passed before it was connected
 *	DISCONNECTED		dat_ep_disconnect() was called meanwhile, here or at the other side
 *	BROKEN			the device was removed
 *
 * The family and the address of `address` are used; the port is `qual`.  `timeout` is in
 * microseconds, for the whole attempt; with DAT_TIMEOUT_INFINITE the transport decides.  The
 * request carries up to max_private_data_size bytes, which are copied.  ESTABLISHED and
 * PEER_REJECTED have the private data of the other side.  Its length may be more than was sent:
 * InfiniBand and RoCE carry private data in fields of a fixed length, filled up with zeros, and the
 * length that arrives is that of the field: 56 bytes in a request, 196 in the answer to it, 148 in
 * a rejection.  If the length matters, put it into the data.
 *
 *	`flags`		DAT_CONNECT_DEFAULT_FLAG; DAT_CONNECT_MULTIPATH_FLAG asks for several paths
 *
 *	DAT_SUCCESS				the attempt was started
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		address is NULL
 *	DAT_INVALID_PARAMETER/ARG4		timeout is 0
 *	DAT_INVALID_PARAMETER/ARG5		size is negative or more than max_private_data_size
 *	DAT_INVALID_PARAMETER/ARG6		size is not 0 and data NULL
 *	DAT_INVALID_ADDRESS/UNSUPPORTED		the family of the address is not supported, or it is
 *						a multicast or broadcast address
 *	DAT_INVALID_PARAMETER/ARG8		unknown flags
 *	DAT_INVALID_STATE/EP_NOTREADY		the endpoint has no connect EVD
 *	DAT_INVALID_STATE/state			the endpoint is not unconnected
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *	DAT_MODEL_NOT_SUPPORTED			a quality of service that is not in the attribute
 *						dat_qos_supported (a provider of Rearm has best
 *						effort alone), or several paths are required and the
 *						provider has one
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address,
			    DAT_CONN_QUAL qual, DAT_TIMEOUT timeout, DAT_COUNT size,
			    const DAT_CONST_PVOID data, DAT_QOS qos, DAT_CONNECT_FLAGS flags);

/*
 * Starts to connect to a common service point.  As dat_ep_connect(), but the port is in the
 * address.  Not in Debian's libdat2.
 *
 *	`address`	the address and the port of the other side
 *
 *	DAT_SUCCESS				the attempt was started
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		address is NULL
 *	DAT_INVALID_PARAMETER/ARG3		timeout is 0
 *	DAT_INVALID_PARAMETER/ARG4		size is negative or more than max_private_data_size
 *	DAT_INVALID_PARAMETER/ARG5		size is not 0 and data NULL
 *	DAT_INVALID_ADDRESS/MALFORMED		the port is 0
 *	DAT_INVALID_ADDRESS/UNSUPPORTED		the family of the address is not supported, or it is
 *						a multicast or broadcast address
 *	DAT_INVALID_STATE/EP_NOTREADY		the endpoint has no connect EVD
 *	DAT_INVALID_STATE/state			the endpoint is not unconnected
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *	DAT_MODEL_NOT_SUPPORTED			the provider has no common service points
 *
 * Threads: any.  From: headers.
 */
DAT_RETURN DAT_API dat_ep_common_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address,
			    DAT_TIMEOUT timeout, DAT_COUNT size, const DAT_CONST_PVOID data);

/*
 * Starts to connect to where another endpoint is connected.  As dat_ep_connect(), to the service
 * point to which the connected endpoint `dup` is connected.
 *
 *	`dup`		a connected endpoint
 *
 *	DAT_SUCCESS				the attempt was started
 *	DAT_INVALID_HANDLE/EP			ep or dup is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG3		timeout is 0
 *	DAT_INVALID_PARAMETER/ARG4		size is negative or more than max_private_data_size
 *	DAT_INVALID_PARAMETER/ARG5		size is not 0 and data NULL
 *	DAT_INVALID_STATE/EP_NOTREADY		ep has no connect EVD
 *	DAT_INVALID_STATE/state			ep is not unconnected, or dup not connected
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *	DAT_MODEL_NOT_SUPPORTED			a quality of service that is not in the attribute
 *						dat_qos_supported
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_dup_connect(DAT_EP_HANDLE ep, DAT_EP_HANDLE dup, DAT_TIMEOUT timeout,
			    DAT_COUNT size, const DAT_CONST_PVOID data, DAT_QOS qos);

/*
 * Ends the connection, or the attempt to connect.
 *
 * Abrupt: outstanding requests and receives complete with DAT_DTO_ERR_FLUSHED, unless they have
 * completed already.  Graceful: outstanding requests complete first; new requests are refused.  It
 * may wait without end if the other side posts no receive for a message; a second call, abrupt,
 * ends it.  If the other side disconnects meanwhile, the requests that are left are flushed.
 *
 * In both cases each side gets one DISCONNECTED event, after the successful completions (with a
 * provider of Rearm after the flushed ones, too, if they go to the same EVD: see dat_api_evd.h),
 * and the state of the endpoint becomes DISCONNECTED.  Use dat_ep_reset() before the next
 * connection.  The event is BROKEN instead if a request fails during a graceful disconnection, or
 * if the completion queue of the requests is lost.  On a disconnected endpoint the call has no
 * effect and causes no event.
 *
 *	`flags`		DAT_CLOSE_ABRUPT_FLAG or DAT_CLOSE_GRACEFUL_FLAG
 *
 *	DAT_SUCCESS				the event follows, or was queued before
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		unknown flag; graceful while disconnecting
 *	DAT_INVALID_STATE/EP_UNCONNECTED	there is no connection
 *	DAT_INVALID_STATE/state			reserved for a service point, or belongs to a
 *						request that was not accepted
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_disconnect(DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS flags);

/*
 * Makes a disconnected endpoint unconnected, ready for another connection.  Posted receives are
 * removed.  Take the completions of the old connection first.
 *
 * If the device has no resources for the next connection, the endpoint stays disconnected, and what
 * is posted completes as flushed.  The call may be repeated.
 *
 *	DAT_SUCCESS				it is unconnected
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INSUFFICIENT_RESOURCES/TEP		the device has no more queue pairs
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *	DAT_INVALID_STATE/state			neither disconnected nor unconnected
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_reset(DAT_EP_HANDLE ep);

/*
 * Frees an endpoint; a connection is disconnected abruptly.  After the return no event names the
 * endpoint, except the event of an upcall that runs already: its queued completions are removed.
 * Posted buffers belong to the consumer again.
 *
 *	DAT_SUCCESS				the endpoint is freed
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_STATE/state			reserved by a service point, or for a request that
 *						was neither accepted nor rejected
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_free(DAT_EP_HANDLE ep);

/*
 * Sends a message from pieces of local memory.  Their regions need DAT_MEM_PRIV_LOCAL_READ_FLAG.
 *
 * The array `iov` may be changed when the call returns, the memory when the request has completed.
 * The completion has `cookie`.  Flags: DAT_COMPLETION_SUPPRESS_FLAG: no completion event if the
 * request succeeds.  SOLICITED_WAIT: wakes a remote waiter that waits for solicited completions.
 * UNSIGNALLED: queues the completion event, but wakes no waiter.  BARRIER_FENCE: starts after
 * earlier RDMA reads have completed.  On a disconnected endpoint the request completes as flushed.
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		segments is negative or more than the endpoint has
 *	DAT_INVALID_PARAMETER/ARG3		iov is NULL with segments
 *	DAT_LENGTH_ERROR			longer than the adapter's largest message
 *	DAT_PROTECTION_VIOLATION		a segment is not in a region of the endpoint's
 *						zone; a provider may let the request complete with
 *						an error instead
 *	DAT_PRIVILEGES_VIOLATION		the region does not allow the access; likewise
 *	DAT_INVALID_PARAMETER/ARG5		unknown flags
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	the queue of the endpoint is full
 *	DAT_MODEL_NOT_SUPPORTED			the endpoint is one for datagrams
 *	DAT_INVALID_STATE/EP_EVD_REQUEST	the endpoint has no request EVD
 *	DAT_INVALID_STATE/state			neither connected nor disconnected
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
			    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags);

/*
 * Sends a message that invalidates a region of the other side.  As dat_ep_post_send().  If
 * `invalidate` is true, the region `context` of the remote side becomes invalid when the message
 * has arrived.  Not in Debian's libdat2.
 *
 *	`invalidate`	whether a region becomes invalid
 *	`context`	the rmr_context of the region
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		segments is negative or more than the endpoint has
 *	DAT_INVALID_PARAMETER/ARG3		iov is NULL with segments
 *	DAT_LENGTH_ERROR			longer than the adapter's largest message
 *	DAT_PROTECTION_VIOLATION		as with dat_ep_post_send()
 *	DAT_PRIVILEGES_VIOLATION		likewise
 *	DAT_INVALID_PARAMETER/ARG5		unknown flags
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	the queue of the endpoint is full
 *	DAT_MODEL_NOT_SUPPORTED			invalidate is true, and the device cannot do it; or
 *						the endpoint is one for datagrams
 *	DAT_INVALID_STATE/EP_EVD_REQUEST	the endpoint has no request EVD
 *	DAT_INVALID_STATE/state			neither connected nor disconnected
 *
 * Threads: any.  From: headers; DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_post_send_with_invalidate(DAT_EP_HANDLE ep, DAT_COUNT segments,
			    DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
			    DAT_COMPLETION_FLAGS flags, DAT_BOOLEAN invalidate,
			    DAT_RMR_CONTEXT context);

/*
 * Posts a receive buffer for one message.  Its region needs DAT_MEM_PRIV_LOCAL_WRITE_FLAG.  It may
 * be posted in every state if the endpoint has a protection zone; on a disconnected endpoint it
 * completes as flushed.  A message that is longer than the buffer completes with
 * DAT_DTO_ERR_LOCAL_LENGTH and breaks the connection.
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		segments is negative or more than the endpoint has
 *	DAT_INVALID_PARAMETER/ARG3		iov is NULL with segments
 *	DAT_INVALID_PARAMETER/ARG5		unknown flags
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	the queue of the endpoint is full
 *	DAT_INVALID_STATE/SRQ_IN_USE		the endpoint uses a shared receive queue
 *	DAT_INVALID_STATE/EP_EVD_RECV		the endpoint has no receive EVD
 *	DAT_INVALID_STATE/EP_UNCONFTENTATIVE	it has no protection zone yet
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_post_recv(DAT_EP_HANDLE ep, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
			    DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags);

/*
 * Reads remote memory into pieces of local memory.  The remote program gets no event.
 * `*remote` is copied.  The remote region must allow remote reads, the local regions local writes.
 *
 * The length of `*remote` is that of the transfer.  The pieces of local memory may have room for
 * more: what is beyond that length is no part of the request, and is neither written nor looked at.
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		segments is negative or more than the endpoint has
 *	DAT_INVALID_PARAMETER/ARG3		iov is NULL with segments
 *	DAT_LENGTH_ERROR			*remote is longer than the local memory, or longer
 *						than the adapter's largest message
 *	DAT_PROTECTION_VIOLATION		a segment is not in a region of the endpoint's
 *						zone; a provider may let the request complete with
 *						an error instead
 *	DAT_PRIVILEGES_VIOLATION		the region does not allow the access; likewise
 *	DAT_INVALID_PARAMETER/ARG5		remote is NULL
 *	DAT_INVALID_PARAMETER/ARG6		unknown flags
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	the queue of the endpoint is full
 *	DAT_MODEL_NOT_SUPPORTED			the endpoint is one for datagrams
 *	DAT_INVALID_STATE/EP_EVD_REQUEST	the endpoint has no request EVD
 *	DAT_INVALID_STATE/state			neither connected nor disconnected
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_post_rdma_read(DAT_EP_HANDLE ep, DAT_COUNT segments,
			    DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
			    const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags);

/*
 * Reads remote memory into memory with a remote context.  As dat_ep_post_rdma_read(), into one
 * piece of memory that is named by the context of a bound remote region, or by the remote one of a
 * local region.  Not in Debian's libdat2.
 *
 *	`local`		the memory to read into: address, length in bytes, and rmr_context
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		local is NULL
 *	DAT_INVALID_PARAMETER/ARG4		remote is NULL
 *	DAT_INVALID_PARAMETER/ARG5		unknown flags
 *	DAT_LENGTH_ERROR			*remote is longer than local, or longer than the
 *						adapter's largest message
 *	DAT_PROTECTION_VIOLATION		local is not within a region that the endpoint can
 *						use
 *	DAT_PRIVILEGES_VIOLATION/WRITE		that region does not allow remote writes
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	the queue of the endpoint is full
 *	DAT_MODEL_NOT_SUPPORTED			the provider does not support it, or the endpoint is
 *						one for datagrams
 *	DAT_INVALID_STATE/EP_EVD_REQUEST	the endpoint has no request EVD
 *	DAT_INVALID_STATE/state			neither connected nor disconnected
 *
 * Threads: any.  From: headers; DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep, const DAT_RMR_TRIPLET *local,
			    DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
			    DAT_COMPLETION_FLAGS flags);

/*
 * Writes pieces of local memory to remote memory.  The remote program gets no event; a
 * message that is sent afterwards arrives after the data.  `*remote` is copied.  The remote region
 * must allow remote writes.
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2		segments is negative or more than the endpoint has
 *	DAT_INVALID_PARAMETER/ARG3		iov is NULL with segments
 *	DAT_LENGTH_ERROR			the local memory is longer than *remote, or longer
 *						than the adapter's largest message
 *	DAT_PROTECTION_VIOLATION		a segment is not in a region of the endpoint's
 *						zone; a provider may let the request complete with
 *						an error instead
 *	DAT_PRIVILEGES_VIOLATION		the region does not allow the access; likewise
 *	DAT_INVALID_PARAMETER/ARG5		remote is NULL
 *	DAT_INVALID_PARAMETER/ARG6		unknown flags
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	the queue of the endpoint is full
 *	DAT_MODEL_NOT_SUPPORTED			the endpoint is one for datagrams
 *	DAT_INVALID_STATE/EP_EVD_REQUEST	the endpoint has no request EVD
 *	DAT_INVALID_STATE/state			neither connected nor disconnected
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT segments,
			    DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
			    const DAT_RMR_TRIPLET *remote, DAT_COMPLETION_FLAGS flags);

/*
 * Returns how many receives of an endpoint have not completed.  The span of the messages that they
 * are for is the same number.  Either pointer may be NULL.
 *
 *	`allocated`	output: the number of receives; or NULL
 *	`span`		output: the same number; or NULL
 *
 *	DAT_SUCCESS				the output is set
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_MODEL_NOT_SUPPORTED			it has a shared receive queue: no device reports how
 *						many buffers one endpoint has taken
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_recv_query(DAT_EP_HANDLE ep, DAT_COUNT *allocated, DAT_COUNT *span);

/*
 * Limits the receive buffers that an endpoint may take from its shared receive queue.  Above
 * `soft` there is one asynchronous event, above `hard` the connection is broken.
 * DAT_WATERMARK_INFINITE: no limit.
 *
 *	`soft`		the number of buffers above which there is an event
 *	`hard`		the number of buffers above which the connection is broken
 *
 *	DAT_SUCCESS				they are set
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint
 *	DAT_INVALID_PARAMETER/ARG2, ARG3	a negative watermark
 *	DAT_MODEL_NOT_SUPPORTED			a limit other than DAT_WATERMARK_INFINITE: no device
 *						counts the buffers of one endpoint
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ep_set_watermark(DAT_EP_HANDLE ep, DAT_COUNT soft, DAT_COUNT hard);

#ifdef __cplusplus
}
#endif

#endif
