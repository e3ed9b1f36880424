/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * served -- the functions of libibverbs that the device has, under names of its own
 *
 * The device defines soft_ibv_open_device(); api/export.c makes ibv_open_device() of it.  So every
 * call that a program makes goes through one place, in which it may fail.  cm/served.h has the
 * functions of librdmacm.
 */
#ifndef SOFT_SERVED_H
#define SOFT_SERVED_H

#include "calls.h"

#include <infiniband/verbs.h>

/* verbs.h defines macros of these names; the device defines the functions. */
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define SERVED(name, ...) extern __typeof__(name) soft_##name;
SOFT_VERBS_CALLS(SERVED)
#undef SERVED

#endif
