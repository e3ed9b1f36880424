/* SPDX-License-Identifier: BSD-3-Clause */
/* owed -- the EVD that must deliver an event, and its sink, if no further call is made */
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
	struct adapter *adapter; /* this and the next two are used */
	struct evd *evd;
	struct cno *cno; /* or NULL */
	struct ep *ep;	 /* or NULL: the endpoint whose events must come; not used */
	char what[128];
	const char *sink;
};

bool owed_find(struct owed *owed);
void owed_release(struct owed *owed);

/* The number of events taken since the start of the program. */
uint64_t owed_takings(void);
void owed_note_taking(DAT_EVENT_NUMBER number);
/* Of these: the ESTABLISHED events, and the completions. */
uint64_t owed_connections(void);
/* Of the ESTABLISHED events: the connections to the other process. */
uint64_t owed_abroad(void);
void owed_note_abroad(void);
uint64_t owed_transfers(void);
/* Whether an upcall or agent runs. */
bool owed_inside(void);
/* Reads the overflows that the adapters reported: their EVDs need not deliver all events. */
void owed_read_async(void);

#endif
