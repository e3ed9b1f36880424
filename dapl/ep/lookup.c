/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ep/lookup.h"

#include <string.h>

#include "dapl/ia/ia_count.h"
#include "dapl/trace/debug.h"
#include "dapl/trace/err.h"
#include "dapl/trace/name.h"

#define RESOLVE_MS 4000
#define RESOLVE_TRIES 15
#define HOP_LIMIT 64

/* ---- cards ---- */

static void
lookup_fill_card(const struct dapl_ep *ep, const struct rdma_cm_id *id, uint32_t qpn, uint8_t *data)
{
	struct dapl_card card = {
		.magic = htonl(DAPL_CARD_MAGIC),
		.qpn = htonl(qpn),
		.lid = htons(dapl_ia_of(&ep->obj)->port.lid),
	};

	memcpy(card.gid, id->route.addr.addr.ibaddr.sgid.raw, sizeof card.gid);
	memcpy(data, &card, sizeof card);
}

/* The entry of the port for packets from that address: RoCE version 2, if there is one. */
static int
lookup_find_gid(const struct dapl_ia *ia, const union ibv_gid *gid, uint8_t *index)
{
	struct ibv_gid_entry entry;
	int found = -1;

	for (int i = 0; i < ia->port.gid_tbl_len && i <= UINT8_MAX; i++) {
		if (ibv_query_gid_ex(ia->verbs, ia->id->port_num, (uint32_t)i, &entry, 0) ||
		    memcmp(entry.gid.raw, gid->raw, sizeof gid->raw) != 0)
			continue;
		if (found < 0 || entry.gid_type == IBV_GID_TYPE_ROCE_V2)
			found = i;
	}
	if (found < 0)
		return -EADDRNOTAVAIL;
	*index = (uint8_t)found;
	return 0;
}

