/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ia_removal -- what adapters leave behind of a device that is being removed
 *
 * The kernel waits until no process has the device open, and librdmacm does not close a context.
 * So the last adapter that closes takes the files of the kernel away from the context.
 */
#ifndef REARM_DAPL_IA_REMOVAL_H
#define REARM_DAPL_IA_REMOVAL_H

#include <stdatomic.h>
#include <stdbool.h>

#include <infiniband/verbs.h>

/* The user of a context; each adapter is one while its device is open. */
struct dapl_removal {
	struct dapl_removal *next;
	struct ibv_context *verbs;
	atomic_bool begun; /* the kernel removes the device, or has done so */
};

void dapl_removal_enter(struct dapl_removal *user, struct ibv_context *verbs);
/* The user has destroyed its objects; its id still keeps the context. */
void dapl_removal_leave(struct dapl_removal *user);

#endif
