/* SPDX-License-Identifier: BSD-3-Clause */
#include "sleep.h"
#include "descriptor.h"
#include "softverbs/device/progress.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What a system call waits for. */
enum sleep_kind { FOREIGN, INSIDE, CLOCK, POLL, SELECT, EPOLL, READ };

/* `timeout`: the argument that limits the wait; -1: none.  It is a pointer, or milliseconds. */
static const struct sleep_call {
	long number;
	enum sleep_kind kind;
	const char *name;
	int timeout;
	bool milliseconds;
} calls[] = {
	{ SYS_futex, INSIDE, "futex()", 3, false },
	{ SYS_nanosleep, CLOCK, "nanosleep()", 0, false },
	{ SYS_clock_nanosleep, CLOCK, "clock_nanosleep()", 2, false },
	{ SYS_ppoll, POLL, "ppoll()", 2, false },
	{ SYS_pselect6, SELECT, "pselect()", 4, false },
	{ SYS_epoll_pwait, EPOLL, "epoll_pwait()", 3, true },
#ifdef SYS_epoll_pwait2
	{ SYS_epoll_pwait2, EPOLL, "epoll_pwait2()", 3, false },
#endif
#ifdef SYS_poll
	{ SYS_poll, POLL, "ibv_get_cq_event() or poll()", 2, true },
#endif
#ifdef SYS_select
	{ SYS_select, SELECT, "select()", 4, false },
#endif
#ifdef SYS_epoll_wait
	{ SYS_epoll_wait, EPOLL, "epoll_wait()", 3, true },
#endif
	{ SYS_read, READ, "ibv_get_cq_event() or read()", -1, false },
};

