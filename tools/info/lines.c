/* SPDX-License-Identifier: BSD-3-Clause */
#include "lines.h"
#include "text.h"

#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dat2/dat_log.h>

static pthread_mutex_t lines_lock = PTHREAD_MUTEX_INITIALIZER;
static json_t *errors, *notes; /* under lines_lock */

/* "dat: TEXT" and "rearm[NUMBER]: TEXT". */
static const char *
lines_strip(const char *line)
{
	const char *colon = strstr(line, ": ");

	if (strncmp(line, "dat: ", 5) == 0 || (strncmp(line, "rearm[", 6) == 0 && colon != NULL))
		return colon + 2;
	return line;
}

static void
lines_keep(DAT_PVOID context, DAT_LOG_LEVEL level, const char *line)
{
	(void)context;
	pthread_mutex_lock(&lines_lock);
	json_array_append_new(
	    level == DAT_LOG_ERROR ? errors : notes, text_json(lines_strip(line)));
	pthread_mutex_unlock(&lines_lock);
}

void
lines_start(void)
{
	static const char *const variables[] = { "DAT_DBG_DEST", "DAPL_DBG_TYPE", "DAPL_DBG_DEST" };

	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
		unsetenv(variables[i]);
	errors = json_array();
	notes = json_array();
	if (setenv("DAT_DBG_TYPE", "errors,conf", 1) != 0 || errors == NULL || notes == NULL)
		err(1, NULL);
	(void)dat_rearm_set_log(lines_keep, NULL);
}

static json_t *
lines_take(json_t **lines)
{
	json_t *taken;

	pthread_mutex_lock(&lines_lock);
	taken = *lines;
	*lines = json_array();
	pthread_mutex_unlock(&lines_lock);
	return taken;
}

json_t *
lines_take_errors(void)
{
	return lines_take(&errors);
}

json_t *
lines_take_notes(void)
{
	return lines_take(&notes);
}

json_t *
lines_explain(const char *call, DAT_RETURN ret)
{
	const char *type = "an unknown return value", *detail = "";
	json_t *explained = lines_take_errors();

	if (json_array_size(explained) > 0)
		return explained;
	(void)dat_strerror(ret, &type, &detail);
	json_array_append_new(
	    explained, text_format("%s: %s%s%s", call, type, *detail != '\0' ? " " : "", detail));
	return explained;
}
