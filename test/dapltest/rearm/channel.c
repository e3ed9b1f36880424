/* SPDX-License-Identifier: BSD-3-Clause */
/* A completion channel that is lost: it can never be read again. */
#include "queue_story.h"

#define SHARERS 3

int __real_ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context);
int __wrap_ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context);

static int fails; /* the errno */

int
__wrap_ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	const int error = __atomic_load_n(&fails, __ATOMIC_SEQ_CST);

	if (!error)
		return __real_ibv_get_cq_event(channel, cq, context);
	errno = error;
	return -1;
}

static void
let_reads_fail(int error)
{
	__atomic_store_n(&fails, error, __ATOMIC_SEQ_CST);
}

static int told[SHARERS], n_told[SHARERS];

static void
note_failure(void *arg, int error)
{
	const int i = (int)((int *)arg - told);

	__atomic_store_n(&told[i], error, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&n_told[i], 1, __ATOMIC_SEQ_CST);
}

static void
await_told(int i)
{
	while (!__atomic_load_n(&n_told[i], __ATOMIC_SEQ_CST))
		queue_sleep_ms(1);
	ck_assert_int_eq(__atomic_load_n(&told[i], __ATOMIC_SEQ_CST), -EIO);
}

static void
begin(void)
{
	const struct rearm_queue_attr attr = {
		.cqe = QUEUE_CQE, .failed = note_failure, .arg = &told[0]
	};

	memset(told, 0, sizeof told);
	memset(n_told, 0, sizeof n_told);
	let_reads_fail(0);
	queue_destroy_qp();
	ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &attr, &qs.queue), 0);
	queue_make_qp(rearm_queue_cq(qs.queue));
}

static void
end(void)
{
	let_reads_fail(0);
}

/* What the header says of such a queue. */
static void
expect_lost(struct rearm_queue *queue)
{
	const struct rearm_upcall upcall = { .function = rearm_call_requests, .batch = 1 };
	struct ibv_wc wc[2];

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(rearm_queue_take(queue, 1, wc), -EIO);
		ck_assert_int_eq(rearm_queue_wait(queue, 1, -1, 1, wc), -EIO);
		ck_assert_int_eq(rearm_queue_wait(queue, 1, 0, 1, wc), -EIO);
		ck_assert_int_eq(rearm_queue_enable(queue, REARM_SINGLE, &upcall, REARM_ANY), -EIO);
	}
}

CASE("rearm_channel:lost", begin, end, .outer = &queue_case);

static void *
wait_thread(void *arg)
{
	struct ibv_wc wc;

	*(int *)arg = rearm_queue_wait(qs.queue, 1, -1, 1, &wc);
	return NULL;
}

/* origin: out36.M1 */
TEST(lost__a_wait__returns_what_is_there_and_then_an_error)
{
	struct ibv_wc wc[2];
	pthread_t thread;
	int r;

	ck_assert_int_eq(pthread_create(&thread, NULL, wait_thread, &r), 0);
	while (rearm_queue_take(qs.queue, 1, wc) != -EBUSY)
		;
	queue_sleep_ms(5);
	let_reads_fail(EIO);
	queue_complete(1, 1);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(r, 1);
	expect_lost(qs.queue);
	queue_complete(2, 1);
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 2, -1, 2, wc), -EIO);
	queue_takes(2);
	queue_complete(3, 2);
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 2, -1, 2, wc), 2);
	ck_assert_uint_eq(wc[1].wr_id, 4);
	expect_lost(qs.queue);
	let_reads_fail(0);
	expect_lost(qs.queue);		/* it is final */
	ck_assert_int_eq(n_told[0], 0); /* it has no callbacks */
}

TEST_LOOP(lost__under_callbacks__told_once_and_they_go_on, 3)
{
	const enum rearm_policy policies[] = { REARM_SINGLE, REARM_MANY, REARM_NOTIFY };
	const int error[] = { EIO, ENODEV, EBADF };

	ck_assert_int_eq(queue_enable(policies[_i], 1, REARM_NEW), 0);
	let_reads_fail(error[_i]);
	for (int i = 1; i <= 3; i++) {
		queue_complete((uint64_t)i, 1);
		if (policies[_i] == REARM_NOTIFY)
			notes_await_calls(i);
		else
			notes_await(i);
		while (policies[_i] == REARM_NOTIFY) {
			struct ibv_wc wc;

			if (rearm_queue_take(qs.queue, 1, &wc) == -EIO)
				break;
		}
	}
	await_told(0);
	queue_sleep_ms(20);
	ck_assert_int_eq(n_told[0], 1);
	ck_assert_int_eq(queue_enable_same(REARM_SINGLE, REARM_ANY), -EIO);
	ck_assert_int_eq(rearm_queue_teardown(qs.queue), 0);
	expect_lost(qs.queue);
}

