/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * context -- an opened device
 *
 * The consumer's close drops one reference, each object of the context holds another.  When the
 * last reference is dropped, the descriptor, the thread and the memory of the context are released.
 * The one context that all rdma ids share is permanent: its memory stays, because
 * rdma_get_devices() returns it and programs use it after they have freed the list and destroyed
 * their ids.  It becomes active again with its next object.  After the removal of its device it is
 * permanent until no id and no list has it; see cm/shared.c.
 */
#ifndef SOFT_CONTEXT_H
#define SOFT_CONTEXT_H

#include "async.h"
#include "changes.h"
#include "mutex.h"
#include "runtime.h"

struct soft_personality;

struct soft_context {
	struct verbs_context verbs;
	struct soft_async_queue async;
	/* Events that belong to no object: of the device, and of its ports. */
	struct soft_async_source device, ports[SOFT_DEVICE_PORTS_MAX];
	const struct soft_personality *personality; /* see cq/personality.h */
	unsigned int generation;       /* of the process, see soft_runtime_generation() */
	unsigned int index, life;      /* of the device, when it was opened; see changes.h */
	LIST_ENTRY(soft_context) link; /* of runtime.c, while it is active */
	struct soft_mutex channels_lock;
	LIST_HEAD(, soft_channel) channels GUARDED_BY(soft_locks.channels);
	/* Guarded by verbs.context.mutex: */
	bool permanent;
	unsigned int refs;
	/* Of one that rdma ids share: the default domain of the ids, and how many have it. */
	struct {
		struct ibv_pd *pd; /* while there are ids */
		unsigned int users GUARDED_BY(soft_locks.shared);
		LIST_ENTRY(soft_context) link; /* of those whose device was removed */
	} shared;
	/* That there are, which ibv_query_device() limits. */
	atomic_uint pds, cqs, srqs, qps, mrs, mws, ahs;
};

/* Counts one object more of a kind, of which there may be so many: 0 or -ENOMEM. */
static inline int
soft_context_count(atomic_uint *count, int limit)
{
	const unsigned int most = (unsigned int)limit;

	if (atomic_fetch_add(count, 1) < most)
		return 0;
	atomic_fetch_sub(count, 1);
	return -ENOMEM;
}

static inline struct soft_context *
soft_context_of(struct ibv_context *context)
{
	return soft_container_of(context, struct soft_context, verbs.context);
}

/* True in an object that was inherited over fork(): the device belongs to the parent. */
static inline bool
soft_context_is_stale(const struct soft_context *ctx)
{
	return ctx->generation != soft_runtime_generation();
}

/* The device was removed, or failed, after it was opened; it may be there again. */
static inline bool
soft_context_is_removed(const struct soft_context *ctx)
{
	return __builtin_expect(ctx->life != soft_device_life(ctx->index), false);
}

/* It has its last event, once: the removal or failure that it ended by is the latest one. */
static inline bool
soft_context_ends(const struct soft_context *ctx)
{
	return ctx->life + 1 == soft_device_life(ctx->index);
}

/* A context without a reference, of a device of the topology; or NULL with errno. */
struct soft_context *soft_context_create(unsigned int device, bool permanent);

/* Frees a context that never had a reference. */
void soft_context_free(struct soft_context *ctx);

/* 0 or -errno: the first reference makes the context active. */
int soft_context_get(struct soft_context *ctx) SOFT_NO_CONTEXT_LOCK;
void soft_context_put(struct soft_context *ctx) SOFT_NO_CONTEXT_LOCK;

/* One that was permanent is not any more. */
void soft_context_let_go(struct soft_context *ctx) EXCLUDES(soft_locks.context);

/* In a forked child: the operations of the parent's context return errors. */
void soft_context_disown(struct soft_context *ctx);

#endif
