/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "dapl/evd/cno.h"
#include "dapl/cm/cr.h"
#include "dapl/cm/sp.h"
#include "dapl/trace/debug.h"
#include "dapl/trace/hint.h"
#include "dapl/evd/evd_object.h"
#include "dapl/ia/address.h"
#include "dapl/ia/ia.h"
#include "dapl/object/registry.h"
#include "dapl/state/upcall.h"
#include "dapl/ep/rmr.h"
#include "dapl/provider/provider.h"
#include "dapl/srq/srq.h"
#include "dapl/stats/publish.h"
#include "dapl/trace/callback.h"

#include "world.h"

#define CELLS 48
#define OBJECT_CELLS OBJECT_ATOMIC(5)

static const struct os_site here = { "a table of slots", 0 };
static unsigned int run;

/* ---- slots ---- */

/* The locks are as new, with their places in the order. */
static void
name_locks(void *slot)
{
	static const char *const names[DAPL_KIND_COUNT] = {
		[DAPL_KIND_IA] = "adapter",
		[DAPL_KIND_PZ] = "zone",
		[DAPL_KIND_EVD] = "EVD object",
		[DAPL_KIND_CNO] = "CNO object",
		[DAPL_KIND_EP] = "endpoint",
		[DAPL_KIND_SRQ] = "shared receive queue",
		[DAPL_KIND_LMR] = "memory",
		[DAPL_KIND_RMR] = "region",
	};
	struct dapl_object *obj = slot;

	world_mutex_name(
	    &obj->lock, obj->kind == DAPL_KIND_IA ? RANK_IA : RANK_EP, names[obj->kind]);
	if (obj->kind == DAPL_KIND_EVD)
		world_mutex_name(&((struct dapl_evd *)slot)->core.lock, RANK_EVD, "EVD");
	else if (obj->kind == DAPL_KIND_CNO)
		world_mutex_name(&((struct dapl_cno *)slot)->core.lock, RANK_CNO, "CNO");
	else if (obj->kind == DAPL_KIND_RMR)
		world_mutex_name(&((struct dapl_rmr *)slot)->binds, RANK_BINDS, "binds");
	else if (obj->kind == DAPL_KIND_SRQ) {
		world_mutex_name(&((struct dapl_srq *)slot)->membership, RANK_MEMBERS, "members");
		world_mutex_name(&((struct dapl_srq *)slot)->lock, RANK_SRQ, "entries");
	}
}

static struct dapl_slab_slot *
slot_at(const struct dapl_slab *slab, uint32_t index)
{
	return (struct dapl_slab_slot *)(slab->slots + index * slab->size);
}

void *
dapl_slab_alloc(struct dapl_slab *slab)
{
	struct dapl_slab_slot *slot;

	sched_point(OP_ALLOC, OBJECT_CELLS, &here);
	if (!slab->slots)
		slab->slots = calloc(SLAB_SLOTS, slab->size);
	if (!slab->slots)
		abort();
	if (slab->run != run) {
		slab->run = run;
		slab->used = 0;
		slab->first = NULL;
	}
	slot = slab->first;
	if (slot) {
		slab->first = slot->next;
	} else if (slab->used < SLAB_SLOTS) {
		slot = slot_at(slab, slab->used);
		memset(slot, 0, slab->size);
		slot->index = slab->used++;
		if (slab->prepare) {
			slab->prepare(slot);
			name_locks(slot);
		}
	}
	context_acquire(slab);
	sched_touch(OP_ALLOC, OBJECT_CELLS);
	return slot;
}

void
dapl_slab_free(struct dapl_slab *slab, void *slot)
{
	struct dapl_slab_slot *freed = slot;

	sched_point(OP_FREE, OBJECT_CELLS, &here);
	context_release(slab);
	for (const struct dapl_slab_slot *other = slab->first; other; other = other->next)
		if (other == freed)
			violation("a slot is freed twice");
	freed->next = slab->first;
	slab->first = freed;
	sched_touch(OP_FREE, OBJECT_CELLS);
}

void *
dapl_slab_at(struct dapl_slab *slab, uint32_t index)
{
	return slab->run == run && index < slab->used ? slot_at(slab, index) : NULL;
}

