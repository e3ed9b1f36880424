/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kind -- the kinds of what the checker reports, with the rule that was broken and how to mend it
 */
#ifndef SOFT_CHECK_KIND_H
#define SOFT_CHECK_KIND_H

#include "moves.h"
#include "softverbs/cq/made.h"

enum soft_kind {
	SOFT_STRANDED,
	SOFT_NOT_LOOKED_AT_AGAIN,
	SOFT_SLEEPS_UNARMED,
	SOFT_EVENT_UNREAD,
	SOFT_UNSOLICITED,
	SOFT_ARM_ERROR_IGNORED,
	SOFT_NEVER_ACKNOWLEDGED,
	SOFT_ACKNOWLEDGED_TOO_MUCH,
	SOFT_USED_WHEN_DESTROYED,
	SOFT_OVERRUN,
	SOFT_SEND_QUEUE_FULL,
	SOFT_RECEIVER_NOT_READY,
	SOFT_CONNECTION_ENDED,
	SOFT_KINDS
};

struct soft_kind_text {
	const char *name, *rule, *mend;
	unsigned int made; /* what is no evidence if incidents have made it: bits of cq/made.h */
};

extern const struct soft_kind_text soft_kinds[SOFT_KINDS];

/*
 * The moves that a replay makes each time, of those that were made before the report, with some
 * that lead to such a report and without some that lead away from it: bits.  `bounded`: the program
 * polled less than there was.
 */
unsigned int soft_kind_moves(enum soft_kind kind, unsigned int made, bool bounded);

/* True if the other moves, and those of other queues, are needed, too: as the seed says. */
bool soft_kind_needs_all_moves(enum soft_kind kind);

/* True if the moves are needed on other queues, too. */
bool soft_kind_needs_all_queues(enum soft_kind kind);

#endif
