/* SPDX-License-Identifier: BSD-3-Clause */
#include "selection.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 256

static struct word {
	const char *text;
	bool pattern;
	bool matched;
} words[WORDS_MAX];
static unsigned int n_words;

static void
add(const char *text, bool pattern)
{
	if (n_words == WORDS_MAX) {
		fprintf(stderr, "too many tests are named: no more than %d\n", WORDS_MAX);
		exit(2);
	}
	words[n_words++] = (struct word){ text, pattern, false };
}

void
selection_add_word(const char *word)
{
	add(word, false);
}

void
selection_add_pattern(const char *pattern)
{
	add(pattern, true);
}

/*
 * What follows `name` and a colon in `text`; "" if nothing follows `name`; NULL if it is another
 * name.
 */
static const char *
after(const char *text, const char *name)
{
	const size_t length = strlen(name);

	if (strncmp(text, name, length) != 0)
		return NULL;
	if (!text[length])
		return "";
	return text[length] == ':' && text[length + 1] ? text + length + 1 : NULL;
}

static bool
matches(const struct word *word, const struct selection_test *test, int *start, int *end)
{
	const char *rest;
	char *last;
	long turn;

	if (word->pattern)
		return fnmatch(word->text, test->name, 0) == 0;
	rest = after(word->text, test->suite);
	if (rest && (!*rest || strcmp(rest, test->tcase) == 0))
		return true;
	rest = after(word->text, test->name);
	if (!rest)
		return false;
	if (*rest) {
		turn = strtol(rest, &last, 10);
		if (*last || turn < *start || turn >= *end)
			return false;
		*start = (int)turn;
		*end = (int)turn + 1;
	}
	return true;
}

bool
selection_has(const struct selection_test *test, int *start, int *end)
{
	bool found = n_words == 0;

	for (unsigned int i = 0; i < n_words; i++) {
		if (matches(&words[i], test, start, end))
			found = words[i].matched = true;
	}
	return found;
}

const char *
selection_next_unmatched(unsigned int *at)
{
	while (*at < n_words) {
		const struct word *word = &words[(*at)++];

		if (!word->matched)
			return word->text;
	}
	return NULL;
}
