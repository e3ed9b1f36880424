/* SPDX-License-Identifier: BSD-3-Clause */
/* cq -- the completion queue of a queue: created or adopted, polled, armed; its channel */
#include "rearm/internal.h"

/* ---- a completion in the queue of the dispatcher ---- */

/*
 * The members of an ibv_wc, without the bits that are always 0.  A failed completion has status,
 * wr_id, opcode, qp_num and vendor_err, and no others.
 */
struct record {
	uint64_t wr_id;
	uint32_t flags; /* wc_flags, and src_qp; of a failed one: vendor_err */
	uint32_t byte_len, imm_data, qp_num;
	uint8_t last[6];  /* pkey_index and what follows it */
	uint16_t outcome; /* in the padding after that: opcode; of a failed one, status above it */
};

/* What both have in common is moved at once: from vendor_err, or flags, and from pkey_index. */
#define MIDDLE offsetof(struct ibv_wc, vendor_err)
#define MIDDLE_SIZE (offsetof(struct ibv_wc, src_qp) - MIDDLE)
#define LAST offsetof(struct ibv_wc, pkey_index)
#define LAST_SIZE (sizeof(struct ibv_wc) - LAST)
#define OF_RECORD(member) offsetof(struct record, member)
_Static_assert(
    OF_RECORD(flags) + MIDDLE_SIZE == OF_RECORD(last) &&
	OF_RECORD(last) + LAST_SIZE == sizeof(struct record) &&
	offsetof(struct ibv_wc, qp_num) - MIDDLE == OF_RECORD(qp_num) - OF_RECORD(flags) &&
	offsetof(struct ibv_wc, dlid_path_bits) - LAST < OF_RECORD(outcome) - OF_RECORD(last),
    "the same members");
_Static_assert(sizeof(struct record) <= sizeof(struct evd_record), "fits into a record");
_Static_assert(sizeof(struct ibv_wc) <= EVD_EVENT_MOST && sizeof(struct ibv_wc) % 8 == 0,
    "the dispatcher has room for a completion");

static inline void
record_write(struct evd_record *place, const struct ibv_wc *wc)
{
	struct record *r = (struct record *)(void *)place;
	const uint8_t opcode = (uint8_t)wc->opcode;

	if (wc->status != IBV_WC_SUCCESS) {
		*r = (struct record){ .wr_id = wc->wr_id,
			.flags = wc->vendor_err,
			.qp_num = wc->qp_num,
			.outcome = (uint16_t)(wc->status << 8 | opcode) };
		return;
	}
	r->wr_id = wc->wr_id;
	memcpy((char *)r + OF_RECORD(flags), (const char *)wc + MIDDLE, MIDDLE_SIZE);
	r->flags = wc->src_qp << 8 | (wc->wc_flags & 0xff);
	memcpy((char *)r + OF_RECORD(last), (const char *)wc + LAST, LAST_SIZE);
	r->outcome = opcode;
}

static void
record_read(void *source, const struct evd_record *place, void *event, struct evd_effect *effect)
{
	const struct record *r = (const struct record *)(const void *)place;
	const unsigned int outcome = r->outcome;
	struct ibv_wc *wc = event;

	(void)source;
	(void)effect;
	wc->wr_id = r->wr_id;
	memcpy((char *)wc + MIDDLE, (const char *)r + OF_RECORD(flags), MIDDLE_SIZE);
	memcpy((char *)wc + LAST, (const char *)r + OF_RECORD(last), LAST_SIZE);
	if (outcome <= 0xff) {
		wc->status = IBV_WC_SUCCESS;
		wc->opcode = (enum ibv_wc_opcode)outcome;
		wc->vendor_err = 0;
		wc->src_qp = r->flags >> 8;
		wc->wc_flags = r->flags & 0xff;
	} else {
		wc->status = (enum ibv_wc_status)(outcome >> 8);
		wc->opcode = (enum ibv_wc_opcode)(outcome & 0xff);
		wc->src_qp = wc->wc_flags = 0;
	}
}

/* ---- the source ---- */

static struct evd_device_result
cq_result(int n)
{
	/* Verbs do not report the reason. */
	return (struct evd_device_result){ n < 0 ? -EIO : n };
}

/* A copy of the batch stays in registers. */
static void
cq_queue(struct evd_batch *batch, const struct ibv_wc *wc, const struct ibv_wc *end)
{
	struct evd_batch now = *batch;

	for (; wc < end; wc++) {
		record_write(evd_batch_record(&now), wc);
		evd_batch_queue(&now);
	}
	*batch = now;
}

