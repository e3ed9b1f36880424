/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datagram -- queue pairs of unreliable datagrams, and address handles
 */
#include "datagram_story.h"

#include "softverbs/device/topology.h"
#include "softverbs/qp/datagram.h"
#include "softverbs/wire/link.h"

static struct side a, b;
static struct ibv_ah *ah; /* of a, to the port */

static void
setup(void)
{
	side_make(&a, NULL);
	side_make(&b, NULL);
	datagram_side(&a);
	datagram_side(&b);
	ah = datagram_ah(&a);
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
		.wr.ud = { .ah = ah,
		    .remote_qpn = to ? to->qp_num : 0,
		    .remote_qkey = DATAGRAM_KEY },
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

CASE("soft-datagram:queue pairs", setup, teardown);

TEST(datagram__arrives_behind_the_header)
{
	struct ibv_sge sge = { (uintptr_t)a.bytes + 100, 300, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, b.qp);
	struct ibv_wc wc;

	side_receive(&b, 11, 0, DATAGRAM_MTU + DATAGRAM_GRH);
	side_receive(&b, 12, 8192, DATAGRAM_MTU + DATAGRAM_GRH);
	wr.opcode = IBV_WR_SEND_WITH_IMM;
	wr.imm_data = 77;
	send_and_complete(&wr);
	wc = cq_next(b.cq);
	ck_assert_uint_eq(wc.wr_id, 11);
	ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
	ck_assert_int_eq(wc.opcode, IBV_WC_RECV);
	ck_assert_uint_eq(wc.byte_len, DATAGRAM_GRH + 300);
	ck_assert_uint_eq(wc.wc_flags, IBV_WC_WITH_IMM);
	ck_assert_uint_eq(wc.imm_data, 77);
	ck_assert_uint_eq(wc.src_qp, a.qp->qp_num);
	ck_assert_uint_eq(wc.qp_num, b.qp->qp_num);
	ck_assert_int_eq(memcmp(b.bytes + DATAGRAM_GRH, a.bytes + 100, 300), 0);

	/* The longest one, inline data, and none. */
	sge.length = DATAGRAM_MTU;
	wr.opcode = IBV_WR_SEND;
	send_and_complete(&wr);
	wc = cq_next(b.cq);
	ck_assert_uint_eq(wc.byte_len, DATAGRAM_GRH + DATAGRAM_MTU);
	ck_assert_uint_eq(wc.wc_flags, 0);
	ck_assert_int_eq(memcmp(b.bytes + 8192 + DATAGRAM_GRH, a.bytes + 100, DATAGRAM_MTU), 0);
	side_receive(&b, 13, 0, DATAGRAM_GRH + 64);
	side_receive(&b, 14, 0, DATAGRAM_GRH);
	sge.length = 64;
	wr.send_flags |= IBV_SEND_INLINE;
	send_and_complete(&wr);
	ck_assert_uint_eq(cq_next(b.cq).byte_len, DATAGRAM_GRH + 64);
	wr.num_sge = 0;
	send_and_complete(&wr);
	ck_assert_uint_eq(cq_next(b.cq).byte_len, DATAGRAM_GRH);
}

TEST(datagram__to_its_own_queue_pair__arrives)
{
	struct ibv_sge sge = { (uintptr_t)a.bytes, 8, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, a.qp);

	side_receive(&a, 1, 1000, 64);
	ck_assert_int_eq(try_send(&wr), 0);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	cq_expect(a.cq, 5, IBV_WC_SUCCESS);
}

/* origin: outside.85 */
TEST(datagram__cannot_be_received__is_lost_and_the_request_succeeds)
{
	struct ibv_ah_attr attr = { .dlid = 2, .port_num = 1 };
	struct ibv_sge sge = { (uintptr_t)a.bytes, 100, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, b.qp);
	struct ibv_ah *elsewhere;
	struct side connected;

	send_and_complete(&wr); /* no receive */
	side_receive(&b, 1, 0, DATAGRAM_GRH + 99);
	send_and_complete(&wr); /* a short one, which stays */
	cq_expect_empty(b.cq);
	wr.wr.ud.remote_qkey = DATAGRAM_KEY + 1;
	sge.length = 50;
	send_and_complete(&wr);
	wr.wr.ud.remote_qkey = DATAGRAM_KEY;
	wr.wr.ud.remote_qpn = b.qp->qp_num + 1;
	send_and_complete(&wr);
	wr.wr.ud.remote_qpn = 0xffffff; /* of no process */
	send_and_complete(&wr);
	side_make(&connected, NULL);
	side_to_init(&connected, NULL);
	side_receive(&connected, 1, 0, 1000);
	wr.wr.ud.remote_qpn = connected.qp->qp_num;
	send_and_complete(&wr);
	side_to_rtr(&connected, connected.qp->qp_num);
	side_to_rts(&connected, NULL);
	wr.wr.ud.remote_qkey = 0; /* which a queue pair without a key has */
	send_and_complete(&wr);
	cq_expect_empty(connected.cq);
	side_free(&connected);
	wr.wr.ud.remote_qkey = DATAGRAM_KEY;
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
	datagram_to_state(b.qp, IBV_QPS_ERR, 0);
	send_and_complete(&wr);
	cq_expect_empty(b.cq);
}

TEST(key__with_its_highest_bit__is_that_of_the_sender)
{
	struct ibv_qp_attr attr = { .qkey = DATAGRAM_KEY + 5 };
	struct ibv_sge sge = { (uintptr_t)a.bytes, 10, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, b.qp);

	side_receive(&b, 1, 0, 64);
	wr.wr.ud.remote_qkey = 0x80000123u; /* the other bits mean nothing */
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

TEST(request__that_is_no_datagram__is_refused)
{
	struct ibv_sge sge = { (uintptr_t)a.bytes, DATAGRAM_MTU + 1, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, b.qp);
	struct ibv_ah *foreign = datagram_ah(&b);

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

/* origin: out33.U1 */
TEST(memory__that_may_not_be_used__fails_the_side_it_belongs_to)
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

	datagram_side(&b);
	side_receive(&b, 4, 0, 64);
	sge.lkey = a.mr->lkey + 1;
	for (int i = 0; i < 3; i++) { /* to b; to a, which has no receive; to none */
		datagram_side(&a);
		wr.wr.ud.remote_qpn = (uint32_t[]){ b.qp->qp_num, a.qp->qp_num, 0 }[i];
		ck_assert_int_eq(try_send(&wr), 0);
		cq_expect(a.cq, 5, IBV_WC_LOC_PROT_ERR);
		cq_expect_empty(b.cq);
	}
	ck_assert_int_eq(try_send(&wr), 0);
	cq_expect(a.cq, 5, IBV_WC_WR_FLUSH_ERR);
}

TEST(global_address__its_header_comes_first_and_answers)
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
	ck_assert_uint_eq(be16toh(grh->paylen), 10);
	ck_assert_uint_ge(grh->hop_limit, 1);
	back = ibv_create_ah_from_wc(b.pd, &wc, grh, 1);
	ck_assert_ptr_nonnull(back);
	ck_assert_int_eq(ibv_destroy_ah(back), 0);
	ck_assert_int_eq(ibv_destroy_ah(global), 0);

	/* The other address of the port leads there, too, and that of another port nowhere. */
	for (int i = 1; i >= 0; i--) {
		ck_assert_int_eq(ibv_query_gid(a.context, 1, 1, &attr.grh.dgid), 0);
		attr.grh.dgid.raw[0] ^= i ? 0 : 0x80;
		wr.wr.ud.ah = ibv_create_ah(a.pd, &attr);
		side_receive(&b, 2, 0, 64);
		send_and_complete(&wr);
		if (i)
			cq_expect(b.cq, 2, IBV_WC_SUCCESS);
		else
			cq_expect_empty(b.cq);
		ck_assert_int_eq(ibv_destroy_ah(wr.wr.ud.ah), 0);
	}

	/* An address handle belongs to its domain, and to a port that is there. */
	attr.port_num = 2;
	ck_assert_ptr_null(ibv_create_ah(a.pd, &attr));
	ck_assert_int_eq(errno, EINVAL);
	attr.port_num = 1;
	attr.grh.sgid_index = 2;
	ck_assert_ptr_null(ibv_create_ah(a.pd, &attr));
}

/* A datagram says it, and the address of its sender is made of it. */
TEST(address_of_the_sender__is_that_of_its_header)
{
	struct ibv_wc wc = { .slid = 3, .sl = 5, .dlid_path_bits = 6 };
	struct ibv_grh grh = { .version_tclass_flow = htobe32(6u << 28 | 0x5au << 20 | 0xabcde) };
	struct ibv_ah_attr attr;
	union ibv_gid own;

	memset(&attr, 0xff, sizeof attr);
	ck_assert_int_eq(ibv_init_ah_from_wc(b.context, 1, &wc, &grh, &attr), 0);
	ck_assert_uint_eq(attr.is_global, 0);
	wc.wc_flags = IBV_WC_GRH;
	ck_assert_int_eq(ibv_init_ah_from_wc(b.context, 2, &wc, &grh, &attr), -1);
	for (int i = 0; i < 3; i++) {
		grh.sgid.raw[15] = (uint8_t)(7 + i);
		if (i < 2)
			ck_assert_int_eq(ibv_query_gid(b.context, 1, i, &own), 0);
		else
			own.raw[0] ^= 0x80; /* not the port's */
		grh.dgid = own;
		memset(&attr, 0xff, sizeof attr);
		wc.wc_flags = IBV_WC_GRH;
		ck_assert_int_eq(ibv_init_ah_from_wc(b.context, 1, &wc, &grh, &attr), 0);
		ck_assert_uint_eq(attr.dlid, 3);
		ck_assert_uint_eq(attr.sl, 5);
		ck_assert_uint_eq(attr.src_path_bits, 6);
		ck_assert_uint_eq(attr.port_num, 1);
		ck_assert_uint_eq(attr.is_global, 1);
		ck_assert_uint_eq(attr.grh.flow_label, 0xabcde);
		ck_assert_uint_eq(attr.grh.traffic_class, 0x5a);
		ck_assert_uint_eq(attr.grh.hop_limit, 0xff);
		ck_assert_int_eq(memcmp(&attr.grh.dgid, &grh.sgid, sizeof grh.sgid), 0);
		if (i < 2)
			ck_assert_uint_eq(attr.grh.sgid_index, i);
	}
}

TEST(solicited_datagram__is_an_event_for_who_asked_for_these)
{
	struct ibv_sge sge = { (uintptr_t)a.bytes, 10, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, b.qp);

	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 1), 0);
	for (uint64_t i = 0; i < 4; i++) {
		side_receive(&b, i, 0, 64);
		wr.opcode = i % 2 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
		wr.send_flags = IBV_SEND_SIGNALED | (i / 2 ? IBV_SEND_SOLICITED : 0);
		send_and_complete(&wr);
		if (i / 2) {
			channel_expect(b.channel, b.cq);
			ck_assert_int_eq(ibv_req_notify_cq(b.cq, 1), 0);
		}
		channel_expect_no_event(b.channel);
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
	}
}

