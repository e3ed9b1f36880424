/* SPDX-License-Identifier: BSD-3-Clause */
/* Upcall policies: DISABLE, SINGLE_INSTANCE, NOTIFY; enabling; the pattern inside an upcall. */
#include "story.h"

STORY_CASE("evd_upcall:upcall");

/* clause: c.14.10 */
TEST(disabled__completion__stays_queued_and_arms_nothing)
{
	story_complete(1, 1);
	story_expect_nothing(&st);
	ck_assert_uint_eq(st.dev.arms, 0);
	story_dequeues(&st, 1);
	story_empty(&st);
}

/* clause: c.14.7, c.14.8 */
TEST(single__burst_then_burst__every_event_in_order)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	for (uint64_t round = 0; round < 3; round++) {
		story_complete(1 + 10 * round, 3);
		ck_assert_uint_eq(script_raised(&st.dev), 1);
		ck_assert(script_deliver(&st.dev));
		for (uint64_t i = 0; i < 3; i++)
			story_upcall(&st, 1 + 10 * round + i);
		story_expect_nothing(&st);
	}
	ck_assert_int_eq(st.tape.most_inside, 1);
}

/* clause: c.14.35 */
TEST(single__posted_events__upcalls_from_the_loop_only)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(script_post(&st.dev, 101), 0);
	ck_assert_int_eq(st.tape.n, 0); /* never inside the poster's call */
	story_upcall(&st, 100);
	story_upcall(&st, 101);
	story_expect_nothing(&st);
}

TEST(single__more_than_the_ring_holds__all_come)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_complete(1, 200);
	ck_assert(script_deliver(&st.dev));
	for (uint64_t i = 1; i <= 200; i++)
		story_upcall(&st, i);
	story_expect_nothing(&st);
	ck_assert_uint_le(st.dev.arms, 2);
}

/* clause: c.14.5 */
TEST(single__more_events__true_if_events_are_known_to_be_queued)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_complete(1, 2);
	story_settle(&st);
	ck_assert(st.tape.more[0]);
	ck_assert(!st.tape.more[1]);
	st.tape.read = 2;
}

TEST(single__spurious_notification__no_upcall_and_armed_again)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_spurious(&st.dev);
	ck_assert(script_deliver(&st.dev));
	story_expect_nothing(&st);
	ck_assert_uint_eq(st.dev.arms, 2);
	story_complete(1, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	story_expect_nothing(&st);
}

/* origin: race.A3 */
TEST(single__late_event_after_its_completion_was_taken__next_one_still_comes)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_show(&st.dev, 1);
	ck_assert_int_eq(script_post(&st.dev, 100), 0); /* makes the EVD look */
	story_upcall(&st, 100);
	story_upcall(&st, 1);
	script_decide(&st.dev); /* the event of 1, late */
	ck_assert(script_deliver(&st.dev));
	story_expect_nothing(&st);
	story_complete(2, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 2);
	story_expect_nothing(&st);
}

TEST(single__duplicate_notification__nothing_lost)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_duplicate(&st.dev);
	ck_assert(script_deliver(&st.dev));
	story_complete(1, 1);
	story_settle(&st);
	story_upcall(&st, 1);
	story_expect_nothing(&st);
}

/* clause: c.14.6 */
TEST(notify__one_upcall_per_burst_and_nothing_dequeued)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_NOTIFY), 0);
	story_complete(1, 3);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, TAPE_REPORT);
	story_expect_nothing(&st);
	for (uint64_t i = 1; i <= 3; i++)
		story_dequeues(&st, i);
	story_empty(&st);
}

TEST(notify__undrained__a_new_arrival_calls_again)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_NOTIFY), 0);
	story_complete(1, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, TAPE_REPORT);
	story_expect_nothing(&st);
	story_complete(2, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, TAPE_REPORT);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_upcall(&st, TAPE_REPORT);
	story_expect_nothing(&st);
}

/* clause: c.14.14 */
TEST(enable_new__empty__takes_effect)
{
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), 0);
	ck_assert_uint_eq(st.dev.arms, 1);
	story_complete(1, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	story_expect_nothing(&st);
}

/* clause: c.14.16 */
TEST(enable_new__completion_pending__refused_until_drained)
{
	struct tape other;
	struct evd_upcall object = tape_object(&other);

	tape_init(&other, &st.dev);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	story_complete(1, 1);
	ck_assert_int_eq(evd_modify_upcall(
			     evd_self(&st.dev.evd), EVD_POLICY_SINGLE, &object, EVD_PENDING_REFUSE),
	    -EAGAIN);
	story_settle(&st);
	story_dequeues(&st, 1);
	/* Neither policy nor object of the refused call stayed. */
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&st.dev.evd), EVD_POLICY_SINGLE, NULL, EVD_PENDING_REFUSE),
	    0);
	story_complete(2, 1);
	story_settle(&st);
	story_upcall(&st, 2);
	ck_assert_int_eq(other.n, 0);
	story_expect_nothing(&st);
}

