/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm.h"
#include "soft/device/runtime.h"

#include <stdlib.h>
#include <string.h>

/*
 * Ids by number.  A number is an index and a count of how often it was used, so that a
 * message to an id that is gone finds nobody.
 */
#define INDEX_BITS 20

static struct entry {
	struct soft_id *id;
	uint32_t uses;
} *table;
static uint32_t table_size, table_next;

static int
number_assign(struct soft_id *id)
{
	uint32_t size = table_size ? table_size * 2 : 64, index;
	struct entry *bigger;

	for (uint32_t i = 0; i < table_size; i++) {
		index = (table_next + i) % table_size;
		if (table[index].id)
			continue;
		goto found;
	}
	if (size > 1u << INDEX_BITS)
		return -ENOMEM;
	bigger = realloc(table, size * sizeof *table);
	if (!bigger)
		return -ENOMEM;
	memset(bigger + table_size, 0, (size - table_size) * sizeof *bigger);
	table = bigger;
	index = table_size;
	table_size = size;
found:
	table_next = index + 1;
	table[index].id = id;
	table[index].uses = (table[index].uses + 1) & ((1u << (32 - INDEX_BITS)) - 1);
	if (!table[index].uses)
		table[index].uses = 1; /* so that no number is 0 */
	id->number = table[index].uses << INDEX_BITS | index;
	return 0;
}

struct soft_id *
soft_id_find(uint32_t number)
{
	uint32_t index = number & ((1u << INDEX_BITS) - 1);

	if (index >= table_size || !table[index].id || table[index].id->number != number)
		return NULL;
	return table[index].id;
}

enum soft_id_state
soft_id_state(struct soft_id *id)
{
	enum soft_id_state state;

	pthread_mutex_lock(&soft_cm_lock);
	state = id->state;
	pthread_mutex_unlock(&soft_cm_lock);
	return state;
}

void
soft_id_each(void (*fn)(struct soft_id *id, void *arg), void *arg)
{
	for (uint32_t i = 0; i < table_size; i++)
		if (table[i].id)
			fn(table[i].id, arg);
}

struct soft_id *
soft_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps)
{
	struct soft_id *id = calloc(1, sizeof *id);

	if (!id)
		return NULL;
	id->public.channel = channel;
	id->public.context = context;
	id->public.ps = ps;
	id->public.qp_type = IBV_QPT_RC;
	id->generation = soft_runtime_generation();
	id->psn = soft_random32() & 0xffffff;
	id->ack_timeout = SOFT_CM_ACK_TIMEOUT;
	if (number_assign(id)) {
		free(id);
		return NULL;
	}
	return id;
}

void
soft_id_free(struct soft_id *id)
{
	table[id->number & ((1u << INDEX_BITS) - 1)].id = NULL;
	soft_service_release(id);
	soft_cm_wait_end(id);
	free(id->public.route.path_rec);
	free(id->endpoint);
	free(id);
}

void
soft_ids_reset(void)
{
	soft_runtime_abandon(table);
	soft_cm_wait_reset();
	table = NULL;
	table_size = table_next = 0;
}

static void
show_device(struct soft_id *id)
{
	id->public.verbs = &id->context->verbs.context;
	id->public.port_num = SOFT_PORT;
	id->public.pd = soft_cm_device_pd();
}

int
soft_id_hold(struct soft_id *id)
{
	struct soft_context *ctx;
	int r;

	if (id->context)
		return 0;
	ctx = soft_cm_device_get();
	if (!ctx)
		return -errno;
	r = soft_runtime_start();
	if (r) {
		soft_cm_device_put();
		return r;
	}
	id->context = ctx;
	return 0;
}

int
soft_id_attach(struct soft_id *id)
{
	int r = soft_id_hold(id);

	if (!r)
		show_device(id);
	return r;
}

void
soft_id_join(struct soft_id *child)
{
	child->context = soft_cm_device_more();
	show_device(child);
}

int
rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **out, void *context,
    enum rdma_port_space ps)
{
	struct rdma_event_channel *own = NULL;
	struct soft_id *id;

