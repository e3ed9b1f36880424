/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ep/completion.h"

#include <errno.h>

#include "dapl/ep/ep.h"
#include "dapl/object/cancel.h"
#include "dapl/ep/ib_event.h"
#include "dapl/ep/record.h"
#include "dapl/ep/rmr.h"

/* The side effects of a completion. */
#define EFFECT_BROKEN 1	     /* the connection of `object`, an endpoint, breaks */
#define EFFECT_INVALIDATED 2 /* the other end of `object`, an endpoint, invalidated a region */
#define EFFECT_UNBOUND 3     /* a bind of `object`, a handle, was flushed */
#define EFFECT_BIND_BROKEN 4 /* a bind of it failed, and the connection breaks */

static struct dapl_ep *
completion_ep_of(struct dapl_srq_member *member)
{
	return (struct dapl_ep *)((char *)member - offsetof(struct dapl_ep, member));
}

/* Whether it shows that the queue pair has failed. */
static bool
completion_has_failed(int status)
{
	return status != IBV_WC_SUCCESS && status != IBV_WC_WR_FLUSH_ERR;
}

/*
 * The driver of soft-RoCE passes the kernel's value for a receive that invalidates on to the
 * program, where that value has another meaning, which no message of a connection has.
 */
#define SOFT_ROCE_WITH_INV IBV_WC_IP_CSUM_OK
#define RECV_FLAGS (IBV_WC_WITH_IMM | IBV_WC_WITH_INV | SOFT_ROCE_WITH_INV)

static bool
completion_invalidates(const struct dapl_ep *ep, const struct ibv_wc *wc)
{
	unsigned int flag = IBV_WC_WITH_INV;

	if (dapl_ia_is_soft_roce(dapl_ia_of(&ep->obj)))
		flag |= SOFT_ROCE_WITH_INV;
	return wc->wc_flags & flag;
}

/* A message that came with more than its data, or the immediate data of an RDMA write. */
static void
completion_note_received(struct completion *c, const struct ibv_wc *wc)
{
	if (completion_invalidates(c->ep, wc)) {
		c->key = wc->invalidated_rkey;
		c->traits |= COMPLETION_OTHER | COMPLETION_INVALIDATES;
		dapl_invalidated_add(&c->ep->rings.invalidated, wc->invalidated_rkey);
	} else if (wc->wc_flags & IBV_WC_WITH_IMM) {
		c->key = wc->imm_data;
		c->traits |= COMPLETION_OTHER | COMPLETION_IMMEDIATE;
		if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
			c->traits |= COMPLETION_RDMA;
	}
}

static void
completion_note_failed(struct completion *c, uint32_t generation, int status)
{
	c->traits |= COMPLETION_OTHER;
	if (completion_has_failed(status))
		atomic_store_explicit(&c->ep->failed, generation + 1, memory_order_release);
}

/*
 * No event of this request leaves the EVD, so none has the effect: a loop breaks the connection.
 * The job is removed from its list when the completions of the queue pair were purged.
 */
static void
completion_break_silently(struct dapl_ep *ep, uint32_t generation) REQUIRES(core_locks.trigger)
{
	if (ep->breaking == generation + 1)
		return;
	ep->breaking = generation + 1;
	loop_ready(dapl_ia_of(&ep->obj)->loops[0].loop, &ep->breaker);
}

/*
 * A receive that waits for the ESTABLISHED of its endpoint is held.  False: it is dropped, because
 * more were completed than posted.
 */
static bool
completion_enter_recv(struct evd_batch *batch, struct dapl_ep *ep)
{
	if (evd_hold_is_active(&ep->rings.hold))
		return evd_batch_hold(batch, &ep->rings.hold);
	evd_batch_queue(batch);
	return true;
}

