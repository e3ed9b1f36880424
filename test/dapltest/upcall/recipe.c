/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recipes of doc/upcall-policy.md, which doc/check-upcall-policy compares with this file, and
 * programs that use them as storage code does
 */
#include <stdlib.h>

#include <dat2/kdat.h>

#include "lib/upcall_story.h"
#include "lib/runner.h"

/* ---- the recipes ---- */

struct worker {
	DAT_EVD_HANDLE evd;
	void (*handle)(struct worker *worker, const DAT_EVENT *event);
	void (*broken)(struct worker *worker, DAT_RETURN ret);
	void *arg;
};

static void
drain(DAT_PVOID instance_data, const DAT_EVENT *event, DAT_BOOLEAN more_events)
{
	struct worker *worker = instance_data;
	DAT_EVENT next;
	DAT_RETURN ret;

	(void)more_events; /* a hint; only an empty queue ends the loop */
	(void)dat_evd_modify_upcall(
	    worker->evd, DAT_UPCALL_DISABLE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW);
	worker->handle(worker, event);
	do {
		while (dat_evd_dequeue(worker->evd, &next) == DAT_SUCCESS)
			worker->handle(worker, &next);
		ret = dat_evd_modify_upcall(
		    worker->evd, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW);
	} while (DAT_GET_TYPE(ret) == DAT_INVALID_STATE); /* an event came: drain again */
	if (ret != DAT_SUCCESS)
		worker->broken(worker, ret); /* upcalls are off */
}

static void
fetch(DAT_PVOID instance_data, const DAT_EVENT *event, DAT_BOOLEAN more_events)
{
	struct worker *worker = instance_data;
	DAT_EVENT next;

	(void)event; /* NULL under NOTIFY */
	(void)more_events;
	while (dat_evd_dequeue(worker->evd, &next) == DAT_SUCCESS)
		worker->handle(worker, &next);
}

static void
fetch_several(
    DAT_PVOID instance_data, const DAT_EVENT *events, DAT_COUNT n_events, DAT_BOOLEAN more_events)
{
	struct worker *worker = instance_data;

	(void)more_events;
	for (DAT_COUNT i = 0; i < n_events; i++)
		worker->handle(worker, &events[i]);
}

static DAT_RETURN
begin(struct worker *worker)
{
	const DAT_UPCALL_ARRAY_OBJECT object = { worker, fetch_several, 16 };

	return dat_evd_modify_upcall_array(
	    worker->evd, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_ANY);
}

static void
stop(struct worker *worker)
{
	DAT_EVENT next;

	/* No upcall runs when this returns, and none starts. */
	(void)dat_evd_modify_upcall(
	    worker->evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW);
	while (dat_evd_dequeue(worker->evd, &next) == DAT_SUCCESS)
		worker->handle(worker, &next); /* events that came without an upcall */
	(void)dat_evd_free(worker->evd);
	free(worker);
}

/* ---- the workers of these tests ---- */

struct work {
	struct dt_side *side;
	_Atomic(int) done, inside;
	int last;  /* the value of the last event; values come in order */
	int again; /* receives to post again */
	DAT_UINT64 cookie;
};

static void
count(struct worker *worker, const DAT_EVENT *event)
{
	struct work *work = worker->arg;
	int value = (int)up_value(event);

	ck_assert_int_eq(++work->inside, 1);
	ck_assert_int_eq(value, work->last + 1);
	work->last = value;
	if (work->again > 0) {
		work->again--;
		dt_recv(work->side, 0, 64, work->cookie++);
	}
	work->inside--;
	work->done++;
}

static void
not_broken(struct worker *worker, DAT_RETURN ret)
{
	(void)worker;
	dt_ok(ret);
}

static struct worker *
worker_open(struct dt_side *side, struct work *work, DAT_UPCALL_POLICY policy, DAT_UPCALL_FUNC func,
    DAT_EVD_FLAGS flags)
{
	struct worker *worker = calloc(1, sizeof *worker);
	DAT_UPCALL_OBJECT object = { worker, func };

	memset(work, 0, sizeof *work);
	work->side = side;
	work->last = -1;
	*worker = (struct worker){ .handle = count, .broken = not_broken, .arg = work };
	dt_ok(dat_evd_kcreate(side->ia, 64, policy, &object, flags, &worker->evd));
	return worker;
}

#define KINDS 3

/* The loop under SINGLE_INSTANCE, the one under NOTIFY, and the one that gets several events. */
static struct worker *
worker_of_kind(struct dt_side *side, struct work *work, int kind, DAT_EVD_FLAGS flags)
{
	struct worker *worker;

	if (kind == 2) {
		worker = worker_open(side, work, DAT_UPCALL_DISABLE, NULL, flags);
		dt_ok(begin(worker));
		return worker;
	}
	return kind == 0 ? worker_open(side, work, DAT_UPCALL_SINGLE_INSTANCE, drain, flags) :
			   worker_open(side, work, DAT_UPCALL_NOTIFY, fetch, flags);
}

