/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many more binds of a window than the send queue holds, of which each second one has a completion
 * that is polled.
 */
#include "softverbs/test/pair.h"

#define SIZE 16 /* of the send queue */

static void
bind_until(struct end *end, struct ibv_mw *window, unsigned int count)
{
	struct ibv_mw_bind bind = {
		.bind_info = { end->mr, (uintptr_t)end->buffer, 8, IBV_ACCESS_REMOTE_READ },
	};
	struct ibv_wc wc;
	int n;

	for (unsigned int i = 0; i < count; i++) {
		bind.send_flags = i % 2 ? IBV_SEND_SIGNALED : 0;
		must(!ibv_bind_mw(end->qp, window, &bind), "ibv_bind_mw");
		if (!bind.send_flags)
			continue;
		do
			n = ibv_poll_cq(end->cq, 1, &wc);
		while (!n);
		must(n == 1 && wc.status == IBV_WC_SUCCESS, "the completion of a bind");
	}
}

int
main(void)
{
	struct ibv_mw *window;
	struct end a, b;

	device_open();
	cq = queue_create(NULL);
	end_open(&a, cq, 0);
	end_open(&b, cq, SIZE);
	must(!ibv_dereg_mr(b.mr), "ibv_dereg_mr");
	b.mr = ibv_reg_mr(
	    domain, b.buffer, sizeof b.buffer, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	must(b.mr != NULL, "ibv_reg_mr");
	end_connect(&a, &b, 0, 7);
	window = ibv_alloc_mw(domain, IBV_MW_TYPE_1);
	must(window != NULL, "ibv_alloc_mw");
	bind_until(&b, window, 4 * SIZE);
	must(!ibv_dealloc_mw(window), "ibv_dealloc_mw");
	ends_close(&a, &b);
	return 0;
}