/* Of a buffer of a shared receive queue. */
static void
completion_resolve_shared(struct evd_batch *batch, const struct ibv_wc *wc)
{
	struct completion *c = (struct completion *)(void *)evd_batch_record(batch);
	struct dapl_srq_member *member = dapl_srq_take(wc);

	if (!member)
		return;
	*c = (struct completion){
		.ep = completion_ep_of(member),
		.id = wc->wr_id,
		.length = wc->byte_len,
		.status = (uint8_t)wc->status,
		.traits = COMPLETION_RECV | COMPLETION_OTHER | COMPLETION_SHARED,
	};
	if (wc->status != IBV_WC_SUCCESS)
		completion_note_failed(c, member->generation, wc->status);
	else if (wc->wc_flags & RECV_FLAGS)
		completion_note_received(c, wc);
	(void)completion_enter_recv(batch, c->ep);
}

/* Of a request that is not plain.  Returns false if it makes no event; its entry is free then. */
static bool
completion_stays(struct completion *c, struct dapl_wr_ring *ring, uint32_t generation)
    REQUIRES(core_locks.trigger)
{
	if (!c->entry->suppressed ||
	    (c->status != IBV_WC_SUCCESS && c->entry->suppressed != DAPL_WR_ALWAYS))
		return true;
	if (completion_has_failed(c->status))
		completion_break_silently(c->ep, generation);
	dapl_wr_ring_skip(ring, c->entry->end);
	return false;
}

/*
 * The endpoint of a polled completion, or NULL if its queue pair was destroyed.  Another thread may
 * increment the generation meanwhile.
 */
static inline struct dapl_ep *
completion_find(uint64_t id, uint32_t *generation)
{
	struct dapl_ep *ep = dapl_slab_at_used(&dapl_ep_slab, dapl_wr_id_slot(id));

	if (!ep)
		return NULL;
	*generation = dapl_ep_generation(ep);
	return dapl_wr_id_has_generation(id, *generation) ? ep : NULL;
}

/* Any completion but a plain success. */
static __attribute__((noinline)) void
completion_resolve_other(struct evd_batch *batch, const struct ibv_wc *wc)
    REQUIRES(core_locks.trigger)
{
	struct completion *c = (struct completion *)(void *)evd_batch_record(batch);
	const bool recv = dapl_wr_id_kind(wc->wr_id) == DAPL_WR_RECV;
	struct dapl_wr_ring *ring;
	struct dapl_ep *ep;
	uint32_t generation;

	if (dapl_wr_id_kind(wc->wr_id) == DAPL_WR_SHARED) {
		completion_resolve_shared(batch, wc);
		return;
	}
	ep = completion_find(wc->wr_id, &generation);
	if (!ep)
		return;
	ring = recv ? &ep->rings.recvs : &ep->rings.requests;
	*c = (struct completion){
		.ep = ep,
		.entry = dapl_wr_ring_at(ring, (uint32_t)wc->wr_id),
		.traits = COMPLETION_OTHER | (recv ? COMPLETION_RECV : 0),
		.generation = (uint16_t)generation,
		.status = (uint8_t)wc->status,
	};
	c->length = recv ? wc->byte_len : c->entry->length;
	dapl_wr_entry_end(c->entry, wc->status != IBV_WC_SUCCESS);
	if (wc->status != IBV_WC_SUCCESS)
		completion_note_failed(c, generation, wc->status);
	else if (recv && wc->wc_flags & RECV_FLAGS)
		completion_note_received(c, wc);
	if (!c->entry->plain && !completion_stays(c, ring, generation))
		return;
	if (recv && !completion_enter_recv(batch, ep)) {
		dapl_wr_ring_skip(ring, c->entry->end);
		return;
	}
	dapl_wr_ring_keep(ring, c->entry->end);
	if (recv)
		return;
	if (!c->entry->plain && c->entry->unsignalled && c->status == IBV_WC_SUCCESS)
		evd_batch_queue_unsignalled(batch);
	else
		evd_batch_queue(batch);
}

/* What is done with a plain success: of a receive, or of a request. */
typedef void plain_handler(
    void *to, struct dapl_ep *ep, const struct dapl_wr_entry *entry, uint32_t length, bool recv);

