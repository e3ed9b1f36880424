/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call -- the dispatcher's calls, as the actors of a scenario make them
 *
 * Each judges what the call returned, and hands what it took to the oracle.
 */
#ifndef REARM_EXPLORE_CALL_H
#define REARM_EXPLORE_CALL_H

#include "stage.h"

#define CALL_TRIES 64 /* of a call that failed by a fault: faults are few */

static inline bool
call_has(enum verb verb)
{
	return stage.scenario->verbs[verb];
}

/* A call in progress: its object, and whether this object was freed when the call began. */
struct call {
	struct stage_evd *evd; /* one of the two */
	struct stage_cno *cno;
	unsigned int serial;
	bool late;
};

/* identity.c: around each call. */
struct call call_begins(struct stage_evd *e);
struct call call_begins_cno(struct stage_cno *n);
void call_ends(void); /* of a call without a result */
void call_ends_with(const struct call *c, const char *what, int r);
void identity_reset(void);

static inline struct evd_ref
call_ref(const struct call *c)
{
	return (struct evd_ref){ &c->evd->evd, c->serial };
}

static inline struct cno_ref
call_cno_ref(const struct call *c)
{
	return (struct cno_ref){ &c->cno->cno, c->serial };
}

/* The EVD of the call is still in its slot, or no other one was created there since. */
static inline bool
call_current(const struct call *c)
{
	return c->serial == c->evd->serial;
}

/* Whether a fault of this run explains the error. */
bool call_explained(int r);
/* A result other than 0 must be allowed, or explained. */
void call_result(const char *what, int r, bool allowed);
/* Whether the call returned -ENODEV, and its object was freed. */
bool call_gone(const struct call *c, int r);

/* ---- EVDs: what enters ---- */

void call_complete(struct stage_evd *e, const struct action *a);
void call_post(struct stage_evd *e, enum verb verb, int actor, int ep);
void call_overflow(struct stage_evd *e);
void call_purge(struct stage_evd *e);
void call_leave(struct stage_evd *e, int ep, bool again);
void call_depth(struct stage_evd *e, unsigned int depth);
void call_refresh(struct stage_evd *e);
void call_empty(struct stage_evd *e);

/* ---- what takes ---- */

int call_dequeue(struct stage_evd *e);
int call_several(struct stage_evd *e, unsigned int most);
int call_wait(struct stage_evd *e, int threshold, int us);
void call_take(struct stage_evd *e, int n);

/* ---- what changes them ---- */

int call_modify(struct stage_evd *e, int policy, const struct action *a);
void call_rearm(struct stage_evd *e);
/* From an upcall of the EVD: other upcalls that call TEARDOWN or free do not wait for this one. */
void call_exempt(struct stage_evd *e);
void call_resize(struct stage_evd *e, int qlen);
void call_attach(struct stage_evd *e, struct stage_cno *c);
void call_free(struct stage_evd *e);
void call_closing(struct stage_evd *e);
void call_shut(struct stage_evd *e);
/* From inside a callback, while a close may wait for that: free and TEARDOWN wait for no closer. */
bool call_gives_way(void);
void call_waitable(struct stage_evd *e, bool waitable);
void call_enabled(struct stage_evd *e, bool enabled);
void call_solicited(struct stage_evd *e, bool only);
void call_query(struct stage_evd *e);
void call_wrong(struct stage_evd *e);

/* ---- CNOs ---- */

/* Drains the EVD that a CNO handed out; `drained` of others counts its events. */
unsigned int call_drain_handed(struct stage_cno *c, void *handle);
int call_cno_wait(struct stage_cno *c, int us, unsigned int *drained);
int call_trigger(struct stage_cno *c, unsigned int *drained);
/* The same by cno_trywait(); it takes one event, and leaves the others. */
int call_trywait(struct stage_cno *c, unsigned int *taken);
void call_serve(struct stage_cno *c, int n);
void call_watch(struct stage_cno *c, int n);
/* The same by cno_trywait(), until there is no trigger before each sleep and at the end. */
void call_pick(struct stage_cno *c, int n);
void call_agent(struct stage_cno *c, bool installed);
void call_cno_free(struct stage_cno *c, bool abrupt);
void call_cno_closing(struct stage_cno *c);
void call_cno_shut(struct stage_cno *n);
void call_cno_query(struct stage_cno *c);

/* ---- loops ---- */

void call_loop(void);
void call_source(void);
void call_close_loop(void);

#endif
