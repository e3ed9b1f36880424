/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * workload -- what is measured; each is one process
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include "engine.h"

/* Runs with one engine.  `merged`: on a queue that takes software and connection events, too. */
typedef void workload_run(const struct engine *engine, bool merged, unsigned int n);

/* stream.c */
workload_run stream_backlog, stream_bursts, stream_wait, stream_software, stream_receive, stream_send;

#endif
