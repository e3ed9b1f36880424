/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_raw -- the loops over verbs, and what engine_librearm has in common with them
 */
#ifndef BENCH_ENGINE_RAW_H
#define BENCH_ENGINE_RAW_H

#include "engine.h"

#include <stdlib.h>

/* Creates two ids with queue pairs, connects, disconnects and destroys them. */
void engine_raw_reconnect(void);

/* The functions of the engines: the queue is one over verbs, and it is not armed. */
void engine_raw_open(void);
void engine_raw_create_cq(struct queue *queue, unsigned int depth);
void engine_raw_feed(struct queue *queue, unsigned int n);
void engine_raw_receive(struct queue *queue, unsigned int endpoint);
void engine_raw_send(struct queue *queue, unsigned int endpoint);

/*
 * What a consumer does with a completion: it looks at the status, and finds its own data by wr_id.
 */
static inline void
engine_raw_consume(const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS || wc->wr_id >= ENGINE_ENDPOINTS_MAX)
		abort();
}

#endif
