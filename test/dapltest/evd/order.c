/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order is kept for each endpoint: a wait for the events of one delays neither another endpoint nor
 * software events.
 */
#include "story.h"

#define QLEN 4

static struct evd_hold hold[SCRIPT_EPS];

static void
setup(void)
{
	const struct script_options opt = { .qlen = QLEN };

	story_begin(&st, &opt);
	for (int ep = 1; ep < SCRIPT_EPS; ep++) {
		ck_assert_int_eq(evd_hold_init(&hold[ep], 4), 0);
		st.dev.hold[ep] = &hold[ep];
	}
}

static void
teardown(void)
{
	for (int ep = 1; ep < SCRIPT_EPS; ep++) {
		evd_purge(evd_self(&st.dev.evd), &hold[ep], NULL, NULL, NULL);
		evd_hold_fini(&hold[ep]);
	}
	story_end(&st);
}

static void
connecting(int ep)
{
	evd_hold_begin(evd_self(&st.dev.evd), &hold[ep]);
}

static void
established(int ep, uint64_t id)
{
	const struct evd_order order = { .endpoint = &hold[ep], .hold = &hold[ep] };
	struct script_event event = script_event(id);

	ck_assert_int_eq(
	    evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_CONNECTION, &event, &order), 0);
}

static void
disconnected(int ep, uint64_t id)
{
	const struct evd_order order = { .endpoint = &hold[ep], .barrier = true };
	struct script_event event = script_event(id);

	ck_assert_int_eq(
	    evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_CONNECTION, &event, &order), 0);
}

/* The ring is full, and the device has more: no poll sees it empty. */
static void
fill(int ep, uint64_t first, int n)
{
	for (int i = 0; i < n; i++)
		script_complete_on(&st.dev, (uint32_t)ep, first + (uint64_t)i);
	ck_assert_int_eq(evd_refresh(evd_self(&st.dev.evd)), 0);
}

CASE("evd_order:order", setup, teardown);

/* origin: attack.C3 */
TEST(established__barrier_of_another_endpoint_closed__not_behind_it)
{
	connecting(2);
	script_complete_on(&st.dev, 2, 21);
	fill(1, 11, QLEN + 1);
	disconnected(1, 900);
	established(2, 800);
	for (uint64_t i = 11; i < 11 + QLEN; i++)
		story_dequeues(&st, i);
	story_dequeues(&st, 800);
	story_dequeues(&st, 21);
	story_dequeues(&st, 11 + QLEN);
	story_dequeues(&st, 900);
	story_empty(&st);
}

TEST(software_event__barrier_closed__not_behind_it)
{
	fill(1, 11, QLEN + 1);
	disconnected(1, 900);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	for (uint64_t i = 11; i < 11 + QLEN; i++)
		story_dequeues(&st, i);
	story_dequeues(&st, 100);
	story_dequeues(&st, 11 + QLEN);
	story_dequeues(&st, 900);
	story_empty(&st);
}

TEST(established__its_own_barrier_closed__behind_it_and_the_hold_goes_on)
{
	fill(1, 11, QLEN + 1);
	disconnected(1, 900);
	connecting(1); /* it was reset, and connects again */
	established(1, 800);
	ck_assert(hold[1].active);
	for (uint64_t i = 11; i < 11 + QLEN; i++)
		story_dequeues(&st, i);
	story_dequeues(&st, 900); /* the last completion is held: it is of the new connection */
	story_dequeues(&st, 800);
	ck_assert(!hold[1].active);
	story_dequeues(&st, 11 + QLEN);
	story_empty(&st);
}

TEST(barriers_of_two_endpoints__each_with_what_follows_it)
{
	fill(1, 11, QLEN + 1);
	disconnected(1, 900);
	disconnected(2, 901);
	established(2, 801);
	for (uint64_t i = 11; i < 11 + QLEN; i++)
		story_dequeues(&st, i);
	story_dequeues(&st, 11 + QLEN);
	story_dequeues(&st, 900);
	story_dequeues(&st, 901);
	story_dequeues(&st, 801);
	story_empty(&st);
}

TEST(hold_of_one_endpoint__receives_of_another_leave)
{
	connecting(1);
	script_complete_on(&st.dev, 1, 11);
	script_complete_on(&st.dev, 2, 21);
	script_complete_on(&st.dev, 1, 12);
	story_dequeues(&st, 21);
	disconnected(2, 902);
	story_dequeues(&st, 902);
	story_empty(&st);
	established(1, 800);
	story_dequeues(&st, 800);
	story_dequeues(&st, 11);
	story_dequeues(&st, 12);
	story_empty(&st);
}

