/* SPDX-License-Identifier: BSD-3-Clause */
#include "runner.h"
#include "meeting.h"
#include "selection.h"

#include <dirent.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int fds_before;
static int threads_before;

/* What the command line and the environment ask for, and how many tests that are. */
static struct {
	bool list;
	unsigned int n_tests;
	unsigned int share,
	    shares; /* of the tests that are selected only each SHARESth is run; 0 shares: all */
	unsigned int n_selected; /* of all suites */
	bool root_part;		 /* those alone for which root can do more */
} adding;

/* How long a thread may take to end on a busy machine.  A wait ends as soon as it has ended. */
#define THREAD_ENDS_MS 20000

/* The tests that are skipped. */
#define LEFT_OUT_MAX 256
static struct {
	const TTest *test;
	const char *reason;
} left_out[LEFT_OUT_MAX];
static unsigned int n_left_out;

static const char *running; /* the test of this process */

/*
 * The tests that began, in their order: written by the processes that run them, read by their
 * parent.
 */
#define TURNS_MAX 65536
static struct begun {
	unsigned int n;
	struct turn {
		const TTest *test;
		int number;
	} turns[TURNS_MAX];
} * begun;

static int
count_entries(const char *directory)
{
	DIR *dir = opendir(directory);
	int n = 0;

	if (!dir)
		return -1;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2; /* . and .. */
}

int
runner_count_fds(void)
{
	return count_entries("/proc/self/fd") - 1; /* the one that lists */
}

int
runner_count_threads(void)
{
	return count_entries("/proc/self/task");
}

/* The first line of a file of a thread; empty if there is none. */
static void
read_line_of(const char *thread, const char *file, char *line, int size)
{
	char path[320];
	FILE *from;

	snprintf(path, sizeof path, "/proc/self/task/%s/%s", thread, file);
	from = fopen(path, "re");
	if (!from || !fgets(line, size, from))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (from)
		fclose(from);
}

/* The names of the threads, and the system calls that they sleep in: `to` has room for `size`. */
static const char *
name_threads(char *to, size_t size)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	char line[2][64];
	size_t at = 0;

	to[0] = '\0';
	while (dir && (entry = readdir(dir)) && at < size) {
		if (entry->d_name[0] == '.')
			continue;
		read_line_of(entry->d_name, "comm", line[0], sizeof line[0]);
		read_line_of(entry->d_name, "syscall", line[1], sizeof line[1]);
		at += (size_t)snprintf(
		    to + at, size - at, "; %s %s: %s", entry->d_name, line[0], line[1]);
	}
	if (dir)
		closedir(dir);
	return to;
}

static void *
tell_id(void *arg)
{
	*(pid_t *)arg = (pid_t)syscall(SYS_gettid);
	return NULL;
}

/*
 * The thread sanitizer starts a thread of its own along with a process's first: have it behind us
 * before threads are counted.  A joined thread leaves /proc/self/task a moment after the join.
 */
static void
start_first_thread(void)
{
	const struct timespec tick = { .tv_nsec = 1000000 };
	char entry[64];
	pthread_t thread;
	pid_t id = 0;

	if (pthread_create(&thread, NULL, tell_id, &id) != 0)
		return;
	pthread_join(thread, NULL);
	snprintf(entry, sizeof entry, "/proc/self/task/%d", (int)id);
	for (int i = 0; i < THREAD_ENDS_MS && access(entry, F_OK) == 0; i++)
		nanosleep(&tick, NULL);
}

/* LeakSanitizer looks at this program and its forks, and not at the programs that they start. */
static void
leave_sanitizer_here(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	if (preloaded && strstr(preloaded, "/liblsan."))
		unsetenv("LD_PRELOAD");
}

/* The first thing that is done for a test. */
static void
leak_setup(void)
{
	if (begun->n < TURNS_MAX)
		begun->turns[begun->n].test = NULL;
	begun->n++;
	start_first_thread();
	fds_before = runner_count_fds();
	threads_before = runner_count_threads();
}

void
runner_count_anew(void)
{
	fds_before = runner_count_fds();
}

int
runner_await_threads(int expected)
{
	const struct timespec tick = { .tv_nsec = 1000000 };

	for (int i = 0; i < THREAD_ENDS_MS && runner_count_threads() > expected; i++)
		nanosleep(&tick, NULL);
	return runner_count_threads();
}

