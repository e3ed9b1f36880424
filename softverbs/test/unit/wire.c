/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire -- a peer that sends valid frames which break the rules of the protocol
 */
#include <sys/socket.h>

#include "softverbs/cm/pack.h"
#include "softverbs/wire/pull.h"
#include "line.h"
#include "wire_story.h"

static void
setup_from_0(void)
{
	wire_first = 0;
	wire_begin(1);
}

static void
setup_at_the_wrap(void)
{
	wire_first = SOFT_PSN_MASK;
	wire_begin(1);
}

/* --- the limit of reads */

static int
set_reads(uint8_t reads)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .max_dest_rd_atomic = reads };

	return ibv_modify_qp(wire_side.qp, &attr, IBV_QP_STATE | IBV_QP_MAX_DEST_RD_ATOMIC);
}

/* A read is begun and cannot be answered whole, since the peer does not take it. */
static void
leave_a_read_pending(void)
{
	struct ibv_qp_attr drain = { .qp_state = IBV_QPS_SQD };
	const struct soft_frame read = wire_request(IBV_WR_RDMA_READ, 0, WIRE_BIG);
	struct pollfd pfd = { .fd = wire_line, .events = POLLIN };

	wire_say(&read, NULL);
	ck_assert_int_eq(poll(&pfd, 1, 10000), 1);
	ck_assert_int_eq(ibv_modify_qp(wire_side.qp, &drain, IBV_QP_STATE), 0);
}

CASE("soft-wire:from-0", setup_from_0, wire_end);
ALSO_CASE("soft-wire:at-the-wrap", setup_at_the_wrap, wire_end);

/* origin: attack.P3 */
TEST(limit_of_reads_lowered__while_one_is_pending__it_is_answered_and_no_other)
{
	struct soft_frame read;

	leave_a_read_pending();
	ck_assert_int_eq(set_reads(0), 0);
	wire_expect_read(0, WIRE_BIG, wire_big->addr);
	read = wire_request(IBV_WR_RDMA_READ, 1, 64);
	wire_say(&read, NULL);
	wire_expect_nak(1, IBV_WC_REM_INV_REQ_ERR);
	async_expect(wire_side.context, IBV_EVENT_QP_REQ_ERR, wire_side.qp);
}

/* origin: attack.P3 */
TEST(limit_of_reads_raised__while_one_is_pending__all_are_answered)
{
	struct soft_frame read;

	leave_a_read_pending();
	ck_assert_int_eq(set_reads(SOFT_MAX_RD_ATOM), 0);
	for (uint32_t psn = 1; psn < SOFT_MAX_RD_ATOM; psn++) {
		read = wire_request(IBV_WR_RDMA_READ, psn, 64);
		read.address += 4096 * psn;
		wire_say(&read, NULL);
	}
	wire_expect_read(0, WIRE_BIG, wire_big->addr);
	for (uint32_t psn = 1; psn < SOFT_MAX_RD_ATOM; psn++)
		wire_expect_read(psn, 64, (char *)wire_big->addr + 4096 * psn);
	ck_assert_int_eq(set_reads(SOFT_MAX_RD_ATOM + 1), EINVAL);
	ck_assert_int_eq(qp_state(wire_side.qp), IBV_QPS_SQD);
}

/* origin: hostile.4 */
TEST(read_pending_and_write_done__queue_pair_destroyed__only_the_read_is_answered)
{
	static char part[SOFT_WIRE_PAYLOAD];
	static const char word[8] = "written";
	struct soft_frame write = wire_request(IBV_WR_RDMA_WRITE, 1, sizeof word), answer;
	struct pollfd pfd = { .fd = wire_line, .events = POLLIN };
	volatile char *first = (char *)wire_big->addr + WIRE_BIG - sizeof word;

	leave_a_read_pending();
	write.address += WIRE_BIG - sizeof word;
	wire_say(&write, word);
	while (*first != word[0])
		sleep_ms(1);
	ck_assert_int_eq(ibv_destroy_qp(wire_side.qp), 0);
	wire_side.qp = NULL;
	do
		ck_assert(wire_hear(&answer, part));
	while (answer.type == SOFT_FRAME_RESPONSE);
	ck_assert_int_eq(answer.type, SOFT_FRAME_NAK);
	ck_assert_uint_eq(answer.psn, wire_psn(0));
	ck_assert_int_eq(answer.opcode, SOFT_NAK_NOT_CONNECTED);
	ck_assert_int_eq(poll(&pfd, 1, 20), 0);
}

