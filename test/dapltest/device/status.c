/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions with every error status that a device can report. */
#include <dat2/dat_ib_extensions.h>

#include "fault/fault.h"
#include "device.h"

static const struct {
	enum ibv_wc_status device;
	DAT_DTO_COMPLETION_STATUS dat;
} statuses[] = {
	{ IBV_WC_LOC_LEN_ERR, DAT_DTO_ERR_LOCAL_LENGTH },
	{ IBV_WC_LOC_QP_OP_ERR, DAT_DTO_ERR_LOCAL_EP },
	{ IBV_WC_LOC_EEC_OP_ERR, DAT_DTO_ERR_TRANSPORT },
	{ IBV_WC_LOC_PROT_ERR, DAT_DTO_ERR_LOCAL_PROTECTION },
	{ IBV_WC_WR_FLUSH_ERR, DAT_DTO_ERR_FLUSHED },
	{ IBV_WC_MW_BIND_ERR, DAT_RMR_OPERATION_FAILED },
	{ IBV_WC_BAD_RESP_ERR, DAT_DTO_ERR_BAD_RESPONSE },
	{ IBV_WC_LOC_ACCESS_ERR, DAT_DTO_ERR_LOCAL_PROTECTION },
	{ IBV_WC_REM_INV_REQ_ERR, DAT_DTO_ERR_REMOTE_RESPONDER },
	{ IBV_WC_REM_ACCESS_ERR, DAT_DTO_ERR_REMOTE_ACCESS },
	{ IBV_WC_REM_OP_ERR, DAT_DTO_ERR_REMOTE_RESPONDER },
	{ IBV_WC_RETRY_EXC_ERR, DAT_DTO_ERR_TRANSPORT },
	{ IBV_WC_RNR_RETRY_EXC_ERR, DAT_DTO_ERR_RECEIVER_NOT_READY },
	{ IBV_WC_LOC_RDD_VIOL_ERR, DAT_DTO_ERR_LOCAL_PROTECTION },
	{ IBV_WC_REM_INV_RD_REQ_ERR, DAT_DTO_ERR_REMOTE_RESPONDER },
	{ IBV_WC_REM_ABORT_ERR, DAT_DTO_ERR_REMOTE_RESPONDER },
	{ IBV_WC_INV_EECN_ERR, DAT_DTO_ERR_TRANSPORT },
	{ IBV_WC_INV_EEC_STATE_ERR, DAT_DTO_ERR_TRANSPORT },
	{ IBV_WC_FATAL_ERR, DAT_DTO_ERR_TRANSPORT },
	{ IBV_WC_RESP_TIMEOUT_ERR, DAT_DTO_ERR_RECEIVER_NOT_READY },
	{ IBV_WC_GENERAL_ERR, DAT_DTO_ERR_TRANSPORT },
};

static enum ibv_wc_status status;

/* Of a failed completion only the id, the status and the queue pair's number are valid. */
static void
spoil(struct ibv_wc *wc)
{
	struct ibv_wc garbage;

	memset(&garbage, 0xa5, sizeof garbage);
	garbage.wr_id = wc->wr_id;
	garbage.qp_num = wc->qp_num;
	garbage.status = status;
	*wc = garbage;
}

static void
open_pair(struct dt_pair *pair)
{
	dt_side_open(&pair->a, "faulty", DT_SEPARATE);
	dt_side_open(&pair->b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair->b);
	dt_recv(&pair->b, 0, 64, 1);
	dt_connect_pair(pair);
}

DEVICE_CASE("device-status:status");

/* origin: peer.23 */
/* clause: d.2.1, d.2.2 */
TEST_LOOP(completion__failed__has_its_status_and_nothing_else_of_the_devices,
    (sizeof statuses / sizeof statuses[0]))
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	struct dt_pair pair;
	DAT_EVENT event;

	open_pair(&pair);
	status = statuses[_i].device;
	fault_cq_change(spoil);
	dt_send(&pair.a, 0, 64, 7);
	dt_expect_dto(pair.a.request, pair.a.ep, 7, statuses[_i].dat, &event);
	dto = &event.event_data.dto_completion_event_data;
	ck_assert_int_eq(dto->operation, DAT_DTO_SEND);
	ck_assert_uint_eq(dto->rmr_context, 0);
	dt_expect_dto(pair.b.recv, pair.b.ep, 1, statuses[_i].dat, &event);
	ck_assert_int_eq(dto->operation, DAT_DTO_RECEIVE);
	dt_pair_close(&pair);
}

