/* SPDX-License-Identifier: BSD-3-Clause */
/* What is set of a port. */
#include "topology_text.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

const struct ibv_port_attr soft_device_port_most = {
	.state = IBV_PORT_ACTIVE,
	.max_mtu = IBV_MTU_4096,
	.active_mtu = IBV_MTU_4096,
	.port_cap_flags = IBV_PORT_CM_SUP,
	.max_msg_sz = SOFT_MAX_MSG,
	.pkey_tbl_len = 1,
	.sm_lid = SOFT_LID,
	.max_vl_num = 1,
	.subnet_timeout = 18,
	.active_width = 2,  /* 4X */
	.active_speed = 32, /* EDR */
	.phys_state = 5,    /* link up */
	.link_layer = IBV_LINK_LAYER_INFINIBAND,
};

static bool
port_read_ip(const char *text, struct soft_ip *ip)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char name[INET6_ADDRSTRLEN + IF_NAMESIZE + 1], *scope;

	*ip = (struct soft_ip){ .scope = 0 };
	if ((size_t)snprintf(name, sizeof name, "%s", text) >= sizeof name)
		return false;
	if (inet_pton(AF_INET, name, ip->bytes + sizeof mapped) == 1) {
		memcpy(ip->bytes, mapped, sizeof mapped);
		return true;
	}
	scope = strchr(name, '%');
	if (scope) {
		*scope++ = '\0';
		ip->scope = if_nametoindex(scope);
		if (!ip->scope)
			return false;
	}
	return inet_pton(AF_INET6, name, ip->bytes) == 1;
}

static bool
port_state(const struct soft_reading *reading, struct soft_device_port *port, const char *text)
{
	static const struct soft_choice states[] = { { "down", IBV_PORT_DOWN },
		{ "init", IBV_PORT_INIT }, { "armed", IBV_PORT_ARMED },
		{ "active", IBV_PORT_ACTIVE }, { NULL, 0 } };
	unsigned int state;

	if (!soft_topology_choice(reading, "state", text, states, &state))
		return false;
	port->attr.state = (enum ibv_port_state)state;
	port->attr.phys_state = state == IBV_PORT_DOWN ? 2 : 5; /* polling, link up */
	return true;
}

static const struct soft_choice mtus[] = { { "256", IBV_MTU_256 }, { "512", IBV_MTU_512 },
	{ "1024", IBV_MTU_1024 }, { "2048", IBV_MTU_2048 }, { "4096", IBV_MTU_4096 }, { NULL, 0 } };
static const struct soft_choice speeds[] = { { "sdr", 1 }, { "ddr", 2 }, { "qdr", 4 },
	{ "fdr10", 8 }, { "fdr", 16 }, { "edr", 32 }, { "hdr", 64 }, { "ndr", 128 }, { NULL, 0 } };
static const struct soft_choice widths[] = { { "1x", 1 }, { "2x", 16 }, { "4x", 2 }, { "8x", 4 },
	{ "12x", 8 }, { NULL, 0 } };
static const struct soft_choice layers[] = { { "infiniband", IBV_LINK_LAYER_INFINIBAND },
	{ "ethernet", IBV_LINK_LAYER_ETHERNET }, { NULL, 0 } };

static bool
port_add_ip(
    const struct soft_reading *reading, struct soft_device_port *port, const struct soft_ip *ip)
{
	if (port->ip_count == SOFT_ADDRESSES_MAX)
		return soft_topology_refuse(reading, "more than %d addresses", SOFT_ADDRESSES_MAX);
	port->ips[port->ip_count++] = *ip;
	return true;
}

/* That of one host: neither unspecified, nor of a group, nor of all. */
static bool
port_ip_is_of_host(const struct soft_ip *ip)
{
	static const struct soft_ip none, mapped = { .bytes = { [10] = 0xff, [11] = 0xff } };
	const uint8_t *four = ip->bytes + 12;

	if (memcmp(ip->bytes, mapped.bytes, 12) != 0)
		return ip->bytes[0] != 0xff && memcmp(ip->bytes, none.bytes, sizeof none.bytes);
	return four[0] < 224 && four[0];
}

static bool
port_address(const struct soft_reading *reading, struct soft_device_port *port, const char *text)
{
	struct soft_ip ip;

	if (!strcmp(text, "any")) {
		port->any = true;
		return true;
	}
	return port_read_ip(text, &ip) && port_ip_is_of_host(&ip) ?
		   port_add_ip(reading, port, &ip) :
		   soft_topology_refuse(reading, "addr=%.*s: not an IP address of a host, nor any",
		       SOFT_SHOWN, text);
}

