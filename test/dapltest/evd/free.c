/* SPDX-License-Identifier: BSD-3-Clause */
/* evd_free(), called from each place, and while each other call is in progress. */
#include <pthread.h>
#include <time.h>

#include "story.h"
#include "calls.h"

static void
setup(void)
{
	story_begin(&st, NULL);
}

static void
teardown(void)
{
	st.tape.read = st.tape.n;
	story_end(&st);
}

CASE("evd_free:free", setup, teardown);

TEST(free__idle__destroyed_once_and_then_dead)
{
	struct script_event event = script_event(1);
	struct evd_counters counters;
	struct evd_status status;
	struct evd *evd = &st.dev.evd;
	int nmore;

	ck_assert_int_eq(evd_free(evd_self(evd)), 0);
	ck_assert_int_eq(st.dev.destroyed, 1);
	ck_assert_int_eq(evd_free(evd_self(evd)), -ENODEV);
	ck_assert_int_eq(evd_dequeue(evd_self(evd), &event), -ENODEV);
	ck_assert_int_eq(evd_wait(evd_self(evd), 0, 1, &event, &nmore), -ENODEV);
	ck_assert_int_eq(script_post(&st.dev, 1), -ENODEV);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), -ENODEV);
	ck_assert_int_eq(evd_set_enabled(evd_self(evd), false), -ENODEV);
	ck_assert_int_eq(evd_set_waitable(evd_self(evd), false), -ENODEV);
	ck_assert_int_eq(evd_set_solicited(evd_self(evd), true), -ENODEV);
	ck_assert_int_eq(evd_set_listener(evd_self(evd), NULL, NULL), -ENODEV);
	ck_assert_int_eq(evd_query(evd_self(evd), &status), -ENODEV);
	ck_assert_int_eq(evd_query_counters(evd_self(evd), &counters), -ENODEV);
	ck_assert_int_eq(evd_refresh(evd_self(evd)), -ENODEV);
	ck_assert(!evd_mark_overflow(evd_self(evd)));
	ck_assert(!script_evd_is(evd, &st.dev));
	ck_assert_int_eq(st.dev.destroyed, 1);
}

TEST(free__slot_used_again__nothing_of_the_old_one_left)
{
	struct evd_status status;
	struct script_event event;
	int nmore;

	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert(evd_mark_overflow(evd_self(&st.dev.evd)));
	ck_assert_int_eq(evd_set_solicited(evd_self(&st.dev.evd), true), 0);
	evd_set_closing(evd_self(&st.dev.evd));
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	script_open(&st.dev, &st.dev.opt);
	ck_assert_int_eq(evd_query(evd_self(&st.dev.evd), &status), 0);
	ck_assert(!status.solicited_only && !status.overflowed);
	ck_assert_int_eq(status.policy, EVD_POLICY_DISABLE);
	story_expect_nothing(&st);
	story_empty(&st);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), 1000, 1, &event, &nmore), -ETIMEDOUT);
	ck_assert(script_deliver(&st.dev) || !script_due(&st.dev));
	script_complete(&st.dev, 1);
	story_expect_nothing(&st);
	story_dequeues(&st, 1);
}

TEST(free__notifications_unread__is_not_delayed_by_them)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	ck_assert_uint_eq(script_raised(&st.dev), 1);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	ck_assert_int_eq(st.tape.n, 0);
}

TEST(free__notifications_read_but_unacknowledged__acknowledged_first)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	for (uint64_t i = 1; i <= 70; i++) { /* one batch of 64, and some */
		script_complete(&st.dev, i);
		ck_assert(script_deliver(&st.dev));
		story_upcall(&st, i);
	}
	ck_assert_uint_eq(st.dev.gets, 70);
	ck_assert_uint_eq(st.dev.acks, 64);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	ck_assert_uint_eq(st.dev.acks, 70);
}

static void *
book_late(void *arg)
{
	struct script *dev = arg;

	script_sleep_ms(20);
	script_book(dev);
	return NULL;
}

TEST(free__notification_read_but_not_booked__acknowledged_by_its_reader)
{
	pthread_t reader;

	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_complete(&st.dev, 1);
	ck_assert(script_get(&st.dev));
	ck_assert_int_eq(pthread_create(&reader, NULL, book_late, &st.dev), 0);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0); /* destroyed() waits for the ack */
	pthread_join(reader, NULL);
	ck_assert_uint_eq(st.dev.acks, 1);
	story_run(&st);
	ck_assert_int_eq(st.tape.n, 0);
}

TEST(free__run_queued__unlinked_and_never_run)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	ck_assert_int_eq(story_turn(&st), 0);
	ck_assert_int_eq(st.tape.n, 0);
}

