/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the checker counts and reports of the calls of a program.  The file is a part of this one,
 * for its functions are called one by one, with a queue pair that is none.
 */
#include "softverbs/check/check.c"
#include "softverbs/qp/srq.h"

#include <string.h>
#include <sys/wait.h>

#include "fake.h"
#include "lib/runner.h"

#define WRAP(type, name, ...) \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

WRAP(int, soft_qp_post_send, struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
WRAP(int, soft_qp_bind_mw, struct ibv_qp *ibv, struct ibv_mw *mw, struct ibv_mw_bind *bind);
WRAP(int, soft_cq_request, struct ibv_cq *ibv, int solicited_only);
WRAP(void, soft_adversary_pause_poll, struct soft_cq *cq);
unsigned int __real_soft_reports(void);
_Noreturn void __real__exit(int status);

#define SIZE 4
#define REQUESTS (2 * SIZE + 2)

static struct soft_check_queue *queue;
static struct soft_qp qp;
static struct ibv_send_wr list[REQUESTS];
static int posted, refused_at = -1, request_result, bind_result, pauses;
static int inside; /* what a call sees meanwhile */

int
__wrap_soft_qp_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)ibv;
	posted++;
	if (refused_at < 0)
		return 0;
	for (int i = 0; i < refused_at; i++)
		wr = wr->next;
	*bad = wr;
	return EINVAL;
}

int
__wrap_soft_qp_bind_mw(struct ibv_qp *ibv, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	(void)ibv, (void)mw, (void)bind;
	return bind_result;
}

int
__wrap_soft_cq_request(struct ibv_cq *ibv, int solicited_only)
{
	(void)ibv, (void)solicited_only;
	inside = (int)queue->inside;
	return request_result;
}

void
__wrap_soft_adversary_pause_poll(struct soft_cq *cq)
{
	ck_assert_ptr_eq(cq, queue->cq);
	inside = (int)queue->inside;
	pauses++;
}

static void
set_out(void) UNCHECKED
{
	soft_check_settings = (struct soft_check_settings){ .moves.given = true,
		.stranded_after = 500 * SOFT_MILLISECOND };
	fake_reset();
	queue = fake_queue(0);
	fake_now = 7ull * SOFT_SECOND;
	memset(&qp, 0, sizeof qp);
	qp.ibv.send_cq = qp.ibv.recv_cq = &queue->cq->ibv;
	qp.ibv.qp_num = 61;
	qp.state = IBV_QPS_RTS;
	qp.sq.size = SIZE;
	posted = pauses = request_result = bind_result = 0;
	refused_at = -1;
}

/* Posts a list of so many requests; those whose bit is set are signaled. */
static int
post(int n, unsigned int signaled)
{
	struct ibv_send_wr *bad = NULL;
	int r;

	for (int i = 0; i < n; i++)
		list[i] = (struct ibv_send_wr){ .next = i + 1 < n ? &list[i + 1] : NULL,
			.send_flags = signaled & 1u << i ? IBV_SEND_SIGNALED : IBV_SEND_SOLICITED };
	r = check_post_send(&qp.ibv, list, &bad);
	if (r == ENOMEM)
		ck_assert_ptr_eq(bad, list);
	return r;
}

static void
poll_once(void)
{
	struct ibv_wc wc;

	ck_assert_int_ge(check_poll_cq(&queue->cq->ibv, 1, &wc), 0);
}

/* ---- requests without a completion */

CASE("checker_judge:judge");

TEST(unsignaled__as_many_as_fit_and_one_more)
{
	set_out();
	for (int i = 0; i < SIZE; i++)
		ck_assert_int_eq(post(1, 0), 0);
	ck_assert_int_eq(fake_reports, 0);
	ck_assert_int_eq(post(1, 0), 0);
	ck_assert_int_eq(fake_reports, 1);
	ck_assert_int_eq(fake_kind, SOFT_SEND_QUEUE_FULL);
	ck_assert_str_eq(fake_text,
	    "More than 4 requests in a row on queue pair 61 had no completion: an adapter refuses "
	    "them from now on.");
}

