/* SPDX-License-Identifier: BSD-3-Clause */
#include "service.h"
#include "address.h"
#include "port.h"

#include <stdlib.h>

/* A port number of one port space that this process has taken; see port.h. */
struct soft_service {
	LIST_ENTRY(soft_service) link;
	LIST_HEAD(, soft_id) ids;
	uint16_t port_space;
	uint16_t port;
};

/*
 * Ports for those that leave the choice to the device.  IANA keeps these for such use, and Linux
 * takes them for it.  So the port at which a program listens, below or above, is not taken by
 * chance: dapltest listens from 62000 on, after its first connection.
 */
#define RANGE_FIRST 49152
#define RANGE_COUNT (61000 - RANGE_FIRST)

#define BUCKETS 1024
static LIST_HEAD(, soft_service) buckets[BUCKETS];

static struct soft_service *
service_find(uint16_t port_space, uint16_t port)
{
	struct soft_service *service;

	LIST_FOREACH (service, &buckets[port % BUCKETS], link)
		if (service->port == port && service->port_space == port_space)
			return service;
	return NULL;
}

/* Tries ports one after the other from a random one on: the kernel keeps adjacent locks as one. */
static int
service_any_port(uint16_t port_space, uint16_t *port) REQUIRES(soft_locks.cm)
{
	static bool begun;
	static uint32_t next;
	int r = -EADDRINUSE;

	if (!begun)
		next = soft_random32();
	begun = true;
	for (uint32_t i = 0; i < RANGE_COUNT && r == -EADDRINUSE; i++) {
		*port = (uint16_t)(RANGE_FIRST + next++ % RANGE_COUNT);
		/*
		 * A lock of the file does not exclude the process that has it, so search the list
		 * first.
		 */
		if (!service_find(port_space, *port))
			r = soft_port_open(port_space, *port);
	}
	return r == -EADDRINUSE ? -EADDRNOTAVAIL : r;
}

static int
service_create(struct soft_service **out, uint16_t port_space, uint16_t port)
    REQUIRES(soft_locks.cm)
{
	struct soft_service *service;
	int r;

	service = calloc(1, sizeof *service);
	if (!service)
		return -ENOMEM;
	r = port ? soft_port_open(port_space, port) : service_any_port(port_space, &port);
	if (r) {
		free(service);
		return r;
	}
	service->port_space = port_space;
	service->port = port;
	LIST_INIT(&service->ids);
	LIST_INSERT_HEAD(&buckets[port % BUCKETS], service, link);
	*out = service;
	return 0;
}

static const struct sockaddr *
service_address(struct soft_id *id)
{
	return rdma_get_local_addr(&id->public);
}

/* "Any address" of IPv6 includes the addresses of IPv4, unless the id has the option AFONLY. */
static bool
service_includes(const struct sockaddr *bound, bool family_only, const struct sockaddr *address)
{
	if (!soft_address_wild(bound))
		return soft_address_same_host(bound, address);
	return bound->sa_family == address->sa_family ||
	       (bound->sa_family == AF_INET6 && !family_only);
}

/* Whether the id is for one family of addresses: one of IPv4 always is. */
static bool
service_is_of_one_family(const struct soft_id *id, const struct sockaddr *address)
{
	return address->sa_family == AF_INET || id->family_only;
}

/*
 * The rule of the kernel, which is stricter than requests need: "any address" and another address
 * exclude each other, with another errno than an address and the same one.  0 or -errno.
 */
static int
service_check(struct soft_service *service, const struct soft_id *id,
    const struct sockaddr *address, bool reuse) REQUIRES(soft_locks.cm)
{
	struct soft_id *other;

	LIST_FOREACH (other, &service->ids, service_link) {
		const struct sockaddr *theirs = service_address(other);

		if (other == id || (reuse && other->reuse_address))
			continue;
		if (address->sa_family != theirs->sa_family &&
		    service_is_of_one_family(id, address) &&
		    service_is_of_one_family(other, theirs))
			continue;
		if (soft_address_wild(address) || soft_address_wild(theirs))
			return -EADDRNOTAVAIL;
		if (soft_address_same_host(address, theirs))
			return -EADDRINUSE;
	}
	return 0;
}

/* Another process has the port, at an address that only it knows; it may be this one. */
static int
service_elsewhere(const struct sockaddr *address)
{
	return soft_address_wild(address) ? -EADDRNOTAVAIL : -EADDRINUSE;
}

int
soft_service_attach(struct soft_id *id, const struct sockaddr *address, uint16_t *port)
{
	const uint16_t port_space = (uint16_t)id->public.ps;
	struct soft_service *service = *port ? service_find(port_space, *port) : NULL;
	int r;

	if (*port && !soft_port_is_permitted(*port))
		return -EACCES;
	if (service)
		r = service_check(service, id, address, id->reuse_address);
	else
		r = service_create(&service, port_space, *port);
	if (r == -EADDRINUSE && !service)
		r = service_elsewhere(address);
	if (r)
		return r;
	LIST_INSERT_HEAD(&service->ids, id, service_link);
	id->service = service;
	*port = service->port;
	return 0;
}

void
soft_service_detach(struct soft_id *id)
{
	struct soft_service *service = id->service;

	if (!service)
		return;
	id->service = NULL;
	LIST_REMOVE(id, service_link);
	if (id->state == SOFT_ID_LISTENING)
		soft_port_abandon(service->port_space, service->port);
	if (!LIST_EMPTY(&service->ids))
		return;
	LIST_REMOVE(service, link);
	soft_port_close(service->port_space, service->port);
	free(service);
}

/* An id that listens shares its address with none, and none can come to share it. */
int
soft_service_listen(struct soft_id *id)
{
	const int r = service_check(id->service, id, service_address(id), false);

	if (!r)
		id->reuse_address = false;
	return r;
}

bool
soft_service_here(uint16_t port_space, uint16_t port)
{
	return service_find(port_space, port) != NULL;
}

struct soft_id *
soft_service_find(uint16_t port_space, uint16_t port, const struct sockaddr *target)
{
	struct soft_service *service = service_find(port_space, port);
	struct soft_id *id;

	if (!service)
		return NULL;
	LIST_FOREACH (id, &service->ids, service_link)
		if (id->state == SOFT_ID_LISTENING &&
		    service_includes(service_address(id), id->family_only, target))
			return id;
	return NULL;
}

/* In a forked child: the ports belong to the parent. */
void
soft_services_reset(void)
{
	for (int i = 0; i < BUCKETS; i++)
		LIST_INIT(&buckets[i]); /* each is its ids' as well */
}
