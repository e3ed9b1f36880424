/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_srq.h -- shared receive queues: receive buffers for many endpoints
 *
 * An endpoint that dat_ep_create_with_srq() created receives into these buffers.  The buffers are
 * taken in the order in which messages arrive at any of the endpoints, not in the order of posting
 * at one of them.  A buffer that no message took stays posted when an endpoint disconnects.  The
 * attribute srq_supported of the provider is true if the device has shared receive queues; if not,
 * dat_srq_create() returns DAT_MODEL_NOT_SUPPORTED, and no program has a queue for the other calls.
 *
 * When an endpoint is freed or reset, the events of its receives that are queued are removed, and
 * these buffers are posted no longer.  A program that must know which ones dequeues them first:
 * none comes after DISCONNECTED if both come to one EVD.
 *
 * When the connection of such an endpoint has ended, there is one DAT_ASYNC_ERROR_EP_BROKEN with
 * the endpoint: it takes no further buffer.  An event that is not dequeued yet is replaced by that
 * of the endpoint's next connection.
 *
 * Arguments of these calls:
 *
 *	`srq`		the shared receive queue
 *
 * dat_api_ia.h explains how the calls are described.
 */
#include <dat2/udat.h>

#ifndef _DAT_API_SRQ_H_
#define _DAT_API_SRQ_H_

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Creates a shared receive queue.  Its depth may be more than requested.  The low watermark counts
 * from the moment when so many buffers are posted: see dat_srq_set_lw().
 *
 *	`pz`		the protection zone of the buffers
 *	`attr`		max_recv_dtos, the number of buffers; max_recv_iov, the number of pieces of
 *		each; low_watermark, a number of buffers
 *	`srq`		output: the new queue
 *
 *	DAT_SUCCESS				*srq is the new queue
 *	DAT_INVALID_HANDLE/IA, PZ		ia or pz is not valid
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
 * Returns the parameters of a shared receive queue.  available_dto_count: buffers whose completion
 * was not yet taken from the device.  outstanding_dto_count: those, and the buffers whose
 * completion event was not yet dequeued; so many are not available for dat_srq_post_recv().
 *
 *	DAT_SUCCESS				the requested members are filled in
 *	DAT_INVALID_HANDLE/SRQ			srq is not a shared receive queue
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_srq_query(DAT_SRQ_HANDLE srq, DAT_SRQ_PARAM_MASK mask,
			    DAT_SRQ_PARAM *param);

/*
 * Posts a receive buffer for one message to any endpoint of the queue.  The completion comes on the
 * receive EVD of the endpoint that got the message.
 *
 *	DAT_SUCCESS				it is posted
 *	DAT_INVALID_HANDLE/SRQ			srq is not a shared receive queue
 *	DAT_INVALID_PARAMETER/ARG2		segments is negative or more than the queue has
 *	DAT_INVALID_PARAMETER/ARG3		iov is NULL with segments
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	as many buffers are outstanding as the queue has;
 *						dequeue events
 *	DAT_INVALID_STATE/SRQ_ERROR		the queue is in error
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_srq_post_recv(DAT_SRQ_HANDLE srq, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
			    DAT_DTO_COOKIE cookie);

/*
 * Changes how many buffers the queue can have outstanding.
 *
 *	`max_recv_dtos`  the number of buffers
 *
 *	DAT_SUCCESS				the queue holds at least as many
 *	DAT_INVALID_HANDLE/SRQ			srq is not a shared receive queue
 *	DAT_INVALID_PARAMETER/ARG2		not positive, or more than the device has
 *	DAT_INVALID_STATE			more buffers are outstanding, or the low watermark
 *						is higher
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY, SRQ	no memory: nothing has changed
 *	DAT_MODEL_NOT_SUPPORTED			the device cannot lengthen a queue
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_srq_resize(DAT_SRQ_HANDLE srq, DAT_COUNT max_recv_dtos);

/*
 * Sets the low watermark.  When fewer buffers are left, there is one DAT_ASYNC_ERROR_EP_BROKEN
 * with the queue and the reason DAT_SRQ_LOW_WATERMARK_EVENT; then the watermark must be set again.
 * DAT_SRQ_LW_DEFAULT: no event.  An event that is not dequeued yet is replaced by the next.
 *
 *	`low_watermark`  the number of buffers, or DAT_SRQ_LW_DEFAULT
 *
 *	DAT_SUCCESS				it is set
 *	DAT_INVALID_HANDLE/SRQ			srq is not a shared receive queue
 *	DAT_INVALID_PARAMETER/ARG2		negative, or more than the depth
 *	DAT_MODEL_NOT_SUPPORTED			the device has no watermark
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_srq_set_lw(DAT_SRQ_HANDLE srq, DAT_COUNT low_watermark);

/*
 * Frees a shared receive queue.  Posted buffers belong to the consumer again.
 *
 *	DAT_SUCCESS				the queue is freed
 *	DAT_INVALID_HANDLE/SRQ			srq is not a shared receive queue
 *	DAT_INVALID_STATE/SRQ_IN_USE		an endpoint receives from it
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_srq_free(DAT_SRQ_HANDLE srq);

#ifdef __cplusplus
}
#endif

#endif
