/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soft_process -- two processes of one host
 *
 * The other process is forked before either opens the device; a socket between them
 * carries what programs exchange by their own means, and keeps them in step.
 */
#include "soft_story.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static int line; /* to the other process */
static pid_t other;

static void
start(void (*there)(void))
{
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	fflush(NULL);
	other = fork();
	ck_assert_int_ge(other, 0);
	line = ends[other == 0];
	close(ends[other != 0]);
	if (other == 0) {
		there();
		_exit(0);
	}
}

static void
finish(void)
{
	int status;

	close(line);
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the other process: %x", status);
}

static void
tell(const void *data, size_t length)
{
	ck_assert_int_eq(write(line, data, length), (ssize_t)length);
}

static void
hear(void *data, size_t length)
{
	ck_assert_int_eq(recv(line, data, length, MSG_WAITALL), (ssize_t)length);
}

/* Both come here before either goes on. */
static void
meet(void)
{
	char c = 'm';

	tell(&c, 1);
	hear(&c, 1);
	ck_assert_int_eq(c, 'm');
}

struct card {
	uint32_t qpn, rkey;
	uint64_t address;
};

static struct side own;
static struct card peer;

static void
exchange(void)
{
	struct card card = { own.qp->qp_num, own.mr->rkey, (uintptr_t)own.bytes };

	tell(&card, sizeof card);
	hear(&peer, sizeof peer);
}

static void
connect_own(const struct side_options *options)
{
	side_make(&own, options);
	exchange();
	side_to_init(&own, options);
	side_to_rtr(&own, peer.qpn);
	side_to_rts(&own, options);
	meet();
}

static void
rdma(enum ibv_wr_opcode opcode, uint64_t wr_id, size_t offset, size_t remote, uint32_t length)
{
	ck_assert_int_eq(
	    side_rdma_raw(&own, opcode, wr_id, offset, peer.address + remote, peer.rkey, length), 0);
}

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

	connect_own(NULL);
	side_receive(&own, 1, 0, 1000);
	side_receive(&own, 2, 1000, 200000);
	meet();
	wc = cq_next(own.cq);
	ck_assert_uint_eq(wc.wr_id, 1);
	ck_assert_uint_eq(wc.byte_len, 100);
	ck_assert_uint_eq(wc.src_qp, peer.qpn);
	ck_assert_uint_eq(ntohl(wc.imm_data), 7);
	expect_painted(0, 50, 100);
	wc = cq_next(own.cq);
	ck_assert_uint_eq(wc.byte_len, 200000);
	expect_painted(1000, 3, 200000);
	side_free(&own);
	meet();
}

START_TEST(send__small_and_of_many_frames)
{
	start(receiver);
	connect_own(NULL);
	paint();
	meet();
	side_post(&own, IBV_WR_SEND_WITH_IMM, IBV_SEND_SIGNALED, 7, 50, 100);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 8, 3, 200000);
	cq_expect(own.cq, 7, IBV_WC_SUCCESS);
	cq_expect(own.cq, 8, IBV_WC_SUCCESS);
	meet();
	side_free(&own);
	finish();
}
END_TEST

static void
late_receiver(void)
{
	connect_own(NULL);
	for (uint64_t i = 0; i < 10; i++) {
		side_receive(&own, i, i * 100, 100);
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
		expect_painted(i * 100, i, 100);
	}
	meet();
	side_free(&own);
}

START_TEST(send_before_receive__waits_and_keeps_order)
{
	start(late_receiver);
	connect_own(NULL);
	paint();
	for (uint64_t i = 0; i < 10; i++)
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, i, 100);
	for (uint64_t i = 0; i < 10; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	meet();
	side_free(&own);
	finish();
}
END_TEST

static void
srq_receiver(void)
{
	const struct side_options shared = { .srq = 4 };

	connect_own(&shared);
	sleep_ms(20);
	for (uint64_t i = 0; i < 3; i++) {
		side_receive(&own, i, 0, 100);
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	}
	meet();
	side_free(&own);
}

START_TEST(send_to_an_empty_srq__goes_on_with_each_receive)
{
	start(srq_receiver);
	connect_own(NULL);
	for (uint64_t i = 0; i < 3; i++)
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, i, 100);
	for (uint64_t i = 0; i < 3; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	meet();
	side_free(&own);
	finish();
}
END_TEST

