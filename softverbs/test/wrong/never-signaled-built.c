/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same as never-signaled, with requests that are built by ibv_wr_start() and the calls after
 * it.
 */
#include "softverbs/test/pair.h"

/* A queue pair for such requests, in the place of the one that the end has. */
static void
end_rebuild(struct end *end, uint32_t max_send_wr)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.cap = { max_send_wr, ENTRIES, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = domain,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};

	must(!ibv_destroy_qp(end->qp), "ibv_destroy_qp");
	end->qp = ibv_create_qp_ex(context, &init);
	must(end->qp != NULL, "ibv_create_qp_ex");
}

static void
build_two(struct end *end)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(end->qp);

	ibv_wr_start(qp);
	for (int i = 0; i < 2; i++) {
		ibv_wr_send(qp);
		ibv_wr_set_sge(qp, end->mr->lkey, (uintptr_t)end->buffer, 8);
	}
	must(!ibv_wr_complete(qp), "ibv_wr_complete");
}

int
main(void)
{
	struct end a, b;

	device_open();
	cq = queue_create(NULL);
	end_open(&a, cq, 0);
	end_open(&b, cq, 0);
	end_rebuild(&b, 16);
	end_connect(&a, &b, 32, 7);
	for (int i = 0; i < 16; i++)
		build_two(&b);
	ends_close(&a, &b);
	return 0;
}
