/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep -- endpoint: one queue pair and one connection
 *
 * The lock of the endpoint guards what is marked (L).  Calls of the device and of the connection
 * manager that may sleep are made without the lock; a thread that makes one pins the endpoint, and
 * reset and free wait for the pins.  A CM id that is no longer needed while pinned threads may
 * still use it is stored in `doomed`; the thread that drops the last pin destroys it.
 */
#ifndef REARM_DAPL_EP_H
#define REARM_DAPL_EP_H

#include <stdatomic.h>

#include <dat2/dat_ib_extensions.h>

#include "evd/evd.h"
#include "evd/park.h"

#include "dapl/ep/ah.h"
#include "dapl/ep/conn.h"
#include "dapl/ep/ep_count.h"
#include "dapl/ep/invalidated.h"
#include "dapl/state/ep_state.h"
#include "dapl/evd/evd_object.h"
#include "dapl/ia/ia.h"
#include "dapl/memory/pz.h"
#include "dapl/srq/srq.h"
#include "dapl/ep/wr.h"

#define DAPL_EP_ANSWER_MAX 256 /* no connection manager delivers more private data */

/* What a call returns for a handle that is no endpoint's. */
#define DAPL_EP_BAD_HANDLE DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP)

/*
 * The objects that an endpoint uses, each with a reference. An EVD may be missing. The
 * protection zone is missing only if the provider made the endpoint and the consumer has not
 * set one yet.  Most endpoints have no shared receive queue; one that has it has an EVD for
 * receives.
 */
struct dapl_ep_parts {
	struct dapl_pz *pz;
	struct dapl_evd *recv, *request, *connect;
	struct dapl_srq *srq;
};

/* The same by their handles; DAT_HANDLE_NULL stands for a part that is missing. */
struct dapl_ep_part_handles {
	DAT_PZ_HANDLE pz;
	DAT_EVD_HANDLE recv, request, connect;
	DAT_SRQ_HANDLE srq;
};

/*
 * The posted requests, the receives that completed before ESTABLISHED, and what receives have
 * invalidated.
 */
struct dapl_ep_rings {
	struct dapl_wr_ring requests, recvs;
	bool merged;	      /* receives and connection events arrive at one EVD: */
	struct evd_hold hold; /* of receives until ESTABLISHED */
	struct dapl_invalidated invalidated;
	bool bind; /* a bind was posted; changes under (L) */
};

/* The event that ends a connection, or an attempt to connect; `event` 0: none. */
struct dapl_ep_owed {
	DAT_EVENT_NUMBER event;
	size_t size; /* of the private data that came with it */
};

struct dapl_ep {
	struct dapl_object obj;
	DAT_EP_HANDLE self; /* the handle that events name; valid after the handle was freed */
	DAT_EP_STATE state; /* (L) */
	_Atomic(uint32_t) generation; /* of the queue pair; changes under (L) */
	/* what the wr_ids of that generation have in common; changes under (L), after it */
	_Atomic(uint64_t) wr_base;

	struct park_list unpinned; /* (L) of the slot: kept when the slot is reused */

	/*
	 * These change with the queue pair, by a thread that set qp to NULL and has the only
	 * pin.
	 */
	struct dapl_ep_parts parts;
	struct dapl_ep_rings rings;
	DAT_EP_ATTR attr;
	struct dapl_srq_member member; /* of parts.srq */

	_Atomic(uint32_t) failed; /* generation + 1 of a queue pair that had an error */
	/* likewise, if `breaker` was queued for it; guarded by the trigger lock of parts.request */
	uint32_t breaking;

	/* The members from here on are zeroed for a new endpoint. */
	unsigned int pins; /* (L) */
	struct dapl_ep_counts counts;
	struct dapl_lookup *lookups;	/* (L) of a datagram endpoint, as is the next */
	struct dapl_ah_list ahs;	/* (L) */
	struct dapl_refusals *refusals; /* (L) of its lookups; NULL: none with private data */
	uint32_t broken;		/* (L) as `failed`, for an error while it was connecting */
	uint32_t reported; /* (L) likewise, whose end was reported as EP_BROKEN; see async.c */
	uint32_t drained;  /* (L) likewise, that takes no further buffer of parts.srq */
	struct ibv_qp *qp; /* (L); NULL: none yet, or between two */

