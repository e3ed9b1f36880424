/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * streams -- descriptors 0, 1 and 2 are those of the standard streams
 *
 * A program may be started with some of them closed.  What it opens would get their numbers
 * then, and what it prints would go there.
 */
#ifndef SOFT_RUN_STREAMS_H
#define SOFT_RUN_STREAMS_H

#include <stdbool.h>

/*
 * Before anything is opened: /dev/null stands for those that are closed, or the program ends.  The
 * program that is run finds them closed, as they were.
 */
void soft_streams_open(void);

/*
 * Writes what standard output has.  False if that fails, now or before: the reason of the first
 * failure is in errno, or 0 if it is not known.
 */
bool soft_streams_flush(void);

#endif
