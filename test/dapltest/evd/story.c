/* SPDX-License-Identifier: BSD-3-Clause */
#include "story.h"

#include <signal.h>
#include <string.h>

#include "evd/sink.h"

/* ---- the tape ---- */

void
tape_init(struct tape *tape, struct script *dev)
{
	memset(tape, 0, sizeof *tape);
	pthread_mutex_init(&tape->lock, NULL);
	pthread_cond_init(&tape->changed, NULL);
	tape->dev = dev;
}

static void
upcall(void *instance, const struct script_event *event, int more)
{
	struct tape *tape = instance;
	uint64_t id = event ? script_id(event) : TAPE_REPORT;
	void (*then)(struct tape *, uint64_t);

	pthread_mutex_lock(&tape->lock);
	must(tape->n < TAPE_MAX);
	tape->id[tape->n] = id;
	tape->more[tape->n++] = more == 1;
	if (++tape->inside > tape->most_inside)
		tape->most_inside = tape->inside;
	then = tape->then;
	pthread_cond_broadcast(&tape->changed);
	while (tape->hold)
		pthread_cond_wait(&tape->changed, &tape->lock);
	pthread_mutex_unlock(&tape->lock);
	if (then)
		then(tape, id);
	pthread_mutex_lock(&tape->lock);
	tape->inside--;
	pthread_cond_broadcast(&tape->changed);
	pthread_mutex_unlock(&tape->lock);
}

struct evd_upcall
tape_object(struct tape *tape)
{
	return (struct evd_upcall){ .instance = tape, .function = (void (*)(void))upcall };
}

void
tape_await(struct tape *tape, int n)
{
	pthread_mutex_lock(&tape->lock);
	while (tape->n < n)
		pthread_cond_wait(&tape->changed, &tape->lock);
	pthread_mutex_unlock(&tape->lock);
}

void
tape_await_inside(struct tape *tape, int n)
{
	pthread_mutex_lock(&tape->lock);
	while (tape->inside != n)
		pthread_cond_wait(&tape->changed, &tape->lock);
	pthread_mutex_unlock(&tape->lock);
}

void
tape_hold(struct tape *tape)
{
	pthread_mutex_lock(&tape->lock);
	tape->hold = true;
	pthread_mutex_unlock(&tape->lock);
}

void
tape_release(struct tape *tape)
{
	pthread_mutex_lock(&tape->lock);
	tape->hold = false;
	pthread_cond_broadcast(&tape->changed);
	pthread_mutex_unlock(&tape->lock);
}

int
tape_count(struct tape *tape)
{
	int n;

	pthread_mutex_lock(&tape->lock);
	n = tape->n;
	pthread_mutex_unlock(&tape->lock);
	return n;
}

/* ---- the story ---- */

struct story st;

static void
begin(void)
{
	story_begin(&st, NULL);
}

static void
end(void)
{
	story_end(&st);
}

const struct runner_case story_case = { .setup = begin, .teardown = end };

void
story_begin(struct story *story, const struct script_options *opt)
{
	struct script_options options = { 0 };

	if (opt)
		options = *opt;
	if (!options.loop)
		must(loop_create(LOOP_STEPPED, 0, &options.loop) == 0);
	story->loop = options.loop;
	script_init(&story->dev);
	script_open(&story->dev, &options);
	tape_init(&story->tape, &story->dev);
}

void
story_end(struct story *story)
{
	ck_assert_int_eq(story->tape.n, story->tape.read);
	script_close(&story->dev);
	loop_free(story->loop);
	park_close_self();
}

int
story_turn(struct story *story)
{
	return loop_step(story->loop, 0);
}

void
story_run(struct story *story)
{
	int turns = 0;

	while (story_turn(story) > 0)
		must(++turns < 1000); /* it spins */
}

void
story_settle(struct story *story)
{
	int rounds = 0;

	story_run(story);
	while (script_deliver(&story->dev)) {
		must(++rounds < 1000);
		story_run(story);
	}
}

int
story_policy(struct story *story, enum evd_policy policy, enum evd_pending pending)
{
	const struct evd_upcall object = tape_object(&story->tape);

	return evd_modify_upcall(evd_self(&story->dev.evd), policy, &object, pending);
}

int
story_enable(struct story *story, enum evd_policy policy)
{
	return story_policy(story, policy, EVD_PENDING_CALL);
}