/* Its last deed is to have received: nothing that it still owes may get lost. */
static void
leaving_receiver(void)
{
	connect_own(NULL);
	for (uint64_t i = 0; i < 4; i++)
		side_receive(&own, i, 0, 100);
	meet();
	for (uint64_t i = 0; i < 4; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	_exit(0);
}

START_TEST(send__the_receiver_exits_at_its_completion__the_send_succeeds)
{
	start(leaving_receiver);
	connect_own(NULL);
	meet();
	for (uint64_t i = 0; i < 4; i++)
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, 0, 100);
	for (uint64_t i = 0; i < 4; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	side_free(&own);
	finish();
}
END_TEST

/* --- RDMA and atomics */

static void
painted_target(void)
{
	connect_own(NULL);
	paint();
	*(uint64_t *)(void *)own.bytes = 40;
	meet();
	meet(); /* the other is done */
	expect_painted(8, 8, 92);
	ck_assert_uint_eq(*(uint64_t *)(void *)own.bytes, 7);
	for (size_t i = 0; i < 150000; i++)
		ck_assert_int_eq(own.bytes[100 + i], (char)i);
	cq_expect_quiet(own.cq);
	side_free(&own);
}

static uint64_t
atomic(enum ibv_wr_opcode opcode, uint64_t compare_add, uint64_t swap)
{
	struct ibv_sge sge = { (uintptr_t)own.bytes, 8, own.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 3, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { peer.address, compare_add, swap, peer.rkey } }, *bad;
	uint64_t old;

	ck_assert_int_eq(ibv_post_send(own.qp, &wr, &bad), 0);
	cq_expect(own.cq, 3, IBV_WC_SUCCESS);
	memcpy(&old, own.bytes, sizeof old);
	return old;
}

START_TEST(rdma_and_atomics__reach_the_other_process)
{
	start(painted_target);
	connect_own(NULL);
	meet();
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0), 40);
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 1, 0), 42);
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 42, 7), 42);
	rdma(IBV_WR_RDMA_READ, 1, 1000, 1000, 200000);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	expect_painted(1000, 1000, 200000);
	for (size_t i = 0; i < 150000; i++)
		own.bytes[i] = (char)i;
	rdma(IBV_WR_RDMA_WRITE, 2, 0, 100, 150000);
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	meet();
	side_free(&own);
	finish();
}
END_TEST

static void
idle_target(void)
{
	connect_own(NULL);
	paint();
	meet();
	meet();
	side_free(&own);
}

