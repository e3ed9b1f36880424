/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datagram -- queue pairs of unreliable datagrams, address handles, and ids of services for them
 */
#include "other.h"
#include "own.h"
#include "patience.h"
#include "story.h"

#define GRH 40
#define KEY 0x11u
#define MTU 4096

static struct side a, b;
static struct ibv_ah *ah; /* of a, to the port */

static void
to_state(struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = 1, .qkey = KEY };

	ck_assert_int_eq(ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask), 0);
}

static void
to_rts(struct ibv_qp *qp)
{
	to_state(qp, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	to_state(qp, IBV_QPS_RTR, 0);
	to_state(qp, IBV_QPS_RTS, IBV_QP_SQ_PSN);
}

static struct ibv_qp *
make_qp(struct side *side)
{
	struct ibv_qp_init_attr init = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.srq = side->srq,
		.cap = { 16, 16, 4, 4, 64 },
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_qp *qp = ibv_create_qp(side->pd, &init);

	ck_assert_ptr_nonnull(qp);
	ck_assert_int_eq(qp->qp_type, IBV_QPT_UD);
	return qp;
}

/* Gives the side a queue pair for datagrams instead of the one it has. */
static void
side_for_datagrams(struct side *side)
{
	ck_assert_int_eq(ibv_destroy_qp(side->qp), 0);
	side->qp = make_qp(side);
	to_rts(side->qp);
}

static struct ibv_ah *
make_ah(struct side *side)
{
	struct ibv_ah_attr attr = { .dlid = 1, .port_num = 1 };
	struct ibv_ah *made = ibv_create_ah(side->pd, &attr);

	ck_assert_ptr_nonnull(made);
	return made;
}

static void
setup(void)
{
	side_make(&a, NULL);
	side_make(&b, NULL);
	side_for_datagrams(&a);
	side_for_datagrams(&b);
	ah = make_ah(&a);
	for (int i = 0; i < SIDE_BYTES; i++)
		a.bytes[i] = (char)(i * 7 + i / 256);
}

static void
teardown(void)
{
	ck_assert_int_eq(ibv_destroy_ah(ah), 0);
	side_free(&a);
	side_free(&b);
}

static struct ibv_send_wr
datagram(struct ibv_sge *sge, const struct ibv_qp *to)
{
	return (struct ibv_send_wr){
		.wr_id = 5,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ah, .remote_qpn = to ? to->qp_num : 0, .remote_qkey = KEY },
	};
}

static int
try_send(struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;
	int r = ibv_post_send(a.qp, wr, &bad);

	if (r)
		ck_assert_ptr_eq(bad, wr);
	return r;
}

/* Sends, and the request succeeds whatever becomes of the datagram. */
static void
send_and_complete(struct ibv_send_wr *wr)
{
	ck_assert_int_eq(try_send(wr), 0);
	cq_expect(a.cq, wr->wr_id, IBV_WC_SUCCESS);
}

START_TEST(datagram__arrives_behind_the_header)
{
	struct ibv_sge sge = { (uintptr_t)a.bytes + 100, 300, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, b.qp);
	struct ibv_wc wc;

	side_receive(&b, 11, 0, MTU + GRH);
	side_receive(&b, 12, 8192, MTU + GRH);
	wr.opcode = IBV_WR_SEND_WITH_IMM;
	wr.imm_data = 77;
	send_and_complete(&wr);
	wc = cq_next(b.cq);
	ck_assert_uint_eq(wc.wr_id, 11);
	ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
	ck_assert_int_eq(wc.opcode, IBV_WC_RECV);
	ck_assert_uint_eq(wc.byte_len, GRH + 300);
	ck_assert_uint_eq(wc.wc_flags, IBV_WC_WITH_IMM);
	ck_assert_uint_eq(wc.imm_data, 77);
	ck_assert_uint_eq(wc.src_qp, a.qp->qp_num);
	ck_assert_uint_eq(wc.qp_num, b.qp->qp_num);
	ck_assert_int_eq(memcmp(b.bytes + GRH, a.bytes + 100, 300), 0);

	/* The longest one, inline data, and none. */
	sge.length = MTU;
	wr.opcode = IBV_WR_SEND;
	send_and_complete(&wr);
	wc = cq_next(b.cq);
	ck_assert_uint_eq(wc.byte_len, GRH + MTU);
	ck_assert_uint_eq(wc.wc_flags, 0);
	ck_assert_int_eq(memcmp(b.bytes + 8192 + GRH, a.bytes + 100, MTU), 0);
	side_receive(&b, 13, 0, GRH + 64);
	side_receive(&b, 14, 0, GRH);
	sge.length = 64;
	wr.send_flags |= IBV_SEND_INLINE;
	send_and_complete(&wr);
	ck_assert_uint_eq(cq_next(b.cq).byte_len, GRH + 64);
	wr.num_sge = 0;
	send_and_complete(&wr);
	ck_assert_uint_eq(cq_next(b.cq).byte_len, GRH);
}
END_TEST

