/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_memory.h -- protection zones, local and remote memory regions
 *
 * The privileges that a region needs: LOCAL_READ to send from it and for the source of an RDMA
 * write, LOCAL_WRITE to receive into it and for the destination of an RDMA read.  REMOTE_READ and
 * REMOTE_WRITE let the other side read and write it by RDMA.  A transfer without LOCAL_WRITE,
 * REMOTE_READ or REMOTE_WRITE completes with an error, and the connection breaks.  RDMA devices do
 * not check LOCAL_READ, and REMOTE_WRITE gives LOCAL_WRITE, too; do not depend on either.
 *
 * The order of the end: transfers complete or their endpoints are freed, then dat_lmr_free(), then
 * the memory itself.  A zone is freed after its regions and endpoints.
 *
 * Arguments of these calls:
 *
 *	`pz`		the protection zone
 *	`lmr`		the local region
 *	`rmr`		the remote region
 *	`privileges`	bits: DAT_MEM_PRIV_LOCAL_READ_FLAG, DAT_MEM_PRIV_REMOTE_WRITE_FLAG and
 *			others
 *	`va_type`	where its addresses start: DAT_VA_TYPE_VA or DAT_VA_TYPE_ZB
 *
 * dat_api_ia.h explains how the calls are described.
 */
#include <dat2/udat.h>

#ifndef _DAT_API_MEMORY_H_
#define _DAT_API_MEMORY_H_

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Creates a protection zone.  Endpoints can use the regions of their own zone.
 *
 *	`pz`		output: the new zone
 *
 *	DAT_SUCCESS				*pz is the new zone
 *	DAT_INVALID_HANDLE/IA			ia is not an open IA
 *	DAT_INVALID_PARAMETER/ARG2		pz is NULL
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *	DAT_INSUFFICIENT_RESOURCES/PROTECTION_DOMAIN
 *						no more zones
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_pz_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE *pz);

