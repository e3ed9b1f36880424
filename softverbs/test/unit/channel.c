/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel -- completion notification exactly as specified
 *
 * A request for notification gives one event, for a completion that is added after it.
 */
#include "pair.h"

#include "softverbs/api/occur.h"
#include "softverbs/cq/cq.h"

#include "lib/late.h"

#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>

/* One message from a to b; the receive of b completes as `wr_id`. */
static void
send_one(uint64_t wr_id, unsigned int flags)
{
	side_receive(&b, wr_id, 0, 64);
	side_post(&a, IBV_WR_SEND, flags, wr_id, 0, 64);
}

PAIR_CASE("soft-channel:rule");

TEST(arm__completion_after__one_event)
{
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	channel_expect_no_event(b.channel);
	send_one(1, 0);
	channel_expect(b.channel, b.cq);
	channel_expect_no_event(b.channel);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
}

TEST(arm__completion_before__no_event)
{
	send_one(1, 0);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	channel_expect_no_event(b.channel);
	send_one(2, 0);
	channel_expect(b.channel, b.cq);
}

TEST(not_armed__completion__no_event)
{
	send_one(1, 0);
	channel_expect_no_event(b.channel);
}

TEST(arm__two_completions__one_event)
{
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	send_one(1, 0);
	send_one(2, 0);
	channel_expect(b.channel, b.cq);
	channel_expect_no_event(b.channel);
}

TEST(arm_twice__completion__one_event)
{
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	send_one(1, 0);
	send_one(2, 0);
	channel_expect(b.channel, b.cq);
	channel_expect_no_event(b.channel);
}

TEST(arm_after_each__two_events_unread__both_are_read)
{
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	send_one(1, 0);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	send_one(2, 0);
	channel_expect(b.channel, b.cq);
	channel_expect(b.channel, b.cq);
	channel_expect_no_event(b.channel);
}

/* Larger and smaller, with an entry in it. */
TEST(arm__queue_resized__event)
{
	send_one(1, 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
		ck_assert_int_eq(ibv_resize_cq(b.cq, i ? 8 : 1000), 0);
		channel_expect_no_event(b.channel);
		send_one(2, 0);
		channel_expect(b.channel, b.cq);
	}
}

TEST(arm_solicited__plain_message__no_event)
{
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 1), 0);
	send_one(1, 0);
	channel_expect_no_event(b.channel);
	send_one(2, IBV_SEND_SOLICITED);
	channel_expect(b.channel, b.cq);
	channel_expect_no_event(b.channel);
}

TEST(arm_solicited__error__event)
{
	side_receive(&b, 1, 0, 64);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 1), 0);
	side_to_error(&b);
	channel_expect(b.channel, b.cq);
	cq_expect(b.cq, 1, IBV_WC_WR_FLUSH_ERR);
}

TEST(arm_solicited_then_any__plain_message__event)
{
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 1), 0);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	send_one(1, 0);
	channel_expect(b.channel, b.cq);
}

TEST(arm_any_then_solicited__plain_message__event)
{
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 1), 0);
	send_one(1, 0);
	channel_expect(b.channel, b.cq);
}

TEST(solicited_flag__is_nothing_to_the_sender)
{
	ck_assert_int_eq(ibv_req_notify_cq(a.cq, 1), 0);
	send_one(1, IBV_SEND_SOLICITED | IBV_SEND_SIGNALED);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	channel_expect_no_event(a.channel);
}

TEST(unsignaled_send__no_event_and_no_entry)
{
	ck_assert_int_eq(ibv_req_notify_cq(a.cq, 0), 0);
	send_one(1, 0);
	channel_expect_no_event(a.channel);
	cq_expect_empty(a.cq);
}

PAIR_CASE("soft-channel:channel");

/* A queue with several events does not hold back those of others. */
/* origin: outside.139 */
TEST(two_cqs_with_two_events_each__take_turns)
{
	struct ibv_qp_init_attr init = { .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;
	struct ibv_cq *cqs[2];
	struct ibv_qp *qps[2];

	for (int i = 0; i < 2; i++) {
		cqs[i] = ibv_create_cq(b.context, 4, NULL, b.channel, 0);
		init.send_cq = init.recv_cq = cqs[i];
		qps[i] = ibv_create_qp(b.pd, &init);
		ck_assert_int_eq(ibv_modify_qp(qps[i], &attr, IBV_QP_STATE), 0);
		for (int j = 0; j < 2; j++) {
			ck_assert_int_eq(ibv_req_notify_cq(cqs[i], 0), 0);
			ck_assert_int_eq(ibv_post_recv(qps[i], &wr, &bad), 0);
		}
	}
	for (int i = 0; i < 4; i++)
		channel_expect(b.channel, cqs[i % 2]);
	channel_expect_no_event(b.channel);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(ibv_destroy_qp(qps[i]), 0);
		ck_assert_int_eq(ibv_destroy_cq(cqs[i]), 0);
	}
}

