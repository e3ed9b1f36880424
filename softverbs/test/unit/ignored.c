/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ignored -- arguments that a manual page says are ignored, optional or irrelevant
 *
 * A row for each such sentence of the pages of libibverbs and librdmacm that is about what the
 * device has.  Each gives the argument a value that does harm when it is read: an address that is
 * not mapped, or a number out of range.
 */
#include "mw_story.h"
#include "pair.h"

/* Neither NULL nor mapped. */
#define NOWHERE ((void *)8)

static struct ibv_qp_init_attr
plain_init(void)
{
	return (struct ibv_qp_init_attr){
		.send_cq = a.cq, .recv_cq = a.cq, .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};
}

/* ---- queue pairs ---- */

static void
create_qp_receives_with_an_srq(void)
{
	static const struct ibv_qp_cap caps[] = { { 1, 32769, 1, 1, 0 }, { 1, 1, 1, 33, 0 },
		{ 1, UINT32_MAX, 1, UINT32_MAX, 0 } };
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(a.pd, &srq_init);

	ck_assert_ptr_nonnull(srq);
	for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
		struct ibv_qp_init_attr init = plain_init();
		struct ibv_qp_init_attr_ex extended = { .send_cq = a.cq,
			.recv_cq = a.cq,
			.srq = srq,
			.cap = caps[i],
			.qp_type = IBV_QPT_RC,
			.comp_mask = IBV_QP_INIT_ATTR_PD,
			.pd = a.pd };
		struct ibv_qp *qp;

		init.srq = srq;
		init.cap = caps[i];
		qp = ibv_create_qp(a.pd, &init);
		ck_assert_ptr_nonnull(qp);
		ck_assert_uint_eq(init.cap.max_recv_wr, 0);
		ck_assert_int_eq(ibv_destroy_qp(qp), 0);
		qp = ibv_create_qp_ex(a.context, &extended);
		ck_assert_ptr_nonnull(qp);
		ck_assert_int_eq(ibv_destroy_qp(qp), 0);
	}
	ck_assert_int_eq(ibv_destroy_srq(srq), 0);
}

static void
create_qp_ex_members_without_their_bits(void)
{
	struct ibv_qp_init_attr_ex init = { .send_cq = a.cq,
		.recv_cq = a.cq,
		.cap = { 1, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = a.pd,
		.xrcd = NOWHERE,
		.create_flags = UINT32_MAX,
		.max_tso_header = UINT16_MAX,
		.rwq_ind_tbl = NOWHERE,
		.source_qpn = UINT32_MAX,
		.send_ops_flags = UINT64_MAX };
	struct ibv_qp *qp = ibv_create_qp_ex(a.context, &init);

	ck_assert_ptr_nonnull(qp);
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
}

static void
modify_qp_attributes_without_their_bits(void)
{
	struct ibv_qp_init_attr init = plain_init();
	struct ibv_qp *qp = ibv_create_qp(a.pd, &init);
	struct ibv_qp_attr attr;

	ck_assert_ptr_nonnull(qp);
	memset(&attr, 0xff, sizeof attr);
	attr.qp_state = IBV_QPS_INIT;
	attr.pkey_index = 0;
	attr.port_num = 1;
	attr.qp_access_flags = 0;
	ck_assert_int_eq(ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	    0);
	attr.qp_state = IBV_QPS_ERR;
	ck_assert_int_eq(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RESET;
	ck_assert_int_eq(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
}

static void
modify_qp_global_route_of_a_local_address(void)
{
	struct ibv_qp_init_attr init = plain_init();
	struct ibv_qp *qp = ibv_create_qp(a.pd, &init);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	ck_assert_int_eq(ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	    0);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = qp->qp_num,
		.ah_attr = { .grh = { .sgid_index = 255 }, .dlid = 1, .port_num = 1 } };
	ck_assert_int_eq(ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				 IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
	    0);
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
}

/* ---- requests ---- */

static void
post_list_of_no_segments(void)
{
	struct ibv_send_wr send = { .wr_id = 2,
		.sg_list = NOWHERE,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad_send;
	struct ibv_recv_wr receive = { .wr_id = 1, .sg_list = NOWHERE }, *bad_receive;

	ck_assert_int_eq(ibv_post_recv(b.qp, &receive, &bad_receive), 0);
	ck_assert_int_eq(ibv_post_send(a.qp, &send, &bad_send), 0);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
}

static void
post_key_of_inline_data(void)
{
	struct ibv_sge sge = { .addr = (uintptr_t)a.bytes, .length = 4, .lkey = UINT32_MAX };
	struct ibv_send_wr send = { .wr_id = 2,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE },
			   *bad;

	side_receive(&b, 1, 0, 4);
	ck_assert_int_eq(ibv_post_send(a.qp, &send, &bad), 0);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
}

static void
post_place_of_a_message_without_one(void)
{
	struct ibv_sge sge = { .addr = (uintptr_t)a.bytes, .length = 4, .lkey = a.mr->lkey };
	struct ibv_send_wr send = { .wr_id = 2, .sg_list = &sge, .num_sge = 1 }, *bad;

	memset(&send.wr, 0xff, sizeof send.wr);
	send.opcode = IBV_WR_SEND;
	send.send_flags = IBV_SEND_SIGNALED;
	side_receive(&b, 1, 0, 4);
	ck_assert_int_eq(ibv_post_send(a.qp, &send, &bad), 0);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
}

/* ---- memory ---- */

static void
rereg_mr_what_does_not_change(void)
{
	struct ibv_pd *other = ibv_alloc_pd(a.context);
	struct ibv_mr *mr = ibv_reg_mr(a.pd, a.bytes, 4096, IBV_ACCESS_LOCAL_WRITE);

	ck_assert_ptr_nonnull(mr);
	ck_assert_int_eq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NOWHERE, NOWHERE, SIZE_MAX,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ),
	    0);
	ck_assert_int_eq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, other, NOWHERE, SIZE_MAX, 0), 0);
	ck_assert_ptr_eq(mr->pd, other);
	ck_assert_int_eq(
	    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NOWHERE, a.bytes, 8192, 0), 0);
	ck_assert_ptr_eq(mr->addr, a.bytes);
	ck_assert_uint_eq(mr->length, 8192);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	ck_assert_int_eq(ibv_dealloc_pd(other), 0);
}

