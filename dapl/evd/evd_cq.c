/* SPDX-License-Identifier: BSD-3-Clause */
/* evd_cq -- a completion queue as the source of an EVD */

#include "dapl/ia/channel.h"
#include "dapl/ia/cq_arm.h"
#include "dapl/ep/ep.h"

/*
 * Devices end for good when a completion queue overflows, and DAT consumers attach endpoints to
 * EVDs shorter than what can be outstanding.  No queue is made shorter than this, so that growing
 * is rare.
 */
#ifndef CQ_DEPTH_MIN /* the explorer's is small, so that every queue has to grow */
#define CQ_DEPTH_MIN 64
#endif
/* Where it cannot grow at all it is made for all that may come. */
#define CQ_DEPTH_FIXED 4096

/* The only side effect a completion has: the connection is broken. */
#define EFFECT_BROKEN 1

static int
first_depth(const struct ia *ia, int qlen)
{
	int least = CQ_DEPTH_MIN;

	if (ia->fixed_cqs)
		least = ia->device.max_cqe < CQ_DEPTH_FIXED ? ia->device.max_cqe : CQ_DEPTH_FIXED;
	return qlen < least ? least : qlen;
}

int
evd_cq_create(struct ia *ia, struct dapl_evd *evd, int qlen, struct ibv_comp_channel *shared,
    int vector, bool private_channel)
{
	struct ibv_context *verbs = shared->context;
	int depth = first_depth(ia, qlen);
	int r;

	evd->channel = NULL;
	evd->context = slab_alloc(&evd_cq_context_slab);
	if (!evd->context)
		return -ENOMEM;
	if (private_channel) {
		errno = 0;
		evd->channel = ibv_create_comp_channel(verbs);
		if (!evd->channel) {
			r = errno ? -errno : -ENOMEM;
			goto free_context;
		}
		r = ia_prepare_fd(evd->channel->fd);
		if (r)
			goto destroy_channel;
	}
	errno = 0;
	evd->cq = ibv_create_cq(verbs, depth, evd->context, evd->channel ? evd->channel : shared, vector);
	if (!evd->cq) {
		r = errno ? -errno : -ENOMEM;
		goto destroy_channel;
	}
	return 0;

destroy_channel:
	if (evd->channel)
		ibv_destroy_comp_channel(evd->channel);
	evd->channel = NULL;
free_context:
	slab_free(&evd_cq_context_slab, evd->context);
	evd->context = NULL;
	return r;
}

void
evd_cq_destroy(struct dapl_evd *evd)
{
	if (evd->cq)
		ibv_destroy_cq(evd->cq);
	if (evd->channel)
		ibv_destroy_comp_channel(evd->channel);
	if (evd->context)
		slab_free(&evd_cq_context_slab, evd->context);
}

/*
 * Locked (obj.lock).  0 or -errno.  The dispatcher is to know the depth that there may be at every
 * moment: the greater one before the device has it, the lesser one after.
 */
static int
set_depth(struct dapl_evd *evd, int want)
{
	const int was = evd->cq->cqe;
	int r;

	if (want > was)
		evd_set_depth(dapl_evd_ref(evd), (unsigned int)want);
	r = ibv_resize_cq(evd->cq, want);
	evd_set_depth(dapl_evd_ref(evd), (unsigned int)(r ? was : evd->cq->cqe));
	return r < 0 ? -errno : -r;
}

void
evd_cq_promise(struct dapl_evd *evd, int n)
{
	const int most = ia_of(&evd->obj)->device.max_cqe;
	int want;

	os_lock(&evd->obj.lock);
	evd->promised += n;
	if (evd->cq && evd->promised > evd->cq->cqe && evd->cq->cqe < most) {
		want = evd->cq->cqe < most / 2 ? 2 * evd->cq->cqe : most;
		if (want < evd->promised)
			want = evd->promised < most ? evd->promised : most;
		(void)set_depth(evd, want);
	}
	os_unlock(&evd->obj.lock);
}

void
evd_cq_reclaim(struct dapl_evd *evd, int n)
{
	int r;

	os_lock(&evd->obj.lock);
	n += evd->stale;
	evd->stale = 0;
	os_unlock(&evd->obj.lock);
	r = evd_report_overflow(dapl_evd_ref(evd), evd_drain(dapl_evd_ref(evd)));
	os_lock(&evd->obj.lock);
	if (r)
		evd->stale += n;
	else
		evd->promised -= n;
	os_unlock(&evd->obj.lock);
}

int
evd_cq_deepen(struct dapl_evd *evd, int qlen)
{
	int r;

	if (!evd->cq || evd->cq->cqe >= qlen)
		return 0;
	r = set_depth(evd, qlen);
	return r == -ENOMEM || r == -EAGAIN ? -ENOMEM : 0;
}

void
evd_cq_shorten(struct dapl_evd *evd, int qlen)
{
	int want = qlen > evd->promised ? qlen : evd->promised;

	if (want < CQ_DEPTH_MIN)
		want = CQ_DEPTH_MIN;
	if (evd->cq && evd->cq->cqe > want)
		(void)set_depth(evd, want);
}

