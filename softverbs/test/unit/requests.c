/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * requests -- what a queue pair says to one of another process, and which answers it takes
 *
 * The other process is this one as well, and reads and writes frames by hand.
 */

#include "line.h"
#include "starve.h"
#include "story.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "softverbs/device/slot.h"
#include "softverbs/wire/wire.h"

static struct side a;
static unsigned int stranger;
static int door, line;
static uint32_t peer; /* the number of the peer's queue pair */
static char data[SOFT_WIRE_PAYLOAD];

static void
setup(void)
{
	side_make(&a, NULL);
	for (int i = 0; i < SIDE_BYTES; i++)
		a.bytes[i] = (char)(i % 251);
	stranger = line_slot_take(&door);
	peer = stranger << 14 | 5;
	line = -1;
}

static void
teardown(void)
{
	if (line >= 0)
		close(line);
	line_slot_leave(stranger, door);
	side_free(&a);
}

static void
connect_side(void)
{
	side_to_init(&a, NULL);
	side_to_rtr(&a, peer);
	side_to_rts(&a, &(struct side_options){ .patient = true });
}

static struct ibv_send_wr
request(enum ibv_wr_opcode opcode, unsigned int flags, struct ibv_sge *sge)
{
	static uint64_t wr_id;

	return (struct ibv_send_wr){ .wr_id = ++wr_id,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED | flags };
}

static struct ibv_sge
bytes_at(size_t offset, uint32_t length)
{
	return (struct ibv_sge){ (uintptr_t)a.bytes + offset, length, a.mr->lkey };
}

static void
post(struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	ck_assert_int_eq(ibv_post_send(a.qp, wr, &bad), 0);
}

/* The next frame, its data in `data`. */
static struct soft_frame
hear(void)
{
	struct pollfd pfd;
	struct soft_frame frame;

	if (line < 0)
		line = line_accept(door);
	pfd = (struct pollfd){ .fd = line, .events = POLLIN };
	ck_assert_msg(poll(&pfd, 1, (int)runner_stretch(10000)) == 1, "no frame");
	ck_assert_int_eq(recv(line, &frame, sizeof frame, MSG_WAITALL), sizeof frame);
	ck_assert_uint_le(frame.length, sizeof data);
	if (frame.length)
		ck_assert_int_eq(recv(line, data, frame.length, MSG_WAITALL), frame.length);
	return frame;
}

static void
expect_no_frame(void)
{
	struct pollfd pfd = { .fd = line, .events = POLLIN };

	ck_assert_int_eq(poll(&pfd, 1, 20), 0);
}

/* With `length` bytes of a's memory. */
static void
say(struct soft_frame frame, uint32_t length)
{
	frame.length = length;
	line_send(line, &frame, sizeof frame);
	if (length)
		line_send(line, a.bytes, length);
}

static struct soft_frame
answer_to(const struct soft_frame *to, enum soft_frame_type type)
{
	return (struct soft_frame){ .type = (uint8_t)type,
		.qpn = to->from,
		.from = to->qpn,
		.psn = to->psn,
		.epoch = to->epoch };
}

/* All of it, as the only frame. */
static struct soft_frame
read_answer(const struct soft_frame *to)
{
	struct soft_frame frame = answer_to(to, SOFT_FRAME_RESPONSE);

	frame.flags = SOFT_FRAME_FIRST | SOFT_FRAME_LAST;
	frame.total = to->total;
	return frame;
}

/* ---- what is said ---- */

