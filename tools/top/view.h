/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view -- the EVDs of a process as they are shown: counts since their creation, and since the view
 * before
 */
#ifndef TOP_VIEW_H
#define TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "page.h"

/* The columns that are numbers. */
enum view_column {
	VIEW_DEPTH,
	VIEW_EVENTS,
	VIEW_UPCALLS,
	VIEW_NOTIFIED,
	VIEW_ARMS,
	VIEW_SPURIOUS,
	VIEW_RACES,
	VIEW_STALLS,
	VIEW_SLOW,
	VIEW_COLUMNS
};

struct view_row {
	struct evd_stats_row stats;
	uint64_t value[VIEW_COLUMNS]; /* since the EVD was created; the depth is what it is now */
	/* a second, since the view before; the depth is what it is now */
	double rate[VIEW_COLUMNS];
};

struct view {
	struct view_row *rows;
	size_t count;
	uint64_t missing; /* EVDs that are not among them */
	uint64_t time_ns, interval_ms;
	bool has_rates; /* there was a view before */
};

/* The column of that name, in small letters, or -1. */
int view_column(const char *name);
const char *view_column_name(int column);

/* The rows of all pages.  `before` may be NULL. */
void view_make(struct view *view, const struct page *pages, int count, const struct view *before);
void view_free(struct view *view);

/* The largest first, by rates if there are any and `totals` is not set; -1: by the EVD. */
void view_sort(struct view *view, int column, bool totals);

/* What takes the events: a policy, "CNO", or "" for threads. */
const char *view_sink(const struct evd_stats_row *stats);

#endif
