/* SPDX-License-Identifier: BSD-3-Clause */
#include "cno_story.h"

#include <signal.h>
#include <string.h>

static struct cno_story *
of_cno(struct cno *cno)
{
	return (struct cno_story *)((char *)cno - offsetof(struct cno_story, cno));
}

static void
destroyed(struct cno *cno)
{
	of_cno(cno)->destroyed++;
}

static void
destroyed_plain(struct cno *cno)
{
	(void)cno;
}

void
cno_story_open_plain(struct cno *cno, struct loop *loop)
{
	const struct cno_config config = { .loop = loop, .destroyed = destroyed_plain };

	cno_slot_init(cno);
	ck_assert_int_eq(cno_create(cno, &config), 0);
}

void
cno_story_refill(struct story *story, int (*make_room)(void))
{
	const struct evd_ref evd = evd_self(&story->dev.evd);
	void *handle;
	static struct cno cno;

	cno_story_open_plain(&cno, story->loop);
	ck_assert_int_eq(evd_set_listener(evd, cno_listener(&cno), &cno), 0);
	story_settle(story);
	for (uint64_t i = 1; i <= 4; i++)
		script_complete(&story->dev, i);
	story_settle(story);
	ck_assert_int_eq(cno_wait(cno_self(&cno), 0, &handle), 0);
	ck_assert_int_eq(make_room(), 0);
	story_settle(story);
	ck_assert_int_eq(cno_wait(cno_self(&cno), 0, &handle), 0);
	for (uint64_t i = 1; i <= 4; i++)
		story_dequeues(story, i);
	story_empty(story);
	ck_assert_int_eq(evd_set_listener(evd, NULL, NULL), 0);
	ck_assert_int_eq(cno_free(cno_self(&cno), true), 0);
}

void
cno_story_begin(struct cno_story *cs, int n_evds)
{
	struct script_options opt = { 0 };
	struct cno_config config = { .destroyed = destroyed };

	memset(cs, 0, sizeof *cs);
	pthread_mutex_init(&cs->lock, NULL);
	must(loop_create(LOOP_STEPPED, 0, &cs->loop) == 0);
	opt.loop = config.loop = cs->loop;
	cno_slot_init(&cs->cno);
	must(cno_create(&cs->cno, &config) == 0);
	cs->n = n_evds;
	for (int i = 0; i < n_evds; i++) {
		script_init(&cs->dev[i]);
		script_open(&cs->dev[i], &opt);
		cno_story_attach(cs, i);
	}
	cno_story_settle(cs);
}

void
cno_story_end(struct cno_story *cs)
{
	for (int i = 0; i < cs->n; i++) {
		script_close(&cs->dev[i]);
		if (cs->attached[i])
			cno_detach_evd(&cs->cno);
	}
	if (!cs->destroyed)
		ck_assert_int_eq(cno_free(cno_self(&cs->cno), false), 0);
	ck_assert_int_eq(cs->destroyed, 1);
	loop_free(cs->loop);
	park_close_self();
}

void
cno_story_attach(struct cno_story *cs, int i)
{
	ck_assert_int_eq(cno_attach_evd(cno_self(&cs->cno)), 0);
	ck_assert_int_eq(
	    evd_set_listener(evd_self(&cs->dev[i].evd), cno_listener(&cs->cno), &cs->cno), 0);
	cs->attached[i] = true;
}

void
cno_story_detach(struct cno_story *cs, int i)
{
	ck_assert_int_eq(evd_set_listener(evd_self(&cs->dev[i].evd), NULL, NULL), 0);
	cno_detach_evd(&cs->cno);
	cs->attached[i] = false;
}

void
cno_story_detach_all(struct cno_story *cs)
{
	for (int i = 0; i < cs->n; i++)
		if (cs->attached[i])
			cno_story_detach(cs, i);
}

