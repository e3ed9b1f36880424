/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire_story.h"

#include <sys/socket.h>

#include "line.h"

struct side wire_side;
struct ibv_mr *wire_big;
int wire_line;
uint32_t wire_peer;
int wire_door;
uint32_t wire_first;

uint32_t
wire_psn(uint32_t message)
{
	return (wire_first + message) & SOFT_PSN_MASK;
}

void
wire_say(const struct soft_frame *frame, const void *payload)
{
	ck_assert_int_eq(send(wire_line, frame, sizeof *frame, MSG_NOSIGNAL), sizeof *frame);
	if (frame->length)
		ck_assert_int_eq(
		    send(wire_line, payload, frame->length, MSG_NOSIGNAL), frame->length);
}

static void
wire_make_side(uint8_t reads)
{
	const struct side_options patient = { .patient = true };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR,
		.ah_attr = { .dlid = 1, .port_num = 1 },
		.path_mtu = IBV_MTU_1024,
		.rq_psn = wire_first,
		.max_dest_rd_atomic = reads };

	side_psn = wire_first;
	side_make(&wire_side, NULL);
	wire_peer = line_slot_take(&wire_door) << 14 | 5;
	attr.dest_qp_num = wire_peer;
	side_to_init(&wire_side, NULL);
	ck_assert_int_eq(ibv_modify_qp(wire_side.qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
	    0);
	side_to_rts(&wire_side, &patient);
	wire_line = line_open(wire_side.qp->qp_num >> 14);
	line_greet(wire_line, wire_peer >> 14);
}

void
wire_begin(uint8_t reads)
{
	char *bytes = malloc(WIRE_BIG);

	wire_make_side(reads);
	for (size_t i = 0; i < WIRE_BIG; i++)
		bytes[i] = (char)(i >> 7);
	wire_big = ibv_reg_mr(wire_side.pd, bytes, WIRE_BIG, SIDE_ACCESS);
	ck_assert_ptr_nonnull(wire_big);
}

void
wire_end(void)
{
	char *bytes = wire_big->addr;

	close(wire_line);
	line_slot_leave(wire_peer >> 14, wire_door);
	ck_assert_int_eq(ibv_dereg_mr(wire_big), 0);
	side_free(&wire_side);
	free(bytes);
}

struct soft_frame
wire_request(enum ibv_wr_opcode opcode, uint32_t psn, uint32_t total)
{
	const bool data = opcode < IBV_WR_RDMA_READ;

	return (struct soft_frame){
		.type = SOFT_FRAME_REQUEST,
		.opcode = (uint8_t)opcode,
		.flags = SOFT_FRAME_FIRST | SOFT_FRAME_LAST,
		.length = data ? total : 0,
		.qpn = wire_side.qp->qp_num,
		.from = wire_peer,
		.psn = wire_psn(psn),
		.total = total,
		.rkey = wire_big->rkey,
		.address = (uintptr_t)wire_big->addr,
	};
}

bool
wire_hear(struct soft_frame *answer, char *payload)
{
	struct pollfd pfd = { .fd = wire_line, .events = POLLIN };

	ck_assert_msg(poll(&pfd, 1, 10000) == 1, "no answer");
	if (recv(wire_line, answer, sizeof *answer, MSG_WAITALL) != sizeof *answer)
		return false;
	ck_assert_uint_le(answer->length, SOFT_WIRE_PAYLOAD);
	if (answer->length)
		ck_assert_int_eq(
		    recv(wire_line, payload, answer->length, MSG_WAITALL), answer->length);
	return true;
}

void
wire_expect_read(uint32_t psn, uint32_t total, const char *bytes)
{
	static char part[SOFT_WIRE_PAYLOAD];
	struct soft_frame answer;

	for (uint32_t got = 0; got < total || !total; got += answer.length) {
		ck_assert(wire_hear(&answer, part));
		ck_assert_int_eq(answer.type, SOFT_FRAME_RESPONSE);
		ck_assert_uint_eq(answer.psn, wire_psn(psn));
		ck_assert_int_eq(memcmp(part, bytes + got, answer.length), 0);
		ck_assert_int_eq(answer.flags & SOFT_FRAME_LAST,
		    got + answer.length == total ? SOFT_FRAME_LAST : 0);
		if (!total)
			break;
	}
}

void
wire_expect_nak(uint32_t psn, uint8_t reason)
{
	struct soft_frame answer;

	ck_assert(wire_hear(&answer, NULL));
	ck_assert_int_eq(answer.type, SOFT_FRAME_NAK);
	ck_assert_uint_eq(answer.psn, wire_psn(psn));
	ck_assert_int_eq(answer.opcode, reason);
}

void
wire_expect_hung_up(void)
{
	static char part[SOFT_WIRE_PAYLOAD];
	struct soft_frame answer;

	while (wire_hear(&answer, part))
		;
	async_expect(wire_side.context, IBV_EVENT_QP_FATAL, wire_side.qp);
	ck_assert_int_eq(qp_state(wire_side.qp), IBV_QPS_ERR);
}

void
wire_expect_ack(uint32_t psn)
{
	struct soft_frame answer;

	ck_assert(wire_hear(&answer, NULL));
	ck_assert_int_eq(answer.type, SOFT_FRAME_ACK);
	ck_assert_uint_eq(answer.psn, wire_psn(psn));
}