/* More are polled than are taken at once. */
static inline struct evd_device_result
cq_poll_more(
    const struct rearm_queue *queue, struct evd_batch *batch, void *events, unsigned int *made)
{
	struct ibv_wc own[EVD_BATCH_PLAIN];
	const unsigned int most = *made;
	const int n = ibv_poll_cq(queue->cq, (int)batch->room, own);
	const unsigned int polled = n > 0 ? (unsigned int)n : 0;

	*made = 0;
	if (polled == 0 || polled > batch->room)
		return cq_result(n);
	*made = polled < most ? polled : most;
	if (*made)
		memcpy(events, own, *made * sizeof *own);
	cq_queue(batch, own + *made, own + polled);
	return cq_result(n);
}

static struct evd_device_result
cq_poll(void *source, struct evd_batch *batch)
{
	unsigned int none = 0;

	return cq_poll_more(source, batch, NULL, &none);
}

/* The device writes what is taken at once where the program reads it. */
static struct evd_device_result
cq_poll_into(void *source, struct evd_batch *batch, void *events, unsigned int *made)
{
	const struct rearm_queue *queue = source;
	int n;

	if (*made < batch->room)
		return cq_poll_more(queue, batch, events, made);
	n = ibv_poll_cq(queue->cq, (int)batch->room, events);
	*made = n > 0 && (unsigned int)n <= batch->room ? (unsigned int)n : 0;
	return cq_result(n);
}

static struct evd_device_result
cq_take(void *source, void *events, unsigned int n)
{
	const struct rearm_queue *queue = source;

	return cq_result(ibv_poll_cq(queue->cq, (int)n, events));
}

/* The drivers of some devices, as soft-RoCE, call the kernel for it: a cancellation point. */
static struct evd_device_result
cq_arm(void *source, bool solicited_only)
{
	REARM_UNCANCELLED;
	const struct rearm_queue *queue = source;
	const int r = ibv_req_notify_cq(queue->cq, solicited_only);

	return (struct evd_device_result){ r ? -EIO : 0 };
}

static void
cq_ack(void *source, unsigned int n)
{
	const struct rearm_queue *queue = source;

	ibv_ack_cq_events(queue->cq, n);
}

static int
cq_read(void *source)
{
	struct rearm_queue *queue = source;
	struct ibv_cq *cq;
	const int r = rearm_channel_read(queue->channel, &cq);

	if (r < 0)
		atomic_store(&queue->lost, true); /* the dispatcher learns it by the result */
	return r;
}

const struct evd_source_ops rearm_cq_ops = {
	.poll = cq_poll,
	.poll_into = cq_poll_into,
	.take = cq_take,
	.convert = record_read,
	.arm = cq_arm,
	.ack = cq_ack,
	.read = cq_read,
};

/* ---- its life ---- */

static int
cq_error(void)
{
	return errno ? -errno : -ENOMEM;
}

int
rearm_cq_moderate(struct rearm_queue *queue, unsigned int count, unsigned int us)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = (uint16_t)count, .cq_period = (uint16_t)us },
	};

	if (count > UINT16_MAX || us > UINT16_MAX || (count > 1 && us == 0))
		return -EINVAL;
	return -ibv_modify_cq(queue->cq, &attr);
}

int
rearm_cq_create(struct rearm_queue *queue, const struct rearm_queue_attr *attr)
{
	int r;

	errno = 0;
	queue->channel = ibv_create_comp_channel(queue->context);
	if (!queue->channel)
		return cq_error();
	queue->fd = queue->channel->fd;
	r = rearm_fd_own(queue->fd);
	if (!r) {
		errno = 0;
		queue->cq =
		    ibv_create_cq(queue->context, attr->cqe, queue, queue->channel, attr->vector);
		r = queue->cq ? 0 : cq_error();
	}
	if (r)
		ibv_destroy_comp_channel(queue->channel);
	return r;
}

int
rearm_cq_adopt(struct rearm_queue *queue, const struct rearm_queue_attr *attr)
{
	queue->adopted = true;
	queue->channel = queue->cq->channel;
	queue->fd = queue->channel->fd;
	return attr->flags & REARM_SHARED_CHANNEL ? rearm_shared_join(queue) :
						    rearm_fd_prepare(queue->fd);
}

/* A channel whose completion queue is still there is not destroyed. */
void
rearm_cq_close(struct rearm_queue *queue)
{
	if (!queue->adopted) {
		(void)ibv_destroy_cq(queue->cq);
		(void)ibv_destroy_comp_channel(queue->channel);
	} else if (queue->shared) {
		rearm_shared_leave(queue);
	} else {
		rearm_fd_restore(queue->fd);
	}
}
