/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <dat2/dat_version.h>

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PORT 7174
#define DEFAULT_MESSAGES 100000
#define DEFAULT_WARM_UP 1000
#define DURATION_MAX 86400.0 /* s */
#define SPIN_MAX 1000000     /* us; dat.conf(5) */

enum {
	KEY_PROVIDER = 256,
	KEY_PARAMETERS,
	KEY_SPIN,
	KEY_ADDRESS,
	KEY_BATCH,
	KEY_PIN,
	KEY_TIMEOUT,
	KEY_JSON,
	KEY_HISTOGRAM,
	KEY_PLOT,
};

enum { GROUP_WHERE = 1, GROUP_LOAD, GROUP_EVENTS, GROUP_RESULT };

const char *argp_program_version = "dat_perf (rearm) " REARM_VERSION;

static const struct argp_option option_table[] = {
	{ 0, 0, 0, 0, "Where:", GROUP_WHERE },
	{ "server", 's', 0, 0, "serve one client in another process, and end", 0 },
	{ "adapter", 'a', "NAME", 0, "the adapter of dat.conf (rearm-soft)", 0 },
	{ "provider", KEY_PROVIDER, "LIBRARY", 0, "load this provider; no dat.conf is needed", 0 },
	{ "parameters", KEY_PARAMETERS, "TEXT", 0, "the parameters of the provider (lo 0)", 0 },
	{ "spin", KEY_SPIN, "US", 0,
	    "how long dat_evd_wait polls before it sleeps; without --provider for the software "
	    "device only",
	    0 },
	{ "engine", 'E', "NAME", 0, "dat, or verbs: loops over libibverbs (dat)", 0 },
	{ "address", KEY_ADDRESS, "HOST", 0, "the address of the adapter, for --engine=verbs", 0 },
	{ "port", 'p', "PORT", 0, "of the server (7174)", 0 },
	{ 0, 0, 0, 0, "What is sent:", GROUP_LOAD },
	{ "traffic", 't', "NAME", 0, "ping, each message is answered, or stream (ping)", 0 },
	{ "operation", 'o', "NAME", 0, "send, write or read (send)", 0 },
	{ "size", 'b', "BYTES", 0, "of a message, 64K for example (64)", 0 },
	{ "depth", 'd', "N", 0, "messages of an endpoint on their way (ping 1, stream 64)", 0 },
	{ "endpoints", 'n', "N", 0, "connections (1)", 0 },
	{ "messages", 'i', "N", 0, "how many are measured, of all endpoints (100000)", 0 },
	{ "duration", 'D', "SECONDS", 0, "for how long messages are measured instead", 0 },
	{ "warm-up", 'w', "N", 0, "messages before those (1000)", 0 },
	{ "rate", 'r', "N", 0,
	    "messages a second: sends on time whatever is answered, and measures from the time at "
	    "which a message was due",
	    0 },
	{ 0, 0, 0, 0, "How the events come:", GROUP_EVENTS },
	{ "events", 'e', "NAME", 0,
	    "dequeue, dequeue_n, wait, upcall-single, upcall-many, upcall-notify, upcall-array, "
	    "cno, "
	    "poll or epoll (wait)",
	    0 },
	{ "batch", KEY_BATCH, "N", 0, "events of a dequeue_n or an array upcall (16)", 0 },
	{ "pin", KEY_PIN, 0, 0,
	    "the client on the first processor that the process may use, the server on the second",
	    0 },
	{ 0, 0, 0, 0, "Results:", GROUP_RESULT },
	{ "json", KEY_JSON, 0, 0, "print an object of JSON", 0 },
	{ "histogram", KEY_HISTOGRAM, "FILE", 0, "write the latencies as a histogram", 0 },
	{ "plot", KEY_PLOT, "FILE", 0, "plot the latencies as SVG; needs gnuplot", 0 },
	{ "timeout", KEY_TIMEOUT, "SECONDS", 0, "fail if nothing arrives for so long (30)", 0 },
	{ 0 },
};

static uint64_t
parse_number(
    struct argp_state *state, const char *option, const char *text, uint64_t least, uint64_t most)
{
	static const char suffixes[] = "KMG";
	unsigned long long number;
	unsigned int shift = 0;
	const char *suffix;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	suffix = *end ? strchr(suffixes, toupper((unsigned char)*end)) : NULL;
	if (suffix) {
		shift = 10 * (unsigned int)(suffix - suffixes + 1);
		end++;
	}
	if (errno || *end || !isdigit((unsigned char)*text) || number > most >> shift ||
	    number << shift < least)
		argp_error(state, "--%s takes a number from %llu to %llu, not \"%s\"", option,
		    (unsigned long long)least, (unsigned long long)most, text);
	return number << shift;
}

static double
parse_real(struct argp_state *state, const char *option, const char *text, double most)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value <= 0 || value > most)
		argp_error(state, "--%s takes a number above 0 up to %.0f, not \"%s\"", option,
		    most, text);
	return value;
}

static int
parse_name(struct argp_state *state, const char *option, const char *text, const char *const *names)
{
	int i = load_find(names, text);

	if (i < 0)
		argp_error(state, "--%s: there is no \"%s\"; see --help", option, text);
	return i;
}

static void
parse_address(struct argp_state *state, struct options *options, const char *text)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	int r = getaddrinfo(text, NULL, &hints, &found);

	if (r) {
		argp_error(state, "\"%s\": %s", text, gai_strerror(r));
		return;
	}
	options->addresses = found;
}