START_TEST(datagram__to_its_own_queue_pair__arrives)
{
	struct ibv_sge sge = { (uintptr_t)a.bytes, 8, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, a.qp);

	side_receive(&a, 1, 1000, 64);
	ck_assert_int_eq(try_send(&wr), 0);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	cq_expect(a.cq, 5, IBV_WC_SUCCESS);
}
END_TEST

/* origin: outside.85 */
START_TEST(datagram__cannot_be_received__is_lost_and_the_request_succeeds)
{
	struct ibv_ah_attr attr = { .dlid = 2, .port_num = 1 };
	struct ibv_sge sge = { (uintptr_t)a.bytes, 100, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, b.qp);
	struct ibv_ah *elsewhere;
	struct side connected;

	send_and_complete(&wr); /* no receive */
	side_receive(&b, 1, 0, GRH + 99);
	send_and_complete(&wr); /* a short one, which stays */
	cq_expect_empty(b.cq);
	wr.wr.ud.remote_qkey = KEY + 1;
	sge.length = 50;
	send_and_complete(&wr);
	wr.wr.ud.remote_qkey = KEY;
	wr.wr.ud.remote_qpn = b.qp->qp_num + 1;
	send_and_complete(&wr);
	wr.wr.ud.remote_qpn = 0xffffff; /* of no process */
	send_and_complete(&wr);
	side_make(&connected, NULL);
	side_to_init(&connected, NULL);
	side_receive(&connected, 1, 0, 1000);
	wr.wr.ud.remote_qpn = connected.qp->qp_num;
	send_and_complete(&wr);
	cq_expect_empty(connected.cq);
	side_free(&connected);
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	elsewhere = ibv_create_ah(a.pd, &attr);
	ck_assert_ptr_nonnull(elsewhere);
	wr.wr.ud.ah = elsewhere;
	send_and_complete(&wr);
	ck_assert_int_eq(ibv_destroy_ah(elsewhere), 0);
	cq_expect_empty(b.cq);

	/* What was left of all that: the receive. */
	wr.wr.ud.ah = ah;
	send_and_complete(&wr);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
	to_state(b.qp, IBV_QPS_ERR, 0);
	send_and_complete(&wr);
	cq_expect_empty(b.cq);
}
END_TEST

START_TEST(key__with_its_highest_bit__is_that_of_the_sender)
{
	struct ibv_qp_attr attr = { .qkey = KEY + 5 };
	struct ibv_sge sge = { (uintptr_t)a.bytes, 10, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, b.qp);

	side_receive(&b, 1, 0, 64);
	wr.wr.ud.remote_qkey = 0x80000000u;
	send_and_complete(&wr);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
	side_receive(&b, 2, 0, 64);
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_QKEY), 0);
	send_and_complete(&wr);
	cq_expect_empty(b.cq);
	ck_assert_int_eq(ibv_modify_qp(b.qp, &attr, IBV_QP_QKEY), 0);
	send_and_complete(&wr);
	cq_expect(b.cq, 2, IBV_WC_SUCCESS);
}
END_TEST

START_TEST(request__that_is_no_datagram__is_refused)
{
	struct ibv_sge sge = { (uintptr_t)a.bytes, MTU + 1, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, b.qp);
	struct ibv_ah *foreign = make_ah(&b);

	ck_assert_int_eq(try_send(&wr), EMSGSIZE);
	sge.length = 10;
	wr.wr.ud.ah = NULL;
	ck_assert_int_eq(try_send(&wr), EINVAL);
	wr.wr.ud.ah = foreign; /* of another domain */
	ck_assert_int_eq(try_send(&wr), EINVAL);
	ck_assert_int_eq(ibv_destroy_ah(foreign), 0);
	wr.wr.ud.ah = ah;
	wr.opcode = IBV_WR_RDMA_WRITE;
	ck_assert_int_eq(try_send(&wr), EINVAL);
	wr.opcode = IBV_WR_SEND_WITH_INV;
	ck_assert_int_eq(try_send(&wr), EINVAL);
	cq_expect_empty(a.cq);
}
END_TEST

