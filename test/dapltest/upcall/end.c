/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closing an adapter: dat_ia_close() outside callbacks returns after every upcall and agent of the
 * adapter has returned, however their objects are freed meanwhile.
 */
#include <stdlib.h>
#include <time.h>

#include "end.h"
#include "lib/runner.h"

/* ---- a close, and upcalls and agents that freed their own object ---- */

static void
only_runs_on(struct up *up, const DAT_EVENT *event)
{
	(void)up;
	(void)event;
	end_runs_on();
}

DT_CASE("end:end");

/* origin: attack.C5 */
/* clause: c.14.25, c.14.26, e.9.2, e.9.8 */
TEST_LOOP(close__an_upcall_that_freed_its_evd_runs_on__returns_after_it, 2 * UP_ENABLING)
{
	const DAT_CLOSE_FLAGS how = _i % 2 ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG;
	const DAT_UPCALL_POLICY policy = up_policies[_i / 2];
	struct dt_side side;
	struct up up;
	pthread_t thread;

	end_hold_all();
	up_init(&up);
	end_open(&side, "soft");
	up_open(&up, &side, policy, DAT_EVD_SOFTWARE_FLAG);
	up.act = end_frees_and_runs_on;
	dt_post_se(up.evd, 0);
	end_await_freeing(up.evd);
	thread = end_release_in(30);
	dt_ok(dat_ia_close(side.ia, how));
	ck_assert_int_eq(up.returned, 1);
	up_join(thread);
}

static void
frees_all_and_runs_on(struct end_agent *agent)
{
	dt_ok(dat_evd_free(agent->evd));
	dt_ok(dat_cno_free(agent->cno));
	end_runs_on();
}

/* origin: attack.C5 */
/* clause: c.13.8, e.9.2, e.9.8 */
TEST_LOOP(close__an_agent_that_freed_its_cno_runs_on__returns_after_it, 2)
{
	struct end_agent agent;
	pthread_t thread;

	end_hold_all();
	end_agent_open(&agent, frees_all_and_runs_on);
	agent.gate = false;
	end_await_freeing(agent.cno);
	thread = end_release_in(30);
	dt_ok(dat_ia_close(agent.ia, _i ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG));
	ck_assert_int_eq(agent.returned, 1);
	up_join(thread);
}

