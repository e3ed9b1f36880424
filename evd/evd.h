/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * evd -- one queue of events from many streams, delivered to one sink
 *
 *     streams  ->  merged queue  ->  one sink
 *     completions of a device        a thread that is blocked in evd_wait()
 *     posted events                  an upcall policy
 *                                    a CNO (struct evd_listener)
 *                                    none
 *
 * A notification says only that the completion queue may have completions; the completions
 * themselves are polled.  The device raises one notification for each request (arm), but the sink
 * stays interested until the consumer changes it.  This folder bridges the two without losing an
 * event, whatever the order in which threads and device act.
 *
 * The folder does not know verbs, connections or endpoints.  The device is a struct evd_source_ops.
 * It resolves each completion when it polls it, and describes it in a small record, which is opaque
 * here (struct evd_record).  In the lock section that delivers it the record is converted to an
 * event, in the memory of the consumer; what an event is, only the front end knows (front.h).
 *
 * An EVD lives in a slot.  A slot holds one EVD after another; its memory and its lock are never
 * released. A caller names an EVD by slot and serial number (struct evd_ref).  Each lock section
 * compares the serial number before it acts.  A call for an EVD that was freed returns -ENODEV,
 * even if the slot holds another EVD by then.
 *
 * Functions return 0 (or a count) or -errno.  LOCKED marks a function that the core calls with the
 * trigger lock of the EVD held: it must not block, call the consumer, or take a lock that comes
 * before the trigger lock in the lock order (doc/architecture.md).
 */
#ifndef REARM_EVD_EVD_H
#define REARM_EVD_EVD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "evd/annotate.h"
#include "evd/attention.h"
#include "evd/device.h"
#include "evd/front.h"
#include "evd/job.h"
#include "evd/loop.h"
#include "evd/os.h"
#include "evd/park.h"
#include "evd/queue.h"
#include "evd/spin.h"

struct evd;
struct evd_hold;
struct lead;

/* Names an EVD outside its trigger lock. */
struct evd_ref {
	struct evd *evd;
	uint64_t serial;
};

/*
 * evd_listener -- the interface of a CNO to its EVDs
 *
 * notify  LOCKED.  The EVD has new events.  May only wake threads and queue jobs of a loop.
 * detach  LOCKED.  The EVD leaves the CNO, or is freed; the CNO drops every reference to it.
 */
struct evd_listener {
	void (*notify)(struct evd_listener *listener, struct evd *evd);
	void (*detach)(struct evd_listener *listener, struct evd *evd);
};

struct evd_config {
	uint64_t serial; /* a number that no earlier EVD of the slot had */
	void *handle;	 /* what the front end calls the EVD: for its functions, and for probes */
	unsigned int event_size; /* at most EVD_EVENT_MOST */
	int qlen; /* completions, and posted events, that the queue holds; the first depth of the
		     device queue */
	const struct evd_source_ops *ops; /* NULL: no device stream */
	void *source;
	int channel_fd; /* private completion channel, or -1: the loop's shared one (or none) */
	/*
	 * Few EVDs of this kind ever get a posted event.  Memory for these is allocated at the
	 * first post, which may fail with -ENOMEM; otherwise it is allocated now, and no post fails
	 * for that reason.
	 */
	bool posted_on_demand;
	struct loop *loop; /* runs the upcalls and CNO triggers */
	struct loop *pool; /* runs upcalls of EVD_POLICY_MANY; may equal loop */
	/* of the shared channel (lead.h); NULL: the loop reads it, or there is none */
	struct lead *lead;
	uint64_t spin_ns; /* a wait polls at most so long before it sleeps; 0: not at all */
	/*
	 * Not locked, on a thread that runs the EVD.  The device could not be polled or armed
	 * (-EIO).  After the call the function is called again only if the device has worked since.
	 * Required.
	 */
	void (*fault)(struct evd *evd, int error);
	/* NULL, or a function that is called with events only: NOTIFY is refused with it. */
	void (*wants_events)(void);
	/* It calls the consumer: so it is not called on a thread that is inside a callback. */
	bool fault_calls;
	/*
	 * Not locked.  Make an upcall: they call the function of the consumer.  Required if a
	 * policy makes upcalls.
	 */
	evd_call_function *call;
	evd_call_array_function *call_array;
	/*
	 * The last step of a free: no thread uses the EVD, its job is not queued, all notifications
	 * that were read are acknowledged, and the loop does not watch the private channel.
	 * Destroys the source and releases the slot.  Runs on the thread of evd_free(), or on the
	 * last thread that leaves the EVD.
	 */
	void (*destroyed)(struct evd *evd);
};

