/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soft_wire -- a peer that speaks the language of frames, and goes beyond what was agreed on
 */
#include <sys/socket.h>
#include <sys/un.h>

#include "soft/slot.h"
#include "soft/wire.h"
#include "soft_story.h"

#define BIG (8u << 20) /* more than a socket takes */

static struct side a;
static struct ibv_mr *big;
static int line; /* to the process of the side; in truth the same */
static uint32_t peer_qpn;

static void
say(const struct soft_frame *frame, const void *payload)
{
	ck_assert_int_eq(send(line, frame, sizeof *frame, MSG_NOSIGNAL), sizeof *frame);
	if (frame->length)
		ck_assert_int_eq(send(line, payload, frame->length, MSG_NOSIGNAL), frame->length);
}

/* Nobody has this slot, as far as we know; who has it could not tell that we use it. */
static void
say_hello(void)
{
	const struct soft_frame frame = { .type = SOFT_FRAME_HELLO,
		.length = sizeof(struct soft_wire_hello) };
	const struct soft_wire_hello hello = { .magic = SOFT_WIRE_MAGIC,
		.version = SOFT_WIRE_VERSION, .slot = peer_qpn >> 14 };

	say(&frame, &hello);
}

static int
knock(unsigned int slot)
{
	struct sockaddr_un address;
	socklen_t length = soft_name_address(&address, "softverbs.1.slot.%u", slot);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, length), 0);
	return fd;
}

/* A side that answers the peer and lets it have `reads` reads and atomics at a time. */
static void
side_for_the_peer(uint8_t reads)
{
	const struct side_options patient = { .patient = true };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR,
		.ah_attr = { .dlid = 1, .port_num = 1 }, .path_mtu = IBV_MTU_1024,
		.max_dest_rd_atomic = reads };

	side_make(&a, NULL);
	peer_qpn = ((a.qp->qp_num >> 14) % SOFT_SLOT_MAX + 1) << 14 | 5;
	attr.dest_qp_num = peer_qpn;
	side_to_init(&a, NULL);
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
	    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), 0);
	side_to_rts(&a, &patient);
	line = knock(a.qp->qp_num >> 14);
	say_hello();
}

static void
setup(void)
{
	char *bytes = malloc(BIG);

	side_for_the_peer(1);
	for (size_t i = 0; i < BIG; i++)
		bytes[i] = (char)(i >> 7);
	big = ibv_reg_mr(a.pd, bytes, BIG, SIDE_ACCESS);
	ck_assert_ptr_nonnull(big);
}

static void
teardown(void)
{
	char *bytes = big->addr;

	close(line);
	ck_assert_int_eq(ibv_dereg_mr(big), 0);
	side_free(&a);
	free(bytes);
}

/* A whole message of the peer. */
static struct soft_frame
request(enum ibv_wr_opcode opcode, uint32_t psn, uint32_t total)
{
	const bool data = opcode < IBV_WR_RDMA_READ;

	return (struct soft_frame){
		.type = SOFT_FRAME_REQUEST,
		.opcode = (uint8_t)opcode,
		.flags = SOFT_FRAME_FIRST | SOFT_FRAME_LAST,
		.length = data ? total : 0,
		.qpn = a.qp->qp_num,
		.from = peer_qpn,
		.psn = psn,
		.total = total,
		.rkey = big->rkey,
		.address = (uintptr_t)big->addr,
	};
}

/* The next answer, with what it brings; false if the line is hung up. */
static bool
hear(struct soft_frame *answer, char *payload)
{
	struct pollfd pfd = { .fd = line, .events = POLLIN };

	ck_assert_msg(poll(&pfd, 1, 10000) == 1, "no answer");
	if (recv(line, answer, sizeof *answer, MSG_WAITALL) != sizeof *answer)
		return false;
	ck_assert_uint_le(answer->length, SOFT_WIRE_PAYLOAD);
	if (answer->length)
		ck_assert_int_eq(recv(line, payload, answer->length, MSG_WAITALL), answer->length);
	return true;
}

