/* SPDX-License-Identifier: BSD-3-Clause */
#include "result.h"

void
result_read(struct result *result, const struct end *end)
{
	*result = (struct result){
		.messages = end_measured(end),
		.elapsed = end->ended - end->began,
		.cpu = end->cpu.used,
		.process = end->cpu.process,
	};
	end_merge(end, &result->latencies);
}

/* The buckets that are not empty: their numbers and counts. */
static json_t *
result_pack_buckets(const struct histogram *h)
{
	json_t *buckets = json_array();

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (h->buckets[i])
			json_array_append_new(
			    buckets, json_pack("[I, I]", (json_int_t)i, (json_int_t)h->buckets[i]));
	return buckets;
}

json_t *
result_pack(const struct result *result)
{
	const struct histogram *h = &result->latencies;

	return json_pack("{s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I, s:o}}", "messages",
	    (json_int_t)result->messages, "elapsed_ns", (json_int_t)result->elapsed, "cpu_ns",
	    (json_int_t)result->cpu, "process_ns", (json_int_t)result->process, "latencies",
	    "count", (json_int_t)h->count, "sum", (json_int_t)h->sum, "min", (json_int_t)h->min,
	    "max", (json_int_t)h->max, "buckets", result_pack_buckets(h));
}

int
result_unpack(json_t *object, struct result *result)
{
	json_int_t messages, elapsed, cpu, process, count, sum, min, max, number, n;
	json_t *buckets, *bucket;
	size_t i;

	if (json_unpack(object, "{s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I, s:o}}", "messages",
		&messages, "elapsed_ns", &elapsed, "cpu_ns", &cpu, "process_ns", &process,
		"latencies", "count", &count, "sum", &sum, "min", &min, "max", &max, "buckets",
		&buckets))
		return -1;
	*result = (struct result){
		.messages = (uint64_t)messages,
		.elapsed = (uint64_t)elapsed,
		.cpu = (uint64_t)cpu,
		.process = (uint64_t)process,
		.latencies = {
			.count = (uint64_t)count,
			.sum = (uint64_t)sum,
			.min = (uint64_t)min,
			.max = (uint64_t)max,
		},
	};
	json_array_foreach(buckets, i, bucket)
	{
		if (json_unpack(bucket, "[I, I]", &number, &n) || number < 0 ||
		    number >= (json_int_t)HISTOGRAM_BUCKETS)
			return -1;
		result->latencies.buckets[number] = (uint64_t)n;
	}
	return 0;
}