/* clause: c.14.17 */
TEST(enable_new__completion_between_the_poll_and_the_arm__refused_and_counted)
{
	struct evd_counters counters;

	st.dev.before_arm = (struct script_hook){ .fn = story_insert, .arg = (void *)7 };
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), -EAGAIN);
	ck_assert_int_eq(evd_query_counters(evd_self(&st.dev.evd), &counters), 0);
	ck_assert_uint_eq(counters.races_closed, 1);
	story_dequeues(&st, 7);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE), 0);
	story_expect_nothing(&st);
}

/* clause: c.14.15 */
TEST(enable_any__pending__called_for_what_is_queued)
{
	story_complete(1, 2);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_CALL), 0);
	ck_assert_int_eq(st.tape.n, 0); /* not inside the consumer's call */
	/* Arrival of a completion is its first poll: the posted event came first. */
	story_upcall(&st, 100);
	story_upcall(&st, 1);
	story_upcall(&st, 2);
	story_expect_nothing(&st);
}

/* clause: c.14.20 */
TEST(enable__no_function__refused)
{
	struct evd_upcall none = ((struct evd_upcall){ 0 });

	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&st.dev.evd), EVD_POLICY_SINGLE, NULL, EVD_PENDING_CALL),
	    -EFAULT);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&st.dev.evd), EVD_POLICY_SINGLE, &none, EVD_PENDING_CALL),
	    -EFAULT);
	ck_assert_uint_eq(st.dev.arms, 0);
}

/* clause: c.14.21 */
TEST(modify__unknown_policy_or_flag__refused)
{
	ck_assert_int_eq(story_policy(&st, (enum evd_policy)7, EVD_PENDING_CALL), -EINVAL);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_SINGLE, (enum evd_pending)2), -ERANGE);
}

/* clause: c.14.19 */
TEST(modify__object_while_disabled__in_force_at_the_next_enable)
{
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&st.dev.evd), EVD_POLICY_SINGLE, NULL, EVD_PENDING_REFUSE),
	    0);
	story_complete(1, 1);
	story_settle(&st);
	story_upcall(&st, 1);
	story_expect_nothing(&st);
}

/* clause: c.14.18 */
TEST(enable__other_object__queued_events_go_to_the_new_one)
{
	struct tape other;
	struct evd_upcall object = tape_object(&other);

	tape_init(&other, &st.dev);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_complete(1, 1);
	ck_assert(script_deliver(&st.dev));
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&st.dev.evd), EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL),
	    0);
	story_expect_nothing(&st);
	ck_assert_int_eq(other.n, 1);
	ck_assert_uint_eq(other.id[0], 1);
}

/* clause: c.14.10 */
TEST(disable__run_scheduled__no_upcall_starts)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_complete(1, 2);
	ck_assert(script_deliver(&st.dev));
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	story_expect_nothing(&st);
	story_dequeues(&st, 1);
	story_dequeues(&st, 2);
}

/* clause: c.14.11 */
TEST(disabled__notification_comes__acknowledged_and_not_armed_again)
{
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE), 0);
	story_complete(1, 1);
	story_expect_nothing(&st);
	ck_assert_uint_eq(st.dev.arms, 1);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_upcall(&st, 1);
	story_complete(2, 1);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 2);
	story_expect_nothing(&st);
}

static int late; /* completions that arrive while the consumer drains */

static void
disable_drain_enable(struct tape *tape, uint64_t id)
{
	struct evd *evd = &tape->dev->evd;
	struct script_event event;
	int r;

	(void)id;
	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(evd), EVD_POLICY_DISABLE, NULL, EVD_PENDING_REFUSE), 0);
	do {
		while (evd_dequeue(evd_self(evd), &event) == 0) {
			tape->id[tape->n++] = script_id(&event);
			if (late > 0)
				script_complete(tape->dev, 1000 + (uint64_t)late--);
		}
		r = evd_modify_upcall(evd_self(evd), EVD_POLICY_SINGLE, NULL, EVD_PENDING_REFUSE);
	} while (r == -EAGAIN);
	ck_assert_int_eq(r, 0);
}

/* clause: c.14.23 */
TEST(upcall__disable_drain_enable__every_event_once)
{
	late = 2;
	st.tape.then = disable_drain_enable;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	story_complete(1, 5);
	story_settle(&st);
	for (uint64_t i = 1; i <= 5; i++)
		story_upcall(&st, i);
	story_upcall(&st, 1002);
	story_upcall(&st, 1001);
	story_expect_nothing(&st);
	story_complete(6, 1);
	story_settle(&st);
	story_upcall(&st, 6);
	story_expect_nothing(&st);
}

static void
post_one(struct tape *tape, uint64_t id)
{
	if (id < 103)
		must(script_post(tape->dev, id + 1) == 0);
}

TEST(upcall__posts_to_its_own_evd__no_recursion)
{
	st.tape.then = post_one;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	for (uint64_t i = 100; i <= 103; i++)
		story_upcall(&st, i);
	story_expect_nothing(&st);
	ck_assert_int_eq(st.tape.most_inside, 1);
}

