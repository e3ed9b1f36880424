/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soft_process -- queue pairs of two processes of one host
 */
#include "soft_other.h"
#include "soft_story.h"

struct card {
	uint32_t qpn, rkey;
	uint64_t address;
};

static struct side own;
static struct card peer;

static void
exchange(void)
{
	struct card card = { own.qp->qp_num, own.mr->rkey, (uintptr_t)own.bytes };

	other_tell(&card, sizeof card);
	other_hear(&peer, sizeof peer);
}

static void
connect_own(const struct side_options *options)
{
	side_make(&own, options);
	exchange();
	side_to_init(&own, options);
	side_to_rtr(&own, peer.qpn);
	side_to_rts(&own, options);
	other_meet();
}

static void
begin(void (*there)(void), const struct side_options *options)
{
	other_start(there);
	connect_own(options);
}

/* Neither takes its queue pair away before the other is done. */
static void
end(void)
{
	other_meet();
	side_free(&own);
}

static void
rdma(enum ibv_wr_opcode opcode, uint64_t wr_id, size_t offset, size_t remote, uint32_t length)
{
	ck_assert_int_eq(
	    side_rdma_raw(&own, opcode, wr_id, offset, peer.address + remote, peer.rkey, length),
	    0);
}

static char
pattern(size_t i)
{
	return (char)(i * 31 + (i >> 9));
}

static void
paint(void)
{
	for (size_t i = 0; i < SIDE_BYTES; i++)
		own.bytes[i] = pattern(i);
}

static void
expect_painted(size_t at, size_t from, size_t length)
{
	for (size_t i = 0; i < length; i++)
		ck_assert_int_eq(own.bytes[at + i], pattern(from + i));
}

/* --- messages */

static void
receiver(void)
{
	struct ibv_wc wc;

	connect_own(NULL);
	side_receive(&own, 1, 0, 1000);
	side_receive(&own, 2, 1000, 200000);
	other_meet();
	wc = cq_next(own.cq);
	ck_assert_uint_eq(wc.wr_id, 1);
	ck_assert_uint_eq(wc.byte_len, 100);
	ck_assert_uint_eq(wc.src_qp, peer.qpn);
	ck_assert_uint_eq(ntohl(wc.imm_data), 7);
	expect_painted(0, 50, 100);
	wc = cq_next(own.cq);
	ck_assert_uint_eq(wc.byte_len, 200000);
	expect_painted(1000, 3, 200000);
	side_free(&own);
	other_meet();
}

START_TEST(send__small_and_of_many_frames)
{
	begin(receiver, NULL);
	paint();
	other_meet();
	side_post(&own, IBV_WR_SEND_WITH_IMM, IBV_SEND_SIGNALED, 7, 50, 100);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 8, 3, 200000);
	cq_expect(own.cq, 7, IBV_WC_SUCCESS);
	cq_expect(own.cq, 8, IBV_WC_SUCCESS);
	end();
	other_finish();
}
END_TEST

static void
late_receiver(void)
{
	connect_own(NULL);
	for (uint64_t i = 0; i < 10; i++) {
		side_receive(&own, i, i * 100, 100);
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
		expect_painted(i * 100, i, 100);
	}
	end();
}

START_TEST(send_before_receive__waits_and_keeps_order)
{
	begin(late_receiver, NULL);
	paint();
	for (uint64_t i = 0; i < 10; i++)
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, i, 100);
	for (uint64_t i = 0; i < 10; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	end();
	other_finish();
}
END_TEST

static void
srq_receiver(void)
{
	const struct side_options shared = { .srq = 4 };

	connect_own(&shared);
	sleep_ms(20);
	for (uint64_t i = 0; i < 3; i++) {
		side_receive(&own, i, 0, 100);
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	}
	end();
}

START_TEST(send_to_an_empty_srq__goes_on_with_each_receive)
{
	begin(srq_receiver, NULL);
	for (uint64_t i = 0; i < 3; i++)
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, i, 100);
	for (uint64_t i = 0; i < 3; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	end();
	other_finish();
}
END_TEST

