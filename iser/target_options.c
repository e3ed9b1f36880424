/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/target_options.h"

#include "iser/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PORT 3260
#define LIBISCSI_TRANSFER \
	(256 << 10) /* the most that libiscsi's iSER, and so qemu, can move with a command */
#define DEFAULT_NAME "iqn.2026-11.io.rearm:target"

enum {
	KEY_IA = 256,
	KEY_PROVIDER,
	KEY_LUN,
	KEY_PORTAL,
	KEY_IQN,
	KEY_AUTH,
	KEY_WINDOW,
	KEY_SESSIONS,
	KEY_POOL,
	KEY_ENGINE,
	KEY_THREADS,
	KEY_PING,
	KEY_UNSOLICITED,
	KEY_JSON,
};

static const struct argp_option entries[] = {
	{ "lun", KEY_LUN, "FILE[,OPTION...]", 0, "export a file or a block device; again for more",
	    1 },
	{ "iqn", KEY_IQN, "NAME", 0, "name of the target (" DEFAULT_NAME ")", 1 },
	{ "portal", KEY_PORTAL, "[ADDRESS][:PORT]", 0,
	    "listen on PORT, and name ADDRESS in discoveries; again for more (:3260)", 1 },
	{ "auth-file", KEY_AUTH, "FILE", 0,
	    "initiators prove by CHAP that they know a secret of FILE, lines \"NAME SECRET\"", 1 },
	{ "ia", KEY_IA, "NAME", 0, "open the adapter NAME of dat.conf (rearm-soft)", 2 },
	{ "provider", KEY_PROVIDER, "LIBRARY", 0, "load this provider; no dat.conf is needed", 2 },
	{ "window", KEY_WINDOW, "N", 0, "outstanding commands of a session (256)", 3 },
	{ "sessions", KEY_SESSIONS, "N", 0, "sessions at once (64)", 3 },
	{ "pool", KEY_POOL, "BYTES", 0, "registered memory for data, of all sessions (64M)", 3 },
	{ "engine", KEY_ENGINE, "NAME", 0, "uring or threads (uring where the kernel has it)", 3 },
	{ "threads", KEY_THREADS, "N", 0, "threads for what the ring does not do (4)", 3 },
	{ "ping", KEY_PING, "SECONDS", 0,
	    "ask a silent initiator after SECONDS, and end its session after as many more; 0: "
	    "never (30)",
	    3 },
	{ "unsolicited", KEY_UNSOLICITED, NULL, 0,
	    "take data PDUs that were not asked for (InitialR2T=No)", 3 },
	{ "quiet", 'q', NULL, 0, "print errors and nothing else", 4 },
	{ "json", KEY_JSON, NULL, 0, "print the statistics as one line of JSON", 4 },
	{ 0 },
};

/* Words of --lun. */
enum {
	WORD_NUMBER,
	WORD_SIZE,
	WORD_READ_ONLY,
	WORD_WRITE_THROUGH,
	WORD_THICK,
	WORD_REMOVABLE,
	WORD_BLOCK,
	WORD_MAX,
	WORD_VENDOR,
	WORD_PRODUCT,
	WORD_SERIAL,
};

static char *const words[] = {
	[WORD_NUMBER] = (char[]){ "lun" },
	[WORD_SIZE] = (char[]){ "size" },
	[WORD_READ_ONLY] = (char[]){ "ro" },
	[WORD_WRITE_THROUGH] = (char[]){ "write-through" },
	[WORD_THICK] = (char[]){ "thick" },
	[WORD_REMOVABLE] = (char[]){ "removable" },
	[WORD_BLOCK] = (char[]){ "block" },
	[WORD_MAX] = (char[]){ "max-transfer" },
	[WORD_VENDOR] = (char[]){ "vendor" },
	[WORD_PRODUCT] = (char[]){ "product" },
	[WORD_SERIAL] = (char[]){ "serial" },
	NULL,
};

/* What their values may be. */
static const char *const values[] = {
	[WORD_NUMBER] = "a number from 0 to 255",
	[WORD_SIZE] = "bytes from 512 on, such as 10G",
	[WORD_READ_ONLY] = "no value",
	[WORD_WRITE_THROUGH] = "no value",
	[WORD_THICK] = "no value",
	[WORD_REMOVABLE] = "no value",
	[WORD_BLOCK] = "512 or 4096",
	[WORD_MAX] = "a multiple of 4096 from 4096 to 64M",
	[WORD_VENDOR] = "text of 8 characters at most",
	[WORD_PRODUCT] = "text of 16 characters at most",
	[WORD_SERIAL] = "text of 32 characters at most",
};

