/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel.h"
#include "cq.h"
#include "soft/device/bell.h"

#include <stdlib.h>

/* A CQ with further events moves to the end, so that the others get their turn. */
static struct soft_cq *
channel_next(struct soft_channel *channel)
{
	struct soft_cq *cq;

	pthread_mutex_lock(&channel->lock);
	cq = TAILQ_FIRST(&channel->events);
	if (cq) {
		TAILQ_REMOVE(&channel->events, cq, link);
		cq->delivered++;
		if (--cq->unread)
			TAILQ_INSERT_TAIL(&channel->events, cq, link);
		else if (TAILQ_EMPTY(&channel->events))
			soft_bell_clear(channel->ibv.fd);
	}
	pthread_mutex_unlock(&channel->lock);
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
ibv_destroy_comp_channel(struct ibv_comp_channel *ibv)
{
	struct soft_channel *channel = soft_channel_of(ibv);
	struct soft_context *ctx = soft_context_of(ibv->context);
	int users;

	if (soft_context_is_stale(ctx))
		return 0;
	pthread_mutex_lock(&channel->lock);
	users = ibv->refcnt;
	pthread_mutex_unlock(&channel->lock);
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
	pthread_mutex_lock(&channel->lock);
	channel->ibv.refcnt++;
	pthread_mutex_unlock(&channel->lock);
}

void
soft_channel_post(struct soft_channel *channel, struct soft_cq *cq)
{
	pthread_mutex_lock(&channel->lock);
	if (cq->unread++ == 0)
		TAILQ_INSERT_TAIL(&channel->events, cq, link);
	soft_bell_ring(channel->ibv.fd);
	pthread_mutex_unlock(&channel->lock);
}

uint32_t
soft_channel_detach(struct soft_channel *channel, struct soft_cq *cq)
{
	uint32_t delivered;

	pthread_mutex_lock(&channel->lock);
	if (cq->unread) {
		cq->unread = 0;
		TAILQ_REMOVE(&channel->events, cq, link);
		if (TAILQ_EMPTY(&channel->events))
			soft_bell_clear(channel->ibv.fd);
	}
	channel->ibv.refcnt--;
	delivered = cq->delivered;
	pthread_mutex_unlock(&channel->lock);
	return delivered;
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
		if (soft_bell_wait(ibv->fd))
			return -1;
	*cq = &ready->ibv;
	*cq_context = ready->ibv.cq_context;
	return 0;
}

void
ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += nevents;
	pthread_cond_broadcast(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}
