/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the device and the connection manager are asked for: each kind of post with each flag, and
 * how many reads at a time each way to connect.
 */
#include <string.h>

#include <dat2/dat_ib_extensions.h>

#include "fault/fault.h"
#include "device.h"

static struct dt_pair pair;

/* ---- posts ---- */

#define OFFSET 40 /* no value is that of another field */
#define LENGTH 24
#define REMOTE_OFFSET 72
#define IMMEDIATE 0x01020304
#define ADDEND 0x1122334455667788
#define SWAP 0x99aabbccddeeff00

static DAT_LMR_TRIPLET local;
static DAT_RMR_TRIPLET remote;

static DAT_RETURN
send_it(DAT_COMPLETION_FLAGS flags)
{
	return dat_ep_post_send(pair.a.ep, 1, &local, dt_cookie(1), flags);
}

static DAT_RETURN
send_with_invalidate(DAT_COMPLETION_FLAGS flags)
{
	return dat_ep_post_send_with_invalidate(
	    pair.a.ep, 1, &local, dt_cookie(1), flags, DAT_TRUE, remote.rmr_context);
}

static DAT_RETURN
write_it(DAT_COMPLETION_FLAGS flags)
{
	return dat_ep_post_rdma_write(pair.a.ep, 1, &local, dt_cookie(1), &remote, flags);
}

static DAT_RETURN
read_it(DAT_COMPLETION_FLAGS flags)
{
	return dat_ep_post_rdma_read(pair.a.ep, 1, &local, dt_cookie(1), &remote, flags);
}

static DAT_RETURN
write_immed(DAT_COMPLETION_FLAGS flags)
{
	return dat_ib_post_rdma_write_immed(
	    pair.a.ep, 1, &local, dt_cookie(1), &remote, IMMEDIATE, flags);
}

static DAT_RETURN
fetch_and_add(DAT_COMPLETION_FLAGS flags)
{
	return dat_ib_post_fetch_and_add(pair.a.ep, ADDEND, &local, dt_cookie(1), &remote, flags);
}

static DAT_RETURN
cmp_and_swap(DAT_COMPLETION_FLAGS flags)
{
	return dat_ib_post_cmp_and_swap(
	    pair.a.ep, ADDEND, SWAP, &local, dt_cookie(1), &remote, flags);
}

static const struct {
	DAT_RETURN (*post)(DAT_COMPLETION_FLAGS flags);
	enum ibv_wr_opcode opcode;
	bool receive; /* it takes a receive at the other end, so it can be solicited */
	bool fenced;  /* whether the program asks for that or not */
} kinds[] = {
	{ send_it, IBV_WR_SEND, true, false },
	{ send_with_invalidate, IBV_WR_SEND_WITH_INV, true, true },
	{ write_it, IBV_WR_RDMA_WRITE, false, false },
	{ read_it, IBV_WR_RDMA_READ, false, false },
	{ write_immed, IBV_WR_RDMA_WRITE_WITH_IMM, true, false },
	{ fetch_and_add, IBV_WR_ATOMIC_FETCH_AND_ADD, false, false },
	{ cmp_and_swap, IBV_WR_ATOMIC_CMP_AND_SWP, false, false },
};

static void
expect_operands(const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_SEND_WITH_INV:
		ck_assert_uint_eq(wr->invalidate_rkey, remote.rmr_context);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ck_assert_uint_eq(wr->wr.atomic.swap, SWAP);
		/* fallthrough */
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ck_assert_uint_eq(wr->wr.atomic.compare_add, ADDEND);
		ck_assert_uint_eq(wr->wr.atomic.remote_addr, remote.virtual_address);
		ck_assert_uint_eq(wr->wr.atomic.rkey, remote.rmr_context);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ck_assert_uint_eq(wr->imm_data, IMMEDIATE);
		/* fallthrough */
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_READ:
		ck_assert_uint_eq(wr->wr.rdma.remote_addr, remote.virtual_address);
		ck_assert_uint_eq(wr->wr.rdma.rkey, remote.rmr_context);
		break;
	default:
		break;
	}
}

