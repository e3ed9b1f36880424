/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a topology; topology.md describes it. */
#include "topology.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <endian.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE_MAX 65536
#define BLANKS " \t\r"
#define SHOWN 60 /* what a message shows of a word */

/* The bit 0x02 of the first byte marks a locally administered number; the OUI is its first part. */
#define GUID_FIRST 0x0253465453465430ull
#define GUID_STEP 0x100
#define VENDOR_ID (GUID_FIRST >> 40)

#define LID_LAST 0xbfff /* of one port */

#define DEVICE_FLAGS \
	(IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN | \
	    IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B | \
	    IBV_DEVICE_MEM_MGT_EXTENSIONS)

static const struct ibv_device_attr device_most = {
	.fw_ver = "1.0.0",
	.max_mr_size = SOFT_MAX_MR_SIZE,
	.page_size_cap = 0xfffffffffffff000ull,
	.vendor_id = VENDOR_ID,
	.vendor_part_id = 1,
	.hw_ver = 1,
	.max_qp = SOFT_MAX_QP,
	.max_qp_wr = SOFT_MAX_QP_WR,
	.device_cap_flags = DEVICE_FLAGS,
	.max_sge = SOFT_MAX_SGE,
	.max_sge_rd = SOFT_MAX_SGE,
	.max_cq = SOFT_MAX_CQ,
	.max_cqe = SOFT_MAX_CQE,
	.max_mr = SOFT_MAX_MR,
	.max_mw = SOFT_MAX_MW,
	.max_pd = SOFT_MAX_PD,
	.max_qp_rd_atom = SOFT_MAX_RD_ATOM,
	.max_res_rd_atom = SOFT_MAX_RD_ATOM * SOFT_MAX_QP,
	.max_qp_init_rd_atom = SOFT_MAX_RD_ATOM,
	.atomic_cap = IBV_ATOMIC_GLOB,
	.max_ah = SOFT_MAX_AH,
	.max_srq = SOFT_MAX_SRQ,
	.max_srq_wr = SOFT_MAX_QP_WR,
	.max_srq_sge = SOFT_MAX_SGE,
	.max_pkeys = 1,
	.local_ca_ack_delay = 15,
	.phys_port_cnt = 1,
};

static const struct ibv_port_attr port_most = {
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

struct reading {
	struct soft_topology *topology;
	const char *where; /* the device or port of the statement */
	char *error;
	size_t size;
};

static bool __attribute__((format(printf, 2, 3)))
read_refuse(const struct reading *reading, const char *format, ...)
{
	int length = 0;
	va_list arguments;

	if (reading->where)
		length = snprintf(reading->error, reading->size, "%.*s: ", SHOWN, reading->where);
	va_start(arguments, format);
	if (length >= 0 && (size_t)length < reading->size)
		vsnprintf(
		    reading->error + length, reading->size - (size_t)length, format, arguments);
	va_end(arguments);
	return false;
}

/* ---- values ---- */

static bool
read_number(const struct reading *reading, const char *key, const char *text, uint64_t least,
    uint64_t most, uint64_t *number)
{
	const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *end;

	errno = 0;
	*number = strtoull(text, &end, hex ? 16 : 10);
	if (!isdigit((unsigned char)*text) || *end || errno || *number < least || *number > most)
		return read_refuse(reading, "%s=%.*s: not a whole number from %llu to %llu", key,
		    SHOWN, text, (unsigned long long)least, (unsigned long long)most);
	return true;
}

/* Also as the files of the kernel have it: 0002:c903:00a1:b2c3. */
static bool
read_guid(const struct reading *reading, const char *key, const char *text, __be64 *guid)
{
	unsigned int part[4];
	uint64_t number;
	int length = 0;

	if (sscanf(text, "%4x:%4x:%4x:%4x%n", &part[0], &part[1], &part[2], &part[3], &length) ==
		4 &&
	    !text[length]) {
		number = (uint64_t)part[0] << 48 | (uint64_t)part[1] << 32 |
			 (uint64_t)part[2] << 16 | part[3];
	} else if (strchr(text, ':')) {
		return read_refuse(reading, "%s=%.*s: not a GUID", key, SHOWN, text);
	} else if (!read_number(reading, key, text, 1, UINT64_MAX, &number)) {
		return false;
	}
	if (!number)
		return read_refuse(reading, "%s=%.*s: not a GUID", key, SHOWN, text);
	*guid = htobe64(number);
	return true;
}

struct choice {
	const char *name;
	unsigned int value;
};

/* The choices end with one without a name. */
static bool
read_choice(const struct reading *reading, const char *key, const char *text,
    const struct choice *choices, unsigned int *value)
{
	char names[128] = "";
	size_t length = 0;

	for (const struct choice *c = choices; c->name; c++) {
		if (!strcmp(c->name, text)) {
			*value = c->value;
			return true;
		}
		length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
		    c == choices ? "" : ", ", c->name);
	}
	return read_refuse(reading, "%s=%.*s: not one of %s", key, SHOWN, text, names);
}

