/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rq -- a ring of receive work requests
 *
 * It belongs to a queue pair or to an SRQ, whose lock guards it.
 */
#ifndef SOFT_RQ_H
#define SOFT_RQ_H

#include "softverbs/device/soft.h"

/* A receive work request, after it left its queue. */
struct soft_receive {
	uint64_t wr_id;
	int num_sge;
	struct ibv_sge sge[SOFT_MAX_SGE];
};

struct soft_rq {
	char *ring;
	size_t stride;
	uint32_t mask;
	uint32_t size;
	uint32_t max_sge;
	uint32_t head, tail; /* run freely */
};

int soft_rq_init(struct soft_rq *rq, uint32_t size, uint32_t max_sge);
void soft_rq_fini(struct soft_rq *rq);

/* 0, -EINVAL or -ENOMEM. */
int soft_rq_post(struct soft_rq *rq, const struct ibv_recv_wr *wr);
bool soft_rq_take(struct soft_rq *rq, struct soft_receive *receive);

#endif
