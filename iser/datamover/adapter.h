/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adapter -- an open IA, its protection zone and its asynchronous errors
 */
#ifndef ISER_ADAPTER_H
#define ISER_ADAPTER_H

#include "iser/datamover/watch.h"

#include <stdatomic.h>

struct bell;

struct adapter {
	DAT_IA_HANDLE ia; /* DAT_HANDLE_NULL: closed */
	DAT_PZ_HANDLE pz;
	struct watch async;
	DAT_IA_ATTR attr;
	struct bell *bell;	 /* rung on an asynchronous error */
	atomic_bool catastrophe; /* the device is gone or an EVD lost events: give up */
	struct tally tally;	 /* of all EVDs closed so far; main thread only */
};

/* 0, or -1 when it cannot be opened: why, and what to do, was said. */
int adapter_open(struct adapter *adapter, const char *name, struct bell *bell);

/*
 * Returns the number of calls that failed and should not; each was reported.  Safe on a closed
 * adapter.
 */
int adapter_close(struct adapter *adapter);

#endif
