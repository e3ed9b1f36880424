/* SPDX-License-Identifier: BSD-3-Clause */
/* What the dispatcher knows of its front end: the size of an event, and the calls of upcalls. */
#include <string.h>

#include "story.h"

STORY_CASE("evd_front:event");

static struct script_event
long_event(uint64_t kind, uint64_t id)
{
	struct script_event event = { .kind = kind, .evd = &st, .id = id };

	for (uint64_t i = 0; i < 3; i++)
		event.more[i] = id + 1 + i;
	return event;
}

/* Writes over all of it first. */
static void
dequeue_over(struct script_event *event)
{
	memset(event, 0x55, sizeof *event);
	ck_assert_int_eq(evd_dequeue(script_ref(&st.dev), event), 0);
}

TEST(posted__an_event__comes_out_whole_and_alone)
{
	const struct script_event posted[2] = { long_event(SCRIPT_REQUEST, 10),
		long_event(SCRIPT_BIND, 20) };
	struct script_event got[2];

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(evd_post(script_ref(&st.dev), EVD_STREAM_REQUEST, &posted[i]), 0);
	memset(got, 0x55, sizeof got);
	ck_assert_int_eq(evd_dequeue(script_ref(&st.dev), &got[0]), 0);
	ck_assert_mem_eq(&got[0], &posted[0], sizeof got[0]);
	ck_assert_int_eq(((char *)&got[1])[0], 0x55);
	dequeue_over(&got[1]);
	ck_assert_mem_eq(&got[1], &posted[1], sizeof got[1]);
}

/* The rest of the consumer's memory is left alone. */
TEST(posted__a_software_event__its_first_bytes_come_out)
{
	const struct script_event posted = long_event(SCRIPT_SOFTWARE, 10);
	struct script_event got;

	ck_assert_int_eq(evd_post(script_ref(&st.dev), EVD_STREAM_SOFTWARE, &posted), 0);
	dequeue_over(&got);
	ck_assert_mem_eq(&got, &posted, EVD_EVENT_SHORT);
	ck_assert_int_eq(((unsigned char *)&got)[EVD_EVENT_SHORT], 0x55);
}

TEST(posted__the_queue_is_lengthened__events_stay_whole)
{
	const struct script_event posted[2] = { long_event(SCRIPT_REQUEST, 10),
		long_event(SCRIPT_SOFTWARE, 20) };
	struct script_event got;

	ck_assert_int_eq(evd_post(script_ref(&st.dev), EVD_STREAM_REQUEST, &posted[0]), 0);
	ck_assert_int_eq(evd_post(script_ref(&st.dev), EVD_STREAM_SOFTWARE, &posted[1]), 0);
	ck_assert_int_eq(evd_reserve(script_ref(&st.dev), 64), 0);
	ck_assert_int_eq(story_resize(64), 0);
	dequeue_over(&got);
	ck_assert_mem_eq(&got, &posted[0], sizeof got);
	dequeue_over(&got);
	ck_assert_mem_eq(&got, &posted[1], EVD_EVENT_SHORT);
	ck_assert_int_eq(((unsigned char *)&got)[EVD_EVENT_SHORT], 0x55);
}

/* Each has its place in the array, whatever it was. */
TEST(dequeue_several__of_every_kind__one_after_the_other)
{
	const struct script_event posted = long_event(SCRIPT_REQUEST, 10);
	struct script_event got[5];

	ck_assert_int_eq(evd_post(script_ref(&st.dev), EVD_STREAM_REQUEST, &posted), 0);
	ck_assert_int_eq(script_post(&st.dev, 20), 0);
	ck_assert_int_eq(evd_refresh(script_ref(&st.dev)), 0);
	story_complete(30, 2);
	ck_assert_int_eq(evd_refresh(script_ref(&st.dev)), 0);
	ck_assert_int_eq(evd_post(script_ref(&st.dev), EVD_STREAM_REQUEST, &posted), 0);
	ck_assert_int_eq(evd_dequeue_several(script_ref(&st.dev), 5, got), 5);
	ck_assert_mem_eq(&got[0], &posted, sizeof posted);
	ck_assert_uint_eq(got[1].id, 20);
	ck_assert_uint_eq(got[2].id, 30);
	ck_assert_uint_eq(got[3].id, 31);
	ck_assert_mem_eq(&got[4], &posted, sizeof posted);
	st.dev.armed = false;
}

STORY_CASE("evd_front:upcall");

static struct script_event seen[4];
static void *handle;
static unsigned int n_seen, calls;

static void
several(void *instance, const struct script_event *events, unsigned int n, int more)
{
	(void)more;
	ck_assert_ptr_eq(instance, &st);
	handle = evd_upcall_handle();
	for (unsigned int i = 0; i < n; i++)
		seen[n_seen++] = events[i];
	calls++;
}

TEST(upcall__several_events__an_array_of_them_and_the_handle)
{
	const struct script_event posted = long_event(SCRIPT_REQUEST, 10);
	const struct evd_upcall upcall = {
		.instance = &st, .function = (void (*)(void))several, .most = 3
	};

	n_seen = calls = 0;
	ck_assert_int_eq(evd_post(script_ref(&st.dev), EVD_STREAM_REQUEST, &posted), 0);
	ck_assert_int_eq(script_post(&st.dev, 20), 0);
	ck_assert_int_eq(evd_post(script_ref(&st.dev), EVD_STREAM_REQUEST, &posted), 0);
	ck_assert_int_eq(script_post(&st.dev, 21), 0);
	ck_assert_int_eq(
	    evd_modify_upcall(script_ref(&st.dev), EVD_POLICY_SINGLE, &upcall, EVD_PENDING_CALL),
	    0);
	story_run(&st);
	ck_assert_uint_eq(calls, 2);
	ck_assert_uint_eq(n_seen, 4);
	ck_assert_mem_eq(&seen[0], &posted, sizeof posted);
	ck_assert_uint_eq(seen[1].id, 20);
	ck_assert_mem_eq(&seen[2], &posted, sizeof posted);
	ck_assert_uint_eq(seen[3].id, 21);
	ck_assert_ptr_eq(handle, &st.dev);
}

static struct story inner;
static void *of_inner, *after_inner;

static void
run_inner(struct tape *tape, uint64_t id)
{
	(void)tape;
	(void)id;
	story_run(&inner);
	after_inner = evd_upcall_handle();
}

static void
note_inner(struct tape *tape, uint64_t id)
{
	(void)tape;
	(void)id;
	of_inner = evd_upcall_handle();
}

/* An upcall that runs another adapter by hand makes upcalls inside its own. */
TEST(upcall__inside_another_one__each_finds_its_own_handle)
{
	story_begin(&inner, NULL);
	st.tape.then = run_inner;
	inner.tape.then = note_inner;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(story_enable(&inner, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&inner.dev, 2), 0);
	ck_assert_int_eq(script_post(&st.dev, 1), 0);
	story_run(&st);
	story_upcall(&st, 1);
	story_upcall(&inner, 2);
	ck_assert_ptr_eq(of_inner, &inner.dev);
	ck_assert_ptr_eq(after_inner, &st.dev);
	story_end(&inner);
}
