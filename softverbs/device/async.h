/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * async -- asynchronous events of the objects of a context
 *
 * Each object has a place for an event of each type: raising one needs no memory, so none is lost
 * for lack of memory.  A type that is raised again before it was read is reported once, where it
 * was raised last: after PORT_ERR and PORT_ACTIVE the port is active.
 */
#ifndef SOFT_ASYNC_H
#define SOFT_ASYNC_H

#include "ready.h"

struct soft_context;

#define SOFT_ASYNC_TYPES (IBV_EVENT_GID_CHANGE + 1)

/* One object's part in the queue of its context.  Guarded by the lock of the queue. */
struct soft_async_source {
	TAILQ_ENTRY(soft_async_source) link;
	void *element; /* struct ibv_cq, ibv_qp or ibv_srq; NULL: the device or a port */
	uint8_t port;
	uint8_t types[SOFT_ASYNC_TYPES] GUARDED_BY(soft_locks.async); /* that are raised */
	uint8_t pending GUARDED_BY(soft_locks.async);		      /* how many */
	uint32_t delivered GUARDED_BY(soft_locks.async);
	bool dead GUARDED_BY(soft_locks.async);
};

struct soft_async_queue {
	pthread_mutex_t lock;
	TAILQ_HEAD(, soft_async_source) sources GUARDED_BY(soft_locks.async);
	struct soft_ready ready GUARDED_BY(soft_locks.async);
};

/*
 * Locks the mutex of an ibv_cq, ibv_qp or ibv_srq, which guards the count of its acknowledged
 * events.
 */
static inline void
soft_completed_lock(pthread_mutex_t *mutex) ACQUIRE(soft_locks.completed) UNCHECKED
{
	pthread_mutex_lock(mutex);
}

static inline void
soft_completed_unlock(pthread_mutex_t *mutex) RELEASE(soft_locks.completed) UNCHECKED
{
	pthread_mutex_unlock(mutex);
}

/* How many events were acknowledged. */
static inline uint32_t
soft_completed_read(pthread_mutex_t *mutex, const uint32_t *completed) SOFT_NO_LEAF_LOCK
{
	uint32_t count;

	soft_completed_lock(mutex);
	count = *completed;
	soft_completed_unlock(mutex);
	return count;
}

/* The descriptor, or -errno. */
int soft_async_open(struct soft_async_queue *queue);
void soft_async_close(struct soft_async_queue *queue);

void soft_async_source_init(struct soft_async_source *source, void *element);
void soft_async_raise(struct soft_context *ctx, struct soft_async_source *source,
    enum ibv_event_type type) SOFT_NO_EVENT_LOCK;

/*
 * Removes the source from the queue and drops its events; later ones are ignored.  Returns how many
 * events were read: the caller waits until as many are acknowledged.
 */
uint32_t soft_async_source_fini(
    struct soft_context *ctx, struct soft_async_source *source) SOFT_NO_EVENT_LOCK;

#endif
