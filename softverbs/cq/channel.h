/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel -- a completion channel
 */
#ifndef SOFT_CHANNEL_H
#define SOFT_CHANNEL_H

#include "softverbs/device/context.h"
#include "softverbs/device/mutex.h"
#include "softverbs/device/ready.h"

struct soft_cq;

/*
 * A CQ with unread events is in the list once and counts them; the list and the readiness of the
 * descriptor change together under the lock.
 */
struct soft_channel {
	struct ibv_comp_channel ibv; /* refcnt, the CQs on it, is guarded by the lock */
	LIST_ENTRY(soft_channel) link GUARDED_BY(soft_locks.channels); /* of its context */
	struct soft_mutex lock;
	TAILQ_HEAD(, soft_cq) events GUARDED_BY(soft_locks.channel);
	struct soft_ready ready GUARDED_BY(soft_locks.channel);
	/* Its descriptor did not block when it was last looked at; only a hint. */
	atomic_bool nonblocking;
	/*
	 * Of a checker: the number of CQs that hold back completions of sends, or the events of
	 * these.
	 */
	atomic_uint holding_sends;
	/* Of a checker: how often the program asked for an event, did not wait, and got none. */
	atomic_uint asked;
	atomic_bool refused; /* a rule let the last call fail that asked for an event */
};

static inline struct soft_channel *
soft_channel_of(struct ibv_comp_channel *channel)
{
	return soft_container_of(channel, struct soft_channel, ibv);
}

void soft_channel_attach(struct soft_channel *channel) SOFT_NO_EVENT_LOCK;

/* Queues one event of the CQ; the caller holds the lock of the CQ. */
void soft_channel_post(struct soft_channel *channel, struct soft_cq *cq)
    REQUIRES(soft_locks.cq) SOFT_NO_EVENT_LOCK;

/* The same; it is the next event of the channel.  Events of several CQs have no order. */
void soft_channel_post_first(struct soft_channel *channel, struct soft_cq *cq)
    REQUIRES(soft_locks.cq) SOFT_NO_EVENT_LOCK;

/*
 * Removes the CQ, drops its unread events, and returns how many of its events were read: the
 * caller waits until as many are acknowledged.
 */
uint32_t soft_channel_detach(struct soft_channel *channel, struct soft_cq *cq) SOFT_NO_EVENT_LOCK;

/*
 * The device of the context was removed: each channel of it is readable from now on.  When the
 * events that it has were read, a call that asks for one fails with EIO, as that of a thread that
 * waits.
 */
void soft_channels_close(struct soft_context *ctx) SOFT_NO_EVENT_LOCK;

#endif