/* More reads than may be outstanding, between writes, one of them fenced. */
START_TEST(many_reads__complete_in_order)
{
	const struct side_options many = { .sends = 64 };

	start(idle_target);
	connect_own(&many);
	meet();
	for (uint64_t i = 0; i < 48; i++)
		rdma(i % 3 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, i, i * 1000, 100000 + i * 1000, 900);
	for (uint64_t i = 0; i < 48; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	for (size_t i = 0; i < 48; i++)
		if (i % 3)
			expect_painted(i * 1000, 100000 + i * 1000, 900);
	meet();
	side_free(&own);
	finish();
}
END_TEST

static void
read_and_told(void)
{
	connect_own(NULL);
	paint();
	side_receive(&own, 1, 0, 100000);
	meet();
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	expect_painted(0, 5000, 100000); /* what was read here came back */
	meet();
	side_free(&own);
}

/* Without the fence the message would be sent while the read is under way. */
START_TEST(fenced_send__of_what_a_read_brings__carries_it)
{
	start(read_and_told);
	connect_own(NULL);
	meet();
	rdma(IBV_WR_RDMA_READ, 1, 0, 5000, 100000);
	side_post(&own, IBV_WR_SEND, IBV_SEND_FENCE | IBV_SEND_SIGNALED, 2, 0, 100000);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	meet();
	side_free(&own);
	finish();
}
END_TEST

/* --- errors */

static void
refusing(void)
{
	connect_own(NULL);
	side_receive(&own, 9, 0, 10);
	meet();
	async_expect(own.context, IBV_EVENT_QP_ACCESS_ERR, own.qp);
	cq_expect(own.cq, 9, IBV_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(qp_state(own.qp), IBV_QPS_ERR);
	meet();
	side_free(&own);
}

START_TEST(rdma__beyond_the_region__both_in_error__later_requests_flushed)
{
	start(refusing);
	connect_own(NULL);
	meet();
	rdma(IBV_WR_RDMA_READ, 1, 0, 0, 100);
	rdma(IBV_WR_RDMA_WRITE, 2, 0, SIDE_BYTES - 10, 11);
	rdma(IBV_WR_RDMA_READ, 3, 0, 0, 100);
	side_post(&own, IBV_WR_SEND, 0, 4, 0, 10);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	cq_expect(own.cq, 2, IBV_WC_REM_ACCESS_ERR);
	cq_expect(own.cq, 3, IBV_WC_WR_FLUSH_ERR);
	cq_expect(own.cq, 4, IBV_WC_WR_FLUSH_ERR);
	cq_expect_quiet(own.cq);
	meet();
	side_free(&own);
	finish();
}
END_TEST

static void
too_small(void)
{
	connect_own(NULL);
	side_receive(&own, 9, 0, 99);
	meet();
	cq_expect(own.cq, 9, IBV_WC_LOC_LEN_ERR);
	meet();
	side_free(&own);
}

START_TEST(send__longer_than_the_receive__invalid_request)
{
	start(too_small);
	connect_own(NULL);
	meet();
	side_post(&own, IBV_WR_SEND, 0, 1, 0, 100);
	cq_expect(own.cq, 1, IBV_WC_REM_INV_REQ_ERR);
	meet();
	side_free(&own);
	finish();
}
END_TEST

START_TEST(send__no_receive_and_no_retries__rnr_error)
{
	const struct side_options strict = { .no_retries = true };

	start(idle_target);
	connect_own(&strict);
	meet();
	side_post(&own, IBV_WR_SEND, 0, 1, 0, 100);
	cq_expect(own.cq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	meet();
	side_free(&own);
	finish();
}
END_TEST

static void
leaving(void)
{
	connect_own(NULL);
	ck_assert_int_eq(ibv_destroy_qp(own.qp), 0);
	own.qp = NULL;
	meet();
	meet();
	side_free(&own);
}

START_TEST(send__to_a_destroyed_queue_pair__retries_then_gives_up)
{
	start(leaving);
	connect_own(NULL);
	meet();
	side_post(&own, IBV_WR_SEND, 0, 1, 0, 100000);
	side_post(&own, IBV_WR_SEND, 0, 2, 0, 100);
	cq_expect(own.cq, 1, IBV_WC_RETRY_EXC_ERR);
	cq_expect(own.cq, 2, IBV_WC_WR_FLUSH_ERR);
	meet();
	side_free(&own);
	finish();
}
END_TEST

static void
resetting(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	connect_own(NULL);
	side_receive(&own, 1, 0, 10);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_modify_qp(own.qp, &attr, IBV_QP_STATE), 0);
	meet();
	side_free(&own);
}

/* What was executed is told even if the queue pair forgets everything the moment after. */
START_TEST(peer_resets_right_after_the_message__it_was_done__the_next_is_not)
{
	start(resetting);
	connect_own(NULL);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, 10);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 10);
	rdma(IBV_WR_RDMA_READ, 3, 0, 0, 1000);
	cq_expect(own.cq, 2, IBV_WC_RETRY_EXC_ERR);
	cq_expect(own.cq, 3, IBV_WC_WR_FLUSH_ERR);
	meet();
	side_free(&own);
	finish();
}
END_TEST

static void
slow_to_connect(void)
{
	side_make(&own, NULL);
	exchange();
	side_to_init(&own, NULL);
	side_receive(&own, 1, 0, 100);
	meet();
	sleep_ms(2);
	side_to_rtr(&own, peer.qpn);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	meet();
	side_free(&own);
}

START_TEST(send__before_the_peer_is_ready__arrives_when_it_is)
{
	const struct side_options patient = { .patient = true };

	start(slow_to_connect);
	connect_own(&patient);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, 100);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	meet();
	side_free(&own);
	finish();
}
END_TEST

static void
until_killed(void)
{
	connect_own(NULL);
	for (;;)
		pause();
}

START_TEST(peer_killed__requests_fail)
{
	int status;

	start(until_killed);
	connect_own(NULL);
	side_post(&own, IBV_WR_SEND, 0, 1, 0, 100); /* waits for a receive */
	side_receive(&own, 3, 0, 100);
	sleep_ms(10);
	kill(other, SIGKILL);
	waitpid(other, &status, 0);
	cq_expect(own.cq, 1, IBV_WC_RETRY_EXC_ERR);
	cq_expect(own.cq, 3, IBV_WC_WR_FLUSH_ERR);
	side_post(&own, IBV_WR_SEND, 0, 4, 0, 100);
	cq_expect(own.cq, 4, IBV_WC_WR_FLUSH_ERR);
	side_free(&own);
	close(line);
}
END_TEST

