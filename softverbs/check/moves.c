/* SPDX-License-Identifier: BSD-3-Clause */
#include "moves.h"

#include <stdlib.h>
#include <string.h>

#define NAMES "hold, delay, split, late, merge, reorder, pause, after"

static const char *const names[SOFT_MOVES] = {
	[SOFT_CHOOSE_HOLD] = "hold",
	[SOFT_CHOOSE_HOLD_ARMED] = "delay",
	[SOFT_CHOOSE_SPLIT] = "split",
	[SOFT_CHOOSE_LATE] = "late",
	[SOFT_CHOOSE_MERGE] = "merge",
	[SOFT_CHOOSE_FIRST] = "reorder",
	[SOFT_CHOOSE_PAUSE] = "pause",
	[SOFT_CHOOSE_AFTER] = "after",
};

/* A number from 1 that takes up the whole text. */
static bool
moves_number(const char *text, size_t length, unsigned int *number)
{
	unsigned long value = 0;

	if (!length || length > 9)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = 10 * value + (unsigned long)(text[i] - '0');
	}
	*number = (unsigned int)value;
	return value != 0;
}

static bool
moves_choice(const char *name, size_t length, enum soft_choice *choice)
{
	for (unsigned int i = 0; i < SOFT_MOVES; i++)
		if (strlen(names[i]) == length && !strncmp(names[i], name, length)) {
			*choice = (enum soft_choice)i;
			return true;
		}
	return false;
}

/* One word of the list. */
static bool
moves_read_one(const char *word, size_t length, struct soft_move *move, char *error, size_t size)
{
	const char *name = word, *end = word + length;
	const char *colon = memchr(word, ':', length), *equals = memchr(word, '=', length);
	const int shown = (int)length;

	*move = (struct soft_move){ 0 };
	if (colon && equals && equals < colon)
		equals = NULL;
	if (colon) {
		if (!moves_number(word, (size_t)(colon - word), &move->queue)) {
			snprintf(
			    error, size, "\"%.*s\": the queue is a number from 1", shown, word);
			return false;
		}
		name = colon + 1;
	}
	if (equals) {
		if ((size_t)(end - equals) != strlen("=always") ||
		    strncmp(equals, "=always", strlen("=always")) != 0) {
			snprintf(error, size, "\"%.*s\": only =always is possible", shown, word);
			return false;
		}
		move->always = true;
		end = equals;
	}
	if (moves_choice(name, (size_t)(end - name), &move->choice))
		return true;
	snprintf(error, size, "\"%.*s\": the moves are " NAMES ", or none alone", shown, word);
	return false;
}

bool
soft_moves_read(const char *list, struct soft_moves *moves, char *error, size_t size)
{
	size_t length;

	*moves = (struct soft_moves){ .given = true };
	if (!strcmp(list, "none"))
		return true;
	for (;; list += length + 1) {
		length = strcspn(list, ",");
		if (moves->count == SOFT_MOVES_LIMIT) {
			snprintf(error, size, "more than %d moves", SOFT_MOVES_LIMIT);
			return false;
		}
		if (!moves_read_one(list, length, &moves->moves[moves->count], error, size))
			return false;
		moves->count++;
		if (!list[length])
			return true;
	}
}

static void
moves_print_each(FILE *stream, unsigned int bits, const char *before, const char *after)
{
	const char *separator = "";

	for (unsigned int i = 0; i < SOFT_MOVES; i++)
		if (bits & 1u << i) {
			fprintf(stream, "%s%s%s%s", separator, before, names[i], after);
			separator = ",";
		}
}

void
soft_moves_print_names(FILE *stream, unsigned int bits)
{
	moves_print_each(stream, bits, "\"", "\"");
}

void
soft_moves_print_all(FILE *stream)
{
	for (unsigned int i = 0; i < SOFT_MOVES; i++)
		fprintf(stream, "%s,", names[i]);
}

void
soft_moves_print(FILE *stream, unsigned int queue, unsigned int bits)
{
	char number[16] = "";

	if (queue)
		snprintf(number, sizeof number, "%u:", queue);
	moves_print_each(stream, bits, number, "=always");
}
