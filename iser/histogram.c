/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/histogram.h"

#include <string.h>

#define SUB_BUCKETS (1u << HISTOGRAM_SUB_BITS)

/*
 * The bucket's number is the value's exponent and the bits behind its leading one, read as
 * one integer; values with no bits to drop are their own bucket number.
 */
static unsigned int
bucket_of(uint64_t value)
{
	unsigned int drop;

	if (value < 2 * SUB_BUCKETS)
		return (unsigned int)value;
	drop = 63 - (unsigned int)__builtin_clzll(value) - HISTOGRAM_SUB_BITS;
	return (drop << HISTOGRAM_SUB_BITS) + (unsigned int)(value >> drop);
}

uint64_t
histogram_bucket_end(unsigned int bucket)
{
	unsigned int drop;
	uint64_t top;

	if (bucket < 2 * SUB_BUCKETS)
		return bucket;
	drop = (bucket >> HISTOGRAM_SUB_BITS) - 1;
	top = SUB_BUCKETS + (bucket & (SUB_BUCKETS - 1));
	return (top << drop) + ((UINT64_C(1) << drop) - 1);
}

void
histogram_clear(struct histogram *h)
{
	memset(h, 0, sizeof *h);
}

void
histogram_add(struct histogram *h, uint64_t value)
{
	if (h->count == 0 || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->count++;
	h->sum += value;
	h->buckets[bucket_of(value)]++;
}

void
histogram_merge(struct histogram *into, const struct histogram *from)
{
	if (from->count == 0)
		return;
	if (into->count == 0 || from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	into->count += from->count;
	into->sum += from->sum;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

uint64_t
histogram_percentile(const struct histogram *h, double percent)
{
	uint64_t rank, seen = 0;
	double exact;

	if (h->count == 0)
		return 0;
	if (percent <= 0)
		return h->min;
	exact = percent / 100 * (double)h->count;
	rank = (uint64_t)exact;
	if ((double)rank < exact || rank == 0)
		rank++;
	if (rank >= h->count)
		return h->max;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->buckets[i];
		if (seen >= rank) {
			uint64_t end = histogram_bucket_end(i);

			return end < h->max ? end : h->max;
		}
	}
	return h->max;
}
