/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of completions when a post meets the end of an attempt to connect half way. */
#include "device_fault.h"
#include "device_suites.h"

#define POSTED 3

static struct dt_side *side;

/* What another thread may do then: the queue pair has failed, and no event says so yet. */
static void
post_one_more(void)
{
	device_on_queue_pair_error(NULL);
	dt_recv(side, 0, 64, POSTED);
}

/* clause: d.4.1 */
/* origin: hostile.1 */
START_TEST(receive__posted_while_an_attempt_ends__follows_those_posted_before)
{
	struct dt_pair pair;
	DAT_EVENT event;

	dt_side_open(&pair.a, "device", DT_MERGED);
	dt_side_open(&pair.b, "device", DT_MERGED);
	dt_side_listen(&pair.b);
	side = &pair.a;
	for (DAT_UINT64 i = 0; i < POSTED; i++)
		dt_recv(side, 0, 64, i);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	device_on_queue_pair_error(post_one_more);
	dt_ok(dat_ep_disconnect(side->ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(side);
	for (DAT_UINT64 i = 0; i <= POSTED; i++)
		dt_expect_dto(side->recv, side->ep, i, DAT_DTO_ERR_FLUSHED, &event);
	dt_pair_close(&pair);
}
END_TEST

Suite *
device_order_suite(void)
{
	Suite *suite = suite_create("device-order");
	TCase *tcase = device_tcase(suite, "order");

	tcase_add_test(tcase,
	    receive__posted_while_an_attempt_ends__follows_those_posted_before);
	return suite;
}
