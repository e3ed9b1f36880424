/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include "pdu.h"

#include <dat2/dat_version.h>

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CONNECTIONS 1024
#define MAX_BUFFER_BYTES (UINT64_C(8) << 30)
#define MIN_BLOCK_BYTES 512
#define DEFAULT_PORT 3260

enum {
	KEY_IA = 256,
	KEY_PROVIDER,
	KEY_TREE,
	KEY_DEVICE,
	KEY_SIZE,
	KEY_ADDRESS,
	KEY_ONCE,
	KEY_JSON,
	KEY_TIMEOUT,
};

#define OPTION_IA \
	{ \
		"ia", KEY_IA, "NAME", 0, "open the adapter NAME of dat.conf (rearm-soft)", 1 \
	}
#define OPTION_PROVIDER \
	{ \
		"provider", KEY_PROVIDER, "LIBRARY", 0, \
		    "load this provider; no dat.conf is needed", 1 \
	}
#define OPTION_ADDRESS \
	{ \
		"address", KEY_ADDRESS, "HOST", 0, \
		    "address of the target (the address of the adapter)", 1 \
	}
#define OPTION_PORT \
	{ \
		"port", 'p', "PORT", 0, "connection qualifier of the target (3260)", 1 \
	}
#define OPTION_TIMEOUT \
	{ \
		"timeout", KEY_TIMEOUT, "SECONDS", 0, \
		    "fail if nothing completes in this time (30)", 3 \
	}
#define OPTION_QUIET \
	{ \
		"quiet", 'q', NULL, 0, "print errors and the last line only", 3 \
	}
#define OPTION_JSON \
	{ \
		"json", KEY_JSON, NULL, 0, "print the report as one line of JSON", 3 \
	}
#define OPTIONS_LOAD \
	{ "file", 'f', "FILE", 0, "copy FILE instead of a tar of the tree", 2 }, \
	    { "tree", KEY_TREE, "DIRECTORY", 0, "the tree to make a tar of (/usr/include)", 2 }, \
	    { "connections", 'n', "N", 0, "copy over N connections (4)", 2 }, \
	    { "queue-depth", 'd', "Q", 0, "at most Q outstanding commands on each (16)", 2 }, \
	{ \
		"block-size", 'b', "BYTES", 0, "bytes per command, e.g. 64K (64K)", 2 \
	}

static void
print_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "%s (rearm) %s\n", program_invocation_short_name, REARM_VERSION);
}

void (*argp_program_version_hook)(FILE *, struct argp_state *) = print_version;

static const struct argp_option copy_options[] = {
	OPTION_IA,
	OPTION_PROVIDER,
	OPTION_ADDRESS,
	{ "port", 'p', "PORT", 0, "connection qualifier (the first free one from 3260 on)", 1 },
	OPTIONS_LOAD,
	{ "device", KEY_DEVICE, "FILE", 0, "the target stores its data in FILE", 2 },
	{ "runs", 'r', "K", 0, "copy K times, from opening to closing the adapters (1)", 3 },
	OPTION_TIMEOUT,
	OPTION_QUIET,
	OPTION_JSON,
	{ 0 },
};

static const struct argp_option target_options[] = {
	OPTION_IA,
	OPTION_PROVIDER,
	OPTION_PORT,
	{ "size", KEY_SIZE, "BYTES", 0, "size of the device, e.g. 1G (as the logins request)", 2 },
	{ "once", KEY_ONCE, NULL, 0, "end when the first initiator has logged out", 2 },
	OPTION_QUIET,
	{ 0 },
};

static const struct argp_option initiator_options[] = {
	OPTION_IA,
	OPTION_PROVIDER,
	OPTION_ADDRESS,
	OPTION_PORT,
	OPTIONS_LOAD,
	OPTION_TIMEOUT,
	OPTION_QUIET,
	OPTION_JSON,
	{ 0 },
};

int
options_parse_size(const char *text, uint64_t limit, uint64_t *ret_size)
{
	static const char suffixes[] = "KMGT";
	unsigned long long number;
	unsigned int shift = 0;
	const char *suffix;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno)
		return -ERANGE;
	if (*end) {
		suffix = strchr(suffixes, toupper((unsigned char)*end));
		if (!suffix || end[1])
			return -EINVAL;
		shift = 10 * (unsigned int)(suffix - suffixes + 1);
	}
	if (number > limit >> shift)
		return -ERANGE;
	*ret_size = (uint64_t)number << shift;
	return 0;
}

static uint64_t
parse_number(
    struct argp_state *state, const char *option, const char *text, uint64_t least, uint64_t most)
{
	uint64_t value = 0;

	if (options_parse_size(text, most, &value) || value < least)
		argp_error(state, "--%s takes a number from %llu to %llu, not \"%s\"", option,
		    (unsigned long long)least, (unsigned long long)most, text);
	return value;
}

static void
parse_address(struct argp_state *state, struct options *options, const char *text)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	int r = getaddrinfo(text, NULL, &hints, &found);

	if (r) {
		argp_error(state, "--address \"%s\": %s", text, gai_strerror(r));
		return;
	}
	options->addresses = found;
}

