/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/dt.h"

#include <dat2/dat_log.h>
#include <stdio.h>

static void
fill(char *at, size_t n, unsigned int seed)
{
	for (size_t i = 0; i < n; i++)
		at[i] = (char)(seed + i * 7);
}

static const DAT_DTO_COMPLETION_EVENT_DATA *
dto_of(const DAT_EVENT *event)
{
	return &event->event_data.dto_completion_event_data;
}

DT_CASE("dto:transfer");

/* clause: d.0.1, d.1.1, d.1.2, d.1.3 */
TEST(send__arrives_and_every_field_of_both_events_is_filled)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_recv(&pair.b, 0, 512, 21);
	dt_connect_pair(&pair);
	fill(pair.a.buffer, 300, 3);
	dt_send(&pair.a, 0, 300, 12);
	memset(&event, 0xaa, sizeof event);
	dt_expect_dto(pair.b.recv, pair.b.ep, 21, DAT_DTO_SUCCESS, &event);
	ck_assert_int_eq(dto_of(&event)->operation, DAT_DTO_RECEIVE);
	ck_assert_uint_eq(dto_of(&event)->transfered_length, 300);
	ck_assert_uint_eq(dto_of(&event)->rmr_context, 0);
	ck_assert_mem_eq(pair.b.buffer, pair.a.buffer, 300);
	memset(&event, 0xaa, sizeof event);
	dt_expect_dto(pair.a.request, pair.a.ep, 12, DAT_DTO_SUCCESS, &event);
	ck_assert_int_eq(dto_of(&event)->operation, DAT_DTO_SEND);
	ck_assert_uint_eq(dto_of(&event)->transfered_length, 300);
	dt_pair_close(&pair);
}

TEST(send__gathers_and_receive_scatters)
{
	struct dt_pair pair;
	DAT_LMR_TRIPLET from[3], to[2];
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	from[0] = dt_local(&pair.a, 0, 100);
	from[1] = dt_local(&pair.a, 1000, 0);
	from[2] = dt_local(&pair.a, 2000, 50);
	to[0] = dt_local(&pair.b, 500, 120);
	to[1] = dt_local(&pair.b, 3000, 500);
	dt_ok(dat_ep_post_recv(pair.b.ep, 2, to, dt_cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
	dt_connect_pair(&pair);
	fill(pair.a.buffer, DT_BUFFER, 9);
	dt_ok(dat_ep_post_send(pair.a.ep, 3, from, dt_cookie(2), DAT_COMPLETION_DEFAULT_FLAG));
	dt_expect_dto(pair.b.recv, pair.b.ep, 1, DAT_DTO_SUCCESS, &event);
	ck_assert_uint_eq(dto_of(&event)->transfered_length, 150);
	ck_assert_mem_eq(pair.b.buffer + 500, pair.a.buffer, 100);
	ck_assert_mem_eq(pair.b.buffer + 600, pair.a.buffer + 2000, 20);
	ck_assert_mem_eq(pair.b.buffer + 3000, pair.a.buffer + 2020, 30);
	dt_pair_close(&pair);
}

TEST(send__of_nothing__arrives_as_nothing)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_recv(&pair.b, 0, 64, 1);
	dt_connect_pair(&pair);
	dt_ok(dat_ep_post_send(pair.a.ep, 0, NULL, dt_cookie(2), DAT_COMPLETION_DEFAULT_FLAG));
	dt_expect_dto(pair.b.recv, pair.b.ep, 1, DAT_DTO_SUCCESS, &event);
	ck_assert_uint_eq(dto_of(&event)->transfered_length, 0);
	dt_pair_close(&pair);
}

/* clause: g.1.6 */
TEST(rdma_write__lands_without_the_other_ends_doing)
{
	struct dt_pair pair;
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	fill(pair.a.buffer, 1000, 1);
	local = dt_local(&pair.a, 0, 1000);
	remote = dt_remote(&pair.b, 64, 1000);
	dt_ok(dat_ep_post_rdma_write(
	    pair.a.ep, 1, &local, dt_cookie(3), &remote, DAT_COMPLETION_DEFAULT_FLAG));
	dt_expect_dto(pair.a.request, pair.a.ep, 3, DAT_DTO_SUCCESS, &event);
	ck_assert_int_eq(dto_of(&event)->operation, DAT_DTO_RDMA_WRITE);
	ck_assert_uint_eq(dto_of(&event)->transfered_length, 1000);
	ck_assert_mem_eq(pair.b.buffer + 64, pair.a.buffer, 1000);
	dt_assert_stays_empty(pair.b.recv);
	dt_pair_close(&pair);
}

TEST(rdma_read__brings_what_the_remote_triplet_says)
{
	struct dt_pair pair;
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	fill(pair.b.buffer, 2000, 5);
	local = dt_local(&pair.a, 0, 2000);
	remote = dt_remote(&pair.b, 100, 700); /* less than fits here */
	dt_ok(dat_ep_post_rdma_read(
	    pair.a.ep, 1, &local, dt_cookie(4), &remote, DAT_COMPLETION_DEFAULT_FLAG));
	dt_expect_dto(pair.a.request, pair.a.ep, 4, DAT_DTO_SUCCESS, &event);
	ck_assert_int_eq(dto_of(&event)->operation, DAT_DTO_RDMA_READ);
	ck_assert_uint_eq(dto_of(&event)->transfered_length, 700);
	ck_assert_mem_eq(pair.a.buffer, pair.b.buffer + 100, 700);
	ck_assert_int_eq(pair.a.buffer[700], 0);
	dt_pair_close(&pair);
}

DT_CASE("dto:refusal");

/* origin: out33.F7 */
TEST(rdma__lengths_that_do_not_fit__are_length_errors)
{
	struct dt_pair pair;
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	local = dt_local(&pair.a, 0, 100);
	remote = dt_remote(&pair.b, 0, 50);
	dt_assert_ret(dat_ep_post_rdma_write(
			  pair.a.ep, 1, &local, dt_cookie(1), &remote, DAT_COMPLETION_DEFAULT_FLAG),
	    DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE));
	remote = dt_remote(&pair.b, 0, 101);
	dt_assert_ret(dat_ep_post_rdma_read(
			  pair.a.ep, 1, &local, dt_cookie(1), &remote, DAT_COMPLETION_DEFAULT_FLAG),
	    DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE));
	dt_assert_stays_empty(pair.a.request);
	dt_pair_close(&pair);
}