static const struct said {
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	uint32_t length;
	enum ibv_wc_opcode completion;
} saids[] = {
	{ IBV_WR_SEND, 0, 100, IBV_WC_SEND },
	{ IBV_WR_SEND, IBV_SEND_SOLICITED, 1, IBV_WC_SEND },
	{ IBV_WR_SEND, IBV_SEND_INLINE, 77, IBV_WC_SEND },
	{ IBV_WR_SEND, 0, 0, IBV_WC_SEND },
	{ IBV_WR_SEND_WITH_IMM, IBV_SEND_SOLICITED, 64, IBV_WC_SEND },
	{ IBV_WR_SEND_WITH_INV, 0, 64, IBV_WC_SEND },
	{ IBV_WR_RDMA_WRITE, 0, 64, IBV_WC_RDMA_WRITE },
	{ IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, 128, IBV_WC_RDMA_WRITE },
	{ IBV_WR_RDMA_WRITE, 0, SOFT_WIRE_PAYLOAD, IBV_WC_RDMA_WRITE },
	{ IBV_WR_RDMA_WRITE, 0, SOFT_WIRE_PAYLOAD + 1, IBV_WC_RDMA_WRITE },
	{ IBV_WR_SEND, IBV_SEND_SOLICITED, 3 * SOFT_WIRE_PAYLOAD, IBV_WC_SEND },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_SOLICITED, 64, IBV_WC_RDMA_WRITE },
	{ IBV_WR_RDMA_READ, 0, 4096, IBV_WC_RDMA_READ },
	{ IBV_WR_RDMA_READ, 0, 0, IBV_WC_RDMA_READ },
	{ IBV_WR_ATOMIC_CMP_AND_SWP, 0, 8, IBV_WC_COMP_SWAP },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, IBV_WC_FETCH_ADD },
};

/* The frames of a request that was posted as the i-th. */
static struct soft_frame
expect_request(const struct said *said, const struct ibv_send_wr *wr, uint32_t i, uint32_t *epoch)
{
	const bool atomic = said->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
			    said->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	const bool fetches = atomic || said->opcode == IBV_WR_RDMA_READ;
	uint32_t at = 0, part;
	struct soft_frame frame;

	do {
		frame = hear();
		part = fetches ? 0 : said->length - at;
		part = part < SOFT_WIRE_PAYLOAD ? part : SOFT_WIRE_PAYLOAD;
		ck_assert_uint_eq(frame.type, SOFT_FRAME_REQUEST);
		ck_assert_uint_eq(frame.opcode, said->opcode);
		ck_assert_uint_eq(frame.length, part);
		ck_assert_uint_eq(
		    frame.flags, (at ? 0 : SOFT_FRAME_FIRST) |
				     (fetches || at + part == said->length ? SOFT_FRAME_LAST : 0) |
				     (said->flags & IBV_SEND_SOLICITED ? SOFT_FRAME_SOLICITED : 0));
		ck_assert_uint_eq(frame.rnr_timer, 0);
		ck_assert_uint_eq(frame.qpn, peer);
		ck_assert_uint_eq(frame.from, a.qp->qp_num);
		ck_assert_uint_eq(frame.psn, (side_psn + i) & SOFT_PSN_MASK);
		ck_assert_uint_eq(frame.total, said->length);
		ck_assert_uint_eq(frame.imm_data, wr->imm_data);
		ck_assert_uint_eq(frame.rkey, atomic ? wr->wr.atomic.rkey : wr->wr.rdma.rkey);
		ck_assert_uint_eq(frame.address, wr->wr.rdma.remote_addr);
		ck_assert_uint_eq(frame.compare_add, wr->wr.atomic.compare_add);
		ck_assert_uint_eq(frame.swap, wr->wr.atomic.swap);
		ck_assert_uint_eq(frame.port, 0);
		ck_assert_uint_eq(frame.from_port, 0);
		if (i || at)
			ck_assert_uint_eq(frame.epoch, *epoch);
		*epoch = frame.epoch;
		ck_assert_int_eq(memcmp(data, a.bytes + 100 + at, part), 0);
		at += part;
	} while (!fetches && at < said->length);
	return frame;
}

CASE("soft-requests:requests", setup, teardown);

