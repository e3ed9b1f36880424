/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error -- each error gives its status, its state and its event
 */
#include "datagram_story.h"

#include "softverbs/qp/qp_error.h"

#include <stdatomic.h>

#include "softverbs/qp/qp.h"

#include "pair.h"
#include "softverbs/soft_arm.h"

/* A mistake of the requester that the responder found: both queue pairs are done for. */
static void
expect_both_in_error(void)
{
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_ERR);
	ck_assert_int_eq(qp_state(b.qp), IBV_QPS_ERR);
}

PAIR_CASE("soft-error:error");

TEST(rdma_write__wrong_key__remote_access_error)
{
	side_receive(&b, 7, 0, 8);
	ck_assert_int_eq(
	    side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, (uintptr_t)b.bytes, b.mr->rkey ^ 0x10000, 8),
	    0);
	cq_expect(a.cq, 1, IBV_WC_REM_ACCESS_ERR);
	async_expect(b.context, IBV_EVENT_QP_ACCESS_ERR, b.qp);
	cq_expect(b.cq, 7, IBV_WC_WR_FLUSH_ERR);
	expect_both_in_error();
}

TEST(rdma_write__one_byte_beyond_the_end__refused_before_the_first)
{
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0,
			     (uintptr_t)b.bytes + SIDE_BYTES - 7, b.mr->rkey, 8),
	    0);
	cq_expect(a.cq, 1, IBV_WC_REM_ACCESS_ERR);
}

TEST(rdma_write__one_byte_before_the_start__refused)
{
	ck_assert_int_eq(
	    side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, (uintptr_t)b.bytes - 1, b.mr->rkey, 8), 0);
	cq_expect(a.cq, 1, IBV_WC_REM_ACCESS_ERR);
}

TEST(rdma_write__to_the_last_byte__good)
{
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0,
			     (uintptr_t)b.bytes + SIDE_BYTES - 8, b.mr->rkey, 8),
	    0);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
}

TEST(rdma_write__of_nothing__asks_for_no_key)
{
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 0, 0, 0), 0);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
}

TEST(rdma_write__key_of_another_domain__refused)
{
	struct side other;

	side_make(&other, NULL);
	ck_assert_int_eq(
	    side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, (uintptr_t)other.bytes, other.mr->rkey, 8),
	    0);
	cq_expect(a.cq, 1, IBV_WC_REM_ACCESS_ERR);
	side_free(&other);
}

TEST(rdma__region_without_the_right__refused)
{
	const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ };
	const int access[] = { IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE };

	for (int i = 0; i < 2; i++) {
		struct side c, d;
		struct ibv_mr *mr;

		pair_make(&c, &d, NULL);
		mr = ibv_reg_mr_iova2(
		    d.pd, d.bytes, 64, (uintptr_t)d.bytes, (unsigned int)access[i]);
		ck_assert_int_eq(
		    side_rdma_raw(&c, opcodes[i], 1, 0, (uintptr_t)d.bytes, mr->rkey, 8), 0);
		cq_expect(c.cq, 1, IBV_WC_REM_ACCESS_ERR);
		ibv_dereg_mr(mr);
		pair_free(&c, &d);
	}
}

TEST(rdma__queue_pair_without_the_right__invalid_request)
{
	const struct side_options none = { .qp_access = SIDE_NO_ACCESS };
	struct side c, d;

	pair_make(&c, &d, &none);
	side_rdma(&c, &d, IBV_WR_RDMA_READ, 1, 0, 0, 8);
	cq_expect(c.cq, 1, IBV_WC_REM_INV_REQ_ERR);
	async_expect(d.context, IBV_EVENT_QP_REQ_ERR, d.qp);
	pair_free(&c, &d);
}

/* ---- what a request needs ---- */

static const struct {
	enum ibv_wr_opcode opcode;
	int right;
} fetchers[] = {
	{ IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, IBV_ACCESS_REMOTE_WRITE },
	{ IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ },
	{ IBV_WR_ATOMIC_CMP_AND_SWP, IBV_ACCESS_REMOTE_ATOMIC },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC },
};
#define FETCHERS ((int)(sizeof fetchers / sizeof *fetchers))

