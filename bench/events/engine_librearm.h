/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_librearm -- librearm, over the completion queues of engine_raw
 */
#ifndef BENCH_ENGINE_LIBREARM_H
#define BENCH_ENGINE_LIBREARM_H

#include "engine.h"

#include <rearm/rearm.h>

/* A loop with one thread. */
struct rearm_loop *engine_librearm_loop(void);

/* A queue over a completion queue that has a channel for itself; waits spin as BENCH_SPIN says. */
struct rearm_queue *engine_librearm_adopt(struct rearm_loop *loop, struct ibv_cq *cq);

#endif