/* origin: outside.156 */
TEST(request__each_kind__says_what_was_posted)
{
	uint32_t epoch = 0;

	connect_side();
	for (uint32_t i = 0; i < sizeof saids / sizeof saids[0]; i++) {
		const struct said *said = &saids[i];
		struct ibv_sge sge = bytes_at(100, said->length);
		struct ibv_send_wr wr = request(said->opcode, said->flags, &sge);
		struct soft_frame frame;
		struct ibv_wc wc;

		wr.imm_data = 0x01020304 + i;
		wr.wr.atomic.remote_addr = 0x1122334455667788 + i;
		if (said->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		    said->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
			wr.wr.atomic.rkey = 0x55;
		else
			wr.wr.rdma.rkey = 0x66;
		if (said->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
			wr.wr.atomic.compare_add = 7;
			wr.wr.atomic.swap = 8;
		}
		post(&wr);
		frame = expect_request(said, &wr, i, &epoch);
		cq_expect_empty(a.cq);
		if (said->opcode >= IBV_WR_RDMA_READ && said->opcode <= IBV_WR_ATOMIC_FETCH_AND_ADD)
			say(read_answer(&frame), said->length);
		else
			say(answer_to(&frame, SOFT_FRAME_ACK), 0);
		wc = cq_next(a.cq);
		ck_assert_uint_eq(wc.wr_id, wr.wr_id);
		ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
		ck_assert_int_eq(wc.opcode, said->completion);
		ck_assert_uint_eq(wc.qp_num, a.qp->qp_num);
		ck_assert_uint_eq(wc.byte_len, said->length);
		for (uint32_t at = 100; at < 100 + said->length; at++)
			a.bytes[at] = (char)(at % 251);
	}
}

/*
 * The data of a message lies in several segments; one of them is refused when the message is sent.
 */
TEST(request__of_segments_that_are_not_there__fails_when_it_is_its_turn)
{
	struct ibv_sge good = bytes_at(0, 8),
		       parts[3] = { bytes_at(0, 8), bytes_at(8, 0), bytes_at(16, 8) };
	struct ibv_send_wr first = request(IBV_WR_RDMA_WRITE, 0, &good),
			   second = request(IBV_WR_RDMA_WRITE, 0, parts),
			   third = request(IBV_WR_RDMA_WRITE, 0, parts);
	struct soft_frame frame;

	connect_side();
	second.num_sge = third.num_sge = 3;
	post(&first);
	post(&second);
	parts[2].lkey ^= 1;
	post(&third);
	frame = hear();
	frame = hear();
	ck_assert_uint_eq(frame.length, 16);
	ck_assert_int_eq(memcmp(data, a.bytes, 8) || memcmp(data + 8, a.bytes + 16, 8), 0);
	cq_expect_empty(a.cq);
	expect_no_frame();
	say(answer_to(&frame, SOFT_FRAME_ACK), 0);
	cq_expect(a.cq, first.wr_id, IBV_WC_SUCCESS);
	cq_expect(a.cq, second.wr_id, IBV_WC_SUCCESS);
	cq_expect(a.cq, third.wr_id, IBV_WC_LOC_PROT_ERR);
	expect_no_frame();
}

/* The kernel takes a part of a frame, with its segments, and later the rest: at each byte. */
/* origin: out33.U7 */
TEST(frame__written_in_two_parts__is_whole)
{
	struct ibv_sge parts[3] = { bytes_at(0, 10), bytes_at(100, 20), bytes_at(200, 30) };
	struct soft_frame frame = { .length = 0 };
	struct ibv_send_wr wr;

	connect_side();
	for (size_t cut = 0; cut < sizeof frame + 60; cut++) { /* 0: all, on a new link */
		starve_cut = cut;
		wr = request(IBV_WR_RDMA_WRITE, 0, parts);
		wr.num_sge = 3;
		post(&wr);
		ck_assert_uint_eq(starve_cut, 0);
		frame = hear();
		ck_assert_uint_eq(frame.length, 60);
		ck_assert_int_eq(memcmp(data, a.bytes, 10), 0);
		ck_assert_int_eq(memcmp(data + 10, a.bytes + 100, 20), 0);
		ck_assert_int_eq(memcmp(data + 30, a.bytes + 200, 30), 0);
		say(answer_to(&frame, SOFT_FRAME_ACK), 0);
		cq_expect(a.cq, wr.wr_id, IBV_WC_SUCCESS);
	}
}

/* Behind a read: what has a fence waits for its data, and nothing else does. */
TEST(fence__waits_for_reads_and_atomics_alone)
{
	struct ibv_sge sge = bytes_at(0, 8);
	struct ibv_send_wr wrs[] = { request(IBV_WR_RDMA_WRITE, 0, &sge),
		request(IBV_WR_RDMA_WRITE, IBV_SEND_FENCE, &sge),
		request(IBV_WR_RDMA_READ, 0, &sge), request(IBV_WR_RDMA_WRITE, 0, &sge),
		request(IBV_WR_SEND, IBV_SEND_FENCE, &sge) };
	struct soft_frame frame, read = { .total = 0 };

	connect_side();
	for (int i = 0; i < 5; i++)
		post(&wrs[i]);
	for (int i = 0; i < 4; i++) {
		frame = hear();
		ck_assert_uint_eq(frame.opcode, wrs[i].opcode);
		read = frame.opcode == IBV_WR_RDMA_READ ? frame : read;
	}
	expect_no_frame();
	say(read_answer(&read), 8);
	frame = hear();
	ck_assert_uint_eq(frame.opcode, IBV_WR_SEND);
	say(answer_to(&frame, SOFT_FRAME_ACK), 0);
	for (int i = 0; i < 5; i++)
		cq_expect(a.cq, wrs[i].wr_id, IBV_WC_SUCCESS);
}

/* ---- the end of what was sent, in the state SQD ---- */

static const struct {
	int mask;
	uint8_t flag;
	enum ibv_qp_state then; /* before the answer; UNKNOWN: no change */
	bool event;
} drains[] = {
	{ 0, 1, IBV_QPS_UNKNOWN, false },
	{ IBV_QP_EN_SQD_ASYNC_NOTIFY, 0, IBV_QPS_UNKNOWN, false },
	{ IBV_QP_EN_SQD_ASYNC_NOTIFY, 1, IBV_QPS_UNKNOWN, true },
	{ IBV_QP_EN_SQD_ASYNC_NOTIFY, 1, IBV_QPS_SQD, true },
	{ IBV_QP_EN_SQD_ASYNC_NOTIFY, 1, IBV_QPS_RTS, false },
};

static void
change_state(enum ibv_qp_state to, uint8_t flag, int mask)
{
	struct ibv_qp_attr attr = { .qp_state = to, .en_sqd_async_notify = flag };

	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | mask), 0);
}