/* One of all that it needs is missing. */
static const struct lack {
	bool queue_pair, region; /* gives all rights but this one */
	int reads;		 /* of this attribute there are none */
	uint32_t length;	 /* 8 if 0 */
	uint32_t offset;
	uint64_t iova;		       /* of the region, if not 0 */
	bool writes, fetches, atomics; /* the requests that need it */
	enum ibv_wc_status status;
	int event; /* at the other end; -1: none */
} lacks[] = {
	{ .event = -1 },
	{ .queue_pair = true,
	    .writes = true,
	    .fetches = true,
	    .atomics = true,
	    .status = IBV_WC_REM_INV_REQ_ERR,
	    .event = IBV_EVENT_QP_REQ_ERR },
	{ .region = true,
	    .writes = true,
	    .fetches = true,
	    .atomics = true,
	    .status = IBV_WC_REM_ACCESS_ERR,
	    .event = IBV_EVENT_QP_ACCESS_ERR },
	{ .reads = IBV_QP_MAX_DEST_RD_ATOMIC,
	    .fetches = true,
	    .atomics = true,
	    .status = IBV_WC_REM_INV_REQ_ERR,
	    .event = IBV_EVENT_QP_REQ_ERR },
	{ .reads = IBV_QP_MAX_QP_RD_ATOMIC,
	    .fetches = true,
	    .atomics = true,
	    .status = IBV_WC_LOC_QP_OP_ERR,
	    .event = -1 },
	{ .length = 7, .atomics = true, .status = IBV_WC_LOC_LEN_ERR, .event = -1 },
	{ .length = 16, .atomics = true, .status = IBV_WC_LOC_LEN_ERR, .event = -1 },
	{ .offset = 4,
	    .atomics = true,
	    .status = IBV_WC_REM_INV_REQ_ERR,
	    .event = IBV_EVENT_QP_REQ_ERR },
	/* The address is aligned where the memory is not. */
	{ .iova = 0x10000 - 4,
	    .offset = 4,
	    .atomics = true,
	    .status = IBV_WC_REM_ACCESS_ERR,
	    .event = IBV_EVENT_QP_ACCESS_ERR },
};
#define LACKS ((int)(sizeof lacks / sizeof *lacks))

static void
allow_no_reads(struct side *side, int bit)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };

	ck_assert_int_eq(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE), 0);
	ck_assert_int_eq(ibv_modify_qp(side->qp, &attr, bit), 0);
	attr.qp_state = IBV_QPS_RTS;
	ck_assert_int_eq(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE), 0);
}

TEST_LOOP(
    request__without_one_of_all_that_it_needs__is_refused_and_changes_nothing, FETCHERS *LACKS)
{
	const enum ibv_wr_opcode opcode = fetchers[_i / LACKS].opcode;
	const int right = fetchers[_i / LACKS].right;
	const struct lack *lack = &lacks[_i % LACKS];
	const bool refused = right == IBV_ACCESS_REMOTE_WRITE ? lack->writes :
			     right == IBV_ACCESS_REMOTE_READ  ? lack->fetches :
								lack->atomics;
	const bool atomic = right == IBV_ACCESS_REMOTE_ATOMIC;
	const struct side_options options = {
		.qp_access =
		    SIDE_NO_ACCESS | (SIDE_ACCESS & ~(lack->queue_pair ? (unsigned int)right : 0)),
	};
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;
	char before[64];
	struct ibv_mr *mr;
	struct side c, d;

	pair_make(&c, &d, &options);
	for (size_t i = 0; i < sizeof before; i++) {
		before[i] = d.bytes[i] = (char)(i + 1);
		c.bytes[i] = 'c';
	}
	if (lack->reads)
		allow_no_reads(lack->reads == IBV_QP_MAX_QP_RD_ATOMIC ? &c : &d, lack->reads);
	mr = ibv_reg_mr_iova2(d.pd, d.bytes, 64, lack->iova ? lack->iova : (uintptr_t)d.bytes,
	    (unsigned int)(SIDE_ACCESS & ~(lack->region ? right : 0)));
	ck_assert_ptr_nonnull(mr);
	sge = (struct ibv_sge){ (uintptr_t)c.bytes, lack->length ? lack->length : 8, c.mr->lkey };
	wr.wr.rdma.remote_addr = (lack->iova ? lack->iova : (uintptr_t)d.bytes) + lack->offset;
	if (atomic) {
		wr.wr.atomic.compare_add = *(uint64_t *)(void *)d.bytes;
		wr.wr.atomic.swap = 5;
		wr.wr.atomic.rkey = mr->rkey;
	} else {
		wr.wr.rdma.rkey = mr->rkey;
	}
	side_receive(&d, 2, 128, 0);
	ck_assert_int_eq(ibv_post_send(c.qp, &wr, &bad), 0);
	cq_expect(c.cq, 1, refused ? lack->status : IBV_WC_SUCCESS);
	if (refused && lack->event >= 0)
		async_expect(d.context, (enum ibv_event_type)lack->event, d.qp);
	ck_assert(!async_ready(d.context));
	ck_assert(!async_ready(c.context));
	ck_assert_int_eq(qp_state(c.qp), refused ? IBV_QPS_ERR : IBV_QPS_RTS);
	ck_assert_int_eq(qp_state(d.qp), refused && lack->event >= 0 ? IBV_QPS_ERR : IBV_QPS_RTS);
	if (refused) {
		ck_assert_int_eq(memcmp(d.bytes, before, sizeof before), 0);
		ck_assert_int_eq(c.bytes[0], 'c');
	}
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	pair_free(&c, &d);
}

