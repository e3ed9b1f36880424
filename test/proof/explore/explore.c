/* SPDX-License-Identifier: BSD-3-Clause */
/* explore -- plays scenarios of the dispatcher under schedules of its own choosing */
#include <argp.h>
#include <fnmatch.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hunt.h"
#include "report.h"
#include "stage.h"
#include "strategy.h"

#define PATTERNS 16
#define SECONDS_LEAST 0.001 /* for a scenario */

static struct {
	struct hunt_options hunt;
	const char *patterns[PATTERNS];
	int n_patterns;
	const char *replay;
	double budget;
	int jobs;
	bool list, verbose, keep_going, light;
} opt = {
	.hunt = { .strategy = "mix", .bound = 2, .seed = 1, .shrink = true },
	.jobs = 1,
};

enum {
	KEY_LIST = 256,
	KEY_BOUND,
	KEY_REPLAY,
	KEY_BUDGET,
	KEY_WHOLE,
	KEY_NO_SHRINK,
	KEY_LIGHT,
	KEY_DRAW,
	KEY_SHIPPED
};

static const struct argp_option options[] = {
	{ "list", KEY_LIST, NULL, 0, "List the scenarios", 0 },
	{ "scenario", 's', "PATTERN", 0, "Play the scenarios that match (may be given again)", 0 },
	{ "strategy", 't', "NAME", 0, "mix (default), random, pct or dfs", 0 },
	{ "schedules", 'n', "N", 0, "Schedules of each scenario (default 2000; dfs: all)", 0 },
	{ "depth", 'd', "N", 0, "Depth of pct (default: 1 to 5 in turn)", 0 },
	{ "bound", KEY_BOUND, "N", 0, "Preemptions that dfs allows (default 2)", 0 },
	{ "seed", 'S', "N", 0, "The first seed (default 1)", 0 },
	{ "replay", KEY_REPLAY, "SCENARIO:STRATEGY:SEED", 0,
	    "Play one schedule and print its trace", 0 },
	{ "budget", KEY_BUDGET, "SECONDS", 0,
	    "Spend about so long in all: processor time, of each job", 0 },
	{ "jobs", 'j', "N", 0, "Processes that share the scenarios (default 1)", 0 },
	{ "light", KEY_LIGHT, NULL, 0, "Pass over the families: every combination of something",
	    0 },
	{ "draw", KEY_DRAW, "N", 0,
	    "Of the scenarios chance/* play the Nth two thousand (default 0)", 0 },
	{ "shipped-locks", KEY_SHIPPED, NULL, 0,
	    "Play the code of the shipped locks in place of the modelled ones", 0 },
	{ "keep-going", 'k', NULL, 0, "Do not stop at the first scenario that fails", 0 },
	{ "no-shrink", KEY_NO_SHRINK, NULL, 0, "Print a failure as it was found", 0 },
	{ "whole", KEY_WHOLE, NULL, 0, "Print every point of a trace", 0 },
	{ "verbose", 'v', NULL, 0, "A line for each scenario", 0 },
	{ 0 },
};

