/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"
#include "drivers.h"

#include "epoll_cno.h"
#ifdef HAVE_LIBEVENT
#include "libevent_cno.h"
#endif
#ifdef HAVE_LIBUV
#include "libuv_cno.h"
#endif
#ifdef HAVE_GLIB
#include "glib_cno.h"
#endif
#ifdef HAVE_LIBSYSTEMD
#include "sd_event_cno.h"
#endif

#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static void
check(const char *call, int succeeded)
{
	if (!succeeded)
		errx(1, "%s failed", call);
}

/* ---- epoll: the loop is its descriptor ---- */

static int
epoll_of(void *loop)
{
	return (int)(intptr_t)loop;
}

static void *
epoll_open(void)
{
	const int epoll = epoll_create1(EPOLL_CLOEXEC);

	check("epoll_create1", epoll >= 0);
	return (void *)(intptr_t)epoll;
}

static void
epoll_close(void *loop)
{
	close(epoll_of(loop));
}

static void *
epoll_add(void *loop, struct cno_source *source)
{
	check("epoll_cno_add", !epoll_cno_add(epoll_of(loop), source));
	return source;
}

static void
epoll_remove(void *loop, void *added)
{
	check("epoll_cno_remove", !epoll_cno_remove(epoll_of(loop), added));
}

static void
epoll_turn(void *loop)
{
	struct epoll_event ready[8];
	const int n = epoll_wait(epoll_of(loop), ready, 8, -1);

	check("epoll_wait", n > 0 || errno == EINTR);
	for (int i = 0; i < n; i++)
		epoll_cno_dispatch(&ready[i]);
}

/* ---- libevent ---- */

#ifdef HAVE_LIBEVENT
static void *
libevent_open(void)
{
	struct event_base *base = event_base_new();

	check("event_base_new", base != NULL);
	return base;
}

static void
libevent_close(void *loop)
{
	event_base_free(loop);
}

static void *
libevent_add(void *loop, struct cno_source *source)
{
	struct event *event = libevent_cno_add(loop, source);

	check("libevent_cno_add", event != NULL);
	return event;
}

static void
libevent_remove(void *loop, void *added)
{
	(void)loop;
	event_free(added);
}

static void
libevent_turn(void *loop)
{
	check("event_base_loop", event_base_loop(loop, EVLOOP_ONCE) == 0);
}
#endif

/* ---- libuv ---- */

#ifdef HAVE_LIBUV
static void *
libuv_open(void)
{
	uv_loop_t *loop = malloc(sizeof *loop);

	check("uv_loop_init", loop && !uv_loop_init(loop));
	return loop;
}

static void
libuv_close(void *loop)
{
	check("uv_run", !uv_run(loop, UV_RUN_DEFAULT)); /* frees the handles that were removed */
	check("uv_loop_close", !uv_loop_close(loop));
	free(loop);
}

static void *
libuv_add(void *loop, struct cno_source *source)
{
	uv_poll_t *poll = libuv_cno_add(loop, source);

	check("libuv_cno_add", poll != NULL);
	return poll;
}

static void
libuv_remove(void *loop, void *added)
{
	(void)loop;
	libuv_cno_remove(added);
}

static void
libuv_turn(void *loop)
{
	check("uv_run", uv_run(loop, UV_RUN_ONCE));
}
#endif

/* ---- GLib ---- */

#ifdef HAVE_GLIB
static void *
glib_open(void)
{
	return g_main_context_new();
}

static void
glib_close(void *loop)
{
	g_main_context_unref(loop);
}

static void *
glib_add(void *loop, struct cno_source *source)
{
	return glib_cno_add(loop, source);
}

static void
glib_remove(void *loop, void *added)
{
	(void)loop;
	g_source_destroy(added);
	g_source_unref(added);
}

static void
glib_turn(void *loop)
{
	g_main_context_iteration(loop, TRUE);
}
#endif

/* ---- sd-event ---- */

#ifdef HAVE_LIBSYSTEMD
static void *
sd_open(void)
{
	sd_event *loop;

	check("sd_event_new", sd_event_new(&loop) >= 0);
	return loop;
}

static void
sd_close(void *loop)
{
	sd_event_unref(loop);
}

static void *
sd_add(void *loop, struct cno_source *source)
{
	sd_event_source *added;

	check("sd_event_cno_add", sd_event_cno_add(loop, &added, source) >= 0);
	return added;
}

static void
sd_remove(void *loop, void *added)
{
	(void)loop;
	sd_event_source_disable_unref(added);
}

static void
sd_turn(void *loop)
{
	check("sd_event_run", sd_event_run(loop, UINT64_MAX) >= 0);
}
#endif

const struct driver drivers[] = {
	{ "epoll", epoll_open, epoll_close, epoll_add, epoll_remove, epoll_turn },
#ifdef HAVE_LIBEVENT
	{ "libevent", libevent_open, libevent_close, libevent_add, libevent_remove, libevent_turn },
#endif
#ifdef HAVE_LIBUV
	{ "libuv", libuv_open, libuv_close, libuv_add, libuv_remove, libuv_turn },
#endif
#ifdef HAVE_GLIB
	{ "GLib", glib_open, glib_close, glib_add, glib_remove, glib_turn },
#endif
#ifdef HAVE_LIBSYSTEMD
	{ "sd-event", sd_open, sd_close, sd_add, sd_remove, sd_turn },
#endif
	{ .name = NULL },
};
