/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_error -- queue pairs of two processes: rejections, disconnections, a peer that does not
 * exist
 */
#include "other.h"
#include "own.h"

static void
refusing(void)
{
	own_connect(NULL);
	side_receive(&own, 9, 0, 10);
	other_meet();
	async_expect(own.context, IBV_EVENT_QP_ACCESS_ERR, own.qp);
	cq_expect(own.cq, 9, IBV_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(qp_state(own.qp), IBV_QPS_ERR);
	own_end();
}

CASE("soft-process-error:error");

TEST(rdma__beyond_the_region__both_in_error__later_requests_flushed)
{
	own_begin(refusing, NULL);
	other_meet();
	own_rdma(IBV_WR_RDMA_READ, 1, 0, 0, 100);
	own_rdma(IBV_WR_RDMA_WRITE, 2, 0, SIDE_BYTES - 10, 11);
	own_rdma(IBV_WR_RDMA_READ, 3, 0, 0, 100);
	side_post(&own, IBV_WR_SEND, 0, 4, 0, 10);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	cq_expect(own.cq, 2, IBV_WC_REM_ACCESS_ERR);
	cq_expect(own.cq, 3, IBV_WC_WR_FLUSH_ERR);
	cq_expect(own.cq, 4, IBV_WC_WR_FLUSH_ERR);
	cq_expect_empty(own.cq);
	own_end();
	other_finish();
}

static void
gone(void)
{
	own_connect(NULL);
	pause();
}

/* origin: out33.U1 */
TEST(send__of_memory_that_may_not_be_read__fails_so_though_the_peer_has_ended)
{
	struct ibv_send_wr wr = { .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	struct ibv_sge sge;

	own_begin(gone, NULL);
	other_kill();
	sge = (struct ibv_sge){ (uintptr_t)own.bytes, 8, own.mr->lkey ^ 4 };
	wr.sg_list = &sge;
	ck_assert_int_eq(ibv_post_send(own.qp, &wr, &bad), 0);
	cq_expect(own.cq, 0, IBV_WC_LOC_PROT_ERR);
	side_free(&own);
}

static void
too_small(void)
{
	own_connect(NULL);
	side_receive(&own, 9, 0, 99);
	other_meet();
	cq_expect(own.cq, 9, IBV_WC_LOC_LEN_ERR);
	own_end();
}

TEST(send__longer_than_the_receive__invalid_request)
{
	own_begin(too_small, NULL);
	other_meet();
	side_post(&own, IBV_WR_SEND, 0, 1, 0, 100);
	cq_expect(own.cq, 1, IBV_WC_REM_INV_REQ_ERR);
	own_end();
	other_finish();
}

static void
idle(void)
{
	own_connect(NULL);
	other_meet();
	own_end();
}

TEST(send__no_receive_and_no_retries__rnr_error)
{
	const struct side_options strict = { .no_retries = true };

	own_begin(idle, &strict);
	other_meet();
	side_post(&own, IBV_WR_SEND, 0, 1, 0, 100);
	cq_expect(own.cq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	own_end();
	other_finish();
}

static void
leaving(void)
{
	own_connect(NULL);
	ck_assert_int_eq(ibv_destroy_qp(own.qp), 0);
	own.qp = NULL;
	other_meet();
	own_end();
}

TEST(send__to_a_destroyed_queue_pair__retries_then_gives_up)
{
	own_begin(leaving, NULL);
	other_meet();
	side_post(&own, IBV_WR_SEND, 0, 1, 0, 100000);
	side_post(&own, IBV_WR_SEND, 0, 2, 0, 100);
	cq_expect(own.cq, 1, IBV_WC_RETRY_EXC_ERR);
	cq_expect(own.cq, 2, IBV_WC_WR_FLUSH_ERR);
	own_end();
	other_finish();
}

static void
resetting(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	own_connect(NULL);
	side_receive(&own, 1, 0, 10);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_modify_qp(own.qp, &attr, IBV_QP_STATE), 0);
	own_end();
}

/* What was executed is acknowledged even if the queue pair is reset the moment after. */
TEST_LOOP(peer_resets_right_after_the_message__it_was_done__the_next_is_not, 10)
{
	own_begin(resetting, NULL);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, 10);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 10);
	own_rdma(IBV_WR_RDMA_READ, 3, 0, 0, 1000);
	cq_expect(own.cq, 2, IBV_WC_RETRY_EXC_ERR);
	cq_expect(own.cq, 3, IBV_WC_WR_FLUSH_ERR);
	own_end();
	other_finish();
}

static void
slow_to_connect(void)
{
	side_make(&own, NULL);
	own_exchange();
	side_to_init(&own, NULL);
	side_receive(&own, 1, 0, 100);
	other_meet();
	sleep_ms(2);
	side_to_rtr(&own, own_peer.qpn);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	own_end();
}

TEST(send__before_the_peer_is_ready__arrives_when_it_is)
{
	const struct side_options patient = { .patient = true };

	own_begin(slow_to_connect, &patient);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, 100);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}

static void
until_killed(void)
{
	own_connect(NULL);
	for (;;)
		pause();
}

TEST(peer_killed__requests_fail)
{
	own_begin(until_killed, NULL);
	side_post(&own, IBV_WR_SEND, 0, 1, 0, 100); /* waits for a receive */
	side_receive(&own, 3, 0, 100);
	sleep_ms(10);
	other_kill();
	cq_expect(own.cq, 1, IBV_WC_RETRY_EXC_ERR);
	cq_expect(own.cq, 3, IBV_WC_WR_FLUSH_ERR);
	side_post(&own, IBV_WR_SEND, 0, 4, 0, 100);
	cq_expect(own.cq, 4, IBV_WC_WR_FLUSH_ERR);
	side_free(&own);
}
