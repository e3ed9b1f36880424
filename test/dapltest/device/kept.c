/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What objects remember: of the last attempt, the last connection, a call that failed.  Each limit
 * is tried one below it and at it, and once more after that.
 */
#include <errno.h>

#include <dat2/dat_ib_extensions.h>

#include "fault/fault.h"
#include "device.h"

#define TRIES 15 /* to resolve an address */
#define DEPTH 4
#define FULL DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY)

static struct dt_pair pair;

static void
give_datagrams(struct dt_side *side)
{
	DAT_EP_ATTR attr = { .service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD,
		.max_recv_dtos = DEPTH,
		.max_request_dtos = DEPTH,
		.max_recv_iov = 1,
		.max_request_iov = 1 };

	dt_ok(dat_ep_free(side->ep));
	side->ep = dt_ep(side, &attr);
}

static void
open_datagrams(void)
{
	device_pair_open(&pair);
	give_datagrams(&pair.a);
	give_datagrams(&pair.b);
}

/*
 * A call that waits until no thread has a pin of the endpoint; with one that was forgotten it waits
 * for ever.
 */
static void
assert_no_pin(DAT_EP_HANDLE ep)
{
	DAT_EP_PARAM param = { .ep_attr.max_message_size = 512 };

	dt_ok(dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE, &param));
}

/* ---- addresses that cannot be resolved in time ---- */

DEVICE_CASE("kept:kept", .needs = dt_is_soft, .reason = "needs a device that fails");

/* Each attempt may be late as often, whatever the one before was. */
/* origin: out33.D3 */
TEST(connect__its_address_comes_late__is_tried_so_often_each_time)
{
	device_pair_open(&pair);
	for (int i = 0; i < 3; i++) {
		fault_cm_time_out(TRIES - 1);
		dt_connect_pair(&pair);
		ck_assert_int_eq(fault_cm_time_outs_left(), 0);
		dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
		dt_expect_disconnected(&pair.a);
		dt_expect_disconnected(&pair.b);
		dt_ok(dat_ep_reset(pair.a.ep));
		dt_ok(dat_ep_reset(pair.b.ep));
		fault_cm_time_out(TRIES + 1);
		dt_connect(&pair.a, &pair.b, NULL, 0);
		dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_UNREACHABLE, pair.a.ep);
		ck_assert_int_eq(fault_cm_time_outs_left(), 1);
		fault_cm_time_out(0);
		dt_ok(dat_ep_reset(pair.a.ep));
	}
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