/* It was taken for a datagram that was too long for it. */
TEST(reset__forgets_a_receive_that_was_too_short)
{
	struct ibv_sge sge = { (uintptr_t)a.bytes, 100, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, b.qp);

	side_receive(&b, 1, 0, DATAGRAM_GRH + 99);
	send_and_complete(&wr);
	datagram_to_state(b.qp, IBV_QPS_RESET, 0);
	datagram_to_rts(b.qp);
	send_and_complete(&wr); /* there is none */
	side_receive(&b, 2, 4096, DATAGRAM_GRH + 100);
	send_and_complete(&wr);
	cq_expect(b.cq, 2, IBV_WC_SUCCESS);
	cq_expect_empty(b.cq);
}

/* From RTR on, also while its own requests wait. */
TEST(states__in_which_datagrams_arrive)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
		IBV_QPS_SQD };
	struct ibv_sge sge = { (uintptr_t)a.bytes, 10, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, b.qp);

	datagram_to_state(b.qp, IBV_QPS_RESET, 0);
	for (uint64_t i = 0; i < 4; i++) {
		datagram_to_state(b.qp, states[i],
		    states[i] == IBV_QPS_INIT ? IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY :
		    states[i] == IBV_QPS_RTS  ? IBV_QP_SQ_PSN :
						0);
		side_receive(&b, i, 0, 64);
		send_and_complete(&wr);
		if (i)
			cq_expect(b.cq, i - 1, IBV_WC_SUCCESS);
		cq_expect_empty(b.cq);
	}
}

