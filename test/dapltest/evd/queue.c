/* SPDX-License-Identifier: BSD-3-Clause */
/* The merged queue by itself: order, wrap, barriers, holds, purge. */
#include "evd/queue.h"

#include <string.h>

#include "script.h"

#define QLEN 4

static struct evd_queue q;
static struct evd_hold hold;
static const struct evd_order none;

static void
setup(void)
{
	ck_assert_int_eq(evd_queue_init(&q, QLEN, QLEN, sizeof(struct script_event), true), 0);
	ck_assert_int_eq(evd_hold_init(&hold, 3), 0);
}

static void
teardown(void)
{
	evd_hold_fini(&hold);
	evd_queue_fini(&q);
}

/* The room for a batch. */
static unsigned int
room(unsigned int max)
{
	struct evd_batch batch;

	evd_queue_begin_batch(&q, max, &batch);
	return batch.room;
}

static bool signalled; /* what the last batch said */

static void
enter(struct evd_batch *batch, uint64_t id)
{
	memcpy(evd_batch_record(batch), &id, sizeof id);
	evd_batch_queue(batch);
}

/* A poll of the device that gave the n completions first, first + 1, ... */
static void
polled(uint64_t first, unsigned int n, bool device_empty)
{
	struct evd_batch batch;

	evd_queue_begin_batch(&q, n, &batch);
	ck_assert_uint_ge(batch.room, n);
	for (unsigned int i = 0; i < n; i++)
		enter(&batch, first + i);
	evd_queue_end_batch(&q, &batch, n, device_empty, &signalled);
}

/* A poll that gave n completions, none of which stayed. */
static void
dropped(unsigned int n, bool device_empty)
{
	struct evd_batch batch;

	evd_queue_begin_batch(&q, n, &batch);
	evd_queue_end_batch(&q, &batch, n, device_empty, &signalled);
}

/* A polled completion that is held; false if the hold is full. */
static bool
held_in(struct evd_hold *h, uint64_t id)
{
	struct evd_item place;
	struct evd_batch batch = { .next = &place };

	memcpy(evd_batch_record(&batch), &id, sizeof id);
	(void)evd_batch_hold(&batch, h);
	return !batch.refused;
}

/* The number of a completion. */
static uint64_t
id_of(const struct evd_record *record)
{
	uint64_t id;

	memcpy(&id, record, sizeof id);
	return id;
}

static int
posted_of(const void *endpoint, uint64_t id, bool barrier, struct evd_hold *ends)
{
	const struct evd_order order = { .endpoint = endpoint, .barrier = barrier, .hold = ends };
	struct evd_posted *place = evd_queue_post(&q, &order, false);
	const struct script_event event = script_event(id);

	if (place)
		memcpy(place->event, &event, sizeof event);
	return place ? 0 : -ENOSPC;
}

/* By the one endpoint of most tests. */
static int
posted(uint64_t id, bool barrier)
{
	return posted_of(&q, id, barrier, NULL);
}

static void
released(struct evd_hold *h, uint64_t id)
{
	ck_assert_int_eq(posted_of(h, id, false, h), 0);
}

static uint64_t
taken(void)
{
	const struct evd_posted *posted;
	const struct evd_record *record;

	switch (evd_queue_take(&q, &record, &posted)) {
	case EVD_COMPLETION:
	case EVD_RELEASED:
		return id_of(record);
	case EVD_POSTED:
		return script_id(posted->event);
	case EVD_NOTHING:
		break;
	}
	return 0;
}

static bool
record_is(const struct evd_record *record, const void *key)
{
	return id_of(record) == *(const uint64_t *)key;
}

static bool
event_is(const void *event, const void *key)
{
	return script_id(event) == *(const uint64_t *)key;
}

CASE("evd_queue:queue", setup, teardown);

TEST(take__empty__none)
{
	ck_assert_uint_eq(evd_queue_count(&q), 0);
	ck_assert_uint_eq(taken(), 0);
}

