/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timer -- timers of the progress thread: each fires once when it is due, unless it was stopped
 * before
 */
#include "story.h"

#include <stdatomic.h>

#include "softverbs/device/timer.h"

#define TIMERS 64
#define ROUNDS 60
#define FAR (3600 * (uint64_t)SOFT_SECOND)

static struct side a; /* the progress thread runs for it */

static struct counted {
	struct soft_timer timer;
	_Atomic(uint64_t) due;
	atomic_uint fired, early;
	unsigned int begun; /* starts of a timer that did not run, less stops of one that did */
} counted[TIMERS];

static void
setup(void)
{
	side_make(&a, NULL);
}

static void
teardown(void)
{
	side_free(&a);
}

static void
count(struct soft_timer *timer)
{
	struct counted *c = soft_container_of(timer, struct counted, timer);

	if (soft_now() < c->due)
		c->early++;
	c->fired++;
}

static void
start(struct counted *c, uint64_t time)
{
	const uint64_t due = soft_now() + time;

	/* The callback may run for the earlier time as long as the timer has not the later one. */
	if (due < c->due)
		c->due = due;
	if (soft_timer_start(&c->timer, due))
		c->begun++;
	c->due = due;
}

static void
stop(struct counted *c)
{
	c->due = 0;
	if (soft_timer_stop(&c->timer))
		c->begun--;
}

static void
expect_fired(struct counted *c)
{
	for (int i = 0; i < (int)runner_stretch(10000) && c->fired != c->begun; i++)
		sleep_ms(1);
	ck_assert_uint_eq(c->fired, c->begun);
}

CASE("soft-timer:timer", setup, teardown);

/* Timers are started, moved and stopped from all places of the heap. */
/* origin: outside.137 */
TEST(timers__started_moved_and_stopped_at_random__each_fires_once)
{
	unsigned int seed = 1;

	for (int i = 0; i < TIMERS; i++)
		soft_timer_init(&counted[i].timer, count);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < TIMERS; i++)
			start(&counted[rand_r(&seed) % TIMERS],
			    (uint64_t)(rand_r(&seed) % 1000 + 100) * SOFT_SECOND);
		for (int i = 0; i < TIMERS / 2; i++)
			stop(&counted[rand_r(&seed) % TIMERS]);
		for (int i = 0; i < TIMERS; i++)
			start(&counted[i], (uint64_t)(rand_r(&seed) % 1000) * SOFT_MICROSECOND);
		for (int i = 0; i < TIMERS; i++)
			expect_fired(&counted[i]);
	}
	for (int i = 0; i < TIMERS; i++)
		ck_assert_uint_eq(counted[i].early, 0);
}

/* origin: outside.138 */
TEST(timer__moved_to_an_earlier_time__fires_then)
{
	soft_timer_init(&counted[0].timer, count);
	start(&counted[0], FAR);
	sleep_ms(20); /* the progress thread sleeps until then */
	start(&counted[0], SOFT_MILLISECOND);
	expect_fired(&counted[0]);
}

TEST(timer__moved_to_a_later_time__does_not_fire_before)
{
	soft_timer_init(&counted[0].timer, count);
	soft_timer_init(&counted[1].timer, count);
	start(&counted[0], 20 * SOFT_MILLISECOND);
	start(&counted[0], FAR);
	start(&counted[1], 30 * SOFT_MILLISECOND);
	expect_fired(&counted[1]);
	ck_assert_uint_eq(counted[0].fired, 0);
	stop(&counted[0]);
}

static atomic_int slow_begun, slow_ended;

/* Starts itself again, too. */
static void
be_slow(struct soft_timer *timer)
{
	slow_begun++;
	sleep_ms(50);
	soft_timer_start(timer, soft_now());
	slow_ended++;
}

TEST(stop_and_wait__callback_under_way__returns_behind_it)
{
	struct soft_timer timer;

	soft_timer_init(&timer, be_slow);
	soft_timer_start(&timer, soft_now());
	while (!slow_begun)
		sleep_ms(1);
	soft_timer_stop_and_wait(&timer);
	ck_assert_int_eq(slow_begun, slow_ended);
	ck_assert(!soft_timer_stop(&timer));
}