static unsigned long long
number(
    const char *text, unsigned long long least, unsigned long long most, struct argp_state *state)
{
	unsigned long long n;
	char *end;

	n = strtoull(text, &end, 0);
	if (*text < '0' || *text > '9' || *end || n < least || n > most)
		argp_error(
		    state, "'%s': a number from %llu to %llu is expected", text, least, most);
	return n;
}

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	char *end;

	switch (key) {
	case KEY_LIST:
		opt.list = true;
		break;
	case 's':
		if (opt.n_patterns == PATTERNS)
			argp_error(state, "too many patterns");
		opt.patterns[opt.n_patterns++] = arg;
		break;
	case 't':
		if (strcmp(arg, "mix") && strcmp(arg, "random") && strcmp(arg, "pct") &&
		    strcmp(arg, "dfs"))
			argp_error(state, "no strategy is called '%s'", arg);
		opt.hunt.strategy = arg;
		break;
	case 'n':
		opt.hunt.schedules = number(arg, 0, UINT64_MAX, state);
		break;
	case 'd':
		opt.hunt.depth = (int)number(arg, 1, 8, state);
		break;
	case KEY_BOUND:
		opt.hunt.bound = (int)number(arg, 0, 1000, state);
		break;
	case 'S':
		opt.hunt.seed = number(arg, 0, UINT64_MAX, state);
		break;
	case KEY_REPLAY:
		opt.replay = arg;
		break;
	case KEY_BUDGET:
		opt.budget = strtod(arg, &end);
		if (*end || !(opt.budget > 0))
			argp_error(state, "'%s': a number of seconds is expected", arg);
		break;
	case 'j':
		opt.jobs = (int)number(arg, 1, 64, state);
		break;
	case KEY_LIGHT:
		opt.light = true;
		break;
	case 'k':
		opt.keep_going = true;
		break;
	case KEY_DRAW:
		scenario_draw = (unsigned int)number(arg, 0, 1000000, state);
		break;
	case KEY_SHIPPED:
		scenario_shipped = true;
		break;
	case KEY_NO_SHRINK:
		opt.hunt.shrink = false;
		break;
	case KEY_WHOLE:
		report_whole = true;
		break;
	case 'v':
		opt.verbose = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static bool
chosen(const struct scenario *s)
{
	if (opt.light && s->family)
		return false;
	/* Those drawn by lot are played when they are asked for, and cannot be searched. */
	if (s->chance && !strcmp(opt.hunt.strategy, "dfs"))
		return false;
	for (int i = 0; i < opt.n_patterns; i++)
		if (!fnmatch(opt.patterns[i], s->name, 0) &&
		    (!s->chance || opt.patterns[i][0] != '*'))
			return true;
	return opt.n_patterns == 0 && !s->chance;
}

static int
replay(void)
{
	for (unsigned int i = 0; i < n_scenarios; i++) {
		size_t n = strlen(scenarios[i].name);

		if (!strncmp(scenarios[i].name, opt.replay, n) && opt.replay[n] == ':') {
			bool failed =
			    hunt_replay(&scenarios[i], opt.replay + n + 1, opt.hunt.shrink);

			printf("%d passed, %d failed\n", !failed, failed);
			return failed;
		}
	}
	fprintf(stderr, "explore: '%s' names no scenario; --list prints them\n", opt.replay);
	return 2;
}

struct totals {
	uint64_t schedules, steps, pruned;
	unsigned int passed, failed, complete;
	double slowest, cpu;
};

/* The scenarios to play, and how many of them the processes have taken together. */
static struct scenario **wanted;
static unsigned int n_wanted;
static atomic_uint *taken;

static bool
mine(unsigned int i, int job)
{
	return (int)(i % (unsigned int)opt.jobs) == job;
}

static void
count(struct totals *t, const struct scenario *s, const struct hunt_result *result, double took)
{
	t->schedules += result->schedules;
	t->steps += result->steps;
	t->pruned += result->pruned;
	t->complete += result->complete;
	t->failed += result->failed;
	if (took > t->slowest)
		t->slowest = took;
	if (opt.verbose || result->failed)
		printf("%s  %-44s %10llu schedules %6.2f s%s\n", result->failed ? "FAIL" : "ok  ",
		    s->name, (unsigned long long)result->schedules, took,
		    result->complete ? ", all of them" : "");
	fflush(stdout);
}

/* Each scenario once: a number of schedules, or its share of what is left of the budget. */
static void
work_once(struct totals *t)
{
	double begun = hunt_cpu();
	unsigned int i;

	while ((i = atomic_fetch_add(taken, 1)) < n_wanted) {
		/*
		 * Scenarios that are soon exhausted come first; the time that they do not need goes
		 * to the others.
		 */
		struct scenario *scenario = wanted[n_wanted - 1 - i];
		struct hunt_options hunt_options = opt.hunt;
		struct hunt_result result;
		double at = hunt_cpu();

		if (opt.budget > 0) {
			hunt_options.seconds =
			    (begun + opt.budget - at) * opt.jobs / (n_wanted - i);
			if (hunt_options.seconds < SECONDS_LEAST)
				hunt_options.seconds = SECONDS_LEAST;
		}
		hunt(scenario, &hunt_options, &result);
		count(t, scenario, &result, hunt_cpu() - at);
		t->passed += !result.failed;
		if (result.failed && !opt.keep_going)
			atomic_store(taken, n_wanted);
	}
}

#define ROUND_FIRST 6 /* schedules of each scenario in the first round; the next: twice as many */
#define ROUND_LAST 6144

/* All scenarios in rounds, until the budget is spent: what is easily found is found soon. */
static void
work_rounds(int job, struct totals *t)
{
	double end = hunt_cpu() + opt.budget;
	struct hunt_options hunt_options = opt.hunt;
	uint64_t round = ROUND_FIRST, played = 0;
	bool *broken = calloc(n_wanted, sizeof *broken);

	if (!broken)
		abort();
	while (hunt_cpu() < end) {
		for (unsigned int i = 0; i < n_wanted; i++) {
			struct hunt_result result;
			double at = hunt_cpu();

			if (!mine(i, job) || broken[i])
				continue;
			/*
			 * The first round is always completed: its result decides whether a
			 * scenario passes.
			 */
			if (at >= end && round > ROUND_FIRST)
				break;
			hunt_options.schedules = round * wanted[i]->weight;
			hunt_options.seed = opt.hunt.seed + played * wanted[i]->weight;
			hunt(wanted[i], &hunt_options, &result);
			count(t, wanted[i], &result, hunt_cpu() - at);
			broken[i] = result.failed;
			if (result.failed && !opt.keep_going)
				goto out;
		}
		played += round;
		if (round < ROUND_LAST)
			round *= 2;
	}
out:
	for (unsigned int i = 0; i < n_wanted; i++)
		t->passed += mine(i, job) && !broken[i];
	free(broken);
}

static void
work(int job, struct totals *t)
{
	if (opt.budget > 0 && strcmp(opt.hunt.strategy, "dfs"))
		work_rounds(job, t);
	else
		work_once(t);
	t->cpu = hunt_cpu();
}

static void
share(struct totals *t)
{
	int ends[2];

	if (pipe(ends)) {
		perror("explore: pipe");
		exit(2);
	}
	fflush(stdout);
	for (int j = 0; j < opt.jobs; j++) {
		struct totals own = { 0 };
		pid_t pid = fork();

		if (pid < 0) {
			perror("explore: fork");
			exit(2);
		}
		if (pid)
			continue;
		work(j, &own);
		_exit(write(ends[1], &own, sizeof own) == sizeof own ? 0 : 2);
	}
	close(ends[1]);
	for (int j = 0; j < opt.jobs; j++) {
		struct totals own;
		int status;

		wait(&status);
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			fprintf(stderr, "explore: a process of ours died\n");
			t->failed++;
			continue;
		}
		if (read(ends[0], &own, sizeof own) != sizeof own)
			continue;
		t->schedules += own.schedules;
		t->steps += own.steps;
		t->pruned += own.pruned;
		t->passed += own.passed;
		t->failed += own.failed;
		t->complete += own.complete;
		t->cpu += own.cpu;
		if (own.slowest > t->slowest)
			t->slowest = own.slowest;
	}
	close(ends[0]);
}