/*
 * What is read, and what the local memory has room for beyond it: the one is the request, the other
 * is not.
 */
/* origin: out33.F6 */
TEST(rdma_read__into_more_than_it_reads__looks_at_no_more)
{
	struct dt_pair pair;
	DAT_LMR_TRIPLET local[2];
	DAT_RMR_TRIPLET remote;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	fill(pair.b.buffer, 64, 5);
	/* The region ends in the first piece, and there is none at the second. */
	local[0] = dt_local(&pair.a, DT_BUFFER - 64, 0x40000000);
	local[1] = (DAT_LMR_TRIPLET){ .virtual_address = 1, .segment_length = 0x40000000 };
	remote = dt_remote(&pair.b, 0, 64);
	dt_ok(dat_ep_post_rdma_read(
	    pair.a.ep, 2, local, dt_cookie(4), &remote, DAT_COMPLETION_DEFAULT_FLAG));
	dt_expect_dto(pair.a.request, pair.a.ep, 4, DAT_DTO_SUCCESS, &event);
	ck_assert_uint_eq(dto_of(&event)->transfered_length, 64);
	ck_assert_mem_eq(pair.a.buffer + DT_BUFFER - 64, pair.b.buffer, 64);
	/* One byte more is not in the region. */
	remote = dt_remote(&pair.b, 0, 65);
	dt_ok(dat_ep_post_rdma_read(
	    pair.a.ep, 2, local, dt_cookie(5), &remote, DAT_COMPLETION_DEFAULT_FLAG));
	dt_expect_dto(pair.a.request, pair.a.ep, 5, DAT_DTO_ERR_LOCAL_PROTECTION, &event);
	dt_pair_close(&pair);
}

/* dtest of dapl2-utils asks for the size of one buffer and transfers several at once. */
TEST(endpoint__made_for_small_messages__transfers_larger_ones)
{
	struct dt_pair pair;
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	DAT_EP_PARAM param;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_ep_query(pair.a.ep, DAT_EP_FIELD_ALL, &param));
	param.ep_attr.max_message_size = param.ep_attr.max_rdma_size = 64;
	pair.a.ep = dt_ep(&pair.a, &param.ep_attr);
	dt_connect_pair(&pair);
	fill(pair.a.buffer, 640, 8);
	local = dt_local(&pair.a, 0, 640);
	remote = dt_remote(&pair.b, 0, 640);
	dt_ok(dat_ep_post_rdma_write(
	    pair.a.ep, 1, &local, dt_cookie(1), &remote, DAT_COMPLETION_DEFAULT_FLAG));
	dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
	ck_assert_mem_eq(pair.b.buffer, pair.a.buffer, 640);
	dt_pair_close(&pair);
}

