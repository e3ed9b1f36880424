/* SPDX-License-Identifier: BSD-3-Clause */
#include "rnic_queue.h"

#include <string.h>

#include "context.h"
#include "world.h"

#define CQS 16
#define CHANNELS 12

struct rnic_channel {
	struct ibv_comp_channel ibv;
	struct device_channel device;
	bool open;
};

struct rnic_cq_slot {
	struct ibv_cq ibv;
	struct device_cq device;
	bool open;
	bool lost;	       /* it cannot be polled any more */
	bool small;	       /* the device refused to make it longer */
	struct ibv_wc wcs[64]; /* by the number of the completion */
	const struct ibv_qp *of[64];
	bool solicited[64];
	uint64_t n;
};

static struct rnic_channel channels[CHANNELS];
static struct rnic_cq_slot cqs[CQS];
static unsigned int n_channels, n_cqs;
static bool fixed;

static const struct os_site here = { "the device", 0 };

static struct rnic_cq_slot *
slot_of(struct ibv_cq *cq)
{
	return (struct rnic_cq_slot *)cq;
}

struct device_cq *
rnic_cq(struct ibv_cq *cq)
{
	return &slot_of(cq)->device;
}

/* Completions of destroyed queue pairs stay until they are polled. */
static unsigned int
left_behind(const struct ibv_cq *ibv)
{
	const struct rnic_cq_slot *cq = (const struct rnic_cq_slot *)ibv;
	const struct device_cq *queue = &cq->device;
	unsigned int n = 0;

	for (unsigned int i = 0; i < queue->count; i++) {
		const struct device_record *record =
		    &queue->queue[(queue->head + i) % DEVICE_DEPTH];

		n += !rnic_is_open(cq->of[record->id % 64]);
	}
	return n;
}

/* A queue must hold whatever its queue pairs may complete before it is polled. */
void
rnic_queue_check(const struct ibv_cq *cq)
{
	const unsigned int most = left_behind(cq) + rnic_most_in(cq);

	if (!fixed && !((const struct rnic_cq_slot *)cq)->small && most > (unsigned int)cq->cqe)
		violation("a completion queue of %d may get %u completions", cq->cqe, most);
}

void
rnic_queue_push(
    struct ibv_cq *ibv, const struct ibv_qp *of, const struct ibv_wc *wc, bool solicited)
{
	struct rnic_cq_slot *cq = slot_of(ibv);

	if (cq->device.count >= (unsigned int)cq->ibv.cqe && !cq->small)
		violation("a completion queue of %d overruns", cq->ibv.cqe);
	cq->wcs[cq->n % 64] = *wc;
	cq->of[cq->n % 64] = of;
	cq->solicited[cq->n % 64] = solicited;
	device_push(&cq->device, cq->n, solicited);
	cq->n++;
}

const struct ibv_wc *
rnic_queue_peek(struct ibv_cq *ibv, unsigned int i)
{
	struct rnic_cq_slot *cq = slot_of(ibv);
	const struct device_cq *queue = &cq->device;

	return i < queue->count ? &cq->wcs[queue->queue[(queue->head + i) % DEVICE_DEPTH].id % 64] :
				  NULL;
}

struct ibv_comp_channel *
ibv_create_comp_channel(struct ibv_context *verbs)
{
	struct rnic_channel *c = &channels[n_channels];

	errno = EMFILE;
	if (world_fails(FAULT_VERBS, &here))
		return NULL;
	if (n_channels == CHANNELS)
		violation("the scenario makes too many channels");
	memset(c, 0, sizeof *c);
	c->open = true;
	c->device.fd = world_channel_open(n_channels++ ? "private" : "shared");
	c->ibv.context = verbs;
	c->ibv.fd = c->device.fd;
	return &c->ibv;
}

int
ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	((struct rnic_channel *)channel)->open = false;
	world_close(channel->fd, &here);
	return 0;
}

/* Records are known by their number at the device, and by their id once they were polled. */
static bool
is_solicited(struct device_cq *device_cq, uint64_t id)
{
	(void)device_cq;
	for (unsigned int i = 0; i < n_cqs; i++)
		for (uint64_t n = cqs[i].n; n-- > (cqs[i].n > 64 ? cqs[i].n - 64 : 0);)
			if (cqs[i].wcs[n % 64].wr_id == id)
				return cqs[i].solicited[n % 64];
	return true;
}

