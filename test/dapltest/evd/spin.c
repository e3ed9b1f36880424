/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A wait that polls for a while before it sleeps.  No test depends on how long that takes: a spin
 * lasts an hour, unless an event comes or it ends for another reason, or a nanosecond.
 */

#include "story.h"

#define AN_HOUR (3600ull * OS_NS_PER_S)

static int nmore;
static struct script_event event;

static void
begin(uint64_t spin_ns, enum script_channel channel)
{
	struct script_options opt = { .channel = channel, .qlen = 64, .spin_ns = spin_ns };

	story_begin(&st, &opt);
}

static struct evd_calls
made(void)
{
	struct evd_calls calls;

	ck_assert_int_eq(evd_query_calls(evd_self(&st.dev.evd), &calls), 0);
	return calls;
}

static int
wait_for(uint32_t timeout, int threshold)
{
	return evd_wait(evd_self(&st.dev.evd), timeout, threshold, &event, &nmore);
}

static void
complete(struct script *s, void *arg)
{
	(void)arg;
	script_complete(s, 7);
}

/* The completion comes at the poll with that number. */
static void
complete_at_poll(int number)
{
	st.dev.before_poll = (struct script_hook){ complete, NULL, number };
}

CASE("evd_spin:spin");

TEST(spin__completion_comes_meanwhile__neither_arm_nor_sleep)
{
	begin(AN_HOUR, SCRIPT_PRIVATE);
	complete_at_poll(20);
	ck_assert_int_eq(wait_for(EVD_FOREVER, 1), 0);
	ck_assert_uint_eq(script_id(&event), 7);
	ck_assert_uint_eq(st.dev.arms, 0);
	ck_assert_uint_eq(made().sleeps, 0);
	ck_assert_uint_eq(made().spins, 1);
	ck_assert_uint_eq(made().spins_served, 1);
	story_end(&st);
}

TEST(spin__below_the_threshold__goes_on)
{
	begin(AN_HOUR, SCRIPT_PRIVATE);
	script_complete(&st.dev, 6);
	complete_at_poll(20);
	ck_assert_int_eq(wait_for(EVD_FOREVER, 2), 0);
	ck_assert_uint_eq(script_id(&event), 6);
	ck_assert_int_eq(nmore, 1);
	ck_assert_uint_eq(st.dev.arms, 0);
	ck_assert_int_eq(wait_for(0, 1), 0);
	story_end(&st);
}

static void *
complete_when_armed(void *arg)
{
	for (bool armed = false; !armed; script_sleep_ms(0)) {
		os_lock(&st.dev.evd.lock);
		armed = st.dev.evd.waiting && st.dev.evd.armed;
		os_unlock(&st.dev.evd.lock);
	}
	script_complete(&st.dev, 8);
	return arg;
}