/* --- streams */

#define STREAM_MESSAGES 3000
#define STREAM_SIZE	(SIDE_BYTES / 32)

static void
stream(void)
{
	const struct side_options many = { .sends = 16, .receives = 16, .cqe = 64 };
	uint64_t sent = 0, received = 0, done = 0;
	uint32_t length;
	struct ibv_wc wc;

	connect_own(&many);
	for (uint64_t i = 0; i < 16; i++)
		side_receive(&own, i, i * STREAM_SIZE, STREAM_SIZE);
	meet();
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
	meet();
	side_free(&own);
}

START_TEST(both_directions__thousands_of_messages__whole_and_in_order)
{
	start(stream);
	stream();
	finish();
}
END_TEST

/* --- connection manager */

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;
static struct ibv_cq *cq;
static uint16_t port;

static void
serve(const char *answer)
{
	struct rdma_conn_param param = { .private_data = answer, .private_data_len = 3,
		.responder_resources = 1, .initiator_depth = 1, .rnr_retry_count = 7 };
	struct rdma_cm_id *listener;
	struct rdma_cm_event *event;

	channel = cm_channel();
	listener = cm_listen(channel, &port);
	tell(&port, sizeof port);
	event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	id = event->id;
	ck_assert_int_eq(event->param.conn.private_data_len, 56);
	ck_assert_str_eq(event->param.conn.private_data, "please");
	rdma_ack_cm_event(event);
	ck_assert_uint_eq(rdma_get_src_port(id), port);
	rdma_destroy_id(listener);
	if (!strcmp(answer, "no!")) {
		ck_assert_int_eq(rdma_reject(id, answer, 3), 0);
		return;
	}
	cq = ibv_create_cq(id->verbs, 64, NULL, NULL, 0);
	cm_qp(id, cq);
	ck_assert_int_eq(rdma_accept(id, &param), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
}

static void
leave(void)
{
	rdma_destroy_qp(id);
	rdma_destroy_id(id);
	if (cq)
		ibv_destroy_cq(cq);
	rdma_destroy_event_channel(channel);
}

static void
call(void)
{
	struct rdma_conn_param param = { .private_data = "please", .private_data_len = 7,
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7,
		.rnr_retry_count = 7 };

	hear(&port, sizeof port);
	channel = cm_channel();
	id = cm_resolved(channel, port);
	cq = ibv_create_cq(id->verbs, 64, NULL, NULL, 0);
	cm_qp(id, cq);
	ck_assert_int_eq(rdma_connect(id, &param), 0);
}

static void
accepting(void)
{
	struct ibv_recv_wr recv = { .wr_id = 1 }, *bad;

	serve("yes");
	ck_assert_int_eq(ibv_post_recv(id->qp, &recv, &bad), 0);
	cq_expect(cq, 1, IBV_WC_SUCCESS);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	ck_assert_int_eq(rdma_disconnect(id), 0);
	meet();
	cm_expect_quiet(channel);
	leave();
}

START_TEST(connect__send__disconnect__one_event_each_side)
{
	struct ibv_send_wr wr = { .wr_id = 2, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED }, *bad;
	struct rdma_cm_event *event;

	start(accepting);
	call();
	event = cm_next(channel, RDMA_CM_EVENT_ESTABLISHED);
	ck_assert_int_eq(event->param.conn.private_data_len, 196);
	ck_assert_int_eq(memcmp(event->param.conn.private_data, "yes\0\0", 5), 0);
	rdma_ack_cm_event(event);
	ck_assert_int_eq(ibv_post_send(id->qp, &wr, &bad), 0);
	cq_expect(cq, 2, IBV_WC_SUCCESS);
	ck_assert_int_eq(rdma_disconnect(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	meet();
	cm_expect_quiet(channel);
	leave();
	finish();
}
END_TEST

static void
rejecting(void)
{
	serve("no!");
	meet();
	leave();
}

START_TEST(connect__rejected__with_data)
{
	struct rdma_cm_event *event;

	start(rejecting);
	call();
	event = cm_next(channel, RDMA_CM_EVENT_REJECTED);
	ck_assert_int_eq(event->status, 28);
	ck_assert_int_eq(event->param.conn.private_data_len, 148);
	ck_assert_int_eq(memcmp(event->param.conn.private_data, "no!", 4), 0);
	rdma_ack_cm_event(event);
	meet();
	leave();
	finish();
}
END_TEST

static void
not_listening(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	channel = cm_channel();
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&any), 0);
	port = rdma_get_src_port(id);
	tell(&port, sizeof port);
	meet();
	leave();
}

START_TEST(connect__port_bound_but_nobody_listens__rejected_with_status_8)
{
	struct rdma_cm_event *event;

	start(not_listening);
	call();
	event = cm_next(channel, RDMA_CM_EVENT_REJECTED);
	ck_assert_int_eq(event->status, 8);
	rdma_ack_cm_event(event);
	meet();
	leave();
	finish();
}
END_TEST

START_TEST(bind__port_of_another_process__address_in_use)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	start(not_listening);
	hear(&port, sizeof port);
	channel = cm_channel();
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	any.sin_port = port;
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&any), -1);
	ck_assert_int_eq(errno, EADDRINUSE);
	meet();
	leave();
	finish();
}
END_TEST

