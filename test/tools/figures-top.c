/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * figures-top -- what dat_top prints
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <dat2/dat_upcall.h>
#include <dat2/udat.h>

#include "tools/top/report.h"

#include "test/tools/figures.h"

#define EACH_FIELD(do) \
	do \
	(serial) do(flags) do(length) do(depth) do(max_depth) do(dto_events) do(connection_events) do(cr_events) do(software_events) do(async_events) do(upcalls) do(notifications) do( \
	    spurious) do(arms) do(arm_failures) do(races) do(busy) do(overflows) do(rnr_stalls) do(waits) do(sleeps) do(dequeues) do(dequeued) do(polls) do(polls_found) do(slow_us) do(slow_upcalls)

/* Each counter is `from` and its place in the list. */
static struct evd_stats_row
row_from(uint64_t evd, uint64_t from)
{
	struct evd_stats_row row = { .evd = evd, .ia = evd + 1, .policy = DAT_UPCALL_DISABLE };

	strcpy(row.adapter, "a\"b");
#define SET(name) row.name = ++from;
	EACH_FIELD(SET)
#undef SET
	row.serial = 1;
	return row;
}

static struct page
page_of(struct evd_stats_row *rows, uint64_t count, uint64_t time_ns, uint64_t interval)
{
	return (
	    struct page){ .head = { .count = count, .time_ns = time_ns, .interval_ms = interval },
		.rows = rows };
}

