/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads at full speed, for a bounded time: every event is seen exactly once, by any sink.
 * The sanitizers watch; the device checks its user all the time.
 */
#include <stdatomic.h>

#include "cno_story.h"

#define EVENTS 4000 /* of each producer */
#define PRODUCERS 2

static struct loop *pool;
static _Atomic unsigned char seen[2 * PRODUCERS * EVENTS + 1];
static atomic_int total;
static atomic_bool done;

static void
see(uint64_t id)
{
	must(id > 0 && id <= 2 * PRODUCERS * EVENTS);
	must(atomic_fetch_add(&seen[id], 1) == 0);
	atomic_fetch_add(&total, 1);
}

static void
begin(enum script_channel channel)
{
	struct script_options opt = { .channel = channel, .qlen = 64 };

	ck_assert_int_eq(loop_create(LOOP_THREAD, 0, &opt.loop), 0);
	ck_assert_int_eq(loop_create(LOOP_POOL, 3, &pool), 0);
	opt.pool = pool;
	story_begin(&st, &opt);
}

static void
end(void)
{
	script_close(&st.dev);
	loop_free(pool);
	loop_free(st.loop);
	park_close_self();
}

struct producer {
	pthread_t thread;
	struct script *dev;
	uint64_t first;
	unsigned int n;
	bool posts;
};

/* Completions in both steps apart or at once, and posted events; with pauses, so that it idles. */
static void *
produce(void *arg)
{
	struct producer *p = arg;
	unsigned int seed = (unsigned int)p->first;
	uint64_t id = p->first;

	while (id < p->first + p->n) {
		if (p->posts) {
			int r = script_post(p->dev, id);

			must(r == 0 || r == -ENOSPC);
			if (r)
				sched_yield();
			else
				id++;
		} else if (script_queued(p->dev) < 1000) {
			script_show(p->dev, id++);
			if (rand_r(&seed) % 4 == 0)
				sched_yield();
			script_decide(p->dev);
		} else {
			sched_yield();
		}
		if (rand_r(&seed) % 64 == 0)
			script_sleep_ms(0);
	}
	return NULL;
}

static struct producer producers[2 * PRODUCERS];

static void
start_producers(void)
{
	for (int i = 0; i < 2 * PRODUCERS; i++) {
		producers[i] = (struct producer){ .dev = &st.dev,
			.n = EVENTS,
			.first = 1 + (uint64_t)i * EVENTS,
			.posts = i % 2 };
		must(pthread_create(&producers[i].thread, NULL, produce, &producers[i]) == 0);
	}
}

static void
join_producers(void)
{
	for (int i = 0; i < 2 * PRODUCERS; i++)
		pthread_join(producers[i].thread, NULL);
}

static void
await_total(void)
{
	while (atomic_load(&total) < 2 * PRODUCERS * EVENTS)
		script_sleep_ms(1); /* the test's time limit is the judge */
}

static atomic_int inside, worst;

static void
see_upcall(void *instance, const struct script_event *event, int more)
{
	int now = atomic_fetch_add(&inside, 1) + 1;

	(void)instance;
	(void)more;
	if (now > atomic_load(&worst))
		atomic_store(&worst, now);
	see(script_id(event));
	atomic_fetch_sub(&inside, 1);
}

static const struct evd_upcall see_object = { .function = (void (*)(void))see_upcall };

CASE("evd_stress:stress", .seconds = 60);

TEST(single__all_seen_once_and_never_two_inside)
{
	begin(SCRIPT_SHARED);
	ck_assert_int_eq(evd_modify_upcall(evd_self(&st.dev.evd), EVD_POLICY_SINGLE, &see_object,
			     EVD_PENDING_CALL),
	    0);
	start_producers();
	join_producers();
	await_total();
	ck_assert_int_eq(atomic_load(&worst), 1);
	end();
}

