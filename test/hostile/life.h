/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * life -- what the program knows about an object of DAT from its creation to its end
 *
 * The record of an object lives longer than the object: late calls, late upcalls and late events
 * are judged by it.  It is used again, for another object and with another serial number, when the
 * object has ended and no thread uses the record.
 *
 * A tame object is ended politely only: when no thread is in a call on it, and after all that it
 * owes was taken.  A wild one may be freed at any moment.  Both go when their adapter is closed.
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
	LIFE_KINDS
};

enum life_stage {
	STAGE_FREE,   /* the record is in its pool */
	STAGE_UNBORN, /* it is being created */
	STAGE_ALIVE,
	STAGE_DEAD, /* the record waits for its last user */
};

struct life {
	pthread_mutex_t lock; /* also of the record around it */
	enum life_kind kind;
	uint32_t slot;
	_Atomic(uint64_t) serial;
	_Atomic(DAT_HANDLE) handle;
	struct life *home; /* its adapter, and the serial number of that */
	uint64_t home_serial;
	bool tame;
	/* Stamps: creating returned; a call began that may end it; it ended.  0: not yet. */
	_Atomic(uint64_t) born, end_begun, end_done;
	/* Of a connection request: when an answer failed last.  Until then another got
	 * INVALID_HANDLE. */
	_Atomic(uint64_t) tried;
	/* Locked. */
	enum life_stage stage;
	bool gate;	    /* it is being ended politely: no new users */
	unsigned int users; /* threads in calls on it */
	unsigned int holds; /* other objects that were made with it */
	unsigned int enders;
	struct life *next; /* in its pool */
	uint64_t tick;	   /* when it was put there */
};

/*
 * `base` is an array of `count` records of `size` bytes, each beginning with a struct life.
 * `unused` (or NULL) is called when nobody uses the record of an object that has ended any more.
 */
void life_pool(enum life_kind kind, void *base, size_t size, unsigned int count,
	       void (*unused)(struct life *life));

/* Records of this kind are left alone for so long after they were used. */
void life_pool_rests(enum life_kind kind, uint64_t ticks);

/* A record for an object that is to be created, used by the caller; NULL when all are in use. */
struct life *life_new(enum life_kind kind, struct life *home, bool tame);
void life_born(struct life *life, DAT_HANDLE handle);
/* It could not be created. */
void life_unborn(struct life *life);

/* The record with this serial number, or with these low bits of it, or NULL.  Unused. */
struct life *life_find(enum life_kind kind, uint64_t serial);
/* The one that has this handle, or had it last. */
struct life *life_find_handle(enum life_kind kind, DAT_HANDLE handle);
#define LIFE_BITS 28
struct life *life_find_bits(enum life_kind kind, uint64_t bits);
static inline uint64_t
life_bits(const struct life *life)
{
	return atomic_load(&life->serial) & ((UINT64_C(1) << LIFE_BITS) - 1);
}

/* Uses it for a call; false when it is not the object any more, has ended, or is being ended
 * politely. */
bool life_use(struct life *life, uint64_t serial);
/* The same of an object that may be dead, as long as there is a record. */
bool life_use_stale(struct life *life, uint64_t serial);
void life_unuse(struct life *life);
/* Another object depends on it. */
void life_hold(struct life *life);
void life_unhold(struct life *life);

/* Shuts out new users and waits until the caller is the only one: false if it is being ended
 * already. */
bool life_close_gate(struct life *life);
void life_open_gate(struct life *life);
/* After an attempt to end it, which may have failed only because another is on the way: whether it
 * has ended. */
bool life_open_gate_unless_ended(struct life *life);

/* Around a call that may end it. */
void life_end_begin(struct life *life);
void life_end_failed(struct life *life);
/* False if it had ended already. */
bool life_ended(struct life *life);

/* Of it or of its adapter: whether a call that ends it may have begun; when it was over, or 0. */
bool life_may_be_ending(const struct life *life);
uint64_t life_end(const struct life *life);
/* The same of its adapter alone. */
uint64_t life_home_end(const struct life *life);
/* Whether another object has got its handle since. */
bool life_handle_came_back(const struct life *life);

/* For messages and traces. */
uint64_t life_name(const struct life *life);
const char *life_name_text(uint64_t name);
void life_print(const struct life *life);

/* Objects that ended lately: one of them, used stale, or NULL. */
struct life *life_pick_stale(enum life_kind kind);
unsigned long life_count(enum life_kind kind);

#endif
