/* SPDX-License-Identifier: BSD-3-Clause */
/* retry -- requests to processes and raw peers that are alive but do not answer, or answer late */
#include "line.h"
#include "other.h"
#include "own.h"
#include "patience.h"

#include <sys/socket.h>
#include <time.h>

#include "softverbs/qp/stall.h"
#include "softverbs/wire/peer.h"
#include "softverbs/wire/wire.h"

static void
be_stopped(void)
{
	own_connect(NULL);
	for (;;)
		pause();
}

CASE("soft-retry:requests", patience_begin, patience_end);

/* origin: attack.P9 */
TEST_LOOP(request__process_is_stopped__retries_exceeded, 3)
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

/* origin: attack.P9 */
TEST(request__one_small__process_is_stopped__retries_exceeded)
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

static void
stay(void)
{
	own_connect(NULL);
	own_end();
}

/* The timeout of the queue pair, 4 ms in all, is an adapter's; a process may need more. */
TEST(request__process_is_stopped_for_a_while__succeeds)
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

/* A timeout of 0 is none. */
TEST(request__without_a_timeout__waits_for_ever)
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

/* Answers the first request, and takes all. */
TEST(requests__answered_no_more__retries_exceeded)
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

static double
rnr_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* ---- a peer that says nothing, or is slow, with each number of tries ---- */

static const uint8_t retry_counts[] = { 0, 1, 3, 7 };
#define RETRY_COUNTS ((int)(sizeof retry_counts / sizeof *retry_counts))

/* All tries together have at least 4 s, times the factor. */
#define FACTOR "0.1"
#define ALL_TRIES_MS 400

static struct side quick;
static int quick_door, quick_line;
static unsigned int quick_slot;

static void
quick_setup(void)
{
	patience_begin();
	patience_set(FACTOR);
	side_make(&quick, NULL);
	quick_slot = line_slot_take(&quick_door);
	quick_line = -1;
}

static void
quick_teardown(void)
{
	if (quick_line >= 0)
		close(quick_line);
	line_slot_leave(quick_slot, quick_door);
	side_free(&quick);
	patience_end();
}

static void
quick_connect(uint8_t retry_count)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
		.timeout = 8,
		.retry_cnt = retry_count,
		.rnr_retry = 7,
		.sq_psn = side_psn,
		.max_rd_atomic = 4 };

	side_to_init(&quick, NULL);
	side_to_rtr(&quick, quick_slot << 14 | 5);
	ck_assert_int_eq(ibv_modify_qp(quick.qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				 IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
	    0);
}

static void
quick_post(enum ibv_wr_opcode opcode, uint64_t wr_id, uint32_t length)
{
	ck_assert_int_eq(side_rdma_raw(&quick, opcode, wr_id, 0, 4096, 1, length), 0);
}

static struct soft_frame
quick_hear(void)
{
	static char payload[SOFT_WIRE_PAYLOAD];
	struct soft_frame frame;

	if (quick_line < 0)
		quick_line = line_accept(quick_door);
	ck_assert_int_eq(recv(quick_line, &frame, sizeof frame, MSG_WAITALL), sizeof frame);
	if (frame.length)
		ck_assert_int_eq(
		    recv(quick_line, payload, frame.length, MSG_WAITALL), frame.length);
	return frame;
}

static void
quick_answer(const struct soft_frame *to, enum soft_frame_type type, uint8_t flags, uint32_t length)
{
	const struct soft_frame frame = { .type = (uint8_t)type,
		.flags = flags,
		.length = length,
		.qpn = to->from,
		.from = to->qpn,
		.psn = to->psn,
		.total = type == SOFT_FRAME_RESPONSE ? to->total : 0,
		.epoch = to->epoch };

	line_send(quick_line, &frame, sizeof frame);
	if (length)
		line_send(quick_line, quick.bytes, length);
}

CASE("soft-retry:tries", quick_setup, quick_teardown);

