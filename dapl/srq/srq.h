/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srq -- shared receive queue: receive buffers for several endpoints
 *
 * The device takes the buffers in the order in which messages arrive at any of the endpoints, and
 * completes them on several EVDs.  So the completions do not come in posting order, and the ring of
 * wr.h does not fit.  Each posted buffer has an entry instead; the wr_id names the SRQ and the
 * entry.  The number of the queue pair in the completion leads to the endpoint.
 *
 *   free    -> posted  dat_srq_post_recv()
 *   posted  -> taken   the completion was polled; it waits in an EVD
 *   taken   -> free    the event was dequeued, or the endpoint is gone
 *
 * A posted buffer stays in the queue when an endpoint disconnects: it is not flushed.
 *
 * While an endpoint is attached, its EVD for receives has room for all buffers, and so has its hold
 * of receives that came before ESTABLISHED.  The EVD for asynchronous events has room for a report
 * of each endpoint.
 *
 * Locks, in their order:
 *
 *   membership  (M) held while an endpoint is attached or detached and while the queue is resized.
 *               Calls of the device that may sleep are made under it.
 *   obj.lock    (L) as of any object.
 *   lock        (Q) of the entries and the table of members; the completion path takes it under a
 *               trigger lock.  No other lock is taken under it, and no memory is allocated.
 */
#ifndef REARM_DAPL_SRQ_H
#define REARM_DAPL_SRQ_H

#include <infiniband/verbs.h>

#include "dapl/evd/evd_object.h"
#include "dapl/memory/pz.h"

#define DAPL_SRQ_BUCKETS 1024u

/* The place of an endpoint among those of an SRQ; part of the endpoint. */
struct dapl_srq_member {
	struct dapl_srq_member *next; /* (Q) in its bucket */
	struct dapl_srq_member *peer; /* (M) among all members */
	struct dapl_evd *evd;	      /* (M) of the receives; NULL: not attached */
	struct evd_hold *hold;	      /* (M) of the receives; NULL: none */
	struct evd_ref async;	      /* where its report has room; constant for the endpoint */
	uint32_t qp_num;
	uint32_t generation; /* of the queue pair, for the endpoint; constant while attached */
};

struct dapl_srq_entry {
	DAT_DTO_COOKIE cookie;
	struct dapl_srq_member *member; /* that the completion belongs to; NULL: not taken */
	uint32_t next;			/* among the free ones */
	bool posted;
};

struct dapl_srq {
	struct dapl_object obj;
	struct os_mutex membership, lock;
	struct dapl_pz *pz; /* holds a reference; constant while open, as is what follows */
	struct ibv_srq *ibv;
	DAT_COUNT max_recv_iov;
	struct evd_ref async;		 /* where its reports have room */
	DAT_COUNT low_watermark;	 /* (L) as it was set */
	bool watched;			 /* (L) that fewer buffers are left is to be reported */
	bool failed;			 /* (L) the device reported an error of the queue */
	struct dapl_srq_member *members; /* (M) */
	uint32_t generation;		 /* (Q) as wr_ids have it */
	DAT_COUNT depth;		/* (Q) entries that may be in use; changes under (M) also */
	struct dapl_srq_entry *entries; /* (Q) `size` of them, depth or more */
	uint32_t size;			/* (Q) changes under (M) also */
	uint32_t free;			/* (Q) the first free entry, or `size` */
	DAT_COUNT posted, taken;	/* (Q) entries in these states */
	bool unarmed; /* (Q) the watermark of the create was not set in the device yet */
	struct dapl_srq_member *buckets[DAPL_SRQ_BUCKETS]; /* (Q) */
};

static inline void
dapl_srq_lock(struct dapl_srq *srq) ACQUIRE(dapl_locks.srq)
    EXCLUDES(dapl_locks.cm, dapl_locks.handles, dapl_locks.slab) UNCHECKED
{
	os_lock(&srq->lock);
}

static inline void
dapl_srq_unlock(struct dapl_srq *srq) RELEASE(dapl_locks.srq) UNCHECKED
{
	os_unlock(&srq->lock);
}

static inline void
dapl_srq_lock_members(struct dapl_srq *srq) ACQUIRE(dapl_locks.members) DAPL_NO_LIST_LOCK UNCHECKED
{
	os_lock(&srq->membership);
}

static inline void
dapl_srq_unlock_members(struct dapl_srq *srq) RELEASE(dapl_locks.members) UNCHECKED
{
	os_unlock(&srq->membership);
}

/* ---- endpoints ---- */

/* A reference for an endpoint, or NULL for a bad handle. */
struct dapl_srq *dapl_srq_get(
    DAT_SRQ_HANDLE handle, const struct dapl_parent *parent) DAPL_NO_ADAPTER_LOCK;
void dapl_srq_put(struct dapl_srq *srq) DAPL_NO_ADAPTER_LOCK;

/* How many buffers may be outstanding. */
DAT_COUNT dapl_srq_depth(struct dapl_srq *srq) EXCLUDES(dapl_locks.srq);

/*
 * Makes a hold, which no member has yet, long enough for all buffers; it stays so while the members
 * are locked.  `evd` is that of the receives.  -ENOMEM.
 */
int dapl_srq_lengthen_hold(struct dapl_srq *srq, struct dapl_evd *evd, struct evd_hold *hold)
    REQUIRES(dapl_locks.members) DAPL_NO_LIST_LOCK;

/*
 * The queue pair exists and cannot receive yet.  Makes room in the completion queue of `evd`, and
 * in `hold`, for all buffers of the SRQ.  -ENOMEM: it is not attached.
 */
int dapl_srq_attach(struct dapl_srq *srq, struct dapl_srq_member *member, struct dapl_evd *evd,
    struct evd_hold *hold, uint32_t qp_num) REQUIRES(dapl_locks.members) DAPL_NO_LIST_LOCK;

/*
 * The members stay locked while the caller destroys a queue pair, polls its completions into the
 * EVD, purges them, and makes this call.  The device may use the number of a destroyed queue pair
 * again: no queue pair is attached meanwhile, so that a number always leads to one member.  The
 * entries that the member had taken are free afterwards.
 */
void dapl_srq_detach(struct dapl_srq *srq, struct dapl_srq_member *member)
    REQUIRES(dapl_locks.members) DAPL_NO_LIST_LOCK;

/* ---- completions; under a trigger lock ---- */

/* A polled completion: its member, or NULL if its endpoint is gone; then the entry is free. */
struct dapl_srq_member *dapl_srq_take(const struct ibv_wc *wc) EXCLUDES(dapl_locks.srq);
/* The event is dequeued: the member and the cookie; the entry is free. */
struct dapl_srq_member *dapl_srq_reap(uint64_t id, DAT_DTO_COOKIE *cookie) EXCLUDES(dapl_locks.srq);

/* ---- asynchronous events ---- */

extern struct dapl_slab dapl_srq_slab;

/* Whether a pointer of unknown origin is the context of an SRQ. */
bool dapl_srq_owns(const void *context);
/* The device reported that the watermark was passed, or that the queue failed. */
void dapl_srq_limit_reached(struct dapl_srq *srq, uint64_t serial) DAPL_NO_LOCK;
void dapl_srq_failed(struct dapl_srq *srq, uint64_t serial) DAPL_NO_LOCK;

#endif