bool
dapl_slab_owns(struct dapl_slab *slab, const void *slot)
{
	for (unsigned int i = 0; slab->run == run && i < slab->used; i++)
		if (slot == slot_at(slab, i))
			return true;
	return false;
}

/* ---- handles ---- */

#define ASKS 16
static bool answered[ASKS]; /* requests to connect */
static unsigned int n_asks;

static struct dapl_handle cells[CELLS];
static unsigned int n_cells;

unsigned int
slots_evds(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < n_cells; i++)
		n += cells[i].tag == DAPL_KIND_EVD;
	return n;
}

struct dapl_handle *
dapl_handle_create(
    const DAT_PROVIDER *provider, enum dapl_kind kind, void *object, uint64_t *serial)
{
	struct dapl_handle *h = &cells[n_cells];

	if (n_cells == CELLS)
		violation("the scenario makes too many objects");
	n_cells++;
	*serial = n_cells;
	*h = (struct dapl_handle){
		.provider = provider, .object = object, .serial = *serial, .tag = (uint32_t)kind
	};
	context_release(h);
	return h;
}

void
dapl_handle_free(struct dapl_handle *h)
{
	sched_point(OP_ATOMIC, OBJECT_CELLS, &here);
	h->tag = DAPL_KIND_NONE;
	sched_touch(OP_ATOMIC, OBJECT_CELLS);
}

void *
dapl_handle_object(DAT_HANDLE handle, enum dapl_kind kind, uint64_t *serial)
{
	struct dapl_handle *h = handle;

	sched_point(OP_ATOMIC, OBJECT_CELLS, &here);
	sched_see(OP_ATOMIC, OBJECT_CELLS);
	if (h < cells || h >= cells + n_cells || h->tag == DAPL_KIND_NONE)
		return NULL;
	if (kind != DAPL_KIND_NONE && h->tag != (uint32_t)kind)
		return NULL;
	context_acquire(h);
	*serial = h->serial;
	return h->object;
}

void
slots_reset(void)
{
	run++;
	n_cells = n_asks = 0;
	slots_forget_ias();
	slots_forget_removals();
}

/* ---- the registry, addresses, debug lines ---- */

void
dapl_provider_params(struct dapl_provider *provider, char params[DAPL_PROVIDER_PARAMS_MAX])
{
	(void)provider;
	params[0] = '\0';
}

DAT_IA_HANDLE
dapl_registry_ia_handle(DAT_IA_HANDLE ours)
{
	return ours;
}

int
dapl_ia_options_parse(const char *params, struct dapl_ia_options *options)
{
	(void)params;
	*options = (struct dapl_ia_options){ .loops = 1 };
	return 0;
}

/* No statistics: another thread would read what the scenarios have. */
bool
dapl_stats_start(unsigned int word_ms)
{
	(void)word_ms;
	return false;
}

void
dapl_stats_stop(void)
{
}

int
dapl_ia_names_create(struct dapl_ia *ia)
{
	ia->names = NULL;
	return 0;
}

void
dapl_ia_names_free(struct dapl_ia *ia)
{
	(void)ia;
}

int
dapl_address_resolve(const char *text, struct sockaddr_storage *address)
{
	(void)text;
	*address = (struct sockaddr_storage){ .ss_family = AF_INET };
	return 0;
}

