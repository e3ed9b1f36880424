/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report -- how a run fails: with the seed, what is wrong, and what led to it
 *
 * None of these returns.  The first thread that fails is heard; the others stop.
 */
#ifndef REARM_HOSTILE_REPORT_H
#define REARM_HOSTILE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct life;

/* The library did something wrong to these objects (NULL: none). */
_Noreturn void report_wrong(const struct life *life, const struct life *other, const char *format,
			    ...) __attribute__((format(printf, 3, 4)));
/* Something does not go on. */
_Noreturn void report_hang(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The program cannot work here. */
_Noreturn void report_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a failure prints first: how to play the run again. */
void report_command(const char *command);
/* A process to end when this one fails. */
void report_take_along(int pid);

#endif