/* origin: hostile.4 */
TEST(read_pending_and_write_done__memory_goes__only_the_read_is_answered)
{
	static char part[SOFT_WIRE_PAYLOAD];
	static const char word[8] = "written";
	struct soft_frame write = wire_request(IBV_WR_RDMA_WRITE, 1, sizeof word), answer;
	volatile char *first = (char *)wire_big->addr + WIRE_BIG - sizeof word;
	void *bytes = wire_big->addr;

	leave_a_read_pending();
	write.address += WIRE_BIG - sizeof word;
	wire_say(&write, word);
	while (*first != word[0])
		sleep_ms(1);
	ck_assert_int_eq(ibv_dereg_mr(wire_big), 0);
	do
		ck_assert(wire_hear(&answer, part));
	while (answer.type == SOFT_FRAME_RESPONSE);
	ck_assert_int_eq(answer.type, SOFT_FRAME_NAK);
	ck_assert_uint_eq(answer.psn, wire_psn(0));
	ck_assert_int_eq(answer.opcode, IBV_WC_REM_ACCESS_ERR);
	async_expect(wire_side.context, IBV_EVENT_QP_ACCESS_ERR, wire_side.qp);
	wire_big = ibv_reg_mr(wire_side.pd, bytes, WIRE_BIG, SIDE_ACCESS);
	ck_assert_ptr_nonnull(wire_big);
}

static void
take_request(int link, struct soft_frame *frame)
{
	static char part[SOFT_WIRE_PAYLOAD];

	ck_assert_int_eq(recv(link, frame, sizeof *frame, MSG_WAITALL), sizeof *frame);
	if (frame->length)
		ck_assert_int_eq(recv(link, part, frame->length, MSG_WAITALL), frame->length);
}

