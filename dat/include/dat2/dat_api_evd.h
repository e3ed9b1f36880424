/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_evd.h -- event dispatchers: one queue of events each, fed by one or more streams
 *
 * The events of an EVD are taken by one of these at a time: a thread in dat_evd_wait(), the
 * consumer's upcall (dat_upcall.h), a CNO, or nobody, when they wait for dat_evd_dequeue().  They
 * are handed out in the order of arrival; of one endpoint, ESTABLISHED comes before its successful
 * completions, and those come before DISCONNECTED or BROKEN.
 *
 * dat_api_ia.h says how the calls are described.
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
 * `min_qlen` is the least number of events it must hold; dat_evd_query() tells how many it does.
 * `cno` may be DAT_HANDLE_NULL.  `flags` are the streams it takes.  The provider's attribute
 * evd_stream_merging_supported says which streams may feed one EVD together.  The stream of RMR
 * binds may be asked for, but stays empty with a provider that has no RMRs (max_rmrs 0).  The EVD
 * starts enabled and waitable, without upcalls.
 *
 *	DAT_SUCCESS				*evd is the new EVD
 *	DAT_INVALID_HANDLE/IA			ia names no open IA
 *	DAT_INVALID_HANDLE/CNO			cno is neither NULL nor a CNO
 *	DAT_INVALID_PARAMETER/ARG2		min_qlen is not positive
 *	DAT_INVALID_PARAMETER/ARG4		no stream, an unknown one, or streams that do not
 *						merge
 *	DAT_INVALID_PARAMETER/ARG5		evd is NULL
 *	DAT_INSUFFICIENT_RESOURCES/TEVD		min_qlen is more than the device has; the subtype
 *						is DAT_RESOURCE_TEVD
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory, or no completion queue; the subtype is
 *						DAT_RESOURCE_MEMORY
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_create(DAT_IA_HANDLE ia, DAT_COUNT min_qlen, DAT_CNO_HANDLE cno,
			    DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd);

/*
 * Tells the parameters of an EVD: its IA, real queue length, state bits, CNO and streams.
 *
 *	DAT_SUCCESS				the members asked for are filled in
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *	DAT_INVALID_PARAMETER/ARG2		unknown bits in mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_query(DAT_EVD_HANDLE evd, DAT_EVD_PARAM_MASK mask,
			    DAT_EVD_PARAM *param);

/*
 * Waits for events and takes one.
 *
 * `timeout` is in microseconds from the call on, measured on the monotonic clock and not begun
 * anew by wake-ups; 0 polls, DAT_TIMEOUT_INFINITE waits for ever.  It returns when at least
 * `threshold` events are queued, hands out the oldest in `*event`, and tells in `*more` how many
 * are left. `threshold` over 1 is for EVDs whose endpoints ask for
 * DAT_COMPLETION_EVD_THRESHOLD_FLAG alone.
 *
 * While a thread waits the events are its own: no other may wait or dequeue, and the CNO is not
 * triggered.  Being disabled makes no difference; that concerns the CNO alone.
 *
 *	DAT_SUCCESS				*event and *more are set
 *	DAT_TIMEOUT_EXPIRED			fewer than threshold in time; *more is how many,
 *						and they stay queued
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *	DAT_INVALID_PARAMETER/ARG3		threshold is not positive, more than the queue
 *						length, or over 1 without the flag
 *	DAT_INVALID_PARAMETER/ARG4, ARG5	event or more is NULL
 *	DAT_INVALID_STATE/EVD_UNWAITABLE	it is unwaitable, or has become so during the wait
 *	DAT_INVALID_STATE			another thread waits on it, an upcall policy is
 *						enabled, or the queue overflowed and is empty
 *	DAT_INTERRUPTED_CALL			a signal handler ran
 *	DAT_ABORT				the EVD was freed or its IA closed during the wait
 *
 * Threads: any, but one waiter an EVD.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold,
			    DAT_EVENT *event, DAT_COUNT *more);

/*
 * Takes the oldest event, without waiting.  It works in every state of the EVD, and from upcalls
 * under every policy; two threads never get the same event.
 *
 *	DAT_SUCCESS				*event is set
 *	DAT_QUEUE_EMPTY				there is none; with completion queues behind the
 *						EVD the class bit is not set
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *	DAT_INVALID_PARAMETER/ARG2		event is NULL
 *	DAT_INVALID_STATE			a thread waits on it, or the queue overflowed and
 *						is empty
 *
 * Threads: any.  From: DAT 2.0; the class bit is what programs in the field expect.
 */
