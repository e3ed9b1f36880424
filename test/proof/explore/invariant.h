/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * invariant -- what holds of an EVD whenever nobody has its trigger lock
 *
 * `cq` is the completion queue under it, NULL without one or when it was destroyed.
 */
#ifndef REARM_EXPLORE_INVARIANT_H
#define REARM_EXPLORE_INVARIANT_H

#include "cno/cno.h"
#include "device.h"
#include "evd/evd.h"

/* Whether upcalls are made under this policy. */
bool invariant_policy_calls(int policy);

/* Queued events that the taker must have been woken for: an unsolicited completion need not be. */
unsigned int invariant_signalled(const struct evd *evd, const struct device_cq *cq);

/* The EVD knows whether its completion queue is armed. */
void invariant_armed(const struct evd *evd, const struct device_cq *cq, int name);

/*
 * I1: with a taker and nobody on the way, the next event is announced and none waits.  `waiters`:
 * the fibers inside evd_wait().
 */
void invariant_sink(const struct evd *evd, const struct device_cq *cq, uint32_t waiters, int name);

/* The EVD was freed: nothing of it is queued, for that would keep the free waiting. */
void invariant_dead(const struct evd *evd, int name);

/* Nobody can run any more. */
void invariant_rest(const struct evd *evd, const struct device_cq *cq, int name);

/* A CNO, whenever nobody has its lock; `waiters`: the fibers inside cno_wait(). */
void invariant_cno(const struct cno *cno, uint32_t waiters, int name);

/* There are some, and all of them sleep. */
bool invariant_asleep(uint32_t fibers);

#endif
