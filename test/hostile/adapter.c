/* SPDX-License-Identifier: BSD-3-Clause */
#include "adapter.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "actor.h"
#include "call.h"
#include "clock.h"
#include "cno.h"
#include "ep.h"
#include "evd.h"
#include "psp.h"
#include "report.h"

#define ADAPTER_RECORDS 32
#define ASYNC_QLEN 64
#define ARENA_BYTES (ADAPTER_EPS * EP_BUFFER_BYTES + EP_COMMON_BYTES)

static struct adapter records[ADAPTER_RECORDS];
static const char *const *names;
static unsigned int n_names;

/* The open adapters. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t open_serial[ADAPTERS_OPEN];

struct adapter *
adapter_of(struct life *life)
{
	return (struct adapter *)life;
}

/* ---- its objects ---- */

bool
adapter_has_room(struct adapter *adapter, enum life_kind kind, unsigned int most)
{
	bool room;

	pthread_mutex_lock(&adapter->life.lock);
	room = adapter->child[kind].n < most && adapter->child[kind].n < ADAPTER_CHILDREN;
	pthread_mutex_unlock(&adapter->life.lock);
	return room;
}

bool
adapter_add(struct adapter *adapter, struct life *life)
{
	bool room;

	pthread_mutex_lock(&adapter->life.lock);
	room =
	    adapter->life.stage == STAGE_ALIVE && adapter->child[life->kind].n < ADAPTER_CHILDREN;
	if (room)
		adapter->child[life->kind].serial[adapter->child[life->kind].n++] =
		    atomic_load(&life->serial);
	pthread_mutex_unlock(&adapter->life.lock);
	return room;
}

void
adapter_drop(struct adapter *adapter, struct life *life)
{
	const uint64_t serial = atomic_load(&life->serial);

	pthread_mutex_lock(&adapter->life.lock);
	for (unsigned int i = 0; i < adapter->child[life->kind].n; i++)
		if (adapter->child[life->kind].serial[i] == serial) {
			adapter->child[life->kind].serial[i] =
			    adapter->child[life->kind].serial[--adapter->child[life->kind].n];
			break;
		}
	pthread_mutex_unlock(&adapter->life.lock);
}

unsigned int
adapter_children(struct adapter *adapter, enum life_kind kind, uint64_t *serials)
{
	unsigned int n;

	pthread_mutex_lock(&adapter->life.lock);
	n = adapter->child[kind].n;
	memcpy(serials, adapter->child[kind].serial, n * sizeof *serials);
	pthread_mutex_unlock(&adapter->life.lock);
	return n;
}

struct life *
adapter_nth_child(struct adapter *adapter, enum life_kind kind, unsigned int n)
{
	uint64_t serial = 0;
	struct life *life;

	pthread_mutex_lock(&adapter->life.lock);
	if (n < adapter->child[kind].n)
		serial = adapter->child[kind].serial[n];
	pthread_mutex_unlock(&adapter->life.lock);
	life = life_find(kind, serial);
	return life && life_use(life, serial) ? life : NULL;
}

struct life *
adapter_pick_child(struct adapter *adapter, enum life_kind kind)
{
	unsigned int n;

	pthread_mutex_lock(&adapter->life.lock);
	n = adapter->child[kind].n;
	pthread_mutex_unlock(&adapter->life.lock);
	/* The first ones are picked more often, so that threads meet on them. */
	return n ? adapter_nth_child(adapter, kind, chance(40) ? pick(n < 2 ? n : 2) : pick(n)) :
		   NULL;
}

void
adapter_keep_ghost(struct adapter *adapter, struct life *life)
{
	struct life *old;
	unsigned int at;

	life_hold(life);
	pthread_mutex_lock(&adapter->life.lock);
	at = adapter->ghosts++ % ADAPTER_GHOSTS;
	old = adapter->ghost[at];
	adapter->ghost[at] = life;
	pthread_mutex_unlock(&adapter->life.lock);
	if (old)
		life_unhold(old);
}

static void
release_ghosts(struct adapter *adapter)
{
	for (int i = 0; i < ADAPTER_GHOSTS; i++) {
		struct life *ghost;

		pthread_mutex_lock(&adapter->life.lock);
		ghost = adapter->ghost[i];
		adapter->ghost[i] = NULL;
		pthread_mutex_unlock(&adapter->life.lock);
		if (ghost)
			life_unhold(ghost);
	}
}

int
adapter_own_frames(const struct adapter *adapter)
{
	int n = 0;

	for (const struct frame *f = actor_self()->frame; f; f = f->outer)
		n += f->adapter == adapter;
	return n;
}

/* ---- open ---- */

/* No thread uses the adapter any more, and the device does not access memory after the close. */
static void
release_memory(struct life *life)
{
	release_ghosts(adapter_of(life));
	free(adapter_of(life)->arena);
	adapter_of(life)->arena = NULL;
}

void
adapters_begin(const char *const *ia_names, unsigned int n)
{
	names = ia_names;
	n_names = n;
	for (int i = 0; i < ADAPTER_RECORDS; i++)
		pthread_rwlock_init(&records[i].open, NULL);
	life_pool(LIFE_ADAPTER, records, sizeof records[0], ADAPTER_RECORDS, release_memory);
}

struct adapter *
adapter_nth(unsigned int n)
{
	struct life *life;
	uint64_t serial;

	pthread_mutex_lock(&lock);
	serial = open_serial[n];
	pthread_mutex_unlock(&lock);
	life = life_find(LIFE_ADAPTER, serial);
	return life && life_use(life, serial) ? adapter_of(life) : NULL;
}

