/* SPDX-License-Identifier: BSD-3-Clause */
/* Who reads the completion channel, shared or private, as the sink changes. */
#include <stdatomic.h>
#include <unistd.h>

#include "cno/cno.h"

#include "story.h"

static void
begin(enum loop_kind kind, enum script_channel channel)
{
	struct script_options opt = { .channel = channel };

	ck_assert_int_eq(loop_create(kind, 0, &opt.loop), 0);
	story_begin(&st, &opt);
}

CASE("evd_channel:channel");

TEST(private__waiter__reads_it_itself)
{
	struct waiter w;

	begin(LOOP_STEPPED, SCRIPT_PRIVATE);
	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	script_complete(&st.dev, 1);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 1);
	ck_assert_uint_eq(st.dev.gets, 1);
	story_end(&st);
}

TEST(private__waiter__software_event_wakes_it_too)
{
	struct waiter w;

	begin(LOOP_STEPPED, SCRIPT_PRIVATE);
	waiter_start(&w, &st.dev, EVD_FOREVER, 2);
	script_complete(&st.dev, 1);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_int_eq(w.nmore, 1);
	story_end(&st);
}

TEST(private__upcall_enabled__the_loop_reads_it)
{
	begin(LOOP_STEPPED, SCRIPT_PRIVATE);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	story_upcall(&st, 1);
	script_complete(&st.dev, 2);
	story_upcall(&st, 2);
	story_end(&st);
}

TEST(private__disabled__the_next_policy_gets_the_events)
{
	begin(LOOP_STEPPED, SCRIPT_PRIVATE);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	script_complete(&st.dev, 1);
	story_run(&st);
	ck_assert_uint_eq(script_raised(&st.dev), 0); /* the loop reads it all the same */
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_upcall(&st, 1);
	ck_assert_uint_eq(script_raised(&st.dev), 0);
	script_complete(&st.dev, 2);
	story_upcall(&st, 2);
	story_end(&st);
}

TEST(private__upcall_then_waiter_then_upcall__all_read)
{
	struct waiter w;

	begin(LOOP_STEPPED, SCRIPT_PRIVATE);
	for (uint64_t i = 0; i < 3; i++) {
		ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
		script_complete(&st.dev, 10 * i + 1);
		story_upcall(&st, 10 * i + 1);
		ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
		waiter_start(&w, &st.dev, EVD_FOREVER, 1);
		script_complete(&st.dev, 10 * i + 2);
		ck_assert_int_eq(waiter_join(&w), 0);
		ck_assert_uint_eq(waiter_id(&w), 10 * i + 2);
	}
	story_end(&st);
}

/* origin: peer.7 */
TEST(private__cno_attached__the_loop_reads_it)
{
	const struct cno_config config = { 0 };
	struct cno_config with_loop = config;
	void *handle;
	struct waiter w;
	struct cno cno;

	begin(LOOP_STEPPED, SCRIPT_PRIVATE);
	with_loop.loop = st.loop;
	cno_slot_init(&cno);
	ck_assert_int_eq(cno_create(&cno, &with_loop), 0);
	ck_assert_int_eq(evd_set_listener(evd_self(&st.dev.evd), cno_listener(&cno), &cno), 0);
	story_run(&st);
	script_complete(&st.dev, 1);
	story_run(&st);
	ck_assert_int_eq(cno_wait(cno_self(&cno), 0, &handle), 0);
	ck_assert_ptr_eq(handle, &st.dev);
	/* Detached again: a waiter reads, not the loop. */
	ck_assert_int_eq(evd_set_listener(evd_self(&st.dev.evd), NULL, NULL), 0);
	story_dequeues(&st, 1);
	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	script_complete(&st.dev, 2);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 2);
	story_end(&st);
}