START_TEST(memory__that_may_not_be_used__fails_the_side_it_belongs_to)
{
	struct ibv_sge sge = { (uintptr_t)a.bytes, 10, a.mr->lkey + 1 };
	struct ibv_send_wr wr = datagram(&sge, b.qp);
	struct ibv_sge bad = { (uintptr_t)b.bytes, 64, b.mr->lkey + 1 };
	struct ibv_recv_wr recv = { .wr_id = 2, .sg_list = &bad, .num_sge = 1 }, *bad_recv;

	side_receive(&b, 1, 0, 64);
	ck_assert_int_eq(ibv_post_recv(b.qp, &recv, &bad_recv), 0);
	sge.lkey = a.mr->lkey;
	send_and_complete(&wr);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
	send_and_complete(&wr); /* into the memory that is not registered */
	cq_expect(b.cq, 2, IBV_WC_LOC_PROT_ERR);
	ck_assert_int_eq(side_try_receive(&b, 3, 0, 64), 0);
	cq_expect(b.cq, 3, IBV_WC_WR_FLUSH_ERR);

	side_for_datagrams(&b);
	side_receive(&b, 4, 0, 64);
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	sge.lkey = a.mr->lkey + 1;
	ck_assert_int_eq(try_send(&wr), 0);
	cq_expect(a.cq, 5, IBV_WC_LOC_PROT_ERR);
	cq_expect_empty(b.cq);
	ck_assert_int_eq(try_send(&wr), 0);
	cq_expect(a.cq, 5, IBV_WC_WR_FLUSH_ERR);
}
END_TEST

START_TEST(global_address__its_header_comes_first_and_answers)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };
	struct ibv_sge sge = { (uintptr_t)a.bytes, 10, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, b.qp);
	struct ibv_ah *global, *back;
	struct ibv_grh *grh = (struct ibv_grh *)(void *)b.bytes;
	struct ibv_wc wc;

	ck_assert_int_eq(ibv_query_gid(a.context, 1, 0, &attr.grh.dgid), 0);
	global = ibv_create_ah(a.pd, &attr);
	ck_assert_ptr_nonnull(global);
	side_receive(&b, 1, 0, 64);
	wr.wr.ud.ah = global;
	send_and_complete(&wr);
	wc = cq_next(b.cq);
	ck_assert_uint_eq(wc.wc_flags, IBV_WC_GRH);
	ck_assert_int_eq(memcmp(&grh->dgid, &attr.grh.dgid, sizeof grh->dgid), 0);
	ck_assert_int_eq(memcmp(&grh->sgid, &attr.grh.dgid, sizeof grh->sgid), 0);
	ck_assert_uint_eq(grh->next_hdr, 0x1b);
	ck_assert_uint_eq(be32toh(grh->version_tclass_flow) >> 28, 6);
	back = ibv_create_ah_from_wc(b.pd, &wc, grh, 1);
	ck_assert_ptr_nonnull(back);
	ck_assert_int_eq(ibv_destroy_ah(back), 0);
	ck_assert_int_eq(ibv_destroy_ah(global), 0);

	/* An address handle belongs to its domain, and to a port that is there. */
	attr.port_num = 2;
	ck_assert_ptr_null(ibv_create_ah(a.pd, &attr));
	ck_assert_int_eq(errno, EINVAL);
	attr.port_num = 1;
	attr.grh.sgid_index = 2;
	ck_assert_ptr_null(ibv_create_ah(a.pd, &attr));
}
END_TEST

START_TEST(address_handle__keeps_its_domain)
{
	struct ibv_pd *pd = ibv_alloc_pd(a.context);
	struct ibv_ah_attr attr = { .dlid = 1, .port_num = 1 };
	struct ibv_ah *own_ah = ibv_create_ah(pd, &attr);

	ck_assert_ptr_nonnull(own_ah);
	ck_assert_int_eq(ibv_dealloc_pd(pd), EBUSY);
	ck_assert_int_eq(ibv_destroy_ah(own_ah), 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
}
END_TEST

START_TEST(shared_queue__gives_receives_to_datagrams)
{
	const struct side_options options = { .srq = 8 };
	struct ibv_sge sge = { (uintptr_t)a.bytes, 10, a.mr->lkey };
	struct ibv_send_wr wr;
	struct side shared;

	side_make(&shared, &options);
	side_for_datagrams(&shared);
	wr = datagram(&sge, shared.qp);
	send_and_complete(&wr);
	side_receive(&shared, 1, 0, 64);
	cq_expect_empty(shared.cq);
	send_and_complete(&wr);
	cq_expect(shared.cq, 1, IBV_WC_SUCCESS);
	side_free(&shared);
}
END_TEST

START_TEST(states__need_a_key_and_no_peer)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = KEY };
	struct ibv_sge sge = { (uintptr_t)a.bytes, 10, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, b.qp), *bad;
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp = make_qp(&a);

	ck_assert_int_eq(
	    ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT), EINVAL);
	ck_assert_int_eq(
	    ibv_modify_qp(qp, &attr,
		IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_ACCESS_FLAGS),
	    EINVAL);
	to_state(qp, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	attr.qp_state = IBV_QPS_RTR;
	ck_assert_int_eq(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN), EINVAL);
	to_state(qp, IBV_QPS_RTR, 0);
	ck_assert_int_eq(ibv_post_send(qp, &wr, &bad), EINVAL);
	to_state(qp, IBV_QPS_RTS, IBV_QP_SQ_PSN);
	ck_assert_int_eq(ibv_query_qp(qp, &attr, IBV_QP_QKEY, &init), 0);
	ck_assert_uint_eq(attr.qkey, KEY);
	ck_assert_int_eq(init.qp_type, IBV_QPT_UD);
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
}
END_TEST

