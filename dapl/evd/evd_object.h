/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * evd_object -- an EVD as a DAT object: the dispatcher's queue with a completion queue under it
 */
#ifndef REARM_DAPL_EVD_OBJECT_H
#define REARM_DAPL_EVD_OBJECT_H

#include <stdatomic.h>

#include <infiniband/verbs.h>

#include <dat2/dat_ib_extensions.h>

#include "evd/evd.h"

#include "dapl/object/counter.h"
#include "dapl/object/object.h"

struct dapl_cno;
struct dapl_ia;
struct dapl_ia_loop;

/* Which completions wake a sink; in the order of DAT's state bits. */
enum dapl_evd_notice {
	DAPL_NOTICE_UNDECIDED, /* no endpoint is attached */
	DAPL_NOTICE_SIGNALLED, /* all but those that were posted as unsignalled */
	DAPL_NOTICE_SOLICITED, /* those that the sender marked as solicited */
	DAPL_NOTICE_ALL,       /* the same, and a waiter may wait for several */
	DAPL_NOTICES
};

struct dapl_evd {
	struct dapl_object obj;
	struct evd core;
	/*
	 * Read without a lock: the EVD has a completion queue; software events may be posted to
	 * it; a waiter may not wait for several events.
	 */
	atomic_bool on_cq, software, one_at_a_time;
	/* The members from here on are zeroed for a new EVD. */
	DAT_EVD_FLAGS flags;		  /* constant while open, as is what follows */
	struct ibv_cq *cq;		  /* NULL: no stream comes from the device */
	struct dapl_cq_context *context;  /* of the completion queue */
	struct ibv_comp_channel *channel; /* its private one, or NULL: the loop's */
	struct dapl_ia_loop *loop;
	struct dapl_cno *cno; /* guarded by the object's lock; holds a reference */
	int room;	      /* requests that the CQ must have room for; guarded by obj.lock */
	int stale; /* the part of `room` for destroyed queue pairs; guarded by obj.lock */
	unsigned int wishes[DAPL_NOTICES]; /* how many directions of endpoints need each; guarded by
					      obj.lock */
	enum dapl_evd_notice notice;	   /* the widest of them; guarded by obj.lock */
	uint64_t base[DCNT_EVD_ALL_COUNTERS]; /* of the counters; guarded by obj.lock */
	uint64_t slow_ns; /* an upcall that takes longer is reported (slow.h); 0: none is */
	_Atomic(uint64_t) slow_upcalls; /* that took longer */
	bool orphan; /* its IA closed while an object of another IA held it; guarded by obj.lock */
};

/* Streams that come out of a completion queue. */
#define DAPL_EVD_CQ_FLAGS (DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG)

/*
 * Streams whose events are posted and must not be refused for lack of memory.  To other EVDs only
 * completions are posted, of requests that never reach the device; the caller gets the error.
 */
#define DAPL_EVD_POSTED_FLAGS \
	(DAT_EVD_SOFTWARE_FLAG | DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_ASYNC_FLAG)

#define DAPL_EVD_FLAGS_EXTENSION 0x200 /* the extension stream, which comes out of the CQ */
#define DAPL_EVD_FLAGS_KNOWN \
	(DAT_EVD_DEFAULT_FLAG | DAT_EVD_SOFTWARE_FLAG | DAPL_EVD_FLAGS_EXTENSION)

/* The arguments for a new EVD. */
struct dapl_evd_plan {
	int qlen;
	DAT_EVD_FLAGS flags;
	DAT_CNO_HANDLE cno;
	bool private_channel; /* the EVD gets a channel of its own, for a thread that waits on it */
};

/* Of all EVDs.  evd.c. */
extern struct dapl_slab dapl_evd_slab;

/* The name of the EVD in the dispatcher.  The caller holds a reference, or the object. */
static inline struct evd_ref
dapl_evd_ref(struct dapl_evd *evd)
{
	return (struct evd_ref){ &evd->core, evd->obj.serial };
}

static inline struct dapl_evd *
dapl_evd_of(struct evd *core)
{
	return (struct dapl_evd *)((char *)core - offsetof(struct dapl_evd, core));
}

