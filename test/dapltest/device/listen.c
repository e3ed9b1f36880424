/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that arrive while a service point is being created. */
#include "fault/fault.h"
#include "device.h"

static struct dt_pair pair;
static DAT_EVENT request;

static void
connect_at_once(uint16_t port)
{
	pair.b.qual = port;
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_expect(pair.b.cr, DAT_CONNECTION_REQUEST_EVENT, &request);
}

DEVICE_CASE("listen:listen");

/* origin: outside.92 */
/* clause: d.0.2 */
TEST(psp_create_any__a_request_arrives_before_it_returns__names_the_qualifier)
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

/* The next request at the public service point of `b` goes to that qualifier. */
static void
hand_over(DAT_CONN_QUAL to)
{
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_handoff(dt_request(&pair.b), to));
}

/*
 * As a request that arrives there by itself: it is refused, and the service point waits for
 * another.
 */
/* origin: out33.T1 */
/* clause: e.3.17, e.3.10 */
TEST(handoff__evd_of_the_reserved_service_point_is_full__it_waits_for_another)
{
	DAT_CONN_QUAL reserved;
	DAT_PSP_HANDLE psp;
	DAT_RSP_HANDLE rsp;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair.b);
	evd = dt_evd(&pair.b, DAT_EVD_CR_FLAG | DAT_EVD_SOFTWARE_FLAG, 1);
	dt_ok(dat_psp_create_any(pair.b.ia, &reserved, evd, DAT_PSP_CONSUMER_FLAG, &psp));
	dt_ok(dat_psp_free(psp));
	dt_ok(dat_rsp_create(pair.b.ia, reserved, pair.b.ep, evd, &rsp));
	for (int refused = 0; refused < 3; refused++) {
		dt_post_se(evd, 1);
		hand_over(reserved);
		dt_expect_connection(
		    pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, pair.a.ep);
		dt_await_state(pair.b.ep, DAT_EP_STATE_RESERVED);
		dt_expect(evd, DAT_SOFTWARE_EVENT, &event);
		dt_ok(dat_ep_reset(pair.a.ep));
	}
	hand_over(reserved);
	dt_expect(evd, DAT_CONNECTION_REQUEST_EVENT, &event);
	dt_ok(dat_cr_accept(
	    event.event_data.cr_arrival_event_data.cr_handle, DAT_HANDLE_NULL, 0, NULL));
	dt_expect_established(&pair.a);
	dt_expect_established(&pair.b);
	dt_pair_close(&pair);
}
