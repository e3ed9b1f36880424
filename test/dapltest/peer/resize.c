/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_evd_resize(): tests for bugs of OpenFabrics dapl 2.1.10, see origins.txt. */
#include "lib/contract.h"

static void
post_many(DAT_EVD_HANDLE evd, int first, int n)
{
	for (int i = 0; i < n; i++)
		dt_post_se(evd, (uintptr_t)(first + i));
}

static void
expect_many(DAT_EVD_HANDLE evd, int first, int n)
{
	DAT_EVENT event;

	for (int i = 0; i < n; i++) {
		dt_ok(dat_evd_dequeue(evd, &event));
		ck_assert_ptr_eq(
		    event.event_data.software_event_data.pointer, (void *)(uintptr_t)(first + i));
	}
}

DT_CASE("peer-resize:resize");

/* origin: peer.3 */
/* clause: c.10.1 */
TEST(peer_03__resize_with_completions_queued__returns_and_keeps_them)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_recv(&pair.b, 0, 16, i);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < 8; i++) {
		dt_send(&pair.a, 0, 16, i);
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
		if (i == 3)
			dt_ok(dat_evd_resize(pair.b.recv, 200));
	}
	dt_ok(dat_evd_resize(pair.b.recv, 100));
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_expect_dto(pair.b.recv, pair.b.ep, i, DAT_DTO_SUCCESS, &event);
	dt_pair_close(&pair);
}

/* origin: peer.4 */
/* clause: c.10.6 */
TEST(peer_04__resized_under_a_connection__completions_still_arrive_and_wake)
{
	struct dt_pair pair;
	struct evd_waiter w;

	dt_pair_open(&pair, DT_SEPARATE);
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_recv(&pair.b, 0, 16, i);
	dt_connect_pair(&pair);
	for (int i = 0; i < 4; i++) {
		dt_ok(dat_evd_resize(pair.b.recv, 100 << i));
		evd_waiter_start(&w, pair.b.recv, DT_FOREVER_MS * 1000u, 1);
		dt_send(&pair.a, 0, 16, 1);
		dt_assert_ret(evd_waiter_join(&w), DAT_SUCCESS);
	}
	dt_pair_close(&pair);
}

/* The queue has wrapped when it is resized. */
/* origin: peer.5 */
/* clause: c.10.1, c.10.3 */
TEST(peer_05__resize_with_software_events_queued__keeps_each_in_order)
{
	struct dt_side side;
	DAT_EVD_HANDLE evd;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 8);
	post_many(evd, 1, 6);
	expect_many(evd, 1, 5);
	post_many(evd, 7, 6);
	dt_ok(dat_evd_resize(evd, 64));
	post_many(evd, 13, 40);
	dt_assert_type(dat_evd_resize(evd, 8), DAT_INVALID_STATE);
	expect_many(evd, 6, 40);
	dt_ok(dat_evd_resize(evd, 8));
	expect_many(evd, 46, 7);
	dt_assert_empty(evd);
	dt_side_close(&side);
}
