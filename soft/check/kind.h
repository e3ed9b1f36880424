/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kind -- the kinds of what the checker reports, with the rule that was broken and how to mend it
 */
#ifndef SOFT_CHECK_KIND_H
#define SOFT_CHECK_KIND_H

enum soft_kind {
	SOFT_STRANDED,
	SOFT_NOT_LOOKED_AT_AGAIN,
	SOFT_SLEEPS_UNARMED,
	SOFT_EVENT_UNREAD,
	SOFT_ARM_ERROR_IGNORED,
	SOFT_NEVER_ACKNOWLEDGED,
	SOFT_ACKNOWLEDGED_TOO_MUCH,
	SOFT_USED_WHEN_DESTROYED,
	SOFT_OVERRUN,
	SOFT_SEND_QUEUE_FULL,
	SOFT_RECEIVER_NOT_READY,
	SOFT_KINDS
};

struct soft_kind_text {
	const char *name, *rule, *mend;
};

extern const struct soft_kind_text soft_kinds[SOFT_KINDS];

#endif
