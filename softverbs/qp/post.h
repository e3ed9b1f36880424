/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * post -- how work requests enter the queues; the operations of a context
 */
#ifndef SOFT_POST_H
#define SOFT_POST_H

#include "softverbs/device/soft.h"

struct soft_qp;

int soft_qp_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
/* All of them or, after an error, none. */
int soft_qp_post_whole(struct ibv_qp *qp, struct ibv_send_wr *wr);
int soft_qp_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
/* Of a window of type 1. */
int soft_qp_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
int soft_srq_post_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* There may be a receive for a requester that has found none: it tries again. */
void soft_qp_resume_requester(struct soft_qp *qp) SOFT_NO_SEND_LOCK;

#endif