/* Its last deed is to have received: nothing that it still owes may get lost. */
static void
leaving_receiver(void)
{
	connect_own(NULL);
	for (uint64_t i = 0; i < 4; i++)
		side_receive(&own, i, 0, 100);
	other_meet();
	for (uint64_t i = 0; i < 4; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	_exit(0);
}

START_TEST(send__the_receiver_exits_at_its_completion__the_send_succeeds)
{
	begin(leaving_receiver, NULL);
	other_meet();
	for (uint64_t i = 0; i < 4; i++)
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, 0, 100);
	for (uint64_t i = 0; i < 4; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	side_free(&own);
	other_finish();
}
END_TEST

/* --- RDMA and atomics */

static void
painted_target(void)
{
	connect_own(NULL);
	paint();
	*(uint64_t *)(void *)own.bytes = 40;
	other_meet();
	other_meet(); /* the other is done */
	expect_painted(8, 8, 92);
	ck_assert_uint_eq(*(uint64_t *)(void *)own.bytes, 7);
	for (size_t i = 0; i < 150000; i++)
		ck_assert_int_eq(own.bytes[100 + i], (char)i);
	cq_expect_quiet(own.cq);
	side_free(&own);
}

static uint64_t
atomic(enum ibv_wr_opcode opcode, uint64_t compare_add, uint64_t swap)
{
	struct ibv_sge sge = { (uintptr_t)own.bytes, 8, own.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 3, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { peer.address, compare_add, swap, peer.rkey } }, *bad;
	uint64_t old;

	ck_assert_int_eq(ibv_post_send(own.qp, &wr, &bad), 0);
	cq_expect(own.cq, 3, IBV_WC_SUCCESS);
	memcpy(&old, own.bytes, sizeof old);
	return old;
}

START_TEST(rdma_and_atomics__reach_the_other_process)
{
	begin(painted_target, NULL);
	other_meet();
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0), 40);
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 1, 0), 42);
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 42, 7), 42);
	rdma(IBV_WR_RDMA_READ, 1, 1000, 1000, 200000);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	expect_painted(1000, 1000, 200000);
	for (size_t i = 0; i < 150000; i++)
		own.bytes[i] = (char)i;
	rdma(IBV_WR_RDMA_WRITE, 2, 0, 100, 150000);
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	end();
	other_finish();
}
END_TEST

static void
idle_target(void)
{
	connect_own(NULL);
	paint();
	other_meet();
	end();
}

/* More reads than may be outstanding, between writes, one of them fenced. */
START_TEST(many_reads__complete_in_order)
{
	const struct side_options many = { .sends = 64 };

	begin(idle_target, &many);
	other_meet();
	for (uint64_t i = 0; i < 48; i++)
		rdma(i % 3 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, i, i * 1000, 100000 + i * 1000,
		    900);
	for (uint64_t i = 0; i < 48; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	for (size_t i = 0; i < 48; i++)
		if (i % 3)
			expect_painted(i * 1000, 100000 + i * 1000, 900);
	end();
	other_finish();
}
END_TEST

static void
read_and_told(void)
{
	connect_own(NULL);
	paint();
	side_receive(&own, 1, 0, 100000);
	other_meet();
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	expect_painted(0, 5000, 100000); /* what was read here came back */
	end();
}

/* Without the fence the message would be sent while the read is under way. */
START_TEST(fenced_send__of_what_a_read_brings__carries_it)
{
	begin(read_and_told, NULL);
	other_meet();
	rdma(IBV_WR_RDMA_READ, 1, 0, 5000, 100000);
	side_post(&own, IBV_WR_SEND, IBV_SEND_FENCE | IBV_SEND_SIGNALED, 2, 0, 100000);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	end();
	other_finish();
}
END_TEST

/* --- errors */

static void
refusing(void)
{
	connect_own(NULL);
	side_receive(&own, 9, 0, 10);
	other_meet();
	async_expect(own.context, IBV_EVENT_QP_ACCESS_ERR, own.qp);
	cq_expect(own.cq, 9, IBV_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(qp_state(own.qp), IBV_QPS_ERR);
	end();
}

START_TEST(rdma__beyond_the_region__both_in_error__later_requests_flushed)
{
	begin(refusing, NULL);
	other_meet();
	rdma(IBV_WR_RDMA_READ, 1, 0, 0, 100);
	rdma(IBV_WR_RDMA_WRITE, 2, 0, SIDE_BYTES - 10, 11);
	rdma(IBV_WR_RDMA_READ, 3, 0, 0, 100);
	side_post(&own, IBV_WR_SEND, 0, 4, 0, 10);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	cq_expect(own.cq, 2, IBV_WC_REM_ACCESS_ERR);
	cq_expect(own.cq, 3, IBV_WC_WR_FLUSH_ERR);
	cq_expect(own.cq, 4, IBV_WC_WR_FLUSH_ERR);
	cq_expect_quiet(own.cq);
	end();
	other_finish();
}
END_TEST

static void
too_small(void)
{
	connect_own(NULL);
	side_receive(&own, 9, 0, 99);
	other_meet();
	cq_expect(own.cq, 9, IBV_WC_LOC_LEN_ERR);
	end();
}

START_TEST(send__longer_than_the_receive__invalid_request)
{
	begin(too_small, NULL);
	other_meet();
	side_post(&own, IBV_WR_SEND, 0, 1, 0, 100);
	cq_expect(own.cq, 1, IBV_WC_REM_INV_REQ_ERR);
	end();
	other_finish();
}
END_TEST

START_TEST(send__no_receive_and_no_retries__rnr_error)
{
	const struct side_options strict = { .no_retries = true };

	begin(idle_target, &strict);
	other_meet();
	side_post(&own, IBV_WR_SEND, 0, 1, 0, 100);
	cq_expect(own.cq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	end();
	other_finish();
}
END_TEST

static void
leaving(void)
{
	connect_own(NULL);
	ck_assert_int_eq(ibv_destroy_qp(own.qp), 0);
	own.qp = NULL;
	other_meet();
	end();
}

START_TEST(send__to_a_destroyed_queue_pair__retries_then_gives_up)
{
	begin(leaving, NULL);
	other_meet();
	side_post(&own, IBV_WR_SEND, 0, 1, 0, 100000);
	side_post(&own, IBV_WR_SEND, 0, 2, 0, 100);
	cq_expect(own.cq, 1, IBV_WC_RETRY_EXC_ERR);
	cq_expect(own.cq, 2, IBV_WC_WR_FLUSH_ERR);
	end();
	other_finish();
}
END_TEST

static void
resetting(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	connect_own(NULL);
	side_receive(&own, 1, 0, 10);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_modify_qp(own.qp, &attr, IBV_QP_STATE), 0);
	end();
}

/* What was executed is told even if the queue pair forgets everything the moment after. */
START_TEST(peer_resets_right_after_the_message__it_was_done__the_next_is_not)
{
	begin(resetting, NULL);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, 10);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 10);
	rdma(IBV_WR_RDMA_READ, 3, 0, 0, 1000);
	cq_expect(own.cq, 2, IBV_WC_RETRY_EXC_ERR);
	cq_expect(own.cq, 3, IBV_WC_WR_FLUSH_ERR);
	end();
	other_finish();
}
END_TEST

