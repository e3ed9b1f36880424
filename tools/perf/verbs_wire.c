/* SPDX-License-Identifier: BSD-3-Clause */
/* verbs_wire -- a queue pair, and its connection by librdmacm */
#include "verbs_adapter.h"

#include "fail.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#define READS_MAX 16 /* RDMA reads that are on their way at the same time */
#define RETRIES 7

/* The next event; NULL: none in that time.  -1: no limit. */
static struct rdma_cm_event *
wire_event(struct verbs_adapter *adapter, int ms)
{
	struct pollfd fd = { .fd = adapter->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	int n;

	do
		n = poll(&fd, 1, ms);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return NULL;
	if (rdma_get_cm_event(adapter->channel, &event))
		fail_errno("rdma_get_cm_event");
	return event;
}

/*
 * An event that is not awaited: a request is refused; what the other end has closed is closed,
 * which ends its requests.
 */
static void
wire_other(struct rdma_cm_event *event)
{
	const enum rdma_cm_event_type type = event->event;
	struct rdma_cm_id *id = event->id;

	rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		rdma_reject(id, NULL, 0);
		rdma_destroy_id(id);
	} else if (type == RDMA_CM_EVENT_DISCONNECTED) {
		rdma_disconnect(id);
	}
}

void
verbs_watch(void *arg)
{
	struct rdma_cm_event *event;

	while ((event = wire_event(arg, 0)) != NULL)
		wire_other(event);
}

static void
wire_await(struct verbs_adapter *adapter, struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	while ((event = wire_event(adapter, VERBS_TIMEOUT_MS)) != NULL && event->id != id)
		wire_other(event);
	if (!event)
		fail("no connection: the other end does not answer");
	if (event->event != type)
		fail("no connection: %s", rdma_event_str(event->event));
	rdma_ack_cm_event(event);
}

struct rdma_cm_id *
verbs_resolve(struct verbs_adapter *adapter)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(adapter->channel, &id, NULL, RDMA_PS_TCP))
		fail_errno("rdma_create_id");
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&adapter->peer, VERBS_TIMEOUT_MS))
		fail_errno("no RDMA device has a way to this address: rdma_resolve_addr");
	wire_await(adapter, id, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, VERBS_TIMEOUT_MS))
		fail_errno("rdma_resolve_route");
	wire_await(adapter, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return id;
}

/* The next request that is of this run, and has the right number. */
static struct rdma_cm_id *
wire_await_request(struct verbs_adapter *adapter, struct greeting *greeting, int ms)
{
	struct rdma_cm_event *event;
	struct greeting theirs;
	struct rdma_cm_id *id;

	while ((event = wire_event(adapter, ms)) != NULL) {
		memset(&theirs, 0, sizeof theirs);
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST &&
		    event->param.conn.private_data_len >= sizeof theirs)
			memcpy(&theirs, event->param.conn.private_data, sizeof theirs);
		if (greeting_fits(greeting, &theirs))
			break;
		wire_other(event);
	}
	if (!event)
		fail("the client does not make its connections");
	id = event->id;
	rdma_ack_cm_event(event);
	*greeting = theirs;
	if (id->verbs != adapter->context)
		fail("the client has come to another device: --address names that of the server");
	return id;
}

static struct ibv_cq *
wire_cq(const struct verbs_adapter *adapter, uint32_t length)
{
	struct ibv_cq *cq = ibv_create_cq(adapter->context, (int)length, NULL, NULL, 0);

	if (!cq)
		fail_errno("ibv_create_cq");
	return cq;
}

static void
wire_create_qp(struct verbs_wire *wire, const struct wiring *wiring)
{
	struct ibv_qp_init_attr init = {
		.cap = { wiring->sends, wiring->receives, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};

	wire->sends = wire_cq(wire->adapter, wiring->sends);
	if (!wiring->queue)
		wire->receives = wire_cq(wire->adapter, wiring->receives);
	init.recv_cq = wiring->queue ? verbs_queue_cq(wiring->queue) : wire->receives;
	init.send_cq = wiring->requests ? init.recv_cq : wire->sends;
	if (rdma_create_qp(wire->id, wire->adapter->pd, &init))
		fail_errno("rdma_create_qp");
}

void *
verbs_wire_create(void *arg, const struct wiring *wiring, struct greeting *greeting, int ms)
{
	struct verbs_adapter *adapter = arg;
	struct verbs_wire *wire = calloc(1, sizeof *wire);

	if (!wire)
		fail("no memory");
	wire->adapter = adapter;
	wire->id =
	    adapter->server ? wire_await_request(adapter, greeting, ms) : verbs_resolve(adapter);
	wire->greeting = *greeting;
	wire_create_qp(wire, wiring);
	wire->next = adapter->wires;
	adapter->wires = wire;
	return wire;
}

static uint8_t
wire_reads(int of_device)
{
	return (uint8_t)(of_device < READS_MAX ? of_device : READS_MAX);
}

void
verbs_wire_join(void *arg)
{
	struct verbs_wire *wire = arg;
	struct verbs_adapter *adapter = wire->adapter;
	struct ibv_device_attr device;
	struct rdma_conn_param param = { .retry_count = RETRIES, .rnr_retry_count = RETRIES };

	if (ibv_query_device(adapter->context, &device))
		fail_errno("ibv_query_device");
	param.responder_resources = wire_reads(device.max_qp_rd_atom);
	param.initiator_depth = wire_reads(device.max_qp_init_rd_atom);
	if (adapter->server) {
		if (rdma_accept(wire->id, &param))
			fail_errno("rdma_accept");
	} else {
		param.private_data = &wire->greeting;
		param.private_data_len = sizeof wire->greeting;
		if (rdma_connect(wire->id, &param))
			fail_errno("rdma_connect");
	}
	wire_await(adapter, wire->id, RDMA_CM_EVENT_ESTABLISHED);
}

void
verbs_wire_free(struct verbs_wire *wire)
{
	rdma_disconnect(wire->id);
	rdma_destroy_qp(wire->id);
	ibv_destroy_cq(wire->sends);
	if (wire->receives)
		ibv_destroy_cq(wire->receives);
	rdma_destroy_id(wire->id);
	free(wire);
}
