/* SPDX-License-Identifier: BSD-3-Clause */
/* The topology of this process. */
#include "topology.h"
#include "cancel.h"
#include "changes.h"
#include "complaint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct soft_topology present;
static char wrong[300]; /* why there is none */

static void
own_load(void)
{
	SOFT_UNCANCELLED;
	const char *text = secure_getenv("SOFTVERBS_TOPOLOGY");
	char error[256];

	if (soft_topology_read(text && *text ? text : "default", &present, error, sizeof error))
		return;
	present.count = 0;
	snprintf(wrong, sizeof wrong, "SOFTVERBS_TOPOLOGY: %s", error);
	soft_complain("%s", wrong);
}

const struct soft_topology *
soft_topology(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, own_load);
	return &present;
}

bool
soft_topology_is_wrong(void)
{
	if (soft_topology()->count)
		return false;
	soft_complain_again(wrong);
	return true;
}

const struct soft_device_port *
soft_topology_port(unsigned int number)
{
	const struct soft_topology *topology = soft_topology();
	const unsigned int device = (number - 1) / SOFT_DEVICE_PORTS_MAX,
			   port = (number - 1) % SOFT_DEVICE_PORTS_MAX;

	if (!number || device >= topology->count ||
	    port >= topology->devices[device].attr.phys_port_cnt)
		return NULL;
	return &topology->devices[device].ports[port];
}

/* Calls fn for each port until it returns true: that port, or NULL. */
static const struct soft_device_port *
own_find(bool (*fn)(const struct soft_device_port *port, const void *arg), const void *arg)
{
	const struct soft_topology *topology = soft_topology();

	for (unsigned int d = 0; d < topology->count; d++)
		for (unsigned int p = 0; p < topology->devices[d].attr.phys_port_cnt; p++)
			if (fn(&topology->devices[d].ports[p], arg))
				return &topology->devices[d].ports[p];
	return NULL;
}

/* ---- IP addresses ---- */

const struct soft_device_port *
soft_topology_find_ip(const struct sockaddr *address)
{
	struct soft_ip ip;

	return soft_ip_of(address, &ip) ? soft_topology_find(soft_topology(), &ip) : NULL;
}

bool
soft_topology_shares_ip(const struct sockaddr *address)
{
	struct soft_ip ip;

	return soft_ip_of(address, &ip) && soft_topology_is_of_all(soft_topology(), &ip);
}

unsigned int
soft_device_port_gid_index(const struct soft_device_port *port, const struct sockaddr *address)
{
	struct soft_ip ip;

	if (!soft_ip_of(address, &ip))
		return 0;
	for (int i = 0; i < port->attr.gid_tbl_len; i++)
		if (!memcmp(port->gids[i].gid.raw, ip.bytes, sizeof ip.bytes))
			return (unsigned int)i;
	return 0;
}

struct ibv_ah_attr
soft_topology_address(const struct soft_device_port *from, const struct soft_device_port *to,
    const struct sockaddr *source, const struct sockaddr *target)
{
	struct ibv_ah_attr address = { .dlid = soft_lid_now(to), .port_num = from->port };

	if (!soft_device_port_is_ethernet(from))
		return address;
	address.is_global = 1;
	address.grh.dgid = soft_device_port_gid(to, soft_device_port_gid_index(to, target));
	address.grh.sgid_index = (uint8_t)soft_device_port_gid_index(from, source);
	address.grh.hop_limit = 64;
	return address;
}

/* ---- routes ---- */

struct route {
	const struct soft_device_port *from;
	const struct ibv_ah_attr *address;
};

static bool
own_is_target(const struct soft_device_port *port, const void *arg)
{
	const struct route *route = arg;

	if (port->attr.link_layer != route->from->attr.link_layer)
		return false;
	if (!route->address->is_global)
		return port->attr.lid && soft_lid_now(port) == route->address->dlid;
	for (int i = 0; i < port->attr.gid_tbl_len; i++) {
		const union ibv_gid gid = soft_device_port_gid(port, (unsigned int)i);

		if (!memcmp(&gid, &route->address->grh.dgid, sizeof gid))
			return true;
	}
	return false;
}

unsigned int
soft_topology_route(const struct soft_device_port *from, const struct ibv_ah_attr *address)
{
	const struct route route = { from, address };
	const struct soft_device_port *to;

	to = own_find(own_is_target, &route);
	return to && from->attr.state == IBV_PORT_ACTIVE && to->attr.state == IBV_PORT_ACTIVE ?
		   to->number :
		   SOFT_PORT_NOWHERE;
}
