/* SPDX-License-Identifier: BSD-3-Clause */
/* TEARDOWN and free: what they wait for, and what late calls and notifications find. */
#include "cno_story.h"

static struct loop *pool;

static void
begin_threaded(int threads)
{
	struct script_options opt = { .channel = SCRIPT_DIRECT, .qlen = 64 };

	ck_assert_int_eq(loop_create(LOOP_THREAD, 0, &opt.loop), 0);
	ck_assert_int_eq(loop_create(LOOP_POOL, threads, &pool), 0);
	opt.pool = pool;
	story_begin(&st, &opt);
}

static void
end_threaded(void)
{
	tape_await_inside(&st.tape, 0);
	st.tape.read = st.tape.n;
	script_close(&st.dev);
	loop_free(pool);
	loop_free(st.loop);
	park_close_self();
}

static void
await_tearing(struct evd *evd, int n)
{
	for (bool there = false; !there; script_sleep_ms(0)) {
		os_lock(&evd->lock);
		there = evd->tearing >= n;
		os_unlock(&evd->lock);
	}
}

static int enabled, refused;

static void
enable_while_torn_down(struct tape *tape, uint64_t id)
{
	struct evd *evd = &tape->dev->evd;
	struct script_event event;
	int r;

	(void)id;
	must(evd_modify_upcall(evd_self(evd), EVD_POLICY_DISABLE, NULL, EVD_PENDING_REFUSE) == 0);
	await_tearing(evd, 1);
	/* The recommended pattern must end: refused while events are pending, accepted when not. */
	must(script_post(tape->dev, 101) == 0);
	for (;;) {
		r = evd_modify_upcall(evd_self(evd), EVD_POLICY_SINGLE, NULL, EVD_PENDING_REFUSE);
		if (r != -EAGAIN)
			break;
		refused++;
		while (evd_dequeue(evd_self(evd), &event) == 0)
			;
	}
	must(r == 0);
	enabled++;
}

CASE("evd_teardown:free");

TEST(teardown__enable_inside_an_upcall_teardown_waits_for__takes_no_effect)
{
	begin_threaded(1);
	st.tape.then = enable_while_torn_down;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	tape_await(&st.tape, 1);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&st.dev.evd), EVD_POLICY_TEARDOWN, NULL, EVD_PENDING_REFUSE),
	    0);
	ck_assert_int_eq(st.tape.inside, 0);
	ck_assert_int_eq(enabled, 1);
	ck_assert_int_eq(refused, 1);
	ck_assert_int_eq(script_post(&st.dev, 102), 0);
	script_sleep_ms(10);
	ck_assert_int_eq(tape_count(&st.tape), 1); /* I6 */
	/* Once TEARDOWN returned, enabling works again. */
	st.tape.then = NULL;
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&st.dev.evd), EVD_POLICY_SINGLE, NULL, EVD_PENDING_CALL), 0);
	tape_await(&st.tape, 2);
	end_threaded();
}

static pthread_barrier_t both;

static void
meet_and_free(struct tape *tape, uint64_t id)
{
	int r;

	(void)id;
	pthread_barrier_wait(&both);
	r = evd_free(evd_self(&tape->dev->evd));
	must(r == 0 || r == -ENODEV);
}

TEST(teardown__two_upcalls_of_many_free_their_evd__neither_waits_for_the_other)
{
	begin_threaded(2);
	pthread_barrier_init(&both, NULL, 2);
	st.tape.then = meet_and_free;
	script_complete(&st.dev, 1);
	script_complete(&st.dev, 2);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	tape_await(&st.tape, 2);
	tape_await_inside(&st.tape, 0);
	loop_free(pool); /* joins: the last return has destroyed */
	pool = NULL;
	ck_assert_int_eq(st.dev.destroyed, 1);
	end_threaded();
	pthread_barrier_destroy(&both);
}

static void
meet_then_one_frees_one_tears_down(struct tape *tape, uint64_t id)
{
	struct evd *evd = &tape->dev->evd;
	int r;

	pthread_barrier_wait(&both);
	r = id == 1 ?
		evd_free(evd_self(evd)) :
		evd_modify_upcall(evd_self(evd), EVD_POLICY_TEARDOWN, NULL, EVD_PENDING_REFUSE);
	must(r == 0 || (id != 1 && r == -ENODEV));
}

TEST(teardown__one_upcall_frees_another_tears_down__both_return)
{
	begin_threaded(2);
	pthread_barrier_init(&both, NULL, 2);
	st.tape.then = meet_then_one_frees_one_tears_down;
	script_complete(&st.dev, 1);
	script_complete(&st.dev, 2);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	tape_await(&st.tape, 2);
	tape_await_inside(&st.tape, 0);
	loop_free(pool);
	pool = NULL;
	ck_assert_int_eq(st.dev.destroyed, 1);
	end_threaded();
	pthread_barrier_destroy(&both);
}

