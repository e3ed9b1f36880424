/* SPDX-License-Identifier: BSD-3-Clause */
/* Events and endpoints: tests for bugs of OpenFabrics dapl 2.1.10, see origins.txt. */
#include "lib/contract.h"

#define MERGED_CONNECTION (DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG)

/* A write with a context that the other end does not know. */
static void
write_astray(struct dt_pair *pair, DAT_UINT64 cookie)
{
	DAT_LMR_TRIPLET local = dt_local(&pair->a, 0, 64);
	DAT_RMR_TRIPLET remote = dt_remote(&pair->b, 0, 64);

	remote.rmr_context ^= 0x5a5a;
	dt_ok(dat_ep_post_rdma_write(
	    pair->a.ep, 1, &local, dt_cookie(cookie), &remote, DAT_COMPLETION_DEFAULT_FLAG));
}

DT_CASE("peer-event:event");

/* Error and BROKEN share an EVD: taking the first must be able to post the second. */
/* origin: peer.16 */
/* clause: c.2.8, d.0.8 */
TEST(peer_16__broken_on_a_merged_evd__comes_behind_the_error)
{
	DAT_CONNECTION_EVENT_DATA *broken;
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_MERGED);
	dt_connect_pair(&pair);
	write_astray(&pair, 1);
	dt_next(pair.a.connect, &event);
	ck_assert_int_eq(event.event_number, DAT_DTO_COMPLETION_EVENT);
	ck_assert_int_ne(event.event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
	dt_expect(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN, &event);
	broken = &event.event_data.connect_event_data;
	ck_assert_ptr_eq(broken->ep_handle, pair.a.ep);
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

/* The receives complete only on an EVD that is not drained. */
/* origin: peer.17 */
/* clause: e.1.10, e.2.1 */
TEST(peer_17__disconnect_and_free_with_receives_outstanding__end_at_once)
{
	unsigned long long began;
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	for (DAT_UINT64 i = 0; i < 16; i++) {
		dt_recv(&pair.a, 0, 64, i);
		dt_recv(&pair.b, 0, 64, i);
	}
	dt_connect_pair(&pair);
	began = dt_now_us();
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_ok(dat_ep_free(pair.a.ep));
	dt_ok(dat_ep_free(pair.b.ep));
	ck_assert_uint_lt(dt_now_us() - began, 2000000);
	dt_pair_close(&pair);
}

/* origin: peer.22 */
/* clause: d.1.1, d.0.1 */
TEST(peer_22__operation_and_context__are_written_whatever_memory_held)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	DAT_EVENT event;
	struct dt_pair pair;
	DAT_COUNT more;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_recv(&pair.b, 0, 64, 1);
	dt_connect_pair(&pair);
	dt_send(&pair.a, 0, 64, 2);
	dto = &event.event_data.dto_completion_event_data;
	memset(&event, 0xaa, sizeof event);
	dt_ok(dat_evd_wait(pair.b.recv, DT_FOREVER_MS * 1000u, 1, &event, &more));
	ck_assert_int_eq(dto->operation, DAT_DTO_RECEIVE);
	ck_assert_uint_eq(dto->rmr_context, 0);
	memset(&event, 0xaa, sizeof event);
	dt_ok(dat_evd_wait(pair.a.request, DT_FOREVER_MS * 1000u, 1, &event, &more));
	ck_assert_int_eq(dto->operation, DAT_DTO_SEND);
	ck_assert_uint_eq(dto->rmr_context, 0);
	dt_pair_close(&pair);
}

/* origin: peer.23 */
/* clause: d.2.2, e.2.1 */
TEST(peer_23__flushed_receives__are_receives_and_no_extension)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	for (DAT_UINT64 i = 0; i < 4; i++)
		dt_recv(&pair.a, 0, 64, i);
	dt_connect_pair(&pair);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	for (DAT_UINT64 i = 0; i < 4; i++) {
		memset(&event, 0xaa, sizeof event);
		dt_expect_dto(pair.a.recv, pair.a.ep, i, DAT_DTO_ERR_FLUSHED, &event);
		dto = &event.event_data.dto_completion_event_data;
		ck_assert_int_eq(dto->operation, DAT_DTO_RECEIVE);
	}
	dt_pair_close(&pair);
}

/* origin: peer.24 */
/* clause: c.9.5 */
TEST(peer_24__post_se_to_a_full_evd__is_refused_and_no_overflow)
{
	DAT_EVENT post = { .event_number = DAT_SOFTWARE_EVENT }, event;
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_RETURN ret;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 4);
	do
		ret = dat_evd_post_se(evd, &post);
	while (ret == DAT_SUCCESS);
	dt_assert_type(ret, DAT_QUEUE_FULL);
	dt_assert_stays_empty(side.async);
	dt_ok(dat_evd_dequeue(evd, &event));
	dt_ok(dat_evd_post_se(evd, &post));
	dt_side_close(&side);
}

