/* SPDX-License-Identifier: BSD-3-Clause */
/* The same as never-signaled, with binds of a window. */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct ibv_mw_bind bind = { .bind_info = { .length = 8 } };
	struct ibv_mw *window;
	struct end a, b;

	device_open();
	cq = queue_create(NULL);
	end_open(&a, cq, 0);
	end_open(&b, cq, 16);
	end_connect(&a, &b, 0, 7);
	must(!ibv_dereg_mr(b.mr), "ibv_dereg_mr");
	b.mr = ibv_reg_mr(
	    domain, b.buffer, sizeof b.buffer, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	window = ibv_alloc_mw(domain, IBV_MW_TYPE_1);
	must(b.mr && window, "ibv_reg_mr, ibv_alloc_mw");
	bind.bind_info.mr = b.mr;
	bind.bind_info.addr = (uintptr_t)b.buffer;
	for (int i = 0; i < 32; i++)
		must(!ibv_bind_mw(b.qp, window, &bind), "ibv_bind_mw");
	must(!ibv_dealloc_mw(window), "ibv_dealloc_mw");
	ends_close(&a, &b);
	return 0;
}
