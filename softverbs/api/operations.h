/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operations -- the operations that verbs.h calls by pointers, as a program calls them
 */
#ifndef SOFT_OPERATIONS_H
#define SOFT_OPERATIONS_H

#include "softverbs/device/context.h"

/* The operations of the context were set: they are replaced if calls may fail. */
void soft_operations_of_context(struct soft_context *ctx);

/* Likewise those of a queue pair that ibv_wr_start() knows. */
void soft_operations_of_qp(struct ibv_qp *qp);

#endif