static bool
read_ip(const char *text, struct soft_ip *ip)
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
read_is_ip(const struct soft_ip *bound, const struct soft_ip *ip)
{
	return !memcmp(bound->bytes, ip->bytes, sizeof ip->bytes) &&
	       (!bound->scope || bound->scope == ip->scope);
}

/* That of the host: 127.0.0.1 or ::1. */
static bool
read_is_loopback(const struct soft_ip *ip)
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

	if (topology->count < 2 || !read_is_loopback(ip))
		return false;
	for (unsigned int i = 0; port && i < port->ip_count; i++)
		if (read_is_ip(&port->ips[i], ip))
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
				if (read_is_ip(&port->ips[i], ip))
					return port;
			if (port->any)
				any = port;
			if (!first && port->attr.state == IBV_PORT_ACTIVE)
				first = port;
		}
	return any || !read_is_loopback(ip) ? any : first;
}

/* ---- a port ---- */

static bool
read_state(const struct reading *reading, struct soft_device_port *port, const char *text)
{
	static const struct choice states[] = { { "down", IBV_PORT_DOWN },
		{ "init", IBV_PORT_INIT }, { "armed", IBV_PORT_ARMED },
		{ "active", IBV_PORT_ACTIVE }, { NULL, 0 } };
	unsigned int state;

	if (!read_choice(reading, "state", text, states, &state))
		return false;
	port->attr.state = (enum ibv_port_state)state;
	port->attr.phys_state = state == IBV_PORT_DOWN ? 2 : 5; /* polling, link up */
	return true;
}

static const struct choice mtus[] = { { "256", IBV_MTU_256 }, { "512", IBV_MTU_512 },
	{ "1024", IBV_MTU_1024 }, { "2048", IBV_MTU_2048 }, { "4096", IBV_MTU_4096 }, { NULL, 0 } };
static const struct choice speeds[] = { { "sdr", 1 }, { "ddr", 2 }, { "qdr", 4 }, { "fdr10", 8 },
	{ "fdr", 16 }, { "edr", 32 }, { "hdr", 64 }, { "ndr", 128 }, { NULL, 0 } };
static const struct choice widths[] = { { "1x", 1 }, { "2x", 16 }, { "4x", 2 }, { "8x", 4 },
	{ "12x", 8 }, { NULL, 0 } };
static const struct choice layers[] = { { "infiniband", IBV_LINK_LAYER_INFINIBAND },
	{ "ethernet", IBV_LINK_LAYER_ETHERNET }, { NULL, 0 } };

static bool
read_add_ip(const struct reading *reading, struct soft_device_port *port, const struct soft_ip *ip)
{
	if (port->ip_count == SOFT_ADDRESSES_MAX)
		return read_refuse(reading, "more than %d addresses", SOFT_ADDRESSES_MAX);
	port->ips[port->ip_count++] = *ip;
	return true;
}

