/* SPDX-License-Identifier: BSD-3-Clause */
#include "rq.h"

#include <stdlib.h>

struct slot {
	uint64_t wr_id;
	int num_sge;
	struct ibv_sge sge[];
};

static struct slot *
rq_at(const struct soft_rq *rq, uint32_t i)
{
	return (struct slot *)(void *)(rq->ring + (i & rq->mask) * rq->stride);
}

int
soft_rq_init(struct soft_rq *rq, uint32_t size, uint32_t max_sge)
{
	uint32_t slots = 1;

	while (slots < size)
		slots <<= 1;
	*rq = (struct soft_rq){
		.stride = sizeof(struct slot) + max_sge * sizeof(struct ibv_sge),
		.mask = slots - 1,
		.size = size,
		.max_sge = max_sge,
		.head = SOFT_COUNT_FIRST,
		.tail = SOFT_COUNT_FIRST,
	};
	if (!size)
		return 0;
	rq->ring = calloc(slots, rq->stride);
	return rq->ring ? 0 : -ENOMEM;
}

void
soft_rq_fini(struct soft_rq *rq)
{
	free(rq->ring);
}

int
soft_rq_post(struct soft_rq *rq, const struct ibv_recv_wr *wr)
{
	struct slot *slot;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
		return -EINVAL;
	if (rq->tail - rq->head >= rq->size)
		return -ENOMEM;
	slot = rq_at(rq, rq->tail++);
	slot->wr_id = wr->wr_id;
	slot->num_sge = wr->num_sge;
	for (int i = 0; i < wr->num_sge; i++)
		slot->sge[i] = wr->sg_list[i];
	return 0;
}

bool
soft_rq_take(struct soft_rq *rq, struct soft_receive *receive)
{
	const struct slot *slot;

	if (rq->head == rq->tail)
		return false;
	slot = rq_at(rq, rq->head++);
	receive->wr_id = slot->wr_id;
	receive->num_sge = slot->num_sge;
	for (int i = 0; i < slot->num_sge; i++)
		receive->sge[i] = slot->sge[i];
	return true;
}
