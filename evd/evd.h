/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * evd -- one merged queue of events, one taker
 *
 *     streams  ->  merged queue  ->  one taker
 *     a device's completion queue    a thread blocked in evd_wait()
 *     posted events                  an upcall policy
 *                                    a CNO (struct evd_listener)
 *                                    nobody
 *
 * A notification says "look"; an event is what is found.  The source's notification is one-shot,
 * the taker's interest is persistent; everything in this folder exists so that no event is
 * stranded between the two, whatever the interleaving.
 *
 * Nothing here knows verbs, connections or endpoints.  The device is a struct evd_source_ops; a
 * completion is an opaque record of `raw_size` bytes until it is converted to a DAT_EVENT in the
 * lock section that hands it over.
 *
 * An EVD lives in a slot, which serves one EVD after another and whose memory and lock are never
 * given back.  A caller names the EVD that it means by slot and life (struct evd_ref), and the lock
 * section that acts compares the life.  A caller that comes too late gets -ENODEV, whatever lives
 * in the slot by then.
 *
 * Every function returns 0 (or a count) or -errno.  Functions marked LOCKED are called by the core
 * with the trigger lock of the EVD held; they must not block, call out, or take a lock that ranks
 * before the trigger lock.
 */
#ifndef REARM_EVD_EVD_H
#define REARM_EVD_EVD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dat2/udat.h>
#include <dat2/dat_upcall.h>

#include "evd/attention.h"
#include "evd/job.h"
#include "evd/loop.h"
#include "evd/os.h"
#include "evd/park.h"

struct evd;
struct evd_hold;

/* An EVD, as everybody outside its trigger lock names it. */
struct evd_ref {
	struct evd *evd;
	uint64_t serial;
};

/* A side effect of a completion, run after the trigger lock was dropped (see `effect` below). */
struct evd_effect {
	int code; /* 0: none */
	void *object;
	uint64_t stamp; /* lets the owner notice that `object` was recycled meanwhile */
};

/* What to do with a completion that was just polled. */
enum evd_verdict {
	EVD_QUEUE, /* queue it */
	EVD_QUEUE_UNSIGNALLED, /* queue it and wake nobody: it waits for a noisier one or a dequeue */
	EVD_HOLD, /* keep it in *hold, which was set, until evd_post_release() */
	EVD_DROP, /* nobody is to see it: suppressed, or its endpoint is gone */
};

/*
 * What a device answers: a count, 0 or more, or its error, -errno; EVD_DEVICE_LOST: the queue has
 * overflowed, there will be no more.  A type of its own, so that an error of the device is never taken
 * for a result of the core: there it is -EIO, and a lost queue -EOVERFLOW, whatever the device says.
 */
struct evd_device_result {
	int value;
};

#define EVD_DEVICE_LOST INT_MIN

/*
 * evd_source_ops -- the device side of an EVD
 *
 * poll     LOCKED.  Moves up to max completions into raw[] (max * raw_size bytes), oldest first;
 *          returns how many.
 * sort     LOCKED.  Decides about one polled completion; may set *hold.  NULL: take everything.
 * convert  LOCKED.  Builds the event of a completion that leaves the queue; the object it names is
 *          still valid because freeing it purges the queue under the same lock.  May set *effect.
 * arm      LOCKED.  Requests one notification for the next completion, or the next solicited one;
 *          0 armed, >0 armed, and completions may already be there.  An armed queue is armed again only
 *          to widen a request for solicited completions to all.
 * ack      LOCKED.  Acknowledges n notifications read from the channel.
 * read     Not locked, the EVD is pinned.  Reads one notification of the private channel without
 *          blocking: 1 got one, 0 none, -errno.  NULL unless a channel_fd is given.
 * effect   Not locked.  Runs the side effect that convert asked for, on the thread that took the
 *          event, before that thread's caller or upcall sees the event.  May post to any EVD.
 *
 * exact_hint: an arm that returns 0 proves the device queue empty at that moment, so the poll that
 * follows may be skipped -- by the pass that issued the arm, and by nobody else.
 */
struct evd_source_ops {
	struct evd_device_result (*poll)(void *source, void *raw, int max);
	enum evd_verdict (*sort)(void *source, const void *raw, struct evd_hold **hold);
	void (*convert)(void *source, const void *raw, DAT_EVENT *event, struct evd_effect *effect);
	struct evd_device_result (*arm)(void *source, bool solicited_only);
	void (*ack)(void *source, unsigned int n);
	int (*read)(void *source);
	void (*effect)(void *source, const struct evd_effect *effect);
	bool exact_hint;
};

/*
 * evd_listener -- the CNO as its EVDs see it
 *
 * told is LOCKED: the EVD has news.  It may wake threads and queue loop jobs, nothing more.
 * left is LOCKED: the EVD is being detached or freed, forget it.
 */
