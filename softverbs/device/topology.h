/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topology -- the devices and their ports, as SOFTVERBS_TOPOLOGY describes them; see topology.md
 *
 * softverbs-run reads the same text, to refuse a wrong one and to write the files of the devices.
 * A topology is constant once it is read.
 */
#ifndef SOFT_TOPOLOGY_H
#define SOFT_TOPOLOGY_H

#include "soft.h"

#include <sys/socket.h>

#define SOFT_DEVICES_MAX 16
#define SOFT_DEVICE_PORTS_MAX 4
#define SOFT_GIDS_MAX 16
#define SOFT_ADDRESSES_MAX 16
#define SOFT_DEVICE_NAME_SIZE 32
/* Numbers of ports, from 1 on, in the order of all devices: what two processes name a port by. */
#define SOFT_PORT_NUMBERS (SOFT_DEVICES_MAX * SOFT_DEVICE_PORTS_MAX)
/* No port at all: an address leads nowhere, or to a port that is down. */
#define SOFT_PORT_NOWHERE 0xffffu

/* An IP address; one of IPv4 as IPv6 has it, ::ffff:a.b.c.d. */
struct soft_ip {
	uint8_t bytes[16];
	uint32_t scope; /* of a link-local one, or 0 */
};

struct soft_gid {
	union ibv_gid gid;
	uint32_t type;	    /* enum ibv_gid_type */
	uint32_t interface; /* the index of the interface that has the address, or 0 */
};

struct soft_device_port {
	uint8_t port;	 /* number in its device, from 1 on */
	uint16_t number; /* of all ports */
	uint8_t device;	 /* index */
	struct ibv_port_attr attr;
	struct soft_gid gids[SOFT_GIDS_MAX]; /* attr.gid_tbl_len of them */
	bool gids_given, versions_given, mtu_given, lids_given;
	struct soft_ip ips[SOFT_ADDRESSES_MAX];
	unsigned int ip_count;
	bool any; /* has each address that no other port has */
};

struct soft_device {
	char name[SOFT_DEVICE_NAME_SIZE];
	struct ibv_device_attr attr;
	struct soft_device_port ports[SOFT_DEVICE_PORTS_MAX]; /* attr.phys_port_cnt of them */
};

struct soft_topology {
	/*
	 * The one of a program that asks for none: one port, to which every address leads, whether
	 * it is one of the port or not.
	 */
	bool plain;
	unsigned int count;
	struct soft_device devices[SOFT_DEVICES_MAX];
};

/* False with one line in `error`. */
bool soft_topology_read(const char *text, struct soft_topology *topology, char *error, size_t size);

/* False for an address of another family. */
bool soft_ip_of(const struct sockaddr *address, struct soft_ip *ip);

/*
 * The port that has the IP address, or NULL.  The loopback address of the host, if no port has it,
 * is at the first port that is active, as in the kernel.
 */
const struct soft_device_port *soft_topology_find(
    const struct soft_topology *topology, const struct soft_ip *ip);

/*
 * The loopback address of the host, if no port has it, not even by "any", and there are several
 * devices: what is bound to it has none of them before a peer comes, as in the kernel.
 */
bool soft_topology_is_of_all(const struct soft_topology *topology, const struct soft_ip *ip);

/* Of a port, from its width and its speed, in units of 100 Mbit/s. */
unsigned int soft_port_speed(const struct ibv_port_attr *attr);

/* Of this process.  A wrong SOFTVERBS_TOPOLOGY is reported once, and stands for no device. */
const struct soft_topology *soft_topology(void);

/* The same for a call that fails for that, which has a reason for its caller; see complaint.h. */
bool soft_topology_is_wrong(void);

/* The port of a number, or NULL. */
const struct soft_device_port *soft_topology_port(unsigned int number);

/* The port of this process that has the IP address, or NULL. */
const struct soft_device_port *soft_topology_find_ip(const struct sockaddr *address);

/* Whether the address chooses no device for an id that is bound to it. */
bool soft_topology_shares_ip(const struct sockaddr *address);

/*
 * The number of the port that the address leads to from this one, or SOFT_PORT_NOWHERE.  Nothing
 * passes a port that is not active.
 */
unsigned int soft_topology_route(
    const struct soft_device_port *from, const struct ibv_ah_attr *address);

/*
 * Whether something that was sent to this number arrives at the port.  In the plain topology it is
 * sent to 0: to the queue pair, whatever its address is.
 */
static inline bool
soft_device_port_is(const struct soft_device_port *port, unsigned int number)
{
	return !number || number == port->number;
}

/* The way from a port to an IP address of another. */
struct ibv_ah_attr soft_topology_address(const struct soft_device_port *from,
    const struct soft_device_port *to, const struct sockaddr *source,
    const struct sockaddr *target);

/* The index of the GID of an IP address, or 0. */
unsigned int soft_device_port_gid_index(
    const struct soft_device_port *port, const struct sockaddr *address);

/* The GID with that index, as it is now. */
union ibv_gid soft_device_port_gid(const struct soft_device_port *port, unsigned int index);

/* Bytes of the MTU in use, which a datagram may have. */
static inline uint32_t
soft_device_port_mtu(const struct soft_device_port *port)
{
	return 128u << port->attr.active_mtu;
}

static inline bool
soft_device_port_is_ethernet(const struct soft_device_port *port)
{
	return port->attr.link_layer == IBV_LINK_LAYER_ETHERNET;
}

#endif
