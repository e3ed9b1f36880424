/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel -- a descriptor of the device that a loop reads
 */
#ifndef REARM_DAPL_CHANNEL_H
#define REARM_DAPL_CHANNEL_H

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

/* Makes a descriptor non-blocking and closes it on exec.  0 or -errno. */
int dapl_channel_prepare_fd(int fd);

/*
 * Called by a reader whose last read has failed, with errno unchanged.  If errno shows that the
 * channel is broken (the device was removed), and not only empty, the loop stops watching it,
 * because the descriptor would stay readable.
 */
void dapl_channel_check(struct loop *loop, struct loop_ticket *ticket) NO_CORE_LOCK;

/* Reads one notification of it, for struct lead. */
int dapl_channel_read(void *ia_loop, struct evd_ref *ref) DAPL_NO_LOCK;

/* Reads the completion channel of a struct dapl_ia_loop and notifies the EVDs. */
void dapl_channel_read_shared(void *ia_loop, uint64_t serial) DAPL_NO_LOCK;

#endif
