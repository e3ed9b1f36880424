/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * site -- where and when a thread made a call
 */
#ifndef SOFT_CHECK_SITE_H
#define SOFT_CHECK_SITE_H

#include "softverbs/device/soft.h"

#define SOFT_SITE_FRAMES 16

struct soft_site {
	pid_t thread; /* 0: the call was never made */
	uint64_t when;
	const void *caller;
	int depth;
	void *frames[SOFT_SITE_FRAMES];
};

/* Loads what backtraces need.  Before any other function here. */
void soft_site_prepare(void);

/* The calling thread. */
pid_t soft_site_thread(void);

/* In a forked child: the thread has another number. */
void soft_site_reset(void);

/*
 * Sets the site to here and now.  `caller`, if it is not NULL, is the return address into the
 * program: a call that is repeated from there keeps the backtrace of the first one, because a loop
 * that polls would be slow otherwise.
 */
void soft_site_mark(struct soft_site *site, const void *caller);

#endif
