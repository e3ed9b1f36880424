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

/* What the first line begins with; allocated. */
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
	fputs(",\"plan\":[", stream);
	if (fclose(stream))
		soft_parent_fail("--json");
	return text;
}

/* The points are those of a call of a process, 1 to `calls`; and so on. */
static void
file_print_plan(FILE *stream, const struct soft_point *points, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (i + 1 < count && points[i + 1].n > 1)
			continue;
		if (points[i].n < i + 1)
			fputc(',', stream);
		fprintf(stream,
		    "{\"process\":\"%s\",\"call\":\"%s\",\"calls\":%u,\"errno\":\"%s\",\"races\":%"
		    "d}",
		    points[i].process, soft_call_name(points[i].call), points[i].n,
		    soft_error_name(points[i].error), points[i].races);
	}
	fputs("]}\n", stream);
}

/* What one object of the plan says; its length, or 0 if it is none. */
static int
file_read_planned(const char *text, struct soft_point *point)
{
	char call[64], error[32];
	int races, length = 0;

	if (sscanf(text,
		"{\"process\":\"%47[^\"]\",\"call\":\"%63[^\"]\",\"calls\":%u,\"errno\":\"%31[^\"]"
		"\",\"races\":%1d}%n",
		point->process, call, &point->n, error, &races, &length) != 5 ||
	    !length || point->n < 1 || point->n > soft_fault_options.depth)
		return 0;
	point->call = soft_call_find(call, strlen(call));
	point->error = soft_error_find(error, strlen(error));
	point->races = races;
	return point->call < SOFT_CALL_COUNT && soft_error_is_allowed(point->call, point->error) ?
		   length :
		   0;
}

/* The rest of the first line; false if it is none. */
static bool
file_read_plan(const char *text, struct soft_plan *plan)
{
	struct soft_plan read = { 0 };
	struct soft_point point = { 0 };
	unsigned int calls;
	int length;

	do {
		length = file_read_planned(text, &point);
		calls = length > 0 ? point.n : 0;
		for (point.n = 1; point.n <= calls; point.n++)
			soft_sweep_plan_add(&read, &point);
		text += length;
	} while (length > 0 && *text == ',' && text++);
	if (!read.count || strcmp(text, "]}\n") != 0) {
		free(read.points);
		return false;
	}
	free(plan->points);
	*plan = read;
	return true;
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

static void
file_begin(FILE *file, const char *head, const struct soft_plan *plan)
{
	fputs(head, file);
	file_print_plan(file, plan->points, plan->count);
}

/* A sweep goes on where the file ends, with the points of its first line. */
static void
file_continue(FILE *file, const char *path, const char *head, struct soft_plan *plan)
{
	char *line = NULL;
	size_t size = 0;
	long end = 0;

	rewind(file);
	if (getline(&line, &size, file) > 0) {
		if (strncmp(line, head, strlen(head)) != 0 ||
		    !file_read_plan(line + strlen(head), plan)) {
			soft_say(
			    "softverbs-run: --json=%s: it has the results of another sweep, or is "
			    "something else; name another file",
			    path);
			exit(EXIT_USAGE);
		}
		end = file_read_points(file, plan->points, plan->count);
	}
	/* What an interrupted sweep has left of a line. */
	if (fflush(file) || ftruncate(fileno(file), end))
		soft_parent_fail(path);
	if (!end)
		file_begin(file, head, plan);
	free(line);
}

FILE *
soft_sweep_file_open(const char *path, char **program, struct soft_plan *plan)
{
	const bool other = file_is_other(path);
	char *head = file_head(program);
	FILE *file = fopen(path, other ? "ae" : "a+e");

	if (!file)
		soft_parent_fail(path);
	if (other)
		file_begin(file, head, plan);
	else
		file_continue(file, path, head, plan);
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
