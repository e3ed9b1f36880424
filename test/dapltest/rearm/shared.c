/* SPDX-License-Identifier: BSD-3-Clause */
/* Several queues that adopted one completion channel. */
#include <fcntl.h>
#include <sys/epoll.h>

#include "queue_story.h"

#define QUEUES 5

static struct one {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct rearm_queue *queue;
	int n; /* completions that came */
	void (*then)(struct one *one);
} ones[QUEUES];

static struct ibv_comp_channel *channel;
static int flags;

static const struct rearm_queue_attr shares = { .flags = REARM_SHARED_CHANNEL };

/* Its receives are flushed. */
static struct ibv_qp *
make_qp(struct ibv_cq *cq)
{
	struct ibv_qp *first = qs.qp, *qp;

	queue_make_qp(cq);
	qp = qs.qp;
	qs.qp = first;
	return qp;
}

static void
begin(void)
{
	channel = ibv_create_comp_channel(qs.context);
	ck_assert_ptr_nonnull(channel);
	flags = fcntl(channel->fd, F_GETFL);
	for (int i = 0; i < QUEUES; i++) {
		ones[i] =
		    (struct one){ .cq = ibv_create_cq(qs.context, QUEUE_CQE, NULL, channel, 0) };
		ck_assert_ptr_nonnull(ones[i].cq);
		ones[i].qp = make_qp(ones[i].cq);
		ck_assert_int_eq(
		    rearm_queue_adopt(qs.loop, ones[i].cq, &shares, &ones[i].queue), 0);
	}
	ck_assert_int_eq(fcntl(channel->fd, F_GETFL), flags | O_NONBLOCK);
}

static void
release(struct one *one)
{
	ck_assert_int_eq(rearm_queue_free(one->queue), 0);
	__atomic_store_n(&one->queue, NULL, __ATOMIC_SEQ_CST);
}

static void
destroy(struct one *one)
{
	if (one->qp)
		ck_assert_int_eq(ibv_destroy_qp(one->qp), 0);
	if (one->cq)
		ck_assert_int_eq(ibv_destroy_cq(one->cq), 0);
	one->qp = NULL;
	one->cq = NULL;
}

static void
end(void)
{
	for (int i = 0; i < QUEUES; i++)
		release(&ones[i]);
	ck_assert_int_eq(fcntl(channel->fd, F_GETFL), flags);
	for (int i = 0; i < QUEUES; i++)
		destroy(&ones[i]);
	ck_assert_int_eq(ibv_destroy_comp_channel(channel), 0);
}

static void
complete(struct one *one, uint64_t first, int n)
{
	struct ibv_recv_wr wr = { 0 }, *bad;

	for (int i = 0; i < n; i++) {
		wr.wr_id = first + (uint64_t)i;
		ck_assert_int_eq(ibv_post_recv(one->qp, &wr, &bad), 0);
	}
}

static void
count(void *arg, const struct ibv_wc *wc, int n, int more)
{
	struct one *one = arg;

	(void)more;
	for (int i = 0; i < n; i++) {
		ck_assert_uint_eq(wc[i].qp_num, one->qp->qp_num);
		ck_assert_uint_eq(wc[i].wr_id, (uint64_t)(one->n + i));
	}
	__atomic_add_fetch(&one->n, n, __ATOMIC_SEQ_CST);
	if (one->then)
		one->then(one);
}

static int
enable(struct one *one, enum rearm_pending pending)
{
	const struct rearm_upcall upcall = { .function = count, .arg = one, .batch = 4 };

	return rearm_queue_enable(one->queue, REARM_SINGLE, &upcall, pending);
}

static void
await(struct one *one, int n)
{
	while (__atomic_load_n(&one->n, __ATOMIC_SEQ_CST) < n)
		queue_sleep_ms(1);
	ck_assert_int_eq(one->n, n);
}

CASE("rearm_shared:callbacks", begin, end, .outer = &queue_case);

TEST(callbacks__each_queue_has_its_own)
{
	for (int i = 0; i < QUEUES; i++)
		ck_assert_int_eq(enable(&ones[i], REARM_NEW), 0);
	for (int turn = 0; turn < 20; turn++)
		for (int i = 0; i < QUEUES; i++) {
			complete(&ones[i], (uint64_t)turn * 2, 2);
			if (turn % 3 == 0)
				await(&ones[i], turn * 2 + 2);
		}
	for (int i = 0; i < QUEUES; i++)
		await(&ones[i], 40);
}

