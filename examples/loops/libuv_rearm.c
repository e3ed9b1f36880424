/* SPDX-License-Identifier: BSD-3-Clause */
#include "libuv_rearm.h"

#include <errno.h>
#include <stdlib.h>

enum { BUDGET = 64, HANDLES = 5 };

/* The poll handle wakes the loop; the turn asks before it sleeps, and makes callbacks after it. */
struct libuv_rearm {
	struct rearm_loop *loop;
	uv_poll_t poll;
	uv_prepare_t prepare;
	uv_check_t check;
	uv_idle_t idle; /* active: the turn does not sleep */
	uv_timer_t timer;
	int open; /* handles */
};

static void
libuv_rearm_readable(uv_poll_t *poll, int status, int events)
{
	(void)poll;
	(void)status;
	(void)events;
}

static void
libuv_rearm_idle(uv_idle_t *idle)
{
	(void)idle;
}

static void
libuv_rearm_late(uv_timer_t *timer)
{
	(void)timer;
}

static void
libuv_rearm_prepare(uv_prepare_t *prepare)
{
	struct libuv_rearm *added = prepare->data;
	int timeout = -1;

	if (rearm_loop_trywait(added->loop, &timeout) == -EAGAIN)
		uv_idle_start(&added->idle, libuv_rearm_idle);
	else if (timeout >= 0)
		uv_timer_start(&added->timer, libuv_rearm_late, (uint64_t)timeout, 0);
}

static void
libuv_rearm_check(uv_check_t *check)
{
	struct libuv_rearm *added = check->data;

	uv_idle_stop(&added->idle);
	uv_timer_stop(&added->timer);
	(void)rearm_loop_dispatch(added->loop, BUDGET, 0);
}

static void
libuv_rearm_closed(uv_handle_t *handle)
{
	struct libuv_rearm *added = handle->data;

	if (--added->open == 0)
		free(added);
}

struct libuv_rearm *
libuv_rearm_add(uv_loop_t *uv, struct rearm_loop *loop)
{
	struct libuv_rearm *added = calloc(1, sizeof *added);

	if (!added || uv_poll_init(uv, &added->poll, rearm_loop_fd(loop))) {
		free(added);
		return NULL;
	}
	uv_prepare_init(uv, &added->prepare);
	uv_check_init(uv, &added->check);
	uv_idle_init(uv, &added->idle);
	uv_timer_init(uv, &added->timer);
	added->loop = loop;
	added->open = HANDLES;
	added->poll.data = added->prepare.data = added->check.data = added;
	added->idle.data = added->timer.data = added;
	uv_prepare_start(&added->prepare, libuv_rearm_prepare);
	uv_check_start(&added->check, libuv_rearm_check);
	if (uv_poll_start(&added->poll, UV_READABLE, libuv_rearm_readable)) {
		libuv_rearm_remove(added);
		return NULL;
	}
	return added;
}

void
libuv_rearm_remove(struct libuv_rearm *added)
{
	uv_close((uv_handle_t *)&added->poll, libuv_rearm_closed);
	uv_close((uv_handle_t *)&added->prepare, libuv_rearm_closed);
	uv_close((uv_handle_t *)&added->check, libuv_rearm_closed);
	uv_close((uv_handle_t *)&added->idle, libuv_rearm_closed);
	uv_close((uv_handle_t *)&added->timer, libuv_rearm_closed);
}
