/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * teller -- a line that the progress thread has for the user of the program
 *
 * Standard error may be a pipe without a reader, and a function of the program may wait for
 * anything.  So a thread that exists for this alone passes it on, and ends.
 */
#ifndef SOFT_TELLER_H
#define SOFT_TELLER_H

#include "soft.h"

/*
 * A send of the queue pair waits for a receive of the other end.  Of many that wait at once some
 * are not reported.
 */
void soft_tell_stall(unsigned int qp_num) SOFT_NO_LEAF_LOCK;

/* In a forked child: there is no such thread. */
void soft_teller_reset(void);

#endif
