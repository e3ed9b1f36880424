/* SPDX-License-Identifier: BSD-3-Clause */
#include "libuv_cno.h"

#include <stdlib.h>

static void
libuv_cno_readable(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	cno_source_dispatch(poll->data);
}

static void
libuv_cno_free(uv_handle_t *handle)
{
	free(handle);
}

uv_poll_t *
libuv_cno_add(uv_loop_t *loop, struct cno_source *source)
{
	uv_poll_t *poll = malloc(sizeof *poll);

	if (!poll || uv_poll_init(loop, poll, source->fd)) {
		free(poll);
		return NULL;
	}
	poll->data = source;
	if (uv_poll_start(poll, UV_READABLE, libuv_cno_readable)) {
		libuv_cno_remove(poll);
		return NULL;
	}
	return poll;
}

void
libuv_cno_remove(uv_poll_t *poll)
{
	uv_close((uv_handle_t *)poll, libuv_cno_free);
}
