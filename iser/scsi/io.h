/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io -- reads, writes and syncs of files by io_uring, and jobs by a pool of threads
 *
 * With a ring one thread waits for its completions; any thread submits.  Without one the workers
 * do reads, writes and syncs, too.  Callbacks come from these threads only.
 */
#ifndef ISER_SCSI_IO_H
#define ISER_SCSI_IO_H

#include "lun.h"

#include <sys/uio.h>

struct io;

enum io_operation {
	IO_READ,
	IO_WRITE,
	IO_WRITE_SYNC, /* on the medium when it ends */
	IO_SYNC,       /* the data of all writes that have ended */
	IO_JOB,	       /* job(), on a worker */
};

/* The caller owns it, from io_submit() to done(). */
struct io_request {
	enum io_operation operation;
	int fd;
	uint64_t at;
	const struct iovec *iov;
	unsigned int iov_count;
	int (*job)(struct io_request *request); /* may block */
	/* `result` is bytes of a read or write, 0 for a sync, what the job returned, or -errno. */
	void (*done)(struct io_request *request, int64_t result);

	struct io_request *next; /* private */
};

/* 0 or -errno, as scsi_target_open(). */
int io_open(struct io **io, enum scsi_engine engine, unsigned int threads);

/* Ends the threads.  Nothing may be in flight. */
void io_close(struct io *io);

bool io_has_ring(const struct io *io);

/* Never blocks, never fails: an error is a result. */
void io_submit(struct io *io, struct io_request *request);

#endif
