/* SPDX-License-Identifier: BSD-3-Clause */
/* Clauses e.6 and c.3.2: completion flags, of endpoints and of single operations. */
#include "lib/contract.h"

#define CONFIG (DAT_EVD_STATE_CONFIG_NOTIFY | DAT_EVD_STATE_CONFIG_SOLICITED)

static DAT_EP_ATTR
attr_with(DAT_EP_HANDLE like, DAT_COMPLETION_FLAGS recv, DAT_COMPLETION_FLAGS request)
{
	DAT_EP_PARAM param;

	dt_ok(dat_ep_query(like, DAT_EP_FIELD_EP_ATTR_ALL, &param));
	param.ep_attr.recv_completion_flags = recv;
	param.ep_attr.request_completion_flags = request;
	return param.ep_attr;
}

/* A connected pair whose second side has an endpoint with these flags, on EVDs of its own. */
static void
flagged_pair(struct dt_pair *pair, DAT_COMPLETION_FLAGS recv, DAT_COMPLETION_FLAGS request, int i)
{
	DAT_EP_ATTR attr;

	dt_personality(i);
	dt_pair_open(pair, DT_SEPARATE);
	attr = attr_with(pair->b.ep, recv, request);
	dt_ok(dat_ep_free(pair->b.ep));
	pair->b.ep = dt_ep(&pair->b, &attr);
	dt_connect_pair(pair);
}

static unsigned int
config(DAT_EVD_HANDLE evd)
{
	return contract_query(evd).evd_state & CONFIG;
}

DT_CASE("e.6-flags:configuration");

/* clause: c.3.2, c.3.1 */
TEST(evd__takes_its_configuration_from_its_endpoints)
{
	static const DAT_COMPLETION_FLAGS flags[] = { DAT_COMPLETION_DEFAULT_FLAG,
		DAT_COMPLETION_EVD_THRESHOLD_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG,
		DAT_COMPLETION_SOLICITED_WAIT_FLAG };
	static const unsigned int want[] = { DAT_EVD_STATE_CONFIG_NOTIFY,
		DAT_EVD_STATE_CONFIG_THRESHOLD, DAT_EVD_STATE_CONFIG_NOTIFY,
		DAT_EVD_STATE_CONFIG_SOLICITED };
	struct dt_side side;
	DAT_EP_HANDLE ep;
	DAT_EP_ATTR attr;

	contract_side(&side, 0);
	ck_assert_uint_eq(config(side.recv), DAT_EVD_STATE_CONFIG_THRESHOLD);
	for (int i = 0; i < 4; i++) {
		attr = attr_with(side.ep, flags[i], DAT_COMPLETION_DEFAULT_FLAG);
		side.recv = dt_evd(&side, DAT_EVD_DTO_FLAG, 8);
		ck_assert_uint_eq(contract_query(side.recv).evd_state,
		    DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_WAITABLE);
		ep = dt_ep(&side, &attr);
		ck_assert_uint_eq(config(side.recv), want[i]);
		ck_assert_uint_eq(config(side.request), DAT_EVD_STATE_CONFIG_THRESHOLD);
		dt_ok(dat_ep_free(ep));
		ck_assert_uint_eq(config(side.recv), 0);
	}
	dt_side_close(&side);
}