struct evd_listener {
	void (*notify)(struct evd_listener *listener, struct evd *evd);
	void (*detach)(struct evd_listener *listener, struct evd *evd);
};

struct evd_config {
	uint64_t serial;	       /* a number that no earlier EVD of the slot had */
	DAT_EVD_HANDLE handle; /* what events and upcalls carry */
	int qlen; /* events per stream kind the queue holds; the device queue's depth, at first */
	const struct evd_source_ops *ops; /* NULL: no device stream */
	void *source;
	size_t raw_size;
	int channel_fd; /* private completion channel, or -1: the loop's shared one (or none) */
	struct loop *loop; /* runs the upcalls and CNO triggers */
	struct loop *pool; /* several threads, for DAT_UPCALL_MANY; may equal loop */
	/*
	 * The device failed (-EIO) or lost its queue (-EOVERFLOW), once per episode.  Not locked, on a
	 * loop's thread.  Required.
	 */
	void (*fault)(struct evd *evd, int error);
	/*
	 * Not locked: makes an upcall, by calling object's function with the other arguments.  NULL:
	 * the function is called as it is.
	 */
	void (*call)(const DAT_UPCALL_OBJECT *object, DAT_EVD_HANDLE handle, const DAT_EVENT *event,
	    DAT_BOOLEAN more);
	/*
	 * The end of evd_free(): no thread is inside, no run is queued, all notifications read so
	 * far are acknowledged, the private channel left the loop.  Destroys the source and
	 * recycles the slot.  Runs on the thread of evd_free(), or on the one whose upcall freed
	 * its own EVD.
	 */
	void (*destroyed)(struct evd *evd);
};

/* ---- life ---- */

/* Once per memory slot, ever: the lock outlives every EVD that lives in the slot. */
void evd_slot_init(struct evd *evd);

/* Gives life to an initialised, dead slot.  -ENOMEM. */
int evd_create(struct evd *evd, const struct evd_config *config);

/*
 * Ends it: no claim is made after it returns, a blocked waiter gets -ECANCELED, upcalls running on
 * other threads are waited for (from inside the EVD's own upcall it does not wait and the return
 * of the last upcall destroys).  -ENODEV when already dead.
 */
int evd_free(struct evd_ref ref);

/* ---- close.c: the end of an adapter, as its EVDs see it ---- */

/*
 * The EVD is going to be freed, and others with it, whose upcalls may be blocked in a wait on this
 * one.  The wait in progress ends with -ECANCELED, every later one with -ENODEV.
 */
void evd_set_closing(struct evd_ref ref);

/*
 * As evd_free(), but never waits: the last thread that leaves the EVD destroys it, which is the
 * caller if no thread is inside.
 */
int evd_free_nowait(struct evd_ref ref);

/*
 * The calling thread closes an adapter, and may be inside upcalls, of that one or of others.  Until
 * evd_leave_close() no close that comes from inside an upcall or agent waits for these upcalls, nor does any
 * other call from there: each could wait for the other.
 */
void evd_enter_close(void);
void evd_leave_close(void);

/* The EVD was freed, upcalls keep it, and the calling thread must not wait for any of them. */
bool evd_is_left_to_closers(struct evd_ref ref);

/*
 * Of an EVD that was freed, or is about to be: waits until it was, and no upcalls run but those.  False
 * when no upcall runs at all, and none will; then it has not slept.
 */
bool evd_await_others(struct evd_ref ref);

/* The loop that runs upcalls of policy MANY, where it was not known at evd_create(). */
void evd_set_pool(struct evd_ref ref, struct loop *pool);

/* ---- what feeds it ---- */

/*
 * A notification for this EVD, which has a device, was read (ibv_get_cq_event returned).
 * Any thread, any time.
 */
void evd_notified(struct evd_ref ref);

enum evd_stream {
	EVD_STREAM_SOFTWARE,
	EVD_STREAM_CR,
	EVD_STREAM_DTO,
	EVD_STREAM_CONNECTION,
	EVD_STREAM_RMR_BIND,
	EVD_STREAM_ASYNC,
	EVD_STREAMS
};

/*
 * Queues an event and kicks the taker.  -ENOSPC when qlen posted events are queued, -ENODEV when
 * dead.  evd_handle of the queued copy is set here.
 */
int evd_post(struct evd_ref ref, enum evd_stream stream, const DAT_EVENT *event);

/*
 * The place of an event among the others of its endpoint.  It concerns no other endpoint, and no event
 * that belongs to none.
 *
 * A barrier may not overtake completions which the device has already produced, or is about to produce
 * for a queue pair in the error state: it can be taken once the device queue was seen empty, or as many
 * completions as it can hold were polled, after the post.  Later events of the endpoint wait with it.
 *
 * A hold ends, and what it kept follows the event, when the event has its place in the queue.
 */
