/* SPDX-License-Identifier: BSD-3-Clause */
#include "io.h"

#include "ring.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 4

struct io {
	struct ring *ring; /* NULL: the workers do all */
	pthread_mutex_t lock;
	pthread_cond_t work;
	/* The lock guards the queue. */
	struct io_request *first, **last;
	bool stop;
	unsigned int thread_count;
	pthread_t threads[];
};

static int64_t
io_write_sync(const struct io_request *request)
{
	ssize_t n = pwritev2(
	    request->fd, request->iov, (int)request->iov_count, (off_t)request->at, RWF_DSYNC);

	if (n >= 0 || errno != EOPNOTSUPP)
		return n;
	n = pwritev(request->fd, request->iov, (int)request->iov_count, (off_t)request->at);
	return n >= 0 && fdatasync(request->fd) ? -1 : n;
}

static int64_t
io_perform(struct io_request *request)
{
	int64_t n = -1;

	do {
		switch (request->operation) {
		case IO_READ:
			n = preadv(
			    request->fd, request->iov, (int)request->iov_count, (off_t)request->at);
			break;
		case IO_WRITE:
			n = pwritev(
			    request->fd, request->iov, (int)request->iov_count, (off_t)request->at);
			break;
		case IO_WRITE_SYNC:
			n = io_write_sync(request);
			break;
		case IO_SYNC:
			n = fdatasync(request->fd);
			break;
		case IO_JOB:
			return request->job(request);
		}
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static void *
io_worker(void *context)
{
	struct io *io = context;
	struct io_request *request;

	pthread_mutex_lock(&io->lock);
	for (;;) {
		while (!io->first && !io->stop)
			pthread_cond_wait(&io->work, &io->lock);
		request = io->first;
		if (!request)
			break;
		io->first = request->next;
		if (!io->first)
			io->last = &io->first;
		pthread_mutex_unlock(&io->lock);
		request->done(request, io_perform(request));
		pthread_mutex_lock(&io->lock);
	}
	pthread_mutex_unlock(&io->lock);
	return NULL;
}

static void
io_queue(void *context, struct io_request *request)
{
	struct io *io = context;

	request->next = NULL;
	pthread_mutex_lock(&io->lock);
	*io->last = request;
	io->last = &request->next;
	pthread_cond_signal(&io->work);
	pthread_mutex_unlock(&io->lock);
}

int
io_open(struct io **io, enum scsi_engine engine, unsigned int threads)
{
	struct io *i;
	int r;

	if (threads == 0)
		threads = THREADS;
	i = calloc(1, sizeof *i + threads * sizeof i->threads[0]);
	if (!i)
		return -ENOMEM;
	i->last = &i->first;
	pthread_mutex_init(&i->lock, NULL);
	pthread_cond_init(&i->work, NULL);
	if (engine != SCSI_ENGINE_THREADS) {
		r = ring_open(&i->ring, io_queue, i);
		if (r && engine == SCSI_ENGINE_URING)
			goto close;
	}
	for (; i->thread_count < threads; i->thread_count++) {
		r = -pthread_create(&i->threads[i->thread_count], NULL, io_worker, i);
		if (r && i->thread_count == 0)
			goto close;
		if (r)
			break; /* fewer will do */
	}
	*io = i;
	return 0;
close:
	io_close(i);
	return r;
}

void
io_close(struct io *io)
{
	if (!io)
		return;
	ring_close(io->ring);
	pthread_mutex_lock(&io->lock);
	io->stop = true;
	pthread_cond_broadcast(&io->work);
	pthread_mutex_unlock(&io->lock);
	for (unsigned int i = 0; i < io->thread_count; i++)
		pthread_join(io->threads[i], NULL);
	pthread_cond_destroy(&io->work);
	pthread_mutex_destroy(&io->lock);
	free(io);
}

bool
io_has_ring(const struct io *io)
{
	return io->ring != NULL;
}

void
io_submit(struct io *io, struct io_request *request)
{
	if (request->operation == IO_JOB || !io->ring || !ring_submit(io->ring, request))
		io_queue(io, request);
}
