/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of completions when a post races with the end of an attempt to connect. */
#include "fault/fault.h"
#include "device.h"

#define POSTED 3
#define DEEP 300 /* more receives than an EVD of 64 keeps apart from the device */

static struct dt_side *side;

/* What another thread may do while the queue pair has failed, and no event has reported it yet. */
static void
post_one_more(void)
{
	fault_qp_on_error(NULL);
	dt_recv(side, 0, 64, POSTED);
}

static void
end_attempt(bool overlooked)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_side_open(&pair.a, "faulty", DT_MERGED);
	dt_side_open(&pair.b, "faulty", DT_MERGED);
	dt_side_listen(&pair.b);
	side = &pair.a;
	for (DAT_UINT64 i = 0; i < POSTED; i++)
		dt_recv(side, 0, 64, i);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	fault_qp_overlook_receives(overlooked);
	fault_qp_on_error(post_one_more);
	dt_ok(dat_ep_disconnect(side->ep, DAT_CLOSE_ABRUPT_FLAG));
	for (DAT_UINT64 i = 0; i <= POSTED; i++)
		dt_expect_dto(side->recv, side->ep, i, DAT_DTO_ERR_FLUSHED, &event);
	dt_expect_disconnected(side);
	dt_pair_close(&pair);
}

DEVICE_CASE("device-order:order");

/* clause: d.4.1 */
/* origin: hostile.1 */
TEST(receive__posted_while_an_attempt_ends__follows_those_posted_before)
{
	end_attempt(false);
}

/* clause: e.2.1 */
/* origin: kernel.2 */
TEST(receive__posted_late_to_a_device_that_overlooks_it__is_flushed)
{
	end_attempt(true);
}

/*
 * Makes more rounds than the completion queue has room for.  In each one the receives of a
 * connected endpoint are flushed, and it is freed or reset.  The queue is not polled: before a
 * reset the provider would poll it to report the end of the connection, so that fails.
 */
static void
go_round(struct dt_pair *pair, bool reset)
{
	DAT_EP_PARAM param;

	dt_ok(dat_ep_query(pair->a.ep, DAT_EP_FIELD_EP_ATTR_ALL, &param));
	for (int round = 0; round < 60; round++) {
		for (DAT_UINT64 i = 0; i < 8; i++)
			dt_recv(&pair->a, 0, 64, i);
		dt_connect_pair(pair);
		if (reset) {
			fault_cq_refuse_poll(true);
			dt_ok(dat_ep_disconnect(pair->a.ep, DAT_CLOSE_ABRUPT_FLAG));
			fault_cq_refuse_poll(false);
			dt_ok(dat_ep_reset(pair->a.ep));
			dt_expect_disconnected(&pair->a);
		} else {
			dt_ok(dat_ep_free(pair->a.ep));
			pair->a.ep = dt_ep(&pair->a, &param.ep_attr);
		}
		dt_expect_disconnected(&pair->b);
		dt_ok(dat_ep_reset(pair->b.ep));
	}
}

static void
step(const struct dt_side *stepped)
{
	DAT_COUNT n;

	dt_ok(dat_ia_step(stepped->ia, 1, &n));
}

/*
 * A device that completes a receive twice, before ESTABLISHED was read: there is no room to keep
 * the second completion.  The endpoint works all the same.
 */
