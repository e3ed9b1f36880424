/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drain -- the state SQD: a send that was refused for want of a receive has begun, and ends before
 * SQ_DRAINED; one that is posted then waits.  The peer is in this process, or in another.
 */
#include "other.h"
#include "own.h"
#include "patience.h"

#include "softverbs/soft_arm.h"

static void
change_state(struct side *side, enum ibv_qp_state to)
{
	const int notify = to == IBV_QPS_SQD ? IBV_QP_EN_SQD_ASYNC_NOTIFY : 0;
	struct ibv_qp_attr attr = { .qp_state = to, .en_sqd_async_notify = 1 };

	ck_assert_int_eq(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | notify), 0);
}

static bool
is_draining(struct side *side)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	ck_assert_int_eq(ibv_query_qp(side->qp, &attr, IBV_QP_STATE, &init), 0);
	ck_assert_int_eq(attr.qp_state, IBV_QPS_SQD);
	return attr.sq_draining;
}

/* `receive` lets the peer post two receives, of which the second is not used. */
static void
drain(struct side *side, void (*receive)(void))
{
	side_post(side, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, 8);
	while (!soft_cq_stalls(side->cq)) /* until it is refused */
		sleep_ms(1);
	change_state(side, IBV_QPS_SQD);
	ck_assert(is_draining(side));
	ck_assert(!async_ready(side->context));
	receive();
	cq_expect(side->cq, 1, IBV_WC_SUCCESS);
	async_expect(side->context, IBV_EVENT_SQ_DRAINED, side->qp);
	ck_assert(!is_draining(side));
	side_post(side, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 8);
	sleep_ms(10);
	cq_expect_empty(side->cq);
	change_state(side, IBV_QPS_RTS);
	cq_expect(side->cq, 2, IBV_WC_SUCCESS);
	ck_assert(!async_ready(side->context));
}

static struct side a, b;

static void
receive_here(void)
{
	side_receive(&b, 1, 0, 8);
	side_receive(&b, 2, 0, 8);
}

CASE("soft-drain:process");

/* origin: out33.W16 */
TEST(drain__send_that_waits_for_a_receive__is_done_before_the_event)
{
	pair_make(&a, &b, NULL);
	drain(&a, receive_here);
	pair_free(&a, &b);
}

static void
receiving(void)
{
	own_connect(NULL);
	other_meet();
	side_receive(&own, 1, 0, 8);
	side_receive(&own, 2, 0, 8);
	own_end();
}

CASE("soft-drain:processes", patience_begin, patience_end);

/* origin: out33.W16 */
TEST(drain__send_that_waits_for_a_receive_of_another_process__is_done_before_the_event)
{
	own_begin(receiving, NULL);
	drain(&own, other_meet);
	own_end();
	other_finish();
}
