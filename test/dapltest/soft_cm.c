/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soft_cm -- connections made by the connection manager, within one process
 */
#include "soft_story.h"

#include <fcntl.h>
#include <stdatomic.h>

static struct rdma_event_channel *server, *client;
static struct rdma_cm_id *listener, *active, *passive;
static struct ibv_cq *active_cq, *passive_cq;
static uint16_t port;

static void
setup(void)
{
	server = cm_channel();
	client = cm_channel();
	listener = cm_listen(server, &port);
	active = cm_resolved(client, port);
	active_cq = ibv_create_cq(active->verbs, 64, NULL, NULL, 0);
	passive_cq = ibv_create_cq(active->verbs, 64, NULL, NULL, 0);
	cm_qp(active, active_cq);
	passive = NULL;
}

static void
forget(struct rdma_cm_id **id)
{
	if (*id) {
		rdma_destroy_qp(*id);
		ck_assert_int_eq(rdma_destroy_id(*id), 0);
	}
	*id = NULL;
}

static void
teardown(void)
{
	forget(&active);
	forget(&passive);
	forget(&listener);
	ck_assert_int_eq(ibv_destroy_cq(active_cq), 0);
	ck_assert_int_eq(ibv_destroy_cq(passive_cq), 0);
	rdma_destroy_event_channel(server);
	rdma_destroy_event_channel(client);
}

