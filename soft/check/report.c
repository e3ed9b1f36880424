/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"
#include "print.h"
#include "settings.h"

#include <fcntl.h>
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

/* 0 or errno. */
static int
report_write(int fd, const char *bytes, size_t size)
{
	ssize_t n;

	while (size) {
		n = write(fd, bytes, size);
		if (n > 0) {
			bytes += n;
			size -= (size_t)n;
		} else if (!n || errno != EINTR) {
			return n ? errno : EIO;
		}
	}
	return 0;
}

static int
report_append(const char *path, const char *bytes, size_t size)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
	int error;

	if (fd < 0)
		return errno;
	error = report_write(fd, bytes, size);
	soft_close(fd);
	return error;
}

/* To the file of --report.  softverbs-run could open it; if that has changed, the report is not lost. */
static void
report_print(const char *bytes, size_t size)
{
	const char *path = soft_check_settings.report;
	const int error = path ? report_append(path, bytes, size) : 0;
	char text[128];

	if (error)
		dprintf(STDERR_FILENO, "softverbs-run --check: %s: %s; the report:\n", path,
		    strerror_r(error, text, sizeof text));
	if (error || !path)
		report_write(STDERR_FILENO, bytes, size);
}

/* softverbs-run counts the reports of all processes by the length of this file. */
static void
report_tally(void)
{
	if (soft_check_settings.tally)
		report_append(soft_check_settings.tally, "!", 1);
}

void
soft_report(enum soft_kind kind, struct soft_check_queue *queue,
    const struct soft_check_state *state, const char *format, ...)
{
	char *text = NULL, *what = NULL;
	size_t size = 0;
	va_list arguments;
	FILE *stream;
	int saved = errno, cancel;

	if (atomic_fetch_or(&queue->reported, 1u << kind) & 1u << kind)
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	report_lock();
	va_start(arguments, format);
	if (vasprintf(&what, format, arguments) < 0)
		what = NULL;
	va_end(arguments);
	stream = open_memstream(&text, &size);
	if (stream) {
		if (soft_check_settings.json)
			soft_print_json(stream, kind, queue, state, what ? what : "");
		else
			soft_print_text(stream, kind, queue, state, what ? what : "");
		if (!fclose(stream))
			report_print(text, size);
	}
	free(what);
	free(text);
	report_tally();
	reports++;
	report_unlock();
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
}

void
soft_report_end(uint64_t waited)
{
	char line[160];
	int length;

	length = snprintf(line, sizeof line,
	    "softverbs-run --check: process %d has done nothing for %llu s after its report, and "
	    "is ended\n",
	    (int)getpid(), (unsigned long long)(waited / SOFT_SECOND));
	report_lock();
	if (!soft_check_settings.json && length > 0)
		report_print(line, (size_t)length);
	report_unlock();
}
