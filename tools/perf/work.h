/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * work -- the threads of an end: one handles its events, and with a rate one sends
 */
#ifndef PERF_WORK_H
#define PERF_WORK_H

#include "end.h"

struct work {
	struct end *end;
	pthread_t consumer, sender;
};

/* Starts what sends and receives. */
void work_start(struct work *work, struct end *end);

/* Returns when all was sent and received; fails if nothing comes for that many seconds. */
void work_await(struct work *work, unsigned int timeout);

#endif
