/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report -- fails a run: prints the seed, the failure, and the actions before it
 *
 * None of these returns.  The first thread that fails prints its report; others stop.
 */
#ifndef REARM_HOSTILE_REPORT_H
#define REARM_HOSTILE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct life;

/* An error of the library, with the objects concerned (NULL: none). */
_Noreturn void report_wrong(const struct life *life, const struct life *other, const char *format,
    ...) __attribute__((format(printf, 3, 4)));
/* A thread or the run hangs. */
_Noreturn void report_hang(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The program cannot run. */
_Noreturn void report_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sets the command line that repeats the run; a failure prints it first. */
void report_command(const char *command);
/* Sets a process to kill when this one fails. */
void report_take_along(int pid);

#endif
