/* SPDX-License-Identifier: BSD-3-Clause */
#include "sd_event_cno.h"

#include <sys/epoll.h>

static int
sd_event_cno_readable(sd_event_source *added, int fd, uint32_t events, void *source)
{
	(void)added;
	(void)fd;
	(void)events;
	cno_source_dispatch(source);
	return 0; /* a negative value would disable it */
}

int
sd_event_cno_add(sd_event *loop, sd_event_source **added, struct cno_source *source)
{
	return sd_event_add_io(loop, added, source->fd, EPOLLIN, sd_event_cno_readable, source);
}
