/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"
#include "cancel.h"
#include "changes.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/*
 * Libraries for particular adapters read the words after an ibv_device to see whether it is
 * theirs; with zeroes there it is not.
 */
static struct {
	struct ibv_device ibv;
	uint64_t behind[8];
} device = {
	.ibv = {
		.node_type = IBV_NODE_CA,
		.transport_type = IBV_TRANSPORT_IB,
		.name = "soft0",
		.dev_name = "uverbs-soft0",
		.dev_path = "/nonexistent/softverbs/uverbs-soft0",
		.ibdev_path = "/nonexistent/softverbs/soft0",
	},
};

/* EUI-64 of the device and of its port, in network order. */
static __be64
device_guid(void)
{
	/* The bit 0x02 of the first byte marks a locally administered number. */
	return htobe64(0x0253465453465430ull);
}

/* Entry 0 is the link-local address of the port, entry 1 the loopback address of the host. */
static int
device_query_gid(uint32_t port, uint32_t index, union ibv_gid *gid)
{
	static const uint8_t loopback[16] = { [10] = 0xff, [11] = 0xff, 127, 0, 0, 1 };

	if (port != SOFT_PORT || index >= SOFT_GID_TABLE)
		return EINVAL;
	if (index == 0) {
		gid->global.subnet_prefix = htobe64(soft_port_now().prefix);
		gid->global.interface_id = device_guid();
	} else {
		memcpy(gid->raw, loopback, sizeof gid->raw);
	}
	return 0;
}

static int
device_gid_entry(uint32_t port, uint32_t index, struct ibv_gid_entry *out, size_t size)
{
	struct ibv_gid_entry entry = {
		.gid_index = index, .port_num = port, .gid_type = IBV_GID_TYPE_IB
	};
	int r = device_query_gid(port, index, &entry.gid);

	if (!r)
		memcpy(out, &entry, size < sizeof entry ? size : sizeof entry);
	return r;
}

struct ibv_device *
soft_device(void)
{
	return &device.ibv;
}

struct ibv_device **
soft_ibv_get_device_list(int *num_devices)
{
	SOFT_UNCANCELLED;
	struct ibv_device **list = calloc(2, sizeof *list);

	if (num_devices)
		*num_devices = list ? 1 : 0;
	if (list)
		list[0] = &device.ibv;
	return list;
}

void
ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *
ibv_get_device_name(struct ibv_device *dev)
{
	return dev->name;
}

int
ibv_get_device_index(struct ibv_device *dev)
{
	(void)dev;
	return -1; /* no kernel device */
}

__be64
ibv_get_device_guid(struct ibv_device *dev)
{
	(void)dev;
	return device_guid();
}

void
soft_device_query(struct ibv_device_attr *attr)
{
	*attr = (struct ibv_device_attr){
		.fw_ver = "1.0.0",
		.node_guid = device_guid(),
		.sys_image_guid = device_guid(),
		.max_mr_size = SOFT_MAX_MR_SIZE,
		.page_size_cap = 0xfffffffffffff000ull,
		.vendor_id = 0,
		.vendor_part_id = 1,
		.hw_ver = 1,
		.max_qp = SOFT_MAX_QP,
		.max_qp_wr = SOFT_MAX_QP_WR,
		.device_cap_flags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_SYS_IMAGE_GUID |
				    IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SRQ_RESIZE |
				    IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B |
				    IBV_DEVICE_MEM_MGT_EXTENSIONS,
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
}

/* What is left out, the device does not have. */
void
soft_device_query_ex(struct ibv_device_attr_ex *attr)
{
	*attr = (struct ibv_device_attr_ex){
		.completion_timestamp_mask = UINT64_MAX,
		.hca_core_clock = SOFT_SECOND / 1000, /* kHz of a clock of nanoseconds */
		.cq_mod_caps = { .max_cq_count = UINT16_MAX, .max_cq_period = UINT16_MAX },
		.phys_port_cnt_ex = 1,
	};
	soft_device_query(&attr->orig_attr);
	attr->device_cap_flags_ex = attr->orig_attr.device_cap_flags;
}

int
soft_ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	soft_device_query(attr);
	return 0;
}

int
soft_port_query(uint8_t port, struct ibv_port_attr *out, size_t length)
{
	const struct soft_port_now now = soft_port_now();
	const struct ibv_port_attr attr = {
		.state = now.down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = IBV_MTU_4096,
		.gid_tbl_len = SOFT_GID_TABLE,
		.port_cap_flags = IBV_PORT_CM_SUP,
		.max_msg_sz = SOFT_MAX_MSG,
		.pkey_tbl_len = 1,
		.lid = now.lid,
		.sm_lid = now.sm_lid,
		.max_vl_num = 1,
		.subnet_timeout = 18,
		.active_width = 2,		/* 4X */
		.active_speed = 32,		/* EDR */
		.phys_state = now.down ? 2 : 5, /* polling; link up */
		.link_layer = IBV_LINK_LAYER_INFINIBAND,
	};

	if (port != SOFT_PORT)
		return EINVAL;
	memcpy(out, &attr, length < sizeof attr ? length : sizeof attr);
	return 0;
}

/*
 * Programs that were built for an older, shorter structure pass one that ends before
 * port_cap_flags2.
 */
int
soft_ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	(void)context;
	return soft_port_query(
	    port, (struct ibv_port_attr *)attr, offsetof(struct ibv_port_attr, port_cap_flags2));
}

int
soft_ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	int r;

	(void)context;
	r = device_query_gid(port, (uint32_t)index, gid);
	if (!r)
		return 0;
	errno = r;
	return -1;
}

int
soft__ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
    struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	SOFT_UNCANCELLED;

	(void)context;
	return flags ? EOPNOTSUPP : device_gid_entry(port, index, entry, entry_size);
}

ssize_t
soft__ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max,
    uint32_t flags, size_t entry_size)
{
	SOFT_UNCANCELLED;

	(void)context;
	if (flags)
		return -EOPNOTSUPP;
	if (max < SOFT_GID_TABLE)
		return -EINVAL;
	for (uint32_t i = 0; i < SOFT_GID_TABLE; i++)
		(void)device_gid_entry(SOFT_PORT, i,
		    (struct ibv_gid_entry *)((char *)entries + i * entry_size), entry_size);
	return SOFT_GID_TABLE;
}

int
soft_ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	(void)context;
	if (port != SOFT_PORT || index) {
		errno = EINVAL;
		return -1;
	}
	*pkey = htobe16(soft_port_now().pkey);
	return 0;
}

int
soft_ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 pkey)
{
	(void)context;
	if (port == SOFT_PORT && pkey == htobe16(soft_port_now().pkey))
		return 0;
	errno = EINVAL;
	return -1;
}

/* The device pins no pages, so a copy-on-write after fork() does no harm. */
int
soft_ibv_fork_init(void)
{
	return 0;
}

int
ibv_dontfork_range(void *base, size_t size)
{
	(void)base, (void)size;
	return 0;
}

int
ibv_dofork_range(void *base, size_t size)
{
	(void)base, (void)size;
	return 0;
}

enum ibv_fork_status
ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}
