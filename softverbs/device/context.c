/* SPDX-License-Identifier: BSD-3-Clause */
#include "context.h"
#include "device.h"
#include "settings.h"

#include <stdlib.h>

static void
context_lock(struct soft_context *ctx) ACQUIRE(soft_locks.context) SOFT_NO_RUNTIME_LOCK UNCHECKED
{
	pthread_mutex_lock(&ctx->verbs.context.mutex);
}

static void
context_unlock(struct soft_context *ctx) RELEASE(soft_locks.context) UNCHECKED
{
	pthread_mutex_unlock(&ctx->verbs.context.mutex);
}

static int
context_activate(struct soft_context *ctx)
{
	int r = soft_runtime_open_context(ctx);

	if (r)
		return r;
	r = soft_async_open(&ctx->async);
	if (r < 0)
		return r;
	ctx->verbs.context.async_fd = r;
	soft_settings_read_memlock();
	soft_async_source_init(&ctx->device, NULL);
	ctx->device.port = SOFT_PORT;
	for (unsigned int i = 0; i < SOFT_DEVICE_PORTS_MAX; i++) {
		soft_async_source_init(&ctx->ports[i], NULL);
		ctx->ports[i].port = (uint8_t)(i + 1);
	}
	soft_runtime_attach(ctx);
	return 0;
}

/* No other thread knows the result. */
struct soft_context *
soft_context_create(unsigned int device, bool permanent) UNCHECKED
{
	struct soft_context *ctx = calloc(1, sizeof *ctx);

	if (!ctx)
		return NULL;
	ctx->permanent = permanent;
	ctx->generation = soft_runtime_mark();
	ctx->index = device;
	ctx->life = soft_device_life(device);
	soft_runtime_init_context(ctx);
	ctx->verbs.context.device = soft_device_at(device);
	ctx->verbs.context.async_fd = -1;
	pthread_mutex_init(&ctx->verbs.context.mutex, NULL);
	soft_mutex_init(&ctx->channels_lock);
	LIST_INIT(&ctx->channels);
	return ctx;
}

void
soft_context_free(struct soft_context *ctx)
{
	pthread_mutex_destroy(&ctx->verbs.context.mutex);
	soft_mutex_destroy(&ctx->channels_lock);
	free(ctx);
}

int
soft_context_get(struct soft_context *ctx)
{
	int state, r = 0;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state); /* a message may be printed */
	context_lock(ctx);
	if (!ctx->refs)
		r = context_activate(ctx);
	if (!r)
		ctx->refs++;
	context_unlock(ctx);
	pthread_setcancelstate(state, NULL);
	return r;
}

void
soft_context_put(struct soft_context *ctx)
{
	bool last, permanent;
	int state;

	/* Closing and joining are cancellation points. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	context_lock(ctx);
	last = --ctx->refs == 0;
	permanent = ctx->permanent;
	if (last) {
		soft_runtime_detach(ctx);
		soft_async_close(&ctx->async);
		ctx->verbs.context.async_fd = -1;
	}
	context_unlock(ctx);
	pthread_setcancelstate(state, NULL);
	if (last && !permanent)
		soft_context_free(ctx);
}

void
soft_context_let_go(struct soft_context *ctx)
{
	bool last;

	context_lock(ctx);
	ctx->permanent = false;
	last = !ctx->refs;
	context_unlock(ctx);
	if (last)
		soft_context_free(ctx);
}
