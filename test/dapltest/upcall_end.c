/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of an adapter: dat_ia_close() returns after every upcall and agent of it, however their
 * objects are freed meanwhile, and waits for none that waits for the caller.
 */
#include <stdlib.h>
#include <time.h>

#include "upcall_story.h"
#include "upcall_suites.h"

static DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };

/* An adapter with nothing on it but what the test makes. */
static void
open_bare(struct dt_side *side, const char *name)
{
	memset(side, 0, sizeof *side);
	side->ia = dt_open(name, &side->async);
}

static void
closes(struct up *up, const DAT_EVENT *event)
{
	(void)event;
	dt_ok(dat_ia_close(up->ia, DAT_CLOSE_ABRUPT_FLAG));
}

/* Until another thread's free of the object has begun. */
static void
await_freeing(DAT_HANDLE object)
{
	DAT_HANDLE_TYPE type;

	for (int ms = 0; dat_get_handle_type(object, &type) == DAT_SUCCESS; ms++) {
		ck_assert_int_lt(ms, DT_FOREVER_MS);
		dt_nap_ms(1);
	}
	dt_nap_ms(10); /* it waits by then, most of the time */
}

static void *
frees_evd(void *evd)
{
	return (void *)(uintptr_t)dat_evd_free(evd);
}

static void
join_ok(pthread_t thread)
{
	void *ret;

	pthread_join(thread, &ret);
	dt_ok((DAT_RETURN)(uintptr_t)ret);
}

/* ---- a close from inside, and a free that waits for just this upcall or agent ---- */

/* origin: attack.C4 */
/* clause: c.14.31, e.9.1, e.9.8 */
START_TEST(close_inside__another_thread_frees_its_evd__both_end)
{
	const bool with_cno = _i % 2;
	const DAT_UPCALL_POLICY policy = up_policies[_i / 2];
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	struct up up;
	pthread_t thread;

	up_init(&up);
	open_bare(&side, "soft");
	up_open(&up, &side, policy, DAT_EVD_SOFTWARE_FLAG);
	if (with_cno) {
		dt_ok(dat_cno_create(side.ia, no_agent, &cno));
		dt_ok(dat_evd_modify_cno(up.evd, cno));
	}
	up.act = closes;
	up.gate = true;
	dt_post_se(up.evd, 0);
	up_await_inside(&up, 1);
	thread = up_thread(frees_evd, up.evd);
	await_freeing(up.evd);
	up.gate = false;
	up_await_returned(&up, 1);
	join_ok(thread);
}
END_TEST

struct agent {
	DAT_IA_HANDLE ia;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;
	_Atomic(bool) gate;
	_Atomic(int) entered, returned;
	void (*act)(struct agent *agent);
};

static void
call_agent(DAT_PVOID instance, DAT_EVD_HANDLE evd)
{
	struct agent *agent = instance;

	(void)evd;
	agent->entered++;
	for (int i = 0; agent->gate && i < DT_FOREVER_MS; i++)
		dt_nap_ms(1);
	agent->act(agent);
	agent->returned++;
}

/* Opens an adapter whose one agent is inside, in front of its gate. */
static void
agent_open(struct agent *agent, void (*act)(struct agent *agent))
{
	const DAT_OS_WAIT_PROXY_AGENT proxy = { agent, call_agent };
	struct dt_side side;

	open_bare(&side, "soft");
	*agent = (struct agent){ .ia = side.ia, .gate = true, .act = act };
	dt_ok(dat_cno_create(agent->ia, proxy, &agent->cno));
	dt_ok(dat_evd_create(agent->ia, 8, agent->cno, DAT_EVD_SOFTWARE_FLAG, &agent->evd));
	dt_post_se(agent->evd, 0);
	dt_await_count(&agent->entered, 1);
}

