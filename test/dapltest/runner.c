/* SPDX-License-Identifier: BSD-3-Clause */
#include "runner.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int fds_before;
static int threads_before;

static int
count_entries(const char *directory)
{
	DIR *dir = opendir(directory);
	int n = 0;

	if (!dir)
		return -1;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2; /* . and .. */
}

int
runner_count_fds(void)
{
	return count_entries("/proc/self/fd") - 1; /* the one that lists */
}

int
runner_count_threads(void)
{
	return count_entries("/proc/self/task");
}

static void *
tell_id(void *arg)
{
	*(pid_t *)arg = (pid_t)syscall(SYS_gettid);
	return NULL;
}

/*
 * The thread sanitizer starts a thread of its own along with a process's first: have it behind us
 * before threads are counted.  A joined thread leaves /proc/self/task a moment after the join.
 */
static void
start_first_thread(void)
{
	const struct timespec tick = { .tv_nsec = 1000000 };
	char entry[64];
	pthread_t thread;
	pid_t id = 0;

	if (pthread_create(&thread, NULL, tell_id, &id) != 0)
		return;
	pthread_join(thread, NULL);
	snprintf(entry, sizeof entry, "/proc/self/task/%d", (int)id);
	for (int i = 0; i < 500 && access(entry, F_OK) == 0; i++)
		nanosleep(&tick, NULL);
}

static void
leak_setup(void)
{
	start_first_thread();
	fds_before = runner_count_fds();
	threads_before = runner_count_threads();
}

void
runner_count_anew(void)
{
	fds_before = runner_count_fds();
}

int
runner_await_threads(int expected)
{
	const struct timespec tick = { .tv_nsec = 1000000 };

	for (int i = 0; i < 500 && runner_count_threads() > expected; i++)
		nanosleep(&tick, NULL);
	return runner_count_threads();
}

static void
leak_teardown(void)
{
	int threads = runner_await_threads(threads_before);
	const char *leaks = getenv("REARM_TEST_LEAKS");

	ck_assert_msg(threads == threads_before, "leaked threads: %d before, %d after",
	    threads_before, threads);
	if (leaks && atoi(leaks) == 0)
		return;
	ck_assert_msg(runner_count_fds() == fds_before, "leaked descriptors: %d before, %d after",
	    fds_before, runner_count_fds());
}

double
runner_stretch(double time)
{
	const char *factor = getenv("REARM_TEST_TIME_FACTOR");

	return time * (factor ? atof(factor) : 1);
}

TCase *
runner_tcase_timed(Suite *suite, const char *name, double seconds)
{
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, runner_stretch(seconds));
	tcase_add_checked_fixture(tcase, leak_setup, leak_teardown);
	suite_add_tcase(suite, tcase);
	return tcase;
}

TCase *
runner_tcase(Suite *suite, const char *name)
{
	return runner_tcase_timed(suite, name, 20);
}

static int
being_debugged(void)
{
	char line[256];
	int pid = 0;
	FILE *f = fopen("/proc/self/status", "re");

	if (!f)
		return 0;
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "TracerPid: %d", &pid) == 1)
			break;
	fclose(f);
	return pid != 0;
}

/* "SUITE" or "SUITE:CASE": splits in place, a missing case is NULL. */
static void
split_selector(char *selector, const char **suite, const char **tcase)
{
	char *colon = strchr(selector, ':');

	*suite = selector;
	*tcase = NULL;
	if (colon) {
		*colon = '\0';
		*tcase = colon + 1;
	}
}

int
runner_main(int argc, char **argv, const runner_suite_fn *suites)
{
	const struct rlimit no_core = { 0, 0 };
	SRunner *sr = srunner_create(NULL);
	const char *suite, *tcase;
	int run, failed, missing = 0;

	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGPIPE, SIG_IGN);
	if (being_debugged())
		srunner_set_fork_status(sr, CK_NOFORK);
	for (int i = 0; suites[i]; i++)
		srunner_add_suite(sr, suites[i]());

	if (argc < 2) {
		srunner_run_all(sr, CK_ENV);
	} else {
		for (int i = 1; i < argc; i++) {
			run = srunner_ntests_run(sr);
			split_selector(argv[i], &suite, &tcase);
			srunner_run(sr, suite, tcase, CK_ENV);
			if (srunner_ntests_run(sr) > run)
				continue;
			missing++;
			fprintf(stderr, "%s: no test ran of %s%s%s; is the name right?\n",
				argv[0], suite, tcase ? ":" : "",
				tcase ? tcase : "");
		}
	}
	run = srunner_ntests_run(sr);
	failed = srunner_ntests_failed(sr) + missing;
	run += missing;
	srunner_free(sr);
	printf("%d passed, %d failed\n", run - failed, failed);
	return run == 0 || failed != 0;
}