	struct dapl_conn *conn;	  /* (L) */
	struct dapl_conn *doomed; /* (L) to be closed by the last pin */
	struct loop_job timer;
	struct loop_job breaker; /* breaks the connection after a failure that makes no event */
	/* (L) of the connection attempt, of the event in `owed`, or of a device that fails */
	uint64_t deadline;
	struct dapl_ep_owed owed; /* (L) waits until all requests completed */
	bool by_us;		  /* (L) this end disconnected */
	/* (L) an attempt to connect has ended: ESTABLISHED is not posted, or the hold not over */
	bool concluding;
	unsigned int retries;			 /* (L) of address and route resolution */
	struct sockaddr_storage remote;		 /* (L) */
	DAT_CONN_QUAL remote_qual;		 /* (L) */
	uint8_t hello[DAPL_IA_MAX_PRIVATE_DATA]; /* (L) private data of the request to connect */
	uint8_t hello_size;
	atomic_bool active; /* this end asked for the connection; changes under (L) */
	/* private data of the answer; the consumer may read it until reset or free */
	uint8_t answer[DAPL_EP_ANSWER_MAX];
};

extern struct dapl_slab dapl_ep_slab;

/*
 * The context of a queue pair, to which its asynchronous events lead.  It exists as long as the
 * queue pair.  Verbs does not destroy a queue pair until all its events that were read are
 * acknowledged.  So the reader of an event can use the context, even if a reset has taken the queue
 * pair from the endpoint.
 */
struct dapl_ep_qp_context {
	struct dapl_slab_slot slot;
	struct dapl_ep *ep;
	uint32_t generation;
};

extern struct dapl_slab dapl_ep_qp_context_slab;

static inline uint32_t
dapl_ep_generation(struct dapl_ep *ep)
{
	return atomic_load_explicit(&ep->generation, memory_order_acquire);
}

/* After a change of the generation, and before the first request. */
static inline void
dapl_ep_number_requests(struct dapl_ep *ep) REQUIRES(dapl_locks.object)
{
	atomic_store_explicit(&ep->wr_base,
	    dapl_wr_id(ep->obj.slot.index, dapl_ep_generation(ep), (enum dapl_wr_kind)0, 0),
	    memory_order_release);
}

/* The queue pair goes: what it completes from now on is of no request. */
static inline void
dapl_ep_end_generation(struct dapl_ep *ep) REQUIRES(dapl_locks.object)
{
	atomic_fetch_add_explicit(&ep->generation, 1, memory_order_acq_rel);
	dapl_ep_number_requests(ep);
}

/* For a request of the endpoint. */
static inline uint64_t
dapl_ep_wr_id(struct dapl_ep *ep, enum dapl_wr_kind kind, uint32_t place)
    REQUIRES(dapl_locks.object)
{
	return atomic_load_explicit(&ep->wr_base, memory_order_relaxed) |
	       dapl_wr_id(0, 0, kind, place);
}

/* Whether a completion is of a request of that kind, of the queue pair that the endpoint has. */
static inline bool
dapl_ep_has_completed(struct dapl_ep *ep, uint64_t wr_id, enum dapl_wr_kind kind)
{
	return dapl_wr_id_is_of(
	    wr_id, atomic_load_explicit(&ep->wr_base, memory_order_acquire), kind);
}

/*
 * A datagram endpoint has no connection.  It is UNCONNECTED until it has the address of another
 * endpoint, then CONNECTED; it may look up more addresses, and accept requests, in both states.
 * The service type of an endpoint never changes.
 */
static inline bool
dapl_ep_is_datagram(const struct dapl_ep *ep)
{
	return (int)ep->attr.service_type == DAT_IB_SERVICE_TYPE_UD;
}

/* Whether the state allows the call. */
static inline bool
dapl_ep_allows(const struct dapl_ep *ep, enum dapl_ep_call call) REQUIRES(dapl_locks.object)
{
	return dapl_ep_may(ep->state, call) == DAPL_EP_ALLOWED;
}

/* Enters the state that the call leads to. */
static inline void
dapl_ep_advance(struct dapl_ep *ep, enum dapl_ep_call call) REQUIRES(dapl_locks.object)
{
	ep->state = dapl_ep_answer(ep->state, call)->next;
}

/* What a call returns that the state does not allow. */
static inline DAT_RETURN
dapl_ep_state_error(const struct dapl_ep *ep) REQUIRES(dapl_locks.object)
{
	return DAT_ERROR(DAT_INVALID_STATE, dapl_ep_state_subtype(ep->state));
}

static inline void
dapl_ep_get_pin(struct dapl_ep *ep) REQUIRES(dapl_locks.object)
{
	ep->pins++;
}