void
story_upcall(struct story *story, uint64_t id)
{
	struct tape *tape = &story->tape;

	story_run(story);
	ck_assert_msg(tape->read < tape->n, "no upcall for %llu", (unsigned long long)id);
	ck_assert_uint_eq(tape->id[tape->read], id);
	tape->read++;
}

void
story_check_rest(struct script *dev)
{
	struct evd *evd = &dev->evd;
	bool open;

	evd_lock(evd);
	open = evd->alive && evd_sink(evd) != EVD_SINK_NONE && evd->job_state == EVD_JOB_IDLE;
	if (open && !dev->opt.no_device)
		must(evd->armed);
	if (open)
		must(!evd_wanted(evd) || script_due(dev));
	evd_unlock(evd);
}

void
story_expect_nothing(struct story *story)
{
	story_settle(story);
	ck_assert_msg(story->tape.read == story->tape.n, "an unexpected upcall for %llu",
	    (unsigned long long)story->tape.id[story->tape.read]);
	story_check_rest(&story->dev);
}

void
story_dequeues(struct story *story, uint64_t id)
{
	struct script_event event;

	ck_assert_int_eq(evd_dequeue(evd_self(&story->dev.evd), &event), 0);
	ck_assert_uint_eq(script_id(&event), id);
	/* What was posted stays as it was posted; the source names the EVD. */
	ck_assert(event.kind != SCRIPT_COMPLETION || event.evd == &story->dev);
}

void
story_empty(struct story *story)
{
	struct script_event event;

	ck_assert_int_eq(evd_dequeue(evd_self(&story->dev.evd), &event), -EAGAIN);
}

/* ---- a blocked thread ---- */

static void *
wait_body(void *arg)
{
	struct waiter *w = arg;
	uint64_t before = os_clock_ns();

	w->r = evd_wait(evd_self(w->evd), w->timeout, w->threshold, &w->event, &w->nmore);
	w->took_ns = os_clock_ns() - before;
	__atomic_store_n(&w->done, true, __ATOMIC_SEQ_CST);
	return NULL;
}

void
waiter_launch(struct waiter *w, struct script *dev, uint32_t timeout, int threshold)
{
	*w = (struct waiter){
		.evd = &dev->evd, .timeout = timeout, .threshold = threshold, .nmore = -1
	};
	must(pthread_create(&w->thread, NULL, wait_body, w) == 0);
}

void
waiter_start(struct waiter *w, struct script *dev, uint32_t timeout, int threshold)
{
	bool asleep = false;

	waiter_launch(w, dev, timeout, threshold);
	while (!asleep) {
		os_lock(&dev->evd.lock);
		asleep = dev->evd.waiting; /* it dropped the lock: to sleep */
		os_unlock(&dev->evd.lock);
		if (!asleep)
			script_sleep_ms(0);
	}
}

void
waiter_interrupt(struct waiter *w, int number)
{
	while (!__atomic_load_n(&w->done, __ATOMIC_SEQ_CST)) {
		(void)pthread_kill(w->thread, number);
		script_sleep_ms(1);
	}
}

int
waiter_join(struct waiter *w)
{
	pthread_join(w->thread, NULL);
	return w->r;
}

uint64_t
waiter_id(const struct waiter *w)
{
	return script_id(&w->event);
}

void
story_begin_qlen(int qlen)
{
	const struct script_options opt = { .qlen = qlen };

	story_begin(&st, &opt);
}

void
story_complete(uint64_t first, int n)
{
	for (int i = 0; i < n; i++)
		script_complete(&st.dev, first + (uint64_t)i);
}

int
story_resize(unsigned int qlen)
{
	return evd_resize(evd_self(&st.dev.evd), qlen);
}

void
story_insert(struct script *s, void *arg)
{
	script_complete(s, (uint64_t)(uintptr_t)arg);
}

void *
story_free_thread(void *arg)
{
	struct script *dev = arg;

	must(evd_free(evd_self(&dev->evd)) == 0);
	return NULL;
}

void
story_free_own(struct tape *tape, uint64_t id)
{
	(void)id;
	must(evd_free(evd_self(&tape->dev->evd)) == 0);
}

void
story_free_arg(struct tape *tape, uint64_t id)
{
	struct script *other = tape->arg;

	(void)id;
	must(evd_free(evd_self(&other->evd)) == 0);
	must(other->destroyed == 1);
}
