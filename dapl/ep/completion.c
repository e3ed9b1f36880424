/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ep/completion.h"

#include "dapl/ep/ep.h"
#include "dapl/ep/ib_event.h"
#include "dapl/ep/rmr.h"

/* The side effects of a completion. */
#define EFFECT_BROKEN 1	     /* the connection of `object`, an endpoint, breaks */
#define EFFECT_INVALIDATED 2 /* the other end of `object`, an endpoint, invalidated a region */
#define EFFECT_UNBOUND 3     /* a bind of `object`, a handle, was flushed */
#define EFFECT_BIND_BROKEN 4 /* a bind of it failed, and the connection breaks */

/*
 * The endpoint and the ring of a completion, and the generation of its queue pair; or NULL if that
 * was destroyed.  Another thread may increment the generation meanwhile.
 */
static struct dapl_ep *
completion_find(uint64_t id, struct dapl_wr_ring **ring, uint32_t *generation)
{
	struct dapl_ep *ep = dapl_slab_at(&dapl_ep_slab, dapl_wr_id_slot(id));

	if (!ep)
		return NULL;
	*generation = dapl_ep_generation(ep);
	if (!dapl_wr_id_has_generation(id, *generation))
		return NULL;
	*ring = dapl_wr_id_kind(id) == DAPL_WR_RECV ? &ep->rings.recvs : &ep->rings.requests;
	return ep;
}

static struct dapl_ep *
completion_ep_of(struct dapl_srq_member *member)
{
	return (struct dapl_ep *)((char *)member - offsetof(struct dapl_ep, member));
}

/* Whether it shows that the queue pair has failed. */
static bool
completion_has_failed(const struct ibv_wc *wc)
{
	return wc->status != IBV_WC_SUCCESS && wc->status != IBV_WC_WR_FLUSH_ERR;
}

/*
 * The driver of soft-RoCE passes the kernel's value for a receive that invalidates on to the program,
 * where that value has another meaning, which no message of a connection has.
 */
static bool
completion_invalidates(const struct dapl_ep *ep, const struct ibv_wc *wc)
{
	unsigned int flag = IBV_WC_WITH_INV;

	if (dapl_ia_is_soft_roce(dapl_ia_of(&ep->obj)))
		flag |= IBV_WC_IP_CSUM_OK;
	return wc->status == IBV_WC_SUCCESS && wc->wc_flags & flag;
}

