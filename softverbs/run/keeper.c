/* SPDX-License-Identifier: BSD-3-Clause */
#include "keeper.h"
#include "parent.h"
#include "softverbs/check/write.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MILLISECOND 1000000ull
#define SECOND 1000000000ull
#define TICK (100 * MILLISECOND)

/* A process that was killed is waited for so long: the kernel may keep one that is in a driver. */
#define PATIENCE (5 * SECOND)

#define DEFAULT_TIMEOUT 60.0

static uint64_t
keeper_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* ---- the processes of the run */

/* In the child: never returns. */
static void
keeper_exec(const struct soft_run *run, pid_t keeper)
{
	/* A program that is checked does not outlive a keeper that was killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		raise(SIGKILL);
	if (run->ignores_children)
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, run->mask, NULL);
	execvp(run->program[0], run->program);
	_exit(soft_parent_exec_failed(run->program[0], errno));
}

/* The parent of a process, from /proc/PID/stat; 0 if it is unknown. */
static pid_t
keeper_parent_of(const char *process)
{
	char path[64], text[512], *end;
	int parent = 0;
	size_t length;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%.16s/stat", process);
	file = fopen(path, "re");
	if (!file)
		return 0;
	length = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[length] = '\0';
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %*c %d", &parent) != 1)
		return 0;
	return parent;
}

/* A child that was not reaped keeps its number, so no other process is meant. */
static void
keeper_kill_children(pid_t program)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;

	if (!folder && program)
		kill(program, SIGKILL);
	if (!folder)
		return;
	while ((entry = readdir(folder)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    keeper_parent_of(entry->d_name) == getpid())
			kill((pid_t)atol(entry->d_name), SIGKILL);
	closedir(folder);
}

/*
 * Reaps all that have ended; the program's number becomes 0 with it.  False if there is no child
 * any more.
 */
static bool
keeper_reap(const struct soft_run *run, pid_t *program)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == *program) {
			run->outcome->status = status;
			*program = 0;
		} else if (WIFSIGNALED(status) && !run->outcome->ended) {
			run->outcome->died = WTERMSIG(status);
		}
	return !pid;
}

/* Kills the children, then those that became children by that, until there are none. */
static void
keeper_end_all(const struct soft_run *run, pid_t *program)
{
	const struct timespec tick = { .tv_nsec = 10 * MILLISECOND };
	const uint64_t end = keeper_now() + PATIENCE;
	sigset_t children;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	while (keeper_reap(run, program) && keeper_now() < end) {
		keeper_kill_children(*program);
		sigtimedwait(&children, NULL, &tick);
	}
}

/* ---- the end of a run */

struct idle {
	uint64_t timeout, before, length;
	uint64_t all; /* the length of the run */
	unsigned int progress, ended;
};

static void
keeper_idle_begin(struct idle *idle)
{
	const char *timeout = getenv("SOFTVERBS_CHECK_TIMEOUT");
	const double seconds = timeout ? strtod(timeout, NULL) : DEFAULT_TIMEOUT;

	*idle = (struct idle){ .timeout = (uint64_t)(seconds * SECOND), .before = keeper_now() };
}

/*
 * The checker has ended a process, and since then no other one has done anything for so long.  A
 * longer tick was spent without the processor, or stopped.
 */
static bool
keeper_idle_is_over(struct idle *idle, const struct soft_tally *tally)
{
	const uint64_t now = keeper_now(), passed = now - idle->before;
	const unsigned int progress = tally->progress, ended = tally->ended;

	idle->before = now;
	idle->length += passed < 2 * TICK ? passed : 2 * TICK;
	idle->all += passed < 2 * TICK ? passed : 2 * TICK;
	if (progress != idle->progress || ended != idle->ended)
		idle->length = 0;
	idle->progress = progress;
	idle->ended = ended;
	return ended && idle->length >= idle->timeout;
}

static void
keeper_say(const struct idle *idle)
{
	const char *check = getenv("SOFTVERBS_CHECK");
	char line[160];
	int length;

	if (check && !strcmp(check, "json"))
		return;
	length = snprintf(line, sizeof line,
	    "softverbs-run --check: the other processes of the run have made no progress with "
	    "theirs for %llu s after that, and are ended\n",
	    (unsigned long long)(idle->length / SECOND));
	soft_write(STDERR_FILENO, line, (size_t)length, 1000);
}

/* softverbs-run was killed: it holds the other end of the pipe. */
static bool
keeper_is_alone(const struct soft_run *run)
{
	struct pollfd alive = { .fd = run->alive };

	return poll(&alive, 1, 0) > 0;
}

/*
 * A terminal sends its signals to all processes of the group, so only those from softverbs-run are
 * passed on.
 */
static void
keeper_wait(const struct soft_run *run, pid_t program)
{
	const struct timespec tick = { .tv_nsec = TICK };
	siginfo_t info;
	const int number = sigtimedwait(run->signals, &info, &tick);

	if (program && number > 0 && number != SIGCHLD && info.si_code <= 0 &&
	    info.si_pid == run->parent)
		kill(program, number);
}

/* True if the run is to be ended: nothing happens in it any more, or its time is over. */
static bool
keeper_is_over(const struct soft_run *run, struct idle *idle, pid_t program, bool some)
{
	const bool idles = keeper_idle_is_over(idle, run->tally);

	run->outcome->length = idle->all;
	run->outcome->late = some && run->limit && idle->all > run->limit;
	return (program && idles) || run->outcome->late;
}

/* Without a limit the processes that the program leaves may run on. */
static void
keeper_wait_for_all(const struct soft_run *run, pid_t program)
{
	struct idle idle;
	bool some = true;

	keeper_idle_begin(&idle);
	while (program || (some && run->limit)) {
		keeper_wait(run, program);
		some = keeper_reap(run, &program);
		if (keeper_is_alone(run)) {
			keeper_end_all(run, &program);
			soft_parent_remove_files(run);
			_exit(EXIT_USAGE);
		}
		if (keeper_is_over(run, &idle, program, some)) {
			run->outcome->ended = true;
			keeper_end_all(run, &program);
			if (!run->outcome->late)
				keeper_say(&idle);
			break;
		}
	}
	/* What the program has left waits, perhaps, for the process that was ended. */
	if (run->tally->ended)
		keeper_end_all(run, &program);
}

void
soft_keeper_run(const struct soft_run *run)
{
	const pid_t own = getpid();
	pid_t program;

	prctl(PR_SET_NAME, "softverbs-keep");
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	program = fork();
	if (program < 0)
		soft_parent_fail("fork");
	if (!program)
		keeper_exec(run, own);
	keeper_wait_for_all(run, program);
	run->outcome->known = true;
	_exit(0);
}