/* ---- lifetime ---- */

/* Called once for each slot.  The lock of the slot outlives every EVD in it. */
void evd_slot_init(struct evd *evd);

/* Creates an EVD in an initialised, free slot.  -ENOMEM. */
int evd_create(struct evd *evd, const struct evd_config *config) NO_CORE_LOCK;

/*
 * Frees the EVD.  After the return no further event is delivered.  A blocked waiter returns
 * -ECANCELED. The call waits for upcalls on other threads; if the caller is inside an upcall of
 * this EVD it does not wait, and the EVD is destroyed when the last upcall has returned.  -ENODEV:
 * the EVD was freed before.
 */
int evd_free(struct evd_ref ref) NO_CORE_LOCK;

/* ---- close.c: the end of an adapter ---- */

/*
 * The EVD will be freed together with others, whose upcalls may be blocked in a wait on this one.
 * The current wait returns -ECANCELED, every later wait -ENODEV.
 */
void evd_set_closing(struct evd_ref ref) NO_CORE_LOCK;

/* As evd_free(), but never waits: the last thread that leaves the EVD destroys it. */
int evd_free_nowait(struct evd_ref ref) NO_CORE_LOCK;

/*
 * The calling thread closes an adapter, and may be inside upcalls of that adapter or of others.
 * Until evd_leave_close() no other thread that is inside an upcall or agent waits for these
 * upcalls, because each could wait for the other.
 */
void evd_enter_close(void) NO_CORE_LOCK;
void evd_leave_close(void) NO_CORE_LOCK;

/*
 * True if the EVD was freed, and all its running upcalls are on threads that close an adapter, so
 * that the calling thread must not wait for them.
 */
bool evd_is_left_to_closers(struct evd_ref ref) NO_CORE_LOCK;

/*
 * For an EVD that was freed or is being freed.  Waits until it is freed and no upcalls run, except
 * those on threads that close an adapter.  Returns false, without having slept, if no upcall runs
 * and none will.
 */
bool evd_await_others(struct evd_ref ref) NO_CORE_LOCK;

/* Sets the pool for upcalls of EVD_POLICY_MANY, if evd_create() did not. */
void evd_set_pool(struct evd_ref ref, struct loop *pool) NO_CORE_LOCK;

/* ---- input ---- */

/*
 * A notification for this EVD was read (ibv_get_cq_event() returned).  May be called on any thread,
 * at any time; the EVD has a device.
 */
void evd_notified(struct evd_ref ref) NO_CORE_LOCK;

/*
 * The same.  If the sink is a CNO, the calling thread also does what the job of the EVD would do on
 * a loop: it polls, arms, and reports to the CNO.
 */
void evd_notified_to_report(struct evd_ref ref) NO_CORE_LOCK;

/*
 * The channel that the EVD shares can never be read again, or was so when the EVD was created.  For
 * a private channel the function `read` of the source reports that.  From now on no notification
 * comes.  So calls that would need one fail with -EIO: a wait that does not find enough events, a
 * call that enables upcalls.  A policy or CNO that is enabled gets `fault`, and what the device has
 * by polls, in the intervals of a device that fails.
 */
void evd_channel_lost(struct evd_ref ref) NO_CORE_LOCK;

/*
 * The trigger for this EVD was taken from the CNO, perhaps without all its events.  If events are
 * queued it triggers the CNO again.  No poll is needed: after the last run for the CNO the device
 * is armed.
 */