static bool
take_word(struct lun_option *lun, int word, const char *value)
{
	uint64_t number = 0;

	switch (word) {
	case WORD_READ_ONLY:
		lun->lun.read_only = true;
		return !value;
	case WORD_WRITE_THROUGH:
		lun->lun.write_through = true;
		return !value;
	case WORD_THICK:
		lun->lun.thick = true;
		return !value;
	case WORD_REMOVABLE:
		lun->lun.removable = true;
		return !value;
	default:
		break;
	}
	if (!value)
		return false;
	switch (word) {
	case WORD_NUMBER:
		if (options_parse_size(value, 0, SCSI_LUNS - 1, &number))
			return false;
		lun->number = (unsigned int)number;
		return true;
	case WORD_SIZE:
		return options_parse_size(value, 512, INT64_MAX, &lun->lun.create_bytes) == 0;
	case WORD_BLOCK:
		if (options_parse_size(value, 512, 4096, &number))
			return false;
		lun->lun.block_bytes = (uint32_t)number;
		return number == 512 || number == 4096;
	case WORD_MAX:
		if (options_parse_size(value, 4096, 64 << 20, &number))
			return false;
		lun->lun.max_transfer_bytes = (uint32_t)number;
		return number % 4096 == 0;
	case WORD_VENDOR:
		lun->lun.vendor = value;
		return strlen(value) <= 8;
	case WORD_PRODUCT:
		lun->lun.product = value;
		return strlen(value) <= 16;
	case WORD_SERIAL:
		lun->lun.serial = value;
		return strlen(value) <= 32;
	default:
		return false;
	}
}

/* "FILE[,word[=value]...]".  The message of what is wrong names the option. */
static void
lun_option_parse(struct argp_state *state, struct lun_option *lun, char *text)
{
	char *rest = strchr(text, ','), *value;

	lun->lun.path = text;
	if (rest)
		*rest++ = '\0';
	if (!*text)
		options_wrong(state, "--lun names no file");
	while (rest && *rest) {
		char option[256];
		int word;

		/* getsubopt() cuts it. */
		snprintf(option, sizeof option, "%.*s", (int)strcspn(rest, ","), rest);
		word = getsubopt(&rest, words, &value);
		if (word < 0)
			options_wrong(state,
			    "--lun \"%s\": there is no option \"%s\"; there are lun=, size=, ro, "
			    "write-through, thick, removable, block=, max-transfer=, vendor=, "
			    "product= and serial=",
			    text, option);
		else if (!take_word(lun, word, value))
			options_wrong(state, "--lun \"%s\": \"%s\" is wrong: %s takes %s", text,
			    option, words[word], values[word]);
	}
}

/*
 * "ADDRESS[:PORT]", "[ADDRESS][:PORT]" or ":PORT"; "" is the default.  False if it is none.  A
 * number alone would be an address, and is meant as a port.
 */
static bool
portal_parse(struct portal *portal, const char *text)
{
	const char *colon = strrchr(text, ':'), *bracket = strchr(text, ']');
	size_t length = strlen(text);
	uint16_t port = DEFAULT_PORT;

	if (*text && !text[strspn(text, "0123456789")])
		return false;
	if (bracket && colon && colon < bracket)
		colon = NULL; /* of the address */
	if (text[0] == '[' ? !bracket || (bracket[1] && bracket + 1 != colon) :
			     bracket || strchr(text, ':') != colon)
		return false;
	if (colon) {
		if (options_parse_port(colon + 1, &port))
			return false;
		length = (size_t)(colon - text);
	}
	if (length >= sizeof portal->address)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !memchr(".-:[]", text[i], 5))
			return false;
	memset(portal, 0, sizeof *portal);
	memcpy(portal->address, text, length);
	portal->port = port;
	portal->psp = DAT_HANDLE_NULL;
	return true;
}

/* "iqn.YYYY-MM.name", "eui.", "naa.": the characters and the length that RFC 7143 4.2.7 allows. */
static bool
iscsi_name_is_valid(const char *name)
{
	if (strncmp(name, "iqn.", 4) != 0 && strncmp(name, "eui.", 4) != 0 &&
	    strncmp(name, "naa.", 4) != 0)
		return false;
	for (const char *at = name; *at; at++)
		if (!islower((unsigned char)*at) && !isdigit((unsigned char)*at) &&
		    !memchr("-.:", *at, 3) && !((unsigned char)*at & 0x80))
			return false;
	return name[4] && strlen(name) <= KEYS_NAME_BYTES;
}