TEST(address_handle__keeps_its_domain)
{
	struct ibv_pd *pd = ibv_alloc_pd(a.context);
	struct ibv_ah_attr attr = { .dlid = 1, .port_num = 1 };
	struct ibv_ah *own_ah = ibv_create_ah(pd, &attr);

	ck_assert_ptr_nonnull(own_ah);
	ck_assert_int_eq(ibv_dealloc_pd(pd), EBUSY);
	ck_assert_int_eq(ibv_destroy_ah(own_ah), 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
}

/* The memory of its receives is that of its domain, which the queue pair may not share. */
TEST(shared_queue__gives_receives_to_datagrams)
{
	const struct side_options options = { .srq = 8 };
	struct ibv_sge sge = { (uintptr_t)a.bytes, 10, a.mr->lkey };
	struct ibv_send_wr wr;
	struct ibv_pd *own_pd;
	struct side shared;

	side_make(&shared, &options);
	own_pd = shared.pd;
	shared.pd = ibv_alloc_pd(shared.context);
	datagram_side(&shared);
	wr = datagram(&sge, shared.qp);
	send_and_complete(&wr);
	side_receive(&shared, 1, 0, 64);
	cq_expect_empty(shared.cq);
	send_and_complete(&wr);
	cq_expect(shared.cq, 1, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_destroy_qp(shared.qp), 0);
	ck_assert_int_eq(ibv_dealloc_pd(shared.pd), 0);
	shared.qp = NULL;
	shared.pd = own_pd;
	side_free(&shared);
}

TEST(states__need_a_key_and_no_peer)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = DATAGRAM_KEY };
	struct ibv_sge sge = { (uintptr_t)a.bytes, 10, a.mr->lkey };
	struct ibv_send_wr wr = datagram(&sge, b.qp), *bad;
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp = datagram_qp(&a);

	ck_assert_int_eq(
	    ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT), EINVAL);
	ck_assert_int_eq(
	    ibv_modify_qp(qp, &attr,
		IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_ACCESS_FLAGS),
	    EINVAL);
	datagram_to_state(qp, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	attr.qp_state = IBV_QPS_RTR;
	ck_assert_int_eq(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN), EINVAL);
	datagram_to_state(qp, IBV_QPS_RTR, 0);
	ck_assert_int_eq(ibv_post_send(qp, &wr, &bad), EINVAL);
	datagram_to_state(qp, IBV_QPS_RTS, IBV_QP_SQ_PSN);
	ck_assert_int_eq(ibv_query_qp(qp, &attr, IBV_QP_QKEY, &init), 0);
	ck_assert_uint_eq(attr.qkey, DATAGRAM_KEY);
	ck_assert_int_eq(init.qp_type, IBV_QPT_UD);
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
}