/* Four requests meet a service point whose EVD holds one; the EVD for errors holds one, too. */
/* origin: peer.27 */
/* clause: d.5.4 */
TEST(peer_27__overflows_with_the_async_evd_full__end_nothing)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL, cr[3];
	DAT_PSP_HANDLE psp[3];
	DAT_CONN_QUAL qual[3];
	struct dt_pair pair;
	DAT_EVENT event;
	int overflows = 0;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_close(pair.b.ia);
	dt_ok(dat_ia_open((DAT_NAME_PTR)(uintptr_t) "soft", 1, &async, &pair.b.ia));
	for (int i = 0; i < 3; i++) {
		cr[i] = dt_evd(&pair.b, DAT_EVD_CR_FLAG, 1);
		dt_ok(
		    dat_psp_create_any(pair.b.ia, &qual[i], cr[i], DAT_PSP_CONSUMER_FLAG, &psp[i]));
		for (int j = 0; j < 3; j++) {
			pair.a.ep = dt_ep(&pair.a, NULL);
			pair.b.qual = qual[i];
			dt_connect(&pair.a, &pair.b, NULL, 0);
		}
		for (int j = 0; j < 2; j++)
			dt_expect(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, &event);
	}
	while (dat_evd_dequeue(async, &event) == DAT_SUCCESS) {
		ck_assert_int_eq(event.event_number, DAT_ASYNC_ERROR_EVD_OVERFLOW);
		overflows++;
	}
	ck_assert_int_ge(overflows, 1);
	/* The other objects still work. */
	for (int i = 0; i < 3; i++) {
		dt_ok(dat_evd_dequeue(cr[i], &event));
		dt_ok(dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle, 0, NULL));
	}
	dt_pair_close(&pair);
}

/* origin: peer.29 */
/* clause: d.4.3, d.4.4 */
TEST(peer_29__merged_evd__established_first_and_disconnected_last)
{
	DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_MERGED);
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	dt_await_state(pair.a.ep, DAT_EP_STATE_CONNECTED);
	for (DAT_UINT64 i = 0; i < 4; i++)
		dt_send(&pair.a, 0, 64, i);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_GRACEFUL_FLAG));
	/* All events are queued before the first is taken: only the EVD decides the order. */
	for (int i = 0; i < DT_FOREVER_MS && state != DAT_EP_STATE_DISCONNECTED; i++) {
		dt_ok(dat_ep_get_status(pair.b.ep, &state, NULL, NULL));
		dt_nap_ms(1);
	}
	dt_expect_established(&pair.b);
	for (DAT_UINT64 i = 0; i < 4; i++)
		dt_expect_dto(pair.b.recv, pair.b.ep, i, DAT_DTO_SUCCESS, &event);
	dt_next(pair.b.recv, &event);
	while (event.event_number == DAT_DTO_COMPLETION_EVENT) {
		ck_assert_int_eq(
		    event.event_data.dto_completion_event_data.status, DAT_DTO_ERR_FLUSHED);
		dt_next(pair.b.recv, &event);
	}
	ck_assert_int_eq(event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
	dt_pair_close(&pair);
}

static int
endings(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;
	int n = 0;

	while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
		n += event.event_number == DAT_CONNECTION_EVENT_BROKEN ||
		     event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED;
	return n;
}

/* The event may be later than the state, and a second one later still. */
static void
expect_one_ending(DAT_EVD_HANDLE evd)
{
	int n = endings(evd);

	for (int i = 0; i < DT_FOREVER_MS && n == 0; i++) {
		dt_nap_ms(1);
		n = endings(evd);
	}
	dt_nap_ms(20);
	ck_assert_int_eq(n + endings(evd), 1);
}

/* Takes the failed request: if the device does not notify the other end, only this ends it. */
static void
await_end(struct dt_side *side)
{
	DAT_EVENT event;

	for (int i = 0; i < DT_FOREVER_MS && dt_state(side->ep) != DAT_EP_STATE_DISCONNECTED; i++) {
		(void)dat_evd_dequeue(side->request, &event);
		dt_nap_ms(1);
	}
	ck_assert_int_eq(dt_state(side->ep), DAT_EP_STATE_DISCONNECTED);
}

/* A request fails, and both ends disconnect at the same time. */
/* origin: peer.30 */
/* clause: e.1.16 */
TEST(peer_30__broken_against_disconnect__one_ending_a_side)
{
	for (int i = 0; i < 20; i++) {
		struct dt_pair pair;

		dt_pair_open(&pair, DT_SEPARATE);
		dt_connect_pair(&pair);
		write_astray(&pair, 1);
		if (i % 2)
			dt_ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
		if (i % 3)
			dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
		await_end(&pair.a);
		dt_await_state(pair.b.ep, DAT_EP_STATE_DISCONNECTED);
		expect_one_ending(pair.a.connect);
		expect_one_ending(pair.b.connect);
		dt_pair_close(&pair);
	}
}

/* origin: peer.31 */
/* clause: e.1.13 */
TEST(peer_31__get_status__answers_with_flags_not_counts)
{
	DAT_BOOLEAN recv_idle, request_idle;
	struct dt_side side;
	DAT_EP_STATE state;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_ep_get_status(side.ep, &state, &recv_idle, &request_idle));
	ck_assert_int_eq(recv_idle, DAT_TRUE);
	ck_assert_int_eq(request_idle, DAT_TRUE);
	for (DAT_UINT64 i = 0; i < 3; i++)
		dt_recv(&side, 0, 64, i);
	dt_ok(dat_ep_get_status(side.ep, &state, &recv_idle, &request_idle));
	ck_assert_int_eq(recv_idle, DAT_FALSE);
	ck_assert_int_eq(request_idle, DAT_TRUE);
	dt_side_close(&side);
}