static void
parse_lun(struct argp_state *state, struct program_options *options, char *arg)
{
	struct lun_option *lun = &options->luns[options->lun_count];

	if (options->lun_count == OPTIONS_LUNS)
		options_wrong(state, "there are more than %u LUNs", OPTIONS_LUNS);
	memset(lun, 0, sizeof *lun);
	lun->number = options->lun_count ? lun[-1].number + 1 : 0;
	lun->lun.max_transfer_bytes = LIBISCSI_TRANSFER;
	lun_option_parse(state, lun, arg);
	options->lun_count++;
}

static void
parse_portal(struct argp_state *state, struct target_options *target, const char *arg)
{
	if (target->portal_count == TARGET_PORTALS)
		options_wrong(state, "there are more than %u portals", TARGET_PORTALS);
	if (!portal_parse(&target->portals[target->portal_count++], arg))
		options_wrong(state,
		    "--portal takes ADDRESS:PORT, ADDRESS or :PORT, a PORT from 1 to 65535, not "
		    "\"%s\"",
		    arg);
}

static void
check_all(struct argp_state *state, struct program_options *options)
{
	struct target_options *target = &options->target;

	if (options->lun_count == 0)
		options_wrong(state, "which --lun is to be exported?");
	if (target->portal_count == 0)
		portal_parse(&target->portals[target->portal_count++], "");
	if (strlen(target->ia) == 0 || strpbrk(target->ia, " \t\n\"\\#"))
		options_wrong(state, "--ia \"%s\" cannot be the name of an adapter", target->ia);
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct program_options *options = state->input;
	struct target_options *target = &options->target;

	switch (key) {
	case KEY_LUN:
		parse_lun(state, options, arg);
		break;
	case KEY_IQN:
		if (!iscsi_name_is_valid(arg))
			options_wrong(state, "--iqn \"%s\" is no name such as " DEFAULT_NAME, arg);
		target->name = arg;
		break;
	case KEY_PORTAL:
		parse_portal(state, target, arg);
		break;
	case KEY_AUTH:
		options->auth_file = arg;
		break;
	case KEY_IA:
		target->ia = arg;
		break;
	case KEY_PROVIDER:
		options->provider = arg;
		break;
	case KEY_WINDOW:
		target->window = (unsigned int)options_number(state, "window", arg, 1, 4096);
		break;
	case KEY_SESSIONS:
		target->max_sessions =
		    (unsigned int)options_number(state, "sessions", arg, 1, 4096);
		break;
	case KEY_POOL:
		target->pool_bytes =
		    options_number(state, "pool", arg, 1 << 20, UINT64_C(64) << 30);
		break;
	case KEY_ENGINE:
		if (strcmp(arg, "uring") != 0 && strcmp(arg, "threads") != 0)
			options_wrong(state, "--engine takes uring or threads, not \"%s\"", arg);
		options->engine =
		    strcmp(arg, "uring") == 0 ? SCSI_ENGINE_URING : SCSI_ENGINE_THREADS;
		break;
	case KEY_THREADS:
		options->threads = (unsigned int)options_number(state, "threads", arg, 1, 256);
		break;
	case KEY_PING:
		target->ping = (unsigned int)options_number(state, "ping", arg, 0, 86400);
		break;
	case KEY_UNSOLICITED:
		target->limits.initial_r2t = false;
		break;
	case 'q':
		options->quiet = true;
		break;
	case KEY_JSON:
		options->json = true;
		break;
	case ARGP_KEY_ARG:
		options_wrong(state, "\"%s\" is one argument too many", arg);
		break;
	case ARGP_KEY_END:
		check_all(state, options);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void
target_options_parse(struct program_options *options, int argc, char **argv)
{
	static const struct argp parser = {
		.options = entries,
		.parser = parse_option,
		.doc =
		    "Export files and block devices to iSCSI initiators, over iSER.\v"
		    "OPTIONs of --lun: lun=NUMBER, size=BYTES of a file that is to be made, ro, "
		    "write-through, thick, removable, block=512|4096, max-transfer=BYTES (256K), "
		    "vendor=, product=, serial=.  Ends on SIGINT or SIGTERM, and prints what it "
		    "has done.  Exit status: 0, 1 if something failed, 64 for a wrong command "
		    "line.",
	};

	*options = (struct program_options){
		.target = {
			.ia = "rearm-soft",
			.name = DEFAULT_NAME,
			.limits = {
				.initial_r2t = true,
				.max_burst = 1 << 20,
				.first_burst = 64 << 10,
				.target_recv = 8192,
				.initiator_recv = 8192,
				.unexpected = 64,
			},
			.window = 256,
			.max_sessions = 64,
			.ping = 30,
			.login_timeout = 15,
			.pool_bytes = 64 << 20,
		},
		.engine = SCSI_ENGINE_ANY,
	};
	argp_err_exit_status = 64;
	options_check_names(argc, argv);
	argp_parse(&parser, argc, argv, 0, NULL, options);
}
