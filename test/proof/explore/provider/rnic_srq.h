/* SPDX-License-Identifier: BSD-3-Clause */
/* rnic_srq -- the shared receive queue of the modelled device */
#ifndef REARM_EXPLORE_RNIC_SRQ_H
#define REARM_EXPLORE_RNIC_SRQ_H

#include "rnic.h"

void rnic_srq_reset(void);
void rnic_srq_check_end(void);

/* Buffers that no message has taken. */
unsigned int rnic_srq_left(void);
/* The oldest of them. */
void rnic_srq_take(uint64_t *id, uint64_t *cookie);

/* What verbs.h calls by the context. */
int rnic_srq_post(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

#endif
