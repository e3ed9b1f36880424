/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EVD_POLICY_MANY: concurrent upcalls on a pool of threads, and the change back to one at a time.
 */
#include "cno/cno.h"

#include "story.h"

#define POOL_THREADS 4

static struct loop *pool;

static void
setup(void)
{
	struct script_options opt = { .channel = SCRIPT_SHARED, .qlen = 64 };

	ck_assert_int_eq(loop_create(LOOP_THREAD, 0, &opt.loop), 0);
	ck_assert_int_eq(loop_create(LOOP_POOL, POOL_THREADS, &pool), 0);
	opt.pool = pool;
	story_begin(&st, &opt);
}

static void
teardown(void)
{
	tape_await_inside(&st.tape, 0);
	st.tape.read = st.tape.n;
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	loop_free(pool);
	story_end(&st);
}

CASE("evd_many:many", setup, teardown);

/* clause: c.14.9 */
TEST(many__burst__the_oldest_four_at_once)
{
	uint64_t sum = 0;

	tape_hold(&st.tape);
	story_complete(1, 2 * POOL_THREADS);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	tape_await_inside(&st.tape, POOL_THREADS);
	/* They may have entered in any order. */
	for (int i = 0; i < POOL_THREADS; i++)
		sum += st.tape.id[i];
	ck_assert_uint_eq(sum, 1 + 2 + 3 + 4);
	tape_release(&st.tape);
	tape_await(&st.tape, 2 * POOL_THREADS);
	tape_await_inside(&st.tape, 0);
	ck_assert_int_eq(tape_count(&st.tape), 2 * POOL_THREADS);
	ck_assert_int_eq(st.tape.most_inside, POOL_THREADS);
}

TEST(many__one_by_one_while_the_first_blocks__each_gets_a_thread)
{
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	for (int i = 1; i <= POOL_THREADS; i++) {
		story_complete((uint64_t)i, 1);
		tape_await_inside(&st.tape, i);
	}
	tape_release(&st.tape);
	for (int i = 0; i < POOL_THREADS; i++)
		ck_assert_uint_eq(st.tape.id[i], (uint64_t)i + 1);
}

TEST(many__more_events_than_threads__all_come)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	for (int i = 0; i < 50; i++)
		story_complete(1 + 4 * (uint64_t)i, 4);
	tape_await(&st.tape, 200);
	tape_await_inside(&st.tape, 0);
	ck_assert_int_eq(tape_count(&st.tape), 200);
}

TEST(many__posted_while_all_block__called_when_one_returns)
{
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	for (uint64_t i = 0; i < POOL_THREADS + 3; i++)
		ck_assert_int_eq(script_post(&st.dev, 100 + i), 0);
	tape_await_inside(&st.tape, POOL_THREADS);
	script_sleep_ms(5);
	ck_assert_int_eq(tape_count(&st.tape), POOL_THREADS);
	tape_release(&st.tape);
	tape_await(&st.tape, POOL_THREADS + 3);
}

TEST(many_to_single__upcalls_in_progress__one_at_a_time_from_then_on)
{
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	story_complete(1, 2);
	tape_await_inside(&st.tape, 2);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_complete(3, 1);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	script_sleep_ms(10);
	ck_assert_int_eq(tape_count(&st.tape), 2); /* I5 */
	tape_release(&st.tape);
	tape_await(&st.tape, 4);
	ck_assert_int_eq(st.tape.most_inside, 2);
}

/* clause: c.14.9, c.14.18 */
TEST(single_to_many__one_stands__others_start_beside_it_and_the_way_back_waits)
{
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	tape_await_inside(&st.tape, 1);
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_MANY, EVD_PENDING_CALL), 0);
	tape_await_inside(&st.tape, 2);
	ck_assert_int_eq(script_post(&st.dev, 102), 0);
	tape_await_inside(&st.tape, 3);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_CALL), 0);
	ck_assert_int_eq(script_post(&st.dev, 103), 0);
	script_sleep_ms(10);
	ck_assert_int_eq(tape_count(&st.tape), 3); /* I5, also for the one that lost the EVD */
	tape_release(&st.tape);
	tape_await(&st.tape, 4);
	ck_assert_uint_eq(st.tape.id[3], 103);
}

/* clause: c.14.12 */
TEST(many__teardown_from_outside__waits_for_all_and_none_starts_after)
{
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	story_complete(1, 3);
	tape_await_inside(&st.tape, 3);
	tape_release(&st.tape);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_TEARDOWN, EVD_PENDING_REFUSE), 0);
	ck_assert_int_eq(st.tape.inside, 0); /* I6 */
	story_complete(10, 1);
	script_sleep_ms(5);
	ck_assert_int_eq(tape_count(&st.tape), 3);
	story_dequeues(&st, 10);
}

static pthread_barrier_t all_inside;

