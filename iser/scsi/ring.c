/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring.h"

#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#ifdef HAVE_LIBURING
#include <liburing.h>

#define ENTRIES 256
#define BATCH 32

struct ring {
	struct io_uring uring;
	pthread_t thread;
	pthread_mutex_t lock; /* of the submission queue */
	void (*again)(void *context, struct io_request *request);
	void *context;
};

/* One of a batch; returns false when the ring is to be closed. */
static bool
ring_complete(struct ring *ring, void *data, int result)
{
	struct io_request *request = data;

	if (data == ring)
		return false;
	if (!request) /* a submission that was taken back */
		return true;
	if (result == -EAGAIN || result == -EINTR || result == -EOPNOTSUPP || result == -EINVAL)
		ring->again(ring->context, request);
	else
		request->done(request, result);
	return true;
}

static void *
ring_wait(void *context)
{
	struct ring *ring = context;
	struct io_uring_cqe *cqes[BATCH];
	void *data[BATCH];
	int results[BATCH];
	bool open = true;

	while (open) {
		unsigned int count;

		if (io_uring_wait_cqe(&ring->uring, &cqes[0]))
			continue; /* a signal */
		count = io_uring_peek_batch_cqe(&ring->uring, cqes, BATCH);
		for (unsigned int i = 0; i < count; i++) {
			data[i] = io_uring_cqe_get_data(cqes[i]);
			results[i] = cqes[i]->res;
		}
		io_uring_cq_advance(&ring->uring, count);
		/*
		 * A request that completed may still be in the hands of the thread that submits
		 * it.  What the kernel refused when its queue was full goes to it now.
		 */
		pthread_mutex_lock(&ring->lock);
		if (io_uring_sq_ready(&ring->uring))
			io_uring_submit(&ring->uring);
		pthread_mutex_unlock(&ring->lock);
		for (unsigned int i = 0; i < count; i++)
			open &= ring_complete(ring, data[i], results[i]);
	}
	return NULL;
}

static bool
ring_knows_operations(struct io_uring *uring)
{
	struct io_uring_probe *probe = io_uring_get_probe_ring(uring);
	bool known;

	if (!probe)
		return false;
	known = io_uring_opcode_supported(probe, IORING_OP_READV) &&
		io_uring_opcode_supported(probe, IORING_OP_WRITEV) &&
		io_uring_opcode_supported(probe, IORING_OP_FSYNC);
	io_uring_free_probe(probe);
	return known;
}

int
ring_open(
    struct ring **ring, void (*again)(void *context, struct io_request *request), void *context)
{
	struct io_uring_params params = { 0 };
	struct ring *r = calloc(1, sizeof *r);
	int e;

	if (!r)
		return -ENOMEM;
	r->again = again;
	r->context = context;
	e = io_uring_queue_init_params(ENTRIES, &r->uring, &params);
	if (e)
		goto free;
	/*
	 * Without the first a completion is lost when more than the queue has room for are in
	 * flight.
	 */
	if (!(params.features & IORING_FEAT_NODROP) || !ring_knows_operations(&r->uring)) {
		e = -ENOSYS;
		goto exit;
	}
	pthread_mutex_init(&r->lock, NULL);
	e = -pthread_create(&r->thread, NULL, ring_wait, r);
	if (e)
		goto destroy;
	*ring = r;
	return 0;
destroy:
	pthread_mutex_destroy(&r->lock);
exit:
	io_uring_queue_exit(&r->uring);
free:
	free(r);
	return e;
}

/* With the lock.  False, and the entry does nothing, if the kernel does not take it. */
static bool
ring_push(struct ring *ring, struct io_uring_sqe *sqe)
{
	if (io_uring_submit(&ring->uring) >= 0 && io_uring_sq_ready(&ring->uring) == 0)
		return true;
	io_uring_prep_nop(sqe);
	io_uring_sqe_set_data(sqe, NULL);
	return false;
}

void
ring_close(struct ring *ring)
{
	struct io_uring_sqe *sqe;

	if (!ring)
		return;
	pthread_mutex_lock(&ring->lock);
	/* Only a shortage that passes is in the way: nothing is in flight. */
	while (!(sqe = io_uring_get_sqe(&ring->uring)))
		io_uring_submit(&ring->uring);
	io_uring_prep_nop(sqe);
	io_uring_sqe_set_data(sqe, ring);
	while (io_uring_sq_ready(&ring->uring))
		io_uring_submit(&ring->uring);
	pthread_mutex_unlock(&ring->lock);
	pthread_join(ring->thread, NULL);
	io_uring_queue_exit(&ring->uring);
	pthread_mutex_destroy(&ring->lock);
	free(ring);
}

bool
ring_submit(struct ring *ring, struct io_request *request)
{
	struct io_uring_sqe *sqe;
	bool taken = false;

	pthread_mutex_lock(&ring->lock);
	sqe = io_uring_get_sqe(&ring->uring);
	if (!sqe) /* full of what the kernel refused before */
		goto unlock;
	switch (request->operation) {
	case IO_READ:
		io_uring_prep_readv2(
		    sqe, request->fd, request->iov, request->iov_count, request->at, 0);
		break;
	case IO_WRITE:
		io_uring_prep_writev2(
		    sqe, request->fd, request->iov, request->iov_count, request->at, 0);
		break;
	case IO_WRITE_SYNC:
		io_uring_prep_writev2(
		    sqe, request->fd, request->iov, request->iov_count, request->at, RWF_DSYNC);
		break;
	default:
		io_uring_prep_fsync(sqe, request->fd, IORING_FSYNC_DATASYNC);
		break;
	}
	io_uring_sqe_set_data(sqe, request);
	taken = ring_push(ring, sqe);
unlock:
	pthread_mutex_unlock(&ring->lock);
	return taken;
}

#else

int
ring_open(
    struct ring **ring, void (*again)(void *context, struct io_request *request), void *context)
{
	(void)ring;
	(void)again;
	(void)context;
	return -ENOSYS;
}

void
ring_close(struct ring *ring)
{
	(void)ring;
}

bool
ring_submit(struct ring *ring, struct io_request *request)
{
	(void)ring;
	(void)request;
	return false;
}

#endif
