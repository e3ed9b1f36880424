/* SPDX-License-Identifier: BSD-3-Clause */
/* Clause c.10: an EVD in use gets another length. */
#include "lib/contract.h"

static DAT_COUNT
max_qlen(const struct dt_side *side)
{
	DAT_IA_ATTR attr;

	dt_ok(dat_ia_query(side->ia, NULL, DAT_IA_FIELD_IA_MAX_EVD_QLEN, &attr, 0, NULL));
	return attr.max_evd_qlen;
}

DT_CASE("c.10-resize:rules");

/* clause: c.10.2, c.10.7 */
TEST(resize__bad_arguments__each_gets_its_own_code)
{
	const DAT_RETURN bad_length = DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	const DAT_RETURN bad_handle = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
	struct dt_side side;
	DAT_EVD_HANDLE evd;

	contract_side(&side, 0);
	evd = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 8);
	dt_assert_ret(dat_evd_resize(evd, 0), bad_length);
	dt_assert_ret(dat_evd_resize(evd, -1), bad_length);
	dt_assert_ret(dat_evd_resize(evd, max_qlen(&side) + 1), bad_length);
	dt_assert_ret(dat_evd_resize(side.recv, 0), bad_length);
	dt_assert_ret(dat_evd_resize(side.ep, 8), bad_handle);
	dt_ok(dat_evd_free(evd));
	dt_assert_ret(dat_evd_resize(evd, 8), bad_handle);
	dt_side_close(&side);
}

/* clause: c.10.1, c.10.3 */
TEST_LOOP(resize__of_software_events__keeps_all_in_order_or_refuses, dt_personalities())
{
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	contract_side(&side, _i);
	evd = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 4);
	dt_post_se(evd, 1);
	dt_post_se(evd, 2);
	contract_expect_se(evd, 1);
	for (uintptr_t i = 3; i <= 5; i++)
		dt_post_se(evd, i);
	dt_assert_ret(dat_evd_post_se(evd, &event), DAT_ERROR(DAT_QUEUE_FULL, DAT_NO_SUBTYPE));
	dt_ok(dat_evd_resize(evd, 7));
	ck_assert_int_ge(contract_query(evd).evd_qlen, 7);
	for (uintptr_t i = 6; i <= 8; i++)
		dt_post_se(evd, i);
	dt_assert_type(dat_evd_resize(evd, 6), DAT_INVALID_STATE);
	ck_assert_int_ge(contract_query(evd).evd_qlen, 7);
	contract_expect_se(evd, 2);
	dt_ok(dat_evd_resize(evd, 6));
	for (uintptr_t i = 3; i <= 8; i++)
		contract_expect_se(evd, i);
	dt_assert_empty(evd);
	dt_side_close(&side);
}

/* clause: c.10.4 */
TEST_LOOP(resize__a_waiter_is_blocked__is_refused_and_the_waiter_stays, dt_personalities())
{
	struct evd_waiter w;
	struct dt_side side;
	DAT_EVD_HANDLE evd;

	contract_side(&side, _i);
	evd = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG, 8);
	evd_waiter_start(&w, evd, DAT_TIMEOUT_INFINITE, 1);
	dt_assert_type(dat_evd_resize(evd, 128), DAT_INVALID_STATE);
	ck_assert_int_eq(w.done, 0);
	dt_post_se(evd, 7);
	dt_ok(evd_waiter_join(&w));
	dt_ok(dat_evd_resize(evd, 128));
	dt_side_close(&side);
}

