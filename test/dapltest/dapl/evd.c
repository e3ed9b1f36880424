/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "lib/dt.h"

#define STREAMS 6

static const DAT_EVD_FLAGS stream[STREAMS] = {
	DAT_EVD_SOFTWARE_FLAG,
	DAT_EVD_CR_FLAG,
	DAT_EVD_DTO_FLAG,
	DAT_EVD_CONNECTION_FLAG,
	DAT_EVD_RMR_BIND_FLAG,
	DAT_EVD_ASYNC_FLAG,
};

DT_CASE("evd:create");

/* clause: c.2.2, c.2.3, c.2.4, c.2.5, c.2.6 */
TEST(create__bad_arguments__each_gets_its_own_code)
{
	DAT_EVD_HANDLE evd = (DAT_EVD_HANDLE)5;
	struct dt_side side;
	DAT_IA_ATTR attr;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_ia_query(side.ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
	dt_assert_ret(dat_evd_create(side.ia, 0, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(
	    dat_evd_create(side.ia, attr.max_evd_qlen + 1, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd),
	    DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD));
	dt_assert_ret(dat_evd_create(side.ia, 4, side.ep, DAT_EVD_DTO_FLAG, &evd),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
	dt_assert_ret(dat_evd_create(side.ia, 4, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)0, &evd),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	dt_assert_ret(dat_evd_create(side.ia, 4, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)0x4000, &evd),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	dt_assert_ret(dat_evd_create(side.ia, 4, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
	ck_assert_ptr_eq(evd, (DAT_EVD_HANDLE)5);
	dt_side_close(&side);
}

/* clause: c.2.4, c.2.7 */
TEST(create__as_long_as_the_adapter_can__works)
{
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_EVD_PARAM param;
	DAT_IA_ATTR attr;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_ia_query(side.ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
	dt_ok(dat_evd_create(side.ia, attr.max_evd_qlen, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd));
	dt_ok(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
	ck_assert_int_eq(param.evd_qlen, attr.max_evd_qlen);
	dt_ok(dat_evd_free(evd));
	dt_side_close(&side);
}

/* clause: c.2.8 */
TEST(create__any_merge_of_two_streams__works)
{
	struct dt_side side;
	DAT_EVD_PARAM param;
	DAT_EVD_HANDLE evd;

	dt_side_open(&side, "soft", DT_SEPARATE);
	for (int i = 0; i < STREAMS; i++)
		for (int j = 0; j < STREAMS; j++) {
			DAT_EVD_FLAGS flags = stream[i] | stream[j];

			dt_ok(dat_evd_create(side.ia, 10, DAT_HANDLE_NULL, flags, &evd));
			dt_ok(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
			ck_assert_ptr_eq(param.ia_handle, side.ia);
			ck_assert_int_eq(param.evd_flags, flags);
			ck_assert_int_ge(param.evd_qlen, 10);
			ck_assert_int_eq(
			    param.evd_state, DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_WAITABLE);
			ck_assert_ptr_null(param.cno_handle);
			dt_ok(dat_evd_free(evd));
		}
	dt_side_close(&side);
}

DT_CASE("evd:wait");

/* clause: g.1.1, c.1.1 */
TEST(raw_codes__that_stock_programs_compare__are_kept)
{
	struct dt_side side;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_side_open(&side, "soft", DT_SEPARATE);
	ck_assert_uint_eq(dat_evd_dequeue(side.recv, &event), 0x000D0000);
	ck_assert_uint_eq(dat_evd_dequeue(side.connect, &event), 0x800D0000);
	ck_assert_uint_eq(dat_evd_wait(side.recv, 10, 1, &event, &more), 0x000F0000);
	ck_assert_uint_eq(dat_evd_wait(side.connect, 10, 1, &event, &more), 0x800F0000);
	ck_assert_uint_eq(dat_evd_wait(side.recv, 0, 1, &event, &more), 0x000F0000);
	ck_assert_uint_eq(dat_evd_wait(side.connect, 0, 1, &event, &more), 0x800F0000);
	dt_side_close(&side);
}

/* clause: c.4.9, c.4.10, c.4.11 */
TEST(wait__bad_arguments__each_gets_its_own_code)
{
	struct dt_side side;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_ret(dat_evd_wait(side.recv, 0, 1, NULL, &more),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	dt_assert_ret(dat_evd_wait(side.recv, 0, 1, &event, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
	dt_assert_ret(dat_evd_wait(side.recv, 0, 0, &event, &more),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_assert_ret(dat_evd_wait(side.recv, 0, 100000, &event, &more),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_assert_ret(
	    dat_evd_dequeue(side.recv, NULL), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_side_close(&side);
}

/* clause: c.4.4 */
TEST(wait__below_the_threshold__times_out_and_takes_nothing)
{
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more = -1;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 8);
	dt_post_se(evd, 1);
	dt_post_se(evd, 2);
	dt_assert_type(dat_evd_wait(evd, 2000, 3, &event, &more), DAT_TIMEOUT_EXPIRED);
	ck_assert_int_eq(more, 2);
	dt_post_se(evd, 3);
	dt_ok(dat_evd_wait(evd, 2000, 3, &event, &more));
	ck_assert_int_eq(more, 2);
	ck_assert_ptr_eq(event.event_data.software_event_data.pointer, (void *)1);
	dt_side_close(&side);
}

struct waiter {
	DAT_EVD_HANDLE evd;
	pthread_t thread;
	_Atomic(int) ready;
	DAT_RETURN ret;
	DAT_EVENT event;
	DAT_COUNT more;
};

static void *
wait_body(void *arg)
{
	struct waiter *w = arg;

	w->ready = 1;
	w->ret = dat_evd_wait(w->evd, DT_FOREVER_MS * 1000u, 1, &w->event, &w->more);
	return NULL;
}

/* Starts a thread that is, very probably, blocked in dat_evd_wait() afterwards. */
static void
start_waiter(struct waiter *w, DAT_EVD_HANDLE evd)
{
	*w = (struct waiter){ .evd = evd };
	pthread_create(&w->thread, NULL, wait_body, w);
	dt_await_count(&w->ready, 1);
	dt_nap_ms(20);
}

/* clause: c.9.6 */
TEST(wait__post_from_another_thread__wakes_also_on_a_dto_evd)
{
	struct dt_side side;
	struct waiter w;
	DAT_EVD_HANDLE evd;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = dt_evd(&side, DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, 8);
	start_waiter(&w, evd);
	dt_post_se(evd, 42);
	pthread_join(w.thread, NULL);
	dt_ok(w.ret);
	ck_assert_ptr_eq(w.event.event_data.software_event_data.pointer, (void *)42);
	dt_side_close(&side);
}

/* clause: c.4.1, c.5.4 */
TEST(wait__while_another_waits__is_refused_as_is_dequeue)
{
	struct dt_side side;
	struct waiter w;
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_EVD_HANDLE evd;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = dt_evd(&side, DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, 8);
	start_waiter(&w, evd);
	dt_assert_type(dat_evd_wait(evd, 1000, 1, &event, &more), DAT_INVALID_STATE);
	dt_assert_type(dat_evd_dequeue(evd, &event), DAT_INVALID_STATE);
	dt_post_se(evd, 1);
	pthread_join(w.thread, NULL);
	dt_ok(w.ret);
	dt_side_close(&side);
}

/* clause: c.4.12, c.7.1 */
TEST(set_unwaitable__wakes_the_waiter_and_refuses_the_next)
{
	struct dt_side side;
	struct waiter w;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_side_open(&side, "soft", DT_SEPARATE);
	start_waiter(&w, side.recv);
	dt_ok(dat_evd_set_unwaitable(side.recv));
	pthread_join(w.thread, NULL);
	dt_assert_ret(w.ret, DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE));
	dt_assert_ret(dat_evd_wait(side.recv, 0, 1, &event, &more),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE));
	dt_assert_empty(side.recv);
	dt_ok(dat_evd_clear_unwaitable(side.recv));
	dt_assert_type(dat_evd_wait(side.recv, 0, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	dt_side_close(&side);
}

DT_CASE("evd:free");

/* clause: c.4.14, c.12.3 */
TEST(free__with_a_blocked_waiter__aborts_it)
{
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	struct waiter w;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = dt_evd(&side, DAT_EVD_DTO_FLAG, 8);
	start_waiter(&w, evd);
	dt_ok(dat_evd_free(evd));
	pthread_join(w.thread, NULL);
	dt_assert_ret(w.ret, DAT_ERROR(DAT_ABORT, DAT_NO_SUBTYPE));
	dt_side_close(&side);
}

/* clause: c.4.14, e.9.1 */
TEST(close__with_a_blocked_waiter__aborts_it)
{
	struct dt_side side;
	struct waiter w;

	dt_side_open(&side, "soft", DT_SEPARATE);
	start_waiter(&w, side.recv);
	dt_side_close(&side);
	pthread_join(w.thread, NULL);
	dt_assert_ret(w.ret, DAT_ERROR(DAT_ABORT, DAT_NO_SUBTYPE));
}

/* clause: c.12.1 */
TEST(free__in_use__is_refused_until_the_user_goes)
{
	struct dt_side side;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_side_listen(&side);
	dt_assert_ret(
	    dat_evd_free(side.recv), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
	dt_assert_ret(
	    dat_evd_free(side.connect), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
	dt_assert_ret(
	    dat_evd_free(side.cr), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
	dt_ok(dat_ep_free(side.ep));
	dt_ok(dat_evd_free(side.recv));
	dt_ok(dat_evd_free(side.request));
	dt_ok(dat_evd_free(side.connect));
	dt_ok(dat_psp_free(side.psp));
	dt_ok(dat_evd_free(side.cr));
	dt_side_close(&side);
}

DT_CASE("evd:software");

/* clause: c.9.1, c.9.3, c.9.4, c.9.5, d.0.15 */
/* origin: peer.24 */
TEST(post_se__rules__are_kept)
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	struct dt_side side;
	DAT_EVD_HANDLE evd;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_ret(
	    dat_evd_post_se(side.recv, &event), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	evd = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 3);
	dt_assert_ret(
	    dat_evd_post_se(evd, NULL), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	event.event_number = DAT_DTO_COMPLETION_EVENT;
	dt_assert_ret(
	    dat_evd_post_se(evd, &event), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	event.event_number = DAT_SOFTWARE_EVENT;
	for (uintptr_t i = 0; i < 3; i++)
		dt_post_se(evd, i);
	dt_assert_ret(dat_evd_post_se(evd, &event), DAT_ERROR(DAT_QUEUE_FULL, DAT_NO_SUBTYPE));
	for (uintptr_t i = 0; i < 3; i++) {
		dt_ok(dat_evd_dequeue(evd, &event));
		ck_assert_ptr_eq(event.event_data.software_event_data.pointer, (void *)i);
	}
	dt_assert_empty(evd);
	dt_assert_stays_empty(side.async); /* a software event that is refused is not an overflow */
	dt_side_close(&side);
}

TEST(counters__count_what_happened)
{
	struct dat_rearm_evd_counters counters;
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 8);
	dt_post_se(evd, 1);
	dt_post_se(evd, 2);
	dt_ok(dat_evd_dequeue(evd, &event));
	dt_ok(dat_evd_query_upcall_counters(evd, &counters));
	ck_assert_uint_eq(counters.software_events, 2);
	ck_assert_uint_eq(counters.max_depth, 2);
	ck_assert_uint_eq(counters.upcalls, 0);
	dt_side_close(&side);
}

/* The return codes of an EVD depend on its own streams, not on those of the slot's previous EVD. */
/* origin: outside.45 */
TEST(slot__held_a_queue_then_none__returns_what_one_without_does)
{
	static const DAT_EVD_FLAGS flags[] = { DAT_EVD_SOFTWARE_FLAG, DAT_EVD_DTO_FLAG };
	DAT_RETURN dequeued[2], waited[2], posted[2];
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	DAT_COUNT more;

	dt_side_open(&side, "soft", DT_SEPARATE);
	for (int i = 0; i < 6; i++) {
		const int kind = i % 2;
		DAT_RETURN ret;

		evd = dt_evd(&side, flags[kind], 8);
		ret = dat_evd_dequeue(evd, &event);
		ck_assert(i < 2 || ret == dequeued[kind]);
		dequeued[kind] = ret;
		ret = dat_evd_wait(evd, 0, 1, &event, &more);
		ck_assert(i < 2 || ret == waited[kind]);
		waited[kind] = ret;
		event.event_number = DAT_SOFTWARE_EVENT;
		ret = dat_evd_post_se(evd, &event);
		ck_assert(i < 2 || ret == posted[kind]);
		posted[kind] = ret;
		dt_ok(dat_evd_free(evd));
	}
	ck_assert_uint_ne(posted[0], posted[1]);
	ck_assert_uint_ne(dequeued[0], dequeued[1]);
	dt_side_close(&side);
}

/* A program that was built with a shorter structure, or a longer one. */
/* origin: outside.42 */
TEST_LOOP(counters__of_another_size__are_what_both_know, 5)
{
	struct {
		struct dat_rearm_evd_counters known;
		DAT_UINT64 more[2];
	} counters;
	const size_t sizes[] = { 0, sizeof(DAT_UINT64), sizeof counters.known - sizeof(DAT_UINT64),
		sizeof counters.known, sizeof counters };
	const size_t size = sizes[_i];
	unsigned char *bytes = (unsigned char *)&counters;
	struct dat_rearm_evd_counters all;
	struct dt_side side;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_evd_query_upcall_counters(side.recv, &all));
	memset(&counters, 0xa5, sizeof counters);
	dt_ok(dat_extension_op(
	    side.recv, DAT_REARM_EVD_COUNTERS_OP, &counters.known, (DAT_UINT32)size));
	ck_assert_mem_eq(bytes, &all, size < sizeof all ? size : sizeof all);
	for (size_t i = sizeof all; i < size; i++)
		ck_assert_uint_eq(bytes[i], 0);
	for (size_t i = size; i < sizeof counters; i++)
		ck_assert_uint_eq(bytes[i], 0xa5);
	dt_side_close(&side);
}

#define NEXT 8

DT_CASE("evd:free");

/*
 * An endpoint uses a connection EVD of another adapter, which closes.  Until the endpoint is freed,
 * the slot of that EVD is not reused: the new EVD would get the endpoint's events.
 */
/* origin: outside.25 */
TEST_LOOP(close__endpoints_of_another_adapter_hold_an_evd__its_place_stays_theirs, 2)
{
	const int n = _i + 1;
	struct dt_side user, next;
	DAT_EVD_HANDLE lent, async, evd[NEXT];
	DAT_EP_HANDLE ep[2];
	DAT_IA_HANDLE lender;

	lender = dt_open("soft", &async);
	dt_ok(dat_evd_create(lender, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &lent));
	dt_side_open(&user, "soft", DT_SEPARATE);
	dt_side_open(&next, "soft", DT_SEPARATE);
	for (int i = 0; i < n; i++)
		dt_ok(dat_ep_create(user.ia, user.pz, user.recv, user.request, lent, NULL, &ep[i]));
	dt_ok(dat_ia_close(lender, DAT_CLOSE_ABRUPT_FLAG));
	for (int i = 0; i < NEXT; i++)
		evd[i] = dt_evd(&next, DAT_EVD_CONNECTION_FLAG, 8);
	/* No listener: each attempt ends with an event, which finds no EVD. */
	for (int i = 0; i < n; i++) {
		dt_ok(dat_ep_connect(ep[i], dt_address(user.ia), 1, DAT_TIMEOUT_INFINITE, 0, NULL,
		    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
		dt_await_state(ep[i], DAT_EP_STATE_DISCONNECTED);
	}
	for (int i = 0; i < NEXT; i++)
		dt_assert_empty(evd[i]);
	/* The references that are dropped belong to the old EVD. */
	for (int i = 0; i < n; i++) {
		dt_ok(dat_ep_free(ep[i]));
		for (int j = 0; j < NEXT; j++)
			dt_assert_empty(evd[j]);
	}
	for (int i = 0; i < NEXT; i++) {
		const DAT_EP_HANDLE one = next.ep;

		dt_ok(dat_ep_create(
		    next.ia, next.pz, next.recv, next.request, evd[i], NULL, &next.ep));
		dt_assert_ret(dat_evd_free(evd[i]),
		    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
		dt_ok(dat_ep_free(next.ep));
		dt_ok(dat_evd_free(evd[i]));
		next.ep = one;
	}
	dt_side_close(&user);
	dt_side_close(&next);
}