static void *
frees_evd_and_cno(void *arg)
{
	struct agent *agent = arg;

	dt_ok(dat_evd_free(agent->evd));
	return (void *)(uintptr_t)dat_cno_free(agent->cno);
}

static void
agent_closes(struct agent *agent)
{
	dt_ok(dat_ia_close(agent->ia, DAT_CLOSE_ABRUPT_FLAG));
}

/* origin: attack.C4 */
/* clause: c.13.8, e.9.1, e.9.8 */
START_TEST(close_in_an_agent__another_thread_frees_its_cno__both_end)
{
	struct agent agent;
	pthread_t thread;

	agent_open(&agent, agent_closes);
	thread = up_thread(frees_evd_and_cno, &agent);
	await_freeing(agent.cno);
	agent.gate = false;
	dt_await_count(&agent.returned, 1);
	join_ok(thread);
}
END_TEST

/* ---- a close from inside, and another upcall that waits for the one it comes from ---- */

static struct up first, second;
static _Atomic(int) seen_at_close;

static void
closes_and_notes(struct up *up, const DAT_EVENT *event)
{
	closes(up, event);
	seen_at_close = second.returned;
}

static void
frees_the_first(struct up *up, const DAT_EVENT *event)
{
	(void)up;
	(void)event;
	dt_ok(dat_evd_free(first.evd));
}

static void
tears_down_the_first(struct up *up, const DAT_EVENT *event)
{
	(void)up;
	(void)event;
	dt_ok(dat_evd_modify_upcall(
	    first.evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY));
}

