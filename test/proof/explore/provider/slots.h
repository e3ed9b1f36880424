/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slots -- stand-ins for parts of dapl/ that are not explored: slots, handles, the registry,
 * addresses, and the files that are left out
 */
#ifndef REARM_EXPLORE_SLOTS_H
#define REARM_EXPLORE_SLOTS_H

#include <dat2/udat.h>
#include <stdbool.h>

/* Before each run. */
void slots_reset(void);
void slots_forget_ias(void);
void slots_forget_removals(void);

/* Requests to connect that wait in EVDs, named by numbers from 1. */
bool slots_ask(DAT_EVD_HANDLE evd);
/* The consumer takes the request's event, or the provider refuses it: one of them, once. */
void slots_answer(DAT_CR_HANDLE request);
/* The number of requests that the consumer did not take and the provider did not refuse. */
unsigned int slots_unanswered(void);
/* EVDs that there are, the adapters' own not counted. */
unsigned int slots_evds(void);

#endif