static struct rdma_conn_param
param(const void *data, uint8_t length)
{
	return (struct rdma_conn_param){
		.private_data = data,
		.private_data_len = length,
		.responder_resources = 3,
		.initiator_depth = 2,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

static void
request(void)
{
	struct rdma_conn_param p = param(NULL, 0);
	struct rdma_cm_event *event;

	ck_assert_int_eq(rdma_connect(active, &p), 0);
	event = cm_next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
	ck_assert_ptr_eq(event->listen_id, listener);
	passive = event->id;
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	cm_qp(passive, passive_cq);
}

static void
establish(void)
{
	struct rdma_conn_param p = param(NULL, 0);

	request();
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	cm_expect(server, RDMA_CM_EVENT_ESTABLISHED, passive);
}

START_TEST(connect__both_established_and_ready_to_send)
{
	struct ibv_recv_wr recv = { .wr_id = 1 }, *bad_recv;
	struct ibv_send_wr send = { .wr_id = 2, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED }, *bad;

	establish();
	ck_assert_int_eq(qp_state(active->qp), IBV_QPS_RTS);
	ck_assert_int_eq(qp_state(passive->qp), IBV_QPS_RTS);
	ck_assert_int_eq(ibv_post_recv(passive->qp, &recv, &bad_recv), 0);
	ck_assert_int_eq(ibv_post_send(active->qp, &send, &bad), 0);
	cq_expect(passive_cq, 1, IBV_WC_SUCCESS);
	cq_expect(active_cq, 2, IBV_WC_SUCCESS);
}
END_TEST

START_TEST(active_queue_pair__moves_only_when_the_event_is_read)
{
	struct rdma_conn_param p = param(NULL, 0);

	request();
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	ck_assert_int_eq(qp_state(passive->qp), IBV_QPS_RTS);
	ck_assert_int_eq(qp_state(active->qp), IBV_QPS_INIT);
	cm_expect_quiet(server); /* no RTU yet */
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	ck_assert_int_eq(qp_state(active->qp), IBV_QPS_RTS);
	cm_expect(server, RDMA_CM_EVENT_ESTABLISHED, passive);
}
END_TEST

START_TEST(addresses__of_both_ends__match)
{
	request();
	ck_assert_uint_eq(rdma_get_dst_port(active), port);
	ck_assert_uint_eq(rdma_get_src_port(passive), port);
	ck_assert_uint_eq(rdma_get_dst_port(passive), rdma_get_src_port(active));
	ck_assert_uint_ne(rdma_get_src_port(active), 0);
	ck_assert_ptr_nonnull(passive->verbs);
	ck_assert_ptr_eq(passive->verbs, active->verbs);
}
END_TEST

static void
expect_padded(const struct rdma_cm_event *event, const char *text, size_t length, int padded)
{
	const char *data = event->param.conn.private_data;

	ck_assert_int_eq(event->param.conn.private_data_len, padded);
	ck_assert_int_eq(memcmp(data, text, length), 0);
	for (int i = (int)length; i < padded; i++)
		ck_assert_int_eq(data[i], 0);
}

START_TEST(private_data__is_padded_as_infiniband_does)
{
	struct rdma_conn_param p = param("hello", 5);
	struct rdma_cm_event *event;

	ck_assert_int_eq(rdma_connect(active, &p), 0);
	event = cm_next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
	expect_padded(event, "hello", 5, 56);
	/* What one side starts, the other answers. */
	ck_assert_int_eq(event->param.conn.responder_resources, 2);
	ck_assert_int_eq(event->param.conn.initiator_depth, 3);
	passive = event->id;
	rdma_ack_cm_event(event);
	cm_qp(passive, passive_cq);
	p = param("welcome", 7);
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	event = cm_next(client, RDMA_CM_EVENT_ESTABLISHED);
	expect_padded(event, "welcome", 7, 196);
	rdma_ack_cm_event(event);
	cm_expect(server, RDMA_CM_EVENT_ESTABLISHED, passive);
}
END_TEST

START_TEST(private_data__more_than_fits__refused)
{
	char data[200] = { 0 };
	struct rdma_conn_param p = param(data, 57);

	errno = 0;
	ck_assert_int_eq(rdma_connect(active, &p), -1);
	ck_assert_int_eq(errno, EINVAL);
	request();
	p = param(data, 197);
	ck_assert_int_eq(rdma_accept(passive, &p), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(rdma_reject(passive, data, 149), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(reject__is_told_with_its_data)
{
	struct rdma_cm_event *event;

	request();
	ck_assert_int_eq(rdma_reject(passive, "no", 2), 0);
	event = cm_next(client, RDMA_CM_EVENT_REJECTED);
	ck_assert_int_eq(event->status, 28);
	expect_padded(event, "no", 2, 148);
	rdma_ack_cm_event(event);
	ck_assert_int_eq(qp_state(active->qp), IBV_QPS_ERR);
	cm_expect_quiet(server);
}
END_TEST

START_TEST(no_listener__rejected_with_status_8)
{
	struct rdma_conn_param p = param(NULL, 0);
	struct rdma_cm_event *event;

	forget(&listener);
	ck_assert_int_eq(rdma_connect(active, &p), 0);
	event = cm_next(client, RDMA_CM_EVENT_REJECTED);
	ck_assert_int_eq(event->status, 8);
	rdma_ack_cm_event(event);
}
END_TEST

START_TEST(listener_destroyed__unread_request_is_rejected)
{
	struct rdma_conn_param p = param(NULL, 0);

	ck_assert_int_eq(rdma_connect(active, &p), 0);
	forget(&listener);
	cm_expect(client, RDMA_CM_EVENT_REJECTED, active);
	cm_expect_quiet(server);
}
END_TEST

START_TEST(backlog_full__further_request_is_rejected)
{
	struct rdma_event_channel *other = cm_channel();
	struct rdma_conn_param p = param(NULL, 0);
	struct rdma_cm_id *small, *one, *two;
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	ck_assert_int_eq(rdma_create_id(other, &small, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(small, (struct sockaddr *)&address), 0);
	ck_assert_int_eq(rdma_listen(small, 1), 0);
	one = cm_resolved(client, rdma_get_src_port(small));
	two = cm_resolved(client, rdma_get_src_port(small));
	ck_assert_int_eq(rdma_connect(one, &p), 0);
	cm_expect_quiet(client);
	ck_assert_int_eq(rdma_connect(two, &p), 0);
	cm_expect(client, RDMA_CM_EVENT_REJECTED, two);
	forget(&small);
	cm_expect(client, RDMA_CM_EVENT_REJECTED, one);
	forget(&one);
	forget(&two);
	rdma_destroy_event_channel(other);
}
END_TEST

START_TEST(disconnect__one_event_each_side_whoever_asks)
{
	establish();
	ck_assert_int_eq(rdma_disconnect(active), 0);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
	ck_assert_int_eq(qp_state(active->qp), IBV_QPS_ERR);
	ck_assert_int_eq(rdma_disconnect(passive), 0);
	ck_assert_int_eq(rdma_disconnect(active), 0);
	ck_assert_int_eq(qp_state(passive->qp), IBV_QPS_ERR);
	cm_expect_quiet(client);
	cm_expect_quiet(server);
}
END_TEST

START_TEST(disconnect__receives_are_flushed)
{
	struct ibv_recv_wr recv = { .wr_id = 1 }, *bad_recv;

	establish();
	ck_assert_int_eq(ibv_post_recv(active->qp, &recv, &bad_recv), 0);
	ck_assert_int_eq(rdma_disconnect(active), 0);
	cq_expect(active_cq, 1, IBV_WC_WR_FLUSH_ERR);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
}
END_TEST

START_TEST(destroy_id__of_a_connection__peer_is_disconnected)
{
	establish();
	forget(&active);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
	cm_expect_quiet(client);
	ck_assert_int_eq(rdma_disconnect(passive), 0);
	cm_expect_quiet(server);
}
END_TEST

START_TEST(destroy_id__while_requesting__passive_side_hears_of_it)
{
	struct rdma_conn_param p = param(NULL, 0);

	request();
	forget(&active);
	cm_expect(server, RDMA_CM_EVENT_REJECTED, passive);
	ck_assert_int_eq(rdma_accept(passive, &p), -1);
}
END_TEST

START_TEST(destroy_id__queued_events_are_dropped)
{
	establish();
	ck_assert_int_eq(rdma_disconnect(active), 0);
	forget(&active);
	forget(&passive);
	cm_expect_quiet(client);
	cm_expect_quiet(server);
}
END_TEST

static atomic_bool acknowledged;

static void *
ack_later(void *event)
{
	sleep_ms(50);
	acknowledged = true;
	rdma_ack_cm_event(event);
	return NULL;
}

START_TEST(destroy_id__event_not_acknowledged__waits)
{
	struct rdma_cm_event *event;
	pthread_t thread;

	establish();
	ck_assert_int_eq(rdma_disconnect(passive), 0);
	event = cm_next(client, RDMA_CM_EVENT_DISCONNECTED);
	ck_assert_int_eq(pthread_create(&thread, NULL, ack_later, event), 0);
	forget(&active);
	ck_assert(acknowledged);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

START_TEST(passive_disconnects_before_the_answer_is_read__established_then_disconnected)
{
	struct rdma_conn_param p = param(NULL, 0);

	request();
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	ck_assert_int_eq(rdma_disconnect(passive), 0);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
	cm_expect_quiet(server);
}
END_TEST

START_TEST(passive_destroyed_before_the_answer_is_read__established_then_disconnected)
{
	struct rdma_conn_param p = param(NULL, 0);

	request();
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	forget(&passive);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
	cm_expect_quiet(client);
	cm_expect_quiet(server);
}
END_TEST

START_TEST(active_destroyed_before_it_reads_the_answer__passive_is_rejected)
{
	struct rdma_conn_param p = param(NULL, 0);

	request();
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	forget(&active);
	cm_expect(server, RDMA_CM_EVENT_REJECTED, passive);
	ck_assert_int_eq(qp_state(passive->qp), IBV_QPS_ERR);
	cm_expect_quiet(server);
}
END_TEST

START_TEST(notify_communication_established__stands_for_the_missing_RTU)
{
	struct rdma_conn_param p = param(NULL, 0);

	request();
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	ck_assert_int_eq(rdma_notify(passive, IBV_EVENT_COMM_EST), 0);
	cm_expect(server, RDMA_CM_EVENT_ESTABLISHED, passive);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	cm_expect_quiet(server);
}
END_TEST

START_TEST(bind__port_taken__address_in_use)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = port,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(client, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&address), -1);
	ck_assert_int_eq(errno, EADDRINUSE);
	ck_assert_int_eq(rdma_listen(id, 0), 0); /* binds to any */
	ck_assert_int_eq(rdma_destroy_id(id), 0);
}
END_TEST

START_TEST(bind__address_of_another_host__no_device)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0xc0000201) }; /* 192.0.2.1, for documentation */
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(client, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&address), -1);
	ck_assert_int_eq(errno, ENODEV);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 100), 0);
	event = cm_next(client, RDMA_CM_EVENT_ADDR_ERROR);
	ck_assert_int_lt(event->status, 0);
	rdma_ack_cm_event(event);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
}
END_TEST