static bool
read_address(const struct reading *reading, struct soft_device_port *port, const char *text)
{
	struct soft_ip ip;

	if (!strcmp(text, "any")) {
		port->any = true;
		return true;
	}
	return read_ip(text, &ip) ?
		   read_add_ip(reading, port, &ip) :
		   read_refuse(reading, "addr=%.*s: not an IP address, nor any", SHOWN, text);
}

/* The addresses that the interface has now. */
static bool
read_interface(const struct reading *reading, struct soft_device_port *port, const char *text)
{
	struct ifaddrs *all = NULL;
	bool read = true, found = false;
	struct soft_ip ip;

	if (getifaddrs(&all))
		return read_refuse(reading, "if=%.*s: %s", SHOWN, text, strerror(errno));
	for (const struct ifaddrs *one = all; one && read; one = one->ifa_next) {
		if (strcmp(one->ifa_name, text) != 0 || !one->ifa_addr ||
		    !soft_ip_of(one->ifa_addr, &ip))
			continue;
		found = true;
		read = read_add_ip(reading, port, &ip);
	}
	freeifaddrs(all);
	return read && !found ?
		   read_refuse(reading, "if=%.*s: no interface with an IP address", SHOWN, text) :
		   read;
}

static bool
read_gid(const struct reading *reading, struct soft_device_port *port, const char *text)
{
	const char *at = strchr(text, '@');
	struct soft_gid gid = { .type = IBV_GID_TYPE_ROCE_V2 };
	struct soft_ip ip;
	char address[64];

	snprintf(address, sizeof address, "%.*s", (int)(at ? at - text : SHOWN), text);
	if (at && !strcmp(at, "@v1"))
		gid.type = IBV_GID_TYPE_ROCE_V1;
	else if (at && strcmp(at, "@v2") != 0)
		return read_refuse(
		    reading, "gid=%.*s: the version of RoCE is v1 or v2", SHOWN, text);
	if (!read_ip(address, &ip))
		return read_refuse(
		    reading, "gid=%.*s: not a GID as fe80::1 or 10.0.0.1", SHOWN, text);
	if (port->attr.gid_tbl_len == SOFT_GIDS_MAX)
		return read_refuse(reading, "more than %d GIDs", SOFT_GIDS_MAX);
	memcpy(gid.gid.raw, ip.bytes, sizeof gid.gid.raw);
	port->gids[port->attr.gid_tbl_len++] = gid;
	return true;
}

/* Calls fn for each word of the list. */
static bool
read_list(const struct reading *reading, struct soft_device_port *port, char *text,
    bool (*fn)(const struct reading *, struct soft_device_port *, const char *))
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

static bool
read_port_value(
    const struct reading *reading, struct soft_device_port *port, const char *key, char *value)
{
	unsigned int choice;
	uint64_t number;
	const bool chosen =
	    !strcmp(key, "mtu")	    ? read_choice(reading, key, value, mtus, &choice) :
	    !strcmp(key, "max_mtu") ? read_choice(reading, key, value, mtus, &choice) :
	    !strcmp(key, "speed")   ? read_choice(reading, key, value, speeds, &choice) :
	    !strcmp(key, "width")   ? read_choice(reading, key, value, widths, &choice) :
	    !strcmp(key, "link")    ? read_choice(reading, key, value, layers, &choice) :
				      true;

	if (!chosen)
		return false;
	if (!strcmp(key, "state"))
		return read_state(reading, port, value);
	if (!strcmp(key, "mtu")) {
		port->attr.active_mtu = (enum ibv_mtu)choice;
	} else if (!strcmp(key, "max_mtu")) {
		port->attr.max_mtu = (enum ibv_mtu)choice;
		if (port->attr.active_mtu > port->attr.max_mtu)
			port->attr.active_mtu = port->attr.max_mtu;
	} else if (!strcmp(key, "speed")) {
		port->attr.active_speed = (uint8_t)choice;
	} else if (!strcmp(key, "width")) {
		port->attr.active_width = (uint8_t)choice;
	} else if (!strcmp(key, "link")) {
		port->attr.link_layer = (uint8_t)choice;
	} else if (!strcmp(key, "lid") || !strcmp(key, "sm_lid")) {
		if (!read_number(reading, key, value, 1, LID_LAST, &number))
			return false;
		*(strcmp(key, "lid") ? &port->attr.sm_lid : &port->attr.lid) = (uint16_t)number;
	} else if (!strcmp(key, "addr")) {
		return read_list(reading, port, value, read_address);
	} else if (!strcmp(key, "if")) {
		return read_list(reading, port, value, read_interface);
	} else if (!strcmp(key, "gid")) {
		port->gids_given = true;
		port->attr.gid_tbl_len = 0;
		return read_list(reading, port, value, read_gid);
	} else {
		return read_refuse(reading,
		    "%.*s: not one of state, speed, width, mtu, max_mtu, link, lid, sm_lid, gid, "
		    "addr, if, which a port has",
		    SHOWN, key);
	}
	return true;
}

