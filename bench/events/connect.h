/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connect -- the endpoints of a queue, with their peers in the same process
 */
#ifndef BENCH_CONNECT_H
#define BENCH_CONNECT_H

#include "engine.h"

/* What each request of the benchmark sends or receives. */
extern DAT_LMR_TRIPLET connect_segment;

/* Ends the process unless the call has succeeded. */
void dat_must(const char *call, DAT_RETURN ret);

/* Connects endpoints to the queue until it has n. */
void connect_feed(struct queue *queue, unsigned int n);

/*
 * Creates two queues that each have an endpoint which is connected to that of the other; sends
 * complete apart.
 */
void connect_pair(struct queue queues[2]);

/* Creates two endpoints, connects, disconnects and frees them. */
void connect_and_disconnect(void);

#endif
