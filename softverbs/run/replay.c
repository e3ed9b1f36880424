/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"
#include "softverbs/control/json.h"
#include "parent.h"
#include "softverbs/check/word.h"
#include "softverbs/check/write.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_SEED "1"

/* Milliseconds in which a line can be written. */
#define PATIENCE 5000

/* The options that a command with other faults does not have; long options can be cut. */
static const char *const of_faults[] = { "--faults", "--sweep", "--calls", "--depth", "--jobs",
	"--compare", "--json", "--hang-after" };

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

/* ---- faults ---- */

/* The option of the list that the word is, cut or with its value; NULL if it is none. */
static const char *
replay_option_of_faults(const char *word)
{
	const size_t length = strcspn(word, "=");

	if (length < sizeof "--c" - 1)
		return NULL;
	for (size_t i = 0; i < sizeof of_faults / sizeof *of_faults; i++)
		if (length <= strlen(of_faults[i]) && !strncmp(word, of_faults[i], length) &&
		    strncmp(word, "--check", length) != 0 &&
		    strncmp(word, "--fail-arms", length) != 0)
			return of_faults[i];
	return NULL;
}

static void
replay_print_options(FILE *stream, char **word, char **end)
{
	const char *option;

	for (; word < end && strcmp(*word, "--") != 0; word++) {
		option = replay_option_of_faults(*word);
		if (!option && strncmp(*word, "-j", 2) != 0) {
			fputc(' ', stream);
			soft_word_print(stream, *word);
			continue;
		}
		/* Its value is the next word. */
		if (option ? strcmp(option, "--sweep") != 0 && !strchr(*word, '=') : !(*word)[2])
			word++;
	}
}

void
soft_replay_print(FILE *stream, const char *rules, char **argv, char **program)
{
	fputs("softverbs-run", stream);
	if (rules) {
		fputs(" --faults=", stream);
		soft_word_print(stream, rules);
		replay_print_options(stream, argv + 1, program);
	} else {
		for (char **word = argv + 1; word < program && strcmp(*word, "--") != 0; word++) {
			fputc(' ', stream);
			soft_word_print(stream, *word);
		}
	}
	fputs(" --", stream);
	for (; *program; program++) {
		fputc(' ', stream);
		soft_word_print(stream, *program);
	}
}

/* The line for people. */
static void
replay_print_line(FILE *stream, const struct soft_record *record, const char *command)
{
	const unsigned int fired = soft_record_fired(record),
			   left_out = record->commanded ? soft_record_left_out(record) : 0;

	if (!fired) {
		fputs("softverbs-run: no fault has fired\n", stream);
		return;
	}
	if (record->happened)
		fprintf(stream, "softverbs-run: %u fault%s fired; again", fired,
		    fired == 1 ? " has" : "s have");
	else
		fprintf(stream, "softverbs-run: %u call%s made to fail; again", fired,
		    fired == 1 ? " was" : "s were");
	if (left_out)
		fprintf(stream, ", but for the last %u", left_out);
	fprintf(stream, ": %s\n", command);
}

/* The command; allocated. */
static char *
replay_command(const struct soft_record *record, char **argv, char **program)
{
	char *text = NULL, *rules = soft_record_rules(record);
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		soft_parent_fail("replay");
	soft_replay_print(stream, rules, argv, program);
	if (fclose(stream))
		soft_parent_fail("replay");
	free(rules);
	return text;
}

void
soft_replay_print_faults(const struct soft_record *record, char **argv, char **program)
{
	const char *file = getenv("SOFTVERBS_CHECK_REPORT"), *check = getenv("SOFTVERBS_CHECK");
	const bool asked = getenv("SOFTVERBS_FAULTS");
	char *text = NULL, *command = replay_command(record, argv, program);
	size_t size = 0;
	FILE *stream;

	/* With --control alone nothing may have been wanted. */
	if (!asked && !soft_record_fired(record)) {
		free(command);
		return;
	}
	stream = open_memstream(&text, &size);
	if (!stream)
		soft_parent_fail("replay");
	/* Between the reports of the checker. */
	if (check && !strcmp(check, "json")) {
		fprintf(stream, "{\"failed\":%u,\"replay\":", soft_record_fired(record));
		soft_json_print(stream, command);
		fputs("}\n", stream);
	} else {
		replay_print_line(stream, record, command);
	}
	if (fclose(stream))
		soft_parent_fail("replay");
	if (!file || soft_append(file, text, size, PATIENCE))
		soft_write(STDERR_FILENO, text, size, PATIENCE);
	free(text);
	free(command);
}