static int drained;

static void
drain_nine(struct tape *tape, uint64_t id)
{
	struct script_event event;

	(void)id;
	for (int i = 0; i < 9; i++)
		drained += evd_dequeue(evd_self(&tape->dev->evd), &event) == 0;
}

/* One turn of the loop must not go to the one EVD whose upcalls drain it. */
static void
drain_ten_a_call(void (*begin)(void))
{
	int first_turn;

	drained = 0;
	st.tape.then = drain_nine;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	begin();
	(void)story_turn(&st);
	first_turn = tape_count(&st.tape);
	ck_assert_int_ge(first_turn, 1);
	ck_assert_int_le(first_turn, 10);
	story_settle(&st);
	for (uint64_t i = 0; i < 20; i++)
		story_upcall(&st, 10 * i);
	ck_assert_int_eq(drained, 180);
	story_expect_nothing(&st);
}

static void
complete_200(void)
{
	story_complete(0, 200);
	ck_assert(script_deliver(&st.dev));
}

static void
post_200(void)
{
	for (uint64_t i = 0; i < 200; i++)
		ck_assert_int_eq(script_post(&st.dev, i), 0);
}

TEST(upcall__drains_ten_events_a_call__spends_the_loops_budget_by_events)
{
	drain_ten_a_call(complete_200);
}

TEST(upcall__drains_ten_posted_events_a_call__spends_the_loops_budget_by_events)
{
	ck_assert_int_eq(evd_resize(evd_self(&st.dev.evd), 200), 0);
	drain_ten_a_call(post_200);
}

static void
post_another(struct tape *tape, uint64_t id)
{
	(void)id;
	(void)script_post(tape->dev, 1); /* until the EVD is full */
}

/* Nor to one that takes nothing and is called for a new event each time. */
TEST(upcall__takes_nothing_and_posts_one__spends_the_loops_budget_by_calls)
{
	int first_turn;

	ck_assert_int_eq(evd_resize(evd_self(&st.dev.evd), 200), 0);
	st.tape.then = post_another;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_NOTIFY), 0);
	ck_assert_int_eq(script_post(&st.dev, 1), 0);
	(void)story_turn(&st);
	first_turn = tape_count(&st.tape);
	ck_assert_int_ge(first_turn, 1);
	ck_assert_int_le(first_turn, 100);
	for (int i = 0; i < 200; i++)
		story_upcall(&st, TAPE_REPORT);
	for (int i = 0; i < 200; i++)
		story_dequeues(&st, 1);
	story_expect_nothing(&st);
}

TEST(effect__runs_unlocked_before_the_upcall)
{
	const struct script_record record = { .id = 1, .flags = SCRIPT_EFFECT };

	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	script_show_record(&st.dev, &record);
	script_decide(&st.dev);
	ck_assert(script_deliver(&st.dev));
	story_upcall(&st, 1);
	ck_assert_int_eq(st.dev.effects, 1);
}

struct effects_seen {
	int upcalls, events;
	bool late;
};

static void
see_effects(void *instance, const struct script_event *events, unsigned int n, int more)
{
	struct effects_seen *seen = instance;

	(void)events;
	(void)more;
	seen->upcalls++;
	seen->events += n;
	seen->late |= st.dev.effects != seen->events;
}

TEST(effects__of_events_of_an_array__each_runs_before_its_upcall_and_once)
{
	struct effects_seen seen = { 0 };
	const struct evd_upcall object = {
		.instance = &seen, .function = (void (*)(void))see_effects, .most = 4
	};

	ck_assert_int_eq(
	    evd_modify_upcall(evd_self(&st.dev.evd), EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL),
	    0);
	for (uint64_t id = 1; id <= 3; id++) {
		const struct script_record record = { .id = id, .flags = SCRIPT_EFFECT };

		script_show_record(&st.dev, &record);
		script_decide(&st.dev);
	}
	ck_assert(script_deliver(&st.dev));
	story_run(&st);
	ck_assert_int_eq(seen.events, 3);
	ck_assert_int_ge(seen.upcalls, 1);
	ck_assert_int_eq(st.dev.effects, 3);
	ck_assert(!seen.late);
}

static void
step_or_tear_down(struct tape *tape, uint64_t id)
{
	if (id == 1)
		(void)loop_step(st.loop, 0);
	else
		ck_assert_int_eq(evd_modify_upcall(evd_self(&tape->dev->evd), EVD_POLICY_TEARDOWN,
				     NULL, EVD_PENDING_REFUSE),
		    0);
}

/* The outer upcall cannot return before the inner one did. */
TEST(many__teardown_in_an_upcall_inside_another__waits_for_neither)
{
	st.tape.then = step_or_tear_down;
	story_complete(1, 3);
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_MANY), 0);
	story_run(&st);
	story_upcall(&st, 1);
	story_upcall(&st, 2);
	story_expect_nothing(&st);
	ck_assert_int_eq(st.dev.evd.exempt, 0);
	story_dequeues(&st, 3);
}
