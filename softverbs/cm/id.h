/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * id -- rdma ids, by number
 *
 * The CM lock is held unless the comment of a function states otherwise.
 */
#ifndef SOFT_CM_ID_H
#define SOFT_CM_ID_H

#include "cm.h"

/* NULL without memory. */
struct soft_id *soft_id_create(struct rdma_event_channel *channel, void *context,
    enum rdma_port_space ps) REQUIRES(soft_locks.cm);
void soft_id_free(struct soft_id *id) REQUIRES(soft_locks.cm);
void soft_ids_reset(void); /* in a forked child */
struct soft_id *soft_id_find(uint32_t number) REQUIRES(soft_locks.cm);

/* One whose events go to the channel, or NULL. */
struct soft_id *soft_id_find_user(const struct rdma_event_channel *channel) REQUIRES(soft_locks.cm);
/* It is not found any more. */
void soft_id_forget(struct soft_id *id) REQUIRES(soft_locks.cm);

/* Takes the lock.  The state may change at once; the caller must not depend on it. */
/* Of its device, or NULL. */
const struct ibv_context *soft_id_context(struct soft_id *id) REQUIRES(soft_locks.cm);

enum soft_id_state soft_id_state(struct soft_id *id) SOFT_NO_CM_LOCK;

/* Calls fn for every id; it may neither create nor free one. */
void soft_id_each(void (*fn)(struct soft_id *id, void *arg), void *arg) REQUIRES(soft_locks.cm);

/*
 * The id takes a reference to the device; show() also sets the fields by which the consumer sees
 * it. 0 or -errno.  Starting the device takes the runtime lock, so the CM lock must not be held.
 */
int soft_id_attach_device(struct soft_id *id) SOFT_NO_LOCK;
int soft_id_show_device(struct soft_id *id) SOFT_NO_LOCK;

/*
 * The same for the id of a request, with the CM lock held: the listener of the request has a
 * reference to the device, so that the device is active.  One that has arrived since then is opened
 * when the program gets the id, which show() is called for again.
 */
void soft_id_inherit_device(struct soft_id *child) REQUIRES(soft_locks.cm);

#endif