/* Posts a copy of the event to the EVD, which it names; `order` is NULL if it has none. */
static inline int
dapl_evd_post(struct dapl_evd *evd, enum evd_stream stream, const DAT_EVENT *event,
    const struct evd_order *order) NO_CORE_LOCK
{
	static const struct evd_order none;
	DAT_EVENT own = *event;

	own.evd_handle = evd->obj.handle;
	return evd_post_ordered(dapl_evd_ref(evd), stream, &own, order ? order : &none);
}

/*
 * evd_report.c: queues an asynchronous event about `handle` (an object of the IA), if the IA has an
 * EVD for them, or another IA of the device where it was opened with DAT_EVD_ASYNC_EXISTS.
 */
void dapl_ia_report(struct dapl_ia *ia, DAT_EVENT_NUMBER number, DAT_HANDLE handle,
    DAT_COUNT reason) DAPL_NO_LIST_LOCK;
/* The same about the IA itself, to its own EVD only: each IA of the device gets a report. */
void dapl_ia_report_self(struct dapl_ia *ia, DAT_EVENT_NUMBER number, DAT_COUNT reason)
    REQUIRES(dapl_locks.adapters) DAPL_NO_ADAPTER_LOCK;
/* The device failed or is being removed: IA_CATASTROPHIC, once. */
void dapl_ia_report_catastrophe(struct dapl_ia *ia)
    REQUIRES(dapl_locks.adapters) DAPL_NO_ADAPTER_LOCK;
/*
 * A channel of the device can never be read again: IA_CATASTROPHIC, once, as if the device had
 * failed.  `loop`: the channel is that of this loop, and no EVD that shares it gets a notification
 * any more; NULL: it is another one.
 */
void dapl_ia_lost_channel(struct dapl_ia *ia, struct dapl_ia_loop *loop) DAPL_NO_LIST_LOCK;
/* Of a new EVD, which may share a channel that can never be read again. */
void dapl_evd_check_channel(struct dapl_evd *evd) DAPL_NO_ADAPTER_LOCK;
/*
 * Makes room for n events above the length of the EVD to which dapl_ia_report() posts; *room names
 * it, if there is one.  -ENOMEM.  dapl_ia_put_report_room() gives the room back.
 */
int dapl_ia_get_report_room(struct dapl_ia *ia, int n, struct evd_ref *room) DAPL_NO_LIST_LOCK;
void dapl_ia_put_report_room(const struct evd_ref *room, int n) NO_CORE_LOCK;
/* Removes the events that match from the EVDs to which dapl_ia_report() posts. */
void dapl_ia_purge_reports(struct dapl_ia *ia, bool (*match)(const void *event, const void *key),
    const void *key) DAPL_NO_LIST_LOCK;

/* Refuses a queue that is longer than the device has any. */
DAT_RETURN dapl_evd_check_length(const struct dapl_ia *ia, DAT_COUNT qlen);

/*
 * async_evd.c.  Takes over, or creates, the EVD for asynchronous events of an IA that is being
 * opened. A DAT_RETURN: each case has its own.
 */
DAT_RETURN dapl_ia_attach_async(
    struct dapl_ia *ia, DAT_COUNT qlen, DAT_EVD_HANDLE given) DAPL_NO_LOCK;
/* Drops the reference. */
void dapl_ia_detach_async(struct dapl_ia *ia) DAPL_NO_ADAPTER_LOCK;
/* Removes the EVDs of this IA from every other IA that uses one of them for asynchronous events. */
void dapl_ia_detach_async_elsewhere(struct dapl_ia *ia) DAPL_NO_LOCK;

/* evd_count.c.  As dapl_counter_copy() with all of an EVD; false for a bad handle. */
bool dapl_evd_counts_copy(
    DAT_EVD_HANDLE handle, int which, DAT_UINT64 *out, bool reset) DAPL_NO_OBJECT_LOCK;

/* 0 or -errno (-EBADF: a bad CNO). */
int dapl_evd_create_object(
    struct dapl_ia *ia, const struct dapl_evd_plan *plan, struct dapl_evd **out) DAPL_NO_LOCK;

/* -EBUSY while something uses it, -ENODEV.  Waits for upcalls. */
int dapl_evd_free_object(struct dapl_evd *evd, uint64_t serial) DAPL_NO_LOCK;
/* The IA is closing: evd_set_closing() for one of its children. */
void dapl_evd_set_closing(struct dapl_object *obj) DAPL_NO_OBJECT_LOCK;
/* For an EVD that was freed: evd_is_left_to_closers() and evd_await_others(). */
bool dapl_evd_is_left(const struct dapl_object *obj) DAPL_NO_OBJECT_LOCK;
bool dapl_evd_await_others(struct dapl_object *obj, uint64_t serial) DAPL_NO_LOCK;

