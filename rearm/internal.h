/* SPDX-License-Identifier: BSD-3-Clause */
/* internal -- the two objects of librearm: a loop, and a queue with what it takes events from */
#ifndef REARM_REARM_INTERNAL_H
#define REARM_REARM_INTERNAL_H

#include <rearm/rearm.h>

#include "evd/descriptor.h"
#include "evd/evd.h"
#include "evd/stats/publisher.h"

/* The calls of the library: everything else is hidden. */
#define REARM_API __attribute__((visibility("default")))

/* The threads of a pool, for callbacks of MANY. */
#define REARM_POOL 4

/*
 * The first word of a function that may meet a cancellation point: no thread ends inside of it.
 * For deferred cancellation: the type of the thread is left alone.
 */
#define REARM_UNCANCELLED \
	int cancel_state __attribute__((unused, cleanup(rearm_cancel_restore))) = \
	    rearm_cancel_disable()

static inline int
rearm_cancel_disable(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

static inline void
rearm_cancel_restore(const int *state)
{
	pthread_setcancelstate(*state, NULL);
}

struct rearm_loop {
	struct os_mutex lock;
	bool stepped; /* it has no threads, and one loop: constant, as the next three */
	unsigned int n_loops;
	int *cpus, n_cpus;	/* behind `loops` */
	struct loop *pool;	/* NULL until the first MANY; guarded by lock */
	unsigned int next;	/* of `loops`, for the next queue; guarded by lock */
	int open;		/* queues that were not freed; guarded by lock */
	int queues;		/* those, and those that are not destroyed yet; guarded by lock */
	struct park_list frees; /* guarded by lock */
	bool publishes;		/* statistics */
	bool asleep;		/* without threads: rearm_loop_trywait() has said "sleep" */
	struct loop *loops[];	/* constant; each with one thread, or stepped */
};

/* An event, as the dispatcher gives it out. */
struct rearm_taken {
	struct evd_descriptor_result result;
	union rearm_event event;
};

/*
 * The memory is used for one queue after the other and never released: a handler of a loop may
 * begin after the queue that it is for was freed.
 */
struct rearm_queue {
	struct evd core;
	struct os_mutex in_use;	       /* see rearm_queue_pin() */
	struct rearm_queue *next_slot; /* constant: of all slots */
	struct rearm_queue *next;      /* of the free ones */
	uint64_t serial;	       /* constant until it is destroyed, as is what follows */
	struct rearm_loop *loop;
	/* What it takes events from: one of these three.  The others are NULL. */
	struct ibv_cq *cq;
	struct rdma_event_channel *cm;
	struct ibv_context *context;
	struct ibv_comp_channel *channel; /* of cq */
	bool adopted;			  /* cq and channel are the program's */
	int fd;				  /* of the channel */
	atomic_bool lost;		  /* no notification can be read: see rearm_queue_lost() */
	struct rearm_shared *shared;	  /* NULL: it has the channel for itself */
	bool unwaitable;		  /* only a thread of the program reads the channel */
	struct rearm_queue *shared_next;  /* guarded by the lock of that */
	struct evd_descriptor events;	  /* not for a cq */
	void (*failed)(void *arg, int error);
	void *arg;
};

/*
 * A call asks for this once, before anything else: if the queue is freed meanwhile, the slot may
 * have another one.
 */
static inline struct evd_ref
rearm_queue_ref(struct rearm_queue *queue)
{
	return (struct evd_ref){ &queue->core, queue->serial };
}

/*
 * What the queue has, and its loop, stay until `in_use` is unlocked; false: it is being freed.  For
 * a call that uses them outside of the lock of the dispatcher.
 */
static inline bool
rearm_queue_pin(struct rearm_queue *queue, struct evd_ref ref)
{
	bool alive;

	os_lock(&queue->in_use);
	alive = evd_is_alive(ref);
	if (!alive)
		os_unlock(&queue->in_use);
	return alive;
}

/* queue.c: the channel of its completion queue can never be read again. */
void rearm_queue_lost(struct rearm_queue *queue);

/*
 * channel.c: a descriptor of the library, or of the program, does not block; the program's is what
 * it was when each queue that has prepared it has restored it.  0 or -errno.
 */
int rearm_fd_own(int fd);
int rearm_fd_prepare(int fd);
void rearm_fd_restore(int fd);
/* Reads a notification: 1, 0, or -errno if the channel can never be read again. */
int rearm_channel_read(struct ibv_comp_channel *channel, struct ibv_cq **cq);

/* loop.c: a loop for one more queue, and for callbacks of MANY (-errno: there is no thread). */
struct loop *rearm_loop_enter(struct rearm_loop *loop);
int rearm_loop_pool(struct rearm_loop *loop, struct loop **pool);
/* A queue was freed; it was destroyed. */
void rearm_loop_freed(struct rearm_loop *loop);
void rearm_loop_leave(struct rearm_loop *loop);

/* slot.c: memory for a queue, which has a serial number; NULL without memory. */
struct rearm_queue *rearm_slot_get(void);
void rearm_slot_put(struct rearm_queue *queue);

/*
 * slot.c: statistics for a new loop, as the environment asks for; evd_stats_stop() if it publishes.
 */
bool rearm_stats_start(void);

/* cq.c: the source of a queue, which is its argument. */
extern const struct evd_source_ops rearm_cq_ops;

/* 0 or -errno. */
int rearm_cq_create(struct rearm_queue *queue, const struct rearm_queue_attr *attr);
int rearm_cq_adopt(struct rearm_queue *queue, const struct rearm_queue_attr *attr);
int rearm_cq_moderate(struct rearm_queue *queue, unsigned int count, unsigned int us);
void rearm_cq_close(struct rearm_queue *queue);

/*
 * shared.c: a queue joins those that share its channel; it gets notifications from add on, with its
 * EVD alive; it leaves.  0 or -errno.
 */
int rearm_shared_join(struct rearm_queue *queue);
void rearm_shared_add(struct rearm_queue *queue);
void rearm_shared_leave(struct rearm_queue *queue);

/* event.c: the descriptor of a queue with `cm`, or else with `context`. */
int rearm_event_open(struct rearm_queue *queue, const struct rearm_queue_attr *attr);
void rearm_event_close(struct rearm_queue *queue);

#endif
