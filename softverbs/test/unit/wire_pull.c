/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire_pull -- a peer that asks to pull what it reads
 */
#include "line.h"
#include "wire_story.h"
#include "lib/feature.h"

#include "softverbs/wire/grant.h"
#include "softverbs/wire/peer.h"

#include <sys/mman.h>

static void
setup_from_0(void)
{
	wire_first = 0;
	wire_begin(2);
}

static void
setup_at_the_wrap(void)
{
	wire_first = SOFT_PSN_MASK;
	wire_begin(2);
}

static void
ask_to_pull(uint32_t psn, uint32_t total)
{
	struct soft_frame frame = wire_request(IBV_WR_RDMA_READ, psn, total);

	frame.flags |= SOFT_FRAME_PULL;
	wire_say(&frame, NULL);
}

static void
say_pulled(uint32_t psn, uint8_t opcode)
{
	const struct soft_frame frame = { .type = SOFT_FRAME_PULLED,
		.opcode = opcode,
		.qpn = wire_side.qp->qp_num,
		.from = wire_peer,
		.psn = wire_psn(psn) };

	wire_say(&frame, NULL);
}

static void
expect_address(uint32_t psn, uint32_t length)
{
	struct soft_wire_segment segment;
	struct soft_frame answer;

	ck_assert(wire_hear(&answer, (char *)&segment));
	ck_assert_int_eq(answer.type, SOFT_FRAME_RESPONSE);
	ck_assert_uint_eq(answer.psn, wire_psn(psn));
	ck_assert_uint_eq(answer.flags, SOFT_FRAME_FIRST | SOFT_FRAME_LAST | SOFT_FRAME_PULL);
	ck_assert_uint_eq(segment.address, (uintptr_t)wire_big->addr);
	ck_assert_uint_eq(segment.length, length);
	ck_assert_uint_eq(answer.total, length);
}

CASE("soft-wire-pull:from-0", setup_from_0, wire_end);
ALSO_CASE("soft-wire-pull:at-the-wrap", setup_at_the_wrap, wire_end);

TEST(read__not_pulled__is_answered_again_with_its_data_and_what_follows)
{
	struct soft_frame write = wire_request(IBV_WR_RDMA_WRITE, 2, 4);

	ask_to_pull(0, 20000);
	ask_to_pull(1, 10000);
	expect_address(0, 20000);
	expect_address(1, 10000);
	wire_say(&write, wire_big->addr);
	wire_expect_ack(2);
	say_pulled(0, SOFT_NOT_PULLED);
	wire_expect_read(0, 20000, wire_big->addr);
	wire_expect_read(1, 10000, wire_big->addr);
	wire_expect_ack(2);
}

/* origin: outside.130 */
TEST(read__not_confirmed__counts_against_the_limit)
{
	ask_to_pull(0, 20000);
	expect_address(0, 20000);
	ask_to_pull(1, 20000);
	expect_address(1, 20000);
	say_pulled(1, SOFT_PULLED);
	ask_to_pull(2, 20000);
	expect_address(2, 20000);
	ask_to_pull(3, 20000);
	expect_address(3, 20000);
	ask_to_pull(4, 20000);
	wire_expect_nak(4, IBV_WC_REM_INV_REQ_ERR);
}

TEST(read__unknown_and_not_pulled__is_refused)
{
	ask_to_pull(0, 20000);
	expect_address(0, 20000);
	say_pulled(0, SOFT_PULLED);
	say_pulled(0, SOFT_NOT_PULLED);
	wire_expect_nak(0, SOFT_NAK_NOT_CONNECTED);
}

TEST(read__deregistered_and_not_pulled__is_refused)
{
	struct ibv_mr *mr = ibv_reg_mr(wire_side.pd, wire_big->addr, WIRE_BIG, SIDE_ACCESS);
	struct soft_frame frame = wire_request(IBV_WR_RDMA_READ, 0, 20000);

	frame.rkey = mr->rkey;
	frame.flags |= SOFT_FRAME_PULL;
	wire_say(&frame, NULL);
	expect_address(0, 20000);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	say_pulled(0, SOFT_NOT_PULLED);
	wire_expect_nak(0, IBV_WC_REM_ACCESS_ERR);
}

