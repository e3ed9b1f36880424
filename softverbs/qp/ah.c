/* SPDX-License-Identifier: BSD-3-Clause */
#include "ah.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/changes.h"
#include "softverbs/device/pd.h"

#include <stdlib.h>
#include <string.h>

#define FLOW_LABEL_MASK 0xfffffu
#define CLASS_SHIFT 20
#define HOP_LIMIT_MOST 0xff

bool
soft_ah_is_gid_of_port(struct ibv_context *context, const union ibv_gid *gid)
{
	union ibv_gid own;

	for (int i = 0; i < SOFT_GID_TABLE; i++)
		if (soft_ibv_query_gid(context, SOFT_PORT, i, &own) == 0 &&
		    memcmp(own.raw, gid->raw, sizeof own.raw) == 0)
			return true;
	return false;
}

struct ibv_ah *
soft_ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	SOFT_UNCANCELLED;
	struct soft_ah *ah;

	if (soft_context_is_stale(soft_context_of(pd->context))) {
		errno = EIO;
		return NULL;
	}
	if (attr->port_num != SOFT_PORT ||
	    (attr->is_global && attr->grh.sgid_index >= SOFT_GID_TABLE)) {
		errno = EINVAL;
		return NULL;
	}
	ah = calloc(1, sizeof *ah);
	if (!ah)
		return NULL;
	ah->ibv = (struct ibv_ah){ .context = pd->context, .pd = pd };
	ah->global = attr->is_global;
	ah->here = attr->is_global ? soft_ah_is_gid_of_port(pd->context, &attr->grh.dgid) :
				     attr->dlid == soft_port_lid();
	ah->moves = soft_port_moves(ah->global);
	soft_pd_of(pd)->users++;
	return &ah->ibv;
}

int
soft_ibv_destroy_ah(struct ibv_ah *ibv)
{
	SOFT_UNCANCELLED;
	struct soft_ah *ah = soft_ah_of(ibv);

	if (!soft_context_is_stale(soft_context_of(ibv->context)))
		soft_pd_of(ibv->pd)->users--;
	free(ah);
	return 0;
}

int
soft_ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port, struct ibv_wc *wc,
    struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
	SOFT_UNCANCELLED;
	const uint32_t flow = be32toh(wc->wc_flags & IBV_WC_GRH ? grh->version_tclass_flow : 0);

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
	for (uint8_t i = 0; i < SOFT_GID_TABLE; i++) {
		union ibv_gid own;
		const int r = soft_ibv_query_gid(context, port, i, &own);

		if (r)
			return r;
		if (memcmp(own.raw, grh->dgid.raw, sizeof own.raw) == 0)
			attr->grh.sgid_index = i;
	}
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
