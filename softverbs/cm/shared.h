/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared -- the context and the protection domain of each device that all rdma ids share
 */
#ifndef SOFT_CM_SHARED_H
#define SOFT_CM_SHARED_H

#include "cm.h"

/* A reference to all devices; false and errno on failure. */
bool soft_cm_device_get(void) SOFT_NO_LOCK;
/* The same for a caller that has another reference. */
void soft_cm_device_get_more(void) EXCLUDES(soft_locks.shared);
/* The last reference is not put with the CM lock held: the runtime stops then. */
void soft_cm_device_put(void) EXCLUDES(soft_locks.shared);

/*
 * The context of a device of the topology, and the default protection domain of its ids; the caller
 * has a reference.
 */
struct soft_context *soft_cm_context(unsigned int device) EXCLUDES(soft_locks.shared);
struct ibv_pd *soft_cm_pd(unsigned int device) EXCLUDES(soft_locks.shared);

void soft_cm_device_reset(void); /* in a forked child */

#endif
