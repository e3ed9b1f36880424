/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"
#include "parent.h"
#include "softverbs/check/word.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SEED "1"

/*
 * Of the options and of the program in the line that repeats a run; one variable of the environment
 * has 128 KiB.
 */
#define WORDS_MAX 16384

/*
 * Sets the variable to the words, each with a space in front.  Of too many "..." stands for the
 * last ones.
 */
static void
replay_set_words(const char *variable, const char *first, char **word, char **end)
{
	char *text = NULL;
	size_t size = 0, left = WORDS_MAX, size_of_word;
	FILE *line = open_memstream(&text, &size);

	if (!line)
		soft_parent_fail("replay");
	fputs(first, line);
	for (; word != end; word++) {
		size_of_word = sizeof " " - 1 + soft_word_size(*word);
		if (size_of_word > left) {
			fputs(" ...", line);
			break;
		}
		left -= size_of_word;
		fputc(' ', line);
		soft_word_print(line, *word);
	}
	if (fclose(line))
		soft_parent_fail("replay");
	soft_parent_set(variable, text);
	free(text);
}

/* In two parts: a report may add an option between them. */
void
soft_replay_set(char **argv, char **program)
{
	const bool named = getenv("SOFTVERBS_CHECK_SEED") != NULL;
	char **end = program;

	while (*end)
		end++;
	if (program - argv > 1 && !strcmp(program[-1], "--"))
		program--;
	if (!named)
		soft_parent_set("SOFTVERBS_CHECK_SEED", DEFAULT_SEED);
	replay_set_words("SOFTVERBS_CHECK_REPLAY",
	    named ? "softverbs-run" : "softverbs-run --seed " DEFAULT_SEED, argv + 1, program);
	replay_set_words("SOFTVERBS_CHECK_PROGRAM", "", program, end);
}
