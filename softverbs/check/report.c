/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"
#include "print.h"
#include "settings.h"
#include "tally.h"
#include "write.h"
#include "softverbs/device/complaint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint reports;

static void
report_lock(void) ACQUIRE(soft_check_locks.report) UNCHECKED
{
	pthread_mutex_lock(&lock);
}

static void
report_unlock(void) RELEASE(soft_check_locks.report) UNCHECKED
{
	pthread_mutex_unlock(&lock);
}

unsigned int
soft_reports(void)
{
	return reports;
}

void
soft_reports_reset(void) UNCHECKED
{
	pthread_mutex_init(&lock, NULL);
	reports = 0;
}

/* A report waits so many milliseconds for the reader of a pipe, and for a terminal. */
#define PATIENCE 5000

/*
 * To the file of --report.  softverbs-run could open it; if that has changed, or nothing reads it,
 * the report is not lost, and later ones do not wait.
 */
static void
report_print(const char *bytes, size_t size) REQUIRES(soft_check_locks.report)
{
	static unsigned int patience = PATIENCE;
	const char *path = soft_check_settings.report;
	const uint64_t timeout = soft_check_settings.timeout / SOFT_MILLISECOND;
	const unsigned int limit = timeout < patience ? (unsigned int)timeout : patience;
	char text[128], shown[257], line[512];
	int error = 0, length;

	if (path)
		error = soft_append(path, bytes, size, limit);
	if (path && !error)
		return;
	if (error) {
		if (error == ENXIO || error == EAGAIN)
			patience = 0;
		length = snprintf(line, sizeof line, "softverbs-run --check: %s: %s; the report:\n",
		    soft_show(shown, sizeof shown, path),
		    error == ENXIO || error == EAGAIN ? "nothing reads it" :
							strerror_r(error, text, sizeof text));
		if (length > 0)
			soft_write(STDERR_FILENO, line, (size_t)length, limit);
	}
	if (soft_write(STDERR_FILENO, bytes, size, limit) == EAGAIN)
		patience = 0;
}

/*
 * What is reported: a queue that the caller has locked, or another object, of which only the name
 * is known.
 */
struct report {
	enum soft_kind kind;
	const struct soft_check_queue *queue;
	const struct soft_check_state *state;
	const char *object;
	const struct soft_site *site;
};

static void
report_write(FILE *stream, const struct report *report, const char *what) UNCHECKED
{
	if (report->object)
		soft_print_object(stream, soft_check_settings.json, report->kind, report->object,
		    report->site, what);
	else if (soft_check_settings.json)
		soft_print_json(stream, report->kind, report->queue, report->state, what);
	else
		soft_print_text(stream, report->kind, report->queue, report->state, what);
}

static void
report_make(const struct report *report, const char *format, va_list arguments)
    EXCLUDES(soft_check_locks.report)
{
	char *text = NULL, *what = NULL;
	size_t size = 0;
	FILE *stream;
	int saved = errno, cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	report_lock();
	if (vasprintf(&what, format, arguments) < 0)
		what = NULL;
	stream = open_memstream(&text, &size);
	if (stream) {
		report_write(stream, report, what ? what : "");
		if (!fclose(stream))
			report_print(text, size);
	}
	free(what);
	free(text);
	soft_tally->reports++;
	reports++;
	report_unlock();
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}

void
soft_report(enum soft_kind kind, struct soft_check_queue *queue,
    const struct soft_check_state *state, const char *format, ...)
{
	const struct report report = { .kind = kind, .queue = queue, .state = state };
	va_list arguments;

	if (state->made & soft_kinds[kind].made)
		return;
	if (atomic_fetch_or(&queue->reported, 1u << kind) & 1u << kind)
		return;
	va_start(arguments, format);
	report_make(&report, format, arguments);
	va_end(arguments);
}

void
soft_report_object(
    enum soft_kind kind, const char *object, const struct soft_site *site, const char *format, ...)
{
	const struct report report = { .kind = kind, .object = object, .site = site };
	va_list arguments;

	va_start(arguments, format);
	report_make(&report, format, arguments);
	va_end(arguments);
}

void
soft_report_end(uint64_t waited)
{
	char line[160];
	int length;

	length = snprintf(line, sizeof line,
	    "softverbs-run --check: process %d has made no progress with its queues for %llu s "
	    "after its report, and is ended\n",
	    (int)getpid(), (unsigned long long)(waited / SOFT_SECOND));
	report_lock();
	if (!soft_check_settings.json && length > 0)
		report_print(line, (size_t)length);
	report_unlock();
	soft_tally->ended++;
}