/* ---- a device ---- */

/* The numbers of ibv_device_attr, from the least to what softverbs can do. */
static const struct field {
	const char *name;
	size_t offset, size;
	uint64_t least, most;
} fields[] = {
#define FIELD(name, least, most) \
	{ \
#name, offsetof(struct ibv_device_attr, name), \
		    sizeof((struct ibv_device_attr *)NULL)->name, least, most \
	}
#define LIMIT(name, least) FIELD(name, least, UINT64_MAX)
	LIMIT(max_mr_size, 1),
	FIELD(page_size_cap, 0x1000, UINT64_MAX),
	FIELD(vendor_id, 0, 0xffffff),
	FIELD(vendor_part_id, 0, UINT32_MAX),
	FIELD(hw_ver, 0, UINT32_MAX),
	LIMIT(max_qp, 0),
	LIMIT(max_qp_wr, 1),
	LIMIT(max_sge, 1),
	LIMIT(max_sge_rd, 1),
	LIMIT(max_cq, 0),
	LIMIT(max_cqe, 1),
	LIMIT(max_mr, 0),
	LIMIT(max_pd, 0),
	LIMIT(max_qp_rd_atom, 0),
	LIMIT(max_ee_rd_atom, 0),
	LIMIT(max_res_rd_atom, 0),
	LIMIT(max_qp_init_rd_atom, 0),
	LIMIT(max_ee_init_rd_atom, 0),
	LIMIT(max_ee, 0),
	LIMIT(max_rdd, 0),
	LIMIT(max_mw, 0),
	LIMIT(max_raw_ipv6_qp, 0),
	LIMIT(max_raw_ethy_qp, 0),
	LIMIT(max_mcast_grp, 0),
	LIMIT(max_mcast_qp_attach, 0),
	LIMIT(max_total_mcast_qp_attach, 0),
	LIMIT(max_ah, 0),
	LIMIT(max_fmr, 0),
	LIMIT(max_map_per_fmr, 0),
	LIMIT(max_srq, 0),
	LIMIT(max_srq_wr, 1),
	LIMIT(max_srq_sge, 1),
	LIMIT(max_pkeys, 1),
	FIELD(local_ca_ack_delay, 0, 31),
};

static uint64_t
read_field(const struct ibv_device_attr *attr, const struct field *field)
{
	uint64_t wide = 0;
	uint32_t word = 0;
	uint16_t half = 0;
	const char *place = (const char *)attr + field->offset;

	if (field->size == sizeof wide)
		return memcpy(&wide, place, sizeof wide), wide;
	if (field->size == sizeof word)
		return memcpy(&word, place, sizeof word), word;
	if (field->size == sizeof half)
		return memcpy(&half, place, sizeof half), half;
	return *(const uint8_t *)place;
}