static const struct sleep_call *
sleep_call(long number)
{
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

/* One file of the thread's folder in /proc. */
static bool
sleep_read(const char *thread, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t length;
	int fd;

	snprintf(path, sizeof path, "/proc/self/task/%.16s/%s", thread, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = read(fd, text, size - 1);
	soft_close(fd);
	if (length < 0)
		return false;
	text[length] = '\0';
	return true;
}

/* The progress thread, and that of the checker. */
static bool
sleep_is_of_the_device(const char *thread)
{
	char name[32];

	return sleep_read(thread, "comm", name, sizeof name) &&
	       (!strcmp(name, SOFT_PROGRESS_NAME "\n") || !strcmp(name, SOFT_SENTRY_NAME "\n"));
}

/* How often the thread has gone to sleep; 0 if that cannot be read. */
static unsigned long
sleep_naps(const char *thread)
{
	static const char name[] = "\nvoluntary_ctxt_switches:";
	char text[4096];
	const char *line;

	if (!sleep_read(thread, "status", text, sizeof text))
		return 0;
	line = strstr(text, name);
	return line ? strtoul(line + sizeof name - 1, NULL, 10) : 0;
}

/* Memory of a thread that may be running by now, so that it may not be there any more. */
static bool
sleep_peek(unsigned long address, void *to, size_t size)
{
	const int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	bool whole;

	if (fd < 0)
		return false;
	whole = pread(fd, to, size, (off_t)address) == (ssize_t)size;
	soft_close(fd);
	return whole;
}

/* Whether a descriptor is one that is looked for. */
typedef bool sleep_match(int fd, int channel);

static bool
sleep_polls(const struct soft_sleeper *sleeper, sleep_match *match, int fd)
{
	struct pollfd pfd;

	for (unsigned long i = 0; i < sleeper->arguments[1] && i < 4096; i++)
		if (sleep_peek(sleeper->arguments[0] + i * sizeof pfd, &pfd, sizeof pfd) &&
		    pfd.events & POLLIN && match(pfd.fd, fd))
			return true;
	return false;
}

static bool
sleep_selects(const struct soft_sleeper *sleeper, sleep_match *match, int fd)
{
	const unsigned long count = sleeper->arguments[0], bits = 8 * sizeof(long);
	unsigned long word;

	if (!sleeper->arguments[1])
		return false;
	for (unsigned long i = 0; i < count && i < 65536; i++) {
		if (i % bits == 0 &&
		    !sleep_peek(sleeper->arguments[1] + i / bits * sizeof word, &word, sizeof word))
			return false;
		if (word >> i % bits & 1 && match((int)i, fd))
			return true;
	}
	return false;
}

static bool
sleep_has(
    const struct soft_sleeper *sleeper, const struct sleep_call *call, sleep_match *match, int fd)
{
	switch (call->kind) {
	case POLL:
		return sleep_polls(sleeper, match, fd);
	case SELECT:
		return sleep_selects(sleeper, match, fd);
	case EPOLL:
	case READ:
		return match((int)sleeper->arguments[0], fd);
	default:
		return false;
	}
}

static bool
sleep_is_on(const struct soft_sleeper *sleeper, const struct sleep_call *call, int fd)
{
	return sleep_has(sleeper, call, soft_descriptor_leads_to, fd);
}

static bool
sleep_ticks(int fd, int channel)
{
	(void)channel;
	return soft_descriptor_ticks(fd);
}

static bool
sleep_has_limit(const struct soft_sleeper *sleeper, const struct sleep_call *call)
{
	if (call->timeout < 0)
		return false;
	if (call->milliseconds)
		return (int)sleeper->arguments[call->timeout] >= 0;
	return sleeper->arguments[call->timeout] != 0;
}

/* By the call, or by a timer that it waits for. */
static bool
sleep_is_timed(const struct soft_sleeper *sleeper, const struct sleep_call *call)
{
	return call &&
	       (sleep_has_limit(sleeper, call) || sleep_has(sleeper, call, sleep_ticks, -1));
}

/* False if it has ended meanwhile. */
static bool
sleep_look(const char *thread, struct soft_sleeper *sleeper)
{
	char text[512], *state;
	unsigned long *a = sleeper->arguments;

	*sleeper = (struct soft_sleeper){ .thread = (pid_t)atol(thread), .call = -1 };
	if (!sleep_read(thread, "stat", text, sizeof text))
		return false;
	state = strrchr(text, ')');
	if (!state || state[1] != ' ')
		return false;
	if (state[2] == 'Z' || state[2] == 'X')
		return false;
	sleeper->asleep = state[2] == 'S' || state[2] == 'D';
	/* "running", or the number and the arguments */
	if (!sleeper->asleep || !sleep_read(thread, "syscall", text, sizeof text))
		return true;
	if (sscanf(text, "%ld %lx %lx %lx %lx %lx %lx", &sleeper->call, &a[0], &a[1], &a[2], &a[3],
		&a[4], &a[5]) != 7)
		sleeper->asleep = false;
	sleeper->timed = sleeper->asleep && sleep_is_timed(sleeper, sleep_call(sleeper->call));
	if (sleeper->timed)
		sleeper->naps = sleep_naps(thread);
	return true;
}

static void
sleep_count(struct soft_sleepers *sleepers, const struct soft_sleeper *sleeper)
{
	const struct sleep_call *call = sleep_call(sleeper->call);

	if (!sleeper->asleep)
		sleepers->running = sleepers->busy = true;
	else if (sleeper->timed)
		sleepers->timed = true;
	else if (!call || call->kind != INSIDE)
		sleepers->outside = true;
}

void
soft_sleepers_look(struct soft_sleepers *sleepers)
{
	DIR *folder = opendir("/proc/self/task");
	struct soft_sleeper sleeper, *grown;
	const struct dirent *entry;
	size_t room = 0;

	*sleepers = (struct soft_sleepers){ .known = folder != NULL };
	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.' || sleep_is_of_the_device(entry->d_name) ||
		    !sleep_look(entry->d_name, &sleeper))
			continue;
		if (sleepers->count == room) {
			room = room ? 2 * room : 16;
			grown = realloc(sleepers->threads, room * sizeof *grown);
			if (!grown) {
				sleepers->known = false;
				break;
			}
			sleepers->threads = grown;
		}
		sleepers->threads[sleepers->count++] = sleeper;
		sleep_count(sleepers, &sleeper);
	}
	closedir(folder);
}

