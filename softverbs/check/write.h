/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write -- writes what the checker prints, without waiting for ever for a reader
 *
 * A pipe whose reader has stopped, or a terminal that is held, must not keep the checker from
 * ending the program.  Also a part of softverbs-run.
 */
#ifndef SOFT_CHECK_WRITE_H
#define SOFT_CHECK_WRITE_H

#include <config.h>

#include <stddef.h>
#include <stdint.h>

/*
 * Writes all of it to the descriptor: 0, or an errno; EAGAIN if it could not in `limit`
 * milliseconds.
 */
int soft_write(int fd, const char *bytes, size_t size, unsigned int limit);

/*
 * Appends it to the file, which is made if it is not there.  A pipe without a reader, or with a
 * slow one, is waited for, `limit` milliseconds at most: 0 or an errno.
 */
int soft_append(const char *path, const char *bytes, size_t size, unsigned int limit);

#endif