struct posting {
	DAT_EVD_HANDLE evd;
	int n;
};

static void *
posts(void *arg)
{
	struct posting *p = arg;

	for (int i = 0; i < p->n; i++) {
		dt_post_se_patiently(p->evd, (uintptr_t)i);
		if (i % 50 == 0)
			dt_nap_ms(1); /* bursts, and pauses in which the loop goes idle */
	}
	return NULL;
}

DT_CASE("recipe:drain");

/* clause: c.14.23, c.14.16, a.4.1 */
TEST_LOOP(recipe__against_a_poster__every_event_in_order, KINDS *dt_personalities())
{
	struct posting posting = { .n = 800 };
	struct worker *worker;
	struct dt_side side;
	struct work work;

	dt_personality(_i / KINDS);
	dt_side_open(&side, "soft", DT_SEPARATE);
	worker = worker_of_kind(&side, &work, _i % KINDS, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	posting.evd = worker->evd;
	up_join(up_thread(posts, &posting));
	dt_await_count(&work.done, posting.n);
	stop(worker);
	ck_assert_int_eq(work.done, posting.n);
	dt_side_close(&side);
}

/* clause: c.14.23, c.14.16, c.14.17 */
TEST_LOOP(recipe__on_receives_that_it_posts_anew__every_message_in_order, KINDS *dt_personalities())
{
	enum { MESSAGES = 300 };
	struct worker *worker;
	struct dt_pair pair;
	struct work work;
	DAT_EVENT event;

	dt_personality(_i / KINDS);
	dt_pair_open(&pair, DT_SEPARATE);
	worker = worker_of_kind(&pair.b, &work, _i % KINDS, DAT_EVD_DTO_FLAG);
	pair.b.recv = worker->evd;
	pair.b.ep = dt_ep(&pair.b, NULL);
	for (; work.cookie < 12; work.cookie++)
		dt_recv(&pair.b, 0, 64, work.cookie);
	work.again = MESSAGES - 12;
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < MESSAGES; i++) {
		if (i >= 6)
			dt_expect_dto(pair.a.request, pair.a.ep, i - 6, DAT_DTO_SUCCESS, &event);
		dt_send(&pair.a, 0, 8, i);
	}
	dt_await_count(&work.done, MESSAGES);
	dt_ok(dat_ep_free(pair.b.ep));
	stop(worker);
	ck_assert_int_eq(work.done, MESSAGES);
	dt_pair_close(&pair);
}

static void
answers(struct worker *worker, const DAT_EVENT *event)
{
	struct work *work = worker->arg;

	if (event->event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
		return; /* flushed at the end */
	/* At the end the endpoint may be gone already. */
	(void)dt_try_recv(work->side, 0, 64, 0);
	(void)dt_try_send(work->side, 0, 8, 0, DAT_COMPLETION_SUPPRESS_FLAG);
	work->done++;
}

/* clause: c.14.23, c.14.24 */
TEST_LOOP(recipe__two_sides_answer_each_other__200_rounds, dt_personalities())
{
	struct worker *workers[2];
	struct dt_pair pair;
	struct dt_side *sides[2] = { &pair.a, &pair.b };
	struct work work[2];

	dt_personality(_i);
	dt_pair_open(&pair, DT_SEPARATE);
	for (int i = 0; i < 2; i++) {
		workers[i] = worker_of_kind(sides[i], &work[i], i, DAT_EVD_DTO_FLAG);
		workers[i]->handle = answers;
		sides[i]->recv = workers[i]->evd;
		sides[i]->ep = dt_ep(sides[i], NULL);
		for (int n = 0; n < 4; n++)
			dt_recv(sides[i], 0, 64, 0);
	}
	dt_connect_pair(&pair);
	dt_ok(dt_try_send(&pair.a, 0, 8, 0, DAT_COMPLETION_SUPPRESS_FLAG));
	dt_await_count(&work[1].done, 200);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&pair.a);
	dt_expect_disconnected(&pair.b);
	for (int i = 0; i < 2; i++) {
		dt_ok(dat_ep_free(sides[i]->ep));
		stop(workers[i]);
	}
	dt_pair_close(&pair);
}

static _Atomic(bool) posting_on;