/* Lengths that the device gives for a send are not to be relied upon. */
static void
stretch(struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS && !(wc->opcode & IBV_WC_RECV))
		wc->byte_len = 0xffffff;
}

/* clause: d.1.2 */
TEST(completion__of_a_send__has_the_length_that_was_posted)
{
	struct dt_pair pair;
	DAT_EVENT event;

	open_pair(&pair);
	fault_cq_change(stretch);
	dt_send(&pair.a, 0, 48, 7);
	dt_expect_dto(pair.a.request, pair.a.ep, 7, DAT_DTO_SUCCESS, &event);
	ck_assert_uint_eq(event.event_data.dto_completion_event_data.transfered_length, 48);
	dt_expect_dto(pair.b.recv, pair.b.ep, 1, DAT_DTO_SUCCESS, &event);
	ck_assert_uint_eq(event.event_data.dto_completion_event_data.transfered_length, 48);
	dt_pair_close(&pair);
}

/* The device refuses to invalidate a window. */
static void
refuse_invalidation(struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS && wc->opcode == IBV_WC_LOCAL_INV)
		spoil(wc);
}

/*
 * A region that is bound again is invalidated first.  The program did not ask for that request, and
 * gets no event of it.
 */
/* clause: e.7.22 */
TEST(invalidation__before_a_bind__fails__the_connection_breaks_once)
{
	DAT_RMR_CONTEXT context;
	DAT_LMR_TRIPLET range;
	struct dt_pair pair;
	DAT_RMR_HANDLE rmr;
	DAT_EVENT event;

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair.b);
	pair.a.request = dt_evd(&pair.a, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, 8);
	dt_ok(dat_ep_free(pair.a.ep));
	pair.a.ep = dt_ep(&pair.a, NULL);
	dt_connect_pair(&pair);
	dt_ok(dat_rmr_create_for_ep(pair.a.pz, &rmr));
	for (int i = 0; i < 4; i++) { /* in each of two connections */
		range = dt_local(&pair.a, 0, 32);
		status = IBV_WC_LOC_PROT_ERR;
		fault_cq_change(i % 2 ? refuse_invalidation : NULL);
		dt_ok(dat_rmr_bind(rmr, pair.a.lmr, &range, DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
		    DAT_VA_TYPE_VA, pair.a.ep, dt_cookie(1), DAT_COMPLETION_DEFAULT_FLAG,
		    &context));
		dt_expect(pair.a.request, DAT_RMR_BIND_COMPLETION_EVENT, &event);
		if (i % 2 == 0)
			continue;
		fault_cq_change(NULL);
		dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_BROKEN, pair.a.ep);
		dt_expect_disconnected(&pair.b);
		dt_assert_stays_empty(pair.a.connect);
		dt_ok(dat_ep_reset(pair.a.ep));
		dt_ok(dat_ep_reset(pair.b.ep));
		if (i == 1)
			dt_connect_pair(&pair);
	}
	dt_pair_close(&pair);
}

#define IMMEDIATE 0x12345678u

static void
add_immediate(struct ibv_wc *wc)
{
	if (wc->opcode & IBV_WC_RECV) {
		wc->wc_flags |= IBV_WC_WITH_IMM;
		wc->imm_data = IMMEDIATE;
	}
}