/* If this is the last pin it closes the doomed id. */
void dapl_ep_put_pin(struct dapl_ep *ep) DAPL_NO_LOCK;

/* Waits until the other pins are dropped; drops and retakes the lock. */
void dapl_ep_await_pins(struct dapl_ep *ep) REQUIRES(dapl_locks.object);

/*
 * Creates an endpoint for a request from that address.  It belongs to the request until the request
 * is accepted.  It has the default attributes, but no protection zone, EVDs or queue pair until
 * dat_ep_modify() sets them.  0 or -errno.
 */
int dapl_ep_create_for_request(
    struct dapl_ia *ia, const struct sockaddr *from, DAT_EP_HANDLE *handle) DAPL_NO_LOCK;

/*
 * Called when the request of an endpoint is refused.  An endpoint that the provider created for the
 * request is destroyed; an endpoint of a reserved service point belongs to the consumer again.
 */
void dapl_ep_detach_request(DAT_EP_HANDLE handle) DAPL_NO_LOCK;

/*
 * async.c.  The connection of an endpoint with a shared receive queue ends: it takes no further
 * buffer.  Reports that once for each queue pair.
 */
void dapl_ep_report_last(struct dapl_ep *ep, uint32_t generation) DAPL_NO_LOCK;
/* Reads the asynchronous events of the device of a struct dapl_ia. */
void dapl_async_read(void *ia, uint64_t serial) DAPL_NO_LOCK;

/* ep_attr.c: the default attributes, limited to what the device supports.  */
void dapl_ep_attr_defaults(const struct dapl_ia *ia, DAT_EP_ATTR *attr);
/* Fills `out` from the attributes of the consumer; false if the device does not support them. */
bool dapl_ep_attr_accept(const struct dapl_ia *ia, const DAT_EP_ATTR *asked, DAT_EP_ATTR *out);

/*
 * ep_parts.c.  Takes a reference to each part and returns DAT_NO_SUBTYPE; or takes none and returns
 * the subtype for the bad handle.  DAT_HANDLE_NULL: the endpoint has no such part.
 */
DAT_RETURN_SUBTYPE dapl_ep_parts_get(struct dapl_ia *ia, const struct dapl_ep_part_handles *handles,
    struct dapl_ep_parts *parts) DAPL_NO_ADAPTER_LOCK;
void dapl_ep_parts_put(const struct dapl_ep_parts *parts) DAPL_NO_ADAPTER_LOCK;
/* The handles of parts; DAT_HANDLE_NULL for a part that is missing. */
static inline DAT_PZ_HANDLE
dapl_ep_pz_handle(const struct dapl_pz *pz)
{
	return pz ? dapl_object_handle(&pz->obj) : DAT_HANDLE_NULL;
}
static inline DAT_EVD_HANDLE
dapl_ep_evd_handle(const struct dapl_evd *evd)
{
	return evd ? evd->core.cfg.handle : DAT_HANDLE_NULL;
}
static inline DAT_SRQ_HANDLE
dapl_ep_srq_handle(const struct dapl_srq *srq)
{
	return srq ? dapl_object_handle(&srq->obj) : DAT_HANDLE_NULL;
}
/*
 * Called before a queue pair is created: reserves room in the completion queues for the requests
 * that may be outstanding.
 */
void dapl_ep_parts_get_room(
    const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr) DAPL_NO_OBJECT_LOCK;
/*
 * Called after the queue pair was destroyed and the generation was incremented: releases that room.
 */
void dapl_ep_parts_put_room(
    const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr) DAPL_NO_LOCK;
/*
 * Attaches the endpoint to its EVDs, or detaches it: they wake for its completions as its
 * attributes require.
 */
void dapl_ep_parts_attach(
    const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr) DAPL_NO_OBJECT_LOCK;
void dapl_ep_parts_detach(
    const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr) DAPL_NO_OBJECT_LOCK;
/*
 * The requests that the queue pair takes beyond max_request_dtos: to bind a region again takes two,
 * of which the program knows one.
 */
int dapl_ep_parts_spare(const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr);
int dapl_ep_rings_create(
    struct dapl_ep_rings *rings, const struct dapl_ep_parts *parts, const DAT_EP_ATTR *attr);
void dapl_ep_rings_free(struct dapl_ep_rings *rings);

/*
 * Called after the generation of the queue pair was incremented.  Removes the completions of the
 * queue pair that are queued in EVDs.  Completions that are still in the completion queue are
 * dropped when they are polled.
 */
void dapl_ep_purge_completions(struct dapl_ep *ep) NO_CORE_LOCK;

