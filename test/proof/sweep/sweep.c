/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep -- fails the first, second, ... call that may fail, in every scenario, until a run meets
 * none
 *
 * Each run is a process of its own: the scenario with the fault, the end with nothing failing, the
 * scenario once more without a fault; then descriptors, threads and memory are counted.
 */
#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inject.h"
#include "story.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#define find_leaks() __lsan_do_recoverable_leak_check()
#else
#define find_leaks() 0
#endif

#define SECONDS 60	/* for a run; what works takes milliseconds */
#define SHORT_POINTS 24 /* of a scenario and mode */
#define RUNS_MAX 20000

enum verdict {
	GOOD,
	WRONG = 40,
	LEAKED,
	CRASHED,
	HUNG,
};

static const char usage[] =
    "usage: sweep [SCENARIO]...             all points of the scenarios, or of all\n"
    "       sweep --short                   some points of the core scenarios\n"
    "       sweep --sites [SCENARIO]...     also prints each place and how often it was failed\n"
    "       sweep SCENARIO POINT once|always\n"
    "                                       one run, with a trace of the call that failed\n";

static char directory[64];
static char conf[96];

/* ---- in the child ---- */

void
story_wrong(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "  ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n");
	_exit(WRONG);
}

static int
count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	if (!dir)
		return -1;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* How long a thread may take to end on a busy machine.  A wait ends as soon as it has ended. */
#define THREAD_ENDS_NAPS 20000

static bool
same(const char *path, const char *what, int before)
{
	int now = count_entries(path);

	/* A joined thread is seen a moment longer. */
	for (int i = 0; i < THREAD_ENDS_NAPS && now > before; i++) {
		story_nap();
		now = count_entries(path);
	}
	if (now != before)
		fprintf(stderr, "  %d %s before, %d after\n", before, what, now);
	return now == before;
}

static void *
do_nothing(void *arg)
{
	return arg;
}

/* The thread sanitizer starts one of its own along with a process's first: not to be counted. */
static void
start_first_thread(void)
{
	pthread_t thread;
	int before = count_entries("/proc/self/task");

	if (pthread_create(&thread, NULL, do_nothing, NULL) == 0)
		pthread_join(thread, NULL);
	for (int i = 0; i < THREAD_ENDS_NAPS && count_entries("/proc/self/task") > before; i++)
		story_nap();
}

static void
run(const struct scenario *scenario, const struct inject_plan *plan)
{
	static struct story story;
	int fds, threads;
	bool ok;

	alarm(SECONDS);
	start_first_thread();
	fds = count_entries("/proc/self/fd");
	threads = count_entries("/proc/self/task");
	story.for_ever = plan->mode == INJECT_ALWAYS;
	inject_open(plan);
	scenario->run(&story);
	inject_close();
	story_end(&story);
	ok = same("/proc/self/fd", "descriptors", fds) &&
	     same("/proc/self/task", "threads", threads);

	/* Whatever failed has left nothing behind that a later use would meet. */
	inject_shared->failed = 0;
	memset(&story, 0, sizeof story);
	scenario->run(&story);
	story_end(&story);
	ok = ok && same("/proc/self/fd", "descriptors", fds) &&
	     same("/proc/self/task", "threads", threads);
	if (find_leaks())
		ok = false;
	_exit(ok ? GOOD : LEAKED);
}

/* ---- one run ---- */

static enum verdict
verdict_of(int status)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGALRM ? HUNG : CRASHED;
	switch (WEXITSTATUS(status)) {
	case GOOD:
	case WRONG:
	case LEAKED:
		return WEXITSTATUS(status);
	default:
		return CRASHED;
	}
}

/* `met` tells whether the run met a fault. */
static enum verdict
run_once(const struct scenario *scenario, const struct inject_plan *plan, bool quiet, bool *met)
{
	int status;
	pid_t pid;

	fflush(NULL);
	inject_clear();
	pid = fork();
	if (pid < 0) {
		perror("fork");
		exit(2);
	}
	if (pid == 0) {
		/* The libraries may print messages about failures; they are not read here. */
		if (quiet)
			setenv("DAT_DBG_TYPE", "0", 1);
		run(scenario, plan);
	}
	while (waitpid(pid, &status, 0) < 0)
		;
	*met = inject_shared->call[0] != '\0';
	return verdict_of(status);
}

