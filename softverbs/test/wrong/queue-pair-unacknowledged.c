/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C2 */
/*
 * An asynchronous event of a queue pair is read and not acknowledged.  ibv_destroy_qp() waits for
 * ever.
 */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr init = { .cap = { 4, 0, 1, 0, 0 }, .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_async_event event;
	struct ibv_qp *qp;

	device_open();
	cq = queue_create(NULL);
	init.send_cq = init.recv_cq = cq;
	init.srq = ibv_create_srq(domain, &shared);
	qp = init.srq ? ibv_create_qp(domain, &init) : NULL;
	must(qp != NULL, "ibv_create_qp");
	must(!ibv_modify_qp(
		 qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	    "ibv_modify_qp");
	/* LAST_WQE_REACHED */
	attr.qp_state = IBV_QPS_ERR;
	must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE), "ibv_modify_qp");
	must(!ibv_get_async_event(context, &event), "ibv_get_async_event");
	ibv_destroy_qp(qp);
	ibv_ack_async_event(&event);
	return 0;
}