void evd_report_again(struct evd_ref ref) NO_CORE_LOCK;

/*
 * Queues a copy of the event, and wakes the sink.  -ENOSPC: qlen posted events
 * or more are queued: a resize may leave room for more.  -ENODEV.  -ENOMEM: see posted_on_demand.
 */
int evd_post(struct evd_ref ref, enum evd_stream stream, const void *event) NO_CORE_LOCK;

/*
 * Makes room for n posted events above the length of the queue, or gives such room back (n < 0).
 * With n = 0 it only makes sure that there is room for those within the length.  -ENOMEM, -ENODEV.
 */
int evd_reserve(struct evd_ref ref, int n) NO_CORE_LOCK;

/* As evd_post(), for an event of an endpoint.  The hold is released also if the event is refused.
 */
int evd_post_ordered(struct evd_ref ref, enum evd_stream stream, const void *event,
    const struct evd_order *order) NO_CORE_LOCK;

/*
 * Records that the device queue holds at most `depth` completions.  Call this function before the
 * queue grows and after it shrank, because barriers wait for that many.  The size of a batch does
 * not change.
 */
void evd_set_depth(struct evd_ref ref, unsigned int depth) NO_CORE_LOCK;

/*
 * Polls the device into the queue, as far as it fits: for a caller that needs the source to see a
 * completion which no sink asks for.  0 or -errno.
 */
int evd_refresh(struct evd_ref ref) NO_CORE_LOCK;

/*
 * Polls until the device queue is empty, so that the source has seen every completion in it.  If
 * the completions do not fit into the ring, the ring grows, and keeps its size until evd_resize().
 * The owner limits the requests that are outstanding, and so the size of the ring.  May sleep for
 * memory.
 *   -ENOMEM  the device queue may hold more completions    -ENODEV  or the error of the device
 */
int evd_drain(struct evd_ref ref) NO_CORE_LOCK;

/*
 * The device queue or a posted stream overflowed.  The events that are queued can still be taken;
 * after them dequeue and wait return -EOVERFLOW.  Returns true for the first call only.
 */
bool evd_mark_overflow(struct evd_ref ref) NO_CORE_LOCK;

/*
 * There was no room for a posted event whose sender gets a refusal: a connection request.  The EVD
 * stays usable.  Returns true for the first refusal of an episode; an episode ends when no posted
 * event is queued.
 */
bool evd_mark_refusal(struct evd_ref ref) NO_CORE_LOCK;

/*
 * Removes what belongs to an object that is being freed: completions for which match_record()
 * returns true, in the ring, in `hold` and in released holds, and posted events for which
 * match_event() returns true. Either may be NULL.  The device queue is not polled; the source drops
 * what comes from it later.
 */
void evd_purge(struct evd_ref ref, struct evd_hold *hold,
    bool (*match_record)(const struct evd_record *record, const void *key),
    bool (*match_event)(const void *event, const void *key), const void *key) NO_CORE_LOCK;

/*
 * The same for posted events that match and that the endpoint posted: they need not name it.
 */
void evd_purge_endpoint(
    struct evd_ref ref, const void *endpoint, bool (*match)(const void *event)) NO_CORE_LOCK;

/*
 * Copies memory that the source of the EVD writes under the trigger lock.  If the EVD was freed no
 * thread writes it any more.
 */
void evd_copy(struct evd_ref ref, void *to, const void *from, size_t size) NO_CORE_LOCK;

/* From now on the source may keep completions in the hold. */
void evd_hold_begin(struct evd_ref ref, struct evd_hold *hold) NO_CORE_LOCK;
/* Without an event: what is in the hold is released now. */
void evd_hold_end(struct evd_ref ref, struct evd_hold *hold) NO_CORE_LOCK;

/*
 * Makes the hold long enough for `capacity` completions; what it holds keeps its order.  The caller
 * makes no other call of this function for the hold meanwhile.  -ENOMEM, -ENODEV.
 */
int evd_hold_reserve(struct evd_ref ref, struct evd_hold *hold, unsigned int capacity) NO_CORE_LOCK;

