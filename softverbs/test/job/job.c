/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job COMMAND...: runs the command with this program as its program, as a shell with a terminal of
 * its own does, and sends it signals: each comes to the program once, with its value and its
 * sender, and the command stops and goes on with the program.  Prints what does not.
 */
#include <config.h>

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK SIGRTMAX

static pid_t job, program;
static int terminal;
static FILE *told;
static const char *what;

static void
wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("%s: ", what);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

/* ---- the program: "number value sender" for each signal that it gets */

static bool
is_known(int number)
{
	return number != SIGKILL && number != SIGSTOP && (number < 32 || number >= SIGRTMIN);
}

static void __attribute__((noreturn)) be_program(int to, bool stops)
{
	siginfo_t info;
	sigset_t set;

	sigfillset(&set);
	if (stops)
		sigdelset(&set, SIGTSTP);
	sigprocmask(SIG_SETMASK, &set, NULL);
	dprintf(to, "0 0 %d\n", (int)getpid());
	for (;;)
		if (sigwaitinfo(&set, &info) > 0)
			dprintf(to, "%d %d %d\n", info.si_signo,
			    info.si_code == SI_QUEUE ? info.si_value.sival_int : 0,
			    info.si_code == SI_QUEUE ? (int)info.si_pid : 0);
}

/* ---- the shell */

static void
expect(int number, int value, pid_t sender)
{
	int is = -1, has = 0, by = 0;

	if (fscanf(told, "%d %d %d", &is, &has, &by) != 3) {
		wrong("the program has ended in place of signal %d", number);
		exit(1);
	}
	if (is != number || has != value || by != sender)
		wrong("signal %d, value %d, sender %d, in place of %d, %d, %d", is, has, by, number,
		    value, (int)sender);
}

/* The last signal came once: the next is this one. */
static void
expect_no_more(void)
{
	sigqueue(job, MARK, (union sigval){ .sival_int = 1 });
	expect(MARK, 1, getpid());
}

static void
start(char **command, const char *how)
{
	char to[16], self[4096] = "", *words[64] = { 0 };
	int ends[2], n = 0, is, value;
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	if (pipe(ends) || length <= 0)
		exit(1);
	snprintf(to, sizeof to, "%d", ends[1]);
	for (; command[n] && n < 60; n++)
		words[n] = command[n];
	words[n++] = self;
	words[n++] = (char *)how;
	words[n] = to;
	job = fork();
	if (!job) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		signal(SIGHUP, SIG_IGN);
		tcsetpgrp(STDIN_FILENO, getpid());
		signal(SIGTTOU, SIG_DFL);
		execvp(words[0], words);
		_exit(127);
	}
	setpgid(job, job);
	tcsetpgrp(STDIN_FILENO, job);
	close(ends[1]);
	told = fdopen(ends[0], "r");
	if (!told || fscanf(told, "%d %d %d", &is, &value, &program) != 3)
		exit(1);
}

static void
finish(void)
{
	kill(job, SIGKILL);
	waitpid(job, NULL, 0);
	fclose(told);
}

static void
each_signal(char **command)
{
	start(command, "program");
	for (int number = 1; number <= SIGRTMAX; number++) {
		if (!is_known(number))
			continue;
		what = "a value";
		sigqueue(job, number, (union sigval){ .sival_int = 100 + number });
		expect(number, 100 + number, getpid());
		what = "one process";
		kill(job, number);
		expect(number, 0, 0);
		expect_no_more();
		what = "the group";
		kill(-job, number);
		expect(number, 0, 0);
		expect_no_more();
	}
	what = "a key";
	dprintf(terminal, "\003");
	expect(SIGINT, 0, 0);
	expect_no_more();
	finish();
}

static void
await(int options, const char *change)
{
	int status = 0, left = 1000;

	while (!waitpid(job, &status, options | WNOHANG) && --left)
		usleep(10000);
	if (left && !WIFEXITED(status) && !WIFSIGNALED(status))
		return;
	wrong("not %s", change);
	exit(1);
}

/* Stops it by one way, and lets it go on by another. */
static void
each_stop(char **command)
{
	static const struct {
		const char *what;
		enum { KEY, COMMAND, GROUP, PROGRAM } to;
		int number;
	} ways[] = { { "a key stops", KEY, SIGTSTP }, { "one is stopped", COMMAND, SIGTSTP },
		{ "a group is stopped", GROUP, SIGTSTP }, { "a key stops again", KEY, SIGTSTP },
		{ "the program is stopped", PROGRAM, SIGSTOP } };

	start(command, "stops");
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		const pid_t to = ways[i].to == COMMAND ? job :
				 ways[i].to == PROGRAM ? program :
							 -job;

		what = ways[i].what;
		if (ways[i].to == KEY)
			dprintf(terminal, "\032");
		else
			kill(to, ways[i].number);
		await(WUNTRACED, "stopped");
		usleep(200000);
		kill(to, SIGCONT);
		await(WCONTINUED, "continued");
		expect(SIGCONT, 0, 0);
		expect_no_more();
	}
	/* Nor does its end leave the command stopped. */
	what = "the program is killed when it is stopped";
	kill(program, SIGSTOP);
	await(WUNTRACED, "stopped");
	kill(program, SIGKILL);
	if (waitpid(job, NULL, 0) != job)
		wrong("not ended");
	fclose(told);
}

int
main(int argc, char **argv)
{
	int slave, status = 0;
	pid_t child;
	char *name;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 3 && (!strcmp(argv[1], "program") || !strcmp(argv[1], "stops")))
		be_program(atoi(argv[2]), *argv[1] == 's');
	child = fork();
	if (child) {
		waitpid(child, &status, 0);
		if (WIFSIGNALED(status))
			puts("it hangs");
		return !WIFEXITED(status) || WEXITSTATUS(status);
	}
	alarm(30);
	setsid();
	terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal < 0 || grantpt(terminal) || unlockpt(terminal) || !(name = ptsname(terminal)))
		return 1;
	slave = open(name, O_RDWR);
	if (slave < 0 || dup2(slave, STDIN_FILENO) < 0)
		return 1;
	signal(SIGTTOU, SIG_IGN);
	each_signal(argv + 1);
	each_stop(argv + 1);
	return 0;
}
