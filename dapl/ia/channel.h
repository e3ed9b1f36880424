/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel -- a descriptor of the device that a loop reads
 */
#ifndef REARM_DAPL_CHANNEL_H
#define REARM_DAPL_CHANNEL_H

#include <errno.h>
#include <pthread.h>

#include <infiniband/verbs.h>

#include "evd/evd.h"
#include "evd/loop.h"

#include "dapl/object/lock.h"
#include "dapl/object/slab.h"

/*
 * The context of a completion queue; a notification of the queue leads to it.  It exists as long as
 * the queue, and a queue is destroyed only after all notifications that were read for it are
 * acknowledged.  So a reader finds a valid context.
 */
struct dapl_cq_context {
	struct dapl_slab_slot slot;
	struct evd_ref ref;
};

extern struct dapl_slab dapl_cq_context_slab;

/*
 * Makes the descriptor of a new channel non-blocking, closes it on exec, and lets it be none of
 * standard input and output (os_keep()).  0 or -errno.
 */
int dapl_channel_prepare_fd(int *fd);
/* The same for one that other adapters use, whose number stays. */
int dapl_channel_prepare_shared_fd(int fd);

/*
 * Whether the errno of a read shows that the channel is broken (the device was removed), and
 * reports that.
 */
bool dapl_channel_is_broken(int error);

/*
 * Called by a reader whose last read has failed, with errno unchanged.  If the channel is broken,
 * and not only empty, the loop stops watching it, because the descriptor would stay readable, and
 * the result is true: dapl_ia_lost_channel() follows.
 */
bool dapl_channel_check(struct loop *loop, struct loop_ticket *ticket) NO_CORE_LOCK;

/*
 * Around the reads of asynchronous events, until what was read is reported.  Any thread of the
 * process may read the event of a completion queue: one that finds the queue failed reads, too, and
 * then awaits the others, for 0.1 s at most.
 */
void dapl_channel_begin_async(void);
void dapl_channel_end_async(void);
void dapl_channel_await_async(void) DAPL_NO_LOCK;

/*
 * Reads one notification of a completion channel without blocking: 1 and the context of its queue,
 * 0 if there is none, or -errno.  For a thread that cannot be cancelled: the device reads a file,
 * which is a cancellation point.
 */
static inline int
dapl_channel_get(struct ibv_comp_channel *channel, void **context)
{
	struct ibv_cq *cq;

	if (ibv_get_cq_event(channel, &cq, context) == 0)
		return 1;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

/*
 * The same for a thread of the program, which must not end inside of a call when it was cancelled.
 */
static inline int
dapl_channel_get_as_consumer(struct ibv_comp_channel *channel, void **context)
{
	int state, r;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	r = dapl_channel_get(channel, context);
	(void)pthread_setcancelstate(state, NULL);
	return r;
}

/* Reads one notification of it, for struct lead. */
int dapl_channel_read(void *ia_loop, struct evd_ref *ref) DAPL_NO_LOCK;

/* Reads the completion channel of a struct dapl_ia_loop and notifies the EVDs. */
void dapl_channel_read_shared(void *ia_loop, uint64_t serial) DAPL_NO_LOCK;

#endif