/* origin: attack.C4 */
/* clause: c.14.26, c.14.31, e.9.8 */
START_TEST(close_inside__another_upcall_waits_for_this_one__it_gives_way)
{
	const bool frees = _i;
	struct dt_side side;

	up_init(&first);
	up_init(&second);
	open_bare(&side, "soft");
	up_open(&first, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	up_open(&second, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG); /* on other threads */
	first.act = closes_and_notes;
	first.gate = true;
	second.act = frees ? frees_the_first : tears_down_the_first;
	dt_post_se(first.evd, 0);
	up_await_inside(&first, 1);
	dt_post_se(second.evd, 0);
	up_await_inside(&second, 1);
	if (frees)
		await_freeing(first.evd);
	else
		up_await_off(&first);
	ck_assert_int_eq(second.returned, 0);
	first.gate = false;
	up_await_returned(&first, 1);
	ck_assert_int_eq(seen_at_close, 1);
}
END_TEST

/* Each closes the adapter of the other, from inside. */
static void
closes_the_other(struct up *up, const DAT_EVENT *event)
{
	closes(up == &first ? &second : &first, event);
}

/* origin: attack.C4 */
/* clause: c.14.31, e.9.1, e.9.8 */
START_TEST(close_inside__two_adapters_close_each_other__both_end)
{
	const DAT_UPCALL_POLICY policy = up_policies[_i];
	struct dt_side side[2];
	struct up *up[2] = { &first, &second };

	for (int i = 0; i < 2; i++) {
		up_init(up[i]);
		open_bare(&side[i], "soft");
		up_open(up[i], &side[i], policy, DAT_EVD_SOFTWARE_FLAG);
		up[i]->act = closes_the_other;
		up[i]->gate = true;
		dt_post_se(up[i]->evd, 0);
		up_await_inside(up[i], 1);
	}
	first.gate = second.gate = false;
	up_await_returned(&first, 1);
	up_await_returned(&second, 1);
}
END_TEST

/* ---- a close, and upcalls and agents that freed what they belong to ---- */

static _Atomic(bool) let_end;

static void
runs_on(void)
{
	for (int i = 0; !let_end && i < DT_FOREVER_MS; i++)
		dt_nap_ms(1);
}

static void
only_runs_on(struct up *up, const DAT_EVENT *event)
{
	(void)up;
	(void)event;
	runs_on();
}

static void
frees_and_runs_on(struct up *up, const DAT_EVENT *event)
{
	(void)event;
	dt_ok(dat_evd_free(up->evd));
	runs_on();
}

/* Lets what runs on end, while a close is in progress most of the time. */
static void *
lets_end_later(void *ms)
{
	dt_nap_ms((unsigned int)(uintptr_t)ms);
	let_end = true;
	return NULL;
}

static pthread_t
let_end_in(unsigned int ms)
{
	let_end = false;
	return up_thread(lets_end_later, (void *)(uintptr_t)ms);
}

/* origin: attack.C5 */
/* clause: c.14.25, c.14.26, e.9.2, e.9.8 */
START_TEST(close__an_upcall_that_freed_its_evd_runs_on__returns_after_it)
{
	const DAT_CLOSE_FLAGS how = _i % 2 ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG;
	const DAT_UPCALL_POLICY policy = up_policies[_i / 2];
	struct dt_side side;
	struct up up;
	pthread_t thread;

	let_end = false;
	up_init(&up);
	open_bare(&side, "soft");
	up_open(&up, &side, policy, DAT_EVD_SOFTWARE_FLAG);
	up.act = frees_and_runs_on;
	dt_post_se(up.evd, 0);
	await_freeing(up.evd);
	thread = let_end_in(30);
	dt_ok(dat_ia_close(side.ia, how));
	ck_assert_int_eq(up.returned, 1);
	up_join(thread);
}
END_TEST

static void
frees_all_and_runs_on(struct agent *agent)
{
	dt_ok(dat_evd_free(agent->evd));
	dt_ok(dat_cno_free(agent->cno));
	runs_on();
}

/* origin: attack.C5 */
/* clause: c.13.8, e.9.2, e.9.8 */
START_TEST(close__an_agent_that_freed_its_cno_runs_on__returns_after_it)
{
	struct agent agent;
	pthread_t thread;

	let_end = false;
	agent_open(&agent, frees_all_and_runs_on);
	agent.gate = false;
	await_freeing(agent.cno);
	thread = let_end_in(30);
	dt_ok(dat_ia_close(agent.ia, _i ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG));
	ck_assert_int_eq(agent.returned, 1);
	up_join(thread);
}
END_TEST

/* The free of another thread waits for the upcall, and the close for both. */
/* origin: attack.C5 */
/* clause: c.14.26, e.9.2, e.9.8 */
START_TEST(close_gracefully__a_free_is_in_progress__returns_after_it)
{
	struct dt_side side;
	struct up up;
	pthread_t freeing, ending;

	up_init(&up);
	open_bare(&side, "soft");
	up_open(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	up.gate = true;
	dt_post_se(up.evd, 0);
	up_await_inside(&up, 1);
	freeing = up_thread(frees_evd, up.evd);
	await_freeing(up.evd);
	up.act = only_runs_on;
	ending = let_end_in(30);
	up.gate = false;
	dt_ok(dat_ia_close(side.ia, DAT_CLOSE_GRACEFUL_FLAG));
	ck_assert_int_eq(up.returned, 1);
	up_join(ending);
	join_ok(freeing);
}
END_TEST

/* origin: attack.C5 */
/* clause: c.14.26, c.14.31, e.9.8 */
START_TEST(close_inside__another_upcall_that_freed_its_evd_runs_on__returns_after_it)
{
	struct dt_side side;
	pthread_t thread;

	let_end = false;
	up_init(&first);
	up_init(&second);
	open_bare(&side, "soft");
	up_open(&first, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	up_open(&second, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	first.act = closes_and_notes;
	second.act = frees_and_runs_on;
	dt_post_se(second.evd, 0);
	await_freeing(second.evd);
	thread = let_end_in(30);
	dt_post_se(first.evd, 0);
	up_await_returned(&first, 1);
	ck_assert_int_eq(seen_at_close, 1);
	up_join(thread);
}
END_TEST

static _Atomic(int) turn;

static void
one_frees_one_closes(struct up *up, const DAT_EVENT *event)
{
	switch (turn++) {
	case 0:
		frees_and_runs_on(up, event);
		break;
	case 1:
		await_freeing(up->evd);
		closes(up, event);
		seen_at_close = up->returned;
		break;
	default:
		runs_on();
		break;
	}
}

/* One that freed the EVD is not waited for by TEARDOWN, but by the close. */
/* origin: attack.C5 */
/* clause: c.14.26, c.14.31, e.9.8 */
START_TEST(close_inside__one_of_many_freed_their_evd__returns_after_all_others)
{
	const int n = up_standing(DAT_UPCALL_MANY);
	struct dt_side side;
	pthread_t thread;

	turn = 0;
	let_end = false;
	up_init(&first);
	open_bare(&side, "soft");
	up_open(&first, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	first.act = one_frees_one_closes;
	up_let_stand(&first, DAT_UPCALL_MANY);
	thread = let_end_in(40);
	first.gate = false;
	up_await_returned(&first, n);
	ck_assert_int_eq(seen_at_close, n - 1);
	up_join(thread);
}
END_TEST

/* ---- a close beside an upcall or agent that is in the close of another adapter ---- */

static void
closes_the_second(struct up *up, const DAT_EVENT *event)
{
	(void)up;
	closes(&second, event);
}

static void
agent_closes_the_second(struct agent *agent)
{
	(void)agent;
	closes(&second, NULL);
}

/* A second adapter, whose close takes until let_end. */
static void
open_the_second(void)
{
	struct dt_side side;

	let_end = false;
	up_init(&second);
	open_bare(&side, "soft");
	up_open(&second, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	second.act = frees_and_runs_on;
	dt_post_se(second.evd, 0);
	await_freeing(second.evd);
}

/* Until another thread's close of it has begun. */
static void
await_closing(DAT_IA_HANDLE ia)
{
	for (int ms = 0; dat_ia_query(ia, NULL, 0, NULL, 0, NULL) == DAT_SUCCESS; ms++) {
		ck_assert_int_lt(ms, DT_FOREVER_MS);
		dt_nap_ms(1);
	}
}

/* No callback waits for a thread that is in none, so nothing keeps that from waiting for all. */
/* origin: attack.C5 */
/* clause: e.9.1, e.9.8 */
START_TEST(close__an_upcall_closes_another_adapter__returns_after_it)
{
	struct dt_side side;
	pthread_t thread;

	open_the_second();
	up_init(&first);
	open_bare(&side, "soft");
	up_open(&first, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	first.act = closes_the_second;
	dt_post_se(first.evd, 0);
	await_closing(second.ia);
	thread = let_end_in(30);
	dt_ok(dat_ia_close(side.ia, DAT_CLOSE_ABRUPT_FLAG));
	ck_assert_int_eq(first.returned, 1);
	ck_assert_int_eq(second.returned, 1);
	up_join(thread);
}
END_TEST

/* origin: attack.C5 */
/* clause: c.13.8, e.9.1, e.9.8 */
START_TEST(close__an_agent_closes_another_adapter__returns_after_it)
{
	struct agent agent;
	pthread_t thread;

	open_the_second();
	agent_open(&agent, agent_closes_the_second);
	agent.gate = false;
	await_closing(second.ia);
	thread = let_end_in(30);
	dt_ok(dat_ia_close(agent.ia, DAT_CLOSE_ABRUPT_FLAG));
	ck_assert_int_eq(agent.returned, 1);
	ck_assert_int_eq(second.returned, 1);
	up_join(thread);
}
END_TEST

/* ---- how it waits ---- */

static double
cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* origin: attack.C4 */
/* clause: e.9.8 */
START_TEST(close__has_to_wait__sleeps)
{
	struct dt_side side;
	struct up up;
	pthread_t thread;
	double before;

	let_end = false;
	up_init(&up);
	open_bare(&side, "soft");
	up_open(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	up.act = frees_and_runs_on;
	dt_post_se(up.evd, 0);
	await_freeing(up.evd);
	thread = let_end_in(400);
	before = cpu_seconds();
	dt_ok(dat_ia_close(side.ia, DAT_CLOSE_ABRUPT_FLAG));
	ck_assert(cpu_seconds() - before < 0.2);
	ck_assert_int_eq(up.returned, 1);
	up_join(thread);
}
END_TEST

/* ---- an adapter without threads ---- */

static DAT_RETURN
step(DAT_IA_HANDLE ia, int timeout_ms)
{
	DAT_COUNT done;

	return dat_extension_op(ia, (DAT_EXTENDED_OP)DAT_REARM_IA_STEP_OP, timeout_ms, &done);
}

static void
steps_inside(struct up *up, const DAT_EVENT *event)
{
	(void)event;
	dt_post_se(second.evd, 0);
	dt_ok(step(up->ia, 0));
	ck_assert_int_eq(second.returned, 1);
}

/* origin: attack.C4 */
/* clause: c.14.31, e.9.1, e.9.8 */
START_TEST(close_inside__upcalls_stand_on_each_other__waits_for_none_of_them)
{
	struct dt_side side;

	up_init(&first);
	up_init(&second);
	open_bare(&side, "soft-step");
	up_open(&first, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	up_open(&second, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	first.act = steps_inside;
	second.act = closes;
	dt_post_se(first.evd, 0);
	dt_ok(step(side.ia, 0));
	ck_assert_int_eq(first.returned, 1);
	dt_assert_type(step(side.ia, 0), DAT_INVALID_HANDLE);
}
END_TEST

static void *
steps_for_ever(void *ia)
{
	return (void *)(uintptr_t)step(ia, -1);
}

/* clause: e.9.8 */
START_TEST(close__another_thread_sleeps_in_a_step__it_wakes)
{
	struct dt_side side;
	pthread_t thread;

	open_bare(&side, "soft-step");
	thread = up_thread(steps_for_ever, side.ia);
	dt_nap_ms(20);
	dt_ok(dat_ia_close(side.ia, DAT_CLOSE_ABRUPT_FLAG));
	pthread_join(thread, NULL);
}
END_TEST

/* ---- against frees on other threads ---- */

#define ROUNDS 40
#define EVDS 4

struct crowd {
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	struct up up[EVDS];
	_Atomic(bool) go;
};

static void *
frees_it_all(void *arg)
{
	struct crowd *c = arg;

	while (!c->go)
		;
	for (int i = 0; i < EVDS; i++)
		(void)dat_evd_free(c->up[i].evd);
	(void)dat_cno_free(c->cno);
	(void)dat_psp_free(c->side.psp);
	(void)dat_ep_free(c->side.ep);
	(void)dat_lmr_free(c->side.lmr);
	(void)dat_evd_free(c->side.recv);
	(void)dat_pz_free(c->side.pz);
	return NULL;
}

/* origin: attack.C4, attack.C5 */
/* clause: e.9.8, d.0.7 */
START_TEST(close__against_threads_that_free__ends_with_no_upcall_running)
{
	static struct crowd c;
	pthread_t threads[2];

	for (int round = 0; round < ROUNDS; round++) {
		memset(&c, 0, sizeof c);
		dt_side_open(&c.side, "soft", DT_SEPARATE);
		dt_side_listen(&c.side);
		dt_ok(dat_cno_create(c.side.ia, no_agent, &c.cno));
		for (int i = 0; i < EVDS; i++) {
			up_init(&c.up[i]);
			up_open(&c.up[i], &c.side, up_policies[i % UP_ENABLING],
			    DAT_EVD_SOFTWARE_FLAG);
			dt_ok(dat_evd_modify_cno(c.up[i].evd, c.cno));
		}
		for (int i = 0; i < 2; i++)
			threads[i] = up_thread(frees_it_all, &c);
		for (int i = 0; i < EVDS; i++)
			dt_post_se(c.up[i].evd, 0);
		c.go = true;
		dt_ok(dat_ia_close(c.side.ia, DAT_CLOSE_ABRUPT_FLAG));
		for (int i = 0; i < EVDS; i++)
			ck_assert_int_eq(c.up[i].inside, 0);
		for (int i = 0; i < 2; i++)
			up_join(threads[i]);
		free(c.side.buffer);
	}
}
END_TEST

/* Two adapters of one EVD for asynchronous events, closed at once, from upcalls and beside them. */
static void *
closes_adapter(void *ia)
{
	return (void *)(uintptr_t)dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
}

/* origin: attack.C4 */
/* clause: c.2.14, e.9.1 */
START_TEST(close__two_adapters_share_the_async_evd__both_end)
{
	const bool inside = _i;
	DAT_EVD_HANDLE async;
	pthread_t threads[2];

	for (int round = 0; round < ROUNDS; round++) {
		struct dt_side owner, user;

		memset(&user, 0, sizeof user);
		open_bare(&owner, "soft");
		async = owner.async;
		dt_ok(dat_ia_open((DAT_NAME_PTR)(uintptr_t)"soft", 8, &async, &user.ia));
		up_init(&first);
		up_open(&first, &user, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
		first.act = inside ? closes : NULL;
		if (inside)
			dt_post_se(first.evd, 0);
		threads[0] = up_thread(closes_adapter, owner.ia);
		if (inside) {
			up_await_returned(&first, 1);
		} else {
			threads[1] = up_thread(closes_adapter, user.ia);
			join_ok(threads[1]);
		}
		join_ok(threads[0]);
	}
}
END_TEST

Suite *
upcall_end_suite(void)
{
	Suite *s = suite_create("end");
	TCase *tc = dt_tcase(s, "end");

	tcase_add_loop_test(tc, close_inside__another_thread_frees_its_evd__both_end, 0,
			    2 * UP_ENABLING);
	tcase_add_test(tc, close_in_an_agent__another_thread_frees_its_cno__both_end);
	tcase_add_loop_test(tc, close_inside__another_upcall_waits_for_this_one__it_gives_way, 0,
			    2);
	tcase_add_loop_test(
	    tc, close_inside__two_adapters_close_each_other__both_end, 0, UP_ENABLING);
	tcase_add_loop_test(tc, close__an_upcall_that_freed_its_evd_runs_on__returns_after_it, 0,
			    2 * UP_ENABLING);
	tcase_add_loop_test(
	    tc, close__an_agent_that_freed_its_cno_runs_on__returns_after_it, 0, 2);
	tcase_add_loop_test(
	    tc, close_gracefully__a_free_is_in_progress__returns_after_it, 0, UP_ENABLING);
	tcase_add_test(
	    tc, close_inside__another_upcall_that_freed_its_evd_runs_on__returns_after_it);
	tcase_add_test(tc, close_inside__one_of_many_freed_their_evd__returns_after_all_others);
	tcase_add_loop_test(
	    tc, close__an_upcall_closes_another_adapter__returns_after_it, 0, UP_ENABLING);
	tcase_add_test(tc, close__an_agent_closes_another_adapter__returns_after_it);
	tcase_add_test(tc, close__has_to_wait__sleeps);
	tcase_add_loop_test(tc, close_inside__upcalls_stand_on_each_other__waits_for_none_of_them,
			    0, UP_ENABLING);
	tcase_add_test(tc, close__another_thread_sleeps_in_a_step__it_wakes);
	tcase_add_test(tc, close__against_threads_that_free__ends_with_no_upcall_running);
	tcase_add_loop_test(tc, close__two_adapters_share_the_async_evd__both_end, 0, 2);
	return s;
}
