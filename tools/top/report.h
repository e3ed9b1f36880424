/* SPDX-License-Identifier: BSD-3-Clause */
/* report -- a view as a table, as JSON or as CSV */
#ifndef TOP_REPORT_H
#define TOP_REPORT_H

#include <stdio.h>

#include "process.h"
#include "view.h"

enum report_form { REPORT_TABLE, REPORT_JSON, REPORT_CSV };

struct report {
	enum report_form form;
	bool totals;  /* of a table: counts, also where rates are known */
	bool screen;  /* of a table: each one in the place of the one before */
	size_t lines; /* of a table, at most; 0: no limit but the screen's */
	bool begun;   /* the head of a CSV file was printed */
};

void report_view(struct report *report, const struct process *process, const struct view *view);
/* A line for each process: its view. */
void report_list(
    struct report *report, const struct process *processes, const struct view *views, size_t count);

#endif