static const char *
verdict_name(enum verdict verdict)
{
	switch (verdict) {
	case GOOD:
		return "good";
	case WRONG:
		return "wrong";
	case LEAKED:
		return "leak";
	case HUNG:
		return "hang";
	default:
		return "crash";
	}
}

/* ---- what failed ---- */

static void
print_place(const char *module, uintptr_t offset)
{
	static const char *const folders[] = { ".", ".libs" };
	char path[PATH_MAX + 64], line[512], command[PATH_MAX + 200];
	FILE *pipe;

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s/%s", SWEEP_BUILD, folders[i], module);
		if (access(path, R_OK) == 0)
			break;
	}
	/* The call, not where it returns to. */
	snprintf(command, sizeof command, "addr2line -fips -e '%s' 0x%lx 2>/dev/null", path,
	    (unsigned long)offset - 1);
	pipe = popen(command, "re");
	while (pipe && fgets(line, sizeof line, pipe))
		printf("    %s", line);
	if (pipe)
		pclose(pipe);
}

static void
print_trace(void)
{
	printf("    failed: %s\n", inject_shared->call);
	for (int i = 0; i < inject_shared->frames; i++)
		print_place(inject_shared->frame[i].module, inject_shared->frame[i].offset);
}

/* ---- a scenario ---- */

struct tally {
	unsigned int points, runs;
	unsigned int crashes, hangs, leaks, wrong;
};

static void
count(struct tally *tally, const struct scenario *scenario, const struct inject_plan *plan,
    enum verdict verdict)
{
	const char *mode = plan->mode == INJECT_ONCE ? "once" : "always";

	tally->runs++;
	if (verdict == GOOD)
		return;
	tally->crashes += verdict == CRASHED;
	tally->hangs += verdict == HUNG;
	tally->leaks += verdict == LEAKED;
	tally->wrong += verdict == WRONG;
	if (plan->point)
		printf("  %s: sweep %s %u %s\n", verdict_name(verdict), scenario->name, plan->point,
		    mode);
	else
		printf("  %s: %s, %s at %s+0x%lx %s\n", verdict_name(verdict), scenario->name,
		    inject_shared->sites[plan->site].call, inject_shared->sites[plan->site].module,
		    (unsigned long)inject_shared->sites[plan->site].offset, mode);
	print_trace();
}

/* Points one after the other, until a run meets no fault; `step` > 1 leaves some out. */
static void
sweep_points(const struct scenario *scenario, enum inject_mode mode, unsigned int first,
    unsigned int step, struct tally *tally)
{
	struct inject_plan plan = { .mode = mode };
	bool met = true;

	for (unsigned int n = first; met && n < RUNS_MAX; n += step) {
		plan.point = n;
		count(tally, scenario, &plan, run_once(scenario, &plan, true, &met));
	}
}

/* Threads race, so a place may have been missed by its number: it is failed by what it is. */
static void
sweep_sites(const struct scenario *scenario, struct tally *tally)
{
	struct inject_plan plan = { .mode = INJECT_ONCE };
	bool met;

	for (unsigned int i = 0; i < inject_shared->n_sites; i++)
		if (!inject_shared->sites[i].failed) {
			plan.site = i;
			count(tally, scenario, &plan, run_once(scenario, &plan, true, &met));
		}
}

static bool
sweep(const struct scenario *scenario, bool brief)
{
	struct tally tally = { 0 };
	struct inject_plan nothing = { .mode = INJECT_NOTHING };
	unsigned int first, step = 1;
	enum verdict verdict;
	bool met;

	verdict = run_once(scenario, &nothing, false, &met);
	tally.points = inject_shared->points;
	if (verdict != GOOD) {
		printf("%s: %s without any fault\n", scenario->name, verdict_name(verdict));
		return false;
	}
	if (brief && tally.points > SHORT_POINTS)
		step = (tally.points + SHORT_POINTS - 1) / SHORT_POINTS;
	/* A short run begins elsewhere every day, and so comes by everywhere in time. */
	first = 1 + (unsigned int)(time(NULL) / 86400) % step;
	sweep_points(scenario, INJECT_ONCE, first, step, &tally);
	sweep_points(scenario, INJECT_ALWAYS, first, step, &tally);
	if (!brief)
		sweep_sites(scenario, &tally);
	printf("%s: %u points, %s: %u runs, %u crashes %u hangs %u leaks %u wrong\n",
	    scenario->name, tally.points, brief ? "some of them" : "once + always", tally.runs,
	    tally.crashes, tally.hangs, tally.leaks, tally.wrong);
	return tally.crashes + tally.hangs + tally.leaks + tally.wrong == 0;
}