TEST(hold_purged__an_event_that_was_to_end_it__leaves_the_next_hold_alone)
{
	fill(1, 11, QLEN + 1);
	disconnected(1, 900);
	connecting(1);
	established(1, 800);					      /* closed: behind 900 */
	evd_purge(evd_self(&st.dev.evd), &hold[1], NULL, NULL, NULL); /* reset once more */
	connecting(1);
	for (uint64_t i = 11; i < 11 + QLEN; i++)
		story_dequeues(&st, i);
	story_dequeues(&st, 900);
	story_dequeues(&st, 800);
	ck_assert(hold[1].active);
	story_empty(&st);
}

/* The queue has room for QLEN posted events, open and closed together. */
TEST(closed_events__count_against_the_length)
{
	struct script_event event = script_event(1);

	fill(1, 11, QLEN + 1);
	for (int ep = 1; ep < SCRIPT_EPS; ep++)
		disconnected(ep, 900 + (uint64_t)ep);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(
	    evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_CONNECTION, &event, &script_barrier),
	    -ENOSPC);
	ck_assert_int_eq(script_post(&st.dev, 101), -ENOSPC);
	for (uint64_t i = 11; i < 11 + QLEN; i++)
		story_dequeues(&st, i);
	story_dequeues(&st, 100);
	ck_assert_int_eq(script_post(&st.dev, 102), 0);
	story_dequeues(&st, 102);
	story_dequeues(&st, 11 + QLEN);
	for (int ep = 1; ep < SCRIPT_EPS; ep++)
		story_dequeues(&st, 900 + (uint64_t)ep);
	story_empty(&st);
}

static void
flushed(int ep, uint64_t id, uint64_t number)
{
	const struct evd_order order = { .endpoint = &hold[ep] };
	struct script_event event = script_event(id);

	event.kind = number;
	ck_assert_int_eq(
	    evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_COMPLETION, &event, &order), 0);
}

/* Of one endpoint, with one number, open and closed; what waited for one of them can be taken. */
TEST(purge_endpoint__removes_its_events_with_that_number_and_no_others)
{
	const uint64_t bind = SCRIPT_BIND;
	struct script_event event;

	flushed(1, 1, bind);
	flushed(2, 2, bind);
	flushed(1, 3, SCRIPT_SOFTWARE);
	evd_purge_endpoint(evd_self(&st.dev.evd), &hold[1], script_is_bind);
	ck_assert_int_eq(evd_dequeue(evd_self(&st.dev.evd), &event), 0);
	ck_assert_int_eq(event.kind, bind);
	story_dequeues(&st, 3);
	story_empty(&st);
	/* Where an event of the endpoint was is one of none. */
	ck_assert_int_eq(script_post(&st.dev, 4), 0);
	evd_purge_endpoint(evd_self(&st.dev.evd), &hold[1], script_is_software);
	story_dequeues(&st, 4);
	/* Behind a barrier. */
	fill(2, 11, QLEN + 1);
	disconnected(1, 900);
	flushed(1, 5, bind);
	flushed(1, 6, SCRIPT_SOFTWARE);
	evd_purge_endpoint(evd_self(&st.dev.evd), &hold[1], script_is_bind);
	for (uint64_t i = 11; i < 11 + QLEN + 1; i++)
		story_dequeues(&st, i);
	story_dequeues(&st, 900);
	story_dequeues(&st, 6);
	story_empty(&st);
}

/* origin: attack.C9 */
TEST(batches__after_the_queue_was_empty__are_whole_again)
{
	enum { LENGTH = 64, MANY = 1000 };
	const struct script_options opt = { .qlen = LENGTH };
	struct story own;
	unsigned int polls;
	struct script_event event;

	story_begin(&own, &opt);
	for (uint64_t i = 1; i < LENGTH; i++)
		script_complete(&own.dev, i);
	for (uint64_t i = 1; i < LENGTH; i++)
		story_dequeues(&own, i);
	own.dev.gone[1] = true; /* its completions are dropped when they are polled */
	for (uint64_t i = 0; i < MANY; i++)
		script_complete_on(&own.dev, 1, i);
	polls = own.dev.polls;
	ck_assert_int_eq(evd_dequeue(evd_self(&own.dev.evd), &event), -EAGAIN);
	ck_assert_uint_le(own.dev.polls - polls, MANY / 32 + 1);
	story_end(&own);
}
