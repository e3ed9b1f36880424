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
#include <sys/signalfd.h>
#include <sys/syscall.h>
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

/* ---- signals */

/* What the keeper was sent itself last, of each number, and how often. */
static struct {
	uint32_t sender;
	int32_t code;
	unsigned int count;
	uint64_t when;
} received[NSIG];

/* A group is sent a signal at one time. */
#define AT_ONCE SECOND

/* Others can send to the keeper alone: it is then no sign of what is sent later. */
static void
keeper_receive(int signals)
{
	struct signalfd_siginfo info;
	uint32_t number;

	while (read(signals, &info, sizeof info) == sizeof info) {
		number = info.ssi_signo;
		if (number >= NSIG)
			continue;
		if (received[number].sender != info.ssi_pid ||
		    received[number].code != info.ssi_code ||
		    keeper_now() - received[number].when > AT_ONCE)
			received[number].count = 0;
		received[number].sender = info.ssi_pid;
		received[number].code = info.ssi_code;
		received[number].count++;
		received[number].when = keeper_now();
	}
}

/* True if the program has it already. */
static bool
keeper_was_sent(const siginfo_t *info)
{
	const int number = info->si_signo;

	if (!received[number].count || received[number].code != info->si_code ||
	    received[number].sender != (uint32_t)info->si_pid ||
	    keeper_now() - received[number].when > AT_ONCE)
		return false;
	received[number].count--;
	return true;
}

/* With its value and its sender, where the kernel lets another process name them. */
static void
keeper_pass_on(pid_t program, siginfo_t *info)
{
	if (info->si_code >= 0 || info->si_code == SI_TKILL ||
	    syscall(SYS_rt_sigqueueinfo, program, info->si_signo, info))
		kill(program, info->si_signo);
}

/*
 * Waits for a tick, a child or a signal, and passes on those that softverbs-run got.  False if it
 * was killed.
 */
static bool
keeper_wait(const struct soft_run *run, int signals, pid_t program)
{
	struct pollfd events[] = { { .fd = run->sent, .events = POLLIN },
		{ .fd = signals, .events = POLLIN } };
	siginfo_t info;
	ssize_t size;

	(void)poll(events, 2, TICK / MILLISECOND);
	if (events[0].revents) {
		size = read(run->sent, &info, sizeof info);
		if (!size)
			return false;
		/* After that: what was sent to both is there. */
		keeper_receive(signals);
		if (size == sizeof info && program && !keeper_was_sent(&info))
			keeper_pass_on(program, &info);
	} else {
		keeper_receive(signals);
	}
	return true;
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

/* The program has stopped, or goes on: so does softverbs-run.  One that is swept stops alone. */
static void
keeper_follow(const struct soft_run *run, int status)
{
	if (run->limit)
		return;
	run->outcome->stopped = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
	if (WIFSTOPPED(status)) {
		run->outcome->stops++;
		kill(run->parent, SIGCHLD); /* it looks, then */
	}
}

/* softverbs-run may just be about to stop when the program goes on: it gets this until it knows. */
static void
keeper_let_go_on(const struct soft_run *run)
{
	if (!run->outcome->stopped && run->outcome->followed != run->outcome->stops)
		kill(run->parent, SIGCONT);
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

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
		if (pid == *program)
			keeper_follow(run, status);
		if (WIFSTOPPED(status) || WIFCONTINUED(status))
			continue;
		if (pid == *program) {
			run->outcome->status = status;
			*program = 0;
		} else if (WIFSIGNALED(status) && !run->outcome->ended) {
			run->outcome->died = WTERMSIG(status);
		}
	}
	keeper_let_go_on(run);
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
 * The checker has ended a process, and since then no other one has done anything for so long, while
 * the program was not stopped.  A longer tick was spent without the processor, or stopped.
 */
static bool
keeper_idle_is_over(struct idle *idle, const struct soft_tally *tally, bool stopped)
{
	const uint64_t now = keeper_now(), passed = now - idle->before;
	const unsigned int progress = tally->progress, ended = tally->ended;

	idle->before = now;
	idle->length += stopped ? 0 : passed < 2 * TICK ? passed : 2 * TICK;
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

/* True if the run is to be ended: nothing happens in it any more, or its time is over. */
static bool
keeper_is_over(const struct soft_run *run, struct idle *idle, pid_t program, bool some)
{
	const bool idles = keeper_idle_is_over(idle, run->tally, run->outcome->stopped);

	run->outcome->length = idle->all;
	run->outcome->late = some && run->limit && idle->all > run->limit;
	return (program && idles) || run->outcome->late;
}

/* Without a limit the processes that the program leaves may run on. */
static void
keeper_wait_for_all(const struct soft_run *run, int signals, pid_t program)
{
	struct idle idle;
	bool some = true, alone;

	keeper_idle_begin(&idle);
	while (program || (some && run->limit)) {
		alone = !keeper_wait(run, signals, program);
		some = keeper_reap(run, &program);
		if (alone) {
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
	/* It does not stay stopped when no one is left who would let it go on. */
	while (run->outcome->followed != run->outcome->stops && keeper_wait(run, signals, 0))
		keeper_let_go_on(run);
}

/*
 * A user who sends to all processes that are called softverbs-run, or that have the words of the
 * command, does not mean this one, which would take it for what a group is sent.  The words are in
 * one place, as the kernel has put them there.
 */
static void
keeper_take_name(char **program)
{
	static const char name[] = "rearm-keeper";
	char *words = program_invocation_name, *end = words;

	prctl(PR_SET_NAME, name);
	for (; *program; program++)
		if (*program > end)
			end = *program + strlen(*program);
	memset(words, 0, (size_t)(end - words));
	snprintf(words, (size_t)(end - words), "%s", name);
}

void
soft_keeper_run(const struct soft_run *run)
{
	const pid_t own = getpid();
	const int signals = signalfd(-1, run->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	pid_t program;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	program = signals < 0 ? -1 : fork();
	if (program < 0)
		soft_parent_fail("fork");
	if (!program)
		keeper_exec(run, own);
	keeper_take_name(run->program);
	/* What came before there was a program has not come to it. */
	keeper_receive(signals);
	memset(received, 0, sizeof received);
	keeper_wait_for_all(run, signals, program);
	run->outcome->known = true;
	_exit(0);
}