/*
 * What is sent again is acknowledged no further than it was done, and that is what stands before
 * the refused read.
 */
/* origin: outside.148 */
TEST(read__refused_after_a_write_was_done__the_write_is_not_acknowledged_later)
{
	struct ibv_mr *mr = ibv_reg_mr(wire_side.pd, wire_big->addr, WIRE_BIG, SIDE_ACCESS);
	struct soft_frame read = wire_request(IBV_WR_RDMA_READ, 1, WIRE_BIG), answer,
			  write = wire_request(IBV_WR_RDMA_WRITE, 2, 8);
	volatile char *last = (char *)wire_big->addr + WIRE_BIG - 8;
	static char part[SOFT_WIRE_PAYLOAD];
	struct pollfd pfd = { .fd = wire_line, .events = POLLIN };

	ask_to_pull(0, 20000);
	expect_address(0, 20000);
	read.rkey = mr->rkey;
	wire_say(&read, NULL); /* more than the socket takes: it is not answered whole */
	write.address = (uintptr_t)last;
	wire_say(&write, "written");
	while (*last != 'w')
		sleep_ms(1);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	do
		ck_assert(wire_hear(&answer, part));
	while (answer.type == SOFT_FRAME_RESPONSE);
	ck_assert_int_eq(answer.type, SOFT_FRAME_NAK);
	ck_assert_uint_eq(answer.psn, wire_psn(1));
	ck_assert_int_eq(answer.opcode, IBV_WC_REM_ACCESS_ERR);
	async_expect(wire_side.context, IBV_EVENT_QP_ACCESS_ERR, wire_side.qp);
	say_pulled(0, SOFT_NOT_PULLED);
	wire_expect_read(0, 20000, wire_big->addr);
	wire_expect_nak(1, IBV_WC_REM_ACCESS_ERR);
	ck_assert_int_eq(poll(&pfd, 1, 20), 0);
}

/* ---- the peer is to pull what the side sends ---- */

static struct side a;
static struct soft_rings rings;
static int line, door;
static unsigned int stranger;

/* The queue pair is connected to a peer with which it shares memory, once it sends. */
static void
setup_pulled(void)
{
	side_make(&a, NULL);
	stranger = line_slot_take(&door);
	side_to_init(&a, NULL);
	side_to_rtr(&a, stranger << 14 | 5);
	side_to_rts(&a, &(struct side_options){ .patient = true });
}

static void
teardown_pulled(void)
{
	soft_rings_unmap(&rings);
	close(line);
	line_slot_leave(stranger, door);
	side_free(&a);
}

static void
send_big(uint64_t wr_id)
{
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, wr_id, 0, 4096, 1, 16384), 0);
}

static void
accept_pulling(void)
{
	struct soft_welcome_frame welcome;

	line = line_accept_rings(door, &rings);
	soft_peer_welcome(&welcome, SOFT_WELCOME_RINGS | SOFT_WELCOME_PULLS);
	line_send(line, &welcome, sizeof welcome);
}

/* The next request: whether it has addresses instead of data. */
static struct soft_frame
expect_request(bool addresses)
{
	const struct soft_frame frame = line_expect_frame(&rings.in, SOFT_FRAME_REQUEST);

	ck_assert_int_eq(frame.flags & SOFT_FRAME_PULL, addresses ? SOFT_FRAME_PULL : 0);
	ck_assert_uint_eq(frame.total, 16384);
	ck_assert_uint_eq(frame.length, addresses ? sizeof(struct soft_wire_segment) : 16384);
	return frame;
}

static void
answer(const struct soft_frame *to, enum soft_frame_type type, uint8_t reason)
{
	const struct soft_frame frame = { .type = (uint8_t)type,
		.opcode = reason,
		.qpn = to->from,
		.from = to->qpn,
		.psn = to->psn,
		.epoch = to->epoch };

	ck_assert_int_eq(soft_ring_put(&rings.out, &frame, NULL, 0), 0);
	line_send(line, "", 1);
}

CASE("soft-wire-pull:sent", setup_pulled, teardown_pulled);