/*
 * Returns the IA of a protection zone.
 *
 *	DAT_SUCCESS				param is filled in
 *	DAT_INVALID_HANDLE/PZ			pz is not a protection zone
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_pz_query(DAT_PZ_HANDLE pz, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM *param);

/*
 * Frees a protection zone.
 *
 *	DAT_SUCCESS				the zone is freed
 *	DAT_INVALID_HANDLE/PZ			pz is not a protection zone
 *	DAT_INVALID_STATE/PZ_IN_USE		an endpoint, region or shared receive queue uses it
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_pz_free(DAT_PZ_HANDLE pz);

/*
 * Registers memory with the device.
 *
 * `type` selects the member of `region`.  VIRTUAL: `length` bytes at for_va.  LMR: another handle
 * for the memory of for_lmr_handle, whatever `length` is.  SHARED_VIRTUAL: `length` bytes at
 * virtual_address of for_shared_memory, which processes share under one identifier; the call copies
 * the identifier.  With DAT_VA_TYPE_ZB the addresses in segments start at zero, if zb_supported is
 * true.  The registered region contains the memory, and may be larger: it starts at
 * `*registered_address`, which is 0 for a zero-based region.
 * Local segments use `*lmr_context`; the other side uses `*rmr_context`.  Each of the last four
 * pointers may be NULL.  The memory must stay mapped until dat_lmr_free().
 *
 *	`type`		DAT_MEM_TYPE_VIRTUAL, DAT_MEM_TYPE_LMR or DAT_MEM_TYPE_SHARED_VIRTUAL
 *	`region`	where the memory is
 *	`length`	in bytes
 *	`lmr`		output: the new region
 *	`lmr_context`	output: what local segments name the region by; or NULL
 *	`rmr_context`	output: what the other side names the region by; or NULL
 *	`registered_length`  output: in bytes; or NULL
 *	`registered_address`  output: where the region starts; or NULL
 *
 *	DAT_SUCCESS				*lmr is the new region
 *	DAT_INVALID_HANDLE/IA, PZ		ia is no open IA; pz is no protection zone
 *	DAT_INVALID_HANDLE/LMR			for_lmr_handle is not a local region
 *	DAT_INVALID_PARAMETER/ARG2		unknown type
 *	DAT_INVALID_PARAMETER/ARG3		the memory is not mapped, or does not allow the
 *						access; no shared_memory_id
 *	DAT_INVALID_PARAMETER/ARG4		length is 0 or more than the device has
 *	DAT_INVALID_PARAMETER/ARG6		unknown privileges
 *	DAT_INVALID_PARAMETER/ARG7		unknown type of address
 *	DAT_INVALID_PARAMETER/ARG8		lmr is NULL
 *	DAT_PRIVILEGES_VIOLATION		the process may not register memory
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY_REGION  the process may not lock so much memory, or the
 *						device has no more regions
 *	DAT_MODEL_NOT_SUPPORTED			zero-based addresses, and zb_supported is false, or
 *						the device has them for memory that begins with a
 *						page only
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_lmr_create(DAT_IA_HANDLE ia, DAT_MEM_TYPE type,
			    DAT_REGION_DESCRIPTION region, DAT_VLEN length, DAT_PZ_HANDLE pz,
			    DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
			    DAT_LMR_HANDLE *lmr, DAT_LMR_CONTEXT *lmr_context,
			    DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_length,
			    DAT_VADDR *registered_address);

/*
 * Returns the parameters of a local region.  The identifier of shared memory that region_desc leads
 * to is the provider's copy; it is valid until dat_lmr_free().
 *
 *	DAT_SUCCESS				the requested members are filled in
 *	DAT_INVALID_HANDLE/LMR			lmr is not a local region
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_lmr_query(DAT_LMR_HANDLE lmr, DAT_LMR_PARAM_MASK mask,
			    DAT_LMR_PARAM *param);

/*
 * Makes local writes to the segments visible to RDMA reads of the other side, on a machine that is
 * not coherent.  If lmr_sync_req is false it has no effect.
 *
 *	`segments`	pieces of regions: address, length in bytes, and lmr_context
 *	`count`		the number of pieces
 *
 *	DAT_SUCCESS				done
 *	DAT_INVALID_HANDLE/IA			ia is not an open IA
 *	DAT_INVALID_PARAMETER/ARG2		segments is NULL with a count
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_lmr_sync_rdma_read(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments,
			    DAT_VLEN count);

/*
 * Makes RDMA writes of the other side to the segments visible locally, on a machine that is not
 * coherent.  If lmr_sync_req is false it has no effect.
 *
 *	`segments`	pieces of regions: address, length in bytes, and lmr_context
 *	`count`		the number of pieces
 *
 *	DAT_SUCCESS				done
 *	DAT_INVALID_HANDLE/IA			ia is not an open IA
 *	DAT_INVALID_PARAMETER/ARG2		segments is NULL with a count
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_lmr_sync_rdma_write(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments,
			    DAT_VLEN count);

/*
 * Frees a local region.  Its contexts become invalid: requests that use them complete with an
 * error.
 *
 *	DAT_SUCCESS				the region is freed
 *	DAT_INVALID_HANDLE/LMR			lmr is not a local region
 *	DAT_INVALID_STATE/LMR_IN_USE		a remote region is bound to it; or a request that
 *						binds one to it, or away from it, was not
 *						executed yet, or its completion not polled
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_lmr_free(DAT_LMR_HANDLE lmr);

/*
 * Creates a remote region that is not bound to memory.  It can be used through every endpoint of
 * the protection zone; on a device that has only memory windows of type 2, through the endpoint
 * that it is bound on (rmr_scope of dat_rmr_query()).
 *
 *	`rmr`		output: the new region
 *
 *	DAT_SUCCESS				*rmr is the new region
 *	DAT_INVALID_HANDLE/PZ			pz is not a protection zone
 *	DAT_INVALID_PARAMETER/ARG2		rmr is NULL
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY_REGION  the process may not lock so much memory, or the
 *						device has no more regions
 *	DAT_MODEL_NOT_SUPPORTED			the device has no memory windows
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_rmr_create(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr);

/*
 * Creates a remote region for one endpoint.  As dat_rmr_create(), for use with the endpoint that it
 * is bound on only; the other end can invalidate it.  On a device without memory windows of type 2
 * it is as dat_rmr_create() makes it.  Not in Debian's libdat2.
 *
 *	`rmr`		output: the new region
 *
 *	DAT_SUCCESS				*rmr is the new region
 *	DAT_INVALID_HANDLE/PZ			pz is not a protection zone
 *	DAT_INVALID_PARAMETER/ARG2		rmr is NULL
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY_REGION  the process may not lock so much memory, or the
 *						device has no more regions
 *	DAT_MODEL_NOT_SUPPORTED			the device has no memory windows
 *
 * Threads: any.  From: headers; DAT 2.0.
 */