/* ---- output ---- */

/*
 * Takes the oldest event.  -EAGAIN: the queue is empty.  -EBUSY: a thread waits on the EVD.
 * -EOVERFLOW, -ENODEV, or the error of the device.
 */
int evd_dequeue(struct evd_ref ref, void *event) NO_CORE_LOCK;

/*
 * Takes up to `most` events, the oldest first, and returns how many: what is queued, or if nothing
 * is, what polls of the device find.  It may take fewer than there are.  Errors as evd_dequeue().
 */
int evd_dequeue_several(struct evd_ref ref, unsigned int most, void *events) NO_CORE_LOCK;

/*
 * Blocks until `threshold` events that wake a sink are queued, then takes the oldest event.  The
 * timeout is in microseconds, or EVD_FOREVER.  On success and on -ETIMEDOUT *nmore is the
 * number of events that are known to be left: on success at least threshold - 1.  It does not poll
 * for that, so the device queue may hold more.
 *   -ETIMEDOUT   nothing was taken            -EBUSY      another thread waits on the EVD
 *   -EACCES      an upcall policy is enabled  -EPERM      unwaitable, or became so during the wait
 *   -ECANCELED   freed during the wait        -EOVERFLOW  -EINTR  -ENODEV
 *   -EINVAL      threshold < 1 or > qlen
 *   Any other value is an error of the device from arming or polling, or of the sleep.
 */
int evd_wait(
    struct evd_ref ref, uint32_t timeout, int threshold, void *event, int *nmore) NO_CORE_LOCK;

/*
 * The same, but takes up to `most` events, at least 1, and returns how many: what is queued, until
 * one has an effect.
 */
int evd_wait_several(struct evd_ref ref, uint32_t timeout, int threshold, unsigned int most,
    void *events) NO_CORE_LOCK;

static inline bool
evd_policy_is_valid(enum evd_policy policy)
{
	return (policy >= EVD_POLICY_TEARDOWN && policy <= EVD_POLICY_NOTIFY) ||
	       policy == EVD_POLICY_MANY;
}

/* True if this valid policy makes upcalls. */
static inline bool
evd_policy_calls(enum evd_policy policy)
{
	return policy > EVD_POLICY_DISABLE;
}

/*
 * Changes the upcall policy; upcall NULL keeps the installed one.  Only EVD_POLICY_TEARDOWN waits.
 *   -EAGAIN  enabling with REFUSE while events are queued: nothing changed; dequeue, try again
 *   -EBUSY   a thread waits on the EVD      -EFAULT  the policy makes upcalls, without a function
 *   -EINVAL  unknown policy                 -ERANGE  unknown `pending`
 *   -ENODEV  or the error of the device: nothing changed
 */
int evd_modify_upcall(struct evd_ref ref, enum evd_policy policy, const struct evd_upcall *upcall,
    enum evd_pending pending) NO_CORE_LOCK;

/*
 * For a function of evd_config that makes an upcall: `handle` of the EVD.  Valid until the upcall
 * has returned.
 */
void *evd_upcall_handle(void);

/* Replaces the CNO (NULL: none); evd_query() returns `cookie`. */
int evd_set_listener(struct evd_ref ref, struct evd_listener *listener, void *cookie) NO_CORE_LOCK;
int evd_set_enabled(struct evd_ref ref, bool enabled) NO_CORE_LOCK;
int evd_set_waitable(struct evd_ref ref, bool waitable) NO_CORE_LOCK;
/*
 * The device is armed for solicited completions only, or for all.  A signalled completion that a
 * poll finds is delivered even if it was not solicited; but a CNO is not triggered for what a
 * dequeue finds.  If the device is armed for solicited completions and all are needed now, it is
 * armed again.
 */
int evd_set_solicited(struct evd_ref ref, bool solicited_only) NO_CORE_LOCK;

