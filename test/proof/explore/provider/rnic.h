/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rnic -- an RDMA device and its connection manager, modelled: ibv_* and rdma_*
 *
 * A completion queue is one of device.h, so a completion becomes visible and decides about its
 * event in two steps, and every misuse that device.h knows is judged.  A queue pair in the error
 * state flushes what is outstanding, one request at a time, on a fiber of its own.  Destroying
 * waits for acknowledgements, of completion, asynchronous and connection events alike.
 */
#ifndef REARM_EXPLORE_RNIC_H
#define REARM_EXPLORE_RNIC_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "device.h"

/*
 * Before each run; the queues of a fixed device keep the length they were made with, a silent one
 * does not say that a queue pair takes no further buffer.
 */
void rnic_reset(bool fixed, bool silent, bool windows);

/* The fiber that flushes; ends when rnic_stop() was called. */
void *rnic_flusher(void *arg);
void rnic_stop(void);

struct device_cq *rnic_cq(struct ibv_cq *cq);

/*
 * Actions of the device and of the other end. They do nothing if the queue pair or connection was
 * destroyed. `context` is its endpoint.
 */
enum rnic_move {
	RNIC_RECEIVES,	    /* the oldest receive completes */
	RNIC_SENDS,	    /* the oldest request completes */
	RNIC_FAILS,	    /* the oldest request fails, and the queue pair with it */
	RNIC_RECEIVE_FAILS, /* the same of the oldest receive */
	RNIC_BREAKS,	    /* a fatal asynchronous event of the queue pair */
};
void rnic_move(const void *context, enum rnic_move move);
void rnic_move(const void *context, enum rnic_move move);
/* From now on the device completes what is outstanding, in its own time. */
void rnic_finish(const void *context);
/* How requests and receives fail from here on: `way` modulo RNIC_FAILURES. */
#define RNIC_FAILURES 14
void rnic_fail_by(unsigned int way);
void rnic_cq_fails(struct ibv_cq *cq);
/* All adapters are closed: nothing is left of the device. */
void rnic_check_end(void);
void rnic_device_fails(void);

/* How the other end answers an attempt to connect. */
enum connection_answer {
	ANSWER_ACCEPTS = 'a',
	ANSWER_REJECTS = 'r',  /* the consumer there, with private data */
	ANSWER_DECLINES = 'd', /* the connection manager there */
	ANSWER_IS_AWAY = 'u',
	ANSWER_IS_WRONG = 'e',
	ANSWER_IS_NOWHERE = 'n', /* no route leads there */
	ANSWER_IS_SILENT = 's',
};
#define CONNECTION_ANSWERS "ardeuns"

/*
 * The judge's side.  A request is known by its cookie: that of the one which this thread is
 * posting; the device has it; it is complete; how many bytes a success transfers.
 */
uint64_t judge_cookie(void);
void judge_posted(uint64_t cookie);
/* A buffer of the shared receive queue: the endpoint whose message it takes. */
void judge_taken(uint64_t cookie, const void *context, uint32_t generation);
/* The cookie of a request with that opcode, which the provider may have posted for itself. */
uint64_t binds_cookie(uint64_t cookie, enum ibv_wc_opcode opcode);
void judge_completed(uint64_t cookie, enum ibv_wc_status status);
uint32_t judge_length(uint64_t cookie);
void judge_reads(int fd);	      /* a channel is about to be read */
bool judge_solicits(uint64_t cookie); /* the other end sent this with the solicited flag */
/* The attempt to connect is about to be answered; with private data of less than 4 bytes. */
void judge_answered(const void *context, enum connection_answer how);
/* Its queue pair of that generation is about to break. */
void judge_broke(const void *context, uint32_t generation);
/* The device fails: so do all queue pairs. */
void judge_device_broke(void);
void judge_left(const void *context); /* the other end is about to disconnect */
uint8_t judge_private_data(const void *context, uint8_t *data);

/* connection.c */
void connection_reset(void);
bool connection_open(void);		    /* an adapter has the device open */
void connection_await(const void *context); /* until the other end is asked to connect */
/* The other end does that now, if there is an attempt, or a connection. */
void connection_answer(const void *context, enum connection_answer how);
void connection_leave(const void *context);
/* From now on it answers by itself: the nth attempt gets the nth answer, over and over. */
void connection_script(const char *answers);
bool connection_has_answer(void);
void connection_give_answer(void);
/* Whether the owner has another id than `its`, or one that asks though it is not `connecting`. */
bool connection_is_stray(const void *owner, const struct rdma_cm_id *its, bool connecting);
void connection_check_end(void); /* all adapters are closed */
void connection_ask(void); /* a request to connect from an end that is not expected any more */

/* The queue pair's endpoint, by which the explorer knows it. */
const void *rnic_owner(const struct ibv_qp *qp);

/* For connection.c: the queue pair's state changes, in a step of the caller's. */
void rnic_set_state(struct ibv_qp *qp, enum ibv_qp_state state);
struct ibv_context *rnic_context(void);

#endif