/* The addresses that the interface has now. */
static bool
port_interface(const struct soft_reading *reading, struct soft_device_port *port, const char *text)
{
	struct ifaddrs *all = NULL;
	bool read = true, found = false;
	struct soft_ip ip;

	if (getifaddrs(&all))
		return soft_topology_refuse(
		    reading, "if=%.*s: %s", SOFT_SHOWN, text, strerror(errno));
	for (const struct ifaddrs *one = all; one && read; one = one->ifa_next) {
		if (strcmp(one->ifa_name, text) != 0 || !one->ifa_addr ||
		    !soft_ip_of(one->ifa_addr, &ip))
			continue;
		found = true;
		read = port_add_ip(reading, port, &ip);
	}
	freeifaddrs(all);
	return read && !found ? soft_topology_refuse(reading,
				    "if=%.*s: no interface with an IP address", SOFT_SHOWN, text) :
				read;
}

static bool
port_gid(const struct soft_reading *reading, struct soft_device_port *port, const char *text)
{
	const char *at = strchr(text, '@');
	struct soft_gid gid = { .type = IBV_GID_TYPE_ROCE_V2 };
	struct soft_ip ip;
	char address[64];

	snprintf(address, sizeof address, "%.*s", (int)(at ? at - text : SOFT_SHOWN), text);
	if (at && !strcmp(at, "@v1"))
		gid.type = IBV_GID_TYPE_ROCE_V1;
	else if (at && strcmp(at, "@v2") != 0)
		return soft_topology_refuse(
		    reading, "gid=%.*s: the version of RoCE is v1 or v2", SOFT_SHOWN, text);
	if (!port_read_ip(address, &ip))
		return soft_topology_refuse(
		    reading, "gid=%.*s: not a GID as fe80::1 or 10.0.0.1", SOFT_SHOWN, text);
	if (port->attr.gid_tbl_len == SOFT_GIDS_MAX)
		return soft_topology_refuse(reading, "more than %d GIDs", SOFT_GIDS_MAX);
	memcpy(gid.gid.raw, ip.bytes, sizeof gid.gid.raw);
	port->versions_given = port->versions_given || at;
	port->gids[port->attr.gid_tbl_len++] = gid;
	return true;
}

/* Calls fn for each word of the list. */
static bool
port_list(const struct soft_reading *reading, struct soft_device_port *port, char *text,
    bool (*fn)(const struct soft_reading *, struct soft_device_port *, const char *))
{
	char *next;

	for (char *word = text; word; word = next) {
		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		if (!fn(reading, port, word))
			return false;
	}
	return true;
}

bool
soft_topology_port_value(
    const struct soft_reading *reading, struct soft_device_port *port, const char *key, char *value)
{
	unsigned int choice;
	uint64_t number;
	const bool chosen =
	    !strcmp(key, "mtu")	    ? soft_topology_choice(reading, key, value, mtus, &choice) :
	    !strcmp(key, "max_mtu") ? soft_topology_choice(reading, key, value, mtus, &choice) :
	    !strcmp(key, "speed")   ? soft_topology_choice(reading, key, value, speeds, &choice) :
	    !strcmp(key, "width")   ? soft_topology_choice(reading, key, value, widths, &choice) :
	    !strcmp(key, "link")    ? soft_topology_choice(reading, key, value, layers, &choice) :
				      true;

	if (!chosen)
		return false;
	if (!strcmp(key, "state"))
		return port_state(reading, port, value);
	if (!strcmp(key, "mtu")) {
		port->attr.active_mtu = (enum ibv_mtu)choice;
		port->mtu_given = true;
	} else if (!strcmp(key, "max_mtu")) {
		port->attr.max_mtu = (enum ibv_mtu)choice;
		/* One that is given, before or after this, has to fit. */
		if (port->attr.active_mtu > port->attr.max_mtu && !port->mtu_given)
			port->attr.active_mtu = port->attr.max_mtu;
	} else if (!strcmp(key, "speed")) {
		port->attr.active_speed = (uint8_t)choice;
	} else if (!strcmp(key, "width")) {
		port->attr.active_width = (uint8_t)choice;
	} else if (!strcmp(key, "link")) {
		port->attr.link_layer = (uint8_t)choice;
	} else if (!strcmp(key, "lid") || !strcmp(key, "sm_lid")) {
		if (!soft_topology_number(reading, key, value, 1, SOFT_LID_MAX, &number))
			return false;
		*(strcmp(key, "lid") ? &port->attr.sm_lid : &port->attr.lid) = (uint16_t)number;
		port->lids_given = true;
	} else if (!strcmp(key, "addr")) {
		return port_list(reading, port, value, port_address);
	} else if (!strcmp(key, "if")) {
		return port_list(reading, port, value, port_interface);
	} else if (!strcmp(key, "gid")) {
		port->gids_given = true;
		port->attr.gid_tbl_len = 0;
		return port_list(reading, port, value, port_gid);
	} else {
		return soft_topology_refuse(reading,
		    "%.*s: not one of state, speed, width, mtu, max_mtu, link, lid, sm_lid, gid, "
		    "addr, if, which a port has",
		    SOFT_SHOWN, key);
	}
	return true;
}
