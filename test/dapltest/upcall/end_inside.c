/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_ia_close() inside an upcall or agent of the adapter: it waits for all others, except those
 * that it was called from, and those that may wait for the caller.
 */
#include "end.h"
#include "lib/runner.h"

/* ---- a close from inside, and a free that waits for just this upcall or agent ---- */

DT_CASE("end-inside:end-inside");

/* origin: attack.C4 */
/* clause: c.14.31, e.9.1, e.9.8 */
TEST_LOOP(close_inside__another_thread_frees_its_evd__both_end, 2 * UP_ENABLING)
{
	const bool with_cno = _i % 2;
	const DAT_UPCALL_POLICY policy = up_policies[_i / 2];
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	struct up up;
	pthread_t thread;

	up_init(&up);
	end_open(&side, "soft");
	up_open(&up, &side, policy, DAT_EVD_SOFTWARE_FLAG);
	if (with_cno) {
		dt_ok(dat_cno_create(side.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
		dt_ok(dat_evd_modify_cno(up.evd, cno));
	}
	up.act = end_closes;
	up.gate = true;
	dt_post_se(up.evd, 0);
	up_await_inside(&up, 1);
	thread = up_thread(end_frees_evd, up.evd);
	end_await_freeing(up.evd);
	up.gate = false;
	up_await_returned(&up, 1);
	end_join(thread);
}

static void *
frees_evd_and_cno(void *arg)
{
	struct end_agent *agent = arg;

	dt_ok(dat_evd_free(agent->evd));
	return (void *)(uintptr_t)dat_cno_free(agent->cno);
}

static void
agent_closes(struct end_agent *agent)
{
	dt_ok(dat_ia_close(agent->ia, DAT_CLOSE_ABRUPT_FLAG));
}

/* origin: attack.C4 */
/* clause: c.13.8, e.9.1, e.9.8 */
TEST(close_in_an_agent__another_thread_frees_its_cno__both_end)
{
	struct end_agent agent;
	pthread_t thread;

	end_agent_open(&agent, agent_closes);
	thread = up_thread(frees_evd_and_cno, &agent);
	end_await_freeing(agent.cno);
	agent.gate = false;
	dt_await_count(&agent.returned, 1);
	end_join(thread);
}

/* ---- a close from inside, and another upcall that waits for the one it comes from ---- */

static struct up first, second;
static _Atomic(int) seen_at_close;

static void
closes_and_notes(struct up *up, const DAT_EVENT *event)
{
	end_closes(up, event);
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
TEST_LOOP(close_inside__another_upcall_waits_for_this_one__it_gives_way, 2)
{
	const bool frees = _i;
	struct dt_side side;

	up_init(&first);
	up_init(&second);
	end_open(&side, "soft");
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
		end_await_freeing(first.evd);
	else
		up_await_off(&first);
	ck_assert_int_eq(second.returned, 0);
	first.gate = false;
	up_await_returned(&first, 1);
	ck_assert_int_eq(seen_at_close, 1);
}

/* Each upcall closes the adapter of the other. */
static void
closes_the_other(struct up *up, const DAT_EVENT *event)
{
	end_closes(up == &first ? &second : &first, event);
}

/* origin: attack.C4 */
/* clause: c.14.31, e.9.1, e.9.8 */
TEST_LOOP(close_inside__two_adapters_close_each_other__both_end, UP_ENABLING)
{
	const DAT_UPCALL_POLICY policy = up_policies[_i];
	struct dt_side side[2];
	struct up *up[2] = { &first, &second };

	for (int i = 0; i < 2; i++) {
		up_init(up[i]);
		end_open(&side[i], "soft");
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

/* ---- upcalls of an EVD that was freed ---- */

/* origin: attack.C5 */
/* clause: c.14.26, c.14.31, e.9.8 */
TEST(close_inside__another_upcall_that_freed_its_evd_runs_on__returns_after_it)
{
	struct dt_side side;
	pthread_t thread;

	end_hold_all();
	up_init(&first);
	up_init(&second);
	end_open(&side, "soft");
	up_open(&first, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	up_open(&second, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	first.act = closes_and_notes;
	second.act = end_frees_and_runs_on;
	dt_post_se(second.evd, 0);
	end_await_freeing(second.evd);
	thread = end_release_in(30);
	dt_post_se(first.evd, 0);
	up_await_returned(&first, 1);
	ck_assert_int_eq(seen_at_close, 1);
	up_join(thread);
}

static _Atomic(int) turn;

static void
one_frees_one_closes(struct up *up, const DAT_EVENT *event)
{
	switch (turn++) {
	case 0:
		end_frees_and_runs_on(up, event);
		break;
	case 1:
		end_await_freeing(up->evd);
		end_closes(up, event);
		seen_at_close = up->returned;
		break;
	default:
		end_runs_on();
		break;
	}
}

/* TEARDOWN does not wait for an upcall that freed the EVD; the close does. */
/* origin: attack.C5 */
/* clause: c.14.26, c.14.31, e.9.8 */
TEST(close_inside__one_of_many_freed_their_evd__returns_after_all_others)
{
	const int n = up_standing(DAT_UPCALL_MANY);
	struct dt_side side;
	pthread_t thread;

	turn = 0;
	end_hold_all();
	up_init(&first);
	end_open(&side, "soft");
	up_open(&first, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	first.act = one_frees_one_closes;
	up_let_stand(&first, DAT_UPCALL_MANY);
	thread = end_release_in(40);
	first.gate = false;
	up_await_returned(&first, n);
	ck_assert_int_eq(seen_at_close, n - 1);
	up_join(thread);
}

/* ---- an adapter without threads ---- */

static void
steps_inside(struct up *up, const DAT_EVENT *event)
{
	(void)event;
	dt_post_se(second.evd, 0);
	dt_ok(end_step(up->ia, 0));
	ck_assert_int_eq(second.returned, 1);
}

/* origin: attack.C4 */
/* clause: c.14.31, e.9.1, e.9.8 */
TEST_LOOP(close_inside__upcalls_stand_on_each_other__waits_for_none_of_them, UP_ENABLING)
{
	struct dt_side side;

	up_init(&first);
	up_init(&second);
	end_open(&side, "soft-step");
	up_open(&first, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	up_open(&second, &side, up_policies[_i], DAT_EVD_SOFTWARE_FLAG);
	first.act = steps_inside;
	second.act = end_closes;
	dt_post_se(first.evd, 0);
	dt_ok(end_step(side.ia, 0));
	ck_assert_int_eq(first.returned, 1);
	dt_assert_type(end_step(side.ia, 0), DAT_INVALID_HANDLE);
}
