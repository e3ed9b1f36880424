/* SPDX-License-Identifier: BSD-3-Clause */
#include "parent.h"
#include "say.h"
#include "keeper.h"
#include "replay.h"
#include "tally_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void
soft_parent_fail(const char *what)
{
	soft_say("softverbs-run: %s: %s", what, strerror(errno));
	exit(EXIT_USAGE);
}

void
soft_parent_set(const char *variable, const char *value)
{
	if (setenv(variable, value, 1))
		soft_parent_fail(variable);
}

char *
soft_parent_temporary(void)
{
	const char *folder = getenv("TMPDIR");
	char *path = realpath(folder && *folder ? folder : "/tmp", NULL);

	if (!path)
		soft_parent_fail(folder && *folder ? folder : "/tmp");
	return path;
}

int
soft_parent_exec_failed(const char *program, int error)
{
	soft_say("softverbs-run: %s: %s", program, strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Ends this process by the signal that ended the program; a core dump has been written. */
static void
parent_die_of(int number)
{
	const struct rlimit none = { 0, 0 };
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/*
 * SIGCHLD may be ignored when softverbs-run starts: then the kernel keeps no status. True if it
 * was.
 */
static bool
parent_keep_status_of_children(void)
{
	struct sigaction old;

	return !sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, &old) &&
	       old.sa_handler == SIG_IGN;
}

/*
 * All that can be: what is blocked is kept although it is ignored, and the program may handle it.
 * A sweep has many programs, so it stops by itself with them, and each run with it.
 */
static void
parent_take_signals(const struct soft_run *run, sigset_t *signals, sigset_t *mask)
{
	sigfillset(signals);
	if (run->limit) {
		sigdelset(signals, SIGTSTP);
		sigdelset(signals, SIGTTIN);
		sigdelset(signals, SIGTTOU);
	}
	sigprocmask(SIG_BLOCK, signals, mask);
}

/*
 * Of what this process does itself, or of the keeper: its children, a write to a pipe that no one
 * reads or to a file that may not grow, its own time.  Errors of its own end it, though they are
 * blocked.
 */
static bool
parent_is_own(const siginfo_t *info, pid_t keeper)
{
	if (info->si_code > 0)
		return info->si_signo == SIGCHLD || info->si_signo == SIGXCPU;
	return info->si_code == SI_USER && (info->si_pid == keeper || info->si_pid == getpid());
}

/* Stops as the program has; the keeper lets it go on. */
static void
parent_follow(struct soft_outcome *outcome)
{
	const unsigned int stops = outcome->stops;
	const int number = outcome->stopped;
	sigset_t set;

	if (stops == outcome->followed)
		return;
	if (number) {
		if (number != SIGSTOP)
			signal(number, SIG_DFL);
		raise(number);
		sigemptyset(&set);
		sigaddset(&set, number);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		sigprocmask(SIG_BLOCK, &set, NULL);
	}
	outcome->followed = stops;
}

/*
 * Gives the keeper what others send, until it has ended.  It may have brothers, which are none of
 * ours.
 */
static void
parent_wait_for(pid_t keeper, const struct soft_run *run, int to)
{
	siginfo_t info;

	while (waitpid(keeper, NULL, WNOHANG) != keeper) {
		parent_follow(run->outcome);
		/* If the keeper has ended meanwhile nothing is left to pass on. */
		if (sigwaitinfo(run->signals, &info) > 0 && !parent_is_own(&info, keeper))
			(void)!write(to, &info, sizeof info);
	}
}

void
soft_parent_keep(struct soft_run *run, bool records)
{
	sigset_t signals, mask;
	pid_t keeper;
	int ends[2];

	run->parent = getpid();
	run->outcome = mmap(
	    NULL, sizeof *run->outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (run->outcome == MAP_FAILED || pipe2(ends, O_CLOEXEC))
		soft_parent_fail("pipe");
	run->sent = ends[0];
	run->ignores_children = parent_keep_status_of_children();
	/* Before there are files, which a signal would leave. */
	parent_take_signals(run, &signals, &mask);
	run->tally = soft_tally_file_create(&run->path);
	if (records)
		run->recorded = soft_record_file_create(&run->record);
	run->signals = &signals;
	if (!run->mask)
		run->mask = &mask;
	keeper = fork();
	if (keeper < 0) {
		soft_parent_remove_files(run);
		soft_parent_fail("fork");
	}
	if (!keeper) {
		close(ends[1]);
		soft_keeper_run(run);
	}
	close(ends[0]);
	parent_wait_for(keeper, run, ends[1]);
	soft_parent_remove_files(run);
	close(ends[1]);
	free(run->path);
	free(run->record);
}

void
soft_parent_remove_files(const struct soft_run *run)
{
	unlink(run->path);
	if (run->record)
		unlink(run->record);
}

int
soft_parent_run(char **argv, char **program, bool faults)
{
	struct soft_run run = { .program = program };
	bool reported;
	int status;

	soft_replay_set(argv, program);
	soft_parent_keep(&run, faults);
	reported = run.tally->reports > 0;
	if (faults)
		soft_replay_print_faults(run.recorded, argv, program);
	if (!run.outcome->known) {
		soft_say("softverbs-run: the process that keeps the program was killed");
		return EXIT_USAGE;
	}
	/*
	 * Whatever the program made of it that one of its processes was ended, or the run with it.
	 */
	if (run.outcome->ended || run.tally->ended)
		return EXIT_REPORTED;
	status = run.outcome->status;
	if (WIFSIGNALED(status)) {
		parent_die_of(WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	if (!WEXITSTATUS(status) && reported)
		return EXIT_REPORTED;
	return WEXITSTATUS(status);
}
