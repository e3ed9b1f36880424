/* SPDX-License-Identifier: BSD-3-Clause */
#include "adversary.h"
#include "queue.h"

#include <time.h>

/* The longest times for which a completion is held, an event is held, and a thread pauses. */
#define HOLD (5 * SOFT_MILLISECOND)
#define HOLD_ARMED (2 * SOFT_MILLISECOND)
#define LATE (10 * SOFT_MILLISECOND)
#define PAUSE SOFT_MILLISECOND
/* Events are raised at multiples of this time. */
#define GRID (4 * SOFT_MILLISECOND)
#define PAUSE_STEP (50 * SOFT_MICROSECOND)

/* What is held longer, because the program had no processor, is looked at again after this time. */
#define AGAIN (500 * SOFT_MICROSECOND)

/* Receives that must not overtake a send look again after this time, and so often at most. */
#define WAIT (200 * SOFT_MICROSECOND)
#define WAITS 125

static struct soft_adversary *
adversary_of(struct soft_cq *cq)
{
	return &soft_check_queue_of(cq)->adversary;
}

static uint32_t
adversary_chooses(struct soft_cq *cq, enum soft_choice kind) REQUIRES(soft_locks.cq)
{
	struct soft_adversary *own = adversary_of(cq);
	const uint32_t random = soft_schedule_choose(&own->schedule, kind);

	if (random)
		own->made |= 1u << kind;
	return random;
}

/* For a time from now on. */
static void
adversary_hold(struct soft_cq *cq, struct soft_held *held, enum soft_choice kind, uint32_t random,
    uint64_t most) REQUIRES(soft_locks.cq)
{
	soft_fair_begin(
	    &held->fair, soft_schedule_time(&adversary_of(cq)->schedule, kind, random, most));
	held->look_at = held->fair.begin + held->fair.length;
}

/* A moment at which events of all queues are raised. */
static uint64_t
adversary_moment(uint64_t when)
{
	return when + GRID - when % GRID;
}

/* True if it was held for long enough; else it may be looked at later. */
static bool
adversary_is_over(struct soft_held *held)
{
	const uint64_t now = soft_now();

	if (!held->look_at || held->look_at > now)
		return false;
	if (soft_fair_is_over(&held->fair))
		return true;
	held->look_at = now + AGAIN;
	return false;
}

static bool
adversary_is_armed(const struct soft_cq *cq, bool solicited) REQUIRES(soft_locks.cq)
{
	return cq->armed == SOFT_ARMED_ANY || (cq->armed == SOFT_ARMED_SOLICITED && solicited);
}

static void
adversary_start_timer(struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	const struct soft_adversary *own = adversary_of(cq);
	uint64_t when = own->show.look_at;

	if (!when || (own->raise.look_at && own->raise.look_at < when))
		when = own->raise.look_at;
	if (when)
		soft_timer_start(&cq->timer, when);
}

/* Rule 5: counts the queue while it holds back a send, or the event of one. */
static void
adversary_count(struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	struct soft_adversary *own = adversary_of(cq);
	const bool settled = !cq->due && cq->tail == soft_counter_load(&cq->shown);

	if (settled)
		own->sends = own->receives = false;
	if (own->sends == own->holding_sends || own->left)
		return;
	own->holding_sends = own->sends;
	if (own->sends)
		cq->channel->holding_sends++;
	else
		cq->channel->holding_sends--;
}

/*
 * Rule 5: whether receives must not be seen yet; then they wait for a time.  A stream of sends does
 * not stop them for ever.  It is counted how often they wait, not how long: a timer that is late
 * must not change the order.
 */
static bool
adversary_waits(struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	struct soft_adversary *own = adversary_of(cq);

	if (!own->receives || own->sends || !cq->channel->holding_sends || own->waits >= WAITS) {
		own->waits = 0;
		return false;
	}
	own->waits++;
	soft_fair_begin(&own->show.fair, 0);
	own->show.look_at = own->show.fair.begin + WAIT;
	return true;
}

static void
adversary_post(struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	const struct soft_adversary *own = adversary_of(cq);

	if (!own->receives && adversary_chooses(cq, SOFT_CHOOSE_FIRST))
		soft_channel_post_first(cq->channel, cq);
	else
		soft_channel_post(cq->channel, cq);
}

