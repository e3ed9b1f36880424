/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * softverbs-run -- runs a program on the software device
 *
 * The program finds softverbs under the names of libibverbs and librdmacm, in a folder that comes first on its
 * library path.  Its children inherit the path.
 */
#include "parent.h"
#include "soft/check/moves.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Beside the program in a build tree, where "make" links it; else where "make install" puts it. */
#define FOLDER_IN_BUILD_TREE "lib"
#define LIBRARY "libibverbs.so.1"

/*
 * Many programs close their listener and open it again for the next connection, while the other end connects: on a
 * wire the request takes longer than that.
 */
#define LISTENERS_RETURN "SOFTVERBS_LISTENERS_RETURN"

const char *argp_program_version = "softverbs-run (" PACKAGE_NAME ") " PACKAGE_VERSION;

/* Options without a letter. */
enum { CHECK = 256, SEED, SCHEDULE, REPORT, TIMEOUT, STRANDED_AFTER, FAIL_ARMS };

static char **program;
static bool check;

static const struct argp_option options[] = {
	{ "personality", 'p', "NAME", 0,
	    "How the device behaves where the specification leaves it a choice: strict (the "
	    "default), late, "
	    "spurious, coalescing or delayed",
	    0 },
	{ "time-factor", 't', "FACTOR", 0,
	    "Multiply all timeouts of the device by a number from 0.01 to 100", 0 },
	{ "memlock", 'm', NULL, 0, "Enforce RLIMIT_MEMLOCK on registered memory", 0 },
	{ "check", CHECK, "json", OPTION_ARG_OPTIONAL,
	    "Check how the program waits for completions: the device chooses unfavourable moments "
	    "that the "
	    "specification allows, and lost wake-ups and wrong acknowledgements are reported, as "
	    "text or JSON",
	    1 },
	{ "seed", SEED, "N", 0, "With --check: the seed of these choices (1)", 1 },
	{ "schedule", SCHEDULE, "LIST", 0,
	    "With --check: which of these choices the device makes: none, or [QUEUE:]MOVE[=always] "
	    "separated by "
	    "commas. All without this option",
	    1 },
	{ "stranded-after", STRANDED_AFTER, "SECONDS", 0,
	    "With --check: report a completion that nothing has looked at for so long (2)", 1 },
	{ "timeout", TIMEOUT, "SECONDS", 0,
	    "With --check: end a program that does nothing for so long after a report (60)", 1 },
	{ "fail-arms", FAIL_ARMS, NULL, 0, "With --check: let some requests for notification fail",
	    1 },
	{ "report", REPORT, "FILE", 0,
	    "With --check: append the reports to FILE, those of children too, not to standard "
	    "error",
	    1 },
	{ 0 },
};

static void
set(const char *variable, const char *value)
{
	if (setenv(variable, value, 1)) {
		fprintf(stderr, "softverbs-run: %s: %s\n", variable, strerror(errno));
		exit(EXIT_USAGE);
	}
}

/* A number that is not negative; with a point or without. */
static void
set_number(const char *variable, const char *value, bool whole, struct argp_state *state)
{
	const size_t length = strspn(value, whole ? "0123456789" : "0123456789.");
	char *end;

	(void)strtod(value, &end);
	if (!*value || value[length] || *end)
		argp_error(state, "%s: not a number", value);
	set(variable, value);
}

/* FILE as other folders see it, as children may change theirs. */
static void
set_report(const char *file, struct argp_state *state)
{
	char *folder, *path;

	if (*file == '/') {
		set("SOFTVERBS_CHECK_REPORT", file);
		return;
	}
	folder = getcwd(NULL, 0);
	if (!folder || asprintf(&path, "%s/%s", folder, file) < 0)
		argp_failure(state, EXIT_USAGE, errno, "%s", file);
	else
		set("SOFTVERBS_CHECK_REPORT", path);
	free(folder);
}