/* It was revoked on the way: it is sent again with its data, and it alone. */
/* origin: outside.149 */
TEST(message__could_not_be_pulled_once__those_behind_it_are_pulled)
{
	struct ibv_mr *mr = ibv_reg_mr(a.pd, a.bytes, 4096, SIDE_ACCESS);
	struct soft_frame frame;

	send_big(1);
	accept_pulling();
	frame = expect_request(true);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	answer(&frame, SOFT_FRAME_NAK, SOFT_NAK_NOT_PULLED);
	frame = expect_request(false);
	cq_expect_empty(a.cq);
	answer(&frame, SOFT_FRAME_ACK, 0);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	for (uint64_t i = 2; i < 5; i++) {
		send_big(i);
		frame = expect_request(true);
		answer(&frame, SOFT_FRAME_ACK, 0);
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
	}
	/* And this happens more than once. */
	send_big(5);
	frame = expect_request(true);
	mr = ibv_reg_mr(a.pd, a.bytes, 4096, SIDE_ACCESS);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	answer(&frame, SOFT_FRAME_NAK, SOFT_NAK_NOT_PULLED);
	frame = expect_request(false);
	answer(&frame, SOFT_FRAME_ACK, 0);
	cq_expect(a.cq, 5, IBV_WC_SUCCESS);
}

/* It could not be pulled although nothing was revoked: the kernel does not let the peer read. */
TEST(message__cannot_be_pulled__none_is_any_more)
{
	struct soft_frame frame;

	send_big(1);
	accept_pulling();
	frame = expect_request(true);
	answer(&frame, SOFT_FRAME_NAK, SOFT_NAK_NOT_PULLED);
	for (uint64_t i = 1; i < 4; i++) {
		frame = expect_request(false);
		answer(&frame, SOFT_FRAME_ACK, 0);
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
		send_big(i + 1);
	}
}

/* There was nothing to pull: the peer does not keep to the rules. */
TEST(message__with_data__cannot_be_pulled__ends_the_link)
{
	struct soft_frame frame;

	send_big(1);
	accept_pulling();
	frame = expect_request(true);
	answer(&frame, SOFT_FRAME_NAK, SOFT_NAK_NOT_PULLED);
	frame = expect_request(false);
	answer(&frame, SOFT_FRAME_NAK, SOFT_NAK_NOT_PULLED);
	async_expect(a.context, IBV_EVENT_QP_FATAL, a.qp);
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_ERR);
	ck_assert_int_ne(cq_next(a.cq).status, IBV_WC_SUCCESS);
}

/* ---- a long message fails in any of its frames ---- */

#define FRAMES 4
#define LONG_BYTES ((FRAMES - 1) * SOFT_WIRE_PAYLOAD + 100)

static const char *
long_pattern(void)
{
	static char bytes[LONG_BYTES];

	for (size_t i = 0; !bytes[1] && i < sizeof bytes; i++)
		bytes[i] = (char)(i % 251);
	return bytes;
}

static uint32_t
frame_length(int i)
{
	return i == FRAMES - 1 ? LONG_BYTES - (FRAMES - 1) * SOFT_WIRE_PAYLOAD : SOFT_WIRE_PAYLOAD;
}

/*
 * Frame `i` of the answer to a read: with its data, or the address from which it is to be pulled.
 */
static void
answer_read(const struct soft_frame *to, int i, const char *pulled_from, uint64_t number)
{
	const char *bytes = long_pattern() + (size_t)i * SOFT_WIRE_PAYLOAD;
	struct soft_wire_segment segment = { (uintptr_t)pulled_from, frame_length(i) };
	struct soft_frame frame = { .type = SOFT_FRAME_RESPONSE,
		.flags =
		    (uint8_t)((i ? 0 : SOFT_FRAME_FIRST) | (i == FRAMES - 1 ? SOFT_FRAME_LAST : 0) |
			      (pulled_from ? SOFT_FRAME_PULL : 0)),
		.length = pulled_from ? sizeof segment : frame_length(i),
		.qpn = to->from,
		.from = to->qpn,
		.psn = to->psn,
		.total = to->total,
		.compare_add = number,
		.epoch = to->epoch };
	struct iovec payload = { pulled_from ? (void *)&segment : (void *)(uintptr_t)bytes,
		frame.length };

	while (soft_ring_put(&rings.out, &frame, &payload, 1) == -EAGAIN)
		sleep_ms(1);
	line_send(line, "", 1);
}

