/* SPDX-License-Identifier: BSD-3-Clause */
/* glib_rearm -- the callbacks of a loop of librearm without threads, in a GLib main context */
#ifndef GLIB_REARM_H
#define GLIB_REARM_H

#include <glib.h>
#include <rearm/rearm.h>

/* Attaches it; NULL is the default context.  The end: g_source_destroy() and g_source_unref(). */
GSource *glib_rearm_add(GMainContext *context, struct rearm_loop *loop);

#endif
