/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_sp.h -- service points, which listen, and connection requests
 *
 * A connection qualifier is a port number of the port space of TCP of rdma_cm.  One up to 0xffff is
 * the port; a larger one is mapped to the port qualifier % 32001 + 33534, at both ends, as in other
 * DAT providers.  Two qualifiers that are mapped to the same port exclude each other:
 * DAT_CONN_QUAL_IN_USE.
 *
 * Arguments of these calls:
 *
 *	`evd`		the EVD for the requests; it has the stream DAT_EVD_CR_FLAG
 *	`qual`		the connection qualifier to listen on: the port number, not 0
 *	`flags`		DAT_PSP_CONSUMER_FLAG or DAT_PSP_PROVIDER_FLAG: which side creates the
 *			endpoint
 *	`psp`, `rsp`, `csp`  the service point
 *	`cr`		the connection request
 *
 * dat_api_ia.h explains how the calls are described.
 */
#include <dat2/udat.h>

#ifndef _DAT_API_SP_H_
#define _DAT_API_SP_H_

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Creates a public service point: listens on a connection qualifier.  Each request becomes a
 * CONNECTION_REQUEST event on `evd`.
 *
 * If `evd` is full a request is refused, and its sender gets NON_PEER_REJECTED.  The first refusal
 * is reported on the asynchronous EVD as DAT_ASYNC_ERROR_EVD_OVERFLOW.  There is no second report
 * until `evd` was empty of connection requests and other posted events.  A report that was not
 * dequeued yet is replaced by the next one.  `evd` stays usable: requests cannot make
 * dat_evd_wait() or dat_evd_dequeue() fail.
 *
 * With DAT_PSP_PROVIDER_FLAG the provider creates an endpoint for each request; the attribute
 * ep_creator shows whether it can.  dat_cr_query() returns the endpoint.  It has the default
 * attributes, but no protection zone and no EVDs; set them with dat_ep_modify().  It is freed if
 * the request is rejected, and belongs to the consumer when the request is accepted.
 *
 *	`psp`		output: the new service point
 *
 *	DAT_SUCCESS				*psp listens
 *	DAT_INVALID_HANDLE/IA			ia is not an open IA
 *	DAT_INVALID_HANDLE/EVD_CR		evd is not an EVD with the CR stream
 *	DAT_INVALID_PARAMETER/ARG2		qual is 0
 *	DAT_INVALID_PARAMETER/ARG4		unknown flag
 *	DAT_INVALID_PARAMETER/ARG5		psp is NULL
 *	DAT_CONN_QUAL_IN_USE			the qualifier is in use: at this address, or by a
 *						program that listens at the wildcard address
 *	DAT_CONN_QUAL_UNAVAILABLE		this user may not use the port
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *	DAT_MODEL_NOT_SUPPORTED			the provider does not create endpoints
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_psp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL qual, DAT_EVD_HANDLE evd,
			    DAT_PSP_FLAGS flags, DAT_PSP_HANDLE *psp);

