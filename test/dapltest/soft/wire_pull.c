/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire_pull -- a peer that asks to pull what it reads
 */
#include "wire_story.h"

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

START_TEST(read__not_pulled__is_answered_again_with_its_data_and_what_follows)
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
END_TEST

/* origin: outside.130 */
START_TEST(read__not_confirmed__counts_against_the_limit)
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
END_TEST

START_TEST(read__unknown_and_not_pulled__is_refused)
{
	ask_to_pull(0, 20000);
	expect_address(0, 20000);
	say_pulled(0, SOFT_PULLED);
	say_pulled(0, SOFT_NOT_PULLED);
	wire_expect_nak(0, SOFT_NAK_NOT_CONNECTED);
}
END_TEST

START_TEST(read__deregistered_and_not_pulled__is_refused)
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
END_TEST

static void
add_tests(TCase *tcase, void (*setup)(void))
{
	tcase_add_checked_fixture(tcase, setup, wire_end);
	tcase_add_test(tcase, read__not_pulled__is_answered_again_with_its_data_and_what_follows);
	tcase_add_test(tcase, read__not_confirmed__counts_against_the_limit);
	tcase_add_test(tcase, read__unknown_and_not_pulled__is_refused);
	tcase_add_test(tcase, read__deregistered_and_not_pulled__is_refused);
}

Suite *
soft_wire_pull_suite(void)
{
	Suite *suite = suite_create("soft-wire-pull");

	add_tests(runner_tcase(suite, "from-0"), setup_from_0);
	add_tests(runner_tcase(suite, "at-the-wrap"), setup_at_the_wrap);
	return suite;
}
