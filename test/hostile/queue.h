/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue -- queues of librearm and their loops, on a software device of their own
 *
 * A loop has places for queues.  A thread uses the loop, and the queue, during each call; so both
 * stay while it is in the call, but a free of the queue may begin and end meanwhile.  No queue is
 * created as long as a thread is in a call on one that was freed: such a call finds no other queue
 * in its place.
 *
 * The completions of a queue are receives that its queue pair, which is in the error state, flushes
 * as soon as they are posted.  Asynchronous events are overruns of completion queues, events of the
 * connection manager are resolved addresses.  All have numbers, from 1 on.
 */
#ifndef REARM_HOSTILE_QUEUE_H
#define REARM_HOSTILE_QUEUE_H

#include <rdma/rdma_cma.h>
#include <rearm/rearm.h>

#include "life.h"

#define QUEUE_LOOPS 3
#define QUEUE_PLACES 5	/* of a loop */
#define QUEUE_DEPTH 32	/* completions that wait, at most */
#define QUEUE_MOST 2048 /* of a queue */
#define QUEUE_EVENTS 16 /* the same, of one that has events */
#define QUEUE_BATCH 8	/* that a callback gets, at most */

enum queue_kind {
	QUEUE_CREATED,
	QUEUE_ADOPTED,
	QUEUE_SHARED, /* the channel of the loop */
	QUEUE_ASYNC,
	QUEUE_CM,
	QUEUE_KINDS
};

enum queue_state {
	QUEUE_NONE, /* the place is free */
	QUEUE_ALIVE,
	QUEUE_ENDING, /* its free has begun */
	QUEUE_ENDED,
	QUEUE_MADE /* it is being created or cleared up */
};

/* No callback can start: a call that was not inside of one has torn it down. */
#define QUEUE_TORN (-1)

struct queue;

/* wr_id is the address of the first member. */
struct queue_request {
	struct rearm_request request;
	struct queue *queue;
	unsigned int number;
};

struct queue {
	struct life life; /* its name and lock; it is in no pool */
	struct queue_loop *loop;
	unsigned int place;
	/* Locked, as is all that follows and is not constant while it is alive. */
	enum queue_state state;
	unsigned int users;
	bool setting; /* a call changes the policy, or frees it */
	int policy;   /* that is set for sure: one that is enabled, or QUEUE_TORN; 0: not known */
	bool given;   /* a function is installed */
	bool freed_inside; /* in a callback: others may still come */
	unsigned int inside;
	int waits_for; /* the threshold of the thread that waits; 0: none does */
	unsigned int posted, taken;
	unsigned int last; /* that a call has returned, or a callback got */
	_Atomic(unsigned int) last_called;
	bool seen[QUEUE_MOST + 1];
	/* Constant. */
	struct rearm_queue *queue;
	enum queue_kind kind;
	bool many; /* its policy may be MANY */
	struct ibv_cq *cq;
	struct ibv_comp_channel *channel;
	struct ibv_qp *qp; /* NULL when the end has begun */
	struct queue_request request[QUEUE_MOST + 1];
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *overrun[QUEUE_EVENTS];
	struct rdma_event_channel *cm;
	struct rdma_cm_id *id[QUEUE_EVENTS];
};

struct queue_loop {
	pthread_mutex_t lock;
	struct rearm_loop *loop; /* NULL: none.  Locked, as the next two */
	bool closing;
	unsigned int users;
	int threads;
	pthread_mutex_t stepping; /* one thread at a time */
	struct ibv_comp_channel *channel;
	struct queue queue[QUEUE_PLACES];
};

/* The device is opened; closed, after all loops have gone. */
void queues_begin(void);
void queues_end(void);
void queues_print_counts(void);

/* A random loop, used, or NULL. */
struct queue_loop *queue_loop_pick(void);
void queue_loop_leave(struct queue_loop *loop);
/* In a place that has none. */
void queue_loop_make(void);
/* With all its queues; the caller uses none. */
void queue_loop_end_any(void);
/* One turn of a loop without threads, unless another thread makes one. */
void queue_loop_step(struct queue_loop *loop, int timeout);

/* Creates one in a place that has none. */
void queue_make(struct queue_loop *loop);
/* A random queue that lives, used, or NULL. */
struct queue *queue_pick(struct queue_loop *loop);
void queue_leave(struct queue *queue);
/* Frees it, unless another thread does so or sets its policy.  `own` uses are the caller's. */
void queue_end(struct queue *queue, bool inside, unsigned int own);
bool queue_has_events(const struct queue *queue);

/* Completions or events, as far as there is room. */
void queue_post(struct queue *queue, unsigned int n);
/* The policy; false if another thread changes it. */
bool queue_set_begin(struct queue *queue, int *before);
void queue_set_end(struct queue *queue, int policy);
/* Takes some, or an event; as the call. */
int queue_take(struct queue *queue);
int queue_wait(struct queue *queue, int min, int64_t timeout);
/* Settings that change nothing for long, and counters. */
void queue_ask(struct queue *queue);

/*
 * What a call has returned or a callback got.  `bound`: queue_bound() before the call; 0: none.
 * An event is acknowledged.  Returns the number of the last one.
 */
unsigned int queue_bound(struct queue *queue);
unsigned int queue_got(struct queue *queue, const struct ibv_wc *wc, int n, unsigned int bound);
unsigned int queue_got_event(
    struct queue *queue, const union rearm_event *event, unsigned int bound);

/*
 * A call of librearm: traced, and watched for a hang.  The value that it returned must be at least
 * 0, or one of `errors`, which ends with 0; -ENODEV and -ECANCELED only if the queue is being
 * freed.
 */
struct queue_call {
	struct queue *queue;
	const char *name;
	struct trace_line *line;
	unsigned int signals;
};
struct queue_call queue_call_begin(struct queue *queue, const char *name, bool endless, bool waits);
int queue_call_end(const struct queue_call *call, int r, const int *errors);
#define QUEUE_CALL(on, name, value, ...) \
	__extension__({ \
		const struct queue_call own_call_ = queue_call_begin((on), (name), false, false); \
		queue_call_end(&own_call_, (value), (const int[]){ __VA_ARGS__ }); \
	})

/* In a calm: steps loops, and what a queue that has a sink owes to it; NULL: nothing. */
const struct queue *queues_owe(void);
/* Whether callbacks run. */
bool queues_inside(void);
uint64_t queues_taken(void);

struct queue *queue_of_place(unsigned int place);

/* queue_upcall.c: enables callbacks of a random kind, or ends them, after queue_set_begin(). */
void queue_enable(struct queue *queue, int before);
void queue_disable(struct queue *queue, bool inside, int before);
void queue_request_done(struct rearm_request *of, const struct ibv_wc *wc, void *arg);
/* Takes until there is nothing. */
void queue_drain(struct queue *queue);

#endif