int
dapl_card_address(const struct dapl_ia *ia, const struct rdma_cm_id *id,
    const struct dapl_card *card, struct ibv_ah_attr *attr)
{
	*attr = (struct ibv_ah_attr){ .dlid = ntohs(card->lid), .port_num = ia->id->port_num };
	if (ia->port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return 0;
	attr->is_global = 1;
	memcpy(attr->grh.dgid.raw, card->gid, sizeof card->gid);
	attr->grh.hop_limit = HOP_LIMIT;
	return lookup_find_gid(ia, &id->route.addr.addr.ibaddr.sgid, &attr->grh.sgid_index);
}

/* ---- events ---- */

void
dapl_lookup_succeed(struct dapl_ep *ep, struct dapl_ah *ah, DAT_IB_EXT_TYPE type)
{
	DAT_EVENT event = {
		.event_number = (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED,
		.event_data.connect_event_data = {
			.private_data_size = (DAT_COUNT)ah->size,
			.private_data = ah->size ? ah->data : NULL,
		},
	};
	DAT_IB_EXTENSION_EVENT_DATA *ib =
	    (DAT_IB_EXTENSION_EVENT_DATA *)(void *)event.event_extension_data;
	uint32_t generation = 0;
	bool open, broken = false;

	ib->type = type;
	ib->status = (DAT_IB_STATUS)DAT_OP_SUCCESS;
	ib->remote_ah = ah->public;
	ib->context.as_ptr = ah->ibv;
	dapl_object_lock(&ep->obj);
	open = dapl_object_is_alive(&ep->obj) && dapl_lookup_may_start(ep) == DAT_SUCCESS;
	if (open) {
		dapl_ah_add(&ep->ahs, ah);
		ep->state = DAT_EP_STATE_CONNECTED;
		dapl_ia_count(dapl_ia_of(&ep->obj), DCNT_IA_CM_AH_RESOLVED);
		generation = dapl_ep_generation(ep);
		broken = ep->broken == generation + 1;
	}
	dapl_object_unlock(&ep->obj);
	if (open)
		dapl_lookup_post(ep, &event);
	else
		dapl_ah_free(ah); /* the endpoint was disconnected or freed meanwhile */
	if (broken)		  /* a receive failed before there was an address */
		dapl_ep_broken(ep, generation);
}

/* ---- steps ---- */

DAT_RETURN
dapl_lookup_may_start(const struct dapl_ep *ep)
{
	if (ep->state != DAT_EP_STATE_UNCONNECTED && ep->state != DAT_EP_STATE_CONNECTED)
		return dapl_ep_state_error(ep);
	if (!ep->parts.connect || !ep->qp)
		return DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY);
	return DAT_SUCCESS;
}

static int
lookup_resolve_address(const struct dapl_ep *ep, struct dapl_lookup *lookup)
{
	struct sockaddr_storage from = dapl_ia_of(&ep->obj)->address;

	dapl_address_set_port(&from, 0);
	return rdma_resolve_addr(lookup->conn->id, (struct sockaddr *)&from,
	    (struct sockaddr *)&lookup->remote, RESOLVE_MS);
}

DAT_RETURN
dapl_lookup_start(struct dapl_ep *ep, const struct dapl_lookup_target *to)
{
	struct dapl_lookup *lookup = os_alloc(1, sizeof *lookup);
	DAT_RETURN ret;
	int r;

	if (!lookup)
		return dapl_err_resource("dat_ep_connect", -ENOMEM, DAT_RESOURCE_MEMORY);
	*lookup = (struct dapl_lookup){
		.remote = *to->address,
		.deadline = UINT64_MAX,
		.users = 1,
		.size = (uint8_t)to->size,
	};
	if (to->timeout != DAT_TIMEOUT_INFINITE)
		lookup->deadline = os_clock_ns() + (uint64_t)to->timeout * OS_NS_PER_US;
	if (to->size)
		memcpy(lookup->data + sizeof(struct dapl_card), to->data, (size_t)to->size);
	r = dapl_conn_open_datagram(dapl_ia_of(&ep->obj), &ep->obj, &lookup->conn);
	if (r) {
		os_free(lookup);
		return dapl_err_resource("dat_ep_connect", r, DAT_RESOURCE_MEMORY);
	}
	dapl_object_lock(&ep->obj);
	ret = dapl_object_is_alive(&ep->obj) ? dapl_lookup_may_start(ep) : DAPL_EP_BAD_HANDLE;
	if (ret == DAT_SUCCESS) {
		lookup->next = ep->lookups;
		ep->lookups = lookup;
		dapl_counter_grow(&ep->counts.connects, 1);
		dapl_lookup_set_timer(ep);
		dapl_ep_get_pin(ep);
	}
	dapl_object_unlock(&ep->obj);
	if (ret != DAT_SUCCESS) {
		dapl_lookups_close(lookup);
		return ret;
	}
	if (lookup_resolve_address(ep, lookup) && dapl_lookup_end(ep, lookup))
		dapl_lookup_fail(ep, false, NULL, 0);
	dapl_lookup_leave(ep, lookup);
	return DAT_SUCCESS;
}

static int
lookup_ask(struct dapl_ep *ep, struct dapl_lookup *lookup) DAPL_NO_LOCK
{
	struct rdma_conn_param param = {
		.private_data = lookup->data,
		.private_data_len = (uint8_t)(sizeof(struct dapl_card) + lookup->size),
	};
	int r = -1;

	dapl_object_lock(&ep->obj);
	if (ep->qp) {
		param.qp_num = ep->qp->qp_num;
		r = 0;
	}
	dapl_object_unlock(&ep->obj);
	if (r)
		return r;
	lookup_fill_card(ep, lookup->conn->id, param.qp_num, lookup->data);
	r = rdma_connect(lookup->conn->id, &param);
	if (!r)
		dapl_ia_count(dapl_ia_of(&ep->obj), DCNT_IA_CM_AH_REQ_TX);
	return r;
}

static void
lookup_found(struct dapl_ep *ep, struct dapl_lookup *lookup,
    const struct dapl_lookup_news *news) DAPL_NO_LOCK
{
	struct ibv_ah_attr attr = news->address;
	struct dapl_ah *ah = dapl_ah_create(ep->parts.pz->pd, &attr, news->qpn, news->qkey,
	    (const struct sockaddr *)&lookup->remote);

	if (!ah) {
		dapl_lookup_fail(ep, false, NULL, 0);
		return;
	}
	ah->size = news->size < sizeof ah->data ? news->size : sizeof ah->data;
	if (ah->size)
		memcpy(ah->data, news->data, ah->size);
	dapl_lookup_succeed(ep, ah, DAT_IB_UD_REMOTE_AH);
}

/* Neither address nor route came: 0 if the lookup goes on. */
static int
lookup_try_again(struct dapl_ep *ep, struct dapl_lookup *lookup, int error) DAPL_NO_LOCK
{
	bool again;

	dapl_object_lock(&ep->obj);
	again = error == -ETIMEDOUT && ++lookup->retries < RESOLVE_TRIES;
	dapl_object_unlock(&ep->obj);
	return again ? lookup_resolve_address(ep, lookup) : -1;
}

void
dapl_lookup_handle(struct dapl_ep *ep, const struct dapl_conn *conn, uint32_t generation,
    const struct dapl_lookup_news *news)
{
	struct dapl_lookup *lookup = dapl_lookup_enter(ep, conn, generation);
	int r = 0;

	if (!lookup)
		return;
	if (dapl_debug_wants(DAPL_DEBUG_CONNECTIONS)) {
		const char *name = dapl_name_cm_event(news->type);

		dapl_debug_line("ep %p: RDMA_CM_EVENT_%s, status %d, datagrams", ep->self,
		    name ? name : "?", news->status);
	}
	switch (news->type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		r = rdma_resolve_route(lookup->conn->id, RESOLVE_MS);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		r = lookup_ask(ep, lookup);
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		r = lookup_try_again(ep, lookup, news->status);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (dapl_lookup_end(ep, lookup))
			lookup_found(ep, lookup, news);
		break;
	default:
		if (dapl_lookup_end(ep, lookup))
			dapl_lookup_fail(ep, news->by_peer, news->data, news->size);
		break;
	}
	if (r && dapl_lookup_end(ep, lookup))
		dapl_lookup_fail(ep, false, NULL, 0);
	dapl_lookup_leave(ep, lookup);
}