/* Errors that may be over at the next read do not end it. */
TEST(not_lost__another_error__callbacks_and_waits_go_on)
{
	struct ibv_wc wc;

	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_NEW), 0);
	let_reads_fail(ENOMEM);
	queue_complete(1, 1);
	queue_sleep_ms(5);
	let_reads_fail(0);
	notes_await(1);
	ck_assert_int_eq(rearm_queue_teardown(qs.queue), 0);
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 1, 2000, 1, &wc), -ETIMEDOUT);
	ck_assert_int_eq(n_told[0], 0);
}

/* ---- a channel that queues share ---- */

static struct ibv_comp_channel *shared;
static struct ibv_cq *cqs[SHARERS];
static struct rearm_queue *sharers[SHARERS];

static void
share(int i)
{
	const struct rearm_queue_attr attr = {
		.flags = REARM_SHARED_CHANNEL, .failed = note_failure, .arg = &told[i]
	};

	cqs[i] = ibv_create_cq(qs.context, QUEUE_CQE, NULL, shared, 0);
	ck_assert_ptr_nonnull(cqs[i]);
	ck_assert_int_eq(rearm_queue_adopt(qs.loop, cqs[i], &attr, &sharers[i]), 0);
}

static void
begin_shared(void)
{
	begin();
	shared = ibv_create_comp_channel(qs.context);
	ck_assert_ptr_nonnull(shared);
	share(0);
	share(1);
}

static void
end_shared(void)
{
	end();
	queue_destroy_qp();
	for (int i = 0; i < SHARERS; i++) {
		ck_assert_int_eq(rearm_queue_free(sharers[i]), 0);
		if (cqs[i])
			ck_assert_int_eq(ibv_destroy_cq(cqs[i]), 0);
		sharers[i] = NULL;
		cqs[i] = NULL;
	}
	ck_assert_int_eq(ibv_destroy_comp_channel(shared), 0);
}

CASE("rearm_channel:shared", begin_shared, end_shared, .outer = &queue_case);

static void *
wait_on_second(void *arg)
{
	struct ibv_wc wc;

	*(int *)arg = rearm_queue_wait(sharers[1], 1, -1, 1, &wc);
	return NULL;
}

/* One that has callbacks, one with a thread that waits, and one that comes later. */
/* origin: out36.M1 */
TEST(shared__lost__each_queue_learns_it)
{
	const struct rearm_upcall upcall = { .function = rearm_call_requests, .batch = 1 };
	struct ibv_wc wc;
	pthread_t thread;
	int r;

	ck_assert_int_eq(rearm_queue_enable(sharers[0], REARM_SINGLE, &upcall, REARM_NEW), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_on_second, &r), 0);
	while (rearm_queue_take(sharers[1], 1, &wc) != -EBUSY)
		;
	queue_sleep_ms(5);
	queue_destroy_qp();
	queue_make_qp(cqs[0]);
	let_reads_fail(EIO);
	queue_complete(0, 1);
	await_told(0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(r, -EIO);
	expect_lost(sharers[1]);
	ck_assert_int_eq(rearm_queue_disable(sharers[0]), 0);
	expect_lost(sharers[0]);
	share(2);
	expect_lost(sharers[2]);
	queue_sleep_ms(20);
	ck_assert_int_eq(n_told[0], 1);
	ck_assert_int_eq(n_told[1], 0);
}

/* The channel is the program's again; what becomes of it then is another matter. */
TEST(shared__lost_and_all_freed__adopted_as_new)
{
	const struct rearm_upcall upcall = { .function = rearm_call_requests, .batch = 1 };

	ck_assert_int_eq(rearm_queue_enable(sharers[0], REARM_SINGLE, &upcall, REARM_NEW), 0);
	queue_destroy_qp();
	queue_make_qp(cqs[0]);
	let_reads_fail(EIO);
	queue_complete(0, 1);
	await_told(0);
	let_reads_fail(0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(rearm_queue_free(sharers[i]), 0);
	queue_destroy_qp();
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(ibv_destroy_cq(cqs[i]), 0);
		share(i);
	}
	queue_make_qp(cqs[0]);
	ck_assert_int_eq(rearm_queue_enable(sharers[0], REARM_SINGLE, &upcall, REARM_NEW), 0);
	queue_complete(0, 1);
	queue_sleep_ms(5);
	ck_assert_int_eq(n_told[0], 1);
	ck_assert_int_eq(rearm_queue_teardown(sharers[0]), 0);
}