/* No call of DAT sends such a message; other programs do. */
/* clause: f.2.5 */
TEST_LOOP(message__with_immediate_data__has_them_in_an_event_of_its_own, 2)
{
	DAT_EP_ATTR attr = { .service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD,
		.max_recv_dtos = 2,
		.max_request_dtos = 2,
		.max_recv_iov = 1,
		.max_request_iov = 1 };
	const int length = _i ? 40 + 8 : 8; /* the first bytes of a datagram are its header */
	DAT_UINT64 counters[DCNT_EP_ALL_COUNTERS];
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	const DAT_IB_EXTENSION_EVENT_DATA *ib;
	DAT_LMR_TRIPLET local;
	struct dt_pair pair;
	DAT_EVENT event;

	open_pair(&pair);
	local = dt_local(&pair.a, 0, 8);
	if (_i) {
		pair.a.ep = dt_ep(&pair.a, &attr);
		pair.b.ep = dt_ep(&pair.b, &attr);
		dt_recv(&pair.b, 0, 64, 1);
		dt_connect(&pair.a, &pair.b, NULL, 0);
		dt_ok(dat_cr_accept(dt_datagram_request(&pair.b), pair.b.ep, 0, NULL));
		dt_next(pair.a.connect, &event);
		ib = (const DAT_IB_EXTENSION_EVENT_DATA *)(const void *)event.event_extension_data;
		fault_cq_change(add_immediate);
		dt_ok(dat_ib_post_send_ud(pair.a.ep, 1, &local, &ib->remote_ah, dt_cookie(2),
		    DAT_COMPLETION_DEFAULT_FLAG));
	} else {
		fault_cq_change(add_immediate);
		dt_send(&pair.a, 0, 8, 2);
	}
	dt_expect(pair.b.recv, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT, &event);
	dto = &event.event_data.dto_completion_event_data;
	ib = (const DAT_IB_EXTENSION_EVENT_DATA *)(const void *)event.event_extension_data;
	ck_assert_ptr_eq(dto->ep_handle, pair.b.ep);
	ck_assert_uint_eq(dto->user_cookie.as_64, 1);
	ck_assert_int_eq(dto->status, DAT_DTO_SUCCESS);
	ck_assert_uint_eq(dto->transfered_length, (DAT_SEG_LENGTH)length);
	ck_assert_int_eq((int)dto->operation,
	    _i ? (int)DAT_IB_DTO_RECV_UD_IMMED : (int)DAT_IB_DTO_RECV_MSG_IMMED);
	ck_assert_int_eq(ib->type, _i ? DAT_IB_UD_RECV : DAT_IB_RECV_IMMED_DATA);
	ck_assert_int_eq(ib->status, (int)DAT_OP_SUCCESS);
	ck_assert_uint_eq(ib->val.immed.data, IMMEDIATE);
	ck_assert_uint_eq(ib->context.as_64, 1);
	dt_ok(dat_ib_query_counters(pair.b.ep, DCNT_EP_ALL_COUNTERS, counters, 0));
	for (int i = DCNT_EP_RECV; i < DCNT_EP_ALL_COUNTERS; i++)
		ck_assert_uint_eq(counters[i],
		    i == (_i ? DCNT_EP_RECV_UD : DCNT_EP_RECV_IMM)	     ? 1 :
		    i == (_i ? DCNT_EP_RECV_UD_DATA : DCNT_EP_RECV_IMM_DATA) ? (DAT_UINT64)length :
									       0);
	dt_pair_close(&pair);
}

/* The arm of this device shows that its queue is empty: no poll follows it. */
TEST(wait__nothing_comes__one_arm_and_no_poll_after_it)
{
	struct dat_rearm_evd_counters counters;
	struct fault_cq_calls before, after;
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_side_open(&side, "faulty-no-spin", DT_SEPARATE);
	evd = dt_evd(&side, DAT_EVD_DTO_FLAG, 8);
	before = fault_cq_calls();
	dt_assert_type(dat_evd_wait(evd, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	after = fault_cq_calls();
	dt_ok(dat_evd_query_upcall_counters(evd, &counters));
	/*
	 * One arm, and one for each notification for nothing, which a personality of the device
	 * raises.
	 */
	ck_assert_uint_eq(after.arms - before.arms, 1 + counters.notifications);
	ck_assert_uint_eq(counters.spurious_notifications, counters.notifications);
	/* Before the first arm, and after each sleep. */
	ck_assert_uint_eq(after.polls - before.polls, after.arms - before.arms + 1);
	dt_side_close(&side);
}
