/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweep_point.h"
#include "parent.h"
#include "softverbs/fault/errors.h"
#include "softverbs/fault/rule.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A shell ends with this and the number of the signal that ended its child. */
#define SHELL_SIGNALLED 128

const char *const soft_sweep_results[SOFT_SWEEP_RESULTS] = {
	[SOFT_SWEEP_MISSED] = "missed",
	[SOFT_SWEEP_WENT_ON] = "went on",
	[SOFT_SWEEP_ENDED] = "ended",
	[SOFT_SWEEP_LEAK] = "leak",
	[SOFT_SWEEP_LOST] = "lost",
	[SOFT_SWEEP_CRASH] = "crash",
	[SOFT_SWEEP_HANG] = "hang",
};

void
soft_point_rule(const struct soft_point *point, char *text, size_t size)
{
	snprintf(text, size, "%s:nth=%u:process=%s:errno=%s", soft_call_name(point->call), point->n,
	    point->process, soft_error_name(point->error));
}

/* ---- the run, in a child of the sweep ---- */

static void
point_open(const char *folder, const char *name, int fd)
{
	char path[4096];
	int opened;

	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
		soft_parent_fail(folder);
	opened = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (opened < 0 || dup2(opened, fd) < 0)
		soft_parent_fail(path);
	close(opened);
}

static void
point_set_up(const struct soft_point *point, const struct soft_sweep_place *place)
{
	const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char rule[256];

	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		soft_parent_fail("/dev/null");
	point_open(place->folder, "output", STDOUT_FILENO);
	point_open(place->folder, "errors", STDERR_FILENO);
	soft_parent_set("XDG_RUNTIME_DIR", place->folder);
	if (!point->n) {
		unsetenv("SOFTVERBS_FAULTS");
		return;
	}
	soft_point_rule(point, rule, sizeof rule);
	soft_parent_set("SOFTVERBS_FAULTS", rule);
}

/* In a child: the user's command says whether the output is right. */
static void __attribute__((noreturn))
point_exec_compare(const struct soft_sweep_place *place, const char *output)
{
	char *command;
	sigset_t none;

	if (asprintf(&command, "%s \"$@\"", place->compare) < 0)
		soft_parent_fail("--compare");
	point_open(place->folder, "compared", STDOUT_FILENO);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execl("/bin/sh", "sh", "-c", command, "sh", place->clean, output, NULL);
	_exit(EXIT_USAGE);
}

static bool
point_compare(const struct soft_sweep_place *place)
{
	char *output;
	int status = 0;
	pid_t pid;

	if (asprintf(&output, "%s/output", place->folder) < 0)
		soft_parent_fail("--compare");
	unsetenv("SOFTVERBS_FAULTS");
	pid = fork();
	if (pid < 0)
		soft_parent_fail("--compare");
	if (!pid)
		point_exec_compare(place, output);
	while (waitpid(pid, &status, 0) != pid)
		;
	free(output);
	return !status;
}

pid_t
soft_point_try_compare(const struct soft_sweep_place *place)
{
	const pid_t sweep = getpid();
	const pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != sweep)
		raise(SIGKILL);
	point_open(place->folder, "errors", STDERR_FILENO);
	point_exec_compare(place, place->clean);
}

pid_t
soft_point_start(const struct soft_point *point, const struct soft_sweep_place *place,
    struct soft_sweep_run *run)
{
	const pid_t sweep = getpid();
	const pid_t worker = fork();
	sigset_t none;
	struct soft_run kept = { .program = place->program, .limit = place->limit, .mask = &none };

	if (worker)
		return worker;
	/* The keeper then ends the processes of the run. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != sweep)
		raise(SIGKILL);
	sigemptyset(&none);
	point_set_up(point, place);
	soft_parent_keep(&kept, true);
	run->outcome = *kept.outcome;
	run->record = *kept.recorded;
	if (place->compare && point->n && !run->outcome.status && !run->outcome.late)
		run->lost = !point_compare(place);
	run->done = true;
	_exit(0);
}

/* ---- what became of it ---- */

static bool
point_is_bug(int number)
{
	return number == SIGSEGV || number == SIGABRT || number == SIGBUS || number == SIGILL ||
	       number == SIGFPE || number == SIGSYS || number == SIGTRAP;
}

int
soft_point_crash(const struct soft_outcome *outcome)
{
	const int status = outcome->status;

	if (WIFSIGNALED(status))
		return WTERMSIG(status);
	if (WIFEXITED(status) && point_is_bug(WEXITSTATUS(status) - SHELL_SIGNALLED))
		return WEXITSTATUS(status) - SHELL_SIGNALLED;
	return point_is_bug(outcome->died) ? outcome->died : 0;
}

/* The number of the process in the other run: that of the same name, or the same number. */
unsigned int
soft_point_same_process(
    const struct soft_record *record, unsigned int number, const struct soft_record *other)
{
	for (unsigned int i = 0; i < SOFT_RECORD_PROCESSES; i++)
		if (other->process[i].named &&
		    !strcmp(other->process[i].name, record->process[number - 1].name))
			return i + 1;
	return number;
}

/* What the process has more than in a run without faults: "1 rdma id, 2 memory regions". */
static size_t
point_print_more(const struct soft_recorded_process *process,
    const struct soft_recorded_process *clean, char *text, size_t size)
{
	size_t length = 0;
	int more, before;

	for (unsigned int object = 0; object < SOFT_OBJECTS && length < size; object++) {
		before = clean->objects[object];
		more = process->objects[object] - (before > 0 ? before : 0);
		if (more > 0)
			length += (size_t)snprintf(text + length, size - length, "%s%d %s%s",
			    length ? ", " : "", more, soft_object_names[object],
			    more > 1 ? "s" : "");
	}
	return length;
}

/*
 * The process in which the call failed has ended by exit(), with more objects than without faults.
 * One that was killed could not destroy anything, and another one may have been.
 */
static bool
point_leaks(
    struct soft_point *point, const struct soft_record *record, const struct soft_record *clean)
{
	const unsigned int number = record->faults[0].process;
	unsigned int same;

	if (number > SOFT_RECORD_PROCESSES || !record->process[number - 1].ended)
		return false;
	same = soft_point_same_process(record, number, clean);
	return point_print_more(&record->process[number - 1], &clean->process[same - 1],
	    point->detail, sizeof point->detail);
}

void
soft_point_judge(
    struct soft_point *point, const struct soft_sweep_run *run, const struct soft_sweep_run *clean)
{
	const int crash = soft_point_crash(&run->outcome);

	*point->detail = '\0';
	if (!run->record.fired) {
		point->result = SOFT_SWEEP_MISSED;
	} else if (run->outcome.late) {
		point->result = SOFT_SWEEP_HANG;
	} else if (crash) {
		point->result = SOFT_SWEEP_CRASH;
		snprintf(point->detail, sizeof point->detail, "%s", strsignal(crash));
	} else if (WEXITSTATUS(run->outcome.status)) {
		point->result = SOFT_SWEEP_ENDED;
		snprintf(point->detail, sizeof point->detail, "exit status %d",
		    WEXITSTATUS(run->outcome.status));
	} else if (run->lost) {
		point->result = SOFT_SWEEP_LOST;
	} else if (point_leaks(point, &run->record, &clean->record)) {
		point->result = SOFT_SWEEP_LEAK;
	} else {
		point->result = SOFT_SWEEP_WENT_ON;
	}
	point->done = true;
}
