/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel.h"
#include "cq.h"
#include "judge.h"
#include "soft/device/bell.h"
#include "soft/wire/input.h"

#include <stdlib.h>

static void
channel_lock(struct soft_channel *channel) ACQUIRE(soft_locks.channel) SOFT_NO_PEERS_LOCK UNCHECKED
{
	pthread_mutex_lock(&channel->lock);
}

static void
channel_unlock(struct soft_channel *channel) RELEASE(soft_locks.channel) UNCHECKED
{
	pthread_mutex_unlock(&channel->lock);
}

/* A CQ with further events moves to the end, so that the others get their turn. */
static struct soft_cq *
channel_next(struct soft_channel *channel) SOFT_NO_EVENT_LOCK
{
	struct soft_cq *cq;

	channel_lock(channel);
	cq = TAILQ_FIRST(&channel->events);
	if (cq) {
		TAILQ_REMOVE(&channel->events, cq, link);
		cq->delivered++;
		if (--cq->unread)
			TAILQ_INSERT_TAIL(&channel->events, cq, link);
		else if (TAILQ_EMPTY(&channel->events))
			soft_bell_clear(channel->ibv.fd);
	}
	channel_unlock(channel);
	return cq;
}

struct ibv_comp_channel *
ibv_create_comp_channel(struct ibv_context *context)
{
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
	channel->ibv.fd = soft_bell_open();
	if (channel->ibv.fd < 0) {
		r = -errno;
		goto free_channel;
	}
	channel->ibv.context = context;
	pthread_mutex_init(&channel->lock, NULL);
	TAILQ_INIT(&channel->events);
	return &channel->ibv;

free_channel:
	free(channel);
put_context:
	soft_context_put(ctx);
fail:
	errno = -r;
	return NULL;
}

int
ibv_destroy_comp_channel(struct ibv_comp_channel *ibv) SOFT_NO_EVENT_LOCK
{
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
	soft_close(ibv->fd);
	pthread_mutex_destroy(&channel->lock);
	free(channel);
	soft_context_put(ctx);
	return 0;
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
	if (cq->unread++ == 0)
		TAILQ_INSERT_TAIL(&channel->events, cq, link);
	soft_bell_ring(channel->ibv.fd);
	channel_unlock(channel);
}

void
soft_channel_post_first(struct soft_channel *channel, struct soft_cq *cq)
{
	channel_lock(channel);
	if (cq->unread++)
		TAILQ_REMOVE(&channel->events, cq, link);
	TAILQ_INSERT_HEAD(&channel->events, cq, link);
	soft_bell_ring(channel->ibv.fd);
	channel_unlock(channel);
}

uint32_t
soft_channel_unread(struct soft_channel *channel, const struct soft_cq *cq)
{
	uint32_t unread;

	channel_lock(channel);
	unread = cq->unread;
	channel_unlock(channel);
	return unread;
}

uint32_t
soft_channel_detach(struct soft_channel *channel, struct soft_cq *cq)
{
	uint32_t delivered;

	channel_lock(channel);
	if (cq->unread) {
		cq->unread = 0;
		TAILQ_REMOVE(&channel->events, cq, link);
		if (TAILQ_EMPTY(&channel->events))
			soft_bell_clear(channel->ibv.fd);
	}
	channel->ibv.refcnt--;
	delivered = cq->delivered;
	channel_unlock(channel);
	return delivered;
}

/* As soft_bell_wait(); the caller then reads what other processes send, too. */
static int
channel_wait(int fd) SOFT_NO_INPUT_LOCK
{
	if (!soft_peers_linked())
		return soft_bell_wait(fd);
	if (!soft_bell_is_blocking(fd))
		return -1;
	return soft_input_wait(fd);
}

int
ibv_get_cq_event(struct ibv_comp_channel *ibv, struct ibv_cq **cq, void **cq_context)
{
	struct soft_channel *channel = soft_channel_of(ibv);
	struct soft_cq *ready;

	if (soft_context_is_stale(soft_context_of(ibv->context))) {
		errno = EIO;
		return -1;
	}
	while (!(ready = channel_next(channel)))
		if (channel_wait(ibv->fd)) {
			channel->asked++;
			return -1;
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
	if (soft_cq_of(cq)->judged)
		soft_judge->acknowledging(soft_cq_of(cq), nevents);
	soft_completed_lock(&cq->mutex);
	cq->comp_events_completed += nevents;
	pthread_cond_broadcast(&cq->cond);
	soft_completed_unlock(&cq->mutex);
}