/*
 * Changes the length of the queue to qlen completions and qlen posted events.  No event is lost or
 * changes its place.  Completions in the device queue count as queued.  The caller prevents a free
 * during the call, and changes the device queue itself (evd_set_depth()).
 *   -EBUSY   a thread waits on the EVD    -EAGAIN  more than qlen events are queued: no change
 *   -ENOMEM  -ENODEV  or the error of the device from polling
 */
int evd_resize(struct evd_ref ref, unsigned int qlen) NO_CORE_LOCK;

/* True if the reference names the EVD that is in the slot, and it was not freed. */
bool evd_is_alive(struct evd_ref ref) NO_CORE_LOCK;

struct evd_status {
	int qlen;
	bool enabled, waitable, solicited_only, overflowed;
	bool device_over;  /* the device queue yields no completion and no notification any more */
	bool channel_lost; /* no notification can be read */
	void *cno;
	enum evd_policy policy;
	int queued; /* events that can be taken without a poll of the device */
};
int evd_query(struct evd_ref ref, struct evd_status *status) NO_CORE_LOCK;
int evd_query_counters(struct evd_ref ref, struct evd_counters *counters) NO_CORE_LOCK;

/* What callers of evd_wait() and evd_dequeue() did; counts since the EVD was created. */
struct evd_calls {
	uint64_t waits;
	uint64_t sleeps;	      /* of threads in evd_wait() */
	uint64_t spins, spins_served; /* before a sleep; those that made it needless */
	uint64_t wait_arms; /* notifications that were requested of the device meanwhile */
	uint64_t dequeues;
	uint64_t dequeued;	     /* that returned an event */
	uint64_t polls, polls_found; /* of the device, by any call; those with completions */
	uint64_t dequeue_polls, dequeue_polls_found; /* the same, by evd_dequeue() */
};
int evd_query_calls(struct evd_ref ref, struct evd_calls *calls) NO_CORE_LOCK;

/* ---- the object: its owner embeds it, only evd/ accesses its members ---- */

/* The notification that was requested of the device and has not been read yet. */
enum evd_armed {
	EVD_UNARMED,
	EVD_ARMED_SOLICITED,
	EVD_ARMED_ALL,
	EVD_ARMED_EMPTY /* for all, and the device queue was seen empty since then */
};

/*
 * What polls have found that was taken at once: the short ways count it here and nowhere else, and
 * the queries add it.
 */
struct evd_at_once {
	uint64_t taken;	   /* events, also in evd->taken; they are completions, too */
	uint64_t upcalls;  /* with what evd_take_for_upcall() took; each had a poll of its own */
	uint64_t looks;	   /* calls that dequeue, and polls of them, that found nothing */
	uint64_t found;	   /* polls that found nothing but what was taken */
	uint64_t dequeues; /* of these: calls that dequeue */
};

#define EVD_NOT_DIRECT UINT64_MAX /* no serial number */

struct evd {
	struct os_mutex lock; /* the trigger lock */
	/* the number of the EVD in the slot, or of the last EVD there */
	uint64_t serial BY_TRIGGER;
	bool alive BY_TRIGGER;	    /* from evd_create() to evd_free() */
	uint64_t direct BY_TRIGGER; /* `serial` while alive and not waiting, else EVD_NOT_DIRECT */
	bool bare BY_TRIGGER;	    /* alive, and only waits can be served: see evd_set_bare() */
	bool freed BY_TRIGGER;	    /* evd_free() has begun; destroyed() was not called yet */
	bool free_on_return BY_TRIGGER; /* the last thread that leaves the EVD destroys it */
	/* constant but for qlen, pool and channel_fd, which change in the trigger lock */
	struct evd_config cfg;

