/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C2 */
/* The event of an overrun is read and not acknowledged.  ibv_destroy_cq() waits for ever. */
#include "softverbs/test/pair.h"

int
main(void)
{
	struct ibv_async_event event;
	struct ibv_cq *small;
	struct end a, b;

	device_open();
	small = ibv_create_cq(context, 4, NULL, NULL, 0);
	must(small != NULL, "ibv_create_cq");
	cq = queue_create(NULL);
	end_open(&a, small, 0);
	end_open(&b, cq, 0);
	end_connect(&a, &b, 16, 7);
	for (int i = 0; i < 16; i++)
		post_send(&b, IBV_SEND_SIGNALED);
	do
		must(!ibv_get_async_event(context, &event), "ibv_get_async_event");
	while (event.event_type != IBV_EVENT_CQ_ERR);
	ends_close(&a, &b);
	ibv_ack_async_event(&event);
	return 0;
}
