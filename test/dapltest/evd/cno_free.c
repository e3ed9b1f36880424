/* SPDX-License-Identifier: BSD-3-Clause */
/* A CNO is freed while its agent is due or runs, or inside of an agent. */
#include "cno_story.h"

static struct cno_story cs;

static void
setup(void)
{
	cno_story_begin(&cs, 2);
}

static void
teardown(void)
{
	cno_story_end(&cs);
}

static void
free_cno(struct cno_story *s, void *evd)
{
	(void)evd;
	cno_story_detach_all(s);
	must(cno_free(cno_self(&s->cno), false) == 0);
	must(s->destroyed == 0); /* the return of the agent destroys */
}

CASE("cno_free:free", setup, teardown);

TEST(agent__frees_its_cno__the_return_destroys)
{
	cs.then = free_cno;
	cno_story_install(&cs);
	cno_story_arrive(&cs, 0, 1);
	ck_assert_int_eq(cs.calls, 1);
	ck_assert_int_eq(cs.destroyed, 1);
	cno_story_drains(&cs.dev[0], 1);
}

static void *
step_thread(void *arg)
{
	while (loop_step(arg, 0) > 0)
		;
	return NULL;
}

static struct cno another;
static int another_gone;
static bool another_runs;

static void
another_destroyed(struct cno *cno)
{
	must(cno == &another);
	another_gone++;
}

static void
return_when_the_free_waits(void *instance, void *evd)
{
	(void)instance;
	(void)evd;
	__atomic_store_n(&another_runs, true, __ATOMIC_SEQ_CST);
	for (bool waits = false; !waits; script_sleep_ms(0)) {
		os_lock(&another.lock);
		waits = another.frees.first != NULL;
		os_unlock(&another.lock);
	}
}

/* Another CNO takes over the second EVD.  The given loop calls its agent. */
static void
open_another(struct loop *loop)
{
	const struct cno_config config = { .serial = 1,
		.loop = loop,
		.agent = { NULL, return_when_the_free_waits },
		.destroyed = another_destroyed };

	another_gone = 0;
	another_runs = false;
	cno_slot_init(&another);
	ck_assert_int_eq(cno_create(&another, &config), 0);
	cno_story_detach(&cs, 1);
	ck_assert_int_eq(
	    evd_set_listener(evd_self(&cs.dev[1].evd), cno_listener(&another), &another), 0);
}

static void
free_another(struct cno_story *s, void *evd)
{
	(void)s;
	(void)evd;
	must(cno_free(cno_self(&another), false) == 0);
	must(another_gone == 1); /* this agent is not inside of it */
}

TEST(agent__frees_another_cno__it_is_destroyed_at_once)
{
	open_another(cs.loop);
	ck_assert_int_eq(evd_set_listener(evd_self(&cs.dev[1].evd), NULL, NULL), 0);
	cs.then = free_another;
	cno_story_install(&cs);
	cno_story_arrive(&cs, 0, 1);
	ck_assert_int_eq(cs.calls, 1);
	ck_assert_int_eq(another_gone, 1);
	cno_story_drains(&cs.dev[0], 1);
}

TEST(agent__frees_another_cno_whose_agent_runs__waits_for_that)
{
	struct loop *loop;
	pthread_t thread;

	ck_assert_int_eq(loop_create(LOOP_STEPPED, 0, &loop), 0);
	open_another(loop);
	cno_story_arrive(&cs, 1, 2); /* the EVD's run queues the call, on the other loop */
	ck_assert_int_eq(pthread_create(&thread, NULL, step_thread, loop), 0);
	while (!__atomic_load_n(&another_runs, __ATOMIC_SEQ_CST))
		script_sleep_ms(0);
	ck_assert_int_eq(evd_set_listener(evd_self(&cs.dev[1].evd), NULL, NULL), 0);
	cs.then = free_another;
	cno_story_install(&cs);
	cno_story_arrive(&cs, 0, 1);
	ck_assert_int_eq(cs.calls, 1);
	pthread_join(thread, NULL);
	loop_free(loop);
	cno_story_drains(&cs.dev[0], 1);
	cno_story_drains(&cs.dev[1], 1);
}

TEST(agent_call_queued__cno_freed__never_called)
{
	cno_story_install(&cs);
	cno_story_queue_call(&cs);
	cno_story_detach_all(&cs);
	ck_assert_int_eq(cno_free(cno_self(&cs.cno), false), 0);
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 0);
	cno_story_drains(&cs.dev[0], 1);
}

static struct cno_waiter blocked;