int
runner_threads_before(void)
{
	return threads_before;
}

void
runner_allow_threads(int n)
{
	threads_before += n;
}

static void
leak_teardown(void)
{
	int threads = runner_await_threads(threads_before);
	const char *leaks = getenv("REARM_TEST_LEAKS");
	char names[1024];

	ck_assert_msg(threads == threads_before, "leaked threads: %d before, %d after%s",
	    threads_before, threads, name_threads(names, sizeof names));
	if (leaks && atoi(leaks) == 0)
		return;
	ck_assert_msg(runner_count_fds() == fds_before, "leaked descriptors: %d before, %d after",
	    fds_before, runner_count_fds());
}

/* Whether the test is to be run. */
int
runner_begin_test(const TTest *test, int turn)
{
	running = test->name;
	if (begun->n <= TURNS_MAX)
		begun->turns[begun->n - 1] = (struct turn){ test, turn };
	for (unsigned int i = 0; i < n_left_out; i++) {
		if (left_out[i].test == test) {
			runner_skip(left_out[i].reason);
			return false;
		}
	}
	return true;
}

void
runner_skip(const char *reason)
{
	printf("skip  %s: %s\n", running, reason);
}

/* How many processes share a processor, from 1 to 8. */
static double
busy(void)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	double load = 1;

	if (getloadavg(&load, 1) != 1 || processors < 1)
		return 1;
	load /= (double)processors;
	return load < 1 ? 1 : load > 8 ? 8 : load;
}

double
runner_stretch(double time)
{
	const char *word = getenv("REARM_TEST_TIME_FACTOR");
	const double factor = word ? atof(word) : 1;

	/* Less than 1: the caller does not want to wait. */
	return time * (factor >= 1 && busy() > factor ? busy() : factor);
}

/*
 * As many descriptors as a user has by default: root of a build machine often has more, and a test
 * that needs them would fail elsewhere.
 */
static void
limit_descriptors(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur <= RUNNER_DESCRIPTORS)
		return;
	files.rlim_cur = RUNNER_DESCRIPTORS;
	setrlimit(RLIMIT_NOFILE, &files);
}

static int
being_debugged(void)
{
	char line[256];
	int pid = 0;
	FILE *f = fopen("/proc/self/status", "re");

	if (!f)
		return 0;
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "TracerPid: %d", &pid) == 1)
			break;
	fclose(f);
	return pid != 0;
}

static const char *
file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A source with its folder, "evd/wait.c": there are files of one name in several. */
static const char *
source_name(const char *path)
{
	const char *name = file_name(path);

	for (const char *at = path; at < name - 1; at++)
		if (*at == '/')
			path = at + 1;
	return path;
}

/* ---- the tests of the program ---- */

extern const struct runner_entry *const __start_runner_entries[] __attribute__((weak));
extern const struct runner_entry *const __stop_runner_entries[] __attribute__((weak));

/* A case that tests are added to. */
struct begun_case {
	const struct runner_case *what;
	const char *suite, *name;
	TCase *tcase; /* once there is a test */
	bool left_out;
};

/* The names of the suites, which Check does not copy. */
#define SUITES_MAX 256
static char *suite_names[SUITES_MAX];

static int
entry_order(const void *a, const void *b)
{
	const struct runner_entry *one = *(const struct runner_entry *const *)a;
	const struct runner_entry *other = *(const struct runner_entry *const *)b;

	return one->number - other->number;
}

/* The name of a suite, for as long as the program runs; NULL if there are too many. */
static const char *
suite_name(const char *name, size_t length)
{
	char **at = suite_names;

	while (at < suite_names + SUITES_MAX && *at &&
	       (strncmp(*at, name, length) != 0 || (*at)[length]))
		at++;
	if (at == suite_names + SUITES_MAX)
		return NULL;
	if (!*at)
		*at = strndup(name, length);
	return *at;
}

static void
case_begin(struct begun_case *begun_case, const struct runner_case *what)
{
	const char *colon = strchr(what->name, ':');

	*begun_case = (struct begun_case){ .what = what };
	if (colon && colon[1]) {
		begun_case->suite = suite_name(what->name, (size_t)(colon - what->name));
		begun_case->name = colon + 1;
	}
	if (begun_case->suite)
		return;
	fprintf(stderr, "%s: a case is SUITE:CASE, of %d suites\n", what->name, SUITES_MAX);
	exit(2);
}