DAT_RETURN DAT_API dat_rmr_create_for_ep(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr);

/*
 * Returns the parameters of a remote region.
 *
 *	DAT_SUCCESS				the requested members are filled in
 *	DAT_INVALID_HANDLE/RMR			rmr is not a remote region
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_rmr_query(DAT_RMR_HANDLE rmr, DAT_RMR_PARAM_MASK mask,
			    DAT_RMR_PARAM *param);

/*
 * Binds a remote region to part of a local region.  That gives the other side access until it is
 * bound again.  The bind is a request of the endpoint: it completes with an RMR_BIND_COMPLETION
 * event on the request EVD, which must have DAT_EVD_RMR_BIND_FLAG, and later requests wait for it.
 * A length of 0 unbinds; `lmr` and `context` are then not used.  With DAT_VA_TYPE_ZB the addresses
 * that the other side uses start at zero.  The other side may use `*context`
 * when the bind has completed.  A bind that fails breaks the connection, and one that is flushed
 * leaves the region unbound, or as it was if the endpoint was disconnected before.
 *
 * With the endpoint of the last bind, the old range stays accessible until the new bind is
 * executed.  With another endpoint, a region for one endpoint loses it at once; and when its
 * endpoint is reset or freed it is unbound.  The other end must not invalidate the region while it
 * is bound again.  To unbind a region that is not bound has no effect, and may complete before
 * earlier requests.  A bind that is refused changes nothing.
 *
 *	`lmr`		the local region that contains the memory
 *	`range`		the memory: address, length in bytes, and lmr_context
 *	`ep`		the connected endpoint on which the request is posted
 *	`flags`		bits: DAT_COMPLETION_DEFAULT_FLAG, or DAT_COMPLETION_SUPPRESS_FLAG and
 *			others
 *	`context`	output: what the other side names the region by
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/RMR			rmr is not a remote region
 *	DAT_INVALID_HANDLE/LMR, EP		lmr or ep is not valid
 *	DAT_INVALID_PARAMETER/ARG3		range is NULL or not within the region
 *	DAT_INVALID_PARAMETER/ARG4, ARG5, ARG8	unknown privileges, type of address, flags
 *	DAT_INVALID_PARAMETER/ARG9		context is NULL
 *	DAT_PRIVILEGES_VIOLATION/READ, WRITE	lmr does not allow the privileges: for each that the
 *						other side is to have it must have the same, or
 *						that of local access; for atomics also local
 *						writes
 *	DAT_PROTECTION_VIOLATION		the three are not in one zone
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	the queue of the endpoint is full; a region for
 *						one endpoint that is bound needs two places, of
 *						which the endpoint has one spare
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY_REGION  no window for another endpoint
 *	DAT_INVALID_STATE			the last bind, through another endpoint, has not
 *						completed
 *	DAT_MODEL_NOT_SUPPORTED			va_type is DAT_VA_TYPE_ZB, and rmr is of a zone or
 *						zb_supported is false; or lmr is of memory that the
 *						process may not write
 *	DAT_INVALID_STATE/EP_EVD_REQUEST	the request EVD does not take bind completions
 *	DAT_INVALID_STATE/state			ep is not connected
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_rmr_bind(DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr,
			    const DAT_LMR_TRIPLET *range, DAT_MEM_PRIV_FLAGS privileges,
			    DAT_VA_TYPE va_type, DAT_EP_HANDLE ep, DAT_RMR_COOKIE cookie,
			    DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *context);

/*
 * Frees a remote region, which unbinds it.
 *
 *	DAT_SUCCESS				the region is freed
 *	DAT_INVALID_HANDLE/RMR			rmr is not a remote region
 *	DAT_INVALID_STATE			a bind of it has not completed
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_rmr_free(DAT_RMR_HANDLE rmr);

#ifdef __cplusplus
}
#endif

#endif
