/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/dt.h"

DT_CASE("handle:handle");

/* clause: b.4.3, c.5.7, c.12.4, c.11.3 */
TEST(handle__of_another_kind__is_refused_by_every_call)
{
	struct dt_side side;
	DAT_EVD_PARAM evd_param;
	DAT_EP_PARAM ep_param;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_type(dat_evd_dequeue(side.ep, &event), DAT_INVALID_HANDLE);
	dt_assert_type(dat_evd_wait(side.pz, 0, 1, &event, &more), DAT_INVALID_HANDLE);
	dt_assert_type(dat_evd_query(side.lmr, DAT_EVD_FIELD_ALL, &evd_param), DAT_INVALID_HANDLE);
	dt_assert_type(dat_evd_free(side.ep), DAT_INVALID_HANDLE);
	dt_assert_ret(dat_ep_query(side.recv, DAT_EP_FIELD_ALL, &ep_param),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
	dt_assert_ret(dat_ep_free(side.pz), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
	dt_assert_ret(dat_pz_free(side.ep), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
	dt_assert_ret(dat_lmr_free(side.pz), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR));
	dt_assert_ret(dat_psp_free(side.ep), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PSP));
	dt_assert_ret(
	    dat_cr_reject(side.ep, 0, NULL), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR));
	dt_assert_ret(dat_cno_free(side.ep), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
	dt_side_close(&side);
}

/* clause: b.4.4 */
TEST(handle__of_a_freed_object__is_refused)
{
	struct dt_side side;
	DAT_PZ_HANDLE pz, reused;
	DAT_EP_HANDLE ep;
	DAT_EVENT event;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_pz_create(side.ia, &pz));
	dt_ok(dat_pz_free(pz));
	dt_assert_ret(dat_pz_free(pz), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
	dt_assert_ret(dat_ep_create(side.ia, pz, side.recv, side.request, side.connect, NULL, &ep),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
	/* The next object in the slot has another handle. */
	for (int i = 0; i < 300; i++) {
		dt_ok(dat_pz_create(side.ia, &reused));
		ck_assert_ptr_ne(reused, pz);
		dt_ok(dat_pz_free(reused));
	}
	dt_ok(dat_ep_free(side.ep));
	dt_assert_ret(dat_ep_free(side.ep), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
	dt_ok(dat_evd_free(side.recv));
	dt_assert_type(dat_evd_dequeue(side.recv, &event), DAT_INVALID_HANDLE);
	dt_assert_type(dat_evd_free(side.recv), DAT_INVALID_HANDLE);
	dt_side_close(&side);
}

/* clause: b.4.7 */
TEST(handle__of_another_adapter__is_refused)
{
	struct dt_side a, b;
	DAT_EP_HANDLE ep;

	dt_side_open(&a, "soft", DT_SEPARATE);
	dt_side_open(&b, "soft", DT_SEPARATE);
	dt_assert_ret(dat_ep_create(a.ia, b.pz, a.recv, a.request, a.connect, NULL, &ep),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
	dt_assert_ret(dat_ep_create(a.ia, a.pz, b.recv, a.request, a.connect, NULL, &ep),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_RECV));
	dt_assert_ret(dat_ep_create(a.ia, a.pz, a.recv, b.request, a.connect, NULL, &ep),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_REQUEST));
	dt_assert_ret(dat_ep_create(a.ia, a.pz, a.recv, a.request, b.recv, NULL, &ep),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CONN));
	dt_side_close(&a);
	dt_side_close(&b);
}

/* Each of the libraries has a range of addresses for its handles. */
/* clause: b.4.7, b.4.8 */
TEST(handle__of_another_provider_library__is_refused)
{
	uintptr_t wild;
	struct dt_side a, b;
	DAT_EVENT event;
	DAT_EP_HANDLE ep;

	dt_side_open(&a, "soft", DT_SEPARATE);
	dt_side_open(&b, "faulty", DT_SEPARATE);
	dt_assert_ret(dat_ep_create(a.ia, b.pz, a.recv, a.request, a.connect, NULL, &ep),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
	dt_assert_ret(dat_ep_create(b.ia, b.pz, a.recv, b.request, b.connect, NULL, &ep),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_RECV));
	dt_assert_type(dat_evd_dequeue(a.recv, &event), DAT_QUEUE_EMPTY);
	dt_assert_type(dat_evd_dequeue(b.recv, &event), DAT_QUEUE_EMPTY);
	wild = 0x123456789ab8; /* not mapped */
	dt_assert_type(dat_evd_dequeue(&wild, &event), DAT_INVALID_HANDLE);
	for (int i = 8; i < 64; i += 8) {
		dt_assert_type(dat_evd_dequeue((char *)a.recv + i, &event), DAT_INVALID_HANDLE);
		dt_assert_type(dat_evd_dequeue((char *)b.recv + i, &event), DAT_INVALID_HANDLE);
	}
	dt_side_close(&b);
	dt_side_close(&a);
}

/* Debian's dapltest (limit_ep -w 2) has one connection EVD for the endpoints of all adapters. */
/* origin: out33.Z6 */
TEST(connection_evd__of_another_adapter__serves_until_that_closes)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_ep_free(pair.a.ep));
	dt_ok(dat_ep_create(
	    pair.a.ia, pair.a.pz, pair.a.recv, pair.a.request, pair.b.connect, NULL, &pair.a.ep));
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	dt_await_state(pair.a.ep, DAT_EP_STATE_CONNECTED);
	dt_await_state(pair.b.ep, DAT_EP_STATE_CONNECTED);
	dt_side_close(&pair.b);
	dt_await_state(pair.a.ep, DAT_EP_STATE_DISCONNECTED); /* its EVD has gone: no event */
	dt_ok(dat_ep_free(pair.a.ep));
	dt_side_close(&pair.a);
}