DEVICE_CASE("device-asked:asked");

/* origin: out33.D11 */
TEST_LOOP(
    post__each_kind_with_each_flag__is_what_the_device_is_asked_for, sizeof kinds / sizeof *kinds)
{
	const bool atomic = kinds[_i].opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
			    kinds[_i].opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	const DAT_MEM_PRIV_FLAGS all =
	    (DAT_MEM_PRIV_FLAGS)(DAT_MEM_PRIV_ALL_FLAG | DAT_IB_MEM_PRIV_REMOTE_ATOMIC);
	DAT_REGION_DESCRIPTION region;
	DAT_COMPLETION_FLAGS flags;
	struct ibv_send_wr wr;

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	/* No privilege of DAT allows atomic operations. */
	dt_ok(dat_lmr_free(pair.b.lmr));
	region.for_va = pair.b.buffer;
	dt_ok(dat_lmr_create(pair.b.ia, DAT_MEM_TYPE_VIRTUAL, region, DT_BUFFER, pair.b.pz, all,
	    DAT_VA_TYPE_VA, &pair.b.lmr, &pair.b.lmr_context, &pair.b.rmr_context, NULL, NULL));
	dt_side_listen(&pair.b);
	dt_connect_pair(&pair);
	local = dt_local(&pair.a, OFFSET, LENGTH);
	remote = dt_remote(&pair.b, REMOTE_OFFSET, LENGTH);
	for (int i = 0; i < 8; i++) {
		flags = (DAT_COMPLETION_FLAGS)((i & 1 ? DAT_COMPLETION_SUPPRESS_FLAG : 0) |
					       (i & 2 ? DAT_COMPLETION_SOLICITED_WAIT_FLAG : 0) |
					       (i & 4 ? DAT_COMPLETION_BARRIER_FENCE_FLAG : 0));
		dt_recv(&pair.b, 0, 64, 2);
		dt_ok(kinds[_i].post(flags));
		wr = fault_call_last_request();
		ck_assert_int_eq(wr.opcode, kinds[_i].opcode);
		ck_assert_uint_eq(wr.send_flags,
		    IBV_SEND_SIGNALED | (i & 2 && kinds[_i].receive ? IBV_SEND_SOLICITED : 0) |
			(i & 4 || kinds[_i].fenced ? IBV_SEND_FENCE : 0));
		ck_assert_int_eq(wr.num_sge, 1);
		ck_assert_uint_eq(wr.sg_list->addr, local.virtual_address);
		ck_assert_uint_eq(wr.sg_list->length, atomic ? 8 : LENGTH);
		ck_assert_uint_eq(wr.sg_list->lkey, local.lmr_context);
		expect_operands(&wr);
	}
	dt_close(pair.a.ia);
	dt_close(pair.b.ia);
}

static const struct {
	DAT_MEM_PRIV_FLAGS privileges;
	unsigned int access;
} rights[] = {
	{ DAT_MEM_PRIV_REMOTE_READ_FLAG, IBV_ACCESS_REMOTE_READ },
	{ DAT_MEM_PRIV_REMOTE_WRITE_FLAG, IBV_ACCESS_REMOTE_WRITE },
	{ (DAT_MEM_PRIV_FLAGS)DAT_IB_MEM_PRIV_REMOTE_ATOMIC, IBV_ACCESS_REMOTE_ATOMIC },
	{ DAT_MEM_PRIV_ALL_FLAG, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE },
};

