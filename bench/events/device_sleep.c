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
		const int digit = c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= '0' && c <= '9' ? c - '0' : base;

		if (digit >= base)
			break;
		n = n * base + digit;
	}
	return n;
}

/*
 * A line of /proc/self/task/THREAD/syscall: "running", or the number of the call and its arguments.  Valgrind runs one
 * thread at a time; the others wait in read() of a descriptor that is above the limit that the program sees.
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

void
device_await_sleep(pid_t thread)
{
	static const char head[] = "/proc/self/task/", tail[] = "/syscall";
	char path[64], digits[16], line[256];
	unsigned int n = 0, d = 0;
	long fd, got;

	for (unsigned int i = 0; head[i]; i++)
		path[n++] = head[i];
	for (unsigned int t = (unsigned int)thread; t; t /= 10)
		digits[d++] = (char)('0' + t % 10);
	while (d)
		path[n++] = digits[--d];
	for (unsigned int i = 0; i < sizeof tail; i++)
		path[n++] = tail[i];
	for (;;) {
		fd = device_call(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
		got = device_call(SYS_read, fd, (long)line, sizeof line);
		device_call(SYS_close, fd, 0, 0);
		if (got > 0 && is_asleep(line, line + got))
			return;
		device_call(SYS_sched_yield, 0, 0, 0);
	}
}

void
device_await(const _Atomic uint64_t *word, uint64_t value)
{
	while (atomic_load_explicit(word, memory_order_acquire) < value)
		device_call(SYS_sched_yield, 0, 0, 0);
}