/* Queues its record; `to` is the batch. */
static inline void
completion_queue_plain(
    void *to, struct dapl_ep *ep, const struct dapl_wr_entry *entry, uint32_t length, bool recv)
{
	struct evd_batch *batch = to;
	struct completion *c = (struct completion *)(void *)evd_batch_record(batch);

	c->ep = ep;
	c->entry = entry;
	c->length = length;
	c->traits = recv ? COMPLETION_RECV : 0;
	dapl_wr_ring_keep(recv ? &ep->rings.recvs : &ep->rings.requests, entry->end);
	evd_batch_queue(batch);
}

/* Where events are built that the consumer takes at once. */
struct taken {
	DAT_EVENT *next;
	DAT_EVD_HANDLE evd;
};

/* Builds its event; `to` is a struct taken. */
static inline void
completion_take_plain(
    void *to, struct dapl_ep *ep, const struct dapl_wr_entry *entry, uint32_t length, bool recv)
{
	struct taken *taken = to;

	dapl_event_of_plain(taken->next, ep, entry, length);
	taken->next->evd_handle = taken->evd;
	taken->next++;
	if (recv)
		dapl_ep_tally(&ep->counts.received[DAT_DTO_RECEIVE], length);
	dapl_wr_ring_pass(recv ? &ep->rings.recvs : &ep->rings.requests, entry->end);
}

/*
 * The endpoint of a completion of that kind; NULL for any other, or if its queue pair was
 * destroyed.
 */
static inline struct dapl_ep *
completion_find_kind(_Atomic(void *) *slots, uint64_t id, enum dapl_wr_kind kind)
{
	struct dapl_ep *ep = dapl_slab_in(slots, dapl_wr_id_slot(id));

	return ep && dapl_ep_has_completed(ep, id, kind) ? ep : NULL;
}

/* Into a receive that is not held. */
static inline __attribute__((always_inline)) bool
completion_resolve_recv(
    _Atomic(void *) *slots, const struct ibv_wc *wc, plain_handler *handle, void *to)
{
	struct dapl_ep *ep = completion_find_kind(slots, wc->wr_id, DAPL_WR_RECV);
	const struct dapl_wr_entry *entry;

	if (!ep || evd_hold_is_active(&ep->rings.hold))
		return false;
	entry = dapl_wr_ring_at(&ep->rings.recvs, (uint32_t)wc->wr_id);
	if (!entry->plain)
		return false;
	handle(to, ep, entry, wc->byte_len, true);
	return true;
}

/* A request that was posted without special flags. */
static inline __attribute__((always_inline)) bool
completion_resolve_request(
    _Atomic(void *) *slots, const struct ibv_wc *wc, plain_handler *handle, void *to)
{
	struct dapl_ep *ep = completion_find_kind(slots, wc->wr_id, DAPL_WR_REQUEST);
	const struct dapl_wr_entry *entry;

	if (!ep)
		return false;
	entry = dapl_wr_ring_at(&ep->rings.requests, (uint32_t)wc->wr_id);
	if (!entry->plain)
		return false;
	handle(to, ep, entry, entry->length, false);
	return true;
}

/* Whether it may be a plain one.  One test: a request has none of these flags. */
static inline bool
completion_is_success(const struct ibv_wc *wc)
{
	return !((wc->wc_flags & RECV_FLAGS) | (unsigned int)wc->status);
}

/*
 * Finds the endpoint and the request of a completion, and handles it, if it is a plain success.
 * False, and nothing has changed, for any other.  `slots` are those of dapl_ep_slab.
 */
static inline __attribute__((always_inline)) bool
completion_resolve(_Atomic(void *) *slots, const struct ibv_wc *wc, plain_handler *handle, void *to)
{
	if (!completion_is_success(wc))
		return false;
	return __builtin_expect(dapl_wr_id_may_be_recv(wc->wr_id), true) ?
		   completion_resolve_recv(slots, wc, handle, to) :
		   completion_resolve_request(slots, wc, handle, to);
}