TEST(rdma_read__deregistered_region__refused)
{
	uint32_t rkey = b.mr->rkey;

	ck_assert_int_eq(ibv_dereg_mr(b.mr), 0);
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_READ, 1, 0, (uintptr_t)b.bytes, rkey, 8), 0);
	cq_expect(a.cq, 1, IBV_WC_REM_ACCESS_ERR);
	b.mr = ibv_reg_mr(b.pd, b.bytes, 1, 0);
}

TEST(rdma_read__into_memory_not_writable__local_protection)
{
	struct ibv_mr *mr = ibv_reg_mr(a.pd, a.bytes, 64, 0);
	struct ibv_sge sge = { (uintptr_t)a.bytes, 8, mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.wr.rdma = { (uintptr_t)b.bytes, b.mr->rkey } },
			   *bad;

	ck_assert_int_eq(ibv_post_send(a.qp, &wr, &bad), 0);
	cq_expect(a.cq, 1, IBV_WC_LOC_PROT_ERR);
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_ERR);
	ck_assert_int_eq(qp_state(b.qp), IBV_QPS_RTS);
	ibv_dereg_mr(mr);
}

/* ---- memory of the request that may not be read ---- */

/* What the peer would answer, of which nothing is seen. */
enum { READY, NO_RECEIVE, SHORT_RECEIVE, IN_ERROR, DESTROYED, PEERS };

static void
request_of_unreadable_memory(enum ibv_wr_opcode opcode, struct ibv_sge first, struct ibv_sge second)
{
	struct ibv_sge sges[] = { first, second };
	struct ibv_send_wr wr = { .wr_id = 1,
		.sg_list = sges,
		.num_sge = 2,
		.opcode = opcode,
		.wr.rdma = { 1, 1 } }, /* no key of the peer either */
	    *bad;

	ck_assert_int_eq(ibv_post_send(a.qp, &wr, &bad), 0);
	cq_expect(a.cq, 1, IBV_WC_LOC_PROT_ERR);
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_ERR);
	cq_expect_empty(b.cq);
}

/* origin: out33.U1 */
TEST_LOOP(request__of_memory_that_may_not_be_read__fails_whatever_the_peer_would_answer, PEERS)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_SEND_WITH_IMM,
		IBV_WR_SEND_WITH_INV, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM };
	struct ibv_pd *pd = ibv_alloc_pd(a.context);
	struct ibv_mr *mr = ibv_reg_mr(pd, a.bytes, SIDE_BYTES, SIDE_ACCESS);
	const uint64_t at = (uintptr_t)a.bytes;
	const struct ibv_sge good = { at, 8, a.mr->lkey }, bad[] = { { at, 8, a.mr->lkey ^ 4 },
		{ at + SIDE_BYTES - 7, 8, a.mr->lkey }, { at, 8, mr->lkey } };

	for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
		for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
			if (!b.qp)
				side_new_qp(&b);
			pair_connect_again(&a, &b);
			if (_i != NO_RECEIVE)
				side_receive(&b, 5, 0, _i == SHORT_RECEIVE ? 4 : 64);
			if (_i == IN_ERROR) {
				side_to_error(&b);
				cq_expect(b.cq, 5, IBV_WC_WR_FLUSH_ERR);
			} else if (_i == DESTROYED) {
				ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
				b.qp = NULL;
			}
			if (k % 2)
				request_of_unreadable_memory(opcodes[i], bad[k], good);
			else
				request_of_unreadable_memory(opcodes[i], good, bad[k]);
			if (b.qp)
				ck_assert_int_eq(
				    qp_state(b.qp), _i == IN_ERROR ? IBV_QPS_ERR : IBV_QPS_RTS);
			if (_i == READY) {
				side_to_error(&b);
				cq_expect(b.cq, 5, IBV_WC_WR_FLUSH_ERR); /* it was not taken */
			}
		}
	}
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
}

