/* SPDX-License-Identifier: BSD-3-Clause */
/* internal -- the two objects of librearm: a loop, and a queue with its completion queue */
#ifndef REARM_REARM_INTERNAL_H
#define REARM_REARM_INTERNAL_H

#include <rearm/rearm.h>

#include "evd/evd.h"

/* The calls of the library: everything else is hidden. */
#define REARM_API __attribute__((visibility("default")))

/* The threads of a pool, for callbacks of MANY. */
#define REARM_POOL 4

struct rearm_loop {
	struct os_mutex lock;
	int threads; /* 0: none, and `loops` has one that is stepped */
	struct loop **loops;
	struct loop *pool;	/* NULL until the first MANY; guarded by lock */
	int *cpus, n_cpus;	/* constant */
	unsigned int next;	/* of `loops`, for the next queue; guarded by lock */
	int open;		/* queues that were not freed; guarded by lock */
	int queues;		/* those, and those that are not destroyed yet; guarded by lock */
	struct park_list frees; /* guarded by lock */
	bool asleep;		/* without threads: rearm_loop_trywait() has said "sleep" */
};

/*
 * The memory is used for one queue after the other and never released: a handler of a loop may
 * begin after the queue that it is for was freed.
 */
struct rearm_queue {
	struct evd core;
	struct rearm_queue *next; /* of the free ones */
	uint64_t serial;	  /* constant while it is open, as is what follows */
	struct rearm_loop *loop;
	struct ibv_cq *cq;
	struct ibv_comp_channel *channel;
	bool adopted; /* cq and channel are the program's */
	int flags;    /* that the descriptor of an adopted channel had */
	void (*failed)(void *arg, int error);
	void *arg;
};

static inline struct evd_ref
rearm_queue_ref(struct rearm_queue *queue)
{
	return (struct evd_ref){ &queue->core, queue->serial };
}

/* loop.c: a loop for one more queue, and for callbacks of MANY (-errno: there is no thread). */
struct loop *rearm_loop_enter(struct rearm_loop *loop);
int rearm_loop_pool(struct rearm_loop *loop, struct loop **pool);
/* A queue was freed; it was destroyed. */
void rearm_loop_freed(struct rearm_loop *loop);
void rearm_loop_leave(struct rearm_loop *loop);

/* cq.c: the source of a queue, which is its argument. */
extern const struct evd_source_ops rearm_cq_ops;

/* 0 or -errno. */
int rearm_cq_create(
    struct rearm_queue *queue, struct ibv_context *context, const struct rearm_queue_attr *attr);
int rearm_cq_adopt(
    struct rearm_queue *queue, struct ibv_cq *cq, const struct rearm_queue_attr *attr);
int rearm_cq_moderate(struct rearm_queue *queue, unsigned int count, unsigned int us);
void rearm_cq_close(struct rearm_queue *queue);

#endif
