/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * complaint -- why the device cannot be used as it is set up
 *
 * A line on standard error, unless soft_complain_to() of soft_arm.h has another place for it.
 */
#ifndef SOFT_COMPLAINT_H
#define SOFT_COMPLAINT_H

#include "show.h"

#include <stdbool.h>

/* The text has no newline, and is made printable.  Keeps errno. */
void soft_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether standard error has a reader: without one a line would end the program by SIGPIPE. */
bool soft_stderr_is_read(void);

/* What was said before, when a call fails for that: to another place alone. */
void soft_complain_again(const char *text);

#endif
