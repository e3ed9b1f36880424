/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api -- every call of DAT 2.0, made once as a program would, on devices that lack something
 *
 * test-api prints what each call returned on each device.  test/tree/check-api makes doc/api.md
 * of it.
 */
#ifndef REARM_TEST_API_API_H
#define REARM_TEST_API_API_H

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#include "lib/dt.h"

/*
 * A call, made with good arguments on two connected sides, which are abruptly closed afterwards.
 * `make` returns what the call returned, or the first call before it that failed, and fails the
 * test when the call returned DAT_SUCCESS and did not do what it should.
 */
struct api_call {
	/* without dat_, then with a colon what is special; of an operation its number */
	const char *name;
	DAT_RETURN (*make)(struct dt_pair *p);
};

extern const struct api_call api_ia_calls[], api_evd_calls[], api_ep_calls[], api_sp_calls[],
    api_memory_calls[], api_srq_calls[], api_ib_calls[];

/* The adapter that the calls are made on, by its name in dat.conf. */
extern const char *api_adapter;

/* Ends a call with what a call that it needs returned. */
#define API_NEED(call) \
	do { \
		const DAT_RETURN ret_ = (call); \
		if (ret_ != DAT_SUCCESS) \
			return ret_; \
	} while (0)

/* Both sides open: requests and binds complete on one EVD, and memory takes atomics. */
void api_open(struct dt_pair *p);
/* A new endpoint of a side that nothing is done with yet. */
DAT_EP_HANDLE api_ep(struct dt_side *side);
/* A request of a new endpoint of `a` to `to` of `b`, which is listening at its EVD for requests. */
DAT_CR_HANDLE api_request(struct dt_pair *p, DAT_CONN_QUAL to);

#endif