DAT_IA_ADDRESS_PTR
options_address(const struct options *options, int family)
{
	for (const struct addrinfo *at = options->addresses; at; at = at->ai_next)
		if (at->ai_family == family)
			return at->ai_addr;
	return options->addresses ? options->addresses->ai_addr : NULL;
}

static void
check_all(struct argp_state *state, const struct options *options)
{
	uint64_t buffers =
	    (uint64_t)options->connections * (options->queue_depth + 1) * options->block_bytes;

	if (options->block_bytes % MIN_BLOCK_BYTES)
		argp_error(state, "--block-size must be a multiple of %u", MIN_BLOCK_BYTES);
	if ((uint64_t)options->queue_depth * options->block_bytes > PDU_MAX_QUEUE_BYTES)
		argp_error(state,
		    "--queue-depth x --block-size is more than %llu MiB: lower one of them",
		    (unsigned long long)(PDU_MAX_QUEUE_BYTES >> 20));
	if (buffers > MAX_BUFFER_BYTES)
		argp_error(state,
		    "%u connections x %u commands x %u bytes would register %llu MiB of memory: "
		    "lower one of them",
		    options->connections, options->queue_depth, options->block_bytes,
		    (unsigned long long)(buffers >> 20));
	if (strlen(options->ia) == 0 || strpbrk(options->ia, " \t\n\"\\#"))
		argp_error(state, "--ia \"%s\" cannot be the name of an adapter", options->ia);
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_IA:
		options->ia = arg;
		break;
	case KEY_PROVIDER:
		options->provider = arg;
		break;
	case 'p':
		options->port = (uint16_t)parse_number(state, "port", arg, 1, 65535);
		break;
	case KEY_ADDRESS:
		parse_address(state, options, arg);
		break;
	case 'f':
		options->file = arg;
		break;
	case KEY_TREE:
		options->tree = arg;
		break;
	case KEY_DEVICE:
		options->device = arg;
		break;
	case KEY_SIZE:
		options->size = parse_number(state, "size", arg, 1, INT64_MAX);
		break;
	case 'n':
		options->connections =
		    (uint32_t)parse_number(state, "connections", arg, 1, MAX_CONNECTIONS);
		break;
	case 'd':
		options->queue_depth =
		    (uint32_t)parse_number(state, "queue-depth", arg, 1, PDU_MAX_QUEUE_DEPTH);
		break;
	case 'b':
		options->block_bytes = (uint32_t)parse_number(
		    state, "block-size", arg, MIN_BLOCK_BYTES, PDU_MAX_BLOCK_BYTES);
		break;
	case 'r':
		options->runs = (uint32_t)parse_number(state, "runs", arg, 1, 1000000);
		break;
	case KEY_TIMEOUT:
		options->timeout = (uint32_t)parse_number(state, "timeout", arg, 1, 86400);
		break;
	case KEY_ONCE:
		options->once = true;
		break;
	case 'q':
		options->quiet = true;
		break;
	case KEY_JSON:
		options->json = true;
		break;
	case ARGP_KEY_ARG:
		/* Only the target names its file without an option: it cannot do without. */
		if (options->device || options->program != OPTIONS_TARGET)
			argp_error(state, "\"%s\" is one argument too many", arg);
		options->device = arg;
		break;
	case ARGP_KEY_END:
		if (options->program == OPTIONS_TARGET && !options->device)
			argp_error(state, "which FILE is to be served?");
		check_all(state, options);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp programs[] = {
	[OPTIONS_COPY] = {
		.options = copy_options,
		.parser = parse_option,
		.doc = "Copy a file to an iSER-style target and back, both in this process, and "
		       "compare.\v"
		       "Exit status: 0 if all sums match and every object was freed, 1 if "
		       "not, 64 for a wrong command line.",
	},
	[OPTIONS_TARGET] = {
		.options = target_options,
		.parser = parse_option,
		.args_doc = "FILE",
		.doc = "Serve FILE as a block device to iser-initiator.\v"
		       "FILE is created when it does not exist.  Ends on SIGINT or SIGTERM, or "
		       "after the first initiator with --once, and prints the SHA-256 of FILE.",
	},
	[OPTIONS_INITIATOR] = {
		.options = initiator_options,
		.parser = parse_option,
		.doc = "Copy a file to the device of an iser-target and back, and compare.\v"
		       "Exit status: 0 if the sums match and every object was freed, 1 if "
		       "not, 64 for a wrong command line.",
	},
};

void
options_parse(struct options *options, enum options_program program, int argc, char **argv)
{
	*options = (struct options){
		.program = program,
		.ia = "rearm-soft",
		.tree = "/usr/include",
		.connections = 4,
		.queue_depth = 16,
		.block_bytes = 64 << 10,
		.port = program == OPTIONS_COPY ? 0 : DEFAULT_PORT,
		.runs = 1,
		.timeout = 30,
	};
	argp_err_exit_status = 64;
	argp_parse(&programs[program], argc, argv, 0, NULL, options);
}
