/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * figures-perf -- what dat_perf prints, apart from the engines
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dat2/dat_version.h>
#include <dat2/udat.h>

#include "tools/perf/fail.h"
#include "tools/perf/report.h"
#include "tools/perf/run.h"

#include "test/tools/figures.h"

const struct engine engine_dat = { .name = "dat" }, engine_verbs = { .name = "verbs" };

void
fail(const char *format, ...)
{
	fprintf(stderr, "fail(%s)\n", format);
	exit(1);
}

void
fail_errno(const char *what)
{
	fail("%s", what);
}

uint64_t
end_measured(const struct end *end)
{
	(void)end;
	return 77;
}

void
end_merge(const struct end *end, struct histogram *all)
{
	(void)end;
	histogram_add(all, 5);
}

static void
add(struct histogram *h, uint64_t value, int times)
{
	while (times--)
		histogram_add(h, value);
}

/* 1,001 values, and the percentiles 10, 20, 30 and 40, all of them `more`. */
static struct histogram
latencies_from(uint64_t more)
{
	struct histogram h;

	histogram_clear(&h);
	add(&h, 3 + more, 1);
	add(&h, 10 + more, 505);
	add(&h, 20 + more, 402);
	add(&h, 30 + more, 85);
	add(&h, 40 + more, 7);
	add(&h, 50 + more, 1);
	return h;
}

/* The client measures round trips, the server messages; a read is the client's own. */
static struct outcome
measured(void)
{
	return (struct outcome){
		.client = { .messages = 1000,
		    .elapsed = 2000000000,
		    .cpu = 3000000,
		    .process = 15000000,
		    .latencies = latencies_from(0) },
		.server = { .messages = 999,
		    .elapsed = 4000000000,
		    .cpu = 5000000,
		    .process = 17000000,
		    .latencies = latencies_from(60) },
		.same_clock = true,
	};
}

static struct options
asked(void)
{
	return (struct options){
		.engine = &engine_dat,
		.adapter = "ad",
		.load = { .size = 4000,
		    .depth = 6,
		    .endpoints = 7,
		    .batch = 8,
		    .messages = 900,
		    .duration = 901,
		    .warm_up = 902,
		    .consumer = CONSUMER_WAIT },
	};
}

#define OF_THE_CLIENT \
	"latency          min       p50       p90       p99     p99.9       max   of %s%s\n" \
	"us              0.00      0.01      0.02      0.03      0.04      0.05\n"
#define OF_THE_SERVER \
	"latency          min       p50       p90       p99     p99.9       max   of %s%s\n" \
	"us              0.06      0.07      0.08      0.09      0.10      0.11\n"

void
perf_text(void)
{
	static const struct {
		enum traffic traffic;
		enum operation operation;
		const char *names, *kind;
		bool of_the_server, each_way;
	} rows[] = {
		{ TRAFFIC_PING, OPERATION_SEND, "ping of send", "a round trip", false, true },
		{ TRAFFIC_PING, OPERATION_WRITE, "ping of write", "a round trip", false, true },
		{ TRAFFIC_PING, OPERATION_READ, "ping of read", "a read", false, false },
		{ TRAFFIC_STREAM, OPERATION_SEND, "stream of send", "a message, to the server",
		    true, false },
		{ TRAFFIC_STREAM, OPERATION_WRITE, "stream of write", "a message, to the server",
		    true, false },
		{ TRAFFIC_STREAM, OPERATION_READ, "stream of read", "a read", false, false },
	};
	const struct outcome outcome = measured();
	struct options options;
	char expected[1024], latency[512];

	/* One and two processes, without and with a rate, over DAT and verbs. */
	for (int i = 0; i < 12; i++) {
		const bool two = i % 2, rate = i % 3 == 1, verbs = i % 4 > 1;
		const int k = i / 2;

		options = asked();
		options.client = two;
		options.load.rate = rate ? 4321 : 0;
		options.engine = verbs ? &engine_verbs : &engine_dat;
		options.load.traffic = rows[k].traffic;
		options.load.operation = rows[k].operation;
		options.load.endpoints = two ? 1 : 7;
		capture();
		report(&options, &outcome);
		if (rows[k].of_the_server)
			snprintf(latency, sizeof latency, OF_THE_SERVER, rows[k].kind,
			    rate ? ", from when it was due" : "");
		else
			snprintf(latency, sizeof latency, OF_THE_CLIENT, rows[k].kind,
			    rate ? ", from when it was due" : "");
		snprintf(expected, sizeof expected,
		    "%s, 4000 bytes, depth 6, %s, events by wait\nover %s, %s\n"
		    "%smessages   1000 in 2.000 s\nrate       500 messages/s%s\n"
		    "bandwidth  2.0 MB/s%s\nprocessor  client %s us, server %s us%s a message\n",
		    rows[k].names, two ? "1 endpoint" : "7 endpoints", verbs ? "verbs" : "dat ad",
		    two ? "two processes" : "one process", latency,
		    rate ? ", 4321 were asked for" : "", rows[k].each_way ? " each way" : "",
		    two ? "15.00" : "3.00", two ? "17.00" : "5.00",
		    two ? "" : ", other threads 7.00 us");
		check_text(rows[k].names, captured(), expected);
	}
}