struct adapter *
adapter_pick(void)
{
	const unsigned int first = pick(ADAPTERS_OPEN);
	struct adapter *adapter = NULL;

	for (unsigned int i = 0; i < ADAPTERS_OPEN && !adapter; i++)
		adapter = adapter_nth((first + i) % ADAPTERS_OPEN);
	return adapter;
}

static bool
take_place(uint64_t serial)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < ADAPTERS_OPEN && !found; i++)
		if (!open_serial[i]) {
			open_serial[i] = serial;
			found = true;
		}
	pthread_mutex_unlock(&lock);
	return found;
}

void
adapter_give_place(uint64_t serial)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < ADAPTERS_OPEN; i++)
		if (open_serial[i] == serial)
			open_serial[i] = 0;
	pthread_mutex_unlock(&lock);
}

bool
adapters_any(void)
{
	bool any = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < ADAPTERS_OPEN; i++)
		any = any || open_serial[i];
	pthread_mutex_unlock(&lock);
	return any;
}

/* What every adapter has: a protection zone, memory, its address. */
static void
furnish(struct adapter *adapter)
{
	DAT_REGION_DESCRIPTION region;
	DAT_EP_PARAM param;
	DAT_EP_HANDLE ep;
	DAT_IA_ATTR attr;

	dat_must("dat_pz_create", dat_pz_create(adapter->ia, &adapter->pz));
	adapter->arena = calloc(1, ARENA_BYTES);
	if (!adapter->arena)
		report_broken("no memory");
	region.for_va = adapter->arena;
	dat_must(
	    "dat_lmr_create", dat_lmr_create(adapter->ia, DAT_MEM_TYPE_VIRTUAL, region, ARENA_BYTES,
				  adapter->pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &adapter->lmr,
				  &adapter->lmr_context, &adapter->rmr_context, NULL, NULL));
	dat_must("dat_ia_query",
	    dat_ia_query(adapter->ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, NULL));
	memset(&adapter->address, 0, sizeof adapter->address);
	memcpy(&adapter->address, attr.ia_address_ptr,
	    attr.ia_address_ptr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
							 sizeof(struct sockaddr_in));
	dat_must("dat_ep_create", dat_ep_create(adapter->ia, adapter->pz, DAT_HANDLE_NULL,
				      DAT_HANDLE_NULL, DAT_HANDLE_NULL, NULL, &ep));
	dat_must("dat_ep_query", dat_ep_query(ep, DAT_EP_FIELD_EP_ATTR_ALL, &param));
	adapter->ep_attr = param.ep_attr;
	dat_must("dat_ep_free", dat_ep_free(ep));
}

void
adapter_open(bool tame)
{
	struct life *life = life_new(LIFE_ADAPTER, NULL, tame);
	struct adapter *adapter = adapter_of(life);
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	struct call call;

	if (!life)
		return;
	if (!take_place(atomic_load(&life->serial))) {
		life_unborn(life);
		return;
	}
	adapter->closes_inside = !tame && chance(50);
	adapter->async_overflowed = false;
	atomic_store(&adapter->inside, 0);
	memset(adapter->child, 0, sizeof adapter->child);
	memset(adapter->ep_place, 0, sizeof adapter->ep_place);
	call_begin(&call, CALL_IA_OPEN, life, NULL, tame);
	call_end(&call, dat_open(names[pick(n_names)], ASYNC_QLEN, &async, &adapter->ia));
	adapter->async = async;
	furnish(adapter);
	life_born(life, adapter->ia);
	life_unuse(life);
}

/* ---- asynchronous events ---- */

static void
judge_async(struct adapter *adapter, const DAT_EVENT *event)
{
	const DAT_ASYNCH_ERROR_EVENT_DATA *data = &event->event_data.asynch_error_event_data;

	if (event->evd_handle != adapter->async)
		report_wrong(&adapter->life, NULL, "an asynchronous event has the EVD %p",
		    event->evd_handle);
	if (event->event_number == DAT_ASYNC_ERROR_EVD_OVERFLOW)
		evd_note_overflow(adapter, data->dat_handle);
	else if (event->event_number == DAT_ASYNC_ERROR_EP_BROKEN &&
		 life_find_handle(LIFE_EP, data->dat_handle))
		ep_note_broken((struct ep *)life_find_handle(LIFE_EP, data->dat_handle));
	else
		report_wrong(&adapter->life, life_find_handle(LIFE_EP, data->dat_handle),
		    "the asynchronous event %#x of %p, reason %d",
		    (unsigned int)event->event_number, data->dat_handle, (int)data->reason);
}

void
adapter_drain_async(struct adapter *adapter)
{
	DAT_EVENT event;
	DAT_RETURN ret;

	while ((ret = dat_evd_dequeue(adapter->async, &event)) == DAT_SUCCESS)
		judge_async(adapter, &event);
	if (dat_is(ret, DAT_INVALID_STATE))
		adapter->async_overflowed = true;
	else if (!dat_is(ret, DAT_QUEUE_EMPTY) &&
		 !(dat_is(ret, DAT_INVALID_HANDLE) && life_may_be_ending(&adapter->life)))
		report_wrong(&adapter->life, NULL,
		    "the asynchronous EVD: dat_evd_dequeue returned %s", dat_name(ret));
}
