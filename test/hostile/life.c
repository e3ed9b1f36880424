/* SPDX-License-Identifier: BSD-3-Clause */
#include "life.h"

#include <stdio.h>

#include "actor.h"
#include "clock.h"
#include "ep.h"
#include "evd.h"
#include "report.h"

#define GRAVES 16

static struct pool {
	pthread_mutex_t lock;
	char *base;
	size_t size;
	unsigned int count;
	void (*unused)(struct life *life);
	uint64_t rest_ticks;
	struct life *first, *last;
	atomic_ulong made;
	/* Objects that have recently ended. */
	_Atomic(struct life *) grave[GRAVES];
	_Atomic(uint64_t) grave_serial[GRAVES];
	atomic_uint graves;
} pools[LIFE_KINDS];

static struct life *
at(const struct pool *pool, unsigned int slot)
{
	return (struct life *)(pool->base + slot * pool->size);
}

static void
put_back(struct life *life)
{
	struct pool *pool = &pools[life->kind];

	if (pool->unused)
		pool->unused(life);
	pthread_mutex_lock(&pool->lock);
	life->next = NULL;
	life->tick = clock_tick();
	if (pool->last)
		pool->last->next = life;
	else
		pool->first = life;
	pool->last = life;
	pthread_mutex_unlock(&pool->lock);
}

void
life_pool(enum life_kind kind, void *base, size_t size, unsigned int count,
    void (*unused)(struct life *life))
{
	struct pool *pool = &pools[kind];

	pthread_mutex_init(&pool->lock, NULL);
	pool->base = base;
	pool->size = size;
	pool->count = count;
	for (unsigned int i = 0; i < count; i++) {
		struct life *life = at(pool, i);

		pthread_mutex_init(&life->lock, NULL);
		life->kind = kind;
		life->slot = i;
		put_back(life);
	}
	pool->unused = unused;
}

void
life_pool_rests(enum life_kind kind, uint64_t ticks)
{
	pools[kind].rest_ticks = ticks;
}

struct life *
life_new(enum life_kind kind, struct life *home, bool tame)
{
	struct pool *pool = &pools[kind];
	struct life *life;
	uint64_t serial;

	pthread_mutex_lock(&pool->lock);
	life = pool->first;
	if (life && atomic_load(&life->serial) && life->tick + pool->rest_ticks > clock_tick())
		life = NULL;
	if (life) {
		pool->first = life->next;
		if (!pool->first)
			pool->last = NULL;
	}
	pthread_mutex_unlock(&pool->lock);
	if (!life)
		return NULL;

	pthread_mutex_lock(&life->lock);
	serial = atomic_load(&life->serial);
	atomic_store(&life->serial, (serial ? serial : life->slot) + pool->count);
	atomic_store(&life->handle, DAT_HANDLE_NULL);
	life->home = home;
	life->home_serial = home ? atomic_load(&home->serial) : 0;
	life->tame = tame;
	atomic_store(&life->born, 0);
	atomic_store(&life->end_begun, 0);
	atomic_store(&life->end_done, 0);
	atomic_store(&life->tried, 0);
	life->stage = STAGE_UNBORN;
	life->gate = false;
	life->users = 1;
	life->holds = life->enders = 0;
	pthread_mutex_unlock(&life->lock);
	return life;
}

void
life_born(struct life *life, DAT_HANDLE handle)
{
	pthread_mutex_lock(&life->lock);
	atomic_store(&life->handle, handle);
	atomic_store(&life->born, clock_stamp());
	if (life->stage == STAGE_UNBORN)
		life->stage = STAGE_ALIVE;
	pthread_mutex_unlock(&life->lock);
	atomic_fetch_add(&pools[life->kind].made, 1);
}

/* Locked.  Whether the record is unused: then the caller, unlocked, returns it to its pool. */
static bool
abandoned(struct life *life)
{
	if (life->stage != STAGE_DEAD || life->users || life->holds)
		return false;
	life->stage = STAGE_FREE;
	return true;
}

void
life_unborn(struct life *life)
{
	bool last;

	pthread_mutex_lock(&life->lock);
	life->stage = STAGE_DEAD;
	atomic_store(&life->end_begun, clock_stamp());
	atomic_store(&life->end_done, clock_stamp());
	life->users--;
	last = abandoned(life);
	pthread_mutex_unlock(&life->lock);
	if (last)
		put_back(life);
}

