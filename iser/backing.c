/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/backing.h"

#include "iser/say.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int
measure(struct backing *backing)
{
	struct stat st;
	off_t end;

	if (fstat(backing->fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	end = lseek(backing->fd, 0, SEEK_END); /* also right for a block device */
	if (end < 0)
		return -errno;
	backing->bytes = (uint64_t)end;
	return 0;
}

static int
open_measured(struct backing *backing, const char *path, int flags)
{
	struct backing b = BACKING_NONE;
	int r;

	b.fd = open(path, flags | O_CLOEXEC, 0666);
	if (b.fd < 0)
		return -errno;
	r = measure(&b);
	if (r) {
		close(b.fd);
		return r;
	}
	*backing = b;
	return 0;
}

int
backing_open_source(struct backing *backing, const char *path)
{
	struct backing b;
	int r = open_measured(&b, path, O_RDONLY);

	if (r)
		return r;
	if (b.bytes == 0) {
		close(b.fd);
		return -ENODATA;
	}
	*backing = b;
	return 0;
}

int
backing_open_device(struct backing *backing, const char *path)
{
	return open_measured(backing, path, O_RDWR | O_CREAT);
}

int
backing_open_temporary(struct backing *backing)
{
	const char *directory = secure_getenv("TMPDIR");
	char path[PATH_MAX];
	int fd, n, r;

	if (!directory || !*directory)
		directory = "/tmp";
	fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) { /* not every file system has files without a name */
		n = snprintf(path, sizeof path, "%s/iser-XXXXXX", directory);
		errno = ENAMETOOLONG;
		fd = n < 0 || n >= (int)sizeof path ? -1 : mkostemp(path, O_CLOEXEC);
		if (fd < 0) {
			r = -errno;
			say("no temporary file in %s: %s; TMPDIR names another directory",
			    directory, strerror(-r));
			return r;
		}
		unlink(path);
	}
	*backing = (struct backing){ .fd = fd };
	return 0;
}

int
backing_reserve(struct backing *backing, uint64_t bytes)
{
	if (bytes <= backing->bytes)
		return 0;
	if (bytes > INT64_MAX)
		return -EFBIG;
	if (ftruncate(backing->fd, (off_t)bytes))
		return -errno;
	backing->bytes = bytes;
	return 0;
}

void
backing_close(struct backing *backing)
{
	if (backing->fd >= 0)
		close(backing->fd);
	*backing = (struct backing)BACKING_NONE;
}