TEST(many__all_seen_once)
{
	begin(SCRIPT_DIRECT);
	ck_assert_int_eq(evd_modify_upcall(
			     evd_self(&st.dev.evd), EVD_POLICY_MANY, &see_object, EVD_PENDING_CALL),
	    0);
	start_producers();
	join_producers();
	await_total();
	end();
}

static void *
dequeue(void *arg)
{
	struct script_event event;

	(void)arg;
	while (!atomic_load(&done)) {
		int r = evd_dequeue(evd_self(&st.dev.evd), &event);

		must(r == 0 || r == -EAGAIN || r == -EBUSY);
		if (r == 0)
			see(script_id(&event));
		else
			sched_yield();
	}
	return NULL;
}

/* clause: c.5.6, d.4.5 */
/* origin: race.D5 */
TEST(many_dequeuers__all_seen_once)
{
	pthread_t thread[3];

	begin(SCRIPT_DIRECT);
	for (int i = 0; i < 3; i++)
		must(pthread_create(&thread[i], NULL, dequeue, NULL) == 0);
	start_producers();
	join_producers();
	await_total();
	atomic_store(&done, true);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	end();
}

static void *
wait_for_events(void *arg)
{
	unsigned int seed = 7;
	struct script_event event;
	int r, nmore;

	(void)arg;
	while (!atomic_load(&done)) {
		r = evd_wait(evd_self(&st.dev.evd), 2 * MS, 1 + rand_r(&seed) % 3, &event, &nmore);
		must(r == 0 || r == -ETIMEDOUT || r == -EBUSY || r == -EACCES);
		if (r == 0)
			see(script_id(&event));
		else if (r != -ETIMEDOUT)
			sched_yield();
	}
	return NULL;
}

static void
waiters_compete(enum script_channel channel)
{
	pthread_t thread[2];

	begin(channel);
	for (int i = 0; i < 2; i++)
		must(pthread_create(&thread[i], NULL, wait_for_events, NULL) == 0);
	start_producers();
	join_producers();
	/* The last ones may be fewer than a threshold asks for. */
	while (atomic_load(&total) < 2 * PRODUCERS * EVENTS) {
		if (evd_dequeue(evd_self(&st.dev.evd), &(struct script_event){ 0 }) == 0)
			atomic_fetch_add(&total, 1);
		script_sleep_ms(1);
	}
	atomic_store(&done, true);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	end();
}

TEST(waiters_on_a_shared_channel__all_seen_once)
{
	waiters_compete(SCRIPT_SHARED);
}

TEST(waiters_on_a_private_channel__all_seen_once)
{
	waiters_compete(SCRIPT_PRIVATE);
}

/* Changes the sink all the time: policies, waiters, dequeuers; each event is seen once. */
static void *
control(void *arg)
{
	static const enum evd_policy policies[] = { EVD_POLICY_DISABLE, EVD_POLICY_TEARDOWN,
		EVD_POLICY_SINGLE, EVD_POLICY_MANY };
	unsigned int seed = (unsigned int)(uintptr_t)arg;

	while (!atomic_load(&done)) {
		int r = evd_modify_upcall(evd_self(&st.dev.evd), policies[rand_r(&seed) % 4],
		    &see_object, rand_r(&seed) % 2 ? EVD_PENDING_CALL : EVD_PENDING_REFUSE);

		must(r == 0 || r == -EAGAIN || r == -EBUSY);
		if (rand_r(&seed) % 4 == 0)
			script_sleep_ms(1);
	}
	return NULL;
}

/* clause: c.8.2 */
TEST_LOOP(sinks_change_all_the_time__all_seen_once, 2)
{
	pthread_t thread[4];

	begin(_i ? SCRIPT_PRIVATE : SCRIPT_SHARED);
	must(pthread_create(&thread[0], NULL, control, (void *)1) == 0);
	must(pthread_create(&thread[1], NULL, control, (void *)2) == 0);
	must(pthread_create(&thread[2], NULL, wait_for_events, NULL) == 0);
	must(pthread_create(&thread[3], NULL, dequeue, NULL) == 0);
	start_producers();
	join_producers();
	await_total();
	atomic_store(&done, true);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	end();
}

