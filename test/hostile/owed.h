/* SPDX-License-Identifier: BSD-3-Clause */
/* owed -- which EVD must give an event to whom, if nobody else does anything */
#ifndef REARM_HOSTILE_OWED_H
#define REARM_HOSTILE_OWED_H

#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>

struct adapter;
struct cno;
struct ep;
struct evd;

struct owed {
	struct adapter *adapter; /* these are used */
	struct evd *evd;
	struct cno *cno; /* or NULL */
	struct ep *ep;	 /* or NULL: one that owes; not used */
	char what[128];
	const char *taker;
};

bool owed_find(struct owed *owed);
void owed_release(struct owed *owed);

/* How many events have been taken since the start of the program. */
uint64_t owed_takings(void);
void owed_note_taking(DAT_EVENT_NUMBER number);
/* Of these, how many established a connection, and how many completed a transfer. */
uint64_t owed_connections(void);
/* Of those, how many to the other process. */
uint64_t owed_abroad(void);
void owed_note_abroad(void);
uint64_t owed_transfers(void);
/* Whether an upcall or agent runs. */
bool owed_inside(void);
/* Reads what the adapters tell of overflows, after which less is owed. */
void owed_read_async(void);

#endif