static void
bind_mw_region_of_an_empty_window(void)
{
	struct ibv_mw *mw = mw_make(&a, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = { .wr_id = 1, .send_flags = IBV_SEND_SIGNALED };

	ck_assert_int_eq(ibv_bind_mw(a.qp, mw, &bind), 0);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

static void
bind_mw_local_writing(void)
{
	static const enum ibv_mw_type types[] = { IBV_MW_TYPE_1, IBV_MW_TYPE_2 };

	for (size_t i = 0; i < 2; i++) {
		struct ibv_mw *mw = mw_make(&a, types[i]);

		mw_bind(&a, mw, 0, 64, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE);
		ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	}
}

/* ---- completion queues and shared receive queues ---- */

static void
create_cq_ex_members_without_their_bits(void)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 1, .flags = UINT32_MAX, .parent_domain = NOWHERE
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(a.context, &init);

	ck_assert_ptr_nonnull(cq);
	ck_assert_int_eq(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

static void
create_srq_limit(void)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 1, .max_sge = 1, .srq_limit = UINT32_MAX }
	};
	struct ibv_srq *srq = ibv_create_srq(a.pd, &init);
	struct ibv_srq_attr attr;

	ck_assert_ptr_nonnull(srq);
	ck_assert_int_eq(ibv_query_srq(srq, &attr), 0);
	ck_assert_uint_eq(attr.srq_limit, 0);
	ck_assert_int_eq(ibv_destroy_srq(srq), 0);
}

static void
modify_srq_segments_and_what_has_no_bit(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 2 } };
	struct ibv_srq *srq = ibv_create_srq(a.pd, &init);
	struct ibv_srq_attr attr = { .max_wr = UINT32_MAX, .max_sge = UINT32_MAX, .srq_limit = 1 };

	ck_assert_ptr_nonnull(srq);
	ck_assert_int_eq(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
	attr.max_wr = 8;
	attr.srq_limit = UINT32_MAX;
	ck_assert_int_eq(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), 0);
	ck_assert_int_eq(ibv_query_srq(srq, &attr), 0);
	ck_assert_uint_eq(attr.max_sge, 2);
	async_expect(a.context, IBV_EVENT_SRQ_LIMIT_REACHED, srq); /* no receive was posted */
	ck_assert_int_eq(ibv_destroy_srq(srq), 0);
}

/* ---- domains and addresses ---- */

static void
parent_domain_members_without_their_bits(void)
{
	struct ibv_parent_domain_init_attr init = {
		.pd = a.pd, .alloc = NOWHERE, .pd_context = NOWHERE
	};
	struct ibv_pd *parent = ibv_alloc_parent_domain(a.context, &init);

	ck_assert_ptr_nonnull(parent);
	ck_assert_int_eq(ibv_dealloc_pd(parent), 0);
}

static void
create_ah_route_of_a_local_address(void)
{
	struct ibv_ah_attr attr = { .grh = { .sgid_index = 255 }, .dlid = 1, .port_num = 1 };
	struct ibv_ah *ah = ibv_create_ah(a.pd, &attr);

	ck_assert_ptr_nonnull(ah);
	ck_assert_int_eq(ibv_destroy_ah(ah), 0);
}

static void
create_ah_from_wc_header_that_did_not_come(void)
{
	struct ibv_wc wc = { .slid = 1 };
	struct ibv_ah *ah = ibv_create_ah_from_wc(a.pd, &wc, NOWHERE, 1);

	ck_assert_ptr_nonnull(ah);
	ck_assert_int_eq(ibv_destroy_ah(ah), 0);
}