static void
case_add_fixtures(TCase *tcase, const struct runner_case *what)
{
	if (what->outer)
		case_add_fixtures(tcase, what->outer);
	if (what->setup || what->teardown)
		tcase_add_checked_fixture(tcase, what->setup, what->teardown);
}

static double
case_seconds(const struct runner_case *what)
{
	double seconds = what->seconds > 0 ? what->seconds : 20;

	if (what->seconds <= 0 && what->outer)
		seconds = case_seconds(what->outer);
	return what->more_seconds ? seconds + what->more_seconds() : seconds;
}

/* The suite that the last case belongs to, or a new one. */
static Suite *
case_suite(SRunner *sr, const char *name)
{
	static const char *last;
	static Suite *suite;

	if (last != name) {
		last = name;
		suite = suite_create(name);
		srunner_add_suite(sr, suite);
	}
	return suite;
}

/* A case whose tests are left out needs no more than what counts them. */
static void
case_create(struct begun_case *begun_case, SRunner *sr)
{
	const struct runner_case *what = begun_case->what;
	TCase *tcase = tcase_create(begun_case->name);

	tcase_set_timeout(tcase, runner_stretch(case_seconds(what)));
	tcase_add_checked_fixture(tcase, leak_setup, leak_teardown);
	begun_case->left_out = what->needs && !what->needs();
	if (!begun_case->left_out)
		case_add_fixtures(tcase, what);
	suite_add_tcase(case_suite(sr, begun_case->suite), tcase);
	begun_case->tcase = tcase;
}

static void
case_add_test(struct begun_case *begun_case, SRunner *sr, const struct runner_entry *entry)
{
	const TTest *test = entry->test;
	const struct selection_test its = { begun_case->suite, begun_case->name, test->name };
	int start = entry->first, end = entry->turns ? entry->turns() : 1;

	if (start >= end || !selection_has(&its, &start, &end))
		return;
	if (adding.root_part && !begun_case->what->root)
		return;
	if (adding.shares && adding.n_selected++ % adding.shares != adding.share)
		return;
	adding.n_tests++;
	if (adding.list) {
		printf("%s  %s:%d\n", test->name, source_name(test->file), test->line);
		return;
	}
	if (!begun_case->tcase)
		case_create(begun_case, sr);
	if (begun_case->left_out && n_left_out < LEFT_OUT_MAX) {
		left_out[n_left_out].test = test;
		left_out[n_left_out++].reason = begun_case->what->reason;
	}
	_tcase_add_test(begun_case->tcase, test, 0, 0, start, end);
}

/*
 * The entries of one file stand together, in any order; the files in the order in which they were
 * linked.
 */
static void
add_tests(SRunner *sr)
{
	const size_t n = (size_t)(__stop_runner_entries - __start_runner_entries);
	const struct runner_entry **entries = calloc(n, sizeof *entries);
	struct begun_case cases[4];
	size_t n_cases = 0, end;

	if (!entries)
		exit(2);
	memcpy(entries, __start_runner_entries, n * sizeof *entries);
	for (size_t first = 0; first < n; first = end) {
		for (end = first; end < n; end++)
			if (strcmp(entries[end]->file, entries[first]->file) != 0)
				break;
		qsort(entries + first, end - first, sizeof *entries, entry_order);
		n_cases = 0;
		for (size_t i = first; i < end; i++) {
			if (entries[i]->begins) {
				n_cases = entries[i]->also ? n_cases : 0;
				case_begin(&cases[n_cases++ % 4], entries[i]->begins);
			} else {
				for (size_t j = 0; j < n_cases && j < 4; j++)
					case_add_test(&cases[j], sr, entries[i]);
			}
		}
	}
	free(entries);
}

