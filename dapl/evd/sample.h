/* SPDX-License-Identifier: BSD-3-Clause */
/* sample -- what is to be seen of an EVD from outside, for statistics */
#ifndef REARM_DAPL_SAMPLE_H
#define REARM_DAPL_SAMPLE_H

#include "dapl/evd/evd_object.h"

struct dapl_evd_sample {
	DAT_EVD_HANDLE handle;
	uint64_t serial;
	DAT_IA_HANDLE ia;
	const char *adapter; /* its name in dat.conf; never freed */
	DAT_EVD_FLAGS flags;
	struct evd_status status;
	struct evd_counters counters;
	struct evd_calls calls;
	uint64_t slow_ns, slow_upcalls;
	int64_t rnr_stalls; /* -1: the device does not say */
};

/*
 * The EVD in the slot with this index, counted from 0.  1: *sample describes it; 0: the slot has
 * none now; -ENOENT: there is no such slot, and none after it.
 */
int dapl_evd_sample(uint32_t index, struct dapl_evd_sample *sample) DAPL_NO_OBJECT_LOCK;

#endif