TEST(take__posted_and_polled__in_order_of_entry)
{
	polled(1, 1, true);
	ck_assert_int_eq(posted(100, false), 0);
	polled(2, 2, true);
	ck_assert_int_eq(posted(101, false), 0);
	ck_assert_uint_eq(evd_queue_count(&q), 5);
	ck_assert_uint_eq(taken(), 1);
	ck_assert_uint_eq(taken(), 100);
	ck_assert_uint_eq(taken(), 2);
	ck_assert_uint_eq(taken(), 3);
	ck_assert_uint_eq(taken(), 101);
	ck_assert_uint_eq(taken(), 0);
}

TEST(both_rings__wrap_many_times__order_kept)
{
	for (uint64_t i = 1; i < 50; i++) {
		/* The ring offers contiguous room only: up to its end. */
		const unsigned int n = room(3);

		ck_assert_uint_ge(n, 1);
		polled(10 * i, n, true);
		ck_assert_int_eq(posted(1000 + i, false), 0);
		for (unsigned int k = 0; k < n; k++)
			ck_assert_uint_eq(taken(), 10 * i + k);
		ck_assert_uint_eq(taken(), 1000 + i);
	}
	ck_assert_uint_eq(evd_queue_count(&q), 0);
}

TEST(room__ring_full__zero)
{
	polled(1, QLEN, true);
	ck_assert_uint_eq(room(32), 0);
	ck_assert_uint_eq(taken(), 1);
	ck_assert_uint_eq(room(32), 1);
}

TEST(post__qlen_queued__refused_and_nothing_lost)
{
	for (uint64_t i = 0; i < QLEN; i++)
		ck_assert_int_eq(posted(100 + i, false), 0);
	ck_assert_int_eq(posted(200, false), -ENOSPC);
	polled(1, QLEN, true); /* posted events take no room in the ring */
	for (uint64_t i = 0; i < QLEN; i++)
		ck_assert_uint_eq(taken(), 100 + i);
	ck_assert_int_eq(posted(201, false), 0);
	for (uint64_t i = 0; i < QLEN; i++)
		ck_assert_uint_eq(taken(), 1 + i);
	ck_assert_uint_eq(taken(), 201);
}

TEST(keep__some_of_a_batch_dropped__the_gap_closes)
{
	struct evd_batch batch;

	evd_queue_begin_batch(&q, 4, &batch);
	ck_assert_uint_eq(batch.room, 4);
	/* A record that is dropped is written, too. */
	memset(evd_batch_record(&batch), 0xff, sizeof(struct evd_record));
	enter(&batch, 2);
	memset(evd_batch_record(&batch), 0xff, sizeof(struct evd_record));
	enter(&batch, 4);
	evd_queue_end_batch(&q, &batch, 4, false, &signalled);
	ck_assert_uint_eq(evd_queue_count(&q), 2);
	ck_assert_uint_eq(taken(), 2);
	ck_assert_uint_eq(taken(), 4);
}

TEST(barrier__device_not_seen_empty__does_not_count)
{
	polled(1, 1, false);
	ck_assert_int_eq(posted(100, true), 0);
	ck_assert_uint_eq(evd_queue_count(&q), 1);
	ck_assert(evd_queue_has_closed(&q));
	polled(2, 1, false);
	ck_assert_uint_eq(taken(), 1);
	ck_assert_uint_eq(taken(), 2);
	ck_assert_uint_eq(taken(), 0);
	polled(3, 1, true);
	ck_assert(!evd_queue_has_closed(&q));
	ck_assert_uint_eq(taken(), 3);
	ck_assert_uint_eq(taken(), 100);
}

TEST(barrier__empty_seen_before_it_came__must_be_seen_again)
{
	polled(1, 1, true);
	ck_assert_int_eq(posted(100, true), 0);
	ck_assert_uint_eq(taken(), 1);
	ck_assert_uint_eq(taken(), 0);
	dropped(0, true);
	ck_assert_uint_eq(taken(), 100);
}