TEST(unsignaled__one_that_is_signaled__begins_the_row_again)
{
	set_out();
	ck_assert_int_eq(post(SIZE + 1, 1u << SIZE), 0);
	poll_once();
	ck_assert_int_eq(post(SIZE, 0), 0);
	ck_assert_int_eq(fake_reports, 0);
	ck_assert_int_eq(post(1, 0), 0);
	ck_assert_int_eq(fake_reports, 1);
}

TEST(unsignaled__in_the_middle_of_a_list__is_noticed)
{
	set_out();
	ck_assert_int_eq(post(SIZE + 2, 1u << (SIZE + 1)), 0);
	ck_assert_int_eq(fake_reports, 1);
	ck_assert_uint_eq(qp.sq.unsignaled, 0);
}

TEST(unsignaled__of_a_pair_that_signals_all__or_that_does_not_send__does_not_count)
{
	set_out();
	qp.sq.sig_all = true;
	for (int i = 0; i < 3 * SIZE; i++) {
		ck_assert_int_eq(post(1, 0), 0);
		poll_once();
	}
	qp.sq.sig_all = false;
	qp.state = IBV_QPS_ERR;
	for (int i = 0; i < 3 * SIZE; i++)
		ck_assert_int_eq(post(1, 0), 0);
	ck_assert_int_eq(fake_reports, 0);
}

TEST(unsignaled__those_that_were_refused__do_not_count)
{
	set_out();
	refused_at = SIZE;
	ck_assert_int_eq(post(SIZE + 1, 0), EINVAL);
	ck_assert_int_eq(fake_reports, 0);
	refused_at = 1;
	ck_assert_int_eq(post(2, 0), EINVAL);
	ck_assert_int_eq(fake_reports, 1);
}

static void
bind_often(int n, unsigned int flags, int result)
{
	struct ibv_mw_bind bind = { .send_flags = flags };

	bind_result = result;
	while (n--)
		ck_assert_int_eq(check_bind_mw(&qp.ibv, NULL, &bind), result);
}

TEST(unsignaled__binds_of_windows__are_requests_if_they_were_made)
{
	set_out();
	bind_often(3 * SIZE, 0, EINVAL);
	bind_often(3 * SIZE, IBV_SEND_SIGNALED, 0);
	bind_often(SIZE, 0, 0);
	ck_assert_int_eq(fake_reports, 0);
	bind_often(1, 0, 0);
	ck_assert_int_eq(fake_reports, 1);
	ck_assert_int_eq(fake_kind, SOFT_SEND_QUEUE_FULL);
}

/* ---- room */

TEST(room__signaled_requests__as_many_as_fit_until_a_poll)
{
	set_out();
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < SIZE; i++)
			ck_assert_int_eq(post(1, 1), 0);
		ck_assert_int_eq(post(1, 1), ENOMEM);
		ck_assert_int_eq(post(1, 0), ENOMEM);
		ck_assert_int_eq(posted, (turn + 1) * SIZE);
		poll_once();
	}
	ck_assert_int_eq(post(SIZE, 1), 0);
	ck_assert_int_eq(post(1, 0), ENOMEM);
}

/* One that is signaled is enough, also by the queue pair, and wherever it is. */
TEST(room__one_signaled_request__and_others_until_a_poll)
{
	for (int first = 0; first < 2; first++) {
		set_out();
		qp.sq.sig_all = first;
		ck_assert_int_eq(post(1, !first), 0);
		for (int i = 1; i < SIZE; i++)
			ck_assert_int_eq(post(1, 0), 0);
		ck_assert_int_eq(post(1, 0), ENOMEM);
		poll_once();
		ck_assert_int_eq(post(1, 0), 0);
		ck_assert_int_eq(fake_reports, 0);
	}
}

