/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_evd_dequeue() while several completions are queued, and what else it must notice then. */
#include <pthread.h>
#include <stdatomic.h>

#include "deliver.h"
#include "lib/runner.h"

#define MESSAGES 6

/*
 * Waits for n completions and takes the first: the others are in the queue, not only in the device.
 */
static void
take_first_of(DAT_EVD_HANDLE evd, DAT_COUNT n)
{
	DAT_EVENT event;
	DAT_COUNT more;

	dt_ok(dat_evd_wait(evd, DT_FOREVER_MS * 1000u, n, &event, &more));
	ck_assert_int_eq(more, n - 1);
}

/* Takes a completion, into memory that has other contents, and compares every member. */
static void
take(DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, DAT_UINT64 cookie, DAT_DTOS operation,
    DAT_SEG_LENGTH length)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	DAT_EVENT event;

	memset(&event, 0xa5, sizeof event);
	dt_ok(dat_evd_dequeue(evd, &event));
	ck_assert_int_eq(event.event_number, DAT_DTO_COMPLETION_EVENT);
	ck_assert_ptr_eq(event.evd_handle, evd);
	dto = &event.event_data.dto_completion_event_data;
	ck_assert_ptr_eq(dto->ep_handle, ep);
	ck_assert_uint_eq(dto->user_cookie.as_64, cookie);
	ck_assert_int_eq(dto->status, DAT_DTO_SUCCESS);
	ck_assert_uint_eq(dto->transfered_length, length);
	ck_assert_int_eq((int)dto->operation, (int)operation);
	ck_assert_uint_eq(dto->rmr_context, 0);
}

DT_CASE("dequeue:dequeue");

/* clause: c.5.1 */
TEST(several_queued__receives__each_is_whole_and_in_order)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < MESSAGES; i++)
		deliver(&pair, 8 * (i + 1), i);
	take_first_of(pair.b.recv, MESSAGES);
	for (DAT_UINT64 i = 1; i < MESSAGES; i++)
		take(pair.b.recv, pair.b.ep, i, DAT_DTO_RECEIVE, 8 * (i + 1));
	dt_assert_empty(pair.b.recv);
	dt_pair_close(&pair);
}

/* clause: c.5.1 */
TEST(several_queued__requests__each_is_whole_and_in_order)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < MESSAGES; i++) {
		dt_recv(&pair.b, 0, 64, i);
		dt_send(&pair.a, 0, 8 * (i + 1), i);
	}
	take_first_of(pair.a.request, MESSAGES);
	for (DAT_UINT64 i = 1; i < MESSAGES; i++)
		take(pair.a.request, pair.a.ep, i, DAT_DTO_SEND, 8 * (i + 1));
	dt_assert_empty(pair.a.request);
	dt_pair_close(&pair);
}

/* Rings are used again and again: each place is free when its completion was taken. */
TEST(several_queued__more_often_than_a_ring_has_places__all_are_taken)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	for (DAT_UINT64 round = 0; round < 200; round++) {
		for (DAT_UINT64 i = 0; i < 3; i++)
			deliver(&pair, 8 * (i + 1), 3 * round + i);
		take_first_of(pair.b.recv, 3);
		for (DAT_UINT64 i = 1; i < 3; i++)
			take(pair.b.recv, pair.b.ep, 3 * round + i, DAT_DTO_RECEIVE, 8 * (i + 1));
	}
	dt_assert_empty(pair.b.recv);
	dt_pair_close(&pair);
}

/* The queue is never empty, so its first place moves to the end and from there to the start. */
TEST(several_queued__some_always_stay__all_are_taken_in_order)
{
	struct dt_pair pair;
	DAT_UINT64 sent = 0, taken = 0;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_pair_open(&pair, DT_SEPARATE);
	(void)give_evd(&pair.b, DAT_EVD_DTO_FLAG, 4);
	dt_connect_pair(&pair);
	deliver(&pair, 8, sent++);
	for (int round = 0; round < 100; round++) {
		while (sent < taken + 3)
			deliver(&pair, 8, sent++);
		dt_ok(dat_evd_wait(pair.b.recv, DT_FOREVER_MS * 1000u, 3, &event, &more));
		ck_assert_uint_eq(
		    event.event_data.dto_completion_event_data.user_cookie.as_64, taken++);
		take(pair.b.recv, pair.b.ep, taken++, DAT_DTO_RECEIVE, 8);
	}
	dt_pair_close(&pair);
}