/* Raises the event that the request for notification asked for; the queue is not armed any more. */
static void
adversary_fire(struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	struct soft_adversary *own = adversary_of(cq);
	uint32_t random;

	cq->armed = SOFT_UNARMED;
	if (cq->due) {
		cq->due++;
		return;
	}
	random = adversary_chooses(cq, SOFT_CHOOSE_LATE);
	if (!random) {
		adversary_post(cq);
		return;
	}
	cq->due = 1;
	adversary_hold(cq, &own->raise, SOFT_CHOOSE_LATE, random, LATE);
	own->raise.look_at = adversary_moment(own->raise.look_at);
}

/* The entries up to `end` become visible. */
static void
adversary_show(struct soft_cq *cq, uint32_t end) REQUIRES(soft_locks.cq)
{
	struct soft_adversary *own = adversary_of(cq);
	const bool owed = own->owed;

	soft_counter_store(&cq->shown, end);
	own->owed = false;
	if (end == cq->tail)
		own->show.look_at = 0;
	if (owed)
		adversary_fire(cq);
}

static void
adversary_on_entry(struct soft_cq *cq, bool solicited) REQUIRES(soft_locks.cq)
{
	struct soft_adversary *own = adversary_of(cq);
	const bool armed = adversary_is_armed(cq, solicited);
	enum soft_choice kind = armed ? SOFT_CHOOSE_HOLD_ARMED : SOFT_CHOOSE_HOLD;
	uint32_t random;

	if (!cq->channel) {
		soft_counter_store(&cq->shown, cq->tail);
		if (armed)
			cq->armed = SOFT_UNARMED;
		return;
	}
	if (armed)
		own->owed = true;
	if (cq->ring[(cq->tail - 1) & cq->mask].opcode & IBV_WC_RECV)
		own->receives = true;
	else
		own->sends = true;
	/* One after others that are held becomes visible with them. */
	if (cq->tail - soft_counter_load(&cq->shown) == 1) {
		random = adversary_chooses(cq, kind);
		if (random)
			adversary_hold(cq, &own->show, kind, random, armed ? HOLD_ARMED : HOLD);
	}
	if (!own->show.look_at && !adversary_waits(cq))
		adversary_show(cq, cq->tail);
	adversary_count(cq);
	adversary_start_timer(cq);
	own->armed = cq->armed;
}

static void
adversary_on_arm(struct soft_cq *cq, bool solicited_only, bool there) REQUIRES(soft_locks.cq)
{
	struct soft_adversary *own = adversary_of(cq);
	bool waits;

	(void)solicited_only, (void)there;
	if (!cq->channel)
		return;
	/*
	 * Rule 2.  If an event is owed, the queue was armed already, and nothing changes.  Receives
	 * that wait by rule 5 are added after the request, others before it or just after it.
	 */
	if (!own->owed && cq->tail != soft_counter_load(&cq->shown)) {
		waits = adversary_waits(cq);
		if (waits || adversary_chooses(cq, SOFT_CHOOSE_AFTER))
			own->owed = cq->armed == SOFT_ARMED_ANY ||
				    (int32_t)(cq->solicited - soft_counter_load(&cq->shown)) > 0;
		if (!waits)
			adversary_show(cq, cq->tail);
	}
	/* Rule 4. */
	if (cq->due && !own->armed && !own->owed && adversary_chooses(cq, SOFT_CHOOSE_MERGE))
		cq->armed = SOFT_UNARMED;
	adversary_count(cq);
	own->armed = cq->armed;
}

/* Where a part of what is held ends; what an event is owed for is in the first part. */
static uint32_t
adversary_part(struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	const uint32_t shown = soft_counter_load(&cq->shown), held = cq->tail - shown;
	const uint32_t random = held > 1 ? adversary_chooses(cq, SOFT_CHOOSE_SPLIT) : 0;
	uint32_t end = random ? shown + 1 + random / 2 % held : cq->tail;

	if (adversary_of(cq)->owed && cq->armed == SOFT_ARMED_SOLICITED &&
	    (int32_t)(cq->solicited - end) > 0)
		end = cq->solicited;
	return end;
}

