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
static DAT_EVD_HANDLE established;			   /* of the endpoints, unless their queue is merged */
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

/* Looks until an event comes; a wait would be an event path that is not measured yet. */
static void
connect_await(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EVENT *event)
{
	while (dat_evd_dequeue(evd, event) != DAT_SUCCESS)
		usleep(NAP_US);
	if (event->event_number != number)
		fprintf(stderr, "bench: event %#x\n", (unsigned int)event->event_number);
	measure_must(event->event_number == number, "the connection failed");
}

static DAT_EP_HANDLE
connect_create(DAT_EVD_HANDLE dto, DAT_EVD_HANDLE connection, unsigned int depth)
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

	dat_must("dat_ep_create", dat_ep_create(engine_ia, zone, dto, dto, connection, &attr, &ep));
	return ep;
}

void
connect_feed(struct queue *queue, unsigned int n)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	DAT_EVD_HANDLE evd;
	DAT_EP_HANDLE peer;
	DAT_EVENT event;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	connect_open();
	evd = queue->kind == QUEUE_MERGED ? queue->evd : established;
	for (; queue->endpoints < n; queue->endpoints++) {
		DAT_EP_HANDLE *ep = &queue->ep[queue->endpoints];

		*ep = connect_create(queue->evd, evd, ENGINE_DEPTH);
		dat_must("dat_ep_connect",
		    dat_ep_connect(*ep, (DAT_IA_ADDRESS_PTR)&address, port, DAT_TIMEOUT_INFINITE, 0, NULL,
			DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
		connect_await(requests, DAT_CONNECTION_REQUEST_EVENT, &event);
		peer = connect_create(completions, connections, 1);
		dat_must("dat_cr_accept",
		    dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, peer, 0, NULL));
		connect_await(evd, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
		connect_await(connections, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
	}
}
