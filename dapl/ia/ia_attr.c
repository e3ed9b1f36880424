/* SPDX-License-Identifier: BSD-3-Clause */
/* What dat_ia_query() returns about an adapter and its provider */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_upcall.h>

#include "dapl/ia/ia.h"

#define PROVIDER_MAJOR 2
#define PROVIDER_MINOR 0
#define NAMES_MAX 16
#define EVD_STREAMS \
	6 /* kinds of events that may share an EVD, by the index that udat.h gives them */
#define GUID_TEXT 24 /* 16 digits, and room */
#define GID_TEXT 48  /* two of these and a colon */
#define NUMBER_TEXT 16
#define MTU_UNKNOWN 1024

/* The texts of the attributes that have only a name; they live as long as the IA. */
struct dapl_ia_names {
	int count;
	DAT_NAMED_ATTR attrs[NAMES_MAX];
	char mtu[NUMBER_TEXT], guid[GUID_TEXT], gid[GID_TEXT], port[NUMBER_TEXT];
	char device[IBV_SYSFS_NAME_MAX];
};

static void
ia_add(struct dapl_ia_names *n, const char *name, const char *value)
{
	n->attrs[n->count++] = (DAT_NAMED_ATTR){ .name = name, .value = value };
}

/* No attribute of the device shows it: try it. */
static bool
ia_makes_zero_based(const struct dapl_ia *ia)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ibv_pd *pd = ibv_alloc_pd(ia->verbs);
	void *memory = NULL;
	struct ibv_mr *mr = NULL;
	bool can = true;

	if (pd && !posix_memalign(&memory, page, page)) {
		errno = 0;
		mr = ibv_reg_mr_iova(pd, memory, page, 0, IBV_ACCESS_LOCAL_WRITE);
		can = mr || (errno != EINVAL && errno != EOPNOTSUPP);
	}
	if (mr)
		ibv_dereg_mr(mr);
	free(memory);
	if (pd)
		ibv_dealloc_pd(pd);
	return can;
}

int
dapl_ia_names_create(struct dapl_ia *ia)
{
	struct dapl_ia_names *n = os_alloc(1, sizeof *n);
	const struct ibv_port_attr *port = &ia->port;
	uint8_t number = ia->id->port_num ? ia->id->port_num : 1;
	const char *atomics = ia->device.atomic_cap != IBV_ATOMIC_NONE ? "TRUE" : "FALSE";
	union ibv_gid gid;
	bool active;

	if (!n)
		return -ENOMEM;
	memset(&gid, 0, sizeof gid);
	(void)ibv_query_gid(ia->verbs, number, 0, &gid);
	active = port->state == IBV_PORT_ACTIVE;
	snprintf(n->mtu, sizeof n->mtu, "%d",
	    port->active_mtu ? 128 << port->active_mtu : MTU_UNKNOWN); /* 1: 256, 2: 512, ... */
	snprintf(n->guid, sizeof n->guid, "%016llx",
	    (unsigned long long)be64toh(ibv_get_device_guid(ia->verbs->device)));
	snprintf(n->gid, sizeof n->gid, "%016llx:%016llx",
	    (unsigned long long)be64toh(gid.global.subnet_prefix),
	    (unsigned long long)be64toh(gid.global.interface_id));
	snprintf(n->port, sizeof n->port, "%u", number);
	snprintf(n->device, sizeof n->device, "%s", ibv_get_device_name(ia->verbs->device));

	ia_add(n, "DAT_EXTENSION_INTERFACE", "TRUE");
	ia_add(n, DAT_REARM_ATTR_UPCALLS, "TRUE");
	ia_add(n, "DAT_IB_TRANSPORT_MTU", n->mtu);
	ia_add(n, "DAT_IB_RDMA_READ", "TRUE");
	ia_add(n, DAT_IB_ATTR_FETCH_AND_ADD, atomics);
	ia_add(n, DAT_IB_ATTR_CMP_AND_SWAP, atomics);
	ia_add(n, DAT_IB_ATTR_IMMED_DATA, dapl_ia_is_iwarp(ia) ? "FALSE" : "TRUE");
	ia_add(n, DAT_IB_ATTR_COUNTERS, "TRUE");
	ia_add(n, DAT_IB_ATTR_UD, dapl_ia_has_datagrams(ia) ? "TRUE" : "FALSE");
	ia_add(n, "DAT_IB_PROVIDER_NAME", "rearm");
	ia_add(n, "DAT_IB_DEVICE_NAME", n->device);
	ia_add(n, "DAT_IB_CONNECTIVITY_MODE", "RDMA_CM");
	ia_add(n, "DAT_IB_NODE_GUID", n->guid);
	ia_add(n, "DAT_IB_GID", n->gid);
	ia_add(n, "DAT_IB_PORT_STATUS", active ? "PORT_ACTIVE" : "PORT_DOWN");
	ia_add(n, "DAT_IB_PORT_NUMBER", n->port);
	ia->names = n;
	ia->zero_based = ia_makes_zero_based(ia);
	return 0;
}

