/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_sp.h -- service points, which listen, and the connection requests they deliver
 *
 * A connection qualifier is a port number.  Over rdma_cm a qualifier up to 0xffff is the TCP port
 * itself; a larger one is mapped to qualifier % 32001 + 33534, as other DAT providers do.
 *
 * dat_api_ia.h says how the calls are described.
 */
#include <dat2/udat.h>

#ifndef _DAT_API_SP_H_
#define _DAT_API_SP_H_

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Listens on a connection qualifier.  Each request becomes a CONNECTION_REQUEST event on `evd`.
 * When that is full the request is refused: its side gets NON_PEER_REJECTED.  The asynchronous EVD
 * gets DAT_ASYNC_ERROR_EVD_OVERFLOW for the first refusal, and again only after `evd` was empty of
 * posted events in between; one that was not read yet stands for later ones.  `evd` goes on: no
 * number of requests can make dat_evd_wait() or dat_evd_dequeue() fail.
 *
 * DAT_PSP_PROVIDER_FLAG asks the provider to bring an endpoint with each request; the attribute
 * ep_creator says whether it does, and dat_cr_query() names the endpoint.  That has the default
 * attributes but neither protection zone nor EVDs; dat_ep_modify() gives it what it needs.  It goes
 * with the request when that is rejected, and is the consumer's like any other once it is accepted.
 *
 *	DAT_SUCCESS				*psp listens
 *	DAT_INVALID_HANDLE/IA			ia names no open IA
 *	DAT_INVALID_HANDLE/EVD_CR		evd is not an EVD with the CR stream
 *	DAT_INVALID_PARAMETER/ARG4		unknown flag
 *	DAT_INVALID_PARAMETER/ARG5		psp is NULL
 *	DAT_CONN_QUAL_IN_USE			somebody listens there already
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *	DAT_MODEL_NOT_SUPPORTED			the provider does not bring endpoints
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_psp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL qual, DAT_EVD_HANDLE evd,
			    DAT_PSP_FLAGS flags, DAT_PSP_HANDLE *psp);

/*
 * As dat_psp_create(), on a qualifier that the provider chooses and tells in `*qual`.
 *
 *	DAT_SUCCESS				*psp listens on *qual
 *	DAT_INVALID_PARAMETER/ARG2		qual is NULL
 *	DAT_INVALID_HANDLE/IA			ia names no open IA
 *	DAT_INVALID_HANDLE/EVD_CR		evd is not an EVD with the CR stream
 *	DAT_INVALID_PARAMETER/ARG4		unknown flag
 *	DAT_INVALID_PARAMETER/ARG5		psp is NULL
 *	DAT_CONN_QUAL_UNAVAILABLE		none is free
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_psp_create_any(DAT_IA_HANDLE ia, DAT_CONN_QUAL *qual, DAT_EVD_HANDLE evd,
			    DAT_PSP_FLAGS flags, DAT_PSP_HANDLE *psp);

/*
 * Tells the parameters of a public service point.
 *
 *	DAT_SUCCESS				the members asked for are filled in
 *	DAT_INVALID_HANDLE/PSP			psp is not one
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_psp_query(DAT_PSP_HANDLE psp, DAT_PSP_PARAM_MASK mask,
			    DAT_PSP_PARAM *param);

/*
 * Stops listening: later requests are refused as if nobody ever had.  Requests that were delivered
 * stay valid.
 *
 *	DAT_SUCCESS				the handle is not valid any more
 *	DAT_INVALID_HANDLE/PSP			psp is not one
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_psp_free(DAT_PSP_HANDLE psp);

/*
 * Listens for exactly one request and reserves an unconnected endpoint for it.  The request is
 * accepted with ep DAT_HANDLE_NULL.
 *
 *	DAT_SUCCESS				*rsp listens, ep is reserved
 *	DAT_INVALID_HANDLE/IA, EP, EVD_CR	one of them is not one
 *	DAT_INVALID_PARAMETER/ARG5		rsp is NULL
 *	DAT_INVALID_STATE/state			ep is not unconnected
 *	DAT_CONN_QUAL_IN_USE			somebody listens there already
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_rsp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL qual, DAT_EP_HANDLE ep,
			    DAT_EVD_HANDLE evd, DAT_RSP_HANDLE *rsp);

/*
 * Tells the parameters of a reserved service point.
 *
 *	DAT_SUCCESS				the members asked for are filled in
 *	DAT_INVALID_HANDLE/RSP			rsp is not one
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_rsp_query(DAT_RSP_HANDLE rsp, DAT_RSP_PARAM_MASK mask,
			    DAT_RSP_PARAM *param);

/*
 * Stops listening.  If no request came the endpoint is unconnected again.
 *
 *	DAT_SUCCESS				the handle is not valid any more
 *	DAT_INVALID_HANDLE/RSP			rsp is not one
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_rsp_free(DAT_RSP_HANDLE rsp);

/*
 * Listens on a socket address, whose port is the qualifier: what comes is as with
 * dat_psp_create(), and either way of connecting reaches it.  The address is the adapter's or any;
 * port 0 leaves the port to the provider, which dat_csp_query() tells.  `comm` is the family of the
 * address, SOCK_STREAM, and 0 or IPPROTO_TCP.  Not in Debian's libdat2.
 *
 *	DAT_SUCCESS				*csp listens
 *	DAT_INVALID_HANDLE/IA, EVD_CR		one of them is not one
 *	DAT_INVALID_PARAMETER/ARG2, ARG3, ARG5	a pointer is NULL
 *	DAT_COMM_NOT_SUPPORTED			the communicator
 *	DAT_INVALID_ADDRESS/UNSUPPORTED		the family of the address
 *	DAT_INVALID_ADDRESS/UNREACHABLE		the address is not of this adapter
 *	DAT_PORT_IN_USE				somebody listens there already
 *	DAT_CONN_QUAL_UNAVAILABLE		the port is not for this user
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *	DAT_MODEL_NOT_SUPPORTED			the provider has none
 *
 * Threads: any.  From: headers; DAT 2.0.
 */
