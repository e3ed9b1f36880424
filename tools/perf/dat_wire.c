/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_wire -- an endpoint, and its connection */
#include "dat_adapter.h"

#include "fail.h"

#include <dat2/dat_event_str.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_TIMEOUT_US (20 * 1000000)
#define READS_MAX 16 /* RDMA reads that are on their way at the same time */

static DAT_EVD_HANDLE
wire_evd(const struct dat_adapter *adapter, uint32_t length)
{
	DAT_EVD_HANDLE evd;

	fail_dat("dat_evd_create", dat_evd_create(adapter->ia, (DAT_COUNT)length, DAT_HANDLE_NULL,
				       DAT_EVD_DTO_FLAG, &evd));
	return evd;
}

static DAT_COUNT
wire_reads(DAT_COUNT of_adapter)
{
	return of_adapter < READS_MAX ? of_adapter : READS_MAX;
}

static void
wire_create_ep(struct dat_wire *wire, const struct wiring *wiring)
{
	const struct dat_adapter *adapter = wire->adapter;
	DAT_EVD_HANDLE receives;
	DAT_IA_ATTR ia;
	DAT_EP_ATTR attr = {
		.service_type = DAT_SERVICE_TYPE_RC,
		.max_message_size = wiring->size,
		.max_rdma_size = wiring->size,
		.qos = DAT_QOS_BEST_EFFORT,
		.max_recv_dtos = (DAT_COUNT)wiring->receives,
		.max_request_dtos = (DAT_COUNT)wiring->sends,
		.max_recv_iov = 1,
		.max_request_iov = 1,
		.srq_soft_hw = DAT_HW_DEFAULT,
		.max_rdma_read_iov = 1,
		.max_rdma_write_iov = 1,
	};

	fail_dat("dat_ia_query",
	    dat_ia_query(adapter->ia, NULL, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_NONE, NULL));
	attr.max_rdma_read_in = wire_reads(ia.max_rdma_read_per_ep_in);
	attr.max_rdma_read_out = wire_reads(ia.max_rdma_read_per_ep_out);
	wire->sends = wire_evd(adapter, wiring->sends);
	if (!wiring->queue)
		wire->receives = wire_evd(adapter, wiring->receives);
	receives = wiring->queue ? dat_queue_evd(wiring->queue) : wire->receives;
	fail_dat("dat_ep_create",
	    dat_ep_create(adapter->ia, adapter->pz, receives,
		wiring->requests ? receives : wire->sends, adapter->connections, &attr, &wire->ep));
}

static void
wire_await(const struct dat_wire *wire)
{
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_RETURN ret;

	do
		ret =
		    dat_evd_wait(wire->adapter->connections, CONNECT_TIMEOUT_US, 1, &event, &more);
	while (DAT_GET_TYPE(ret) == DAT_INTERRUPTED_CALL);
	if (DAT_GET_TYPE(ret) == DAT_TIMEOUT_EXPIRED)
		fail("no connection: the other end does not answer");
	fail_dat("dat_evd_wait", ret);
	if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
		fail("no connection: %s", dat_event_str(event.event_number));
}

/* The next request; its greeting if it has one. */
static DAT_CR_HANDLE
wire_request(const struct dat_adapter *adapter, int ms, struct greeting *greeting)
{
	const DAT_TIMEOUT timeout = ms < 0 ? DAT_TIMEOUT_INFINITE : (DAT_TIMEOUT)ms * 1000;
	DAT_CR_PARAM param;
	DAT_CR_HANDLE cr;
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_RETURN ret;

	do
		ret = dat_evd_wait(adapter->requests, timeout, 1, &event, &more);
	while (DAT_GET_TYPE(ret) == DAT_INTERRUPTED_CALL);
	if (DAT_GET_TYPE(ret) == DAT_TIMEOUT_EXPIRED)
		fail("the client does not make its connections");
	fail_dat("dat_evd_wait", ret);
	cr = event.event_data.cr_arrival_event_data.cr_handle;
	fail_dat("dat_cr_query", dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
	memset(greeting, 0, sizeof *greeting);
	if (param.private_data_size >= (DAT_COUNT)sizeof *greeting)
		memcpy(greeting, param.private_data, sizeof *greeting);
	return cr;
}

/* The next request that is of this run, and has the right number. */
static void
wire_await_request(struct dat_wire *wire, struct greeting *greeting, int ms)
{
	struct greeting theirs;

	for (;;) {
		wire->request = wire_request(wire->adapter, ms, &theirs);
		if (greeting_fits(greeting, &theirs))
			break;
		fail_dat("dat_cr_reject", dat_cr_reject(wire->request, 0, NULL));
	}
	*greeting = theirs;
}

void *
dat_wire_create(void *arg, const struct wiring *wiring, struct greeting *greeting, int ms)
{
	struct dat_adapter *adapter = arg;
	struct dat_wire *wire = calloc(1, sizeof *wire);

	if (!wire)
		fail("no memory");
	wire->adapter = adapter;
	if (adapter->server)
		wire_await_request(wire, greeting, ms);
	wire->greeting = *greeting;
	wire_create_ep(wire, wiring);
	wire->next = adapter->wires;
	adapter->wires = wire;
	return wire;
}

void
dat_wire_join(void *arg)
{
	struct dat_wire *wire = arg;
	struct dat_adapter *adapter = wire->adapter;

	if (adapter->server)
		fail_dat("dat_cr_accept", dat_cr_accept(wire->request, wire->ep, 0, NULL));
	else
		fail_dat("dat_ep_connect",
		    dat_ep_connect(wire->ep, (DAT_IA_ADDRESS_PTR)&adapter->peer, adapter->port,
			CONNECT_TIMEOUT_US, (DAT_COUNT)sizeof wire->greeting, &wire->greeting,
			DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	wire_await(wire);
}
