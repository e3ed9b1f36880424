/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ping_verbs -- the ends of a ping-pong over verbs, for ping_verbs.c and ping_librearm.c
 */
#ifndef BENCH_PING_VERBS_H
#define BENCH_PING_VERBS_H

#include "ping.h"

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdlib.h>

struct end {
	struct ibv_comp_channel *channel;
	struct ibv_cq *receives, *sends;
	struct ibv_qp *qp;
	unsigned int unacked;
};

extern struct end ping_ends[2];

/* Creates and connects the ends, and posts their receives; no queue is armed. */
void ping_verbs_open(void);
void ping_verbs_send(unsigned int end);

/* Posts a receive. */
void ping_post(const struct end *end);

/* Messages of a stream have come. */
static inline void
ping_count(const struct end *end, const struct ibv_wc *wc, int n, _Atomic uint64_t *received)
{
	if (n < 0)
		abort();
	for (int i = 0; i < n; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			abort();
		ping_post(end);
	}
	atomic_fetch_add_explicit(received, (uint64_t)n, memory_order_release);
}

#endif