static struct soft_frame
post_long_read(uint64_t wr_id)
{
	struct soft_frame frame;

	memset(a.bytes, 0, LONG_BYTES);
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_READ, wr_id, 0, 4096, 1, LONG_BYTES), 0);
	if (!rings.area)
		accept_pulling();
	frame = line_expect_frame(&rings.in, SOFT_FRAME_REQUEST);
	ck_assert_uint_eq(frame.flags, SOFT_FRAME_FIRST | SOFT_FRAME_LAST | SOFT_FRAME_PULL);
	return frame;
}

static void
expect_read_whole(uint64_t wr_id)
{
	cq_expect(a.cq, wr_id, IBV_WC_SUCCESS);
	if (memcmp(a.bytes, long_pattern(), LONG_BYTES))
		ck_abort_msg("read %u is not what was answered", (unsigned int)wr_id);
}

static void
expect_pulled(const struct soft_frame *to, uint8_t opcode)
{
	const struct soft_frame frame = line_expect_frame(&rings.in, SOFT_FRAME_PULLED);

	ck_assert_uint_eq(frame.opcode, opcode);
	ck_assert_uint_eq(frame.psn, to->psn);
}

CASE("soft-wire-pull:whole", setup_pulled, teardown_pulled, .needs = feature_read,
    .reason = FEATURE_NO_READ);

/*
 * Frame `_i` % FRAMES of the first and the third of four reads cannot be pulled: it is not there,
 * or was revoked.  They are answered again with their data, from the first frame on.  The reads
 * between them are pulled.
 */
/* origin: out33.D10 */
TEST_LOOP(long_read__cannot_be_pulled_in_any_frame__is_whole_and_the_next_is_pulled, 2 * FRAMES)
{
	const int failing = _i % FRAMES;
	const bool revoked = _i / FRAMES;
	uint64_t good = soft_grant_number(), before;
	const char *nowhere = (const char *)(uintptr_t)4096;
	struct soft_frame frame;

	for (uint64_t read = 0; read < 4; read++) {
		frame = post_long_read(read);
		before = good;
		soft_grant_revoke();
		good = soft_grant_number();
		for (int i = 0; i < FRAMES; i++) /* those behind it, too */
			answer_read(&frame, i,
			    read % 2 == 0 && i == failing && !revoked ?
				nowhere :
				long_pattern() + (size_t)i * SOFT_WIRE_PAYLOAD,
			    read % 2 == 0 && i == failing && revoked ? before : good);
		if (read % 2 == 0) {
			expect_pulled(&frame, SOFT_NOT_PULLED);
			cq_expect_empty(a.cq);
			for (int i = 0; i < FRAMES; i++)
				answer_read(&frame, i, NULL, 0);
		} else {
			expect_pulled(&frame, SOFT_PULLED);
		}
		expect_read_whole(read);
	}
}

/* It could not be pulled although nothing was revoked: the kernel does not let us read the peer. */
TEST(read__cannot_be_pulled_at_all__none_is_to_be_any_more)
{
	struct soft_frame frame = post_long_read(0);

	for (int i = 0; i < FRAMES; i++)
		answer_read(&frame, i, (const char *)(uintptr_t)4096, ~soft_grant_number());
	expect_pulled(&frame, SOFT_NOT_PULLED);
	for (uint64_t read = 0; read < 3; read++) {
		for (int i = 0; i < FRAMES; i++)
			answer_read(&frame, i, NULL, 0);
		expect_read_whole(read);
		memset(a.bytes, 0, LONG_BYTES);
		ck_assert_int_eq(
		    side_rdma_raw(&a, IBV_WR_RDMA_READ, read + 1, 0, 4096, 1, LONG_BYTES), 0);
		frame = line_expect_frame(&rings.in, SOFT_FRAME_REQUEST);
		ck_assert_uint_eq(frame.flags, SOFT_FRAME_FIRST | SOFT_FRAME_LAST);
	}
}

