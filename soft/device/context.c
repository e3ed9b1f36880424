/* SPDX-License-Identifier: BSD-3-Clause */
#include "context.h"
#include "device.h"
#include "runtime.h"

#include <stdlib.h>

struct soft_context *
soft_context_new(bool permanent)
{
	struct soft_context *ctx = calloc(1, sizeof *ctx);

	if (!ctx)
		return NULL;
	ctx->permanent = permanent;
	ctx->generation = soft_runtime_generation();
	soft_context_fill(ctx);
	ctx->verbs.context.device = soft_device();
	ctx->verbs.context.async_fd = -1;
	pthread_mutex_init(&ctx->verbs.context.mutex, NULL);
	return ctx;
}

static int
come_alive(struct soft_context *ctx)
{
	int personality = soft_personality_from_environment(), r;

	if (personality < 0)
		return personality;
	r = soft_async_init(&ctx->async);
	if (r)
		return r;
	soft_async_source_init(&ctx->device, NULL);
	ctx->verbs.context.async_fd = ctx->async.fd;
	ctx->personality = (enum soft_personality)personality;
	soft_runtime_enter(ctx);
	return 0;
}

int
soft_context_get(struct soft_context *ctx)
{
	int state, r = 0;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state); /* a message may be printed */
	pthread_mutex_lock(&ctx->verbs.context.mutex);
	if (!ctx->refs)
		r = come_alive(ctx);
	if (!r)
		ctx->refs++;
	pthread_mutex_unlock(&ctx->verbs.context.mutex);
	pthread_setcancelstate(state, NULL);
	return r;
}

void
soft_context_put(struct soft_context *ctx)
{
	bool last;
	int state;

	/* Closing and joining are cancellation points. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&ctx->verbs.context.mutex);
	last = --ctx->refs == 0;
	if (last) {
		soft_runtime_leave(ctx);
		soft_async_destroy(&ctx->async);
		ctx->verbs.context.async_fd = -1;
	}
	pthread_mutex_unlock(&ctx->verbs.context.mutex);
	pthread_setcancelstate(state, NULL);
	if (last && !ctx->permanent) {
		pthread_mutex_destroy(&ctx->verbs.context.mutex);
		free(ctx);
	}
}

bool
soft_context_stale(const struct soft_context *ctx)
{
	return ctx->generation != soft_runtime_generation();
}

struct ibv_context *
ibv_open_device(struct ibv_device *device)
{
	struct soft_context *ctx;
	int r;

	if (device != soft_device()) {
		errno = ENODEV;
		return NULL;
	}
	ctx = soft_context_new(false);
	if (!ctx)
		return NULL;
	r = soft_context_get(ctx);
	if (r) {
		pthread_mutex_destroy(&ctx->verbs.context.mutex);
		free(ctx);
		errno = -r;
		return NULL;
	}
	return &ctx->verbs.context;
}

int
ibv_close_device(struct ibv_context *context)
{
	struct soft_context *ctx = soft_context_of(context);

	if (!soft_context_stale(ctx))
		soft_context_put(ctx);
	return 0;
}