static void
meet_and_tear_down(struct tape *tape, uint64_t id)
{
	(void)id;
	pthread_barrier_wait(&all_inside);
	must(evd_modify_upcall(
		 evd_self(&tape->dev->evd), EVD_POLICY_TEARDOWN, NULL, EVD_PENDING_REFUSE) == 0);
}

static void
tear_down_and_meet(struct tape *tape, uint64_t id)
{
	(void)id;
	must(evd_modify_upcall(
		 evd_self(&tape->dev->evd), EVD_POLICY_TEARDOWN, NULL, EVD_PENDING_REFUSE) == 0);
	pthread_barrier_wait(&all_inside);
}

TEST(many__teardowns_inside_two_that_meet_afterwards__the_first_is_woken)
{
	pthread_barrier_init(&all_inside, NULL, 2);
	st.tape.then = tear_down_and_meet;
	tape_hold(&st.tape);
	story_complete(1, 2);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	tape_await_inside(&st.tape, 2);
	tape_release(&st.tape);
	tape_await_inside(&st.tape, 0);
	pthread_barrier_destroy(&all_inside);
}

TEST(many__every_upcall_tears_down_its_own_evd__none_waits_for_ever)
{
	pthread_barrier_init(&all_inside, NULL, POOL_THREADS);
	st.tape.then = meet_and_tear_down;
	story_complete(1, POOL_THREADS);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	tape_await(&st.tape, POOL_THREADS);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_TEARDOWN, EVD_PENDING_REFUSE), 0);
	ck_assert_int_eq(st.tape.inside, 0);
	pthread_barrier_destroy(&all_inside);
}

/* clause: c.14.13 */
TEST(many__teardown_inside_one__waits_for_the_others)
{
	/* One upcall tears down while another is held: it must not return before that one. */
	static struct tape other;
	struct evd_upcall object = tape_object(&other);
	struct evd *evd = &st.dev.evd;
	bool tearing = false;

	pthread_barrier_init(&all_inside, NULL, 1);
	tape_init(&other, &st.dev);
	other.then = meet_and_tear_down;
	/* One that did so before, and returned, is not counted with those that do so now. */
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(evd), EVD_POLICY_MANY, &object, EVD_PENDING_CALL), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	tape_await(&other, 1);
	tape_await_inside(&other, 0);
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	story_complete(1, 1);
	tape_await_inside(&st.tape, 1);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(evd), EVD_POLICY_MANY, &object, EVD_PENDING_CALL), 0);
	story_complete(2, 1);
	while (!tearing) {
		os_lock(&evd->lock);
		tearing = evd->tearing == 1;
		os_unlock(&evd->lock);
		script_sleep_ms(1);
	}
	script_sleep_ms(5);
	tape_await_inside(&other, 1); /* still inside */
	tape_release(&st.tape);
	tape_await_inside(&other, 0);
	pthread_barrier_destroy(&all_inside);
}

TEST(many__freed_while_upcalls_run__waits_and_destroys_once)
{
	pthread_barrier_init(&all_inside, NULL, 1);
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	story_complete(1, 3);
	tape_await_inside(&st.tape, 3);
	tape_release(&st.tape);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	ck_assert_int_eq(st.tape.inside, 0);
	ck_assert_int_eq(st.dev.destroyed, 1);
	script_open(&st.dev, &st.dev.opt); /* the slot lives on, for the teardown */
	pthread_barrier_destroy(&all_inside);
}

static int
times_destroyed(void)
{
	int n;

	pthread_mutex_lock(&st.dev.lock);
	n = st.dev.destroyed;
	pthread_mutex_unlock(&st.dev.lock);
	return n;
}

/* clause: c.14.25 */
TEST(many__freed_inside_one__does_not_wait_for_the_others)
{
	static struct tape other;
	struct evd_upcall object = tape_object(&other);
	struct evd *evd = &st.dev.evd;

	tape_init(&other, &st.dev);
	other.then = story_free_own;
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	story_complete(1, 1);
	tape_await_inside(&st.tape, 1);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(evd), EVD_POLICY_MANY, &object, EVD_PENDING_CALL), 0);
	story_complete(2, 1);
	tape_await(&other, 1);
	tape_await_inside(&other, 0);
	tape_await_inside(&st.tape, 1);
	ck_assert_int_eq(times_destroyed(), 0);
	tape_release(&st.tape);
	while (times_destroyed() == 0) /* by the last return */
		script_sleep_ms(1);
	script_open(&st.dev, &st.dev.opt);
}

TEST(many__pool_given_later__used_from_then_on)
{
	struct script_options opt = st.dev.opt;

	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	opt.pool = NULL;
	script_open(&st.dev, &opt);
	evd_set_pool(evd_self(&st.dev.evd), pool);
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	story_complete(1, POOL_THREADS);
	tape_await_inside(&st.tape, POOL_THREADS);
	tape_release(&st.tape);
}