static void
read_set_field(struct ibv_device_attr *attr, const struct field *field, uint64_t value)
{
	const uint32_t word = (uint32_t)value;
	const uint16_t half = (uint16_t)value;
	char *place = (char *)attr + field->offset;

	if (field->size == sizeof value)
		memcpy(place, &value, sizeof value);
	else if (field->size == sizeof word)
		memcpy(place, &word, sizeof word);
	else if (field->size == sizeof half)
		memcpy(place, &half, sizeof half);
	else
		*(uint8_t *)place = (uint8_t)value;
}

static bool
read_firmware(const struct reading *reading, struct soft_device *device, const char *text)
{
	const size_t length = strlen(text);

	for (size_t i = 0; i < length; i++)
		if (!isgraph((unsigned char)text[i]))
			return read_refuse(reading, "fw_ver: not printable");
	if (!length || length >= sizeof device->attr.fw_ver)
		return read_refuse(
		    reading, "fw_ver: not 1 to %zu characters", sizeof device->attr.fw_ver - 1);
	memset(device->attr.fw_ver, 0, sizeof device->attr.fw_ver);
	memcpy(device->attr.fw_ver, text, length);
	return true;
}

static bool
read_device_value(
    const struct reading *reading, struct soft_device *device, const char *key, const char *value)
{
	static const struct choice atomics[] = { { "none", IBV_ATOMIC_NONE },
		{ "hca", IBV_ATOMIC_HCA }, { "glob", IBV_ATOMIC_GLOB }, { NULL, 0 } };
	struct ibv_device_attr *attr = &device->attr;
	unsigned int choice;
	uint64_t number;

	if (!strcmp(key, "ports")) {
		if (!read_number(reading, key, value, 1, SOFT_DEVICE_PORTS_MAX, &number))
			return false;
		attr->phys_port_cnt = (uint8_t)number;
		return true;
	}
	if (!strcmp(key, "fw_ver"))
		return read_firmware(reading, device, value);
	if (!strcmp(key, "node_guid"))
		return read_guid(reading, key, value, &attr->node_guid);
	if (!strcmp(key, "sys_image_guid"))
		return read_guid(reading, key, value, &attr->sys_image_guid);
	if (!strcmp(key, "atomic_cap")) {
		if (!read_choice(reading, key, value, atomics, &choice))
			return false;
		attr->atomic_cap = (enum ibv_atomic_cap)choice;
		return true;
	}
	if (!strcmp(key, "device_cap_flags")) {
		if (!read_number(reading, key, value, 0, UINT32_MAX, &number))
			return false;
		if (number & ~(uint64_t)DEVICE_FLAGS)
			return read_refuse(reading, "%s=%.*s: softverbs has the flags 0x%x only",
			    key, SHOWN, value, (unsigned int)DEVICE_FLAGS);
		attr->device_cap_flags = (unsigned int)number;
		return true;
	}
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		const struct field *field = &fields[i];
		const uint64_t can = read_field(&device_most, field);

		if (strcmp(field->name, key) != 0)
			continue;
		if (!read_number(reading, key, value, field->least < can ? field->least : can,
			field->most == UINT64_MAX &&
				field->offset != offsetof(struct ibv_device_attr, page_size_cap) ?
			    can :
			    field->most,
			&number))
			return false;
		read_set_field(attr, field, number);
		return true;
	}
	return read_refuse(
	    reading, "%.*s: neither \"ports\" nor a field of ibv_device_attr", SHOWN, key);
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

/* ---- statements ---- */

static struct soft_device *
read_add_device(const struct reading *reading, const char *name, unsigned int ports)
{
	struct soft_topology *topology = reading->topology;
	struct soft_device *device;

	for (unsigned int i = 0; i < topology->count; i++)
		if (!strcmp(topology->devices[i].name, name))
			return &topology->devices[i];
	if (topology->count == SOFT_DEVICES_MAX) {
		(void)read_refuse(reading, "more than %d devices", SOFT_DEVICES_MAX);
		return NULL;
	}
	device = &topology->devices[topology->count++];
	memset(device, 0, sizeof *device);
	memcpy(device->name, name, strlen(name));
	device->attr = device_most;
	device->attr.phys_port_cnt = (uint8_t)ports;
	for (int i = 0; i < SOFT_DEVICE_PORTS_MAX; i++)
		device->ports[i].attr = port_most;
	return device;
}