TEST_LOOP(
    send_queue_drained__is_told_to_who_asked_and_still_waits, (sizeof drains / sizeof *drains))
{
	struct ibv_sge sge = bytes_at(0, 8);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, 0, &sge);
	struct soft_frame frame;

	connect_side();
	for (int round = 0; round < 2; round++) {
		post(&wr);
		frame = hear();
		change_state(IBV_QPS_SQD, drains[_i].flag, drains[_i].mask);
		if (drains[_i].then != IBV_QPS_UNKNOWN)
			change_state(drains[_i].then, 0, 0);
		ck_assert(!async_ready(a.context));
		say(answer_to(&frame, SOFT_FRAME_ACK), 0);
		cq_expect(a.cq, wr.wr_id, IBV_WC_SUCCESS);
		if (drains[_i].event)
			async_expect(a.context, IBV_EVENT_SQ_DRAINED, a.qp);
		if (qp_state(a.qp) == IBV_QPS_SQD)
			change_state(IBV_QPS_RTS, 0, 0);
		ck_assert(!async_ready(a.context));
	}
	/* Nothing is on its way. */
	change_state(IBV_QPS_SQD, 1, IBV_QP_EN_SQD_ASYNC_NOTIFY);
	async_expect(a.context, IBV_EVENT_SQ_DRAINED, a.qp);
}