	struct loop_job job BY_TRIGGER;
	enum evd_job_state job_state BY_TRIGGER; /* only evd_job() and evd_job_queue() change it */
	/* the next delay; 0: the device has not failed since it worked last */
	uint64_t backoff_ns BY_TRIGGER;
	/* set by a successful arm, cleared by evd_note_notified() alone */
	enum evd_armed armed BY_TRIGGER;
	enum evd_attention attention BY_TRIGGER;
	/*
	 * The last poll found the device queue empty, and since then no event was posted that waits
	 * for a poll.  Completions that came later are not excluded.  False while `refused`.
	 */
	bool drained BY_TRIGGER;
	/*
	 * The device completed more receives than were posted, and a hold dropped those above.  No
	 * call has returned the error yet: until then a poll for a sink returns it again.
	 */
	bool refused BY_TRIGGER;
	/*
	 * Those of cfg.ops; while `refused`, one that fails, and NULL.  NULL if there is no device.
	 */
	evd_poll_function *poll BY_TRIGGER;
	evd_poll_into_function *poll_into BY_TRIGGER;
	unsigned int batch BY_TRIGGER; /* completions of a poll, at most */

	bool waiting BY_TRIGGER;
	struct park *waiter BY_TRIGGER; /* of the thread in evd_wait(), while `waiting` */
	bool closing BY_TRIGGER;	/* evd_set_closing() was called */
	int threshold BY_TRIGGER;
	struct spin spin BY_TRIGGER;
	/* how many of the last waits slept, without one between them that did not */
	unsigned int slept_waits BY_TRIGGER;
	bool waitable BY_TRIGGER;
	bool made_unwaitable BY_TRIGGER; /* during the current wait, even if it is waitable again */

	enum evd_policy policy BY_TRIGGER;
	struct evd_upcall upcall BY_TRIGGER;
	/* of what a series of upcalls depends on: sink, object, notification */
	unsigned int changes BY_TRIGGER;
	/* events claimed for upcalls that have not returned, and a report of a failure */
	int in_progress BY_TRIGGER;
	int closers BY_TRIGGER; /* how many of them are on threads that close an adapter */
	int exempt BY_TRIGGER;	/* closers, and upcalls that called TEARDOWN or free for this EVD */
	int tearing BY_TRIGGER; /* TEARDOWN and free calls that wait */
	struct park_list teardowns BY_TRIGGER;

	struct evd_listener *listener BY_TRIGGER;
	void *listener_cookie BY_TRIGGER;
	struct evd *triggered_next BY_CNO; /* in the list of the CNO, as the next four */
	bool triggered BY_CNO;
	bool agent_unseen BY_CNO;
	TAILQ_ENTRY(evd) handed_link BY_CNO; /* of the EVDs of the CNO that are `handed` */
	bool handed BY_CNO;
	bool enabled BY_TRIGGER;

	/* so many of the next runs for a CNO poll before they arm */
	unsigned int polls_first BY_TRIGGER;
	bool solicited_only BY_TRIGGER;
	bool overflowed BY_TRIGGER;
	bool refusing BY_TRIGGER; /* evd_mark_refusal() was called in this episode */
	/* the device queue failed after an overflow: no completion will come */
	bool device_over BY_TRIGGER;
	bool channel_lost BY_TRIGGER; /* no notification can be read */
	bool unarmable BY_TRIGGER;    /* one of these two */
	uint64_t taken BY_TRIGGER;    /* events that were taken by any call but evd_take_direct() */
	uint64_t taken_directly BY_TRIGGER; /* by that */
	struct evd_at_once at_once BY_TRIGGER;
	struct evd_queue queue BY_TRIGGER;
	unsigned int unacked BY_TRIGGER; /* notifications that were read and not acknowledged */
	int pins BY_TRIGGER; /* threads that use the channel or the source without the lock */
	struct loop_ticket channel BY_TRIGGER; /* the private channel as a source of the loop */
	/* by the loop, because the sink is an upcall policy or a CNO */
	bool channel_watched BY_TRIGGER;
	struct evd_counters counters BY_TRIGGER;
	struct evd_calls calls BY_TRIGGER;
};

/* A reference to the EVD in the slot, for an owner that prevents its destruction. */
static inline struct evd_ref
evd_self(struct evd *evd) UNCHECKED
{
	return (struct evd_ref){ evd, evd->serial };
}

static inline struct evd *
evd_of_job(struct loop_job *job)
{
	return (struct evd *)((char *)job - offsetof(struct evd, job));
}

#endif