static void *
posts_on(void *arg)
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	DAT_EVD_HANDLE evd = *(DAT_EVD_HANDLE *)arg;
	DAT_RETURN ret = DAT_SUCCESS;

	while (posting_on && DAT_GET_TYPE(ret) != DAT_INVALID_HANDLE) {
		ret = dat_evd_post_se(evd, &event);
		if (ret != DAT_SUCCESS)
			dt_nap_ms(1); /* full: leave the lock to the threads that take events */
	}
	return NULL;
}

static void
ignores(struct worker *worker, const DAT_EVENT *event)
{
	struct work *work = worker->arg;

	(void)event;
	work->done++;
}

DT_CASE("recipe:stop");

/* clause: c.14.12, c.14.26 */
TEST_LOOP(stop__under_load__nothing_touches_the_worker_afterwards, KINDS)
{
	struct worker *worker;
	struct dt_side side;
	pthread_t thread;
	struct work work;
	DAT_EVD_HANDLE evd;

	dt_side_open(&side, "soft", DT_SEPARATE);
	for (int i = 0; i < 20; i++) {
		worker = worker_of_kind(&side, &work, _i, DAT_EVD_SOFTWARE_FLAG);
		worker->handle = ignores;
		evd = worker->evd;
		posting_on = true;
		thread = up_thread(posts_on, &evd);
		dt_await_count(&work.done, 20);
		/* The poster is not an upcall: it must stop before the last dequeue. */
		dt_ok(dat_evd_modify_upcall(
		    evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW));
		posting_on = false;
		stop(worker); /* frees it: a late upcall would use freed memory */
		up_join(thread);
	}
	dt_side_close(&side);
}

static void
frees_at_value_9(struct worker *worker, const DAT_EVENT *event)
{
	struct work *work = worker->arg;

	if (up_value(event) == 9)
		dt_ok(dat_evd_free(worker->evd));
	work->done++;
}

static void
frees_itself(DAT_PVOID instance_data, const DAT_EVENT *event, DAT_BOOLEAN more_events)
{
	struct worker *worker = instance_data;

	(void)more_events;
	worker->handle(worker, event);
}

/* clause: c.14.25 */
TEST_LOOP(last_event__frees_its_evd_from_the_upcall__no_other_comes, dt_personalities())
{
	struct worker *worker;
	struct dt_side side;
	struct work work;

	dt_personality(_i);
	dt_side_open(&side, "soft", DT_SEPARATE);
	worker = worker_open(&side, &work, DAT_UPCALL_DISABLE, frees_itself,
	    DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	worker->handle = frees_at_value_9;
	for (uintptr_t i = 0; i < 20; i++)
		dt_post_se(worker->evd, i);
	dt_ok(dat_evd_modify_upcall(
	    worker->evd, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY));
	dt_await_count(&work.done, 10);
	dt_nap_ms(8);
	ck_assert_int_eq(work.done, 10);
	dt_side_close(&side);
	free(worker);
}

static _Atomic(int) broken_by;

static void
notes_cause(struct worker *worker, DAT_RETURN ret)
{
	(void)worker;
	broken_by = (int)DAT_GET_TYPE(ret);
}

/* clause: c.14.23 */
TEST(drain__the_evd_is_freed_meanwhile__broken_is_told)
{
	struct worker *worker;
	struct dt_side side;
	struct work work;

	dt_side_open(&side, "soft", DT_SEPARATE);
	worker =
	    worker_open(&side, &work, DAT_UPCALL_SINGLE_INSTANCE, drain, DAT_EVD_SOFTWARE_FLAG);
	worker->handle = frees_at_value_9;
	worker->broken = notes_cause;
	broken_by = DAT_SUCCESS;
	dt_post_se(worker->evd, 9);
	dt_await_count(&broken_by, DAT_INVALID_HANDLE);
	ck_assert_int_eq(broken_by, DAT_INVALID_HANDLE);
	ck_assert_int_eq(work.done, 1);
	dt_side_close(&side);
	free(worker);
}

DT_CASE("recipe:drain");

/* clause: c.14.23, c.14.8 */
TEST_LOOP(recipe__eight_evds_on_three_loops__each_in_order, dt_personalities())
{
	struct posting posting[8];
	struct worker *workers[8];
	struct work work[8];
	pthread_t threads[8];
	struct dt_side side;

	dt_personality(_i);
	dt_side_open(&side, "soft-loops", DT_SEPARATE);
	for (int i = 0; i < 8; i++) {
		workers[i] = worker_of_kind(
		    &side, &work[i], i % 2, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
		posting[i] = (struct posting){ .evd = workers[i]->evd, .n = 150 };
		threads[i] = up_thread(posts, &posting[i]);
	}
	for (int i = 0; i < 8; i++) {
		up_join(threads[i]);
		dt_await_count(&work[i].done, 150);
		stop(workers[i]);
		ck_assert_int_eq(work[i].done, 150);
	}
	dt_side_close(&side);
}
