/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_cm -- connections between two processes, made by the connection manager
 */
#include "other.h"
#include "story.h"
#include "lib/feature.h"

#include <sys/wait.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *id;
static struct ibv_cq *cq;
static uint16_t port;

static void
serve(const char *answer)
{
	struct rdma_conn_param param = { .private_data = answer,
		.private_data_len = 3,
		.responder_resources = 1,
		.initiator_depth = 1,
		.rnr_retry_count = 7 };
	struct rdma_cm_id *listener;
	struct rdma_cm_event *event;

	channel = cm_channel();
	listener = cm_listen(channel, &port);
	other_tell(&port, sizeof port);
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
resolve(void)
{
	other_hear(&port, sizeof port);
	channel = cm_channel();
	id = cm_resolved(channel, port);
}

static void
ask(void)
{
	struct rdma_conn_param param = { .private_data = "please",
		.private_data_len = 7,
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.qp_num = 0x123 }; /* counts if the id has no queue pair */

	ck_assert_int_eq(rdma_connect(id, &param), 0);
}

static void
call(void)
{
	resolve();
	cq = ibv_create_cq(id->verbs, 64, NULL, NULL, 0);
	cm_qp(id, cq);
	ask();
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
	other_meet();
	cm_expect_no_event(channel);
	leave();
}

static void
send_one(void)
{
	struct ibv_send_wr wr = { .wr_id = 2,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;

	ck_assert_int_eq(ibv_post_send(id->qp, &wr, &bad), 0);
	cq_expect(cq, 2, IBV_WC_SUCCESS);
}

CASE("soft-process-cm:cm");

TEST(connect__send__disconnect__one_event_each_side)
{
	struct rdma_cm_event *event;

	other_start(accepting);
	call();
	event = cm_next(channel, RDMA_CM_EVENT_ESTABLISHED);
	ck_assert_int_eq(event->param.conn.private_data_len, 196);
	ck_assert_int_eq(memcmp(event->param.conn.private_data, "yes\0\0", 5), 0);
	rdma_ack_cm_event(event);
	send_one();
	ck_assert_int_eq(rdma_disconnect(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	other_meet();
	cm_expect_no_event(channel);
	leave();
	other_finish();
}

static void
rejecting(void)
{
	serve("no!");
	other_meet();
	leave();
}

TEST(connect__rejected__with_data)
{
	struct rdma_cm_event *event;

	other_start(rejecting);
	call();
	event = cm_next(channel, RDMA_CM_EVENT_REJECTED);
	ck_assert_int_eq(event->status, 28);
	ck_assert_int_eq(event->param.conn.private_data_len, 148);
	ck_assert_int_eq(memcmp(event->param.conn.private_data, "no!", 4), 0);
	rdma_ack_cm_event(event);
	other_meet();
	leave();
	other_finish();
}

static void
not_listening(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	channel = cm_channel();
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&any), 0);
	port = rdma_get_src_port(id);
	other_tell(&port, sizeof port);
	other_meet();
	leave();
}

TEST(connect__port_bound_without_listener__rejected_with_status_8)
{
	struct rdma_cm_event *event;

	other_start(not_listening);
	call();
	event = cm_next(channel, RDMA_CM_EVENT_REJECTED);
	ck_assert_int_eq(event->status, 8);
	rdma_ack_cm_event(event);
	other_meet();
	leave();
	other_finish();
}

TEST(bind__port_of_another_process__address_not_available)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	other_start(not_listening);
	other_hear(&port, sizeof port);
	channel = cm_channel();
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	any.sin_port = port;
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&any), -1);
	ck_assert_int_eq(errno, EADDRNOTAVAIL);
	other_meet();
	leave();
	other_finish();
}

static void
accept_and_wait(void)
{
	serve("yes");
	for (;;)
		pause();
}