/* clause: e.1.17 */
TEST(post__bad_arguments__each_gets_its_own_code)
{
	struct dt_pair pair;
	DAT_LMR_TRIPLET iov[8];

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	for (int i = 0; i < 8; i++)
		iov[i] = dt_local(&pair.a, 0, 8);
#define DEFAULT DAT_COMPLETION_DEFAULT_FLAG
	dt_assert_ret(dat_ep_post_send(pair.a.ep, 5, iov, dt_cookie(1), DEFAULT),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(dat_ep_post_send(pair.a.ep, -1, iov, dt_cookie(1), DEFAULT),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(dat_ep_post_send(pair.a.ep, 1, NULL, dt_cookie(1), DEFAULT),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_assert_ret(
	    dat_ep_post_send(pair.a.ep, 1, iov, dt_cookie(1), (DAT_COMPLETION_FLAGS)0x800),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
	dt_assert_ret(dat_ep_post_rdma_write(pair.a.ep, 1, iov, dt_cookie(1), NULL, DEFAULT),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
	dt_assert_ret(dat_ep_post_recv(pair.a.ep, 1, NULL, dt_cookie(1), DEFAULT),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
#undef DEFAULT
	dt_assert_stays_empty(pair.a.request);
	dt_pair_close(&pair);
}

/* clause: e.1.11, e.1.12 */
TEST(post__in_a_wrong_state__is_refused_but_receives_never_are)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_assert_ret(dt_try_send(&pair.a, 0, 8, 1, DAT_COMPLETION_DEFAULT_FLAG),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
	dt_recv(&pair.a, 0, 8, 1);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_assert_ret(dt_try_send(&pair.a, 0, 8, 1, DAT_COMPLETION_DEFAULT_FLAG),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_ACTCONNPENDING));
	dt_recv(&pair.a, 0, 8, 2);
	dt_pair_close(&pair);
}

/* clause: g.1.3, e.1.17 */
TEST(depth__receives_beyond_it__are_refused_until_one_completes)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	for (DAT_UINT64 i = 0; i < 16; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_assert_type(dt_try_recv(&pair.b, 0, 64, 16), DAT_INSUFFICIENT_RESOURCES);
	dt_connect_pair(&pair);
	dt_send(&pair.a, 0, 8, 0);
	dt_expect_dto(pair.b.recv, pair.b.ep, 0, DAT_DTO_SUCCESS, &event);
	dt_recv(&pair.b, 0, 64, 16);
	dt_assert_type(dt_try_recv(&pair.b, 0, 64, 17), DAT_INSUFFICIENT_RESOURCES);
	dt_pair_close(&pair);
}

TEST(depth__that_is_no_power_of_two__is_exact)
{
	struct dt_side side;
	DAT_EP_PARAM param;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_ep_query(side.ep, DAT_EP_FIELD_ALL, &param));
	param.ep_attr.max_recv_dtos = 5;
	side.ep = dt_ep(&side, &param.ep_attr);
	for (DAT_UINT64 i = 0; i < 5; i++)
		dt_recv(&side, 0, 64, i);
	dt_assert_type(dt_try_recv(&side, 0, 64, 5), DAT_INSUFFICIENT_RESOURCES);
	dt_side_close(&side);
}

/* The flags of the i-th request: none, and each that changes what its completion does. */
static DAT_COMPLETION_FLAGS
mixed_flags(int mix, int i)
{
	static const DAT_COMPLETION_FLAGS flags[] = { DAT_COMPLETION_DEFAULT_FLAG,
		DAT_COMPLETION_SUPPRESS_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG };

	return flags[mix < 3 ? mix : i % 3];
}

static void
dequeue_all(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;

	while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
		;
}

/* So many requests fit when the events of earlier ones are taken, and no more. */
static void
fill_up(struct dt_side *side, int room, int mix)
{
	const DAT_RETURN full = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
	DAT_RETURN ret = full;

	for (int i = 0; i < room; i++) {
		/* Completions may still be on the way. */
		for (int ms = 0; ms < DT_FOREVER_MS; ms++) {
			dequeue_all(side->request);
			ret = dt_try_send(side, 0, 8, 1, mixed_flags(mix, i));
			if (ret == DAT_SUCCESS)
				break;
			dt_assert_ret(ret, full);
			dt_nap_ms(1);
		}
		dt_ok(ret);
	}
	dt_assert_ret(dt_try_send(side, 0, 8, 1, mixed_flags(mix, 0)), full);
	dequeue_all(side->request);
	dt_assert_ret(dt_try_send(side, 0, 8, 1, mixed_flags(mix, 0)), full);
}

#define MIXES 4

/*
 * The peer takes nothing until it posts a receive: each makes room for one request, whatever its
 * flags are.
 */
/* origin: out33.T3 */
TEST_LOOP(depth__requests_to_a_peer_that_stands_still__are_counted_one_by_one, 3 * MIXES)
{
	static const DAT_COUNT depths[] = { 1, 5, 8 };
	const DAT_COUNT depth = depths[_i / MIXES];
	const int mix = _i % MIXES;
	struct dt_pair pair;
	DAT_EP_PARAM param;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_ep_query(pair.a.ep, DAT_EP_FIELD_ALL, &param));
	param.ep_attr.max_request_dtos = depth;
	pair.a.ep = dt_ep(&pair.a, &param.ep_attr);
	dt_connect_pair(&pair);
	fill_up(&pair.a, depth, mix);
	for (int round = 0, received = 0; round < 3 * depth; round++) {
		const int n = round % depth + 1;

		for (int i = 0; i < n; i++)
			dt_recv(&pair.b, 0, 64, (DAT_UINT64)received + (DAT_UINT64)i);
		for (int i = 0; i < n; i++, received++)
			dt_expect_dto(
			    pair.b.recv, pair.b.ep, (DAT_UINT64)received, DAT_DTO_SUCCESS, &event);
		fill_up(&pair.a, n, mix);
	}
	dt_pair_close(&pair);
}

DT_CASE("dto:completion");

/* clause: e.6.4 */
TEST(suppressed__successes_make_no_event_and_never_fill_the_queue)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_recv(&pair.b, 0, 64, 0);
	dt_connect_pair(&pair);
	/* Many times the depth of the request queue, sometimes with an event. */
	for (DAT_UINT64 i = 0; i < 200; i++) {
		bool shown = i % 10 == 9;

		dt_ok(dt_try_send(&pair.a, 0, 8, i,
		    shown ? DAT_COMPLETION_DEFAULT_FLAG : DAT_COMPLETION_SUPPRESS_FLAG));
		dt_expect_dto(pair.b.recv, pair.b.ep, i, DAT_DTO_SUCCESS, &event);
		dt_recv(&pair.b, 0, 64, i + 1);
		if (shown)
			dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
	}
	dt_assert_stays_empty(pair.a.request);
	dt_pair_close(&pair);
}

TEST(suppressed__all_of_them__complete_although_the_evd_is_never_polled)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_recv(&pair.b, 0, 64, 0);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < 100; i++) {
		dt_ok(dt_try_send(&pair.a, 0, 8, i, DAT_COMPLETION_SUPPRESS_FLAG));
		dt_expect_dto(pair.b.recv, pair.b.ep, i, DAT_DTO_SUCCESS, &event);
		dt_recv(&pair.b, 0, 64, i + 1);
	}
	dt_assert_stays_empty(pair.a.request);
	dt_pair_close(&pair);
}

