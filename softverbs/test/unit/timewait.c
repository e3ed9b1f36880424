/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timewait -- the event TIMEWAIT_EXIT, after the end of a connection
 */
#include "other.h"
#include "patience.h"
#include "story.h"

static struct rdma_event_channel *server, *client;
static struct rdma_cm_id *listener, *active, *passive;
static struct ibv_cq *cq;
static uint16_t port;

static void
setup(void)
{
	patience_begin();
	server = cm_channel();
	client = cm_channel();
	listener = cm_listen(server, &port);
	cq = ibv_create_cq(listener->verbs, 64, NULL, NULL, 0);
	passive = NULL;
}

static void
teardown(void)
{
	cm_forget(&active);
	cm_forget(&passive);
	cm_forget(&listener);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	rdma_destroy_event_channel(server);
	rdma_destroy_event_channel(client);
	patience_end();
}

static void
request(void)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct rdma_cm_event *event;

	active = cm_resolved(client, port);
	cm_qp(active, cq);
	ck_assert_int_eq(rdma_connect(active, &param), 0);
	event = cm_next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
	passive = event->id;
	rdma_ack_cm_event(event);
	cm_qp(passive, cq);
}

static void
establish(void)
{
	request();
	ck_assert_int_eq(rdma_accept(passive, NULL), 0);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	cm_expect(server, RDMA_CM_EVENT_ESTABLISHED, passive);
}

CASE("soft-timewait:timewait", setup, teardown);

TEST_LOOP(disconnect__both_ends_get_the_exit_once_and_last, 2)
{
	establish();
	patience_set("0.01");
	ck_assert_int_eq(rdma_disconnect(_i ? active : passive), 0);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
	cm_expect(client, RDMA_CM_EVENT_TIMEWAIT_EXIT, active);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
	ck_assert_int_eq(rdma_disconnect(_i ? passive : active), 0);
	cm_expect(server, RDMA_CM_EVENT_TIMEWAIT_EXIT, passive);
	ck_assert_int_eq(rdma_disconnect(passive), 0);
	ck_assert_int_eq(rdma_disconnect(active), 0);
	sleep_ms(30);
	ck_assert(!poll(&(struct pollfd){ .fd = client->fd, .events = POLLIN }, 1, 0));
	ck_assert(!poll(&(struct pollfd){ .fd = server->fd, .events = POLLIN }, 1, 0));
}

/* The exit would come after 107 seconds, which is more than a test may take. */
TEST(id__that_still_waits__is_destroyed_at_once)
{
	establish();
	patience_set("100");
	ck_assert_int_eq(rdma_disconnect(active), 0);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
	cm_forget(&active);
	cm_forget(&passive);
}

/* It was queued already, and goes with its id. */
TEST(id__with_the_exit_unread__takes_it_along)
{
	struct pollfd pfd = { .fd = client->fd, .events = POLLIN };

	establish();
	patience_set("0.01");
	ck_assert_int_eq(rdma_disconnect(active), 0);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
	ck_assert_int_eq(poll(&pfd, 1, 10000), 1);
	cm_forget(&active);
	ck_assert_int_eq(poll(&pfd, 1, 0), 0);
}

/* The shorter waits of later ids end before the longer one of an earlier id. */
TEST(ids__of_different_times__leave_in_the_order_of_time)
{
	struct rdma_cm_id *slow, *slow_child;

	establish();
	slow = active;
	slow_child = passive;
	patience_set("100");
	ck_assert_int_eq(rdma_disconnect(slow), 0);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, slow);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, slow_child);
	patience_set("0.01");
	for (int i = 0; i < 3; i++) {
		establish();
		ck_assert_int_eq(rdma_disconnect(active), 0);
		cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
		cm_expect(client, RDMA_CM_EVENT_TIMEWAIT_EXIT, active);
		cm_forget(&active);
		cm_forget(&passive);
	}
	cm_forget(&slow);
	cm_forget(&slow_child);
}

