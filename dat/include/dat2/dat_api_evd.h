/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_evd.h -- event dispatchers: a queue of events from one or more streams
 *
 * The events of an EVD go to one of these at a time: a thread in dat_evd_wait(), the upcall of the
 * consumer (dat_upcall.h), or a CNO.  If there is none of them, the events stay queued for
 * dat_evd_dequeue().  Events leave in the order of arrival.  For each endpoint, ESTABLISHED comes
 * before its successful completions, and these come before DISCONNECTED or BROKEN.  With a provider
 * of Rearm the flushed completions, too, come before these two on the same EVD, and the receives of
 * an attempt to connect before the event of its failure, such as PEER_REJECTED.  (A device that has
 * not completed the requests after 0.1 seconds is not waited for: their completions, also
 * successful ones, come after the event then.)  Only what is posted after the end, before the
 * program has dequeued its event, too, completes as flushed after that event: so free or reset the
 * endpoint before its buffers.  If completions go to another EVD, dequeue there until it is empty,
 * after the event of the end.
 *
 * A call that returns an event writes its number, the EVD, and every member of the data that an
 * event of this number has.  The other bytes of the DAT_EVENT may stay as they were.
 *
 * How long an EVD should be: one entry for each request and each receive that its endpoints can
 * have outstanding (max_request_dtos, max_recv_dtos), two for each endpoint whose connection events
 * go to it, and one for each software event and each connection request that may wait there.  A
 * provider of Rearm loses no completion in a shorter EVD: completions that find no room wait in the
 * completion queue of the device, which grows with the endpoints if the device can change its
 * length.  Other events need room in the EVD itself.  A connection event that finds none is lost:
 * see dat_evd_post_se().
 *
 * To pass an event to another thread, copy the DAT_EVENT; the copy stays valid.  Private data that
 * it points to stays valid as dat.h and dat_cr_query() describe.
 *
 * Arguments of these calls:
 *
 *	`evd`		the EVD
 *	`min_qlen`	the number of events that the EVD must be able to hold
 *	`cno`		a CNO, or DAT_HANDLE_NULL
 *	`event`		output: the event
 *
 * dat_api_ia.h explains how the calls are described.
 */
#include <dat2/udat.h>

#ifndef _DAT_API_EVD_H_
#define _DAT_API_EVD_H_

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Creates an EVD.
 *
 * `min_qlen` is the number of events that the EVD must be able to hold; dat_evd_query() returns
 * the real number.  `cno` may be DAT_HANDLE_NULL.  `flags` are the streams of the EVD.  The
 * attribute evd_stream_merging_supported of the provider shows which streams may be combined: with
 * a provider of Rearm all of them.  If software events and connection events are, limit the
 * software events: see dat_evd_post_se().  The stream of RMR binds is always allowed, but stays
 * empty if the provider has no RMRs (max_rmrs is 0).  A new EVD is enabled and waitable, and has no
 * upcall.
 *
 *	`flags`		the streams: bits such as DAT_EVD_DTO_FLAG, DAT_EVD_CONNECTION_FLAG and
 *			DAT_EVD_CR_FLAG
 *	`evd`		output: the new EVD
 *
 *	DAT_SUCCESS				*evd is the new EVD
 *	DAT_INVALID_HANDLE/IA			ia is not an open IA
 *	DAT_INVALID_HANDLE/CNO			cno is neither NULL nor a CNO
 *	DAT_INVALID_PARAMETER/ARG2		min_qlen is not positive
 *	DAT_INVALID_PARAMETER/ARG4		no stream, an unknown one, or streams that do not
 *						merge
 *	DAT_INVALID_PARAMETER/ARG5		evd is NULL
 *	DAT_INSUFFICIENT_RESOURCES/TEVD		min_qlen is more than the device has
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory, or no completion queue
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_create(DAT_IA_HANDLE ia, DAT_COUNT min_qlen, DAT_CNO_HANDLE cno,
    DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd);