struct life *
life_find(enum life_kind kind, uint64_t serial)
{
	const struct pool *pool = &pools[kind];
	struct life *life = at(pool, (unsigned int)(serial % pool->count));

	return serial && atomic_load(&life->serial) == serial ? life : NULL;
}

struct life *
life_find_bits(enum life_kind kind, uint64_t bits)
{
	/* The number of records is a power of two, so the low bits name the slot. */
	struct life *life = at(&pools[kind], (unsigned int)(bits % pools[kind].count));

	return bits && life_bits(life) == bits ? life : NULL;
}

struct life *
life_find_handle(enum life_kind kind, DAT_HANDLE handle)
{
	const struct pool *pool = &pools[kind];
	struct life *found = NULL;

	for (unsigned int i = 0; i < pool->count; i++) {
		struct life *life = at(pool, i);

		if (atomic_load(&life->serial) && atomic_load(&life->handle) == handle &&
		    (!found || atomic_load(&found->born) < atomic_load(&life->born)))
			found = life;
	}
	return found;
}

static bool
use(struct life *life, uint64_t serial, bool stale)
{
	bool ok;

	pthread_mutex_lock(&life->lock);
	ok = atomic_load(&life->serial) == serial &&
	     (stale ? life->stage != STAGE_FREE : life->stage == STAGE_ALIVE && !life->gate);
	if (ok)
		life->users++;
	pthread_mutex_unlock(&life->lock);
	return ok;
}

bool
life_use(struct life *life, uint64_t serial)
{
	return use(life, serial, false);
}

bool
life_use_stale(struct life *life, uint64_t serial)
{
	return use(life, serial, true);
}

void
life_unuse(struct life *life)
{
	bool last;

	pthread_mutex_lock(&life->lock);
	life->users--;
	last = abandoned(life);
	pthread_mutex_unlock(&life->lock);
	if (last)
		put_back(life);
}

void
life_hold(struct life *life)
{
	pthread_mutex_lock(&life->lock);
	life->holds++;
	pthread_mutex_unlock(&life->lock);
}

void
life_unhold(struct life *life)
{
	bool last;

	pthread_mutex_lock(&life->lock);
	life->holds--;
	last = abandoned(life);
	pthread_mutex_unlock(&life->lock);
	if (last)
		put_back(life);
}

bool
life_close_gate(struct life *life)
{
	bool alone, ok;

	pthread_mutex_lock(&life->lock);
	ok = life->stage == STAGE_ALIVE && !life->gate;
	if (ok)
		life->gate = true;
	alone = life->users == 1;
	pthread_mutex_unlock(&life->lock);
	while (ok && !alone) {
		clock_nap_us(200);
		pthread_mutex_lock(&life->lock);
		alone = life->users == 1;
		pthread_mutex_unlock(&life->lock);
	}
	return ok;
}

void
life_open_gate(struct life *life)
{
	pthread_mutex_lock(&life->lock);
	life->gate = false;
	pthread_mutex_unlock(&life->lock);
}

bool
life_open_gate_unless_ended(struct life *life)
{
	const bool ended = life_end(life) != 0;

	if (!ended)
		life_open_gate(life);
	return ended;
}

void
life_end_begin(struct life *life)
{
	pthread_mutex_lock(&life->lock);
	life->enders++;
	if (!atomic_load(&life->end_begun))
		atomic_store(&life->end_begun, clock_stamp());
	pthread_mutex_unlock(&life->lock);
}

void
life_end_failed(struct life *life)
{
	pthread_mutex_lock(&life->lock);
	if (life->kind == LIFE_CR)
		atomic_store(&life->tried, clock_stamp());
	if (--life->enders == 0 && life->stage != STAGE_DEAD)
		atomic_store(&life->end_begun, 0);
	pthread_mutex_unlock(&life->lock);
}

