/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues on a device that fails. */
#include "fault/fault.h"
#include "device.h"

#define FULL DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY)
#define STATE DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE)
#define FAILED DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_ERROR)

static struct dt_pair pair;
static DAT_SRQ_HANDLE srq;

/* The endpoint of `b` receives from a queue. */
static void
open_pair(DAT_COUNT depth)
{
	DAT_SRQ_ATTR attr = { depth, 1, DAT_SRQ_LW_DEFAULT };

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair.b);
	dt_ok(dat_srq_create(pair.b.ia, pair.b.pz, &attr, &srq));
	dt_ok(dat_ep_free(pair.b.ep));
	dt_ok(dat_ep_create_with_srq(pair.b.ia, pair.b.pz, pair.b.recv, pair.b.request,
	    pair.b.connect, srq, NULL, &pair.b.ep));
	dt_connect_pair(&pair);
}

static DAT_RETURN
try_post(void)
{
	DAT_LMR_TRIPLET iov = dt_local(&pair.b, 0, 8);

	return dat_srq_post_recv(srq, 1, &iov, dt_cookie(1));
}

static void
post(int n)
{
	while (n-- > 0)
		dt_ok(try_post());
}

/* So many messages, which are polled and not dequeued. */
static void
receive(int n)
{
	DAT_EVENT event;

	while (n-- > 0) {
		dt_send(&pair.a, 0, 1, 7);
		dt_expect_dto(pair.a.request, pair.a.ep, 7, DAT_DTO_SUCCESS, &event);
	}
	dt_ok(dat_ep_get_status(pair.b.ep, NULL, &(DAT_BOOLEAN){ DAT_FALSE }, NULL));
}

static void
expect_async(DAT_HANDLE handle, DAT_COUNT reason)
{
	DAT_EVENT event;

	dt_expect(pair.b.async, DAT_ASYNC_ERROR_EP_BROKEN, &event);
	ck_assert_ptr_eq(event.event_data.asynch_error_event_data.dat_handle, handle);
	ck_assert_int_eq(event.event_data.asynch_error_event_data.reason, reason);
}

DEVICE_CASE("device-srq:srq");

/* clause: d.3.7 */
/* origin: out33.R3 */
TEST(queue__fails__is_reported_once_and_takes_no_buffer)
{
	DAT_SRQ_PARAM param;

	open_pair(8);
	post(2);
	for (int i = 0; i < 3; i++) {
		fault_raise(IBV_EVENT_SRQ_ERR, fault_srq_last());
		dt_nap_ms(2);
	}
	expect_async(srq, DAT_SRQ_TRANSFER_TO_ERROR);
	dt_assert_stays_empty(pair.b.async);
	dt_ok(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param));
	ck_assert_int_eq(param.srq_state, DAT_SRQ_STATE_ERROR);
	dt_assert_ret(try_post(), FAILED);
	dt_ok(dat_ep_free(pair.b.ep));
	dt_ok(dat_srq_free(srq));
	dt_pair_close(&pair);
}

/* clause: d.3.7 */
TEST(queue__fails_and_is_freed__leaves_no_event)
{
	DAT_SRQ_ATTR attr = { 4, 1, DAT_SRQ_LW_DEFAULT };
	DAT_SRQ_PARAM param;

	open_pair(8);
	fault_raise(IBV_EVENT_SRQ_ERR, fault_srq_last());
	dt_nap_ms(20);
	dt_ok(dat_ep_free(pair.b.ep));
	dt_ok(dat_srq_free(srq));
	dt_assert_stays_empty(pair.b.async);
	/* The next one, in its place, works. */
	dt_ok(dat_srq_create(pair.b.ia, pair.b.pz, &attr, &srq));
	dt_ok(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param));
	ck_assert_int_eq(param.srq_state, DAT_SRQ_STATE_OPERATIONAL);
	post(4);
	dt_ok(dat_srq_free(srq));
	dt_pair_close(&pair);
}

/* The device raises the event as often as it likes. */
/* clause: e.7.19 */
TEST(watermark__is_passed_again_and_again__one_event_each_time_that_it_is_set)
{
	open_pair(8);
	post(2);
	for (int round = 0; round < 3; round++) {
		dt_ok(dat_srq_set_lw(srq, 2));
		for (int i = 0; i < 30; i++) {
			fault_raise(IBV_EVENT_SRQ_LIMIT_REACHED, fault_srq_last());
			while (!fault_is_acknowledged())
				dt_nap_ms(1);
		}
		expect_async(srq, DAT_SRQ_LOW_WATERMARK_EVENT);
		dt_assert_stays_empty(pair.b.async);
	}
	dt_ok(dat_srq_set_lw(srq, DAT_SRQ_LW_DEFAULT));
	fault_raise(IBV_EVENT_SRQ_LIMIT_REACHED, fault_srq_last());
	dt_assert_stays_empty(pair.b.async);
	dt_pair_close(&pair);
}

/*
 * In the first round the buffers are full and their completions not polled.  What the device raises
 * later, for what was reported already, is no second event.
 */
