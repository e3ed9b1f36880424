/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report -- what the user gets to see at the end
 */
#ifndef ISER_REPORT_H
#define ISER_REPORT_H

#include "iser/digest.h"
#include "iser/histogram.h"
#include "iser/datamover/watch.h"

#include <stdbool.h>
#include <stdio.h>

/* Sums with names; the first is what the others must equal. */
struct report_sum {
	const char *name;
	struct digest digest;
};

struct report_job {
	const char *name;
	uint64_t nanoseconds;
	const struct histogram *latency;
};

struct report_side {
	const char *name;
	const struct tally *tally;
};

#define REPORT_MAX 3

struct report {
	const char *source; /* what was copied */
	uint64_t bytes;
	unsigned int connections, queue_depth, block_bytes;
	const char *ia;
	struct report_sum sums[REPORT_MAX];
	unsigned int sum_count;
	struct report_job jobs[REPORT_MAX];
	unsigned int job_count;
	struct report_side sides[REPORT_MAX];
	unsigned int side_count;
};

bool report_sums_match(const struct report *report);

void report_print_sums(const struct report *report, FILE *out);
void report_print_table(const struct report *report, FILE *out);
void report_print_sides(const struct report_side *sides, unsigned int count, FILE *out);
void report_print_tally(const struct tally *tally, FILE *out); /* as JSON */
void report_print_json(const struct report *report, FILE *out);

/* "850 ns", "12.3 us", "4.56 ms", "1.23 s": four characters and the unit. */
const char *report_duration(uint64_t nanoseconds, char *text, size_t size);

#endif
