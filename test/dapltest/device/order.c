/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of completions when a post races with the end of an attempt to connect. */
#include "fault/fault.h"
#include "suites.h"

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
	dt_expect_disconnected(side);
	for (DAT_UINT64 i = 0; i <= POSTED; i++)
		dt_expect_dto(side->recv, side->ep, i, DAT_DTO_ERR_FLUSHED, &event);
	dt_pair_close(&pair);
}

/* clause: d.4.1 */
/* origin: hostile.1 */
START_TEST(receive__posted_while_an_attempt_ends__follows_those_posted_before)
{
	end_attempt(false);
}
END_TEST

/* clause: e.2.1 */
/* origin: kernel.2 */
START_TEST(receive__posted_late_to_a_device_that_overlooks_it__is_flushed)
{
	end_attempt(true);
}
END_TEST

/*
 * Makes more rounds than the completion queue has room for.  In each one the receives of an endpoint are flushed,
 * and it is freed or reset.  The queue is not polled.
 */
static void
go_round(struct dt_pair *pair, bool reset)
{
	DAT_EP_PARAM param;

	dt_ok(dat_ep_query(pair->a.ep, DAT_EP_FIELD_EP_ATTR_ALL, &param));
	for (int round = 0; round < 60; round++) {
		for (DAT_UINT64 i = 0; i < 8; i++)
			dt_recv(&pair->a, 0, 64, i);
		dt_connect(&pair->a, &pair->b, NULL, 0);
		dt_ok(dat_ep_disconnect(pair->a.ep, DAT_CLOSE_ABRUPT_FLAG));
		if (reset) {
			dt_ok(dat_ep_reset(pair->a.ep));
		} else {
			dt_ok(dat_ep_free(pair->a.ep));
			pair->a.ep = dt_ep(&pair->a, &param.ep_attr);
		}
	}
}

static void
open_pair(struct dt_pair *pair)
{
	dt_side_open(&pair->a, "faulty", DT_SEPARATE);
	dt_side_open(&pair->b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair->b);
}

/* clause: e.1.10 */
/* origin: hostile.2 */
START_TEST(completions__of_endpoints_that_were_freed__do_not_fill_a_queue_that_is_never_polled)
{
	struct dt_pair pair;

	open_pair(&pair);
	go_round(&pair, false);
	dt_assert_empty(pair.a.recv);
	dt_assert_empty(pair.a.async);
	dt_pair_close(&pair);
}
END_TEST

/* clause: e.1.9 */
/* origin: hostile.2 */
START_TEST(completions__of_an_endpoint_that_was_reset__do_not_fill_a_queue_that_is_never_polled)
{
	struct dt_pair pair;

	open_pair(&pair);
	go_round(&pair, true);
	dt_assert_empty(pair.a.recv);
	dt_assert_empty(pair.a.async);
	dt_pair_close(&pair);
}
END_TEST

/* Theirs stand behind more than the dispatcher has room for, which are to be delivered. */
/* clause: e.1.10 */
/* origin: hostile.2 */
START_TEST(completions__of_endpoints_that_were_freed__are_polled_behind_those_of_one_that_lives)
{
	struct dt_pair pair;
	DAT_EP_PARAM param;
	DAT_EP_HANDLE deep;
	DAT_EVENT event;

	open_pair(&pair);
	dt_ok(dat_ep_query(pair.a.ep, DAT_EP_FIELD_EP_ATTR_ALL, &param));
	dt_ok(dat_ep_free(pair.a.ep));
	param.ep_attr.max_recv_dtos = DEEP;
	deep = pair.a.ep = dt_ep(&pair.a, &param.ep_attr);
	for (DAT_UINT64 i = 0; i < DEEP; i++)
		dt_recv(&pair.a, 0, 64, i);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_ep_disconnect(deep, DAT_CLOSE_ABRUPT_FLAG));
	pair.a.ep = dt_ep(&pair.a, NULL);
	go_round(&pair, false);
	for (DAT_UINT64 i = 0; i < DEEP; i++)
		dt_expect_dto(pair.a.recv, deep, i, DAT_DTO_ERR_FLUSHED, &event);
	dt_assert_empty(pair.a.recv);
	dt_assert_empty(pair.a.async);
	dt_ok(dat_ep_free(deep));
	dt_pair_close(&pair);
}
END_TEST

Suite *
device_order_suite(void)
{
	Suite *suite = suite_create("device-order");
	TCase *tcase = device_tcase(suite, "order");

	tcase_add_test(tcase, receive__posted_while_an_attempt_ends__follows_those_posted_before);
	tcase_add_test(tcase, receive__posted_late_to_a_device_that_overlooks_it__is_flushed);
	tcase_add_test(tcase,
	    completions__of_endpoints_that_were_freed__do_not_fill_a_queue_that_is_never_polled);
	tcase_add_test(tcase,
	    completions__of_an_endpoint_that_was_reset__do_not_fill_a_queue_that_is_never_polled);
	tcase_add_test(tcase,
	    completions__of_endpoints_that_were_freed__are_polled_behind_those_of_one_that_lives);
	return suite;
}