/*
 * ---- which answers are taken, while a write, a read of 8 bytes and a write are not answered ----
 */

#define PROCESS (1 << 14) /* the next slot, in the number of a queue pair */

enum taken { WRONG, NOTHING, FIRST, READ };

static const struct {
	const char *name;
	enum soft_frame_type type;
	uint32_t ahead; /* whose answer it is: 0 to 2, and behind them */
	uint8_t opcode; /* of a NAK */
	uint8_t flags;	/* of the data of a read */
	uint32_t length, total;
	uint32_t epoch, from, to; /* added to what is right */
	enum taken taken;
} answers[] = {
	{ "the first", SOFT_FRAME_ACK, 0, 0, 0, 0, 0, 0, 0, 0, FIRST },
	{ "the write behind the read", SOFT_FRAME_ACK, 2, 0, 0, 0, 0, 0, 0, 0, WRONG },
	{ "the read, without data", SOFT_FRAME_ACK, 1, 0, 0, 0, 0, 0, 0, 0, WRONG },
	{ "none that was sent", SOFT_FRAME_ACK, 3, 0, 0, 0, 0, 0, 0, 0, WRONG },
	{ "one long ago", SOFT_FRAME_ACK, SOFT_PSN_MASK, 0, 0, 0, 0, 0, 0, 0, WRONG },
	{ "another epoch", SOFT_FRAME_ACK, 0, 0, 0, 0, 0, 1, 0, 0, NOTHING },
	{ "another queue pair", SOFT_FRAME_ACK, 0, 0, 0, 0, 0, 0, 1, 0, NOTHING },
	{ "another queue pair, beyond", SOFT_FRAME_ACK, 9, 0, 0, 0, 0, 0, 1, 0, NOTHING },
	{ "data", SOFT_FRAME_RESPONSE, 1, 0, 3, 8, 8, 0, 0, 0, READ },
	{ "data of another epoch", SOFT_FRAME_RESPONSE, 1, 0, 3, 8, 8, 1, 0, 0, NOTHING },
	{ "data of a write", SOFT_FRAME_RESPONSE, 0, 0, 3, 8, 8, 0, 0, 0, WRONG },
	{ "data of a write behind", SOFT_FRAME_RESPONSE, 2, 0, 3, 8, 8, 0, 0, 0, WRONG },
	{ "less data in all", SOFT_FRAME_RESPONSE, 1, 0, 3, 7, 7, 0, 0, 0, WRONG },
	{ "more data in all", SOFT_FRAME_RESPONSE, 1, 0, 3, 9, 9, 0, 0, 0, WRONG },
	{ "data that is all, of more", SOFT_FRAME_RESPONSE, 1, 0, 3, 8, 9, 0, 0, 0, WRONG },
	{ "less data than said", SOFT_FRAME_RESPONSE, 1, 0, 3, 7, 8, 0, 0, 0, WRONG },
	{ "a part that is not the first", SOFT_FRAME_RESPONSE, 1, 0, 0, 4, 8, 0, 0, 0, WRONG },
	{ "the last part", SOFT_FRAME_RESPONSE, 1, 0, SOFT_FRAME_LAST, 4, 8, 0, 0, 0, WRONG },
	{ "a part of nothing", SOFT_FRAME_RESPONSE, 1, 0, SOFT_FRAME_FIRST, 0, 8, 0, 0, 0, WRONG },
	{ "addresses that were not asked for", SOFT_FRAME_RESPONSE, 1, 0, 3 | SOFT_FRAME_PULL, 16,
	    8, 0, 0, 0, WRONG },
	{ "a write that could not be pulled", SOFT_FRAME_NAK, 0, SOFT_NAK_NOT_PULLED, 0, 0, 0, 0, 0,
	    0, WRONG },
	{ "a refusal behind the read", SOFT_FRAME_NAK, 2, IBV_WC_REM_ACCESS_ERR, 0, 0, 0, 0, 0, 0,
	    WRONG },
	{ "a refusal beyond", SOFT_FRAME_NAK, 3, IBV_WC_REM_ACCESS_ERR, 0, 0, 0, 0, 0, 0, WRONG },
	{ "a refusal of another epoch", SOFT_FRAME_NAK, 0, IBV_WC_REM_ACCESS_ERR, 0, 0, 0, 1, 0, 0,
	    NOTHING },
	{ "a refusal of another queue pair", SOFT_FRAME_NAK, 0, IBV_WC_REM_ACCESS_ERR, 0, 0, 0, 0,
	    1, 0, NOTHING },
	{ "an answer of another process", SOFT_FRAME_ACK, 0, 0, 0, 0, 0, 0, PROCESS, 0, WRONG },
	{ "data of another process", SOFT_FRAME_RESPONSE, 1, 0, 3, 8, 8, 0, PROCESS, 0, WRONG },
	{ "a refusal of another process", SOFT_FRAME_NAK, 0, IBV_WC_REM_ACCESS_ERR, 0, 0, 0, 0,
	    PROCESS, 0, WRONG },
	{ "an answer to another process", SOFT_FRAME_ACK, 0, 0, 0, 0, 0, 0, 0, PROCESS, WRONG },
	{ "data for another process", SOFT_FRAME_RESPONSE, 1, 0, 3, 8, 8, 0, 0, PROCESS, WRONG },
	{ "a refusal to another process", SOFT_FRAME_NAK, 0, IBV_WC_REM_ACCESS_ERR, 0, 0, 0, 0, 0,
	    PROCESS, WRONG },
	{ "data for a queue pair that was destroyed", SOFT_FRAME_RESPONSE, 1, 0, 3, 8, 8, 0, 0, 2,
	    NOTHING },
};