/* clause: e.8.1, e.8.2 */
TEST(context__is_kept_for_every_kind_of_object)
{
	const DAT_UINT64 wide = 0x1122334455667700;
	const DAT_OS_WAIT_PROXY_AGENT none = { NULL, NULL };
	DAT_HANDLE_TYPE type;
	DAT_CONTEXT context;
	struct dt_side side;
	DAT_CNO_HANDLE cno;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_side_listen(&side);
	dt_ok(dat_cno_create(side.ia, none, &cno));
	{
		const struct {
			DAT_HANDLE handle;
			DAT_HANDLE_TYPE type;
		} objects[] = {
			{ side.ia, DAT_HANDLE_TYPE_IA },
			{ side.pz, DAT_HANDLE_TYPE_PZ },
			{ side.lmr, DAT_HANDLE_TYPE_LMR },
			{ side.recv, DAT_HANDLE_TYPE_EVD },
			{ cno, DAT_HANDLE_TYPE_CNO },
			{ side.ep, DAT_HANDLE_TYPE_EP },
			{ side.psp, DAT_HANDLE_TYPE_PSP },
		};

		for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
			dt_ok(dat_get_consumer_context(objects[i].handle, &context));
			ck_assert_uint_eq(context.as_64, 0);
			context.as_64 = wide + i;
			dt_ok(dat_set_consumer_context(objects[i].handle, context));
		}
		for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
			dt_ok(dat_get_consumer_context(objects[i].handle, &context));
			ck_assert_uint_eq(context.as_64, wide + i);
			dt_ok(dat_get_handle_type(objects[i].handle, &type));
			ck_assert_int_eq(type, objects[i].type);
		}
	}
	dt_ok(dat_pz_create(side.ia, &side.pz)); /* a fresh object starts without */
	dt_ok(dat_get_consumer_context(side.pz, &context));
	ck_assert_uint_eq(context.as_64, 0);
	dt_side_close(&side);
}