/* Queues, keeps or drops the completions from `wc` to `end`. */
static inline void
completion_queue(struct evd_batch *batch, const struct ibv_wc *wc, const struct ibv_wc *end)
    REQUIRES(core_locks.trigger)
{
	struct evd_batch own = *batch; /* which no other function sees: it stays in registers */
	_Atomic(void *) *const slots = dapl_slab_slots(&dapl_ep_slab);

	for (; wc < end; wc++) {
		if (completion_resolve(slots, wc, completion_queue_plain, &own))
			continue;
		*batch = own;
		completion_resolve_other(batch, wc);
		own = *batch;
	}
	*batch = own;
}

static struct evd_device_result
completion_poll(void *source, struct evd_batch *batch) REQUIRES(core_locks.trigger)
{
	const struct dapl_evd *evd = source;
	struct ibv_wc wcs[EVD_BATCH_PLAIN];
	const int n = ibv_poll_cq(evd->cq, (int)batch->room, wcs);

	/* Verbs do not report the reason.  IBV_EVENT_CQ_ERR reports that completions are lost. */
	if (n <= 0)
		return (struct evd_device_result){ n ? -EIO : 0 };
	if ((unsigned int)n <= batch->room)
		completion_queue(batch, wcs, wcs + n);
	return (struct evd_device_result){ n };
}

static struct evd_device_result
completion_poll_into(void *source, struct evd_batch *batch, void *events, unsigned int *made)
    REQUIRES(core_locks.trigger)
{
	const struct dapl_evd *evd = source;
	struct taken taken = { events, evd->core.cfg.handle };
	struct ibv_wc wcs[EVD_BATCH_PLAIN];
	const int n = ibv_poll_cq(evd->cq, (int)batch->room, wcs);
	const unsigned int polled = (unsigned int)n, most = polled < *made ? polled : *made;
	_Atomic(void *) *const slots = dapl_slab_slots(&dapl_ep_slab);
	const struct ibv_wc *wc = wcs, *const end = wcs + most;

	*made = 0;
	if (n <= 0)
		return (struct evd_device_result){ n ? -EIO : 0 };
	if (polled > batch->room)
		return (struct evd_device_result){ n };
	while (wc < end && completion_resolve(slots, wc, completion_take_plain, &taken))
		wc++;
	*made = (unsigned int)(wc - wcs);
	if (*made < polled)
		completion_queue(batch, wc, wcs + n);
	return (struct evd_device_result){ n };
}

static DAT_DTO_COMPLETION_STATUS
completion_status(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_SUCCESS:
		return DAT_DTO_SUCCESS;
	case IBV_WC_WR_FLUSH_ERR:
		return DAT_DTO_ERR_FLUSHED;
	case IBV_WC_LOC_LEN_ERR:
		return DAT_DTO_ERR_LOCAL_LENGTH;
	case IBV_WC_LOC_QP_OP_ERR:
		return DAT_DTO_ERR_LOCAL_EP;
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_LOC_ACCESS_ERR:
	case IBV_WC_LOC_RDD_VIOL_ERR:
		return DAT_DTO_ERR_LOCAL_PROTECTION;
	case IBV_WC_BAD_RESP_ERR:
		return DAT_DTO_ERR_BAD_RESPONSE;
	case IBV_WC_REM_ACCESS_ERR:
		return DAT_DTO_ERR_REMOTE_ACCESS;
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_OP_ERR:
	case IBV_WC_REM_INV_RD_REQ_ERR:
	case IBV_WC_REM_ABORT_ERR:
		return DAT_DTO_ERR_REMOTE_RESPONDER;
	case IBV_WC_RNR_RETRY_EXC_ERR:
	case IBV_WC_RESP_TIMEOUT_ERR:
		return DAT_DTO_ERR_RECEIVER_NOT_READY;
	case IBV_WC_MW_BIND_ERR:
		return DAT_RMR_OPERATION_FAILED;
	default:
		return DAT_DTO_ERR_TRANSPORT;
	}
}

/*
 * A message with immediate data, or the immediate data of an RDMA write, came into a receive, or
 * one that invalidates, or a datagram.
 */
