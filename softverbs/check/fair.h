/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fair -- a length of time in which the threads of the program had the processor, or did not want
 * it
 *
 * The adversary holds something back for so long.  On a busy machine the thread that it waits for
 * may get no processor meanwhile, and what the program meets would depend on that.
 */
#ifndef SOFT_CHECK_FAIR_H
#define SOFT_CHECK_FAIR_H

#include "softverbs/device/soft.h"

struct soft_fair {
	uint64_t begin;	    /* as soft_now() */
	uint64_t processor; /* time of the process until then */
	uint64_t length;
};

/* It begins now. */
void soft_fair_begin(struct soft_fair *fair, uint64_t length);

/*
 * True if the time has passed, and meanwhile every thread that is ready could have had the
 * processor for so long; or if it has passed long ago.  Reads /proc.
 */
bool soft_fair_is_over(const struct soft_fair *fair);

#endif
