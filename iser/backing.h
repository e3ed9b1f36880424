/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * backing -- a file that is copied to a LUN, or gets what a LUN has
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

/* A file to write: created when missing, kept as it is when there.  0 or -errno. */
int backing_open_device(struct backing *backing, const char *path);

/* A file without a name, gone when closed, under $TMPDIR or /tmp.  0 or -errno. */
int backing_open_temporary(struct backing *backing);

/* Makes the file at least so large; it never shrinks.  0 or -errno. */
int backing_reserve(struct backing *backing, uint64_t bytes);

/* Closes and forgets; a second call does nothing. */
void backing_close(struct backing *backing);

#endif
