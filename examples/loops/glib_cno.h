/* SPDX-License-Identifier: BSD-3-Clause */
/* glib_cno -- a CNO in a main context of GLib */
#ifndef LOOPS_GLIB_CNO_H
#define LOOPS_GLIB_CNO_H

#include "cno_source.h"

#include <glib.h>

/* `context` NULL is the default one.  g_source_destroy() and g_source_unref() remove it. */
GSource *glib_cno_add(GMainContext *context, struct cno_source *source);

#endif