int
main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, NULL,
		"Plays scenarios of the dispatcher, or of the provider, under schedules of its own "
		"choosing and judges every step.  Ends 1 when a rule was broken.",
		NULL, NULL, NULL };
	struct totals t = { 0 };
	double begun = hunt_now(), took;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	scenario_load();
	wanted = calloc(n_scenarios, sizeof *wanted);
	taken =
	    mmap(NULL, sizeof *taken, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!wanted || taken == MAP_FAILED) {
		perror("explore");
		return 2;
	}
	for (unsigned int i = 0; i < n_scenarios; i++) {
		if (!chosen(&scenarios[i]))
			continue;
		wanted[n_wanted++] = &scenarios[i];
		if (opt.list)
			printf("%s\n", scenarios[i].name);
	}
	if (opt.list)
		return 0;
	if (opt.replay)
		return replay();
	if (!n_wanted) {
		fprintf(stderr, "explore: no scenario matches\n");
		return 2;
	}
	if (opt.budget <= 0 && !opt.hunt.schedules && strcmp(opt.hunt.strategy, "dfs"))
		opt.hunt.schedules = 2000;
	if (opt.jobs > 1)
		share(&t);
	else
		work(0, &t);
	took = hunt_now() - begun;
	if (t.failed)
		printf("found after %.3f s\n", opt.jobs > 1 ? took : hunt_cpu());
	printf("%llu schedules, %llu steps in %.1f s: %.0f schedules/s of processor time",
	    (unsigned long long)t.schedules, (unsigned long long)t.steps, took,
	    (double)t.schedules / t.cpu);
	if (!strcmp(opt.hunt.strategy, "dfs"))
		printf("; %u of %u scenarios exhausted with %d preemptions", t.complete, n_wanted,
		    opt.hunt.bound);
	printf("\n%u passed, %u failed\n", t.passed, t.failed);
	return t.failed ? 1 : 0;
}
