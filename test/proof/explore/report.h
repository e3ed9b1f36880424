/* SPDX-License-Identifier: BSD-3-Clause */
/* report -- a failure, a schedule and a trace as text */
#ifndef REARM_EXPLORE_REPORT_H
#define REARM_EXPLORE_REPORT_H

#include "scenario.h"
#include "sched.h"

void report_failure(const struct scenario *scenario, const char *spec, const char *failure);

/* The trace of the run just played, and the list that replays it. */
void report_trace(const struct scenario *scenario, const struct strategy *list);

/*
 * "list:" -- "rest:" when the loops sleep before it begins -- and its items, by commas:
 * FIBER.OP.PICK>FIBER, a choice; FIBER.POINT!CHOICE, a fault; -ACTOR.ACTION, an action left out.
 */
void report_list(
    const struct scenario *scenario, const struct strategy *list, char *text, size_t size);
void report_parse_list(const char *text, struct scenario *scenario, struct strategy *list);

extern bool report_whole; /* every point, not only the significant ones */

#endif