/* origin: kernel.4 */
/* clause: e.7.19 */
TEST(watermark__set_on_a_device_that_overlooks_it__is_reported_once)
{
	DAT_EVENT event;

	open_pair(8);
	fault_srq_overlook_limit(true);
	post(4);
	for (int i = 0; i < 2; i++) {
		dt_send(&pair.a, 0, 1, 7);
		dt_expect_dto(pair.a.request, pair.a.ep, 7, DAT_DTO_SUCCESS, &event);
	}
	dt_ok(dat_srq_set_lw(srq, 2));
	dt_assert_stays_empty(pair.b.async);
	for (int round = 0; round < 3; round++) {
		dt_ok(dat_srq_set_lw(srq, 3));
		expect_async(srq, DAT_SRQ_LOW_WATERMARK_EVENT);
		fault_raise(IBV_EVENT_SRQ_LIMIT_REACHED, fault_srq_last());
		dt_assert_stays_empty(pair.b.async);
	}
	post(1);
	dt_ok(dat_srq_set_lw(srq, 3));
	dt_assert_stays_empty(pair.b.async);
	fault_raise(IBV_EVENT_SRQ_LIMIT_REACHED, fault_srq_last());
	expect_async(srq, DAT_SRQ_LOW_WATERMARK_EVENT);
	dt_assert_stays_empty(pair.b.async);
	dt_pair_close(&pair);
}

/*
 * The watermark of the create is set in the device by the post that reaches it, when messages came
 * already.
 */
/* clause: e.7.19 */
TEST(watermark__of_the_create_on_a_device_that_overlooks_it__is_reported_once)
{
	DAT_SRQ_ATTR attr = { 8, 1, 3 };
	DAT_EVENT event;

	open_pair(8);
	fault_srq_overlook_limit(true);
	dt_ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&pair.a);
	dt_ok(dat_ep_free(pair.b.ep));
	dt_ok(dat_srq_free(srq));
	dt_ok(dat_srq_create(pair.b.ia, pair.b.pz, &attr, &srq));
	dt_ok(dat_ep_create_with_srq(pair.b.ia, pair.b.pz, pair.b.recv, pair.b.request,
	    pair.b.connect, srq, NULL, &pair.b.ep));
	dt_ok(dat_ep_reset(pair.a.ep));
	dt_connect_pair(&pair);
	post(2);
	dt_send(&pair.a, 0, 1, 7);
	dt_expect_dto(pair.a.request, pair.a.ep, 7, DAT_DTO_SUCCESS, &event);
	dt_assert_stays_empty(pair.b.async);
	post(1);
	expect_async(srq, DAT_SRQ_LOW_WATERMARK_EVENT);
	post(3);
	dt_assert_stays_empty(pair.b.async);
	dt_pair_close(&pair);
}

/* clause: d.3.6 */
TEST(last_buffer__of_an_endpoint_that_is_not_connected__is_not_reported)
{
	open_pair(8);
	dt_ok(dat_ep_free(pair.b.ep));
	dt_ok(dat_ep_create_with_srq(pair.b.ia, pair.b.pz, pair.b.recv, pair.b.request,
	    pair.b.connect, srq, NULL, &pair.b.ep));
	fault_raise(IBV_EVENT_QP_LAST_WQE_REACHED, fault_qp_last());
	dt_assert_stays_empty(pair.b.async);
	dt_pair_close(&pair);
}

/* The device's event comes while the connection is established, and again at its end. */
/* clause: d.3.6 */
TEST(last_buffer__of_an_endpoint_that_is_connected__is_reported_once)
{
	DAT_EVENT event;

	open_pair(8);
	fault_raise(IBV_EVENT_QP_LAST_WQE_REACHED, fault_qp_last());
	expect_async(pair.b.ep, DAT_EP_TRANSFER_TO_ERROR);
	dt_ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&pair.b);
	dt_assert_stays_empty(pair.b.async);
	dt_next(pair.a.connect, &event);
	dt_pair_close(&pair);
}

static int added;

/* What another thread may do while the device changes the depth. */
static void
post_more(void)
{
	fault_srq_on_modify(NULL);
	while (added < 20 && try_post() == DAT_SUCCESS)
		added++;
}

/* clause: e.7.18 */
TEST(resize__shorter_while_others_post__the_depth_holds_for_the_device_too)
{
	DAT_RETURN resized;
	DAT_EVENT event;

	open_pair(16);
	post(8);
	receive(4); /* 4 are in the device, 8 are outstanding */
	added = 0;
	fault_srq_on_modify(post_more);
	resized = dat_srq_resize(srq, 8);
	for (int i = 0; i < 4; i++)
		dt_expect(pair.b.recv, DAT_DTO_COMPLETION_EVENT, &event);
	if (resized == DAT_SUCCESS) {
		ck_assert_int_eq(added, 0);
		post(4);
	} else {
		dt_assert_ret(resized, STATE);
		post(12 - added);
	}
	dt_assert_ret(try_post(), FULL);
	dt_pair_close(&pair);
}