static void
accept_and_wait(void)
{
	serve("yes");
	for (;;)
		pause();
}

START_TEST(peer_killed__disconnected_exactly_once)
{
	int status;

	start(accept_and_wait);
	call();
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	kill(other, SIGKILL);
	waitpid(other, &status, 0);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	ck_assert_int_eq(rdma_disconnect(id), 0);
	ck_assert_int_eq(qp_state(id->qp), IBV_QPS_ERR);
	sleep_ms(20);
	cm_expect_quiet(channel);
	leave();
	close(line);
}
END_TEST

static void
call_and_wait(void)
{
	call();
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	for (;;)
		pause();
}

START_TEST(caller_killed__passive_side_disconnected_exactly_once)
{
	int status;

	start(call_and_wait);
	serve("yes");
	kill(other, SIGKILL);
	waitpid(other, &status, 0);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	sleep_ms(20);
	cm_expect_quiet(channel);
	leave();
	close(line);
}
END_TEST

static void
serve_many(void)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct rdma_cm_id *listener, *child;
	struct rdma_cm_event *event;
	int gone = 0;

	channel = cm_channel();
	listener = cm_listen(channel, &port);
	tell(&port, sizeof port);
	id = NULL;
	while (gone < 100) {
		ck_assert_int_eq(rdma_get_cm_event(channel, &event), 0);
		child = event->id;
		switch (event->event) {
		case RDMA_CM_EVENT_CONNECT_REQUEST:
			if (!cq)
				cq = ibv_create_cq(child->verbs, 4096, NULL, NULL, 0);
			cm_qp(child, cq);
			rdma_ack_cm_event(event);
			ck_assert_int_eq(rdma_accept(child, &param), 0);
			break;
		case RDMA_CM_EVENT_DISCONNECTED:
			rdma_ack_cm_event(event);
			rdma_destroy_qp(child);
			rdma_destroy_id(child);
			gone++;
			break;
		default:
			ck_assert_int_eq(event->event, RDMA_CM_EVENT_ESTABLISHED);
			rdma_ack_cm_event(event);
		}
	}
	rdma_destroy_id(listener);
	ibv_destroy_cq(cq);
	rdma_destroy_event_channel(channel);
}

START_TEST(hundred_connections__one_after_the_other_and_at_once)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct rdma_cm_id *ids[10];
	int left;

	start(serve_many);
	hear(&port, sizeof port);
	channel = cm_channel();
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 10; i++) {
			ids[i] = cm_resolved(channel, port);
			if (!cq)
				cq = ibv_create_cq(ids[i]->verbs, 4096, NULL, NULL, 0);
			cm_qp(ids[i], cq);
		}
		for (int i = 0; i < 10; i++)
			ck_assert_int_eq(rdma_connect(ids[i], &param), 0);
		for (left = 10; left; left--) {
			struct rdma_cm_event *event = cm_next(channel, RDMA_CM_EVENT_ESTABLISHED);

			rdma_ack_cm_event(event);
		}
		for (int i = 0; i < 10; i++) {
			if (i % 2)
				ck_assert_int_eq(rdma_disconnect(ids[i]), 0);
			rdma_destroy_qp(ids[i]);
			rdma_destroy_id(ids[i]);
		}
	}
	ibv_destroy_cq(cq);
	rdma_destroy_event_channel(channel);
	finish();
}
END_TEST

