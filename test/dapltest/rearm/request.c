/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests with a callback of their own. */
#include "queue_story.h"

QUEUE_CASE("rearm_request:callback");

struct note_of_one {
	struct rearm_request request;
	int called;
	enum ibv_wc_status status;
	void *arg;
	pthread_t thread;
};

static int total;

static void
note_done(struct rearm_request *request, const struct ibv_wc *wc, void *arg)
{
	struct note_of_one *one = (struct note_of_one *)request;

	ck_assert_ptr_eq((void *)(uintptr_t)wc->wr_id, request);
	one->status = wc->status;
	one->arg = arg;
	one->thread = pthread_self();
	one->called = __atomic_add_fetch(&total, 1, __ATOMIC_SEQ_CST);
}

static void
complete_one(struct note_of_one *one)
{
	queue_complete((uintptr_t)one, 1);
}

static void
await_total(int n)
{
	while (__atomic_load_n(&total, __ATOMIC_SEQ_CST) < n)
		queue_sleep_ms(1);
}

static int
enable_requests(enum rearm_policy policy, int batch)
{
	const struct rearm_upcall upcall = {
		.function = rearm_call_requests, .arg = &qs, .batch = batch
	};

	return rearm_queue_enable(qs.queue, policy, &upcall, REARM_ANY);
}

/* One without a request among them. */
TEST(request__of_each_completion__called_once_in_order)
{
	struct note_of_one one[5];

	for (int i = 0; i < 5; i++) {
		one[i] = (struct note_of_one){ .request = { note_done } };
		complete_one(&one[i]);
		if (i == 1)
			queue_complete(0, 1);
	}
	ck_assert_int_eq(enable_requests(REARM_SINGLE, 4), 0);
	await_total(5);
	ck_assert_int_eq(rearm_queue_teardown(qs.queue), 0);
	for (int i = 0; i < 5; i++) {
		ck_assert_int_eq(one[i].called, i + 1);
		ck_assert_int_eq(one[i].status, IBV_WC_WR_FLUSH_ERR);
		ck_assert_ptr_eq(one[i].arg, &qs);
		ck_assert(!pthread_equal(one[i].thread, pthread_self()));
	}
	queue_is_empty();
}

TEST(request__many__each_once)
{
	struct note_of_one one[40];

	ck_assert_int_eq(enable_requests(REARM_MANY, 2), 0);
	for (int i = 0; i < 40; i++) {
		one[i] = (struct note_of_one){ .request = { note_done } };
		complete_one(&one[i]);
	}
	await_total(40);
	ck_assert_int_eq(rearm_queue_teardown(qs.queue), 0);
	ck_assert_int_eq(total, 40);
	for (int i = 0; i < 40; i++)
		ck_assert_int_gt(one[i].called, 0);
}

/* By the thread that took them. */
TEST(request__taken__called_by_the_program)
{
	struct note_of_one one = { .request = { note_done } };
	struct ibv_wc wc[2];

	complete_one(&one);
	ck_assert_int_eq(rearm_queue_take(qs.queue, 2, wc), 1);
	rearm_call_requests(NULL, wc, 1, 0);
	ck_assert_int_eq(one.called, 1);
	ck_assert_ptr_null(one.arg);
	ck_assert(pthread_equal(one.thread, pthread_self()));
}

/* It would never call: there are no completions. */
/* origin: out33.Q18 */
TEST(request__notify__refused)
{
	ck_assert_int_eq(enable_requests(REARM_NOTIFY, 1), -EINVAL);
	ck_assert_int_eq(enable_requests(REARM_SINGLE, 0), -EINVAL);
	ck_assert_int_eq(enable_requests(REARM_SINGLE, 1), 0);
	ck_assert_int_eq(rearm_queue_enable(qs.queue, REARM_NOTIFY, NULL, REARM_ANY), -EINVAL);
	ck_assert_int_eq(rearm_queue_enable(qs.queue, REARM_MANY, NULL, REARM_ANY), 0);
}

static void
free_inside(struct rearm_request *request, const struct ibv_wc *wc, void *arg)
{
	struct rearm_queue *queue = qs.queue;

	if (queue) {
		queue_destroy_qp();
		qs.queue = NULL;
		ck_assert_int_eq(rearm_queue_free(queue), 0);
	}
	note_done(request, wc, arg);
}

/* Those of the batch come, and no others. */
TEST(request__frees_the_queue__the_batch_is_served)
{
	struct note_of_one one[3];

	for (int i = 0; i < 3; i++) {
		one[i] = (struct note_of_one){ .request = { free_inside } };
		complete_one(&one[i]);
	}
	ck_assert_int_eq(enable_requests(REARM_SINGLE, 2), 0);
	await_total(2);
	queue_sleep_ms(20);
	ck_assert_int_eq(total, 2);
	ck_assert_int_eq(one[2].called, 0);
}
