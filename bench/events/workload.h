/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * workload -- what is measured; each is one process
 */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include "engine.h"

/* Measures with one engine, on queues of that kind; main.c has the meaning of n. */
typedef void workload_run(const struct engine *engine, enum queue_kind kind, unsigned int n);

/* stream.c */
workload_run stream_backlog, stream_bursts, stream_wait, stream_software, stream_receive,
    stream_send;

/* upcall.c: with upcalls, so with Rearm only; the callbacks are those of librearm */
workload_run upcall_callback, upcall_callback_idle;
workload_run upcall_backlog_single, upcall_backlog_many, upcall_idle_single, upcall_idle_many;
workload_run upcall_backlog_array, upcall_idle_notify, upcall_switching, upcall_switching_private;

/* sleep.c */
workload_run sleep_wait, sleep_cno;

/* many.c */
workload_run many_busy, many_idle, many_idle_upcalls;

/* ping.c, rate.c: times */
workload_run ping_pong, ping_pong_spin, ping_pong_eventfd, ping_stream, rate_open, rate_connections,
    rate_upcalls;

#endif