static void
serve_twice(void)
{
	serve("yes");
	rdma_disconnect(id);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	leave(); /* the device closes with its last id, and opens again */
	cq = NULL;
	meet();
	serve("yes");
	meet();
	leave();
}

START_TEST(device_closed_and_opened_again__others_find_it)
{
	start(serve_twice);
	call();
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	leave();
	cq = NULL;
	meet();
	call();
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	meet();
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	leave();
	finish();
}
END_TEST

/* --- strangers at the door */

static int
knock(uint32_t qpn)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), n;

	n = sprintf(address.sun_path + 1, "softverbs.1.slot.%u", qpn >> 14);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)), 0);
	return fd;
}

static void
expect_hung_up(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	char c;

	ck_assert_int_eq(poll(&pfd, 1, 1000), 1);
	ck_assert_int_le(read(fd, &c, 1), 0);
	close(fd);
}

START_TEST(malformed_frames__that_link_is_closed_and_the_device_goes_on)
{
	struct side a, b;
	char junk[256];
	uint32_t hello[20] = { 16, 1 };

	pair_make(&a, &b, NULL);
	for (int i = 0; i < 50; i++) {
		int fd = knock(a.qp->qp_num);

		for (size_t k = 0; k < sizeof junk; k++)
			junk[k] = (char)(rand() | 1); /* a length beyond the limit */
		ck_assert_int_gt(write(fd, junk, sizeof junk), 0);
		expect_hung_up(fd);
	}
	/* A hello of another version, and one that claims our own slot. */
	hello[16] = 0x54464f53;
	hello[17] = 2;
	hello[18] = 5;
	for (int i = 0; i < 2; i++) {
		int fd = knock(a.qp->qp_num);

		ck_assert_int_eq(write(fd, hello, sizeof hello), sizeof hello);
		expect_hung_up(fd);
		hello[17] = 1;
		hello[18] = a.qp->qp_num >> 14;
	}
	side_receive(&b, 1, 0, 8);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 8);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	pair_free(&a, &b);
}
END_TEST

START_TEST(request_in_a_stolen_name__refused)
{
	uint32_t words[20] = { 16, 1 }, request[16] = { 0 };
	struct side a, b;
	int fd;

	pair_make(&a, &b, NULL);
	fd = knock(a.qp->qp_num);
	words[16] = 0x54464f53;
	words[17] = 1;
	words[18] = (a.qp->qp_num >> 14) == 9 ? 8 : 9;
	ck_assert_int_eq(write(fd, words, sizeof words), sizeof words);
	/* A send of nothing, as if by b, to a. */
	side_receive(&a, 1, 0, 8);
	request[1] = 2 | IBV_WR_SEND << 8 | 3 << 16;
	request[2] = a.qp->qp_num;
	request[3] = b.qp->qp_num;
	ck_assert_int_eq(write(fd, request, sizeof request), sizeof request);
	expect_hung_up(fd);
	cq_expect_quiet(a.cq);
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_RTS);
	pair_free(&a, &b);
}
END_TEST

/*
 * Random frames that are nearly right, from a process whose queue pair ours is connected
 * to: most are refused, some are executed, none may do harm.
 */
