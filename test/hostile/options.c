/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct {
	const char *name, *text;
} groups[GROUP_COUNT] = {
#define X(symbol, name, text) { name, text },
	GROUPS(X)
#undef X
};

struct options options = { .seconds = 5, .threads = 4, .board = -1 };

static void
usage(FILE *f)
{
	fputs(
	    "usage: hostile [OPTION]...\n"
	    "Makes random DAT calls, allowed ones and some that must be refused, "
	    "from\n"
	    "several threads, and checks each event and each return code.\n"
	    "\n"
	    "  --seed N      the seed of all random choices (default: a new one, printed)\n"
	    "  --seconds N   the length of the run (5)\n"
	    "  --threads N   the number of threads that make calls, at least 4 (4)\n"
	    "  --ia NAME     an adapter of dat.conf (rearm-soft); several are used in turn\n"
	    "  --ops LIST    the groups of operations (all), separated by commas; -NAME leaves one "
	    "out\n"
	    "  --verbose     print how often each call was made\n"
	    "  --help        print this\n"
	    "\n"
	    "Groups:\n",
	    f);
	for (int i = 0; i < GROUP_COUNT; i++)
		fprintf(f, "  %-10s %s\n", groups[i].name, groups[i].text);
	fputs("\nExit status: 0 no failure, 1 a failure, 2 the program cannot run.\n", f);
}

static _Noreturn void
bad(const char *what, const char *value)
{
	fprintf(stderr, "hostile: %s: %s\nTry hostile --help.\n", what, value);
	exit(2);
}

static double
number(const char *what, const char *text, double least, double most)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= least && value <= most))
		bad(what, text);
	return value;
}

static void
choose_groups(const char *list)
{
	char copy[512], *rest = NULL;
	bool first = true;

	snprintf(copy, sizeof copy, "%s", list);
	for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		const bool on = word[0] != '-';
		const char *name = on ? word : word + 1;
		bool found = false;

		/* If the first group is left out, the list starts with all groups. */
		for (int i = 0; first && i < GROUP_COUNT; i++)
			options.group[i] = !on;
		first = false;
		for (int i = 0; i < GROUP_COUNT; i++)
			if (!strcmp(name, groups[i].name) || !strcmp(name, "all")) {
				options.group[i] = on;
				found = true;
			}
		if (!found)
			bad("no such group", name);
	}
}

void
options_parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "seconds", required_argument, NULL, 't' },
		{ "threads", required_argument, NULL, 'n' },
		{ "ia", required_argument, NULL, 'i' },
		{ "ops", required_argument, NULL, 'o' },
		{ "peer", required_argument, NULL, 'p' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct timespec now;
	int c;

	clock_gettime(CLOCK_REALTIME, &now);
	options.seed = ((uint64_t)now.tv_nsec * 2654435761u ^ (uint64_t)getpid()) % 1000000000;
	for (int i = 0; i < GROUP_COUNT; i++)
		options.group[i] = true;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 's':
			options.seed = strtoull(optarg, NULL, 0);
			break;
		case 't':
			options.seconds = number("--seconds", optarg, 0.1, 1e7);
			break;
		case 'n':
			options.threads = (unsigned int)number("--threads", optarg, 4, 64);
			break;
		case 'i':
			if (options.n_ias == OPTIONS_IAS)
				bad("too many adapters", optarg);
			options.ia[options.n_ias++] = optarg;
			break;
		case 'o':
			choose_groups(optarg);
			break;
		case 'p':
			options.board = (int)number("--peer", optarg, 0, 1e6);
			break;
		case 'v':
			options.verbose = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			fputs("Try hostile --help.\n", stderr);
			exit(2);
		}
	}
	if (optind < argc)
		bad("unexpected argument", argv[optind]);
	if (!options.n_ias)
		options.ia[options.n_ias++] = "rearm-soft";
}

static void
groups_text(char *text, size_t size)
{
	size_t at = 0;

	for (int i = 0; i < GROUP_COUNT; i++)
		if (options.group[i] && at < size)
			at += (size_t)snprintf(
			    text + at, size - at, "%s%s", at ? "," : "", groups[i].name);
}

void
options_for_peer(const char **argv, const char *seed, const char *board)
{
	static char list[256], threads[16];
	int n = 0;

	groups_text(list, sizeof list);
	snprintf(threads, sizeof threads, "%u", options.threads);
	argv[n++] = "hostile";
	argv[n++] = "--peer";
	argv[n++] = board;
	argv[n++] = "--seed";
	argv[n++] = seed;
	argv[n++] = "--threads";
	argv[n++] = threads;
	argv[n++] = "--ops";
	argv[n++] = list;
	for (unsigned int i = 0; i < options.n_ias; i++) {
		argv[n++] = "--ia";
		argv[n++] = options.ia[i];
	}
	argv[n] = NULL;
}

const char *
options_text(void)
{
	static char text[1024];
	char list[256] = "";
	int at;

	groups_text(list, sizeof list);
	at = snprintf(text, sizeof text, "hostile --seed %llu --seconds %g --threads %u --ops %s",
	    (unsigned long long)options.seed, options.seconds, options.threads, list);
	for (unsigned int i = 0; i < options.n_ias; i++)
		at += snprintf(text + at, sizeof text - (size_t)at, " --ia %s", options.ia[i]);
	return text;
}
