/* SPDX-License-Identifier: BSD-3-Clause */
/* rnic_queue -- completion queues and their channels: what of libibverbs dapl/ uses */
#ifndef REARM_EXPLORE_RNIC_QUEUE_H
#define REARM_EXPLORE_RNIC_QUEUE_H

#include "rnic.h"

void rnic_queue_reset(bool fixed);
/* It can never be read again, and stays readable. */
void rnic_channel_lose(struct ibv_comp_channel *channel);
void rnic_queue_check_end(void);

/* A completion of that queue pair becomes visible; device_decide() comes next. */
void rnic_queue_push(
    struct ibv_cq *cq, const struct ibv_qp *of, const struct ibv_wc *wc, bool solicited);
/* What it holds, the oldest first; NULL: it has no more. */
const struct ibv_wc *rnic_queue_peek(struct ibv_cq *cq, unsigned int i);
/* It must hold whatever its queue pairs may complete before it is polled. */
void rnic_queue_check(const struct ibv_cq *cq);
int rnic_queue_most(void); /* the longest that there may be */

/* What verbs.h calls by the context. */
/* From now on it cannot be polled. */
void rnic_queue_lose(struct ibv_cq *cq);
int rnic_queue_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int rnic_queue_arm(struct ibv_cq *cq, int solicited_only);

/* rnic.c: whether the queue pair was not destroyed; what all of them may complete to the queue. */
bool rnic_is_open(const struct ibv_qp *qp);
unsigned int rnic_most_in(const struct ibv_cq *cq);
/* Of a queue pair or completion queue that is being destroyed: waits for the acknowledgements. */
void rnic_drop_notes(void *of);

#endif