static void
release_own(struct one *one)
{
	release(one);
}

/* The others go on; the freed one is the program's, also after one more notification. */
TEST_LOOP(free__one_of_them__others_go_on, 2)
{
	struct ibv_wc wc;

	for (int i = 0; i < QUEUES; i++)
		ck_assert_int_eq(enable(&ones[i], REARM_NEW), 0);
	if (_i)
		ones[2].then = release_own;
	complete(&ones[2], 0, 1);
	await(&ones[2], 1);
	if (!_i)
		release(&ones[2]);
	while (__atomic_load_n(&ones[2].queue, __ATOMIC_SEQ_CST))
		queue_sleep_ms(1);
	/* The callback returns, and takes nothing more. */
	ck_assert_int_eq(ibv_req_notify_cq(ones[2].cq, 0), 0);
	complete(&ones[2], 7, 1);
	complete(&ones[3], 0, 1);
	await(&ones[3], 1);
	ck_assert_int_eq(ones[2].n, 1);
	ck_assert_int_eq(ibv_poll_cq(ones[2].cq, 1, &wc), 1);
	ck_assert_uint_eq(wc.wr_id, 7);
	destroy(&ones[2]); /* its notification was acknowledged */
	complete(&ones[3], 1, 1);
	await(&ones[3], 2);
}

TEST(free__all__the_channel_is_the_programs_and_may_be_adopted_again)
{
	struct ibv_cq *got;
	struct ibv_wc wc;
	void *context;

	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < QUEUES; i++)
			release(&ones[i]);
		ck_assert_int_eq(fcntl(channel->fd, F_GETFL), flags);
		ck_assert_int_eq(ibv_req_notify_cq(ones[1].cq, 0), 0);
		complete(&ones[1], 5, 1);
		ck_assert_int_eq(ibv_get_cq_event(channel, &got, &context), 0);
		ck_assert_ptr_eq(got, ones[1].cq);
		ibv_ack_cq_events(got, 1);
		ck_assert_int_eq(ibv_poll_cq(got, 1, &wc), 1);
		for (int i = 0; i < QUEUES; i++)
			ck_assert_int_eq(
			    rearm_queue_adopt(qs.loop, ones[i].cq, &shares, &ones[i].queue), 0);
		ck_assert_int_eq(enable(&ones[1], REARM_NEW), 0);
		complete(&ones[1], (uint64_t)turn, 1);
		await(&ones[1], turn + 1);
	}
}

/* Its completion queue is in two queues of librearm until the callback has returned. */
static void
readopt(struct one *one)
{
	struct rearm_queue *queue;

	ck_assert_int_eq(rearm_queue_free(one->queue), 0);
	ck_assert_int_eq(rearm_queue_adopt(qs.loop, one->cq, &shares, &queue), 0);
	one->queue = queue;
	ck_assert_int_eq(enable(one, REARM_ANY), 0);
}

/* More than the library has places for.  In the second turn callbacks adopt them again. */
/* origin: out36.W3 */
TEST_LOOP(callbacks__a_hundred_queues__each_has_its_own, 2)
{
	static struct one many[100];

	for (int i = 0; i < 100; i++) {
		many[i] = (struct one){ .cq = ibv_create_cq(qs.context, 4, NULL, channel, 0) };
		ck_assert_ptr_nonnull(many[i].cq);
		many[i].qp = make_qp(many[i].cq);
		many[i].then = _i ? readopt : NULL;
		ck_assert_int_eq(
		    rearm_queue_adopt(qs.loop, many[i].cq, &shares, &many[i].queue), 0);
		ck_assert_int_eq(enable(&many[i], REARM_NEW), 0);
	}
	for (int turn = 0; turn < 3; turn++) {
		for (int i = 0; i < 100; i++)
			complete(&many[i], (uint64_t)turn, 1);
		for (int i = 0; i < 100; i++)
			await(&many[i], turn + 1);
	}
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(rearm_queue_teardown(many[i].queue), 0);
	for (int i = 0; i < 100; i++) {
		release(&many[i]);
		destroy(&many[i]);
	}
}