TEST(peer_killed__disconnected_exactly_once)
{
	other_start(accept_and_wait);
	call();
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	other_kill();
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	ck_assert_int_eq(rdma_disconnect(id), 0);
	ck_assert_int_eq(qp_state(id->qp), IBV_QPS_ERR);
	sleep_ms(20);
	cm_expect_no_event(channel);
	leave();
}

/* origin: out33.P3 */
TEST(peer_killed__before_rdma_establish__disconnected_exactly_once)
{
	other_start(accept_and_wait);
	resolve();
	ask();
	cm_expect(channel, RDMA_CM_EVENT_CONNECT_RESPONSE, id);
	other_kill();
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	sleep_ms(20);
	cm_expect_no_event(channel);
	leave();
}

static void
call_and_wait(void)
{
	call();
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	for (;;)
		pause();
}

TEST(caller_killed__passive_side_disconnected_exactly_once)
{
	other_start(call_and_wait);
	serve("yes");
	other_kill();
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	sleep_ms(20);
	cm_expect_no_event(channel);
	leave();
}

static void
serve_many(void)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct rdma_cm_id *listener, *child;
	struct rdma_cm_event *event;
	int gone = 0;

	channel = cm_channel();
	listener = cm_listen(channel, &port);
	other_tell(&port, sizeof port);
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

TEST(hundred_connections__one_after_the_other_and_at_once)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct rdma_cm_id *ids[10];
	int left;

	other_start(serve_many);
	other_hear(&port, sizeof port);
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
	other_finish();
}

static void
serve_twice(void)
{
	serve("yes");
	rdma_disconnect(id);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	leave(); /* the device closes with its last id, and opens again */
	cq = NULL;
	other_meet();
	serve("yes");
	other_meet();
	leave();
}

TEST(device_closed_and_opened_again__others_find_it)
{
	other_start(serve_twice);
	call();
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	leave();
	cq = NULL;
	other_meet();
	call();
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	other_meet();
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	leave();
	other_finish();
}

static void
await_child(pid_t child)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child: %x", status);
}

/* What it must not free it must at least still know: a memory checker looks when it ends. */
static void
fork_and_check(int generations)
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (generations > 1)
			fork_and_check(generations - 1);
		_exit(story_leaks());
	}
	await_child(child);
}

TEST(fork__with_connection_and_listener__children_lose_no_memory)
{
	struct rdma_cm_id *listener;
	uint16_t own_port;

	other_start(accepting);
	call();
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	listener = cm_listen(channel, &own_port);
	fork_and_check(3);
	send_one();
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
	ck_assert_int_eq(rdma_disconnect(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	other_meet();
	leave();
	other_finish();
}

/* One message, then the end. */
static void
send_and_end(void)
{
	send_one();
	ck_assert_int_eq(rdma_disconnect(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
}

static void
receive_and_end(void)
{
	struct ibv_recv_wr recv = { .wr_id = 1 }, *bad;

	ck_assert_int_eq(ibv_post_recv(id->qp, &recv, &bad), 0);
	cq_expect(cq, 1, IBV_WC_SUCCESS);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	ck_assert_int_eq(rdma_disconnect(id), 0);
	leave();
}

/* The connection of the parent is there all the time that the child has one. */
static void
accepting_the_parent_and_the_child(void)
{
	struct rdma_event_channel *first_channel;
	struct rdma_cm_id *first_id;
	struct ibv_cq *first_cq;

	serve("yes");
	first_channel = channel;
	first_id = id;
	first_cq = cq;
	serve("yes");
	receive_and_end();
	channel = first_channel;
	id = first_id;
	cq = first_cq;
	receive_and_end();
}

TEST(fork__child_opens_the_device_anew__has_a_link_of_its_own)
{
	pid_t child;

	if (!feature_child()) {
		runner_skip(FEATURE_NO_CHILD);
		return;
	}
	other_start(accepting_the_parent_and_the_child);
	call();
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	child = fork();
	if (child == 0) {
		call();
		cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
		send_and_end();
		_exit(0);
	}
	await_child(child);
	send_and_end();
	leave();
	other_finish();
}
