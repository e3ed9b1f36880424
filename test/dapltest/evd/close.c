/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of an adapter as its EVDs and CNOs see it: which callbacks it waits for.  A call inside
 * of a callback does not wait for a callback whose thread closes an adapter: each could wait for
 * the other.
 */
#include "cno_story.h"
#include "window.h"

static struct cno_story cs;
static bool awaited;
static struct cno_ref ending;

static void
setup(void)
{
	cno_story_begin(&cs, 1);
	ending = cno_self(&cs.cno);
	awaited = false;
}

static void
teardown(void)
{
	cno_story_end(&cs);
}

/* The agent is called once, and runs `then`. */
static void
call_the_agent(void (*then)(struct cno_story *, void *))
{
	cs.then = then;
	ck_assert_int_eq(cno_modify_agent(ending, cno_story_agent(&cs)), 0);
	ck_assert_int_eq(script_post(&cs.dev[0], 100), 0);
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 1);
}

/* An upcall is made once, and runs `then`, which frees the EVD. */
static void
call_the_upcall(void (*then)(struct tape *, uint64_t))
{
	story_begin(&st, NULL);
	st.tape.then = then;
	ck_assert_int_eq(story_enable(&st, EVD_POLICY_SINGLE), 0);
	ck_assert_int_eq(script_post(&st.dev, 1), 0);
	story_upcall(&st, 1);
	ck_assert_int_eq(st.dev.destroyed, 1);
	story_end(&st);
}

static void
close_from_the_upcall(struct tape *tape, uint64_t id)
{
	const struct evd_ref own = evd_self(&tape->dev->evd);

	(void)id;
	evd_enter_close();
	must(evd_free_nowait(own) == 0);
	must(evd_is_left_to_closers(own));
	awaited = evd_await_others(own);
	must(tape->dev->destroyed == 0); /* this upcall keeps it */
	evd_leave_close();
}

CASE("evd_close:close", setup, teardown);

TEST(await_others__the_only_upcall_closes__reported_and_not_waited_for)
{
	call_the_upcall(close_from_the_upcall);
	ck_assert(awaited);
}

static void
close_from_the_agent(struct cno_story *s, void *evd)
{
	(void)evd;
	cno_story_detach(s, 0);
	cno_enter_close();
	must(cno_free_nowait(ending) == 0);
	must(cno_is_left_to_closer(ending));
	awaited = cno_await_others(ending);
	must(s->destroyed == 0); /* this agent keeps it */
	cno_leave_close();
}

TEST(await_others__the_agent_closes__reported_and_not_waited_for)
{
	call_the_agent(close_from_the_agent);
	ck_assert(awaited);
	ck_assert_int_eq(cs.destroyed, 1);
}

/* A close that has failed, because objects were left, is no reason not to wait for its callback. */
static void
close_in_vain_in_the_upcall(struct tape *tape, uint64_t id)
{
	const struct evd_ref own = evd_self(&tape->dev->evd);

	(void)id;
	evd_enter_close();
	evd_leave_close();
	must(evd_free_nowait(own) == 0);
	must(!evd_is_left_to_closers(own));
}

TEST(leave_close__in_the_upcall__it_is_no_closer_any_more)
{
	call_the_upcall(close_in_vain_in_the_upcall);
}

static void
close_in_vain_in_the_agent(struct cno_story *s, void *evd)
{
	(void)evd;
	cno_story_detach(s, 0);
	cno_enter_close();
	cno_leave_close();
	must(cno_free_nowait(ending) == 0);
	must(!cno_is_left_to_closer(ending));
}

TEST(leave_close__in_the_agent__it_is_no_closer_any_more)
{
	call_the_agent(close_in_vain_in_the_agent);
	ck_assert_int_eq(cs.destroyed, 1);
}

static void *
retire_thread(void *arg)
{
	(void)arg;
	must(cno_free_nowait(ending) == 0);
	must(cs.destroyed == 0); /* the thread that waits keeps it */
	return NULL;
}

static void
retire_elsewhere(void)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, retire_thread, NULL) == 0);
	pthread_join(thread, NULL);
}

/* Another thread has begun to free the CNO, which is still alive. */
TEST(await_others__alive_yet__waits_until_it_is_not)
{
	cno_story_detach(&cs, 0);
	window_at(&cs.cno.lock, 1, retire_elsewhere);
	ck_assert(cno_await_others(ending));
	ck_assert(!window_missed());
	ck_assert_int_eq(cs.destroyed, 1);
}

static void
free_the_cno(struct tape *tape, uint64_t id)
{
	(void)tape;
	(void)id;
	must(cno_free(ending, false) == 0);
	must(cs.destroyed == 0); /* the agent's return destroys */
}

/* Frees the CNO inside of an upcall of another loop. */
static void *
free_in_an_upcall(void *arg)
{
	(void)arg;
	st.tape.then = free_the_cno;
	must(story_enable(&st, EVD_POLICY_SINGLE) == 0);
	must(script_post(&st.dev, 1) == 0);
	story_run(&st);
	return NULL;
}

static void
close_and_wait_for_the_upcall(struct cno_story *s, void *evd)
{
	pthread_t thread;

	(void)evd;
	cno_story_detach(s, 0);
	cno_enter_close();
	must(pthread_create(&thread, NULL, free_in_an_upcall, NULL) == 0);
	pthread_join(thread, NULL); /* as a close waits for the upcalls of its adapter */
	cno_leave_close();
	must(s->destroyed == 0);
}

TEST(free_in_an_upcall__the_agent_closes_and_waits_for_that_upcall__returns)
{
	story_begin(&st, NULL);
	call_the_agent(close_and_wait_for_the_upcall);
	ck_assert_int_eq(cs.destroyed, 1);
	story_upcall(&st, 1);
	story_end(&st);
}