static bool
read_name_is_good(const char *name)
{
	const size_t length = strlen(name);

	if (!isalpha((unsigned char)*name) || length >= SOFT_DEVICE_NAME_SIZE)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i]))
			return false;
	return true;
}

/* "2x2", or "2": true with the error left empty if it is not of this form. */
static bool
read_counts(const struct reading *reading, const char *word, bool *is_counts)
{
	unsigned long devices, ports = 1;
	char name[SOFT_DEVICE_NAME_SIZE], *end;

	*is_counts = isdigit((unsigned char)*word);
	if (!*is_counts)
		return true;
	devices = strtoul(word, &end, 10);
	if (*end == 'x' && isdigit((unsigned char)end[1]))
		ports = strtoul(end + 1, &end, 10);
	if (*end || !devices || devices > SOFT_DEVICES_MAX || !ports ||
	    ports > SOFT_DEVICE_PORTS_MAX)
		return read_refuse(reading,
		    "not DEVICESxPORTS with up to %d devices of up to %d ports", SOFT_DEVICES_MAX,
		    SOFT_DEVICE_PORTS_MAX);
	for (unsigned int i = 0; i < devices; i++) {
		snprintf(name, sizeof name, "soft%u", i);
		if (!read_add_device(reading, name, (unsigned int)ports))
			return false;
	}
	return true;
}

/* One key of a device, or of a port of it; 0 is the device itself. */
static bool
read_value(const struct reading *reading, struct soft_device *device, unsigned int port,
    const char *key, const char *value)
{
	char *copy;
	bool read;

	if (!port)
		return read_device_value(reading, device, key, value);
	copy = strdup(value); /* lists are cut */
	if (!copy)
		return read_refuse(reading, "no memory");
	read = read_port_value(reading, &device->ports[port - 1], key, copy);
	free(copy);
	return read;
}

/* The port behind the slash of "soft0/2": its number, 0 for all of them, or -1. */
static int
read_port_name(const struct reading *reading, const char *text)
{
	uint64_t number;

	if (!strcmp(text, "*"))
		return 0;
	if (!read_number(reading, "port", text, 1, SOFT_DEVICE_PORTS_MAX, &number))
		return -1;
	return (int)number;
}

/* "soft0 ports=2 ...", "soft0/2 state=down ...", and the same of all devices, or ports: "*". */
static bool
read_statement(struct reading *reading, char *text)
{
	struct soft_topology *topology = reading->topology;
	char *save, *word = strtok_r(text, BLANKS, &save), *slash, *equals;
	unsigned int first = 0, last;
	bool is_counts, all;
	int port = -1;

	if (!word)
		return true;
	reading->where = word;
	if (!read_counts(reading, word, &is_counts))
		return false;
	if (is_counts) {
		word = strtok_r(NULL, BLANKS, &save);
		return !word || read_refuse(reading,
				    "%.*s: what follows is another statement; put "
				    "a semicolon before it",
				    SHOWN, word);
	}
	/* The name stays whole in messages. */
	slash = strchr(word, '/');
	if (slash) {
		port = read_port_name(reading, slash + 1);
		if (port < 0)
			return false;
		*slash = '\0';
	}
	all = !strcmp(word, "*");
	if (!all) {
		struct soft_device *device;

		if (!read_name_is_good(word)) {
			if (slash)
				*slash = '/';
			return read_refuse(reading,
			    "not a name of a device, which has up to %d "
			    "letters, digits, _, - and . after a letter",
			    SOFT_DEVICE_NAME_SIZE - 1);
		}
		device = read_add_device(reading, word, 1);
		if (!device)
			return false;
		if (port > device->attr.phys_port_cnt)
			device->attr.phys_port_cnt = (uint8_t)port;
		first = (unsigned int)(device - topology->devices);
	}
	if (slash)
		*slash = '/';
	last = all ? topology->count : first + 1;
	if (first == last)
		return read_refuse(reading, "no device is named before this");
	while ((word = strtok_r(NULL, BLANKS, &save))) {
		equals = strchr(word, '=');
		if (!equals || !equals[1])
			return read_refuse(reading, "%.*s: not KEY=VALUE", SHOWN, word);
		*equals = '\0';
		for (unsigned int d = first; d < last; d++) {
			struct soft_device *device = &topology->devices[d];
			const unsigned int ports = device->attr.phys_port_cnt;

			if (port < 0 && !read_value(reading, device, 0, word, equals + 1))
				return false;
			for (unsigned int p = 1; port >= 0 && p <= ports; p++)
				if ((!port || p == (unsigned int)port) &&
				    !read_value(reading, device, p, word, equals + 1))
					return false;
		}
	}
	return true;
}

