/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control -- the socket at which softverbs-ctl reaches this process
 *
 * There is one only if SOFTVERBS_CONTROL is set: a run that nobody wants to change is changed by
 * nobody, and has no socket, no thread before its first queue pair, and no count of its calls.
 *
 * A packet is a request: the process that it is for, a newline, and "dump", or "do" and rules of
 * command.h.  The answer has a letter, the number of bytes that follow, and a newline:
 *
 *	+	it was done; what follows is the dump (state.h)
 *	-	it was not; why
 *	=	it is for another process
 *
 * Then the connection ends.  Nobody waits for a client: the progress thread reads and writes what
 * it can at once, there are few clients at a time, and each has a few seconds.
 */
#ifndef SOFT_CONTROL_H
#define SOFT_CONTROL_H

#include "softverbs/device/soft.h"

/* 0 or -errno. */
int soft_control_open(void);
void soft_control_close(void);
void soft_control_reset(void); /* in a forked child */

#endif
