/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of an endpoint: the defaults, and whether the device supports those of the consumer */
#include <dat2/dat_ib_extensions.h>

#include "dapl/ep/ep.h"
#include "dapl/trace/hint.h"

#define DEFAULT_DTOS 16
#define DEFAULT_IOV 4
#define DEFAULT_READS 4

static DAT_COUNT
ep_attr_within(DAT_COUNT value, DAT_COUNT limit)
{
	return value < limit ? value : limit;
}

void
dapl_ep_attr_defaults(const struct dapl_ia *ia, DAT_EP_ATTR *attr)
{
	const struct ibv_device_attr *dev = &ia->device;

	*attr = (DAT_EP_ATTR){
		.service_type = DAT_SERVICE_TYPE_RC,
		.max_message_size = dapl_ia_max_message(ia),
		.max_rdma_size = dapl_ia_max_message(ia),
		.qos = DAT_QOS_BEST_EFFORT,
		.recv_completion_flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG,
		.request_completion_flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG,
		.max_recv_dtos = ep_attr_within(DEFAULT_DTOS, dev->max_qp_wr),
		.max_request_dtos = ep_attr_within(DEFAULT_DTOS, dev->max_qp_wr),
		.max_recv_iov = ep_attr_within(DEFAULT_IOV, dapl_ia_max_iov(ia)),
		.max_request_iov = ep_attr_within(DEFAULT_IOV, dapl_ia_max_iov(ia)),
		.max_rdma_read_in = ep_attr_within(DEFAULT_READS, dev->max_qp_rd_atom),
		.max_rdma_read_out = ep_attr_within(DEFAULT_READS, dev->max_qp_init_rd_atom),
		.max_rdma_read_iov = ep_attr_within(DEFAULT_IOV, dapl_ia_max_read_iov(ia)),
		.max_rdma_write_iov = ep_attr_within(DEFAULT_IOV, dapl_ia_max_iov(ia)),
	};
}

static bool
ep_attr_fits(DAT_COUNT value, DAT_COUNT limit)
{
	return value >= 0 && value <= limit;
}

/* Which member of the attributes the device cannot have. */
static bool
ep_attr_refuse(const char *member)
{
	dapl_hint("%s: dat_ia_query() returns what the device has", member);
	return false;
}

bool
dapl_ep_attr_accept(const struct dapl_ia *ia, const DAT_EP_ATTR *asked, DAT_EP_ATTR *out)
{
	const struct ibv_device_attr *dev = &ia->device;
	DAT_EP_ATTR attr = *asked;
	const bool datagrams = (int)attr.service_type == DAT_IB_SERVICE_TYPE_UD;
	const DAT_SEG_LENGTH longest =
	    datagrams ? dapl_ia_max_datagram(ia) : dapl_ia_max_message(ia);

	/* A receive without an event could not be found again. */
	if (attr.request_completion_flags & ~DAPL_IA_COMPLETION_FLAGS ||
	    attr.recv_completion_flags &
		~(DAPL_IA_COMPLETION_FLAGS & ~DAT_COMPLETION_SUPPRESS_FLAG))
		return false;
	if (datagrams ? !dapl_ia_has_datagrams(ia) : attr.service_type != DAT_SERVICE_TYPE_RC)
		return false;
	if (attr.qos != DAT_QOS_BEST_EFFORT)
		return ep_attr_refuse("qos");
	if (attr.max_message_size == 0)
		attr.max_message_size = longest;
	if (attr.max_rdma_size == 0)
		attr.max_rdma_size = dapl_ia_max_message(ia);
	if (attr.max_message_size > longest || attr.max_rdma_size > dapl_ia_max_message(ia))
		return ep_attr_refuse("max_message_size or max_rdma_size");
	if (!ep_attr_fits(attr.max_recv_dtos, dev->max_qp_wr) ||
	    !ep_attr_fits(attr.max_request_dtos, dev->max_qp_wr))
		return ep_attr_refuse("max_recv_dtos or max_request_dtos");
	if (!ep_attr_fits(attr.max_recv_iov, dapl_ia_max_iov(ia)) ||
	    !ep_attr_fits(attr.max_request_iov, dapl_ia_max_iov(ia)) ||
	    !ep_attr_fits(attr.max_rdma_read_iov, dapl_ia_max_read_iov(ia)) ||
	    !ep_attr_fits(attr.max_rdma_write_iov, dapl_ia_max_iov(ia)))
		return ep_attr_refuse("a number of segments");
	if (!ep_attr_fits(attr.max_rdma_read_in, dev->max_qp_rd_atom) ||
	    !ep_attr_fits(attr.max_rdma_read_out, dev->max_qp_init_rd_atom))
		return ep_attr_refuse("max_rdma_read_in or max_rdma_read_out");
	/* Consumers of DAT 1.x do not set these two members. */
	if (attr.max_rdma_read_iov == 0)
		attr.max_rdma_read_iov =
		    ep_attr_within(attr.max_request_iov, dapl_ia_max_read_iov(ia));
	if (attr.max_rdma_write_iov == 0)
		attr.max_rdma_write_iov = attr.max_request_iov;
	attr.srq_soft_hw = 0; /* has no meaning without a shared receive queue */
	attr.ep_transport_specific_count = 0;
	attr.ep_transport_specific = NULL;
	attr.ep_provider_specific_count = 0;
	attr.ep_provider_specific = NULL;
	*out = attr;
	return true;
}
