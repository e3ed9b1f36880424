/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that give an id its addresses and its route. */
#include "address.h"
#include "event.h"
#include "get_event.h"
#include "id.h"
#include "path.h"
#include "service.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/changes.h"
#include "softverbs/fault/fault.h"

#include <stdlib.h>

/* Gives the id its source address, a port, and the device that has the address. */
static int
resolve_bind_source(struct soft_id *id, const struct sockaddr *address) REQUIRES(soft_locks.cm)
{
	const bool wild = soft_address_wild(address);
	const struct soft_device_port *from = wild ? id->port : soft_topology_find_ip(address);
	struct rdma_addr *addr = &id->public.route.addr;
	uint16_t port = soft_address_port(address);
	int r;

	if (!from || soft_device_is_away(from->device))
		return -ENODEV;
	r = soft_service_attach(id, address, &port);
	if (r)
		return r;
	soft_address_copy(&addr->src_storage, address);
	soft_address_set_port(&addr->src_addr, port);
	id->port = from;
	id->state = SOFT_ID_BOUND;
	return 0;
}

static void
resolve_to_loopback(struct sockaddr_storage *storage)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)storage;
	struct sockaddr_in *in = (struct sockaddr_in *)storage;

	if (storage->ss_family == AF_INET)
		in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		in6->sin6_addr = in6addr_loopback;
}

static int
resolve_locked(struct soft_id *id, const struct sockaddr *source,
    const struct sockaddr_storage *target, bool reachable, struct soft_event *event)
    REQUIRES(soft_locks.cm)
{
	const struct soft_device_port *peer =
	    soft_topology_find_ip((const struct sockaddr *)target);
	struct rdma_addr *addr = &id->public.route.addr;
	struct sockaddr_storage any = { .ss_family = target->ss_family };
	uint16_t port;
	bool wild;
	int r, error;

	if (id->state == SOFT_ID_IDLE) {
		r = resolve_bind_source(id, source ? source : (struct sockaddr *)&any);
		if (r)
			return r;
	} else if (id->state != SOFT_ID_BOUND) {
		return -EINVAL; /* an id that is bound keeps its source address */
	}
	addr->dst_storage = *target;
	/* The source address for an address of this host is the same address. */
	wild = soft_address_wild(&addr->src_addr);
	if (peer && soft_device_is_away(peer->device))
		peer = NULL;
	if (wild && peer)
		id->port = peer;
	if (peer && peer->attr.link_layer == id->port->attr.link_layer)
		id->peer_port = peer;
	else
		reachable = false;
	addr->addr.ibaddr.dgid = soft_path_gid(id->peer_port, &addr->dst_addr);
	error =
	    reachable ? soft_fault_now(SOFT_INCIDENT_ADDR_ERROR, soft_id_context(id)) : ENETUNREACH;
	if (error) {
		soft_event_post(id, event, RDMA_CM_EVENT_ADDR_ERROR, -error);
		return 0;
	}
	if (wild) {
		port = soft_address_port(&addr->src_addr);
		addr->src_storage = *target;
		soft_address_set_port(&addr->src_addr, port);
	}
	id->state = SOFT_ID_ADDR_RESOLVED;
	soft_event_post(id, event, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	return 0;
}

int
soft_rdma_bind_addr(struct rdma_cm_id *public, struct sockaddr *address) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_id *id = soft_id_of(public);
	bool wild;
	int r;

	if (!address || !soft_address_known(address))
		return soft_cm_result(EINVAL);
	if (soft_id_refuses(id))
		return -1;
	wild = soft_address_wild(address);
	r = wild ? 0 : soft_address_check_local(address);
	if (!r)
		r = soft_id_attach_device(id);
	if (r)
		return soft_cm_result(r);
	soft_cm_lock();
	r = id->state == SOFT_ID_IDLE ? resolve_bind_source(id, address) : -EINVAL;
	soft_cm_unlock();
	/*
	 * An id that is bound to the wildcard address has no device until a peer has chosen one
	 * of the addresses.
	 */
	if (!r && !wild && !soft_topology_shares_ip(address))
		r = soft_id_show_device(id);
	return soft_cm_result(r);
}

int
soft_rdma_resolve_addr(struct rdma_cm_id *public, struct sockaddr *source, struct sockaddr *target,
    int timeout_ms) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_id *id = soft_id_of(public);
	struct sockaddr_storage to;
	struct soft_event *event;
	bool reachable;
	int r;

	(void)timeout_ms; /* the answer is known at once */
	if (!target || !soft_address_known(target) ||
	    (source && source->sa_family != target->sa_family))
		return soft_cm_result(EINVAL);
	if (soft_id_refuses(id))
		return -1;
	soft_address_copy(&to, target);
	if (soft_address_wild(target))
		resolve_to_loopback(&to);
	r = source && !soft_address_wild(source) ? soft_address_check_local(source) : 0;
	if (r)
		return soft_cm_result(r);
	r = soft_address_check_local((struct sockaddr *)&to);
	if (r && r != -EADDRNOTAVAIL)
		return soft_cm_result(r);
	reachable = !r;
	r = soft_id_attach_device(id);
	if (r)
		return soft_cm_result(r);
	event = soft_event_create();
	if (!event)
		return soft_cm_result(ENOMEM);
	soft_cm_lock();
	r = resolve_locked(id, source, &to, reachable, event);
	soft_cm_unlock();
	if (r) {
		free(event);
		return soft_cm_result(r);
	}
	return soft_event_complete(id, &uncancelled_);
}

int
soft_rdma_resolve_route(struct rdma_cm_id *public, int timeout_ms) SOFT_NO_CM_LOCK
{
	SOFT_UNCANCELLED;
	struct soft_id *id = soft_id_of(public);
	int r;

	(void)timeout_ms;
	if (soft_id_refuses(id))
		return -1;
	r = soft_path_resolve(id, soft_path_create(id));
	return r ? soft_cm_result(r) : soft_event_complete(id, &uncancelled_);
}