/* origin: out33.H4 */
void
perf_json(void)
{
	static const struct {
		const char *path;
		double one, two, stream; /* processes; a stream of one */
	} rows[] = {
		{ "processes", 1, 2, 1 },
		{ "load/size", 4000, 4000, 4000 },
		{ "load/depth", 6, 6, 6 },
		{ "load/endpoints", 7, 7, 7 },
		{ "load/batch", 8, 8, 8 },
		{ "load/messages", 900, 900, 900 },
		{ "load/duration_ns", 901, 901, 901 },
		{ "load/warm_up", 902, 902, 902 },
		{ "load/rate", 0, 1.5, 0 },
		{ "messages", 1000, 1000, 1000 },
		{ "seconds", 2, 2, 2 },
		{ "rate", 500, 500, 500 },
		{ "bytes_per_second", 2000000, 2000000, 2000000 },
		{ "cpu_per_message/client_ns", 3000, 15000, 3000 },
		{ "cpu_per_message/server_ns", 5000, 17000, 5000 },
		{ "cpu_per_message/others_ns", 7000, NAN, 7000 },
		{ "latency/count", 1001, 1001, 1001 },
		{ "latency/min_ns", 3, 3, 63 },
		{ "latency/p50_ns", 10, 10, 70 },
		{ "latency/p90_ns", 20, 20, 80 },
		{ "latency/p99_ns", 30, 30, 90 },
		{ "latency/p99.9_ns", 40, 40, 100 },
		{ "latency/max_ns", 50, 50, 110 },
		{ "latency/mean_ns", 15973 / 1001.0, 15973 / 1001.0, 60 + 15973 / 1001.0 },
	};
	struct outcome outcome = measured();
	struct options options;
	json_t *object;
	double found, expected;

	for (int kind = 0; kind < 3; kind++) {
		options = asked();
		options.client = kind == 1;
		options.load.rate = kind == 1 ? 1.5 : 0;
		options.load.traffic = kind == 2 ? TRAFFIC_STREAM : TRAFFIC_PING;
		options.load.pin = kind == 1;
		object = report_pack(&options, &outcome);
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			expected = kind == 2 ? rows[i].stream : kind ? rows[i].two : rows[i].one;
			found = number_at(object, rows[i].path);
			check(fabs(found - expected) < 1e-6 || (isnan(found) && isnan(expected)),
			    "JSON %d: %s is %g, not %g", kind, rows[i].path, found, expected);
		}
		check(json_is_true(json_object_get(json_object_get(object, "load"), "pin")) ==
			  (kind == 1),
		    "JSON: pin");
		check_text("JSON: version", json_string_value(json_object_get(object, "version")),
		    REARM_VERSION);
		check_text(
		    "JSON: engine", json_string_value(json_object_get(object, "engine")), "dat");
		check_text(
		    "JSON: adapter", json_string_value(json_object_get(object, "adapter")), "ad");
		json_decref(object);
	}
	/*
	 * What has not been measured, and threads of both ends that have used more than the
	 * process.
	 */
	outcome.client.latencies.count = 0;
	outcome.client.elapsed = 0;
	outcome.client.process = 7000000;
	options = asked();
	options.engine = &engine_verbs;
	object = report_pack(&options, &outcome);
	check(json_is_null(json_object_get(object, "latency")),
	    "JSON: latencies that were not measured");
	check_text(
	    "JSON: adapter of verbs", json_string_value(json_object_get(object, "adapter")), "");
	check(number_at(object, "rate") == 0, "JSON: a rate of no time");
	check(number_at(object, "cpu_per_message/others_ns") == 0, "JSON: less than nothing");
	json_decref(object);
}