static void
usage(FILE *to, const char *program)
{
	fprintf(to,
	    "usage: %s [--list] [--filter GLOB]... [SUITE[:CASE] | TEST[:TURN]]...\n"
	    "\n"
	    "Runs the tests that match one of the arguments or patterns, or all tests.\n"
	    "\n"
	    "  --list         print the names of the tests and where they stand, a line for each\n"
	    "  --filter GLOB  the tests whose names match the shell pattern\n"
	    "  --help         print this\n"
	    "\n"
	    "REARM_TEST_SHARE=K/N runs each Nth of these tests, beginning with number K, from 0.\n"
	    "ROOT_PART=yes runs those of them that need root, or do more as root.\n"
	    "\n"
	    "A failure prints its test as TEST:TURN; TURN is 0 unless the test is run in a loop.\n",
	    program);
}

static void
read_share(void)
{
	const char *word = getenv("REARM_TEST_SHARE");
	char more;

	if (!word)
		return;
	if (sscanf(word, "%u/%u%c", &adding.share, &adding.shares, &more) == 2 &&
	    adding.share < adding.shares)
		return;
	fprintf(stderr, "REARM_TEST_SHARE=%s: expected K/N, with K less than N\n", word);
	exit(2);
}

static void
parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "list", no_argument, NULL, 'l' },
		{ "filter", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'l':
			adding.list = true;
			break;
		case 'f':
			selection_add_pattern(optarg);
			break;
		case 'h':
			usage(stdout, file_name(argv[0]));
			exit(0);
		default:
			usage(stderr, file_name(argv[0]));
			exit(2);
		}
	}
	for (int i = optind; i < argc; i++)
		selection_add_word(argv[i]);
}

/*
 * How the program is started: libtool keeps the real one in .libs, and the one above it names the
 * libraries of this tree.  Without that one the real program may find the libdat2 of the system.
 */
static const char *
started_by(const char *program)
{
	static const char kept[] = ".libs/";
	static char path[4096];
	const char *name = file_name(program);
	const size_t folder = (size_t)(name - program);

	if (folder < strlen(kept) || strncmp(name - strlen(kept), kept, strlen(kept)) != 0)
		return program;
	snprintf(path, sizeof path, "%.*s%s", (int)(folder - strlen(kept)), program, name);
	return access(path, X_OK) == 0 ? path : program;
}

/* Where the tests that failed stand, whatever line their message is of. */
static void
print_failed(SRunner *sr, const char *program)
{
	TestResult **results = srunner_results(sr);
	const unsigned int n = (unsigned int)srunner_ntests_run(sr);

	for (unsigned int i = 0; i < n && i < begun->n && i < TURNS_MAX; i++) {
		const struct turn *turn = &begun->turns[i];

		if (tr_rtype(results[i]) != CK_PASS && turn->test)
			printf("failed: %s:%d of %s:%d; run it alone: %s %s:%d\n", turn->test->name,
			    turn->number, source_name(turn->test->file), turn->test->line, program,
			    turn->test->name, turn->number);
	}
	free(results);
}

int
runner_run(int argc, char **argv)
{
	const struct rlimit no_core = { 0, 0 };
	SRunner *sr = srunner_create(NULL);
	int run, failed, missing = 0;
	unsigned int at = 0;
	const char *word;

	parse(argc, argv);
	read_share();
	adding.root_part = getenv("ROOT_PART") != NULL;
	leave_sanitizer_here();
	setrlimit(RLIMIT_CORE, &no_core);
	limit_descriptors();
	signal(SIGPIPE, SIG_IGN);
	begun =
	    mmap(NULL, sizeof *begun, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (begun == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	if (being_debugged())
		srunner_set_fork_status(sr, CK_NOFORK);
	add_tests(sr);
	while ((word = selection_next_unmatched(&at))) {
		missing++;
		fprintf(stderr, "%s: no test matches %s; --list prints the names\n", argv[0], word);
	}
	if (adding.list) {
		srunner_free(sr);
		return missing != 0;
	}
	if (adding.n_tests) {
		meeting_begin();
		srunner_run_all(sr, CK_ENV);
		meeting_end();
		print_failed(sr, started_by(argv[0]));
	}
	run = srunner_ntests_run(sr);
	failed = srunner_ntests_failed(sr) + missing;
	run += missing;
	srunner_free(sr);
	printf("%d passed, %d failed\n", run - failed, failed);
	return run == 0 || failed != 0;
}

/* Of a program that has none. */
int main(int argc, char **argv) __attribute__((weak));

int
main(int argc, char **argv)
{
	return runner_run(argc, argv);
}
