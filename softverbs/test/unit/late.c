/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late -- answers, timers and messages that come late, when another object has the slot
 */
#include "line.h"
#include "other.h"
#include "own.h"

#include <sys/socket.h>

#include "softverbs/wire/wire.h"

static struct side a;
static unsigned int stranger;
static int door;
static uint8_t reads_at_once = 4;

static void
setup(void)
{
	side_make(&a, NULL);
	stranger = line_slot_take(&door);
}

static void
teardown(void)
{
	line_slot_leave(stranger, door);
	side_free(&a);
}

static void
connect_with_tries(uint8_t timeout, uint8_t tries, uint8_t rnr_tries)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
		.timeout = timeout,
		.retry_cnt = tries,
		.rnr_retry = rnr_tries,
		.sq_psn = side_psn,
		.max_rd_atomic = reads_at_once };

	side_to_init(&a, NULL);
	side_to_rtr(&a, stranger << 14 | 5);
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				 IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
	    0);
}

static void
connect_to_stranger(uint8_t timeout)
{
	connect_with_tries(timeout, 3, 7);
}

static void
write_to_stranger(uint64_t wr_id)
{
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, wr_id, 0, 4096, 1, 8), 0);
}

static struct soft_frame
next_request(int line)
{
	struct pollfd pfd = { .fd = line, .events = POLLIN };
	struct soft_frame frame;
	char data[8];

	ck_assert_msg(poll(&pfd, 1, (int)runner_stretch(10000)) == 1, "no request");
	ck_assert_int_eq(recv(line, &frame, sizeof frame, MSG_WAITALL), sizeof frame);
	ck_assert_int_eq(recv(line, data, sizeof data, MSG_WAITALL), sizeof data);
	ck_assert_int_eq(frame.type, SOFT_FRAME_REQUEST);
	return frame;
}

CASE("soft-late:stranger", setup, teardown);

TEST(answer_to_an_earlier_queue_pair_of_the_number__means_nothing)
{
	const uint32_t number = a.qp->qp_num;
	struct soft_frame first, second;
	int line;

	connect_to_stranger(18);
	write_to_stranger(1);
	line = line_accept(door);
	first = next_request(line);
	do {
		ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
		side_new_qp(&a);
	} while (a.qp->qp_num != number);
	connect_to_stranger(18);
	write_to_stranger(2);
	second = next_request(line);
	line_answer(line, &first, SOFT_FRAME_NAK, IBV_WC_REM_ACCESS_ERR);
	line_answer(line, &second, SOFT_FRAME_ACK, 0);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	close(line);
}

/* Neither kind of refusal forgets how often the other was heard. */
TEST(refusals_of_two_kinds_in_turn__retries_exceeded)
{
	struct soft_frame frame;
	struct ibv_wc wc;
	int line, n;

	connect_to_stranger(8);
	write_to_stranger(1);
	line = line_accept(door);
	for (n = 0; n < 100 && ibv_poll_cq(a.cq, 1, &wc) == 0; n++) {
		struct pollfd pfd = { .fd = line, .events = POLLIN };

		if (poll(&pfd, 1, 10) == 0)
			continue;
		frame = next_request(line);
		line_answer(line, &frame, SOFT_FRAME_NAK,
		    n % 2 ? SOFT_NAK_NOT_READY : SOFT_NAK_NOT_CONNECTED);
	}
	ck_assert_int_lt(n, 100);
	ck_assert_int_eq(wc.status, IBV_WC_RETRY_EXC_ERR);
	close(line);
}

/* Refuses the oldest of `requests` so often, each time with all that come behind it. */
static void
refuse(int line, uint8_t reason, unsigned int times, unsigned int requests)
{
	struct soft_frame frame, first;

	for (unsigned int i = 0; i < times; i++) {
		first = next_request(line);
		for (unsigned int j = 1; j < requests; j++) {
			frame = next_request(line);
			ck_assert_uint_eq(frame.epoch, first.epoch);
		}
		cq_expect_empty(a.cq);
		line_answer(line, &first, SOFT_FRAME_NAK, reason);
	}
}

static void
expect_no_request(int line)
{
	struct pollfd pfd = { .fd = line, .events = POLLIN };

	ck_assert_int_eq(poll(&pfd, 1, 20), 0);
}

/*
 * Each message has its own tries, of each kind: as many as the attribute says beside the first one.
 * The first message uses all of them and succeeds, the second uses none, and the third fails after
 * exactly as many.
 */