/*
 * Returns the parameters of an EVD: its IA, real queue length, state bits, CNO and streams.
 *
 *	DAT_SUCCESS				the requested members are filled in
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_query(DAT_EVD_HANDLE evd, DAT_EVD_PARAM_MASK mask, DAT_EVD_PARAM *param);

/*
 * Waits for events: takes the oldest one when enough are queued.
 *
 * `timeout` is in microseconds and starts with the call; it is measured on the monotonic clock,
 * and wake-ups do not restart it.  0 does not wait, DAT_TIMEOUT_INFINITE has no limit.  The call
 * returns when at least `threshold` events are queued.  It removes the oldest event and copies it
 * to `*event`.  `*more` is the number of events that are known to be left, at least `threshold` -
 * 1.  The device is not polled for it, so it may have more: 0 does not mean that the EVD is empty.
 * A `threshold` above 1 requires that all endpoints of the EVD use
 * DAT_COMPLETION_EVD_THRESHOLD_FLAG.
 *
 *	`threshold`	the number of events to wait for, at least 1
 *	`more`		output: the number of events that are known to be left
 *
 * While a thread waits, no other thread may wait or dequeue, and the CNO is not triggered.
 * Disabling the EVD has no effect on a wait: it concerns only the CNO.
 *
 *	DAT_SUCCESS				*event and *more are set
 *	DAT_TIMEOUT_EXPIRED			fewer than `threshold` events; *more is the number
 *						that is known, and they stay queued
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *	DAT_INVALID_PARAMETER/ARG3		threshold is not positive, more than the queue
 *						length, or over 1 without the flag
 *	DAT_INVALID_PARAMETER/ARG4, ARG5	event or more is NULL
 *	DAT_INVALID_STATE/EVD_UNWAITABLE	the EVD is unwaitable, or became so during the wait
 *	DAT_INVALID_STATE			another thread waits on it, an upcall policy is
 *						enabled, or the queue overflowed and is empty
 *	DAT_INTERRUPTED_CALL			a signal handler ran
 *	DAT_ABORT				the EVD was freed or its IA closed during the wait
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	the thread cannot sleep: no memory
 *	DAT_INTERNAL_ERROR			the device cannot be armed or polled now; nothing is
 *						lost
 *
 * Threads: any, but one waiter per EVD.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold,
    DAT_EVENT *event, DAT_COUNT *more);

/*
 * Takes the oldest event without waiting.  The EVD may be enabled or disabled, and waitable or not;
 * upcalls under any policy may make the call.  Two threads never get the same event.
 *
 *	DAT_SUCCESS				*event is set
 *	DAT_QUEUE_EMPTY				no event is queued; if the EVD has a completion
 *						queue the class bit is not set.  So there are two
 *						values: compare DAT_GET_TYPE()
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *	DAT_INVALID_PARAMETER/ARG2		event is NULL
 *	DAT_INVALID_STATE			a thread waits on it, or the queue overflowed and
 *						is empty
 *	DAT_INTERNAL_ERROR			the device cannot be polled now; nothing is lost
 *
 * Threads: any.  From: DAT 2.0; the class bit is what programs in the field expect.
 */
DAT_RETURN DAT_API dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event);