static void *
drain_the_returned(void *arg)
{
	struct cno *cno = arg;
	void *handle;
	struct script_event event;
	int r;

	while (!atomic_load(&done)) {
		r = cno_wait(cno_self(cno), 5 * MS, &handle);
		must(r == 0 || r == -ETIMEDOUT);
		while (r == 0 && handle &&
		       evd_dequeue(evd_self(&((struct script *)handle)->evd), &event) == 0)
			see(script_id(&event));
	}
	return NULL;
}

/* origin: race.D2 */
TEST(cno__clients_drain_only_the_returned_evd__all_seen_once)
{
	struct script_options opt = { .channel = SCRIPT_SHARED, .qlen = 64 };
	struct cno_config config = { 0 };
	static struct script dev[2];
	pthread_t thread[2];
	struct cno cno;

	ck_assert_int_eq(loop_create(LOOP_THREAD, 0, &opt.loop), 0);
	config.loop = opt.loop;
	cno_slot_init(&cno);
	ck_assert_int_eq(cno_create(&cno, &config), 0);
	for (int i = 0; i < 2; i++) {
		script_init(&dev[i]);
		script_open(&dev[i], &opt);
		ck_assert_int_eq(
		    evd_set_listener(evd_self(&dev[i].evd), cno_listener(&cno), &cno), 0);
		must(pthread_create(&thread[i], NULL, drain_the_returned, &cno) == 0);
	}
	for (int i = 0; i < 2 * PRODUCERS; i++) {
		producers[i] = (struct producer){ .dev = &dev[i / 2],
			.n = EVENTS,
			.first = 1 + (uint64_t)i * EVENTS,
			.posts = i % 2 };
		must(pthread_create(&producers[i].thread, NULL, produce, &producers[i]) == 0);
	}
	/* The link is cut and mended all the while. */
	for (int i = 0; i < 50; i++) {
		ck_assert_int_eq(evd_set_enabled(evd_self(&dev[0].evd), i % 2), 0);
		ck_assert_int_eq(evd_set_listener(evd_self(&dev[1].evd),
				     i % 2 ? cno_listener(&cno) : NULL, &cno),
		    0);
		script_sleep_ms(1);
	}
	join_producers();
	await_total();
	atomic_store(&done, true);
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		script_close(&dev[i]);
	}
	loop_free(opt.loop);
	park_close_self();
}

static void *
complete_for_ever(void *arg)
{
	(void)arg;
	for (uint64_t id = 1; !atomic_load(&done); id++) {
		script_try_complete(&st.dev, id);
		(void)script_post(&st.dev, id);
		if (id % 16 == 0)
			sched_yield();
	}
	return NULL;
}

static void
ignore_upcall(void *instance, const struct script_event *event, int more)
{
	(void)instance;
	(void)event;
	(void)more;
}

TEST_LOOP(free_and_open_again__while_completions_and_posts_come, 2)
{
	static const struct evd_upcall object = { .function = (void (*)(void))ignore_upcall };
	struct script_options opt;
	pthread_t thread[2];

	begin(_i ? SCRIPT_PRIVATE : SCRIPT_DIRECT);
	opt = st.dev.opt;
	for (int i = 0; i < 2; i++)
		must(pthread_create(&thread[i], NULL, complete_for_ever, NULL) == 0);
	for (int i = 0; i < 150; i++) {
		int r = evd_modify_upcall(evd_self(&st.dev.evd),
		    i % 2 ? EVD_POLICY_MANY : EVD_POLICY_SINGLE, &object, EVD_PENDING_CALL);

		ck_assert_int_eq(r, 0);
		script_sleep_ms(i % 3 == 0);
		ck_assert_int_eq(evd_free(evd_self(&st.dev.evd)), 0);
		script_open(&st.dev, &opt);
	}
	atomic_store(&done, true);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	end();
}