/* ---- what was left open ---- */

static __be64
read_guid_plus(__be64 guid, unsigned int more)
{
	return htobe64(be64toh(guid) + more);
}

/* The interface that has the address; all of 127.0.0.0/8 is of the loopback interface. */
static uint32_t
read_find_interface(const struct ifaddrs *all, const uint8_t bytes[16])
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
read_make_gids(const struct soft_topology *topology, struct soft_device_port *port, __be64 guid)
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
read_finish_gids(const struct soft_topology *topology, struct soft_device_port *port, __be64 guid,
    const struct ifaddrs *interfaces)
{
	const bool ethernet = soft_device_port_is_ethernet(port);

	if (!port->gids_given)
		read_make_gids(topology, port, guid);
	for (int i = 0; i < port->attr.gid_tbl_len; i++) {
		struct soft_gid *gid = &port->gids[i];

		if (!ethernet)
			gid->type = IBV_GID_TYPE_IB;
		else if (!port->gids_given)
			gid->type = IBV_GID_TYPE_ROCE_V2;
		/* InfiniBand has no network interface in the table. */
		gid->interface = ethernet ? read_find_interface(interfaces, gid->gid.raw) : 0;
	}
}

static void
read_finish_port(const struct soft_topology *topology, struct soft_device_port *port,
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
	read_finish_gids(
	    topology, port, read_guid_plus(device->attr.node_guid, port->port - 1u), interfaces);
}

static void
read_finish_device(
    struct soft_topology *topology, unsigned int index, const struct ifaddrs *interfaces)
{
	struct soft_device *device = &topology->devices[index];
	struct ibv_device_attr *attr = &device->attr;

	if (!attr->node_guid)
		attr->node_guid = htobe64(GUID_FIRST + index * GUID_STEP);
	if (!attr->sys_image_guid)
		attr->sys_image_guid = attr->node_guid;
	for (unsigned int i = 0; i < attr->phys_port_cnt; i++) {
		struct soft_device_port *port = &device->ports[i];

		port->port = (uint8_t)(i + 1);
		port->device = (uint8_t)index;
		port->number = (uint16_t)(index * SOFT_DEVICE_PORTS_MAX + i + 1);
		read_finish_port(topology, port, interfaces);
	}
}

/* One port has the addresses that no other has: the first, if none is chosen and it has none. */
static bool
read_choose_any(struct reading *reading)
{
	struct soft_topology *topology = reading->topology;
	struct soft_device_port *first = &topology->devices[0].ports[0];
	unsigned int count = 0;

	for (unsigned int d = 0; d < topology->count; d++)
		for (unsigned int p = 0; p < topology->devices[d].attr.phys_port_cnt; p++)
			count += topology->devices[d].ports[p].any;
	if (count > 1)
		return read_refuse(reading, "addr=any is for one port");
	if (!count && !first->ip_count)
		first->any = true;
	return true;
}