static void
expect_link_ended(uint64_t first)
{
	async_expect(a.context, IBV_EVENT_QP_FATAL, a.qp);
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_ERR);
	for (uint64_t wr_id = first; wr_id < first + 3; wr_id++) {
		const struct ibv_wc wc = cq_next(a.cq);

		if (wc.wr_id == first && wc.status == IBV_WC_SUCCESS)
			continue;
		ck_assert_uint_eq(wc.wr_id, wr_id);
		ck_assert_int_ne(wc.status, IBV_WC_SUCCESS);
	}
}

/* origin: outside.157 */
TEST_LOOP(answer__to_two_writes_and_a_read__what_is_taken, (sizeof answers / sizeof answers[0]))
{
	struct ibv_sge from = bytes_at(0, 8), to = bytes_at(4096, 8);
	struct ibv_send_wr first = request(IBV_WR_RDMA_WRITE, 0, &from),
			   read = request(IBV_WR_RDMA_READ, 0, &to),
			   last = request(IBV_WR_RDMA_WRITE, 0, &from);
	struct soft_frame frames[3], frame;
	uint64_t next = first.wr_id;

	connect_side();
	post(&first);
	post(&read);
	post(&last);
	for (int i = 0; i < 3; i++)
		frames[i] = hear();
	frame = answer_to(&frames[0], answers[_i].type);
	frame.psn = (frame.psn + answers[_i].ahead) & SOFT_PSN_MASK;
	frame.opcode = answers[_i].opcode;
	frame.flags = answers[_i].flags;
	frame.total = answers[_i].total;
	frame.epoch += answers[_i].epoch;
	frame.from += answers[_i].from;
	frame.qpn += answers[_i].to;
	say(frame, answers[_i].length);
	if (answers[_i].taken == WRONG) {
		expect_link_ended(first.wr_id);
		return;
	}
	if (answers[_i].taken >= FIRST)
		cq_expect(a.cq, next++, IBV_WC_SUCCESS);
	if (answers[_i].taken >= READ)
		cq_expect(a.cq, next++, IBV_WC_SUCCESS);
	/* What follows is right, and behind it all is done. */
	if (answers[_i].taken < READ)
		say(read_answer(&frames[1]), 8);
	say(answer_to(&frames[2], SOFT_FRAME_ACK), 0);
	for (; next <= last.wr_id; next++)
		cq_expect(a.cq, next, IBV_WC_SUCCESS);
	ck_assert_int_eq(memcmp(a.bytes + 4096, a.bytes, 8), 0);
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_RTS);
}