/* A line for each bucket, up to its end, with how many values are not above. */
void
perf_histogram(void)
{
	struct histogram h = latencies_from(0);
	char name[] = "test-figures-XXXXXX", found[512];
	const int fd = mkstemp(name);
	ssize_t n;

	histogram_add(&h, 1000);
	report_histogram(name, &h);
	n = read(fd, found, sizeof found - 1);
	found[n > 0 ? n : 0] = '\0';
	check_text("the file of a histogram", found,
	    "# 1002 latencies in ns, min 3, max 1000, sum 16973\n# up to\tcount\tpercentile\n"
	    "3\t1\t0.099800\n10\t505\t50.499002\n20\t402\t90.618762\n30\t85\t99.101796\n"
	    "40\t7\t99.800399\n50\t1\t99.900200\n1007\t1\t100.000000\n");
	close(fd);
	unlink(name);
}

/* An end sends its result and gets the load: each field comes to its place. */
void
perf_packed(void)
{
	static const char *const keys[] = { "messages", "elapsed_ns", "cpu_ns", "process_ns" },
				 *const latency_keys[] = { "count", "sum", "min", "max",
					 "buckets" };
	struct result result, again;
	json_t *object, *buckets;
	struct end end = { .began = 100, .ended = 350, .cpu = { .used = 11, .process = 12 } };

	result_read(&result, &end);
	check(result.messages == 77 && result.elapsed == 250 && result.cpu == 11 &&
		  result.process == 12 && result.latencies.count == 1,
	    "result_read()");
	result = measured().server;
	object = result_pack(&result);
	memset(&again, 0xff, sizeof again);
	check(result_unpack(object, &again) == 0 && !memcmp(&result, &again, sizeof result),
	    "a result that was sent");
	check(number_at(object, "elapsed_ns") == 4e9 && number_at(object, "cpu_ns") == 5e6 &&
		  number_at(object, "process_ns") == 17e6,
	    "the fields of a result");
	buckets = json_object_get(json_object_get(object, "latencies"), "buckets");
	json_array_append_new(
	    buckets, json_pack("[I, I]", (json_int_t)HISTOGRAM_BUCKETS - 1, (json_int_t)1));
	check(result_unpack(object, &again) == 0, "the last bucket");
	for (int n = -1; n <= HISTOGRAM_BUCKETS; n += HISTOGRAM_BUCKETS + 1) {
		json_array_remove(buckets, json_array_size(buckets) - 1);
		json_array_append_new(buckets, json_pack("[I, I]", (json_int_t)n, (json_int_t)1));
		check(result_unpack(object, &again) < 0, "bucket %d", n);
	}
	json_decref(object);
	for (size_t i = 0; i < 4 + 5; i++) {
		object = result_pack(&result);
		if (i < 4)
			json_object_del(object, keys[i]);
		else
			json_object_del(json_object_get(object, "latencies"), latency_keys[i - 4]);
		check(result_unpack(object, &again) < 0, "a result without field %zu", i);
		json_decref(object);
	}
}