TEST(spin__in_vain__arms_and_sleeps)
{
	pthread_t thread;

	begin(1, SCRIPT_PRIVATE);
	ck_assert_int_eq(pthread_create(&thread, NULL, complete_when_armed, NULL), 0);
	ck_assert_int_eq(wait_for(EVD_FOREVER, 1), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(script_id(&event), 8);
	ck_assert_uint_eq(made().spins, 1);
	ck_assert_uint_eq(made().spins_served, 0);
	story_end(&st);
}

/* After a spin in vain so many waits do without one: 1, 3, 7, and 63 at most. */
TEST(spin__in_vain_again_and_again__ever_more_rarely)
{
	unsigned int rest = 0, rests = 0;
	uint64_t spins = 0;

	begin(1, SCRIPT_PRIVATE);
	for (int i = 0; i < 300; i++) {
		if (rest == 0) {
			spins++;
			rests = rests < 63 ? 2 * rests + 1 : 63;
			rest = rests;
		} else {
			rest--;
		}
		ck_assert_int_eq(wait_for(1, 1), -ETIMEDOUT);
		ck_assert_uint_eq(made().spins, spins);
	}
	ck_assert_uint_lt(spins, 12);
	story_end(&st);
}

TEST(spin__served_after_others_in_vain__the_next_wait_spins)
{
	uint64_t spins;

	begin(1, SCRIPT_PRIVATE);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(wait_for(1, 1), -ETIMEDOUT);
	ck_assert_uint_eq(made().spins, 1);
	/* The first poll is the one before the spin. */
	complete_at_poll(1);
	ck_assert_int_eq(wait_for(EVD_FOREVER, 1), 0);
	ck_assert_uint_eq(made().spins_served, 1);
	spins = made().spins;
	ck_assert_int_eq(wait_for(1, 1), -ETIMEDOUT);
	ck_assert_uint_eq(made().spins, spins + 1);
	story_end(&st);
}

TEST(spin__off__never)
{
	begin(0, SCRIPT_PRIVATE);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(wait_for(1, 1), -ETIMEDOUT);
	ck_assert_uint_eq(made().spins, 0);
	story_end(&st);
}

TEST(spin__event_is_there__none)
{
	begin(AN_HOUR, SCRIPT_PRIVATE);
	script_complete(&st.dev, 5);
	ck_assert_int_eq(wait_for(EVD_FOREVER, 1), 0);
	ck_assert_int_eq(wait_for(0, 1), -ETIMEDOUT);
	ck_assert_uint_eq(made().spins, 0);
	story_end(&st);
}

/* A spin has a limit of 100,000 polls, and these cannot be made in a microsecond. */
TEST(spin__timeout_is_shorter__ends_with_it)
{
	begin(AN_HOUR, SCRIPT_PRIVATE);
	ck_assert_int_eq(wait_for(1, 1), -ETIMEDOUT);
	ck_assert_uint_eq(made().spins, 1);
	ck_assert_uint_lt(st.dev.polls, 50000);
	story_end(&st);
}

enum { POSTS, MAKES_UNWAITABLE, OVERFLOWS, CLOSES, FREES, ENDS };
static const int results[ENDS] = { 0, -EPERM, -EOVERFLOW, -ECANCELED, -ECANCELED };

static void *
end_the_wait(void *arg)
{
	struct evd *evd = &st.dev.evd;

	for (bool waits = false; !waits; script_sleep_ms(0)) {
		os_lock(&evd->lock);
		waits = evd->waiting;
		os_unlock(&evd->lock);
	}
	switch (*(int *)arg) {
	case POSTS:
		must(script_post(&st.dev, 100) == 0);
		break;
	case MAKES_UNWAITABLE:
		must(evd_set_waitable(evd_self(evd), false) == 0);
		break;
	case OVERFLOWS:
		must(evd_mark_overflow(evd_self(evd)));
		break;
	case CLOSES:
		evd_set_closing(evd_self(evd));
		break;
	case FREES:
		must(evd_free(evd_self(evd)) == 0);
		break;
	}
	return NULL;
}

/* Whether it spins by then, or sleeps. */
TEST_LOOP(spin__another_thread_ends_the_wait__it_ends, ENDS)
{
	pthread_t thread;
	int how = _i;

	begin(AN_HOUR, SCRIPT_PRIVATE);
	ck_assert_int_eq(pthread_create(&thread, NULL, end_the_wait, &how), 0);
	ck_assert_int_eq(wait_for(EVD_FOREVER, 1), results[_i]);
	pthread_join(thread, NULL);
	story_end(&st);
}

static int in_upcall;

static void
wait_inside(struct tape *tape, uint64_t id)
{
	(void)tape;
	(void)id;
	must(evd_modify_upcall(evd_self(&st.dev.evd), EVD_POLICY_DISABLE, NULL, EVD_PENDING_CALL) ==
	     0);
	in_upcall = wait_for(1, 1);
}

TEST(spin__thread_has_to_pump_its_loop__none)
{
	begin(AN_HOUR, SCRIPT_SHARED);
	st.tape.then = wait_inside;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 100), 0);
	story_upcall(&st, 100);
	ck_assert_int_eq(in_upcall, -ETIMEDOUT);
	ck_assert_uint_eq(made().spins, 0);
	story_end(&st);
}