TEST_LOOP(refusal__each_reason__is_the_status_of_its_request, 3)
{
	static const enum ibv_wc_status reasons[] = { IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_ACCESS_ERR,
		IBV_WC_REM_OP_ERR };
	struct ibv_sge sge = bytes_at(0, 8);
	struct ibv_send_wr first = request(IBV_WR_RDMA_WRITE, 0, &sge),
			   second = request(IBV_WR_RDMA_WRITE, 0, &sge),
			   third = request(IBV_WR_RDMA_WRITE, 0, &sge);
	struct soft_frame frame;

	connect_side();
	post(&first);
	post(&second);
	post(&third);
	(void)hear();
	frame = hear();
	frame = answer_to(&frame, SOFT_FRAME_NAK);
	frame.opcode = reasons[_i];
	say(frame, 0);
	cq_expect(a.cq, first.wr_id, IBV_WC_SUCCESS);
	cq_expect(a.cq, second.wr_id, reasons[_i]);
	cq_expect(a.cq, third.wr_id, IBV_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_ERR);
	ck_assert(!async_ready(a.context));
}

/* The time is that of the other end, which its refusal has. */
TEST(refusal__no_receive__the_request_comes_again_after_the_time_that_it_says)
{
	struct ibv_sge sge = bytes_at(0, 8);
	struct ibv_send_wr wr = request(IBV_WR_SEND, 0, &sge);
	struct ibv_qp_attr attr = { .rnr_retry = 2 };
	struct soft_frame frame, refusal;
	struct timespec before, after;
	long ms;

	connect_side();
	change_state(IBV_QPS_SQD, 0, 0);
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_RNR_RETRY), 0);
	change_state(IBV_QPS_RTS, 0, 0);
	post(&wr);
	for (int i = 0; i < 2; i++) {
		frame = hear();
		refusal = answer_to(&frame, SOFT_FRAME_NAK);
		refusal.opcode = SOFT_NAK_NOT_READY;
		refusal.rnr_timer = 28; /* 163.84 ms; its own is 10 us */
		clock_gettime(CLOCK_MONOTONIC, &before);
		say(refusal, 0);
		frame = hear();
		clock_gettime(CLOCK_MONOTONIC, &after);
		ms = (after.tv_sec - before.tv_sec) * 1000 +
		     (after.tv_nsec - before.tv_nsec) / 1000000;
		ck_assert_int_ge(ms, 163);
		if (!i) {
			say(answer_to(&frame, SOFT_FRAME_ACK), 0);
			cq_expect(a.cq, wr.wr_id, IBV_WC_SUCCESS);
			post(&wr);
		}
	}
	say(answer_to(&frame, SOFT_FRAME_ACK), 0);
	cq_expect(a.cq, wr.wr_id, IBV_WC_SUCCESS);
}

/*
 * The data of a read in parts, stored in segments; into memory that is not the device's to write it
 * fails.
 */
