/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * selection -- which tests of a program run, as its command line asks
 *
 * The runner asks about each test when the test is added to its case.  Without words and patterns
 * every test is selected.
 */
#ifndef REARM_TEST_LIB_SELECTION_H
#define REARM_TEST_LIB_SELECTION_H

#include <stdbool.h>

/* A test, and where it belongs. */
struct selection_test {
	const char *suite, *tcase, *name;
};

/*
 * Adds a word: SUITE, SUITE:CASE, NAME or NAME:NUMBER, where NUMBER is that of one turn of a loop.
 */
void selection_add_word(const char *word);

/* Adds a shell pattern for names of tests. */
void selection_add_pattern(const char *pattern);

/* Whether a test runs; narrows [*start, *end) to the one turn that a word asks for. */
bool selection_has(const struct selection_test *test, int *start, int *end);

/* A word or pattern that no test matched so far, from number *at on, which it advances; or NULL. */
const char *selection_next_unmatched(unsigned int *at);

#endif