TEST(send__longer_than_the_receive__length_error_and_invalid_request)
{
	side_receive(&b, 5, 0, 99);
	side_post(&a, IBV_WR_SEND, 0, 1, 0, 100);
	cq_expect(b.cq, 5, IBV_WC_LOC_LEN_ERR);
	cq_expect(a.cq, 1, IBV_WC_REM_INV_REQ_ERR);
	ck_assert_int_eq(b.bytes[0], 0);
	expect_both_in_error();
}

TEST(send__into_a_receive_with_a_wrong_key__protection_and_operation_error)
{
	struct ibv_sge sge = { (uintptr_t)b.bytes, 64, b.mr->lkey ^ 4 };
	struct ibv_recv_wr wr = { .wr_id = 5, .sg_list = &sge, .num_sge = 1 }, *bad;

	ck_assert_int_eq(ibv_post_recv(b.qp, &wr, &bad), 0);
	side_post(&a, IBV_WR_SEND, 0, 1, 0, 8);
	cq_expect(b.cq, 5, IBV_WC_LOC_PROT_ERR);
	cq_expect(a.cq, 1, IBV_WC_REM_OP_ERR);
	expect_both_in_error();
}

TEST(atomic__not_aligned__invalid_request)
{
	struct ibv_sge sge = { (uintptr_t)a.bytes, 8, a.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = { (uintptr_t)b.bytes + 4, 1, 0, b.mr->rkey } },
			   *bad;

	ck_assert_int_eq(ibv_post_send(a.qp, &wr, &bad), 0);
	cq_expect(a.cq, 1, IBV_WC_REM_INV_REQ_ERR);
}

TEST(error__requests_behind_it__flushed_in_order_each_once)
{
	side_post(&a, IBV_WR_SEND, 0, 0, 0, 8); /* no receive: the queue stands */
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 1, 1, 8), 0);
	for (uint64_t i = 2; i < 8; i++)
		side_post(&a, IBV_WR_SEND, 0, i, 0, 8);
	side_receive(&b, 10, 0, 8);
	side_receive(&b, 11, 0, 8);
	cq_expect(a.cq, 1, IBV_WC_REM_ACCESS_ERR);
	for (uint64_t i = 2; i < 8; i++)
		cq_expect(a.cq, i, IBV_WC_WR_FLUSH_ERR);
	cq_expect_empty(a.cq);
	cq_expect(b.cq, 10, IBV_WC_SUCCESS);
	cq_expect(b.cq, 11, IBV_WC_WR_FLUSH_ERR);
	cq_expect_empty(b.cq);
}

TEST(post_in_error__flushed_at_once)
{
	side_to_error(&a);
	side_receive(&a, 1, 0, 8);
	side_post(&a, IBV_WR_SEND, 0, 2, 0, 8);
	cq_expect(a.cq, 1, IBV_WC_WR_FLUSH_ERR);
	cq_expect(a.cq, 2, IBV_WC_WR_FLUSH_ERR);
	cq_expect_empty(a.cq);
}

/* An error changes the state in the device alone: the program has it of its next query. */
/* origin: out33.BB1 */
TEST(query__of_the_state_after_an_error__is_stored_in_the_queue_pair)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 0, 1, 8);
	cq_expect(a.cq, 1, IBV_WC_REM_ACCESS_ERR);
	ck_assert_int_eq(a.qp->state, IBV_QPS_RTS);
	ck_assert_int_eq(ibv_query_qp(a.qp, &attr, IBV_QP_CAP, &init), 0);
	ck_assert_int_eq(a.qp->state, IBV_QPS_RTS);
	ck_assert_int_eq(ibv_query_qp(a.qp, &attr, IBV_QP_CAP | IBV_QP_STATE, &init), 0);
	ck_assert_int_eq(attr.qp_state, IBV_QPS_ERR);
	ck_assert_int_eq(a.qp->state, IBV_QPS_ERR);
}

TEST(to_error_twice__each_request_flushed_once)
{
	side_receive(&a, 1, 0, 8);
	side_to_error(&a);
	side_to_error(&a);
	cq_expect(a.cq, 1, IBV_WC_WR_FLUSH_ERR);
	cq_expect_empty(a.cq);
}