TEST(read__its_data_in_parts__is_stored_or_fails)
{
	struct ibv_mr *mr = ibv_reg_mr(a.pd, a.bytes, 4096, 0);
	struct ibv_sge to[2] = { bytes_at(8192, 5), bytes_at(9000, 6) };
	struct ibv_send_wr good = request(IBV_WR_RDMA_READ, 0, to),
			   refused = request(IBV_WR_RDMA_READ, 0, &to[1]);
	struct soft_frame frame, part;
	const char *bytes = a.bytes;

	connect_side();
	good.num_sge = 2;
	post(&good);
	frame = hear();
	part = read_answer(&frame);
	part.flags = SOFT_FRAME_FIRST;
	say(part, 4);
	part.flags = 0;
	say(part, 4);
	cq_expect_empty(a.cq);
	part.flags = SOFT_FRAME_LAST;
	say(part, 3);
	cq_expect(a.cq, good.wr_id, IBV_WC_SUCCESS);
	ck_assert_int_eq(memcmp(a.bytes + 8192, bytes, 4), 0);
	ck_assert_int_eq(a.bytes[8196], bytes[0]);
	ck_assert_int_eq(memcmp(a.bytes + 9000, bytes + 1, 3), 0);
	ck_assert_int_eq(memcmp(a.bytes + 9003, bytes, 3), 0);
	to[1] = (struct ibv_sge){ (uintptr_t)a.bytes + 16, 8, mr->lkey };
	post(&refused);
	frame = hear();
	say(read_answer(&frame), 8);
	cq_expect(a.cq, refused.wr_id, IBV_WC_LOC_PROT_ERR);
	ck_assert_int_eq(a.bytes[16], 16);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
}

/* Whose completion is lost cannot go on. */
TEST_LOOP(answer__its_completion_has_no_room__the_queue_pair_fails, 2)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct soft_frame frame;
	struct side old;

	old = a; /* the device stays in use */
	side_make(&a, &(struct side_options){ .cqe = 1 });
	side_free(&old);
	connect_side();
	sge = bytes_at(0, 8);
	for (int i = 0; i < 2; i++) {
		wr = request(_i ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0, &sge);
		post(&wr);
		frame = hear();
		if (_i)
			say(read_answer(&frame), 8);
		else
			say(answer_to(&frame, SOFT_FRAME_ACK), 0);
	}
	async_expect(a.context, IBV_EVENT_CQ_ERR, a.cq);
	async_expect(a.context, IBV_EVENT_QP_FATAL, a.qp);
	ck_assert(!async_ready(a.context));
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_ERR);
}

/* ---- without a link ---- */

static void setup_hasty(void);
CASE("soft-requests:no-link", setup_hasty, teardown);

TEST(no_process_has_the_slot__retries_exceeded_at_once)
{
	struct ibv_sge sge = bytes_at(0, 8);
	struct ibv_send_wr wr = request(IBV_WR_SEND, 0, &sge), next = request(IBV_WR_SEND, 0, &sge);

	line_slot_leave(stranger, door);
	connect_side();
	post(&wr);
	cq_expect(a.cq, wr.wr_id, IBV_WC_RETRY_EXC_ERR);
	post(&next);
	cq_expect(a.cq, next.wr_id, IBV_WC_WR_FLUSH_ERR);
	stranger = line_slot_take(&door);
}

/*
 * Until a descriptor is free again.  The time is shortened after the device has started with the
 * usual one.
 */
TEST(no_descriptor_for_a_link__is_tried_again)
{
	struct ibv_sge sge = bytes_at(0, 8);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, 0, &sge);
	struct rlimit limit, none;
	struct soft_frame frame;

	connect_side();
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	post(&wr);
	cq_expect_empty(a.cq);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	frame = hear();
	say(answer_to(&frame, SOFT_FRAME_ACK), 0);
	cq_expect(a.cq, wr.wr_id, IBV_WC_SUCCESS);
}

static void
setup_hasty(void)
{
	setenv("SOFTVERBS_TIME_FACTOR", "0.05", 1);
	setup();
}