/* The completions that stay need their places in the ring. */
TEST(several_queued__one_is_taken__there_is_room_for_one_receive)
{
	struct dt_pair pair;
	DAT_EP_PARAM param;
	DAT_COUNT depth;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_ep_query(pair.b.ep, DAT_EP_FIELD_ALL, &param));
	depth = param.ep_attr.max_recv_dtos;
	dt_connect_pair(&pair);
	for (DAT_COUNT i = 0; i < depth; i++)
		deliver(&pair, 8, (DAT_UINT64)i);
	take_first_of(pair.b.recv, depth);
	dt_recv(&pair.b, 0, 64, 0);
	dt_assert_type(dt_try_recv(&pair.b, 0, 64, 0), DAT_INSUFFICIENT_RESOURCES);
	for (DAT_COUNT i = 1; i < depth; i++) {
		take(pair.b.recv, pair.b.ep, (DAT_UINT64)i, DAT_DTO_RECEIVE, 8);
		dt_recv(&pair.b, 0, 64, 0);
		dt_assert_type(dt_try_recv(&pair.b, 0, 64, 0), DAT_INSUFFICIENT_RESOURCES);
	}
	dt_pair_close(&pair);
}

TEST(several_queued__software_event_among_them__is_taken_in_its_place)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	(void)give_evd(&pair.b, DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, 64);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < 4; i++)
		deliver(&pair, 8, i);
	take_first_of(pair.b.recv, 4);
	dt_post_se(pair.b.recv, 42);
	for (DAT_UINT64 i = 4; i < 8; i++)
		deliver(&pair, 8, i);
	/* Of the completions, 1 to 3 were queued before the software event, the others after it. */
	dt_ok(dat_evd_wait(pair.b.recv, DT_FOREVER_MS * 1000u, 8, &event, &(DAT_COUNT){ 0 }));
	ck_assert_uint_eq(event.event_data.dto_completion_event_data.user_cookie.as_64, 1);
	take(pair.b.recv, pair.b.ep, 2, DAT_DTO_RECEIVE, 8);
	take(pair.b.recv, pair.b.ep, 3, DAT_DTO_RECEIVE, 8);
	dt_ok(dat_evd_dequeue(pair.b.recv, &event));
	ck_assert_int_eq(event.event_number, DAT_SOFTWARE_EVENT);
	for (DAT_UINT64 i = 4; i < 8; i++)
		take(pair.b.recv, pair.b.ep, i, DAT_DTO_RECEIVE, 8);
	dt_assert_empty(pair.b.recv);
	dt_pair_close(&pair);
}

/* clause: c.5.1 */
TEST(one_queued__software_event_before_it__is_taken_after_that)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	(void)give_evd(&pair.b, DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, 64);
	dt_connect_pair(&pair);
	dt_post_se(pair.b.recv, 41);
	dt_post_se(pair.b.recv, 42);
	deliver(&pair, 8, 0);
	dt_ok(dat_evd_wait(pair.b.recv, DT_FOREVER_MS * 1000u, 3, &event, &(DAT_COUNT){ 0 }));
	ck_assert_int_eq(event.event_number, DAT_SOFTWARE_EVENT);
	dt_ok(dat_evd_dequeue(pair.b.recv, &event));
	ck_assert_int_eq(event.event_number, DAT_SOFTWARE_EVENT);
	take(pair.b.recv, pair.b.ep, 0, DAT_DTO_RECEIVE, 8);
	dt_assert_empty(pair.b.recv);
	dt_pair_close(&pair);
}

struct waiter {
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_RETURN ret;
};

static void *
wait_for_three(void *arg)
{
	struct waiter *w = arg;

	w->ret = dat_evd_wait(w->evd, DT_FOREVER_MS * 1000u, 3, &w->event, &w->more);
	return NULL;
}

/* clause: c.5.4 */
TEST(several_queued__a_thread_waits_for_more__is_refused)
{
	struct dt_pair pair;
	pthread_t thread;
	struct waiter w;
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_RETURN ret;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < 3; i++)
		deliver(&pair, 8, i);
	take_first_of(pair.b.recv, 3);
	w = (struct waiter){ .evd = pair.b.recv };
	pthread_create(&thread, NULL, wait_for_three, &w);
	/* A wait for more than there is takes nothing, and is refused when the thread waits. */
	do
		ret = dat_evd_wait(pair.b.recv, 0, 3, &event, &more);
	while (DAT_GET_TYPE(ret) == DAT_TIMEOUT_EXPIRED);
	dt_assert_type(ret, DAT_INVALID_STATE);
	dt_assert_type(dat_evd_dequeue(pair.b.recv, &event), DAT_INVALID_STATE);
	deliver(&pair, 8, 3);
	pthread_join(thread, NULL);
	dt_ok(w.ret);
	ck_assert_uint_eq(w.event.event_data.dto_completion_event_data.user_cookie.as_64, 1);
	ck_assert_int_eq(w.more, 2);
	take(pair.b.recv, pair.b.ep, 2, DAT_DTO_RECEIVE, 8);
	take(pair.b.recv, pair.b.ep, 3, DAT_DTO_RECEIVE, 8);
	dt_pair_close(&pair);
}

