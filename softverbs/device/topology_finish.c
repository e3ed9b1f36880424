/* SPDX-License-Identifier: BSD-3-Clause */
/* What was left open. */
#include "topology_text.h"

#include <endian.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

static __be64
finish_guid_plus(__be64 guid, unsigned int more)
{
	return htobe64(be64toh(guid) + more);
}

/* The interface that has the address; all of 127.0.0.0/8 is of the loopback interface. */
static uint32_t
finish_find_interface(const struct ifaddrs *all, const uint8_t bytes[16])
{
	static const uint8_t loopback[13] = { [10] = 0xff, [11] = 0xff, [12] = 127 };
	struct soft_ip ip;

	for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
		if (!one->ifa_addr || !soft_ip_of(one->ifa_addr, &ip))
			continue;
		if (!memcmp(ip.bytes, bytes, sizeof ip.bytes) ||
		    (one->ifa_flags & IFF_LOOPBACK && !memcmp(bytes, loopback, sizeof loopback)))
			return if_nametoindex(one->ifa_name);
	}
	return 0;
}

/*
 * The link-local GID, and one for each address; of "any", the loopback address of the host, unless
 * another port has it.
 */
static void
finish_make_gids(const struct soft_topology *topology, struct soft_device_port *port, __be64 guid)
{
	const struct soft_ip ip = { .bytes = { [10] = 0xff, [11] = 0xff, 127, 0, 0, 1 } };
	struct soft_gid *gid = port->gids;

	gid->gid.global.subnet_prefix = htobe64(0xfe80000000000000ull);
	gid->gid.global.interface_id = guid;
	gid++;
	if (port->any && soft_topology_find(topology, &ip) == port)
		memcpy(gid++->gid.raw, ip.bytes, sizeof gid->gid.raw);
	for (unsigned int i = 0; i < port->ip_count && gid < port->gids + SOFT_GIDS_MAX; i++)
		memcpy(gid++->gid.raw, port->ips[i].bytes, sizeof gid->gid.raw);
	port->attr.gid_tbl_len = (int)(gid - port->gids);
}

static void
finish_gids(const struct soft_topology *topology, struct soft_device_port *port, __be64 guid,
    const struct ifaddrs *interfaces)
{
	const bool ethernet = soft_device_port_is_ethernet(port);

	if (!port->gids_given)
		finish_make_gids(topology, port, guid);
	for (int i = 0; i < port->attr.gid_tbl_len; i++) {
		struct soft_gid *gid = &port->gids[i];

		if (!ethernet)
			gid->type = IBV_GID_TYPE_IB;
		else if (!port->gids_given)
			gid->type = IBV_GID_TYPE_ROCE_V2;
		/* InfiniBand has no network interface in the table. */
		gid->interface = ethernet ? finish_find_interface(interfaces, gid->gid.raw) : 0;
	}
}

static void
finish_port(const struct soft_topology *topology, struct soft_device_port *port,
    const struct ifaddrs *interfaces)
{
	const struct soft_device *device = &topology->devices[port->device];
	struct ibv_port_attr *attr = &port->attr;

	if (soft_device_port_is_ethernet(port)) {
		attr->lid = attr->sm_lid = 0;
		attr->port_cap_flags |= IBV_PORT_IP_BASED_GIDS;
		attr->flags = IBV_QPF_GRH_REQUIRED;
	} else if (!attr->lid) {
		attr->lid = (uint16_t)(SOFT_LID + port->number - 1);
	}
	/* Where no address is given, each port has one of the loopback interface. */
	if (!port->any && !port->ip_count) {
		port->ips[0] = (struct soft_ip){
			.bytes = { [10] = 0xff, [11] = 0xff, 127, port->device, 0, port->port }
		};
		port->ip_count = 1;
	}
	finish_gids(
	    topology, port, finish_guid_plus(device->attr.node_guid, port->port - 1u), interfaces);
}

static void
finish_device(struct soft_topology *topology, unsigned int index, const struct ifaddrs *interfaces)
{
	struct soft_device *device = &topology->devices[index];
	struct ibv_device_attr *attr = &device->attr;

	if (!attr->node_guid)
		attr->node_guid = htobe64(SOFT_GUID_FIRST + index * SOFT_GUID_STEP);
	if (!attr->sys_image_guid)
		attr->sys_image_guid = attr->node_guid;
	for (unsigned int i = 0; i < attr->phys_port_cnt; i++) {
		struct soft_device_port *port = &device->ports[i];

		port->port = (uint8_t)(i + 1);
		port->device = (uint8_t)index;
		port->number = (uint16_t)(index * SOFT_DEVICE_PORTS_MAX + i + 1);
		finish_port(topology, port, interfaces);
	}
}

