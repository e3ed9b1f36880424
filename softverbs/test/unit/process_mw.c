/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_mw -- memory windows of queue pairs of two processes
 */
#include <sys/socket.h>

#include "line.h"
#include "mw_story.h"
#include "other.h"
#include "own.h"
#include "softverbs/wire/wire.h"

#define RANGE 100000 /* of a window: [RANGE, 2 * RANGE) */

static const struct side_options options = { .mr_access = MW_ACCESS };

static uint32_t
hear_key(void)
{
	uint32_t key;

	other_hear(&key, sizeof key);
	return key;
}

static int
try_access(enum ibv_wr_opcode opcode, uint64_t wr_id, uint32_t key, size_t offset, uint32_t length)
{
	return side_rdma_raw(
	    &own, opcode, wr_id, 0, own_peer.address + RANGE + offset, key, length);
}

/* --- access and invalidation */

static void
accessing(void)
{
	uint32_t key;

	own_connect(&options);
	key = hear_key();
	memset(own.bytes, 'w', RANGE);
	ck_assert_int_eq(try_access(IBV_WR_RDMA_WRITE, 1, key, 0, RANGE), 0);
	ck_assert_int_eq(try_access(IBV_WR_RDMA_READ, 2, key, 0, RANGE), 0);
	mw_send_with_invalidate(&own, 3, key, 70000);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	cq_expect(own.cq, 3, IBV_WC_SUCCESS);
	ck_assert_int_eq(try_access(IBV_WR_RDMA_WRITE, 4, key, 0, 1), 0);
	cq_expect(own.cq, 4, IBV_WC_REM_ACCESS_ERR);
	own_end();
}

CASE("soft-process-mw:mw");

TEST_LOOP(window__written_read_and_invalidated_by_the_peer, 2)
{
	const int srq = _i ? 4 : 0;
	struct side_options mine = options;
	struct ibv_mw *mw;
	struct ibv_wc wc;
	uint32_t key;

	mine.srq = srq;
	own_begin(accessing, &mine);
	side_receive(&own, 9, 0, 80000);
	mw = mw_make(&own, IBV_MW_TYPE_2);
	key = mw_bind(&own, mw, RANGE, RANGE, MW_REMOTE);
	other_tell(&key, sizeof key);
	wc = cq_next(own.cq);
	ck_assert_uint_eq(wc.wr_id, 9);
	ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
	ck_assert_uint_eq(wc.wc_flags, IBV_WC_WITH_INV);
	ck_assert_uint_eq(wc.invalidated_rkey, key);
	ck_assert_uint_eq(wc.byte_len, 70000);
	mw_expect_not_bound(&own);
	ck_assert_int_eq(own.bytes[RANGE], 'w');
	ck_assert_int_eq(own.bytes[2 * RANGE - 1], 'w');
	async_expect(own.context, IBV_EVENT_QP_ACCESS_ERR, own.qp);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	own_end();
	other_finish();
}

static void
invalidating_wrongly(void)
{
	uint32_t key;

	own_connect(&options);
	key = hear_key();
	mw_send_with_invalidate(&own, 3, key, 70000);
	side_post(&own, IBV_WR_SEND, 0, 4, 0, 10);
	cq_expect(own.cq, 3, IBV_WC_REM_ACCESS_ERR);
	cq_expect(own.cq, 4, IBV_WC_WR_FLUSH_ERR);
	own_end();
}

TEST(send_with_invalidate__of_a_window_of_type_1__fails_at_both_ends)
{
	struct ibv_mw *mw;
	uint32_t key;

	own_begin(invalidating_wrongly, &options);
	side_receive(&own, 9, 0, 80000);
	side_receive(&own, 10, 0, 80000);
	mw = mw_make(&own, IBV_MW_TYPE_1);
	key = mw_bind(&own, mw, RANGE, RANGE, MW_REMOTE);
	other_tell(&key, sizeof key);
	cq_expect(own.cq, 9, IBV_WC_REM_INV_REQ_ERR);
	cq_expect(own.cq, 10, IBV_WC_WR_FLUSH_ERR);
	mw_expect_bound(&own);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	own_end();
	other_finish();
}

static void
idle(void)
{
	own_connect(&options);
	other_meet();
	own_end();
}

TEST(window_key__as_a_local_key__protection_error)
{
	struct ibv_sge sge = { 0, 8, 0 };
	struct ibv_send_wr wr = { .wr_id = 3,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND },
			   *bad;
	struct ibv_mw *mw;

	own_begin(idle, &options);
	mw = mw_make(&own, IBV_MW_TYPE_1);
	sge.addr = (uintptr_t)own.bytes + RANGE;
	sge.lkey = mw_bind(&own, mw, RANGE, RANGE, MW_REMOTE);
	ck_assert_int_eq(ibv_post_send(own.qp, &wr, &bad), 0);
	cq_expect(own.cq, 3, IBV_WC_LOC_PROT_ERR);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	other_meet();
	own_end();
	other_finish();
}