/* clause: c.10.5 */
TEST_LOOP(resize__result_is_at_least_what_was_asked_for, dt_personalities())
{
	static const DAT_COUNT lengths[] = { 1, 2, 63, 64, 65, 1000, 3, 64, 4096, 1 };
	DAT_EVD_HANDLE software, dto;
	struct dt_side side;

	contract_side(&side, _i);
	software = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 8);
	dto = dt_evd(&side, DAT_EVD_DTO_FLAG, 8);
	dt_post_se(software, 1);
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		dt_ok(dat_evd_resize(software, lengths[i]));
		ck_assert_int_ge(contract_query(software).evd_qlen, lengths[i]);
		dt_ok(dat_evd_resize(software, contract_query(software).evd_qlen));
		dt_ok(dat_evd_resize(dto, lengths[i]));
		ck_assert_int_ge(contract_query(dto).evd_qlen, lengths[i]);
	}
	dt_ok(dat_evd_resize(side.recv, max_qlen(&side)));
	contract_expect_se(software, 1);
	dt_side_close(&side);
}

/* clause: c.10.6, c.10.1 */
TEST_LOOP(resize__with_completions_queued__keeps_them_and_its_queue_pairs, dt_personalities())
{
	struct dt_pair pair;
	DAT_EVENT event;

	contract_pair(&pair, DT_SEPARATE, _i);
	for (DAT_UINT64 i = 0; i < 8; i++) {
		dt_recv(&pair.b, 0, 64, i);
		dt_send(&pair.a, 0, 64, i);
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
	}
	/* A delayed device shows them late. */
	while (DAT_GET_TYPE(dat_evd_resize(pair.b.recv, 7)) != DAT_INVALID_STATE)
		dt_ok(dat_evd_resize(pair.b.recv, 300));
	dt_ok(dat_evd_resize(pair.b.recv, 300));
	dt_ok(dat_evd_resize(pair.b.recv, 8));
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_expect_dto(pair.b.recv, pair.b.ep, i, DAT_DTO_SUCCESS, &event);
	dt_assert_empty(pair.b.recv);
	dt_recv(&pair.b, 0, 64, 100);
	dt_send(&pair.a, 0, 64, 100);
	dt_expect_dto(pair.b.recv, pair.b.ep, 100, DAT_DTO_SUCCESS, &event);
	dt_pair_close(&pair);
}

#define DEEP 150 /* more than the shortest completion queue holds */

struct deep {
	DAT_EP_HANDLE ep;
	DAT_EVD_HANDLE connect; /* its own */
};

static struct deep
deep_ep(const struct dt_side *side, DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request)
{
	struct deep deep = { .connect = dt_evd(side, DAT_EVD_CONNECTION_FLAG, 8) };
	DAT_EP_PARAM param;

	dt_ok(dat_ep_query(side->ep, DAT_EP_FIELD_EP_ATTR_ALL, &param));
	param.ep_attr.max_recv_dtos = param.ep_attr.max_request_dtos = DEEP;
	dt_ok(dat_ep_create(
	    side->ia, side->pz, recv, request, deep.connect, &param.ep_attr, &deep.ep));
	return deep;
}

/*
 * The endpoint connects to a peer without receives, and disconnects.  All its outstanding
 * operations are flushed before its EVDs are polled.
 */
static void
flush_all(struct dt_pair *pair, const struct deep *deep)
{
	const DAT_EP_HANDLE peer = dt_ep(&pair->b, NULL);
	struct dt_side a = pair->a;

	a.ep = deep->ep;
	a.connect = deep->connect;
	for (DAT_UINT64 i = 0; i < DEEP; i++)
		dt_recv(&a, 0, 64, i);
	dt_connect(&a, &pair->b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(&pair->b), peer, 0, NULL));
	dt_expect_connection(pair->b.connect, DAT_CONNECTION_EVENT_ESTABLISHED, peer);
	dt_expect_established(&a);
	for (DAT_UINT64 i = 0; i < DEEP; i++)
		dt_send(&a, 0, 64, i);
	dt_ok(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_connection(pair->b.connect, DAT_CONNECTION_EVENT_DISCONNECTED, peer);
	dt_ok(dat_ep_free(peer));
}

