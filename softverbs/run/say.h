/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * say -- the lines of softverbs-run and softverbs-ctl on standard error
 *
 * A line repeats arguments, names of files and variables.  So each is made printable as a whole,
 * whatever is in it.
 */
#ifndef SOFT_RUN_SAY_H
#define SOFT_RUN_SAY_H

#include <config.h>

#include <argp.h>

/* A whole line, but for its newline.  Keeps errno. */
void soft_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same after the name of the program, and how to get help; ends the process. */
void soft_wrong(struct argp_state *state, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/*
 * From begin to end the C library, which repeats options that it does not know, prints on standard
 * error in the same way.  `name`: of the program; kept.
 */
void soft_say_begin(const char *name);
void soft_say_end(void);

#endif
