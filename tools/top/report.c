/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <jansson.h>

/* The numbers of a row that JSON and CSV have, by name. */
struct field {
	const char *name;
	size_t offset;
};

#define FIELD(member) \
	{ \
#member, offsetof(struct evd_stats_row, member) \
	}

static const struct field fields[] = { FIELD(serial), FIELD(flags), FIELD(length), FIELD(depth),
	FIELD(max_depth), FIELD(dto_events), FIELD(connection_events), FIELD(cr_events),
	FIELD(software_events), FIELD(async_events), FIELD(upcalls), FIELD(notifications),
	FIELD(spurious), FIELD(arms), FIELD(arm_failures), FIELD(races), FIELD(busy),
	FIELD(overflows), FIELD(rnr_stalls), FIELD(waits), FIELD(sleeps), FIELD(dequeues),
	FIELD(dequeued), FIELD(polls), FIELD(polls_found), FIELD(slow_us), FIELD(slow_upcalls) };

enum { FIELDS = sizeof fields / sizeof fields[0] };

static uint64_t
field_value(const struct evd_stats_row *stats, const struct field *field)
{
	uint64_t value;

	memcpy(&value, (const char *)stats + field->offset, sizeof value);
	return value;
}

/* ---- JSON ---- */

/* Numbers of JSON have 63 bits here.  What is not known is null. */
static json_t *
json_count(uint64_t value)
{
	if (value == EVD_STATS_UNKNOWN)
		return json_null();
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *
json_handle(uint64_t handle)
{
	char text[32];

	snprintf(text, sizeof text, "0x%" PRIx64, handle);
	return json_string(text);
}

static json_t *
json_process(const struct process *process, const struct view *view)
{
	json_t *object = json_object(), *evds = json_array(), *evd;

	json_object_set_new(object, "pid", json_integer(process->pid));
	json_object_set_new(object, "command", json_string(process->command));
	json_object_set_new(object, "time_ns", json_count(view->time_ns));
	json_object_set_new(object, "interval_ms", json_count(view->interval_ms));
	json_object_set_new(object, "missing", json_count(view->missing));
	for (size_t i = 0; i < view->count; i++) {
		const struct evd_stats_row *stats = &view->rows[i].stats;

		evd = json_object();
		json_object_set_new(evd, "evd", json_handle(stats->evd));
		json_object_set_new(evd, "ia", json_handle(stats->ia));
		json_object_set_new(evd, "adapter", json_string(stats->adapter));
		json_object_set_new(evd, "sink", json_string(view_sink(stats)));
		for (size_t k = 0; k < FIELDS; k++)
			json_object_set_new(
			    evd, fields[k].name, json_count(field_value(stats, &fields[k])));
		json_array_append_new(evds, evd);
	}
	json_object_set_new(object, "evds", evds);
	return object;
}

/* One line.  Frees the value. */
static void
json_print(json_t *value)
{
	if (json_dumpf(value, stdout, JSON_COMPACT) != 0)
		errx(1, "the report cannot be written as JSON");
	putchar('\n');
	json_decref(value);
}

/* ---- CSV ---- */

/* What is not known is empty. */
static void
csv_print_count(uint64_t value)
{
	if (value == EVD_STATS_UNKNOWN)
		putchar(',');
	else
		printf(",%" PRIu64, value);
}

static void
csv_print(struct report *report, const struct process *process, const struct view *view)
{
	if (!report->begun) {
		printf("pid,time_ns,evd,ia,adapter,sink");
		for (size_t k = 0; k < FIELDS; k++)
			printf(",%s", fields[k].name);
		putchar('\n');
		report->begun = true;
	}
	for (size_t i = 0; i < view->count; i++) {
		const struct evd_stats_row *stats = &view->rows[i].stats;

		printf("%ld,%" PRIu64 ",0x%" PRIx64 ",0x%" PRIx64 ",\"", (long)process->pid,
		    view->time_ns, stats->evd, stats->ia);
		for (const char *c = stats->adapter; *c != '\0'; c++) {
			if (*c == '"')
				putchar(*c);
			putchar(*c);
		}
		printf("\",%s", view_sink(stats));
		for (size_t k = 0; k < FIELDS; k++)
			csv_print_count(field_value(stats, &fields[k]));
		putchar('\n');
	}
}

/* ---- the table ---- */

/* Lines and columns of the terminal; large numbers if there is none. */
static void
find_screen(const struct report *report, size_t *lines, size_t *columns)
{
	struct winsize size;

	*lines = *columns = 1000000;
	if (!report->screen || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		return;
	/* The last line is that of the cursor.  A terminal that has no size says 0. */
	if (size.ws_row > 0)
		*lines = size.ws_row > 1 ? size.ws_row - 1u : 1;
	if (size.ws_col > 0)
		*columns = size.ws_col;
}

/* A line, as far as it fits; the rest of the line on the screen is cleared. */
static void
print_line(const struct report *report, size_t columns, const char *text)
{
	printf("%.*s%s\n", (int)columns, text, report->screen ? "\033[K" : "");
}

/* At most 10 characters: 1234567, 123456k, 123456M. */
static void
format_number(char *text, size_t size, double value)
{
	static const char units[] = " kMGTPE";
	int unit = 0;

	while (value >= 1e7 && units[unit + 1] != '\0') {
		value /= 1000;
		unit++;
	}
	snprintf(text, size, unit == 0 ? "%.0f" : "%.0f%c", value, units[unit]);
}

static void
format_row(const struct report *report, const struct view *view, const struct view_row *row,
    char *text, size_t size)
{
	char number[32];
	int n = snprintf(text, size, "%#-16" PRIx64 " %-12.12s %-6s", row->stats.evd,
	    row->stats.adapter, view_sink(&row->stats));

	for (int i = 0; i < VIEW_COLUMNS && n > 0 && (size_t)n < size; i++) {
		if ((i == VIEW_SLOW && row->stats.slow_us == 0) ||
		    (i == VIEW_STALLS && row->stats.rnr_stalls == EVD_STATS_UNKNOWN))
			snprintf(number, sizeof number, "-");
		else
			format_number(number, sizeof number,
			    view->has_rates && !report->totals ? row->rate[i] :
								 (double)row->value[i]);
		n += snprintf(text + n, size - (size_t)n, " %9s", number);
	}
}

static void
print_head(const struct report *report, size_t columns)
{
	char text[256];
	int n = snprintf(text, sizeof text, "%-16s %-12s %-6s", "EVD", "ADAPTER", "SINK");

	for (int i = 0; i < VIEW_COLUMNS; i++) {
		n += snprintf(text + n, sizeof text - (size_t)n, " %9s", view_column_name(i));
		for (char *c = text + n - strlen(view_column_name(i)); *c != '\0'; c++)
			*c = (char)(*c - 'a' + 'A');
	}
	print_line(report, columns, text);
}

static void
table_print(struct report *report, const struct process *process, const struct view *view)
{
	size_t lines, columns, rows = view->count;
	char text[256];

	find_screen(report, &lines, &columns);
	if (report->screen)
		fputs("\033[H", stdout);
	snprintf(text, sizeof text, "%ld %s: %zu EVDs%s, %s", (long)process->pid, process->command,
	    view->count, view->missing ? " (and some more)" : "",
	    view->has_rates && !report->totals ? "counts a second" : "counts since their creation");
	print_line(report, columns, text);
	if (lines > 1)
		print_head(report, columns);
	if (report->lines != 0 && rows > report->lines)
		rows = report->lines;
	if (rows + 2 > lines)
		rows = lines > 2 ? lines - 2 : 0;
	for (size_t i = 0; i < rows; i++) {
		format_row(report, view, &view->rows[i], text, sizeof text);
		print_line(report, columns, text);
	}
	if (report->screen)
		fputs("\033[J", stdout);
}

void
report_view(struct report *report, const struct process *process, const struct view *view)
{
	switch (report->form) {
	case REPORT_JSON:
		json_print(json_process(process, view));
		break;
	case REPORT_CSV:
		csv_print(report, process, view);
		break;
	case REPORT_TABLE:
		table_print(report, process, view);
		break;
	}
	fflush(stdout);
}

static void
list_print(const struct process *processes, const struct view *views, size_t count)
{
	printf("%8s %-16s %6s %10s %12s %12s\n", "PID", "COMMAND", "EVDS", "EVERY", "EVENTS",
	    "UPCALLS");
	for (size_t i = 0; i < count; i++) {
		uint64_t events = 0, upcalls = 0;

		for (size_t k = 0; k < views[i].count; k++) {
			events += views[i].rows[k].value[VIEW_EVENTS];
			upcalls += views[i].rows[k].value[VIEW_UPCALLS];
		}
		printf("%8ld %-16s %6zu %7" PRIu64 " ms %12" PRIu64 " %12" PRIu64 "\n",
		    (long)processes[i].pid, processes[i].command, views[i].count,
		    views[i].interval_ms, events, upcalls);
	}
}

void
report_list(
    struct report *report, const struct process *processes, const struct view *views, size_t count)
{
	json_t *array;

	switch (report->form) {
	case REPORT_JSON:
		array = json_array();
		for (size_t i = 0; i < count; i++)
			json_array_append_new(array, json_process(&processes[i], &views[i]));
		json_print(array);
		break;
	case REPORT_CSV:
		for (size_t i = 0; i < count; i++)
			csv_print(report, &processes[i], &views[i]);
		break;
	case REPORT_TABLE:
		list_print(processes, views, count);
		break;
	}
}