/*
 * Creates a public service point at a free port.  As dat_psp_create(), with a qualifier that the
 * provider chooses and returns in `*qual`.
 *
 *	`qual`		output: the connection qualifier
 *	`psp`		output: the new service point
 *
 *	DAT_SUCCESS				*psp listens on *qual
 *	DAT_INVALID_PARAMETER/ARG2		qual is NULL
 *	DAT_INVALID_HANDLE/IA			ia is not an open IA
 *	DAT_INVALID_HANDLE/EVD_CR		evd is not an EVD with the CR stream
 *	DAT_INVALID_PARAMETER/ARG4		unknown flag
 *	DAT_INVALID_PARAMETER/ARG5		psp is NULL
 *	DAT_CONN_QUAL_UNAVAILABLE		no qualifier is free
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *	DAT_MODEL_NOT_SUPPORTED			the provider does not create endpoints
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_psp_create_any(DAT_IA_HANDLE ia, DAT_CONN_QUAL *qual, DAT_EVD_HANDLE evd,
			    DAT_PSP_FLAGS flags, DAT_PSP_HANDLE *psp);

/*
 * Returns the parameters of a public service point.
 *
 *	DAT_SUCCESS				the requested members are filled in
 *	DAT_INVALID_HANDLE/PSP			psp is not a public service point
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_psp_query(DAT_PSP_HANDLE psp, DAT_PSP_PARAM_MASK mask,
			    DAT_PSP_PARAM *param);

/*
 * Frees a public service point.  Later requests are refused as if it had never existed.  Requests
 * that were delivered stay valid.
 *
 *	DAT_SUCCESS				the service point is freed
 *	DAT_INVALID_HANDLE/PSP			psp is not a public service point
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_psp_free(DAT_PSP_HANDLE psp);

/*
 * Creates a reserved service point: listens for one request and reserves an unconnected endpoint
 * for it.  Accept the request with the endpoint DAT_HANDLE_NULL.
 *
 *	`ep`		the unconnected endpoint for the request
 *	`rsp`		output: the new service point
 *
 *	DAT_SUCCESS				*rsp listens, ep is reserved
 *	DAT_INVALID_HANDLE/IA, EP, EVD_CR	the argument is not one
 *	DAT_INVALID_PARAMETER/ARG2		qual is 0
 *	DAT_INVALID_PARAMETER/ARG5		rsp is NULL
 *	DAT_INVALID_STATE/state			ep is not unconnected
 *	DAT_CONN_QUAL_IN_USE			the qualifier is in use: as with dat_psp_create()
 *	DAT_CONN_QUAL_UNAVAILABLE		this user may not use the port
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_rsp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL qual, DAT_EP_HANDLE ep,
			    DAT_EVD_HANDLE evd, DAT_RSP_HANDLE *rsp);

/*
 * Returns the parameters of a reserved service point.
 *
 *	DAT_SUCCESS				the requested members are filled in
 *	DAT_INVALID_HANDLE/RSP			rsp is not a reserved service point
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_rsp_query(DAT_RSP_HANDLE rsp, DAT_RSP_PARAM_MASK mask,
			    DAT_RSP_PARAM *param);

/*
 * Frees a reserved service point.  If no request came, the endpoint is unconnected again.
 *
 *	DAT_SUCCESS				the service point is freed
 *	DAT_INVALID_HANDLE/RSP			rsp is not a reserved service point
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_rsp_free(DAT_RSP_HANDLE rsp);

/*
 * Creates a common service point: listens on a socket address, whose port is the qualifier.
 * Requests arrive as with dat_psp_create(); dat_ep_connect() and dat_ep_common_connect() both
 * reach it.  The address is that of the adapter, or the wildcard address.  With port 0 the
 * provider chooses a port; dat_csp_query() returns it.  `comm` has the family of the address,
 * SOCK_STREAM, and 0 or IPPROTO_TCP.  Not in Debian's libdat2.
 *
 *	`comm`		the arguments of socket(2): domain, type and protocol
 *	`address`	the address and the port to listen on
 *	`csp`		output: the new service point
 *
 *	DAT_SUCCESS				*csp listens
 *	DAT_INVALID_HANDLE/IA, EVD_CR		the argument is not one
 *	DAT_INVALID_PARAMETER/ARG2, ARG3, ARG5	a pointer is NULL
 *	DAT_COMM_NOT_SUPPORTED			the communicator is not supported
 *	DAT_INVALID_ADDRESS/UNSUPPORTED		the family of the address is not supported
 *	DAT_INVALID_ADDRESS/UNREACHABLE		the address is not of this adapter
 *	DAT_PORT_IN_USE				the qualifier is in use
 *	DAT_CONN_QUAL_UNAVAILABLE		this user may not use the port
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *	DAT_MODEL_NOT_SUPPORTED			the provider has no common service points
 *
 * Threads: any.  From: headers; DAT 2.0.
 */
DAT_RETURN DAT_API dat_csp_create(DAT_IA_HANDLE ia, DAT_COMM *comm, DAT_IA_ADDRESS_PTR address,
			    DAT_EVD_HANDLE evd, DAT_CSP_HANDLE *csp);

/*
 * Returns the parameters of a common service point.  Communicator and address are memory of the
 * provider; they are valid until the service point is freed.  Not in Debian's libdat2.
 *
 *	DAT_SUCCESS				the requested members are filled in
 *	DAT_INVALID_HANDLE/CSP			csp is not a common service point
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *	DAT_MODEL_NOT_SUPPORTED			the provider has no common service points
 *
 * Threads: any.  From: headers; DAT 2.0.
 */
