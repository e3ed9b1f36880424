/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C2 */
/*
 * The event that a shared receive queue runs low is read and not acknowledged.  ibv_destroy_srq()
 * waits for ever.
 */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq_attr limit = { .srq_limit = 1 };
	struct ibv_async_event event;
	struct ibv_srq *srq;

	device_open();
	srq = ibv_create_srq(domain, &init);
	must(srq != NULL, "ibv_create_srq");
	must(!ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), "ibv_modify_srq");
	must(!ibv_get_async_event(context, &event), "ibv_get_async_event");
	ibv_destroy_srq(srq);
	ibv_ack_async_event(&event);
	return 0;
}