/* clause: e.7.23 */
TEST_LOOP(bind__each_right_with_each_flag__is_what_the_device_is_asked_for,
    sizeof rights / sizeof *rights)
{
	DAT_COMPLETION_FLAGS flags;
	DAT_RMR_CONTEXT context;
	struct ibv_send_wr wr;
	DAT_RMR_HANDLE rmr;
	DAT_EVENT event;

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair.b);
	pair.a.request = dt_evd(&pair.a, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, 8);
	pair.a.ep = dt_ep(&pair.a, NULL);
	dt_connect_pair(&pair);
	dt_ok(dat_rmr_create_for_ep(pair.a.pz, &rmr));
	local = dt_local(&pair.a, OFFSET, LENGTH);
	for (int i = 0; i < 4; i++) {
		flags = (DAT_COMPLETION_FLAGS)((i & 1 ? DAT_COMPLETION_UNSIGNALLED_FLAG : 0) |
					       (i & 2 ? DAT_COMPLETION_BARRIER_FENCE_FLAG : 0));
		dt_ok(dat_rmr_bind(rmr, pair.a.lmr, &local, rights[_i].privileges, DAT_VA_TYPE_VA,
		    pair.a.ep, dt_cookie(1), flags, &context));
		wr = fault_call_last_request();
		ck_assert_int_eq(wr.opcode, IBV_WR_BIND_MW);
		ck_assert_uint_eq(wr.send_flags, IBV_SEND_SIGNALED | (i & 2 ? IBV_SEND_FENCE : 0));
		ck_assert_uint_eq(wr.bind_mw.rkey, context);
		ck_assert_uint_eq(wr.bind_mw.bind_info.addr, local.virtual_address);
		ck_assert_uint_eq(wr.bind_mw.bind_info.length, LENGTH);
		ck_assert_uint_eq(wr.bind_mw.bind_info.mw_access_flags, rights[_i].access);
		dt_poll_next(pair.a.request, &event);
		ck_assert_int_eq(event.event_number, DAT_RMR_BIND_COMPLETION_EVENT);
	}
	dt_close(pair.a.ia);
	dt_close(pair.b.ia);
}

/* ---- reads at a time ---- */

static void
give(struct dt_side *side, DAT_COUNT in, DAT_COUNT out)
{
	const DAT_EP_ATTR attr = { .service_type = DAT_SERVICE_TYPE_RC,
		.max_recv_dtos = 4,
		.max_request_dtos = 4,
		.max_recv_iov = 2,
		.max_request_iov = 2,
		.max_rdma_read_in = in,
		.max_rdma_read_out = out };

	dt_ok(dat_ep_free(side->ep));
	side->ep = dt_ep(side, &attr);
}

enum way { DIRECT, HANDED_OVER, HANDED_OVER_TWICE, RESERVED, HANDED_TO_RESERVED, WAYS };

static DAT_CR_HANDLE
arrived(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;

	dt_expect(evd, DAT_CONNECTION_REQUEST_EVENT, &event);
	return event.event_data.cr_arrival_event_data.cr_handle;
}

static DAT_CR_HANDLE
handed_over(DAT_CR_HANDLE cr)
{
	const DAT_EVD_HANDLE evd = dt_evd(&pair.b, DAT_EVD_CR_FLAG, 8);
	DAT_CONN_QUAL qual;
	DAT_PSP_HANDLE psp;

	dt_ok(dat_psp_create_any(pair.b.ia, &qual, evd, DAT_PSP_CONSUMER_FLAG, &psp));
	dt_ok(dat_cr_handoff(cr, qual));
	return arrived(evd);
}

/* A reserved service point has the endpoint already. */
static DAT_EVD_HANDLE
reserve(DAT_CONN_QUAL *qual)
{
	const DAT_EVD_HANDLE evd = dt_evd(&pair.b, DAT_EVD_CR_FLAG, 8);
	DAT_RSP_HANDLE rsp;
	DAT_PSP_HANDLE psp;

	/* One that was free a moment ago. */
	dt_ok(dat_psp_create_any(pair.b.ia, qual, evd, DAT_PSP_CONSUMER_FLAG, &psp));
	dt_ok(dat_psp_free(psp));
	dt_ok(dat_rsp_create(pair.b.ia, *qual, pair.b.ep, evd, &rsp));
	return evd;
}

