/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/copy_options.h"

#include "iser/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PORT 3260
#define SCHEME "iser://"

enum {
	KEY_IA = 256,
	KEY_PROVIDER,
	KEY_AUTH,
	KEY_USER,
	KEY_NAME,
	KEY_TIMEOUT,
	KEY_VERIFY,
	KEY_JSON,
};

static const struct argp_option entries[] = {
	{ "connections", 'n', "N", 0, "copy over N sessions (4)", 1 },
	{ "queue-depth", 'd', "N", 0, "outstanding commands of a session (16)", 1 },
	{ "block-size", 'b', "BYTES", 0, "bytes of a command (256K)", 1 },
	{ "verify", KEY_VERIFY, NULL, 0, "read back what was written, and compare the sums", 1 },
	{ "auth-file", KEY_AUTH, "FILE", 0, "prove by CHAP the secret that FILE has for --user",
	    2 },
	{ "user", KEY_USER, "NAME", 0, "the name for CHAP", 2 },
	{ "initiator-name", KEY_NAME, "NAME", 0, "iSCSI name of this initiator", 2 },
	{ "ia", KEY_IA, "NAME", 0, "open the adapter NAME of dat.conf (rearm-soft)", 3 },
	{ "provider", KEY_PROVIDER, "LIBRARY", 0, "load this provider; no dat.conf is needed", 3 },
	{ "timeout", KEY_TIMEOUT, "SECONDS", 0, "give up if nothing moves in this time (30)", 3 },
	{ "quiet", 'q', NULL, 0, "print errors and sums only", 4 },
	{ "json", KEY_JSON, NULL, 0, "print the result as one line of JSON", 4 },
	{ 0 },
};

/* iser://HOST[:PORT]/NAME/LUN.  False if it is none. */
static bool
url_parse(struct copy_options *options, const char *url)
{
	const char *host, *name, *lun, *colon;
	size_t length;
	uint64_t number;

	if (strncmp(url, SCHEME, sizeof SCHEME - 1) != 0)
		return false;
	host = url + sizeof SCHEME - 1;
	name = strchr(host, '/');
	lun = name ? strrchr(name + 1, '/') : NULL;
	if (!lun || (size_t)(lun - name - 1) >= sizeof options->target || lun == name + 1)
		return false;
	colon = memchr(host, ':', (size_t)(name - host));
	if (host[0] == '[') {
		const char *bracket = memchr(host, ']', (size_t)(name - host));

		if (!bracket || (bracket[1] != ':' && bracket + 1 != name))
			return false;
		colon = bracket + 1 == name ? NULL : bracket + 1;
		host++;
		length = (size_t)(bracket - host);
	} else {
		length = (size_t)((colon ? colon : name) - host);
	}
	if (length == 0 || length >= sizeof options->host)
		return false;
	options->initiator.port = DEFAULT_PORT;
	if (colon) {
		char port[8] = "";

		if (name - colon - 1 >= (ptrdiff_t)sizeof port)
			return false;
		memcpy(port, colon + 1, (size_t)(name - colon - 1));
		if (options_parse_port(port, &options->initiator.port))
			return false;
	}
	if (options_parse_size(lun + 1, 0, 255, &number))
		return false;
	options->initiator.lun = (unsigned int)number;
	snprintf(options->host, sizeof options->host, "%.*s", (int)length, host);
	snprintf(options->target, sizeof options->target, "%.*s", (int)(lun - name - 1), name + 1);
	options->initiator.target = options->target;
	return true;
}

static void
parse_place(struct argp_state *state, struct copy_options *options, const char *arg)
{
	if (strncmp(arg, SCHEME, sizeof SCHEME - 1) != 0) {
		if (options->file)
			options_wrong(state, "one of the two is to be iser://HOST[:PORT]/NAME/LUN");
		options->file = arg;
	} else if (options->initiator.target || !url_parse(options, arg)) {
		options_wrong(state, "\"%s\" is not the one iser://HOST[:PORT]/NAME/LUN", arg);
	} else {
		options->url = arg;
		options->writes = options->file != NULL;
	}
}

static void
resolve(struct argp_state *state, struct copy_options *options)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM },
			*found = NULL;
	int r = getaddrinfo(options->host, NULL, &hints, &found);

	if (r)
		options_wrong(state, "host \"%s\": %s", options->host, gai_strerror(r));
	options->addresses = found;
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct copy_options *options = state->input;
	struct initiator_options *initiator = &options->initiator;

	switch (key) {
	case 'n':
		initiator->connections = (unsigned int)options_number(
		    state, "connections", arg, 1, INITIATOR_CONNECTIONS);
		break;
	case 'd':
		initiator->depth = (unsigned int)options_number(state, "queue-depth", arg, 1, 1024);
		break;
	case 'b':
		initiator->block_bytes =
		    (unsigned int)options_number(state, "block-size", arg, 4096, 16 << 20);
		break;
	case KEY_VERIFY:
		options->verify = true;
		break;
	case KEY_AUTH:
		options->auth_file = arg;
		break;
	case KEY_USER:
		initiator->user = arg;
		break;
	case KEY_NAME:
		initiator->name = arg;
		break;
	case KEY_IA:
		initiator->ia = arg;
		break;
	case KEY_PROVIDER:
		options->provider = arg;
		break;
	case KEY_TIMEOUT:
		initiator->timeout = (unsigned int)options_number(state, "timeout", arg, 1, 86400);
		break;
	case 'q':
		options->quiet = true;
		break;
	case KEY_JSON:
		options->json = true;
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num >= 2)
			options_wrong(state, "\"%s\" is one argument too many", arg);
		parse_place(state, options, arg);
		break;
	case ARGP_KEY_END:
		if (!options->file || !initiator->target)
			options_wrong(
			    state, "a FILE and an iser://HOST[:PORT]/NAME/LUN are needed");
		if (!options->auth_file != !initiator->user)
			options_wrong(state, "--auth-file and --user go together");
		if (initiator->block_bytes % 4096)
			options_wrong(state, "--block-size must be a multiple of 4096");
		resolve(state, options);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void
copy_options_parse(struct copy_options *options, int argc, char **argv)
{
	static const struct argp parser = {
		.options = entries,
		.parser = parse_option,
		.args_doc = "FILE iser://HOST[:PORT]/NAME/LUN\niser://HOST[:PORT]/NAME/LUN FILE",
		.doc = "Copy a file to a LUN of an iSER target, or a LUN to a file.\v"
		       "Prints the SHA-256 of what was copied.  Exit status: 0, 1 if something "
		       "failed or a sum differs, 64 for a wrong command line.",
	};

	*options = (struct copy_options){
		.initiator = {
			.ia = "rearm-soft",
			.name = "iqn.2026-11.io.rearm:copy",
			.connections = 4,
			.depth = 16,
			.block_bytes = 256 << 10,
			.timeout = 30,
		},
	};
	argp_err_exit_status = 64;
	options_check_names(argc, argv);
	argp_parse(&parser, argc, argv, 0, NULL, options);
}
