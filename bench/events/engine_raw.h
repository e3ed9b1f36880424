/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine_raw -- the loops over verbs
 */
#ifndef BENCH_ENGINE_RAW_H
#define BENCH_ENGINE_RAW_H

#include "engine.h"

/* Creates two ids with queue pairs, connects, disconnects and destroys them. */
void engine_raw_reconnect(void);

#endif