/*
 * Drops a reference.  While there is one, the slot of a freed EVD is not reused; if the close of
 * the IA has freed the EVD, the last drop frees the slot.
 */
void dapl_evd_put(struct dapl_evd *evd) DAPL_NO_OBJECT_LOCK;

/*
 * evd_notice.c: attaches a direction of an endpoint to the EVD, with the completion flags of its
 * attributes, or detaches it.
 */
void dapl_evd_notice_attach(struct dapl_evd *evd, DAT_COMPLETION_FLAGS flags) DAPL_NO_OBJECT_LOCK;
void dapl_evd_notice_detach(struct dapl_evd *evd, DAT_COMPLETION_FLAGS flags) DAPL_NO_OBJECT_LOCK;

/*
 * cq.c: creates the completion queue of an EVD, which becomes the source of the EVD.  0 or -errno.
 */
int dapl_evd_cq_open(struct dapl_ia *ia, struct dapl_evd *evd, int qlen,
    struct ibv_comp_channel *shared, int vector, bool private_channel) DAPL_NO_OBJECT_LOCK;
void dapl_evd_cq_close(struct dapl_evd *evd) DAPL_NO_OBJECT_LOCK;

/*
 * Adds n to the requests that may be outstanding, and grows the completion queue if it is too
 * short for all of them: a queue that overflows cannot be used again. If the device cannot
 * resize the queue, it keeps its depth.
 */
void dapl_evd_cq_get_room(struct dapl_evd *evd, int n) DAPL_NO_OBJECT_LOCK;

/*
 * Called after a queue pair with room for n requests was destroyed; its completions are dropped
 * when they are polled from then on.  After ibv_destroy_qp() no completion of the queue pair is
 * added, but those in the completion queue stay there until they are polled.  This function polls
 * them and then releases the room.  If that fails, the room stays reserved, and the next call
 * releases it.
 */
void dapl_evd_cq_put_room(struct dapl_evd *evd, int n) DAPL_NO_LIST_LOCK;

/*
 * Makes the completion queue at least this deep.  If the device cannot resize it, it keeps its
 * depth and its queue pairs, and only the queue of the dispatcher gets the length.  0 or -ENOMEM.
 */
int dapl_evd_cq_deepen(struct dapl_evd *evd, int qlen) REQUIRES(dapl_locks.object) NO_CORE_LOCK;
/*
 * Makes the completion queue as short as this, but no shorter than the room that is reserved in it.
 */
void dapl_evd_cq_shorten(struct dapl_evd *evd, int qlen) REQUIRES(dapl_locks.object) NO_CORE_LOCK;

/* The functions of struct evd_source_ops for a completion queue; `evd` is a struct dapl_evd. */
struct evd_device_result dapl_evd_cq_arm(void *evd, bool solicited_only)
    REQUIRES(core_locks.trigger);
void dapl_evd_cq_ack(void *evd, unsigned int n);
int dapl_evd_cq_read(void *evd) NO_CORE_LOCK;

/* Reports a failure of the EVD on its IA's async EVD, if the EVD still exists. */
void dapl_evd_report(
    struct evd_ref ref, DAT_EVENT_NUMBER number, DAT_COUNT reason) DAPL_NO_LIST_LOCK;

/* An event of the EVD was lost.  The first call reports this on the async EVD of its IA. */
void dapl_evd_overflowed(struct evd_ref ref) DAPL_NO_LIST_LOCK;

/*
 * As evd_drain(): polls until no completion is left in the device queue.  An error of a poll may
 * pass, so it makes some attempts.
 */
int dapl_evd_drain(struct evd_ref ref) DAPL_NO_LIST_LOCK;
/*
 * The same where a completion that is left would later be taken for another: if the device cannot
 * be polled, the queue counts as overflowed.
 */
void dapl_evd_drain_or_lose(struct evd_ref ref) DAPL_NO_LIST_LOCK;

/*
 * Creates the pool for DAT_UPCALL_MANY, whose upcalls could not run at the same time on the thread
 * of the loop.  -ENOMEM, -ENODEV.
 */
int dapl_evd_give_pool(DAT_EVD_HANDLE handle) DAPL_NO_LOCK;

#endif
