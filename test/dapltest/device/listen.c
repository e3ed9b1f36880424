/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that arrive while a service point is being created. */
#include "fault/fault.h"
#include "suites.h"

static struct dt_pair pair;
static DAT_EVENT request;

static void
connect_at_once(uint16_t port)
{
	pair.b.qual = port;
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_expect(pair.b.cr, DAT_CONNECTION_REQUEST_EVENT, &request);
}

/* origin: outside.92 */
/* clause: d.0.2 */
START_TEST(psp_create_any__a_request_arrives_before_it_returns__names_the_qualifier)
{
	const DAT_CR_ARRIVAL_EVENT_DATA *data = &request.event_data.cr_arrival_event_data;
	DAT_CONN_QUAL qual;

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	pair.b.cr = dt_evd(&pair.b, DAT_EVD_CR_FLAG, 4);
	fault_cm_on_listen(connect_at_once);
	dt_ok(dat_psp_create_any(pair.b.ia, &qual, pair.b.cr, DAT_PSP_CONSUMER_FLAG, &pair.b.psp));
	fault_cm_on_listen(NULL);
	ck_assert_uint_eq(data->conn_qual, qual);
	ck_assert_ptr_eq(data->sp_handle.psp_handle, pair.b.psp);
	dt_ok(dat_cr_accept(data->cr_handle, pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	dt_expect_established(&pair.b);
	dt_pair_close(&pair);
}
END_TEST

Suite *
device_listen_suite(void)
{
	Suite *s = suite_create("listen");
	TCase *tc = device_tcase(s, "listen");

	tcase_add_test(
	    tc, psp_create_any__a_request_arrives_before_it_returns__names_the_qualifier);
	return s;
}
