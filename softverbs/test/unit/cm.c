/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm -- connections made and ended by the connection manager, within one process
 */
#include "story.h"

#include <stdatomic.h>

#include "softverbs/cm/cm.h"

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
teardown(void)
{
	cm_forget(&active);
	cm_forget(&passive);
	cm_forget(&listener);
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

CASE("soft-cm:cm", setup, teardown);

TEST(connect__both_established_and_ready_to_send)
{
	struct ibv_recv_wr recv = { .wr_id = 1 }, *bad_recv;
	struct ibv_send_wr send = { .wr_id = 2,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;

	establish();
	ck_assert_int_eq(qp_state(active->qp), IBV_QPS_RTS);
	ck_assert_int_eq(qp_state(passive->qp), IBV_QPS_RTS);
	ck_assert_int_eq(ibv_post_recv(passive->qp, &recv, &bad_recv), 0);
	ck_assert_int_eq(ibv_post_send(active->qp, &send, &bad), 0);
	cq_expect(passive_cq, 1, IBV_WC_SUCCESS);
	cq_expect(active_cq, 2, IBV_WC_SUCCESS);
}

TEST(active_queue_pair__moves_only_when_the_event_is_read)
{
	struct rdma_conn_param p = param(NULL, 0);

	request();
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	ck_assert_int_eq(qp_state(passive->qp), IBV_QPS_RTS);
	ck_assert_int_eq(qp_state(active->qp), IBV_QPS_INIT);
	cm_expect_no_event(server); /* no RTU yet */
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	ck_assert_int_eq(qp_state(active->qp), IBV_QPS_RTS);
	cm_expect(server, RDMA_CM_EVENT_ESTABLISHED, passive);
}

TEST(addresses__of_both_ends__match)
{
	request();
	ck_assert_uint_eq(rdma_get_dst_port(active), port);
	ck_assert_uint_eq(rdma_get_src_port(passive), port);
	ck_assert_uint_eq(rdma_get_dst_port(passive), rdma_get_src_port(active));
	ck_assert_uint_ne(rdma_get_src_port(active), 0);
	ck_assert_ptr_nonnull(passive->verbs);
	ck_assert_ptr_eq(passive->verbs, active->verbs);
}

static void
expect_padded(const struct rdma_cm_event *event, const char *text, size_t length, int padded)
{
	const char *data = event->param.conn.private_data;

	ck_assert_int_eq(event->param.conn.private_data_len, padded);
	ck_assert_int_eq(memcmp(data, text, length), 0);
	for (int i = (int)length; i < padded; i++)
		ck_assert_int_eq(data[i], 0);
}

TEST(private_data__is_padded_as_infiniband_does)
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

/* ---- the terms of a connection ---- */

#define ANY UINT8_MAX /* RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH */

struct terms {
	uint8_t resources, depth, flow, retry, rnr, srq;
};

static const struct bargain {
	bool own;    /* the ids have the queue pairs */
	bool unsaid; /* no parameters: the terms are those that this stands for */
	struct terms call, answer;
} bargains[] = {
	{ true, false, { 3, 2, 1, 5, 4, 1 }, { 1, 2, 0, 0, 6, 1 } },
	{ true, false, { 0, 0, 0, 0, 0, 0 }, { 0, 0, 1, 0, 1, 0 } },
	{ true, false, { 5, 7, 0, 6, 2, 0 }, { ANY, 4, 0, 1, 3, 0 } },
	{ true, false, { 5, 7, 0, 6, 2, 0 }, { 6, ANY, 0, 1, 3, 0 } },
	{ true, false, { ANY, ANY, 1, 9, 15, 0 }, { ANY, ANY, 1, 3, 9, 0 } },
	{ true, true, { ANY, ANY, 0, 7, 7, 0 }, { ANY, ANY, 0, 7, 7, 0 } },
	{ false, false, { 3, 2, 1, 5, 4, 1 }, { 1, 3, 1, 0, 6, 1 } },
	{ false, false, { 7, 5, 0, 1, 0, 0 }, { ANY, ANY, 0, 0, 7, 0 } },
};
#define BARGAINS ((int)(sizeof bargains / sizeof *bargains))

static struct rdma_conn_param
param_of(const struct terms *terms, uint32_t qpn)
{
	return (struct rdma_conn_param){ .responder_resources = terms->resources,
		.initiator_depth = terms->depth,
		.flow_control = terms->flow,
		.retry_count = terms->retry,
		.rnr_retry_count = terms->rnr,
		.srq = terms->srq,
		.qp_num = qpn };
}

static uint8_t
at_most_7(uint8_t count)
{
	return count < 7 ? count : 7;
}

/*
 * What one end starts, the other answers.  An id knows whether its queue pair has a shared queue:
 * here none has.
 */
static void
expect_terms(const struct rdma_cm_event *event, const struct terms *said, bool own, uint32_t qpn)
{
	ck_assert_uint_eq(event->param.conn.responder_resources, said->depth);
	ck_assert_uint_eq(event->param.conn.initiator_depth, said->resources);
	ck_assert_uint_eq(event->param.conn.flow_control, said->flow);
	ck_assert_uint_eq(event->param.conn.rnr_retry_count, at_most_7(said->rnr));
	ck_assert_uint_eq(event->param.conn.srq, own ? 0 : said->srq);
	ck_assert_uint_eq(event->param.conn.qp_num, qpn);
}

static struct ibv_qp_attr
expect_attributes(
    struct rdma_cm_id *id, uint8_t resources, uint8_t depth, uint8_t retry, uint8_t rnr)
{
	const unsigned int reads =
	    resources ? IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC : 0;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	ck_assert_int_eq(ibv_query_qp(id->qp, &attr, ~0, &init), 0);
	ck_assert_int_eq(attr.qp_state, IBV_QPS_RTS);
	ck_assert_uint_eq(attr.max_dest_rd_atomic, resources);
	ck_assert_uint_eq(attr.max_rd_atomic, depth);
	ck_assert_uint_eq(attr.retry_cnt, at_most_7(retry));
	ck_assert_uint_eq(attr.rnr_retry, at_most_7(rnr));
	ck_assert_uint_eq(attr.qp_access_flags, IBV_ACCESS_REMOTE_WRITE | reads);
	ck_assert_uint_eq(attr.path_mtu, IBV_MTU_4096);
	ck_assert_uint_eq(attr.min_rnr_timer, 0);
	return attr;
}

TEST_LOOP(terms_of_a_connection__are_told_to_the_other_end_and_to_both_queue_pairs, BARGAINS)
{
	const struct bargain *b = &bargains[_i];
	struct ibv_qp_attr one, other;
	struct rdma_conn_param call, answer;
	struct ibv_device_attr device;
	struct rdma_cm_event *event;
	struct terms called = b->call, answered = b->answer;
	uint32_t qpns[2] = { 0x4321, 0x8765 };

	ck_assert_int_eq(ibv_query_device(active->verbs, &device), 0);
	listener->context = &port;
	if (b->own)
		qpns[0] = active->qp->qp_num;
	else
		rdma_destroy_qp(active);
	call = param_of(&called, b->own ? 0x1111 : qpns[0]);
	ck_assert_int_eq(rdma_connect(active, b->unsaid ? NULL : &call), 0);
	ck_assert_int_eq(rdma_connect(active, &call), -1);
	ck_assert_int_eq(errno, EINVAL);
	event = cm_next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (called.resources == ANY)
		called.resources = (uint8_t)device.max_qp_rd_atom;
	if (called.depth == ANY)
		called.depth = (uint8_t)device.max_qp_init_rd_atom;
	expect_terms(event, &called, b->own, qpns[0]);
	ck_assert_uint_eq(event->param.conn.retry_count, at_most_7(called.retry));
	passive = event->id;
	ck_assert_ptr_eq(passive->context, &port);
	ck_assert_int_eq(memcmp(&passive->route.addr.addr.ibaddr.dgid,
			     &passive->route.addr.addr.ibaddr.sgid, sizeof(union ibv_gid)),
	    0);
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	if (b->own) {
		cm_qp(passive, passive_cq);
		qpns[1] = passive->qp->qp_num;
	}
	answer = param_of(&answered, b->own ? 0x2222 : qpns[1]);
	ck_assert_int_eq(rdma_accept(passive, b->unsaid ? NULL : &answer), 0);
	/* Without a word it is what the caller wishes. */
	if (answered.resources == ANY)
		answered.resources = called.depth;
	if (answered.depth == ANY)
		answered.depth = called.resources;
	event =
	    cm_next(client, b->own ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_RESPONSE);
	expect_terms(event, &answered, b->own, qpns[1]);
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	/* rdma_accept() is the older call for rdma_establish(). */
	if (!b->own)
		ck_assert_int_eq(_i % 2 ? rdma_accept(active, NULL) : rdma_establish(active), 0);
	cm_expect(server, RDMA_CM_EVENT_ESTABLISHED, passive);
	if (!b->own)
		return;
	one = expect_attributes(
	    active, answered.depth, answered.resources, called.retry, answered.rnr);
	other = expect_attributes(
	    passive, answered.resources, answered.depth, called.retry, called.rnr);
	ck_assert_uint_eq(one.dest_qp_num, qpns[1]);
	ck_assert_uint_eq(other.dest_qp_num, qpns[0]);
	ck_assert_uint_eq(one.rq_psn, other.sq_psn);
	ck_assert_uint_eq(other.rq_psn, one.sq_psn);
}

TEST(terms_of_a_connection__beyond_the_device__refused)
{
	struct rdma_conn_param bad[2] = { param(NULL, 0), param(NULL, 0) };

	bad[0].responder_resources = 129;
	bad[1].initiator_depth = 129;
	for (int i = 0; i < 2; i++) {
		errno = 0;
		ck_assert_int_eq(rdma_connect(active, &bad[i]), -1);
		ck_assert_int_eq(errno, EINVAL);
	}
	request();
	for (int i = 0; i < 2; i++) {
		errno = 0;
		ck_assert_int_eq(rdma_accept(passive, &bad[i]), -1);
		ck_assert_int_eq(errno, EINVAL);
	}
	cm_expect_no_event(client);
	ck_assert_int_eq(rdma_accept(passive, NULL), 0);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	cm_expect(server, RDMA_CM_EVENT_ESTABLISHED, passive);
	(void)expect_attributes(passive, 2, 3, 7, 7);
}

TEST(private_data__more_than_fits__refused)
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

TEST(reject__the_client_gets_the_data)
{
	struct rdma_cm_event *event;

	request();
	ck_assert_int_eq(rdma_reject(passive, "no", 2), 0);
	event = cm_next(client, RDMA_CM_EVENT_REJECTED);
	ck_assert_int_eq(event->status, 28);
	expect_padded(event, "no", 2, 148);
	rdma_ack_cm_event(event);
	ck_assert_int_eq(qp_state(active->qp), IBV_QPS_ERR);
	cm_expect_no_event(server);
}

/* origin: out33.J5 */
TEST(reject__twice__the_second_is_refused)
{
	request();
	ck_assert_int_eq(rdma_reject(passive, NULL, 0), 0);
	ck_assert_int_eq(rdma_reject(passive, NULL, 0), -1);
	ck_assert_int_eq(errno, EINVAL);
	cm_expect(client, RDMA_CM_EVENT_REJECTED, active);
	cm_expect_no_event(client);
	cm_expect_no_event(server);
}

/* The first answer counts. */
/* origin: outside.141 */
/* origin: out33.BB5 */
TEST(reject__then_accept__refused_and_the_client_hears_one_answer)
{
	struct rdma_conn_param p = param(NULL, 0);

	request();
	ck_assert_int_eq(rdma_reject(passive, NULL, 0), 0);
	ck_assert_int_eq(rdma_accept(passive, &p), -1);
	ck_assert_int_eq(errno, EINVAL);
	cm_expect(client, RDMA_CM_EVENT_REJECTED, active);
	cm_expect_no_event(client);
	cm_expect_no_event(server);
}

/* A number has a count of the uses of its place, which wraps. */
/* origin: outside.143 */
TEST(ids__again_and_again__no_number_is_0_or_that_of_the_last_in_its_place)
{
	static uint32_t last[1 << 10];
	struct rdma_cm_id *id;
	uint32_t number, place;

	for (int i = 0; i < 2000; i++) {
		ck_assert_int_eq(rdma_create_id(client, &id, NULL, RDMA_PS_TCP), 0);
		number = soft_id_of(id)->number;
		place = number % (1 << 10);
		ck_assert_uint_ne(number, 0);
		ck_assert_uint_ne(number >> 20, 0);
		ck_assert_uint_ne(number, last[place]);
		last[place] = number;
		ck_assert_int_eq(rdma_destroy_id(id), 0);
	}
}

/* The queues that an id made for its queue pair go with it, and come with the next one. */
/* origin: outside.142 */
TEST(queue_pair_with_queues_of_its_own__destroyed_and_made_again)
{
	const struct ibv_qp_init_attr wish = { .qp_type = IBV_QPT_RC, .cap = { 4, 4, 0, 0, 5 } };
	struct ibv_context *elsewhere = story_open();
	struct ibv_pd *foreign = ibv_alloc_pd(elsewhere);
	struct ibv_qp_init_attr init, made;
	struct ibv_qp_attr attr;
	struct rdma_cm_id *id = cm_resolved(client, port);
	struct ibv_cq *cq;

	for (int i = 0; i < 3; i++) {
		init = wish;
		ck_assert_int_eq(rdma_create_qp(id, NULL, &init), 0);
		ck_assert_int_eq(ibv_query_qp(id->qp, &attr, IBV_QP_CAP, &made), 0);
		ck_assert_int_eq(memcmp(&init.cap, &attr.cap, sizeof init.cap), 0);
		ck_assert_uint_ge(init.cap.max_inline_data, 5);
		ck_assert_ptr_nonnull(id->send_cq);
		ck_assert_ptr_nonnull(id->recv_cq);
		rdma_destroy_qp(id);
		ck_assert_ptr_null(id->send_cq);
		ck_assert_ptr_null(id->recv_cq);
		ck_assert_ptr_null(id->send_cq_channel);
		ck_assert_ptr_null(id->recv_cq_channel);
	}
	init = wish;
	errno = 0;
	ck_assert_int_eq(rdma_create_qp(id, foreign, &init), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_null(id->qp);
	ck_assert_ptr_null(id->send_cq);
	ck_assert_int_eq(ibv_dealloc_pd(foreign), 0);
	ck_assert_int_eq(ibv_close_device(elsewhere), 0);
	/* Queues of the program stay the program's. */
	cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	ck_assert_ptr_nonnull(cq);
	init = wish;
	init.send_cq = init.recv_cq = cq;
	ck_assert_int_eq(rdma_create_qp(id, NULL, &init), 0);
	rdma_destroy_qp(id);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	cm_forget(&id);
}

TEST(no_listener__rejected_with_status_8)
{
	struct rdma_conn_param p = param(NULL, 0);
	struct rdma_cm_event *event;

	cm_forget(&listener);
	ck_assert_int_eq(rdma_connect(active, &p), 0);
	event = cm_next(client, RDMA_CM_EVENT_REJECTED);
	ck_assert_int_eq(event->status, 8);
	rdma_ack_cm_event(event);
}

TEST(listener_destroyed__unread_request_is_rejected)
{
	struct rdma_conn_param p = param(NULL, 0);

	ck_assert_int_eq(rdma_connect(active, &p), 0);
	cm_forget(&listener);
	cm_expect(client, RDMA_CM_EVENT_REJECTED, active);
	cm_expect_no_event(server);
}

TEST(backlog_full__further_request_is_rejected)
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
	cm_expect_no_event(client);
	ck_assert_int_eq(rdma_connect(two, &p), 0);
	cm_expect(client, RDMA_CM_EVENT_REJECTED, two);
	cm_forget(&small);
	cm_expect(client, RDMA_CM_EVENT_REJECTED, one);
	cm_forget(&one);
	cm_forget(&two);
	rdma_destroy_event_channel(other);
}

/* A request that was read waits no longer, whatever becomes of it. */
/* origin: outside.135 */
TEST(backlog__full_again_and_again__each_request_that_is_read_makes_room)
{
	struct rdma_event_channel *other = cm_channel();
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_conn_param p = param(NULL, 0);
	struct rdma_cm_id *small, *ids[3], *child;
	struct rdma_cm_event *event;

	ck_assert_int_eq(rdma_create_id(other, &small, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(small, (struct sockaddr *)&address), 0);
	ck_assert_int_eq(rdma_listen(small, 2), 0);
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 3; i++) {
			ids[i] = cm_resolved(client, rdma_get_src_port(small));
			ck_assert_int_eq(rdma_connect(ids[i], &p), 0);
		}
		cm_expect(client, RDMA_CM_EVENT_REJECTED, ids[2]);
		cm_expect_no_event(client);
		for (int i = 0; i < 2; i++) {
			if (round == 1) /* its caller has given up */
				cm_forget(&ids[i]);
			event = cm_next(other, RDMA_CM_EVENT_CONNECT_REQUEST);
			child = event->id;
			rdma_ack_cm_event(event);
			if (round != 2)
				ck_assert_int_eq(rdma_reject(child, NULL, 0), 0);
			cm_forget(&child);
			if (round != 1)
				cm_expect(client, RDMA_CM_EVENT_REJECTED, ids[i]);
		}
		for (int i = 0; i < 3; i++)
			cm_forget(&ids[i]);
	}
	cm_forget(&small);
	rdma_destroy_event_channel(other);
}

TEST(disconnect__by_either_side__one_event_each)
{
	establish();
	ck_assert_int_eq(rdma_disconnect(active), 0);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
	ck_assert_int_eq(qp_state(active->qp), IBV_QPS_ERR);
	ck_assert_int_eq(rdma_disconnect(passive), 0);
	ck_assert_int_eq(rdma_disconnect(active), 0);
	ck_assert_int_eq(qp_state(passive->qp), IBV_QPS_ERR);
	cm_expect_no_event(client);
	cm_expect_no_event(server);
}

TEST(disconnect__receives_are_flushed)
{
	struct ibv_recv_wr recv = { .wr_id = 1 }, *bad_recv;

	establish();
	ck_assert_int_eq(ibv_post_recv(active->qp, &recv, &bad_recv), 0);
	ck_assert_int_eq(rdma_disconnect(active), 0);
	cq_expect(active_cq, 1, IBV_WC_WR_FLUSH_ERR);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
}

TEST(destroy_id__of_a_connection__peer_is_disconnected)
{
	establish();
	cm_forget(&active);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
	cm_expect_no_event(client);
	ck_assert_int_eq(rdma_disconnect(passive), 0);
	cm_expect_no_event(server);
}

TEST(destroy_id__while_requesting__passive_side_gets_an_event)
{
	struct rdma_conn_param p = param(NULL, 0);

	request();
	cm_forget(&active);
	cm_expect(server, RDMA_CM_EVENT_REJECTED, passive);
	ck_assert_int_eq(rdma_accept(passive, &p), -1);
}

TEST(destroy_id__queued_events_are_dropped)
{
	establish();
	ck_assert_int_eq(rdma_disconnect(active), 0);
	cm_forget(&active);
	cm_forget(&passive);
	cm_expect_no_event(client);
	cm_expect_no_event(server);
}

static atomic_bool acknowledged;

static void *
ack_later(void *event)
{
	sleep_ms(50);
	acknowledged = true;
	rdma_ack_cm_event(event);
	return NULL;
}

TEST(destroy_id__event_not_acknowledged__waits)
{
	struct rdma_cm_event *event;
	pthread_t thread;

	establish();
	ck_assert_int_eq(rdma_disconnect(passive), 0);
	event = cm_next(client, RDMA_CM_EVENT_DISCONNECTED);
	ck_assert_int_eq(pthread_create(&thread, NULL, ack_later, event), 0);
	cm_forget(&active);
	ck_assert(acknowledged);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

TEST(passive_disconnects_before_the_answer_is_read__established_then_disconnected)
{
	struct rdma_conn_param p = param(NULL, 0);

	request();
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	ck_assert_int_eq(rdma_disconnect(passive), 0);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
	cm_expect_no_event(server);
}

TEST(passive_destroyed_before_the_answer_is_read__established_then_disconnected)
{
	struct rdma_conn_param p = param(NULL, 0);

	request();
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	cm_forget(&passive);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
	cm_expect_no_event(client);
	cm_expect_no_event(server);
}

TEST(active_destroyed_before_it_reads_the_answer__passive_is_rejected)
{
	struct rdma_conn_param p = param(NULL, 0);

	request();
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	cm_forget(&active);
	cm_expect(server, RDMA_CM_EVENT_REJECTED, passive);
	ck_assert_int_eq(qp_state(passive->qp), IBV_QPS_ERR);
	cm_expect_no_event(server);
}

TEST(notify_communication_established__stands_for_the_missing_RTU)
{
	struct rdma_conn_param p = param(NULL, 0);

	request();
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	ck_assert_int_eq(rdma_notify(passive, IBV_EVENT_COMM_EST), 0);
	cm_expect(server, RDMA_CM_EVENT_ESTABLISHED, passive);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	cm_expect_no_event(server);
}

/* They stand between those of others, which stay. */
/* origin: outside.144 */
TEST(migrate__events_of_several_ids_are_queued__its_own_follow)
{
	struct rdma_event_channel *other = cm_channel();
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_cm_id *ids[3];

	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(rdma_create_id(client, &ids[i], NULL, RDMA_PS_TCP), 0);
		ck_assert_int_eq(
		    rdma_resolve_addr(ids[i], NULL, (struct sockaddr *)&address, 1000), 0);
	}
	ck_assert_int_eq(rdma_migrate_id(ids[1], other), 0);
	cm_expect(other, RDMA_CM_EVENT_ADDR_RESOLVED, ids[1]);
	cm_expect(client, RDMA_CM_EVENT_ADDR_RESOLVED, ids[0]);
	cm_expect(client, RDMA_CM_EVENT_ADDR_RESOLVED, ids[2]);
	for (int i = 0; i < 3; i++)
		cm_forget(&ids[i]);
	rdma_destroy_event_channel(other);
}

TEST(migrate__queued_events_follow)
{
	struct rdma_event_channel *other = cm_channel();

	establish();
	ck_assert_int_eq(rdma_disconnect(passive), 0);
	ck_assert_int_eq(rdma_migrate_id(active, other), 0);
	cm_expect_no_event(client);
	cm_expect(other, RDMA_CM_EVENT_DISCONNECTED, active);
	cm_forget(&active);
	rdma_destroy_event_channel(other);
}

TEST(migrate__two_events_are_queued__they_keep_their_order)
{
	struct rdma_event_channel *other = cm_channel();
	struct rdma_conn_param p = param(NULL, 0);

	request();
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	ck_assert_int_eq(rdma_disconnect(active), 0);
	ck_assert_int_eq(rdma_migrate_id(passive, other), 0);
	cm_expect_no_event(server);
	cm_expect(other, RDMA_CM_EVENT_ESTABLISHED, passive);
	cm_expect(other, RDMA_CM_EVENT_DISCONNECTED, passive);
	cm_forget(&passive);
	rdma_destroy_event_channel(other);
}

/* origin: out33.Q4 */
TEST(migrate__to_the_channel_that_it_has__its_queued_events_stay)
{
	struct rdma_conn_param p = param(NULL, 0);

	request();
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	ck_assert_int_eq(rdma_disconnect(active), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(rdma_migrate_id(passive, server), 0);
	cm_expect(server, RDMA_CM_EVENT_ESTABLISHED, passive);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
	cm_expect_no_event(server);
}

/* A listener that listens there, on a channel of its own if it is synchronous. */
static void
listen_again(bool synchronous)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};

	cm_forget(&listener);
	ck_assert_int_eq(
	    rdma_create_id(synchronous ? NULL : server, &listener, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(listener, (struct sockaddr *)&address), 0);
	ck_assert_int_eq(rdma_listen(listener, 0), 0);
}

/*
 * The id of a request has what its listener has when the request is read, not what it had when it
 * came: the channel, or one of its own if the listener is synchronous, and the context.  The
 * earlier channel is not needed any more.
 */
/* origin: out33.Q3 */
TEST_LOOP(migrate__a_request_is_queued__its_id_is_where_the_listener_is_then, 3)
{
	static const struct {
		bool from_own, to_own;
	} cases[] = { { false, false }, { true, false }, { false, true } };
	const bool to_own = cases[_i].to_own;
	struct rdma_conn_param p = param(NULL, 0);
	struct rdma_event_channel *was;
	struct rdma_cm_event *event;

	listen_again(cases[_i].from_own);
	ck_assert_int_eq(rdma_connect(active, &p), 0);
	ck_assert_int_eq(poll(&(struct pollfd){ listener->channel->fd, POLLIN, 0 }, 1, 10000), 1);
	was = server;
	server = cm_channel();
	ck_assert_int_eq(rdma_migrate_id(listener, to_own ? NULL : server), 0);
	rdma_destroy_event_channel(was);
	listener->context = &port;
	if (to_own) {
		ck_assert_int_eq(rdma_get_request(listener, &passive), 0);
		ck_assert_ptr_ne(passive->channel, listener->channel);
		ck_assert_int_eq(rdma_migrate_id(passive, server), 0);
	} else {
		event = cm_next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
		ck_assert_ptr_eq(event->listen_id, listener);
		passive = event->id;
		ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	}
	ck_assert_ptr_eq(passive->channel, server);
	ck_assert_ptr_eq(passive->context, &port);
	cm_qp(passive, passive_cq);
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	cm_expect(server, RDMA_CM_EVENT_ESTABLISHED, passive);
	ck_assert_int_eq(rdma_disconnect(active), 0);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
}

TEST(hundred_connections__made_and_broken_both_ways)
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
		cm_forget(&passive);
		cm_forget(&active);
		active = cm_resolved(client, port);
		cm_qp(active, active_cq);
		for (struct ibv_wc wc; ibv_poll_cq(active_cq, 1, &wc);)
			;
	}
}