/* --- order */

#define ROUNDS 50

/* Waits until all of these have completed, each once. */
static void
await_all(unsigned int *came, unsigned int wanted)
{
	while ((*came & wanted) != wanted) {
		struct ibv_wc wc = cq_next(own.cq);

		ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
		ck_assert_msg(wc.wr_id < 32 && !(*came >> wc.wr_id & 1), "wr_id %d", (int)wc.wr_id);
		*came |= 1u << wc.wr_id;
	}
	*came &= ~wanted;
}

/* Uses the key as soon as its message is there. */
static void
using_keys(void)
{
	unsigned int came = 0; /* completions, a bit for each wr_id */
	uint32_t key;

	own_connect(&options);
	side_receive(&own, 9, 0, sizeof key);
	other_meet();
	for (int i = 0; i < ROUNDS; i++) {
		await_all(&came, 1u << 9);
		memcpy(&key, own.bytes, sizeof key);
		side_receive(&own, 9, 0, sizeof key);
		ck_assert_int_eq(try_access(IBV_WR_RDMA_WRITE, 1, key, 0, 1000), 0);
		mw_send_with_invalidate(&own, 2, key, 0);
		/* The next key may come before these. */
		await_all(&came, 1u << 1 | 1u << 2);
	}
	own_end();
}

/* A read, a bind and a send of its key, posted without a wait between them. */
TEST(bind_and_send_of_its_key__posted_at_once__the_peer_can_use_it)
{
	unsigned int came = 0;
	struct ibv_mw *mw;

	own_begin(using_keys, &options);
	mw = mw_make(&own, IBV_MW_TYPE_2);
	other_meet();
	for (int i = 0; i < ROUNDS; i++) {
		const uint32_t key = mw->rkey = ibv_inc_rkey(mw->rkey);

		side_receive(&own, 9, 100, 0);
		memcpy(own.bytes, &key, sizeof key);
		own_rdma(IBV_WR_RDMA_READ, 1, 1000, 0, 70000);
		mw_post(&own, 2, i & 1 ? IBV_SEND_SIGNALED : 0, mw, own.mr, key, RANGE, RANGE,
		    MW_REMOTE);
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 3, 0, sizeof key);
		/* The peer may be faster than what it answers to this process. */
		await_all(&came, 1u << 1 | (i & 1 ? 1u << 2 : 0) | 1u << 3 | 1u << 9);
	}
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	own_end();
	other_finish();
}

static void
receiving_late(void)
{
	own_connect(&options);
	other_meet();
	for (uint64_t i = 0; i < 4; i++) {
		sleep_ms(2);
		side_receive(&own, i, 0, 1000);
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	}
	own_end();
}

/* Executed twice, either would fail. */
TEST(requests_sent_again__bind_and_invalidate_between_them__are_not_executed_again)
{
	struct ibv_mw *mw, *two;

	own_begin(receiving_late, &options);
	mw = mw_make(&own, IBV_MW_TYPE_2);
	two = mw_make(&own, IBV_MW_TYPE_2);
	other_meet();
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, 10);
	mw_post(&own, 2, IBV_SEND_SIGNALED, mw, own.mr, mw->rkey, RANGE, RANGE, MW_REMOTE);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 3, 0, 10);
	mw_invalidate(&own, 4, mw->rkey, IBV_SEND_SIGNALED);
	mw_post(&own, 5, IBV_SEND_SIGNALED, two, own.mr, two->rkey, RANGE, RANGE, MW_REMOTE);
	own_rdma(IBV_WR_RDMA_READ, 6, 1000, 0, 70000);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 7, 0, 10);
	mw_invalidate(&own, 8, two->rkey, IBV_SEND_SIGNALED | IBV_SEND_FENCE);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 9, 0, 10);
	for (uint64_t i = 1; i <= 9; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	mw_expect_not_bound(&own);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	ck_assert_int_eq(ibv_dealloc_mw(two), 0);
	own_end();
	other_finish();
}