TEST(room__a_list__whole_or_not_at_all)
{
	set_out();
	ck_assert_int_eq(post(1, 1), 0);
	ck_assert_int_eq(post(SIZE, 1), ENOMEM);
	ck_assert_int_eq(post(SIZE - 1, 4), 0);
	ck_assert_int_eq(post(1, 1), ENOMEM);
}

TEST(room__of_requests_that_were_refused__is_given_back)
{
	set_out();
	ck_assert_int_eq(post(1, 1), 0);
	refused_at = 1;
	ck_assert_int_eq(post(SIZE - 1, 1), EINVAL);
	refused_at = -1;
	ck_assert_int_eq(post(SIZE - 2, 1), 0);
	ck_assert_int_eq(post(1, 1), ENOMEM);
	/* A poll between the two has made room already. */
	check_give_room_back(&qp, list);
	qp.sq.unpolled = 0;
	check_give_room_back(&qp, list);
	ck_assert_uint_eq(qp.sq.unpolled, 0);
}

TEST(refused__for_long_enough__is_reported)
{
	set_out();
	ck_assert_int_eq(post(SIZE, 1), 0);
	ck_assert_int_eq(post(1, 1), ENOMEM);
	fake_now += 500 * SOFT_MILLISECOND - 1;
	ck_assert_int_eq(post(1, 1), ENOMEM);
	ck_assert_int_eq(fake_reports, 0);
	/* Of another queue pair nothing is known. */
	qp.ibv.qp_num++;
	fake_now++;
	ck_assert_int_eq(post(1, 1), ENOMEM);
	ck_assert_int_eq(fake_reports, 0);
	qp.ibv.qp_num--;
	ck_assert_int_eq(post(1, 1), ENOMEM);
	ck_assert_int_eq(fake_reports, 1);
	ck_assert_int_eq(fake_kind, SOFT_SEND_QUEUE_FULL);
	ck_assert_ptr_nonnull(strstr(fake_text, "A request on queue pair 61 was refused"));
}

TEST(refused__and_polled__begins_again)
{
	set_out();
	ck_assert_int_eq(post(SIZE, 1), 0);
	ck_assert_int_eq(post(1, 1), ENOMEM);
	fake_now += SOFT_SECOND;
	poll_once();
	ck_assert_uint_eq(queue->refused, 0);
	ck_assert_int_eq(post(SIZE, 1), 0);
	ck_assert_int_eq(post(1, 1), ENOMEM);
	ck_assert_int_eq(fake_reports, 0);
	fake_now += SOFT_SECOND;
	ck_assert_int_eq(post(1, 1), ENOMEM);
	ck_assert_int_eq(fake_reports, 1);
}

TEST(refused__and_then_destroyed_without_a_poll__is_reported)
{
	set_out();
	ck_assert_int_eq(post(SIZE, 1), 0);
	ck_assert_int_eq(post(1, 1), ENOMEM);
	check_destroying(queue->cq);
	ck_assert_int_eq(fake_reports, 1);
	ck_assert_int_eq(fake_kind, SOFT_SEND_QUEUE_FULL);
}

/* ---- polls, arms and events */