/* origin: out38.A1 */
TEST(three_cqs_on_one_channel__each_event_names_its_own)
{
	struct ibv_cq *cqs[3], *got;
	struct ibv_qp_init_attr init = { .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;
	struct ibv_qp *qps[3];
	int seen[3] = { 0 };
	void *context;

	for (int i = 0; i < 3; i++) {
		cqs[i] = ibv_create_cq(b.context, 4, &seen[i], b.channel, 0);
		ck_assert_ptr_nonnull(cqs[i]);
		ck_assert_int_eq(ibv_req_notify_cq(cqs[i], 0), 0);
		init.send_cq = init.recv_cq = cqs[i];
		qps[i] = ibv_create_qp(b.pd, &init);
		ck_assert_ptr_nonnull(qps[i]);
	}
	for (int i = 2; i >= 0; i--) {
		ck_assert_int_eq(ibv_modify_qp(qps[i], &attr, IBV_QP_STATE), 0);
		ck_assert_int_eq(ibv_post_recv(qps[i], &wr, &bad), 0);
	}
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(ibv_get_cq_event(b.channel, &got, &context), 0);
		++*(int *)context;
		ck_assert_ptr_eq(got, cqs[(int *)context - seen]);
		ibv_ack_cq_events(got, 1);
	}
	channel_expect_no_event(b.channel);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(seen[i], 1);
		ck_assert_int_eq(ibv_destroy_qp(qps[i]), 0);
		ck_assert_int_eq(ibv_destroy_cq(cqs[i]), 0);
	}
}

static atomic_bool acknowledged;

static void *
ack_later(void *cq)
{
	sleep_ms(50);
	acknowledged = true;
	ibv_ack_cq_events(cq, 2);
	return NULL;
}

/* Of three events one is acknowledged by itself, two by one call. */
TEST(destroy_cq__event_read_but_not_acknowledged__waits)
{
	struct ibv_cq *got;
	pthread_t thread;
	void *context;

	for (uint64_t i = 1; i <= 3; i++) {
		ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
		send_one(i, 0);
		ck_assert_int_eq(ibv_get_cq_event(b.channel, &got, &context), 0);
	}
	ibv_ack_cq_events(got, 1);
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, ack_later, got), 0);
	ck_assert_int_eq(ibv_destroy_cq(b.cq), 0);
	ck_assert(acknowledged);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	b.qp = NULL;
	b.cq = NULL;
}

TEST(destroy_cq__event_unread__is_dropped_and_the_channel_not_readable)
{
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	send_one(1, 0);
	ck_assert(channel_ready(b.channel));
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	ck_assert_int_eq(ibv_destroy_cq(b.cq), 0);
	b.qp = NULL;
	b.cq = NULL;
	channel_expect_no_event(b.channel);
}

TEST(destroy_cq__of_a_living_queue_pair__busy)
{
	ck_assert_int_eq(ibv_destroy_cq(b.cq), EBUSY);
	ck_assert_int_eq(ibv_destroy_comp_channel(b.channel), EBUSY);
}

TEST(get_event__nonblocking_and_none__EAGAIN)
{
	struct ibv_cq *cq;
	void *context;

	ck_assert_int_eq(fcntl(b.channel->fd, F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(ibv_get_cq_event(b.channel, &cq, &context), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	send_one(1, 0);
	channel_expect(b.channel, b.cq);
	ck_assert_int_eq(ibv_get_cq_event(b.channel, &cq, &context), -1);
}

static void *
send_later(void *unused)
{
	(void)unused;
	sleep_ms(30);
	send_one(1, 0);
	return NULL;
}

TEST(get_event__blocking__wakes_with_the_event)
{
	struct ibv_cq *cq;
	pthread_t thread;
	void *context;

	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, send_later, NULL), 0);
	ck_assert_int_eq(ibv_get_cq_event(b.channel, &cq, &context), 0);
	ck_assert_ptr_eq(cq, b.cq);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ibv_ack_cq_events(cq, 1);
}

static void *
get_one(void *unused)
{
	struct ibv_cq *cq;
	void *context;

	(void)unused;
	ck_assert_int_eq(ibv_get_cq_event(b.channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	return NULL;
}

TEST(two_blocked_readers__two_events__both_wake)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, get_one, NULL), 0);
	for (int i = 0; i < 2; i++) {
		sleep_ms(20);
		ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
		send_one((uint64_t)i, 0);
	}
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	channel_expect_no_event(b.channel);
}