TEST(send__no_receive_and_no_retries__rnr_error)
{
	const struct side_options strict = { .no_retries = true };
	struct side c, d;

	pair_make(&c, &d, &strict);
	side_post(&c, IBV_WR_SEND, 0, 1, 0, 8);
	cq_expect(c.cq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	ck_assert_int_eq(qp_state(c.qp), IBV_QPS_ERR);
	ck_assert_int_eq(qp_state(d.qp), IBV_QPS_RTS);
	pair_free(&c, &d);
}

TEST(send__to_a_peer_in_error__retries_then_gives_up)
{
	side_to_error(&b);
	side_post(&a, IBV_WR_SEND, 0, 1, 0, 8);
	side_post(&a, IBV_WR_SEND, 0, 2, 0, 8);
	cq_expect(a.cq, 1, IBV_WC_RETRY_EXC_ERR);
	cq_expect(a.cq, 2, IBV_WC_WR_FLUSH_ERR);
}

TEST(send__to_a_destroyed_peer__retries_then_gives_up)
{
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	b.qp = NULL;
	side_post(&a, IBV_WR_SEND, 0, 1, 0, 8);
	cq_expect(a.cq, 1, IBV_WC_RETRY_EXC_ERR);
}

TEST(stalled_send__peer_goes_to_error__gives_up)
{
	side_post(&a, IBV_WR_SEND, 0, 1, 0, 8); /* endless tries for a receive */
	side_to_error(&b);
	cq_expect(a.cq, 1, IBV_WC_RETRY_EXC_ERR);
}

TEST(cq_overrun__event_once__entries_before_it_are_good__then_dead)
{
	const struct side_options tiny = { .cqe = 2 };
	struct side c, d;
	struct ibv_wc wc;

	pair_make(&c, &d, &tiny);
	for (uint64_t i = 0; i < 4; i++)
		side_receive(&d, i, 0, 8);
	for (uint64_t i = 0; i < 3; i++)
		side_post(&c, IBV_WR_SEND, 0, i, 0, 8);
	async_expect(d.context, IBV_EVENT_CQ_ERR, d.cq);
	async_expect(d.context, IBV_EVENT_QP_FATAL, d.qp);
	ck_assert(!async_ready(d.context));
	ck_assert_int_eq(qp_state(d.qp), IBV_QPS_ERR);
	cq_expect(d.cq, 0, IBV_WC_SUCCESS);
	cq_expect(d.cq, 1, IBV_WC_SUCCESS);
	ck_assert_int_lt(ibv_poll_cq(d.cq, 1, &wc), 0);
	/* Who polled before it happened and arms now learns it from the next poll. */
	ck_assert_int_eq(ibv_req_notify_cq(d.cq, 0), 0);
	ck_assert_int_lt(ibv_poll_cq(d.cq, 1, &wc), 0);
	pair_free(&c, &d);
}

TEST(srq__queue_pair_to_error__last_wqe_reached)
{
	const struct side_options shared = { .srq = 4 };
	struct side c, d;

	pair_make(&c, &d, &shared);
	side_receive(&c, 1, 0, 8);
	side_to_error(&c);
	async_expect(c.context, IBV_EVENT_QP_LAST_WQE_REACHED, c.qp);
	side_to_error(&c);
	ck_assert(!async_ready(c.context));
	cq_expect_empty(c.cq); /* the receive belongs to the SRQ */
	pair_free(&c, &d);
}

TEST(post__too_many_or_malformed__refused_with_the_place)
{
	struct ibv_sge sge[5] = { { 0 } };
	struct ibv_send_wr second = { .opcode = IBV_WR_SEND, .num_sge = 5, .sg_list = sge };
	struct ibv_send_wr first = { .wr_id = 1,
		.opcode = IBV_WR_SEND,
		.next = &second,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad = NULL;
	struct ibv_recv_wr recv = { .num_sge = 5, .sg_list = sge }, *bad_recv = NULL;
	int r = 0;

	side_receive(&b, 1, 0, 8);
	ck_assert_int_eq(ibv_post_send(a.qp, &first, &bad), EINVAL);
	ck_assert_ptr_eq(bad, &second);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS); /* what came before it was posted */
	second = (struct ibv_send_wr){ .opcode = IBV_WR_TSO };
	ck_assert_int_eq(ibv_post_send(a.qp, &second, &bad), EINVAL);
	ck_assert_int_eq(ibv_post_recv(a.qp, &recv, &bad_recv), EINVAL);
	ck_assert_ptr_eq(bad_recv, &recv);
	for (int i = 0; i < 17 && !r; i++)
		r = side_try_post(&a, IBV_WR_SEND, 0, 1, 0, 8);
	ck_assert_int_eq(r, ENOMEM);
	r = 0;
	for (int i = 0; i < 17 && !r; i++)
		r = side_try_receive(&a, 1, 0, 8);
	ck_assert_int_eq(r, ENOMEM);
}

/* Not a power of two, as the queues have it. */
TEST(post__as_many_as_the_queue_says__and_no_more)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct side c, d;
	uint32_t n;

	pair_make(&c, &d, &(struct side_options){ .sends = 5, .receives = 6 });
	ck_assert_int_eq(ibv_query_qp(c.qp, &attr, IBV_QP_CAP, &init), 0);
	for (int round = 0; round < 3; round++) {
		for (n = 0; !side_try_post(&c, IBV_WR_SEND, IBV_SEND_SIGNALED, n, 0, 8); n++)
			;
		ck_assert_uint_eq(n, attr.cap.max_send_wr);
		for (uint32_t i = 0; i < n; i++) {
			side_receive(&d, i, 0, 8);
			cq_expect(c.cq, i, IBV_WC_SUCCESS);
			cq_expect(d.cq, i, IBV_WC_SUCCESS);
		}
	}
	for (n = 0; !side_try_receive(&c, n, 0, 8); n++)
		;
	ck_assert_uint_eq(n, attr.cap.max_recv_wr);
	pair_free(&c, &d);
}