DAT_RETURN DAT_API dat_csp_create(DAT_IA_HANDLE ia, DAT_COMM *comm, DAT_IA_ADDRESS_PTR address,
			    DAT_EVD_HANDLE evd, DAT_CSP_HANDLE *csp);

/*
 * Tells the parameters of a common service point.  Communicator and address are the provider's
 * memory and live as long as the service point.  Not in Debian's libdat2.
 *
 *	DAT_SUCCESS				the members asked for are filled in
 *	DAT_INVALID_HANDLE/CSP			csp is not one
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *	DAT_MODEL_NOT_SUPPORTED			the provider has none
 *
 * Threads: any.  From: headers; DAT 2.0.
 */
DAT_RETURN DAT_API dat_csp_query(DAT_CSP_HANDLE csp, DAT_CSP_PARAM_MASK mask,
			    DAT_CSP_PARAM *param);

/*
 * Stops listening, as dat_psp_free() does.  Not in Debian's libdat2.
 *
 *	DAT_SUCCESS				the handle is not valid any more
 *	DAT_INVALID_HANDLE/CSP			csp is not one
 *	DAT_MODEL_NOT_SUPPORTED			the provider has none
 *
 * Threads: any.  From: headers; DAT 2.0.
 */
DAT_RETURN DAT_API dat_csp_free(DAT_CSP_HANDLE csp);

/*
 * Tells who asks for a connection, and what came with the request.  The private data is the
 * provider's memory; it may be changed, and lives until the request was accepted or rejected.
 *
 *	DAT_SUCCESS				the members asked for are filled in
 *	DAT_INVALID_HANDLE/CR			cr is not one, or was answered
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_cr_query(DAT_CR_HANDLE cr, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM *param);

/*
 * Accepts a request on an endpoint.  What becomes of it is one event on the endpoint's connect
 * EVD: ESTABLISHED or ACCEPT_COMPLETION_ERROR.  Post receives before: the other side may send at
 * once.
 *
 * `ep` is unconnected.  A request to a reserved service point, or one whose endpoint the provider
 * brought, is accepted on that endpoint alone: named, or DAT_HANDLE_NULL.  Up to
 * max_private_data_size bytes go with the answer.
 *
 *	DAT_SUCCESS				it is on the way; cr is not valid any more
 *	DAT_INVALID_HANDLE/CR			cr is not one, or was answered
 *	DAT_INVALID_HANDLE/EP			ep is not an endpoint, or another than is due
 *	DAT_INVALID_PARAMETER/ARG3		size is negative or more than max_private_data_size
 *	DAT_INVALID_PARAMETER/ARG4		size is not 0 and data NULL
 *	DAT_INVALID_STATE/EP_NOTREADY		the endpoint has no connect EVD
 *	DAT_INVALID_STATE/EP_UNCONFTENTATIVE	the endpoint that was brought has no protection zone
 *	DAT_INVALID_STATE/state			ep is not unconnected
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep, DAT_COUNT size,
			    const DAT_PVOID data);

/*
 * Rejects a request: the other side gets PEER_REJECTED with the private data.  An endpoint that the
 * provider brought with it goes, too.
 *
 *	DAT_SUCCESS				cr is not valid any more
 *	DAT_INVALID_HANDLE/CR			cr is not one, or was answered
 *	DAT_INVALID_PARAMETER/ARG2		size is negative or more than max_private_data_size
 *	DAT_INVALID_PARAMETER/ARG3		size is not 0 and data NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_cr_reject(DAT_CR_HANDLE cr, DAT_COUNT size, const DAT_PVOID data);

/*
 * Hands a request on to another connection qualifier of the host.  No known provider can.
 *
 * Not served: a provider of Rearm answers DAT_NOT_IMPLEMENTED.
 *
 *	DAT_SUCCESS				cr is not valid any more
 *	DAT_INVALID_HANDLE/CR			cr is not one, or was answered
 *	DAT_CONN_QUAL_UNAVAILABLE		nobody listens there
 *	DAT_NOT_IMPLEMENTED			the provider cannot
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_cr_handoff(DAT_CR_HANDLE cr, DAT_CONN_QUAL qual);

#ifdef __cplusplus
}
#endif

#endif
