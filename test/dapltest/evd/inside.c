/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking calls from inside an upcall: only this thread reads the channels of the loop. */
#include "cno_story.h"

static struct script other;
static struct tape other_tape;
static struct cno cno;
static int result;
static struct script_event got;
static void *handle;

static void
setup(void)
{
	struct script_options opt = { .channel = SCRIPT_SHARED };

	ck_assert_int_eq(loop_create(LOOP_THREAD, 0, &opt.loop), 0);
	story_begin(&st, &opt);
	script_init(&other);
	script_open(&other, &opt);
	tape_init(&other_tape, &other);
	cno_story_open_plain(&cno, opt.loop);
	result = 1;
}

static void
teardown(void)
{
	ck_assert_int_eq(evd_set_listener(evd_self(&other.evd), NULL, NULL) & ~-ENODEV, 0);
	tape_await_inside(&st.tape, 0);
	st.tape.read = st.tape.n;
	script_close(&other);
	ck_assert_int_eq(cno_free(cno_self(&cno), true), 0);
	story_end(&st);
}

/* Runs `then` inside an upcall on the loop's thread and waits until it returned. */
static void
inside_upcall(void (*then)(struct tape *, uint64_t))
{
	st.tape.then = then;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	tape_await(&st.tape, 1);
}

static void
await_return(void)
{
	tape_await_inside(&st.tape, 0);
}

static void
await_waiting(struct evd *evd)
{
	for (bool asleep = false; !asleep; script_sleep_ms(0)) {
		os_lock(&evd->lock);
		asleep = evd->waiting;
		os_unlock(&evd->lock);
	}
}

static void
wait_other(struct tape *tape, uint64_t id)
{
	int nmore;

	(void)tape;
	(void)id;
	result = evd_wait(evd_self(&other.evd), EVD_FOREVER, 2, &got, &nmore);
}

CASE("evd_inside:inside", setup, teardown);

TEST(wait_in_upcall__notifications_of_this_loop__are_read)
{
	inside_upcall(wait_other);
	await_waiting(&other.evd);
	script_complete(&other, 1);
	script_complete(&other, 2);
	await_return();
	ck_assert_int_eq(result, 0);
	ck_assert_uint_eq(script_id(&got), 1);
}

TEST(wait_in_upcall__private_channel_and_posts__wake_it)
{
	struct script_options opt = st.dev.opt;

	ck_assert_int_eq(evd_free(evd_self(&other.evd)), 0);
	opt.channel = SCRIPT_PRIVATE;
	script_open(&other, &opt);
	inside_upcall(wait_other);
	await_waiting(&other.evd);
	script_complete(&other, 1);
	ck_assert_int_eq(script_post(&other, 200), 0);
	await_return();
	ck_assert_int_eq(result, 0);
}

static void
disable_and_wait(struct tape *tape, uint64_t id)
{
	struct evd *evd = &tape->dev->evd;
	int nmore;

	(void)id;
	must(evd_modify_upcall(evd_self(evd), EVD_POLICY_DISABLE, NULL, EVD_PENDING_REFUSE) == 0);
	result = evd_wait(evd_self(evd), EVD_FOREVER, 1, &got, &nmore);
	tape->then = NULL;
	must(evd_modify_upcall(evd_self(evd), EVD_POLICY_SINGLE, NULL, EVD_PENDING_CALL) == 0);
}

TEST(wait_in_upcall__on_its_own_evd_disabled_before__wakes_and_goes_on)
{
	inside_upcall(disable_and_wait);
	await_waiting(&st.dev.evd);
	script_complete(&st.dev, 1);
	await_return();
	ck_assert_int_eq(result, 0);
	ck_assert_uint_eq(script_id(&got), 1);
	script_complete(&st.dev, 2);
	tape_await(&st.tape, 2);
	ck_assert_uint_eq(st.tape.id[1], 2);
}

static void
wait_cno(struct tape *tape, uint64_t id)
{
	(void)tape;
	(void)id;
	result = cno_wait(cno_self(&cno), EVD_FOREVER, &handle);
}

TEST(cno_wait_in_upcall__evds_of_this_loop__trigger_it)
{
	ck_assert_int_eq(evd_set_listener(evd_self(&other.evd), cno_listener(&cno), &cno), 0);
	inside_upcall(wait_cno);
	script_sleep_ms(10);
	script_complete(&other, 1);
	await_return();
	ck_assert_int_eq(result, 0);
	ck_assert_ptr_eq(handle, &other);
}