TEST(barrier__device_never_empty__opens_after_qlen_completions)
{
	ck_assert_int_eq(posted(100, true), 0);
	for (uint64_t i = 1; i < QLEN; i++) {
		polled(i, 1, false);
		ck_assert_uint_eq(taken(), i);
		ck_assert_uint_eq(taken(), 0);
	}
	polled(QLEN, 1, false);
	ck_assert_uint_eq(taken(), QLEN);
	ck_assert_uint_eq(taken(), 100);
}

TEST(barrier__device_deeper_than_the_queue__waits_for_what_that_can_hold)
{
	q.depth = 3 * QLEN;
	ck_assert_int_eq(posted(100, true), 0);
	for (uint64_t i = 1; i <= 3 * QLEN; i++) {
		ck_assert_uint_eq(taken(), 0);
		polled(i, 1, false);
		ck_assert_uint_eq(taken(), i);
	}
	ck_assert_uint_eq(taken(), 100);
}

TEST(barrier__what_is_posted_after_it__waits_behind_it)
{
	ck_assert_int_eq(posted(100, true), 0);
	ck_assert_int_eq(posted(101, false), 0);
	ck_assert_int_eq(posted(102, true), 0);
	ck_assert_uint_eq(evd_queue_count(&q), 0);
	polled(1, 2, true);
	ck_assert_uint_eq(taken(), 1);
	ck_assert_uint_eq(taken(), 2);
	ck_assert_uint_eq(taken(), 100);
	ck_assert_uint_eq(taken(), 101);
	ck_assert_uint_eq(taken(), 102);
}

TEST(barrier__dropped_completions__count_as_polled)
{
	ck_assert_int_eq(posted(100, true), 0);
	dropped(QLEN, false);
	ck_assert_uint_eq(taken(), 100);
}

TEST(barrier__no_device__is_an_ordinary_event)
{
	struct evd_queue soft;
	struct script_event event = script_event(7);

	ck_assert_int_eq(evd_queue_init(&soft, 2, 2, sizeof(struct script_event), false), 0);
	memcpy(evd_queue_post(&soft, &script_barrier, false)->event, &event, sizeof event);
	ck_assert_uint_eq(evd_queue_count(&soft), 1);
	evd_queue_fini(&soft);
}

TEST(hold__until_released__does_not_count)
{
	const uint64_t held = 50;

	hold.active = true;
	ck_assert(held_in(&hold, held));
	ck_assert_uint_eq(evd_queue_count(&q), 0);
	ck_assert_uint_eq(taken(), 0);
	polled(1, 1, true);
	released(&hold, 100);
	polled(2, 1, true);
	ck_assert(!evd_hold_is_active(&hold));
	ck_assert_uint_eq(evd_queue_count(&q), 4);
	ck_assert_uint_eq(taken(), 1);
	ck_assert_uint_eq(taken(), 100);
	ck_assert_uint_eq(taken(), 50);
	ck_assert_uint_eq(taken(), 2);
}

TEST(hold__full__refused)
{
	const uint64_t held = 50;

	for (int i = 0; i < 3; i++)
		ck_assert(held_in(&hold, held));
	ck_assert(!held_in(&hold, held));
}

TEST(holds_of_two_endpoints__released_in_turn__order_of_release)
{
	struct evd_hold other;
	uint64_t id;

	ck_assert_int_eq(evd_hold_init(&other, 2), 0);
	for (id = 50; id < 52; id++)
		ck_assert(held_in(&hold, id));
	for (id = 60; id < 62; id++)
		ck_assert(held_in(&other, id));
	evd_queue_release(&q, &other);
	evd_queue_release(&q, &hold);
	ck_assert_uint_eq(evd_queue_count(&q), 4);
	ck_assert_uint_eq(taken(), 60);
	ck_assert_uint_eq(taken(), 61);
	ck_assert_uint_eq(taken(), 50);
	ck_assert_uint_eq(taken(), 51);
	ck_assert_uint_eq(taken(), 0);
	evd_hold_fini(&other);
}

