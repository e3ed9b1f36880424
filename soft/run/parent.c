/* SPDX-License-Identifier: BSD-3-Clause */
#include "parent.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_SEED "1"

/* Of the options and of the program in the line that repeats a run; one variable of the environment has 128 KiB. */
#define WORDS_MAX 16384

/* A terminal sends its own to both processes. */
static const int forwarded[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
	SIGCONT };
#define FORWARDED (sizeof forwarded / sizeof *forwarded)

static volatile pid_t child;

static void
forward(int number, siginfo_t *info, void *unused)
{
	const int saved = errno;

	(void)unused;
	if (info->si_code <= 0 && info->si_pid != child)
		kill(child, number);
	errno = saved;
}

static void
fail(const char *what)
{
	fprintf(stderr, "softverbs-run: %s: %s\n", what, strerror(errno));
	exit(EXIT_USAGE);
}

static void
set(const char *variable, const char *value)
{
	if (setenv(variable, value, 1))
		fail(variable);
}

/* ---- the command to repeat */

/* A word for a shell. */
static void
write_word(FILE *line, const char *word)
{
	static const char plain[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, line);
		return;
	}
	fputc('\'', line);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", line);
		else
			fputc(*word, line);
	fputc('\'', line);
}

/* The most bytes that a word takes up, with the space in front. */
static size_t
word_size(const char *word)
{
	size_t size = sizeof " ''" - 1;

	for (; *word; word++)
		size += *word == '\'' ? sizeof "'\\''" - 1 : 1;
	return size;
}

/* Sets the variable to the words, each with a space in front.  Of too many "..." stands for the last ones. */
static void
set_words(const char *variable, const char *first, char **word, char **end)
{
	char *text = NULL;
	size_t size = 0, left = WORDS_MAX;
	FILE *line = open_memstream(&text, &size);

	if (!line)
		fail("replay");
	fputs(first, line);
	for (; word != end; word++) {
		if (word_size(*word) > left) {
			fputs(" ...", line);
			break;
		}
		left -= word_size(*word);
		fputc(' ', line);
		write_word(line, *word);
	}
	if (fclose(line))
		fail("replay");
	set(variable, text);
	free(text);
}

/* In two parts: a report may add an option between them. */
static void
set_replay(char **argv, char **program)
{
	const bool named = getenv("SOFTVERBS_CHECK_SEED") != NULL;
	char **end = program;

	while (*end)
		end++;
	if (program - argv > 1 && !strcmp(program[-1], "--"))
		program--;
	if (!named)
		set("SOFTVERBS_CHECK_SEED", DEFAULT_SEED);
	set_words("SOFTVERBS_CHECK_REPLAY",
	    named ? "softverbs-run" : "softverbs-run --seed " DEFAULT_SEED, argv + 1, program);
	set_words("SOFTVERBS_CHECK_PROGRAM", "", program, end);
}

/* ---- the tally: a file that grows with each report of any process */

/* Its path.  Programs close descriptors that they do not know, so it has a name. */
static char *
create_tally(void)
{
	const char *folder = getenv("TMPDIR");
	char *path;
	int fd;

	if (asprintf(&path, "%s/softverbs-check-XXXXXX", folder && *folder ? folder : "/tmp") < 0)
		fail("TMPDIR");
	fd = mkstemp(path);
	if (fd < 0)
		fail(path);
	close(fd);
	set("SOFTVERBS_CHECK_TALLY", path);
	return path;
}

static bool
end_tally(char *path)
{
	struct stat stat_;
	const bool grown = !stat(path, &stat_) && stat_.st_size > 0;

	unlink(path);
	free(path);
	return grown;
}

/* ---- the program */

int
soft_parent_exec_failed(const char *program, int error)
{
	fprintf(stderr, "softverbs-run: %s: %s\n", program, strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static pid_t
start(char **program, const sigset_t *mask)
{
	const pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid)
		return pid;
	/* A program that is checked does not outlive a parent that was killed. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		raise(SIGKILL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(program[0], program);
	_exit(soft_parent_exec_failed(program[0], errno));
}

/* Ends this process by the signal that ended the program; a core dump has been written. */
static void
die_of(int number)
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

/* The parent of a process, from /proc/PID/stat; 0 if it is unknown. */
static pid_t
parent_of(const char *process)
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

/* Kills the children of this process; true if there were any. */
static bool
kill_children(void)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	bool any = false;

	if (!folder)
		return false;
	while ((entry = readdir(folder)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    parent_of(entry->d_name) == getpid())
			any |= !kill((pid_t)atol(entry->d_name), SIGKILL);
	closedir(folder);
	return any;
}

/*
 * The checker has ended a program that hung.  What it forked may wait for it for ever.  A process whose parent has ended
 * is a child of this one, so the next round finds it.
 */
static void
end_descendants(void)
{
	while (kill_children())
		while (waitpid(-1, NULL, 0) < 0 && errno == EINTR)
			;
}

int
soft_parent_run(char **argv, char **program)
{
	struct sigaction action = { .sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART },
			 old;
	sigset_t set, mask;
	char *tally;
	bool reported;
	int status;

	set_replay(argv, program);
	tally = create_tally();
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* see end_descendants() */
	sigemptyset(&set);
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < FORWARDED; i++)
		sigaddset(&set, forwarded[i]);
	/* Until the child is known. */
	sigprocmask(SIG_BLOCK, &set, &mask);
	child = start(program, &mask);
	for (size_t i = 0; i < FORWARDED; i++)
		if (!sigaction(forwarded[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(forwarded[i], &action, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			fail("waitpid");
	reported = end_tally(tally);
	if (reported && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_REPORTED)
		end_descendants();
	if (WIFSIGNALED(status)) {
		die_of(WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	if (!WEXITSTATUS(status) && reported)
		return EXIT_REPORTED;
	return WEXITSTATUS(status);
}
