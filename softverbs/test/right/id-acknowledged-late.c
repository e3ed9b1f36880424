/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.R6 */
/*
 * The event of an id is acknowledged by another thread, while rdma_destroy_id() waits for it for
 * longer than --stranded-after, in which the thread sleeps, and then is busy.
 */
#include "softverbs/test/pair.h"

#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <time.h>

static void *
acknowledge(void *event)
{
	struct timespec now;
	time_t end;

	nanosleep(&(struct timespec){ .tv_sec = 2, .tv_nsec = 500000000 }, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	for (end = now.tv_sec + 3; now.tv_sec < end;)
		clock_gettime(CLOCK_MONOTONIC, &now);
	must(!rdma_ack_cm_event(event), "rdma_ack_cm_event");
	return NULL;
}

int
main(void)
{
	struct rdma_event_channel *events = rdma_create_event_channel();
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(4711),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	pthread_t thread;

	must(events != NULL, "rdma_create_event_channel");
	must(!rdma_create_id(events, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	must(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000), "rdma_resolve_addr");
	must(!rdma_get_cm_event(events, &event), "rdma_get_cm_event");
	must(!pthread_create(&thread, NULL, acknowledge, event), "pthread_create");
	must(!rdma_destroy_id(id), "rdma_destroy_id");
	pthread_join(thread, NULL);
	rdma_destroy_event_channel(events);
	return 0;
}
