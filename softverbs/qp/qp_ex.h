/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp_ex -- queue pairs whose requests are built by one call after the other
 *
 * A batch holds the requests from ibv_wr_start() to ibv_wr_complete(), which posts all of them or
 * none.  Other threads that start one wait.  The send queue knows nothing of a batch before it is
 * complete.
 */
#ifndef SOFT_QP_EX_H
#define SOFT_QP_EX_H

#include "qp.h"

/* Operation of a context. */
struct ibv_qp *soft_qp_ex_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *init);

#endif
