/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel -- a descriptor of the device that a loop reads
 */
#ifndef REARM_DAPL_CHANNEL_H
#define REARM_DAPL_CHANNEL_H

#include "evd/evd.h"
#include "evd/loop.h"

#include "dapl/object/slab.h"

/*
 * What a completion queue's events lead to.  It lives exactly as long as the queue, and a queue is not
 * destroyed before each event that was read for it is acknowledged: so what is read here is right.
 */
struct evd_cq_context {
	struct slab_slot slot;
	struct evd_ref ref;
};

extern struct slab evd_cq_context_slab;

/* Makes a descriptor non-blocking and closes it on exec.  0 or -errno. */
int ia_prepare_fd(int fd);

/*
 * The end of a reader, with errno as the last call left it.  A channel that is broken and not just empty, as
 * when the device was taken away, would keep its loop busy: the loop stops watching it.
 */
void ia_channel_read(struct loop *loop, struct loop_ticket *ticket);

/* Reads the completion channel of a struct ia_loop and notifies the EVDs. */
void ia_shared_channel_read(void *ia_loop, uint64_t serial);

#endif
