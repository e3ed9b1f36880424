/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C1 */
/*
 * SPDK #3118, perftest #60: an id is destroyed in the handler of its event, before the event is
 * acknowledged. rdma_destroy_id() waits for ever.
 */
#include "softverbs/test/pair.h"

#include <arpa/inet.h>
#include <rdma/rdma_cma.h>

int
main(void)
{
	struct rdma_event_channel *events = rdma_create_event_channel();
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(4711),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	must(events != NULL, "rdma_create_event_channel");
	must(!rdma_create_id(events, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000), "rdma_resolve_addr");
	must(!rdma_get_cm_event(events, &event), "rdma_get_cm_event");
	rdma_destroy_id(id);
	rdma_ack_cm_event(event);
	return 0;
}