/* The first message is on its way, in part; none is behind it. */
TEST(send_queue_drained__a_message_is_sent_in_part__waits_for_its_answer)
{
	struct ibv_qp_attr drain = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct ibv_sge sge = { (uintptr_t)wire_big->addr, WIRE_BIG, wire_big->lkey };
	struct ibv_send_wr wr = { .wr_id = 7,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { 4096, 1 } },
			   *bad;
	struct soft_frame frame;
	uint32_t taken;
	int link;

	ck_assert_int_eq(ibv_post_send(wire_side.qp, &wr, &bad), 0);
	link = line_accept(wire_door);
	take_request(link, &frame);
	taken = frame.length;
	ck_assert_int_eq(
	    ibv_modify_qp(wire_side.qp, &drain, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	sleep_ms(20);
	ck_assert(!async_ready(wire_side.context));
	for (; taken < WIRE_BIG; taken += frame.length)
		take_request(link, &frame);
	sleep_ms(20);
	ck_assert(!async_ready(wire_side.context));
	line_answer(link, &frame, SOFT_FRAME_ACK, 0);
	async_expect(wire_side.context, IBV_EVENT_SQ_DRAINED, wire_side.qp);
	cq_expect(wire_side.cq, 7, IBV_WC_SUCCESS);
	close(link);
}

/* The peer's queue pair goes: what it has read is refused later than what comes then. */
/* origin: hostile.4 */
TEST(write_to_a_freed_queue_pair_refused__read_before_it_unanswered__both_are_sent_again)
{
	struct soft_frame read, write, again, answer;
	int link;

	ck_assert_int_eq(side_rdma_raw(&wire_side, IBV_WR_RDMA_READ, 1, 0, 4096, 1, 64), 0);
	ck_assert_int_eq(side_rdma_raw(&wire_side, IBV_WR_RDMA_WRITE, 2, 0, 4096, 1, 64), 0);
	link = line_accept(wire_door);
	take_request(link, &read);
	take_request(link, &write);
	answer = (struct soft_frame){ .type = SOFT_FRAME_NAK,
		.opcode = SOFT_NAK_NOT_CONNECTED,
		.qpn = write.from,
		.from = write.qpn,
		.psn = write.psn,
		.epoch = write.epoch };
	ck_assert_int_eq(send(link, &answer, sizeof answer, MSG_NOSIGNAL), sizeof answer);
	answer.type = SOFT_FRAME_READY;
	answer.opcode = 0;
	answer.psn = 0;
	ck_assert_int_eq(send(link, &answer, sizeof answer, MSG_NOSIGNAL), sizeof answer);
	take_request(link, &again);
	ck_assert_uint_eq(again.psn, read.psn);
	ck_assert_uint_ne(again.epoch, read.epoch);
	take_request(link, &again);
	ck_assert_uint_eq(again.psn, write.psn);
	ck_assert_int_eq(qp_state(wire_side.qp), IBV_QPS_RTS);
	close(link);
}

TEST(atomic__one_more_than_agreed_on__is_refused_and_not_done)
{
	struct soft_frame add;
	uint64_t *word = wire_big->addr;

	leave_a_read_pending();
	*word = 40;
	add = wire_request(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, sizeof *word);
	add.compare_add = 2;
	wire_say(&add, NULL);
	async_expect(wire_side.context, IBV_EVENT_QP_REQ_ERR, wire_side.qp);
	ck_assert_uint_eq(*word, 40);
}

/* --- frames that break the rules of the protocol */

static void
no_opcode(struct soft_frame *f)
{
	f->opcode = IBV_WR_LOCAL_INV;
}

static void
no_type(struct soft_frame *f)
{
	f->type = SOFT_FRAME_PULLED + 1;
}

static void
an_answer(struct soft_frame *f)
{
	*f = (struct soft_frame){ .type = SOFT_FRAME_ACK, .qpn = f->qpn, .from = f->from };
}

static void
too_long(struct soft_frame *f)
{
	f->total = SOFT_MAX_MSG + 1;
	f->flags = SOFT_FRAME_FIRST;
}

static void
longer_than_its_message(struct soft_frame *f)
{
	f->total = f->length - 1;
}

static void
last_too_early(struct soft_frame *f)
{
	f->total = f->length + 1;
}

static void
last_too_late(struct soft_frame *f)
{
	f->flags = SOFT_FRAME_FIRST;
}

static void
unknown_flag(struct soft_frame *f)
{
	f->flags |= 8;
}

static void
psn_of_25_bits(struct soft_frame *f)
{
	f->psn |= 1u << 24;
}

static void
not_zero(struct soft_frame *f)
{
	f->from_port = 1;
}

static void
read_with_data(struct soft_frame *f)
{
	f->opcode = IBV_WR_RDMA_READ;
}

static void
read_in_parts(struct soft_frame *f)
{
	f->opcode = IBV_WR_RDMA_READ;
	f->flags = SOFT_FRAME_FIRST;
	f->length = 0;
}

static void
atomic_of_4_bytes(struct soft_frame *f)
{
	f->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	f->length = 0;
	f->total = 4;
}

static void
of_a_third_process(struct soft_frame *f)
{
	f->from += 1u << 14;
}

static void
atomic_of_addresses(struct soft_frame *f)
{
	f->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	f->length = 0;
	f->total = 8;
	f->flags |= SOFT_FRAME_PULL;
}

static void (*const wrongs[])(struct soft_frame *) = { no_opcode, no_type, an_answer, too_long,
	longer_than_its_message, last_too_early, last_too_late, unknown_flag, psn_of_25_bits,
	not_zero, read_with_data, read_in_parts, atomic_of_4_bytes, of_a_third_process,
	atomic_of_addresses };
#define WRONGS (sizeof wrongs / sizeof wrongs[0])

TEST_LOOP(malformed_request__ends_the_link_and_the_connection, WRONGS)
{
	static const char data[64];
	struct soft_frame frame = wire_request(IBV_WR_RDMA_WRITE, 0, sizeof data);

	wrongs[_i](&frame);
	wire_say(&frame, data);
	wire_expect_hung_up();
	ck_assert_int_eq(((char *)wire_big->addr)[128], 1); /* nothing was written */
}

/* The hello has not said where the process has its grant. */
TEST(addresses__without_a_grant__end_the_link)
{
	char data[64] = "";
	const struct soft_wire_segment segment = { (uintptr_t)data, sizeof data };
	struct soft_frame frame = wire_request(IBV_WR_RDMA_WRITE, 0, sizeof data);

	frame.flags |= SOFT_FRAME_PULL;
	frame.length = sizeof segment;
	wire_say(&frame, &segment);
	wire_expect_hung_up();
	ck_assert_int_eq(((char *)wire_big->addr)[128], 1);
}

CASE("soft-wire:words");

TEST(addresses__their_lengths__what_they_may_be)
{
	static const struct {
		uint64_t lengths[2];
		uint32_t sum;
	} cases[] = {
		{ { 100, 28 }, 128 },
		{ { SOFT_WIRE_PAYLOAD, 0 }, SOFT_WIRE_PAYLOAD },
		{ { SOFT_WIRE_PAYLOAD, 1 }, 0 },
		{ { 0, 0 }, 0 },
		{ { UINT64_MAX, 129 }, 0 },
		{ { UINT64_C(1) << 32, 128 }, 0 },
	};
	const struct soft_frame frame = { .length = 2 * sizeof(struct soft_wire_segment) };
	struct soft_wire_segment segments[2] = { { 0 } };
	struct soft_pull pull;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		segments[0].length = cases[i].lengths[0];
		segments[1].length = cases[i].lengths[1];
		ck_assert_uint_eq(
		    soft_pull_parse(&pull, &frame, (const char *)segments), cases[i].sum);
	}
}

/* A message of two frames of 64 bytes. */
static void
say_half(uint32_t psn, uint32_t epoch, unsigned int flags, char value)
{
	struct soft_frame frame = wire_request(IBV_WR_RDMA_WRITE, psn, 128);
	char data[64];

	memset(data, value, sizeof data);
	frame.length = sizeof data;
	frame.flags = (uint8_t)flags;
	frame.epoch = epoch;
	wire_say(&frame, data);
}

CASE("soft-wire:from-0", setup_from_0, wire_end);
ALSO_CASE("soft-wire:at-the-wrap", setup_at_the_wrap, wire_end);

TEST(message_begun_again__in_a_new_epoch__is_taken)
{
	say_half(0, 0, SOFT_FRAME_FIRST, 'a');
	say_half(0, 1, SOFT_FRAME_FIRST, 'b');
	say_half(0, 1, SOFT_FRAME_LAST, 'c');
	wire_expect_ack(0);
	ck_assert_int_eq(((char *)wire_big->addr)[0], 'b');
	ck_assert_int_eq(((char *)wire_big->addr)[127], 'c');
}

TEST(message_begun_again__in_the_same_epoch__ends_the_link)
{
	say_half(0, 0, SOFT_FRAME_FIRST, 'a');
	say_half(0, 0, SOFT_FRAME_FIRST, 'b');
	wire_expect_hung_up();
}

TEST(message_of_another_epoch__goes_on__is_of_no_connection)
{
	say_half(0, 0, SOFT_FRAME_FIRST, 'a');
	say_half(0, 1, SOFT_FRAME_LAST, 'b');
	wire_expect_nak(0, SOFT_NAK_NOT_CONNECTED);
}

/* The second part of a write of 128 bytes, of which the first has brought 64. */
static const struct {
	uint32_t length, total;
	uint8_t opcode, flags;
} parts[] = {
	{ 32, 128, IBV_WR_RDMA_WRITE, SOFT_FRAME_LAST },
	{ 65, 128, IBV_WR_RDMA_WRITE, SOFT_FRAME_LAST },
	{ 64, 128, IBV_WR_RDMA_WRITE, 0 },
	{ 65, 128, IBV_WR_RDMA_WRITE, 0 },
	{ 0, 128, IBV_WR_RDMA_WRITE, 0 },
	{ 64, 127, IBV_WR_RDMA_WRITE, SOFT_FRAME_LAST },
	{ 65, 129, IBV_WR_RDMA_WRITE, SOFT_FRAME_LAST },
	{ 64, 128, IBV_WR_RDMA_WRITE_WITH_IMM, SOFT_FRAME_LAST },
	{ 64, 128, IBV_WR_SEND, SOFT_FRAME_LAST },
};

/* origin: out33.U6 */
TEST_LOOP(second_part__that_does_not_fit_to_the_first__ends_the_link_and_is_not_stored,
    sizeof parts / sizeof *parts)
{
	const char *memory = wire_big->addr, before = memory[64];
	struct soft_frame frame = wire_request(IBV_WR_RDMA_WRITE, 0, parts[_i].total);
	char data[128];

	say_half(0, 0, SOFT_FRAME_FIRST, 'a');
	memset(data, 'b', sizeof data);
	frame.length = parts[_i].length;
	frame.opcode = parts[_i].opcode;
	frame.flags = parts[_i].flags;
	wire_say(&frame, data);
	wire_expect_hung_up();
	ck_assert_int_eq(memory[63], 'a');
	ck_assert_int_eq(memory[64], before);
}

/* A process speaks of its own queue pairs to ours: requests, datagrams and what it has pulled. */
/* origin: out33.U6 */
TEST_LOOP(frame__between_other_processes__ends_the_link, 5)
{
	struct soft_frame frame = wire_request(IBV_WR_RDMA_WRITE, 0, 8);

	if (_i > 1)
		frame =
		    (struct soft_frame){ .type = _i == 4 ? SOFT_FRAME_DATAGRAM : SOFT_FRAME_PULLED,
			    .opcode = _i == 4 ? IBV_WR_SEND : SOFT_PULLED,
			    .qpn = frame.qpn,
			    .from = frame.from };
	if (_i % 2)
		frame.qpn += 1u << 14;
	else
		frame.from += 1u << 14;
	wire_say(&frame, "8 bytes");
	wire_expect_hung_up();
}

static void
say_two_at_once(enum ibv_wr_opcode opcode, uint32_t psn)
{
	struct {
		struct soft_frame frame;
		char bytes[8];
	} two[2];

	for (uint32_t i = 0; i < 2; i++) {
		two[i].frame = wire_request(opcode, psn + i, sizeof two[i].bytes);
		memcpy(two[i].bytes, "message", sizeof two[i].bytes);
	}
	ck_assert_int_eq(send(wire_line, two, sizeof two, MSG_NOSIGNAL), sizeof two);
}

/*
 * What the program sees of a message it can answer by ending at once, so the acknowledgement is on
 * its way before.  Of a write it sees nothing, and one acknowledgement is for all that have come.
 */
TEST(messages_that_come_at_once__each_is_acknowledged__writes_together)
{
	struct pollfd pfd = { .fd = wire_line, .events = POLLIN };

	side_receive(&wire_side, 0, 0, 8);
	side_receive(&wire_side, 1, 0, 8);
	side_receive(&wire_side, 2, 0, 8);
	side_receive(&wire_side, 3, 0, 8);
	say_two_at_once(IBV_WR_SEND, 0);
	wire_expect_ack(0);
	wire_expect_ack(1);
	say_two_at_once(IBV_WR_RDMA_WRITE_WITH_IMM, 2);
	wire_expect_ack(2);
	wire_expect_ack(3);
	say_two_at_once(IBV_WR_RDMA_WRITE, 4);
	wire_expect_ack(5);
	ck_assert_int_eq(poll(&pfd, 1, 10), 0);
	for (uint64_t i = 0; i < 4; i++)
		cq_expect(wire_side.cq, i, IBV_WC_SUCCESS);
}

/* The peer hears of the receive that it waits for, once. */
/* origin: outside.160 */
TEST(send_without_a_receive__is_refused__and_the_receive_is_announced)
{
	struct soft_frame send = wire_request(IBV_WR_SEND, 0, 8), answer;
	struct pollfd pfd = { .fd = wire_line, .events = POLLIN };
	struct ibv_qp_attr attr = { .min_rnr_timer = 0 };

	for (uint32_t round = 0; round < 2; round++) {
		send.psn = wire_psn(round);
		send.epoch = 3 * round;
		attr.min_rnr_timer = (uint8_t)(13 + round);
		ck_assert_int_eq(ibv_modify_qp(wire_side.qp, &attr, IBV_QP_MIN_RNR_TIMER), 0);
		wire_say(&send, "message");
		ck_assert(wire_hear(&answer, NULL));
		ck_assert_int_eq(answer.type, SOFT_FRAME_NAK);
		ck_assert_int_eq(answer.opcode, SOFT_NAK_NOT_READY);
		ck_assert_uint_eq(answer.psn, wire_psn(round));
		ck_assert_uint_eq(answer.rnr_timer, 13 + round);
		/* What follows of the same epoch is not answered. */
		send.psn = wire_psn(round + 1);
		wire_say(&send, "another");
		ck_assert_int_eq(poll(&pfd, 1, 10), 0);
		side_receive(&wire_side, round, 0, 8);
		ck_assert(wire_hear(&answer, NULL));
		ck_assert_int_eq(answer.type, SOFT_FRAME_READY);
		ck_assert_uint_eq(answer.qpn, wire_peer);
		ck_assert_uint_eq(answer.from, wire_side.qp->qp_num);
		send.psn = wire_psn(round);
		send.epoch++;
		wire_say(&send, "message");
		wire_expect_ack(round);
		cq_expect(wire_side.cq, round, IBV_WC_SUCCESS);
	}
	/* One that no message waits for is not announced. */
	side_receive(&wire_side, 9, 0, 8);
	ck_assert_int_eq(poll(&pfd, 1, 10), 0);
	send.psn = wire_psn(2);
	wire_say(&send, "another");
	wire_expect_ack(2);
	cq_expect(wire_side.cq, 9, IBV_WC_SUCCESS);
}

CASE("soft-wire:words");

TEST(answers__what_they_may_be)
{
	static const struct {
		struct soft_frame frame;
		bool valid;
	} cases[] = {
		{ { .type = SOFT_FRAME_ACK }, true },
		{ { .type = SOFT_FRAME_ACK, .length = 1 }, false },
		{ { .type = SOFT_FRAME_ACK, .flags = SOFT_FRAME_LAST }, false },
		{ { .type = SOFT_FRAME_READY }, true },
		{ { .type = SOFT_FRAME_NAK, .opcode = SOFT_NAK_NOT_READY, .rnr_timer = 63 }, true },
		{ { .type = SOFT_FRAME_NAK, .opcode = SOFT_NAK_NOT_READY, .rnr_timer = 64 },
		    false },
		{ { .type = SOFT_FRAME_NAK, .opcode = SOFT_NAK_NOT_CONNECTED }, true },
		{ { .type = SOFT_FRAME_NAK, .opcode = IBV_WC_REM_ACCESS_ERR }, true },
		{ { .type = SOFT_FRAME_NAK, .opcode = IBV_WC_SUCCESS }, false },
		{ { .type = SOFT_FRAME_NAK, .opcode = IBV_WC_WR_FLUSH_ERR }, false },
		{ { .type = SOFT_FRAME_NAK, .opcode = SOFT_NAK_NOT_PULLED }, true },
		{ { .type = SOFT_FRAME_NAK, .opcode = 0xfc }, false },
		{ { .type = SOFT_FRAME_RESPONSE, .flags = 3, .length = 8, .total = 8 }, true },
		{ { .type = SOFT_FRAME_RESPONSE, .flags = 3, .length = 8, .total = 7 }, false },
		{ { .type = SOFT_FRAME_RESPONSE, .flags = SOFT_FRAME_SOLICITED, .total = 7 },
		    false },
		{ { .type = SOFT_FRAME_HELLO, .length = 48 }, true },
		{ { .type = SOFT_FRAME_HELLO, .length = 47 }, false },
		{ { .type = SOFT_FRAME_WELCOME, .length = 16 }, true },
		{ { .type = SOFT_FRAME_WELCOME, .length = 15 }, false },
		{ { .type = SOFT_FRAME_WELCOME, .opcode = SOFT_WELCOME_RINGS, .length = 16 },
		    true },
		{ { .type = SOFT_FRAME_WELCOME, .opcode = SOFT_WELCOME_PULLS, .length = 16 },
		    false },
		{ { .type = SOFT_FRAME_WELCOME, .opcode = 4, .length = 16 }, false },
		{ { .type = SOFT_FRAME_RESPONSE, .flags = SOFT_FRAME_PULL, .length = 16 }, true },
		{ { .type = SOFT_FRAME_RESPONSE, .flags = SOFT_FRAME_PULL, .length = 15 }, false },
		{ { .type = SOFT_FRAME_RESPONSE, .flags = SOFT_FRAME_PULL }, false },
		{ { .type = SOFT_FRAME_PULLED, .opcode = SOFT_NOT_PULLED }, true },
		{ { .type = SOFT_FRAME_PULLED, .opcode = 2 }, false },
		{ { .type = SOFT_FRAME_PULLED, .length = 1 }, false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		ck_assert_msg(soft_frame_valid(&cases[i].frame) == cases[i].valid, "case %zu", i);
}

TEST(cm_message__what_it_may_say)
{
	static const struct {
		uint32_t type, from, to;
		uint8_t data_length;
		bool valid;
	} cases[] = {
		{ SOFT_CM_REQ, 1, 0, 56, true },
		{ SOFT_CM_REQ, 1, 0, 57, false },
		{ SOFT_CM_REQ, 0, 0, 0, false },
		{ SOFT_CM_REQ, 1, 1, 0, false },
		{ SOFT_CM_REP, 1, 2, 196, true },
		{ SOFT_CM_REP, 1, 2, 197, false },
		{ SOFT_CM_REP, 1, 0, 0, false },
		{ SOFT_CM_REJ, 0, 2, 148, true },
		{ SOFT_CM_REJ, 1, 2, 149, false },
		{ SOFT_CM_DREQ, 1, 2, 0, true },
		{ SOFT_CM_DREQ, 1, 2, 1, false },
		{ SOFT_CM_DREQ, 0, 2, 0, false },
		{ 0, 1, 2, 0, false },
		{ SOFT_CM_ASK, 1, 2, 0, true },
		{ SOFT_CM_ABSENT, 0, 2, 0, true },
		{ SOFT_CM_ABSENT, 1, 2, 0, false },
		{ SOFT_CM_ABSENT, 0, 0, 0, false },
		{ SOFT_CM_ABSENT, 0, 2, 1, false },
		{ SOFT_CM_ABSENT + 1, 1, 2, 0, false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct soft_wire_cm wire = { .type = cases[i].type,
			.from = cases[i].from,
			.to = cases[i].to,
			.data_length = cases[i].data_length,
			.port_space = RDMA_PS_TCP,
			.source.family = 4,
			.target.family = 4 };
		struct soft_cm_message message;

		ck_assert_msg(soft_cm_unpack(&message, &wire, 9) == cases[i].valid, "case %zu", i);
	}
}

static void
expect_same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	ck_assert_int_eq(memcmp(a, b, sizeof *a), 0);
}

/* What one process says, the other hears: every field, with both kinds of addresses. */
TEST(cm_message__packed_and_unpacked__is_the_same)
{
	static const uint8_t types[] = { SOFT_CM_REQ, SOFT_CM_REP };
	struct soft_cm_message message = { .from = 0x01020304,
		.reason = 0x0506,
		.port_space = RDMA_PS_TCP,
		.port = 0x0708,
		.qpn = 0x0a0b0c,
		.psn = 0x0d0e0f,
		.responder_resources = 11,
		.initiator_depth = 12,
		.retry_count = 3,
		.rnr_retry_count = 4,
		.flow_control = 1,
		.srq = 1,
		.data_length = 56 },
			       heard;
	struct sockaddr_in *in = (struct sockaddr_in *)&message.source;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&message.target;
	struct soft_wire_cm wire;

	*in = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(4321), .sin_addr = { htonl(0x7f010203) }
	};
	*in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
		.sin6_port = htons(1234),
		.sin6_scope_id = 5,
		.sin6_addr = { { { 0xfe, 0x80, [14] = 7, [15] = 8 } } } };
	for (size_t i = 0; i < sizeof message.data; i++)
		message.data[i] = (uint8_t)(i + 1);
	for (size_t i = 0; i < sizeof types; i++) {
		message.type = (enum soft_cm_type)types[i];
		message.to = message.type == SOFT_CM_REQ ? 0 : 0x11223344;
		memset(&wire, 0x5a, sizeof wire);
		soft_cm_pack(&wire, &message);
		ck_assert(soft_cm_unpack(&heard, &wire, 9));
		ck_assert_uint_eq(heard.type, message.type);
		ck_assert_uint_eq(heard.from_slot, 9);
		ck_assert_uint_eq(heard.from, message.from);
		ck_assert_uint_eq(heard.to, message.to);
		ck_assert_uint_eq(heard.reason, message.reason);
		ck_assert_uint_eq(heard.port_space, message.port_space);
		ck_assert_uint_eq(heard.port, message.port);
		ck_assert_uint_eq(heard.qpn, message.qpn);
		ck_assert_uint_eq(heard.psn, message.psn);
		ck_assert_uint_eq(heard.responder_resources, 11);
		ck_assert_uint_eq(heard.initiator_depth, 12);
		ck_assert_uint_eq(heard.retry_count, 3);
		ck_assert_uint_eq(heard.rnr_retry_count, 4);
		ck_assert_uint_eq(heard.flow_control, 1);
		ck_assert_uint_eq(heard.srq, 1);
		ck_assert_uint_eq(heard.data_length, 56);
		ck_assert_int_eq(memcmp(heard.data, message.data, sizeof heard.data), 0);
		if (message.type != SOFT_CM_REQ)
			continue;
		expect_same_address(&heard.source, &message.source);
		expect_same_address(&heard.target, &message.target);
		wire.target.family = 5;
		ck_assert(!soft_cm_unpack(&heard, &wire, 9));
	}
}

/* Each field that has a limit, at it and beyond. */
TEST(cm_message__values_at_and_beyond_their_limits)
{
	const struct soft_wire_cm good = { .type = SOFT_CM_REP, .from = 1, .to = 2 };
	struct soft_cm_message message;
	struct soft_wire_cm wire;

#define LIMIT(field, limit) \
	do { \
		wire = good; \
		wire.field = (limit); \
		ck_assert_msg(soft_cm_unpack(&message, &wire, 9), #field " at its limit"); \
		wire.field++; \
		ck_assert_msg(!soft_cm_unpack(&message, &wire, 9), #field " beyond it"); \
	} while (0)
	LIMIT(reason, UINT16_MAX);
	LIMIT(port_space, UINT16_MAX);
	LIMIT(port, UINT16_MAX);
	LIMIT(zero, 0);
	LIMIT(qpn, 0xffffff);
	LIMIT(psn, 0xffffff);
	LIMIT(retry_count, 7);
	LIMIT(rnr_retry_count, 7);
	LIMIT(responder_resources, SOFT_MAX_RD_ATOM);
	LIMIT(initiator_depth, SOFT_MAX_RD_ATOM);
	LIMIT(data_length, SOFT_CM_REP_DATA);
#undef LIMIT
}