TEST(poll__what_it_found__of_what_it_wanted)
{
	const unsigned int progress = soft_check_progress;
	struct ibv_wc wc[4];

	set_out();
	queue->refused = 3;
	fake_complete(queue, (struct ibv_wc){ .wr_id = 1 }, true);
	fake_complete(queue, (struct ibv_wc){ .wr_id = 2 }, true);
	ck_assert_int_eq(check_poll_cq(&queue->cq->ibv, 4, wc), 2);
	ck_assert_int_eq(queue->found, 2);
	ck_assert_int_eq(queue->wanted, 4);
	ck_assert_uint_eq(queue->refused, 0);
	ck_assert_uint_eq(queue->polls, 1);
	ck_assert_uint_eq(queue->activity, 1);
	ck_assert_uint_eq(queue->empties, 0);
	ck_assert_uint_eq(queue->polled.when, fake_now);
	ck_assert_uint_eq(soft_check_progress, progress + 1);
	/* One that finds nothing is no progress. */
	ck_assert_int_eq(check_poll_cq(&queue->cq->ibv, 3, wc), 0);
	ck_assert_int_eq(queue->found, 0);
	ck_assert_int_eq(queue->wanted, 3);
	ck_assert_uint_eq(queue->empties, 1);
	ck_assert_uint_eq(queue->activity, 2);
	ck_assert_uint_eq(soft_check_progress, progress + 1);
	ck_assert_uint_eq(queue->inside, 0);
	ck_assert_int_eq(fake_reports, 0);
}

TEST(post__of_each_kind__is_progress)
{
	unsigned int progress = soft_check_progress;
	struct ibv_recv_wr *bad;
	struct soft_srq srq = { .rq.size = 0 };

	set_out();
	ck_assert_int_eq(post(1, 1), 0);
	ck_assert_uint_eq(soft_check_progress, ++progress);
	/* Of no request at all. */
	ck_assert_int_eq(check_post_recv(&qp.ibv, NULL, &bad), 0);
	ck_assert_uint_eq(soft_check_progress, ++progress);
	ck_assert_int_eq(check_post_srq_recv(&srq.ibv, NULL, &bad), 0);
	ck_assert_uint_eq(soft_check_progress, ++progress);
}

TEST(poll__each_completion__of_a_receiver_that_was_not_ready)
{
	const struct ibv_wc wc[3] = { { .status = IBV_WC_SUCCESS, .qp_num = 1 },
		{ .status = IBV_WC_RNR_RETRY_EXC_ERR, .qp_num = 71 },
		{ .status = IBV_WC_RNR_RETRY_EXC_ERR, .qp_num = 72 } };

	set_out();
	check_polled_one(queue->cq, 1, wc);
	ck_assert_int_eq(queue->wanted, 1);
	ck_assert_int_eq(fake_reports, 0);
	check_polled(queue, 3, 2, wc, NULL);
	ck_assert_int_eq(fake_reports, 1);
	ck_assert_ptr_nonnull(strstr(fake_text, "queue pair 71 failed"));
	check_polled(queue, 3, 3, wc, NULL);
	ck_assert_int_eq(fake_reports, 3);
	ck_assert_ptr_nonnull(strstr(fake_text, "queue pair 72 failed"));
}

/*
 * A thread that did not create the queue, and spins, pauses after 1,024 polls that found nothing,
 * and so on.
 */
TEST(poll__1024_times_without_success__pauses)
{
	struct ibv_wc wc;

	set_out();
	for (int i = 0; i < 2048; i++)
		check_poll_cq(&queue->cq->ibv, 1, &wc);
	ck_assert_int_eq(pauses, 0);
	queue->creator++;
	queue->empties = 0;
	for (int i = 1; i <= 2048; i++) {
		check_poll_cq(&queue->cq->ibv, 1, &wc);
		ck_assert_int_eq(pauses, i / 1024);
	}
	ck_assert_int_eq(inside, 1);
}

TEST(arm__its_result__is_kept)
{
	set_out();
	request_result = EAGAIN;
	ck_assert_int_eq(check_req_notify_cq(&queue->cq->ibv, 0), EAGAIN);
	ck_assert(!queue->was_armed && queue->arm_failed);
	request_result = 0;
	ck_assert_int_eq(check_req_notify_cq(&queue->cq->ibv, 0), 0);
	ck_assert(queue->was_armed && !queue->arm_failed);
	ck_assert_uint_eq(queue->armed.when, fake_now);
	ck_assert_int_eq(inside, 1);
	request_result = EAGAIN;
	fake_now++;
	ck_assert_int_eq(check_req_notify_cq(&queue->cq->ibv, 0), EAGAIN);
	ck_assert(queue->was_armed && queue->arm_failed);
	ck_assert_uint_eq(queue->armed.when, fake_now); /* where the last arm was, failed or not */
	ck_assert_uint_eq(queue->inside, 0);
	ck_assert_uint_eq(queue->activity, 3);
	/* None fails by the checker unless it is asked for; then some do. */
	soft_check_settings.moves.given = false;
	request_result = 0;
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(check_req_notify_cq(&queue->cq->ibv, 0), 0);
}