static void
fuzz(unsigned int seed)
{
	struct { uint32_t head[16]; uint32_t words[4]; } hello = { { 16, 1 }, { 0x54464f53, 1 } };
	struct { uint32_t words[16]; char data[64]; } frame;
	struct side a;
	uint64_t address;
	uint32_t slot;
	int fd;

	srand(seed);
	side_make(&a, NULL);
	slot = (a.qp->qp_num >> 14) % 1022 + 1; /* not ours; nobody's, as far as we know */
	hello.words[2] = slot;
	side_to_init(&a, NULL);
	side_to_rtr(&a, slot << 14 | 5);
	side_to_rts(&a, NULL);
	for (uint64_t i = 0; i < 8; i++)
		side_receive(&a, i, 4096 * i, 4096);
	fd = knock(a.qp->qp_num);
	ck_assert_int_eq(write(fd, &hello, sizeof hello), sizeof hello);
	for (int i = 0; i < 200; i++) {
		uint32_t length = rand() % 3 ? 0 : (uint32_t)rand() % 64;

		memset(&frame, 0, sizeof frame);
		frame.words[0] = length;
		frame.words[1] = (rand() % 8 ? 2u : (uint32_t)rand() % 9) |
		    (uint32_t)rand() % 8 << 8 | (rand() % 4 ? 3u : (uint32_t)rand() % 8) << 16;
		frame.words[2] = rand() % 16 ? a.qp->qp_num : (uint32_t)rand() & 0xffffff;
		frame.words[3] = rand() % 64 ? slot << 14 | 5 : (uint32_t)rand() & 0xffffff;
		frame.words[4] = rand() % 16 ? (uint32_t)rand() % 8 : (uint32_t)rand() & 0xffffff;
		frame.words[5] = rand() % 4 ? length : (uint32_t)rand() % 10000;
		frame.words[7] = rand() % 2 ? a.mr->rkey : (uint32_t)rand();
		address = (uintptr_t)a.bytes + (uint32_t)rand() % SIDE_BYTES;
		memcpy(&frame.words[8], &address, sizeof address);
		frame.words[14] = (uint32_t)rand() % 4;
		if (send(fd, &frame, 64 + length, MSG_NOSIGNAL) < 0)
			break; /* hung up, as it should */
	}
	shutdown(fd, SHUT_WR);
	while (read(fd, &frame, sizeof frame) > 0)
		;
	close(fd);
	side_free(&a);
}

START_TEST(frames_nearly_right__do_no_harm)
{
	for (unsigned int seed = 0; seed < 40; seed++)
		fuzz(seed + 40 * (unsigned int)_i);
}
END_TEST

static void
knock_as_nobody(void)
{
	uint32_t qpn;

	hear(&qpn, sizeof qpn);
	ck_assert_int_eq(setuid(65534), 0);
	expect_hung_up(knock(qpn));
}

START_TEST(another_user__is_not_let_in)
{
	struct side a, b;

	if (geteuid() != 0)
		return; /* only root can become another user */
	start(knock_as_nobody);
	pair_make(&a, &b, NULL);
	tell(&a.qp->qp_num, sizeof a.qp->qp_num);
	finish();
	pair_free(&a, &b);
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
	tcase_add_loop_test(tcase,
	    send__the_receiver_exits_at_its_completion__the_send_succeeds, 0, 4);
	tcase_add_test(tcase, rdma_and_atomics__reach_the_other_process);
	tcase_add_test(tcase, many_reads__complete_in_order);
	tcase_add_test(tcase, fenced_send__of_what_a_read_brings__carries_it);
	tcase_add_test(tcase, rdma__beyond_the_region__both_in_error__later_requests_flushed);
	tcase_add_test(tcase, send__longer_than_the_receive__invalid_request);
	tcase_add_test(tcase, send__no_receive_and_no_retries__rnr_error);
	tcase_add_test(tcase, send__to_a_destroyed_queue_pair__retries_then_gives_up);
	tcase_add_loop_test(tcase,
	    peer_resets_right_after_the_message__it_was_done__the_next_is_not, 0, 10);
	tcase_add_test(tcase, send__before_the_peer_is_ready__arrives_when_it_is);
	tcase_add_test(tcase, peer_killed__requests_fail);
	tcase_add_test(tcase, both_directions__thousands_of_messages__whole_and_in_order);

	tcase = runner_tcase(suite, "cm");
	tcase_add_test(tcase, connect__send__disconnect__one_event_each_side);
	tcase_add_test(tcase, connect__rejected__with_data);
	tcase_add_test(tcase, connect__port_bound_but_nobody_listens__rejected_with_status_8);
	tcase_add_test(tcase, bind__port_of_another_process__address_in_use);
	tcase_add_test(tcase, peer_killed__disconnected_exactly_once);
	tcase_add_test(tcase, caller_killed__passive_side_disconnected_exactly_once);
	tcase_add_test(tcase, device_closed_and_opened_again__others_find_it);
	tcase_add_test(tcase, hundred_connections__one_after_the_other_and_at_once);

	tcase = runner_tcase(suite, "strangers");
	tcase_add_test(tcase, malformed_frames__that_link_is_closed_and_the_device_goes_on);
	tcase_add_test(tcase, request_in_a_stolen_name__refused);
	tcase_add_loop_test(tcase, frames_nearly_right__do_no_harm, 0, 5);
	tcase_add_test(tcase, another_user__is_not_let_in);
	return suite;
}
