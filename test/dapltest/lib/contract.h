/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * contract -- what the suites of test-contract share
 *
 * There is a suite for each clause of the contract for events.  Most tests run with each
 * personality of the software device: they are loop tests, and pass their number to contract_side()
 * or dt_personality().
 */
#ifndef REARM_TEST_LIB_CONTRACT_H
#define REARM_TEST_LIB_CONTRACT_H

#include <pthread.h>

#include "dt.h"

/* A side on a device with that personality; a connected pair of them. */
void contract_side(struct dt_side *side, int i);
void contract_pair(struct dt_pair *pair, enum dt_evds evds, int i);

/* The value of the software event that comes next. */
void contract_expect_se(DAT_EVD_HANDLE evd, uintptr_t value);
DAT_EVD_PARAM contract_query(DAT_EVD_HANDLE evd);
/* An EVD with a CNO. */
DAT_EVD_HANDLE contract_evd(
    const struct dt_side *side, DAT_CNO_HANDLE cno, DAT_EVD_FLAGS flags, DAT_COUNT qlen);
DAT_CNO_HANDLE contract_cno(const struct dt_side *side);

/* The device with faults, or the one under test if that is not the software one. */
const char *contract_device(void);
/*
 * Sends an EVD of the adapter one connection request more than it holds, which the adapter reports
 * as an asynchronous event on any device.  Returns the EVD.
 */
DAT_EVD_HANDLE contract_overflow(const struct dt_side *from, DAT_IA_HANDLE ia);

/* How much of a long test to run, in per cent: REARM_TEST_LOAD, 100 without it. */
int contract_load(int n);

/* A thread blocked in dat_evd_wait(). */
struct evd_waiter {
	DAT_EVD_HANDLE evd;
	DAT_TIMEOUT timeout;
	DAT_COUNT threshold;
	pthread_t thread;
	_Atomic(int) ready, done;
	DAT_RETURN ret;
	DAT_EVENT event;
	DAT_COUNT more;
};

/* Returns when it sleeps, as far as one can tell. */
void evd_waiter_start(
    struct evd_waiter *w, DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold);
DAT_RETURN evd_waiter_join(struct evd_waiter *w);

/* A thread blocked in dat_cno_wait(). */
struct cno_waiter {
	DAT_CNO_HANDLE cno;
	DAT_TIMEOUT timeout;
	pthread_t thread;
	_Atomic(int) ready, done;
	DAT_RETURN ret;
	DAT_EVD_HANDLE triggered;
};

void cno_waiter_start(struct cno_waiter *w, DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout);
DAT_RETURN cno_waiter_join(struct cno_waiter *w);

#endif
