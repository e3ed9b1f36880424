/* SPDX-License-Identifier: BSD-3-Clause */
/* What is set of a device: the fields of ibv_device_attr. */
#include "topology_text.h"

#include <ctype.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#define DEVICE_FLAGS \
	(IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN | \
	    IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B | \
	    IBV_DEVICE_MEM_MGT_EXTENSIONS)

const struct ibv_device_attr soft_device_most = {
	.fw_ver = "1.0.0",
	.max_mr_size = SOFT_MAX_MR_SIZE,
	.page_size_cap = 0xfffffffffffff000ull,
	.vendor_id = SOFT_VENDOR_ID,
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

/* Also as the files of the kernel have it: 0002:c903:00a1:b2c3. */
static bool
device_guid(const struct soft_reading *reading, const char *key, const char *text, __be64 *guid)
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
		return soft_topology_refuse(reading, "%s=%.*s: not a GUID", key, SOFT_SHOWN, text);
	} else if (!soft_topology_number(reading, key, text, 1, UINT64_MAX, &number)) {
		return false;
	}
	if (!number)
		return soft_topology_refuse(reading, "%s=%.*s: not a GUID", key, SOFT_SHOWN, text);
	*guid = htobe64(number);
	return true;
}

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
device_field(const struct ibv_device_attr *attr, const struct field *field)
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
device_set_field(struct ibv_device_attr *attr, const struct field *field, uint64_t value)
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
device_firmware(const struct soft_reading *reading, struct soft_device *device, const char *text)
{
	const size_t length = strlen(text);

	for (size_t i = 0; i < length; i++)
		if (!isgraph((unsigned char)text[i]))
			return soft_topology_refuse(reading, "fw_ver: not printable");
	if (!length || length >= sizeof device->attr.fw_ver)
		return soft_topology_refuse(
		    reading, "fw_ver: not 1 to %zu characters", sizeof device->attr.fw_ver - 1);
	memset(device->attr.fw_ver, 0, sizeof device->attr.fw_ver);
	memcpy(device->attr.fw_ver, text, length);
	return true;
}

bool
soft_topology_device_value(const struct soft_reading *reading, struct soft_device *device,
    const char *key, const char *value)
{
	static const struct soft_choice atomics[] = { { "none", IBV_ATOMIC_NONE },
		{ "hca", IBV_ATOMIC_HCA }, { "glob", IBV_ATOMIC_GLOB }, { NULL, 0 } };
	struct ibv_device_attr *attr = &device->attr;
	unsigned int choice;
	uint64_t number;

	if (!strcmp(key, "ports")) {
		if (!soft_topology_number(reading, key, value, 1, SOFT_DEVICE_PORTS_MAX, &number))
			return false;
		attr->phys_port_cnt = (uint8_t)number;
		return true;
	}
	if (!strcmp(key, "fw_ver"))
		return device_firmware(reading, device, value);
	if (!strcmp(key, "node_guid"))
		return device_guid(reading, key, value, &attr->node_guid);
	if (!strcmp(key, "sys_image_guid"))
		return device_guid(reading, key, value, &attr->sys_image_guid);
	if (!strcmp(key, "atomic_cap")) {
		if (!soft_topology_choice(reading, key, value, atomics, &choice))
			return false;
		attr->atomic_cap = (enum ibv_atomic_cap)choice;
		return true;
	}
	if (!strcmp(key, "device_cap_flags")) {
		if (!soft_topology_number(reading, key, value, 0, UINT32_MAX, &number))
			return false;
		if (number & ~(uint64_t)DEVICE_FLAGS)
			return soft_topology_refuse(reading,
			    "%s=%.*s: softverbs has the flags 0x%x only", key, SOFT_SHOWN, value,
			    (unsigned int)DEVICE_FLAGS);
		attr->device_cap_flags = (unsigned int)number;
		return true;
	}
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		const struct field *field = &fields[i];
		const uint64_t can = device_field(&soft_device_most, field);

		if (strcmp(field->name, key) != 0)
			continue;
		if (!soft_topology_number(reading, key, value,
			field->least < can ? field->least : can,
			field->most == UINT64_MAX &&
				field->offset != offsetof(struct ibv_device_attr, page_size_cap) ?
			    can :
			    field->most,
			&number))
			return false;
		device_set_field(attr, field, number);
		return true;
	}
	return soft_topology_refuse(
	    reading, "%.*s: neither \"ports\" nor a field of ibv_device_attr", SOFT_SHOWN, key);
}