DAT_RETURN DAT_API dat_csp_query(DAT_CSP_HANDLE csp, DAT_CSP_PARAM_MASK mask,
			    DAT_CSP_PARAM *param);

/*
 * Frees a common service point.  As with dat_psp_free(), delivered requests stay valid.  Not in
 * Debian's libdat2.
 *
 *	DAT_SUCCESS				the service point is freed
 *	DAT_INVALID_HANDLE/CSP			csp is not a common service point
 *	DAT_MODEL_NOT_SUPPORTED			the provider has no common service points
 *
 * Threads: any.  From: headers; DAT 2.0.
 */
DAT_RETURN DAT_API dat_csp_free(DAT_CSP_HANDLE csp);

/*
 * Returns the parameters of a connection request: the address of its sender and the private data.
 * The private data is memory of the provider; the program may change it.  It is valid until the
 * request is accepted or rejected.  On InfiniBand and RoCE private_data_size is 56 whatever the
 * sender has passed, and the rest is zero; dat_ep_connect() has the reason.
 *
 *	DAT_SUCCESS				the requested members are filled in
 *	DAT_INVALID_HANDLE/CR			cr is no request, or was answered
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_cr_query(DAT_CR_HANDLE cr, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM *param);

/*
 * Accepts a request with an endpoint.  The result is one event on the connect EVD of the endpoint:
 * ESTABLISHED or ACCEPT_COMPLETION_ERROR.  Post receives first, because the other side may send at
 * once.
 *
 * `ep` must be unconnected.  A request to a reserved service point, or one for which the provider
 * created an endpoint, can be accepted with that endpoint only: pass it, or DAT_HANDLE_NULL.  The
 * answer carries up to max_private_data_size bytes.
 *
 *	`ep`		the endpoint to connect, or DAT_HANDLE_NULL
 *
 *	DAT_SUCCESS				the answer is sent; cr is not valid any more
 *	DAT_INVALID_HANDLE/CR			cr is no request, or was answered
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint, or not the required one
 *	DAT_INVALID_PARAMETER/ARG3		size is negative or more than max_private_data_size
 *	DAT_INVALID_PARAMETER/ARG4		size is not 0 and data NULL
 *	DAT_INVALID_STATE/EP_NOTREADY		the endpoint has no connect EVD
 *	DAT_INVALID_STATE/EP_UNCONFTENTATIVE	the endpoint of the provider has no protection zone
 *	DAT_INVALID_STATE/state			ep is not unconnected
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory, or no address handle for an endpoint for
 *						datagrams; the request stays
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep, DAT_COUNT size,
			    const DAT_CONST_PVOID data);

/*
 * Rejects a request: the other side gets PEER_REJECTED with the private data.  An endpoint that
 * the provider created for the request is freed.
 *
 *	DAT_SUCCESS				cr is not valid any more
 *	DAT_INVALID_HANDLE/CR			cr is no request, or was answered
 *	DAT_INVALID_PARAMETER/ARG2		size is negative or more than max_private_data_size
 *	DAT_INVALID_PARAMETER/ARG3		size is not 0 and data NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_cr_reject(DAT_CR_HANDLE cr, DAT_COUNT size, const DAT_CONST_PVOID data);

/*
 * Passes a request to another service point of the same IA.  It arrives there anew: with a new
 * handle and, if the service point has one for it, an endpoint.  The endpoint that the provider
 * created for `cr` is freed.  If the EVD of that service point is full, the request is refused.
 *
 *	`qual`		the connection qualifier of the other service point
 *
 *	DAT_SUCCESS				cr is not valid any more
 *	DAT_INVALID_HANDLE/CR			cr is no request, or was answered
 *	DAT_CONN_QUAL_UNAVAILABLE		no service point of the IA listens there, or it has
 *						no endpoint for a further request
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory: cr stays valid
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_cr_handoff(DAT_CR_HANDLE cr, DAT_CONN_QUAL qual);

#ifdef __cplusplus
}
#endif

#endif
