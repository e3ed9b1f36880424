/* SPDX-License-Identifier: BSD-3-Clause */
/* Who has an IP address, and how fast a port is. */
#include "topology.h"

#include <netinet/in.h>
#include <string.h>

bool
soft_ip_of(const struct sockaddr *address, struct soft_ip *ip)
{
	const struct sockaddr_in6 *in6 = (const void *)address;
	const struct sockaddr_in *in = (const void *)address;

	*ip = (struct soft_ip){ .scope = 0 };
	if (address->sa_family == AF_INET) {
		ip->bytes[10] = ip->bytes[11] = 0xff;
		memcpy(ip->bytes + 12, &in->sin_addr, sizeof in->sin_addr);
	} else if (address->sa_family == AF_INET6) {
		memcpy(ip->bytes, &in6->sin6_addr, sizeof ip->bytes);
		ip->scope = in6->sin6_scope_id;
	} else {
		return false;
	}
	return true;
}

static bool
ip_is_same(const struct soft_ip *bound, const struct soft_ip *ip)
{
	return !memcmp(bound->bytes, ip->bytes, sizeof ip->bytes) &&
	       (!bound->scope || bound->scope == ip->scope);
}

/* That of the host: 127.0.0.1 or ::1. */
static bool
ip_is_loopback(const struct soft_ip *ip)
{
	static const uint8_t loopbacks[2][16] = { { [10] = 0xff, [11] = 0xff, 127, 0, 0, 1 },
		{ [15] = 1 } };

	return !memcmp(ip->bytes, loopbacks[0], sizeof ip->bytes) ||
	       !memcmp(ip->bytes, loopbacks[1], sizeof ip->bytes);
}

bool
soft_topology_is_of_all(const struct soft_topology *topology, const struct soft_ip *ip)
{
	const struct soft_device_port *port = soft_topology_find(topology, ip);

	if (topology->count < 2 || !ip_is_loopback(ip) || !port || port->any)
		return false;
	for (unsigned int i = 0; i < port->ip_count; i++)
		if (ip_is_same(&port->ips[i], ip))
			return false;
	return true;
}

const struct soft_device_port *
soft_topology_find(const struct soft_topology *topology, const struct soft_ip *ip)
{
	const struct soft_device_port *any = NULL, *first = NULL;

	for (unsigned int d = 0; d < topology->count; d++)
		for (unsigned int p = 0; p < topology->devices[d].attr.phys_port_cnt; p++) {
			const struct soft_device_port *port = &topology->devices[d].ports[p];

			for (unsigned int i = 0; i < port->ip_count; i++)
				if (ip_is_same(&port->ips[i], ip))
					return port;
			if (port->any)
				any = port;
			if (!first && port->attr.state == IBV_PORT_ACTIVE)
				first = port;
		}
	return any || !ip_is_loopback(ip) ? any : first;
}

unsigned int
soft_port_speed(const struct ibv_port_attr *attr)
{
	/* By the bits of active_width and active_speed. */
	static const unsigned int lanes[] = { 1, 4, 8, 12, 2 };
	static const unsigned int lane_speeds[] = { 25, 50, 100, 100, 140, 250, 500, 1000, 2000 };

	for (size_t w = 0; w < sizeof lanes / sizeof *lanes; w++)
		for (size_t s = 0; s < sizeof lane_speeds / sizeof *lane_speeds; s++)
			if (attr->active_width == 1 << w && attr->active_speed == 1 << s)
				return lanes[w] * lane_speeds[s];
	return 0;
}