/*
 * Polls the completion queues of the endpoint into the EVDs, which gives the completions their
 * places.  False: one cannot be polled now.  The caller has a pin.
 */
bool dapl_ep_refresh(struct dapl_ep *ep) DAPL_NO_LOCK;

/*
 * ep_qp.c: a queue pair, which the endpoint is to have in this generation.  dapl_ep_qp_attach()
 * makes it a member of the shared receive queue of `parts`, if there is one; until dapl_ep_qp_end()
 * the endpoint has no other.  The rings of the endpoint exist.  -ENOMEM.
 */
int dapl_ep_qp_create(struct dapl_ep *ep, uint32_t generation, const struct dapl_ep_parts *parts,
    const DAT_EP_ATTR *attr, struct ibv_qp **out) DAPL_NO_OBJECT_LOCK;
int dapl_ep_qp_attach(struct dapl_ep *ep, uint32_t generation, const struct dapl_ep_parts *parts,
    const struct ibv_qp *qp) DAPL_NO_LOCK;
void dapl_ep_qp_free(struct ibv_qp *qp) DAPL_NO_OBJECT_LOCK;
/*
 * The end of the queue pair of an endpoint, or of none: destroys it, purges its completions from
 * the EVDs of the endpoint and removes it from the shared receive queue.  The generation was
 * incremented, or no completion can be there.
 */
void dapl_ep_qp_end(struct dapl_ep *ep, struct ibv_qp *qp) DAPL_NO_LOCK;
/* The same for a caller that has locked the members of the shared receive queue. */
int dapl_ep_qp_attach_shared(struct dapl_ep *ep, uint32_t generation,
    const struct dapl_ep_parts *parts, const struct ibv_qp *qp)
    REQUIRES(dapl_locks.members) DAPL_NO_LIST_LOCK;
void dapl_ep_qp_end_shared(struct dapl_ep *ep, struct ibv_qp *qp)
    REQUIRES(dapl_locks.members) DAPL_NO_LIST_LOCK;
void dapl_ep_qp_fail(struct ibv_qp *qp); /* to the error state: everything outstanding is flushed */

/*
 * ep_event.c: the changes of a connection.
 *
 * dapl_ep_settle() performs one change: it sets the next state, moves the queue pair to the error
 * state if the connection ends, and posts exactly one event.  dapl_ep_happened() takes the lock and
 * does the same, if the table has a rule and `conn` is still the connection of the endpoint (NULL:
 * any connection).
 */
void dapl_ep_settle(struct dapl_ep *ep, enum dapl_ep_happening what, const void *data, size_t size)
    RELEASE(dapl_locks.object);
void dapl_ep_happened(struct dapl_ep *ep, const struct dapl_conn *conn, enum dapl_ep_happening what,
    const void *data, size_t size) DAPL_NO_LOCK;
/* A request of that generation of the queue pair failed. */
void dapl_ep_broken(struct dapl_ep *ep, uint32_t generation) DAPL_NO_LOCK;
/* The device has failed or is being removed: the same for all its queue pairs. */
void dapl_ep_all_broken(const struct ibv_context *verbs) DAPL_NO_LOCK;
/*
 * dat_ep_reset() posts the owed event at once.  It calls dapl_ep_take_owed() in the lock section
 * that removes the connection: if the event stayed in `owed`, a timer that still runs could post it
 * after the events of the next connection.  Then dapl_ep_post_owed() posts it, while the caller has
 * a pin.
 */
struct dapl_ep_owed dapl_ep_take_owed(struct dapl_ep *ep) REQUIRES(dapl_locks.object);
void dapl_ep_post_owed(struct dapl_ep *ep, const struct dapl_ep_owed *owed) DAPL_NO_LOCK;
/* The job for a request that failed and makes no event: the above for the present queue pair. */
void dapl_ep_breaker_run(struct loop_job *job, uint64_t serial) DAPL_NO_LOCK;
/* The timer of a pending connection or graceful disconnection, or of lookups. */
void dapl_ep_timer_run(struct loop_job *job, uint64_t serial) DAPL_NO_LOCK;
/* It runs after this time, and not at the time that was set before, if any. */
static inline void
dapl_ep_set_timer(struct dapl_ep *ep, uint64_t delay_ns) REQUIRES(dapl_locks.object)
{
	(void)loop_unready(&ep->timer);
	loop_ready_later(dapl_ia_of(&ep->obj)->loops[0].loop, &ep->timer, delay_ns);
}

#endif
