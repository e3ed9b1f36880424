/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * runner -- runs Check suites and fails on what a test leaves behind
 *
 * A test program is linked with its tests, which register themselves.  Each test runs in a
 * forked child (unless CK_FORK=no or a debugger is attached) between two counts of
 * open descriptors and threads; a difference fails the test.  The program's last line is
 * "N passed, N failed"; no test at all is a failure.
 *
 * Every test program takes --list, --filter GLOB and --help, and as arguments suites, cases and
 * single tests, by the names that a failure prints.
 *
 * A file of tests includes this header, not check.h: the macros below take the place of Check's.
 */
#ifndef REARM_TEST_LIB_RUNNER_H
#define REARM_TEST_LIB_RUNNER_H

#include <stdbool.h>

#include <check.h>

#undef START_TEST
#undef END_TEST

/*
 * A case: the tests that follow CASE() in the file belong to it, up to the next CASE().
 *
 *	CASE("evd_wait:wait", setup, teardown);
 *
 *	TEST(wait__notification__wakes)
 *	{
 *	}
 */
struct runner_case {
	const char *name;		 /* SUITE:CASE */
	void (*setup)(void);		 /* before each test, in its process; or NULL */
	void (*teardown)(void);		 /* after it; or NULL */
	const struct runner_case *outer; /* its setup comes before, its teardown after; or NULL */
	double seconds;			 /* how long a test may take; 0: as outer says, or 20 */
	double (*more_seconds)(void);	 /* so much longer; or NULL */
	bool (*needs)(void); /* without this the tests are not run; each prints why; or NULL */
	const char *reason;
	bool root; /* root can do more: with ROOT_PART set no other tests are run */
};

/* Begins a case, whose members are the arguments. */
#define CASE(...) RUNNER_CASE(RUNNER_PASTE(runner_case_, __LINE__), false, __VA_ARGS__)
/* The same, and the tests that follow belong to the case before, too. */
#define ALSO_CASE(...) RUNNER_CASE(RUNNER_PASTE(runner_case_, __LINE__), true, __VA_ARGS__)

/* A test; one that runs for _i from 0 up to `turns`; from `first` up to `turns`. */
#define TEST(test) RUNNER_TEST(test, 0, NULL)
#define TEST_LOOP(test, turns) TEST_TURNS(test, 0, turns)
#define TEST_TURNS(test, first, turns) \
	static int test##_turns(void) \
	{ \
		return (int)(turns); \
	} \
	RUNNER_TEST(test, first, test##_turns)

/* ---- what the macros leave in the program ---- */

struct runner_entry {
	const char *file;
	int number; /* in the file */
	const struct runner_case *begins;
	bool also;
	const TTest *test;
	int first;
	int (*turns)(void);
};

#define RUNNER_PASTE(a, b) RUNNER_PASTE_(a, b)
#define RUNNER_PASTE_(a, b) a##b
#define RUNNER_ENTRY(it, ...) \
	static const struct runner_entry it##_entry = { __FILE__, __COUNTER__, __VA_ARGS__ }; \
	static const struct runner_entry *const it##_place \
	    __attribute__((used, section("runner_entries"))) = &it##_entry
#define RUNNER_CASE(it, also, ...) \
	static const struct runner_case it = { .name = __VA_ARGS__ }; \
	RUNNER_ENTRY(it, &it, also, NULL, 0, NULL)
#define RUNNER_TEST(test, first, turns) \
	static void test##_body(int); \
	static void test##_fn(int); \
	static const TTest test##_ttest = { #test, test##_fn, __FILE__, __LINE__ }; \
	RUNNER_ENTRY(test, NULL, false, &test##_ttest, first, turns); \
	static void test##_fn(int _i) \
	{ \
		if (runner_begin_test(&test##_ttest, _i)) \
			test##_body(_i); \
	} \
	static void test##_body(int _i CK_ATTRIBUTE_UNUSED)

int runner_begin_test(const TTest *test, int turn);

/*
 * Runs the tests that the command line asks for, or all; the value is that of main(), which the
 * runner has for a program without one.
 */
int runner_run(int argc, char **argv);

/* No test may need more descriptors than this: the runner lowers the limit of the program. */
#define RUNNER_DESCRIPTORS 1024

/* Prints that the test is skipped, and why: for a test that leaves something out. */
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
/* So many threads more belong to what a device keeps as long as the process lives: no leak. */
void runner_allow_threads(int n);
/*
 * The number of threads, once there are no more than `expected`, or after half a second: a joined
 * thread leaves /proc/self/task a moment after pthread_join() returned.
 */
int runner_await_threads(int expected);

/* How many threads there were when the test began. */
int runner_threads_before(void);

#endif
