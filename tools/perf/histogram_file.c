/* SPDX-License-Identifier: BSD-3-Clause */
/* histogram_file -- a histogram as text: a line for each bucket that is not empty */
#include "report.h"

#include "fail.h"

#include <stdio.h>

void
report_histogram(const char *name, const struct histogram *h)
{
	FILE *file = fopen(name, "we");
	uint64_t seen = 0;

	if (!file)
		fail_errno(name);
	fprintf(file, "# %llu latencies in ns, min %llu, max %llu, sum %llu\n",
	    (unsigned long long)h->count, (unsigned long long)h->min, (unsigned long long)h->max,
	    (unsigned long long)h->sum);
	fprintf(file, "# up to\tcount\tpercentile\n");
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!h->buckets[i])
			continue;
		seen += h->buckets[i];
		fprintf(file, "%llu\t%llu\t%.6f\n", (unsigned long long)histogram_bucket_end(i),
		    (unsigned long long)h->buckets[i], 100.0 * (double)seen / (double)h->count);
	}
	if (fclose(file))
		fail_errno(name);
}
