/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweep_file.h"
#include "fault_option.h"
#include "softverbs/control/json.h"
#include "parent.h"
#include "say.h"
#include "softverbs/fault/errors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first line; allocated. */
static char *
file_head(char **program)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		soft_parent_fail("--json");
	fputs("{\"sweep\":[", stream);
	for (char **word = program; *word; word++) {
		fputs(word == program ? "" : ",", stream);
		soft_json_print(stream, *word);
	}
	fprintf(stream, "],\"depth\":%u,\"calls\":", soft_fault_options.depth);
	soft_json_print(stream, soft_fault_options.calls_text ? soft_fault_options.calls_text : "");
	fputs(",\"compare\":", stream);
	soft_json_print(stream, soft_fault_options.compare ? soft_fault_options.compare : "");
	fputs("}\n", stream);
	if (fclose(stream))
		soft_parent_fail("--json");
	return text;
}

static void
file_print_point(FILE *stream, const struct soft_point *point)
{
	fprintf(stream,
	    "{\"process\":\"%s\",\"call\":\"%s\",\"n\":%u,\"errno\":\"%s\",\"result\":\"%s\"",
	    point->process, soft_call_name(point->call), point->n, soft_error_name(point->error),
	    soft_sweep_results[point->result]);
	if (*point->detail)
		fprintf(stream, ",\"detail\":\"%s\"", point->detail);
	fputs("}\n", stream);
}

/* Takes the result if the line is of the point. */
static bool
file_read_point(const char *line, struct soft_point *point)
{
	char expected[256], detail[240] = "";
	const char *rest;
	size_t length;

	length = (size_t)snprintf(expected, sizeof expected,
	    "{\"process\":\"%s\",\"call\":\"%s\",\"n\":%u,\"errno\":\"%s\",\"result\":\"",
	    point->process, soft_call_name(point->call), point->n, soft_error_name(point->error));
	if (strncmp(line, expected, length) != 0)
		return false;
	rest = line + length;
	for (unsigned int result = 0; result < SOFT_SWEEP_RESULTS; result++) {
		length = strlen(soft_sweep_results[result]);
		if (strncmp(rest, soft_sweep_results[result], length) != 0 || rest[length] != '"')
			continue;
		if (sscanf(rest + length, "\",\"detail\":\"%239[^\"]", detail) == 1)
			memcpy(point->detail, detail, sizeof point->detail);
		point->result = (enum soft_sweep_result)result;
		point->done = true;
		return true;
	}
	return false;
}

/* The lines that are whole and of the points in their order; where the next one belongs. */
static long
file_read_points(FILE *file, struct soft_point *points, unsigned int count)
{
	long end = ftell(file);
	char line[1024];

	for (unsigned int i = 0; i < count && fgets(line, sizeof line, file); i++) {
		if (!strchr(line, '\n') || !file_read_point(line, &points[i]))
			break;
		end = ftell(file);
	}
	return end;
}

/* A pipe or a device: it cannot be read back, and is only written. */
static bool
file_is_other(const char *path)
{
	struct stat there;

	return !stat(path, &there) && !S_ISREG(there.st_mode);
}

/* A sweep goes on where the file ends. */
static void
file_continue(
    FILE *file, const char *path, const char *head, struct soft_point *points, unsigned int count)
{
	char *line = NULL;
	size_t size = 0;
	long end = 0;

	rewind(file);
	if (getline(&line, &size, file) > 0) {
		if (strcmp(line, head) != 0) {
			soft_say(
			    "softverbs-run: --json=%s: it has the results of another sweep, or is "
			    "something else; name another file",
			    path);
			exit(EXIT_USAGE);
		}
		end = file_read_points(file, points, count);
	}
	/* What an interrupted sweep has left of a line. */
	if (fflush(file) || ftruncate(fileno(file), end))
		soft_parent_fail(path);
	if (!end)
		fputs(head, file);
	free(line);
}

FILE *
soft_sweep_file_open(
    const char *path, char **program, struct soft_point *points, unsigned int count)
{
	const bool other = file_is_other(path);
	char *head = file_head(program);
	FILE *file = fopen(path, other ? "ae" : "a+e");

	if (!file)
		soft_parent_fail(path);
	if (other)
		fputs(head, file);
	else
		file_continue(file, path, head, points, count);
	if (fflush(file))
		soft_parent_fail(path);
	free(head);
	return file;
}

void
soft_sweep_file_add(FILE *file, const struct soft_point *point)
{
	file_print_point(file, point);
	if (fflush(file))
		soft_parent_fail("--json");
}