/* ---- what was covered ---- */

static void
print_sites(void)
{
	unsigned int failed = 0;

	for (unsigned int i = 0; i < inject_shared->n_sites; i++) {
		const struct inject_site *site = &inject_shared->sites[i];

		printf("%s: met %u times, failed %u times\n", site->call, site->seen, site->failed);
		print_place(site->module, site->offset);
		failed += site->failed > 0;
	}
	printf("%u of %u places failed at least once\n", failed, inject_shared->n_sites);
}

static const struct scenario *const tables[] = { scenarios, rearm_scenarios };

/* The nth of all; NULL behind the last one. */
static const struct scenario *
nth_scenario(unsigned int n)
{
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (const struct scenario *s = tables[i]; s->name; s++)
			if (n-- == 0)
				return s;
	return NULL;
}

static const struct scenario *
find_scenario(const char *name)
{
	const struct scenario *s;

	for (unsigned int i = 0; (s = nth_scenario(i)); i++)
		if (!strcmp(s->name, name))
			return s;
	fprintf(stderr, "sweep: no scenario %s; there are:", name);
	for (unsigned int i = 0; (s = nth_scenario(i)); i++)
		fprintf(stderr, " %s", s->name);
	fprintf(stderr, "\n");
	exit(2);
}

static int
wrong(const char *format, const char *what)
{
	fputs("sweep: ", stderr);
	fprintf(stderr, format, what);
	fprintf(stderr, "\n%s", usage);
	return 2;
}

static int
replay(const char *name, const char *point, const char *mode)
{
	const struct scenario *scenario = find_scenario(name);
	struct inject_plan plan = { .mode = INJECT_ONCE };
	enum verdict verdict;
	char *end;
	bool met;

	plan.point = (unsigned int)strtoul(point, &end, 10);
	if (*point < '0' || *point > '9' || *end)
		return wrong("%s is not the number of a point", point);
	if (!strcmp(mode, "always"))
		plan.mode = INJECT_ALWAYS;
	verdict = run_once(scenario, &plan, false, &met);
	if (met)
		print_trace();
	else
		printf("the run met no point %s\n", point);
	printf("%s\n", verdict_name(verdict));
	return verdict != GOOD;
}

/* ---- set up ---- */

static void
remove_conf(void)
{
	unlink(conf);
	rmdir(directory);
}

static bool
write_conf(void)
{
	FILE *f;

	strcpy(directory, "/tmp/rearm-sweep-XXXXXX");
	if (!mkdtemp(directory))
		return false;
	atexit(remove_conf);
	snprintf(conf, sizeof conf, "%s/dat.conf", directory);
	f = fopen(conf, "we");
	if (!f)
		return false;
	fprintf(f,
	    "sweep u2.0 nonthreadsafe default \"%s/.libs/libsweepdapl.so\" rearm.2.0 \"lo 0\" "
	    "\"\"\n",
	    SWEEP_BUILD);
	setenv("DAT_OVERRIDE", conf, 1);
	return fclose(f) == 0;
}

int
main(int argc, char **argv)
{
	const struct rlimit no_core = { 0, 0 };
	const struct scenario *s;
	bool brief = false, sites = false, named = false;
	int passed = 0, failed = 0;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return fputs(usage, stdout) < 0;
	setrlimit(RLIMIT_CORE, &no_core);
	if (!inject_setup() || !write_conf()) {
		perror("sweep");
		return 2;
	}
	if (argc == 4 && (!strcmp(argv[3], "once") || !strcmp(argv[3], "always")))
		return replay(argv[1], argv[2], argv[3]);
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--short"))
			brief = true;
		else if (!strcmp(argv[i], "--sites"))
			sites = true;
		else if (argv[i][0] == '-')
			return wrong("there is no option %s", argv[i]);
		else
			named = find_scenario(argv[i]) != NULL;
	}
	for (unsigned int n = 0; (s = nth_scenario(n)); n++) {
		bool wanted = !named && (!brief || s->core);

		for (int i = 1; i < argc; i++)
			wanted = wanted || !strcmp(argv[i], s->name);
		if (!wanted)
			continue;
		if (sweep(s, brief))
			passed++;
		else
			failed++;
		fflush(stdout);
	}
	if (sites)
		print_sites();
	printf("%d passed, %d failed\n", passed, failed);
	return passed == 0 || failed != 0;
}
