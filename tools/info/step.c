/* SPDX-License-Identifier: BSD-3-Clause */
#include "step.h"
#include "output.h"
#include "text.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STEP_SECONDS = 60, INDENT = 2, LABEL = 20 };

static const char *const results[] = { [GOOD] = "ok", [WRONG] = "wrong", [FACT] = "note" };

/* For the signal handler: the step that was made last. */
static char last_step[64] = "start";

static void
step_give_up(int signal)
{
	static const char before[] = "dat_info: no answer for a minute, after the step: ";
	const int fd = output_error();

	(void)signal;
	(void)!write(fd, before, sizeof before - 1);
	(void)!write(fd, last_step, strlen(last_step));
	(void)!write(fd, "\n", 1);
	_exit(1);
}

void
step_watch(void)
{
	(void)signal(SIGALRM, step_give_up);
	alarm(STEP_SECONDS);
}

void
step_unwatch(void)
{
	alarm(0);
}

void
step_print(const char *name, enum result result, const char *text, const char *more)
{
	char label[64];

	snprintf(label, sizeof label, "%-12s %s", name, results[result]);
	text_print(INDENT, LABEL, label, text);
	if (*more != '\0')
		text_print(INDENT + LABEL, 0, "", more);
	fflush(stdout);
}

static void
step_get_output(struct steps *steps)
{
	json_t *lines = output_end();

	json_array_extend(steps->output, lines);
	json_decref(lines);
}

void
step_keep_output(struct steps *steps)
{
	steps->output = json_array();
	output_begin();
}

json_t *
step_take_output(struct steps *steps)
{
	json_t *output = steps->output;

	step_get_output(steps);
	steps->output = NULL;
	return output;
}

void
step_add(struct steps *steps, const char *name, enum result result, json_t *text)
{
	json_t *step = json_object();

	if (!steps->quiet) {
		if (steps->output != NULL)
			step_get_output(steps);
		step_print(name, result, json_string_value(text), "");
		if (steps->output != NULL)
			output_begin();
	}
	json_object_set_new(step, "step", json_string(name));
	json_object_set_new(step, "result", json_string(results[result]));
	json_object_set_new(step, "text", text);
	json_array_append_new(steps->list, step);
	steps->ok = steps->ok && result != WRONG;
	snprintf(last_step, sizeof last_step, "%s", name);
	alarm(STEP_SECONDS);
}

void
step_add_all(struct steps *steps, const char *name, enum result result, json_t *texts)
{
	json_t *text;
	size_t i;

	json_array_foreach(texts, i, text) step_add(steps, name, result, json_incref(text));
	json_decref(texts);
}

bool
step_judge(struct steps *steps, const char *name, json_t *failure, json_t *success)
{
	if (failure == NULL) {
		step_add(steps, name, GOOD, success);
		return true;
	}
	json_decref(success);
	step_add_all(steps, name, WRONG, failure);
	return false;
}
