/* SPDX-License-Identifier: BSD-3-Clause */
#include "datagram_story.h"

void
datagram_to_state(struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = 1, .qkey = DATAGRAM_KEY };

	ck_assert_int_eq(ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask), 0);
}

void
datagram_to_rts(struct ibv_qp *qp)
{
	datagram_to_state(qp, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	datagram_to_state(qp, IBV_QPS_RTR, 0);
	datagram_to_state(qp, IBV_QPS_RTS, IBV_QP_SQ_PSN);
}

struct ibv_qp *
datagram_qp(struct side *side)
{
	struct ibv_qp_init_attr init = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.srq = side->srq,
		.cap = { 16, 16, 4, 4, 64 },
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_qp *qp = ibv_create_qp(side->pd, &init);

	ck_assert_ptr_nonnull(qp);
	ck_assert_int_eq(qp->qp_type, IBV_QPT_UD);
	return qp;
}

void
datagram_side(struct side *side)
{
	ck_assert_int_eq(ibv_destroy_qp(side->qp), 0);
	side->qp = datagram_qp(side);
	datagram_to_rts(side->qp);
}

struct ibv_ah *
datagram_ah(struct side *side)
{
	struct ibv_ah_attr attr = { .dlid = 1, .port_num = 1 };
	struct ibv_ah *made = ibv_create_ah(side->pd, &attr);

	ck_assert_ptr_nonnull(made);
	return made;
}
