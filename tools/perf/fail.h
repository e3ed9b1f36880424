/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fail -- an error ends the program
 *
 * Any thread may find it, one of the provider in an upcall too.  So the process ends at once,
 * without tidying up: the peer finds that its connection is broken.
 */
#ifndef PERF_FAIL_H
#define PERF_FAIL_H

#include <dat2/udat.h>

/* Prints the message, and ends with 1.  If several threads fail, the first one prints. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, with a text for errno. */
_Noreturn void fail_errno(const char *what);

/* Fails unless the call has succeeded. */
void fail_dat(const char *call, DAT_RETURN ret);

#endif
