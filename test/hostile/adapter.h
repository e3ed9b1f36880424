/* SPDX-License-Identifier: BSD-3-Clause */
/* adapter -- an open interface adapter with its objects; several are open at any time */
#ifndef REARM_HOSTILE_ADAPTER_H
#define REARM_HOSTILE_ADAPTER_H

#include "life.h"

#define ADAPTERS_OPEN 3
#define ADAPTER_CHILDREN 48

#define ADAPTER_GHOSTS 32
#define ADAPTER_EPS 24 /* places for the buffers of endpoints */

struct adapter {
	struct life life;
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async;
	DAT_PZ_HANDLE pz;
	bool closes_inside; /* upcalls and agents may close it */
	atomic_bool async_overflowed;
	pthread_rwlock_t open; /* read-locked: no thread begins to close it */
	_Atomic(int) inside;   /* running upcalls and agents of the adapter */
	struct sockaddr_storage address;
	DAT_EP_ATTR ep_attr; /* the provider's defaults */
	/* Registered memory, for all users of the adapter. */
	char *arena;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT lmr_context;
	DAT_RMR_CONTEXT rmr_context;
	/* Locked by life.lock. */
	struct {
		uint64_t serial[ADAPTER_CHILDREN];
		unsigned int n;
	} child[LIFE_KINDS];
	uint64_t ep_place[ADAPTER_EPS]; /* the serial number of its user */
	/*
	 * EVDs and CNOs that were freed by their own upcall or agent.  Upcalls that were claimed
	 * before may still come, and need the record.
	 */
	struct life *ghost[ADAPTER_GHOSTS];
	unsigned int ghosts;
};

struct adapter *adapter_of(struct life *life);

void adapters_begin(const char *const *names, unsigned int n);

/* An open adapter, used; NULL if there is none. */
struct adapter *adapter_pick(void);
/* The adapter at this place below ADAPTERS_OPEN, used, or NULL.  It may be closing politely. */
struct adapter *adapter_nth(unsigned int n);
/* Opens one more adapter unless ADAPTERS_OPEN are open. */
void adapter_open(bool tame);
/* Tries to close the adapter abruptly, whatever it holds.  The caller uses it. */
DAT_RETURN adapter_close_rudely(struct adapter *adapter, DAT_CLOSE_FLAGS flags);
/* Ends all its objects politely, then closes it gracefully.  Every step must succeed. */
bool adapter_close_politely(struct adapter *adapter);
void adapters_close_all(void);

/* Whether an adapter is open or being closed. */
bool adapters_any(void);
/* The adapter is closed: another may be opened in its place. */
void adapter_give_place(uint64_t serial);

/* Keeps other threads from closing it.  Keep it short. */
bool adapter_keep_open(struct adapter *adapter);
void adapter_let_close(struct adapter *adapter);

/* Reads the events of its asynchronous EVD. */
void adapter_drain_async(struct adapter *adapter);

/* The objects of the adapter.  The pick is used, or NULL. */
bool adapter_has_room(struct adapter *adapter, enum life_kind kind, unsigned int most);
bool adapter_add(struct adapter *adapter, struct life *life);
void adapter_drop(struct adapter *adapter, struct life *life);
struct life *adapter_pick_child(struct adapter *adapter, enum life_kind kind);
/* A snapshot of all serial numbers; the array has room for ADAPTER_CHILDREN. */
unsigned int adapter_children(struct adapter *adapter, enum life_kind kind, uint64_t *serials);
struct life *adapter_nth_child(struct adapter *adapter, enum life_kind kind, unsigned int n);

/* Keeps the record of an object that has ended for some time. */
void adapter_keep_ghost(struct adapter *adapter, struct life *life);

/* The number of upcalls and agents of this adapter that the calling thread is in. */
int adapter_own_frames(const struct adapter *adapter);

#endif
