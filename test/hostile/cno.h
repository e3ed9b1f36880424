/* SPDX-License-Identifier: BSD-3-Clause */
/* cno -- CNOs: their waiters, agents, descriptors and attached EVDs */
#ifndef REARM_HOSTILE_CNO_H
#define REARM_HOSTILE_CNO_H

#include "life.h"
#include "setting.h"

#define CNO_RECORDS 256
#define CNO_AGENTS 16

struct adapter;
struct evd;

struct cno {
	struct life life;
	int fd; /* -1: none */
	/* Locked by life.lock. */
	struct setting agent; /* the number of the agent that is set, or 0 */
	uint32_t agents;      /* the last number given */
	uint32_t called;      /* the last number that was called */
	uint32_t was_called[CNO_AGENTS];
	unsigned int inside;   /* running agents */
	unsigned int waiters;  /* waiting threads; when woken, they take events from its EVDs */
	unsigned int attaches; /* ever begun */
	bool ended_inside;
};

struct cno *cno_of(struct life *life);

/* Returns it used, or NULL. */
struct cno *cno_make(struct adapter *adapter, bool tame, bool with_fd);
DAT_RETURN cno_free_rudely(struct cno *cno);
/* False if the CNO has ended or an EVD is attached. */
bool cno_end(struct life *life);

/* Waits for a trigger, on the descriptor if the CNO has one; takes the events of that EVD. */
DAT_RETURN cno_wait(struct cno *cno, DAT_TIMEOUT timeout);
/* A wait on a CNO that has ended: the return code must report this. */
void cno_wait_stale(struct cno *cno);
DAT_RETURN cno_set_agent(struct cno *cno, bool install);
/* Takes everything from the EVDs that are attached. */
void cno_drain(struct cno *cno);

/* cno NULL: none. */
DAT_RETURN evd_set_cno(struct evd *evd, struct cno *cno);
DAT_RETURN evd_set_enabled(struct evd *evd, bool enabled);
DAT_RETURN evd_set_waitable(struct evd *evd, bool waitable);

#endif
