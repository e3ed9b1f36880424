/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tally -- what the processes of a run tell softverbs-run: a file that all of them have in memory
 *
 * softverbs-run makes it, and the library maps it when it is loaded: a program closes descriptors
 * that it does not know, and may have none left when it is to be reported.  Also a part of
 * softverbs-run.
 */
#ifndef SOFT_CHECK_TALLY_H
#define SOFT_CHECK_TALLY_H

#include <config.h>

#include <stdatomic.h>

struct soft_tally {
	atomic_uint reports;
	atomic_uint ended;    /* processes that the checker has ended */
	atomic_uint progress; /* changes while any process does something */
};

/* Never NULL: if there is no such file, it is one that nothing else reads. */
extern struct soft_tally *soft_tally;

/* Maps the file; NULL is none.  The process starts, which is progress. */
void soft_tally_open(const char *path);

#endif