static atomic_bool acknowledged;

static void *
ack_later(void *event)
{
	sleep_ms(50);
	acknowledged = true;
	ibv_ack_async_event(event);
	return NULL;
}

TEST(async_event__unacknowledged__destroy_waits_for_it)
{
	struct ibv_async_event event;
	pthread_t thread;

	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 1, 1, 8), 0);
	ck_assert(async_ready(b.context));
	ck_assert_int_eq(ibv_get_async_event(b.context, &event), 0);
	ck_assert(!async_ready(b.context));
	ck_assert_int_eq(pthread_create(&thread, NULL, ack_later, &event), 0);
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	ck_assert(acknowledged);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	b.qp = NULL;
}

/* The same for the other kinds of objects that have events. */
TEST_LOOP(async_event_of_a_queue__unacknowledged__destroy_waits_for_it, 2)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq_attr limit = { .srq_limit = 2 };
	struct ibv_srq *srq = ibv_create_srq(a.pd, &init);
	struct ibv_cq *cq = ibv_create_cq(a.context, 1, NULL, NULL, 0);
	struct soft_async_source *source = _i ? &soft_cq_of(cq)->async : NULL;
	struct ibv_async_event event;
	pthread_t thread;

	if (source)
		soft_async_raise(soft_context_of(a.context), source, IBV_EVENT_CQ_ERR);
	else
		ck_assert_int_eq(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), 0);
	ck_assert(async_ready(a.context));
	ck_assert_int_eq(ibv_get_async_event(a.context, &event), 0);
	ck_assert_int_eq(event.event_type, _i ? IBV_EVENT_CQ_ERR : IBV_EVENT_SRQ_LIMIT_REACHED);
	acknowledged = false;
	ck_assert_int_eq(pthread_create(&thread, NULL, ack_later, &event), 0);
	ck_assert_int_eq(_i ? ibv_destroy_cq(cq) : ibv_destroy_srq(srq), 0);
	ck_assert(acknowledged);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(_i ? ibv_destroy_srq(srq) : ibv_destroy_cq(cq), 0);
}

/*
 * The limit is raised once, when there are fewer receives than it says; it is at the middle, and
 * below.
 */
TEST_LOOP(srq_limit__each_value__one_event_when_fewer_are_left, 5)
{
	struct ibv_srq_attr attr = { .srq_limit = (uint32_t)_i };
	struct side c, d;

	pair_make(&c, &d, &(struct side_options){ .srq = 4 });
	for (uint64_t i = 0; i < 4; i++) {
		struct ibv_recv_wr wr = { .wr_id = i }, *bad;

		ck_assert_int_eq(ibv_post_srq_recv(d.srq, &wr, &bad), 0);
	}
	ck_assert_int_eq(ibv_modify_srq(d.srq, &attr, IBV_SRQ_LIMIT), 0);
	for (int left = 3; left >= 0; left--) {
		ck_assert_int_eq(ibv_query_srq(d.srq, &attr), 0);
		ck_assert_uint_eq(attr.srq_limit, left + 1 >= _i ? (uint32_t)_i : 0);
		ck_assert_uint_eq(attr.max_wr, 4);
		ck_assert(!async_ready(d.context));
		side_post(&c, IBV_WR_SEND, 0, 1, 0, 0);
		cq_expect(d.cq, (uint64_t)(3 - left), IBV_WC_SUCCESS);
		if (left == _i - 1)
			async_expect(d.context, IBV_EVENT_SRQ_LIMIT_REACHED, d.srq);
	}
	ck_assert(!async_ready(d.context));
	attr.srq_limit = 5;
	ck_assert_int_eq(ibv_modify_srq(d.srq, &attr, IBV_SRQ_LIMIT), EINVAL);
	pair_free(&c, &d);
}

