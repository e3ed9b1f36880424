/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control -- the socket at which softverbs-ctl reaches this process
 *
 * There is one only if SOFTVERBS_CONTROL is set.  No other program changes a run that was not
 * started so, and such a run has no socket, no thread before its first queue pair, and no count of
 * its calls.
 *
 * A packet is a request: the process that it is for, a newline, and "dump", or "do" and rules of
 * command.h.  The answer has a letter, the number of bytes that follow, and a newline:
 *
 *	+	it was done; what follows is the dump (state.h)
 *	-	it was not; why
 *	=	it is for another process
 *
 * Then the connection ends.
 */
#ifndef SOFT_CONTROL_H
#define SOFT_CONTROL_H

#include "softverbs/device/soft.h"

/* 0 or -errno. */
int soft_control_open(void);
void soft_control_close(void);
void soft_control_reset(void); /* in a forked child */

#endif