/* One port has the addresses that no other has: the first, if none is chosen and it has none. */
static bool
finish_choose_any(struct soft_reading *reading)
{
	struct soft_topology *topology = reading->topology;
	struct soft_device_port *first = &topology->devices[0].ports[0];
	unsigned int count = 0;

	for (unsigned int d = 0; d < topology->count; d++)
		for (unsigned int p = 0; p < topology->devices[d].attr.phys_port_cnt; p++)
			count += topology->devices[d].ports[p].any;
	if (count > 1)
		return soft_topology_refuse(reading, "addr=any is for one port");
	if (!count && !first->ip_count)
		first->any = true;
	return true;
}

static bool
finish_ports_differ(struct soft_reading *reading, const struct soft_device_port *a,
    const struct soft_device_port *b)
{
	const struct soft_topology *topology = reading->topology;
	const char *one = topology->devices[a->device].name,
		   *other = topology->devices[b->device].name;

	for (unsigned int i = 0; i < a->ip_count; i++)
		for (unsigned int j = 0; j < b->ip_count; j++)
			if (!memcmp(&a->ips[i], &b->ips[j], sizeof a->ips[i]))
				return soft_topology_refuse(reading,
				    "%s/%u and %s/%u have the same address", one, a->port, other,
				    b->port);
	if (a->attr.link_layer != b->attr.link_layer)
		return true;
	if (a->attr.lid && a->attr.lid == b->attr.lid)
		return soft_topology_refuse(reading, "%s/%u and %s/%u have the same LID %u", one,
		    a->port, other, b->port, a->attr.lid);
	for (int i = 0; i < a->attr.gid_tbl_len; i++)
		for (int j = 0; j < b->attr.gid_tbl_len; j++)
			if (!memcmp(&a->gids[i].gid, &b->gids[j].gid, sizeof a->gids[i].gid))
				return soft_topology_refuse(reading,
				    "%s/%u and %s/%u have the same GID", one, a->port, other,
				    b->port);
	return true;
}

/* What its statements say, in whichever order, goes together. */
static bool
finish_port_fits(struct soft_reading *reading, const struct soft_device_port *port)
{
	const char *device = reading->topology->devices[port->device].name;

	if (port->attr.active_mtu > port->attr.max_mtu)
		return soft_topology_refuse(
		    reading, "%s/%u: mtu is more than max_mtu", device, port->port);
	if (port->lids_given && soft_device_port_is_ethernet(port))
		return soft_topology_refuse(
		    reading, "%s/%u: an Ethernet port has no LID", device, port->port);
	if (port->versions_given && !soft_device_port_is_ethernet(port))
		return soft_topology_refuse(reading,
		    "%s/%u: a GID of InfiniBand has no version of RoCE", device, port->port);
	for (int i = 0; i < port->attr.gid_tbl_len; i++)
		for (int j = 0; j < i; j++)
			if (port->gids[i].type == port->gids[j].type &&
			    !memcmp(
				&port->gids[i].gid, &port->gids[j].gid, sizeof port->gids[i].gid))
				return soft_topology_refuse(
				    reading, "%s/%u has the same GID twice", device, port->port);
	return true;
}

static bool
finish_all_differ(struct soft_reading *reading)
{
	const struct soft_topology *topology = reading->topology;
	const struct soft_device_port *ports[SOFT_PORT_NUMBERS];
	unsigned int count = 0;

	for (unsigned int d = 0; d < topology->count; d++)
		for (unsigned int p = 0; p < topology->devices[d].attr.phys_port_cnt; p++)
			ports[count++] = &topology->devices[d].ports[p];
	for (unsigned int a = 0; a < count; a++) {
		if (!finish_port_fits(reading, ports[a]))
			return false;
		for (unsigned int b = 0; b < a; b++)
			if (!finish_ports_differ(reading, ports[b], ports[a]))
				return false;
	}
	return true;
}

bool
soft_topology_finish(struct soft_reading *reading)
{
	struct soft_topology *topology = reading->topology;
	struct ifaddrs *interfaces = NULL;

	reading->where = NULL;
	if (!topology->count)
		return soft_topology_refuse(reading, "no device");
	if (!finish_choose_any(reading))
		return false;
	if (!topology->plain)
		(void)getifaddrs(&interfaces); /* without them the table names no interface */
	for (unsigned int i = 0; i < topology->count; i++)
		finish_device(topology, i, interfaces);
	if (interfaces)
		freeifaddrs(interfaces);
	return finish_all_differ(reading);
}