/* --- ids */

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
setup_ids(void)
{
	channel = cm_channel();
	side_make(&a, NULL);
	side_make(&b, NULL);
	side_for_datagrams(&a);
	side_for_datagrams(&b);
	ah = make_ah(&a);
}

static void
teardown_ids(void)
{
	teardown();
	rdma_destroy_event_channel(channel);
}

START_TEST(lookup__accepted__gives_queue_pair_key_and_address)
{
	struct rdma_conn_param answer = { .private_data = "answer", .private_data_len = 6 };
	struct rdma_cm_id *listener, *active, *passive;
	struct rdma_cm_event *event;
	char data[180] = "question";
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
	answer.qp_num = b.qp->qp_num;
	ck_assert_int_eq(rdma_accept(passive, &answer), 0);
	ck_assert_int_eq(rdma_accept(passive, &answer), -1);
	event = cm_next(channel, RDMA_CM_EVENT_ESTABLISHED);
	ck_assert_ptr_eq(event->id, active);
	ck_assert_uint_eq(event->param.ud.qp_num, b.qp->qp_num);
	ck_assert_uint_eq(event->param.ud.qkey, RDMA_UDP_QKEY);
	ck_assert_uint_eq(event->param.ud.ah_attr.dlid, 1);
	ck_assert_uint_eq(event->param.ud.private_data_len, 136);
	ck_assert_str_eq(event->param.ud.private_data, "answer");
	rdma_ack_cm_event(event);
	/* Nothing is connected, and nothing ends. */
	ck_assert_int_eq(rdma_disconnect(active), -1);
	ck_assert_int_eq(rdma_destroy_id(passive), 0);
	ck_assert_int_eq(rdma_destroy_id(active), 0);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
}
END_TEST

START_TEST(lookup__refused__says_why_with_data)
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
END_TEST

START_TEST(lookup__given_up__the_service_answers_in_vain)
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
END_TEST

START_TEST(id_with_its_queue_pair__can_send_at_once)
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
END_TEST

/* --- two processes */

#define MANY 50

static void
own_for_datagrams(void)
{
	side_make(&own, NULL);
	side_for_datagrams(&own);
	own_exchange();
	ah = make_ah(&own);
}

static int
own_try_send(uint32_t qpn, uint32_t length, __be32 number)
{
	struct ibv_sge sge = { (uintptr_t)own.bytes, length, own.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = number,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ah, .remote_qpn = qpn, .remote_qkey = KEY },
	}, *bad;

	return ibv_post_send(own.qp, &wr, &bad);
}

static void
own_send(uint32_t qpn, uint32_t length, __be32 number)
{
	ck_assert_int_eq(own_try_send(qpn, length, number), 0);
	cq_expect(own.cq, 0, IBV_WC_SUCCESS);
}

static void
own_finish(void)
{
	ck_assert_int_eq(ibv_destroy_ah(ah), 0);
	own_end();
}

static void
sending(void)
{
	own_for_datagrams();
	memset(own.bytes, 'd', MTU);
	for (uint32_t i = 0; i < MANY; i++) {
		other_meet();
		own_send(own_peer.qpn, MTU, i);
	}
	own_finish();
}