/* The free of another thread waits for the upcall, and the close for both. */
/* origin: attack.C5 */
/* clause: c.14.26, e.9.2, e.9.8 */
TEST_LOOP(close_gracefully__a_free_is_in_progress__returns_after_it, UP_ENABLING)
{
	struct dt_side side;
	struct up up;
	pthread_t freeing, ending;

	up_init(&up);
	end_open(&side, "soft");
	up_open(&up, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	up.gate = true;
	dt_post_se(up.evd, 0);
	up_await_inside(&up, 1);
	freeing = up_thread(end_frees_evd, up.evd);
	end_await_freeing(up.evd);
	up.act = only_runs_on;
	ending = end_release_in(30);
	up.gate = false;
	dt_ok(dat_ia_close(side.ia, DAT_CLOSE_GRACEFUL_FLAG));
	ck_assert_int_eq(up.returned, 1);
	up_join(ending);
	end_join(freeing);
}

/* ---- a close beside an upcall or agent that is in the close of another adapter ---- */

static struct up first, second;

static void
closes_the_second(struct up *up, const DAT_EVENT *event)
{
	(void)up;
	end_closes(&second, event);
}

static void
agent_closes_the_second(struct end_agent *agent)
{
	(void)agent;
	end_closes(&second, NULL);
}

/* A second adapter, whose close lasts until end_release_in(). */
static void
open_the_second(void)
{
	struct dt_side side;

	end_hold_all();
	up_init(&second);
	end_open(&side, "soft");
	up_open(&second, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	second.act = end_frees_and_runs_on;
	dt_post_se(second.evd, 0);
	end_await_freeing(second.evd);
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

/* No callback waits for a thread outside callbacks, so such a thread may wait for all callbacks. */
/* origin: attack.C5 */
/* clause: e.9.1, e.9.8 */
TEST_LOOP(close__an_upcall_closes_another_adapter__returns_after_it, UP_ENABLING)
{
	struct dt_side side;
	pthread_t thread;

	open_the_second();
	up_init(&first);
	end_open(&side, "soft");
	up_open(&first, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	first.act = closes_the_second;
	dt_post_se(first.evd, 0);
	await_closing(second.ia);
	thread = end_release_in(30);
	dt_ok(dat_ia_close(side.ia, DAT_CLOSE_ABRUPT_FLAG));
	ck_assert_int_eq(first.returned, 1);
	ck_assert_int_eq(second.returned, 1);
	up_join(thread);
}

/* origin: attack.C5 */
/* clause: c.13.8, e.9.1, e.9.8 */
TEST(close__an_agent_closes_another_adapter__returns_after_it)
{
	struct end_agent agent;
	pthread_t thread;

	open_the_second();
	end_agent_open(&agent, agent_closes_the_second);
	agent.gate = false;
	await_closing(second.ia);
	thread = end_release_in(30);
	dt_ok(dat_ia_close(agent.ia, DAT_CLOSE_ABRUPT_FLAG));
	ck_assert_int_eq(agent.returned, 1);
	ck_assert_int_eq(second.returned, 1);
	up_join(thread);
}

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
TEST(close__has_to_wait__sleeps)
{
	struct dt_side side;
	struct up up;
	pthread_t thread;
	double before;

	end_hold_all();
	up_init(&up);
	end_open(&side, "soft");
	up_open(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	up.act = end_frees_and_runs_on;
	dt_post_se(up.evd, 0);
	end_await_freeing(up.evd);
	thread = end_release_in(400);
	before = cpu_seconds();
	dt_ok(dat_ia_close(side.ia, DAT_CLOSE_ABRUPT_FLAG));
	ck_assert(cpu_seconds() - before < 0.2);
	ck_assert_int_eq(up.returned, 1);
	up_join(thread);
}

/* ---- an adapter without threads ---- */

static void *
steps_for_ever(void *ia)
{
	return (void *)(uintptr_t)end_step(ia, -1);
}

/* clause: e.9.8 */
TEST(close__another_thread_sleeps_in_a_step__it_wakes)
{
	struct dt_side side;
	pthread_t thread;

	end_open(&side, "soft-step");
	thread = up_thread(steps_for_ever, side.ia);
	dt_nap_ms(20);
	dt_ok(dat_ia_close(side.ia, DAT_CLOSE_ABRUPT_FLAG));
	pthread_join(thread, NULL);
}

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
TEST(close__against_threads_that_free__ends_with_no_upcall_running)
{
	static struct crowd c;
	pthread_t threads[2];

	for (int round = 0; round < ROUNDS; round++) {
		memset(&c, 0, sizeof c);
		dt_side_open(&c.side, "soft", DT_SEPARATE);
		dt_side_listen(&c.side);
		dt_ok(dat_cno_create(c.side.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &c.cno));
		for (int i = 0; i < EVDS; i++) {
			up_init(&c.up[i]);
			up_open(
			    &c.up[i], &c.side, up_policies[i % UP_ENABLING], DAT_EVD_SOFTWARE_FLAG);
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

/* Two adapters of one EVD for asynchronous events, closed at once, from upcalls and beside them. */
static void *
closes_adapter(void *ia)
{
	return (void *)(uintptr_t)dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
}

/* origin: attack.C4 */
/* clause: c.2.14, e.9.1 */
TEST_LOOP(close__two_adapters_share_the_async_evd__both_end, 2)
{
	const bool inside = _i;
	DAT_EVD_HANDLE async;
	pthread_t threads[2];

	for (int round = 0; round < ROUNDS; round++) {
		struct dt_side owner, user;

		memset(&user, 0, sizeof user);
		end_open(&owner, "soft");
		async = owner.async;
		dt_ok(dat_ia_open((DAT_NAME_PTR)(uintptr_t) "soft", 8, &async, &user.ia));
		up_init(&first);
		up_open(&first, &user, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
		first.act = inside ? end_closes : NULL;
		if (inside)
			dt_post_se(first.evd, 0);
		threads[0] = up_thread(closes_adapter, owner.ia);
		if (inside) {
			up_await_returned(&first, 1);
		} else {
			threads[1] = up_thread(closes_adapter, user.ia);
			end_join(threads[1]);
		}
		end_join(threads[0]);
	}
}
