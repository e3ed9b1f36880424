/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * print -- a report as text, or as an object of JSON on one line
 */
#ifndef SOFT_CHECK_PRINT_H
#define SOFT_CHECK_PRINT_H

#include "kind.h"
#include "queue.h"

#include <stdio.h>

void soft_print_text(FILE *stream, enum soft_kind kind, const struct soft_check_queue *queue,
    const struct soft_check_state *state, const char *what) REQUIRES(soft_check_locks.queue);
void soft_print_json(FILE *stream, enum soft_kind kind, const struct soft_check_queue *queue,
    const struct soft_check_state *state, const char *what) REQUIRES(soft_check_locks.queue);

/* The same of another object, which is about to be destroyed. */
void soft_print_object(FILE *stream, bool json, enum soft_kind kind, const char *object,
    const struct soft_site *destroying, const char *what);

#endif
