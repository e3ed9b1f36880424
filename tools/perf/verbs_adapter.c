/* SPDX-License-Identifier: BSD-3-Clause */
#include "verbs_adapter.h"

#include "fail.h"
#include "options.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#define BACKLOG 128

/* Without an address: the loopback one of a client; of a server all. */
static struct sockaddr_storage
verbs_address(const struct options *options, bool server)
{
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	struct sockaddr_in *in = (struct sockaddr_in *)&address;

	/* IPv4 is also what a server without HOST has. */
	if (!options_address(options, AF_INET, &address)) {
		in->sin_family = AF_INET;
		in->sin_addr.s_addr = htonl(
		    options->server && server && options->port ? INADDR_ANY : INADDR_LOOPBACK);
	}
	if (address.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&address)->sin6_port = htons((uint16_t)options->port);
	else
		in->sin_port = htons((uint16_t)options->port);
	return address;
}

/* If the listener is on all addresses, the first device is taken. */
static struct ibv_context *
verbs_listen(struct verbs_adapter *adapter, const struct options *options)
{
	struct sockaddr_storage address = verbs_address(options, true);
	struct ibv_context **devices;

	if (rdma_create_id(adapter->channel, &adapter->id, NULL, RDMA_PS_TCP))
		fail_errno("rdma_create_id");
	if (rdma_bind_addr(adapter->id, (struct sockaddr *)&address)) {
		if (errno == EADDRINUSE)
			fail("port %u is in use; --port names another", options->port);
		fail_errno("rdma_bind_addr");
	}
	if (rdma_listen(adapter->id, BACKLOG))
		fail_errno("rdma_listen");
	if (adapter->id->verbs)
		return adapter->id->verbs;
	devices = rdma_get_devices(NULL);
	if (!devices || !devices[0])
		fail("there is no RDMA device");
	return devices[0];
}

static void *
verbs_open(const struct options *options, bool server)
{
	struct verbs_adapter *adapter = calloc(1, sizeof *adapter);

	if (!adapter)
		fail("no memory");
	adapter->server = server;
	adapter->channel = rdma_create_event_channel();
	if (!adapter->channel)
		fail_errno("no RDMA device: rdma_create_event_channel");
	if (server) {
		adapter->context = verbs_listen(adapter, options);
	} else {
		adapter->peer = verbs_address(options, false);
		adapter->id = verbs_resolve(adapter);
		adapter->context = adapter->id->verbs;
	}
	adapter->pd = ibv_alloc_pd(adapter->context);
	if (!adapter->pd)
		fail_errno("ibv_alloc_pd");
	return adapter;
}

static unsigned int
verbs_port(void *arg)
{
	const struct verbs_adapter *adapter = arg;

	return ntohs(rdma_get_src_port(adapter->id));
}

static void
verbs_close(void *arg)
{
	struct verbs_adapter *adapter = arg;

	while (adapter->wires) {
		struct verbs_wire *wire = adapter->wires;

		adapter->wires = wire->next;
		verbs_wire_free(wire);
	}
	verbs_queue_free(adapter->queue);
	while (adapter->memory) {
		struct verbs_memory *memory = adapter->memory;

		adapter->memory = memory->next;
		ibv_dereg_mr(memory->mr);
		free(memory);
	}
	ibv_dealloc_pd(adapter->pd);
	rdma_destroy_id(adapter->id);
	rdma_destroy_event_channel(adapter->channel);
	free(adapter);
}

static void
verbs_enrol(void *arg, struct region *region)
{
	struct verbs_adapter *adapter = arg;
	struct verbs_memory *memory = calloc(1, sizeof *memory);

	if (!memory)
		fail("no memory");
	memory->mr = ibv_reg_mr(adapter->pd, region->memory, region->length,
	    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	if (!memory->mr)
		fail_errno("ibv_reg_mr");
	memory->next = adapter->memory;
	adapter->memory = memory;
	region->key = memory->mr->lkey;
	region->remote_key = memory->mr->rkey;
}

const struct engine engine_verbs = {
	.name = "verbs",
	.consumers = 1u << CONSUMER_DEQUEUE | 1u << CONSUMER_DEQUEUE_N | 1u << CONSUMER_WAIT |
		     1u << CONSUMER_POLL | 1u << CONSUMER_EPOLL,
	.open = verbs_open,
	.port = verbs_port,
	.close = verbs_close,
	.enrol = verbs_enrol,
	.queue = verbs_queue_create,
	.wire = verbs_wire_create,
	.join = verbs_wire_join,
	.watch = verbs_watch,
	.receive = verbs_receive,
	.send = verbs_send,
	.write = verbs_write,
	.read = verbs_read,
	.reap = verbs_reap,
	.arrived = verbs_arrived,
	.run = verbs_queue_run,
};
