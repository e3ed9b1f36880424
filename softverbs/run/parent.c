/* SPDX-License-Identifier: BSD-3-Clause */
#include "parent.h"
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

/* A terminal sends its own to all processes. */
static const int forwarded[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
	SIGCONT };
#define FORWARDED (sizeof forwarded / sizeof *forwarded)

void
soft_parent_fail(const char *what)
{
	fprintf(stderr, "softverbs-run: %s: %s\n", what, strerror(errno));
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
	fprintf(stderr, "softverbs-run: %s: %s\n", program, strerror(error));
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
 * Passes on what others send, until the keeper has ended.  It may have brothers, which are none of
 * ours.
 */
static void
parent_wait_for(pid_t keeper, const sigset_t *signals)
{
	siginfo_t info;
	int number;

	while (waitpid(keeper, NULL, WNOHANG) != keeper) {
		number = sigwaitinfo(signals, &info);
		if (number > 0 && number != SIGCHLD && info.si_code <= 0 && info.si_pid != keeper)
			kill(keeper, number);
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
	run->alive = ends[0];
	run->ignores_children = parent_keep_status_of_children();
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	for (size_t i = 0; i < FORWARDED; i++)
		sigaddset(&signals, forwarded[i]);
	/*
	 * Before there are files, which a signal would leave.  One that is ignored does not arrive,
	 * though it is blocked.
	 */
	sigprocmask(SIG_BLOCK, &signals, &mask);
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
	parent_wait_for(keeper, &signals);
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
		fprintf(stderr, "softverbs-run: the process that keeps the program was killed\n");
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