/* origin: out33.D3 */
TEST(lookup__its_address_comes_late__is_tried_so_often_each_time)
{
	DAT_EVENT event;

	open_datagrams();
	for (int i = 0; i < 3; i++) {
		fault_cm_time_out(TRIES - 1);
		dt_connect(&pair.a, &pair.b, NULL, 0);
		dt_ok(dat_cr_accept(dt_datagram_request(&pair.b), pair.b.ep, 0, NULL));
		dt_expect(pair.a.connect, (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED,
		    &event);
		ck_assert_int_eq(fault_cm_time_outs_left(), 0);
		fault_cm_time_out(TRIES + 1);
		dt_connect(&pair.a, &pair.b, NULL, 0);
		dt_expect(
		    pair.a.connect, (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_ERROR_EVENT, &event);
		ck_assert_int_eq(fault_cm_time_outs_left(), 1);
		fault_cm_time_out(0);
	}
	dt_ok(dat_ep_free(pair.a.ep)); /* waits for pins */
	dt_pair_close(&pair);
}

/* ---- pins ---- */

/* origin: out33.D3 */
TEST(accept__of_a_datagram_fails__the_request_stays_and_nothing_is_pinned)
{
	DAT_RETURN ret = ~0u;
	DAT_CR_HANDLE cr;
	DAT_EVENT event;
	int refused = 0;

	open_datagrams();
	dt_connect(&pair.a, &pair.b, NULL, 0);
	cr = dt_datagram_request(&pair.b);
	fault_call_fail("ibv_create_ah", ENOMEM);
	dt_assert_type(dat_cr_accept(cr, pair.b.ep, 0, NULL), DAT_INSUFFICIENT_RESOURCES);
	fault_call_fail(NULL, 0);
	assert_no_pin(pair.b.ep);
	for (int n = 1; ret != DAT_SUCCESS; n++) {
		ck_assert_int_lt(n, 20);
		fault_memory_fail_at(n);
		ret = dat_cr_accept(cr, pair.b.ep, 0, NULL);
		(void)fault_memory_missed();
		refused += ret != DAT_SUCCESS;
		if (ret != DAT_SUCCESS)
			assert_no_pin(pair.b.ep);
	}
	ck_assert_int_ge(refused, 1);
	dt_next(pair.a.connect, &event);
	dt_next(pair.b.connect, &event);
	dt_assert_stays_empty(pair.b.connect);
	dt_ok(dat_ep_free(pair.b.ep)); /* waits for pins */
	dt_pair_close(&pair);
}

/* ---- another thread is faster ---- */

static DAT_RETURN intruder_ret;

static void
connect_too(void)
{
	intruder_ret = device_try_connect(&pair);
}

static void
disconnect_it(void)
{
	intruder_ret = dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG);
}

/*
 * In any window of a connect another one is made, or, of datagrams, a disconnect: as many began as
 * have succeeded.
 */
static bool
connect_at(int n, bool datagrams)
{
	DAT_UINT64 counts[DCNT_EP_ALL_COUNTERS];
	DAT_RETURN ret;
	bool came;

	device_pair_open(&pair);
	if (datagrams)
		give_datagrams(&pair.a);
	intruder_ret = ~0u;
	fault_window_at(n, datagrams ? disconnect_it : connect_too);
	ret = device_try_connect(&pair);
	came = !fault_window_missed();
	dt_ok(dat_ib_query_counters(pair.a.ep, DCNT_EP_ALL_COUNTERS, counts, 0));
	ck_assert_uint_eq(counts[DCNT_EP_CONNECT],
	    (DAT_UINT64)((ret == DAT_SUCCESS) + (!datagrams && intruder_ret == DAT_SUCCESS)));
	if (ret != DAT_SUCCESS)
		dt_assert_type(ret, DAT_INVALID_STATE);
	dt_ok(dat_ep_free(pair.a.ep));
	dt_pair_close(&pair);
	return came;
}

/* origin: out33.D3 */
TEST_LOOP(connect__another_call_in_any_window__counts_what_has_begun, 2)
{
	int n = 1;

	while (connect_at(n, _i))
		ck_assert_int_lt(n++, 60);
	ck_assert_int_gt(n, 2);
}

/* ---- memory ---- */

static const struct {
	int error;
	DAT_RETURN ret;
} deregistrations[] = {
	{ EBUSY, DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE) },
	{ EINVAL, DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_LMR_IN_USE) },
	{ EIO, DAT_SUCCESS },
	{ ENODEV, DAT_SUCCESS },
};

/*
 * A window is bound to it, as far as the device knows; any other failure says that the device is
 * gone.
 */
/* origin: out33.D3 */
TEST_LOOP(lmr_free__the_device_refuses__is_in_use_while_a_window_is_bound,
    (sizeof deregistrations / sizeof deregistrations[0]))
{
	const bool stays = deregistrations[_i].ret != DAT_SUCCESS;
	DAT_LMR_PARAM param;

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	for (int i = 0; i < 2; i++) {
		fault_call_fail("ibv_dereg_mr", deregistrations[_i].error);
		if (i == 0 || stays)
			dt_assert_ret(dat_lmr_free(pair.a.lmr), deregistrations[_i].ret);
		fault_call_fail(NULL, 0);
		if (stays) {
			dt_ok(dat_lmr_query(pair.a.lmr, DAT_LMR_FIELD_ALL, &param));
			ck_assert_uint_eq(param.length, DT_BUFFER);
		} else {
			dt_assert_ret(dat_lmr_query(pair.a.lmr, DAT_LMR_FIELD_ALL, &param),
			    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_LMR));
		}
	}
	if (stays)
		dt_ok(dat_lmr_free(pair.a.lmr));
	/* Nothing refers to the zone, except for the endpoint. */
	dt_ok(dat_ep_free(pair.a.ep));
	dt_ok(dat_pz_free(pair.a.pz));
	dt_side_close(&pair.a);
}

/* The same for a remote region, which has a window; the next call tries it again. */
/* origin: out33.K1 */
TEST_LOOP(rmr_free__the_device_refuses__is_in_use_until_it_does_not,
    (sizeof deregistrations / sizeof deregistrations[0]))
{
	const bool stays = deregistrations[_i].ret != DAT_SUCCESS;
	DAT_RMR_HANDLE rmr;
	DAT_RMR_PARAM param;

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_ok(dat_rmr_create(pair.a.pz, &rmr));
	fault_call_fail("ibv_dealloc_mw", deregistrations[_i].error);
	for (int i = 0; i < 2 && stays; i++)
		dt_assert_ret(dat_rmr_free(rmr), DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE));
	if (stays) {
		dt_ok(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
		fault_call_fail(NULL, 0);
	}
	dt_ok(dat_rmr_free(rmr));
	fault_call_fail(NULL, 0);
	dt_assert_ret(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_RMR));
	dt_ok(dat_lmr_free(pair.a.lmr));
	dt_ok(dat_ep_free(pair.a.ep));
	dt_ok(dat_pz_free(pair.a.pz));
	dt_side_close(&pair.a);
}

