/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * runner -- runs Check suites and fails on what a test leaves behind
 *
 * Every test program lists its suites and calls runner_main().  Each test runs in a
 * forked child (unless CK_FORK=no or a debugger is attached) between two counts of
 * open descriptors and threads; a difference fails the test.  The program's last line is
 * "N passed, N failed"; no test at all is a failure.
 *
 * Every test program takes --list, --filter GLOB and --help, and as arguments suites, cases and
 * single tests, by the names that a failure prints.
 *
 * A file of tests includes this header, not check.h: the macros below keep account of the tests.
 */
#ifndef REARM_TEST_LIB_RUNNER_H
#define REARM_TEST_LIB_RUNNER_H

#include <check.h>

/* As Check's own, and a failure prints the name of the test, its line, and how to run it alone. */
#undef START_TEST
#define START_TEST(test) \
	static void test##_body(int); \
	static void test##_fn(int); \
	static const TTest test##_ttest = { #test, test##_fn, __FILE__, __LINE__ }; \
	static const TTest *test = &test##_ttest; \
	static void test##_fn(int _i) \
	{ \
		if (runner_begin_test(&test##_ttest, _i)) \
			test##_body(_i); \
	} \
	static void test##_body(int _i CK_ATTRIBUTE_UNUSED)

/* What Check's tcase_add_*() and suite_create() call in its place. */
#define _tcase_add_test runner_add_test
#define suite_create runner_suite
int runner_begin_test(const TTest *test, int turn);
void runner_add_test(TCase *tcase, const TTest *test, int signal, int status, int start, int end);
Suite *runner_suite(const char *name);

typedef Suite *(*runner_suite_fn)(void);

/* No test may need more descriptors than this: the runner lowers the limit of the program. */
#define RUNNER_DESCRIPTORS 1024

/* Runs the suites of the NULL-terminated array; the return value is main()'s. */
int runner_main(int argc, char **argv, const runner_suite_fn *suites);

/* A TCase of `suite` whose tests are checked for leaked descriptors and threads. */
TCase *runner_tcase(Suite *suite, const char *name);

/* As runner_tcase(), with a time limit in seconds in place of the default 20. */
TCase *runner_tcase_timed(Suite *suite, const char *name, double seconds);

/*
 * The tests that are added to the TCase from here on are not run; each prints that it is skipped,
 * and why.  runner_skip() prints the same for a test that leaves something out.
 */
void runner_leave_out(TCase *tcase, const char *reason);
void runner_skip(const char *reason);

/*
 * A time that guards against a hang, as REARM_TEST_TIME_FACTOR or the load of the machine stretches
 * it.
 */
double runner_stretch(double time);

/* The number of open descriptors and of threads of this process. */
int runner_count_fds(void);
int runner_count_threads(void);
/* Counts descriptors from here on: what a library keeps as long as the process lives is no leak. */
void runner_count_anew(void);
/*
 * The number of threads, once there are no more than `expected`, or after half a second: a joined
 * thread leaves /proc/self/task a moment after pthread_join() returned.
 */
int runner_await_threads(int expected);

/* How many threads there were when the test began. */
int runner_threads_before(void);

#endif
