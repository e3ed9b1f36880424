/* SPDX-License-Identifier: BSD-3-Clause */
#include "view.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include <dat2/udat.h>
#include <dat2/dat_upcall.h>

static const char *const names[VIEW_COLUMNS] = {
	[VIEW_DEPTH] = "depth",
	[VIEW_EVENTS] = "events",
	[VIEW_UPCALLS] = "upcalls",
	[VIEW_NOTIFIED] = "notified",
	[VIEW_ARMS] = "arms",
	[VIEW_SPURIOUS] = "spurious",
	[VIEW_RACES] = "races",
	[VIEW_STALLS] = "stalls",
	[VIEW_SLOW] = "slow",
};

const char *
view_column_name(int column)
{
	return names[column];
}

int
view_column(const char *name)
{
	for (int i = 0; i < VIEW_COLUMNS; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return -1;
}

const char *
view_sink(const struct evd_stats_row *stats)
{
	switch (stats->policy) {
	case DAT_UPCALL_SINGLE_INSTANCE:
		return "SINGLE";
	case DAT_UPCALL_MANY:
		return "MANY";
	case DAT_UPCALL_NORIFY:
		return "NOTIFY";
	default:
		return stats->has_cno ? "CNO" : "-";
	}
}

static void
fill_values(struct view_row *row)
{
	const struct evd_stats_row *s = &row->stats;

	row->value[VIEW_DEPTH] = s->depth;
	row->value[VIEW_EVENTS] = s->dto_events + s->connection_events + s->cr_events +
				  s->software_events + s->async_events;
	row->value[VIEW_UPCALLS] = s->upcalls;
	row->value[VIEW_NOTIFIED] = s->notifications;
	row->value[VIEW_ARMS] = s->arms;
	row->value[VIEW_SPURIOUS] = s->spurious;
	row->value[VIEW_RACES] = s->races;
	row->value[VIEW_STALLS] = s->rnr_stalls != EVD_STATS_UNKNOWN ? s->rnr_stalls : 0;
	row->value[VIEW_SLOW] = s->slow_upcalls;
}

/* Counts never decrease; what a process writes that is out of its mind gives 0. */
static void
fill_rates(struct view_row *row, const struct view_row *before, double seconds)
{
	for (int i = 0; i < VIEW_COLUMNS; i++) {
		const uint64_t was = before != NULL ? before->value[i] : 0;

		row->rate[i] = row->value[i] > was ? (double)(row->value[i] - was) / seconds : 0;
	}
	row->rate[VIEW_DEPTH] = (double)row->value[VIEW_DEPTH];
}

static int
compare_identity(const void *a, const void *b)
{
	const struct evd_stats_row *x = &((const struct view_row *)a)->stats;
	const struct evd_stats_row *y = &((const struct view_row *)b)->stats;

	if (x->evd != y->evd)
		return x->evd < y->evd ? -1 : 1;
	return (x->serial > y->serial) - (x->serial < y->serial);
}

struct order {
	int column;
	bool totals;
};

static int
compare_order(const void *a, const void *b, void *arg)
{
	const struct view_row *x = a, *y = b;
	const struct order *order = arg;
	const int c = order->column;

	if (c >= 0 && !order->totals && x->rate[c] != y->rate[c])
		return x->rate[c] > y->rate[c] ? -1 : 1;
	if (c >= 0 && x->value[c] != y->value[c])
		return x->value[c] > y->value[c] ? -1 : 1;
	return compare_identity(a, b);
}

void
view_sort(struct view *view, int column, bool totals)
{
	struct order order = { column, totals || !view->has_rates };

	if (view->count != 0)
		qsort_r(view->rows, view->count, sizeof *view->rows, compare_order, &order);
}

void
view_make(struct view *view, const struct page *pages, int count, const struct view *before)
{
	struct view_row *found, *sorted = NULL;
	size_t n = 0;
	double seconds;

	*view = (struct view){ .has_rates = before != NULL };
	for (int i = 0; i < count; i++) {
		n += pages[i].head.count;
		view->missing += pages[i].head.missing;
		if (pages[i].head.time_ns > view->time_ns)
			view->time_ns = pages[i].head.time_ns;
		if (pages[i].head.interval_ms > view->interval_ms)
			view->interval_ms = pages[i].head.interval_ms;
	}
	view->rows = calloc(n + 1, sizeof *view->rows);
	if (before != NULL)
		sorted = calloc(before->count + 1, sizeof *sorted);
	if (view->rows == NULL || (before != NULL && sorted == NULL))
		err(1, "no memory");
	if (before != NULL && before->count != 0) {
		memcpy(sorted, before->rows, before->count * sizeof *sorted);
		qsort(sorted, before->count, sizeof *sorted, compare_identity);
	}
	seconds = before != NULL && view->time_ns > before->time_ns ?
		      (double)(view->time_ns - before->time_ns) / 1e9 :
		      1;
	for (int i = 0; i < count; i++)
		for (size_t k = 0; k < pages[i].head.count; k++) {
			struct view_row *row = &view->rows[view->count++];

			row->stats = pages[i].rows[k];
			fill_values(row);
			found = before != NULL ? bsearch(row, sorted, before->count, sizeof *sorted,
						     compare_identity) :
						 NULL;
			fill_rates(row, found, seconds);
		}
	free(sorted);
}

void
view_free(struct view *view)
{
	free(view->rows);
	*view = (struct view){ .rows = NULL };
}
