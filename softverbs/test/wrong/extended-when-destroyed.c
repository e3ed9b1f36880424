/* SPDX-License-Identifier: BSD-3-Clause */
/* A poll goes on, ends, and is started again on a queue that was destroyed meanwhile. */
/* origin: out33.W6 */
#include "softverbs/test/pair.h"

#include <errno.h>

int
main(void)
{
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
	struct ibv_cq_init_attr_ex init = { .cqe = 4 };
	struct ibv_poll_cq_attr any = { .comp_mask = 0 };
	struct end ends[2];
	struct ibv_cq_ex *queue;

	device_open();
	queue = ibv_create_cq_ex(context, &init);
	must(queue != NULL, "ibv_create_cq_ex");
	for (int i = 0; i < 2; i++)
		end_open(&ends[i], ibv_cq_ex_to_cq(queue), 0);
	end_connect(&ends[0], &ends[1], 1, 7);
	must(!ibv_modify_qp(ends[0].qp, &error, IBV_QP_STATE), "ibv_modify_qp");
	must(!ibv_start_poll(queue, &any), "ibv_start_poll");
	for (int i = 0; i < 2; i++) {
		must(!ibv_destroy_qp(ends[i].qp), "ibv_destroy_qp");
		must(!ibv_dereg_mr(ends[i].mr), "ibv_dereg_mr");
	}
	must(!ibv_destroy_cq(ibv_cq_ex_to_cq(queue)), "ibv_destroy_cq");
	must(ibv_next_poll(queue) == EINVAL, "ibv_next_poll of a queue that is destroyed");
	ibv_end_poll(queue);
	must(ibv_start_poll(queue, &any) == EINVAL, "ibv_start_poll of a queue that is destroyed");
	must(!ibv_dealloc_pd(domain), "ibv_dealloc_pd");
	must(!ibv_close_device(context), "ibv_close_device");
	return 0;
}