TEST(arm__that_is_to_fail__fails_now_and_then)
{
	int failed = 0;

	set_out();
	soft_check_settings.arms_fail = true;
	for (int q = 0; q < FAKE_QUEUES; q++) {
		if (q)
			queue = fake_queue(0);
		for (int i = 0; i < 200; i++)
			failed += check_req_notify_cq(&queue->cq->ibv, 0) == EAGAIN;
	}
	/* A program that tries again gets on. */
	ck_assert_msg(failed > 10 && failed < 200, "%d", failed);
}

TEST(acknowledge__as_many_as_were_read_and_one_more)
{
	set_out();
	check_event(queue->cq);
	check_event(queue->cq);
	ck_assert_uint_eq(queue->events_read, 2);
	ck_assert_uint_eq(queue->event.when, fake_now);
	check_acknowledging(queue->cq, 1);
	check_acknowledging(queue->cq, 1);
	ck_assert_int_eq(fake_reports, 0);
	check_event(queue->cq);
	check_acknowledging(queue->cq, 3);
	ck_assert_int_eq(fake_reports, 1);
	ck_assert_int_eq(fake_kind, SOFT_ACKNOWLEDGED_TOO_MUCH);
	ck_assert_ptr_nonnull(
	    strstr(fake_text, "has acknowledged 5 events of the queue, of which 3 were read."));
	ck_assert_uint_eq(queue->activity, 6);
}

/* ---- destroyed */

TEST(destroy__while_a_thread_is_inside__is_reported)
{
	set_out();
	check_destroying(queue->cq);
	ck_assert_int_eq(fake_reports, 0);
	ck_assert_int_eq(queue->destroying.thread, soft_site_thread());
	queue->inside = 1;
	check_destroying(queue->cq);
	ck_assert_int_eq(fake_reports, 1);
	ck_assert_int_eq(fake_kind, SOFT_USED_WHEN_DESTROYED);
}

/* origin: out33.W6 */
TEST(destroy__between_the_start_and_the_end_of_a_poll_of_another_thread__is_reported)
{
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS };

	set_out();
	ck_assert_int_eq(check_polling(queue->cq, "ibv_start_poll()"), 0);
	ck_assert_uint_eq(queue->inside, 1);
	check_polled_one(queue->cq, 1, &wc);
	ck_assert_uint_eq(queue->inside, 0);
	check_destroying(queue->cq); /* its own, which it does not end */
	ck_assert_int_eq(fake_reports, 0);
	queue->poller++;
	check_destroying(queue->cq);
	ck_assert_int_eq(fake_reports, 1);
	ck_assert_int_eq(fake_kind, SOFT_USED_WHEN_DESTROYED);
	ck_assert_int_eq(check_poll_ending(queue->cq), 0);
	check_destroying(queue->cq);
	ck_assert_int_eq(fake_reports, 1);
	check_destroyed(queue->cq);
	ck_assert_int_eq(check_polling(queue->cq, "ibv_next_poll()"), EINVAL);
	ck_assert_ptr_nonnull(strstr(fake_text, "calls ibv_next_poll() with a queue that"));
	ck_assert_int_eq(check_poll_ending(queue->cq), EINVAL);
	ck_assert_ptr_nonnull(strstr(fake_text, "calls ibv_end_poll() with a queue that"));
	ck_assert_int_eq(fake_reports, 3);
}