/* An object with several events does not hold back those of others. */
TEST(async_events__of_two_objects__take_turns)
{
	struct soft_qp *qp = soft_qp_of(a.qp);

	soft_async_raise(qp->context, &qp->async, IBV_EVENT_COMM_EST);
	soft_async_raise(qp->context, &qp->async, IBV_EVENT_SQ_DRAINED);
	soft_async_raise(qp->context, &soft_cq_of(a.cq)->async, IBV_EVENT_CQ_ERR);
	async_expect(a.context, IBV_EVENT_COMM_EST, a.qp);
	async_expect(a.context, IBV_EVENT_CQ_ERR, a.cq);
	async_expect(a.context, IBV_EVENT_SQ_DRAINED, a.qp);
	ck_assert(!async_ready(a.context));
}

/* Else a port that is active again seems to be down.  The types in a row; what is read of them. */
/* origin: issue38.1 */
TEST_LOOP(async_events__of_a_port__are_read_in_the_order_of_their_last_time, 3)
{
	static const struct {
		enum ibv_event_type raised[3], read[2];
	} events[] = {
		{ { IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ACTIVE },
		    { IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE } },
		{ { IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ERR },
		    { IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR } },
		{ { IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE },
		    { IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE } },
	};
	struct soft_context *ctx = soft_context_of(a.context);
	struct ibv_async_event event;

	for (int i = 0; i < 3; i++)
		soft_async_raise(ctx, &ctx->ports[1], events[_i].raised[i]);
	for (int i = 0; i < 2; i++) {
		ck_assert(async_ready(a.context));
		ck_assert_int_eq(ibv_get_async_event(a.context, &event), 0);
		ck_assert_int_eq(event.event_type, events[_i].read[i]);
		ck_assert_int_eq(event.element.port_num, 2);
		ibv_ack_async_event(&event);
	}
	ck_assert(!async_ready(a.context));
}

/*
 * The other end of a transfer reports what failed here after the locks: meanwhile this end may fail
 * by itself, or be reset.
 */
/* origin: out33.D8 */
TEST_LOOP(failure_reported_later__in_any_state__is_told_once_or_has_no_meaning, 3)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_RTS, IBV_QPS_ERR, IBV_QPS_RESET };
	struct ibv_qp_attr attr = { .qp_state = states[_i] };
	struct soft_qp *qp = soft_qp_of(a.qp);
	struct soft_deferred deferred = { .failed = qp, .event = IBV_EVENT_QP_FATAL };

	soft_qp_get(qp);
	soft_qp_lock_receive(qp);
	qp->refusing = true;
	soft_qp_unlock_receive(qp);
	if (states[_i] != IBV_QPS_RTS)
		ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
	soft_deferred_run(&deferred);
	if (states[_i] != IBV_QPS_RESET)
		async_expect(a.context, IBV_EVENT_QP_FATAL, a.qp);
	ck_assert(!async_ready(a.context));
	ck_assert_int_eq(qp_state(a.qp), states[_i] == IBV_QPS_RESET ? IBV_QPS_RESET : IBV_QPS_ERR);
}

TEST(async_event__unread__dropped_with_its_object)
{
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 1, 1, 8), 0);
	ck_assert(async_ready(b.context));
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	b.qp = NULL;
	ck_assert(!async_ready(b.context));
}

/* ---- a send that waits for a receive ---- */

static atomic_uint told_count, told_of;

static void
tell(unsigned int qp_num)
{
	told_of = qp_num;
	told_count++;
}

static void
wait_told(unsigned int n)
{
	for (int i = 0; told_count < n && i < 1000; i++)
		sleep_ms(10);
	ck_assert_uint_eq(told_count, n);
}

/* As if the oldest send of the side had waited for a receive so much longer. */
static void
starve_longer(struct side *side, uint64_t milliseconds)
{
	struct soft_qp *qp = soft_qp_of(side->qp);

	soft_qp_lock_send(qp);
	ck_assert_int_eq(qp->sq.stall, SOFT_STALLED_RECEIVE);
	qp->sq.starved_since -= milliseconds * SOFT_MILLISECOND;
	soft_qp_unlock_send(qp);
}

