/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * life -- the record of a DAT object from its creation to its end
 *
 * The record of an object outlives the object, so that late calls, upcalls and events can be
 * checked.  It is reused, for another object with another serial number, when the object has ended
 * and no thread uses the record.
 *
 * A tame object is only ended politely: when no thread is in a call on it, and after all its events
 * were taken.  A wild one may be freed at any moment.  Both end when their adapter is closed.
 */
#ifndef REARM_HOSTILE_LIFE_H
#define REARM_HOSTILE_LIFE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dat.h"

enum life_kind {
	LIFE_NONE,
	LIFE_ADAPTER,
	LIFE_EVD,
	LIFE_CNO,
	LIFE_EP,
	LIFE_PSP,
	LIFE_CR,
	LIFE_QUEUE, /* of librearm: queue.h */
	LIFE_KINDS
};

enum life_stage {
	STAGE_FREE,   /* the record is in its pool */
	STAGE_UNBORN, /* it is being created */
	STAGE_ALIVE,
	STAGE_DEAD, /* the object has ended, the record is still used */
};

struct life {
	pthread_mutex_t lock; /* also for the record around it */
	enum life_kind kind;
	uint32_t slot;
	_Atomic(uint64_t) serial;
	_Atomic(DAT_HANDLE) handle;
	struct life *home; /* its adapter, and the serial number of that */
	uint64_t home_serial;
	bool tame;
	/* Stamps: the create returned; a call that may end it began; it ended.  0: not yet. */
	_Atomic(uint64_t) born, end_begun, end_done;
	/* For a connection request: when an answer last failed.  Until then another answer may
	 * return INVALID_HANDLE. */
	_Atomic(uint64_t) tried;
	/* Locked. */
	enum life_stage stage;
	bool gate;	    /* it is being ended politely: no new users */
	unsigned int users; /* threads in calls on it */
	unsigned int holds; /* other objects that depend on it */
	unsigned int enders;
	struct life *next; /* in its pool */
	uint64_t tick;	   /* when it entered the pool */
};

/*
 * `base` is an array of `count` records of `size` bytes, each beginning with a struct life.
 * `unused` (or NULL) is called when the last user of the record of an ended object has left.
 */
void life_pool(enum life_kind kind, void *base, size_t size, unsigned int count,
    void (*unused)(struct life *life));

/* Records of this kind are not reused for so long. */
void life_pool_rests(enum life_kind kind, uint64_t ticks);

/* A record for an object that is to be created, used by the caller; NULL when all are in use. */
struct life *life_new(enum life_kind kind, struct life *home, bool tame);
void life_born(struct life *life, DAT_HANDLE handle);
/* It could not be created. */
void life_unborn(struct life *life);

/* The record with this serial number, or with these low bits of it, or NULL.  Unused. */
struct life *life_find(enum life_kind kind, uint64_t serial);
/* The record of the object that has this handle, or had it last. */
struct life *life_find_handle(enum life_kind kind, DAT_HANDLE handle);
#define LIFE_BITS 28
struct life *life_find_bits(enum life_kind kind, uint64_t bits);
static inline uint64_t
life_bits(const struct life *life)
{
	return atomic_load(&life->serial) & ((UINT64_C(1) << LIFE_BITS) - 1);
}

/* Uses it for a call.  False if the record was reused, or the object has ended or is being ended
 * politely. */
bool life_use(struct life *life, uint64_t serial);
/* The same for an object that may have ended, while it has a record. */
bool life_use_stale(struct life *life, uint64_t serial);
void life_unuse(struct life *life);
/* Another object depends on it. */
void life_hold(struct life *life);
void life_unhold(struct life *life);

/* Shuts out new users and waits until the caller is the only user.  False if it is already being
 * ended. */
bool life_close_gate(struct life *life);
void life_open_gate(struct life *life);
/* Whether it has ended.  For use after a free that may have failed because another free was in
 * progress. */
bool life_open_gate_unless_ended(struct life *life);

/* Around a call that may end it. */
void life_end_begin(struct life *life);
void life_end_failed(struct life *life);
/* False if it had ended already. */
bool life_ended(struct life *life);

/* Whether a call that ends it or its adapter may have begun; when it ended, or 0. */
bool life_may_be_ending(const struct life *life);
uint64_t life_end(const struct life *life);
/* The same for its adapter only. */
uint64_t life_home_end(const struct life *life);
/* Whether another object has had its handle since. */
bool life_handle_came_back(const struct life *life);

/* For messages and traces. */
uint64_t life_name(const struct life *life);
const char *life_name_text(uint64_t name);
void life_print(const struct life *life);

/* Picks an object that has recently ended; returns it used stale, or NULL. */
struct life *life_pick_stale(enum life_kind kind);
unsigned long life_count(enum life_kind kind);

#endif