static void
adversary_on_timer(struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	struct soft_adversary *own = adversary_of(cq);
	uint32_t random;

	if (adversary_is_over(&own->raise)) {
		own->raise.look_at = 0;
		for (; cq->due; cq->due--)
			adversary_post(cq);
	} else if (own->raise.look_at) {
		own->raise.look_at = adversary_moment(own->raise.look_at - 1);
	}
	if (adversary_is_over(&own->show) && !adversary_waits(cq)) {
		adversary_show(cq, adversary_part(cq));
		if (cq->tail != soft_counter_load(&cq->shown)) {
			random = adversary_chooses(cq, SOFT_CHOOSE_HOLD);
			adversary_hold(cq, &own->show, SOFT_CHOOSE_HOLD, random, HOLD);
		}
	}
	adversary_count(cq);
	adversary_start_timer(cq);
	own->armed = cq->armed;
}

static void
adversary_on_show(struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	struct soft_adversary *own = adversary_of(cq);

	if (cq->tail == soft_counter_load(&cq->shown))
		return;
	adversary_show(cq, cq->tail);
	adversary_count(cq);
	adversary_start_timer(cq);
	own->armed = cq->armed;
}

const struct soft_personality soft_adversary = {
	.name = "adversary",
	.on_entry = adversary_on_entry,
	.on_arm = adversary_on_arm,
	.on_timer = adversary_on_timer,
	.on_show = adversary_on_show,
};

/*
 * True if nothing has come to the queue yet and it is in this state.  What comes to a queue that is
 * not armed comes too early for the request that is about to be made; what comes to one that is
 * armed is polled before its event is read.
 */
static bool
adversary_may_wait(struct soft_cq *cq, bool armed) SOFT_NO_CQ_LOCK
{
	bool may;

	soft_cq_lock(cq);
	may = cq->personality == &soft_adversary && (cq->armed != SOFT_UNARMED) == armed &&
	      soft_counter_load(&cq->shown) == soft_counter_load(&cq->head) &&
	      (armed || cq->tail == soft_counter_load(&cq->shown));
	soft_cq_unlock(cq);
	return may;
}

void
soft_adversary_leave(struct soft_cq *cq)
{
	struct soft_adversary *own = adversary_of(cq);

	soft_cq_lock(cq);
	own->left = true;
	if (own->holding_sends)
		cq->channel->holding_sends--;
	soft_cq_unlock(cq);
}

static void
adversary_wait(struct soft_cq *cq, enum soft_choice kind, bool armed) SOFT_NO_CQ_LOCK
{
	const struct timespec step = { .tv_nsec = PAUSE_STEP };
	struct soft_held pause = { 0 };
	uint32_t random;
	int cancel;

	if (!cq->channel || !adversary_may_wait(cq, armed))
		return;
	soft_cq_lock(cq);
	random = adversary_chooses(cq, kind);
	if (random)
		adversary_hold(cq, &pause, kind, random, PAUSE);
	soft_cq_unlock(cq);
	if (!random)
		return;
	/* ibv_req_notify_cq() is no cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	while (!adversary_is_over(&pause) && adversary_may_wait(cq, armed))
		nanosleep(&step, NULL);
	pthread_setcancelstate(cancel, NULL);
}

void
soft_adversary_pause(struct soft_cq *cq)
{
	adversary_wait(cq, SOFT_CHOOSE_PAUSE, false);
}

void
soft_adversary_pause_after(struct soft_cq *cq)
{
	adversary_wait(cq, SOFT_CHOOSE_AFTER, true);
}

void
soft_adversary_pause_poll(struct soft_cq *cq)
{
	const struct timespec step = { .tv_nsec = PAUSE_STEP };
	int cancel;

	if (!soft_schedule_allows(&adversary_of(cq)->schedule, SOFT_CHOOSE_PAUSE))
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	nanosleep(&step, NULL);
	pthread_setcancelstate(cancel, NULL);
}

void
soft_adversary_event(struct soft_cq *cq)
{
	struct soft_adversary *own = adversary_of(cq);

	soft_cq_lock(cq);
	own->made_before = own->made;
	own->made = 0;
	soft_cq_unlock(cq);
}

bool
soft_adversary_fails(struct soft_cq *cq)
{
	uint32_t random;

	soft_cq_lock(cq);
	random = adversary_chooses(cq, SOFT_CHOOSE_FAIL);
	soft_cq_unlock(cq);
	return random % 8 == 1; /* a program that tries again gets on */
}