uint16_t
dapl_address_port(const struct sockaddr_storage *address)
{
	return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

void
dapl_address_set_port(struct sockaddr_storage *address, uint16_t port)
{
	((struct sockaddr_in *)address)->sin_port = htons(port);
}

bool
dapl_address_is_of_one(const struct sockaddr_storage *address)
{
	(void)address;
	return true;
}

unsigned int dapl_debug_classes;

void
dapl_hint(const char *format, ...)
{
	(void)format;
}

void
dapl_debug_open(const char *adapter)
{
	(void)adapter;
}

void
dapl_debug_line(const char *format, ...)
{
	(void)format;
}

void
dapl_debug_error(const char *format, ...)
{
	(void)format;
}

void
dapl_trace_make_upcall(void *instance, const void *event, int more, void (*function)(void))
{
	dapl_make_upcall(instance, event, more, function);
}

void
dapl_trace_make_upcall_array(
    void *instance, const void *events, unsigned int n, int more, const struct evd_upcall *upcall)
{
	dapl_make_upcall_array(instance, events, n, more, upcall);
}

void
dapl_trace_make_agent_call(const struct cno_agent *agent, void *evd)
{
	agent->function(agent->instance, evd);
}

/* ---- connections that come in ---- */

/* As dapl/cm/cr.c does when a service point makes endpoints and no EVD has room for the request. */
void
dapl_cr_arrived(struct dapl_ia *ia, struct dapl_conn *listener, uint32_t generation,
    const struct dapl_cr_request *request)
{
	const struct sockaddr_in from = { .sin_family = AF_INET };
	DAT_EP_HANDLE ep;

	(void)listener;
	(void)generation;
	dapl_parent_decide_begin(&ia->parent);
	if (dapl_ep_create_for_request(ia, (const struct sockaddr *)&from, &ep) == 0)
		dapl_ep_detach_request(ep);
	rdma_destroy_id(request->id);
	dapl_parent_decide_end(&ia->parent);
}

/* ---- memory regions, and what else is of no scenario ---- */

bool
dapl_cr_withdrawn(struct dapl_cr *cr, const struct dapl_conn *conn, uint32_t generation)
{
	(void)generation;
	(void)cr;
	(void)conn;
	return true;
}

static bool *
request_of(DAT_HANDLE handle)
{
	const uintptr_t number = (uintptr_t)handle;

	return number && number <= n_asks ? &answered[number - 1] : NULL;
}

/* As dapl/cm/cr.c does, with the reference of a service point. */
bool
slots_ask(DAT_EVD_HANDLE handle)
{
	DAT_EVENT event = { .event_number = DAT_CONNECTION_REQUEST_EVENT };
	struct dapl_evd *evd = dapl_object_get(handle, DAPL_KIND_EVD, NULL);
	int r;

	if (!evd)
		return false;
	if (n_asks == ASKS)
		violation("the scenario asks too often");
	answered[n_asks++] = false;
	event.event_data.cr_arrival_event_data.cr_handle = (DAT_CR_HANDLE)(uintptr_t)n_asks;
	r = dapl_evd_post(evd, EVD_STREAM_REQUEST, &event, NULL);
	if (r)
		n_asks--;
	dapl_evd_put(evd);
	return r == 0;
}

void
slots_answer(DAT_CR_HANDLE request)
{
	bool *done = request_of(request);

	if (!done || *done)
		violation("a request to connect is taken or refused twice, or was none");
	*done = true;
}

unsigned int
slots_unanswered(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < n_asks; i++)
		n += !answered[i];
	return n;
}

int
dapl_cr_free_by_handle(DAT_HANDLE handle)
{
	sched_point(OP_ATOMIC, OBJECT_CELLS, &here);
	sched_touch(OP_ATOMIC, OBJECT_CELLS);
	if (!request_of(handle))
		return -ENODEV;
	slots_answer(handle);
	return 0;
}

int
dapl_psp_free_by_handle(DAT_HANDLE handle)
{
	(void)handle;
	return -ENODEV;
}

int
dapl_rsp_free_by_handle(DAT_HANDLE handle)
{
	(void)handle;
	return -ENODEV;
}

int
dapl_csp_free_by_handle(DAT_HANDLE handle)
{
	(void)handle;
	return -ENODEV;
}

/* ---- datagram endpoints: no scenario has one, and this device has none ---- */

void
dapl_sp_hear_all_datagrams(struct dapl_ia *ia)
{
	(void)ia;
}

struct ibv_ah *
ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	(void)pd, (void)attr;
	errno = EOPNOTSUPP;
	return NULL;
}

int
ibv_destroy_ah(struct ibv_ah *ah)
{
	(void)ah;
	return EOPNOTSUPP;
}

int
_ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
    struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	(void)context, (void)port, (void)index, (void)entry, (void)flags, (void)size;
	return EOPNOTSUPP;
}