static void
use_up_tries(uint8_t reason, uint8_t tries, enum ibv_wc_status status)
{
	struct soft_frame frame;
	int line;

	for (uint64_t i = 1; i <= 4; i++)
		write_to_stranger(i);
	line = line_accept(door);
	refuse(line, reason, tries, 4);
	for (uint64_t i = 1; i <= 2; i++) {
		frame = next_request(line);
		line_answer(line, &frame, SOFT_FRAME_ACK, 0);
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
	}
	/* They were sent with the last try of the first. */
	frame = next_request(line);
	(void)next_request(line);
	line_answer(line, &frame, SOFT_FRAME_NAK, reason);
	if (tries) {
		refuse(line, reason, tries - 1u, 2);
		frame = next_request(line);
		(void)next_request(line);
		cq_expect_empty(a.cq);
		line_answer(line, &frame, SOFT_FRAME_NAK, reason);
	}
	cq_expect(a.cq, 3, status);
	cq_expect(a.cq, 4, IBV_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_ERR);
	expect_no_request(line);
	close(line);
}

/* origin: outside.131 */
TEST_LOOP(rnr_retry__each_message_has_so_many_tries_more, 7)
{
	connect_with_tries(18, 7, (uint8_t)_i);
	use_up_tries(SOFT_NAK_NOT_READY, (uint8_t)_i, IBV_WC_RNR_RETRY_EXC_ERR);
}

/* origin: outside.132 */
TEST_LOOP(retry_cnt__each_message_has_so_many_tries_more, 8)
{
	connect_with_tries(8, (uint8_t)_i, 7);
	use_up_tries(SOFT_NAK_NOT_CONNECTED, (uint8_t)_i, IBV_WC_RETRY_EXC_ERR);
}

/* The tries that a connection has used up are there again for the next one. */
/* origin: outside.136 */
TEST_LOOP(reset__used_up_tries_are_back, 2)
{
	const uint8_t reason = _i ? SOFT_NAK_NOT_CONNECTED : SOFT_NAK_NOT_READY;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct soft_frame frame;
	int line;

	connect_with_tries(8, 2, 2);
	write_to_stranger(1);
	line = line_accept(door);
	refuse(line, reason, 2, 1);
	(void)next_request(line);
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
	connect_with_tries(8, 2, 2);
	write_to_stranger(2);
	refuse(line, reason, 2, 1);
	frame = next_request(line);
	line_answer(line, &frame, SOFT_FRAME_ACK, 0);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	close(line);
}

/* 7 is no number of tries. */
TEST(rnr_retry__of_7__never_ends)
{
	struct soft_frame frame;
	int line;

	connect_with_tries(18, 0, 7);
	write_to_stranger(1);
	line = line_accept(door);
	refuse(line, SOFT_NAK_NOT_READY, 9, 1);
	frame = next_request(line);
	line_answer(line, &frame, SOFT_FRAME_ACK, 0);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	close(line);
}

static struct soft_frame
next_read(int line)
{
	struct soft_frame frame;

	ck_assert_int_eq(recv(line, &frame, sizeof frame, MSG_WAITALL), sizeof frame);
	ck_assert_int_eq(frame.opcode, IBV_WR_RDMA_READ);
	return frame;
}

static void
answer_read(int line, const struct soft_frame *to)
{
	const struct soft_frame frame = { .type = SOFT_FRAME_RESPONSE,
		.flags = SOFT_FRAME_FIRST | SOFT_FRAME_LAST,
		.length = 8,
		.total = 8,
		.qpn = to->from,
		.from = to->qpn,
		.psn = to->psn,
		.epoch = to->epoch };

	ck_assert_int_eq(send(line, &frame, sizeof frame, MSG_NOSIGNAL), sizeof frame);
	ck_assert_int_eq(send(line, "answered", 8, MSG_NOSIGNAL), 8);
}

/* The limit is reached, left and reached again, and each answer makes room for one. */
/* origin: outside.134 */
TEST_TURNS(reads_that_are_not_answered__as_many_as_the_limit, 1, 4)
{
	const unsigned int limit = (unsigned int)_i, all = 2 * limit + 2;
	struct soft_frame reads[8];
	unsigned int sent = 0;
	int line;

	reads_at_once = (uint8_t)limit;
	connect_to_stranger(18);
	for (uint64_t i = 0; i < all; i++)
		ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_READ, i, 0, 4096, 1, 8), 0);
	line = line_accept(door);
	for (unsigned int answered = 0; answered < all; answered++) {
		while (sent < all && sent < answered + limit)
			reads[sent++] = next_read(line);
		expect_no_request(line);
		answer_read(line, &reads[answered]);
		cq_expect(a.cq, answered, IBV_WC_SUCCESS);
	}
	close(line);
}