TEST(hold__used_again_after_release__wraps)
{
	for (uint64_t i = 1; i < 20; i++) {
		ck_assert(held_in(&hold, i));
		evd_queue_release(&q, &hold);
		ck_assert_uint_eq(taken(), i);
	}
	ck_assert(!hold.listed);
}

TEST(purge__ring__keeps_the_order_of_the_rest)
{
	uint64_t key = 2;

	polled(9, 2, true);
	ck_assert_uint_eq(taken(), 9);
	ck_assert_uint_eq(taken(), 10);
	polled(1, 2, true); /* up to the ring's end ... */
	polled(3, 2, true); /* ... and from its start */
	evd_queue_purge(&q, NULL, record_is, NULL, &key);
	ck_assert_uint_eq(evd_queue_count(&q), 3);
	ck_assert_uint_eq(taken(), 1);
	ck_assert_uint_eq(taken(), 3);
	ck_assert_uint_eq(taken(), 4);
	ck_assert_uint_eq(taken(), 0);
}

TEST(purge__posted__keeps_the_order_of_the_rest)
{
	uint64_t key = 101;

	for (uint64_t i = 100; i < 104; i++)
		ck_assert_int_eq(posted(i, false), 0);
	evd_queue_purge(&q, NULL, NULL, event_is, &key);
	ck_assert_uint_eq(taken(), 100);
	ck_assert_uint_eq(taken(), 102);
	ck_assert_uint_eq(taken(), 103);
	ck_assert_uint_eq(taken(), 0);
}

TEST(purge__closed_barrier__frees_what_stood_behind_it)
{
	uint64_t key = 100;

	ck_assert_int_eq(posted(100, true), 0);
	ck_assert_int_eq(posted(101, false), 0);
	ck_assert_uint_eq(evd_queue_count(&q), 0);
	evd_queue_purge(&q, NULL, NULL, event_is, &key);
	ck_assert_uint_eq(evd_queue_count(&q), 1);
	ck_assert_uint_eq(taken(), 101);
}

TEST(purge__held_and_released__both_go)
{
	const uint64_t held[2] = { 50, 51 };

	ck_assert(held_in(&hold, held[0]));
	evd_queue_release(&q, &hold);
	ck_assert(held_in(&hold, held[1]));
	polled(1, 1, true);
	evd_queue_purge(&q, &hold, NULL, NULL, NULL);
	ck_assert_uint_eq(evd_queue_count(&q), 1);
	ck_assert_uint_eq(taken(), 1);
	ck_assert_uint_eq(taken(), 0);
	ck_assert_uint_eq(hold.count, 0);
}

static bool
any_record(const struct evd_record *record, const void *key)
{
	(void)record;
	(void)key;
	return true;
}

TEST(purge__whole_ring__a_whole_batch_has_room)
{
	polled(1, 3, true);
	ck_assert_uint_eq(taken(), 1);
	evd_queue_purge(&q, NULL, any_record, NULL, NULL);
	ck_assert_uint_eq(evd_queue_count(&q), 0);
	ck_assert_uint_eq(room(QLEN), QLEN);
}

/* An endpoint that is reset keeps the events of its last attempt. */
TEST(purge__event_of_the_last_attempt_opens_later__the_next_hold_goes_on)
{
	const uint64_t held = 50;

	ck_assert_int_eq(posted_of(&hold, 100, true, NULL), 0);
	ck_assert_int_eq(posted_of(&hold, 101, false, &hold), 0);
	evd_queue_purge(&q, &hold, NULL, NULL, NULL);
	hold.active = true;
	ck_assert(held_in(&hold, held));
	dropped(0, true);
	ck_assert_uint_eq(taken(), 100);
	ck_assert_uint_eq(taken(), 101);
	ck_assert_uint_eq(taken(), 0);
	ck_assert(evd_hold_is_active(&hold));
	released(&hold, 102);
	ck_assert_uint_eq(taken(), 102);
	ck_assert_uint_eq(taken(), 50);
}

