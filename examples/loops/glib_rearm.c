/* SPDX-License-Identifier: BSD-3-Clause */
#include "glib_rearm.h"

#include <errno.h>

enum { BUDGET = 64 };

struct glib_rearm {
	GSource source;
	struct rearm_loop *loop;
	gpointer tag;
	gint64 limit; /* a time in microseconds, -1: none */
};

static gboolean
glib_rearm_prepare(GSource *source, gint *timeout)
{
	struct glib_rearm *added = (struct glib_rearm *)source;

	if (rearm_loop_trywait(added->loop, timeout) == -EAGAIN)
		return TRUE;
	added->limit = *timeout < 0 ? -1 : g_get_monotonic_time() + *timeout * (gint64)1000;
	return FALSE;
}

static gboolean
glib_rearm_check(GSource *source)
{
	struct glib_rearm *added = (struct glib_rearm *)source;

	return g_source_query_unix_fd(source, added->tag) != 0 ||
	       (added->limit >= 0 && g_get_monotonic_time() >= added->limit);
}

static gboolean
glib_rearm_dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
	(void)callback;
	(void)data;
	(void)rearm_loop_dispatch(((struct glib_rearm *)source)->loop, BUDGET, 0);
	return G_SOURCE_CONTINUE;
}

GSource *
glib_rearm_add(GMainContext *context, struct rearm_loop *loop)
{
	static GSourceFuncs functions = {
		.prepare = glib_rearm_prepare,
		.check = glib_rearm_check,
		.dispatch = glib_rearm_dispatch,
	};
	GSource *source = g_source_new(&functions, sizeof(struct glib_rearm));
	struct glib_rearm *added = (struct glib_rearm *)source;

	added->loop = loop;
	added->limit = -1;
	added->tag = g_source_add_unix_fd(source, rearm_loop_fd(loop), G_IO_IN);
	g_source_attach(source, context);
	return source;
}
