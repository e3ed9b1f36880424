/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweep.h"
#include "fault_option.h"
#include "parent.h"
#include "say.h"
#include "replay.h"
#include "streams.h"
#include "sweep_file.h"
#include "sweep_plan.h"
#include "tally_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND 1000000000ull

/* A run without faults ends by itself in this time. */
#define CLEAN_LIMIT (600 * SECOND)

/* A run hangs after so many times the one without faults, and not before --hang-after. */
#define TIMES 10

/*
 * Without faults a program runs so often.  If it does not make the same calls each time, more runs
 * show which ones those are, in this time.
 */
#define CLEAN_RUNS 8
#define CLEAN_RUNS_MOST 20
#define CLEAN_TIME (30 * SECOND)

/* One run in three may do without a call that is planned: then the point is run so often. */
#define TRIES 6

struct sweep {
	char **argv, **program;
	char *folder, *clean; /* of all runs; the output of one without faults */
	struct soft_clean_runs clean_runs;
	struct soft_sweep_run *runs; /* one a job */
	pid_t *workers;		     /* 0: the job is free */
	int status;		     /* of the last one that has ended */
	unsigned int *places;	     /* the points that the jobs run */
	struct soft_plan plan;
	uint64_t limit;
	unsigned int totals[SOFT_SWEEP_RESULTS];
};

/*
 * Held by the sweep except where it waits: for a run, or for who reads what it writes.  The thread
 * that a signal wakes takes it, ends the runs, and keeps it.
 */
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;

/* What the end of the process removes. */
static struct sweep *at_exit;
static pid_t owner;

/* ---- folders ---- */

static void
sweep_clean_up(const struct sweep *sweep)
{
	soft_tally_folder_remove(sweep->folder);
}

static void
sweep_make_folders(struct sweep *sweep)
{
	sweep->folder = soft_tally_folder_create();
	if (asprintf(&sweep->clean, "%s/clean", sweep->folder) < 0)
		soft_parent_fail("TMPDIR");
}

/* Of one job; allocated.  It is there already when the job ran another point. */
static char *
sweep_folder_of(const struct sweep *sweep, unsigned int job)
{
	char *folder;

	if (asprintf(&folder, "%s/%u", sweep->folder, job) < 0 ||
	    (mkdir(folder, 0700) && errno != EEXIST))
		soft_parent_fail(sweep->folder);
	return folder;
}

/* ---- workers ---- */