void
perf_load(void)
{
	static const struct {
		uint32_t size, depth, endpoints, batch;
		double rate;
		bool valid;
	} rows[] = {
		{ 16, 1, 1, 1, 0, true },
		{ 1 << 24, 4096, 1024, 32, 1e9, true },
		{ 15, 1, 1, 1, 0, false },
		{ (1 << 24) + 1, 1, 1, 1, 0, false },
		{ 16, 0, 1, 1, 0, false },
		{ 16, 4097, 1, 1, 0, false },
		{ 16, 1, 0, 1, 0, false },
		{ 16, 1, 1025, 1, 0, false },
		{ 16, 1, 1, 0, 0, false },
		{ 16, 1, 1, 33, 0, false },
		{ 16, 1, 1, 1, -1, false },
	};
	static const struct {
		const char *name;
		json_int_t value;
	} wide[] = {
		{ "size", (1LL << 32) + 64 },
		{ "depth", (1LL << 32) + 1 },
		{ "endpoints", 1 - (1LL << 32) },
		{ "batch", (1LL << 32) + 1 },
		{ "messages", -1 },
		{ "duration_ns", -5 },
		{ "warm_up", -1 },
	};
	static const char *const traffics[] = { "ping", "stream" },
				 *const operations[] = { "send", "write", "read" },
				 *const consumers[] = { "dequeue", "dequeue_n", "wait",
					 "upcall-single", "upcall-many", "upcall-notify",
					 "upcall-array", "cno", "poll", "epoll" };
	struct load load, again;
	uint64_t sum;
	json_t *object;

	for (int i = 0; i < 10; i++) {
		load = (struct load){ .traffic = i % 2,
			.operation = i % 3,
			.consumer = i,
			.size = 16 + (uint32_t)i,
			.depth = 2,
			.endpoints = 3,
			.batch = 4,
			.messages = 5,
			.duration = 6,
			.warm_up = 7,
			.rate = 8.5,
			.pin = i % 2 };
		object = load_pack(&load);
		check_text("traffic", json_string_value(json_object_get(object, "traffic")),
		    traffics[i % 2]);
		check_text("operation", json_string_value(json_object_get(object, "operation")),
		    operations[i % 3]);
		check_text(
		    "events", json_string_value(json_object_get(object, "events")), consumers[i]);
		memset(&again, 0, sizeof again);
		check(load_unpack(object, &again) == 0 && again.traffic == load.traffic &&
			  again.operation == load.operation && again.consumer == load.consumer &&
			  again.size == load.size && again.depth == 2 && again.endpoints == 3 &&
			  again.batch == 4 && again.messages == 5 && again.duration == 6 &&
			  again.warm_up == 7 && again.rate == 8.5 && again.pin == load.pin,
		    "a load that was sent: %d", i);
		json_object_set_new(object, i % 3 ? i % 3 > 1 ? "events" : "operation" : "traffic",
		    json_string("other"));
		check(load_unpack(object, &again) < 0, "a word that is not known: %d", i);
		json_decref(object);
	}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		load = (struct load){ .size = rows[i].size,
			.depth = rows[i].depth,
			.endpoints = rows[i].endpoints,
			.batch = rows[i].batch,
			.rate = rows[i].rate };
		object = load_pack(&load);
		check((load_unpack(object, &again) == 0) == rows[i].valid, "limits: row %zu", i);
		json_decref(object);
	}
	/* What would be a good number in fewer bits. */
	for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
		load = (struct load){ .size = 16, .depth = 1, .endpoints = 1, .batch = 1 };
		object = load_pack(&load);
		check(load_unpack(object, &again) == 0, "good before %s", wide[i].name);
		json_object_set_new(object, wide[i].name, json_integer(wide[i].value));
		check(load_unpack(object, &again) < 0, "%s of 64 bits", wide[i].name);
		json_decref(object);
	}
	load.endpoints = 3;
	for (uint64_t messages = 0; messages < 8; messages++) {
		sum = 0;
		for (uint32_t i = 0; i < 3; i++) {
			const uint64_t share = load_share(&load, messages, i);

			check(share == messages / 3 || share == messages / 3 + 1, "a share");
			sum += share;
		}
		check(sum == messages, "the shares of %" PRIu64 " are %" PRIu64, messages, sum);
	}
}