static struct evd_device_result
poll_cq(void *source, void *raw, int max)
{
	struct dapl_evd *evd = source;
	int n = ibv_poll_cq(evd->cq, max, raw);

	/* Verbs do not say what is wrong; a queue that cannot be polled has lost something. */
	return (struct evd_device_result){ n < 0 ? EVD_DEVICE_LOST : n };
}

/* Whether a completion is of the queue pair that its endpoint had in this generation. */
static bool
is_of(uint64_t id, uint32_t generation)
{
	return (generation & WR_GENERATION_MASK) == wr_id_generation(id);
}

/* The endpoint and the ring of a completion, or NULL when its queue pair is gone. */
static struct ep *
find(uint64_t id, struct wr_ring **ring)
{
	struct ep *ep = slab_at(&ep_slab, wr_id_slot(id));

	if (!ep || !is_of(id, ep_generation(ep)))
		return NULL;
	*ring = wr_id_is_recv(id) ? &ep->rings.recvs : &ep->rings.requests;
	return ep;
}

static enum evd_verdict
sort(void *source, const void *raw, struct evd_hold **hold)
{
	const struct ibv_wc *wc = raw;
	const struct wr_entry *entry;
	struct wr_ring *ring;
	uint32_t place;
	struct ep *ep;

	(void)source;
	ep = find(wc->wr_id, &ring);
	if (!ep)
		return EVD_DROP;
	entry = wr_ring_at(ring, wr_id_place(wc->wr_id), &place);
	if (entry->suppressed && wc->status == IBV_WC_SUCCESS) {
		wr_ring_skip(ring, place);
		return EVD_DROP;
	}
	if (wc->status != IBV_WC_SUCCESS && wc->status != IBV_WC_WR_FLUSH_ERR)
		atomic_store_explicit(&ep->failed, ep_generation(ep) + 1, memory_order_release);
	wr_ring_keep(ring, place);
	if (ep->rings.merged && wr_id_is_recv(wc->wr_id) && evd_hold_is_active(&ep->rings.hold)) {
		*hold = &ep->rings.hold;
		return EVD_HOLD;
	}
	if (entry->unsignalled && wc->status == IBV_WC_SUCCESS)
		return EVD_QUEUE_UNSIGNALLED;
	return EVD_QUEUE;
}

static DAT_DTO_COMPLETION_STATUS
dto_status(enum ibv_wc_status status)
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

/* Of a failed completion only wr_id, status and qp_num mean anything; the rest is ours to remember.
 */
static void
convert(void *source, const void *raw, DAT_EVENT *event, struct evd_effect *effect)
{
	const struct ibv_wc *wc = raw;
	DAT_DTO_COMPLETION_EVENT_DATA *dto = &event->event_data.dto_completion_event_data;
	const struct wr_entry *entry;
	struct wr_ring *ring;
	uint32_t place, generation;
	struct ep *ep;

	(void)source;
	*event = (DAT_EVENT){ .event_number = DAT_DTO_COMPLETION_EVENT };
	/*
	 * Whatever left the device is purged before its endpoint's slot and rings serve anything
	 * else.  The queue pair may be past already: freeing moves the generation on first, and
	 * until the purge the event is still delivered as what it is.
	 */
	ep = slab_at(&ep_slab, wr_id_slot(wc->wr_id));
	generation = ep_generation(ep);
	ring = wr_id_is_recv(wc->wr_id) ? &ep->rings.recvs : &ep->rings.requests;
	entry = wr_ring_at(ring, wr_id_place(wc->wr_id), &place);
	dto->ep_handle = ep->self;
	dto->user_cookie = entry->cookie;
	dto->status = dto_status(wc->status);
	dto->operation = (DAT_DTOS)entry->operation;
	if (wc->status == IBV_WC_SUCCESS)
		dto->transfered_length =
		    entry->operation == DAT_DTO_RECEIVE ? wc->byte_len : entry->length;
	wr_ring_done(ring, place);
	if (wc->status != IBV_WC_SUCCESS && wc->status != IBV_WC_WR_FLUSH_ERR &&
	    is_of(wc->wr_id, generation))
		*effect = (struct evd_effect){
			.code = EFFECT_BROKEN, .object = ep, .stamp = generation
		};
}

static struct evd_device_result
arm(void *source, bool solicited_only)
{
	struct dapl_evd *evd = source;

	return (struct evd_device_result){ cq_arm(evd->cq, solicited_only) };
}

static void
ack(void *source, unsigned int n)
{
	struct dapl_evd *evd = source;

	ibv_ack_cq_events(evd->cq, n);
}

static int
read_channel(void *source)
{
	struct dapl_evd *evd = source;
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(evd->channel, &cq, &context))
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	return 1;
}

static void
effect(void *source, const struct evd_effect *effect)
{
	(void)source;
	ep_broken(effect->object, (uint32_t)effect->stamp);
}

const struct evd_source_ops evd_cq_ops = {
	.poll = poll_cq,
	.sort = sort,
	.convert = convert,
	.arm = arm,
	.ack = ack,
	.read = read_channel,
	.effect = effect,
};
