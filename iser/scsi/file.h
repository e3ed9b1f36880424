/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file -- all of a range of a file, read or written: it waits for the disk
 */
#ifndef ISER_SCSI_FILE_H
#define ISER_SCSI_FILE_H

#include <stddef.h>
#include <stdint.h>

/* 0, -errno, or -EIO behind the end of the file. */
int file_read(int fd, uint64_t at, void *data, size_t length);
int file_write(int fd, uint64_t at, const void *data, size_t length);

#endif