/* origin: out33.R1 */
TEST(send__waits_two_seconds_for_a_receive__is_told_once_a_connection_and_counted)
{
	soft_tell_stalls_to(tell);
	ck_assert_uint_eq(soft_cq_stalls(a.cq), 0);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, 8);
	sleep_ms(200);
	ck_assert_uint_eq(soft_cq_stalls(a.cq), 1); /* not one for each try */
	ck_assert_uint_eq(told_count, 0);
	starve_longer(&a, 1800);
	wait_told(1);
	ck_assert_uint_eq(told_of, a.qp->qp_num);
	side_receive(&b, 10, 0, 8);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	cq_expect(b.cq, 10, IBV_WC_SUCCESS);

	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 8);
	/* the other direction is another queue */
	side_post(&b, IBV_WR_SEND, IBV_SEND_SIGNALED, 3, 0, 8);
	starve_longer(&a, 2000);
	starve_longer(&b, 2000);
	wait_told(2);
	ck_assert_uint_eq(told_of, b.qp->qp_num);
	ck_assert_uint_eq(soft_cq_stalls(a.cq), 2);
	ck_assert_uint_eq(soft_cq_stalls(b.cq), 1);
	sleep_ms(200);
	ck_assert_uint_eq(told_count, 2);
	side_receive(&b, 11, 0, 8);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	cq_expect(b.cq, 11, IBV_WC_SUCCESS);
	side_receive(&a, 12, 0, 8);
	cq_expect(b.cq, 3, IBV_WC_SUCCESS);
	soft_tell_stalls_to(NULL);
}

/* A send that need not wait, or not for long, is no reason for a line. */
/* origin: out33.R1 */
TEST(send__gets_its_receive_in_time__is_not_told)
{
	soft_tell_stalls_to(tell);
	side_receive(&b, 10, 0, 8);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, 8);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	ck_assert_uint_eq(soft_cq_stalls(a.cq), 0);
	for (uint64_t i = 2; i < 6; i++) { /* together they wait longer than two seconds */
		side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, i, 0, 8);
		starve_longer(&a, 600);
		sleep_ms(60); /* a try */
		side_receive(&b, 10 + i, 0, 8);
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
	}
	ck_assert_uint_eq(soft_cq_stalls(a.cq), 4);
	ck_assert_uint_eq(told_count, 0);
	soft_tell_stalls_to(NULL);
}

/* A program that did not ask reads it on standard error. */
/* origin: out33.R1 */
TEST(send__waits_for_a_receive__a_line_on_standard_error)
{
	char said[512] = "", want[256];
	FILE *file = tmpfile();
	const int saved = dup(STDERR_FILENO);

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, 8);
	starve_longer(&a, 2000);
	for (int i = 0; i < 1000 && !strchr(said, '\n'); i++) {
		sleep_ms(10);
		ck_assert_int_ge(pread(fileno(file), said, sizeof said - 1, 0), 0);
	}
	dup2(saved, STDERR_FILENO);
	close(saved);
	fclose(file);
	snprintf(want, sizeof want,
	    "softverbs[%d]: a send of queue pair 0x%x has waited for 2 s: the other end has posted "
	    "no "
	    "receive\n",
	    (int)getpid(), a.qp->qp_num);
	ck_assert_str_eq(said, want);
	side_receive(&b, 10, 0, 8);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
}

/* Whose completion of a send is lost cannot go on. */
/* origin: outside.159 */
TEST(cq_overrun__by_sends__the_queue_pair_fails)
{
	struct side c, d;

	pair_make(&c, &d, &(struct side_options){ .cqe = 1 });
	for (uint64_t i = 0; i < 3; i++)
		side_rdma(&c, &d, IBV_WR_RDMA_WRITE, i, 0, 0, 8);
	async_expect(c.context, IBV_EVENT_CQ_ERR, c.cq);
	async_expect(c.context, IBV_EVENT_QP_FATAL, c.qp);
	ck_assert(!async_ready(c.context));
	ck_assert(!async_ready(d.context));
	ck_assert_int_eq(qp_state(c.qp), IBV_QPS_ERR);
	ck_assert_int_eq(qp_state(d.qp), IBV_QPS_RTS);
	cq_expect(c.cq, 0, IBV_WC_SUCCESS);
	pair_free(&c, &d);
}

TEST(cq_overrun__by_datagrams__the_queue_pair_fails)
{
	struct side c;
	struct ibv_ah *ah;
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;

	side_make(&c, &(struct side_options){ .cqe = 1 });
	datagram_side(&c);
	ah = datagram_ah(&c);
	sge = (struct ibv_sge){ (uintptr_t)c.bytes, 8, c.mr->lkey };
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = c.qp->qp_num;
	wr.wr.ud.remote_qkey = DATAGRAM_KEY;
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(ibv_post_send(c.qp, &wr, &bad), 0);
	async_expect(c.context, IBV_EVENT_CQ_ERR, c.cq);
	async_expect(c.context, IBV_EVENT_QP_FATAL, c.qp);
	ck_assert(!async_ready(c.context));
	ck_assert_int_eq(qp_state(c.qp), IBV_QPS_ERR);
	ck_assert_int_eq(ibv_destroy_ah(ah), 0);
	side_free(&c);
}
