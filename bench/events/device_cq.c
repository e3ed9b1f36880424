/* SPDX-License-Identifier: BSD-3-Clause */
/* device_cq -- completion queues: poll, arm, notify */
#include "device_object.h"

#include <sys/syscall.h>

struct device_cq *device_cq_table[DEVICE_CQS_MAX];
atomic_uint device_cq_count;

/*
 * Added to what the code of a poll and of a completion executes, so that they cost what device.h
 * has.  bench-events prints what a poll and a completion have cost.
 */
#define PAD_POLL 69
#define PAD_COMPLETION 2

#define TEXT(n) #n
#define NOPS(n) __asm__ volatile(".rept " TEXT(n) "\n\tnop\n\t.endr")
#define PAD(n) NOPS(n)

unsigned int
device_cqs(void)
{
	return device_cq_count;
}

void
device_cq_push(struct device_cq *cq, uint64_t wr_id, uint32_t qp_num, uint32_t opcode)
{
	device_lock(&cq->lock);
	if (cq->tail - cq->head == DEVICE_CQ_RING)
		__builtin_trap(); /* the benchmark completes more than it dequeues */
	cq->ring[cq->tail++ % DEVICE_CQ_RING] = (struct device_completion){ wr_id, qp_num, opcode };
	device_unlock(&cq->lock);
}

/*
 * The notification is written when the lock is free: the thread that it wakes polls at once, and
 * would spin.  A device has no order between the two, either.
 */
void
device_cq_notify(struct device_cq *cq)
{
	bool raise;

	device_lock(&cq->lock);
	raise = cq->armed && cq->bell >= 0;
	cq->armed = false;
	cq->raised += raise;
	device_unlock(&cq->lock);
	if (raise)
		device_call(SYS_write, cq->bell, (long)&cq->cq, sizeof cq->cq);
}

int
device_poll(struct ibv_cq *ibv, int n, struct ibv_wc *wc)
{
	struct device_cq *cq = device_cq_of(ibv);
	uint32_t count = (uint32_t)n, have;

	PAD(PAD_POLL);
	device_lock(&cq->lock);
	cq->polls++;
	have = cq->tail - cq->head;
	if (have < count)
		count = have;
	if (!count)
		cq->empty_polls++;
	cq->completions += count;
	for (uint32_t i = 0; i < count; i++) {
		const struct device_completion *from = &cq->ring[cq->head++ % DEVICE_CQ_RING];

		PAD(PAD_COMPLETION);
		wc[i].wr_id = from->wr_id;
		wc[i].status = IBV_WC_SUCCESS;
		wc[i].opcode = from->opcode;
		wc[i].byte_len = 8;
		wc[i].qp_num = from->qp_num;
		wc[i].wc_flags = 0;
	}
	device_unlock(&cq->lock);
	return (int)count;
}

int
device_arm(struct ibv_cq *ibv, int solicited_only)
{
	struct device_cq *cq = device_cq_of(ibv);

	(void)solicited_only; /* every message is solicited */
	device_lock(&cq->lock);
	cq->arms++;
	cq->armed = true;
	device_unlock(&cq->lock);
	return 0;
}

bool
device_is_armed(unsigned int number)
{
	struct device_cq *cq = device_cq_table[number];
	bool armed;

	device_lock(&cq->lock);
	armed = cq->armed;
	device_unlock(&cq->lock);
	return armed;
}

struct device_counts
device_counts(void)
{
	struct device_counts sum = { .reads = device_reads,
		.acks = device_acks,
		.posts = device_posts,
		.calls = device_calls };

	for (unsigned int i = 0; i < device_cq_count; i++) {
		struct device_cq *cq = device_cq_table[i];

		device_lock(&cq->lock);
		sum.polls += cq->polls;
		sum.empty_polls += cq->empty_polls;
		sum.completions += cq->completions;
		sum.arms += cq->arms;
		sum.raised += cq->raised;
		device_unlock(&cq->lock);
	}
	return sum;
}