/* clause: e.6.4 */
TEST(suppressed__failures_make_an_event)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	/* waits for a receive */
	dt_ok(dt_try_send(&pair.a, 0, 8, 1, DAT_COMPLETION_SUPPRESS_FLAG));
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_ERR_FLUSHED, &event);
	dt_pair_close(&pair);
}

/* clause: e.1.13 */
/* origin: peer.31 */
TEST(get_status__returns_what_is_outstanding)
{
	DAT_BOOLEAN recv_idle, request_idle;
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	dt_ok(dat_ep_get_status(pair.a.ep, NULL, &recv_idle, &request_idle));
	ck_assert_int_eq(recv_idle, DAT_TRUE);
	ck_assert_int_eq(request_idle, DAT_TRUE);
	dt_send(&pair.a, 0, 8, 1);
	dt_recv(&pair.a, 0, 8, 1);
	dt_ok(dat_ep_get_status(pair.a.ep, NULL, &recv_idle, &request_idle));
	ck_assert_int_eq(recv_idle, DAT_FALSE);
	ck_assert_int_eq(request_idle, DAT_FALSE);
	dt_recv(&pair.b, 0, 8, 1);
	/* Each is asked for alone, and no thread polls its EVD. */
	for (request_idle = DAT_FALSE; !request_idle;)
		dt_ok(dat_ep_get_status(pair.a.ep, NULL, NULL, &request_idle));
	dt_send(&pair.b, 0, 8, 2);
	for (recv_idle = DAT_FALSE; !recv_idle;)
		dt_ok(dat_ep_get_status(pair.a.ep, NULL, &recv_idle, NULL));
	dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
	dt_ok(dat_ep_get_status(pair.a.ep, NULL, NULL, &request_idle));
	ck_assert_int_eq(request_idle, DAT_TRUE);
	dt_pair_close(&pair);
}

