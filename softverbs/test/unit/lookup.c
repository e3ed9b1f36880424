/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lookup -- ids of services for datagrams
 */
#include "datagram_story.h"

static struct side a, b;
static struct rdma_event_channel *channel;

static struct rdma_cm_id *
listening(uint16_t *port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP), 0);
	ck_assert_int_eq(id->qp_type, IBV_QPT_UD);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&at), 0);
	ck_assert_int_eq(rdma_listen(id, 8), 0);
	*port = rdma_get_src_port(id);
	return id;
}

static struct rdma_cm_id *
asking(uint16_t port, const void *data, uint8_t length)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
	struct rdma_conn_param param = { .private_data = data, .private_data_len = length };
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP), 0);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000), 0);
	rdma_ack_cm_event(cm_next(channel, RDMA_CM_EVENT_ADDR_RESOLVED));
	ck_assert_int_eq(rdma_resolve_route(id, 1000), 0);
	rdma_ack_cm_event(cm_next(channel, RDMA_CM_EVENT_ROUTE_RESOLVED));
	ck_assert_int_eq(rdma_connect(id, &param), 0);
	return id;
}

static void
setup(void)
{
	channel = cm_channel();
	side_make(&a, NULL);
	side_make(&b, NULL);
	datagram_side(&a);
	datagram_side(&b);
}

static void
teardown(void)
{
	side_free(&a);
	side_free(&b);
	rdma_destroy_event_channel(channel);
}

CASE("soft-lookup:ids", setup, teardown);

TEST(lookup__accepted__gives_queue_pair_key_and_address)
{
	struct rdma_conn_param answer = { .private_data = "answer", .private_data_len = 6 };
	struct rdma_cm_id *listener, *active, *passive;
	struct rdma_cm_event *event;
	char data[180] = "question";
	struct rdma_conn_param too_long = {
		.private_data = data, .private_data_len = 137, .qp_num = b.qp->qp_num
	};
	uint16_t port;

	listener = listening(&port);
	active = asking(port, data, sizeof data);
	event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	ck_assert_ptr_eq(event->listen_id, listener);
	ck_assert_uint_eq(event->param.ud.private_data_len, 180);
	ck_assert_int_eq(memcmp(event->param.ud.private_data, data, sizeof data), 0);
	passive = event->id;
	ck_assert_int_eq(passive->qp_type, IBV_QPT_UD);
	rdma_ack_cm_event(event);
	ck_assert_int_eq(rdma_accept(passive, NULL), -1);
	ck_assert_int_eq(rdma_accept(passive, &too_long), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_int_eq(rdma_reject(passive, data, 137), -1);
	ck_assert_int_eq(errno, EINVAL);
	answer.qp_num = b.qp->qp_num;
	ck_assert_int_eq(rdma_accept(passive, &answer), 0);
	ck_assert_int_eq(rdma_accept(passive, &answer), -1);
	event = cm_next(channel, RDMA_CM_EVENT_ESTABLISHED);
	ck_assert_ptr_eq(event->id, active);
	ck_assert_uint_eq(event->param.ud.qp_num, b.qp->qp_num);
	ck_assert_uint_eq(event->param.ud.qkey, RDMA_UDP_QKEY);
	ck_assert_uint_eq(event->param.ud.ah_attr.dlid, 1);
	ck_assert_uint_eq(event->param.ud.ah_attr.port_num, 1);
	ck_assert_uint_eq(event->param.ud.private_data_len, 136);
	ck_assert_str_eq(event->param.ud.private_data, "answer");
	rdma_ack_cm_event(event);
	/* Nothing is connected, and nothing ends. */
	ck_assert_int_eq(rdma_disconnect(active), -1);
	ck_assert_int_eq(rdma_destroy_id(passive), 0);
	ck_assert_int_eq(rdma_destroy_id(active), 0);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
}

TEST(lookup__refused__says_why_with_data)
{
	struct rdma_cm_id *listener, *active, *passive;
	struct rdma_cm_event *event;
	uint16_t port;

	listener = listening(&port);
	active = asking(port, NULL, 0);
	event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	passive = event->id;
	rdma_ack_cm_event(event);
	ck_assert_int_eq(rdma_reject(passive, "no", 3), 0);
	ck_assert_int_eq(rdma_destroy_id(passive), 0);
	event = cm_next(channel, RDMA_CM_EVENT_UNREACHABLE);
	ck_assert_int_eq(event->status, 2);
	ck_assert_str_eq(event->param.ud.private_data, "no");
	rdma_ack_cm_event(event);
	ck_assert_int_eq(rdma_destroy_id(active), 0);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
	active = asking(port, NULL, 0); /* the listener has gone */
	event = cm_next(channel, RDMA_CM_EVENT_UNREACHABLE);
	ck_assert_int_eq(event->status, 1);
	rdma_ack_cm_event(event);
	ck_assert_int_eq(rdma_destroy_id(active), 0);
}

TEST(lookup__given_up__the_service_answers_in_vain)
{
	struct rdma_conn_param answer = { .qp_num = 5 };
	struct rdma_cm_id *listener, *active, *passive;
	struct rdma_cm_event *event;
	uint16_t port;

	listener = listening(&port);
	active = asking(port, NULL, 0);
	event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	passive = event->id;
	rdma_ack_cm_event(event);
	ck_assert_int_eq(rdma_destroy_id(active), 0);
	ck_assert_int_eq(rdma_accept(passive, &answer), 0);
	ck_assert_int_eq(rdma_destroy_id(passive), 0);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
}

TEST(id_with_its_queue_pair__can_send_at_once)
{
	struct ibv_qp_init_attr init = {
		.send_cq = a.cq,
		.recv_cq = a.cq,
		.cap = { 4, 4, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	struct rdma_cm_id *listener;
	struct ibv_qp_attr attr;
	uint16_t port;

	listener = listening(&port);
	ck_assert_int_eq(rdma_create_qp(listener, NULL, &init), -1);
	init.qp_type = IBV_QPT_UD;
	init.send_cq = init.recv_cq = NULL;
	ck_assert_int_eq(rdma_create_qp(listener, NULL, &init), 0);
	ck_assert_int_eq(ibv_query_qp(listener->qp, &attr, IBV_QP_STATE | IBV_QP_QKEY, &init), 0);
	ck_assert_int_eq(attr.qp_state, IBV_QPS_RTS);
	ck_assert_uint_eq(attr.qkey, RDMA_UDP_QKEY);
	rdma_destroy_qp(listener);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
}