/* clause: e.6.10, c.3.2 */
/* origin: attack.C7, attack.K1 */
TEST(endpoints__of_any_flags__share_an_evd_that_reports_the_widest)
{
	static const DAT_COMPLETION_FLAGS flags[] = { DAT_COMPLETION_SOLICITED_WAIT_FLAG,
		DAT_COMPLETION_UNSIGNALLED_FLAG, DAT_COMPLETION_EVD_THRESHOLD_FLAG };
	static const unsigned int want[] = { DAT_EVD_STATE_CONFIG_SOLICITED,
		DAT_EVD_STATE_CONFIG_NOTIFY, DAT_EVD_STATE_CONFIG_THRESHOLD };
	struct dt_side side;
	DAT_EP_HANDLE ep[3];
	DAT_EP_ATTR attr;
	DAT_EVENT event;
	DAT_COUNT more;

	contract_side(&side, 0);
	side.recv = dt_evd(&side, DAT_EVD_DTO_FLAG, 8);
	for (int i = 0; i < 3; i++) {
		attr = attr_with(side.ep, flags[i], DAT_COMPLETION_DEFAULT_FLAG);
		ep[i] = dt_ep(&side, &attr);
		ck_assert_uint_eq(config(side.recv), want[i]);
		/* The wait leaves the device armed as the present endpoints need it. */
		dt_assert_type(
		    dat_evd_wait(side.recv, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	}
	dt_assert_ret(dat_evd_wait(side.recv, 0, 2, &event, &more),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	for (int i = 2; i >= 0; i--) {
		ck_assert_uint_eq(config(side.recv), want[i]);
		dt_ok(dat_ep_free(ep[i]));
	}
	ck_assert_uint_eq(config(side.recv), 0);
	dt_side_close(&side);
}

/* clause: e.6.10 */
/* origin: attack.K1 */
TEST(directions_of_an_endpoint__of_different_flags__share_an_evd)
{
	struct dt_side side;
	DAT_EP_ATTR attr;
	DAT_EP_HANDLE ep;

	contract_side(&side, 0);
	attr = attr_with(side.ep, DAT_COMPLETION_DEFAULT_FLAG, DAT_COMPLETION_SOLICITED_WAIT_FLAG);
	side.recv = dt_evd(&side, DAT_EVD_DTO_FLAG, 8);
	dt_ok(dat_ep_create(side.ia, side.pz, side.recv, side.recv, side.connect, &attr, &ep));
	ck_assert_uint_eq(config(side.recv), DAT_EVD_STATE_CONFIG_NOTIFY);
	dt_ok(dat_ep_free(ep));
	ck_assert_uint_eq(config(side.recv), 0);
	dt_side_close(&side);
}

/* clause: e.6.10 */
/* origin: attack.C7 */
TEST_LOOP(solicited_evd__waited_on__serves_a_plain_endpoint_at_once, dt_personalities())
{
	struct evd_waiter w;
	struct dt_pair pair;
	DAT_EVENT event;
	DAT_EP_ATTR attr;
	DAT_EP_HANDLE ep;
	DAT_COUNT more;

	dt_personality(_i);
	dt_pair_open(&pair, DT_SEPARATE);
	attr = attr_with(
	    pair.b.ep, DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_SOLICITED_WAIT_FLAG);
	dt_ok(dat_ep_free(pair.b.ep));
	ep = dt_ep(&pair.b, &attr);
	dt_assert_type(dat_evd_wait(pair.b.recv, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	dt_ok(dat_ep_free(ep));
	/* The device is still armed for solicited completions. */
	pair.b.ep = dt_ep(&pair.b, NULL);
	dt_connect_pair(&pair);
	dt_recv(&pair.b, 0, 64, 1);
	evd_waiter_start(&w, pair.b.recv, DT_FOREVER_MS * 1000u, 1);
	dt_send(&pair.a, 0, 64, 1);
	dt_ok(evd_waiter_join(&w));
	dt_pair_close(&pair);
}

/* clause: e.6.10, e.1.15 */
TEST(endpoint__modified__changes_what_its_evd_reports)
{
	struct dt_side side;
	DAT_EP_PARAM param;
	DAT_EP_HANDLE ep;

	contract_side(&side, 0);
	param.ep_attr = attr_with(side.ep, DAT_COMPLETION_UNSIGNALLED_FLAG, 0);
	dt_ok(dat_ep_modify(side.ep, DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, &param));
	ck_assert_uint_eq(config(side.recv), DAT_EVD_STATE_CONFIG_NOTIFY);
	ep = dt_ep(&side, &param.ep_attr);
	param.ep_attr.recv_completion_flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG;
	dt_ok(dat_ep_modify(side.ep, DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, &param));
	ck_assert_uint_eq(config(side.recv), DAT_EVD_STATE_CONFIG_THRESHOLD);
	param.ep_attr.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
	dt_ok(dat_ep_modify(side.ep, DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, &param));
	ck_assert_uint_eq(config(side.recv), DAT_EVD_STATE_CONFIG_NOTIFY);
	dt_ok(dat_ep_free(ep));
	ck_assert_uint_eq(config(side.recv), DAT_EVD_STATE_CONFIG_SOLICITED);
	param.ep_attr.recv_completion_flags = (DAT_COMPLETION_FLAGS)0x100;
	dt_assert_type(dat_ep_modify(side.ep, DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, &param),
	    DAT_INVALID_PARAMETER);
	dt_ok(dat_ep_query(side.ep, DAT_EP_FIELD_EP_ATTR_ALL, &param));
	ck_assert_int_eq(param.ep_attr.recv_completion_flags, DAT_COMPLETION_SOLICITED_WAIT_FLAG);
	dt_side_close(&side);
}

/* clause: c.4.11, e.6.8 */
TEST(threshold__above_one__needs_the_configuration)
{
	static const DAT_COMPLETION_FLAGS flags[] = { DAT_COMPLETION_UNSIGNALLED_FLAG,
		DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_DEFAULT_FLAG,
		DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_EVD_THRESHOLD_FLAG,
		DAT_COMPLETION_EVD_THRESHOLD_FLAG };
	struct dt_side side;
	DAT_EP_ATTR attr;
	DAT_EVENT event;
	DAT_COUNT more;

	contract_side(&side, 0);
	for (int i = 0; i < 6; i++) {
		attr = attr_with(side.ep, flags[i % 5], 0);
		side.recv = dt_evd(&side, DAT_EVD_DTO_FLAG, 8);
		/* Without an endpoint, or with one that has the default attributes, too. */
		dt_assert_type(dat_evd_wait(side.recv, 0, 2, &event, &more), DAT_TIMEOUT_EXPIRED);
		(void)dt_ep(&side, i == 5 ? NULL : &attr);
		if (i < 4)
			dt_assert_ret(dat_evd_wait(side.recv, 0, 2, &event, &more),
			    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
		else
			dt_assert_type(
			    dat_evd_wait(side.recv, 0, 2, &event, &more), DAT_TIMEOUT_EXPIRED);
		dt_assert_type(dat_evd_wait(side.recv, 0, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	}
	dt_side_close(&side);
}

/*
 * The completions that wake, by flag of the endpoint: several at once, signalled ones, solicited
 * ones.
 */
static const DAT_COMPLETION_FLAGS wishes[] = { DAT_COMPLETION_EVD_THRESHOLD_FLAG,
	DAT_COMPLETION_UNSIGNALLED_FLAG, DAT_COMPLETION_SOLICITED_WAIT_FLAG };
static const unsigned int wished[] = { DAT_EVD_STATE_CONFIG_THRESHOLD, DAT_EVD_STATE_CONFIG_NOTIFY,
	DAT_EVD_STATE_CONFIG_SOLICITED };
#define WISHES 3

/* Checks an EVD whose endpoints have each flag so many times. */
static void
expect_wishes(DAT_EVD_HANDLE evd, const int n[WISHES])
{
	unsigned int widest = 0;
	DAT_EVENT event;
	DAT_COUNT more;

	for (int i = WISHES - 1; i >= 0; i--)
		if (n[i])
			widest = wished[i];
	ck_assert_uint_eq(config(evd), widest);
	/* If some completions do not wake, a threshold above 1 might never be noticed. */
	if (n[1] || n[2])
		dt_assert_ret(dat_evd_wait(evd, 0, 2, &event, &more),
		    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	else
		dt_assert_type(dat_evd_wait(evd, 0, 2, &event, &more), DAT_TIMEOUT_EXPIRED);
	dt_assert_type(dat_evd_wait(evd, 0, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
}

/* clause: c.4.11, e.6.10 */
/* origin: outside.23 */
TEST(threshold__endpoints_of_any_flags_come_and_go__refused_while_one_is_selective)
{
	struct dt_side side;
	DAT_EP_HANDLE ep[3];
	DAT_EP_ATTR attr;

	contract_side(&side, 0);
	/* All triples of flags.  The endpoints are freed in turn, beginning with each of them. */
	for (int round = 0; round < 27 * 3; round++) {
		const int kind[3] = { round % 3, round / 3 % 3, round / 9 % 3 };
		int n[WISHES] = { 0, 0, 0 };

		side.recv = dt_evd(&side, DAT_EVD_DTO_FLAG, 8);
		for (int i = 0; i < 3; i++) {
			attr = attr_with(side.ep, wishes[kind[i]], DAT_COMPLETION_DEFAULT_FLAG);
			ep[i] = dt_ep(&side, &attr);
			n[kind[i]]++;
			expect_wishes(side.recv, n);
		}
		for (int i = 0; i < 3; i++) {
			const int leaving = (round / 27 + i) % 3;

			dt_ok(dat_ep_free(ep[leaving]));
			n[kind[leaving]]--;
			expect_wishes(side.recv, n);
		}
		dt_ok(dat_evd_free(side.recv));
	}
	dt_side_close(&side);
}

/* clause: c.4.11, e.6.10 */
/* origin: outside.23 */
TEST_LOOP(threshold__endpoint_is_modified_beside_another__refused_while_one_is_selective, 2)
{
	const DAT_EP_PARAM_MASK field = _i ? DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS :
					     DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS;
	const int flags = _i ? 2 : WISHES; /* a request has no solicited completion */
	struct dt_side side;
	DAT_EVD_HANDLE *const evd = _i ? &side.request : &side.recv;
	DAT_EP_HANDLE ep[2];
	DAT_EP_PARAM param;
	DAT_COMPLETION_FLAGS *const flag =
	    _i ? &param.ep_attr.request_completion_flags : &param.ep_attr.recv_completion_flags;
	int n[WISHES];

	contract_side(&side, 0);
	/* One endpoint does not change; the other changes from each flag to each. */
	for (int round = 0; round < flags * flags * flags; round++) {
		const int stays = round % flags, from = round / flags % flags;
		const int to = round / flags / flags;

		*evd = dt_evd(&side, DAT_EVD_DTO_FLAG, 8);
		param.ep_attr =
		    attr_with(side.ep, DAT_COMPLETION_DEFAULT_FLAG, DAT_COMPLETION_DEFAULT_FLAG);
		*flag = wishes[stays];
		ep[0] = dt_ep(&side, &param.ep_attr);
		*flag = wishes[from];
		ep[1] = dt_ep(&side, &param.ep_attr);
		memset(n, 0, sizeof n);
		n[stays]++;
		n[from]++;
		expect_wishes(*evd, n);
		*flag = wishes[to];
		dt_ok(dat_ep_modify(ep[1], field, &param));
		n[from]--;
		n[to]++;
		expect_wishes(*evd, n);
		dt_ok(dat_ep_free(ep[0]));
		n[stays]--;
		expect_wishes(*evd, n);
		dt_ok(dat_ep_free(ep[1]));
		dt_ok(dat_evd_free(*evd));
	}
	dt_side_close(&side);
}

DT_CASE("e.6-flags:flags");

/* clause: e.6.8, c.4.3 */
TEST_LOOP(threshold__of_completions__wakes_with_the_last_of_them, dt_personalities())
{
	struct evd_waiter w;
	struct dt_pair pair;
	DAT_EVENT event;

	contract_pair(&pair, DT_SEPARATE, _i);
	for (DAT_UINT64 i = 0; i < 5; i++)
		dt_recv(&pair.b, 0, 64, i);
	evd_waiter_start(&w, pair.b.recv, DT_FOREVER_MS * 1000u, 4);
	for (DAT_UINT64 i = 0; i < 3; i++)
		dt_send(&pair.a, 0, 64, i);
	dt_nap_ms(20);
	ck_assert_int_eq(w.done, 0);
	dt_send(&pair.a, 0, 64, 3);
	dt_ok(evd_waiter_join(&w));
	ck_assert_int_ge(w.more, 3);
	ck_assert_uint_eq(w.event.event_data.dto_completion_event_data.user_cookie.as_64, 0);
	for (DAT_UINT64 i = 1; i < 4; i++)
		dt_expect_dto(pair.b.recv, pair.b.ep, i, DAT_DTO_SUCCESS, &event);
	dt_pair_close(&pair);
}

/* clause: e.6.4 */
TEST_LOOP(suppress__on_success__makes_no_event_and_on_failure_one, dt_personalities())
{
	struct dt_pair pair;
	DAT_EVENT event;

	contract_pair(&pair, DT_SEPARATE, _i);
	for (DAT_UINT64 i = 0; i < 3; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_ok(dt_try_send(&pair.a, 0, 64, 1, DAT_COMPLETION_SUPPRESS_FLAG));
	dt_ok(dt_try_send(&pair.a, 0, 64, 2, DAT_COMPLETION_SUPPRESS_FLAG));
	dt_ok(dt_try_send(&pair.a, 0, 64, 3, DAT_COMPLETION_DEFAULT_FLAG));
	dt_expect_dto(pair.a.request, pair.a.ep, 3, DAT_DTO_SUCCESS, &event);
	dt_assert_empty(pair.a.request);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&pair.a);
	dt_ok(dt_try_send(&pair.a, 0, 64, 4, DAT_COMPLETION_SUPPRESS_FLAG));
	dt_expect_dto(pair.a.request, pair.a.ep, 4, DAT_DTO_ERR_FLUSHED, &event);
	dt_pair_close(&pair);
}

/* clause: e.6.6 */
TEST_LOOP(unsignalled__is_queued_and_wakes_no_waiter_and_no_cno, dt_personalities())
{
	struct dt_pair pair;
	struct evd_waiter w;
	DAT_EVD_HANDLE triggered;
	DAT_CNO_HANDLE cno;
	DAT_EVENT event;
	DAT_COUNT more;

	flagged_pair(&pair, 0, DAT_COMPLETION_UNSIGNALLED_FLAG, _i);
	for (DAT_UINT64 i = 0; i < 4; i++)
		dt_ok(dat_ep_post_recv(pair.a.ep, 0, NULL, dt_cookie(i), 0));
	evd_waiter_start(&w, pair.b.request, DT_FOREVER_MS * 1000u, 1);
	dt_ok(dt_try_send(&pair.b, 0, 0, 1, DAT_COMPLETION_UNSIGNALLED_FLAG));
	dt_expect_dto(pair.a.recv, pair.a.ep, 0, DAT_DTO_SUCCESS, &event);
	dt_nap_ms(10);
	ck_assert_int_eq(w.done, 0);
	dt_ok(dt_try_send(&pair.b, 0, 0, 2, DAT_COMPLETION_DEFAULT_FLAG));
	dt_ok(evd_waiter_join(&w));
	ck_assert_uint_eq(w.event.event_data.dto_completion_event_data.user_cookie.as_64, 1);
	dt_expect_dto(pair.b.request, pair.b.ep, 2, DAT_DTO_SUCCESS, &event);

	cno = contract_cno(&pair.b);
	dt_ok(dat_evd_modify_cno(pair.b.request, cno));
	dt_ok(dt_try_send(&pair.b, 0, 0, 3, DAT_COMPLETION_UNSIGNALLED_FLAG));
	dt_assert_type(dat_cno_wait(cno, 10000, &triggered), DAT_QUEUE_EMPTY);
	/* It is there soon, and each wait before and after ends by its timeout. */
	do
		dt_assert_type(
		    dat_evd_wait(pair.b.request, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	while (!more);
	ck_assert_int_eq(more, 1);
	dt_poll_next(pair.b.request, &event);
	ck_assert_uint_eq(event.event_data.dto_completion_event_data.user_cookie.as_64, 3);
	dt_pair_close(&pair);
}

/* clause: e.6.6 */
TEST_LOOP(unsignalled__that_fails__wakes, dt_personalities())
{
	struct dt_pair pair;
	DAT_EVENT event;

	flagged_pair(&pair, DAT_COMPLETION_UNSIGNALLED_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG, _i);
	dt_ok(dat_ep_post_recv(pair.b.ep, 0, NULL, dt_cookie(1), DAT_COMPLETION_UNSIGNALLED_FLAG));
	/* No receive takes it. */
	dt_ok(dt_try_send(&pair.b, 0, 0, 4, DAT_COMPLETION_UNSIGNALLED_FLAG));
	dt_ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_dto(pair.b.recv, pair.b.ep, 1, DAT_DTO_ERR_FLUSHED, &event);
	dt_expect_dto(pair.b.request, pair.b.ep, 4, DAT_DTO_ERR_FLUSHED, &event);
	/* What is posted now, which the provider flushes, too. */
	dt_ok(dat_ep_post_recv(pair.b.ep, 0, NULL, dt_cookie(2), DAT_COMPLETION_UNSIGNALLED_FLAG));
	dt_expect_dto(pair.b.recv, pair.b.ep, 2, DAT_DTO_ERR_FLUSHED, &event);
	dt_ok(dt_try_send(&pair.b, 0, 0, 3, DAT_COMPLETION_UNSIGNALLED_FLAG));
	dt_expect_dto(pair.b.request, pair.b.ep, 3, DAT_DTO_ERR_FLUSHED, &event);
	dt_pair_close(&pair);
}

/* clause: e.6.6 */
TEST(unsignalled__as_many_as_the_evd_holds__wake_for_room)
{
	struct dt_pair pair;
	DAT_EVENT event;
	int n;

	flagged_pair(&pair, 0, DAT_COMPLETION_UNSIGNALLED_FLAG, 0);
	dt_ok(dat_evd_resize(pair.b.request, 4));
	n = contract_query(pair.b.request).evd_qlen;
	for (int i = 0; i < n; i++) {
		dt_ok(dat_ep_post_recv(pair.a.ep, 0, NULL, dt_cookie(0), 0));
		dt_ok(dt_try_send(&pair.b, 0, 0, (DAT_UINT64)i, DAT_COMPLETION_UNSIGNALLED_FLAG));
	}
	for (int i = 0; i < n; i++) {
		if (i == 0)
			dt_next(pair.b.request, &event);
		else
			dt_poll_next(pair.b.request, &event);
		ck_assert_uint_eq(
		    event.event_data.dto_completion_event_data.user_cookie.as_64, (DAT_UINT64)i);
	}
	dt_pair_close(&pair);
}

/* clause: e.6.5 */
TEST_LOOP(
    solicited_wait__a_plain_message__does_not_wake_and_a_solicited_one_does, dt_personalities())
{
	struct dt_pair pair;
	struct evd_waiter w;
	DAT_EVENT event;

	/* A spurious or late device may wake the waiter, which then finds the message. */
	flagged_pair(&pair, DAT_COMPLETION_SOLICITED_WAIT_FLAG, 0, _i);
	for (DAT_UINT64 i = 0; i < 2; i++)
		dt_recv(&pair.b, 0, 64, i);
	evd_waiter_start(&w, pair.b.recv, DT_FOREVER_MS * 1000u, 1);
	dt_send(&pair.a, 0, 64, 1);
	dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
	dt_nap_ms(10);
	if (_i == 0)
		ck_assert_int_eq(w.done, 0);
	dt_ok(dt_try_send(&pair.a, 0, 64, 2, DAT_COMPLETION_SOLICITED_WAIT_FLAG));
	dt_ok(evd_waiter_join(&w));
	ck_assert_uint_eq(w.event.event_data.dto_completion_event_data.user_cookie.as_64, 0);
	dt_poll_next(pair.b.recv, &event);
	dt_pair_close(&pair);
}

/* clause: e.6.7 */
TEST_LOOP(barrier_fence__a_send_after_a_read__starts_when_the_read_has_ended, dt_personalities())
{
	struct dt_pair pair;
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	DAT_EVENT event;

	contract_pair(&pair, DT_SEPARATE, _i);
	for (DAT_UINT64 i = 0; i < 20; i++) {
		memset(pair.b.buffer, (int)i + 1, 1024);
		memset(pair.a.buffer, 0, 1024);
		local = dt_local(&pair.a, 0, 1024);
		remote = dt_remote(&pair.b, 0, 1024);
		dt_recv(&pair.b, 2048, 1024, i);
		dt_ok(dat_ep_post_rdma_read(
		    pair.a.ep, 1, &local, dt_cookie(i), &remote, DAT_COMPLETION_SUPPRESS_FLAG));
		/* Send back the message that was read. */
		dt_ok(dt_try_send(&pair.a, 0, 1024, i, DAT_COMPLETION_BARRIER_FENCE_FLAG));
		dt_expect_dto(pair.b.recv, pair.b.ep, i, DAT_DTO_SUCCESS, &event);
		ck_assert_int_eq(memcmp(pair.b.buffer, pair.b.buffer + 2048, 1024), 0);
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
	}
	dt_pair_close(&pair);
}

DT_CASE("e.6-flags:configuration");

/* clause: e.6.9 */
TEST(unknown_flags__are_refused)
{
	const DAT_COMPLETION_FLAGS unknown = (DAT_COMPLETION_FLAGS)0x40;
	struct dt_pair pair;
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	DAT_EP_ATTR attr;
	DAT_EP_HANDLE ep;

	contract_pair(&pair, DT_SEPARATE, 0);
	local = dt_local(&pair.a, 0, 64);
	remote = dt_remote(&pair.b, 0, 64);
	dt_assert_ret(dt_try_send(&pair.a, 0, 64, 1, unknown),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
	dt_assert_ret(dat_ep_post_recv(pair.a.ep, 1, &local, dt_cookie(1), unknown),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
	dt_assert_ret(dat_ep_post_rdma_write(pair.a.ep, 1, &local, dt_cookie(1), &remote, unknown),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
	dt_assert_ret(dat_ep_post_rdma_read(pair.a.ep, 1, &local, dt_cookie(1), &remote, unknown),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
	attr = attr_with(pair.a.ep, unknown, 0);
	dt_assert_ret(dat_ep_create(pair.a.ia, pair.a.pz, pair.a.recv, pair.a.request,
			  pair.a.connect, &attr, &ep),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
	dt_pair_close(&pair);
}
