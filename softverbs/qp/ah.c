/* SPDX-License-Identifier: BSD-3-Clause */
#include "ah.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/changes.h"
#include "softverbs/device/device.h"
#include "softverbs/device/pd.h"

#include <stdlib.h>
#include <string.h>

#define FLOW_LABEL_MASK 0xfffffu
#define CLASS_SHIFT 20
#define HOP_LIMIT_MOST 0xff

/* The index of the GID at a port, or 0. */
static uint8_t
ah_gid_index(const struct soft_device_port *port, const union ibv_gid *gid)
{
	for (int i = 0; i < port->attr.gid_tbl_len; i++) {
		const union ibv_gid own = soft_device_port_gid(port, (unsigned int)i);

		if (!memcmp(&own, gid, sizeof own))
			return (uint8_t)i;
	}
	return 0;
}

static void
ah_set_route(
    struct soft_ah *ah, const struct soft_device_port *port, const struct ibv_ah_attr *attr)
{
	const unsigned int route = soft_topology_route(port, attr);

	ah->global = attr->is_global;
	ah->sl = attr->sl & SOFT_SL_MASK;
	ah->here = route != SOFT_PORT_NOWHERE;
	ah->from = port;
	if (ah->here && !soft_topology()->plain)
		ah->route = (uint16_t)route;
	ah->moves = soft_ports_moved(port, ah->route, ah->global);
	if (!ah->route)
		return;
	ah->from_gid = attr->is_global ? attr->grh.sgid_index : 0;
	ah->to_gid = attr->is_global ? ah_gid_index(soft_topology_port(route), &attr->grh.dgid) : 0;
}

struct ibv_ah *
soft_ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	SOFT_UNCANCELLED;
	const struct soft_device_port *port = soft_device_port(pd->context, attr->port_num);
	struct soft_context *ctx = soft_context_of(pd->context);
	struct soft_ah *ah;
	int r = 0;

	if (soft_context_is_stale(ctx))
		r = -EIO;
	else if (!port || (attr->is_global ? attr->grh.sgid_index >= port->attr.gid_tbl_len :
					     soft_device_port_is_ethernet(port)))
		r = -EINVAL;
	else
		r = soft_context_count(&ctx->ahs, soft_limits(pd->context)->max_ah);
	if (r) {
		errno = -r;
		return NULL;
	}
	ah = calloc(1, sizeof *ah);
	if (!ah) {
		ctx->ahs--;
		return NULL;
	}
	ah->ibv = (struct ibv_ah){ .context = pd->context, .pd = pd };
	ah_set_route(ah, port, attr);
	soft_pd_of(pd)->users++;
	return &ah->ibv;
}

int
soft_ibv_destroy_ah(struct ibv_ah *ibv)
{
	SOFT_UNCANCELLED;
	struct soft_ah *ah = soft_ah_of(ibv);
	struct soft_context *ctx = soft_context_of(ibv->context);

	if (!soft_context_is_stale(ctx)) {
		soft_pd_of(ibv->pd)->users--;
		ctx->ahs--;
	}
	free(ah);
	return 0;
}

int
soft_ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port, struct ibv_wc *wc,
    struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
	SOFT_UNCANCELLED;
	const uint32_t flow = be32toh(wc->wc_flags & IBV_WC_GRH ? grh->version_tclass_flow : 0);
	const struct soft_device_port *own;

	*attr = (struct ibv_ah_attr){
		.dlid = wc->slid,
		.sl = wc->sl,
		.src_path_bits = wc->dlid_path_bits,
		.port_num = port,
	};
	if (!(wc->wc_flags & IBV_WC_GRH))
		return 0;
	attr->is_global = 1;
	attr->grh = (struct ibv_global_route){
		.dgid = grh->sgid,
		.flow_label = flow & FLOW_LABEL_MASK,
		.hop_limit = HOP_LIMIT_MOST,
		.traffic_class = (uint8_t)(flow >> CLASS_SHIFT),
	};
	own = soft_device_port(context, port);
	if (!own) {
		errno = EINVAL;
		return -1;
	}
	attr->grh.sgid_index = ah_gid_index(own, &grh->dgid);
	return 0;
}

struct ibv_ah *
soft_ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port)
{
	SOFT_UNCANCELLED;
	struct ibv_ah_attr attr;

	if (soft_ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr))
		return NULL;
	return soft_ibv_create_ah(pd, &attr);
}
