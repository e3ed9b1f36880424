/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * complaint -- why the device cannot be used as it is set up
 *
 * A line on standard error, unless soft_complain_to() of soft_arm.h has another place for it.
 */
#ifndef SOFT_COMPLAINT_H
#define SOFT_COMPLAINT_H

#include <stddef.h>

/*
 * Copies a text that someone else may have chosen (a path, a variable, the name of a program), with
 * \xNN in place of every byte that is not printable ASCII.  Truncates what does not fit.  Returns
 * `to`.
 */
const char *soft_show(char *to, size_t size, const char *text);

/* The text has no newline, and is made printable.  Keeps errno. */
void soft_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