static int
get_result(void)
{
	struct ibv_cq *cq;
	void *context;

	errno = 0;
	if (ibv_get_cq_event(b.channel, &cq, &context))
		return errno;
	ck_assert_ptr_eq(cq, b.cq);
	ibv_ack_cq_events(cq, 1);
	return 0;
}

static void *
get_to_the_end(void *events)
{
	int *count = events, r;

	while (!(r = get_result()))
		++*count;
	ck_assert_int_eq(r, EIO);
	return NULL;
}

static void
remove_the_device(void)
{
	const struct soft_rule rule = { .of = 0 };

	ck_assert(soft_occur(SOFT_INCIDENT_DEVICE_REMOVAL, &rule, true));
}

/* While three threads read to the end; how many events they got together. */
static int
remove_under_readers(void *(*read_to_the_end)(void *))
{
	int counts[3] = { 0 };
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, read_to_the_end, &counts[i]), 0);
	sleep_ms(20);
	remove_the_device();
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	return counts[0] + counts[1] + counts[2];
}

/* As a channel of the kernel whose device has gone.  An event that it has comes first. */
/* origin: out33.BB6 */
TEST_LOOP(device_is_removed__each_thread_that_waits_for_a_notification_gets_EIO, 2)
{
	struct pollfd fd = { .fd = b.channel->fd, .events = POLLIN };

	if (_i) {
		side_receive(&b, 1, 0, 64);
		ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	}
	ck_assert_int_eq(remove_under_readers(get_to_the_end), _i);
	ck_assert_int_eq(fcntl(fd.fd, F_SETFL, O_NONBLOCK), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(poll(&fd, 1, 0), 1);
		ck_assert_int_eq(get_result(), EIO);
	}
}

static void *
get_async_to_the_end(void *events)
{
	struct ibv_async_event event;
	int *count = events;

	while (!ibv_get_async_event(b.channel->context, &event)) {
		ck_assert_int_eq(event.event_type, IBV_EVENT_DEVICE_FATAL);
		ibv_ack_async_event(&event);
		++*count;
	}
	ck_assert_int_eq(errno, EIO);
	return NULL;
}

/* The same of its asynchronous events. */
/* origin: out33.BB6 */
TEST(device_is_removed__each_thread_that_waits_for_an_event_of_it_gets_EIO)
{
	struct pollfd fd = { .fd = b.channel->context->async_fd, .events = POLLIN };

	ck_assert_int_eq(remove_under_readers(get_async_to_the_end), 1);
	ck_assert_int_eq(poll(&fd, 1, 0), 1);
}

/* An event that was not read is not lost with the device. */
/* origin: out33.BB6 */
TEST(device_is_removed__an_unread_event_is_read_before_EIO)
{
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	send_one(1, 0);
	remove_the_device();
	ck_assert_int_eq(get_result(), 0);
	ck_assert_int_eq(get_result(), EIO);
}

static void *
wait_for_ever(void *unused)
{
	struct ibv_cq *cq;
	void *context;

	(void)unused;
	ibv_get_cq_event(b.channel, &cq, &context);
	return NULL;
}

TEST_LOOP(blocked_reader__can_be_cancelled_and_the_device_goes_on, !STORY_ASAN ? 1 : 0)
{
	pthread_t thread;
	void *result;

	ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
	sleep_ms(20);
	ck_assert_int_eq(pthread_cancel(thread), 0);
	ck_assert_int_eq(pthread_join(thread, &result), 0);
	ck_assert_ptr_eq(result, PTHREAD_CANCELED);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	send_one(1, 0);
	channel_expect(b.channel, b.cq);
}

/*
 * Messages that were posted, and entries of b that were taken: the other thread may sleep for long.
 */
static atomic_uint posted, taken;

static void *
post_for_ever(void *unused)
{
	(void)unused;
	for (;;) {
		(void)ibv_req_notify_cq(b.cq, 0);
		if (posted - taken < 32768) {
			(void)side_try_receive(&b, 1, 0, 8);
			posted += !side_try_post(&a, IBV_WR_SEND, 0, 1, 0, 8);
		}
		pthread_testcancel();
	}
	return NULL;
}

/* A thread cancelled while it rang a channel would leave every lock on the way held. */
TEST_LOOP(posting_thread__can_be_cancelled_and_the_device_goes_on, !STORY_ASAN ? 1 : 0)
{
	struct ibv_wc wc[16];
	pthread_t thread;
	int n;

	ck_assert_int_eq(ibv_resize_cq(b.cq, 65536), 0); /* the call does not wait */
	for (int i = 0; i < 30; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, post_for_ever, NULL), 0);
		for (int k = 0; k < 20; k++) {
			while ((n = ibv_poll_cq(b.cq, 16, wc)) > 0)
				taken += (unsigned int)n;
			if (channel_ready(b.channel))
				channel_expect(b.channel, b.cq);
		}
		ck_assert_int_eq(pthread_cancel(thread), 0);
		while (pthread_tryjoin_np(thread, NULL))
			while ((n = ibv_poll_cq(b.cq, 16, wc)) > 0)
				taken += (unsigned int)n;
	}
	while (ibv_poll_cq(b.cq, 16, wc) > 0)
		;
	(void)side_try_receive(&b, 7, 0, 8);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 8, 0, 8);
	cq_expect(a.cq, 8, IBV_WC_SUCCESS);
}

