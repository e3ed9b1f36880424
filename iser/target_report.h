/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target_report -- what rearm-iser-target has done, as a table or as JSON
 */
#ifndef ISER_TARGET_REPORT_H
#define ISER_TARGET_REPORT_H

#include "iser/target_options.h"

#include <stdio.h>

/* After itarget_close(): the counters of the upcalls are complete then. */
void target_report_table(
    const struct program_options *options, const struct target *target, FILE *out);
void target_report_json(
    const struct program_options *options, const struct target *target, FILE *out);

#endif
