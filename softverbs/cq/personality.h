/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * personality -- when completions and their events become visible
 *
 * All keep to the specification; README.md describes them.  The functions are called with the lock
 * of the CQ held.
 */
#ifndef SOFT_PERSONALITY_H
#define SOFT_PERSONALITY_H

#include "softverbs/device/context.h"

struct soft_cq;

struct soft_personality {
	const char *name;

	/* An entry was added at cq->tail: makes it visible, now or later, and posts what is due. */
	void (*on_entry)(struct soft_cq *cq, bool solicited);

	/* The CQ was armed, and has entries to poll if `there`.  NULL: nothing to do. */
	void (*on_arm)(struct soft_cq *cq, bool solicited_only, bool there);

	/* The timer expired.  NULL where it is never set. */
	void (*on_timer)(struct soft_cq *cq);

	/* Entries up to the tail become visible now.  NULL where they always are. */
	void (*on_show)(struct soft_cq *cq);
};

/* Gives a new queue the personality of its context. */
void soft_personality_init_cq(struct soft_cq *cq, const struct soft_personality *personality);

/*
 * From now on an event may be held back until `count` completions were added, or for `period`
 * nanoseconds, if the count is more than 1 and the period not 0.  A solicited or failed completion
 * ends this at once.  An event that is held back now is posted.  Personalities with times or events
 * of their own keep to these.
 */
void soft_personality_moderate(struct soft_cq *cq, uint32_t count, uint64_t period) SOFT_NO_CQ_LOCK;

/*
 * Gives a context the personality that the program chose or the environment asks for: 0, or -EINVAL
 * after a message on standard error.
 */
int soft_personality_open_context(struct soft_context *ctx);

#endif
