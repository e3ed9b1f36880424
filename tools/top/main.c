/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_top -- the counters of every EVD of a process, from the page of statistics that its provider
 * writes
 */
#include <config.h>

#include <argp.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <dat2/dat_version.h>

#include "process.h"
#include "report.h"
#include "tools/printable.h"
#include "tools/streams.h"
#include "tools/written.h"
#include "view.h"

enum { USAGE = 2, CSV = 256, JSON, ONCE, PAGE, TOTALS };

#define UNREAD_MAX 8 /* pages that are not shown and explained */
#define SECONDS_MIN 0.01
#define SECONDS_MAX 3600.0

struct request {
	pid_t pid; /* 0: all */
	const char *page;
	double seconds;
	unsigned long views; /* 0: no limit */
	int column;
	struct report report;
};

static const struct argp_option options[] = {
	{ "interval", 'i', "SECONDS", 0, "Show the counts again after so long (1)", 0 },
	{ "number", 'n', "NUMBER", 0, "End after so many times", 0 },
	{ "once", ONCE, NULL, 0, "Show the counts once: those since each EVD was created", 0 },
	{ "sort", 's', "COLUMN", 0,
	    "The largest first: depth, events, upcalls, notified, arms, spurious, races, stalls, "
	    "slow; or "
	    "evd, "
	    "by the handle (events)",
	    0 },
	{ "totals", TOTALS, NULL, 0, "Show counts since each EVD was created, not those a second",
	    0 },
	{ "lines", 'l', "NUMBER", 0, "Show at most so many EVDs", 0 },
	{ "json", JSON, NULL, 0, "Print a line of JSON each time", 0 },
	{ "csv", CSV, NULL, 0, "Print comma-separated values", 0 },
	{ "page", PAGE, "FILE", 0, "Read a copy of a page of statistics", 0 },
	{ 0 },
};

static const char about[] = "Show what every EVD of a process does: events, upcalls, "
			    "notifications, arms, races. Without PID, "
			    "list the processes that publish statistics."
			    "\vA process publishes if DAPL_STATS=MILLISECONDS is in its "
			    "environment, or its line of dat.conf has "
			    "the word stats=MILLISECONDS.\n\nThe exit status is 0; 1 if the "
			    "process cannot be watched; 2 after a wrong "
			    "option.";

static void
print_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "dat_top (%s) %s\n", PACKAGE_NAME, PACKAGE_VERSION);
}

void (*argp_program_version_hook)(FILE *, struct argp_state *) = print_version;

static unsigned long
parse_number(struct argp_state *state, const char *what, const char *text, unsigned long most)
{
	const unsigned long n = strtoul(text, NULL, 10);

	if (*text == '\0' || text[strspn(text, "0123456789")] != '\0' || n < 1 || n > most)
		argp_error(state, "%s: %s is no number from 1 to %lu", what, text, most);
	return n;
}

