/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * context -- an opened device
 *
 * The consumer's close drops one reference, each object of the context holds another:
 * what the context holds goes with the last.  So does its memory, except that of the one
 * context that rdma ids share: rdma_get_devices() hands it out, and programs go on using
 * it when they own neither the list nor an id any more.  It comes to life again with its
 * next object.
 */
#ifndef SOFT_CONTEXT_H
#define SOFT_CONTEXT_H

#include "soft.h"

enum soft_personality {
	SOFT_STRICT,	 /* exactly the InfiniBand rule */
	SOFT_LATE,	 /* an event also for a completion that beat the request */
	SOFT_SPURIOUS,	 /* extra events now and then */
	SOFT_COALESCING, /* one event for several completions */
	SOFT_DELAYED,	 /* completions and events show up a little later */
};

/* What the program chose or the environment asks for; -EINVAL after a message on stderr. */
int soft_personality_from_environment(void);

/*
 * One object's part in its context's queue of asynchronous events.  Event types wait as
 * bits, so raising one never needs memory; a type raised twice before it was read is
 * reported once.  Guarded by the lock of the queue.
 */
struct soft_async_source {
	TAILQ_ENTRY(soft_async_source) link;
	void *element; /* struct ibv_cq, ibv_qp or ibv_srq; NULL: the device or its port */
	uint32_t pending;
	uint32_t delivered;
	bool dead;
};

struct soft_async_queue {
	pthread_mutex_t lock;
	TAILQ_HEAD(, soft_async_source) sources;
	int fd;
};

struct soft_context {
	struct verbs_context verbs;
	struct soft_async_queue async;
	struct soft_async_source device; /* events that belong to no object */
	enum soft_personality personality;
	unsigned int generation; /* of the process, see soft_runtime_generation() */
	LIST_ENTRY(soft_context) link; /* of runtime.c, while it is alive */
	bool permanent;
	unsigned int refs; /* guarded by verbs.context.mutex */
};

static inline struct soft_context *
soft_context_of(struct ibv_context *context)
{
	return soft_container_of(context, struct soft_context, verbs.context);
}

/* A context without a reference, or NULL with errno. */
struct soft_context *soft_context_new(bool permanent);

/* 0 or -errno: the first reference brings the context to life. */
int soft_context_get(struct soft_context *ctx);
void soft_context_put(struct soft_context *ctx);

/* async.c */
int soft_async_init(struct soft_async_queue *queue);
void soft_async_destroy(struct soft_async_queue *queue);
void soft_async_source_init(struct soft_async_source *source, void *element);
void soft_async_raise(struct soft_context *ctx, struct soft_async_source *source,
    enum ibv_event_type type);

/*
 * Drops what is queued for the source, refuses more, and returns how many events were
 * handed out: the caller waits until as many are acknowledged.
 */
uint32_t soft_async_retire(struct soft_context *ctx, struct soft_async_source *source);

/* verbs.c: fills the operations that programs reach through the structure. */
void soft_context_fill(struct soft_context *ctx);

/* In a forked child: the operations of the parent's context become errors. */
void soft_context_disown(struct soft_context *ctx);

#endif
