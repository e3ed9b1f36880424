/* SPDX-License-Identifier: BSD-3-Clause */
#include "glib_cno.h"

#include <glib-unix.h>

static gboolean
glib_cno_readable(gint fd, GIOCondition condition, gpointer source)
{
	(void)fd;
	(void)condition;
	cno_source_dispatch(source);
	return G_SOURCE_CONTINUE;
}

GSource *
glib_cno_add(GMainContext *context, struct cno_source *source)
{
	GSource *watch = g_unix_fd_source_new(source->fd, G_IO_IN);

	g_source_set_callback(watch, G_SOURCE_FUNC(glib_cno_readable), source, NULL);
	g_source_attach(watch, context);
	return watch;
}
