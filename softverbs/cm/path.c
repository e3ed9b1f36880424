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
soft_path_gid(const struct soft_device_port *port, const struct sockaddr *address)
{
	const bool by_address = soft_device_port_is_ethernet(port);

	return soft_device_port_gid(
	    port, by_address ? soft_device_port_gid_index(port, address) : 0);
}

struct ibv_ah_attr
soft_path_address(const struct soft_id *id)
{
	const struct rdma_addr *addr = &id->public.route.addr;

	return soft_topology_address(id->port, id->peer_port, &addr->src_addr, &addr->dst_addr);
}

enum ibv_mtu
soft_path_mtu(const struct soft_id *id)
{
	const enum ibv_mtu own = id->port->attr.active_mtu, peer = id->peer_port->attr.active_mtu;

	return own < peer ? own : peer;
}

static enum ibv_rate
path_rate(const struct soft_device_port *port)
{
	/* In units of 100 Mbit/s. */
	static const struct {
		unsigned int speed;
		enum ibv_rate rate;
	} rates[] = { { 25, IBV_RATE_2_5_GBPS }, { 50, IBV_RATE_5_GBPS }, { 100, IBV_RATE_10_GBPS },
		{ 140, IBV_RATE_14_GBPS }, { 200, IBV_RATE_20_GBPS }, { 250, IBV_RATE_25_GBPS },
		{ 280, IBV_RATE_28_GBPS }, { 300, IBV_RATE_30_GBPS }, { 400, IBV_RATE_40_GBPS },
		{ 500, IBV_RATE_50_GBPS }, { 560, IBV_RATE_56_GBPS }, { 600, IBV_RATE_60_GBPS },
		{ 800, IBV_RATE_80_GBPS }, { 1000, IBV_RATE_100_GBPS }, { 1120, IBV_RATE_112_GBPS },
		{ 1200, IBV_RATE_120_GBPS }, { 1680, IBV_RATE_168_GBPS },
		{ 2000, IBV_RATE_200_GBPS }, { 3000, IBV_RATE_300_GBPS },
		{ 4000, IBV_RATE_400_GBPS }, { 6000, IBV_RATE_600_GBPS },
		{ 8000, IBV_RATE_800_GBPS }, { 12000, IBV_RATE_1200_GBPS } };
	const unsigned int speed = soft_port_speed(&port->attr);

	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
		if (rates[i].speed >= speed)
			return rates[i].rate;
	return IBV_RATE_MAX;
}

struct ibv_sa_path_rec *
soft_path_create(const struct soft_id *id)
{
	const struct rdma_addr *addr = &id->public.route.addr;
	struct ibv_sa_path_rec *path = calloc(1, sizeof *path);

	if (!path)
		return NULL;
	path->sgid = soft_path_gid(id->port, &addr->src_addr);
	path->dgid = soft_path_gid(id->peer_port, &addr->dst_addr);
	path->slid = htobe16(soft_lid_now(id->port));
	path->dlid = htobe16(soft_lid_now(id->peer_port));
	path->reversible = 1;
	path->numb_path = 1;
	path->pkey = htobe16(soft_pkey_now(id->port));
	path->mtu_selector = SELECTOR_EXACTLY;
	path->mtu = (uint8_t)soft_path_mtu(id);
	path->rate_selector = SELECTOR_EXACTLY;
	path->rate = (uint8_t)path_rate(id->port);
	path->packet_life_time_selector = SELECTOR_EXACTLY;
	path->packet_life_time = SOFT_CM_PACKET_LIFE;
	return path;
}

/* The two types have the same contents, which this one packs. */
struct ibv_sa_path_rec *
soft_path_copy(const struct soft_id *id, const struct ibv_path_data *data)
{
	const struct ibv_path_record *from = &data->path;
	struct ibv_sa_path_rec *path = soft_path_create(id);
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
		if (soft_port_now(id->port).state == IBV_PORT_ACTIVE &&
		    soft_port_now(id->peer_port).state == IBV_PORT_ACTIVE) {
			id->state = SOFT_ID_ROUTE_RESOLVED;
			soft_event_post(id, event, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
		} else {
			/* The subnet manager does not answer, or does not know the port. */
			soft_event_post(id, event, RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT);
		}
	}
	soft_cm_unlock();
	if (r) {
		free(path);
		free(event);
	}
	return r;
}
