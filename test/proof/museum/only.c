/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * only -- single tests of a program: those whose names are among the words of MUSEUM_TESTS
 *
 * Check runs suites and cases, no less.  run-museum links this into a killer, around the call that
 * adds a test to its case.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

static bool
is_wanted(const char *name)
{
	const char *words = getenv("MUSEUM_TESTS");
	const size_t length = strlen(name);

	if (!words || !*words)
		return true;
	for (const char *at = strstr(words, name); at; at = strstr(at + 1, name))
		if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return true;
	return false;
}

void __real__tcase_add_test(
    TCase *tcase, const TTest *test, int signal, int exit_value, int start, int end);
void __wrap__tcase_add_test(
    TCase *tcase, const TTest *test, int signal, int exit_value, int start, int end);
void
__wrap__tcase_add_test(
    TCase *tcase, const TTest *test, int signal, int exit_value, int start, int end)
{
	if (is_wanted(test->name))
		__real__tcase_add_test(tcase, test, signal, exit_value, start, end);
}