static void
completion_received(
    const struct completion *c, uint32_t generation, DAT_EVENT *event, struct evd_effect *effect)
{
	DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;
	const bool immediate = c->traits & COMPLETION_IMMEDIATE;

	if (c->traits & COMPLETION_INVALIDATES) {
		dto->operation = DAT_DTO_RECEIVE_WITH_INVALIDATE;
		dto->rmr_context = c->key;
		*effect = (struct evd_effect){ .code = EFFECT_INVALIDATED,
			.object = c->ep,
			.stamp = (uint64_t)generation << 32 | c->key };
	}
	if (dapl_ep_is_datagram(c->ep)) {
		dto->operation =
		    (DAT_DTOS)(immediate ? DAT_IB_DTO_RECV_UD_IMMED : DAT_IB_DTO_RECV_UD);
		dapl_ib_event_extend(event, immediate ? c->key : 0);
	} else if (immediate) {
		dto->operation =
		    (DAT_DTOS)(c->traits & COMPLETION_RDMA ? DAT_IB_DTO_RECV_IMMED :
							     DAT_IB_DTO_RECV_MSG_IMMED);
		dapl_ib_event_extend(event, c->key);
	}
	dapl_ep_tally(&c->ep->counts.received[dto->operation], c->length);
}

/* A failed completion breaks the connection of its queue pair. */
static void
completion_break(const struct completion *c, uint32_t generation, struct evd_effect *effect)
{
	if (completion_has_failed(c->status))
		*effect = (struct evd_effect){
			.code = EFFECT_BROKEN, .object = c->ep, .stamp = generation
		};
}

/*
 * Until the purge the member stays that of the queue pair of the completion, also if the endpoint
 * is being freed or reset.
 */
static void
completion_convert_shared(const struct completion *c, DAT_EVENT *event, struct evd_effect *effect)
{
	DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;
	const uint32_t generation = c->ep->member.generation;

	(void)dapl_srq_reap(c->id, &dto->user_cookie);
	dto->operation = DAT_DTO_RECEIVE;
	if (c->status == IBV_WC_SUCCESS)
		completion_received(c, generation, event, effect);
	completion_break(c, generation, effect);
}

/* What the request binds has an effect of its own, which names the queue pair by a wr_id. */
static void
completion_of_bind(
    const struct completion *c, uint32_t generation, DAT_EVENT *event, struct evd_effect *effect)
{
	const struct dapl_wr_entry *entry = c->entry;

	if (c->status != IBV_WC_SUCCESS)
		*effect = (struct evd_effect){
			/* The connection of a queue pair that was destroyed cannot break. */
			.code = c->status == IBV_WC_WR_FLUSH_ERR ||
					generation == DAPL_WR_GENERATION_NONE ?
				    EFFECT_UNBOUND :
				    EFFECT_BIND_BROKEN,
			.object = entry->rmr,
			.stamp = dapl_wr_id(
			    c->ep->obj.slot.index, generation, DAPL_WR_REQUEST, entry->end - 1),
		};
	*event = (DAT_EVENT){ .event_number = DAT_RMR_BIND_COMPLETION_EVENT };
	event->event_data.rmr_completion_event_data = (DAT_RMR_BIND_COMPLETION_EVENT_DATA){
		.rmr_handle = entry->rmr,
		.user_cookie = entry->cookie,
		.status = completion_status(c->status),
	};
}

/*
 * The generation of the queue pair of the completion.  It may be destroyed already: freeing
 * increments the generation first, and until the purge the event is delivered as usual, but has no
 * effect any more.
 */
static uint32_t
completion_generation(const struct completion *c)
{
	const uint32_t generation = dapl_ep_generation(c->ep);

	return (uint16_t)generation == c->generation ? generation : DAPL_WR_GENERATION_NONE;
}

/*
 * A failed completion has only wr_id, status and qp_num.  The rest comes from the entry in the
 * ring.
 */
