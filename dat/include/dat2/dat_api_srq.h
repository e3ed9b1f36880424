/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_srq.h -- shared receive queues: one queue of receive buffers for many endpoints
 *
 * No provider of Rearm has any: srq_supported is false and max_srqs 0.
 *
 * dat_api_ia.h says how the calls are described.
 */
#include <dat2/udat.h>

#ifndef _DAT_API_SRQ_H_
#define _DAT_API_SRQ_H_

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Creates a shared receive queue.  The depth may be more than was asked for.
 *
 * Not served: a provider of Rearm answers DAT_NOT_IMPLEMENTED.
 *
 *	DAT_SUCCESS				*srq is the new queue
 *	DAT_INVALID_HANDLE/IA, PZ		ia or pz is not one
 *	DAT_INVALID_PARAMETER/ARG3		attr is NULL or a member out of range
 *	DAT_INVALID_PARAMETER/ARG4		srq is NULL
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY, SRQ	no memory, or no further queue
 *	DAT_MODEL_NOT_SUPPORTED			the device has none
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_srq_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_SRQ_ATTR *attr,
			    DAT_SRQ_HANDLE *srq);

/*
 * Tells the parameters of a shared receive queue.  The counts are DAT_VALUE_UNKNOWN if the device
 * does not tell.
 *
 * Not served: a provider of Rearm makes no such handle and answers DAT_INVALID_HANDLE/SRQ.
 *
 *	DAT_SUCCESS				the members asked for are filled in
 *	DAT_INVALID_HANDLE/SRQ			srq is not one
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_srq_query(DAT_SRQ_HANDLE srq, DAT_SRQ_PARAM_MASK mask,
			    DAT_SRQ_PARAM *param);

/*
 * Posts a buffer of `segments` pieces for one message of any endpoint of the queue.  The
 * completion comes on the receive EVD of the endpoint that got the message.
 *
 * Not served: a provider of Rearm makes no such handle and answers DAT_INVALID_HANDLE/SRQ.
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/SRQ			srq is not one
 *	DAT_INVALID_PARAMETER/ARG2		segments is negative or more than the queue has
 *	DAT_INVALID_PARAMETER/ARG3		iov is NULL with segments
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	as many are outstanding as the queue has
 *	DAT_INVALID_STATE/SRQ_ERROR		the queue is in error
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_srq_post_recv(DAT_SRQ_HANDLE srq, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
			    DAT_DTO_COOKIE cookie);

/*
 * Changes how many buffers the queue can have outstanding.
 *
 * Not served: a provider of Rearm makes no such handle and answers DAT_INVALID_HANDLE/SRQ.
 *
 *	DAT_SUCCESS				it has at least as many
 *	DAT_INVALID_HANDLE/SRQ			srq is not one
 *	DAT_INVALID_PARAMETER/ARG2		not positive, or more than the device has
 *	DAT_INVALID_STATE			more buffers are outstanding than that
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory: the depth is as before
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_srq_resize(DAT_SRQ_HANDLE srq, DAT_COUNT max_recv_dtos);

/*
 * Sets the low watermark: one asynchronous event, reason DAT_SRQ_LOW_WATERMARK_EVENT, once fewer
 * buffers are left; then it has to be set again.  DAT_SRQ_LW_DEFAULT is no event.
 *
 * Not served: a provider of Rearm makes no such handle and answers DAT_INVALID_HANDLE/SRQ.
 *
 *	DAT_SUCCESS				it is set
 *	DAT_INVALID_HANDLE/SRQ			srq is not one
 *	DAT_INVALID_PARAMETER/ARG2		negative, or more than the depth
 *	DAT_NOT_IMPLEMENTED			srq_watermarks_supported is 0
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_srq_set_lw(DAT_SRQ_HANDLE srq, DAT_COUNT low_watermark);

/*
 * Destroys a shared receive queue.  Posted buffers are the consumer's again.
 *
 * Not served: a provider of Rearm makes no such handle and answers DAT_INVALID_HANDLE/SRQ.
 *
 *	DAT_SUCCESS				the handle is not valid any more
 *	DAT_INVALID_HANDLE/SRQ			srq is not one
 *	DAT_INVALID_STATE/SRQ_IN_USE		an endpoint receives from it
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_srq_free(DAT_SRQ_HANDLE srq);

#ifdef __cplusplus
}
#endif

#endif
