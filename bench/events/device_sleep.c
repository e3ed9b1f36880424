/* SPDX-License-Identifier: BSD-3-Clause */
/* device_sleep -- waits for other threads, without a call to the C library */
#include "device_object.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

long
device_call(long number, long a, long b, long c)
{
	long r;

	device_calls++;
	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return r;
}

static long
read_number(const char **text, const char *end, int base)
{
	long n = 0;

	for (; *text < end; ++*text) {
		const char c = **text;
		const int digit = c >= 'a' && c <= 'f' ? c - 'a' + 10 :
				  c >= '0' && c <= '9' ? c - '0' :
							 base;

		if (digit >= base)
			break;
		n = n * base + digit;
	}
	return n;
}

/*
 * A line of /proc/self/task/THREAD/syscall: "running", or the number of the call and its arguments.
 * Valgrind runs one thread at a time; the others wait in read() of a descriptor that is above the
 * limit that the program sees.
 */
static bool
is_asleep(const char *line, const char *end)
{
	struct rlimit files;
	long number, fd;

	if (line == end || *line < '0' || *line > '9')
		return false;
	number = read_number(&line, end, 10);
	if (number != SYS_read)
		return number != SYS_sched_yield;
	line += 3; /* " 0x" */
	fd = read_number(&line, end, 16);
	device_call(SYS_getrlimit, RLIMIT_NOFILE, (long)&files, 0);
	return (rlim_t)fd < files.rlim_cur;
}

/* Writes /proc/self/task/THREAD/syscall. */
static void
syscall_path(char *path, const char *thread)
{
	static const char head[] = "/proc/self/task/", tail[] = "/syscall";

	for (const char *c = head; *c; c++)
		*path++ = *c;
	for (const char *c = thread; *c; c++)
		*path++ = *c;
	for (unsigned int i = 0; i < sizeof tail; i++)
		*path++ = tail[i];
}

static bool
thread_is_asleep(const char *thread)
{
	char path[64], line[256];
	long fd, got;

	syscall_path(path, thread);
	fd = device_call(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return true; /* it has ended */
	got = device_call(SYS_read, fd, (long)line, sizeof line);
	device_call(SYS_close, fd, 0, 0);
	return got > 0 && is_asleep(line, line + got);
}

struct entry { /* of getdents64() */
	uint64_t inode, offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

static bool
is_number(const char *name, long number)
{
	const char *end = name;

	while (*end)
		end++;
	return read_number(&name, end, 10) == number;
}

static bool
others_sleep(void)
{
	static long tasks = -1;
	static _Alignas(struct entry) char entries[4096];
	const long self = device_call(SYS_gettid, 0, 0, 0);
	bool asleep = true;
	long size;

	if (tasks < 0)
		tasks = device_call(
		    SYS_open, (long)"/proc/self/task", O_RDONLY | O_CLOEXEC | O_DIRECTORY, 0);
	device_call(SYS_lseek, tasks, 0, 0);
	while ((size = device_call(SYS_getdents64, tasks, (long)entries, sizeof entries)) > 0)
		for (long at = 0; at < size;) {
			const struct entry *entry = (const struct entry *)(entries + at);

			at += entry->length;
			if (entry->name[0] != '.' && !is_number(entry->name, self))
				asleep = asleep && thread_is_asleep(entry->name);
		}
	return asleep;
}

/* A thread may be about to wake another one that was seen asleep before, hence several looks. */
void
device_await_quiet(void)
{
	for (unsigned int looks = 0; looks < 3; looks++)
		while (!others_sleep()) {
			looks = 0;
			device_call(SYS_sched_yield, 0, 0, 0);
		}
}

void
device_await(const _Atomic uint64_t *word, uint64_t value)
{
	while (atomic_load_explicit(word, memory_order_acquire) < value)
		device_call(SYS_sched_yield, 0, 0, 0);
}