static const char *const freed_at_close[] = { "ibv_dereg_mr", "ibv_dealloc_mw" };

/* The device keeps what it refuses to free.  The close does not wait for that. */
/* origin: out33.K1 */
/* clause: e.9.1 */
TEST_LOOP(ia_close__the_device_refuses_to_free__returns,
    (sizeof freed_at_close / sizeof freed_at_close[0]) *
	(sizeof deregistrations / sizeof deregistrations[0]))
{
	const int call = _i % 2, error = _i / 2;
	const bool stays = deregistrations[error].ret != DAT_SUCCESS;
	DAT_RMR_HANDLE rmr;

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_ok(dat_rmr_create(pair.a.pz, &rmr));
	fault_call_fail(freed_at_close[call], deregistrations[error].error);
	dt_ok(dat_ia_close(pair.a.ia, DAT_CLOSE_ABRUPT_FLAG));
	fault_call_fail(NULL, 0);
	/* Its thread stays with what is kept, and the name can be opened again. */
	runner_allow_threads(stays);
	runner_count_anew();
	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_close(&pair.a);
}

/* ---- shared receive queues ---- */

static DAT_SRQ_HANDLE srq;

static void
open_shared(void)
{
	DAT_SRQ_ATTR attr = { DEPTH, 1, DAT_SRQ_LW_DEFAULT };

	device_pair_open(&pair);
	dt_ok(dat_srq_create(pair.b.ia, pair.b.pz, &attr, &srq));
	dt_ok(dat_ep_free(pair.b.ep));
	dt_ok(dat_ep_create_with_srq(pair.b.ia, pair.b.pz, pair.b.recv, pair.b.request,
	    pair.b.connect, srq, NULL, &pair.b.ep));
}

static DAT_RETURN
try_post(void)
{
	DAT_LMR_TRIPLET iov = dt_local(&pair.b, 0, 8);

	return dat_srq_post_recv(srq, 1, &iov, dt_cookie(1));
}

static void
assert_counts(DAT_COUNT available, DAT_COUNT outstanding)
{
	DAT_SRQ_PARAM param;

	dt_ok(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param));
	ck_assert_int_eq(param.available_dto_count, available);
	ck_assert_int_eq(param.outstanding_dto_count, outstanding);
}

/* With any number of buffers posted before. */
/* origin: out33.D3 */
TEST(srq_post__the_device_refuses_again_and_again__takes_no_place)
{
	open_shared();
	for (int posted = 0; posted <= DEPTH; posted++) {
		fault_call_fail("ibv_post_recv", ENOMEM);
		for (int i = 0; i < 2 * DEPTH; i++)
			dt_assert_type(try_post(), DAT_INSUFFICIENT_RESOURCES);
		fault_call_fail(NULL, 0);
		assert_counts(posted, posted);
		dt_assert_ret(try_post(), posted < DEPTH ? (DAT_RETURN)DAT_SUCCESS : FULL);
	}
	dt_pair_close(&pair);
}

static void
name_none(struct ibv_wc *wc)
{
	if (wc->opcode & IBV_WC_RECV)
		wc->qp_num = 0xabcdef;
}

/* Its queue pair has no endpoint any more. */
/* origin: out33.D3 */
TEST(srq__completions_of_an_endpoint_that_is_gone__leave_their_places)
{
	DAT_EVENT event;

	open_shared();
	dt_connect_pair(&pair);
	for (int round = 0; round < 3; round++) {
		while (try_post() == DAT_SUCCESS)
			;
		assert_counts(DEPTH, DEPTH);
		fault_cq_change(name_none);
		for (int i = 0; i < 2; i++) {
			dt_send(&pair.a, 0, 1, 7);
			dt_expect_dto(pair.a.request, pair.a.ep, 7, DAT_DTO_SUCCESS, &event);
		}
		dt_assert_stays_empty(pair.b.recv);
		fault_cq_change(NULL);
		assert_counts(DEPTH - 2, DEPTH - 2);
	}
	dt_pair_close(&pair);
}