void
dapl_ia_names_free(struct dapl_ia *ia)
{
	os_free(ia->names);
	ia->names = NULL;
}

/* What n endpoints can have together, if each has `each`. */
static DAT_COUNT
ia_times(int n, int each)
{
	const int64_t all = (int64_t)n * each;

	return all < INT32_MAX ? (DAT_COUNT)all : INT32_MAX;
}

static void
ia_version(const char *text, DAT_UINT32 *major, DAT_UINT32 *minor)
{
	unsigned int a = 0, b = 0;

	(void)sscanf(text, "%u.%u", &a, &b);
	*major = a;
	*minor = b;
}

void
dapl_ia_get_attr(const struct dapl_ia *ia, DAT_IA_ATTR *attr)
{
	const struct ibv_device_attr *dev = &ia->device;

	*attr = (DAT_IA_ATTR){
		.hardware_version_major = dev->hw_ver,
		.ia_address_ptr = (DAT_IA_ADDRESS_PTR)(uintptr_t)&ia->address,
		.max_eps = dev->max_qp,
		.max_dto_per_ep = dev->max_qp_wr,
		.max_rdma_read_per_ep_in = dev->max_qp_rd_atom,
		.max_rdma_read_per_ep_out = dev->max_qp_init_rd_atom,
		.max_evds = dev->max_cq,
		.max_evd_qlen = dev->max_cqe,
		.max_iov_segments_per_dto = dapl_ia_max_iov(ia),
		.max_lmrs = dev->max_mr,
		.max_lmr_block_size =
		    dev->max_mr_size > UINT32_MAX ? UINT32_MAX : (DAT_SEG_LENGTH)dev->max_mr_size,
		.max_lmr_virtual_address = UINTPTR_MAX,
		.max_pzs = dev->max_pd,
		.max_message_size = dapl_ia_max_message(ia),
		.max_rdma_size = dapl_ia_max_message(ia),
		.max_rmrs = dapl_ia_has_windows(ia) ? dev->max_mw : 0,
		.max_rmr_target_address = dapl_ia_has_windows(ia) ? UINTPTR_MAX : 0,
		.max_srqs = dapl_ia_max_srq_wr(ia) ? dev->max_srq : 0,
		.max_ep_per_srq = dapl_ia_max_srq_wr(ia) ? dev->max_qp : 0,
		.max_recv_per_srq = dapl_ia_max_srq_wr(ia),
		.max_iov_segments_per_rdma_read = dapl_ia_max_read_iov(ia),
		.max_iov_segments_per_rdma_write = dapl_ia_max_iov(ia),
		.max_rdma_read_in = dev->max_res_rd_atom,
		.max_rdma_read_out = ia_times(dev->max_qp, dev->max_qp_init_rd_atom),
		/* The limit for all endpoints may be lower than the limit for one. */
		.max_rdma_read_per_ep_in_guaranteed =
		    dev->max_res_rd_atom >= ia_times(dev->max_qp, dev->max_qp_rd_atom) ? DAT_TRUE :
											 DAT_FALSE,
		.max_rdma_read_per_ep_out_guaranteed = DAT_TRUE,
		.zb_supported = ia->zero_based ? DAT_TRUE : DAT_FALSE,
		.extension_supported = DAT_EXTENSION_IB,
		.extension_version = DAT_IB_EXTENSION_VERSION,
	};
	snprintf(attr->adapter_name, sizeof attr->adapter_name, "%s",
	    ibv_get_device_name(ia->verbs->device));
	snprintf(attr->vendor_name, sizeof attr->vendor_name, "0x%x", dev->vendor_id);
	ia_version(dev->fw_ver, &attr->firmware_version_major, &attr->firmware_version_minor);
}

