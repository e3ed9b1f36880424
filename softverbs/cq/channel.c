/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel.h"
#include "cq.h"
#include "judge.h"
#include "softverbs/device/cancel.h"
#include "softverbs/wire/input.h"

#include <stdlib.h>

static void
channel_lock(struct soft_channel *channel) ACQUIRE(soft_locks.channel) SOFT_NO_PEERS_LOCK UNCHECKED
{
	soft_mutex_lock(&channel->lock);
}

static void
channel_unlock(struct soft_channel *channel) RELEASE(soft_locks.channel) UNCHECKED
{
	soft_mutex_unlock(&channel->lock);
}

static void
channel_lock_list(struct soft_context *ctx)
    ACQUIRE(soft_locks.channels) SOFT_NO_EVENT_LOCK UNCHECKED
{
	soft_mutex_lock(&ctx->channels_lock);
}

static void
channel_unlock_list(struct soft_context *ctx) RELEASE(soft_locks.channels) UNCHECKED
{
	soft_mutex_unlock(&ctx->channels_lock);
}

/* Its device was removed: there is nothing more to wait for. */
static bool
channel_is_closed(const struct soft_channel *channel)
{
	return soft_context_is_removed(soft_context_of(channel->ibv.context));
}

static void
channel_update(struct soft_channel *channel) REQUIRES(soft_locks.channel)
{
	soft_ready_update(
	    &channel->ready, !TAILQ_EMPTY(&channel->events) || channel_is_closed(channel));
}

static void
channel_wait_cancelled(
    struct soft_ready *ready, const struct soft_ready_wait *wait) SOFT_NO_EVENT_LOCK
{
	struct soft_channel *channel = soft_container_of(ready, struct soft_channel, ready);

	channel_lock(channel);
	soft_ready_end(&channel->ready, wait);
	channel_update(channel);
	channel_unlock(channel);
}

/*
 * The next event after a wait, or NULL: then the caller may wait.  A CQ with further events moves
 * to the end, so that the others get their turn.
 */
static struct soft_cq *
channel_next(struct soft_channel *channel, struct soft_ready_wait *wait) SOFT_NO_EVENT_LOCK
{
	struct soft_cq *cq;

	channel_lock(channel);
	soft_ready_end(&channel->ready, wait);
	cq = TAILQ_FIRST(&channel->events);
	if (cq) {
		TAILQ_REMOVE(&channel->events, cq, link);
		cq->delivered++;
		soft_counter_store(&cq->unread, soft_cq_unread(cq) - 1);
		if (soft_cq_unread(cq))
			TAILQ_INSERT_TAIL(&channel->events, cq, link);
	}
	channel_update(channel);
	*wait = soft_ready_begin(&channel->ready);
	channel_unlock(channel);
	return cq;
}

/* No other thread knows it. */
static int
channel_open(struct soft_channel *channel) UNCHECKED
{
	const int r = soft_ready_open(&channel->ready, channel_wait_cancelled);

	channel->ibv.fd = channel->ready.fd;
	return r;
}

struct ibv_comp_channel *
soft_ibv_create_comp_channel(struct ibv_context *context) UNCHECKED
{
	SOFT_UNCANCELLED;
	struct soft_context *ctx = soft_context_of(context);
	struct soft_channel *channel;
	int r = -EIO;

	if (soft_context_is_stale(ctx))
		goto fail;
	r = soft_context_get(ctx);
	if (r)
		goto fail;
	channel = calloc(1, sizeof *channel);
	r = -ENOMEM;
	if (!channel)
		goto put_context;
	r = channel_open(channel);
	if (r)
		goto free_channel;
	channel->ibv.context = context;
	soft_mutex_init(&channel->lock);
	TAILQ_INIT(&channel->events);
	channel_lock_list(ctx);
	LIST_INSERT_HEAD(&ctx->channels, channel, link);
	channel_unlock_list(ctx);
	return &channel->ibv;

free_channel:
	free(channel);
put_context:
	soft_context_put(ctx);
fail:
	errno = -r;
	return NULL;
}

static void
channel_close(struct soft_channel *channel) UNCHECKED
{
	soft_ready_close(&channel->ready);
	soft_mutex_destroy(&channel->lock);
}

int
soft_ibv_destroy_comp_channel(struct ibv_comp_channel *ibv) SOFT_NO_EVENT_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_channel *channel = soft_channel_of(ibv);
	struct soft_context *ctx = soft_context_of(ibv->context);
	int users;

	if (soft_context_is_stale(ctx))
		return 0;
	channel_lock(channel);
	users = ibv->refcnt;
	channel_unlock(channel);
	if (users)
		return EBUSY;
	channel_lock_list(ctx);
	LIST_REMOVE(channel, link);
	channel_unlock_list(ctx);
	channel_close(channel);
	free(channel);
	soft_context_put(ctx);
	return 0;
}