static DAT_CR_HANDLE
request_by(enum way way)
{
	DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
	DAT_CONN_QUAL qual = 0;
	DAT_CR_HANDLE cr;

	if (way == RESERVED || way == HANDED_TO_RESERVED)
		evd = reserve(&qual);
	if (way == RESERVED)
		pair.b.qual = qual;
	dt_connect(&pair.a, &pair.b, NULL, 0);
	switch (way) {
	case DIRECT:
		return dt_request(&pair.b);
	case HANDED_OVER:
		return handed_over(dt_request(&pair.b));
	case HANDED_OVER_TWICE:
		return handed_over(handed_over(dt_request(&pair.b)));
	case HANDED_TO_RESERVED:
		cr = dt_request(&pair.b);
		dt_ok(dat_cr_handoff(cr, qual));
		break;
	default:
		break;
	}
	return arrived(evd);
}

static const struct {
	DAT_COUNT in, out; /* of the endpoint that accepts */
	uint8_t responder, initiator;
} depths[] = {
	{ 2, 3, 2, 3 },	  /* its own are less than what is offered */
	{ 15, 16, 7, 5 }, /* what the other end can send, and can take */
	{ 6, 16, 6, 5 },
	{ 15, 4, 7, 4 },
};
#define DEPTHS (sizeof depths / sizeof *depths)

/* origin: out33.D11 */
TEST_LOOP(accept__however_the_request_came__has_the_depths_of_both_ends, (WAYS * DEPTHS))
{
	const enum way way = (enum way)(_i / (int)DEPTHS);
	const size_t row = (size_t)_i % DEPTHS;
	const bool reserved = way == RESERVED || way == HANDED_TO_RESERVED;
	struct rdma_conn_param param;
	DAT_CR_HANDLE cr;

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair.b);
	give(&pair.a, 5, 7);
	give(&pair.b, depths[row].in, depths[row].out);
	cr = request_by(way);
	param = fault_call_last_connection();
	ck_assert_uint_eq(param.responder_resources, 5);
	ck_assert_uint_eq(param.initiator_depth, 7);
	/* No attempt is given up before the timeout of the program. */
	ck_assert_uint_eq(param.retry_count, 7);
	ck_assert_uint_eq(param.rnr_retry_count, 7);
	ck_assert_uint_eq(param.srq, 0);
	dt_ok(dat_cr_accept(cr, reserved ? DAT_HANDLE_NULL : pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	dt_expect_established(&pair.b);
	param = fault_call_last_connection();
	ck_assert_uint_eq(param.responder_resources, depths[row].responder);
	ck_assert_uint_eq(param.initiator_depth, depths[row].initiator);
	dt_close(pair.a.ia);
	dt_close(pair.b.ia);
}

/* With a shared receive queue, at both ends. */
TEST(connect__with_a_shared_queue__says_so)
{
	DAT_SRQ_ATTR attr = { .max_recv_dtos = 4, .max_recv_iov = 1 };
	DAT_SRQ_HANDLE srq;
	DAT_CR_HANDLE cr;

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair.b);
	for (int end = 0; end < 2; end++) {
		struct dt_side *side = end ? &pair.b : &pair.a;

		dt_ok(dat_srq_create(side->ia, side->pz, &attr, &srq));
		dt_ok(dat_ep_create_with_srq(side->ia, side->pz, side->recv, side->request,
		    side->connect, srq, NULL, &side->ep));
	}
	dt_connect(&pair.a, &pair.b, NULL, 0);
	cr = dt_request(&pair.b);
	ck_assert_uint_eq(fault_call_last_connection().srq, 1);
	dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	ck_assert_uint_eq(fault_call_last_connection().srq, 1);
	dt_close(pair.a.ia);
	dt_close(pair.b.ia);
}