static DAT_UINT64
arms_of(DAT_EVD_HANDLE evd)
{
	struct dat_rearm_evd_counters counters;

	dt_ok(dat_evd_query_upcall_counters(evd, &counters));
	return counters.arms;
}

/*
 * The queue is full and the device has more.  A consumer that takes as many events as the queue
 * holds is notified of the others.
 */
TEST(full__consumer_takes_what_is_queued__the_rest_is_reported)
{
	const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };
	DAT_EVD_HANDLE triggered;
	DAT_COUNT qlen, taken = 0;
	struct dt_pair pair;
	DAT_CNO_HANDLE cno;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	qlen = give_evd(&pair.b, DAT_EVD_DTO_FLAG, 4);
	dt_ok(dat_cno_create(pair.b.ia, no_agent, &cno));
	dt_ok(dat_evd_modify_cno(pair.b.recv, cno));
	dt_ok(dat_evd_disable(pair.b.recv));
	dt_connect_pair(&pair);
	for (DAT_COUNT i = 0; i < qlen + 2; i++)
		deliver(&pair, 8, (DAT_UINT64)i);
	dt_ok(dat_evd_enable(pair.b.recv));
	dt_ok(dat_cno_wait(cno, DT_FOREVER_MS * 1000u, &triggered));
	/* The loop fills the queue, and arms. */
	for (int i = 0; i < DT_FOREVER_MS && arms_of(pair.b.recv) == 0; i++)
		dt_nap_ms(1);
	for (; taken < qlen; taken++)
		take(pair.b.recv, pair.b.ep, (DAT_UINT64)taken, DAT_DTO_RECEIVE, 8);
	dt_ok(dat_cno_wait(cno, DT_FOREVER_MS * 1000u, &triggered));
	ck_assert_ptr_eq(triggered, pair.b.recv);
	for (; taken < qlen + 2; taken++)
		dt_poll_next(pair.b.recv, &event);
	dt_assert_empty(pair.b.recv);
	dt_pair_close(&pair);
}

/* clause: c.4.3 */
TEST(several_queued__waits_for_one__take_them_in_order_and_count_the_rest)
{
	struct dt_pair pair;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < MESSAGES; i++)
		deliver(&pair, 8, i);
	take_first_of(pair.b.recv, MESSAGES);
	for (DAT_UINT64 i = 1; i < MESSAGES; i++) {
		memset(&event, 0xa5, sizeof event);
		dt_ok(dat_evd_wait(pair.b.recv, 0, 1, &event, &more));
		ck_assert_ptr_eq(event.evd_handle, pair.b.recv);
		ck_assert_uint_eq(event.event_data.dto_completion_event_data.user_cookie.as_64, i);
		ck_assert_int_eq(more, MESSAGES - 1 - (int)i);
	}
	dt_assert_empty(pair.b.recv);
	dt_pair_close(&pair);
}

/* clause: c.4.12 */
TEST(several_queued__unwaitable__a_wait_is_refused_and_takes_none)
{
	struct dt_pair pair;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < MESSAGES; i++)
		deliver(&pair, 8, i);
	take_first_of(pair.b.recv, MESSAGES);
	dt_ok(dat_evd_set_unwaitable(pair.b.recv));
	dt_assert_ret(dat_evd_wait(pair.b.recv, 0, 1, &event, &more),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE));
	take(pair.b.recv, pair.b.ep, 1, DAT_DTO_RECEIVE, 8);
	dt_pair_close(&pair);
}

struct waits_inside {
	DAT_EVD_HANDLE evd;
	DAT_RETURN ret;
	atomic_int calls;
};

static void
wait_inside(DAT_PVOID arg, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct waits_inside *inside = arg;
	DAT_EVENT other;
	DAT_COUNT left;

	(void)event;
	(void)more;
	if (atomic_load(&inside->calls) == 0)
		inside->ret = dat_evd_wait(inside->evd, 0, 1, &other, &left);
	atomic_fetch_add(&inside->calls, 1);
}

/* clause: c.14.27 */
TEST(several_queued__upcalls_enabled__a_wait_is_refused_and_takes_none)
{
	struct waits_inside inside = { .calls = 0 };
	const DAT_UPCALL_OBJECT object = { &inside, wait_inside };
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < MESSAGES; i++)
		deliver(&pair, 8, i);
	take_first_of(pair.b.recv, MESSAGES);
	inside.evd = pair.b.recv;
	dt_ok(dat_evd_modify_upcall(
	    pair.b.recv, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_ANY));
	dt_await_count(&inside.calls, MESSAGES - 1);
	dt_ok(dat_evd_modify_upcall(
	    pair.b.recv, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY));
	ck_assert_int_eq(DAT_GET_TYPE(inside.ret), DAT_INVALID_STATE);
	ck_assert_int_eq(atomic_load(&inside.calls), MESSAGES - 1);
	dt_pair_close(&pair);
}
