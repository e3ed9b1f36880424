/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_upcall.h -- upcalls for programs in user space
 *
 * An upcall is a function of the consumer.  A thread of the provider calls it when an EVD has
 * events.  The names and values are those of kDAPL, the variant of DAT 2.0 for the kernel, which
 * has upcalls instead of waits.  The calls use dat_extension_op(), so they work under any DAT 2.0
 * registry.  A provider without upcalls returns DAT_NOT_IMPLEMENTED.  dat_upcall(7) describes what
 * the policies guarantee in each state, and has loops to copy.
 *
 * To pass an EVD from its upcall to another thread, let the upcall DISABLE the EVD, copy what the
 * other thread needs (the event, which is the upcall's only until it returns), pass that, and
 * return.  The other thread dequeues until the EVD is empty, and enables it as its last step: from
 * the enable on the next upcall may run, may pass the EVD to a third thread, and may free it.  So
 * nothing that belongs to the EVD may be used after a successful enable.
 *
 * Arguments of these calls:
 *
 *	`evd`		the EVD
 *	`policy`	a DAT_UPCALL_POLICY
 *	`upcall`	the function and its argument, which are copied; DAT_UPCALL_SAME or
 *			DAT_UPCALL_ARRAY_SAME keeps the installed ones
 *	`flag`		DAT_UPCALL_INVOC_NEW or DAT_UPCALL_INVOC_ANY: what a policy that makes
 *			upcalls does with queued events; the others ignore it
 */
#ifndef _DAT_UPCALL_H_
#define _DAT_UPCALL_H_

#include <dat2/udat.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A policy stays in force until it is changed.
 *
 * Under MANY the provider claims the events in order and calls the function for each of them on one
 * of several threads.  The calls may start and end in any order.
 */
typedef enum dat_upcall_policy {
	DAT_UPCALL_TEARDOWN = -1,	/* as DISABLE, and waits until no upcall runs */
	DAT_UPCALL_DISABLE = 0,		/* no upcalls: events stay queued */
	DAT_UPCALL_SINGLE_INSTANCE = 1,	/* one upcall of the EVD at a time, in event order */
	DAT_UPCALL_NORIFY = 2,		/* one upcall for all new events; it has no event */
	DAT_UPCALL_NOTIFY = 2,		/* the same; kDAPL misspells the name */
	DAT_UPCALL_MANY = 100		/* several at once; Rearm: up to four per IA */
} DAT_UPCALL_POLICY;

/* What dat_evd_modify_upcall() does if events are queued already. */
typedef enum dat_upcall_flag {
	DAT_UPCALL_INVOC_NEW = 0,	/* fail: the consumer dequeues them first */
	DAT_UPCALL_INVOC_ANY = 1	/* make upcalls for them */
} DAT_UPCALL_FLAG;

/*
 * `event` is valid until the function returns; it is NULL under NOTIFY.
 * `more_events` is a hint: DAT_TRUE means that at least one more event was queued.
 */
typedef void (*DAT_UPCALL_FUNC)(DAT_PVOID instance_data, const DAT_EVENT *event,
				DAT_BOOLEAN more_events);

typedef struct dat_upcall_object {
	DAT_PVOID instance_data;
	DAT_UPCALL_FUNC upcall_func;
} DAT_UPCALL_OBJECT;

/*
 * An object whose function gets several events with one upcall: `n_events` of them, the oldest
 * first, at least one and at most `max_events`.  They are valid until the function returns.  Under
 * NOTIFY `events` is NULL and `n_events` is 0.  `more_events` as above.
 */
typedef void (*DAT_UPCALL_ARRAY_FUNC)(DAT_PVOID instance_data, const DAT_EVENT *events,
				      DAT_COUNT n_events, DAT_BOOLEAN more_events);

typedef struct dat_upcall_array_object {
	DAT_PVOID instance_data;
	DAT_UPCALL_ARRAY_FUNC upcall_func;
	DAT_COUNT max_events;	/* at least 1; Rearm passes at most 32 */
} DAT_UPCALL_ARRAY_OBJECT;

/* The object without a function. */
#ifdef __cplusplus
#define DAT_UPCALL_NULL (DAT_UPCALL_OBJECT())
#else
#define DAT_UPCALL_NULL ((DAT_UPCALL_OBJECT) { (DAT_PVOID)NULL, (DAT_UPCALL_FUNC)NULL })
#endif

/* In place of an object: keep the installed one. */
#define DAT_UPCALL_SAME ((DAT_UPCALL_OBJECT *)NULL)
#define DAT_UPCALL_ARRAY_SAME ((DAT_UPCALL_ARRAY_OBJECT *)NULL)

/*
 * An IA whose dat_extension_op() has the operations below, and none of dat_ib_extensions.h, returns
 * these values in DAT_IA_ATTR.extension_supported and extension_version.  A registry forwards
 * operations only if the attribute is not DAT_EXTENSION_NONE.  An IA with more operations may have
 * DAT_EXTENSION_IB.  To find out whether there are upcalls, look for the provider-specific
 * attribute with the name below and the value "TRUE", or try a call.
 */
#define DAT_EXTENSION_REARM		((DAT_EXTENSION)0x100)
#define DAT_REARM_EXTENSION_VERSION	3	/* 2: DEQUEUE_N, MODIFY_UPCALL_ARRAY; 3: CNO_TRYWAIT */
#define DAT_REARM_ATTR_UPCALLS		"DAT_REARM_UPCALLS"

/*
 * Extended operations: number, handle and further arguments.  The bits 0x1000 and 0x2000 must be
 * clear, because other registries use them.
 */
enum dat_rearm_op {
	/* IA; int min_qlen, int policy, const DAT_UPCALL_OBJECT *, int flags, DAT_EVD_HANDLE * */
	DAT_REARM_EVD_KCREATE_OP = 0x100,
	/* EVD; int policy, const DAT_UPCALL_OBJECT *, int flag */
	DAT_REARM_EVD_MODIFY_UPCALL_OP = 0x101,
	/* EVD; struct dat_rearm_evd_counters *, DAT_UINT32 size of it */
	DAT_REARM_EVD_COUNTERS_OP = 0x102,
	/* IA; int timeout in milliseconds, DAT_COUNT * */
	DAT_REARM_IA_STEP_OP = 0x103,
	/* EVD; DAT_COUNT max_events, DAT_EVENT *, DAT_COUNT * */
	DAT_REARM_EVD_DEQUEUE_N_OP = 0x104,
	/* EVD; int policy, const DAT_UPCALL_ARRAY_OBJECT *, int flag */
	DAT_REARM_EVD_MODIFY_UPCALL_ARRAY_OP = 0x105,
	/* CNO; DAT_EVD_HANDLE * */
	DAT_REARM_CNO_TRYWAIT_OP = 0x106
};

/* Counts since the EVD was created.  Members may be added at the end. */
struct dat_rearm_evd_counters {
	DAT_UINT64 dto_events;
	DAT_UINT64 connection_events;
	DAT_UINT64 cr_events;
	DAT_UINT64 software_events;
	DAT_UINT64 async_events;
	DAT_UINT64 upcalls;
	DAT_UINT64 notifications;		/* read from the device */
	/*
	 * Notifications after which the poll for an upcall, a wait or a CNO found no completion,
	 * and no event was queued.  One that is read while there is none of these may not be
	 * counted.
	 */
	DAT_UINT64 spurious_notifications;
	DAT_UINT64 arms;
	DAT_UINT64 arm_failures;
	/*
	 * Arms after which a poll in the same lock section found completions: without it they were
	 * lost.  A poll for a CNO that follows a notification is expected to find some, and does
	 * not count.
	 */
	DAT_UINT64 races_closed;
	/*
	 * Wake-ups of an upcall policy or a CNO while the EVD was queued for a thread, or a thread
	 * ran it.
	 */
	DAT_UINT64 busy_skips;
	DAT_UINT64 overflows;
	/*
	 * The most events ever queued in the EVD.  Those that a poll delivers at once are never
	 * queued.
	 */
	DAT_UINT64 max_depth;
};

/*
 * Creates an EVD with an upcall.  `ia`, `min_qlen`, `flags` and `*evd` as with dat_evd_create();
 * the EVD has no CNO.  Under SINGLE_INSTANCE, MANY and NOTIFY the function may be called before
 * this call returns; `*evd` is set before.  If the function uses data that is not ready yet, create
 * the EVD with DISABLE, and enable upcalls with dat_evd_modify_upcall() and INVOC_ANY when it is.
 *
 *	`upcall`	the function and its argument, which are copied; DAT_UPCALL_SAME, which is
 *			NULL, is none: it is allowed with DISABLE and TEARDOWN
 *	`min_qlen`	the number of events that the EVD must be able to hold
 *	`flags`		the streams: bits such as DAT_EVD_DTO_FLAG
 *	`evd`		output: the new EVD
 *
 *	DAT_SUCCESS				*evd is the new EVD
 *	DAT_INVALID_HANDLE/1			ia is no object; /IA: an object of another kind
 *	DAT_INVALID_PARAMETER/ARG2		min_qlen is not positive
 *	DAT_INVALID_PARAMETER/ARG3		unknown policy
 *	DAT_INVALID_PARAMETER/ARG4		the policy makes upcalls, but there is no function
 *	DAT_INVALID_PARAMETER/ARG5		flags, as with dat_evd_create()
 *	DAT_INVALID_PARAMETER/ARG6		evd is NULL
 *	DAT_INSUFFICIENT_RESOURCES/TEVD		min_qlen is more than the device has
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory, no completion queue, or no threads for
 *						MANY
 *	DAT_NOT_IMPLEMENTED			the provider has no upcalls
 *
 * Threads: any.  From: headers (kDAPL).
 */
static inline DAT_RETURN
dat_evd_kcreate(DAT_IA_HANDLE ia, DAT_COUNT min_qlen, DAT_UPCALL_POLICY policy,
		const DAT_UPCALL_OBJECT *upcall, DAT_EVD_FLAGS flags, DAT_EVD_HANDLE *evd)
{
	return dat_extension_op(ia, DAT_REARM_EVD_KCREATE_OP, (int)min_qlen, (int)policy, upcall,
				(int)flags, evd);
}

/*
 * Changes the upcall policy of an EVD.  Its object changes, too, unless `upcall` is
 * DAT_UPCALL_SAME.  Both change, or neither does.
 *
 * A call that enables upcalls (SINGLE_INSTANCE, MANY, NOTIFY) requests a notification from the
 * device and then polls it.  If no event is queued, upcalls follow for events that arrive.  If
 * events are queued, INVOC_ANY makes upcalls for them, and INVOC_NEW fails with DAT_INVALID_STATE:
 * dequeue them and try again.  No event is missed in between.
 *
 * DISABLE and TEARDOWN succeed whether or not events are queued: `flag` has no effect on them.
 *
 * After DISABLE has returned no event is claimed for an upcall; an upcall whose event was claimed
 * before may still start.  (Inside an upcall under SINGLE_INSTANCE or NOTIFY there is none: no
 * other upcall can start after DISABLE has returned.)  After TEARDOWN has returned no upcall runs.
 * If TEARDOWN is called inside an upcall of the EVD, it does not wait for that upcall, or for other
 * upcalls of the EVD that are in TEARDOWN or dat_evd_free().  If it is called inside any upcall or
 * agent, it does not wait for upcalls that are in dat_ia_close().  Two upcalls that each call
 * TEARDOWN on the EVD of the other wait without end.
 *
 * A common upcall: DISABLE, dequeue until DAT_QUEUE_EMPTY, then SINGLE_INSTANCE with INVOC_NEW; on
 * DAT_INVALID_STATE dequeue again.  On DAT_INTERNAL_ERROR, as after the device was removed, the EVD
 * stays disabled: no upcall follows for the completions that the removal has flushed.  Dequeue them
 * until the requests that were posted are complete, or free the endpoints.
 *
 *	DAT_SUCCESS				policy and object are in force; while a TEARDOWN or
 *						a free waits, the call has no effect
 *	DAT_INVALID_HANDLE			evd is not an EVD; /1: it is no object
 *	DAT_INVALID_PARAMETER/ARG2		unknown policy
 *	DAT_INVALID_PARAMETER/ARG3		the policy makes upcalls, but there is no function
 *	DAT_INVALID_PARAMETER/ARG4		unknown flag
 *	DAT_INVALID_STATE			enabling with INVOC_NEW, and events are queued:
 *						nothing has changed
 *	DAT_INVALID_STATE/EVD_WAITER		enabling while a thread waits on the EVD
 *	DAT_INSUFFICIENT_RESOURCES		no threads for MANY: nothing has changed
 *	DAT_INTERNAL_ERROR			the device cannot be armed or polled: nothing has
 *						changed
 *	DAT_NOT_IMPLEMENTED			the provider has no upcalls
 *
 * Threads: any, and from any upcall.  From: headers (kDAPL); the rules on queued events are Rearm.
 */
static inline DAT_RETURN
dat_evd_modify_upcall(DAT_EVD_HANDLE evd, DAT_UPCALL_POLICY policy,
		      const DAT_UPCALL_OBJECT *upcall, DAT_UPCALL_FLAG flag)
{
	return dat_extension_op(evd, DAT_REARM_EVD_MODIFY_UPCALL_OP, (int)policy, upcall,
				(int)flag);
}

/*
 * Changes the upcall policy of an EVD, for upcalls with several events.  As
 * dat_evd_modify_upcall(), with an object whose function gets an array of events.  All of them are
 * claimed together, so that the rules on upcalls hold for the whole array: under SINGLE_INSTANCE
 * one upcall runs at a time, in event order, and after DISABLE has returned none is claimed.  An
 * EVD has one object: of this kind, or of the other.  DAT_UPCALL_ARRAY_SAME keeps the installed
 * one, of either kind.
 *
 *	DAT_SUCCESS				policy and object are in force; while a TEARDOWN or
 *						a free waits, the call has no effect
 *	DAT_INVALID_HANDLE			evd is not an EVD; /1: it is no object
 *	DAT_INVALID_PARAMETER/ARG2		unknown policy
 *	DAT_INVALID_PARAMETER/ARG3		the policy makes upcalls, but there is no function,
 *						or max_events is less than 1
 *	DAT_INVALID_PARAMETER/ARG4		unknown flag
 *	DAT_INVALID_STATE			enabling with INVOC_NEW, and events are queued:
 *						nothing has changed
 *	DAT_INVALID_STATE/EVD_WAITER		enabling while a thread waits on the EVD
 *	DAT_INSUFFICIENT_RESOURCES		no threads for MANY: nothing has changed
 *	DAT_INTERNAL_ERROR			the device cannot be armed or polled: nothing has
 *						changed
 *	DAT_NOT_IMPLEMENTED			the provider has no such upcalls
 *
 * Threads: any, and from any upcall.  From: Rearm.
 */
static inline DAT_RETURN
dat_evd_modify_upcall_array(DAT_EVD_HANDLE evd, DAT_UPCALL_POLICY policy,
			    const DAT_UPCALL_ARRAY_OBJECT *upcall, DAT_UPCALL_FLAG flag)
{
	return dat_extension_op(evd, DAT_REARM_EVD_MODIFY_UPCALL_ARRAY_OP, (int)policy, upcall,
				(int)flag);
}

/*
 * Takes several events with one call: up to `max_events`, the oldest first.  Sets `*n_events` to
 * their number.  Like dat_evd_dequeue() it polls the device only if no event is queued.  It may
 * return fewer events than there are; the next call returns the next ones.
 *
 *	`max_events`	the number of events that `events` has room for
 *	`events`	output: the events
 *	`n_events`	output: the number of events
 *
 *	DAT_SUCCESS				events[0] to events[*n_events - 1] are filled in;
 *						*n_events is at least 1
 *	DAT_QUEUE_EMPTY				there is no event; *n_events is 0.  With or without
 *						the class bit, as from dat_evd_dequeue()
 *	DAT_INVALID_HANDLE			evd is not an EVD; /1: it is no object
 *	DAT_INVALID_PARAMETER/ARG2		max_events is less than 1
 *	DAT_INVALID_PARAMETER/ARG3		events is NULL
 *	DAT_INVALID_PARAMETER/ARG4		n_events is NULL
 *	DAT_INVALID_STATE			a thread waits on the EVD, or the EVD has overflowed
 *						and is empty
 *	DAT_INTERNAL_ERROR			the device cannot be polled now; nothing is lost
 *	DAT_NOT_IMPLEMENTED			the provider has no such call
 *
 * Threads: any.  From: Rearm; the rules are those of dat_evd_dequeue().
 */
static inline DAT_RETURN
dat_evd_dequeue_n(DAT_EVD_HANDLE evd, DAT_COUNT max_events, DAT_EVENT *events, DAT_COUNT *n_events)
{
	return dat_extension_op(evd, DAT_REARM_EVD_DEQUEUE_N_OP, max_events, events, n_events);
}

/*
 * Takes a trigger of a CNO with a descriptor, as dat_cno_trigger() does, and also finds events that
 * were left: an EVD whose trigger was taken before counts as triggered again while it has events.
 *
 * After DAT_QUEUE_EMPTY the caller may sleep on the descriptor: it becomes readable for every event
 * that no call has reported yet.  It does not mean that all EVDs are empty.  A thread of the
 * adapter sets triggers (with the word `step`, dat_ia_step() does), soon after an event was posted,
 * or the EVD was enabled or got its CNO.  So right after dat_evd_post_se(), in the same thread, the
 * result may be DAT_QUEUE_EMPTY although the event is queued; the descriptor becomes readable for
 * it.
 *
 * So a loop that takes triggers with this call, until DAT_QUEUE_EMPTY and before each sleep, may
 * dequeue as few events of an EVD as it likes.  With dat_cno_trigger() it must dequeue until
 * DAT_QUEUE_EMPTY, because the descriptor is readable for triggers, and not for events.
 *
 * Events count as they do for a trigger: completions that were not signalled, and an EVD that is
 * disabled or has an upcall policy, do not.
 *
 *	`cno`		a CNO of dat_cno_fd_create()
 *	`evd`		output: an EVD with events, or DAT_HANDLE_NULL after the last EVD was
 *			detached
 *
 *	DAT_SUCCESS				*evd is set
 *	DAT_QUEUE_EMPTY				no EVD has an event to report: the caller may sleep
 *						on the descriptor.  The class bit is not set:
 *						compare DAT_GET_TYPE()
 *	DAT_INVALID_HANDLE/CNO			cno is not a CNO; /1: it is no object
 *	DAT_INVALID_PARAMETER/ARG1		it has no descriptor
 *	DAT_INVALID_PARAMETER/ARG2		evd is NULL
 *	DAT_NOT_IMPLEMENTED			the provider has no such call
 *
 * Threads: any.  From: Rearm.
 */
static inline DAT_RETURN
dat_cno_trywait(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE *evd)
{
	return dat_extension_op(cno, DAT_REARM_CNO_TRYWAIT_OP, evd);
}

/*
 * Runs an IA without threads, one of a record of dat.conf with the word `step`: reads its
 * descriptors, and makes the upcalls and agent calls that are due, on the calling thread.  An IA
 * with threads needs no such call.
 *
 *	`ia`		the IA
 *	`timeout`	how long it waits if nothing is due, in milliseconds; 0: not at all; -1:
 *			without limit
 *	`done`		output: how many descriptors it has read and jobs it has run, or NULL
 *
 *	DAT_SUCCESS				*done is set
 *	DAT_INVALID_HANDLE/IA			ia is not an IA; /1: it is no object
 *	DAT_INVALID_STATE			the IA has threads
 *	DAT_NOT_IMPLEMENTED			the provider has no such call
 *
 * Threads: any; one at a time for an IA.  From: Rearm.
 */
static inline DAT_RETURN
dat_ia_step(DAT_IA_HANDLE ia, int timeout, DAT_COUNT *done)
{
	return dat_extension_op(ia, DAT_REARM_IA_STEP_OP, timeout, done);
}

/*
 * Copies the counters of an EVD.  They are consistent with each other.  A provider with fewer
 * counters than this header leaves the rest 0.
 *
 *	`out`		output: the counters
 *
 *	DAT_SUCCESS				*out is filled in
 *	DAT_INVALID_HANDLE			evd is not an EVD; /1: it is no object
 *	DAT_INVALID_PARAMETER/ARG2		out is NULL
 *	DAT_NOT_IMPLEMENTED			the provider has no such counters
 *
 * Threads: any.  From: Rearm.
 */
static inline DAT_RETURN
dat_evd_query_upcall_counters(DAT_EVD_HANDLE evd, struct dat_rearm_evd_counters *out)
{
	return dat_extension_op(evd, DAT_REARM_EVD_COUNTERS_OP, out, (DAT_UINT32)sizeof *out);
}

#ifdef __cplusplus
}
#endif

#endif