static void
completion_convert_own(const struct completion *c, DAT_EVENT *event, struct evd_effect *effect)
{
	DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;
	const uint32_t generation = completion_generation(c);
	const uint8_t operation = c->entry->operation;

	dto->user_cookie = c->entry->cookie;
	dto->operation = (DAT_DTOS)operation;
	if (operation == DAT_DTO_BIND_MW) {
		completion_of_bind(c, generation, event, effect);
		return;
	}
	if (c->traits & COMPLETION_RECV && c->status == IBV_WC_SUCCESS)
		completion_received(c, generation, event, effect);
	else if (dapl_ib_event_is_due(operation))
		dapl_ib_event_extend(event, 0);
	completion_break(c, generation, effect);
}

static struct dapl_wr_ring *
completion_ring(const struct completion *c)
{
	return c->traits & COMPLETION_RECV ? &c->ep->rings.recvs : &c->ep->rings.requests;
}

/* Not inline: the way of a plain completion saves no registers. */
static __attribute__((noinline)) void
completion_convert_other(const struct dapl_evd *evd, const struct completion *c, DAT_EVENT *event,
    struct evd_effect *effect) REQUIRES(core_locks.trigger)
{
	DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;

	event->event_number = DAT_DTO_COMPLETION_EVENT;
	dto->ep_handle = c->ep->self;
	dto->rmr_context = 0;
	dto->status = completion_status(c->status);
	dto->transfered_length = c->status == IBV_WC_SUCCESS ? c->length : 0;
	if (c->traits & COMPLETION_SHARED) {
		completion_convert_shared(c, event, effect);
	} else {
		completion_convert_own(c, event, effect);
		dapl_wr_ring_done(completion_ring(c), c->entry->end);
	}
	event->evd_handle = evd->core.cfg.handle;
}

static void
completion_convert(void *source, const struct evd_record *record, void *place,
    struct evd_effect *effect) REQUIRES(core_locks.trigger)
{
	const struct dapl_evd *evd = source;
	DAT_EVENT *event = place;

	if (dapl_completion_is_plain(record)) {
		dapl_completion_convert_plain(record, event);
		event->evd_handle = evd->core.cfg.handle;
	} else {
		completion_convert_other(
		    evd, (const struct completion *)(const void *)record, event, effect);
	}
}

/* Until the region is marked, requests do not rely on what it has as its state. */
static void
completion_has_invalidated(struct dapl_ia *ia, struct dapl_ep *ep, uint64_t stamp) DAPL_NO_LOCK
{
	dapl_rmr_invalidated(ia, (uint32_t)stamp);
	dapl_object_lock(&ep->obj);
	if (dapl_ep_generation(ep) == stamp >> 32)
		dapl_invalidated_remove(&ep->rings.invalidated, (uint32_t)stamp);
	dapl_object_unlock(&ep->obj);
}

static void
completion_bind_broken(uint64_t id) DAPL_NO_LOCK
{
	struct dapl_ep *ep = dapl_slab_at(&dapl_ep_slab, dapl_wr_id_slot(id));
	const uint32_t generation = dapl_ep_generation(ep);

	if (dapl_wr_id_has_generation(id, generation))
		dapl_ep_broken(ep, generation);
}

static void
completion_effect(void *source, const struct evd_effect *effect) DAPL_NO_LOCK
{
	DAPL_UNCANCELLED; /* it may call the device, also in dat_evd_dequeue() */
	struct dapl_evd *evd = source;

	switch (effect->code) {
	case EFFECT_BROKEN:
		dapl_ep_broken(effect->object, (uint32_t)effect->stamp);
		break;
	case EFFECT_INVALIDATED:
		completion_has_invalidated(dapl_ia_of(&evd->obj), effect->object, effect->stamp);
		break;
	case EFFECT_UNBOUND:
		dapl_rmr_failed(effect->object);
		break;
	case EFFECT_BIND_BROKEN:
		dapl_rmr_failed(effect->object);
		completion_bind_broken(effect->stamp);
		break;
	}
}

const struct evd_source_ops dapl_completion_ops = {
	.poll = completion_poll,
	.poll_into = completion_poll_into,
	.convert = completion_convert,
	.arm = dapl_evd_cq_arm,
	.ack = dapl_evd_cq_ack,
	.read = dapl_evd_cq_read,
	.effect = completion_effect,
	.exact_hint = true, /* see dapl_cq_arm() */
};