static void
post_and_wait_cno(struct tape *tape, uint64_t id)
{
	must(script_post(&other, 200) == 0);
	wait_cno(tape, id);
}

TEST(cno_wait_in_upcall__triggered_from_the_same_upcall__returns)
{
	ck_assert_int_eq(evd_set_listener(evd_self(&other.evd), cno_listener(&cno), &cno), 0);
	inside_upcall(post_and_wait_cno);
	await_return();
	ck_assert_int_eq(result, 0);
}

TEST(cno_wait_in_upcall__sink_changes_from_upcall_to_cno__notified)
{
	struct evd_upcall object = tape_object(&other_tape);

	ck_assert_int_eq(evd_set_listener(evd_self(&other.evd), cno_listener(&cno), &cno), 0);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&other.evd), EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL),
	    0);
	inside_upcall(wait_cno);
	ck_assert_int_eq(script_post(&other, 200), 0);
	script_sleep_ms(10); /* its run was tried, and put off: no upcall inside an upcall */
	ck_assert_int_eq(tape_count(&other_tape), 0);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&other.evd), EVD_POLICY_DISABLE, NULL, EVD_PENDING_REFUSE),
	    0);
	await_return();
	ck_assert_int_eq(result, 0);
	ck_assert_int_eq(tape_count(&other_tape), 0);
}

static void
hand_over_and_wait_cno(struct tape *tape, uint64_t id)
{
	must(evd_set_listener(evd_self(&st.dev.evd), cno_listener(&cno), &cno) == 0);
	must(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE) == 0);
	wait_cno(tape, id);
}

/* clause: c.14.31 */
TEST(cno_wait_in_upcall__on_its_own_evd_disabled_before__notified)
{
	inside_upcall(hand_over_and_wait_cno);
	script_sleep_ms(10);
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	await_return();
	ck_assert_int_eq(result, 0);
	story_dequeues(&st, 101);
	ck_assert_int_eq(evd_set_listener(evd_self(&st.dev.evd), NULL, NULL), 0);
}

TEST(wait_in_upcall__another_evd_is_due_an_upcall__called_after_the_return)
{
	struct evd_upcall object = tape_object(&other_tape);
	struct script third;

	script_init(&third);
	script_open(&third, &st.dev.opt);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&third.evd), EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL),
	    0);
	inside_upcall(wait_other);
	await_waiting(&other.evd);
	ck_assert_int_eq(script_post(&third, 300), 0);
	script_sleep_ms(10);
	ck_assert_int_eq(script_post(&third, 301), 0); /* its run is put off: nothing to hasten */
	script_complete(&third, 302);
	script_sleep_ms(10);
	ck_assert_int_eq(tape_count(&other_tape), 0);
	ck_assert_int_eq(script_post(&other, 200), 0);
	ck_assert_int_eq(script_post(&other, 201), 0);
	await_return();
	tape_await(&other_tape, 3);
	for (uint64_t i = 0; i < 3; i++)
		ck_assert_uint_eq(other_tape.id[i], 300 + i);
	tape_await_inside(&other_tape, 0);
	script_close(&third);
}

static void
post_two_to_other(struct tape *tape, uint64_t id)
{
	(void)tape;
	(void)id;
	must(script_post(&other, 200) == 0);
	must(script_post(&other, 201) == 0);
}

TEST(wait_in_upcall__the_upcall_due_becomes_many__the_pool_makes_it)
{
	struct evd_upcall object = tape_object(&other_tape);
	struct script_options opt = st.dev.opt;
	struct script third;

	ck_assert_int_eq(loop_create(LOOP_POOL, 1, &opt.pool), 0);
	script_init(&third);
	script_open(&third, &opt);
	other_tape.then = post_two_to_other;
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&third.evd), EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL),
	    0);
	inside_upcall(wait_other);
	await_waiting(&other.evd);
	ck_assert_int_eq(script_post(&third, 300), 0);
	script_sleep_ms(10); /* put off: the thread that waits may not call out */
	ck_assert_int_eq(tape_count(&other_tape), 0);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&third.evd), EVD_POLICY_MANY, NULL, EVD_PENDING_CALL), 0);
	await_return();
	ck_assert_int_eq(result, 0);
	tape_await_inside(&other_tape, 0);
	script_close(&third);
	loop_free(opt.pool);
}

static int agent_calls;

