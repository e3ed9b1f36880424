/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * end -- one side of a run: its endpoints, what they have sent and received, when it was measured
 *
 * One thread handles the events of an end, or, with upcalls, threads of the provider.  With a rate
 * one more thread sends.  If there may be two threads, endpoints are locked.
 */
#ifndef PERF_END_H
#define PERF_END_H

#include "cpu.h"
#include "engine.h"
#include "iser/histogram.h"
#include "load.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

/* A connection with its load.  Each end has the same layout of its memory: see endpoint_at(). */
struct endpoint {
	struct end *end;
	uint32_t number;
	void *wire;
	char *memory;
	uint64_t peer; /* the address of the memory of the other side */
	pthread_mutex_t lock;
	/* All below: the lock. */
	uint64_t quota;	    /* what it sends; 0: until the time is over */
	uint64_t warm_up;   /* what it sends before it is measured */
	uint64_t sent;	    /* messages or answers: the number of the next one */
	uint64_t notices;   /* the same for confirmations and notices, which have a header only */
	uint64_t confirmed; /* of the messages that it sent: answered, or arrived */
	uint64_t arrived;   /* messages that were checked */
	uint64_t answered;  /* of those that arrived: confirmed */
	uint64_t received;  /* receives, or reads, that completed */
	uint64_t top;	    /* the highest number of those, and one */
	uint64_t next_receive; /* the number of the next one that is posted */
	uint64_t last;	       /* the number of the last message, if it is known */
	bool last_known;
	bool last_sent;
	bool over;
	uint32_t unannounced; /* written, and no notice sent yet */
	uint32_t silent;      /* requests that were posted since the last one that reap() returns */
	uint32_t outstanding; /* requests that reap() has not returned */
	uint64_t *posted; /* for each buffer: the number of its receive, or read, or NOT_POSTED */
	uint64_t *stamps; /* of reads: when they were due */
	struct histogram *latencies;
	_Atomic uint64_t handled;  /* events */
	_Atomic uint64_t measured; /* messages that count */
};

#define NOT_POSTED UINT64_MAX

struct end {
	const struct load *load;
	const struct engine *engine;
	bool server;
	bool same_clock; /* as the other end: both are on one host */
	bool locked;
	void *adapter;
	void *queue;
	struct region region;
	struct remote peer; /* its region */
	uint32_t stride;    /* bytes from one buffer to the next */
	uint32_t receives;  /* buffers for receives of an endpoint */
	struct endpoint *endpoints;
	uint64_t epoch; /* when the first message is due, with a rate */
	atomic_flag begun;
	_Atomic uint64_t began, until; /* until: with a duration, when no more is sent */
	uint64_t ended;
	struct cpu cpu;
	_Atomic uint32_t left; /* endpoints that are not over */
	atomic_bool over;
	/*
	 * All was sent and received: for the thread that waits for that, for the consumer, and for
	 * that of a rate.
	 */
	sem_t done, handled, sender_done;
};

/* Allocates and registers what the endpoints need, and creates the queue.  The wires come later. */
void end_open(struct end *end);
void end_close(struct end *end);

/* The endpoints' wires are created with this. */
struct wiring end_wiring(const struct end *end);

/* Posts the receives of an endpoint whose wire was just created. */
void end_post_receives(struct endpoint *endpoint);

static inline bool
end_is_over(struct end *end)
{
	return atomic_load_explicit(&end->over, memory_order_acquire);
}

/* The first message that counts was sent, or has arrived. */
void end_begin(struct end *end, uint64_t now);

/* An endpoint has sent and received all; called once for each. */
void end_leave(struct end *end, uint64_t now);

/* Messages that count, so far. */
uint64_t end_measured(const struct end *end);

/* Events that were handled, so far. */
uint64_t end_handled(const struct end *end);

/* All latencies that were measured at this end. */
void end_merge(const struct end *end, struct histogram *all);

/*
 * The buffers of an endpoint: for receives, for what is sent, and what the peer writes to or reads
 * from.
 */
static inline size_t
endpoint_receive_at(const struct endpoint *endpoint, uint32_t slot)
{
	return (size_t)slot * endpoint->end->stride;
}

static inline size_t
endpoint_send_at(const struct endpoint *endpoint, uint32_t slot)
{
	return (size_t)(endpoint->end->receives + slot) * endpoint->end->stride;
}

static inline size_t
endpoint_target_at(const struct endpoint *endpoint, uint32_t slot)
{
	return endpoint_send_at(endpoint, endpoint->end->load->depth + slot);
}

#define NOTICE_STRIDE 64 /* notices and confirmations are headers: message.h */

static inline size_t
endpoint_notice_at(const struct endpoint *endpoint, uint32_t slot)
{
	return endpoint_target_at(endpoint, endpoint->end->load->depth) +
	       (size_t)slot * NOTICE_STRIDE;
}

static inline void
endpoint_lock(struct endpoint *endpoint)
{
	if (endpoint->end->locked)
		pthread_mutex_lock(&endpoint->lock);
}

static inline void
endpoint_unlock(struct endpoint *endpoint)
{
	if (endpoint->end->locked)
		pthread_mutex_unlock(&endpoint->lock);
}

#endif
