/* SPDX-License-Identifier: BSD-3-Clause */
/* libevent_cno -- a CNO in an event base of libevent */
#ifndef LOOPS_LIBEVENT_CNO_H
#define LOOPS_LIBEVENT_CNO_H

#include "cno_source.h"

#include <event2/event.h>

/* Returns an event that is pending, or NULL.  event_free() removes it. */
struct event *libevent_cno_add(struct event_base *base, struct cno_source *source);

#endif
