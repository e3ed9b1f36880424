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
	[SOFT_SWEEP_RACED] = "raced",
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
	soft_deaths_start(place->folder);
	soft_parent_keep(&kept, true);
	soft_deaths_stop(&run->deaths);
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

/* How many objects the process has left more than in a run without faults. */
static int
point_more(const struct soft_recorded_process *process, const struct soft_recorded_process *clean,
    enum soft_object object)
{
	const int before = clean->objects[object];

	return process->objects[object] - (before > 0 ? before : 0);
}

/* "1 rdma id, 2 memory regions" */
static size_t
point_print_more(const struct soft_recorded_process *process,
    const struct soft_recorded_process *clean, char *text, size_t size)
{
	size_t length = 0;
	int more;

	for (enum soft_object object = 0; object < SOFT_OBJECTS && length < size; object++) {
		more = point_more(process, clean, object);
		if (more > 0)
			length += (size_t)snprintf(text + length, size - length, "%s%d %s%s",
			    length ? ", " : "", more, soft_object_names[object],
			    more > 1 ? "s" : "");
	}
	return length;
}

#define OBJECT(name) (1u << SOFT_OBJECT_##name)

/* What the call was to destroy, and what that object uses; 0 if it destroys nothing. */
static unsigned int
point_objects_of(enum soft_call call)
{
	switch (call) {
	case SOFT_CALL_ibv_close_device:
		return OBJECT(CONTEXT);
	case SOFT_CALL_ibv_dealloc_pd:
		return OBJECT(PD) | OBJECT(TD);
	case SOFT_CALL_ibv_dealloc_td:
		return OBJECT(TD);
	case SOFT_CALL_ibv_dereg_mr:
		return OBJECT(MR) | OBJECT(PD) | OBJECT(BUFFER);
	case SOFT_CALL_ibv_dealloc_mw:
		return OBJECT(MW) | OBJECT(PD);
	case SOFT_CALL_ibv_destroy_comp_channel:
		return OBJECT(COMP_CHANNEL);
	case SOFT_CALL_ibv_destroy_cq:
		return OBJECT(CQ) | OBJECT(COMP_CHANNEL);
	case SOFT_CALL_ibv_destroy_srq:
		return OBJECT(SRQ) | OBJECT(PD) | OBJECT(CQ) | OBJECT(COMP_CHANNEL);
	case SOFT_CALL_ibv_destroy_qp:
		return OBJECT(QP) | OBJECT(PD) | OBJECT(TD) | OBJECT(CQ) | OBJECT(COMP_CHANNEL) |
		       OBJECT(SRQ);
	case SOFT_CALL_ibv_destroy_ah:
		return OBJECT(AH) | OBJECT(PD);
	case SOFT_CALL_rdma_destroy_id:
		return OBJECT(ID);
	default:
		return 0;
	}
}

/* Whether the program closes no context, or no event channel, that the object of the call is of. */
static bool
point_closes_none(const struct soft_recorded_process *process, enum soft_call call)
{
	const int channels = process->objects[SOFT_OBJECT_EVENT_CHANNEL];

	if (call == SOFT_CALL_rdma_destroy_id)
		return channels > 0 && (unsigned int)channels >=
					   process->calls[SOFT_CALL_rdma_create_event_channel];
	return process->objects[SOFT_OBJECT_CONTEXT] > 0 &&
	       !process->calls[SOFT_CALL_ibv_close_device];
}

/*
 * After a call that was to destroy an object: whether the program went on to destroy the others.
 * It cannot destroy what this object uses, but the kernel does so when the context or the event
 * channel is closed.
 */
static bool
point_gave_up(const struct soft_recorded_process *process,
    const struct soft_recorded_process *clean, enum soft_call call)
{
	const unsigned int objects = point_objects_of(call);

	if (point_closes_none(process, call))
		return true;
	for (enum soft_object object = 0; object < SOFT_OBJECTS; object++)
		if ((object == SOFT_OBJECT_CONTEXT || !(objects & 1u << object)) &&
		    point_more(process, clean, object) > 0)
			return true;
	return false;
}

/*
 * The process in which the call failed has ended by exit(0), with more objects than without faults.
 * One that was killed could not destroy anything, and another one may have been.
 */
static bool
point_leaks(
    struct soft_point *point, const struct soft_sweep_run *run, const struct soft_record *clean)
{
	const struct soft_record *record = &run->record;
	const unsigned int number = record->faults[0].process;
	const struct soft_recorded_process *process, *same;

	if (number > SOFT_RECORD_PROCESSES || !record->process[number - 1].ended ||
	    run->deaths.status[number])
		return false;
	process = &record->process[number - 1];
	same = &clean->process[soft_point_same_process(record, number, clean) - 1];
	if (point_objects_of(point->call) && !point_gave_up(process, same, point->call))
		return false;
	return point_print_more(process, same, point->detail, sizeof point->detail);
}

/*
 * The signal of a bug that ended another process, though its parent has waited for it; or 0.  Some
 * programs let a child end so on purpose: then it does without faults, too.
 */
static int
point_death(const struct soft_deaths *deaths, const struct soft_deaths *clean)
{
	for (int number = 1; number < NSIG; number++)
		if (point_is_bug(number) && deaths->by[number] > clean->by[number])
			return number;
	return 0;
}

void
soft_point_judge(
    struct soft_point *point, const struct soft_sweep_run *run, const struct soft_sweep_run *clean)
{
	int crash = soft_point_crash(&run->outcome);

	if (!crash)
		crash = point_death(&run->deaths, &clean->deaths);

	*point->detail = '\0';
	if (!soft_record_fired(&run->record)) {
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
	} else if (point_leaks(point, run, &clean->record)) {
		point->result = SOFT_SWEEP_LEAK;
	} else {
		point->result = SOFT_SWEEP_WENT_ON;
	}
	/* Which of several calls has failed is chance, and so is what came of it. */
	if (point->races && !soft_sweep_is_finding(point->result)) {
		point->result = SOFT_SWEEP_RACED;
		*point->detail = '\0';
	}
	point->done = true;
}
