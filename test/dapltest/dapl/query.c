/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries of all objects, and of EVDs in each state. */
#include "lib/dt.h"

static const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };

DT_CASE("query:query");

/* clause: b.4.6, e.7.9, e.1.14, c.11.1, c.13.10 */
TEST(query__of_every_kind__returns_the_consumers_number_of_the_adapter)
{
	DAT_EVD_PARAM evd;
	DAT_CNO_PARAM cno_param;
	DAT_EP_PARAM ep;
	DAT_LMR_PARAM lmr;
	DAT_PSP_PARAM psp;
	DAT_PZ_PARAM pz;
	struct dt_side side;
	DAT_CNO_HANDLE cno;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_side_listen(&side);
	dt_ok(dat_cno_create(side.ia, no_agent, &cno));
	dt_ok(dat_pz_query(side.pz, DAT_PZ_FIELD_ALL, &pz));
	ck_assert_ptr_eq(pz.ia_handle, side.ia);
	dt_ok(dat_lmr_query(side.lmr, DAT_LMR_FIELD_ALL, &lmr));
	ck_assert_ptr_eq(lmr.ia_handle, side.ia);
	dt_ok(dat_evd_query(side.recv, DAT_EVD_FIELD_ALL, &evd));
	ck_assert_ptr_eq(evd.ia_handle, side.ia);
	dt_ok(dat_cno_query(cno, DAT_CNO_FIELD_ALL, &cno_param));
	ck_assert_ptr_eq(cno_param.ia_handle, side.ia);
	ck_assert_int_eq(cno_param.proxy_type, DAT_PROXY_TYPE_NONE);
	dt_ok(dat_ep_query(side.ep, DAT_EP_FIELD_ALL, &ep));
	ck_assert_ptr_eq(ep.ia_handle, side.ia);
	ck_assert_ptr_eq(ep.pz_handle, side.pz);
	ck_assert_ptr_eq(ep.recv_evd_handle, side.recv);
	ck_assert_ptr_eq(ep.request_evd_handle, side.request);
	ck_assert_ptr_eq(ep.connect_evd_handle, side.connect);
	dt_ok(dat_psp_query(side.psp, DAT_PSP_FIELD_ALL, &psp));
	ck_assert_ptr_eq(psp.ia_handle, side.ia);
	ck_assert_uint_eq(psp.conn_qual, side.qual);
	ck_assert_ptr_eq(psp.evd_handle, side.cr);
	dt_side_close(&side);
}

/* clause: c.11.2 */
TEST(evd_query__without_a_place_or_of_unknown_fields__is_refused)
{
	struct dt_side side;
	DAT_EVD_PARAM param;
	DAT_RETURN ret;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_ret(dat_evd_query(side.recv, DAT_EVD_FIELD_ALL, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	ret = dat_evd_query(side.recv, (DAT_EVD_PARAM_MASK)0x4000, &param);
	dt_assert_type(ret, DAT_INVALID_PARAMETER);
	dt_side_close(&side);
}

/* clause: c.2.7 */
TEST(evd__length__is_at_least_what_was_asked_for_and_can_be_used)
{
	static const DAT_COUNT lengths[] = { 1, 2, 3, 17, 100, 1000 };
	DAT_EVENT post = { .event_number = DAT_SOFTWARE_EVENT };
	struct dt_side side;
	DAT_EVD_PARAM param;

	dt_side_open(&side, "soft", DT_SEPARATE);
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		DAT_EVD_HANDLE evd =
		    dt_evd(&side, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG, lengths[i]);

		dt_ok(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
		ck_assert_int_ge(param.evd_qlen, lengths[i]);
		for (DAT_COUNT n = 0; n < param.evd_qlen; n++)
			dt_ok(dat_evd_post_se(evd, &post));
		dt_ok(dat_evd_free(evd));
	}
	dt_side_close(&side);
}

static void
expect_se(DAT_EVD_HANDLE evd, uintptr_t value)
{
	DAT_EVENT event;

	dt_ok(dat_evd_dequeue(evd, &event));
	ck_assert_int_eq(event.event_number, DAT_SOFTWARE_EVENT);
	ck_assert_ptr_eq(event.event_data.software_event_data.pointer, (void *)value);
}

/* clause: c.5.1, c.5.3, c.5.5, c.3.1, c.12.2 */
TEST(dequeue__in_every_state_of_the_evd__gives_the_oldest)
{
	struct dt_side side;
	DAT_EVD_PARAM param;
	DAT_EVD_HANDLE evd;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 16);
	for (uintptr_t i = 1; i <= 8; i++)
		dt_post_se(evd, i);
	dt_assert_ret(
	    dat_evd_dequeue(evd, NULL), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	for (int state = 0; state < 4; state++) {
		dt_ok(state & 1 ? dat_evd_disable(evd) : dat_evd_enable(evd));
		dt_ok(state & 2 ? dat_evd_set_unwaitable(evd) : dat_evd_clear_unwaitable(evd));
		dt_ok(dat_evd_query(evd, DAT_EVD_FIELD_EVD_STATE, &param));
		ck_assert_int_eq(param.evd_state & 0xf,
		    (state & 1 ? DAT_EVD_STATE_DISABLED : DAT_EVD_STATE_ENABLED) |
			(state & 2 ? DAT_EVD_STATE_UNWAITABLE : DAT_EVD_STATE_WAITABLE));
		expect_se(evd, (uintptr_t)state + 1);
	}
	dt_ok(dat_evd_free(evd)); /* with four events */
	dt_side_close(&side);
}

/* clause: c.6.3, c.7.2, c.7.3 */
TEST(switches__turned_twice__change_nothing_and_leave_the_rest_alone)
{
	struct dt_side side;
	DAT_EVD_HANDLE evd, triggered;
	DAT_CNO_HANDLE cno;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_cno_create(side.ia, no_agent, &cno));
	dt_ok(dat_evd_create(side.ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &evd));
	for (int i = 0; i < 2; i++)
		dt_ok(dat_evd_set_unwaitable(evd));
	dt_post_se(evd, 1);
	/* an unwaitable EVD triggers */
	dt_ok(dat_cno_wait(cno, DT_FOREVER_MS * 1000u, &triggered));
	ck_assert_ptr_eq(triggered, evd);
	expect_se(evd, 1);
	for (int i = 0; i < 2; i++)
		dt_ok(dat_evd_clear_unwaitable(evd));
	for (int i = 0; i < 2; i++)
		dt_ok(dat_evd_disable(evd));
	dt_post_se(evd, 2);
	dt_assert_type(dat_cno_wait(cno, 5000, &triggered), DAT_QUEUE_EMPTY);
	for (int i = 0; i < 2; i++)
		dt_ok(dat_evd_enable(evd));
	dt_ok(dat_cno_wait(cno, DT_FOREVER_MS * 1000u, &triggered));
	expect_se(evd, 2);
	dt_side_close(&side);
}