/* A queue pair that waited for an answer is used again. */
/* origin: out33.U16 */
TEST_LOOP(request__after_a_reset_of_a_queue_pair_that_waited__fails_in_time, 2)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	quick_connect(1);
	quick_post(IBV_WR_RDMA_WRITE, 1, 64);
	(void)quick_hear();
	if (_i)
		side_to_error(&quick);
	ck_assert_int_eq(ibv_modify_qp(quick.qp, &reset, IBV_QP_STATE), 0);
	if (_i)
		cq_expect(quick.cq, 1, IBV_WC_WR_FLUSH_ERR);
	quick_connect(1);
	quick_post(IBV_WR_RDMA_WRITE, 2, 64);
	(void)quick_hear();
	cq_expect(quick.cq, 2, IBV_WC_RETRY_EXC_ERR);
}

/*
 * The first try and `retry_cnt` more, each of them a period long: not less, and not a period more.
 */
/* origin: out33.D7 */
TEST_LOOP(requests__never_answered__fail_after_one_period_more_than_tries, RETRY_COUNTS)
{
	const uint8_t count = retry_counts[_i];
	const double period = (double)ALL_TRIES_MS / (count + 1);
	struct soft_frame frame;
	double took = 0;

	for (int i = 0; i < 5; i++) { /* on a busy machine timers are late */
		quick_connect(count);
		quick_post(IBV_WR_RDMA_WRITE, 0, 64);
		frame = quick_hear();
		quick_answer(&frame, SOFT_FRAME_ACK, 0, 0);
		cq_expect(quick.cq, 0, IBV_WC_SUCCESS); /* there is a link, and it has room */
		sleep_ms((int)period + 50);		/* the timer of that request has expired */
		took = rnr_now();
		quick_post(IBV_WR_RDMA_WRITE, 1, 64);
		(void)quick_hear();
		cq_expect(quick.cq, 1, IBV_WC_RETRY_EXC_ERR);
		took = rnr_now() - took;
		ck_assert_msg(took >= ALL_TRIES_MS - 1, "it failed after %.1f ms", took);
		if (took < ALL_TRIES_MS + period)
			return;
		ck_assert_int_eq(ibv_destroy_qp(quick.qp), 0);
		side_new_qp(&quick);
	}
	ck_abort_msg("it failed after %.1f ms", took);
}

#define ANSWERS 4
#define BETWEEN_ANSWERS_MS 150

/* Each answer comes within the time of all tries, and all of them together take longer. */
static bool
answer_slowly(bool read)
{
	struct soft_frame frame = { .type = 0 };
	double last, longest = 0;

	for (uint64_t i = 0; i < (read ? 1 : ANSWERS); i++)
		quick_post(
		    read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, i, read ? ANSWERS * 16 : 64);
	last = rnr_now();
	if (read)
		frame = quick_hear();
	for (uint64_t i = 0; i < ANSWERS; i++) {
		sleep_ms(BETWEEN_ANSWERS_MS);
		if (!read)
			frame = quick_hear();
		quick_answer(&frame, read ? SOFT_FRAME_RESPONSE : SOFT_FRAME_ACK,
		    (uint8_t)(!read ? 0 :
				      (i ? 0 : SOFT_FRAME_FIRST) |
					  (i == ANSWERS - 1 ? SOFT_FRAME_LAST : 0)),
		    read ? 16 : 0);
		longest = rnr_now() - last > longest ? rnr_now() - last : longest;
		last = rnr_now();
	}
	if (longest >= ALL_TRIES_MS - 50)
		return false; /* the machine was busy */
	for (uint64_t i = 0; i < (read ? 1 : ANSWERS); i++)
		cq_expect(quick.cq, i, IBV_WC_SUCCESS);
	return true;
}

/* origin: out33.D7 */
TEST_LOOP(requests__answered_slowly_but_steadily__succeed, 2 * RETRY_COUNTS)
{
	for (int i = 0; i < 5; i++) {
		quick_connect(retry_counts[_i / 2]);
		if (answer_slowly(_i % 2))
			return;
		ck_assert_int_eq(ibv_destroy_qp(quick.qp), 0);
		ck_assert_int_eq(ibv_destroy_cq(quick.cq), 0);
		quick.cq = ibv_create_cq(quick.context, 128, NULL, NULL, 0);
		side_new_qp(&quick);
	}
	runner_skip("the machine is too busy for answers in time");
}

