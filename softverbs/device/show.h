/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show -- texts that someone else may have chosen, as they may be printed
 *
 * Also a part of softverbs-run.
 */
#ifndef SOFT_SHOW_H
#define SOFT_SHOW_H

#include <stddef.h>

/*
 * Copies a text (a path, a variable, the name of a program), with \xNN in place of every byte that
 * is not printable ASCII.  Truncates what does not fit.  Returns `to`.
 */
const char *soft_show(char *to, size_t size, const char *text);

#endif
