/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * backing -- a file read and written at offsets: source, device of the target, read-back
 */
#ifndef ISER_BACKING_H
#define ISER_BACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct backing {
	int fd; /* -1: not open */
	uint64_t bytes;
};

#define BACKING_NONE \
	{ \
		.fd = -1, .bytes = 0 \
	}

/* An existing file or block device, for reading.  0 or -errno; -EISDIR, -ENODATA when empty. */
int backing_open_source(struct backing *backing, const char *path);

/* A file to serve: created when missing, kept as it is when there.  0 or -errno. */
int backing_open_device(struct backing *backing, const char *path);

/* A file without a name, gone when closed, under $TMPDIR or /tmp.  0 or -errno. */
int backing_open_temporary(struct backing *backing);

/* Makes the file at least so large; it never shrinks.  0 or -errno. */
int backing_reserve(struct backing *backing, uint64_t bytes);

/* Closes and forgets; a second call does nothing. */
void backing_close(struct backing *backing);

/* All `length` bytes or none worth having: 0, -errno, or -EIO behind the end of the file. */
int backing_read(const struct backing *backing, uint64_t at, void *data, size_t length);
int backing_write(const struct backing *backing, uint64_t at, const void *data, size_t length);

/*
 * A tar of the directory in a file without a name: the default input.  The same tree gives
 * the same bytes.  0 or -errno; the message of a failing tar is on stderr.
 */
int backing_open_tar(struct backing *backing, const char *directory);

#endif