/* A timer of the first connection expires in the second. */
TEST(timer_of_a_queue_pair__used_again_meanwhile__waits_for_the_new_time)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct soft_frame frame;
	int line = -1;

	for (uint64_t i = 1; i <= 50; i++) {
		connect_to_stranger(8); /* 1 ms, four times, if it were refused */
		write_to_stranger(i);
		if (line < 0)
			line = line_accept(door);
		frame = next_request(line);
		ck_assert_uint_eq(frame.psn, side_psn); /* counted anew */
		line_answer(line, &frame, SOFT_FRAME_NAK, SOFT_NAK_NOT_CONNECTED);
		sleep_ms((int)(i % 3));
		ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
		while (recv(line, &frame, 1, MSG_DONTWAIT | MSG_PEEK) == 1)
			frame = next_request(line);
		connect_to_stranger(31);
		write_to_stranger(100 + i);
		frame = next_request(line);
		sleep_ms(2);
		cq_expect_empty(a.cq);
		line_answer(line, &frame, SOFT_FRAME_ACK, 0);
		cq_expect(a.cq, 100 + i, IBV_WC_SUCCESS);
		ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
	}
	close(line);
}

/* ---- with another process ---- */

static void
until_killed(void)
{
	own_connect(NULL);
	for (;;)
		pause();
}

CASE("soft-late:processes");

/* The timeout is hours; the free slot alone shows that the peer ended. */
TEST_LOOP(process_killed__requests_fail_at_once, 2)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
		.timeout = 31,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.sq_psn = side_psn,
		.max_rd_atomic = 4 };

	other_start(until_killed);
	side_make(&own, NULL);
	own_exchange();
	side_to_init(&own, NULL);
	side_to_rtr(&own, own_peer.qpn);
	ck_assert_int_eq(ibv_modify_qp(own.qp, &attr,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				 IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
	    0);
	other_meet();
	if (_i) {
		other_stop();
		own_rdma(IBV_WR_RDMA_WRITE, 1, 0, 0, 8);
	}
	other_kill();
	if (!_i)
		own_rdma(IBV_WR_RDMA_WRITE, 1, 0, 0, 8);
	cq_expect(own.cq, 1, IBV_WC_RETRY_EXC_ERR);
	side_free(&own);
}

static struct rdma_event_channel *channel;
static uint16_t port;

static void
listen_and_be_stopped(void)
{
	struct rdma_cm_id *listener;

	channel = cm_channel();
	listener = cm_listen(channel, &port);
	other_tell(&port, sizeof port);
	(void)listener;
	for (;;)
		pause();
}

/* Ids come and go while others of the same places are given up. */
static void *
call_again_and_again(void *unused)
{
	struct rdma_event_channel *own_channel = cm_channel();
	struct rdma_conn_param param = { 0 };

	(void)unused;
	for (int i = 0; i < 60; i++) {
		struct rdma_cm_id *id = cm_resolved(own_channel, port);
		struct ibv_cq *cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);

		cm_qp(id, cq);
		ck_assert_int_eq(rdma_connect(id, &param), 0);
		if (i % 4 == 0)
			cm_expect(own_channel, RDMA_CM_EVENT_UNREACHABLE, id);
		else
			sleep_ms(i % 12);
		rdma_destroy_qp(id);
		rdma_destroy_id(id);
		ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	}
	rdma_destroy_event_channel(own_channel);
	return NULL;
}

TEST(ids_destroyed_while_they_wait__nothing_reaches_their_successors)
{
	struct rdma_cm_id *keeper;
	pthread_t threads[3];

	other_start(listen_and_be_stopped);
	other_hear(&port, sizeof port);
	other_stop();
	channel = cm_channel();
	setenv("SOFTVERBS_TIME_FACTOR", "0.01", 1);
	keeper = cm_resolved(channel, port);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, call_again_and_again, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	cm_expect_no_event(channel);
	rdma_destroy_id(keeper);
	rdma_destroy_event_channel(channel);
	unsetenv("SOFTVERBS_TIME_FACTOR");
	other_kill();
}
