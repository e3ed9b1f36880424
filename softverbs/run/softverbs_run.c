/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * softverbs-run -- runs a program on the software device
 *
 * The program finds softverbs under the names of libibverbs and librdmacm, in a folder that comes
 * first on its library path.  Its children inherit the path.
 */
#include "fault_option.h"
#include "files.h"
#include "folder.h"
#include "parent.h"
#include "say.h"
#include "reach.h"
#include "streams.h"
#include "sweep.h"
#include "topology_option.h"
#include "softverbs/check/moves.h"
#include "softverbs/device/mode.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Beside the program in a build tree; else where "make install" puts it. */
#define LIBRARY "libsoftverbs.so"
#define PRELOADED "libsoftverbs-files.so"
#define IN_BUILD_TREE ".libs/"

/*
 * Many programs close their listener and open it again for the next connection, while the other end
 * connects: on a wire the request takes longer than that.
 */
#define LISTENERS_RETURN "SOFTVERBS_LISTENERS_RETURN"
#define RNR_TIMER "SOFTVERBS_RNR_TIMER"

const char *argp_program_version = "softverbs-run (" PACKAGE_NAME ") " PACKAGE_VERSION;

/* Options without a letter. */
enum { CHECK = 256, SEED, SCHEDULE, REPORT, TIMEOUT, STRANDED_AFTER, FAIL_ARMS };

#define PERSONALITIES "strict, late, spurious, coalescing or delayed"
#define SECONDS_MAX 1e9

static char **program;
static bool check;

/* The last option that means nothing without --check, and the file of --report. */
static const char *check_option, *report;

/* The last one that means nothing without --check or --faults. */
static const char *shared_option;

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
	{ "seed", SEED, "N", 0,
	    "With --check: the seed of these choices (1); with --faults: that of p=", 1 },
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
	    "With --check or --faults: append the reports to FILE, those of children too, not to "
	    "standard error",
	    1 },
	{ 0 },
};

static void
run_set(const char *variable, const char *value)
{
	if (setenv(variable, value, 1)) {
		soft_say("softverbs-run: %s: %s", variable, strerror(errno));
		exit(EXIT_USAGE);
	}
}

static void
run_set_personality(const char *name, struct argp_state *state)
{
	static const char *const names[] = { "strict", "late", "spurious", "coalescing",
		"delayed" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i])) {
			run_set("SOFTVERBS_PERSONALITY", name);
			return;
		}
	soft_wrong(state, "--personality=%s: not one of " PERSONALITIES, name);
}

/* A decimal number with a point or without: its value, or -1. */
static double
run_read_decimal(const char *value)
{
	const size_t length = strspn(value, "0123456789.");
	char *end;
	double number = strtod(value, &end);

	return *value && !value[length] && !*end ? number : -1;
}

/* The device reads three places at most. */
static void
run_set_factor(const char *value, struct argp_state *state)
{
	const char *point = strchr(value, '.');
	const double factor = run_read_decimal(value);

	if (factor < 0.01 || factor > 100 || (point && strlen(point + 1) > 3))
		soft_wrong(state,
		    "--time-factor=%s: not a number from 0.01 to 100 with at most three places",
		    value);
	run_set("SOFTVERBS_TIME_FACTOR", value);
}

/* The option, or the variable, that has the value. */
static void
run_check_seconds(const char *name, const char *value, struct argp_state *state)
{
	const double seconds = run_read_decimal(value);

	if (seconds < 0 || seconds > SECONDS_MAX)
		soft_wrong(state, "%s=%s: not a number of seconds from 0 to %.0f", name, value,
		    SECONDS_MAX);
}

static void
run_check_seed(const char *name, const char *value, struct argp_state *state)
{
	errno = 0;
	(void)strtoull(value, NULL, 10);
	if (!*value || value[strspn(value, "0123456789")] || errno)
		soft_wrong(
		    state, "%s=%s: not a whole number from 0 to %llu", name, value, ULLONG_MAX);
}

/* Numbers that the user has in the environment, which the library reads where no option says. */
static void
run_check_environment(struct argp_state *state)
{
	static const struct {
		const char *variable;
		void (*check)(const char *name, const char *value, struct argp_state *state);
	} numbers[] = {
		{ "SOFTVERBS_FAULTS_SEED", run_check_seed },
		{ "SOFTVERBS_CHECK_SEED", run_check_seed },
		{ "SOFTVERBS_CHECK_STRANDED", run_check_seconds },
		{ "SOFTVERBS_CHECK_TIMEOUT", run_check_seconds },
	};
	const char *value;

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if ((value = getenv(numbers[i].variable)) && *value)
			numbers[i].check(numbers[i].variable, value, state);
}

