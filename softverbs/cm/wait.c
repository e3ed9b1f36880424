/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait.h"
#include "deliver.h"
#include "message.h"
#include "softverbs/device/settings.h"
#include "softverbs/device/timer.h"

#define TICK (SOFT_ANSWER_TIME / 8)
#define CONSUMER_TIME (15 * 60 * 1000000000ull)

static void wait_tick(struct soft_timer *timer);

static TAILQ_HEAD(waiting, soft_id) waiting = TAILQ_HEAD_INITIALIZER(waiting);
static struct soft_timer timer = { .fn = wait_tick };

static void
wait_start_timer(void)
{
	const struct soft_id *first = TAILQ_FIRST(&waiting);

	if (first)
		soft_timer_start(&timer, first->tick);
}

/* All ids wait equally long, so the place is at the end, unless the time factor has changed. */
static void
wait_add(struct soft_id *id) REQUIRES(soft_locks.cm)
{
	struct soft_id *before = TAILQ_LAST(&waiting, waiting);

	id->tick = soft_now() + soft_settings_scale_time(TICK);
	id->is_waiting = true;
	while (before && before->tick > id->tick)
		before = TAILQ_PREV(before, waiting, wait_link);
	if (before)
		TAILQ_INSERT_AFTER(&waiting, before, id, wait_link);
	else
		TAILQ_INSERT_HEAD(&waiting, id, wait_link);
}

static void
wait_remove(struct soft_id *id) REQUIRES(soft_locks.cm)
{
	if (id->is_waiting)
		TAILQ_REMOVE(&waiting, id, wait_link);
	id->is_waiting = false;
}

static bool
wait_is_needed(const struct soft_id *id) REQUIRES(soft_locks.cm)
{
	return id->state == SOFT_ID_REQUESTING || id->state == SOFT_ID_ANSWERED ||
	       id->state == SOFT_ID_DISCONNECTING;
}

static void
wait_tick_id(struct soft_id *id, uint64_t now) REQUIRES(soft_locks.cm)
{
	const uint64_t late = now - id->tick;

	if (!wait_is_needed(id))
		return;
	if (late > SOFT_TIMER_LATE)
		id->heard += late;
	if (now - id->heard >= soft_settings_scale_time(SOFT_ANSWER_TIME) ||
	    now - id->sent >= soft_settings_scale_time(CONSUMER_TIME)) {
		soft_cm_give_up(id);
		return;
	}
	if (id->peer_number && id->state != SOFT_ID_DISCONNECTING)
		soft_cm_send(id, SOFT_CM_ASK, 0, NULL, 0);
	wait_add(id);
}

static void
wait_tick(struct soft_timer *unused) SOFT_NO_CM_LOCK
{
	struct soft_id *id;
	uint64_t now = soft_now();

	(void)unused;
	soft_cm_lock();
	while ((id = TAILQ_FIRST(&waiting)) && id->tick <= now) {
		wait_remove(id);
		wait_tick_id(id, now);
	}
	wait_start_timer();
	soft_cm_unlock();
}

void
soft_wait_start(struct soft_id *id)
{
	wait_remove(id);
	id->sent = id->heard = soft_now();
	wait_add(id);
	wait_start_timer();
}

void
soft_wait_stop(struct soft_id *id)
{
	wait_remove(id);
}

void
soft_wait_reset(void)
{
	TAILQ_INIT(&waiting);
	soft_timer_init(&timer, wait_tick);
}