static void
get_device_list_without_a_count(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	ck_assert_ptr_nonnull(list);
	ibv_free_device_list(list);
}

/* ---- connection manager ---- */

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener, *active, *passive;

static void
cm_begin(void)
{
	uint16_t port;
	struct rdma_cm_event *event;

	channel = cm_channel();
	listener = cm_listen(channel, &port);
	active = cm_resolved(channel, port);
	cm_qp(active, NULL);
	(void)event;
}

static void
cm_end(void)
{
	rdma_disconnect(active);
	cm_forget(&active);
	if (passive)
		cm_forget(&passive);
	cm_forget(&listener);
	rdma_destroy_event_channel(channel);
	passive = NULL;
}

static void
cm_request(struct rdma_conn_param *param)
{
	struct rdma_cm_event *event;

	ck_assert_int_eq(rdma_connect(active, param), 0);
	event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	passive = event->id;
	rdma_ack_cm_event(event);
}

/*
 * The number and the SRQ of the caller, if the id has a queue pair; its retries, when it accepts;
 * data of no length.
 */
static void
connect_and_accept_members_of_an_id_with_a_queue_pair(void)
{
	struct rdma_conn_param param = { .private_data = NOWHERE,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.srq = 1,
		.qp_num = UINT32_MAX };

	cm_begin();
	cm_request(&param);
	cm_qp(passive, NULL);
	param.retry_count = UINT8_MAX;
	ck_assert_int_eq(rdma_accept(passive, &param), 0);
	rdma_ack_cm_event(cm_next(channel, RDMA_CM_EVENT_ESTABLISHED));
	rdma_ack_cm_event(cm_next(channel, RDMA_CM_EVENT_ESTABLISHED));
	cm_end();
}

static void
reject_data_of_no_length(void)
{
	struct rdma_conn_param param = { .retry_count = 7 };

	cm_begin();
	cm_request(&param);
	ck_assert_int_eq(rdma_reject(passive, NOWHERE, 0), 0);
	cm_expect(channel, RDMA_CM_EVENT_REJECTED, active);
	cm_end();
}

static void
resolve_addr_source_and_context(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rdma_event_channel *own = cm_channel();
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(own, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, -1), 0);
	cm_expect(own, RDMA_CM_EVENT_ADDR_RESOLVED, id);
	ck_assert_int_eq(rdma_resolve_route(id, -1), 0);
	cm_expect(own, RDMA_CM_EVENT_ROUTE_RESOLVED, id);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(own);
}

static void
get_devices_without_a_count(void)
{
	struct ibv_context **list = rdma_get_devices(NULL);

	ck_assert_ptr_nonnull(list);
	rdma_free_devices(list);
}

static const struct {
	const char *page;
	void (*run)(void);
} rows[] = {
	{ "ibv_create_qp(3), ibv_create_qp_ex(3)", create_qp_receives_with_an_srq },
	{ "ibv_create_qp_ex(3)", create_qp_ex_members_without_their_bits },
	{ "ibv_modify_qp(3)", modify_qp_attributes_without_their_bits },
	{ "ibv_modify_qp(3)", modify_qp_global_route_of_a_local_address },
	{ "ibv_post_send(3), ibv_post_recv(3)", post_list_of_no_segments },
	{ "ibv_post_send(3)", post_key_of_inline_data },
	{ "ibv_post_send(3)", post_place_of_a_message_without_one },
	{ "ibv_rereg_mr(3)", rereg_mr_what_does_not_change },
	{ "ibv_bind_mw(3)", bind_mw_region_of_an_empty_window },
	{ "ibv_bind_mw(3)", bind_mw_local_writing },
	{ "ibv_create_cq_ex(3)", create_cq_ex_members_without_their_bits },
	{ "ibv_create_srq(3)", create_srq_limit },
	{ "ibv_modify_srq(3)", modify_srq_segments_and_what_has_no_bit },
	{ "ibv_alloc_parent_domain(3)", parent_domain_members_without_their_bits },
	{ "ibv_create_ah(3)", create_ah_route_of_a_local_address },
	{ "ibv_create_ah_from_wc(3)", create_ah_from_wc_header_that_did_not_come },
	{ "ibv_get_device_list(3)", get_device_list_without_a_count },
	{ "rdma_connect(3), rdma_accept(3)",
	    connect_and_accept_members_of_an_id_with_a_queue_pair },
	{ "rdma_reject(3)", reject_data_of_no_length },
	{ "rdma_resolve_addr(3), rdma_create_id(3)", resolve_addr_source_and_context },
	{ "rdma_get_devices(3)", get_devices_without_a_count },
};
#define ROWS ((int)(sizeof rows / sizeof *rows))

MW_CASE("soft-ignored:rows");

/* origin: out33.F01, out33.F02, out33.F03 */
TEST_LOOP(argument__that_its_page_says_is_ignored__is_ignored, ROWS)
{
	rows[_i].run();
}