TEST(max_depth__is_the_high_water_mark)
{
	polled(1, 3, true);
	ck_assert_int_eq(posted(100, false), 0);
	while (taken())
		;
	polled(4, 1, true);
	ck_assert_uint_eq(q.max_depth, 4);
}

TEST(hold_released_again_while_others_wait__order_of_release)
{
	struct evd_hold other;
	uint64_t id = 50;

	ck_assert_int_eq(evd_hold_init(&other, 2), 0);
	ck_assert(held_in(&hold, id));
	evd_queue_release(&q, &hold);
	id = 60;
	ck_assert(held_in(&other, id));
	evd_queue_release(&q, &other);
	id = 51;
	ck_assert(held_in(&hold, id));
	evd_queue_release(&q, &hold);
	ck_assert_uint_eq(taken(), 50);
	ck_assert_uint_eq(taken(), 60);
	ck_assert_uint_eq(taken(), 51);
	ck_assert_uint_eq(taken(), 0);
	evd_hold_fini(&other);
}

TEST(purge__no_device__posted_events_alone_go)
{
	struct evd_queue soft;
	struct script_event event = script_event(7);
	uint64_t key = 7;

	ck_assert_int_eq(evd_queue_init(&soft, 2, 2, sizeof(struct script_event), false), 0);
	memcpy(evd_queue_post(&soft, &none, true)->event, &event, sizeof event);
	event = script_event(8);
	memcpy(evd_queue_post(&soft, &none, true)->event, &event, sizeof event);
	evd_queue_purge(&soft, NULL, record_is, event_is, &key);
	ck_assert_uint_eq(evd_queue_count(&soft), 1);
	ck_assert_uint_eq(script_id(evd_posted_first(&soft.posted)->event), 8);
	evd_queue_fini(&soft);
}

TEST(max_depth__counts_what_is_polled_posted_and_released)
{
	const uint64_t held = 50;

	ck_assert(held_in(&hold, held));
	ck_assert_uint_eq(q.max_depth, 0);
	polled(1, 1, true);
	ck_assert_uint_eq(q.max_depth, 1);
	ck_assert_int_eq(posted(100, false), 0);
	ck_assert_uint_eq(q.max_depth, 2);
	evd_queue_release(&q, &hold);
	ck_assert_uint_eq(q.max_depth, 3);
	while (taken())
		;
	ck_assert_uint_eq(q.max_depth, 3);
}

TEST(move__held_completions_and_barriers__go_on_where_they_were)
{
	const uint64_t held = 50;
	struct evd_queue longer, old;

	ck_assert(held_in(&hold, held));
	evd_queue_release(&q, &hold);
	polled(1, 2, false);
	ck_assert_int_eq(posted(100, true), 0);
	old = q;
	ck_assert_int_eq(
	    evd_queue_init(&longer, 2 * QLEN, 2 * QLEN, sizeof(struct script_event), true), 0);
	evd_queue_move(&longer, &old);
	ck_assert_uint_eq(longer.max_depth, q.max_depth);
	evd_queue_fini(&old);
	q = longer;
	polled(3, 1, false);
	ck_assert_uint_eq(evd_queue_count(&q), 4); /* the barrier waits for QLEN completions */
	ck_assert_uint_eq(taken(), 50);
	for (uint64_t i = 1; i <= 3; i++)
		ck_assert_uint_eq(taken(), i);
	ck_assert_uint_eq(taken(), 0);
	dropped(0, true);
	ck_assert_uint_eq(taken(), 100);
}