DAT_RETURN DAT_API dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event);

/*
 * Queues a software event: a pointer of the consumer's.  It counts as an arrival: it wakes the
 * waiter, starts an upcall or triggers the CNO as any event does.
 *
 *	DAT_SUCCESS				a copy is queued
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *	DAT_INVALID_PARAMETER/ARG1		the EVD has no stream of software events
 *	DAT_INVALID_PARAMETER/ARG2		event is NULL or its number is not
 *						DAT_SOFTWARE_EVENT
 *	DAT_QUEUE_FULL				no place: it is not queued, and no error is
 *						reported elsewhere
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_post_se(DAT_EVD_HANDLE evd, const DAT_EVENT *event);

/*
 * Changes the queue length to at least `min_qlen`.  No event is lost or changes its place.
 *
 *	DAT_SUCCESS				dat_evd_query() tells the new length
 *	DAT_INVALID_HANDLE/1			evd is not an EVD
 *	DAT_INVALID_PARAMETER/ARG2		not positive, or more than the device has
 *	DAT_INVALID_STATE			more events are queued than that
 *	DAT_INVALID_STATE/EVD_WAITER		a thread waits on it, and the length is another
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory: the length is as before
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_resize(DAT_EVD_HANDLE evd, DAT_COUNT min_qlen);

/*
 * Gives the EVD another CNO, or none (DAT_HANDLE_NULL).  An arrival at the same time triggers one
 * of the two; events that are queued already trigger the new one.
 *
 *	DAT_SUCCESS				done
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *	DAT_INVALID_HANDLE/CNO			cno is neither NULL nor a CNO
 *
 * Threads: any.  From: DAT 2.0; queued events are Rearm.
 */
DAT_RETURN DAT_API dat_evd_modify_cno(DAT_EVD_HANDLE evd, DAT_CNO_HANDLE cno);

/*
 * Lets arrivals trigger the CNO (again).  Events that were queued meanwhile trigger it at once.
 * No effect on an enabled EVD, or without a CNO.
 *
 *	DAT_SUCCESS				it is enabled
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *
 * Threads: any.  From: DAT 2.0; queued events are Rearm.
 */
DAT_RETURN DAT_API dat_evd_enable(DAT_EVD_HANDLE evd);

/*
 * Keeps arrivals from triggering the CNO.  They are queued as before; a trigger in progress may
 * still come.
 *
 *	DAT_SUCCESS				it is disabled
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_disable(DAT_EVD_HANDLE evd);

/*
 * Refuses waiters from now on and sends the one that waits away with
 * DAT_INVALID_STATE/EVD_UNWAITABLE.  Dequeueing, upcalls and the CNO are not concerned.
 *
 *	DAT_SUCCESS				it is unwaitable
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_set_unwaitable(DAT_EVD_HANDLE evd);

/*
 * Allows waiters again.
 *
 *	DAT_SUCCESS				it is waitable
 *	DAT_INVALID_HANDLE			evd is not an EVD
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_evd_clear_unwaitable(DAT_EVD_HANDLE evd);

/*
 * Destroys an EVD and the events in it.
 *
 * Upcalls in progress on other threads have returned when it returns, and none starts.  Called
 * from an upcall of the EVD itself it does not wait: the last return destroys.  Called from any
 * upcall or agent it does not wait for upcalls that are in dat_ia_close().
 *
 *	DAT_SUCCESS				the handle is not valid any more
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
