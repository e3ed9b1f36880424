/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared -- the context and the protection domain that all rdma ids share
 */
#ifndef SOFT_CM_SHARED_H
#define SOFT_CM_SHARED_H

#include "cm.h"

/* The context with a reference; NULL and errno on failure. */
struct soft_context *soft_cm_device_get(void);
struct soft_context *soft_cm_device_get_more(void); /* the caller has another reference */
void soft_cm_device_put(void);

/* The default protection domain of the ids; the caller has a reference. */
struct ibv_pd *soft_cm_device_pd(void);

void soft_cm_device_reset(void); /* in a forked child */

#endif