TEST(bind_fails__those_before_it_are_done__those_after_it_flushed)
{
	struct ibv_mw *mw;

	own_begin(receiving_late, &options);
	mw = mw_make(&own, IBV_MW_TYPE_2);
	other_meet();
	for (uint64_t i = 1; i <= 4; i++)
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, 0, 10);
	mw_post(&own, 5, 0, mw, NULL, mw->rkey, RANGE, RANGE, MW_REMOTE);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 6, 0, 10);
	for (uint64_t i = 1; i <= 4; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	cq_expect(own.cq, 5, IBV_WC_MW_BIND_ERR);
	cq_expect(own.cq, 6, IBV_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	own_end();
	other_finish();
}

/* --- behind requests that a peer does not answer */

static int door;
static unsigned int slot;

/* A side that is connected to a slot where only the test listens. */
static void
setup_silent(void)
{
	const struct side_options patient = { .patient = true };

	side_make(&own, &options);
	slot = line_slot_take(&door);
	side_to_init(&own, NULL);
	side_to_rtr(&own, slot << 14 | 5);
	side_to_rts(&own, &patient);
}

static void
teardown_silent(void)
{
	line_slot_leave(slot, door);
	side_free(&own);
}

/* Posts a read, which is sent and not answered: the line on which it was sent. */
static int
leave_a_read_unanswered(void)
{
	struct soft_frame frame;
	int link;

	ck_assert_int_eq(side_rdma_raw(&own, IBV_WR_RDMA_READ, 1, 0, 4096, 1, 64), 0);
	link = line_accept(door);
	ck_assert_int_eq(recv(link, &frame, sizeof frame, MSG_WAITALL), sizeof frame);
	return link;
}

CASE("soft-process-mw:silent", setup_silent, teardown_silent);

TEST(unanswered_read__bind_without_a_fence__is_executed)
{
	struct ibv_mw *mw = mw_make(&own, IBV_MW_TYPE_2);
	const int link = leave_a_read_unanswered();

	mw_post(&own, 2, IBV_SEND_SIGNALED, mw, own.mr, mw->rkey, RANGE, RANGE, MW_REMOTE);
	mw_expect_bound(&own);
	cq_expect_empty(own.cq); /* it completes after the read */
	mw_invalidate(&own, 3, mw->rkey, 0);
	mw_expect_not_bound(&own);
	side_to_error(&own);
	for (uint64_t i = 1; i <= 3; i++)
		cq_expect(own.cq, i, IBV_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	close(link);
}

TEST_LOOP(unanswered_read__bind_with_a_fence__waits, 2)
{
	struct ibv_mw *mw = mw_make(&own, _i ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
	const int link = leave_a_read_unanswered();

	mw_post(&own, 2, IBV_SEND_FENCE, mw, own.mr, mw->rkey, RANGE, RANGE, MW_REMOTE);
	mw_expect_not_bound(&own);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	close(link);
}

/* Of an invalidation the fence is for all requests before it. */
TEST(unanswered_write__invalidate_with_a_fence__waits)
{
	struct ibv_mw *mw = mw_make(&own, IBV_MW_TYPE_2);
	struct soft_frame frame;
	char data[64];
	int link;

	mw_bind(&own, mw, RANGE, RANGE, MW_REMOTE);
	ck_assert_int_eq(side_rdma_raw(&own, IBV_WR_RDMA_WRITE, 1, 0, 4096, 1, 64), 0);
	mw_invalidate(&own, 2, mw->rkey, IBV_SEND_SIGNALED | IBV_SEND_FENCE);
	mw_expect_bound(&own);
	link = line_accept(door);
	ck_assert_int_eq(recv(link, &frame, sizeof frame, MSG_WAITALL), sizeof frame);
	ck_assert_int_eq(recv(link, data, sizeof data, MSG_WAITALL), sizeof data);
	line_answer(link, &frame, SOFT_FRAME_ACK, 0);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	mw_expect_not_bound(&own);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	close(link);
}

/* The numbers of messages do not count what is executed here. */
TEST(bind_between_two_messages__their_numbers_follow_each_other)
{
	struct ibv_mw *mw = mw_make(&own, IBV_MW_TYPE_1);
	struct soft_frame first, second;
	char data[64];
	int link;

	ck_assert_int_eq(side_rdma_raw(&own, IBV_WR_RDMA_WRITE, 1, 0, 4096, 1, 64), 0);
	mw_post(&own, 2, 0, mw, own.mr, 0, RANGE, RANGE, MW_REMOTE);
	ck_assert_int_eq(side_rdma_raw(&own, IBV_WR_RDMA_WRITE, 3, 0, 4096, 1, 64), 0);
	link = line_accept(door);
	ck_assert_int_eq(recv(link, &first, sizeof first, MSG_WAITALL), sizeof first);
	ck_assert_int_eq(recv(link, data, sizeof data, MSG_WAITALL), sizeof data);
	ck_assert_int_eq(recv(link, &second, sizeof second, MSG_WAITALL), sizeof second);
	ck_assert_uint_eq(second.psn, (first.psn + 1) & SOFT_PSN_MASK);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	close(link);
}