struct evd_order {
	const void *endpoint; /* any value that means the endpoint, and no other; NULL: none */
	bool barrier;
	struct evd_hold *hold; /* or NULL */
};

/* As evd_post(), for an event of an endpoint.  The hold ends also when the event is refused. */
int evd_post_ordered(struct evd_ref ref, enum evd_stream stream, const DAT_EVENT *event,
    const struct evd_order *order);

/*
 * The device queue holds `depth` completions now; one that grows is announced before, one that
 * shrank after, because barriers wait for that many.  What is polled at a time does not change.
 */
void evd_set_depth(struct evd_ref ref, unsigned int depth);

/* Takes what the device has into the queue, as far as it fits: for whoever waits for sort() to see
 * a completion that no taker asks for.  0 or -errno. */
int evd_refresh(struct evd_ref ref);

/*
 * As evd_refresh(), until the device queue was seen empty: every completion that it held is past sort().
 * Those to be queued are at most what the owner lets be outstanding; where they do not fit, there is
 * room for more completions from then on, until evd_resize().  May sleep for memory.
 *   -ENOMEM  there may be more completions in the device queue    -ENODEV  or the device's error
 */
int evd_drain(struct evd_ref ref);

/* The device queue or a posted stream overflowed: once what is queued was taken, the EVD is dead
 * to dequeue and wait (-EOVERFLOW).  Returns true for the first call only. */
bool evd_mark_overflow(struct evd_ref ref);

/*
 * A posted event that its sender can be refused, a connection request, found no room.  The EVD goes
 * on.  Returns true for the first refusal of an episode, which ends when no posted event is left.
 */
bool evd_mark_refusal(struct evd_ref ref);

/*
 * Drops what belongs to an object that is going away: completions for which match_raw() holds, in
 * the stash, in `hold` and among released ones, and posted events for which match_event() holds.
 * Either may be NULL.  The device queue itself is not touched: its sort() must drop them.
 */
void evd_purge(struct evd_ref ref, struct evd_hold *hold,
    bool (*match_raw)(const void *raw, const void *key),
    bool (*match_event)(const DAT_EVENT *event, const void *key), const void *key);

/*
 * evd_hold -- completions of one endpoint kept back until its ESTABLISHED was posted
 *
 * Guarded by the trigger lock of the EVD that receives the completions.
 */
struct evd_hold {
	bool active;
	bool listed; /* on the EVD's list of released holds */
	struct evd_hold *next;
	size_t raw_size;
	unsigned int capacity, head, count;
	unsigned int numbered; /* of those, the released ones: they come first */
	uint64_t *seq;
	unsigned char *raw;
};

int evd_hold_init(struct evd_hold *hold, size_t raw_size, unsigned int capacity);
void evd_hold_fini(struct evd_hold *hold); /* after evd_purge() */
/* From now on sort() may answer EVD_HOLD with this hold. */
void evd_hold_begin(struct evd_ref ref, struct evd_hold *hold);
/* LOCKED (for sort()). */
static inline bool
evd_hold_is_active(const struct evd_hold *hold)
{
	return hold->active;
}

/* ---- what takes from it ---- */

/* -EAGAIN empty, -EBUSY a waiter owns the EVD, -EOVERFLOW, -ENODEV, or what poll returned. */
int evd_dequeue(struct evd_ref ref, DAT_EVENT *event);

/*
 * Blocks until `threshold` events that are worth waking for are queued, then takes the oldest.
 * timeout in microseconds, DAT_TIMEOUT_INFINITE for ever.  *nmore is set on success and on
 * -ETIMEDOUT; of completions it counts those that there is room for, qlen at least (see evd_drain()).
 *   -ETIMEDOUT   nothing taken            -EBUSY      another waiter is blocked
 *   -EACCES      an upcall policy owns it -EPERM      unwaitable (also: became so meanwhile)
 *   -ECANCELED   freed meanwhile          -EOVERFLOW  -EINTR  -ENODEV
 *   -EINVAL      threshold < 1 or > qlen  or the device's error from arming or polling
 */
int evd_wait(struct evd_ref ref, DAT_TIMEOUT timeout, int threshold, DAT_EVENT *event, int *nmore);

/* Whether upcalls are enabled under this policy. */
static inline bool
evd_policy_calls(DAT_UPCALL_POLICY policy)
{
	return policy == DAT_UPCALL_SINGLE_INSTANCE || policy == DAT_UPCALL_NORIFY ||
	    policy == DAT_UPCALL_MANY;
}

/*
 * Changes the upcall policy; object NULL keeps the installed one.  Waits only for
 * DAT_UPCALL_TEARDOWN.
 *   -EAGAIN  enabling with INVOC_NEW and events are pending: nothing changed, go on dequeuing
 *   -EBUSY   a waiter is blocked            -EFAULT  an enabling policy without a function
 *   -EINVAL  unknown policy  -ERANGE unknown flag  -ENODEV  or the device's error: nothing changed
 */