TEST(free__run_delayed_by_a_fault__unlinked)
{
	st.dev.fail_arms = 0;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	st.dev.fail_arms = 1000;
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	story_run(&st);
	ck_assert_int_eq(st.dev.faults, 1);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	script_sleep_ms(5);
	ck_assert_int_eq(story_turn(&st), 0);
}

/* clause: c.14.25 */
TEST(free__from_own_upcall__the_return_destroys)
{
	st.tape.then = story_free_own;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	story_upcall(&st, 100);
	ck_assert_int_eq(st.dev.destroyed, 1);
	story_run(&st);
	ck_assert_int_eq(st.tape.n, 1);
}

static void
free_own_and_check(struct tape *tape, uint64_t id)
{
	struct evd *evd = &tape->dev->evd;
	struct script_event event;

	(void)id;
	must(evd_free(evd_self(evd)) == 0);
	must(evd->exempt == 1); /* a TEARDOWN in another upcall does not wait for this one */
	must(tape->dev->destroyed == 0);
	must(evd_free(evd_self(evd)) == -ENODEV);
	must(evd_dequeue(evd_self(evd), &event) == -ENODEV);
	must(evd_modify_upcall(evd_self(evd), EVD_POLICY_TEARDOWN, NULL, EVD_PENDING_REFUSE) ==
	     -ENODEV);
}

TEST(free__from_own_upcall__handle_dead_inside_object_alive)
{
	st.tape.then = free_own_and_check;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_upcall(&st, 100);
	ck_assert_int_eq(st.dev.destroyed, 1);
}

TEST(free__from_anothers_upcall_while_queued_on_the_same_loop__no_wait)
{
	struct script other;
	struct tape tape;
	struct evd_upcall object = tape_object(&tape);

	script_init(&other);
	script_open(&other, &st.dev.opt);
	tape_init(&tape, &other);
	st.tape.then = story_free_arg;
	st.tape.arg = &other;
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&other.evd), EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL),
	    0);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(script_post(&other, 200), 0); /* queued behind the one that frees it */
	script_complete(&other, 201);
	ck_assert(script_get(&other)); /* and read, not yet booked: a batch of two */
	script_book(&other);
	story_upcall(&st, 100);
	ck_assert_int_eq(tape.n, 0);
	story_expect_nothing(&st);
	script_close(&other);
}

TEST(free__a_waiter_is_blocked__waits_until_it_left)
{
	struct waiter w;

	waiter_start(&w, &st.dev, EVD_FOREVER, 1);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	ck_assert(!st.dev.evd.waiting);
	ck_assert_int_eq(waiter_join(&w), -ECANCELED);
}

static void
begin_threaded(enum script_channel channel)
{
	struct script_options opt = { .channel = channel };

	story_end(&st);
	ck_assert_int_eq(loop_create(LOOP_THREAD, 0, &opt.loop), 0);
	story_begin(&st, &opt);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
}

/* clause: c.14.26 */
TEST(free__upcall_runs_elsewhere__waits_for_its_return)
{
	pthread_t thread;

	begin_threaded(SCRIPT_SHARED);
	tape_hold(&st.tape);
	script_complete(&st.dev, 1);
	tape_await_inside(&st.tape, 1);
	ck_assert_int_eq(pthread_create(&thread, NULL, story_free_thread, &st.dev), 0);
	script_sleep_ms(10);
	pthread_mutex_lock(&st.dev.lock);
	ck_assert_int_eq(st.dev.destroyed, 0);
	pthread_mutex_unlock(&st.dev.lock);
	tape_release(&st.tape);
	pthread_join(thread, NULL);
	ck_assert_int_eq(st.dev.destroyed, 1);
	ck_assert_int_eq(tape_count(&st.tape), 1);
}

TEST(free__private_channel_in_the_loop__removed_before_it_is_closed)
{
	begin_threaded(SCRIPT_PRIVATE);
	for (int i = 1; i <= 20; i++)
		script_complete(&st.dev, (uint64_t)i);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
}

TEST(free__waits_for_an_upcall_while_its_channel_is_readable__the_loop_sleeps)
{
	struct script_options opt = { .channel = SCRIPT_PRIVATE };
	bool freed = false;
	pthread_t thread;
	clock_t busy;

	story_end(&st);
	ck_assert_int_eq(loop_create(LOOP_THREAD, 0, &opt.loop), 0);
	ck_assert_int_eq(loop_create(LOOP_POOL, 1, &opt.pool), 0);
	story_begin(&st, &opt);
	tape_hold(&st.tape);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	script_complete(&st.dev, 1);
	tape_await_inside(&st.tape, 1);
	ck_assert_int_eq(pthread_create(&thread, NULL, story_free_thread, &st.dev), 0);
	while (!freed) {
		script_sleep_ms(1);
		os_lock(&st.dev.evd.lock);
		freed = st.dev.evd.freed;
		os_unlock(&st.dev.evd.lock);
	}
	script_duplicate(&st.dev); /* stays unread: the EVD is dead */
	busy = clock();
	script_sleep_ms(50);
	busy = clock() - busy;
	tape_release(&st.tape);
	pthread_join(thread, NULL);
	loop_free(opt.pool);
	ck_assert_int_lt(busy, CLOCKS_PER_SEC / 50);
}