void
cno_story_settle(struct cno_story *cs)
{
	bool busy = true;

	for (int rounds = 0; busy; rounds++) {
		must(rounds < 1000); /* it spins */
		busy = loop_step(cs->loop, 0) > 0;
		for (int i = 0; i < cs->n; i++)
			busy |= script_deliver(&cs->dev[i]);
	}
	for (int i = 0; i < cs->n; i++)
		story_check_rest(&cs->dev[i]);
}

void
cno_story_waits(struct cno_story *cs, struct script *dev)
{
	void *handle = NULL;

	ck_assert_int_eq(cno_wait(cno_self(&cs->cno), 0, &handle), 0);
	ck_assert_ptr_eq(handle, dev);
}

void
cno_story_untriggered(struct cno_story *cs)
{
	void *handle;

	ck_assert_int_eq(cno_wait(cno_self(&cs->cno), 0, &handle), -ETIMEDOUT);
}

void
cno_story_drains(struct script *dev, int n)
{
	struct script_event event;

	for (int i = 0; i < n; i++)
		must(evd_dequeue(evd_self(&dev->evd), &event) == 0);
	must(evd_dequeue(evd_self(&dev->evd), &event) == -EAGAIN);
}

static void
agent(void *instance, void *evd)
{
	struct cno_story *cs = instance;

	pthread_mutex_lock(&cs->lock);
	cs->calls++;
	cs->last = evd;
	pthread_mutex_unlock(&cs->lock);
	if (cs->then)
		cs->then(cs, evd);
}

struct cno_agent
cno_story_agent(struct cno_story *cs)
{
	return (struct cno_agent){ .instance = cs, .function = agent };
}

void
cno_story_install(struct cno_story *cs)
{
	ck_assert_int_eq(cno_modify_agent(cno_self(&cs->cno), cno_story_agent(cs)), 0);
}

void
cno_story_arrive(struct cno_story *cs, int i, uint64_t id)
{
	script_complete(&cs->dev[i], id);
	cno_story_settle(cs);
}

void
cno_story_queue_call(struct cno_story *cs)
{
	script_complete(&cs->dev[0], 1);
	ck_assert(script_deliver(&cs->dev[0]));
	loop_step(cs->loop, 0);
}

void
cno_story_queue_call_and_take(struct cno_story *cs)
{
	struct cno_waiter w;

	cno_waiter_start(&w, cs, EVD_FOREVER);
	cno_story_queue_call(cs);
	ck_assert_int_eq(cno_waiter_join(&w), 0);
	ck_assert_ptr_eq(w.handle, &cs->dev[0]);
}

static void *
wait_body(void *arg)
{
	struct cno_waiter *w = arg;
	uint64_t before = os_clock_ns();

	w->r = cno_wait(cno_self(w->cno), w->timeout, &w->handle);
	w->took_ns = os_clock_ns() - before;
	__atomic_store_n(&w->done, true, __ATOMIC_SEQ_CST);
	return NULL;
}

void
cno_waiter_start(struct cno_waiter *w, struct cno_story *cs, uint32_t timeout)
{
	uint64_t end = os_clock_ns() + (uint64_t)timeout * 1000u;
	unsigned int before;
	bool asleep = false;

	os_lock(&cs->cno.lock);
	before = cs->cno.n_waiters;
	os_unlock(&cs->cno.lock);
	*w = (struct cno_waiter){ .cno = &cs->cno, .timeout = timeout, .handle = cs };
	must(pthread_create(&w->thread, NULL, wait_body, w) == 0);
	while (!asleep && (timeout == EVD_FOREVER || os_clock_ns() < end)) {
		os_lock(&cs->cno.lock);
		asleep = cs->cno.n_waiters > before;
		os_unlock(&cs->cno.lock);
		script_sleep_ms(0);
	}
}

void
cno_waiter_interrupt(struct cno_waiter *w, int number)
{
	while (!__atomic_load_n(&w->done, __ATOMIC_SEQ_CST)) {
		(void)pthread_kill(w->thread, number);
		script_sleep_ms(1);
	}
}

int
cno_waiter_join(struct cno_waiter *w)
{
	pthread_join(w->thread, NULL);
	return w->r;
}