static struct soft_frame
expect_long(enum ibv_wr_opcode opcode, bool addresses, bool solicited)
{
	struct soft_frame frame;

	for (int i = 0; i < FRAMES; i++) {
		const bool pulled = addresses && frame_length(i) >= 8192;

		frame = line_expect_frame(&rings.in, SOFT_FRAME_REQUEST);
		ck_assert_uint_eq(frame.opcode, opcode);
		ck_assert_uint_eq(frame.total, LONG_BYTES);
		ck_assert_uint_eq(frame.flags,
		    (i ? 0 : SOFT_FRAME_FIRST) | (i == FRAMES - 1 ? SOFT_FRAME_LAST : 0) |
			(pulled ? SOFT_FRAME_PULL : 0) | (solicited ? SOFT_FRAME_SOLICITED : 0));
		ck_assert_uint_eq(
		    frame.length, pulled ? sizeof(struct soft_wire_segment) : frame_length(i));
	}
	return frame;
}

CASE("soft-wire-pull:sent", setup_pulled, teardown_pulled);

/*
 * A long message that cannot be pulled is sent again with its data, from its first frame on; this
 * happens twice.
 */
/* origin: out33.D10 */
TEST_LOOP(long_message__could_not_be_pulled__is_sent_whole_and_the_next_is_pulled, 2)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE };
	struct soft_frame frame;
	struct ibv_mr *mr;

	for (uint64_t i = 0; i < 4; i++) {
		mr = ibv_reg_mr(a.pd, a.bytes, 4096, SIDE_ACCESS);
		ck_assert_int_eq(side_rdma_raw(&a, opcodes[_i], i, 0, 4096, 1, LONG_BYTES), 0);
		if (!i)
			accept_pulling();
		frame = expect_long(opcodes[_i], true, false);
		ck_assert_int_eq(ibv_dereg_mr(mr), 0);
		if (i % 2 == 0) {
			answer(&frame, SOFT_FRAME_NAK, SOFT_NAK_NOT_PULLED);
			frame = expect_long(opcodes[_i], false, false);
			cq_expect_empty(a.cq);
		}
		answer(&frame, SOFT_FRAME_ACK, 0);
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
	}
}

/*
 * A queue pair that is reset while it sends a message again with its data lets the first of its
 * next connection be pulled.
 */
/* origin: out33.D9 */
TEST(message__could_not_be_pulled__the_first_after_a_reset_is_pulled)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_mr *mr = ibv_reg_mr(a.pd, a.bytes, 4096, SIDE_ACCESS);
	struct soft_frame frame;

	send_big(1);
	accept_pulling();
	frame = expect_request(true);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	answer(&frame, SOFT_FRAME_NAK, SOFT_NAK_NOT_PULLED);
	(void)expect_request(false);
	ck_assert_int_eq(ibv_modify_qp(a.qp, &reset, IBV_QP_STATE), 0);
	side_to_init(&a, NULL);
	side_to_rtr(&a, stranger << 14 | 5);
	side_to_rts(&a, &(struct side_options){ .patient = true });
	send_big(2);
	frame = expect_request(true);
	answer(&frame, SOFT_FRAME_ACK, 0);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
}

CASE("soft-wire-pull:pages");

/* The other process finds each page of the data, also those that the program has not used yet. */
/* origin: out33.U15 */
TEST(data_to_be_pulled__each_page_of_it_is_there__and_no_other)
{
	static const char wanted[] = "\1\1\1\0\0\1\1";
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char there[8];
	char *at = mmap(NULL, 8 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct iovec data[] = { { at + 1, 2 * page }, { at + 4 * page, 0 },
		{ at + 6 * page - 1, 2 } };

	ck_assert_ptr_ne(at, MAP_FAILED);
	(void)madvise(at, 8 * page, MADV_NOHUGEPAGE);
	soft_grant_touch(data, 3);
	ck_assert_int_eq(mincore(at, 8 * page, there), 0);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(there[i] & 1, wanted[i]);
	munmap(at, 8 * page);
}