static void
count_agent(void *instance, void *evd)
{
	(void)instance;
	(void)evd;
	__atomic_add_fetch(&agent_calls, 1, __ATOMIC_SEQ_CST);
}

static void
wait_and_count_agents(struct tape *tape, uint64_t id)
{
	wait_other(tape, id);
	must(__atomic_load_n(&agent_calls, __ATOMIC_SEQ_CST) == 0);
}

TEST(wait_in_upcall__an_agent_is_due__called_after_the_return)
{
	const struct cno_agent agent = { NULL, count_agent };
	struct script third;

	script_init(&third);
	script_open(&third, &st.dev.opt);
	ck_assert_int_eq(evd_set_listener(evd_self(&third.evd), cno_listener(&cno), &cno), 0);
	ck_assert_int_eq(cno_modify_agent(cno_self(&cno), agent), 0);
	inside_upcall(wait_and_count_agents);
	await_waiting(&other.evd);
	ck_assert_int_eq(script_post(&third, 300), 0);
	script_sleep_ms(10);
	ck_assert_int_eq(script_post(&other, 200), 0);
	ck_assert_int_eq(script_post(&other, 201), 0);
	await_return();
	while (__atomic_load_n(&agent_calls, __ATOMIC_SEQ_CST) == 0)
		script_sleep_ms(1);
	script_close(&third);
}

static void
free_other(struct tape *tape, uint64_t id)
{
	(void)tape;
	(void)id;
	result = evd_free(evd_self(&other.evd));
}

TEST(free_in_upcall__the_other_has_a_blocked_waiter__ends)
{
	struct waiter w;

	waiter_start(&w, &other, EVD_FOREVER, 1);
	inside_upcall(free_other);
	await_return();
	ck_assert_int_eq(result, 0);
	ck_assert_int_eq(waiter_join(&w), -ECANCELED);
}

static void
tear_own_down(struct tape *tape, uint64_t id)
{
	(void)id;
	result = evd_modify_upcall(
	    evd_self(&tape->dev->evd), EVD_POLICY_TEARDOWN, NULL, EVD_PENDING_REFUSE);
}

/* clause: c.14.13 */
TEST(teardown_in_upcall__of_its_own_evd__does_not_wait_for_itself)
{
	inside_upcall(tear_own_down);
	await_return();
	ck_assert_int_eq(result, 0);
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	script_sleep_ms(5);
	ck_assert_int_eq(tape_count(&st.tape), 1);
}

static void
step_by_hand(struct tape *tape, uint64_t id)
{
	(void)id;
	(void)loop_step(tape->arg, 0);
}

/* clause: c.14.13 */
TEST(teardown_in_upcall__on_top_of_another_evds__counts_its_own_alone)
{
	struct script_options opt = { .channel = SCRIPT_BY_HAND };
	struct evd_upcall object = tape_object(&other_tape);
	struct script third;

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &opt.loop), 0);
	script_init(&third);
	script_open(&third, &opt);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&third.evd), EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL),
	    0);
	other_tape.dev = &third;
	other_tape.then = tear_own_down;
	ck_assert_int_eq(script_post(&third, 300), 0);
	st.tape.arg = opt.loop;
	inside_upcall(step_by_hand);
	await_return();
	ck_assert_int_eq(result, 0);
	ck_assert_int_eq(tape_count(&other_tape), 1);
	ck_assert_int_eq(third.evd.exempt, 0);
	ck_assert_int_eq(st.dev.evd.exempt, 0);
	ck_assert_int_eq(script_post(&third, 301), 0);
	ck_assert_int_eq(script_post(&st.dev, 101), 0); /* which steps the other once more */
	tape_await(&st.tape, 2);
	await_return();
	ck_assert_int_eq(tape_count(&other_tape), 1);
	script_close(&third);
	loop_free(opt.loop);
}

static void
wait_cno_for_a_while(struct tape *tape, uint64_t id)
{
	uint64_t before = os_clock_ns();

	(void)tape;
	(void)id;
	result = cno_wait(cno_self(&cno), 10 * MS, &handle);
	must(os_clock_ns() - before >= 10000000u);
}

TEST(timed_wait_in_upcall__nothing_comes__ends_in_time)
{
	ck_assert_int_eq(evd_set_listener(evd_self(&other.evd), cno_listener(&cno), &cno), 0);
	inside_upcall(wait_cno_for_a_while);
	await_return();
	ck_assert_int_eq(result, -ETIMEDOUT);
}
