/* SPDX-License-Identifier: BSD-3-Clause */
#include "id.h"
#include "path.h"
#include "service.h"
#include "shared.h"
#include "softverbs/device/changes.h"
#include "softverbs/device/runtime.h"
#include "softverbs/fault/fault.h"

#include <endian.h>
#include <stdlib.h>

/*
 * Ids by number.  A number is an index and a count of its uses, so the number of an id that was
 * destroyed is not found.
 */
#define INDEX_BITS 20
#define USES_MASK ((1u << (32 - INDEX_BITS)) - 1)
/* The counts begin shortly before they wrap, so that a mistake there shows in every program. */
#define USES_FIRST (USES_MASK - 2)

static struct entry {
	struct soft_id *id;
	uint32_t uses;
} * table;
static uint32_t table_size GUARDED_BY(soft_locks.cm);
static uint32_t table_next GUARDED_BY(soft_locks.cm);

static int
id_assign_number(struct soft_id *id) REQUIRES(soft_locks.cm)
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
	for (uint32_t i = table_size; i < size; i++)
		bigger[i] = (struct entry){ .uses = USES_FIRST };
	table = bigger;
	index = table_size;
	table_size = size;
found:
	table_next = index + 1;
	table[index].id = id;
	table[index].uses = (table[index].uses + 1) & USES_MASK;
	if (!table[index].uses)
		table[index].uses = 1; /* so that no number is 0 */
	id->number = table[index].uses << INDEX_BITS | index;
	return 0;
}

/* What the program has seen stays; before, another address may choose another port. */
static void
id_take_context(struct soft_id *id) REQUIRES(soft_locks.cm)
{
	if (id->public.verbs)
		return;
	if (id->context)
		soft_cm_context_put(id->context);
	id->context = soft_cm_context_get(id->port->device);
}

static void
id_set_device(struct soft_id *id) REQUIRES(soft_locks.cm)
{
	const struct soft_device_port *port = id->port;

	id_take_context(id);
	id->public.verbs = &id->context->verbs.context;
	id->public.port_num = port->port;
	id->public.pd = id->context->shared.pd;
	id->public.route.addr.addr.ibaddr.sgid =
	    soft_path_gid(port, &id->public.route.addr.src_addr);
	id->public.route.addr.addr.ibaddr.pkey = htobe16(soft_pkey_now(port));
}

struct soft_id *
soft_id_find(uint32_t number)
{
	uint32_t index = number & ((1u << INDEX_BITS) - 1);

	if (index >= table_size || !table[index].id || table[index].id->number != number)
		return NULL;
	return table[index].id;
}

const struct ibv_context *
soft_id_context(struct soft_id *id)
{
	if (!id->attached)
		return NULL;
	id_take_context(id);
	return &id->context->verbs.context;
}

enum soft_id_state
soft_id_state(struct soft_id *id)
{
	enum soft_id_state state;

	soft_cm_lock();
	state = id->state;
	soft_cm_unlock();
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
soft_id_create(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps)
{
	struct soft_id *id = calloc(1, sizeof *id);

	if (!id)
		return NULL;
	id->public.channel = channel;
	id->public.context = context;
	id->public.ps = ps;
	id->public.qp_type = ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
	id->generation = soft_runtime_mark();
	id->made = soft_fault_made(SOFT_OBJECT_ID);
	id->psn = soft_random32() & SOFT_PSN_MASK;
	id->ack_timeout = SOFT_CM_ACK_TIMEOUT;
	id->port = id->peer_port = soft_topology_port(1);
	if (id_assign_number(id)) {
		free(id);
		return NULL;
	}
	return id;
}

struct soft_id *
soft_id_find_user(const struct rdma_event_channel *channel)
{
	for (uint32_t i = 0; i < table_size; i++)
		if (table[i].id && table[i].id->public.channel == channel)
			return table[i].id;
	return NULL;
}

void
soft_id_forget(struct soft_id *id)
{
	struct entry *entry = &table[id->number & ((1u << INDEX_BITS) - 1)];

	if (entry->id == id)
		entry->id = NULL;
}

void
soft_id_free(struct soft_id *id)
{
	soft_id_forget(id);
	soft_service_detach(id);
	if (id->context)
		soft_cm_context_put(id->context);
	free(id->public.route.path_rec);
	free(id->endpoint);
	free(id->connect);
	free(id);
}

void
soft_ids_reset(void) UNCHECKED
{
	soft_runtime_leak(table);
	table = NULL;
	table_size = table_next = 0;
}

int
soft_id_attach_device(struct soft_id *id)
{
	int r;

	if (id->attached)
		return 0;
	if (!soft_cm_device_get())
		return -errno;
	r = soft_runtime_start();
	if (r) {
		soft_cm_device_put();
		return r;
	}
	id->attached = true;
	return 0;
}

/* The device has arrived after all ids were bound, and may be gone again. */
static int
id_open_domain(struct soft_id *id) SOFT_NO_LOCK
{
	if (!soft_cm_device_get())
		return -errno;
	id->public.pd = id->context->shared.pd;
	soft_cm_device_put();
	return id->public.pd ? 0 : -ENODEV;
}

int
soft_id_show_device(struct soft_id *id)
{
	int r = soft_id_attach_device(id);

	if (r)
		return r;
	soft_cm_lock();
	id_set_device(id);
	soft_cm_unlock();
	return id->public.pd ? 0 : id_open_domain(id);
}

void
soft_id_inherit_device(struct soft_id *child)
{
	soft_cm_device_get_more();
	child->attached = true;
	id_set_device(child);
}