START_TEST(bind__any_address__no_device_until_a_request_comes)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct rdma_conn_param p = param(NULL, 0);
	struct rdma_cm_event *event;
	struct rdma_cm_id *id, *caller;

	ck_assert_int_eq(rdma_create_id(server, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&any), 0);
	ck_assert_ptr_null(id->verbs);
	ck_assert_uint_ne(rdma_get_src_port(id), 0);
	ck_assert_int_eq(rdma_listen(id, 5), 0);
	caller = cm_resolved(client, rdma_get_src_port(id));
	ck_assert_int_eq(rdma_connect(caller, &p), 0);
	event = cm_next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
	ck_assert_ptr_nonnull(event->id->verbs);
	passive = event->id;
	rdma_ack_cm_event(event);
	forget(&id);
	forget(&caller);
	cm_expect(server, RDMA_CM_EVENT_REJECTED, passive);
}
END_TEST

START_TEST(get_event__nonblocking_and_none__EAGAIN)
{
	struct rdma_cm_event *event;

	ck_assert_int_eq(fcntl(client->fd, F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(rdma_get_cm_event(client, &event), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(fcntl(client->fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}
END_TEST

START_TEST(migrate__queued_events_follow)
{
	struct rdma_event_channel *other = cm_channel();

	establish();
	ck_assert_int_eq(rdma_disconnect(passive), 0);
	ck_assert_int_eq(rdma_migrate_id(active, other), 0);
	cm_expect_quiet(client);
	cm_expect(other, RDMA_CM_EVENT_DISCONNECTED, active);
	forget(&active);
	rdma_destroy_event_channel(other);
}
END_TEST

START_TEST(wrong_state__refused)
{
	struct rdma_conn_param p = param(NULL, 0);
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(client, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_connect(id, &p), -1);
	ck_assert_int_eq(rdma_accept(id, &p), -1);
	ck_assert_int_eq(rdma_reject(id, NULL, 0), -1);
	ck_assert_int_eq(rdma_disconnect(id), -1);
	ck_assert_int_eq(rdma_resolve_route(id, 100), -1);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	ck_assert_int_eq(rdma_create_id(client, &id, NULL, RDMA_PS_UDP), -1);
	ck_assert_int_eq(errno, EPROTONOSUPPORT);
}
END_TEST

START_TEST(devices__context_outlives_the_list_and_the_ids)
{
	struct ibv_context **list, *context;
	struct ibv_pd *pd;
	int n;

	list = rdma_get_devices(&n);
	ck_assert_int_eq(n, 1);
	context = list[0];
	ck_assert_ptr_eq(context, active->verbs);
	rdma_free_devices(list);
	pd = ibv_alloc_pd(context);
	ck_assert_ptr_nonnull(pd);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
}
END_TEST

START_TEST(hundred_connections__made_and_broken_both_ways)
{
	for (int i = 0; i < 100; i++) {
		establish();
		ck_assert_int_eq(rdma_disconnect(i % 2 ? active : passive), 0);
		if (i % 3 == 0)
			ck_assert_int_eq(rdma_disconnect(i % 2 ? passive : active), 0);
		if (i % 5) {
			cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
			cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
		}
		forget(&passive);
		forget(&active);
		active = cm_resolved(client, port);
		cm_qp(active, active_cq);
		for (struct ibv_wc wc; ibv_poll_cq(active_cq, 1, &wc);)
			;
	}
}
END_TEST

/* Each id has a port of its own; a descriptor for each would soon be too many. */
START_TEST(a_thousand_calling_ids__few_descriptors__unique_ports)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = port,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	static struct rdma_cm_id *ids[1000];
	static char seen[65536];
	int before = runner_count_fds();

	for (int i = 0; i < 1000; i++) {
		ck_assert_int_eq(rdma_create_id(client, &ids[i], NULL, RDMA_PS_TCP), 0);
		ck_assert_int_eq(rdma_resolve_addr(ids[i], NULL, (struct sockaddr *)&to, 100), 0);
		cm_expect(client, RDMA_CM_EVENT_ADDR_RESOLVED, ids[i]);
		ck_assert_int_eq(seen[rdma_get_src_port(ids[i])]++, 0);
	}
	ck_assert_int_lt(runner_count_fds() - before, 32);
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(rdma_destroy_id(ids[i]), 0);
	ck_assert_int_le(runner_count_fds(), before);
}
END_TEST

START_TEST(port_of_a_calling_id__bound_by_name__address_in_use)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = rdma_get_src_port(active), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(client, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&address), -1);
	ck_assert_int_eq(errno, EADDRINUSE);
	forget(&active);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&address), 0);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
}
END_TEST