	if (ps != RDMA_PS_TCP && ps != RDMA_PS_IB)
		return soft_cm_result(EPROTONOSUPPORT); /* no datagram queue pairs */
	if (!channel) {
		own = rdma_create_event_channel();
		if (!own)
			return -1;
	}
	pthread_mutex_lock(&soft_cm_lock);
	id = soft_id_new(channel ? channel : own, context, ps);
	pthread_mutex_unlock(&soft_cm_lock);
	if (!id) {
		if (own)
			rdma_destroy_event_channel(own);
		return soft_cm_result(ENOMEM);
	}
	id->sync = own != NULL;
	*out = &id->public;
	return 0;
}

int
rdma_destroy_id(struct rdma_cm_id *public)
{
	struct soft_id *id = soft_id_of(public);
	struct rdma_event_channel *own = id->sync ? public->channel : NULL;
	struct soft_context *ctx = id->context;

	if (id->generation != soft_runtime_generation())
		return 0; /* the parent's */
	if (public->event) {
		rdma_ack_cm_event(public->event);
		public->event = NULL;
	}
	pthread_mutex_lock(&soft_cm_lock);
	soft_service_release(id);
	soft_event_drop(id);
	soft_cm_abandon(id);
	soft_event_wait_acknowledged(id);
	soft_event_drop(id);
	soft_id_free(id);
	pthread_mutex_unlock(&soft_cm_lock);
	if (own)
		rdma_destroy_event_channel(own);
	if (ctx)
		soft_cm_device_put();
	return 0;
}

int
rdma_migrate_id(struct rdma_cm_id *public, struct rdma_event_channel *channel)
{
	struct rdma_event_channel *from = public->channel, *own = NULL;
	struct soft_id *id = soft_id_of(public);

	if (!channel) {
		if (id->sync)
			return 0;
		own = channel = rdma_create_event_channel();
		if (!own)
			return -1;
	}
	if (public->event) {
		rdma_ack_cm_event(public->event);
		public->event = NULL;
	}
	pthread_mutex_lock(&soft_cm_lock);
	soft_event_move(id, channel);
	/* What the old channel handed out may still be in use there. */
	soft_event_wait_acknowledged(id);
	pthread_mutex_unlock(&soft_cm_lock);
	if (id->sync)
		rdma_destroy_event_channel(from);
	id->sync = own != NULL;
	return 0;
}

__be16
rdma_get_src_port(struct rdma_cm_id *id)
{
	return htons(soft_address_port(rdma_get_local_addr(id)));
}

__be16
rdma_get_dst_port(struct rdma_cm_id *id)
{
	return htons(soft_address_port(rdma_get_peer_addr(id)));
}

int
rdma_set_option(struct rdma_cm_id *public, int level, int optname, void *optval, size_t optlen)
{
	struct soft_id *id = soft_id_of(public);
	int value = 0;

	if (level == RDMA_OPTION_IB && optname == RDMA_OPTION_IB_PATH)
		return 0; /* there is one path */
	if (level != RDMA_OPTION_ID)
		return soft_cm_result(ENOSYS);
	switch (optname) {
	case RDMA_OPTION_ID_TOS:
		return soft_cm_result(optlen == sizeof(uint8_t) ? 0 : EINVAL);
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		if (optlen != sizeof(uint8_t) || *(uint8_t *)optval > 31)
			return soft_cm_result(EINVAL);
		pthread_mutex_lock(&soft_cm_lock);
		id->ack_timeout = *(uint8_t *)optval;
		pthread_mutex_unlock(&soft_cm_lock);
		return 0;
	case RDMA_OPTION_ID_REUSEADDR:
	case RDMA_OPTION_ID_AFONLY:
		if (optlen != sizeof value)
			return soft_cm_result(EINVAL);
		memcpy(&value, optval, sizeof value);
		pthread_mutex_lock(&soft_cm_lock);
		if (optname == RDMA_OPTION_ID_REUSEADDR)
			id->reuse_address = value;
		pthread_mutex_unlock(&soft_cm_lock);
		return 0;
	default:
		return soft_cm_result(ENOSYS);
	}
}
