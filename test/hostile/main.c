/* SPDX-License-Identifier: BSD-3-Clause */
/* hostile -- a random run against the library through its public calls; see README.md */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "actor.h"
#include "adapter.h"
#include "board.h"
#include "call.h"
#include "clock.h"
#include "cno.h"
#include "ep.h"
#include "evd.h"
#include "ops.h"
#include "options.h"
#include "owed.h"
#include "peer.h"
#include "perturb.h"
#include "psp.h"
#include "queue.h"
#include "report.h"
#include "run.h"

static struct evd evds[EVD_RECORDS];
static struct cno cnos[CNO_RECORDS];

static int
count_entries(const char *directory)
{
	DIR *dir = opendir(directory);
	int n = 0;

	if (!dir)
		report_broken("cannot read %s", directory);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2; /* . and .. */
}

static int
descriptors(void)
{
	return count_entries("/proc/self/fd");
}

/* The entry of a joined thread disappears a moment later. */
static int
threads(int expected)
{
	int n = count_entries("/proc/self/task");

	for (int i = 0; i < 2000 && n > expected; i++) {
		clock_nap_us(2000);
		n = count_entries("/proc/self/task");
	}
	return n;
}

static void *
count_others(void *others)
{
	*(int *)others = count_entries("/proc/self/task") - 1;
	return NULL;
}

/* A sanitizer starts a thread of its own when the program starts its first thread. */
static int
first_threads(void)
{
	pthread_t thread;
	int n;

	if (pthread_create(&thread, NULL, count_others, &n))
		report_broken("cannot start a thread");
	pthread_join(thread, NULL);
	return n;
}

/* In the address sanitizer, if there is one: leaks may show where a left-over thread comes from. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static void
print_leaks(void)
{
	if (__lsan_do_recoverable_leak_check)
		(void)__lsan_do_recoverable_leak_check();
}

static void
print_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	char path[64], name[64];
	struct dirent *entry;
	FILE *f;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", entry->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(name, sizeof name, f))
			fprintf(stderr, "  thread %s: %s", entry->d_name, name);
		fclose(f);
	}
	if (dir)
		closedir(dir);
}

static void
print_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	char path[64], target[256];
	struct dirent *entry;
	ssize_t n;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof path, "/proc/self/fd/%.20s", entry->d_name);
		n = readlink(path, target, sizeof target - 1);
		if (n > 0)
			fprintf(stderr, "  descriptor %s: %.*s\n", entry->d_name, (int)n, target);
	}
	if (dir)
		closedir(dir);
}

/* Makes the library and the tools open all that they keep open for the process. */
static void
warm_up(void)
{
	DAT_EVD_HANDLE async;
	DAT_IA_HANDLE ia;

	for (unsigned int i = 0; i < options.n_ias; i++) {
		async = DAT_HANDLE_NULL;
		dat_must(options.ia[i], dat_open(options.ia[i], 8, &async, &ia));
		dat_must("dat_ia_close", dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
	}
	queues_begin();
	queues_end();
}

static void
print_counts(unsigned long calms)
{
	printf("seed %llu: %lu adapters, %lu EVDs, %lu CNOs, %lu endpoints, %llu ends connected "
	       "(%llu to the other process); "
	       "%llu events taken, %llu of transfers; %lu calms\n",
	    (unsigned long long)options.seed, life_count(LIFE_ADAPTER), life_count(LIFE_EVD),
	    life_count(LIFE_CNO), life_count(LIFE_EP), (unsigned long long)owed_connections(),
	    (unsigned long long)owed_abroad(), (unsigned long long)owed_takings(),
	    (unsigned long long)owed_transfers(), calms);
	if (options.group[GROUP_REARM])
		queues_print_counts();
	if (options.verbose)
		call_print_counts();
}

static void
hostilities(void)
{
	const bool first = options.board < 0;
	const double end = clock_seconds() + options.seconds;
	unsigned long calms = 0;
	int board = options.board;

	if (first)
		board = board_make();
	else
		board_join(board);
	ops_prepare();
	queues_begin();
	clock_start(options.ia[0], run_watch);
	adapter_open(true);
	adapter_open(false);
	run_start(options.threads);
	if (first && options.group[GROUP_PEER])
		peer_start(board);
	if (!first)
		board_set_ready(true);
	/* The second process runs until the first one ends the run. */
	while (first ? clock_seconds() < end : !board_is_end()) {
		clock_nap_us(3000 + pick(40000));
		run_calm();
		calms++;
	}
	if (first && options.group[GROUP_PEER])
		peer_stop();
	run_stop();
	run_calm();
	queues_end();
	adapters_close_all();
	clock_stop();
	board_close();
	if (first)
		print_counts(calms);
}

int
main(int argc, char **argv)
{
	const struct rlimit no_core = { 0, 0 };
	const int first = first_threads();
	int fds, tasks;

	options_parse(argc, argv);
	if (options.board < 0)
		setenv("HOSTILE_COMMAND", options_text(), 1);
	report_command(getenv("HOSTILE_COMMAND"));
	actor_seed(options.seed);
	actor_enter("main", 0);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGPIPE, SIG_IGN);
	actors_handle_signals();
	if (options.group[GROUP_PERTURB])
		perturb_start();
	if (options.board < 0)
		printf("%s\n", options_text());
	else
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	fflush(stdout);

	adapters_begin(options.ia, options.n_ias);
	life_pool(LIFE_EVD, evds, sizeof evds[0], EVD_RECORDS, NULL);
	life_pool(LIFE_CNO, cnos, sizeof cnos[0], CNO_RECORDS, NULL);
	eps_begin();
	psps_begin();
	warm_up();
	fds = descriptors() - (options.board >= 0); /* it is closed at the end */
	tasks = threads(first);
	hostilities();
	if (threads(tasks) != tasks) {
		print_leaks();
		print_threads();
		report_wrong(
		    NULL, NULL, "%d threads at the start, %d at the end", tasks, threads(tasks));
	}
	if (descriptors() != fds) {
		print_leaks();
		print_descriptors();
		report_wrong(
		    NULL, NULL, "%d descriptors at the start, %d at the end", fds, descriptors());
	}
	actor_leave();
	if (options.board < 0)
		printf("1 passed, 0 failed\n");
	return 0;
}
