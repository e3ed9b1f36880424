/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * served -- the functions of librdmacm that the device has, under names of its own
 *
 * As device/served.h.
 */
#ifndef SOFT_CM_SERVED_H
#define SOFT_CM_SERVED_H

#include "softverbs/device/calls.h"

#include <rdma/rdma_verbs.h>

#define SERVED(name, ...) extern __typeof__(name) soft_##name;
SOFT_CM_CALLS(SERVED)
/* They cannot fail, but destroy what the program has. */
SERVED(rdma_destroy_event_channel)
SERVED(rdma_destroy_qp)
SERVED(rdma_destroy_srq)
SERVED(rdma_destroy_ep)
#undef SERVED

#endif
