/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.C11 */
/*
 * Two connections have ended, and of the first one the event was not read.  The process also
 * listens.
 */
#include "softverbs/test/pair_cm.h"

#ifndef UNREAD
#define UNREAD 0
#endif

int
main(void)
{
	listen_begin();
	for (int i = 0; i < 2; i++)
		(void)ended_open(i != UNREAD);
	arm(cq);
	next_event();
	return 0;
}
