/* SPDX-License-Identifier: BSD-3-Clause */
/* Races between threads that change the policy, post and take */
#include <sched.h>

#include "lib/upcall_story.h"
#include "lib/runner.h"

#define EVENTS 1500

/* Each event is seen once, by any of the threads. */
struct field {
	struct up up;
	struct dt_side side;
	_Atomic(int) seen[EVENTS];
	_Atomic(int) total;
	_Atomic(int) inside;
	_Atomic(bool) stop;
};

static struct field field;

static void
see(const DAT_EVENT *event)
{
	DAT_UINT64 value = up_value(event);

	ck_assert_uint_lt(value, EVENTS);
	ck_assert_int_eq(field.seen[value]++, 0);
	field.total++;
}

static void
sees(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	DAT_EVENT next;

	(void)instance;
	(void)more;
	field.inside++;
	if (event)
		see(event);
	else
		while (dat_evd_dequeue(field.up.evd, &next) == DAT_SUCCESS)
			see(&next);
	field.inside--;
}

static void
field_open(DAT_UPCALL_POLICY policy)
{
	memset(&field, 0, sizeof field);
	up_init(&field.up);
	field.up.object = (DAT_UPCALL_OBJECT){ NULL, sees };
	dt_side_open(&field.side, "soft", DT_SEPARATE);
	up_open_length(
	    &field.up, &field.side, policy, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG, 128);
}

static void *
posts_all(void *arg)
{
	(void)arg;
	for (uintptr_t i = 0; i < EVENTS; i++)
		dt_post_se_patiently(field.up.evd, i);
	return NULL;
}

/* A thread that sets one policy after the other until it must stop. */
struct changer {
	DAT_UPCALL_POLICY policies[2];
	DAT_UPCALL_FLAG flag;
	pthread_t thread;
};

static void *
changes(void *arg)
{
	const struct changer *c = arg;
	DAT_RETURN ret;

	for (unsigned int i = 0; !field.stop; i++) {
		ret = up_try(&field.up, c->policies[i % 2], c->flag);
		if (ret != DAT_SUCCESS)
			dt_assert_ret(ret, DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE));
		if (i % 8 == 0)
			sched_yield();
	}
	return NULL;
}

static void
field_end(void)
{
	dt_await_count(&field.total, EVENTS);
	up_set(&field.up, DAT_UPCALL_TEARDOWN);
	ck_assert_int_eq(field.inside, 0);
	ck_assert_int_eq(field.total, EVENTS);
	dt_assert_empty(field.up.evd);
	dt_side_close(&field.side);
}

#define SI DAT_UPCALL_SINGLE_INSTANCE
static const struct changer duels[][2] = {
	{ { .policies = { SI, DAT_UPCALL_DISABLE } }, { .policies = { SI, DAT_UPCALL_DISABLE } } },
	{ { .policies = { SI, DAT_UPCALL_MANY }, .flag = DAT_UPCALL_INVOC_ANY },
	    { .policies = { DAT_UPCALL_DISABLE, DAT_UPCALL_NORIFY },
		.flag = DAT_UPCALL_INVOC_ANY } },
	{ { .policies = { SI, DAT_UPCALL_TEARDOWN }, .flag = DAT_UPCALL_INVOC_ANY },
	    { .policies = { DAT_UPCALL_MANY, DAT_UPCALL_TEARDOWN },
		.flag = DAT_UPCALL_INVOC_ANY } },
	{ { .policies = { DAT_UPCALL_MANY, DAT_UPCALL_DISABLE }, .flag = DAT_UPCALL_INVOC_ANY },
	    { .policies = { SI, DAT_UPCALL_TEARDOWN } } },
	{ { .policies = { DAT_UPCALL_NORIFY, DAT_UPCALL_TEARDOWN }, .flag = DAT_UPCALL_INVOC_ANY },
	    { .policies = { DAT_UPCALL_NORIFY, SI }, .flag = DAT_UPCALL_INVOC_ANY } },
};
#define DUELS (int)(sizeof duels / sizeof duels[0])

DT_CASE("race:race");