/* A name, as localhost, has addresses of both families, and an adapter has one. */
bool
options_address(const struct options *options, int family, struct sockaddr_storage *address)
{
	const struct addrinfo *at = options->addresses;

	while (at && at->ai_family != family)
		at = at->ai_next;
	if (!at)
		at = options->addresses;
	if (at)
		memcpy(address, at->ai_addr, at->ai_addrlen);
	return at;
}

/* What does not go together. */
static void
check_all(struct argp_state *state, const struct options *options)
{
	const struct load *load = &options->load;

	if (options->server && options->client)
		argp_error(state, "a server has no HOST");
	if (!engine_has(options->engine, load->consumer))
		argp_error(state, "--engine=%s has no --events=%s", options->engine->name,
		    load_consumers[load->consumer]);
	if (load->messages && load->duration)
		argp_error(state, "--messages and --duration exclude each other");
	if (load->messages && load->messages < load->endpoints)
		argp_error(state, "--messages: at least one for each endpoint");
	if (load->operation == OPERATION_READ && load->traffic == TRAFFIC_PING && load->depth > 1)
		argp_error(
		    state, "--operation=read with more than one on its way is --traffic=stream");
	if ((options->parameters || options->spin >= 0) && options->engine == &engine_verbs)
		argp_error(state, "--engine=verbs has no provider");
	if (options->spin >= 0 && !options->provider && strcmp(options->adapter, "rearm-soft"))
		argp_error(state, "--spin needs --provider; or change the line of %s in dat.conf",
		    options->adapter);
	if (!*options->adapter || strpbrk(options->adapter, " \t\n\"\\#"))
		argp_error(
		    state, "--adapter: \"%s\" cannot be the name of an adapter", options->adapter);
}

static void
complete(struct options *options)
{
	struct load *load = &options->load;

	if (!load->depth)
		load->depth = load->traffic == TRAFFIC_PING ? 1 : 64;
	if (!load->messages && !load->duration)
		load->messages = DEFAULT_MESSAGES;
}

static error_t
parse_load(int key, char *arg, struct argp_state *state, struct load *load)
{
	switch (key) {
	case 't':
		load->traffic = (enum traffic)parse_name(state, "traffic", arg, load_traffics);
		break;
	case 'o':
		load->operation =
		    (enum operation)parse_name(state, "operation", arg, load_operations);
		break;
	case 'b':
		load->size =
		    (uint32_t)parse_number(state, "size", arg, LOAD_SIZE_MIN, LOAD_SIZE_MAX);
		break;
	case 'd':
		load->depth = (uint32_t)parse_number(state, "depth", arg, 1, LOAD_DEPTH_MAX);
		break;
	case 'n':
		load->endpoints =
		    (uint32_t)parse_number(state, "endpoints", arg, 1, LOAD_ENDPOINTS_MAX);
		break;
	case 'i':
		load->messages = parse_number(state, "messages", arg, 1, INT64_MAX / 2);
		break;
	case 'D':
		load->duration = (uint64_t)(1e9 * parse_real(state, "duration", arg, DURATION_MAX));
		break;
	case 'w':
		load->warm_up = parse_number(state, "warm-up", arg, 0, INT32_MAX);
		break;
	case 'r':
		load->rate = parse_real(state, "rate", arg, 1e9);
		break;
	case 'e':
		load->consumer = (enum consumer)parse_name(state, "events", arg, load_consumers);
		break;
	case KEY_BATCH:
		load->batch = (uint32_t)parse_number(state, "batch", arg, 1, LOAD_BATCH_MAX);
		break;
	case KEY_PIN:
		load->pin = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 's':
		options->server = true;
		break;
	case 'a':
		options->adapter = arg;
		break;
	case KEY_PROVIDER:
		options->provider = arg;
		break;
	case KEY_PARAMETERS:
		options->parameters = arg;
		break;
	case KEY_SPIN:
		options->spin = (int)parse_number(state, "spin", arg, 0, SPIN_MAX);
		break;
	case 'E':
		options->engine = engine_find(arg);
		if (!options->engine)
			argp_error(state, "--engine is dat or verbs, not \"%s\"", arg);
		break;
	case KEY_ADDRESS:
		parse_address(state, options, arg);
		break;
	case 'p':
		options->port = (unsigned int)parse_number(state, "port", arg, 1, 65535);
		break;
	case KEY_TIMEOUT:
		options->timeout = (unsigned int)parse_number(state, "timeout", arg, 1, 86400);
		break;
	case KEY_JSON:
		options->json = true;
		break;
	case KEY_HISTOGRAM:
		options->histogram = arg;
		break;
	case KEY_PLOT:
		options->plot = arg;
		break;
	case ARGP_KEY_ARG:
		if (options->client)
			argp_error(state, "\"%s\" is one argument too many", arg);
		options->client = true;
		parse_address(state, options, arg);
		break;
	case ARGP_KEY_END:
		complete(options);
		check_all(state, options);
		break;
	default:
		return parse_load(key, arg, state, &options->load);
	}
	return 0;
}

void
options_parse(struct options *options, int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse_option,
		.args_doc = "[HOST]",
		.doc = "Measure latency, rate and processor time of messages over an RDMA adapter."
		       "\vWithout --server and HOST both ends are in this process.  With HOST the "
		       "server is another dat_perf, which runs there.\n"
		       "Exit status: 0 if each message has arrived once and in order, 1 if not or "
		       "after another error, 2 for a wrong command line.  See dat_perf(1).",
	};

	*options = (struct options){
		.engine = &engine_dat,
		.adapter = "rearm-soft",
		.spin = -1,
		.port = DEFAULT_PORT,
		.timeout = 30,
		.load = {
			.consumer = CONSUMER_WAIT,
			.size = 64,
			.endpoints = 1,
			.batch = 16,
			.warm_up = DEFAULT_WARM_UP,
		},
	};
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, options);
}
