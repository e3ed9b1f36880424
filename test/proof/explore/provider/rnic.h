/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rnic -- an RDMA device and its connection manager, modelled: ibv_* and rdma_*
 *
 * A completion queue is one of device.h, so a completion becomes visible and decides about its
 * event in two steps, and every misuse that device.h knows is judged.  A queue pair in the error
 * state flushes what is outstanding, one request at a time, on a fiber of its own.  Destroying waits
 * for acknowledgements, of completion, asynchronous and connection events alike.
 */
#ifndef REARM_EXPLORE_RNIC_H
#define REARM_EXPLORE_RNIC_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "device.h"

/* Before each run; the queues of a fixed device keep the length they were made with. */
void rnic_reset(bool fixed);

/* The fiber that flushes; ends when rnic_stop() was called. */
void *rnic_flusher(void *arg);
void rnic_stop(void);

struct device_cq *rnic_cq(struct ibv_cq *cq);

/*
 * Moves of the device and of the other end; those of a queue pair or connection that is gone are
 * void.  `context` is the queue pair's: its endpoint.
 */
enum rnic_move {
	RNIC_RECEIVES,	 /* the oldest receive completes */
	RNIC_SENDS,	 /* the oldest request completes */
	RNIC_FAILS,	 /* the oldest request fails, and the queue pair with it */
	RNIC_RECEIVE_FAILS, /* the same of the oldest receive */
	RNIC_BREAKS,	 /* a fatal asynchronous event of the queue pair */
	RNIC_CONNECTS,	 /* the other end accepts, */
	RNIC_REJECTS,	 /* or not */
	RNIC_DISCONNECTS /* the other end disconnects */
};
void rnic_move(const void *context, enum rnic_move move);
/* From now on the device completes what is outstanding, in its own time. */
void rnic_finish(const void *context);
/* How requests fail from here on: one of many ways. */
void rnic_fail_by(unsigned int way);
/* Whether the queue pair transfers. */
bool rnic_is_connected(const void *context);
void rnic_cq_fails(struct ibv_cq *cq);
void rnic_device_fails(void);

/*
 * The judge's side.  A request is known by its cookie: that of the one which this thread is posting;
 * the device has it; it is complete; how many bytes a success transfers.
 */
uint64_t judge_cookie(void);
void judge_posted(uint64_t cookie);
void judge_completed(uint64_t cookie, enum ibv_wc_status status);
uint32_t judge_length(uint64_t cookie);
bool judge_solicits(uint64_t cookie); /* the other end asks to wake whoever receives this */

/* connection.c */
void connection_reset(void);
bool connection_open(void); /* an adapter has the device open */
/* Queues an event about the queue pair's connection, if it has one that can have this event. */
void connection_await(const void *context); /* until the other end is asked to connect */
void connection_event(const void *context, enum rdma_cm_event_type type);
void connection_ask(void); /* a request to connect, from another end that nobody listens to any more */

/* For connection.c: the queue pair's state changes, in a step of the caller's. */
void rnic_set_state(struct ibv_qp *qp, enum ibv_qp_state state);
struct ibv_context *rnic_context(void);

#endif