bool
life_ended(struct life *life)
{
	struct pool *pool = &pools[life->kind];
	bool first, last;
	unsigned int i;

	pthread_mutex_lock(&life->lock);
	first = life->stage != STAGE_DEAD;
	if (first) {
		if (!atomic_load(&life->end_begun))
			atomic_store(&life->end_begun, clock_stamp());
		atomic_store(&life->end_done, clock_stamp());
		life->stage = STAGE_DEAD;
		i = atomic_fetch_add(&pool->graves, 1) % GRAVES;
		atomic_store(&pool->grave[i], life);
		atomic_store(&pool->grave_serial[i], atomic_load(&life->serial));
	}
	if (life->enders)
		life->enders--;
	last = abandoned(life);
	pthread_mutex_unlock(&life->lock);
	if (last)
		put_back(life);
	return first;
}

/* The adapter, or NULL: the object has none, or the record of its adapter has been reused. */
static const struct life *
home_of(const struct life *life, bool *gone)
{
	*gone = life->home && atomic_load(&life->home->serial) != life->home_serial;
	return *gone ? NULL : life->home;
}

bool
life_may_be_ending(const struct life *life)
{
	const struct life *home;
	bool gone;

	if (atomic_load(&life->end_begun))
		return true;
	home = home_of(life, &gone);
	return gone || (home && atomic_load(&home->end_begun));
}

uint64_t
life_home_end(const struct life *life)
{
	const struct life *home;
	bool gone;

	home = home_of(life, &gone);
	return gone ? 1 : home ? atomic_load(&home->end_done) : 0;
}

uint64_t
life_end(const struct life *life)
{
	const uint64_t end = atomic_load(&life->end_done), other = life_home_end(life);

	return !end || (other && other < end) ? other : end;
}

bool
life_handle_came_back(const struct life *life)
{
	const DAT_HANDLE handle = atomic_load(&life->handle);

	for (enum life_kind kind = LIFE_ADAPTER; kind < LIFE_KINDS; kind++)
		for (unsigned int i = 0; i < pools[kind].count; i++) {
			const struct life *other = at(&pools[kind], i);

			/* An object that is being created may have it. */
			if (other != life &&
			    (atomic_load(&other->handle) == handle ||
				(atomic_load(&other->serial) && !atomic_load(&other->born) &&
				    !atomic_load(&other->end_done))))
				return true;
		}
	return false;
}

uint64_t
life_name(const struct life *life)
{
	return life ? (uint64_t)life->kind << 56 | atomic_load(&life->serial) : 0;
}

const char *
life_name_text(uint64_t name)
{
	static const char *const kinds[LIFE_KINDS] = { "none", "IA", "EVD", "CNO", "EP", "PSP",
		"CR", "queue" };
	static __thread char texts[4][32];
	static __thread int next;
	char *text = texts[next++ % 4];

	snprintf(text, sizeof texts[0], "%s#%llu", kinds[(name >> 56) % LIFE_KINDS],
	    (unsigned long long)(name & UINT64_C(0xffffffffffffff)));
	return text;
}

void
life_print(const struct life *life)
{
	static const char *const stages[] = { "free", "unborn", "alive", "dead" };

	fprintf(stderr,
	    "%s: handle %p, %s, %s, of %s, born @%llu, ending from @%llu, ended @%llu, "
	    "%u users, %u holds%s\n",
	    life_name_text(life_name(life)), atomic_load(&life->handle), stages[life->stage],
	    life->tame ? "tame" : "wild",
	    life->home ? life_name_text((uint64_t)LIFE_ADAPTER << 56 | life->home_serial) : "none",
	    (unsigned long long)atomic_load(&life->born),
	    (unsigned long long)atomic_load(&life->end_begun), (unsigned long long)life_end(life),
	    life->users, life->holds, life->gate ? ", gate closed" : "");
	if (life->kind == LIFE_EVD)
		evd_print((const struct evd *)life);
	if (life->kind == LIFE_EP)
		ep_print((const struct ep *)life);
}

struct life *
life_pick_stale(enum life_kind kind)
{
	struct pool *pool = &pools[kind];
	unsigned int i = pick(GRAVES);
	struct life *life = atomic_load(&pool->grave[i]);

	if (!life || !life_use_stale(life, atomic_load(&pool->grave_serial[i])))
		return NULL;
	return life;
}

unsigned long
life_count(enum life_kind kind)
{
	return atomic_load(&pools[kind].made);
}