static bool
read_ports_differ(
    struct reading *reading, const struct soft_device_port *a, const struct soft_device_port *b)
{
	const struct soft_topology *topology = reading->topology;
	const char *one = topology->devices[a->device].name,
		   *other = topology->devices[b->device].name;

	for (unsigned int i = 0; i < a->ip_count; i++)
		for (unsigned int j = 0; j < b->ip_count; j++)
			if (!memcmp(&a->ips[i], &b->ips[j], sizeof a->ips[i]))
				return read_refuse(reading, "%s/%u and %s/%u have the same address",
				    one, a->port, other, b->port);
	if (a->attr.link_layer != b->attr.link_layer)
		return true;
	if (a->attr.lid && a->attr.lid == b->attr.lid)
		return read_refuse(reading, "%s/%u and %s/%u have the same LID %u", one, a->port,
		    other, b->port, a->attr.lid);
	for (int i = 0; i < a->attr.gid_tbl_len; i++)
		for (int j = 0; j < b->attr.gid_tbl_len; j++)
			if (!memcmp(&a->gids[i].gid, &b->gids[j].gid, sizeof a->gids[i].gid))
				return read_refuse(reading, "%s/%u and %s/%u have the same GID",
				    one, a->port, other, b->port);
	return true;
}

static bool
read_all_differ(struct reading *reading)
{
	const struct soft_topology *topology = reading->topology;
	const struct soft_device_port *ports[SOFT_PORT_NUMBERS];
	unsigned int count = 0;

	for (unsigned int d = 0; d < topology->count; d++)
		for (unsigned int p = 0; p < topology->devices[d].attr.phys_port_cnt; p++)
			ports[count++] = &topology->devices[d].ports[p];
	for (unsigned int a = 0; a < count; a++) {
		if (ports[a]->attr.active_mtu > ports[a]->attr.max_mtu)
			return read_refuse(reading, "%s/%u: mtu is more than max_mtu",
			    topology->devices[ports[a]->device].name, ports[a]->port);
		for (unsigned int b = 0; b < a; b++)
			if (!read_ports_differ(reading, ports[b], ports[a]))
				return false;
	}
	return true;
}

static bool
read_finish(struct reading *reading)
{
	struct soft_topology *topology = reading->topology;
	struct ifaddrs *interfaces = NULL;

	reading->where = NULL;
	if (!topology->count)
		return read_refuse(reading, "no device");
	if (!read_choose_any(reading))
		return false;
	if (!topology->plain)
		(void)getifaddrs(&interfaces); /* without them the table names no interface */
	for (unsigned int i = 0; i < topology->count; i++)
		read_finish_device(topology, i, interfaces);
	if (interfaces)
		freeifaddrs(interfaces);
	return read_all_differ(reading);
}

bool
soft_topology_read(const char *text, struct soft_topology *topology, char *error, size_t size)
{
	struct reading reading = { topology, NULL, error, size };
	char *copy, *statement, *next, *comment;
	bool read = true;

	*error = '\0';
	topology->count = 0;
	topology->plain = !strcmp(text, "default");
	if (topology->plain)
		return read_add_device(&reading, "soft0", 1) && read_finish(&reading);
	if (strlen(text) >= TEXT_SIZE_MAX)
		return read_refuse(&reading, "no text of less than 64 KiB");
	copy = strdup(text);
	if (!copy)
		return read_refuse(&reading, "no memory");
	/* Comments first: they may have semicolons. */
	for (comment = copy; (comment = strchr(comment, '#'));)
		while (*comment && *comment != '\n')
			*comment++ = ' ';
	for (statement = copy; statement && read; statement = next) {
		next = strpbrk(statement, ";\n");
		if (next)
			*next++ = '\0';
		read = read_statement(&reading, statement);
	}
	read = read && read_finish(&reading);
	free(copy);
	return read;
}