static void
set_schedule(const char *list, struct argp_state *state)
{
	struct soft_moves moves;
	char error[256];

	if (!soft_moves_read(list, &moves, error, sizeof error))
		argp_error(state, "--schedule=%s: %s", list, error);
	set("SOFTVERBS_CHECK_SCHEDULE", list);
}

static error_t
parse_check(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case CHECK:
		if (arg && strcmp(arg, "json") != 0)
			argp_error(state, "--check=%s: only json is possible", arg);
		set("SOFTVERBS_CHECK", arg ? arg : "text");
		check = true;
		return 0;
	case SEED:
		set_number("SOFTVERBS_CHECK_SEED", arg, true, state);
		return 0;
	case SCHEDULE:
		set_schedule(arg, state);
		return 0;
	case STRANDED_AFTER:
		set_number("SOFTVERBS_CHECK_STRANDED", arg, false, state);
		return 0;
	case TIMEOUT:
		set_number("SOFTVERBS_CHECK_TIMEOUT", arg, false, state);
		return 0;
	case FAIL_ARMS:
		set("SOFTVERBS_CHECK_ARM", "1");
		return 0;
	case REPORT:
		set_report(arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'p':
		set("SOFTVERBS_PERSONALITY", arg);
		return 0;
	case 't':
		set("SOFTVERBS_TIME_FACTOR", arg);
		return 0;
	case 'm':
		set("SOFTVERBS_MEMLOCK", "1");
		return 0;
	case ARGP_KEY_ARGS:
		program = state->argv + state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no program to run");
		return 0;
	default:
		return parse_check(key, arg, state);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "PROGRAM [ARGUMENT...]",
	.doc = "Run PROGRAM, which uses libibverbs and librdmacm, on softverbs, an RDMA device "
	       "made of memory and "
	       "threads."
	       "\vThe exit status is that of PROGRAM; 125 for an error of this command, 126 if "
	       "PROGRAM cannot be "
	       "executed, 127 if it is not found. With --check it is 99 if something was reported "
	       "and the status of "
	       "PROGRAM is 0.",
};

static void
fail(const char *what, int error)
{
	fprintf(stderr, "softverbs-run: %s: %s\n", what, strerror(error));
	exit(EXIT_USAGE);
}

/* The folder that the program itself is in, or "". */
static void
own_folder(char folder[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	folder[length > 0 ? length : 0] = '\0';
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
}

/* The folder of the libraries. */
static void
library_folder(char folder[PATH_MAX])
{
	char own[PATH_MAX], library[PATH_MAX + sizeof "/" LIBRARY];

	own_folder(own);
	if ((size_t)snprintf(folder, PATH_MAX, "%s/" FOLDER_IN_BUILD_TREE, own) < PATH_MAX) {
		snprintf(library, sizeof library, "%s/" LIBRARY, folder);
		if (!access(library, R_OK))
			return;
	}
	strcpy(folder, SOFTVERBSDIR);
	if (access(SOFTVERBSDIR "/" LIBRARY, R_OK))
		fail(SOFTVERBSDIR "/" LIBRARY, errno);
}

/* The child's library path: the folder, and what the user has. */
static void
set_library_path(const char *folder)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	char *joined;

	if (!path || !*path) {
		set("LD_LIBRARY_PATH", folder);
		return;
	}
	if (asprintf(&joined, "%s:%s", folder, path) < 0)
		fail("LD_LIBRARY_PATH", ENOMEM);
	set("LD_LIBRARY_PATH", joined);
	free(joined);
}

int
main(int argc, char **argv)
{
	char folder[PATH_MAX];

	argp_err_exit_status = EXIT_USAGE;
	/* The options of the program are its own. */
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, NULL))
		return EXIT_USAGE;
	library_folder(folder);
	set_library_path(folder);
	if (!getenv(LISTENERS_RETURN))
		set(LISTENERS_RETURN, "1");
	if (check)
		return soft_parent_run(argv, program);
	execvp(program[0], program);
	return soft_parent_exec_failed(program[0], errno);
}