static void
completion_note(struct dapl_ep *ep, uint32_t generation, const struct ibv_wc *wc)
{
	if (completion_invalidates(ep, wc))
		dapl_invalidated_add(&ep->rings.invalidated, wc->invalidated_rkey);
	if (completion_has_failed(wc))
		atomic_store_explicit(&ep->failed, generation + 1, memory_order_release);
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

/* Whether the receive waits for the ESTABLISHED of its endpoint. */
static bool
completion_is_early(struct dapl_ep *ep, struct evd_hold **hold)
{
	if (!ep->rings.merged || !evd_hold_is_active(&ep->rings.hold))
		return false;
	*hold = &ep->rings.hold;
	return true;
}

/* Of a buffer of a shared receive queue. */
static enum evd_verdict
completion_sort_shared(const struct ibv_wc *wc, struct evd_hold **hold)
{
	struct dapl_srq_member *member = dapl_srq_take(wc);
	struct dapl_ep *ep;

	if (!member)
		return EVD_DROP;
	ep = completion_ep_of(member);
	completion_note(ep, member->generation, wc);
	return completion_is_early(ep, hold) ? EVD_HOLD : EVD_QUEUE;
}

static enum evd_verdict
completion_sort(void *source, const void *raw, struct evd_hold **hold) REQUIRES(core_locks.trigger)
{
	const struct ibv_wc *wc = raw;
	const struct dapl_wr_entry *entry;
	struct dapl_wr_ring *ring;
	uint32_t place, generation;
	struct dapl_ep *ep;

	(void)source;
	if (dapl_wr_id_kind(wc->wr_id) == DAPL_WR_SHARED)
		return completion_sort_shared(wc, hold);
	ep = completion_find(wc->wr_id, &ring, &generation);
	if (!ep)
		return EVD_DROP;
	entry = dapl_wr_ring_at(ring, dapl_wr_id_place(wc->wr_id), &place);
	dapl_wr_entry_end(entry, wc->status != IBV_WC_SUCCESS);
	completion_note(ep, generation, wc);
	if (entry->suppressed &&
	    (wc->status == IBV_WC_SUCCESS || entry->suppressed == DAPL_WR_ALWAYS)) {
		if (completion_has_failed(wc))
			completion_break_silently(ep, generation);
		dapl_wr_ring_skip(ring, place);
		return EVD_DROP;
	}
	dapl_wr_ring_keep(ring, place);
	if (ring == &ep->rings.recvs && completion_is_early(ep, hold))
		return EVD_HOLD;
	if (entry->unsignalled && wc->status == IBV_WC_SUCCESS)
		return EVD_QUEUE_UNSIGNALLED;
	return EVD_QUEUE;
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
 * A message with immediate data, or the immediate data of an RDMA write, came into a receive.  The
 * opcode and flags are valid on success only.
 */
static void
completion_received(struct dapl_ep *ep, const struct ibv_wc *wc, uint32_t generation,
    DAT_EVENT *event, struct evd_effect *effect)
{
	DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;

	dto->transfered_length = wc->byte_len;
	if (completion_invalidates(ep, wc)) {
		dto->operation = DAT_DTO_RECEIVE_WITH_INVALIDATE;
		dto->rmr_context = wc->invalidated_rkey;
		*effect = (struct evd_effect){ .code = EFFECT_INVALIDATED,
			.object = ep,
			.stamp = (uint64_t)generation << 32 | wc->invalidated_rkey };
	}
	if (dapl_ep_is_datagram(ep)) {
		dto->operation =
		    (DAT_DTOS)(wc->wc_flags & IBV_WC_WITH_IMM ? DAT_IB_DTO_RECV_UD_IMMED :
								DAT_IB_DTO_RECV_UD);
		dapl_ib_event_extend(event, wc->wc_flags & IBV_WC_WITH_IMM ? wc->imm_data : 0);
	} else if (wc->wc_flags & IBV_WC_WITH_IMM) {
		dto->operation =
		    (DAT_DTOS)(wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM ? DAT_IB_DTO_RECV_IMMED :
									 DAT_IB_DTO_RECV_MSG_IMMED);
		dapl_ib_event_extend(event, wc->imm_data);
	}
	dapl_ep_tally(&ep->counts.received[dto->operation], wc->byte_len);
}

/* A failed completion breaks the connection of its queue pair. */
static void
completion_break(
    struct dapl_ep *ep, const struct ibv_wc *wc, uint32_t generation, struct evd_effect *effect)
{
	if (completion_has_failed(wc))
		*effect =
		    (struct evd_effect){ .code = EFFECT_BROKEN, .object = ep, .stamp = generation };
}

/*
 * Until the purge the member stays that of the queue pair of the completion, also if the endpoint
 * is being freed or reset.
 */
static void
completion_convert_shared(const struct ibv_wc *wc, DAT_EVENT *event, struct evd_effect *effect)
{
	DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;
	struct dapl_ep *ep = completion_ep_of(dapl_srq_reap(wc, &dto->user_cookie));

	dto->ep_handle = ep->self;
	dto->status = completion_status(wc->status);
	dto->operation = DAT_DTO_RECEIVE;
	if (wc->status == IBV_WC_SUCCESS)
		completion_received(ep, wc, ep->member.generation, event, effect);
	completion_break(ep, wc, ep->member.generation, effect);
}

static void
completion_of_bind(const struct dapl_wr_entry *entry, const struct ibv_wc *wc, DAT_EVENT *event,
    struct evd_effect *effect)
{
	const DAT_DTO_COMPLETION_STATUS status = event->event_data.dto_completion_event_data.status;

	if (wc->status != IBV_WC_SUCCESS)
		*effect = (struct evd_effect){
			.code =
			    wc->status == IBV_WC_WR_FLUSH_ERR ? EFFECT_UNBOUND : EFFECT_BIND_BROKEN,
			.object = entry->rmr,
			.stamp = wc->wr_id,
		};

	*event = (DAT_EVENT){ .event_number = DAT_RMR_BIND_COMPLETION_EVENT };
	event->event_data.rmr_completion_event_data = (DAT_RMR_BIND_COMPLETION_EVENT_DATA){
		.rmr_handle = entry->rmr,
		.user_cookie = entry->cookie,
		.status = status,
	};
}

/*
 * A failed completion has only wr_id, status and qp_num. The rest comes from the entry in the
 * ring.
 */
static void
completion_convert(void *source, const void *raw, DAT_EVENT *event, struct evd_effect *effect)
    REQUIRES(core_locks.trigger)
{
	const struct ibv_wc *wc = raw;
	DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;
	const struct dapl_wr_entry *entry;
	struct dapl_wr_ring *ring;
	uint32_t place, generation;
	struct dapl_ep *ep;

	(void)source;
	*event = (DAT_EVENT){ .event_number = DAT_DTO_COMPLETION_EVENT };
	if (dapl_wr_id_kind(wc->wr_id) == DAPL_WR_SHARED) {
		completion_convert_shared(wc, event, effect);
		return;
	}
	/*
	 * A completion is purged before the slot and rings of its endpoint are reused. The
	 * queue pair may be destroyed already: freeing increments the generation first, and
	 * until the purge the event is delivered as usual.
	 */
	ep = dapl_slab_at(&dapl_ep_slab, dapl_wr_id_slot(wc->wr_id));
	generation = dapl_ep_generation(ep);
	if (!dapl_wr_id_has_generation(wc->wr_id, generation))
		generation = DAPL_WR_GENERATION_NONE; /* has no effect any more */
	ring = dapl_wr_id_kind(wc->wr_id) == DAPL_WR_RECV ? &ep->rings.recvs : &ep->rings.requests;
	entry = dapl_wr_ring_at(ring, dapl_wr_id_place(wc->wr_id), &place);
	dto->ep_handle = ep->self;
	dto->user_cookie = entry->cookie;
	dto->status = completion_status(wc->status);
	dto->operation = (DAT_DTOS)entry->operation;
	if (ring == &ep->rings.recvs) {
		if (wc->status == IBV_WC_SUCCESS)
			completion_received(ep, wc, generation, event, effect);
		else if (dapl_ib_event_is_due(entry->operation))
			dapl_ib_event_extend(event, 0);
	} else {
		if (wc->status == IBV_WC_SUCCESS)
			dto->transfered_length = entry->length;
		if (entry->operation == DAT_DTO_BIND_MW)
			completion_of_bind(entry, wc, event, effect);
		else if (dapl_ib_event_is_due(entry->operation))
			dapl_ib_event_extend(event, 0);
	}
	dapl_wr_ring_done(ring, place);
	/* A bind has its own effect. */
	if (!effect->code)
		completion_break(ep, wc, generation, effect);
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
	.poll = dapl_evd_cq_poll,
	.sort = completion_sort,
	.convert = completion_convert,
	.arm = dapl_evd_cq_arm,
	.ack = dapl_evd_cq_ack,
	.read = dapl_evd_cq_read,
	.effect = completion_effect,
	.exact_hint = true, /* see dapl_cq_arm() */
};