static void *
wait_thread(void *arg)
{
	struct one *one = arg;
	struct ibv_wc wc[4];

	for (int n = 0; n < 20;) {
		const int r = rearm_queue_wait(one->queue, 1, -1, 4, wc);

		ck_assert_int_gt(r, 0);
		for (int i = 0; i < r; i++)
			ck_assert_uint_eq(wc[i].wr_id, (uint64_t)(n + i));
		n += r;
		__atomic_store_n(&one->n, n, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* Threads that wait on them at the same time, beside callbacks of another. */
TEST(wait__several_threads__each_wakes_for_its_own)
{
	pthread_t threads[QUEUES - 1];

	ck_assert_int_eq(enable(&ones[QUEUES - 1], REARM_NEW), 0);
	for (int i = 0; i < QUEUES - 1; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_thread, &ones[i]), 0);
	for (int turn = 0; turn < 20; turn++)
		for (int i = 0; i < QUEUES; i++) {
			complete(&ones[i], (uint64_t)turn, 1);
			await(&ones[i], turn + 1);
		}
	for (int i = 0; i < QUEUES - 1; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

TEST(adopt__from_another_loop_or_without_a_choice__refused)
{
	const struct rearm_queue_attr created = { .cqe = 1, .flags = REARM_SHARED_CHANNEL };
	struct ibv_cq *cq = ibv_create_cq(qs.context, 4, NULL, channel, 0);
	struct rearm_queue *queue;
	struct rearm_loop *loop;

	ck_assert_ptr_nonnull(cq);
	ck_assert_int_eq(rearm_loop_create(NULL, &loop), 0);
	ck_assert_int_eq(rearm_queue_adopt(loop, cq, &shares, &queue), -EINVAL);
	ck_assert_int_eq(rearm_loop_free(loop), 0);
	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &created, &queue), -EINVAL);
	ck_assert_int_eq(rearm_queue_adopt_async(qs.loop, qs.context, &shares, &queue), -EINVAL);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
}

CASE("rearm_shared:stepped", begin, end, .outer = &queue_case_stepped);

/* A thread that waited would have to read the channel itself. */
TEST(stepped__callbacks__and_no_waits)
{
	struct ibv_wc wc;
	int timeout;

	for (int i = 0; i < QUEUES; i++) {
		ck_assert_int_eq(enable(&ones[i], REARM_NEW), 0);
		complete(&ones[i], 0, 3);
	}
	for (int i = 0; i < QUEUES; i++)
		while (ones[i].n < 3)
			ck_assert_int_ge(rearm_loop_dispatch(qs.loop, 1, 0), 0);
	while (rearm_loop_dispatch(qs.loop, 64, 0) > 0)
		;
	ck_assert_int_eq(rearm_loop_trywait(qs.loop, &timeout), 0);
	ck_assert_int_eq(rearm_queue_disable(ones[0].queue), 0);
	ck_assert_int_eq(rearm_queue_wait(ones[0].queue, 1, 0, 1, &wc), -EOPNOTSUPP);
	ck_assert_int_eq(rearm_queue_take(ones[0].queue, 1, &wc), 0);
}

/* Until so many completions have come. */
static void
dispatch_by_edges(int epfd, int all)
{
	const int limit = (int)runner_stretch(10000);
	struct epoll_event edge;
	int timeout;

	for (int come = 0; come < all;) {
		if (rearm_loop_trywait(qs.loop, &timeout) == 0)
			ck_assert_int_eq(epoll_wait(epfd, &edge, 1, limit), 1);
		(void)rearm_loop_dispatch(qs.loop, 1, 0);
		come = 0;
		for (int i = 0; i < QUEUES; i++)
			come += ones[i].n;
	}
}

/* Several notifications are in the channel, and a turn reads one of them. */
/* origin: out36.W1 */
TEST(stepped__watched_for_edges__each_sleep_ends)
{
	struct epoll_event edge = { .events = EPOLLIN | EPOLLET };
	const int epfd = epoll_create1(EPOLL_CLOEXEC);
	int all = 0;

	ck_assert_int_eq(epoll_ctl(epfd, EPOLL_CTL_ADD, rearm_loop_fd(qs.loop), &edge), 0);
	for (int i = 0; i < QUEUES; i++)
		ck_assert_int_eq(enable(&ones[i], REARM_ANY), 0);
	for (uint64_t turn = 0; turn < 50; turn++) {
		for (int i = 0; i < QUEUES; i++) {
			complete(&ones[i], turn, 1);
			all++;
			/* Most of them alone: the library reads fewer at a time then. */
			if (turn % 10 != 9)
				dispatch_by_edges(epfd, all);
		}
		dispatch_by_edges(epfd, all);
	}
	close(epfd);
}