/* It is in memory, and nothing has notified the device of it. */
TEST_LOOP(answer__not_read_yet__is_read_before_the_request_fails, RETRY_COUNTS)
{
	struct soft_welcome_frame welcome;
	struct soft_rings rings;
	struct soft_frame frame, ack = { .type = SOFT_FRAME_ACK };

	quick_connect(retry_counts[_i]);
	quick_post(IBV_WR_RDMA_WRITE, 1, 64);
	quick_line = line_accept_rings(quick_door, &rings);
	soft_peer_welcome(&welcome, SOFT_WELCOME_RINGS);
	line_send(quick_line, &welcome, sizeof welcome);
	frame = line_expect_frame(&rings.in, SOFT_FRAME_REQUEST);
	ack.qpn = frame.from;
	ack.from = frame.qpn;
	ack.psn = frame.psn;
	ack.epoch = frame.epoch;
	ck_assert_int_eq(soft_ring_put(&rings.out, &ack, NULL, 0), 0);
	sleep_ms(2 * ALL_TRIES_MS);
	cq_expect(quick.cq, 1, IBV_WC_SUCCESS);
	soft_rings_unmap(&rings);
}

/* The times of the InfiniBand specification for the codes of the RNR NAK timer, in microseconds. */
static const uint32_t rnr_specified[] = { 655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480,
	640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960, 61440,
	81920, 122880, 163840, 245760, 327680, 491520 };

CASE("soft-retry:requests", patience_begin, patience_end);

/* origin: out33.D8 */
TEST_LOOP(rnr_timer__each_code__stands_for_the_time_of_the_specification, 32)
{
	const uint64_t time = (uint64_t)rnr_specified[_i] * SOFT_MICROSECOND;
	struct ibv_qp_attr attr = { .min_rnr_timer = (uint8_t)_i };
	struct soft_qp *qp;
	struct side a, b;
	uint64_t before, after;

	pair_make(&a, &b, &(struct side_options){ .patient = true });
	ck_assert_int_eq(ibv_modify_qp(b.qp, &attr, IBV_QP_MIN_RNR_TIMER), 0);
	attr = (struct ibv_qp_attr){ .rnr_retry = 6 };
	ck_assert_int_eq(
	    ibv_modify_qp(a.qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET }, IBV_QP_STATE),
	    0);
	side_to_init(&a, NULL);
	side_to_rtr(&a, b.qp->qp_num);
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = side_psn;
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				 IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
	    0);
	qp = soft_qp_of(a.qp);
	before = soft_now();
	side_post(&a, IBV_WR_SEND, 0, 1, 0, 4);
	soft_qp_lock_send(qp);
	after = soft_now();
	/* A short time may have passed already, and the next have begun. */
	ck_assert_uint_ge(qp->sq.deadline, before + time);
	ck_assert_uint_le(qp->sq.deadline, after + time);
	soft_qp_unlock_send(qp);
	pair_free(&a, &b);
}

/* The times above are as exact as the machine is fast. */
/* origin: out33.D8 */
TEST(rnr_timer__codes__stand_for_the_times_of_the_specification)
{
	for (uint8_t code = 0; code < 32; code++)
		ck_assert_uint_eq(
		    soft_rnr_time(code), (uint64_t)rnr_specified[code] * SOFT_MICROSECOND);
}

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

/* origin: out33.F06 */
TEST(rnr_timer__is_kept__a_receive_does_not_shorten_it)
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

TEST(time_factor__not_a_number_in_range__refused)
{
	static const char *const wrong[] = { "0", "0.009", "100.001", "-1", "1,5", "1e2", "x", ".",
		"0.0001", "99999999999999999999" };

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		expect_setting_refused(wrong[i]);
}