TEST(destroyed__each_call__is_refused_and_reported)
{
	struct ibv_wc wc;

	set_out();
	queue->destroying.thread = 99;
	check_destroyed(queue->cq);
	ck_assert_ptr_null(soft_check_queues());
	ck_assert_int_eq(check_poll_cq(&queue->cq->ibv, 1, &wc), -EINVAL);
	ck_assert_ptr_nonnull(
	    strstr(fake_text, "calls ibv_poll_cq() with a queue that thread 99 has destroyed."));
	ck_assert_int_eq(check_req_notify_cq(&queue->cq->ibv, 0), EINVAL);
	ck_assert_ptr_nonnull(strstr(fake_text, "calls ibv_req_notify_cq() with"));
	check_acknowledging(queue->cq, 1);
	ck_assert_ptr_nonnull(strstr(fake_text, "calls ibv_ack_cq_events() with"));
	ck_assert_int_eq(fake_reports, 3);
	ck_assert_int_eq(fake_kind, SOFT_USED_WHEN_DESTROYED);
	ck_assert_uint_eq(queue->polls + queue->events_acknowledged, 0);
}

/*
 * What the program leaves: what happened just before, and a refusal that nothing was polled after.
 */
TEST(exit__what_is_left__is_reported)
{
	set_out();
	check_unload();
	ck_assert_int_eq(fake_reports, 0);
	soft_judge = &judge;
	check_unload();
	ck_assert_int_eq(fake_reports, 0);
	queue->refused = 61;
	check_unload();
	ck_assert_int_eq(fake_reports, 1);
	ck_assert_int_eq(fake_kind, SOFT_SEND_QUEUE_FULL);
	queue->generation++;
	check_unload();
	ck_assert_int_eq(fake_reports, 1);
	queue->generation--;
	queue->refused = 0;
	queue->cq->overrun = true;
	check_unload();
	ck_assert_int_eq(fake_reports, 2);
	ck_assert_int_eq(fake_kind, SOFT_OVERRUN);
	soft_judge = NULL;
}

/* What runs in the child of a fork, where this is the number of what went wrong. */
static int
child_is_wrong(void)
{
	const pid_t parent = soft_site_thread();

	check_fork_child();
	if (soft_site_thread() != gettid() || soft_site_thread() == parent)
		return 1;
	if (soft_check_queues() || __real_soft_reports())
		return 2;
	if (soft_pending_any())
		return 3;
	/* They count from 1 again, as in a replay of the child. */
	fake_cq[0].judged = NULL;
	if (soft_check_queue_create(&fake_cq[0]) || soft_check_queue_of(&fake_cq[0])->number != 1)
		return 4;
	check_event(&fake_cq[0]);
	return soft_check_queue_of(&fake_cq[0])->events_read == 1 ? 0 : 5;
}

TEST(fork__the_child_begins_without_what_its_parent_has)
{
	struct soft_judged_wait wait = { .call = "rdma_destroy_id()", .object = "id" };
	int status = -1;
	pid_t child;

	set_out();
	(void)soft_site_thread();
	check_event(queue->cq);
	soft_pending_begin(&wait);
	child = fork();
	if (!child)
		__real__exit(child_is_wrong());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "%x", status);
	/* And its parent goes on with it. */
	ck_assert(soft_pending_any());
	ck_assert_ptr_eq(soft_check_queues(), queue);
	soft_pending_end(&wait);
	ck_assert(!soft_pending_any());
}

/* What the parent of a fork had is not looked at. */
TEST(generation__another__nothing_is_counted)
{
	set_out();
	queue->generation++;
	check_event(queue->cq);
	check_acknowledging(queue->cq, 5);
	check_destroying(queue->cq);
	ck_assert_uint_eq(queue->events_read + queue->activity, 0);
	ck_assert_int_eq(fake_reports, 0);
	ck_assert_int_eq(post(3 * SIZE / 2, 1), 0);
}
