/* SPDX-License-Identifier: BSD-3-Clause */
#include "path.h"
#include "event.h"
#include "id.h"
#include "softverbs/device/changes.h"
#include "softverbs/fault/fault.h"

#include <endian.h>
#include <stdlib.h>

#define SELECTOR_EXACTLY 2
#define LOW_5_BITS 0x1f
#define FLOW_LABEL_SHIFT 8

union ibv_gid
soft_path_gid(void)
{
	union ibv_gid gid = { .raw = { 0 } };

	(void)soft_ibv_query_gid(NULL, SOFT_PORT, 0, &gid); /* of any context */
	return gid;
}

struct ibv_sa_path_rec *
soft_path_create(void)
{
	struct ibv_sa_path_rec *path = calloc(1, sizeof *path);

	if (!path)
		return NULL;
	path->dgid = path->sgid = soft_path_gid();
	path->dlid = path->slid = htobe16(soft_port_lid());
	path->reversible = 1;
	path->numb_path = 1;
	path->pkey = htobe16(soft_port_now().pkey);
	path->mtu_selector = SELECTOR_EXACTLY;
	path->mtu = IBV_MTU_4096;
	path->rate_selector = SELECTOR_EXACTLY;
	path->rate = IBV_RATE_100_GBPS;
	path->packet_life_time_selector = SELECTOR_EXACTLY;
	path->packet_life_time = SOFT_CM_PACKET_LIFE;
	return path;
}

/* The two types have the same contents, which this one packs. */
struct ibv_sa_path_rec *
soft_path_copy(const struct ibv_path_data *data)
{
	const struct ibv_path_record *from = &data->path;
	struct ibv_sa_path_rec *path = soft_path_create();
	const uint32_t flow = be32toh(from->flowlabel_hoplimit);

	if (!path)
		return NULL;
	path->dgid = from->dgid;
	path->sgid = from->sgid;
	path->dlid = from->dlid;
	path->slid = from->slid;
	path->flow_label = htobe32(flow >> FLOW_LABEL_SHIFT);
	path->hop_limit = (uint8_t)flow;
	path->traffic_class = from->tclass;
	path->reversible = (from->reversible_numpath & IBV_PATH_RECORD_REVERSIBLE) != 0;
	path->pkey = from->pkey;
	path->sl = be16toh(from->qosclass_sl) & 0xf;
	path->mtu = from->mtu & LOW_5_BITS;
	path->rate = from->rate & LOW_5_BITS;
	path->packet_life_time = from->packetlifetime & LOW_5_BITS;
	path->preference = (uint8_t)data->flags;
	return path;
}

void
soft_path_give(struct soft_id *id, struct ibv_sa_path_rec *path)
{
	free(id->public.route.path_rec);
	id->public.route.path_rec = path;
	id->public.route.num_paths = 1;
}

int
soft_path_resolve(struct soft_id *id, struct ibv_sa_path_rec *path)
{
	struct soft_event *event = soft_event_create();
	int r = -ENOMEM, error = 0;

	soft_cm_lock();
	if (event && path)
		r = id->state == SOFT_ID_ADDR_RESOLVED ? 0 : -EINVAL;
	if (!r)
		error = soft_fault_now(SOFT_INCIDENT_ROUTE_ERROR, soft_id_context(id));
	if (error) {
		soft_event_post(id, event, RDMA_CM_EVENT_ROUTE_ERROR, -error);
		free(path);
	} else if (!r) {
		soft_path_give(id, path);
		id->state = SOFT_ID_ROUTE_RESOLVED;
		soft_event_post(id, event, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	}
	soft_cm_unlock();
	if (r) {
		free(path);
		free(event);
	}
	return r;
}