/* The end of the shorter wait is not the last one. */
TEST(ids__of_different_times__each_gets_its_exit)
{
	struct pollfd pfd = { .fd = client->fd, .events = POLLIN };
	struct rdma_cm_id *slow, *slow_child;
	struct rdma_cm_event *event;
	int exits = 0;

	establish();
	slow = active;
	slow_child = passive;
	establish();
	patience_set("0.3");
	ck_assert_int_eq(rdma_disconnect(slow), 0);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, slow);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, slow_child);
	patience_set("0.01");
	ck_assert_int_eq(rdma_disconnect(active), 0);
	while (exits < 2) {
		ck_assert_int_eq(poll(&pfd, 1, (int)runner_stretch(10000)), 1);
		ck_assert_int_eq(rdma_get_cm_event(client, &event), 0);
		exits += event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT;
		ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	}
	cm_forget(&slow);
	cm_forget(&slow_child);
}

TEST(connection__that_never_was__has_no_exit)
{
	request();
	patience_set("0.01");
	ck_assert_int_eq(rdma_reject(passive, NULL, 0), 0);
	cm_expect(client, RDMA_CM_EVENT_REJECTED, active);
	sleep_ms(30);
	ck_assert(!poll(&(struct pollfd){ .fd = client->fd, .events = POLLIN }, 1, 0));
	ck_assert(!poll(&(struct pollfd){ .fd = server->fd, .events = POLLIN }, 1, 0));
}

TEST(synchronous_id__disconnects_with_its_event_and_the_exit_comes_later)
{
	struct rdma_cm_event *event;

	establish();
	ck_assert_int_eq(rdma_migrate_id(active, NULL), 0);
	patience_set("0.01");
	ck_assert_int_eq(rdma_disconnect(active), 0);
	ck_assert_int_eq(active->event->event, RDMA_CM_EVENT_DISCONNECTED);
	event = cm_next(active->channel, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	ck_assert_int_eq(rdma_disconnect(active), 0); /* with no event left */
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
}

static void
serve_and_wait(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *listening, *id;

	listening = cm_listen(channel, &port);
	other_tell(&port, sizeof port);
	event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	id = event->id;
	rdma_ack_cm_event(event);
	cq = ibv_create_cq(id->verbs, 64, NULL, NULL, 0);
	cm_qp(id, cq);
	ck_assert_int_eq(rdma_accept(id, NULL), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	patience_set("0.2");
	other_meet();
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	cm_expect(channel, RDMA_CM_EVENT_TIMEWAIT_EXIT, id);
	rdma_destroy_qp(id);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	ck_assert_int_eq(rdma_destroy_id(listening), 0);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	rdma_destroy_event_channel(channel);
}

static void
destroy_the_channel_of_an_id_that_waits(void)
{
	setup();
	establish();
	patience_set("0.1");
	ck_assert_int_eq(rdma_disconnect(active), 0);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
	rdma_destroy_event_channel(client);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
	ck_assert_int_eq(rdma_disconnect(passive), 0);
	cm_expect(server, RDMA_CM_EVENT_TIMEWAIT_EXIT, passive);
}

CASE("soft-timewait:processes", patience_begin, patience_end);

/*
 * The progress thread outlives the end of the wait, which the other end gets.  In a process of its
 * own, in which the id stays, and the device with it.
 */
TEST(event_channel__of_an_id_that_still_waits__is_destroyed)
{
	other_start(destroy_the_channel_of_an_id_that_waits);
	other_finish();
}

TEST_LOOP(process__of_a_peer_that_is_killed_or_not__both_ends_get_the_exit, 2)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	other_start(serve_and_wait);
	other_hear(&port, sizeof port);
	channel = cm_channel();
	id = cm_resolved(channel, port);
	cq = ibv_create_cq(id->verbs, 64, NULL, NULL, 0);
	cm_qp(id, cq);
	ck_assert_int_eq(rdma_connect(id, NULL), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	other_meet();
	patience_set("0.2");
	if (_i)
		other_kill();
	else
		ck_assert_int_eq(rdma_disconnect(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, id);
	cm_expect(channel, RDMA_CM_EVENT_TIMEWAIT_EXIT, id);
	rdma_destroy_qp(id);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	rdma_destroy_event_channel(channel);
	if (!_i)
		other_finish();
}