START_TEST(reuse_address__two_ids_share_a_port__one_listens)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(20079),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_cm_id *ids[2];
	int on = 1;

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(rdma_create_id(client, &ids[i], NULL, RDMA_PS_TCP), 0);
		ck_assert_int_eq(rdma_set_option(ids[i], RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR,
		    &on, sizeof on), 0);
		ck_assert_int_eq(rdma_bind_addr(ids[i], (struct sockaddr *)&address), 0);
	}
	ck_assert_int_eq(rdma_listen(ids[0], 0), 0);
	ck_assert_int_eq(rdma_listen(ids[1], 0), -1);
	ck_assert_int_eq(errno, EADDRINUSE);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(rdma_destroy_id(ids[i]), 0);
}
END_TEST

START_TEST(ipv6__loopback__connects)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };
	struct rdma_conn_param p = param(NULL, 0);
	struct rdma_cm_event *event;
	struct rdma_cm_id *six, *caller;

	ck_assert_int_eq(rdma_create_id(server, &six, NULL, RDMA_PS_TCP), 0);
	if (rdma_bind_addr(six, (struct sockaddr *)&address)) {
		ck_assert_int_eq(errno, ENODEV); /* a host without IPv6 */
		ck_assert_int_eq(rdma_destroy_id(six), 0);
		return;
	}
	ck_assert_int_eq(rdma_listen(six, 0), 0);
	address.sin6_port = rdma_get_src_port(six);
	ck_assert_int_eq(rdma_create_id(client, &caller, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_resolve_addr(caller, NULL, (struct sockaddr *)&address, 100), 0);
	cm_expect(client, RDMA_CM_EVENT_ADDR_RESOLVED, caller);
	ck_assert_int_eq(rdma_resolve_route(caller, 100), 0);
	cm_expect(client, RDMA_CM_EVENT_ROUTE_RESOLVED, caller);
	ck_assert_int_eq(rdma_connect(caller, &p), 0);
	event = cm_next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
	passive = event->id;
	ck_assert_int_eq(rdma_get_peer_addr(passive)->sa_family, AF_INET6);
	rdma_ack_cm_event(event);
	ck_assert_int_eq(rdma_reject(passive, NULL, 0), 0);
	cm_expect(client, RDMA_CM_EVENT_REJECTED, caller);
	forget(&six);
	forget(&caller);
}
END_TEST

