/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report -- what is printed, or written, of an outcome
 */
#ifndef PERF_REPORT_H
#define PERF_REPORT_H

#include "run.h"

/* Fails if a file cannot be written. */
void report(const struct options *options, const struct outcome *outcome);

/* A new object with all of it. */
json_t *report_pack(const struct options *options, const struct outcome *outcome);

/* The latencies: those of the server in a stream; NULL: none were measured. */
const struct histogram *report_latencies(
    const struct options *options, const struct outcome *outcome);

/* histogram_file.c: a line for each bucket that is not empty. */
void report_histogram(const char *name, const struct histogram *latencies);

/* plot.c: by gnuplot. */
void report_plot(
    const char *name, const struct options *options, const struct histogram *latencies);

#endif