static void
set_form(struct argp_state *state, enum report_form form)
{
	struct report *report = &((struct request *)state->input)->report;

	if (report->form != REPORT_TABLE && report->form != form)
		argp_error(state, "--json and --csv exclude each other");
	report->form = form;
}

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;
	char *end;

	switch (key) {
	case 'i':
		request->seconds = strtod(arg, &end);
		if (*arg == '\0' || *end != '\0' ||
		    !(request->seconds >= SECONDS_MIN && request->seconds <= SECONDS_MAX))
			argp_error(state, "--interval: %s is no number from %g to %g", arg,
			    SECONDS_MIN, SECONDS_MAX);
		return 0;
	case 'n':
		request->views = parse_number(state, "--number", arg, 1000000000);
		return 0;
	case ONCE:
		request->views = 1;
		return 0;
	case 's':
		request->column = view_column(arg);
		if (request->column < 0 && strcmp(arg, "evd") != 0)
			argp_error(state, "--sort: there is no column %s", arg);
		return 0;
	case TOTALS:
		request->report.totals = true;
		return 0;
	case 'l':
		request->report.lines = parse_number(state, "--lines", arg, 1000000000);
		return 0;
	case JSON:
		set_form(state, REPORT_JSON);
		return 0;
	case CSV:
		set_form(state, REPORT_CSV);
		return 0;
	case PAGE:
		request->page = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (request->pid != 0)
			argp_error(state, "%s is one argument too many", arg);
		request->pid = (pid_t)parse_number(state, "PID", arg, 0x7fffffff);
		return 0;
	case ARGP_KEY_END:
		if (request->page != NULL && request->pid != 0)
			argp_error(state, "--page and PID exclude each other");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void
free_pages(struct page *pages, int count)
{
	for (int i = 0; i < count; i++)
		page_free(&pages[i]);
}

static int
show_page(struct request *request)
{
	struct process process = { .command = "" };
	struct page page = { .rows = NULL };
	enum page_state state;
	struct view view;
	int patience = PAGE_PATIENCE, fd = page_open(AT_FDCWD, request->page);
	char why[256];

	if (fd < 0)
		err(1, "%s", request->page);
	state = page_read(fd, &page, &patience);
	close(fd);
	if (state != PAGE_READ)
		errx(1, "%s %s", request->page, page_explain(state, &page, why, sizeof why));
	process.pid = (pid_t)(page.head.pid & 0x7fffffff);
	view_make(&view, &page, 1, NULL);
	view_sort(&view, request->column, true);
	report_view(&request->report, &process, &view);
	view_free(&view);
	page_free(&page);
	return 0;
}

/* No page of the process could be read.  It has been watched before, or it is the first time. */
static int
explain_none(const struct process *process, bool watched, enum page_state state,
    const struct page *failed, const char *path)
{
	char why[256];

	if (watched) {
		warnx("process %ld publishes no longer: it has ended or has closed its adapters",
		    (long)process->pid);
		return 0;
	}
	if (path[0] == '\0')
		warnx("process %ld publishes no statistics: start it with DAPL_STATS=1000 in its "
		      "environment, "
		      "or with the word stats=1000 in its line of dat.conf, and it must have an "
		      "adapter open",
		    (long)process->pid);
	else if (state == PAGE_FAILED && (errno == EACCES || errno == EPERM))
		warnx("process %ld is another user's: only that user, and root, may read %s",
		    (long)process->pid, path);
	else
		warnx("%s %s", path, page_explain(state, failed, why, sizeof why));
	return 1;
}

/* Until the time that is `seconds` after *next, and moves it there. */
static void
sleep_until_next(struct timespec *next, double seconds)
{
	const long ns = (long)((seconds - (double)(time_t)seconds) * 1e9);

	next->tv_sec += (time_t)seconds;
	next->tv_nsec += ns;
	if (next->tv_nsec >= 1000000000) {
		next->tv_sec++;
		next->tv_nsec -= 1000000000;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL) == EINTR)
		;
}

/* There may be one of that number elsewhere. */
static void
explain_missing(pid_t pid)
{
	struct page_folder folder;
	const struct page_file *files;
	size_t count;

	if (page_folder_read(&folder)) {
		files = page_folder_of(&folder, pid, &count);
		if (count != 0 && files[0].state == PAGE_HIDDEN)
			errx(1,
			    "there is no process %ld here; one that lives in another PID "
			    "namespace has " EVD_STATS_FOLDER "/%s: run dat_top there",
			    (long)pid, files[0].name);
	}
	errx(1, "there is no process %ld", (long)pid);
}

/* All pages that the process has now. */
static int
read_all(pid_t pid, struct page pages[EVD_STATS_PAGES], enum page_state *state, struct page *failed,
    char *path, size_t size)
{
	int found, error, patience = PAGE_PATIENCE;
	const struct page_file *files;
	struct page_folder folder;
	size_t count;

	if (!page_folder_read(&folder))
		err(1, "%s", EVD_STATS_FOLDER);
	files = page_folder_of(&folder, pid, &count);
	found = process_read(files, count, pages, state, failed, path, size, &patience);
	error = errno;
	page_folder_free(&folder);
	errno = error;
	return found;
}