static void *
serve_once(void *listening)
{
	struct rdma_cm_id *id;

	if (rdma_get_request(listening, &id))
		return NULL;
	if (rdma_accept(id, NULL)) {
		rdma_destroy_ep(id);
		return NULL;
	}
	return id;
}

START_TEST(endpoints__synchronous_ids_make_their_own_queues)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP };
	struct ibv_qp_init_attr init = { .cap = { 4, 4, 1, 1, 16 }, .sq_sig_all = 1 };
	struct rdma_addrinfo *info;
	struct rdma_cm_id *listening, *there;
	struct ibv_qp_init_attr copy = init;
	char service[8];
	pthread_t thread;
	void *here;

	ck_assert_int_eq(rdma_getaddrinfo("127.0.0.1", "0", &hints, &info), 0);
	ck_assert_int_eq(rdma_create_ep(&listening, info, NULL, &copy), 0);
	rdma_freeaddrinfo(info);
	ck_assert_int_eq(rdma_listen(listening, 0), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, serve_once, listening), 0);
	snprintf(service, sizeof service, "%u", ntohs(rdma_get_src_port(listening)));
	hints.ai_flags = 0;
	ck_assert_int_eq(rdma_getaddrinfo("127.0.0.1", service, &hints, &info), 0);
	ck_assert_int_eq(rdma_create_ep(&there, info, NULL, &init), 0);
	rdma_freeaddrinfo(info);
	ck_assert_int_eq(rdma_connect(there, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, &here), 0);
	ck_assert_ptr_nonnull(here);
	ck_assert_ptr_eq(there->send_cq->cq_context, there);
	ck_assert_int_eq(qp_state(there->qp), IBV_QPS_RTS);
	ck_assert_int_eq(rdma_disconnect(there), 0);
	rdma_destroy_ep(there);
	rdma_destroy_ep(here);
	rdma_destroy_ep(listening);
}
END_TEST