static void
run_set_seconds(
    const char *option, const char *variable, const char *value, struct argp_state *state)
{
	run_check_seconds(option, value, state);
	run_set(variable, value);
}

static void
run_set_seed(const char *value, struct argp_state *state)
{
	run_check_seed("--seed", value, state);
	run_set("SOFTVERBS_CHECK_SEED", value);
	run_set("SOFTVERBS_FAULTS_SEED", value);
}

/* FILE as other folders see it, as children may change theirs. */
static void
run_set_report(const char *file, struct argp_state *state)
{
	char *folder, *path;

	if (!*file)
		soft_wrong(state, "--report=: no name of a file");
	report = file;
	if (*file == '/') {
		run_set("SOFTVERBS_CHECK_REPORT", file);
		return;
	}
	folder = getcwd(NULL, 0);
	if (!folder || asprintf(&path, "%s/%s", folder, file) < 0)
		soft_parent_fail(file);
	run_set("SOFTVERBS_CHECK_REPORT", path);
	free(folder);
}

/* A pipe is not opened: its reader would read the end of it before the first report. */
static bool
run_report_can_be_opened(void)
{
	struct stat there;
	int fd;

	if (!stat(report, &there) && S_ISFIFO(there.st_mode))
		return !access(report, W_OK);
	/* The processes of the run open it by its name, whatever their umask. */
	fd = open(report, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
	if (fd >= 0)
		(void)soft_mode_give(fd, S_IFREG, S_IWUSR | S_IRUSR);
	else if (errno == EEXIST)
		fd = open(report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
	return fd >= 0 && !close(fd);
}

/* What is known when all options were read. */
static void
run_check_options(struct argp_state *state)
{
	const char *personality = getenv("SOFTVERBS_PERSONALITY");

	run_check_environment(state);
	if (check_option && !check)
		soft_wrong(state, "%s needs --check", check_option);
	if (shared_option && !check && !soft_fault_options.faults && !soft_fault_options.control)
		soft_wrong(state, "%s needs --check or --faults", shared_option);
	if (check && soft_fault_options.sweep)
		soft_wrong(state, "--sweep and --check are not possible together");
	if (report && !run_report_can_be_opened()) {
		soft_say("softverbs-run: --report=%s: %s", report, strerror(errno));
		exit(EXIT_USAGE);
	}
	if (check && personality && *personality)
		soft_say(
		    "softverbs-run: the personality %s takes the place of the moments that --check "
		    "chooses; fewer lost wake-ups are found than without it",
		    personality);
}

static void
run_set_schedule(const char *list, struct argp_state *state)
{
	struct soft_moves moves;
	char error[256];

	if (!soft_moves_read(list, &moves, error, sizeof error))
		soft_wrong(state, "--schedule=%s: %s", list, error);
	run_set("SOFTVERBS_CHECK_SCHEDULE", list);
}

static error_t
run_parse_check(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case SEED:
		shared_option = "--seed";
		run_set_seed(arg, state);
		return 0;
	case SCHEDULE:
		check_option = "--schedule";
		run_set_schedule(arg, state);
		return 0;
	case STRANDED_AFTER:
		check_option = "--stranded-after";
		run_set_seconds(check_option, "SOFTVERBS_CHECK_STRANDED", arg, state);
		return 0;
	case TIMEOUT:
		check_option = "--timeout";
		run_set_seconds(check_option, "SOFTVERBS_CHECK_TIMEOUT", arg, state);
		return 0;
	case FAIL_ARMS:
		check_option = "--fail-arms";
		run_set("SOFTVERBS_CHECK_ARM", "1");
		return 0;
	case REPORT:
		shared_option = "--report";
		run_set_report(arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t
run_parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'p':
		run_set_personality(arg, state);
		return 0;
	case 't':
		run_set_factor(arg, state);
		return 0;
	case 'm':
		run_set("SOFTVERBS_MEMLOCK", "1");
		return 0;
	case CHECK:
		if (arg && strcmp(arg, "json") != 0)
			soft_wrong(state, "--check=%s: only json is possible", arg);
		run_set("SOFTVERBS_CHECK", arg ? arg : "text");
		check = true;
		return 0;
	case ARGP_KEY_ARGS:
		program = state->argv + state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		soft_wrong(state, "no program to run");
		return 0;
	case ARGP_KEY_END:
		run_check_options(state);
		return 0;
	default:
		return run_parse_check(key, arg, state);
	}
}

static const struct argp_child children[] = { { .argp = &soft_fault_argp },
	{ .argp = &soft_topology_argp }, { 0 } };

static const struct argp argp = {
	.options = options,
	.parser = run_parse,
	.children = children,
	.args_doc = "PROGRAM [ARGUMENT...]",
	.doc = "Run PROGRAM, which uses libibverbs and librdmacm, on softverbs, an RDMA device "
	       "made of memory and "
	       "threads."
	       "\vThe exit status is that of PROGRAM; 125 for an error of this command, 126 if "
	       "PROGRAM cannot be "
	       "executed, 127 if it is not found. With --check it is 99 if something was reported "
	       "and the status of "
	       "PROGRAM is 0; with --sweep it is 99 if something was found, else 0.",
};

static void
run_fail(const char *what, int error)
{
	soft_say("softverbs-run: %s: %s", what, strerror(error));
	exit(EXIT_USAGE);
}

/* The folder that the program itself is in, or "". */
static void
run_own_folder(char folder[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	folder[length > 0 ? length : 0] = '\0';
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
}

/* The path of a library of softverbs, of the build tree or installed. */
static void
run_library_path(const char *name, char path[PATH_MAX])
{
	char own[PATH_MAX];

	run_own_folder(own);
	if ((size_t)snprintf(path, PATH_MAX, "%s/" IN_BUILD_TREE "%s", own, name) < PATH_MAX &&
	    !access(path, R_OK))
		return;
	snprintf(path, PATH_MAX, SOFTVERBSDIR "/%s", name);
	if (access(path, R_OK))
		run_fail(path, errno);
}

/* The child's library path: the folder, and what the user has. */
static void
run_set_library_path(const char *folder)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	char *joined;

	if (!path || !*path) {
		run_set("LD_LIBRARY_PATH", folder);
		return;
	}
	if (asprintf(&joined, "%s:%s", folder, path) < 0)
		run_fail("LD_LIBRARY_PATH", ENOMEM);
	run_set("LD_LIBRARY_PATH", joined);
	free(joined);
}

/* Not those of the plain topology: a program without the option runs as it did. */
static void
run_show_files(const char *folder)
{
	const struct soft_topology *topology = soft_topology_chosen();
	char preloaded[PATH_MAX];

	if (!topology || topology->plain) {
		unsetenv(SOFT_FILES_VARIABLE); /* of a softverbs-run around this one */
		return;
	}
	run_library_path(PRELOADED, preloaded);
	if (!soft_files_show(topology, folder, preloaded))
		exit(EXIT_USAGE);
}

/* Of the help and the version, which argp_parse() prints before it ends the process. */
static void
run_check_written(void)
{
	if (soft_streams_flush())
		return;
	soft_say(
	    "softverbs-run: standard output: %s", errno ? strerror(errno) : "it cannot be written");
	_exit(EXIT_USAGE);
}

int
main(int argc, char **argv)
{
	char library[PATH_MAX], *folder;

	soft_streams_open();
	argp_err_exit_status = EXIT_USAGE;
	if (atexit(run_check_written))
		run_fail("atexit", ENOMEM);
	/* The options of the program are its own. */
	soft_say_begin("softverbs-run");
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, NULL))
		return EXIT_USAGE;
	soft_say_end();
	run_library_path(LIBRARY, library);
	if (soft_reach_has_token(library)) {
		soft_say(
		    "softverbs-run: %s: the dynamic linker replaces the part of this name with "
		    "'$'; move it",
		    library);
		return EXIT_USAGE;
	}
	if (!soft_reach_check(program[0]))
		return EXIT_CANNOT_RUN;
	folder = soft_folder_make(library, program[0]);
	if (!folder)
		return EXIT_USAGE;
	run_set_library_path(folder);
	run_show_files(folder);
	free(folder);
	/* As an adapter does. */
	if (!getenv(LISTENERS_RETURN))
		run_set(LISTENERS_RETURN, "1");
	if (!getenv(RNR_TIMER))
		run_set(RNR_TIMER, "1");
	if (soft_fault_options.sweep)
		return soft_sweep_run(argv, program);
	if (check || soft_fault_options.faults || soft_fault_options.control)
		return soft_parent_run(
		    argv, program, soft_fault_options.faults || soft_fault_options.control);
	execvp(program[0], program);
	return soft_parent_exec_failed(program[0], errno);
}
