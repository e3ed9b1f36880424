/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deaths -- how the processes of a run have ended, also those that their parents have waited for
 *
 * Each process that loads softverbs, and each that it forks, announces itself (fault/announce.h).
 * Linux says from release 6.15 on how a process has ended that its parent has waited for; before
 * that nothing is known here.
 */
#ifndef SOFT_RUN_DEATHS_H
#define SOFT_RUN_DEATHS_H

#include "softverbs/fault/record.h"

#include <signal.h>

struct soft_deaths {
	unsigned int by[NSIG]; /* how many processes were ended by the signal */
	/* As wait() returns it, of the process with this number in record.h; 0 if it is unknown. */
	int status[SOFT_RECORD_PROCESSES + 1];
};

/* Before the run, in the process that starts it: processes can be announced from now on. */
void soft_deaths_start(const char *folder);

/* All processes of the run have ended. */
void soft_deaths_stop(struct soft_deaths *deaths);

#endif