/* Takes so many completions; the EVD stays usable. */
static void
expect_flushed(const struct dt_side *side, DAT_EVD_HANDLE evd, int n)
{
	DAT_EVENT event;

	while (n-- > 0) {
		dt_poll_next(evd, &event);
		ck_assert_int_eq(event.event_number, DAT_DTO_COMPLETION_EVENT);
	}
	dt_assert_empty(evd);
	dt_assert_empty(side->async);
}

static void
use_again(const struct deep *deep)
{
	dt_expect_connection(deep->connect, DAT_CONNECTION_EVENT_DISCONNECTED, deep->ep);
	dt_ok(dat_ep_reset(deep->ep));
}

static const DAT_COUNT any_length[] = { 1000, 10, 2 * DEEP, 1, 64 };
#define ANY_LENGTH (sizeof any_length / sizeof any_length[0])

DT_CASE("c.10-resize:deep");

/* A completion queue that overran cannot be used any more, nor can its EVD. */
/* clause: c.10.6 */
/* origin: outside.20 */
TEST_LOOP(
    resize__of_a_deep_endpoints_evds__leaves_room_for_all_that_it_may_post, dt_personalities())
{
	DAT_EVD_HANDLE recv, request;
	struct dt_pair pair;
	struct deep deep;

	dt_personality(_i);
	dt_pair_open(&pair, DT_SEPARATE);
	recv = dt_evd(&pair.a, DAT_EVD_DTO_FLAG, 8);
	request = dt_evd(&pair.a, DAT_EVD_DTO_FLAG, 8);
	deep = deep_ep(&pair.a, recv, request);
	for (size_t i = 0; i < ANY_LENGTH; i++) {
		dt_ok(dat_evd_resize(recv, any_length[i]));
		dt_ok(dat_evd_resize(request, any_length[ANY_LENGTH - 1 - i]));
		flush_all(&pair, &deep);
		expect_flushed(&pair.a, recv, DEEP);
		expect_flushed(&pair.a, request, DEEP);
		use_again(&deep);
	}
	dt_pair_close(&pair);
}

/* clause: c.10.6 */
/* origin: outside.20 */
TEST_LOOP(
    resize__of_an_evd_that_deep_endpoints_share__leaves_room_for_their_sum, dt_personalities())
{
	struct dt_pair pair;
	struct deep ep[2];
	DAT_EVD_HANDLE evd;

	dt_personality(_i);
	dt_pair_open(&pair, DT_SEPARATE);
	evd = dt_evd(&pair.a, DAT_EVD_DTO_FLAG, 8);
	ep[0] = deep_ep(&pair.a, evd, evd);
	ep[1] = deep_ep(&pair.a, evd, evd);
	for (size_t i = 0; i < ANY_LENGTH; i++) {
		dt_ok(dat_evd_resize(evd, any_length[i]));
		flush_all(&pair, &ep[0]);
		flush_all(&pair, &ep[1]);
		expect_flushed(&pair.a, evd, 4 * DEEP);
		use_again(&ep[0]);
		use_again(&ep[1]);
	}
	dt_pair_close(&pair);
}

/* clause: c.10.6 */
/* origin: outside.20 */
TEST_LOOP(resize__one_deep_endpoint_has_gone__leaves_room_for_the_other, dt_personalities())
{
	struct deep first, second;
	struct dt_pair pair;
	DAT_EVD_HANDLE evd;

	dt_personality(_i);
	dt_pair_open(&pair, DT_SEPARATE);
	evd = dt_evd(&pair.a, DAT_EVD_DTO_FLAG, 1000);
	dt_ok(dat_evd_resize(evd, 1)); /* no endpoint uses it yet */
	first = deep_ep(&pair.a, evd, evd);
	for (int i = 0; i < 4; i++) {
		second = deep_ep(&pair.a, evd, evd);
		dt_ok(dat_evd_resize(evd, 2));
		dt_ok(dat_ep_free(first.ep));
		dt_ok(dat_evd_free(first.connect));
		dt_ok(dat_evd_resize(evd, 1));
		flush_all(&pair, &second);
		expect_flushed(&pair.a, evd, 2 * DEEP);
		use_again(&second);
		first = second;
	}
	dt_pair_close(&pair);
}

