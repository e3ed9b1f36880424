/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"
#include "reason.h"
#include "text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NAME, API, THREADSAFE, LIBRARY, PARAMETERS, OPENS, COLUMNS, GAP = 2, LINE = 80 };

static const char *const titles[COLUMNS] = { "NAME", "API", "THREADSAFE", "LIBRARY", "PARAMETERS",
	"OPENS" };

/* A longer text moves the rest of its own line only. */
static const int widest[COLUMNS] = { 32, 8, 10, 24, LINE, 5 };

static const char *
table_text(const json_t *record, const char *key)
{
	const char *text = json_string_value(json_object_get(record, key));

	return text != NULL ? text : "";
}

static bool
table_is(const json_t *record, const char *key)
{
	return json_is_true(json_object_get(record, key));
}

static void
table_fill(const json_t *record, const char *cells[COLUMNS])
{
	const char *library = table_text(record, "library"), *slash = strrchr(library, '/');

	cells[NAME] = table_text(record, "name");
	cells[API] = table_text(record, "version");
	cells[THREADSAFE] = table_is(record, "thread_safe") ? "yes" : "no";
	cells[LIBRARY] = slash != NULL ? slash + 1 : library;
	cells[PARAMETERS] = table_text(record, "parameters");
	cells[OPENS] = table_is(record, "opens") ? "yes" : "no";
}

static void
table_measure(const json_t *report, int widths[COLUMNS])
{
	int others = (COLUMNS - 1) * GAP, width;
	const char *cells[COLUMNS];
	json_t *record;
	size_t i;

	for (int c = 0; c < COLUMNS; c++)
		widths[c] = text_width(titles[c]);
	json_array_foreach(report, i, record)
	{
		table_fill(record, cells);
		for (int c = 0; c < COLUMNS; c++) {
			width = text_width(cells[c]);
			if (width > widest[c])
				width = widest[c];
			if (width > widths[c])
				widths[c] = width;
		}
	}
	for (int c = 0; c < COLUMNS; c++)
		others += c != PARAMETERS ? widths[c] : 0;
	width = text_width(titles[PARAMETERS]);
	if (LINE - others > width)
		width = LINE - others;
	if (widths[PARAMETERS] > width)
		widths[PARAMETERS] = width;
}

static void
table_print_line(const char *const cells[COLUMNS], const int widths[COLUMNS])
{
	for (int c = 0; c < OPENS; c++)
		text_print_cell(cells[c], widths[c] + GAP);
	puts(cells[OPENS]);
}

static bool
table_is_first(const json_t *record)
{
	return table_is(record, "opens") || table_is(record, "rearm");
}

static void
table_print_part(const json_t *report, bool first, const int widths[COLUMNS], json_t *reasons)
{
	const char *cells[COLUMNS];
	json_t *record;
	size_t i;

	json_array_foreach(report, i, record)
	{
		if (table_is_first(record) != first)
			continue;
		table_fill(record, cells);
		table_print_line(cells, widths);
		reason_add(reasons, json_object_get(record, "lines"), cells[NAME],
		    table_text(record, "place"));
	}
}

static bool
table_has_output(const json_t *report)
{
	json_t *record;
	size_t i;

	json_array_foreach(report, i, record)
	{
		if (json_array_size(json_object_get(record, "output")) > 0)
			return true;
	}
	return false;
}

void
table_print(const json_t *report)
{
	json_t *reasons = json_object(), *reason, *names, *list, *count;
	const char *text;
	int widths[COLUMNS];

	table_measure(report, widths);
	table_print_line(titles, widths);
	table_print_part(report, true, widths, reasons);
	table_print_part(report, false, widths, reasons);
	if (json_object_size(reasons) > 0)
		putchar('\n');
	json_object_foreach(reasons, text, reason)
	{
		names = json_object_get(reason, "names");
		count = reason_count(names);
		list = reason_list(names);
		text_print(0, 10, json_string_value(count), text);
		text_print(10, 0, "", json_string_value(list));
		json_decref(count);
		json_decref(list);
	}
	json_decref(reasons);
	if (table_has_output(report)) {
		putchar('\n');
		text_print(
		    0, 0, "", "--verbose prints what the libraries of these names wrote, too.");
	}
}

static void
table_print_record(const json_t *record)
{
	const bool opens = table_is(record, "opens");
	json_t *text, *line;
	size_t i;

	text = text_format("%s: %s %s%s, %s", table_text(record, "name"),
	    table_text(record, "version"),
	    table_is(record, "thread_safe") ? "threadsafe" : "nonthreadsafe",
	    table_is(record, "default") ? "" : " nondefault", table_text(record, "place"));
	text_print(0, 0, "", json_string_value(text));
	json_decref(text);
	text = text_format(
	    "%s \"%s\"", table_text(record, "library"), table_text(record, "parameters"));
	text_print(2, 0, "", json_string_value(text));
	json_decref(text);
	text = opens ? text_format("device %s", table_text(record, "device")) : NULL;
	if (text != NULL)
		text_print(2, 7, "opens:", json_string_value(text));
	json_decref(text);
	json_array_foreach(json_object_get(record, "lines"), i, line)
	    text_print(2, opens ? 7 : 4, opens ? "" : "no:", json_string_value(line));
	json_array_foreach(json_object_get(record, "output"), i, line)
	    text_print(2, 8, i == 0 ? "output:" : "", json_string_value(line));
}

void
table_print_all(const json_t *report)
{
	json_t *record;
	size_t i;

	json_array_foreach(report, i, record) table_print_record(record);
}