Suite *
soft_cm_suite(void)
{
	Suite *suite = suite_create("soft-cm");
	TCase *tcase = runner_tcase(suite, "cm");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, connect__both_established_and_ready_to_send);
	tcase_add_test(tcase, active_queue_pair__moves_only_when_the_event_is_read);
	tcase_add_test(tcase, addresses__of_both_ends__match);
	tcase_add_test(tcase, private_data__is_padded_as_infiniband_does);
	tcase_add_test(tcase, private_data__more_than_fits__refused);
	tcase_add_test(tcase, reject__is_told_with_its_data);
	tcase_add_test(tcase, no_listener__rejected_with_status_8);
	tcase_add_test(tcase, listener_destroyed__unread_request_is_rejected);
	tcase_add_test(tcase, backlog_full__further_request_is_rejected);
	tcase_add_test(tcase, disconnect__one_event_each_side_whoever_asks);
	tcase_add_test(tcase, disconnect__receives_are_flushed);
	tcase_add_test(tcase, destroy_id__of_a_connection__peer_is_disconnected);
	tcase_add_test(tcase, destroy_id__while_requesting__passive_side_hears_of_it);
	tcase_add_test(tcase, destroy_id__queued_events_are_dropped);
	tcase_add_test(tcase, destroy_id__event_not_acknowledged__waits);
	tcase_add_test(tcase,
	    passive_disconnects_before_the_answer_is_read__established_then_disconnected);
	tcase_add_test(tcase,
	    passive_destroyed_before_the_answer_is_read__established_then_disconnected);
	tcase_add_test(tcase, active_destroyed_before_it_reads_the_answer__passive_is_rejected);
	tcase_add_test(tcase, notify_communication_established__stands_for_the_missing_RTU);
	tcase_add_test(tcase, bind__port_taken__address_in_use);
	tcase_add_test(tcase, bind__address_of_another_host__no_device);
	tcase_add_test(tcase, bind__any_address__no_device_until_a_request_comes);
	tcase_add_test(tcase, get_event__nonblocking_and_none__EAGAIN);
	tcase_add_test(tcase, migrate__queued_events_follow);
	tcase_add_test(tcase, wrong_state__refused);
	tcase_add_test(tcase, devices__context_outlives_the_list_and_the_ids);
	tcase_add_test(tcase, hundred_connections__made_and_broken_both_ways);
	tcase_add_test(tcase, a_thousand_calling_ids__few_descriptors__unique_ports);
	tcase_add_test(tcase, port_of_a_calling_id__bound_by_name__address_in_use);
	tcase_add_test(tcase, reuse_address__two_ids_share_a_port__one_listens);
	tcase_add_test(tcase, ipv6__loopback__connects);
	tcase_add_test(tcase, endpoints__synchronous_ids_make_their_own_queues);
	return suite;
}