/* origin: peer.6 */
TEST(private__waiter_while_a_cno_is_attached__the_cno_gets_the_next)
{
	struct cno_config config = { 0 };
	void *handle;
	struct cno cno;
	struct waiter w;

	begin(LOOP_STEPPED, SCRIPT_PRIVATE);
	config.loop = st.loop;
	cno_slot_init(&cno);
	ck_assert_int_eq(cno_create(&cno, &config), 0);
	ck_assert_int_eq(evd_set_listener(evd_self(&st.dev.evd), cno_listener(&cno), &cno), 0);
	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	script_complete(&st.dev, 1);
	ck_assert_int_eq(waiter_join(&w), 0);
	story_run(&st);
	ck_assert_int_eq(cno_wait(cno_self(&cno), 0, &handle), -ETIMEDOUT);
	script_complete(&st.dev, 2);
	story_run(&st);
	ck_assert_int_eq(cno_wait(cno_self(&cno), 0, &handle), 0);
	story_dequeues(&st, 2);
	story_end(&st);
}

TEST(private__shared_loop_thread__no_turn_without_a_reason)
{
	uint64_t busy;

	begin(LOOP_THREAD, SCRIPT_PRIVATE);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	script_complete(&st.dev, 1);
	script_sleep_ms(10);
	busy = (uint64_t)clock();
	script_sleep_ms(50);
	/* The unread notification must not keep the loop's thread awake. */
	ck_assert_uint_lt((uint64_t)clock() - busy, CLOCKS_PER_SEC / 50);
	story_dequeues(&st, 1);
	story_end(&st);
}

/* origin: peer.8 */
TEST(shared__waiter__woken_through_the_loop)
{
	struct waiter w;

	begin(LOOP_THREAD, SCRIPT_SHARED);
	waiter_start(&w, &st.dev, EVD_FOREVER, 3);
	for (uint64_t i = 1; i <= 3; i++)
		script_complete(&st.dev, i);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 1);
	ck_assert_int_eq(w.nmore, 2);
	story_end(&st);
}

TEST(shared__upcalls_on_a_threaded_loop__persistent)
{
	begin(LOOP_THREAD, SCRIPT_SHARED);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	for (int i = 1; i <= 100; i++) {
		script_complete(&st.dev, (uint64_t)i);
		tape_await(&st.tape, i);
	}
	tape_await_inside(&st.tape, 0);
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(st.tape.id[i], (uint64_t)i + 1);
	st.tape.read = st.tape.n;
	story_end(&st);
}

static int (*read_truly)(void *source);
static atomic_int reads;

/* As when the loop, whose handler may be entered once more, was faster. */
static int
find_it_read(void *source)
{
	return atomic_fetch_add(&reads, 1) < 2 ? 0 : read_truly(source);
}

TEST(private__another_thread_read_it__the_waiter_sleeps_on)
{
	struct waiter w;

	begin(LOOP_STEPPED, SCRIPT_PRIVATE);
	read_truly = st.dev.ops.read;
	st.dev.ops.read = find_it_read;
	waiter_start(&w, &st.dev, EVD_FOREVER, 2);
	script_complete(&st.dev, 1);
	while (atomic_load(&reads) < 3)
		script_sleep_ms(1);
	script_complete(&st.dev, 2);
	ck_assert_int_eq(waiter_join(&w), 0);
	ck_assert_uint_eq(waiter_id(&w), 1);
	ck_assert_uint_le(st.dev.gets, 2); /* what it did not get it does not book */
	story_dequeues(&st, 2);
	story_end(&st);
}

/* Of a channel that stays readable: often while a thread watches it. */
static unsigned int
tries_to_read(void)
{
	unsigned int n;

	pthread_mutex_lock(&st.dev.lock);
	n = st.dev.tries;
	pthread_mutex_unlock(&st.dev.lock);
	return n;
}

static int
wait_for(uint32_t timeout, int threshold, uint64_t *id)
{
	struct waiter w = { .r = 0 };

	w.r = evd_wait(evd_self(&st.dev.evd), timeout, threshold, &w.event, &w.nmore);
	if (w.r == 0)
		*id = waiter_id(&w);
	return w.r;
}

