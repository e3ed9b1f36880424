/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process -- queue pairs of two processes of one host: successful operations
 */
#include "other.h"
#include "own.h"

#include <fcntl.h>

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

	own_connect(NULL);
	side_receive(&own, 1, 0, 1000);
	side_receive(&own, 2, 1000, 200000);
	other_meet();
	wc = cq_next(own.cq);
	ck_assert_uint_eq(wc.wr_id, 1);
	ck_assert_uint_eq(wc.byte_len, 100);
	ck_assert_uint_eq(wc.src_qp, own_peer.qpn);
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
	own_begin(receiver, NULL);
	paint();
	other_meet();
	side_post(&own, IBV_WR_SEND_WITH_IMM, IBV_SEND_SIGNALED, 7, 50, 100);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 8, 3, 200000);
	cq_expect(own.cq, 7, IBV_WC_SUCCESS);
	cq_expect(own.cq, 8, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}
END_TEST

static void
late_receiver(void)
{
	own_connect(NULL);
	for (uint64_t i = 0; i < 10; i++) {
		side_receive(&own, i, i * 100, 100);
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
		expect_painted(i * 100, i, 100);
	}
	own_end();
}

START_TEST(send_before_receive__waits_and_keeps_order)
{
	own_begin(late_receiver, NULL);
	paint();
	for (uint64_t i = 0; i < 10; i++)
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, i, 100);
	for (uint64_t i = 0; i < 10; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}
END_TEST

static void
srq_receiver(void)
{
	const struct side_options shared = { .srq = 4 };

	own_connect(&shared);
	sleep_ms(20);
	for (uint64_t i = 0; i < 3; i++) {
		side_receive(&own, i, 0, 100);
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	}
	own_end();
}

START_TEST(send_to_an_empty_srq__goes_on_with_each_receive)
{
	own_begin(srq_receiver, NULL);
	for (uint64_t i = 0; i < 3; i++)
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, i, 100);
	for (uint64_t i = 0; i < 3; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}
END_TEST

/* Its last deed is to have received: nothing that it still owes may get lost. */
static void
leaving_receiver(void)
{
	own_connect(NULL);
	for (uint64_t i = 0; i < 4; i++)
		side_receive(&own, i, 0, 100);
	other_meet();
	for (uint64_t i = 0; i < 4; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	_exit(0);
}

START_TEST(send__the_receiver_exits_at_its_completion__the_send_succeeds)
{
	own_begin(leaving_receiver, NULL);
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
	own_connect(NULL);
	paint();
	*(uint64_t *)(void *)own.bytes = 40;
	other_meet();
	other_meet(); /* the other is done */
	expect_painted(8, 8, 92);
	ck_assert_uint_eq(*(uint64_t *)(void *)own.bytes, 7);
	for (size_t i = 0; i < 150000; i++)
		ck_assert_int_eq(own.bytes[100 + i], (char)i);
	cq_expect_empty(own.cq);
	side_free(&own);
}

static uint64_t
atomic(enum ibv_wr_opcode opcode, uint64_t compare_add, uint64_t swap)
{
	struct ibv_sge sge = { (uintptr_t)own.bytes, 8, own.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 3,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { own_peer.address, compare_add, swap, own_peer.rkey } },
			   *bad;
	uint64_t old;

	ck_assert_int_eq(ibv_post_send(own.qp, &wr, &bad), 0);
	cq_expect(own.cq, 3, IBV_WC_SUCCESS);
	memcpy(&old, own.bytes, sizeof old);
	return old;
}

START_TEST(rdma_and_atomics__reach_the_other_process)
{
	own_begin(painted_target, NULL);
	other_meet();
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0), 40);
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 1, 0), 42);
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 42, 7), 42);
	own_rdma(IBV_WR_RDMA_READ, 1, 1000, 1000, 200000);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	expect_painted(1000, 1000, 200000);
	for (size_t i = 0; i < 150000; i++)
		own.bytes[i] = (char)i;
	own_rdma(IBV_WR_RDMA_WRITE, 2, 0, 100, 150000);
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}
END_TEST