static void
effect_outlasts(struct script *s, uint64_t id)
{
	bool freed = false;

	(void)id;
	__atomic_store_n((bool *)s->arg, true, __ATOMIC_SEQ_CST);
	while (!freed) {
		script_sleep_ms(0);
		os_lock(&s->evd.lock);
		freed = s->evd.freed;
		os_unlock(&s->evd.lock);
	}
	script_sleep_ms(5);
	must(s->destroyed == 0);
}

static void *
dequeue_thread(void *arg)
{
	struct script *dev = arg;
	struct script_event event;

	must(evd_dequeue(evd_self(&dev->evd), &event) == 0);
	return NULL;
}

TEST(free__a_dequeue_runs_an_effect__waits_for_it)
{
	const struct script_record record = { .id = 1, .flags = SCRIPT_EFFECT };
	pthread_t thread;
	bool inside = false;

	st.dev.on_effect = effect_outlasts;
	st.dev.arg = &inside;
	script_show_record(&st.dev, &record);
	ck_assert_int_eq(pthread_create(&thread, NULL, dequeue_thread, &st.dev), 0);
	while (!__atomic_load_n(&inside, __ATOMIC_SEQ_CST))
		script_sleep_ms(0);
	ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
	pthread_join(thread, NULL);
}

static void
tear_down_twice_and_free(struct tape *tape, uint64_t id)
{
	struct evd *evd = &tape->dev->evd;

	(void)id;
	for (int i = 0; i < 2; i++)
		must(evd_modify_upcall(
			 evd_self(evd), EVD_POLICY_TEARDOWN, NULL, EVD_PENDING_REFUSE) == 0);
	must(evd->exempt == 1);
	must(evd_free(evd_self(evd)) == 0);
	must(evd->exempt == 1 && tape->dev->destroyed == 0);
}

TEST(free__from_own_upcall_after_teardowns__counted_out_once_and_the_return_destroys)
{
	st.tape.then = tear_down_twice_and_free;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_upcall(&st, 100);
	ck_assert_int_eq(st.dev.destroyed, 1);
}

static int detained; /* 1: a thread that was woken is kept; 2: it may go */

static void
detain(void)
{
	__atomic_store_n(&detained, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&detained, __ATOMIC_SEQ_CST) == 1)
		script_sleep_ms(1);
}

static void *
teardown_thread(void *arg)
{
	struct script *dev = arg;

	evd_after_sleep = detain;
	must(evd_modify_upcall(
		 evd_self(&dev->evd), EVD_POLICY_TEARDOWN, NULL, EVD_PENDING_REFUSE) == 0);
	return NULL;
}

static void
await(const int *what, int value)
{
	bool there = false;

	while (!there) {
		script_sleep_ms(1);
		os_lock(&st.dev.evd.lock);
		there = *what == value;
		os_unlock(&st.dev.evd.lock);
	}
}

TEST(free__a_teardown_is_late_to_leave__waits_for_it)
{
	pthread_t tearing, freeing;

	begin_threaded(SCRIPT_SHARED);
	tape_hold(&st.tape);
	script_complete(&st.dev, 1);
	tape_await_inside(&st.tape, 1);
	ck_assert_int_eq(pthread_create(&tearing, NULL, teardown_thread, &st.dev), 0);
	await(&st.dev.evd.tearing, 1);
	ck_assert_int_eq(pthread_create(&freeing, NULL, story_free_thread, &st.dev), 0);
	while (script_evd_is(&st.dev.evd, &st.dev))
		script_sleep_ms(1);
	tape_release(&st.tape);
	while (__atomic_load_n(&detained, __ATOMIC_SEQ_CST) == 0)
		script_sleep_ms(1);
	await(&st.dev.evd.in_progress, 0);
	script_sleep_ms(10);
	pthread_mutex_lock(&st.dev.lock);
	ck_assert_int_eq(st.dev.destroyed, 0); /* the other thread is still inside */
	pthread_mutex_unlock(&st.dev.lock);
	__atomic_store_n(&detained, 2, __ATOMIC_SEQ_CST);
	pthread_join(tearing, NULL);
	pthread_join(freeing, NULL);
	ck_assert_int_eq(st.dev.destroyed, 1);
}

TEST(slot__never_opened__dead)
{
	static struct evd slot;
	struct script_event event;

	evd_slot_init(&slot);
	ck_assert(!script_evd_is(&slot, NULL));
	ck_assert_int_eq(evd_dequeue(evd_self(&slot), &event), -ENODEV);
	ck_assert_int_eq(evd_free(evd_self(&slot)), -ENODEV);
}