/* An event that is there ends a wait as before; without one it does not sleep. */
static void
waits_without_channel(void)
{
	const uint32_t timeouts[] = { 0, EVD_FOREVER };
	uint64_t id;

	for (uint64_t i = 0; i < 2; i++) {
		ck_assert_int_eq(wait_for(timeouts[i], 1, &id), -EIO);
		script_complete(&st.dev, 50 + i);
		ck_assert_int_eq(wait_for(timeouts[i], 1, &id), 0);
		ck_assert_uint_eq(id, 50 + i);
		ck_assert_int_eq(script_post(&st.dev, 100 + i), 0);
		ck_assert_int_eq(wait_for(timeouts[i], 1, &id), 0);
		ck_assert_uint_eq(id, 100 + i);
	}
	script_complete(&st.dev, 60);
	ck_assert_int_eq(wait_for(EVD_FOREVER, 2, &id), -EIO);
	story_dequeues(&st, 60);
}

/* With _i the waits before it have slept, so that the next one would begin with the arm. */
/* origin: out36.M1 */
TEST_LOOP(private__cannot_be_read__the_waiter_gets_what_is_there_or_an_error, 2)
{
	struct waiter w;
	uint64_t id;

	begin(LOOP_STEPPED, SCRIPT_PRIVATE);
	for (int i = 0; _i && i < 2 * EVD_SLEPT_WAITS; i++)
		ck_assert_int_eq(wait_for(1000, 1, &id), -ETIMEDOUT);
	st.dev.read_error = -EIO;
	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	script_spurious(&st.dev);
	ck_assert_int_eq(waiter_join(&w), -EIO);
	script_complete(&st.dev, 40);
	ck_assert_int_eq(wait_for(EVD_FOREVER, 1, &id), 0);
	ck_assert_uint_eq(id, 40);
	waits_without_channel();
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), -EIO);
	ck_assert_uint_eq(tries_to_read(), 1);
	ck_assert_int_eq(st.dev.faults, 0); /* each caller got the error */
	story_end(&st);
}

/* What comes later is found by polls. */
/* origin: out36.M1 */
TEST(private__cannot_be_read__the_upcalls_go_on_after_one_report)
{
	begin(LOOP_STEPPED, SCRIPT_PRIVATE);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_run(&st);
	st.dev.read_error = -EIO;
	script_spurious(&st.dev);
	story_run(&st);
	ck_assert_int_eq(st.dev.faults, 1);
	ck_assert_int_eq(st.dev.last_fault, -EIO);
	for (uint64_t i = 1; i <= 3; i++) {
		script_complete(&st.dev, i);
		while (tape_count(&st.tape) < (int)i)
			(void)loop_step(st.loop, 10);
		story_upcall(&st, i);
	}
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_upcall(&st, 100);
	ck_assert_int_eq(st.dev.faults, 1);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), -EIO);
	story_run(&st);
	waits_without_channel();
	ck_assert_uint_eq(tries_to_read(), 1);
	story_end(&st);
}

/* Its owner reports it. */
/* origin: out36.M1 */
TEST_LOOP(shared__cannot_be_read__each_sink_learns_it, 2)
{
	struct waiter w;

	begin(LOOP_STEPPED, SCRIPT_SHARED);
	if (_i) {
		ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
		story_run(&st);
	} else {
		waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	}
	evd_channel_lost(evd_self(&st.dev.evd));
	if (_i) {
		story_run(&st);
		ck_assert_int_eq(st.dev.faults, 1);
		ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	} else {
		ck_assert_int_eq(waiter_join(&w), -EIO);
	}
	waits_without_channel();
	story_end(&st);
}

TEST(private__standard_input_is_closed__does_not_take_its_place)
{
	struct script_options opt = { .channel = SCRIPT_PRIVATE };
	int before = dup(0);

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &opt.loop), 0);
	os_close(0); /* as of a program without a standard input */
	story_begin(&st, &opt);
	ck_assert_int_gt(st.dev.fd, STDERR_FILENO);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	story_run(&st);
	story_upcall(&st, 1);
	story_end(&st);
	if (before >= 0) {
		ck_assert_int_eq(dup2(before, 0), 0);
		os_close(before);
	}
}

TEST(private__slot_used_again__the_waiter_reads_it_itself)
{
	struct waiter w;

	begin(LOOP_STEPPED, SCRIPT_PRIVATE);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	script_open(&st.dev, &st.dev.opt);
	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	script_complete(&st.dev, 1);
	ck_assert_int_eq(waiter_join(&w), 0);
	story_end(&st);
}
