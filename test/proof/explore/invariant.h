/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * invariant -- what must be true of an EVD whenever its trigger lock is free
 *
 * `cq` is the completion queue under it; NULL if it has none, or if the queue was destroyed.
 */
#ifndef REARM_EXPLORE_INVARIANT_H
#define REARM_EXPLORE_INVARIANT_H

#include "cno/cno.h"
#include "device.h"
#include "evd/evd.h"

/* Whether upcalls are made under this policy. */
bool invariant_policy_calls(int policy);

/*
 * The queued events for which the sink must have been woken.  If they are for solicited
 * completions, others are counted only if upcalls get them.
 */
unsigned int invariant_signalled(const struct evd *evd, const struct device_cq *cq);

/* The mark `armed` of the EVD agrees with its completion queue. */
void invariant_armed(const struct evd *evd, const struct device_cq *cq, int name);

/* A dequeue may take events directly if the EVD is alive and no thread waits on it. */
void invariant_direct(const struct evd *evd, int name);

/*
 * I1: if the EVD has a sink and no thread is about to run it, the next event raises a notification
 * and no event waits. `waiters`: the fibers inside evd_wait().
 */
void invariant_sink(const struct evd *evd, const struct device_cq *cq, uint32_t waiters, int name);

/* The EVD was freed: its job is not queued, since the free would wait for it. */
void invariant_dead(const struct evd *evd, int name);

/*
 * No thread can run any more.  `leaves`: a thread may have left events to the next cno_trywait().
 */
void invariant_rest(const struct evd *evd, const struct device_cq *cq, bool leaves, int name);

/* A CNO, whenever its lock is free; `waiters`: the fibers inside cno_wait(). */
void invariant_cno(const struct cno *cno, uint32_t waiters, int name);

/* The set is not empty, and all fibers in it sleep. */
bool invariant_asleep(uint32_t fibers);

#endif
