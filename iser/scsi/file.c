/* SPDX-License-Identifier: BSD-3-Clause */
#include "file.h"

#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ZEROS (256 << 10)
#define PIECE \
	(UINT64_C(64) << 20) /* of a range that is zeroed by one call: an abort waits for it */

int
file_read(int fd, uint64_t at, void *data, size_t length)
{
	char *to = data;

	while (length > 0) {
		ssize_t n = pread(fd, to, length, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		to += n;
		at += (uint64_t)n;
		length -= (size_t)n;
	}
	return 0;
}

int
file_write(int fd, uint64_t at, const void *data, size_t length)
{
	const char *from = data;

	while (length > 0) {
		ssize_t n = pwrite(fd, from, length, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		from += n;
		at += (uint64_t)n;
		length -= (size_t)n;
	}
	return 0;
}

int
file_move(struct scsi_task *task, bool write, uint64_t skip, uint64_t at, uint64_t length)
{
	const struct scsi_lun *lun = task->logical_unit;

	for (unsigned int i = 0; i < task->iov_count && length > 0; i++) {
		char *base = task->iov[i].iov_base;
		size_t n = task->iov[i].iov_len;
		int r;

		if (skip >= n) {
			skip -= n;
			continue;
		}
		n -= (size_t)skip;
		if (n > length)
			n = (size_t)length;
		r = write ? file_write(lun->fd, at, base + skip, n) :
			    file_read(lun->fd, at, base + skip, n);
		if (r)
			return r;
		skip = 0;
		at += n;
		length -= n;
	}
	return 0;
}

int
file_sync(const struct scsi_lun *lun)
{
	while (fdatasync(lun->fd))
		if (errno != EINTR)
			return -errno;
	return 0;
}

static int
write_zeros(struct scsi_task *task, uint64_t at, uint64_t length)
{
	char *zeros = calloc(1, ZEROS);
	int r = zeros ? 0 : -ENOMEM;

	while (length > 0 && r == 0 && !task->stop) {
		size_t n = length < ZEROS ? (size_t)length : ZEROS;

		r = file_write(task->logical_unit->fd, at, zeros, n);
		at += n;
		length -= n;
	}
	free(zeros);
	return r;
}

int
file_zero(struct scsi_task *task, uint64_t at, uint64_t length, bool unmap)
{
	const int mode =
	    (unmap ? FALLOC_FL_PUNCH_HOLE : FALLOC_FL_ZERO_RANGE) | FALLOC_FL_KEEP_SIZE;

	while (length > 0 && !task->stop) {
		uint64_t n = length < PIECE ? length : PIECE;
		int r = 0;

		if (fallocate(task->logical_unit->fd, mode, (off_t)at, (off_t)n))
			r = errno == EINTR ? 1 : -errno;
		if (r == 1)
			continue;
		if (r == -EOPNOTSUPP || r == -ENOSYS || r == -ENODEV || r == -EINVAL)
			r = write_zeros(task, at, n);
		if (r)
			return r;
		at += n;
		length -= n;
	}
	return 0;
}

int
file_status(const struct scsi_lun *lun, uint64_t at, bool *hole, uint64_t *end)
{
	const uint64_t size = lun->blocks * lun->block_bytes;
	off_t data = lseek(lun->fd, (off_t)at, SEEK_DATA), next;

	if (data < 0 && errno == ENXIO) { /* a hole up to the end */
		*hole = true;
		*end = size;
		return 0;
	}
	if (data < 0)
		return -errno;
	*hole = (uint64_t)data > at;
	next = *hole ? data : lseek(lun->fd, (off_t)at, SEEK_HOLE);
	if (next < 0)
		return -errno;
	*end = (uint64_t)next < size ? (uint64_t)next : size;
	return 0;
}
