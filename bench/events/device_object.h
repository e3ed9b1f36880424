/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_object -- what the device knows of a completion queue, a queue pair and a channel
 */
#ifndef BENCH_DEVICE_OBJECT_H
#define BENCH_DEVICE_OBJECT_H

#include "device.h"

#include <infiniband/verbs.h>
#include <stdatomic.h>

#define DEVICE_CQS_MAX 32768u
#define DEVICE_QPS_MAX 16384u /* of softverbs; the handle of a queue pair is below */
#define DEVICE_CQ_RING 32768u
#define DEVICE_QP_RING 16384u

/* Held for a few instructions, as a driver's spin lock of a queue. */
struct device_lock {
	atomic_flag taken;
};

struct device_completion {
	uint64_t wr_id;
	uint32_t qp_num, opcode;
};

struct device_ring {
	uint64_t *wr_id; /* DEVICE_QP_RING of them; mapped with the first post */
	uint32_t head, tail;
};

struct device_qp {
	struct device_lock lock;
	struct ibv_qp *qp;
	bool all_signalled;
	struct device_ring receives, sends;
	/* In the lists of the queue that its receives and its sends complete on. */
	struct device_qp *next_receiver, *next_sender;
};

struct device_cq {
	struct device_lock lock;
	struct ibv_cq *cq;
	uint32_t head, tail;
	bool armed;
	int bell; /* where a notification is written, or -1 */
	uint64_t polls, empty_polls, completions, arms, raised;
	struct device_qp *receivers, *senders;	       /* lists */
	struct device_qp *next_receiver, *next_sender; /* whose turn it is */
	struct device_completion ring[DEVICE_CQ_RING];
};

/* A pipe, with the address of a queue in each message, as the kernel's channel has its number. */
struct device_channel {
	struct ibv_comp_channel ibv;
	int bell;
};

extern struct device_cq *device_cq_table[DEVICE_CQS_MAX];
extern struct device_qp *device_qp_table[DEVICE_QPS_MAX];
extern atomic_uint device_cq_count;
extern _Atomic uint64_t device_calls, device_reads, device_acks, device_posts;

static inline void
device_lock(struct device_lock *lock)
{
	while (atomic_flag_test_and_set_explicit(&lock->taken, memory_order_acquire)) {
#if defined __x86_64__ || defined __i386__
		__builtin_ia32_pause();
#endif
	}
}

static inline void
device_unlock(struct device_lock *lock)
{
	atomic_flag_clear_explicit(&lock->taken, memory_order_release);
}

static inline struct device_cq *
device_cq_of(const struct ibv_cq *cq)
{
	return device_cq_table[cq->handle];
}

/*
 * The same memory again with every call of mmap(): zeroed, and used only as far as it is written.
 */
void *device_map(size_t size);

/* A system call of the device, which is counted as such. */
long device_call(long number, long a, long b, long c);

/*
 * Adds a completion; notify then raises the notification that was requested.  So the completions of
 * a burst are all there when the first thread wakes.
 */
void device_cq_push(struct device_cq *cq, uint64_t wr_id, uint32_t qp_num, uint32_t opcode);
void device_cq_notify(struct device_cq *cq);

int device_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int device_arm(struct ibv_cq *cq, int solicited_only);
int device_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int device_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

#endif
