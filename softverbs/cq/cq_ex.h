/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cq_ex -- completion queues that are polled field by field
 *
 * A poll takes one entry after the other from the ring, and the program reads the fields of the
 * last one.  A second thread that starts a poll waits for the end of the first, unless the program
 * promised that there is none; threads that add entries, and ibv_poll_cq(), do not wait.
 */
#ifndef SOFT_CQ_EX_H
#define SOFT_CQ_EX_H

#include "cq.h"

/* Operations of a context. */
struct ibv_cq_ex *soft_cq_ex_create(struct ibv_context *context, struct ibv_cq_init_attr_ex *init);
int soft_cq_modify(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr) SOFT_NO_CQ_LOCK;

#endif