static void
slow_to_connect(void)
{
	side_make(&own, NULL);
	exchange();
	side_to_init(&own, NULL);
	side_receive(&own, 1, 0, 100);
	other_meet();
	sleep_ms(2);
	side_to_rtr(&own, peer.qpn);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	end();
}

START_TEST(send__before_the_peer_is_ready__arrives_when_it_is)
{
	const struct side_options patient = { .patient = true };

	begin(slow_to_connect, &patient);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, 100);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	end();
	other_finish();
}
END_TEST

static void
until_killed(void)
{
	connect_own(NULL);
	for (;;)
		pause();
}

START_TEST(peer_killed__requests_fail)
{
	begin(until_killed, NULL);
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
END_TEST

/* --- streams */

#define STREAM_MESSAGES 3000
#define STREAM_SIZE	(SIDE_BYTES / 32)

static void
stream(void)
{
	const struct side_options many = { .sends = 16, .receives = 16, .cqe = 64 };
	uint64_t sent = 0, received = 0, done = 0;
	uint32_t length;
	struct ibv_wc wc;

	connect_own(&many);
	for (uint64_t i = 0; i < 16; i++)
		side_receive(&own, i, i * STREAM_SIZE, STREAM_SIZE);
	other_meet();
	while (done < STREAM_MESSAGES || received < STREAM_MESSAGES) {
		if (sent < STREAM_MESSAGES && sent - done < 16) {
			length = (uint32_t)(sent * 37 % STREAM_SIZE);
			memset(own.bytes + (16 + sent % 16) * STREAM_SIZE, (char)sent, length);
			side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, sent,
			    (16 + sent % 16) * STREAM_SIZE, length);
			sent++;
		}
		if (ibv_poll_cq(own.cq, 1, &wc) == 0)
			continue;
		ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
		if (wc.opcode == IBV_WC_SEND) {
			ck_assert_uint_eq(wc.wr_id, done++);
			continue;
		}
		ck_assert_uint_eq(wc.byte_len, received * 37 % STREAM_SIZE);
		for (uint32_t i = 0; i < wc.byte_len; i += 97)
			ck_assert_int_eq(own.bytes[wc.wr_id * STREAM_SIZE + i], (char)received);
		received++;
		side_receive(&own, wc.wr_id, wc.wr_id * STREAM_SIZE, STREAM_SIZE);
	}
	end();
}

START_TEST(both_directions__thousands_of_messages__whole_and_in_order)
{
	other_start(stream);
	stream();
	other_finish();
}
END_TEST

Suite *
soft_process_suite(void)
{
	Suite *suite = suite_create("soft-process");
	TCase *tcase = runner_tcase(suite, "transfer");

	tcase_add_test(tcase, send__small_and_of_many_frames);
	tcase_add_test(tcase, send_before_receive__waits_and_keeps_order);
	tcase_add_test(tcase, send_to_an_empty_srq__goes_on_with_each_receive);
	tcase_add_loop_test(tcase,
	    send__the_receiver_exits_at_its_completion__the_send_succeeds, 0, 4);
	tcase_add_test(tcase, rdma_and_atomics__reach_the_other_process);
	tcase_add_test(tcase, many_reads__complete_in_order);
	tcase_add_test(tcase, fenced_send__of_what_a_read_brings__carries_it);
	tcase_add_test(tcase, rdma__beyond_the_region__both_in_error__later_requests_flushed);
	tcase_add_test(tcase, send__longer_than_the_receive__invalid_request);
	tcase_add_test(tcase, send__no_receive_and_no_retries__rnr_error);
	tcase_add_test(tcase, send__to_a_destroyed_queue_pair__retries_then_gives_up);
	tcase_add_loop_test(tcase,
	    peer_resets_right_after_the_message__it_was_done__the_next_is_not, 0, 10);
	tcase_add_test(tcase, send__before_the_peer_is_ready__arrives_when_it_is);
	tcase_add_test(tcase, peer_killed__requests_fail);
	tcase_add_test(tcase, both_directions__thousands_of_messages__whole_and_in_order);
	return suite;
}