/* What a transition must set, and may; path migration is not for this device. */
static const struct {
	enum ibv_qp_state from, to;
	int must, may;
} settable[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0 },
	{ IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY },
	{ IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
	{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY },
	{ IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY },
	{ IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	{ IBV_QPS_SQD, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY },
	{ IBV_QPS_SQD, IBV_QPS_SQD, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY },
	{ IBV_QPS_RTS, IBV_QPS_RESET, 0, 0 },
	{ IBV_QPS_SQD, IBV_QPS_ERR, 0, 0 },
};

static void
reach(struct ibv_qp *qp, enum ibv_qp_state state)
{
	datagram_to_state(qp, IBV_QPS_RESET, 0);
	if (state >= IBV_QPS_INIT)
		datagram_to_state(qp, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	if (state >= IBV_QPS_RTR)
		datagram_to_state(qp, IBV_QPS_RTR, 0);
	if (state >= IBV_QPS_RTS)
		datagram_to_state(qp, IBV_QPS_RTS, IBV_QP_SQ_PSN);
	if (state >= IBV_QPS_SQD)
		datagram_to_state(qp, IBV_QPS_SQD, 0);
}

/* origin: out33.W11 */
/* With one attribute more, or one less, than it must have. */
TEST(each_attribute_in_each_transition__as_the_specification_allows_for_datagrams)
{
	struct ibv_qp_attr attr = { .port_num = 1, .qkey = DATAGRAM_KEY };
	struct ibv_qp *qp = datagram_qp(&a);

	for (size_t i = 0; i < sizeof settable / sizeof settable[0]; i++)
		for (int bit = 1; bit <= IBV_QP_RATE_LIMIT; bit <<= 1) {
			const int must = settable[i].must, may = IBV_QP_STATE | settable[i].may;
			int r;

			reach(qp, settable[i].from);
			attr.qp_state = settable[i].to;
			attr.cur_qp_state = settable[i].from;
			r = ibv_modify_qp(qp, &attr, IBV_QP_STATE | (must ^ (bit & ~IBV_QP_STATE)));
			ck_assert_msg(r == (bit & may ? 0 : EINVAL),
			    "from %d to %d with or without attribute %#x: %d", settable[i].from,
			    settable[i].to, (unsigned int)bit, r);
		}
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
}

/* ---- frames of other processes ---- */

#define SLOT 5 /* of the other one */

/* One that arrives, unless something of it is changed. */
static struct soft_frame
frame_of(uint32_t length)
{
	return (struct soft_frame){
		.type = SOFT_FRAME_DATAGRAM,
		.flags = SOFT_FRAME_GLOBAL,
		.qpn = b.qp->qp_num,
		.from = SLOT << SOFT_QPN_INDEX_BITS | 1,
		.rkey = DATAGRAM_KEY,
		.length = length,
	};
}

static bool
arrives(const struct soft_frame *frame)
{
	struct soft_link link = { .slot = SLOT };
	static const char payload[DATAGRAM_MTU + 1];
	struct ibv_wc wc;

	ck_assert(soft_datagram_arrived(&link, frame, payload));
	if (!ibv_poll_cq(b.cq, 1, &wc))
		return false;
	ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
	ck_assert_uint_eq(wc.byte_len, frame->length + DATAGRAM_GRH);
	ck_assert_uint_eq(wc.src_qp, frame->from);
	return true;
}

/* The header has the first GID for an index that the table does not have. */
/* origin: out33.U6 */
TEST(frame__names_gids_in_the_table_and_beyond__the_header_has_one_of_the_table)
{
	static const uint8_t named[] = { 0, 1, 2, 3, 15, 16, 255 };
	const struct ibv_grh *grh = (const struct ibv_grh *)(const void *)b.bytes;
	struct soft_frame frame = frame_of(8);
	union ibv_gid gids[2];

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(ibv_query_gid(b.context, 1, i, &gids[i]), 0);
	ck_assert_int_ne(memcmp(&gids[0], &gids[1], sizeof gids[0]), 0);
	for (size_t i = 0; i < sizeof named * sizeof named; i++) {
		const uint8_t from = named[i / sizeof named], to = named[i % sizeof named];

		frame.swap = from | (uint64_t)to << 8;
		side_receive(&b, 1, 0, 4096);
		ck_assert(arrives(&frame));
		ck_assert_int_eq(memcmp(&grh->sgid, &gids[from == 1], sizeof gids[0]), 0);
		ck_assert_int_eq(memcmp(&grh->dgid, &gids[to == 1], sizeof gids[0]), 0);
	}
}

/* What does not fit is lost, and the receive stays the next. */
/* origin: out33.U6 */
TEST(frame__of_another_key_length_or_sender__is_lost_or_ends_the_link)
{
	struct soft_link link = { .slot = SLOT };
	struct soft_frame frame = frame_of(DATAGRAM_MTU);

	side_receive(&b, 1, 0, DATAGRAM_MTU + DATAGRAM_GRH);
	frame.rkey++;
	ck_assert(!arrives(&frame));
	frame = frame_of(DATAGRAM_MTU);
	frame.qpn = a.qp->qp_num; /* it has no receive */
	ck_assert(!arrives(&frame));
	frame.qpn = 0xffffff;
	ck_assert(!arrives(&frame));
	frame = frame_of(DATAGRAM_MTU + 1);
	ck_assert(!arrives(&frame));
	frame = frame_of(DATAGRAM_MTU);
	frame.port = 2;
	ck_assert(!arrives(&frame));
	frame.port = 0;
	frame.from += 1 << SOFT_QPN_INDEX_BITS;
	ck_assert(!soft_datagram_arrived(&link, &frame, b.bytes));
	frame = frame_of(DATAGRAM_MTU);
	ck_assert(arrives(&frame));
	side_receive(&b, 2, 0, DATAGRAM_MTU + DATAGRAM_GRH - 1);
	ck_assert(!arrives(&frame));
	frame.length--;
	ck_assert(arrives(&frame));
}

/* origin: out33.U4 */
TEST(frame__to_a_queue_pair_in_each_state__arrives_in_rtr_rts_and_sqd)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
		IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_ERR };
	const struct soft_frame frame = frame_of(8);

	datagram_to_state(b.qp, IBV_QPS_RESET, 0);
	for (int i = 0; i < 6; i++) {
		if (states[i] == IBV_QPS_INIT)
			datagram_to_state(
			    b.qp, states[i], IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
		else if (i)
			datagram_to_state(
			    b.qp, states[i], states[i] == IBV_QPS_RTS ? IBV_QP_SQ_PSN : 0);
		if (states[i] == IBV_QPS_INIT)
			for (int k = 0; k < 8; k++)
				side_receive(&b, 1, 0, 4096);
		if (states[i] == IBV_QPS_ERR) /* which has flushed them */
			while (ibv_poll_cq(b.cq, 1, &(struct ibv_wc){ 0 }) == 1)
				;
		ck_assert_int_eq(arrives(&frame), states[i] == IBV_QPS_RTR ||
						      states[i] == IBV_QPS_RTS ||
						      states[i] == IBV_QPS_SQD);
	}
}
