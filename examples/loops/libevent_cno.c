/* SPDX-License-Identifier: BSD-3-Clause */
#include "libevent_cno.h"

static void
libevent_cno_readable(evutil_socket_t fd, short what, void *source)
{
	(void)fd;
	(void)what;
	cno_source_dispatch(source);
}

struct event *
libevent_cno_add(struct event_base *base, struct cno_source *source)
{
	/* Persistent: it stays pending.  Without EV_ET it watches the level. */
	struct event *event =
	    event_new(base, source->fd, EV_READ | EV_PERSIST, libevent_cno_readable, source);

	if (event && event_add(event, NULL)) {
		event_free(event);
		event = NULL;
	}
	return event;
}