TEST(many_to_cno__the_pool_is_busy__notified_by_the_loop)
{
	const struct cno_config config = { .loop = st.loop };
	void *handle;
	struct cno cno;

	cno_slot_init(&cno);
	ck_assert_int_eq(cno_create(&cno, &config), 0);
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	story_complete(1, POOL_THREADS);
	tape_await_inside(&st.tape, POOL_THREADS);
	ck_assert_int_eq(script_post(&st.dev, 100), 0); /* its run waits for a thread */
	ck_assert_int_eq(evd_set_listener(evd_self(&st.dev.evd), cno_listener(&cno), &cno), 0);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	ck_assert_int_eq(cno_wait(cno_self(&cno), EVD_FOREVER, &handle), 0);
	story_dequeues(&st, 100);
	ck_assert_int_eq(evd_set_listener(evd_self(&st.dev.evd), NULL, NULL), 0);
	tape_release(&st.tape);
}

static void *
turn_once(void *unused)
{
	(void)unused;
	(void)story_turn(&st);
	return NULL;
}

/* What stands between two policies that call one at a time; DISABLE ends each row. */
static const enum evd_policy detours[][4] = {
	{ EVD_POLICY_MANY, EVD_POLICY_SINGLE },
	{ EVD_POLICY_MANY, EVD_POLICY_NOTIFY, EVD_POLICY_SINGLE },
	{ EVD_POLICY_MANY, EVD_POLICY_SINGLE, EVD_POLICY_MANY, EVD_POLICY_SINGLE },
	{ EVD_POLICY_SINGLE },
};
#define DETOURS ((int)(sizeof detours / sizeof detours[0]))

CASE("evd_many:detour");

/*
 * Two stepped loops: an upcall runs on the first, the job moves to the second and finds nothing
 * that it may do there.  The thread that returns from the upcall must then handle the queued
 * events.
 */
/* clause: c.14.9 */
/* origin: outside.03 */
TEST_LOOP(single__the_evd_left_its_upcalls_loop_and_came_back__what_is_queued_is_called, DETOURS)
{
	const enum evd_policy *detour = detours[_i];
	struct script_options opt = { .qlen = 16 };
	pthread_t thread;

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &opt.pool), 0);
	story_begin(&st, &opt);
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, turn_once, NULL), 0);
	tape_await_inside(&st.tape, 1);
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	for (int i = 0; i < 4 && detour[i] != EVD_POLICY_DISABLE; i++)
		ck_assert_int_eq(story_policy(&st, detour[i], EVD_PENDING_CALL), 0);
	(void)loop_step(opt.pool, 0);
	(void)story_turn(&st);
	ck_assert_int_eq(tape_count(&st.tape), 1);
	tape_release(&st.tape);
	pthread_join(thread, NULL);
	story_run(&st);
	story_upcall(&st, 100);
	story_upcall(&st, 101);
	ck_assert_int_eq(script_post(&st.dev, 102), 0);
	story_run(&st);
	story_upcall(&st, 102);
	story_expect_nothing(&st);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	loop_free(opt.pool);
	story_end(&st);
}

/* ---- notifications for solicited completions only; the loop is stepped ---- */

#define MORE 100 /* than one series of upcalls takes, which ends in the middle of a batch */

static void
complete_more(struct tape *tape, uint64_t id)
{
	(void)tape;
	for (uint64_t i = 2; id == 1 && i <= MORE; i++)
		script_complete(&st.dev, i);
}

STORY_CASE("evd_many:solicited");

/*
 * The first upcall causes further completions, which raise no notification: its thread finds them.
 */
TEST(many_solicited__series_polls_unsolicited_completions__none_is_left_behind)
{
	const struct script_record solicited = { .id = 1, .flags = SCRIPT_SOLICITED };

	st.tape.then = complete_more;
	ck_assert_int_eq(evd_set_solicited(evd_self(&st.dev.evd), true), 0);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	story_run(&st);
	script_show_record(&st.dev, &solicited);
	script_decide(&st.dev);
	story_settle(&st);
	ck_assert_int_eq(script_raised(&st.dev), 0);
	for (uint64_t i = 1; i <= MORE; i++)
		story_upcall(&st, i);
	story_expect_nothing(&st);
}

/* A dequeue finds more than it takes: the rest is for the upcalls. */
TEST(solicited__dequeue_polls_unsolicited_completions__the_rest_is_called)
{
	ck_assert_int_eq(evd_set_solicited(evd_self(&st.dev.evd), true), 0);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_run(&st);
	for (uint64_t i = 1; i <= 3; i++)
		script_complete(&st.dev, i);
	story_run(&st);
	ck_assert_int_eq(tape_count(&st.tape), 0);
	story_dequeues(&st, 1);
	story_upcall(&st, 2);
	story_upcall(&st, 3);
	story_expect_nothing(&st);
}
