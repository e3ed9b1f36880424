/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * story -- helpers of the tests of the software device
 *
 * A side is one end of a connection with everything it needs; two sides make a pair,
 * connected by hand.  Every helper asserts that what it does works.
 */
#ifndef SOFT_STORY_H
#define SOFT_STORY_H

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "lib/runner.h"

/* AddressSanitizer reports the stack of a cancelled thread: the unwinder leaves marks on it. */
#ifdef __SANITIZE_ADDRESS__
#define STORY_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STORY_ASAN 1
#endif
#endif
#ifndef STORY_ASAN
#define STORY_ASAN 0
#endif

/* ThreadSanitizer lets the child of a program with threads start none. */
#ifdef __SANITIZE_THREAD__
#define STORY_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STORY_TSAN 1
#endif
#endif
#ifndef STORY_TSAN
#define STORY_TSAN 0
#endif

/* Not 0, after a report, if memory was lost; 0 where nothing can tell. */
#if STORY_ASAN
#include <sanitizer/lsan_interface.h>
#define story_leaks() __lsan_do_recoverable_leak_check()
#else
#define story_leaks() 0
#endif

#define SIDE_BYTES (256 * 1024)
#define SIDE_ACCESS \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	    IBV_ACCESS_REMOTE_ATOMIC)

struct side {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq; /* of sends and receives, on the channel */
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char *bytes;
};

/*
 * The number of the first packet of each side: the second to last before the wrap, which so lies in
 * most tests.  Tests that count from 0 set it.
 */
extern uint32_t side_psn;

struct side_options {
	uint32_t sends, receives; /* 16 if 0 */
	int cqe;		  /* 128 if 0 */
	int srq;		  /* receives of an SRQ; none if 0 */
	bool sig_all;
	bool no_retries;	/* 0 instead of endless receiver-not-ready tries */
	bool patient;		/* waits for ever for a peer that does not answer, else 4 ms */
	int mr_access;		/* SIDE_ACCESS if 0 */
	unsigned int qp_access; /* everything if 0, SIDE_NO_ACCESS for none */
};
#define SIDE_NO_ACCESS (1u << 31)

struct ibv_context *story_open(void);

/* From now on the system call fails with that errno, in this thread and those that it starts. */
void story_refuse(long call, int error);

void side_make(struct side *side, const struct side_options *options);
void side_free(struct side *side);

/* In the place of one that was destroyed. */
void side_new_qp(struct side *side);

/* Connects two queue pairs through INIT, RTR and RTS; a side may talk to itself. */
void side_connect(struct side *a, struct side *b, const struct side_options *options);
void side_to_init(struct side *side, const struct side_options *options);
void side_to_rtr(struct side *side, uint32_t qpn);
void side_to_rts(struct side *side, const struct side_options *options);
void side_to_error(struct side *side);

void pair_make(struct side *a, struct side *b, const struct side_options *options);
/* From the error state, or whatever they are in; what is in their queues is dropped. */
void pair_connect_again(struct side *a, struct side *b);
void pair_free(struct side *a, struct side *b);

/* Work requests on [offset, offset + length) of the side's bytes. */
void side_receive(struct side *side, uint64_t wr_id, size_t offset, uint32_t length);
int side_try_receive(struct side *side, uint64_t wr_id, size_t offset, uint32_t length);
void side_post(struct side *side, enum ibv_wr_opcode opcode, unsigned int flags, uint64_t wr_id,
    size_t offset, uint32_t length);
int side_try_post(struct side *side, enum ibv_wr_opcode opcode, unsigned int flags, uint64_t wr_id,
    size_t offset, uint32_t length);

/* RDMA between [offset, ...) of the side and [remote, ...) of the peer's bytes. */
void side_rdma(struct side *side, struct side *peer, enum ibv_wr_opcode opcode, uint64_t wr_id,
    size_t offset, size_t remote, uint32_t length);
int side_rdma_raw(struct side *side, enum ibv_wr_opcode opcode, uint64_t wr_id, size_t offset,
    uint64_t remote, uint32_t rkey, uint32_t length);

/* The next completion, within ten seconds. */
struct ibv_wc cq_next(struct ibv_cq *cq);
void cq_expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status);
void cq_expect_empty(struct ibv_cq *cq);

/* Events of the channel, without blocking. */
bool channel_ready(struct ibv_comp_channel *channel);
void channel_expect(struct ibv_comp_channel *channel, struct ibv_cq *cq);
void channel_expect_no_event(struct ibv_comp_channel *channel);

/*
 * Another thread sends so many messages.  Arms and waits for them, without a poll in between, and
 * expects each of them in order.
 */
void pair_stream(struct side *from, struct side *to, unsigned int messages);

/* Asynchronous events: the next within ten seconds, acknowledged. */
bool async_ready(struct ibv_context *context);
void async_expect(struct ibv_context *context, enum ibv_event_type type, const void *element);

enum ibv_qp_state qp_state(struct ibv_qp *qp);
void sleep_ms(int ms);

/* Connection manager. */
struct rdma_event_channel *cm_channel(void);
struct rdma_cm_id *cm_listen(struct rdma_event_channel *channel, uint16_t *port);
struct rdma_cm_id *cm_resolved(struct rdma_event_channel *channel, uint16_t port);

/*
 * The next event, within ten seconds; it must be of that type.  TIMEWAIT_EXIT is passed over unless
 * it is wanted.
 */
struct rdma_cm_event *cm_next(struct rdma_event_channel *channel, enum rdma_cm_event_type type);
void cm_expect(
    struct rdma_event_channel *channel, enum rdma_cm_event_type type, struct rdma_cm_id *id);
void cm_expect_no_event(struct rdma_event_channel *channel);
void cm_qp(struct rdma_cm_id *id, struct ibv_cq *cq);

/* Destroys the id, if there is one, and its queue pair. */
void cm_forget(struct rdma_cm_id **id);

#endif
