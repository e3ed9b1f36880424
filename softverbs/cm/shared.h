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
void soft_cm_device_put_more(void) EXCLUDES(soft_locks.shared);
/* With the last reference the runtime stops, and contexts are freed that were put. */
void soft_cm_device_put(void) SOFT_NO_LOCK;

/*
 * The context of a device of the topology, which stays with its default domain (shared.pd) until it
 * is put.  The caller has a reference to all devices, at both times.  There is no domain so far if
 * the device has arrived after all references were taken.
 */
struct soft_context *soft_cm_context_get(unsigned int device) EXCLUDES(soft_locks.shared);
void soft_cm_context_put(struct soft_context *ctx) EXCLUDES(soft_locks.shared);

void soft_cm_device_reset(void); /* in a forked child */

#endif
