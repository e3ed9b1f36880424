/* SPDX-License-Identifier: BSD-3-Clause */
#include "dat_adapter.h"

#include "fail.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

#define ASYNC_LENGTH 8
#define EVENTS (2 * (LOAD_ENDPOINTS_MAX + 1)) /* of all connections */

static void
dat_find_peer(struct dat_adapter *adapter, const struct options *options)
{
	DAT_IA_ATTR attr;

	fail_dat("dat_ia_query", dat_ia_query(adapter->ia, NULL, DAT_IA_FIELD_ALL, &attr,
				     DAT_PROVIDER_FIELD_NONE, NULL));
	if (options_address(options, attr.ia_address_ptr->sa_family, &adapter->peer))
		return;
	memcpy(&adapter->peer, attr.ia_address_ptr,
	    attr.ia_address_ptr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
							 sizeof(struct sockaddr_in));
}

static void
dat_listen(struct dat_adapter *adapter, unsigned int port)
{
	DAT_PSP_HANDLE listener;
	DAT_RETURN ret;

	fail_dat("dat_evd_create", dat_evd_create(adapter->ia, EVENTS, DAT_HANDLE_NULL,
				       DAT_EVD_CR_FLAG, &adapter->requests));
	if (!port)
		ret = dat_psp_create_any(adapter->ia, &adapter->port, adapter->requests,
		    DAT_PSP_CONSUMER_FLAG, &listener);
	else
		ret = dat_psp_create(
		    adapter->ia, port, adapter->requests, DAT_PSP_CONSUMER_FLAG, &listener);
	if (DAT_GET_TYPE(ret) == DAT_CONN_QUAL_IN_USE)
		fail("port %u is in use; --port names another", port);
	fail_dat("dat_psp_create", ret);
}

static void *
dat_open(const struct options *options, bool server)
{
	struct dat_adapter *adapter = calloc(1, sizeof *adapter);
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_RETURN ret;

	if (!adapter)
		fail("no memory");
	ret = dat_ia_open((char *)options->adapter, ASYNC_LENGTH, &async, &adapter->ia);
	if (ret != DAT_SUCCESS)
		fail_dat("cannot open the adapter: dat_ia_open", ret);
	fail_dat("dat_pz_create", dat_pz_create(adapter->ia, &adapter->pz));
	fail_dat("dat_evd_create", dat_evd_create(adapter->ia, EVENTS, DAT_HANDLE_NULL,
				       DAT_EVD_CONNECTION_FLAG, &adapter->connections));
	adapter->server = server;
	adapter->port = options->port;
	if (server)
		dat_listen(adapter, options->port);
	else
		dat_find_peer(adapter, options);
	return adapter;
}

static unsigned int
dat_port(void *arg)
{
	const struct dat_adapter *adapter = arg;

	return (unsigned int)adapter->port;
}

/* The other end finds its connections closed; nothing waits for that. */
static void
dat_close(void *arg)
{
	struct dat_adapter *adapter = arg;

	fail_dat("dat_ia_close", dat_ia_close(adapter->ia, DAT_CLOSE_ABRUPT_FLAG));
	while (adapter->wires) {
		struct dat_wire *wire = adapter->wires;

		adapter->wires = wire->next;
		free(wire);
	}
	dat_queue_free(adapter->queue);
	free(adapter);
}

static void
dat_enrol(void *arg, struct region *region)
{
	struct dat_adapter *adapter = arg;
	DAT_REGION_DESCRIPTION where = { .for_va = region->memory };
	DAT_LMR_HANDLE lmr;

	fail_dat("dat_lmr_create",
	    dat_lmr_create(adapter->ia, DAT_MEM_TYPE_VIRTUAL, where, region->length, adapter->pz,
		DAT_MEM_PRIV_READ_FLAG | DAT_MEM_PRIV_WRITE_FLAG, DAT_VA_TYPE_VA, &lmr,
		&region->key, &region->remote_key, NULL, NULL));
	region->handle = lmr;
}

const struct engine engine_dat = {
	.name = "dat",
	.consumers = (1u << CONSUMERS) - 1,
	.open = dat_open,
	.port = dat_port,
	.close = dat_close,
	.enrol = dat_enrol,
	.queue = dat_queue_create,
	.wire = dat_wire_create,
	.join = dat_wire_join,
	.receive = dat_receive,
	.send = dat_send,
	.write = dat_write,
	.read = dat_read,
	.reap = dat_reap,
	.arrived = dat_arrived,
	.run = dat_queue_run,
};