struct ibv_cq *
ibv_create_cq(struct ibv_context *verbs, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector)
{
	struct rnic_cq_slot *cq = &cqs[n_cqs];

	(void)vector;
	errno = ENOMEM;
	if (world_fails(FAULT_VERBS, &here))
		return NULL;
	if (n_cqs == CQS)
		violation("the scenario makes too many completion queues");
	cq->ibv = (struct ibv_cq){
		.context = verbs, .channel = channel, .cq_context = cq_context, .cqe = cqe
	};
	cq->n = 0;
	cq->open = true;
	cq->lost = cq->small = false;
	device_cq_open(
	    &cq->device, (int)n_cqs++, channel ? &((struct rnic_channel *)channel)->device : NULL);
	cq->device.solicited = is_solicited;
	context_release(cq);
	return &cq->ibv;
}

int
ibv_destroy_cq(struct ibv_cq *cq)
{
	if (rnic_most_in(cq))
		violation("a completion queue is destroyed before its queue pair");
	if (!slot_of(cq)->open)
		violation("a completion queue is destroyed twice");
	slot_of(cq)->open = false;
	if (cq->channel)
		device_cq_destroy(&slot_of(cq)->device);
	rnic_drop_notes(cq);
	return 0;
}

int
ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	sched_point(OP_DEVICE, OBJECT_DEVICE(slot_of(cq)->device.index), &here);
	if (!slot_of(cq)->device.alive)
		violation("a completion queue is resized after it was destroyed");
	if (fixed)
		return EOPNOTSUPP;
	slot_of(cq)->small |= world_fails(FAULT_VERBS, &here);
	if (slot_of(cq)->small)
		return ENOMEM;
	cq->cqe = cqe;
	rnic_queue_check(cq);
	sched_touch(OP_DEVICE, OBJECT_DEVICE(slot_of(cq)->device.index));
	return 0;
}

void
rnic_queue_lose(struct ibv_cq *cq)
{
	slot_of(cq)->lost = true;
}

int
rnic_queue_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct evd_item items[DEVICE_DEPTH];
	struct evd_batch batch = { .next = items };
	struct device_record record;
	int got;

	batch.room = (unsigned int)(n < DEVICE_DEPTH ? n : DEVICE_DEPTH);
	got = device_ops.poll(&slot_of(cq)->device, &batch).value;
	if (got < 0 || slot_of(cq)->lost)
		return -1;
	for (unsigned int i = 0; &items[i] < batch.next; i++) {
		memcpy(&record, &items[i].record, sizeof record);
		wc[i] = slot_of(cq)->wcs[record.id % 64];
	}
	return got;
}

int
rnic_queue_arm(struct ibv_cq *cq, int solicited_only)
{
	return device_ops.arm(&slot_of(cq)->device, solicited_only).value < 0 ? EIO : 0;
}

int
ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct rnic_channel *c = (struct rnic_channel *)channel;
	int i;

	judge_reads(c->ibv.fd);
	i = c->open ? device_read(&c->device, &here) : -1;
	if (!c->open)
		violation("a channel is read after it was destroyed");
	if (i < 0) {
		errno = c->device.lost ? EIO : EAGAIN;
		return -1;
	}
	cqs[i].device.gets++;
	*cq = &cqs[i].ibv;
	*cq_context = cqs[i].ibv.cq_context;
	return 0;
}

void
rnic_channel_lose(struct ibv_comp_channel *channel)
{
	struct rnic_channel *c = (struct rnic_channel *)channel;

	sched_point(OP_DEVICE, OBJECT_FD(c->device.fd), &here);
	if (c->open)
		device_lose(&c->device);
}

void
ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	device_ops.ack(&slot_of(cq)->device, n);
}

int
rnic_queue_most(void)
{
	return fixed ? 96 : 1024;
}

void
rnic_queue_check_end(void)
{
	for (unsigned int i = 0; i < n_cqs; i++)
		if (cqs[i].open)
			violation("a completion queue is not destroyed");
	for (unsigned int i = 0; i < n_channels; i++)
		if (channels[i].open)
			violation("a completion channel is not destroyed");
}

void
rnic_queue_reset(bool queues_fixed)
{
	fixed = queues_fixed;
	n_channels = n_cqs = 0;
}