START_TEST(datagrams__of_another_process__arrive)
{
	struct ibv_wc wc;

	other_start(sending);
	own_for_datagrams();
	for (uint32_t i = 0; i < MANY; i++) {
		side_receive(&own, i, 0, GRH + MTU);
		own.bytes[GRH + MTU - 1] = 0;
		other_meet();
		wc = cq_next(own.cq);
		ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
		ck_assert_uint_eq(wc.wr_id, i);
		ck_assert_uint_eq(wc.imm_data, i);
		ck_assert_uint_eq(wc.byte_len, GRH + MTU);
		ck_assert_uint_eq(wc.src_qp, own_peer.qpn);
		ck_assert_int_eq(own.bytes[GRH + MTU - 1], 'd');
	}
	own_finish();
	other_finish();
}
END_TEST

static void
idle(void)
{
	own_for_datagrams();
	own_finish();
}

/* Posts until the send queue is full, as it is when the link is; returns how many are not complete. */
static int
fill_link(void)
{
	struct ibv_wc wc;
	int left = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		if (own_try_send(own_peer.qpn, MTU, i))
			return left;
		left++;
		while (ibv_poll_cq(own.cq, 1, &wc) > 0) {
			ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
			left--;
		}
	}
	ck_abort_msg("the link is never full");
	return 0;
}

START_TEST(datagrams__to_a_process_that_reads_late__wait_for_room)
{
	int left;

	other_start(idle);
	own_for_datagrams();
	own_send(own_peer.qpn, MTU, 0); /* opens the link */
	patience_set("100");		/* also on a busy machine */
	other_stop();
	left = fill_link();
	ck_assert_int_ge(left, 16); /* more where completions become visible late */
	other_go_on();
	for (; left; left--)
		cq_expect(own.cq, 0, IBV_WC_SUCCESS);
	own_finish();
	other_finish();
}
END_TEST

START_TEST(datagrams__that_wait__are_flushed_by_an_error)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int left, flushed = 0;

	other_start(idle);
	own_for_datagrams();
	own_send(own_peer.qpn, MTU, 0);
	patience_set("100");
	other_stop();
	left = fill_link();
	ck_assert_int_eq(ibv_modify_qp(own.qp, &attr, IBV_QP_STATE), 0);
	for (; left; left--)
		flushed += cq_next(own.cq).status == IBV_WC_WR_FLUSH_ERR;
	ck_assert_int_eq(flushed, 16);
	other_go_on();
	own_finish();
	other_finish();
}
END_TEST

START_TEST(datagrams__to_a_process_that_is_stopped_or_gone__are_lost)
{
	other_start(idle);
	own_for_datagrams();
	patience_fall_silent();
	/* More than the link takes. */
	for (uint32_t i = 0; i < 500; i++)
		own_send(own_peer.qpn, MTU, i);
	other_go_on();
	other_kill();
	for (uint32_t i = 0; i < 5; i++)
		own_send(own_peer.qpn, MTU, i);
	ck_assert_int_eq(ibv_destroy_ah(ah), 0);
	side_free(&own);
}
END_TEST

Suite *
soft_datagram_suite(void)
{
	Suite *s = suite_create("soft-datagram");
	TCase *tc = runner_tcase(s, "queue pairs");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, datagram__arrives_behind_the_header);
	tcase_add_test(tc, datagram__to_its_own_queue_pair__arrives);
	tcase_add_test(tc, datagram__cannot_be_received__is_lost_and_the_request_succeeds);
	tcase_add_test(tc, key__with_its_highest_bit__is_that_of_the_sender);
	tcase_add_test(tc, request__that_is_no_datagram__is_refused);
	tcase_add_test(tc, memory__that_may_not_be_used__fails_the_side_it_belongs_to);
	tcase_add_test(tc, global_address__its_header_comes_first_and_answers);
	tcase_add_test(tc, address_handle__keeps_its_domain);
	tcase_add_test(tc, shared_queue__gives_receives_to_datagrams);
	tcase_add_test(tc, states__need_a_key_and_no_peer);

	tc = runner_tcase(s, "ids");
	tcase_add_checked_fixture(tc, setup_ids, teardown_ids);
	tcase_add_test(tc, lookup__accepted__gives_queue_pair_key_and_address);
	tcase_add_test(tc, lookup__refused__says_why_with_data);
	tcase_add_test(tc, lookup__given_up__the_service_answers_in_vain);
	tcase_add_test(tc, id_with_its_queue_pair__can_send_at_once);

	tc = runner_tcase(s, "processes");
	tcase_add_checked_fixture(tc, patience_begin, patience_end);
	tcase_add_test(tc, datagrams__of_another_process__arrive);
	tcase_add_test(tc, datagrams__to_a_process_that_reads_late__wait_for_room);
	tcase_add_test(tc, datagrams__that_wait__are_flushed_by_an_error);
	tcase_add_test(tc, datagrams__to_a_process_that_is_stopped_or_gone__are_lost);
	return s;
}