/* The runs end, and nothing is left of them. */
static void
sweep_end_all(const struct sweep *sweep)
{
	for (unsigned int job = 0; job < soft_fault_options.jobs; job++)
		if (sweep->workers[job])
			kill(sweep->workers[job], SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
	soft_tally_file_remove_left();
	sweep_clean_up(sweep);
}

/* Also where an error ends the sweep; a child that ends so is none. */
static void
sweep_exit(void)
{
	if (at_exit && getpid() == owner)
		sweep_end_all(at_exit);
	at_exit = NULL;
}

/* All that would end this process, but for what it ignores. */
static void
sweep_interrupting(sigset_t *signals)
{
	static const int others[] = { SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG,
		SIGWINCH };
	struct sigaction now;

	sigfillset(signals);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		sigdelset(signals, others[i]);
	for (int number = 1; number < NSIG; number++)
		if (!sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN)
			sigdelset(signals, number);
}

/* A signal ends the sweep also while a pipe that no one reads keeps it. */
static void *
sweep_await_signal(void *argument)
{
	const struct sweep *sweep = argument;
	sigset_t signals;
	siginfo_t info;
	int number;

	sweep_interrupting(&signals);
	do /* a write to a pipe without a reader, or to a file that may not grow, is an error */
		number = sigwaitinfo(&signals, &info);
	while (number < 0 || (info.si_code == SI_USER && info.si_pid == getpid()));
	pthread_mutex_lock(&busy);
	sweep_end_all(sweep);
	signal(number, SIG_DFL);
	kill(getpid(), number);
	pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	_exit(EXIT_USAGE);
}

static void
sweep_start_waiting(struct sweep *sweep)
{
	pthread_t thread;
	sigset_t signals;

	signal(SIGCHLD, SIG_DFL);
	sweep_interrupting(&signals);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	pthread_mutex_lock(&busy);
	at_exit = sweep;
	owner = getpid();
	errno =
	    atexit(sweep_exit) ? ENOMEM : pthread_create(&thread, NULL, sweep_await_signal, sweep);
	if (errno)
		soft_parent_fail("thread");
}

/* Waits until one has ended, and returns its job. */
static unsigned int
sweep_wait(struct sweep *sweep)
{
	sigset_t children;
	pid_t pid;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	for (;;) {
		pid = waitpid(-1, &sweep->status, WNOHANG);
		for (unsigned int job = 0; pid > 0 && job < soft_fault_options.jobs; job++)
			if (sweep->workers[job] == pid) {
				sweep->workers[job] = 0;
				return job;
			}
		if (pid > 0)
			continue;
		pthread_mutex_unlock(&busy);
		(void)sigwaitinfo(&children, NULL);
		pthread_mutex_lock(&busy);
	}
}

static void
sweep_write(void)
{
	bool written;

	pthread_mutex_unlock(&busy);
	written = soft_streams_flush();
	pthread_mutex_lock(&busy);
	/* The end of the process says why. */
	if (!written)
		exit(EXIT_USAGE);
}

static void
sweep_start(struct sweep *sweep, unsigned int job, unsigned int index)
{
	static const struct soft_point none;
	const bool clean = index >= sweep->plan.count;
	char *folder = sweep_folder_of(sweep, job);
	const struct soft_sweep_place place = {
		.program = sweep->program,
		.folder = folder,
		.clean = sweep->clean,
		.compare = soft_fault_options.compare,
		.limit = clean ? CLEAN_LIMIT : sweep->limit,
	};

	sweep->runs[job].done = sweep->runs[job].lost = false;
	sweep->places[job] = index;
	sweep_write();
	sweep->workers[job] =
	    soft_point_start(clean ? &none : &sweep->plan.points[index], &place, &sweep->runs[job]);
	if (sweep->workers[job] < 0)
		soft_parent_fail("fork");
	free(folder);
}

/* ---- the runs without faults ---- */

/* What the program has written on standard error comes first. */
static void
sweep_print_errors(const struct sweep *sweep)
{
	char path[PATH_MAX], text[4096];
	size_t size;
	FILE *errors;

	snprintf(path, sizeof path, "%s/0/errors", sweep->folder);
	errors = fopen(path, "re");
	while (errors && (size = fread(text, 1, sizeof text, errors)))
		fwrite(text, 1, size, stderr);
	if (errors)
		fclose(errors);
}

static void __attribute__((noreturn))
sweep_refuse(struct sweep *sweep, const char *format, int number)
{
	char *text;

	pthread_mutex_unlock(&busy);
	sweep_print_errors(sweep);
	if (asprintf(&text, format, sweep->program[0], number) >= 0)
		soft_say("softverbs-run --sweep: %s", text);
	pthread_mutex_lock(&busy);
	exit(EXIT_USAGE);
}

/* A command that is not there would lose the data of each run. */
static void
sweep_try_compare(struct sweep *sweep)
{
	char *folder = sweep_folder_of(sweep, 0);
	const struct soft_sweep_place place = {
		.folder = folder, .clean = sweep->clean, .compare = soft_fault_options.compare
	};
	const int empty = open(sweep->clean, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (empty < 0 || close(empty))
		soft_parent_fail(sweep->clean);
	sweep->workers[0] = soft_point_try_compare(&place);
	if (sweep->workers[0] < 0)
		soft_parent_fail("fork");
	sweep_wait(sweep);
	if (WIFEXITED(sweep->status) && (WEXITSTATUS(sweep->status) == EXIT_NOT_FOUND ||
					    WEXITSTATUS(sweep->status) == EXIT_CANNOT_RUN)) {
		soft_say("softverbs-run: --compare=%s: the command %s", place.compare,
		    WEXITSTATUS(sweep->status) == EXIT_NOT_FOUND ? "is not found" :
								   "cannot be executed");
		exit(EXIT_USAGE);
	}
	free(folder);
}

static void
sweep_run_clean_once(struct sweep *sweep)
{
	const struct soft_outcome *outcome = &sweep->runs[0].outcome;

	sweep_start(sweep, 0, sweep->plan.count);
	sweep_wait(sweep);
	if (!sweep->runs[0].done || !outcome->known)
		sweep_refuse(sweep, "%s could not be run", 0);
	if (outcome->late)
		sweep_refuse(sweep, "%s does not end by itself in %d s without faults",
		    (int)(CLEAN_LIMIT / SECOND));
	if (WIFSIGNALED(outcome->status) || soft_point_crash(outcome))
		sweep_refuse(
		    sweep, "%s is ended by signal %d without faults", soft_point_crash(outcome));
	if (WEXITSTATUS(outcome->status))
		sweep_refuse(
		    sweep, "%s ends with status %d without faults", WEXITSTATUS(outcome->status));
	sweep->clean_runs.runs[sweep->clean_runs.count++] = sweep->runs[0];
	if (outcome->length * TIMES > sweep->limit)
		sweep->limit = outcome->length * TIMES;
}

static void
sweep_run_clean(struct sweep *sweep)
{
	const struct soft_clean_runs *clean = &sweep->clean_runs;
	uint64_t passed = 0;
	char *output;

	while (
	    clean->count < CLEAN_RUNS || (clean->count < CLEAN_RUNS_MOST && passed < CLEAN_TIME &&
					     soft_sweep_plan_varies(clean))) {
		sweep_run_clean_once(sweep);
		passed += sweep->runs[0].outcome.length;
	}
	if (asprintf(&output, "%s/0/output", sweep->folder) < 0 || rename(output, sweep->clean))
		soft_parent_fail(sweep->folder);
	free(output);
}

/* ---- the points ---- */

static void
sweep_print_finding(const struct sweep *sweep, const struct soft_point *point)
{
	char rule[256];

	soft_point_rule(point, rule, sizeof rule);
	printf("%s%s%s%s: ", soft_sweep_results[point->result], *point->detail ? " (" : "",
	    point->detail, *point->detail ? ")" : "");
	soft_replay_print(stdout, rule, sweep->argv, sweep->program);
	putchar('\n');
}

/* In the order of the points, whichever ended first. */
static unsigned int
sweep_print_done(struct sweep *sweep, unsigned int printed, FILE *file, unsigned int known)
{
	for (; printed < sweep->plan.count && sweep->plan.points[printed].done; printed++) {
		const struct soft_point *point = &sweep->plan.points[printed];

		/* A long line is written before it ends. */
		pthread_mutex_unlock(&busy);
		if (soft_sweep_is_finding(point->result))
			sweep_print_finding(sweep, point);
		sweep->totals[point->result]++;
		if (file && printed >= known)
			soft_sweep_file_add(file, point);
		pthread_mutex_lock(&busy);
	}
	sweep_write();
	return printed;
}

/* A run has ended: whether another one takes its place, because the call was not made. */
static bool
sweep_try_again(const struct sweep *sweep, unsigned int job)
{
	struct soft_point *point = &sweep->plan.points[sweep->places[job]];

	return !soft_record_fired(&sweep->runs[job].record) && ++point->tries < TRIES;
}

static void
sweep_run_points(struct sweep *sweep, FILE *file)
{
	unsigned int next = 0, known, printed, job;

	while (next < sweep->plan.count && sweep->plan.points[next].done)
		next++;
	known = next;
	printed = sweep_print_done(sweep, 0, file, known);
	while (printed < sweep->plan.count) {
		for (job = 0; job < soft_fault_options.jobs && next < sweep->plan.count; job++)
			if (!sweep->workers[job])
				sweep_start(sweep, job, next++);
		job = sweep_wait(sweep);
		if (!sweep->runs[job].done || !sweep->runs[job].outcome.known)
			sweep_refuse(sweep, "%s could not be run", 0);
		if (sweep_try_again(sweep, job)) {
			sweep_start(sweep, job, sweep->places[job]);
			continue;
		}
		soft_point_judge(&sweep->plan.points[sweep->places[job]], &sweep->runs[job],
		    &sweep->clean_runs.runs[0]);
		printed = sweep_print_done(sweep, printed, file, known);
	}
}

static int
sweep_print_summary(const struct sweep *sweep)
{
	const unsigned int *totals = sweep->totals;

	printf("softverbs-run --sweep: %u points: %u crash, %u hang, %u leak, %u lost; %u ended, "
	       "%u went on, %u missed, %u raced\n",
	    sweep->plan.count, totals[SOFT_SWEEP_CRASH], totals[SOFT_SWEEP_HANG],
	    totals[SOFT_SWEEP_LEAK], totals[SOFT_SWEEP_LOST], totals[SOFT_SWEEP_ENDED],
	    totals[SOFT_SWEEP_WENT_ON], totals[SOFT_SWEEP_MISSED], totals[SOFT_SWEEP_RACED]);
	sweep_write();
	for (unsigned int result = 0; result < SOFT_SWEEP_RESULTS; result++)
		if (soft_sweep_is_finding((enum soft_sweep_result)result) && totals[result])
			return EXIT_FOUND;
	return 0;
}

static void *
sweep_share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		soft_parent_fail("mmap");
	return memory;
}

int
soft_sweep_run(char **argv, char **program)
{
	const unsigned int jobs = soft_fault_options.jobs;
	struct sweep sweep = {
		.argv = argv,
		.program = program,
		.limit = soft_fault_options.hang_after * SECOND,
	};
	FILE *file = NULL;
	int status;

	sweep.clean_runs.runs = sweep_share(CLEAN_RUNS_MOST * sizeof *sweep.clean_runs.runs);
	sweep.runs = sweep_share(jobs * sizeof *sweep.runs);
	sweep.workers = calloc(jobs, sizeof *sweep.workers);
	sweep.places = calloc(jobs, sizeof *sweep.places);
	if (!sweep.workers || !sweep.places)
		soft_parent_fail("--jobs");
	/* So an interrupted sweep can wait for the keepers, which end their runs. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	sweep_make_folders(&sweep);
	sweep_start_waiting(&sweep);
	if (soft_fault_options.compare)
		sweep_try_compare(&sweep);
	sweep_run_clean(&sweep);
	sweep.plan = soft_sweep_plan(&sweep.clean_runs);
	if (!sweep.plan.count)
		sweep_refuse(&sweep, "%s makes no call that the sweep could let fail", 0);
	if (soft_fault_options.json) {
		/* A FIFO waits for its reader. */
		pthread_mutex_unlock(&busy);
		file = soft_sweep_file_open(soft_fault_options.json, program, &sweep.plan);
		pthread_mutex_lock(&busy);
	}
	sweep_run_points(&sweep, file);
	status = sweep_print_summary(&sweep);
	if (file && fclose(file))
		soft_parent_fail(soft_fault_options.json);
	/* It is part of this function. */
	sweep_exit();
	return status;
}
