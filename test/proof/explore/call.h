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
	return stage.scenario->verbs >> verb & 1;
}

/* Whether a fault of this run explains the error. */
bool call_explained(int r);
/* A result other than 0 must be allowed, or explained. */
void call_result(const char *what, int r, bool allowed);
/* The EVD was freed by somebody. */
bool call_gone(int r);

/* ---- EVDs: what enters ---- */

void call_complete(struct stage_evd *e, const struct action *a);
void call_post(struct stage_evd *e, enum verb verb, int actor);
void call_overflow(struct stage_evd *e);
void call_purge(struct stage_evd *e);

/* ---- what takes ---- */

int call_dequeue(struct stage_evd *e);
int call_wait(struct stage_evd *e, int threshold, int us);
void call_take(struct stage_evd *e, int n);

/* ---- what changes them ---- */

int call_modify(struct stage_evd *e, int policy, const struct action *a);
void call_rearm(struct stage_evd *e);
/* From the EVD's own upcall: those who tear it down in the same way do not wait for this one. */
void call_exempt(struct stage_evd *e);
void call_resize(struct stage_evd *e, int qlen);
void call_attach(struct stage_evd *e, struct stage_cno *c);
void call_free(struct stage_evd *e);

/* ---- CNOs ---- */

/* Drains the EVD that a CNO handed out; `drained` of others counts its events. */
unsigned int call_drain_handed(DAT_EVD_HANDLE handle);
int call_cno_wait(struct stage_cno *c, int us, unsigned int *drained);
int call_trigger(struct stage_cno *c, unsigned int *drained);
void call_serve(struct stage_cno *c, int n);
void call_watch(struct stage_cno *c, int n);
void call_agent(struct stage_cno *c, bool installed);
void call_cno_free(struct stage_cno *c, bool abrupt);

/* ---- loops ---- */

void call_loop(void);
void call_source(void);
void call_close_loop(void);

#endif
