/* SPDX-License-Identifier: BSD-3-Clause */
#include "connect.h"

#include "measure.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

#define NAP_US 200 /* between two looks at a queue */

DAT_LMR_TRIPLET connect_segment;

static DAT_PZ_HANDLE zone;
static DAT_EVD_HANDLE requests, connections, completions; /* the last two: of the peers */
static DAT_EVD_HANDLE established; /* of the endpoints, unless their queue is merged */
static DAT_CONN_QUAL port;
static char memory[4096];

static void
connect_register(void)
{
	DAT_REGION_DESCRIPTION where = { .for_va = memory };
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT context;
	DAT_RMR_CONTEXT remote;
	DAT_VLEN length;
	DAT_VADDR address;

	dat_must("dat_lmr_create",
	    dat_lmr_create(engine_ia, DAT_MEM_TYPE_VIRTUAL, where, sizeof memory, zone,
		DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, DAT_VA_TYPE_VA, &lmr,
		&context, &remote, &length, &address));
	connect_segment = (DAT_LMR_TRIPLET){ .lmr_context = context,
		.virtual_address = (DAT_VADDR)(uintptr_t)memory,
		.segment_length = 8 };
}

/* Listens, once. */
static void
connect_open(void)
{
	DAT_PSP_HANDLE listener;
	DAT_RETURN ret;

	if (zone)
		return;
	dat_must("dat_pz_create", dat_pz_create(engine_ia, &zone));
	connect_register();
	dat_must("dat_evd_create",
	    dat_evd_create(engine_ia, 64, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests));
	dat_must("dat_evd_create",
	    dat_evd_create(engine_ia, 64, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &connections));
	dat_must("dat_evd_create",
	    dat_evd_create(engine_ia, 64, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &established));
	dat_must("dat_evd_create",
	    dat_evd_create(engine_ia, 64, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &completions));
	for (port = 20000 + (DAT_CONN_QUAL)getpid() % 20000;; port++) {
		ret = dat_psp_create(engine_ia, port, requests, DAT_PSP_CONSUMER_FLAG, &listener);
		if (DAT_GET_TYPE(ret) != DAT_CONN_QUAL_IN_USE)
			break;
	}
	dat_must("dat_psp_create", ret);
}

/* Waits, but not on a merged queue: with Debian's dapl a connection event would not end that. */
static void
connect_await(DAT_EVD_HANDLE evd, bool merged, DAT_EVENT_NUMBER number, DAT_EVENT *event)
{
	DAT_COUNT more;

	if (merged)
		while (dat_evd_dequeue(evd, event) != DAT_SUCCESS)
			usleep(NAP_US);
	else
		dat_must("dat_evd_wait", dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, event, &more));
	if (event->event_number != number)
		fprintf(stderr, "bench: event %#x\n", (unsigned int)event->event_number);
	measure_must(event->event_number == number, "the connection failed");
}

/* The EVDs of an endpoint. */
struct evds {
	DAT_EVD_HANDLE receives, sends, connection;
};

static DAT_EP_HANDLE
connect_create(const struct evds *evds, unsigned int depth)
{
	DAT_EP_ATTR attr = {
		.service_type = DAT_SERVICE_TYPE_RC,
		.max_message_size = sizeof memory,
		.max_rdma_size = sizeof memory,
		.qos = DAT_QOS_BEST_EFFORT,
		.max_recv_dtos = (DAT_COUNT)depth,
		.max_request_dtos = (DAT_COUNT)depth,
		.max_recv_iov = 1,
		.max_request_iov = 1,
		.srq_soft_hw = DAT_HW_DEFAULT,
		.max_rdma_read_iov = 1,
		.max_rdma_write_iov = 1,
	};
	DAT_EP_HANDLE ep;

	dat_must("dat_ep_create", dat_ep_create(engine_ia, zone, evds->receives, evds->sends,
				      evds->connection, &attr, &ep));
	return ep;
}

/* An endpoint and its peer. */
static void
connect_ends(DAT_EP_HANDLE ends[2], const struct evds evds[2], unsigned int depth, bool merged)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	DAT_EVENT event;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ends[0] = connect_create(&evds[0], depth);
	dat_must("dat_ep_connect",
	    dat_ep_connect(ends[0], (DAT_IA_ADDRESS_PTR)&address, port, DAT_TIMEOUT_INFINITE, 0,
		NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	connect_await(requests, false, DAT_CONNECTION_REQUEST_EVENT, &event);
	ends[1] = connect_create(&evds[1], depth);
	dat_must("dat_cr_accept",
	    dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ends[1], 0, NULL));
	connect_await(evds[0].connection, merged, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
	connect_await(evds[1].connection, false, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
}

void
connect_feed(struct queue *queue, unsigned int n)
{
	const bool merged = queue->kind == QUEUE_MERGED;
	DAT_EP_HANDLE ends[2];
	struct evds evds[2];

	connect_open();
	evds[0] = (struct evds){ queue->evd, queue->evd, merged ? queue->evd : established };
	evds[1] = (struct evds){ completions, completions, connections };
	for (; queue->endpoints < n; queue->endpoints++) {
		connect_ends(ends, evds, ENGINE_DEPTH, merged);
		queue->ep[queue->endpoints] = ends[0];
	}
}

void
connect_pair(struct queue queues[2])
{
	DAT_EVD_HANDLE connection[2];
	DAT_EP_HANDLE ends[2];
	struct evds evds[2];

	connect_open();
	connection[0] = established;
	connection[1] = connections;
	for (unsigned int i = 0; i < 2; i++) {
		dat_must("dat_evd_create", dat_evd_create(engine_ia, 64, DAT_HANDLE_NULL,
					       DAT_EVD_DTO_FLAG, &queues[i].evd));
		dat_must("dat_evd_create", dat_evd_create(engine_ia, 64, DAT_HANDLE_NULL,
					       DAT_EVD_DTO_FLAG, &queues[i].sends));
		evds[i] = (struct evds){ queues[i].evd, queues[i].sends, connection[i] };
	}
	connect_ends(ends, evds, 64, false);
	queues[0].ep[0] = ends[0];
	queues[1].ep[0] = ends[1];
}

void
connect_and_disconnect(void)
{
	struct evds evds[2];
	DAT_EP_HANDLE ends[2];
	DAT_EVENT event;

	connect_open();
	evds[0] = (struct evds){ completions, completions, established };
	evds[1] = (struct evds){ completions, completions, connections };
	connect_ends(ends, evds, 8, false);
	dat_must("dat_ep_disconnect", dat_ep_disconnect(ends[0], DAT_CLOSE_ABRUPT_FLAG));
	connect_await(established, false, DAT_CONNECTION_EVENT_DISCONNECTED, &event);
	connect_await(connections, false, DAT_CONNECTION_EVENT_DISCONNECTED, &event);
	dat_must("dat_ep_free", dat_ep_free(ends[0]));
	dat_must("dat_ep_free", dat_ep_free(ends[1]));
}