/*
 * The queue pair cannot be made ready when the answer is read: both ends hear that there is no
 * connection.
 */
/* origin: outside.162, out38.A2 */
TEST(answer__queue_pair_cannot_follow__error_here_and_rejected_there)
{
	struct rdma_conn_param p = param(NULL, 0);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct rdma_cm_event *event;

	request();
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	ck_assert_int_eq(ibv_modify_qp(active->qp, &attr, IBV_QP_STATE), 0);
	event = cm_next(client, RDMA_CM_EVENT_CONNECT_ERROR);
	ck_assert_ptr_eq(event->id, active);
	ck_assert_int_eq(event->status, -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	event = cm_next(server, RDMA_CM_EVENT_REJECTED);
	ck_assert_ptr_eq(event->id, passive);
	ck_assert_int_eq(event->status, SOFT_CM_REJ_CONSUMER);
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	ck_assert_int_eq(qp_state(passive->qp), IBV_QPS_ERR);
	cm_expect_no_event(client);
	cm_expect_no_event(server);
}

/* Nothing was sent: the request can still be accepted. */
TEST(accept__queue_pair_cannot_follow__fails_and_can_be_repeated)
{
	struct rdma_conn_param p = param(NULL, 0);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	request();
	ck_assert_int_eq(ibv_modify_qp(passive->qp, &attr, IBV_QP_STATE), 0);
	ck_assert_int_eq(rdma_accept(passive, &p), -1);
	ck_assert_int_eq(errno, EINVAL);
	cm_expect_no_event(client);
	rdma_destroy_qp(passive);
	cm_qp(passive, passive_cq);
	ck_assert_int_eq(rdma_accept(passive, &p), 0);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	cm_expect(server, RDMA_CM_EVENT_ESTABLISHED, passive);
}

/* So many requests may wait to be read; each that is read, and each listener, makes room. */
/* origin: outside.163 */
TEST(backlog__full__further_requests_are_rejected__until_one_is_read)
{
	struct rdma_conn_param p = param(NULL, 0);
	struct rdma_cm_id *few, *calls[4], *served[4];
	struct rdma_cm_event *event;
	uint16_t their_port;
	int waiting = 0;

	ck_assert_int_eq(rdma_create_id(server, &few, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_listen(few, 2), 0);
	their_port = rdma_get_src_port(few);
	for (int i = 0; i < 4; i++) {
		calls[i] = cm_resolved(client, their_port);
		cm_qp(calls[i], active_cq);
		ck_assert_int_eq(rdma_connect(calls[i], &p), 0);
		if (i == 2) {
			event = cm_next(client, RDMA_CM_EVENT_REJECTED);
			ck_assert_ptr_eq(event->id, calls[2]);
			ck_assert_int_eq(event->status, SOFT_CM_REJ_CONSUMER);
			ck_assert_int_eq(rdma_ack_cm_event(event), 0);
			event = cm_next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
			served[waiting++] = event->id;
			ck_assert_int_eq(rdma_ack_cm_event(event), 0);
		}
		cm_expect_no_event(client);
	}
	for (; waiting < 3; waiting++) {
		event = cm_next(server, RDMA_CM_EVENT_CONNECT_REQUEST);
		served[waiting] = event->id;
		ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	}
	cm_expect_no_event(server);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(rdma_destroy_id(served[i]), 0);
	for (int i = 0; i < 4; i++)
		cm_forget(&calls[i]);
	ck_assert_int_eq(rdma_destroy_id(few), 0);
}
