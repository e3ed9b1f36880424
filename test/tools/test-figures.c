/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test-figures -- what dat_perf and dat_top print of what was counted: each counter has a value of
 * its own, and each field must print its own; and how long the ends of dat_perf wait
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dat2/dat_upcall.h>
#include <dat2/dat_version.h>
#include <dat2/udat.h>

#include "tools/perf/control.h"
#include "tools/perf/fail.h"
#include "tools/perf/flow.h"
#include "tools/perf/report.h"
#include "tools/perf/run.h"
#include "tools/perf/work.h"
#include "tools/top/report.h"

static int passed, failed;

static void __attribute__((format(printf, 2, 3))) check(bool ok, const char *format, ...)
{
	va_list list;

	if (ok) {
		passed++;
		return;
	}
	failed++;
	va_start(list, format);
	fputs("FAIL  ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
}

static void
check_text(const char *what, const char *found, const char *expected)
{
	check(!strcmp(found, expected), "%s:\n%s\nexpected:\n%s", what, found, expected);
}

/* ---- what is printed */

static FILE *screen;
static char *text;
static size_t length;

static void
capture(void)
{
	free(text);
	text = NULL;
	screen = stdout;
	stdout = open_memstream(&text, &length);
}

static const char *
captured(void)
{
	fclose(stdout);
	stdout = screen;
	return text;
}

/* ---- of dat_perf: what it has apart from the engines */

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

static void
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

/* The numbers at a path of names, with slashes between them. */
static double
number_at(json_t *object, const char *path)
{
	char name[32];
	size_t n;

	for (; object && *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		snprintf(name, sizeof name, "%.*s", (int)n, path);
		object = json_object_get(object, name);
	}
	return json_is_number(object) ? json_number_value(object) : NAN;
}

/* origin: out33.H4 */
static void
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
static void
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
static void
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

static void
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

/* ---- of dat_top */

#define EACH_FIELD(do) \
	do \
	(serial) do(flags) do(length) do(depth) do(max_depth) do(dto_events) do(connection_events) do(cr_events) do(software_events) do(async_events) do(upcalls) do(notifications) do( \
	    spurious) do(arms) do(arm_failures) do(races) do(busy) do(overflows) do(rnr_stalls) do(waits) do(sleeps) do(dequeues) do(dequeued) do(polls) do(polls_found) do(slow_us) do(slow_upcalls)

/* Each counter is `from` and its place in the list. */
static struct dapl_stats_row
row_from(uint64_t evd, uint64_t from)
{
	struct dapl_stats_row row = { .evd = evd, .ia = evd + 1, .policy = DAT_UPCALL_DISABLE };

	strcpy(row.adapter, "a\"b");
#define SET(name) row.name = ++from;
	EACH_FIELD(SET)
#undef SET
	row.serial = 1;
	return row;
}

static struct page
page_of(struct dapl_stats_row *rows, uint64_t count, uint64_t time_ns, uint64_t interval)
{
	return (
	    struct page){ .head = { .count = count, .time_ns = time_ns, .interval_ms = interval },
		.rows = rows };
}

/* origin: out33.H4 */
static void
top_fields(void)
{
	const struct process process = { .pid = 4711, .command = "name" };
	struct dapl_stats_row row = row_from(0xe0, 100);
	struct page page = page_of(&row, 1, 222, 333);
	struct report report = { .form = REPORT_JSON };
	json_t *object, *evd;
	struct view view;
	char expected[2048];
	int n;

	page.head.missing = 444;
	view_make(&view, &page, 1, NULL);
	capture();
	report_view(&report, &process, &view);
	object = json_loads(captured(), 0, NULL);
	check(number_at(object, "pid") == 4711 && number_at(object, "time_ns") == 222 &&
		  number_at(object, "interval_ms") == 333 && number_at(object, "missing") == 444,
	    "JSON: the head: %s", text);
	evd = json_array_get(json_object_get(object, "evds"), 0);
	check_text("JSON: evd", json_string_value(json_object_get(evd, "evd")), "0xe0");
	check_text("JSON: ia", json_string_value(json_object_get(evd, "ia")), "0xe1");
	check_text("JSON: adapter", json_string_value(json_object_get(evd, "adapter")), "a\"b");
#define SAME(name) \
	check(number_at(evd, #name) == (double)row.name, "JSON: " #name " is %g, not %" PRIu64, \
	    number_at(evd, #name), row.name);
	EACH_FIELD(SAME)
#undef SAME
	check(json_object_size(evd) == 4 + 27, "JSON: %zu members", json_object_size(evd));
	json_decref(object);

	report = (struct report){ .form = REPORT_CSV };
	n = snprintf(expected, sizeof expected, "pid,time_ns,evd,ia,adapter,sink");
#define NAME(name) n += snprintf(expected + n, sizeof expected - (size_t)n, ",%s", #name);
	EACH_FIELD(NAME)
#undef NAME
	n += snprintf(
	    expected + n, sizeof expected - (size_t)n, "\n4711,222,0xe0,0xe1,\"a\"\"b\",-");
#define VALUE(name) n += snprintf(expected + n, sizeof expected - (size_t)n, ",%" PRIu64, row.name);
	EACH_FIELD(VALUE)
#undef VALUE
	snprintf(expected + n, sizeof expected - (size_t)n, "\n");
	capture();
	report_view(&report, &process, &view);
	check_text("CSV", captured(), expected);
	capture();
	report_view(&report, &process, &view);
	check_text("CSV, again: no head", captured(), strchr(expected, '\n') + 1);

	report = (struct report){ .form = REPORT_TABLE };
	capture();
	report_view(&report, &process, &view);
	/* The events: 106 to 110. */
	check_text("the table", captured(),
	    "4711 name: 1 EVDs (and some more), counts since their creation\n"
	    "EVD              ADAPTER      SINK       DEPTH    EVENTS   UPCALLS  NOTIFIED      "
	    "ARMS  "
	    "SPURIOUS     RACES    STALLS      SLOW\n"
	    "0xe0             a\"b          -            104       540       111       112       "
	    "114  "
	    "     113       116       119       127\n");
	view_free(&view);
	row.slow_us = 0;
	row.rnr_stalls = DAPL_STATS_UNKNOWN;
	row.upcalls = 9999999;
	row.arms = 10000000;
	row.races = 123456789012;
	row.spurious = 98765432100000;
	row.notifications = 12345678901234567;
	page.head.missing = 0;
	view_make(&view, &page, 1, NULL);
	capture();
	report_view(&report, &process, &view);
	check_text("the table: large numbers, and those that are not known", captured(),
	    "4711 name: 1 EVDs, counts since their creation\n"
	    "EVD              ADAPTER      SINK       DEPTH    EVENTS   UPCALLS  NOTIFIED      "
	    "ARMS  "
	    "SPURIOUS     RACES    STALLS      SLOW\n"
	    "0xe0             a\"b          -            104       540   9999999    12346T    "
	    "10000k  "
	    "  98765G   123457M         -         -\n");
	view_free(&view);
	capture();
	report = (struct report){ .form = REPORT_JSON };
	view_make(&view, &page, 1, NULL);
	report_view(&report, &process, &view);
	check(strstr(captured(), "\"rnr_stalls\":9223372036854775807,") != NULL,
	    "JSON: a number beyond 63 bits: %s", text);
	capture();
	report = (struct report){ .form = REPORT_CSV };
	report_view(&report, &process, &view);
	check(strstr(captured(), ",18446744073709551615,") != NULL, "CSV: the same: %s", text);
	view_free(&view);
}

static void
top_sinks(void)
{
	static const struct {
		uint64_t policy, has_cno;
		const char *name;
	} rows[] = {
		{ DAT_UPCALL_DISABLE, 0, "-" },
		{ DAT_UPCALL_DISABLE, 1, "CNO" },
		{ DAT_UPCALL_SINGLE_INSTANCE, 0, "SINGLE" },
		{ DAT_UPCALL_MANY, 0, "MANY" },
		{ DAT_UPCALL_NORIFY, 1, "NOTIFY" },
		{ DAT_UPCALL_TEARDOWN, 0, "-" },
		{ 99, 0, "-" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct dapl_stats_row row = { .policy = rows[i].policy,
			.has_cno = rows[i].has_cno };

		check_text("sink", view_sink(&row), rows[i].name);
	}
}

/* The handles of the rows, in their order. */
static const char *
order_of(const struct view *view)
{
	static char order[64];
	int n = 0;

	*order = '\0';
	for (size_t i = 0; i < view->count; i++)
		n += snprintf(
		    order + n, sizeof order - (size_t)n, "%" PRIx64 " ", view->rows[i].stats.evd);
	return order;
}

/* What each column has of a row with a 1 in one counter. */
static void
top_columns(void)
{
	static const char *const names[VIEW_COLUMNS] = { "depth", "events", "upcalls", "notified",
		"arms", "spurious", "races", "stalls", "slow" };
	struct dapl_stats_row rows[3];
	struct page page = page_of(rows, 3, 1, 1);
	struct view view;

	for (int column = 0; column < VIEW_COLUMNS; column++) {
		uint64_t *const counter[VIEW_COLUMNS] = { &rows[1].depth, &rows[1].cr_events,
			&rows[1].upcalls, &rows[1].notifications, &rows[1].arms, &rows[1].spurious,
			&rows[1].races, &rows[1].rnr_stalls, &rows[1].slow_upcalls };

		check(view_column(names[column]) == column, "--sort=%s", names[column]);
		for (int i = 0; i < 3; i++)
			rows[i] = row_from(0xa0 + (uint64_t)i, 0);
		*counter[column] += 5;
		view_make(&view, &page, 1, NULL);
		view_sort(&view, column, false);
		check_text(names[column], order_of(&view), "a1 a0 a2 ");
		view_sort(&view, -1, true);
		check_text("by the EVD", order_of(&view), "a0 a1 a2 ");
		view_free(&view);
	}
	check(view_column("evd") < 0 && view_column("") < 0, "no column");
}

/*
 * Two views: rates are of one EVD, found by its handle and its number, and of the time between
 * them.
 */
static void
top_rates(void)
{
	struct dapl_stats_row before[2], after[4];
	struct page pages[2] = { page_of(before, 2, 1000000000, 20),
		page_of(NULL, 0, 900000000, 50) };
	struct page then[2] = { page_of(after, 3, 3000000000, 30),
		page_of(after + 3, 1, 5000000000, 10) };
	const struct process process = { .pid = 4711, .command = "name" };
	struct report report = { .form = REPORT_TABLE };
	struct view first, second;
	const char *line;

	for (uint64_t i = 0; i < 2; i++)
		before[i] = row_from(0xb0 + i, 1000);
	for (uint64_t i = 0; i < 4; i++)
		after[i] = row_from(0xb0 + i, 1000);
	before[1].serial = 8;	/* of an EVD that is gone; another one has its handle */
	after[0].upcalls += 40; /* 10 a second */
	after[0].arms -= 40;
	after[3].depth = 3;
	pages[0].head.missing = 2;
	pages[1].head.missing = 3;
	view_make(&first, pages, 2, NULL);
	check(first.time_ns == 1000000000 && first.interval_ms == 50 && first.missing == 5 &&
		  !first.has_rates && first.count == 2,
	    "two pages");
	view_make(&second, then, 2, &first);
	check(second.time_ns == 5000000000 && second.interval_ms == 30 && !second.missing &&
		  second.has_rates && second.count == 4,
	    "two pages, later");
	check(second.rows[0].rate[VIEW_UPCALLS] == 10 && second.rows[0].rate[VIEW_RACES] == 0 &&
		  second.rows[0].rate[VIEW_ARMS] == 0 && second.rows[0].rate[VIEW_DEPTH] == 1004,
	    "rates of an EVD that was there: %g %g %g %g", second.rows[0].rate[VIEW_UPCALLS],
	    second.rows[0].rate[VIEW_RACES], second.rows[0].rate[VIEW_ARMS],
	    second.rows[0].rate[VIEW_DEPTH]);
	check(second.rows[1].rate[VIEW_UPCALLS] == 1011 / 4.0 &&
		  second.rows[3].rate[VIEW_UPCALLS] == 1011 / 4.0,
	    "rates of EVDs that are new: %g %g", second.rows[1].rate[VIEW_UPCALLS],
	    second.rows[3].rate[VIEW_UPCALLS]);
	view_sort(&second, VIEW_UPCALLS, false);
	check_text("by the rate", order_of(&second), "b1 b2 b3 b0 ");
	view_sort(&second, VIEW_UPCALLS, true);
	check_text("by the total", order_of(&second), "b0 b1 b2 b3 ");
	view_sort(&second, VIEW_DEPTH, false);
	check_text("by the depth", order_of(&second), "b0 b1 b2 b3 ");
	for (int totals = 0; totals < 2; totals++) {
		report.totals = totals;
		report.lines = 2;
		capture();
		report_view(&report, &process, &second);
		line = strchr(strchr(captured(), '\n') + 1, '\n') + 1;
		check(strstr(text, totals ? "4 EVDs, counts since their creation\n" :
					    "4 EVDs, counts a second\n") != NULL,
		    "what the counts are: %s", text);
		check(!strncmp(line, "0xb0 ", 5) && strstr(line, totals ? " 1051 " : " 10 ") &&
			  strstr(line, "0xb1 ") && !strstr(line, "0xb2 "),
		    "two lines: %s", text);
	}
	view_free(&second);
	/* No time has passed: counts are as of a second. */
	view_make(&second, pages, 1, &first);
	check(second.rows[0].rate[VIEW_UPCALLS] == 0 && second.has_rates, "at the same time");
	view_free(&second);
	view_free(&first);
}

static void
top_list(void)
{
	const struct process processes[2] = { { .pid = 7, .command = "seven" },
		{ .pid = 8, .command = "eight" } };
	struct dapl_stats_row rows[3] = { row_from(1, 0), row_from(2, 1000), row_from(3, 0) };
	const struct page pages[2] = { page_of(rows, 2, 1, 20), page_of(rows + 2, 1, 2, 30) };
	struct report report = { .form = REPORT_TABLE };
	struct view views[2];
	json_t *array;

	for (int i = 0; i < 2; i++)
		view_make(&views[i], &pages[i], 1, NULL);
	capture();
	report_list(&report, processes, views, 2);
	check_text("the list", captured(),
	    "     PID COMMAND            EVDS      EVERY       EVENTS      UPCALLS\n"
	    "       7 seven                 2      20 ms         5080         1022\n"
	    "       8 eight                 1      30 ms           40           11\n");
	report.form = REPORT_JSON;
	capture();
	report_list(&report, processes, views, 2);
	array = json_loads(captured(), 0, NULL);
	check(json_array_size(array) == 2 && number_at(json_array_get(array, 0), "pid") == 7 &&
		  number_at(json_array_get(array, 1), "interval_ms") == 30,
	    "the list as JSON: %s", text);
	json_decref(array);
	report.form = REPORT_CSV;
	capture();
	report_list(&report, processes, views, 2);
	check(!strncmp(captured(), "pid,", 4) && strstr(text, "\n7,1,0x1,") &&
		  strstr(text, "\n7,1,0x2,") && strstr(text, "\n8,2,0x3,"),
	    "the list as CSV: %s", text);
	for (int i = 0; i < 2; i++)
		view_free(&views[i]);
}

/* ---- how long an end waits for the other one */

/*
 * Nothing but run.c is real: the other end answers at once.  `waits` has each wait for it, with its
 * limit: of messages of the control connection ("receive") and requests for connections ("wire") in
 * milliseconds, of the traffic ("await") in seconds.
 */
static char waits[256];
static struct load peer_load;
static bool first_answer;

static void __attribute__((format(printf, 1, 2))) waited(const char *format, ...)
{
	const size_t used = strlen(waits);
	va_list list;

	va_start(list, format);
	vsnprintf(waits + used, sizeof waits - used, format, list);
	va_end(list);
}

void
control_open(struct control *control, const struct engine *engine, void *adapter)
{
	*control = (struct control){ .engine = engine, .adapter = adapter };
}

void
control_send(struct control *control, json_t *object)
{
	(void)control;
	json_decref(object);
}

json_t *
control_receive(struct control *control, int ms)
{
	static const struct result none;

	(void)control;
	waited("receive %d, ", ms);
	if (!first_answer)
		return json_pack("{s:[i, i], s:[i, i], s:o}", "sent", 0, 0, "arrived", 0, 0,
		    "result", result_pack(&none));
	first_answer = false;
	return json_pack("{s:i, s:o, s:s, s:i, s:i}", "protocol", 1, "load", load_pack(&peer_load),
	    "host", "", "address", 0, "key", 0);
}

void
control_await_close(struct control *control)
{
	(void)control;
	waited("close, ");
}

void
control_fini(struct control *control)
{
	(void)control;
}

void
end_open(struct end *end)
{
	end->endpoints = calloc(end->load->endpoints, sizeof *end->endpoints);
	if (!end->endpoints)
		abort();
}

void
end_close(struct end *end)
{
	free(end->endpoints);
}

struct wiring
end_wiring(const struct end *end)
{
	(void)end;
	return (struct wiring){ .receives = 1 };
}

void
end_post_receives(struct endpoint *endpoint)
{
	(void)endpoint;
}

void
flow_prepare(struct end *end)
{
	(void)end;
}

void
work_start(struct work *work, struct end *end)
{
	work->end = end;
}

void
work_await(struct work *work, unsigned int timeout)
{
	(void)work;
	waited("await %u, ", timeout);
}

static void *
fake_open(const struct options *options, bool server)
{
	(void)options, (void)server;
	return waits;
}

static unsigned int
fake_port(void *adapter)
{
	(void)adapter;
	return 1;
}

static void
fake_done(void *object)
{
	(void)object;
}

static void *
fake_wire(void *adapter, const struct wiring *wiring, struct greeting *greeting, int ms)
{
	(void)wiring, (void)greeting;
	waited("wire %d, ", ms);
	return adapter;
}

static void
listening(void *arg, unsigned int port)
{
	(void)arg, (void)port;
}

/* Each wait of both ends has the limit, but for the one in which a server has nothing to do. */
/* origin: out35.P34 */
static void
perf_waits(void)
{
	static const struct engine engine = { .consumers = ~0u,
		.open = fake_open,
		.port = fake_port,
		.close = fake_done,
		.wire = fake_wire,
		.join = fake_done };
	static const char *const
	    server = "receive 7000, wire 7000, wire 7000, await 7, receive 7000, close, ",
	    *const server_of_reads = "receive 7000, wire 7000, wire 7000, receive -1, close, ",
	    *const client = "receive 7000, wire 7000, wire 7000, await 7, receive 7000, ";
	struct options options = { .engine = &engine, .timeout = 7 };
	struct outcome outcome;

	for (int i = 0; i < 6; i++) {
		peer_load = (struct load){ .traffic = i % 2,
			.operation = i / 2,
			.size = 16,
			.depth = 1,
			.endpoints = 2,
			.batch = 1,
			.messages = 2 };
		first_answer = true;
		waits[0] = '\0';
		run_server(&options, listening, NULL);
		check_text(load_operations[i / 2], waits,
		    peer_load.operation == OPERATION_READ ? server_of_reads : server);
		first_answer = true;
		waits[0] = '\0';
		options.load = peer_load;
		run_client(&options, &outcome);
		check_text(load_operations[i / 2], waits, client);
	}
}

int
main(void)
{
	perf_waits();
	perf_text();
	perf_json();
	perf_histogram();
	perf_packed();
	perf_load();
	top_fields();
	top_sinks();
	top_columns();
	top_rates();
	top_list();
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
