/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include "fail.h"

#include <dat2/dat_version.h>

#include <stdio.h>

static const struct {
	const char *name, *key;
	double percent;
} percentiles[] = {
	{ "p50", "p50_ns", 50 },
	{ "p90", "p90_ns", 90 },
	{ "p99", "p99_ns", 99 },
	{ "p99.9", "p99.9_ns", 99.9 },
};

#define PERCENTILES (sizeof percentiles / sizeof *percentiles)

const struct histogram *
report_latencies(const struct options *options, const struct outcome *outcome)
{
	const bool at_server =
	    options->load.traffic == TRAFFIC_STREAM && options->load.operation != OPERATION_READ;
	const struct histogram *h =
	    at_server ? &outcome->server.latencies : &outcome->client.latencies;

	return h->count ? h : NULL;
}

static double
report_rate(const struct outcome *outcome)
{
	const struct result *client = &outcome->client;

	return client->elapsed ? (double)client->messages * 1e9 / (double)client->elapsed : 0;
}

/* The processor time of an end for a message, in ns. */
static double
report_cpu(const struct options *options, const struct outcome *outcome, bool server)
{
	const struct result *result = server ? &outcome->server : &outcome->client;
	const uint64_t used = options->client ? result->process : result->cpu;

	return (double)used / (double)outcome->client.messages;
}

/* That of threads which work for both ends of a process. */
static double
report_cpu_others(const struct outcome *outcome)
{
	const uint64_t own = outcome->client.cpu + outcome->server.cpu;

	if (outcome->client.process < own)
		return 0;
	return (double)(outcome->client.process - own) / (double)outcome->client.messages;
}

static json_t *
report_pack_latencies(const struct histogram *h)
{
	json_t *latencies;

	if (!h)
		return json_null();
	latencies =
	    json_pack("{s:I, s:I}", "count", (json_int_t)h->count, "min_ns", (json_int_t)h->min);
	for (unsigned int i = 0; i < PERCENTILES; i++)
		json_object_set_new(latencies, percentiles[i].key,
		    json_integer((json_int_t)histogram_percentile(h, percentiles[i].percent)));
	json_object_set_new(latencies, "max_ns", json_integer((json_int_t)h->max));
	json_object_set_new(latencies, "mean_ns", json_real((double)h->sum / (double)h->count));
	return latencies;
}

static json_t *
report_pack_cpu(const struct options *options, const struct outcome *outcome)
{
	json_t *cpu = json_pack("{s:f, s:f}", "client_ns", report_cpu(options, outcome, false),
	    "server_ns", report_cpu(options, outcome, true));

	if (!options->client)
		json_object_set_new(cpu, "others_ns", json_real(report_cpu_others(outcome)));
	return cpu;
}

json_t *
report_pack(const struct options *options, const struct outcome *outcome)
{
	const double rate = report_rate(outcome);

	return json_pack("{s:s, s:s, s:s, s:i, s:o, s:I, s:f, s:f, s:f, s:o, s:o}", "version",
	    REARM_VERSION, "engine", options->engine->name, "adapter",
	    options->engine == &engine_dat ? options->adapter : "", "processes",
	    options->client ? 2 : 1, "load", load_pack(&options->load), "messages",
	    (json_int_t)outcome->client.messages, "seconds", (double)outcome->client.elapsed / 1e9,
	    "rate", rate, "bytes_per_second", rate * options->load.size, "cpu_per_message",
	    report_pack_cpu(options, outcome), "latency",
	    report_pack_latencies(report_latencies(options, outcome)));
}

static void
report_json(const struct options *options, const struct outcome *outcome)
{
	json_t *object = report_pack(options, outcome);

	if (!object || json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9)))
		fail("cannot write JSON");
	putchar('\n');
	json_decref(object);
}

static void
report_print_latencies(const struct options *options, const struct histogram *h)
{
	const struct load *load = &options->load;

	if (!h) {
		printf("latency    not measured: the ends are on different hosts\n");
		return;
	}
	printf("%-10s %9s", "latency", "min");
	for (unsigned int i = 0; i < PERCENTILES; i++)
		printf(" %9s", percentiles[i].name);
	printf(" %9s   of %s%s\n%-10s %9.2f", "max",
	    load->operation == OPERATION_READ ? "a read" :
	    load->traffic == TRAFFIC_PING     ? "a round trip" :
						"a message, to the server",
	    load->rate > 0 ? ", from when it was due" : "", "us", (double)h->min / 1e3);
	for (unsigned int i = 0; i < PERCENTILES; i++)
		printf(" %9.2f", (double)histogram_percentile(h, percentiles[i].percent) / 1e3);
	printf(" %9.2f\n", (double)h->max / 1e3);
}

static void
report_text(const struct options *options, const struct outcome *outcome)
{
	const struct load *load = &options->load;
	const double rate = report_rate(outcome);

	printf("%s of %s, %u bytes, depth %u, %u endpoint%s, events by %s\n",
	    load_traffics[load->traffic], load_operations[load->operation], load->size, load->depth,
	    load->endpoints, load->endpoints == 1 ? "" : "s", load_consumers[load->consumer]);
	printf("over %s%s%s, %s\n", options->engine->name,
	    options->engine == &engine_dat ? " " : "",
	    options->engine == &engine_dat ? options->adapter : "",
	    options->client ? "two processes" : "one process");
	report_print_latencies(options, report_latencies(options, outcome));
	printf("messages   %llu in %.3f s\n", (unsigned long long)outcome->client.messages,
	    (double)outcome->client.elapsed / 1e9);
	printf("rate       %.0f messages/s", rate);
	if (load->rate > 0)
		printf(", %.0f were asked for", load->rate);
	printf("\nbandwidth  %.1f MB/s%s\n", rate * load->size / 1e6,
	    load->traffic == TRAFFIC_PING && load->operation != OPERATION_READ ? " each way" : "");
	printf("processor  client %.2f us, server %.2f us",
	    report_cpu(options, outcome, false) / 1e3, report_cpu(options, outcome, true) / 1e3);
	if (!options->client)
		printf(", other threads %.2f us", report_cpu_others(outcome) / 1e3);
	printf(" a message\n");
}

void
report(const struct options *options, const struct outcome *outcome)
{
	const struct histogram *latencies = report_latencies(options, outcome);

	if (options->json)
		report_json(options, outcome);
	else
		report_text(options, outcome);
	if ((options->histogram || options->plot) && !latencies)
		fail("no latencies were measured: no histogram");
	if (options->histogram)
		report_histogram(options->histogram, latencies);
	if (options->plot)
		report_plot(options->plot, options, latencies);
}