/* Everything of a read. */
static void
expect_read(uint32_t psn, uint32_t total, const char *bytes)
{
	static char part[SOFT_WIRE_PAYLOAD];
	struct soft_frame answer;

	for (uint32_t got = 0; got < total || !total; got += answer.length) {
		ck_assert(hear(&answer, part));
		ck_assert_int_eq(answer.type, SOFT_FRAME_RESPONSE);
		ck_assert_uint_eq(answer.psn, psn);
		ck_assert_int_eq(memcmp(part, bytes + got, answer.length), 0);
		ck_assert_int_eq(answer.flags & SOFT_FRAME_LAST, got + answer.length == total ?
		    SOFT_FRAME_LAST : 0);
		if (!total)
			break;
	}
}

static void
expect_nak(uint32_t psn, uint8_t reason)
{
	struct soft_frame answer;

	ck_assert(hear(&answer, NULL));
	ck_assert_int_eq(answer.type, SOFT_FRAME_NAK);
	ck_assert_uint_eq(answer.psn, psn);
	ck_assert_int_eq(answer.opcode, reason);
}

/* --- the limit of reads */

static int
set_reads(uint8_t reads)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .max_dest_rd_atomic = reads };

	return ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_MAX_DEST_RD_ATOMIC);
}

/* A read is begun and cannot be answered whole, since the peer does not take it. */
static void
leave_a_read_pending(void)
{
	struct ibv_qp_attr drain = { .qp_state = IBV_QPS_SQD };
	const struct soft_frame read = request(IBV_WR_RDMA_READ, 0, BIG);
	struct pollfd pfd = { .fd = line, .events = POLLIN };

	say(&read, NULL);
	ck_assert_int_eq(poll(&pfd, 1, 10000), 1);
	ck_assert_int_eq(ibv_modify_qp(a.qp, &drain, IBV_QP_STATE), 0);
}

/* origin: attack.P3 */
START_TEST(limit_of_reads_lowered__while_one_is_pending__it_is_answered_and_no_other)
{
	struct soft_frame read;

	leave_a_read_pending();
	ck_assert_int_eq(set_reads(0), 0);
	expect_read(0, BIG, big->addr);
	read = request(IBV_WR_RDMA_READ, 1, 64);
	say(&read, NULL);
	expect_nak(1, IBV_WC_REM_INV_REQ_ERR);
	async_expect(a.context, IBV_EVENT_QP_REQ_ERR, a.qp);
}
END_TEST

/* origin: attack.P3 */
START_TEST(limit_of_reads_raised__while_one_is_pending__all_are_answered)
{
	struct soft_frame read;

	leave_a_read_pending();
	ck_assert_int_eq(set_reads(SOFT_MAX_RD_ATOM), 0);
	for (uint32_t psn = 1; psn < SOFT_MAX_RD_ATOM; psn++) {
		read = request(IBV_WR_RDMA_READ, psn, 64);
		read.address += 4096 * psn;
		say(&read, NULL);
	}
	expect_read(0, BIG, big->addr);
	for (uint32_t psn = 1; psn < SOFT_MAX_RD_ATOM; psn++)
		expect_read(psn, 64, (char *)big->addr + 4096 * psn);
	ck_assert_int_eq(set_reads(SOFT_MAX_RD_ATOM + 1), EINVAL);
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_SQD);
}
END_TEST

START_TEST(atomic__one_more_than_agreed_on__is_refused_and_not_done)
{
	struct soft_frame add;
	uint64_t *word = big->addr;

	leave_a_read_pending();
	*word = 40;
	add = request(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, sizeof *word);
	add.compare_add = 2;
	say(&add, NULL);
	async_expect(a.context, IBV_EVENT_QP_REQ_ERR, a.qp);
	ck_assert_uint_eq(*word, 40);
}
END_TEST

Suite *
soft_wire_suite(void)
{
	Suite *suite = suite_create("soft-wire");
	TCase *tcase = runner_tcase(suite, "wire");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase,
	    limit_of_reads_lowered__while_one_is_pending__it_is_answered_and_no_other);
	tcase_add_test(tcase, limit_of_reads_raised__while_one_is_pending__all_are_answered);
	tcase_add_test(tcase, atomic__one_more_than_agreed_on__is_refused_and_not_done);
	return suite;
}
