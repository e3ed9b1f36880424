/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test-figures -- what dat_perf and dat_top print of what was counted: each counter has a value of
 * its own, and each field must print its own; and how long the ends of dat_perf wait
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/tools/figures.h"

static int passed, failed;

void
check(bool ok, const char *format, ...)
{
	va_list list;

	if (ok) {
		passed++;
		return;
	}
	failed++;
	va_start(list, format);
	fputs("FAIL  ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
}

void
check_text(const char *what, const char *found, const char *expected)
{
	check(!strcmp(found, expected), "%s:\n%s\nexpected:\n%s", what, found, expected);
}

/* ---- what is printed */

static FILE *screen;
static char *text;
static size_t length;

void
capture(void)
{
	free(text);
	text = NULL;
	screen = stdout;
	stdout = open_memstream(&text, &length);
}

const char *
captured(void)
{
	if (screen) {
		fclose(stdout);
		stdout = screen;
		screen = NULL;
	}
	return text;
}

double
number_at(json_t *object, const char *path)
{
	char name[32];
	size_t n;

	for (; object && *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		snprintf(name, sizeof name, "%.*s", (int)n, path);
		object = json_object_get(object, name);
	}
	return json_is_number(object) ? json_number_value(object) : NAN;
}

int
main(void)
{
	perf_waits();
	perf_text();
	perf_json();
	perf_histogram();
	perf_packed();
	perf_load();
	top_fields();
	top_sinks();
	top_columns();
	top_rates();
	top_list();
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
