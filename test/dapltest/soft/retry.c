/* SPDX-License-Identifier: BSD-3-Clause */
/* retry -- requests to processes and raw peers that are alive but do not answer, or answer late */
#include "line.h"
#include "other.h"
#include "own.h"
#include "patience.h"

#include <sys/socket.h>
#include <time.h>

#include "soft/wire/wire.h"

static void
be_stopped(void)
{
	own_connect(NULL);
	for (;;)
		pause();
}

/* origin: attack.P9 */
START_TEST(request__process_is_stopped__retries_exceeded)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ };

	own_begin(be_stopped, NULL);
	patience_fall_silent();
	for (uint64_t i = 0; i < 8; i++) { /* more than the link takes */
		if (opcodes[_i] == IBV_WR_SEND)
			side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, 0, SIDE_BYTES);
		else
			own_rdma(opcodes[_i], i, 0, 0, SIDE_BYTES);
	}
	cq_expect(own.cq, 0, IBV_WC_RETRY_EXC_ERR);
	for (uint64_t i = 1; i < 8; i++)
		cq_expect(own.cq, i, IBV_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(qp_state(own.qp), IBV_QPS_ERR);
	other_kill();
	side_free(&own);
}
END_TEST

/* origin: attack.P9 */
START_TEST(request__one_small__process_is_stopped__retries_exceeded)
{
	own_begin(be_stopped, NULL);
	own_rdma(IBV_WR_RDMA_WRITE, 1, 0, 0, 8);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	patience_fall_silent();
	own_rdma(IBV_WR_RDMA_WRITE, 2, 0, 0, 8);
	cq_expect(own.cq, 2, IBV_WC_RETRY_EXC_ERR);
	other_kill();
	side_free(&own);
}
END_TEST

static void
stay(void)
{
	own_connect(NULL);
	own_end();
}

/* The timeout of the queue pair, 4 ms in all, is an adapter's; a process may need more. */
START_TEST(request__process_is_stopped_for_a_while__succeeds)
{
	own_begin(stay, NULL);
	patience_set("20");
	other_stop();
	for (uint64_t i = 0; i < 8; i++)
		own_rdma(IBV_WR_RDMA_WRITE, i, 0, 0, SIDE_BYTES);
	sleep_ms(300);
	cq_expect_empty(own.cq);
	other_go_on();
	for (uint64_t i = 0; i < 8; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}
END_TEST

/* A timeout of 0 is none. */
START_TEST(request__without_a_timeout__waits_for_ever)
{
	const struct side_options patient = { .patient = true };

	own_begin(stay, &patient);
	patience_fall_silent();
	own_rdma(IBV_WR_RDMA_WRITE, 1, 0, 0, 8);
	sleep_ms(500);
	cq_expect_empty(own.cq);
	other_go_on();
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}
END_TEST

/* Answers the first request, and takes all. */
START_TEST(requests__answered_no_more__retries_exceeded)
{
	struct soft_frame frame, ack = { .type = SOFT_FRAME_ACK };
	static char payload[SOFT_WIRE_PAYLOAD];
	unsigned int slot;
	struct side a;
	int door, line;

	side_make(&a, NULL);
	slot = line_slot_take(&door);
	side_to_init(&a, NULL);
	side_to_rtr(&a, slot << 14 | 5);
	side_to_rts(&a, NULL);
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 4096, 1, 64), 0);
	line = line_accept(door);
	ck_assert_int_eq(recv(line, &frame, sizeof frame, MSG_WAITALL), sizeof frame);
	ck_assert_int_eq(recv(line, payload, frame.length, MSG_WAITALL), 64);
	ack.qpn = frame.from;
	ack.from = frame.qpn;
	ack.psn = frame.psn;
	ack.epoch = frame.epoch;
	ck_assert_int_eq(send(line, &ack, sizeof ack, MSG_NOSIGNAL), sizeof ack);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	patience_set("0.05");
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 2, 0, 4096, 1, 64), 0);
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 3, 0, 4096, 1, 64), 0);
	cq_expect(a.cq, 2, IBV_WC_RETRY_EXC_ERR);
	cq_expect(a.cq, 3, IBV_WC_WR_FLUSH_ERR);
	close(line);
	line_slot_leave(slot, door);
	side_free(&a);
}
END_TEST

static void
expect_setting_refused(const char *factor)
{
	struct ibv_context *context = story_open();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *own_cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = { .send_cq = own_cq,
		.recv_cq = own_cq,
		.qp_type = IBV_QPT_RC,
		.cap = { 1, 1, 1, 1, 0 } };

	setenv("SOFTVERBS_TIME_FACTOR", factor, 1);
	ck_assert_ptr_null(ibv_create_qp(pd, &init));
	ck_assert_int_eq(errno, EINVAL);
	ibv_destroy_cq(own_cq);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
}

/* 122.88 ms, unless the machine is late: then more. */
#define RNR_CODE 27
#define RNR_MS 122

static void
set_rnr_timer(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .min_rnr_timer = RNR_CODE };
	struct ibv_qp_init_attr init;

	ck_assert_int_eq(ibv_modify_qp(qp, &attr, IBV_QP_MIN_RNR_TIMER), 0);
	attr.min_rnr_timer = 0;
	ck_assert_int_eq(ibv_query_qp(qp, &attr, IBV_QP_MIN_RNR_TIMER, &init), 0);
	ck_assert_uint_eq(attr.min_rnr_timer, RNR_CODE);
}

static double
rnr_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* origin: out33.F06 */
START_TEST(rnr_timer__is_kept__a_receive_does_not_shorten_it)
{
	struct side a, b;
	double sent;

	setenv("SOFTVERBS_RNR_TIMER", "1", 1);
	pair_make(&a, &b, NULL);
	set_rnr_timer(b.qp);
	sent = rnr_now();
	side_post(&a, IBV_WR_SEND, 0, 1, 0, 4);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 4);
	side_receive(&b, 3, 0, 4);
	side_receive(&b, 4, 0, 4);
	cq_expect(b.cq, 3, IBV_WC_SUCCESS);
	ck_assert_msg(rnr_now() - sent >= RNR_MS, "it came after %.1f ms", rnr_now() - sent);
	cq_expect(b.cq, 4, IBV_WC_SUCCESS);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	unsetenv("SOFTVERBS_RNR_TIMER");
	pair_free(&a, &b);
}
END_TEST

START_TEST(time_factor__not_a_number_in_range__refused)
{
	static const char *const wrong[] = { "0", "0.009", "100.001", "-1", "1,5", "1e2", "x", ".",
		"0.0001", "99999999999999999999" };

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		expect_setting_refused(wrong[i]);
}
END_TEST

Suite *
soft_retry_suite(void)
{
	Suite *suite = suite_create("soft-retry");
	TCase *tcase = runner_tcase(suite, "requests");

	tcase_add_checked_fixture(tcase, patience_begin, patience_end);
	tcase_add_loop_test(tcase, request__process_is_stopped__retries_exceeded, 0, 3);
	tcase_add_test(tcase, request__one_small__process_is_stopped__retries_exceeded);
	tcase_add_test(tcase, request__process_is_stopped_for_a_while__succeeds);
	tcase_add_test(tcase, request__without_a_timeout__waits_for_ever);
	tcase_add_test(tcase, requests__answered_no_more__retries_exceeded);
	tcase_add_test(tcase, rnr_timer__is_kept__a_receive_does_not_shorten_it);
	tcase_add_test(tcase, time_factor__not_a_number_in_range__refused);
	return suite;
}