/*
 * The channel has got an event.  A thread that reads for it in ibv_get_cq_event() is there to take
 * one, and does what is left to do for others.
 */
static void
channel_announce(struct soft_channel *channel) REQUIRES(soft_locks.channel)
{
	if (!soft_input_reads_for(channel->ibv.fd))
		channel_update(channel);
}

void
soft_channel_attach(struct soft_channel *channel)
{
	channel_lock(channel);
	channel->ibv.refcnt++;
	channel_unlock(channel);
}

void
soft_channel_post(struct soft_channel *channel, struct soft_cq *cq)
{
	channel_lock(channel);
	if (!soft_cq_unread(cq))
		TAILQ_INSERT_TAIL(&channel->events, cq, link);
	soft_counter_store(&cq->unread, soft_cq_unread(cq) + 1);
	channel_announce(channel);
	channel_unlock(channel);
}

void
soft_channel_post_first(struct soft_channel *channel, struct soft_cq *cq)
{
	channel_lock(channel);
	if (soft_cq_unread(cq))
		TAILQ_REMOVE(&channel->events, cq, link);
	soft_counter_store(&cq->unread, soft_cq_unread(cq) + 1);
	TAILQ_INSERT_HEAD(&channel->events, cq, link);
	channel_announce(channel);
	channel_unlock(channel);
}

uint32_t
soft_channel_detach(struct soft_channel *channel, struct soft_cq *cq)
{
	uint32_t delivered;

	channel_lock(channel);
	if (soft_cq_unread(cq)) {
		soft_counter_store(&cq->unread, 0);
		TAILQ_REMOVE(&channel->events, cq, link);
		channel_update(channel);
	}
	channel->ibv.refcnt--;
	delivered = cq->delivered;
	channel_unlock(channel);
	return delivered;
}

void
soft_channels_close(struct soft_context *ctx)
{
	struct soft_channel *channel;

	channel_lock_list(ctx);
	LIST_FOREACH (channel, &ctx->channels, link) {
		channel_lock(channel);
		channel_update(channel);
		channel_unlock(channel);
	}
	channel_unlock_list(ctx);
}

static int
channel_read(struct soft_channel *channel, struct soft_ready_wait *wait) UNCHECKED
{
	return soft_ready_wait(&channel->ready, wait);
}

/*
 * Waits until there may be an event: 0, or -1 with errno.  A thread that waits for other processes
 * reads what they send, unless the descriptor does not block.  If the program has just made it
 * block, the thread waits without reading; the progress thread reads then.
 */
static int
channel_wait(struct soft_channel *channel, struct soft_ready_wait *wait) SOFT_NO_INPUT_LOCK
{
	const bool known = channel->nonblocking;
	const int r = known || !soft_peers_linked() ? channel_read(channel, wait) :
						      soft_input_wait(channel->ibv.fd);

	if (known != (r && errno == EAGAIN))
		channel->nonblocking = !known;
	return r;
}

int
soft_ibv_get_cq_event(struct ibv_comp_channel *ibv, struct ibv_cq **cq, void **cq_context)
{
	SOFT_CANCEL_POINT;
	struct soft_channel *channel = soft_channel_of(ibv);
	struct soft_ready_wait wait = { 0 };
	struct soft_cq *ready;

	if (soft_context_is_stale(soft_context_of(ibv->context))) {
		errno = EIO;
		return -1;
	}
	while (!(ready = channel_next(channel, &wait))) {
		if (channel_is_closed(channel)) {
			errno = EIO;
			return -1;
		}
		if (channel_wait(channel, &wait)) {
			channel->asked++;
			return -1;
		}
	}
	if (ready->judged)
		soft_judge->event(ready);
	*cq = &ready->ibv;
	*cq_context = ready->ibv.cq_context;
	return 0;
}

void
ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents) SOFT_NO_CQ_LOCK
{
	if (soft_context_is_stale(soft_context_of(cq->context)))
		return;
	if (soft_cq_of(cq)->judged)
		soft_judge->acknowledging(soft_cq_of(cq), nevents);
	soft_completed_lock(&cq->mutex);
	cq->comp_events_completed += nevents;
	pthread_cond_broadcast(&cq->cond);
	soft_completed_unlock(&cq->mutex);
}