int evd_modify_upcall(struct evd_ref ref, DAT_UPCALL_POLICY policy, const DAT_UPCALL_OBJECT *object,
    DAT_UPCALL_FLAG flag);

/* Replaces the CNO (NULL: none); `cookie` is what evd_query() reports. */
int evd_set_listener(struct evd_ref ref, struct evd_listener *listener, DAT_CNO_HANDLE cookie);
int evd_set_enabled(struct evd_ref ref, bool enabled);
int evd_set_waitable(struct evd_ref ref, bool waitable);
/*
 * Completion notifications are requested for solicited completions only, or for all; what a taker finds
 * by polling counts all the same.  A request for solicited ones that stands is widened by the next arm,
 * which this call causes.
 */
int evd_set_solicited(struct evd_ref ref, bool solicited_only);

/*
 * From now on the queue holds qlen events per stream kind: nothing is lost, nothing changes its
 * place.  What the device holds counts as queued.  The caller keeps the EVD from being freed
 * meanwhile, and changes the device's queue himself (evd_set_depth()).
 *   -EBUSY  a waiter is blocked    -EAGAIN  more than qlen events are queued: nothing changed
 *   -ENOMEM  -ENODEV  or the device's error from polling
 */
int evd_resize(struct evd_ref ref, unsigned int qlen);

/* Whether the EVD that is meant lives. */
bool evd_is_alive(struct evd_ref ref);

struct evd_status {
	int qlen;
	bool enabled, waitable, solicited_only, overflowed;
	bool device_over; /* the device queue tells nothing any more */
	DAT_CNO_HANDLE cno;
	DAT_UPCALL_POLICY policy;
	int queued; /* what dequeue would hand out without asking the device */
};
int evd_query(struct evd_ref ref, struct evd_status *status);
int evd_query_counters(struct evd_ref ref, struct dat_rearm_evd_counters *counters);

/* ---- the body: embedded by the owner, touched by evd/ alone ---- */

#include "evd/queue.h"

/* What the device was asked for and has not notified of yet. */
enum evd_armed { EVD_UNARMED, EVD_ARMED_SOLICITED, EVD_ARMED_ALL };

struct evd {
	struct os_mutex lock; /* the trigger lock; everything below it is guarded by it */
	uint64_t serial;	      /* of the EVD that lives in the slot, or lived in it last */
	bool alive;	      /* between evd_create() and evd_free() */
	bool freed;	      /* evd_free() began; destroyed() not yet called */
	bool free_on_return;  /* freed from inside: the last upcall's return destroys */
	struct evd_config cfg;

	struct loop_job job;
	enum evd_job_state job_state; /* changed by evd_job() alone */
	uint64_t backoff_ns; /* 0, or the device has failed since, and was reported: the next delay */
	enum evd_armed armed; /* set with a successful arm, cleared by evd_notified() alone */
	enum evd_attention attention;

	struct park_list waiters; /* the thread blocked in evd_wait(): at most one */
	bool waiting;
	bool closing; /* evd_set_closing() was called */
	int threshold;
	bool waitable;
	bool made_unwaitable; /* became unwaitable during the wait, whatever it is by now */

	DAT_UPCALL_POLICY policy;
	DAT_UPCALL_OBJECT object;
	int in_progress; /* claims whose upcall has not returned */
	int closers;	 /* of those, the ones inside evd_enter_close() */
	int exempt;	 /* those, and the ones that called TEARDOWN or free themselves */
	int tearing;	 /* TEARDOWN and free calls that wait */
	struct park_list teardowns;

	struct evd_listener *listener;
	DAT_CNO_HANDLE listener_cookie;
	struct evd *triggered_next; /* these three are the listener's, under its lock */
	bool triggered;
	bool agent_unseen;
	bool enabled;

	bool solicited_only;
	bool overflowed;
	bool refusing; /* evd_mark_refusal() was called in this episode */
	bool device_over; /* it fails since: no completion and no notification is expected of it */
	uint64_t taken; /* events handed out, by whatever call */
	struct evd_queue queue;
	unsigned int unacked;
	int pins;		   /* threads using channel or source outside the lock */
	struct loop_ticket channel; /* the private channel as a source of the loop */
	bool channel_watched;	   /* by the loop, because the taker is an upcall or a CNO */
	struct dat_rearm_evd_counters counters;
};

/* The EVD in the slot, for an owner that keeps it from being destroyed. */
static inline struct evd_ref
evd_self(struct evd *evd)
{
	return (struct evd_ref){ evd, evd->serial };
}

static inline struct evd *
evd_of_job(struct loop_job *job)
{
	return (struct evd *)((char *)job - offsetof(struct evd, job));
}

#endif