static int
watch(struct request *request)
{
	struct page pages[EVD_STATS_PAGES], failed;
	struct view view, before = { .rows = NULL };
	enum page_state state;
	struct process process;
	struct timespec next;
	char path[64];
	unsigned long shown = 0;
	int count;

	if (!process_find(request->pid, &process))
		explain_missing(request->pid);
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		count = read_all(process.pid, pages, &state, &failed, path, sizeof path);
		if (count == 0) {
			view_free(&before);
			return explain_none(&process, shown != 0, state, &failed, path);
		}
		view_make(&view, pages, count, shown != 0 ? &before : NULL);
		free_pages(pages, count);
		view_sort(&view, request->column, request->report.totals);
		report_view(&request->report, &process, &view);
		view_free(&before);
		before = view;
		if (++shown == request->views)
			break;
		sleep_until_next(&next, request->seconds);
	}
	view_free(&before);
	return 0;
}

static int
list(struct request *request)
{
	struct page pages[EVD_STATS_PAGES], failed;
	int found, patience = PAGE_PATIENCE;
	struct page_folder folder;
	struct process *processes;
	const struct page_file *files;
	enum page_state state;
	struct view *views;
	size_t count, n = 0, unread = 0;
	char path[64], why[256];

	if (!page_folder_read(&folder))
		err(1, "%s", EVD_STATS_FOLDER);
	views = calloc(folder.count + 1, sizeof *views);
	processes = calloc(folder.count + 1, sizeof *processes);
	if (views == NULL || processes == NULL)
		err(1, "no memory");
	for (size_t i = 0; i < folder.count; i += count) {
		files = page_folder_of(&folder, folder.files[i].process.pid, &count);
		found = process_read(
		    files, count, pages, &state, &failed, path, sizeof path, &patience);
		if (path[0] != '\0' && (state != PAGE_FAILED || errno != EACCES) &&
		    ++unread <= UNREAD_MAX)
			warnx("%s %s", path, page_explain(state, &failed, why, sizeof why));
		if (found == 0)
			continue;
		view_make(&views[n], pages, found, NULL);
		view_sort(&views[n], request->column, true);
		free_pages(pages, found);
		for (size_t k = 0; k < count; k++)
			if (files[k].state == PAGE_READ)
				processes[n] = files[k].process;
		n++;
	}
	if (unread > UNREAD_MAX)
		warnx("and %zu more that are not shown", unread - UNREAD_MAX);
	if (n == 0 && request->report.form == REPORT_TABLE)
		warnx("no process of this user publishes statistics: DAPL_STATS=1000 in its "
		      "environment lets one");
	else
		report_list(&request->report, processes, views, n);
	for (size_t i = 0; i < n; i++)
		view_free(&views[i]);
	free(views);
	free(processes);
	page_folder_free(&folder);
	return 0;
}

/* One that moves the cursor: each view is printed in the place of the one before. */
static bool
is_screen(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDOUT_FILENO) && terminal != NULL && *terminal != '\0' &&
	       strcmp(terminal, "dumb") != 0;
}

int
main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "[PID]", about, NULL, NULL, NULL };
	struct request request = { .seconds = 1, .column = VIEW_EVENTS };
	int status;

	streams_open();
	printable_arguments(argc, argv, USAGE);
	written_at_exit();
	argp_err_exit_status = USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &request);
	request.report.screen = request.report.form == REPORT_TABLE && request.views != 1 &&
				request.pid != 0 && is_screen();
	if (request.report.screen)
		fputs("\033[2J", stdout);
	if (request.page != NULL)
		status = show_page(&request);
	else
		status = request.pid != 0 ? watch(&request) : list(&request);
	return status;
}