void
soft_sleepers_free(struct soft_sleepers *sleepers)
{
	free(sleepers->threads);
}

const struct soft_sleeper *
soft_sleepers_on(const struct soft_sleepers *sleepers, int fd, const char **call)
{
	const struct sleep_call *known;

	for (size_t i = 0; i < sleepers->count; i++) {
		known = sleep_call(sleepers->threads[i].call);
		if (!sleepers->threads[i].asleep || !known ||
		    !sleep_is_on(&sleepers->threads[i], known, fd))
			continue;
		*call = known->name;
		return &sleepers->threads[i];
	}
	return NULL;
}

/* It waits for nothing but the descriptor. */
static bool
sleep_is_on_alone(const struct soft_sleeper *sleeper, const struct sleep_call *call, int fd)
{
	if (call->kind != READ && (call->kind != POLL || sleeper->arguments[1] != 1))
		return false;
	return sleep_is_on(sleeper, call, fd);
}

bool
soft_sleepers_are_stuck(const struct soft_sleepers *sleepers, int fd)
{
	const struct soft_sleeper *sleeper;
	const struct sleep_call *call;

	if (!sleepers->known || sleepers->running || sleepers->timed)
		return false;
	for (size_t i = 0; i < sleepers->count; i++) {
		sleeper = &sleepers->threads[i];
		call = sleep_call(sleeper->call);
		if (!call || (call->kind != INSIDE && !sleep_is_on_alone(sleeper, call, fd)))
			return false;
	}
	return true;
}

bool
soft_sleepers_others_come_back(
    const struct soft_sleepers *sleepers, const struct soft_sleeper *than)
{
	const struct sleep_call *call;

	for (size_t i = 0; i < sleepers->count; i++) {
		if (&sleepers->threads[i] == than || !sleepers->threads[i].asleep)
			continue;
		call = sleep_call(sleepers->threads[i].call);
		if (!call || call->kind != INSIDE || sleepers->threads[i].timed)
			return true;
	}
	return false;
}

/* Its one line is "number (name) state ...". */
static bool
sleep_is_ready(const char *thread)
{
	char text[512], *name, *state;

	if (!sleep_read(thread, "stat", text, sizeof text))
		return false;
	name = strchr(text, '(');
	state = strrchr(text, ')');
	if (!name || !state || state[1] != ' ' || state[2] != 'R')
		return false;
	*state = '\0';
	return strcmp(name + 1, SOFT_PROGRESS_NAME) != 0 && strcmp(name + 1, SOFT_SENTRY_NAME) != 0;
}

unsigned int
soft_sleep_count_ready(void)
{
	DIR *folder = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned int ready = 0;
	const pid_t own = gettid();
	int left = 64;

	if (!folder)
		return 0;
	while ((entry = readdir(folder)) && left--)
		if (entry->d_name[0] != '.' && atol(entry->d_name) != own)
			ready += sleep_is_ready(entry->d_name);
	closedir(folder);
	return ready;
}

const struct soft_sleeper *
soft_sleepers_napping(const struct soft_sleepers *sleepers, pid_t thread)
{
	for (size_t i = 0; i < sleepers->count; i++)
		if (sleepers->threads[i].thread == thread)
			return sleepers->threads[i].timed ? &sleepers->threads[i] : NULL;
	return NULL;
}

bool
soft_sleepers_asleep(const struct soft_sleepers *sleepers, pid_t thread)
{
	for (size_t i = 0; i < sleepers->count; i++)
		if (sleepers->threads[i].thread == thread)
			return sleepers->threads[i].asleep;
	return false;
}
