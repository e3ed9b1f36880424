/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * histogram -- counts of latencies, exact enough for percentiles and of constant size
 *
 * Values (nanoseconds) below 128 have a bucket each; above, every power of two is cut into
 * 64 buckets.  A percentile is thus at most 1/64 (1.6 %) above the value that a sorted list
 * would give, over the whole range of uint64_t, in 30 KiB.  min, max and sum are exact.
 */
#ifndef ISER_HISTOGRAM_H
#define ISER_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SUB_BITS 6
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

struct histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t min; /* meaningless while count is 0 */
	uint64_t max;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_clear(struct histogram *h);
void histogram_add(struct histogram *h, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);

/*
 * The value that `percent` (0 to 100) of all values do not exceed, rounded up to the end of
 * its bucket but never above the maximum; 0 when there are no values.
 */
uint64_t histogram_percentile(const struct histogram *h, double percent);

/* The largest value that is counted in the bucket. */
uint64_t histogram_bucket_end(unsigned int bucket);

#endif
