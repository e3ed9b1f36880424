/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that find their EVD full are refused, and the first of an episode is reported.  The
 * episode ends when no posted event is left: completions do not prolong it.
 */
#include "story.h"

#define QLEN 4

static int
request(void)
{
	const struct script_event event = { .kind = SCRIPT_REQUEST };

	return evd_post(script_ref(&st.dev), EVD_STREAM_REQUEST, &event);
}

/* Requests until one is refused.  Whether that one is to be reported. */
static bool
flood(void)
{
	int r, n = 0;

	while ((r = request()) == 0)
		ck_assert_int_le(++n, QLEN);
	ck_assert_int_eq(r, -ENOSPC);
	return evd_mark_refusal(script_ref(&st.dev));
}

/* Takes so many requests, and completions that stand before them. */
static void
take_requests(int n)
{
	struct script_event event;

	while (n > 0) {
		ck_assert_int_eq(evd_dequeue(script_ref(&st.dev), &event), 0);
		n -= event.kind == SCRIPT_REQUEST;
	}
}

static void
end(void)
{
	struct script_event event;

	while (evd_dequeue(script_ref(&st.dev), &event) == 0)
		continue;
	story_empty(&st);
	story_end(&st);
}

static void
begin(void)
{
	const struct script_options opt = { .qlen = QLEN };

	story_begin(&st, &opt);
}

/* ---- what may be left when the last posted event was taken ---- */

static void
leave_nothing(void)
{
}

static void
leave_in_the_device(void)
{
	script_complete(&st.dev, 1);
}

static void
leave_completion(void)
{
	script_complete(&st.dev, 1);
	ck_assert_int_eq(evd_refresh(script_ref(&st.dev)), 0);
}

static void
leave_full_ring(void)
{
	for (uint64_t i = 1; i <= QLEN; i++)
		script_complete(&st.dev, i);
	ck_assert_int_eq(evd_refresh(script_ref(&st.dev)), 0);
}

static void
leave_unsignalled_completion(void)
{
	script_show_record(&st.dev, &(struct script_record){ .id = 1, .flags = SCRIPT_QUIET });
	script_decide(&st.dev);
	ck_assert_int_eq(evd_refresh(script_ref(&st.dev)), 0);
}

static void (*const leave[])(void) = {
	leave_nothing,
	leave_in_the_device,
	leave_completion,
	leave_full_ring,
	leave_unsignalled_completion,
};
#define LEAVE ((int)(sizeof leave / sizeof leave[0]))

CASE("evd_refusal:refusal");

/* origin: outside.06 */
TEST_LOOP(requests_taken__completions_are_left__next_episode_is_reported, LEAVE)
{
	begin();
	for (int episode = 0; episode < 3; episode++) {
		ck_assert(flood());
		ck_assert(!flood());
		leave[_i]();
		take_requests(QLEN);
	}
	end();
}

/* origin: outside.06 */
TEST_LOOP(requests_taken__one_is_left__is_still_the_same_episode, LEAVE)
{
	begin();
	ck_assert(flood());
	leave[_i]();
	take_requests(QLEN - 1);
	ck_assert(!flood());
	take_requests(QLEN);
	ck_assert(flood());
	end();
}

/* origin: outside.06 */
TEST(requests_taken__another_posted_event_is_left__is_still_the_same_episode)
{
	struct script_event event;

	begin();
	for (int i = 1; i < QLEN; i++)
		ck_assert_int_eq(request(), 0);
	ck_assert_int_eq(script_post(&st.dev, 7), 0);
	ck_assert(flood());
	take_requests(QLEN - 1);
	ck_assert(!flood());
	ck_assert_int_eq(evd_dequeue(script_ref(&st.dev), &event), 0);
	ck_assert_uint_eq(script_id(&event), 7);
	take_requests(QLEN - 1);
	ck_assert(flood());
	end();
}

static bool
is_request(const void *event, const void *key)
{
	(void)key;
	return ((const struct script_event *)event)->kind == SCRIPT_REQUEST;
}

/* origin: outside.06 */
TEST_LOOP(requests_purged__completions_are_left__next_episode_is_reported, LEAVE)
{
	begin();
	ck_assert(flood());
	leave[_i]();
	evd_purge(script_ref(&st.dev), NULL, NULL, is_request, NULL);
	ck_assert(flood());
	ck_assert(!flood());
	end();
}

/* origin: outside.06 */
TEST(evd_freed_while_it_refuses__the_next_of_its_slot_begins_afresh)
{
	begin();
	ck_assert(flood());
	script_close(&st.dev);
	script_open(&st.dev, &st.dev.opt);
	ck_assert(flood());
	ck_assert(!flood());
	end();
}
