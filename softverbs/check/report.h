/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report -- prints what the checker found
 */
#ifndef SOFT_CHECK_REPORT_H
#define SOFT_CHECK_REPORT_H

#include "kind.h"
#include "queue.h"

/* What a program ends with that the checker ends. */
#define SOFT_CHECK_EXIT 99

/* The number of reports of this process. */
unsigned int soft_reports(void);

/*
 * Reports once of each queue and kind, unless incidents have made what is the evidence.  The caller
 * has looked at the queue; the text says what happened, in sentences.  No cancellation point.
 */
void soft_report(enum soft_kind kind, struct soft_check_queue *queue,
    const struct soft_check_state *state, const char *format, ...) REQUIRES(soft_check_locks.queue)
    EXCLUDES(soft_check_locks.report) __attribute__((format(printf, 4, 5)));

/* The same of an object that is no completion queue: its name, and where it is destroyed. */
void soft_report_object(
    enum soft_kind kind, const char *object, const struct soft_site *site, const char *format, ...)
    EXCLUDES(soft_check_locks.report) __attribute__((format(printf, 4, 5)));

/* Says that the program is ended, in a line and to softverbs-run. */
void soft_report_end(uint64_t waited) EXCLUDES(soft_check_locks.report);

/* In a forked child. */
void soft_reports_reset(void);

#endif