TEST(receive__completed_twice_before_established__counts_once)
{
	struct dt_pair pair;
	DAT_EVENT event, events[2];
	DAT_EP_PARAM param;
	DAT_RETURN ret;
	DAT_COUNT n;

	dt_side_open(&pair.a, "faulty", DT_MERGED);
	dt_side_open(&pair.b, "faulty-step", DT_MERGED);
	dt_side_listen(&pair.b);
	dt_ok(dat_ep_query(pair.b.ep, DAT_EP_FIELD_EP_ATTR_ALL, &param));
	dt_ok(dat_ep_free(pair.b.ep));
	param.ep_attr.max_recv_dtos = 1;
	pair.b.ep = dt_ep(&pair.b, &param.ep_attr);
	dt_recv(&pair.b, 0, 64, 0);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	while (dat_evd_dequeue(pair.b.cr, &event) != DAT_SUCCESS)
		step(&pair.b);
	dt_ok(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	dt_send(&pair.a, 0, 8, 0);
	dt_expect_dto(pair.a.request, pair.a.ep, 0, DAT_DTO_SUCCESS, &event);

	fault_cq_repeat(1);
	do
		ret = dat_evd_dequeue_n(pair.b.recv, 2, events, &n);
	while (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY); /* the device has not made it visible yet */
	dt_assert_type(ret, DAT_INTERNAL_ERROR);
	fault_cq_repeat(0);
	while (dat_evd_dequeue(pair.b.connect, &event) != DAT_SUCCESS)
		step(&pair.b);
	ck_assert_int_eq(event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	for (DAT_UINT64 i = 0; i < 3; i++) {
		while (dat_evd_dequeue_n(pair.b.recv, 1, &event, &n) != DAT_SUCCESS)
			dt_nap_ms(0);
		ck_assert_int_eq(event.event_number, DAT_DTO_COMPLETION_EVENT);
		ck_assert_uint_eq(event.event_data.dto_completion_event_data.user_cookie.as_64, i);
		dt_recv(&pair.b, 0, 64, i + 1);
		dt_send(&pair.a, 0, 8, i);
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
	}
	dt_pair_close(&pair);
}

/* clause: e.1.10 */
/* origin: hostile.2 */
TEST(completions__of_endpoints_that_were_freed__do_not_fill_a_queue_that_is_never_polled)
{
	struct dt_pair pair;

	device_pair_open(&pair);
	go_round(&pair, false);
	dt_assert_empty(pair.a.recv);
	dt_assert_empty(pair.a.async);
	dt_pair_close(&pair);
}

/* clause: e.1.9 */
/* origin: hostile.2 */
TEST(completions__of_an_endpoint_that_was_reset__do_not_fill_a_queue_that_is_never_polled)
{
	struct dt_pair pair;

	device_pair_open(&pair);
	go_round(&pair, true);
	dt_assert_empty(pair.a.recv);
	dt_assert_empty(pair.a.async);
	dt_pair_close(&pair);
}

/* Theirs stand behind more than the dispatcher has room for, which are to be delivered. */
/* clause: e.1.10 */
/* origin: hostile.2 */
TEST(completions__of_endpoints_that_were_freed__are_polled_behind_those_of_one_that_lives)
{
	struct dt_pair pair;
	DAT_EP_PARAM param;
	DAT_EP_HANDLE deep;
	DAT_EVENT event;

	device_pair_open(&pair);
	dt_ok(dat_ep_query(pair.a.ep, DAT_EP_FIELD_EP_ATTR_ALL, &param));
	dt_ok(dat_ep_free(pair.a.ep));
	param.ep_attr.max_recv_dtos = DEEP;
	deep = pair.a.ep = dt_ep(&pair.a, &param.ep_attr);
	for (DAT_UINT64 i = 0; i < DEEP; i++)
		dt_recv(&pair.a, 0, 64, i);
	dt_connect_pair(&pair);
	dt_ok(dat_ep_disconnect(deep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&pair.a);
	dt_expect_disconnected(&pair.b);
	dt_ok(dat_ep_reset(pair.b.ep));
	pair.a.ep = dt_ep(&pair.a, NULL);
	go_round(&pair, false);
	for (DAT_UINT64 i = 0; i < DEEP; i++)
		dt_expect_dto(pair.a.recv, deep, i, DAT_DTO_ERR_FLUSHED, &event);
	dt_assert_empty(pair.a.recv);
	dt_assert_empty(pair.a.async);
	dt_ok(dat_ep_free(deep));
	dt_pair_close(&pair);
}
