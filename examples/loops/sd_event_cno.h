/* SPDX-License-Identifier: BSD-3-Clause */
/* sd_event_cno -- a CNO in an event loop of systemd */
#ifndef LOOPS_SD_EVENT_CNO_H
#define LOOPS_SD_EVENT_CNO_H

#include "cno_source.h"

#include <systemd/sd-event.h>

/* Returns 0 or a negative errno.  sd_event_source_disable_unref() removes *added. */
int sd_event_cno_add(sd_event *loop, sd_event_source **added, struct cno_source *source);

#endif