static _Atomic(bool) late_blocked, late_cancelled, late_returned;

static void *
late_call(void *unused)
{
	struct ibv_pd *pd;
	int type;

	(void)unused;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	late_blocked = late_block();
	while (!late_cancelled)
		continue;
	pd = ibv_alloc_pd(a.context);
	late_returned = pd;
	return NULL;
}

/* origin: out33.F1B */
TEST_LOOP(call__of_a_thread_to_which_the_signal_comes_late__begins_after_it, !STORY_ASAN ? 1 : 0)
{
	pthread_t thread;
	void *end;

	ck_assert_int_eq(pthread_create(&thread, NULL, late_call, NULL), 0);
	while (!late_blocked)
		sleep_ms(1);
	ck_assert_int_eq(pthread_cancel(thread), 0);
	late_cancelled = true;
	for (int i = 0; i < 100 && !late_returned; i++)
		sleep_ms(1);
	ck_assert(!late_returned);
	ck_assert_int_eq(late_arrive(thread), 0);
	ck_assert_int_eq(pthread_join(thread, &end), 0);
	ck_assert_ptr_eq(end, PTHREAD_CANCELED);
}

TEST(descriptors__are_closed_on_exec)
{
	ck_assert_int_eq(fcntl(b.channel->fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	ck_assert_int_eq(fcntl(b.context->async_fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

static void *
flood(void *unused)
{
	(void)unused;
	for (uint64_t i = 0; i < 20000; i++) {
		while (side_try_receive(&b, i, 0, 8))
			;
		while (side_try_post(&a, IBV_WR_SEND, 0, i, 0, 8))
			;
	}
	return NULL;
}

/* The consumer's loop that loses a wake-up if arm and push were not one step. */
TEST(arm_poll_wait__against_a_flood__nothing_is_lost)
{
	struct ibv_wc wc;
	pthread_t thread;
	uint64_t next = 0;

	ck_assert_int_eq(ibv_resize_cq(b.cq, 20000), 0); /* the events do not wait */
	ck_assert_int_eq(pthread_create(&thread, NULL, flood, NULL), 0);
	while (next < 20000) {
		ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
		while (ibv_poll_cq(b.cq, 1, &wc) == 1) {
			ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
			ck_assert_uint_eq(wc.wr_id, next++);
		}
		if (next < 20000)
			channel_expect(b.channel, b.cq);
	}
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* Which of the queues the next events are of: '0' to '2'; '-' for none. */
static void
expect_events(struct ibv_cq **cqs, const char *order)
{
	for (; *order; order++)
		if (*order == '-')
			channel_expect_no_event(a.channel);
		else
			channel_expect(a.channel, cqs[*order - '0']);
}

/*
 * A checker lets an event come before those that are there.  It posts as the queue does, under its
 * lock.
 */
/* origin: outside.150 */
TEST(events__of_several_queues__in_their_order__or_first)
{
	static const struct {
		const char *posts, *order; /* "0" posts one of queue 0, "0f" posts it first */
	} cases[] = {
		{ "0 1 2 ", "012-" },
		{ "0 0 1 ", "010-" },
		{ "0 0 0 1 1 ", "01010-" },
		{ "0f", "0-" },
		{ "0 1f", "10-" },
		{ "0 1f2f", "210-" },
		{ "0 1 1f", "101-" },
		{ "0 1 0f", "010-" },
		{ "0f0f1f", "100-" },
		{ "0 1 2f2f", "2012-" },
	};
	struct ibv_cq *cqs[3];

	for (int i = 0; i < 3; i++)
		cqs[i] = ibv_create_cq(a.context, 4, NULL, a.channel, 0);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		for (const char *post = cases[i].posts; *post; post += 2) {
			struct soft_cq *cq = soft_cq_of(cqs[*post - '0']);

			soft_cq_lock(cq);
			if (post[1] == 'f')
				soft_channel_post_first(cq->channel, cq);
			else
				soft_channel_post(cq->channel, cq);
			soft_cq_unlock(cq);
			ck_assert(channel_ready(a.channel));
		}
		expect_events(cqs, cases[i].order);
	}
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(ibv_destroy_cq(cqs[i]), 0);
}