/* origin: out33.H4 */
void
top_fields(void)
{
	const struct process process = { .pid = 4711, .command = "name" };
	struct evd_stats_row row = row_from(0xe0, 100);
	struct page page = page_of(&row, 1, 222, 333);
	struct report report = { .form = REPORT_JSON };
	json_t *object, *evd;
	struct view view;
	char expected[2048];
	int n;

	page.head.missing = 444;
	view_make(&view, &page, 1, NULL);
	capture();
	report_view(&report, &process, &view);
	object = json_loads(captured(), 0, NULL);
	check(number_at(object, "pid") == 4711 && number_at(object, "time_ns") == 222 &&
		  number_at(object, "interval_ms") == 333 && number_at(object, "missing") == 444,
	    "JSON: the head: %s", captured());
	evd = json_array_get(json_object_get(object, "evds"), 0);
	check_text("JSON: evd", json_string_value(json_object_get(evd, "evd")), "0xe0");
	check_text("JSON: ia", json_string_value(json_object_get(evd, "ia")), "0xe1");
	check_text("JSON: adapter", json_string_value(json_object_get(evd, "adapter")), "a\"b");
#define SAME(name) \
	check(number_at(evd, #name) == (double)row.name, "JSON: " #name " is %g, not %" PRIu64, \
	    number_at(evd, #name), row.name);
	EACH_FIELD(SAME)
#undef SAME
	check(json_object_size(evd) == 4 + 27, "JSON: %zu members", json_object_size(evd));
	json_decref(object);

	report = (struct report){ .form = REPORT_CSV };
	n = snprintf(expected, sizeof expected, "pid,time_ns,evd,ia,adapter,sink");
#define NAME(name) n += snprintf(expected + n, sizeof expected - (size_t)n, ",%s", #name);
	EACH_FIELD(NAME)
#undef NAME
	n += snprintf(
	    expected + n, sizeof expected - (size_t)n, "\n4711,222,0xe0,0xe1,\"a\"\"b\",-");
#define VALUE(name) n += snprintf(expected + n, sizeof expected - (size_t)n, ",%" PRIu64, row.name);
	EACH_FIELD(VALUE)
#undef VALUE
	snprintf(expected + n, sizeof expected - (size_t)n, "\n");
	capture();
	report_view(&report, &process, &view);
	check_text("CSV", captured(), expected);
	capture();
	report_view(&report, &process, &view);
	check_text("CSV, again: no head", captured(), strchr(expected, '\n') + 1);

	report = (struct report){ .form = REPORT_TABLE };
	capture();
	report_view(&report, &process, &view);
	/* The events: 106 to 110. */
	check_text("the table", captured(),
	    "4711 name: 1 EVDs (and some more), counts since their creation\n"
	    "EVD              ADAPTER      SINK       DEPTH    EVENTS   UPCALLS  NOTIFIED      "
	    "ARMS  "
	    "SPURIOUS     RACES    STALLS      SLOW\n"
	    "0xe0             a\"b          -            104       540       111       112       "
	    "114  "
	    "     113       116       119       127\n");
	view_free(&view);
	row.slow_us = 0;
	row.rnr_stalls = EVD_STATS_UNKNOWN;
	row.waits = UINT64_MAX - 1;
	row.upcalls = 9999999;
	row.arms = 10000000;
	row.races = 123456789012;
	row.spurious = 98765432100000;
	row.notifications = 12345678901234567;
	page.head.missing = 0;
	view_make(&view, &page, 1, NULL);
	capture();
	report_view(&report, &process, &view);
	check_text("the table: large numbers, and those that are not known", captured(),
	    "4711 name: 1 EVDs, counts since their creation\n"
	    "EVD              ADAPTER      SINK       DEPTH    EVENTS   UPCALLS  NOTIFIED      "
	    "ARMS  "
	    "SPURIOUS     RACES    STALLS      SLOW\n"
	    "0xe0             a\"b          -            104       540   9999999    12346T    "
	    "10000k  "
	    "  98765G   123457M         -         -\n");
	view_free(&view);
	capture();
	report = (struct report){ .form = REPORT_JSON };
	view_make(&view, &page, 1, NULL);
	report_view(&report, &process, &view);
	check(strstr(captured(), "\"waits\":9223372036854775807,") != NULL,
	    "JSON: a number beyond 63 bits: %s", captured());
	check(strstr(captured(), "\"rnr_stalls\":null,") != NULL, "JSON: one that is not known: %s",
	    captured());
	capture();
	report = (struct report){ .form = REPORT_CSV };
	report_view(&report, &process, &view);
	check(
	    strstr(captured(), ",118,,18446744073709551614,") != NULL, "CSV: both: %s", captured());
	view_free(&view);
}

void
top_sinks(void)
{
	static const struct {
		uint64_t policy, has_cno;
		const char *name;
	} rows[] = {
		{ DAT_UPCALL_DISABLE, 0, "-" },
		{ DAT_UPCALL_DISABLE, 1, "CNO" },
		{ DAT_UPCALL_SINGLE_INSTANCE, 0, "SINGLE" },
		{ DAT_UPCALL_MANY, 0, "MANY" },
		{ DAT_UPCALL_NORIFY, 1, "NOTIFY" },
		{ DAT_UPCALL_TEARDOWN, 0, "-" },
		{ 99, 0, "-" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct evd_stats_row row = { .policy = rows[i].policy,
			.has_cno = rows[i].has_cno };

		check_text("sink", view_sink(&row), rows[i].name);
	}
}

/* The handles of the rows, in their order. */
static const char *
order_of(const struct view *view)
{
	static char order[64];
	int n = 0;

	*order = '\0';
	for (size_t i = 0; i < view->count; i++)
		n += snprintf(
		    order + n, sizeof order - (size_t)n, "%" PRIx64 " ", view->rows[i].stats.evd);
	return order;
}

/* What each column has of a row with a 1 in one counter. */
void
top_columns(void)
{
	static const char *const names[VIEW_COLUMNS] = { "depth", "events", "upcalls", "notified",
		"arms", "spurious", "races", "stalls", "slow" };
	struct evd_stats_row rows[3];
	struct page page = page_of(rows, 3, 1, 1);
	struct view view;

	for (int column = 0; column < VIEW_COLUMNS; column++) {
		uint64_t *const counter[VIEW_COLUMNS] = { &rows[1].depth, &rows[1].cr_events,
			&rows[1].upcalls, &rows[1].notifications, &rows[1].arms, &rows[1].spurious,
			&rows[1].races, &rows[1].rnr_stalls, &rows[1].slow_upcalls };

		check(view_column(names[column]) == column, "--sort=%s", names[column]);
		for (int i = 0; i < 3; i++)
			rows[i] = row_from(0xa0 + (uint64_t)i, 0);
		*counter[column] += 5;
		view_make(&view, &page, 1, NULL);
		view_sort(&view, column, false);
		check_text(names[column], order_of(&view), "a1 a0 a2 ");
		view_sort(&view, -1, true);
		check_text("by the EVD", order_of(&view), "a0 a1 a2 ");
		view_free(&view);
	}
	check(view_column("evd") < 0 && view_column("") < 0, "no column");
}

/*
 * Two views: rates are of one EVD, found by its handle and its number, and of the time between
 * them.
 */
void
top_rates(void)
{
	struct evd_stats_row before[2], after[4];
	struct page pages[2] = { page_of(before, 2, 1000000000, 20),
		page_of(NULL, 0, 900000000, 50) };
	struct page then[2] = { page_of(after, 3, 3000000000, 30),
		page_of(after + 3, 1, 5000000000, 10) };
	const struct process process = { .pid = 4711, .command = "name" };
	struct report report = { .form = REPORT_TABLE };
	struct view first, second;
	const char *line;

	for (uint64_t i = 0; i < 2; i++)
		before[i] = row_from(0xb0 + i, 1000);
	for (uint64_t i = 0; i < 4; i++)
		after[i] = row_from(0xb0 + i, 1000);
	before[1].serial = 8;	/* of an EVD that is gone; another one has its handle */
	after[0].upcalls += 40; /* 10 a second */
	after[0].arms -= 40;
	after[3].depth = 3;
	pages[0].head.missing = 2;
	pages[1].head.missing = 3;
	view_make(&first, pages, 2, NULL);
	check(first.time_ns == 1000000000 && first.interval_ms == 50 && first.missing == 5 &&
		  !first.has_rates && first.count == 2,
	    "two pages");
	view_make(&second, then, 2, &first);
	check(second.time_ns == 5000000000 && second.interval_ms == 30 && !second.missing &&
		  second.has_rates && second.count == 4,
	    "two pages, later");
	check(second.rows[0].rate[VIEW_UPCALLS] == 10 && second.rows[0].rate[VIEW_RACES] == 0 &&
		  second.rows[0].rate[VIEW_ARMS] == 0 && second.rows[0].rate[VIEW_DEPTH] == 1004,
	    "rates of an EVD that was there: %g %g %g %g", second.rows[0].rate[VIEW_UPCALLS],
	    second.rows[0].rate[VIEW_RACES], second.rows[0].rate[VIEW_ARMS],
	    second.rows[0].rate[VIEW_DEPTH]);
	check(second.rows[1].rate[VIEW_UPCALLS] == 1011 / 4.0 &&
		  second.rows[3].rate[VIEW_UPCALLS] == 1011 / 4.0,
	    "rates of EVDs that are new: %g %g", second.rows[1].rate[VIEW_UPCALLS],
	    second.rows[3].rate[VIEW_UPCALLS]);
	view_sort(&second, VIEW_UPCALLS, false);
	check_text("by the rate", order_of(&second), "b1 b2 b3 b0 ");
	view_sort(&second, VIEW_UPCALLS, true);
	check_text("by the total", order_of(&second), "b0 b1 b2 b3 ");
	view_sort(&second, VIEW_DEPTH, false);
	check_text("by the depth", order_of(&second), "b0 b1 b2 b3 ");
	for (int totals = 0; totals < 2; totals++) {
		report.totals = totals;
		report.lines = 2;
		capture();
		report_view(&report, &process, &second);
		line = strchr(strchr(captured(), '\n') + 1, '\n') + 1;
		check(strstr(captured(), totals ? "4 EVDs, counts since their creation\n" :
						  "4 EVDs, counts a second\n") != NULL,
		    "what the counts are: %s", captured());
		check(!strncmp(line, "0xb0 ", 5) && strstr(line, totals ? " 1051 " : " 10 ") &&
			  strstr(line, "0xb1 ") && !strstr(line, "0xb2 "),
		    "two lines: %s", captured());
	}
	view_free(&second);
	/* No time has passed: counts are as of a second. */
	view_make(&second, pages, 1, &first);
	check(second.rows[0].rate[VIEW_UPCALLS] == 0 && second.has_rates, "at the same time");
	view_free(&second);
	view_free(&first);
}

void
top_list(void)
{
	const struct process processes[2] = { { .pid = 7, .command = "seven" },
		{ .pid = 8, .command = "eight" } };
	struct evd_stats_row rows[3] = { row_from(1, 0), row_from(2, 1000), row_from(3, 0) };
	const struct page pages[2] = { page_of(rows, 2, 1, 20), page_of(rows + 2, 1, 2, 30) };
	struct report report = { .form = REPORT_TABLE };
	struct view views[2];
	json_t *array;

	for (int i = 0; i < 2; i++)
		view_make(&views[i], &pages[i], 1, NULL);
	capture();
	report_list(&report, processes, views, 2);
	check_text("the list", captured(),
	    "     PID COMMAND            EVDS      EVERY       EVENTS      UPCALLS\n"
	    "       7 seven                 2      20 ms         5080         1022\n"
	    "       8 eight                 1      30 ms           40           11\n");
	report.form = REPORT_JSON;
	capture();
	report_list(&report, processes, views, 2);
	array = json_loads(captured(), 0, NULL);
	check(json_array_size(array) == 2 && number_at(json_array_get(array, 0), "pid") == 7 &&
		  number_at(json_array_get(array, 1), "interval_ms") == 30,
	    "the list as JSON: %s", captured());
	json_decref(array);
	report.form = REPORT_CSV;
	capture();
	report_list(&report, processes, views, 2);
	check(!strncmp(captured(), "pid,", 4) && strstr(captured(), "\n7,1,0x1,") &&
		  strstr(captured(), "\n7,1,0x2,") && strstr(captured(), "\n8,2,0x3,"),
	    "the list as CSV: %s", captured());
	for (int i = 0; i < 2; i++)
		view_free(&views[i]);
}