struct traffic {
	struct dt_side *side;
	int n;
	_Atomic(int) credit;
};

static void *
send_all(void *arg)
{
	struct traffic *t = arg;
	DAT_EVENT event;

	for (int i = 0; i < t->n; i++) {
		while (t->credit <= i)
			dt_nap_ms(1);
		dt_send(t->side, 0, 64, (DAT_UINT64)i);
		dt_poll_next(t->side->request, &event);
	}
	return NULL;
}

#define CREDIT 8

DT_CASE("c.10-resize:load");

/* clause: c.10.1, c.10.6 */
TEST_LOOP(resize__under_load__loses_nothing_and_changes_no_order, dt_personalities())
{
	struct traffic t = { .n = contract_load(400), .credit = CREDIT };
	unsigned int resized = 0, noise = (unsigned int)_i + 1;
	struct dt_pair pair;
	pthread_t thread;
	DAT_EVENT event;
	DAT_RETURN ret;

	contract_pair(&pair, DT_SEPARATE, _i);
	t.side = &pair.a;
	for (DAT_UINT64 i = 0; i < CREDIT; i++)
		dt_recv(&pair.b, 0, 64, i);
	ck_assert_int_eq(pthread_create(&thread, NULL, send_all, &t), 0);
	for (int i = 0; i < t.n; i++) {
		noise = noise * 1103515245 + 12345;
		ret = dat_evd_resize(pair.b.recv, 1 + (DAT_COUNT)(noise >> 16) % 200);
		resized += ret == DAT_SUCCESS;
		if (ret != DAT_SUCCESS)
			dt_assert_type(ret, DAT_INVALID_STATE);
		dt_expect_dto(pair.b.recv, pair.b.ep, (DAT_UINT64)i, DAT_DTO_SUCCESS, &event);
		dt_recv(&pair.b, 0, 64, (DAT_UINT64)(i + CREDIT));
		t.credit++;
	}
	pthread_join(thread, NULL);
	ck_assert_uint_gt(resized, 0);
	dt_pair_close(&pair);
}

struct tally {
	_Atomic(int) n, wrong;
};

static void
count_in_order(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct tally *tally = instance;

	(void)more;
	if ((int)(uintptr_t)event->event_data.software_event_data.pointer != tally->n)
		tally->wrong++;
	tally->n++;
}

/* clause: c.10.1 */
TEST(resize__while_upcalls_run__each_event_makes_one_in_order)
{
	const int n = contract_load(2000);
	struct tally tally = { 0, 0 };
	DAT_UPCALL_OBJECT upcall = { &tally, count_in_order };
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_RETURN ret;

	contract_side(&side, 0);
	dt_ok(dat_evd_kcreate(side.ia, 8, DAT_UPCALL_SINGLE_INSTANCE, &upcall,
	    DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG, &evd));
	for (int i = 0; i < n;) {
		event.event_data.software_event_data.pointer = (DAT_PVOID)(uintptr_t)i;
		ret = dat_evd_post_se(evd, &event);
		i += ret == DAT_SUCCESS;
		if (ret != DAT_SUCCESS)
			dt_assert_type(ret, DAT_QUEUE_FULL);
		ret = dat_evd_resize(evd, 1 + i % 50);
		if (ret != DAT_SUCCESS)
			dt_assert_type(ret, DAT_INVALID_STATE);
	}
	dt_await_count(&tally.n, n);
	dt_ok(dat_evd_free(evd));
	ck_assert_int_eq(tally.n, n);
	ck_assert_int_eq(tally.wrong, 0);
	dt_side_close(&side);
}