/* clause: e.6.8, c.4.3 */
TEST(wait__threshold_on_completions__returns_with_that_many)
{
	struct dt_pair pair;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_pair_open(&pair, DT_SEPARATE);
	for (DAT_UINT64 i = 0; i < 10; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < 9; i++)
		dt_send(&pair.a, 0, 8, i);
	dt_assert_type(dat_evd_wait(pair.b.recv, 20000, 10, &event, &more), DAT_TIMEOUT_EXPIRED);
	ck_assert_int_eq(more, 9);
	dt_send(&pair.a, 0, 8, 9);
	dt_ok(dat_evd_wait(pair.b.recv, DT_FOREVER_MS * 1000u, 10, &event, &more));
	ck_assert_int_eq(more, 9);
	ck_assert_uint_eq(dto_of(&event)->user_cookie.as_64, 0);
	dt_pair_close(&pair);
}

DT_CASE("dto:refusal");

TEST(evd__without_a_direction__refuses_its_posts)
{
	struct dt_side side;
	DAT_LMR_TRIPLET iov;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_ep_free(side.ep));
	dt_ok(dat_ep_create(
	    side.ia, side.pz, DAT_HANDLE_NULL, side.request, side.connect, NULL, &side.ep));
	iov = dt_local(&side, 0, 8);
	dt_assert_ret(dat_ep_post_recv(side.ep, 1, &iov, dt_cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_EVD_RECV));
	dt_side_close(&side);
}

/* What was reported of requests that wait. */
static char told[512];
static _Atomic(int) told_count;

static void
tell(DAT_PVOID context, DAT_LOG_LEVEL level, const char *line)
{
	(void)context;
	ck_assert_int_eq(level, DAT_LOG_ERROR);
	snprintf(told, sizeof told, "%s", strstr(line, "]: ") ? strstr(line, "]: ") + 3 : line);
	told_count++;
}

/*
 * The other end does not post what this one waits for: nothing else would say why.  The sender is
 * the endpoint that was made last.
 */
/* origin: out33.R1 */
TEST(send__no_receive_at_the_other_end__one_line_names_the_endpoint)
{
	struct dt_pair pair;
	DAT_EVENT event;
	char line[256];

	if (!dt_on_soft("other devices do not tell"))
		return;
	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	dt_ok(dat_rearm_set_log(tell, NULL));
	for (int i = 0; i < 2; i++) {
		dt_send(&pair.b, 0, 8, 1);
		dt_await_count(&told_count, 1);
		if (i)
			dt_nap_ms(2500);
		dt_recv(&pair.a, 0, 8, 2);
		dt_expect_dto(pair.b.request, pair.b.ep, 1, DAT_DTO_SUCCESS, &event);
		dt_expect_dto(pair.a.recv, pair.a.ep, 2, DAT_DTO_SUCCESS, &event);
	}
	dt_ok(dat_rearm_set_log(NULL, NULL));
	snprintf(line, sizeof line,
	    "a request of the endpoint %p has waited for 2 s: the other end has posted no receive "
	    "for it (dat_ep_post_recv)",
	    (void *)pair.b.ep);
	ck_assert_int_eq(told_count, 1);
	ck_assert_str_eq(told, line);
	dt_pair_close(&pair);
}