TEST(teardown__single_after_many__starts_when_the_last_of_many_returned)
{
	begin_threaded(2);
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	script_complete(&st.dev, 1);
	tape_await_inside(&st.tape, 1);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 2);
	script_sleep_ms(10);
	ck_assert_int_eq(tape_count(&st.tape), 1);
	story_check_rest(&st.dev);
	tape_release(&st.tape);
	tape_await(&st.tape, 2);
	tape_await_inside(&st.tape, 0);
	ck_assert_int_eq(st.tape.most_inside, 1);
	end_threaded();
}

/* ---- 25, on a stepped loop ---- */

/* origin: race.X1 */
TEST(teardown__acks_kept_for_a_batch__given_before_the_end)
{
	story_begin(&st, NULL);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	ck_assert_uint_eq(st.dev.acks, 0);
	story_end(&st); /* destroyed() waits for the balance */
}

TEST(teardown__reader_has_the_event_when_free_marks_dead__it_acks_at_once)
{
	bool alive = true;
	pthread_t thread;

	story_begin(&st, NULL);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	ck_assert(script_get(&st.dev));
	ck_assert_int_eq(pthread_create(&thread, NULL, story_free_thread, &st.dev), 0);
	while (alive) {
		script_sleep_ms(0);
		alive = script_evd_is(&st.dev.evd, &st.dev);
	}
	script_book(&st.dev);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(st.dev.acks, 1);
	ck_assert_int_eq(story_turn(&st), 0); /* and schedules nothing for a corpse */
	story_end(&st);
}

TEST(teardown__a_batch_of_events_for_both__all_booked_before_any_upcall)
{
	struct script_options opt = { .channel = SCRIPT_SHARED };
	struct evd_upcall object;
	struct script other;
	struct tape tape;

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &opt.loop), 0);
	story_begin(&st, &opt);
	script_init(&other);
	script_open(&other, &opt);
	tape_init(&tape, &other);
	object = tape_object(&tape);
	st.tape.then = story_free_arg;
	st.tape.arg = &other;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&other.evd), EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL),
	    0);
	script_complete(&st.dev, 1);
	script_complete(&other, 2);
	(void)story_turn(&st);
	ck_assert_uint_eq(other.gets, 1);
	ck_assert_uint_eq(other.acks, 1);
	ck_assert_int_eq(tape.n, 0);
	story_upcall(&st, 1);
	script_close(&other);
	story_end(&st);
}

TEST(teardown__private_channel__closed_when_its_waiter_is_out_again_and_again)
{
	struct script_options opt = { .channel = SCRIPT_PRIVATE };
	struct waiter w;

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &opt.loop), 0);
	story_begin(&st, &opt);
	opt.loop = st.loop;
	for (int i = 0; i < 50; i++) {
		waiter_start(&w, &st.dev, EVD_FOREVER, 2);
		if (i % 2)
			script_complete(&st.dev, 1); /* it may be reading just now */
		ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
		ck_assert_int_eq(waiter_join(&w), -ECANCELED);
		script_open(&st.dev, &opt); /* the descriptor's number is used again */
	}
	story_end(&st);
}

TEST(teardown__slot_used_again__a_stale_handle_is_noticed_under_the_lock)
{
	struct evd_config config = { .qlen = 4, .channel_fd = -1 };
	int handles[2];
	struct evd evd;

	story_begin(&st, NULL);
	config.loop = st.loop;
	evd_slot_init(&evd);
	config.handle = &handles[0];
	ck_assert(!script_evd_is(&evd, &handles[0]));
	ck_assert_int_eq(evd_create(&evd, &config), 0);
	ck_assert(script_evd_is(&evd, &handles[0]));
	evd.alive = false; /* as a free leaves it */
	evd_queue_fini(&evd.queue);
	config.handle = &handles[1];
	ck_assert_int_eq(evd_create(&evd, &config), 0);
	ck_assert(!script_evd_is(&evd, &handles[0]));
	ck_assert(script_evd_is(&evd, &handles[1]));
	evd_queue_fini(&evd.queue);
	story_end(&st);
}

TEST(teardown__reader_touches_the_slot_after_the_end__harmless)
{
	story_begin(&st, NULL);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	st.dev.gets++; /* a notification read after all */
	script_book(&st.dev);
	ck_assert_uint_eq(st.dev.acks, 1);
	ck_assert_int_eq(story_turn(&st), 0);
	story_end(&st);
}
