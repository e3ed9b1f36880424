/* SPDX-License-Identifier: BSD-3-Clause */
/* adapter -- an open interface adapter with its objects; several are open at any time */
#ifndef REARM_HOSTILE_ADAPTER_H
#define REARM_HOSTILE_ADAPTER_H

#include "life.h"

#define ADAPTERS_OPEN	 3
#define ADAPTER_CHILDREN 48

#define ADAPTER_GHOSTS 32
#define ADAPTER_EPS    24 /* places for the buffers of endpoints */

struct adapter {
	struct life life;
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async;
	DAT_PZ_HANDLE pz;
	bool closes_inside; /* upcalls and agents may close it */
	atomic_bool async_overflowed;
	pthread_rwlock_t open; /* read-locked: nobody begins to close it */
	_Atomic(int) inside;   /* upcalls and agents of it that run */
	struct sockaddr_storage address;
	DAT_EP_ATTR ep_attr; /* the provider's defaults */
	/* Registered memory, for whoever uses the adapter. */
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
	 * EVDs and CNOs that were freed by functions of their own: others that had been claimed may
	 * still come, and find their record.
	 */
	struct life *ghost[ADAPTER_GHOSTS];
	unsigned int ghosts;
};

struct adapter *adapter_of(struct life *life);

void adapters_begin(const char *const *names, unsigned int n);

/* An open adapter, used; NULL if there is none. */
struct adapter *adapter_pick(void);
/* The one at this place below ADAPTERS_OPEN, used, or NULL; also one that is being closed politely.
 */
struct adapter *adapter_nth(unsigned int n);
/* Opens one more unless there are enough. */
void adapter_open(bool tame);
/* Closes it whatever it holds, or tries to.  The caller uses it. */
DAT_RETURN adapter_close_rudely(struct adapter *adapter, DAT_CLOSE_FLAGS flags);
/* Ends all its objects politely, then closes it gracefully: all of it has to succeed. */
bool adapter_close_politely(struct adapter *adapter);
void adapters_close_all(void);

/* Whether one is open, or being closed. */
bool adapters_any(void);
/* It is closed: another may be opened in its place. */
void adapter_give_place(uint64_t serial);

/* While this is true no thread closes it; not for long. */
bool adapter_keep_open(struct adapter *adapter);
void adapter_let_close(struct adapter *adapter);

/* The events of its asynchronous EVD. */
void adapter_drain_async(struct adapter *adapter);

/* Its objects.  Picks one of them, used, or NULL. */
bool adapter_has_room(struct adapter *adapter, enum life_kind kind, unsigned int most);
bool adapter_add(struct adapter *adapter, struct life *life);
void adapter_drop(struct adapter *adapter, struct life *life);
struct life *adapter_pick_child(struct adapter *adapter, enum life_kind kind);
/* The serial numbers of all, of one moment: room for ADAPTER_CHILDREN. */
unsigned int adapter_children(struct adapter *adapter, enum life_kind kind, uint64_t *serials);
struct life *adapter_nth_child(struct adapter *adapter, enum life_kind kind, unsigned int n);

/* Keeps the record of an object that has ended for some time. */
void adapter_keep_ghost(struct adapter *adapter, struct life *life);

/* Our functions that the library calls, of this adapter, on this thread. */
int adapter_own_frames(const struct adapter *adapter);

#endif