static void
free_abruptly_and_let_the_waiter_go(struct cno_story *s, void *evd)
{
	(void)evd;
	cno_story_detach_all(s);
	cno_waiter_start(&blocked, s, EVD_FOREVER);
	must(cno_free(cno_self(&s->cno), true) == 0);
	must(cno_waiter_join(&blocked) == -ECANCELED);
	must(s->destroyed == 0); /* the waiter was not the last one inside */
}

TEST(agent__frees_its_cno_under_a_waiter__the_return_destroys)
{
	cs.then = free_abruptly_and_let_the_waiter_go;
	cno_story_install(&cs);
	script_complete(&cs.dev[0], 1);
	script_complete(&cs.dev[1], 2);
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 1);
	ck_assert_int_eq(cs.destroyed, 1);
	cno_story_drains(&cs.dev[0], 1);
	cno_story_drains(&cs.dev[1], 1);
}

static bool running, left;

static void
run_for_a_while(struct cno_story *s, void *evd)
{
	(void)evd;
	__atomic_store_n(&running, true, __ATOMIC_SEQ_CST);
	for (bool dead = false; !dead; script_sleep_ms(1)) {
		os_lock(&s->cno.lock);
		dead = s->cno.freed;
		os_unlock(&s->cno.lock);
	}
	script_sleep_ms(10);
	must(s->destroyed == 0);
	__atomic_store_n(&left, true, __ATOMIC_SEQ_CST);
}

TEST(agent__runs_elsewhere__free_waits_for_its_return)
{
	pthread_t thread;

	cs.then = run_for_a_while;
	cno_story_install(&cs);
	ck_assert_int_eq(script_post(&cs.dev[0], 100), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, step_thread, cs.loop), 0);
	while (!__atomic_load_n(&running, __ATOMIC_SEQ_CST))
		script_sleep_ms(1);
	cno_story_detach_all(&cs);
	ck_assert_int_eq(cno_free(cno_self(&cs.cno), false), 0);
	ck_assert(__atomic_load_n(&left, __ATOMIC_SEQ_CST));
	pthread_join(thread, NULL);
	ck_assert_int_eq(cs.calls, 1);
	cno_story_drains(&cs.dev[0], 1);
}

static void *
free_thread(void *arg)
{
	struct cno_story *s = arg;

	must(cno_free(cno_self(&s->cno), false) == 0);
	must(s->destroyed == 1);
	s->then = NULL;
	return NULL;
}

static void
too_late(struct cno_story *s, void *evd)
{
	(void)evd;
	must(s->destroyed == 0);
}

TEST(agent_call_taken_off_the_list_but_not_begun__cno_freed__waited_for)
{
	pthread_t freeing, stepping;

	cs.then = too_late;
	cno_story_install(&cs);
	ck_assert_int_eq(script_post(&cs.dev[0], 100), 0);
	ck_assert_int_eq(loop_step(cs.loop, 0), 1); /* the EVD's run queues the agent's */
	cno_story_detach_all(&cs);
	/* Both are stopped at the lock, the one that frees in front. */
	os_lock(&cs.cno.lock);
	ck_assert_int_eq(pthread_create(&freeing, NULL, free_thread, &cs), 0);
	script_sleep_ms(10);
	ck_assert_int_eq(pthread_create(&stepping, NULL, step_thread, cs.loop), 0);
	script_sleep_ms(10);
	os_unlock(&cs.cno.lock);
	pthread_join(freeing, NULL);
	pthread_join(stepping, NULL);
	ck_assert_int_eq(cs.destroyed, 1);
	cno_story_drains(&cs.dev[0], 1);
}

TEST(agent_call_due__cno_freed_and_its_slot_used_again__not_called)
{
	struct cno_config config = cs.cno.cfg;
	void *handle;

	cno_story_install(&cs);
	cno_story_queue_call_and_take(&cs);
	cno_story_detach_all(&cs);
	cno_set_closing(cno_self(&cs.cno));
	ck_assert_int_eq(cno_free(cno_self(&cs.cno), false), 0);
	cs.destroyed = 0;
	config.agent = cno_story_agent(&cs);
	ck_assert_int_eq(cno_create(&cs.cno, &config), 0);
	ck_assert_int_eq(cno_modify_agent(cno_self(&cs.cno), cno_story_agent(&cs)), 0);
	cno_story_settle(&cs);
	ck_assert_int_eq(cs.calls, 0);
	ck_assert_int_eq(cno_wait(cno_self(&cs.cno), 1000, &handle), -ETIMEDOUT);
	cno_story_drains(&cs.dev[0], 1);
}