/*
 * Queues a software event, which is a pointer of the consumer.  It has the same effect as any
 * other event: it wakes the waiter, starts an upcall or triggers the CNO.  A thread of the adapter
 * makes the upcall and triggers the CNO, soon after; the call does not wait for that.
 *
 * Software events take the room of connection events.  A connection event that finds the EVD full
 * is lost: the asynchronous event DAT_ASYNC_ERROR_EVD_OVERFLOW reports it, and when the events that
 * are queued have been taken, dequeue and wait return DAT_INVALID_STATE from then on.  So do not
 * use DAT_QUEUE_FULL as flow control on an EVD that gets both.  Limit the software events that are
 * outstanding (no event announces room, so count them), or give the connections an EVD of their
 * own.
 *
 *	`event`		the event; its event_number and the pointer in software_event_data are used
 *
 *	DAT_SUCCESS				a copy is queued
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *	DAT_INVALID_PARAMETER/ARG1		the EVD has no stream of software events
 *	DAT_INVALID_PARAMETER/ARG2		event is NULL or its number is not
 *						DAT_SOFTWARE_EVENT
 *	DAT_QUEUE_FULL				no room: the event is not queued, and no error is
 *						reported elsewhere
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_post_se(DAT_EVD_HANDLE evd, const DAT_EVENT *event);

/*
 * Changes the queue length to at least `min_qlen`.  No event is lost, and their order does not
 * change.
 *
 *	DAT_SUCCESS				dat_evd_query() returns the new length
 *	DAT_INVALID_HANDLE/1			evd is not an EVD; /EVD_REQUEST: it is no object
 *	DAT_INVALID_PARAMETER/ARG2		min_qlen is not positive, or more than the device
 *						has
 *	DAT_INVALID_STATE			more than min_qlen events are queued
 *	DAT_INVALID_STATE/EVD_WAITER		a thread waits on it, and the length would change
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory: nothing has changed
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_resize(DAT_EVD_HANDLE evd, DAT_COUNT min_qlen);

/*
 * Replaces the CNO of the EVD; DAT_HANDLE_NULL: none.  An event that arrives at the same time
 * triggers one of the two CNOs.  Events that are queued trigger the new one, even if it is the
 * same: a thread of the adapter does so soon after.
 *
 *	DAT_SUCCESS				done
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *	DAT_INVALID_HANDLE/CNO			cno is neither NULL nor a CNO
 *
 * Threads: any.  From: DAT 2.0; queued events are Rearm.
 */
DAT_RETURN DAT_API dat_evd_modify_cno(DAT_EVD_HANDLE evd, DAT_CNO_HANDLE cno);

/*
 * Lets events trigger the CNO again.  If events were queued while the EVD was disabled, a thread of
 * the adapter triggers the CNO soon after.  No effect if the EVD is enabled or has no CNO.
 *
 *	DAT_SUCCESS				it is enabled
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *
 * Threads: any.  From: DAT 2.0; queued events are Rearm.
 */
DAT_RETURN DAT_API dat_evd_enable(DAT_EVD_HANDLE evd);

/*
 * Keeps events from triggering the CNO.  They are queued as before.  A trigger that is in progress
 * may still happen.
 *
 *	DAT_SUCCESS				it is disabled
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_disable(DAT_EVD_HANDLE evd);

/*
 * Makes an EVD unwaitable; a thread that waits returns DAT_INVALID_STATE/EVD_UNWAITABLE.  Dequeue,
 * upcalls and the CNO are not affected.
 *
 *	DAT_SUCCESS				it is unwaitable
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_set_unwaitable(DAT_EVD_HANDLE evd);

/*
 * Makes an EVD waitable again.
 *
 *	DAT_SUCCESS				it is waitable
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_clear_unwaitable(DAT_EVD_HANDLE evd);

/*
 * Frees an EVD and the events in it.
 *
 * When it returns, upcalls on other threads have returned and no further upcall starts.  Inside an
 * upcall of this EVD it does not wait; the EVD is destroyed when the last upcall returns.  Inside
 * any upcall or agent it does not wait for upcalls that are in dat_ia_close().
 *
 *	DAT_SUCCESS				the EVD is freed
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *	DAT_INVALID_STATE/EVD_IN_USE		an endpoint, service point or IA uses it, or it is
 *						the asynchronous EVD that the provider created
 *
 * Threads: a thread that waits on it returns DAT_ABORT.  From: DAT 2.0; upcalls are Rearm.
 */
DAT_RETURN DAT_API dat_evd_free(DAT_EVD_HANDLE evd);

#ifdef __cplusplus
}
#endif

#endif
