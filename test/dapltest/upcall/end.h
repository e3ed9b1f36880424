/* SPDX-License-Identifier: BSD-3-Clause */
/* end -- common code of the tests that close adapters */
#ifndef REARM_TEST_UPCALL_END_H
#define REARM_TEST_UPCALL_END_H

#include "lib/upcall_story.h"

/* Opens an adapter without any objects. */
void end_open(struct dt_side *side, const char *name);
DAT_RETURN end_step(DAT_IA_HANDLE ia, int timeout_ms);

/* For up_thread(): frees the EVD.  Its result is checked by end_join(). */
void *end_frees_evd(void *evd);
void end_join(pthread_t thread);

/* Returns when another thread's free of the object has begun. */
void end_await_freeing(DAT_HANDLE object);

/* Acts of an upcall: close the adapter; free the EVD, and run until released. */
void end_closes(struct up *up, const DAT_EVENT *event);
void end_frees_and_runs_on(struct up *up, const DAT_EVENT *event);

/* Callbacks run from end_hold_all() until the time of end_release_in() is over. */
void end_hold_all(void);
pthread_t end_release_in(unsigned int ms);
void end_runs_on(void);

/* An adapter with one EVD, one CNO, and its agent. */
struct end_agent {
	DAT_IA_HANDLE ia;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;
	_Atomic(bool) gate;
	_Atomic(int) entered, returned;
	void (*act)(struct end_agent *agent);
};

/* Opens it; the agent runs and waits at its gate. */
void end_agent_open(struct end_agent *agent, void (*act)(struct end_agent *agent));

#endif