static void
idle_target(void)
{
	own_connect(NULL);
	paint();
	other_meet();
	own_end();
}

/* More reads than may be outstanding, between writes, one of them fenced. */
START_TEST(many_reads__complete_in_order)
{
	const struct side_options many = { .sends = 64 };

	own_begin(idle_target, &many);
	other_meet();
	for (uint64_t i = 0; i < 48; i++)
		own_rdma(i % 3 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, i, i * 1000,
		    100000 + i * 1000, 900);
	for (uint64_t i = 0; i < 48; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	for (size_t i = 0; i < 48; i++)
		if (i % 3)
			expect_painted(i * 1000, 100000 + i * 1000, 900);
	own_end();
	other_finish();
}
END_TEST

static void
serve_read(void)
{
	own_connect(NULL);
	paint();
	side_receive(&own, 1, 0, 100000);
	other_meet();
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	expect_painted(0, 5000, 100000); /* what was read here came back */
	own_end();
}

/* Without the fence the message would be sent while the read is under way. */
START_TEST(fenced_send__of_what_a_read_brings__carries_it)
{
	own_begin(serve_read, NULL);
	other_meet();
	own_rdma(IBV_WR_RDMA_READ, 1, 0, 5000, 100000);
	side_post(&own, IBV_WR_SEND, IBV_SEND_FENCE | IBV_SEND_SIGNALED, 2, 0, 100000);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}
END_TEST

/* --- events */

#define EVENT_ROUNDS 50

static void
write_then_send(void)
{
	own_connect(NULL);
	for (uint64_t i = 0; i < EVENT_ROUNDS; i++) {
		other_meet();
		own_rdma(IBV_WR_RDMA_WRITE, 2 * i, 0, 5000, 100);
		cq_expect(own.cq, 2 * i, IBV_WC_SUCCESS);
		other_meet();
		other_meet();
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 2 * i + 1, 0, 100);
		cq_expect(own.cq, 2 * i + 1, IBV_WC_SUCCESS);
	}
	own_end();
}

/*
 * A program that waits as ibv_get_cq_event(3) shows fails if there is no event to read then.  What another
 * process sends need not lead to one.
 */
START_TEST(descriptor_that_does_not_block__is_readable_with_an_event_only)
{
	own_begin(write_then_send, NULL);
	ck_assert_int_eq(fcntl(own.channel->fd, F_SETFL, O_NONBLOCK), 0);
	for (uint64_t i = 0; i < EVENT_ROUNDS; i++) {
		side_receive(&own, i, 0, 100);
		ck_assert_int_eq(ibv_req_notify_cq(own.cq, 0), 0);
		other_meet();
		other_meet(); /* it has written */
		channel_expect_no_event(own.channel);
		other_meet();
		channel_expect(own.channel, own.cq);
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	}
	own_end();
	other_finish();
}
END_TEST

/* --- streams */

#define STREAM_MESSAGES 3000
#define STREAM_SIZE (SIDE_BYTES / 32)

static void
stream(void)
{
	const struct side_options many = { .sends = 16, .receives = 16, .cqe = 64 };
	uint64_t sent = 0, received = 0, done = 0;
	uint32_t length;
	struct ibv_wc wc;

	own_connect(&many);
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
	own_end();
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
	tcase_add_loop_test(
	    tcase, send__the_receiver_exits_at_its_completion__the_send_succeeds, 0, 4);
	tcase_add_test(tcase, rdma_and_atomics__reach_the_other_process);
	tcase_add_test(tcase, many_reads__complete_in_order);
	tcase_add_test(tcase, fenced_send__of_what_a_read_brings__carries_it);
	tcase_add_test(tcase, descriptor_that_does_not_block__is_readable_with_an_event_only);
	tcase_add_test(tcase, both_directions__thousands_of_messages__whole_and_in_order);
	return suite;
}
