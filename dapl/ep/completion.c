/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ep/completion.h"

#include "dapl/ep/ep.h"

/* The only side effect a completion has: the connection is broken. */
#define EFFECT_BROKEN 1

/* Whether a completion belongs to the queue pair that its endpoint had in this generation. */
static bool
completion_is_of(uint64_t id, uint32_t generation)
{
	return (generation & DAPL_WR_GENERATION_MASK) == dapl_wr_id_generation(id);
}

/* The endpoint and the ring of a completion, or NULL if its queue pair was destroyed. */
static struct dapl_ep *
completion_find(uint64_t id, struct dapl_wr_ring **ring)
{
	struct dapl_ep *ep = dapl_slab_at(&dapl_ep_slab, dapl_wr_id_slot(id));

	if (!ep || !completion_is_of(id, dapl_ep_generation(ep)))
		return NULL;
	*ring = dapl_wr_id_is_recv(id) ? &ep->rings.recvs : &ep->rings.requests;
	return ep;
}

static enum evd_verdict
completion_sort(void *source, const void *raw, struct evd_hold **hold) REQUIRES(core_locks.trigger)
{
	const struct ibv_wc *wc = raw;
	const struct dapl_wr_entry *entry;
	struct dapl_wr_ring *ring;
	uint32_t place;
	struct dapl_ep *ep;

	(void)source;
	ep = completion_find(wc->wr_id, &ring);
	if (!ep)
		return EVD_DROP;
	entry = dapl_wr_ring_at(ring, dapl_wr_id_place(wc->wr_id), &place);
	if (entry->suppressed && wc->status == IBV_WC_SUCCESS) {
		dapl_wr_ring_skip(ring, place);
		return EVD_DROP;
	}
	if (wc->status != IBV_WC_SUCCESS && wc->status != IBV_WC_WR_FLUSH_ERR)
		atomic_store_explicit(
		    &ep->failed, dapl_ep_generation(ep) + 1, memory_order_release);
	dapl_wr_ring_keep(ring, place);
	if (ep->rings.merged && dapl_wr_id_is_recv(wc->wr_id) &&
	    evd_hold_is_active(&ep->rings.hold)) {
		*hold = &ep->rings.hold;
		return EVD_HOLD;
	}
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
	/*
	 * A completion is purged before the slot and rings of its endpoint are reused. The
	 * queue pair may be destroyed already: freeing increments the generation first, and
	 * until the purge the event is delivered as usual.
	 */
	ep = dapl_slab_at(&dapl_ep_slab, dapl_wr_id_slot(wc->wr_id));
	generation = dapl_ep_generation(ep);
	ring = dapl_wr_id_is_recv(wc->wr_id) ? &ep->rings.recvs : &ep->rings.requests;
	entry = dapl_wr_ring_at(ring, dapl_wr_id_place(wc->wr_id), &place);
	dto->ep_handle = ep->self;
	dto->user_cookie = entry->cookie;
	dto->status = completion_status(wc->status);
	dto->operation = (DAT_DTOS)entry->operation;
	if (wc->status == IBV_WC_SUCCESS)
		dto->transfered_length =
		    entry->operation == DAT_DTO_RECEIVE ? wc->byte_len : entry->length;
	dapl_wr_ring_done(ring, place);
	if (wc->status != IBV_WC_SUCCESS && wc->status != IBV_WC_WR_FLUSH_ERR &&
	    completion_is_of(wc->wr_id, generation))
		*effect =
		    (struct evd_effect){ .code = EFFECT_BROKEN, .object = ep, .stamp = generation };
}

static void
completion_effect(void *source, const struct evd_effect *effect) DAPL_NO_LOCK
{
	(void)source;
	dapl_ep_broken(effect->object, (uint32_t)effect->stamp);
}

const struct evd_source_ops dapl_completion_ops = {
	.poll = dapl_evd_cq_poll,
	.sort = completion_sort,
	.convert = completion_convert,
	.arm = dapl_evd_cq_arm,
	.ack = dapl_evd_cq_ack,
	.read = dapl_evd_cq_read,
	.effect = completion_effect,
};
