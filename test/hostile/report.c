/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "actor.h"
#include "clock.h"
#include "ep.h"
#include "life.h"

#define LINES_OF_OBJECT 60
#define LINES_OF_ALL 40

static atomic_flag failed = ATOMIC_FLAG_INIT;
static char command[1024];
static _Atomic(int) companion;

void
report_command(const char *text)
{
	snprintf(command, sizeof command, "%s", text);
}

void
report_take_along(int pid)
{
	companion = pid;
}

static void
only_once(void)
{
	if (!atomic_flag_test_and_set(&failed))
		return;
	for (;;)
		pause();
}

static _Noreturn void
give_up(int status)
{
	if (companion > 0)
		kill(companion, SIGKILL);
	fflush(NULL);
	/* Wait for a debugger. */
	while (getenv("HOSTILE_HOLD"))
		pause();
	_exit(status);
}

static void
begin(const char *kind, const char *format, va_list args)
{
	only_once();
	fprintf(stderr, "hostile[%d]: %s, thread %d, @%llu, tick %llu: ", (int)getpid(), kind,
	    (int)syscall(SYS_gettid), (unsigned long long)clock_stamp(),
	    (unsigned long long)clock_tick());
	vfprintf(stderr, format, args);
	fprintf(stderr, "\nrepeat: %s\n", command);
}

static void
print_one(const struct life *life)
{
	const uint64_t name = life_name(life);

	life_print(life);
	fprintf(stderr, "last actions on %s:\n", life_name_text(name));
	trace_print(&name, 1, LINES_OF_OBJECT);
}

/* An endpoint is printed with the one that it is connected to. */
static void
print_object(const struct life *life)
{
	const struct life *mate;

	if (!life)
		return;
	print_one(life);
	mate = life->kind == LIFE_EP ? ep_mate((const struct ep *)life) : NULL;
	if (mate)
		print_one(mate);
}

_Noreturn void
report_wrong(const struct life *life, const struct life *other, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	begin("WRONG", format, args);
	va_end(args);
	print_object(life);
	if (other != life)
		print_object(other);
	fprintf(stderr, "last actions:\n");
	trace_print(NULL, 0, LINES_OF_ALL);
	give_up(1);
}

_Noreturn void
report_hang(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	begin("HANG", format, args);
	va_end(args);
	fprintf(stderr, "the threads:\n");
	actors_print();
	fprintf(stderr, "last actions:\n");
	trace_print(NULL, 0, LINES_OF_ALL);
	give_up(1);
}

_Noreturn void
report_broken(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	begin("cannot run", format, args);
	va_end(args);
	give_up(2);
}