/* clause: c.14.29 */
TEST_LOOP(two_threads__change_the_policy_against_each_other__every_event_once, DUELS)
{
	struct changer duel[2] = { duels[_i][0], duels[_i][1] };
	pthread_t poster;

	field_open(SI);
	for (int i = 0; i < 2; i++)
		duel[i].thread = up_thread(changes, &duel[i]);
	poster = up_thread(posts_all, NULL);
	/* Upcalls make room for the poster, so they are enabled again and again, and at the end. */
	for (int i = 0; i < DT_FOREVER_MS && field.total < EVENTS * 9 / 10; i++) {
		up_set(&field.up, SI);
		dt_nap_ms(1);
	}
	field.stop = true;
	for (int i = 0; i < 2; i++)
		up_join(duel[i].thread);
	up_set(&field.up, SI);
	up_join(poster);
	field_end();
}

/* clause: c.14.29, c.14.12 */
TEST_LOOP(two_threads__tear_down_and_enable__teardown_always_returns, UP_ENABLING)
{
	struct changer enabling = { .policies = { up_policies[_i], up_policies[_i] },
		.flag = DAT_UPCALL_INVOC_ANY };
	pthread_t poster;

	field_open(up_policies[_i]);
	enabling.thread = up_thread(changes, &enabling);
	poster = up_thread(posts_all, NULL);
	while (field.total < EVENTS)
		up_set(&field.up, DAT_UPCALL_TEARDOWN);
	field.stop = true;
	up_join(enabling.thread);
	up_join(poster);
	field_end();
}

static void *
takes(void *arg)
{
	DAT_EVENT event;

	(void)arg;
	while (!field.stop) {
		if (dat_evd_dequeue(field.up.evd, &event) == DAT_SUCCESS)
			see(&event);
		else
			sched_yield();
	}
	return NULL;
}

/* clause: c.14.29, c.5.6 */
TEST_LOOP(a_thread_dequeues_against_upcalls__every_event_once, UP_ENABLING)
{
	pthread_t poster, reader;

	field_open(up_policies[_i]);
	reader = up_thread(takes, NULL);
	poster = up_thread(posts_all, NULL);
	up_join(poster);
	dt_await_count(&field.total, EVENTS);
	field.stop = true;
	up_join(reader);
	field_end();
}

/* clause: c.14.29, c.14.8 */
TEST(many_and_single_by_turns__single_is_single_whenever_it_stands)
{
	/* MANY and SINGLE in turn, with TEARDOWN in between, so that they do not overlap. */
	static struct up up;
	struct dt_side side;
	int entered;

	up_begin(&up, &side, DAT_UPCALL_TEARDOWN, DAT_EVD_SOFTWARE_FLAG);
	for (int round = 0; round < 40; round++) {
		DAT_UPCALL_POLICY policy = round % 2 ? DAT_UPCALL_MANY : SI;

		for (uintptr_t i = 0; i < 6; i++)
			dt_post_se(up.evd, i);
		entered = up.entered;
		up.most_inside = 0;
		up_set(&up, policy);
		up_await_entered(&up, entered + 6);
		up_set(&up, DAT_UPCALL_TEARDOWN);
		if (policy == SI)
			ck_assert_int_eq(up.most_inside, 1);
	}
	dt_side_close(&side);
}

static void *
makes_and_frees(void *arg)
{
	struct dt_side *side = arg;
	DAT_UPCALL_OBJECT object = { NULL, sees };
	DAT_EVD_HANDLE evd;

	for (int i = 0; i < 60; i++) {
		dt_ok(dat_evd_kcreate(side->ia, 8, up_policies[i % UP_POLICIES], &object,
		    i % 2 ? DAT_EVD_SOFTWARE_FLAG : DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG,
		    &evd));
		dt_ok(dat_evd_free(evd));
	}
	return NULL;
}

/* clause: c.14.1, c.14.26 */
TEST_LOOP(three_threads_make_and_free_evds__while_upcalls_run__nothing_is_lost, UP_ENABLING)
{
	pthread_t threads[3], poster;

	field_open(up_policies[_i]);
	poster = up_thread(posts_all, NULL);
	for (int i = 0; i < 3; i++)
		threads[i] = up_thread(makes_and_frees, &field.side);
	for (int i = 0; i < 3; i++)
		up_join(threads[i]);
	up_join(poster);
	field_end();
}