static DAT_RMR_SCOPE
ia_rmr_scope(const struct dapl_ia *ia)
{
	if (!dapl_ia_has_windows_of_type_2(ia))
		return DAT_RMR_SCOPE_PZ;
	return dapl_ia_has_windows_of_type_1(ia) ? DAT_RMR_SCOPE_ANY : DAT_RMR_SCOPE_EP;
}

void
dapl_ia_get_provider_attr(const struct dapl_ia *ia, DAT_PROVIDER_ATTR *attr)
{
	const struct dapl_provider *p = ia->provider;
	const DAT_BOOLEAN shared = dapl_ia_max_srq_wr(ia) ? DAT_TRUE : DAT_FALSE;
	const DAT_PROVIDER_ATTR all = {
		.provider_version_major = PROVIDER_MAJOR,
		.provider_version_minor = PROVIDER_MINOR,
		/*
		 * By these two members and is_thread_safe the registry finds the record of dat.conf
		 * again.
		 */
		.dapl_version_major = p->info.dapl_version_major,
		.dapl_version_minor = p->info.dapl_version_minor,
		.is_thread_safe = p->info.is_thread_safe,
		.lmr_mem_types_supported = (DAT_MEM_TYPE)(DAT_MEM_TYPE_VIRTUAL | DAT_MEM_TYPE_LMR |
							  DAT_MEM_TYPE_SHARED_VIRTUAL),
		.iov_ownership_on_return = DAT_IOV_CONSUMER,
		.dat_qos_supported = DAT_QOS_BEST_EFFORT,
		.completion_flags_supported = DAPL_IA_COMPLETION_FLAGS,
		.max_private_data_size = DAPL_IA_MAX_PRIVATE_DATA,
		.supports_multipath = DAT_FALSE,
		.ep_creator = DAT_PSP_CREATES_EP_IFASKED,
		.pz_support = DAT_PZ_UNIQUE,
		.optimal_buffer_alignment = DAT_OPTIMAL_ALIGNMENT,
		.evd_stream_merging_supported = { [0 ... EVD_STREAMS -
						      1] = { [0 ... EVD_STREAMS - 1] = DAT_TRUE } },
		.srq_supported = shared,
		.srq_watermarks_supported = shared, /* the low one */
		.srq_ep_pz_difference_supported = shared,
		.srq_info_supported = shared ? 0x11 : 0, /* available, outstanding */
		.ep_recv_info_supported = 0,		 /* of endpoints with a shared queue */
		.lmr_sync_req = DAT_FALSE,
		.dto_async_return_guaranteed = DAT_FALSE,
		.rdma_write_for_rdma_read_req = DAT_FALSE,
		.rmr_scope_supported = ia_rmr_scope(ia),
		.is_signal_safe = DAT_FALSE,
		.ha_supported = DAT_FALSE,
		.ha_loadbalancing = DAT_HA_LB_NONE,
		.num_provider_specific_attr = ia->names->count,
		.provider_specific_attr = ia->names->attrs,
	};

	memcpy(attr, &all, sizeof *attr); /* memcpy, because the structure has constant members */
	snprintf(attr->provider_name, sizeof attr->provider_name, "%s", p->info.ia_name);
}
