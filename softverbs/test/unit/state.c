/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state -- the state machine of a queue pair
 */
#include "story.h"

static struct side a;

static void
setup(void)
{
	side_make(&a, NULL);
}

static void
teardown(void)
{
	side_free(&a);
}

#define INIT_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RTR_MASK \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
	    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK \
	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | \
	    IBV_QP_MAX_QP_RD_ATOMIC)

static const int masks[] = {
	[IBV_QPS_RESET] = IBV_QP_STATE,
	[IBV_QPS_INIT] = INIT_MASK,
	[IBV_QPS_RTR] = RTR_MASK,
	[IBV_QPS_RTS] = RTS_MASK,
	[IBV_QPS_SQD] = IBV_QP_STATE,
	[IBV_QPS_SQE] = IBV_QP_STATE,
	[IBV_QPS_ERR] = IBV_QP_STATE,
};

static int
go(enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = state,
		.cur_qp_state = qp_state(a.qp),
		.port_num = 1,
		.ah_attr = { .dlid = 1, .port_num = 1 },
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = a.qp->qp_num,
	};

	return ibv_modify_qp(a.qp, &attr, mask);
}

/* Reaches a state by the shortest way from RESET. */
static void
reach(enum ibv_qp_state state)
{
	ck_assert_int_eq(go(IBV_QPS_RESET, IBV_QP_STATE), 0);
	if (state == IBV_QPS_ERR) {
		ck_assert_int_eq(go(IBV_QPS_ERR, IBV_QP_STATE), 0);
		return;
	}
	for (enum ibv_qp_state s = IBV_QPS_INIT; s <= state; s++)
		ck_assert_int_eq(go(s, masks[s]), 0);
	ck_assert_int_eq(qp_state(a.qp), state);
}

CASE("soft-state:state", setup, teardown);

TEST(transitions__only_those_of_the_specification)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
		IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_ERR };
	static const char allowed[6][7] = {
		/* to: R I r s D E */
		"RI...E", /* RESET */
		"RIr..E", /* INIT */
		"R..s.E", /* RTR */
		"R..SDE", /* RTS: to itself only without what RTR had to set */
		"R..SDE", /* SQD */
		"R....E", /* ERR */
	};
	int mask, r;

	for (int from = 0; from < 6; from++) {
		for (int to = 0; to < 6; to++) {
			reach(states[from]);
			mask = masks[states[to]];
			if (allowed[from][to] == 'S' || (from == to && from == 1))
				mask = IBV_QP_STATE;
			r = go(states[to], mask);
			ck_assert_msg((r == 0) == (allowed[from][to] != '.'), "from %d to %d: %d",
			    states[from], states[to], r);
			ck_assert_int_eq(qp_state(a.qp), r ? states[from] : states[to]);
		}
	}
}

TEST(required_attributes__each_missing_one__refused)
{
	const int all[] = { INIT_MASK, RTR_MASK, RTS_MASK };

	for (enum ibv_qp_state to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
		int mask = all[to - IBV_QPS_INIT];

		for (int bit = 1; bit <= IBV_QP_DEST_QPN; bit <<= 1) {
			if (!(mask & bit) || bit == IBV_QP_STATE)
				continue;
			reach(to - 1);
			ck_assert_int_eq(go(to, mask & ~bit), EINVAL);
			ck_assert_int_eq(qp_state(a.qp), to - 1);
		}
	}
}

TEST(attributes_not_meant_for_a_transition__refused)
{
	ck_assert_int_eq(go(IBV_QPS_INIT, INIT_MASK | IBV_QP_TIMEOUT), EINVAL);
	ck_assert_int_eq(go(IBV_QPS_INIT, INIT_MASK | IBV_QP_QKEY), EINVAL);
	ck_assert_int_eq(go(IBV_QPS_ERR, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
}

/* What a transition may set besides what it must; path migration is not for this device. */
static const struct {
	enum ibv_qp_state from, to;
	int must, may;
} settable[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, INIT_MASK, 0 },
	{ IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS },
	{ IBV_QPS_INIT, IBV_QPS_RTR, RTR_MASK, IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX },
	{ IBV_QPS_RTR, IBV_QPS_RTS, RTS_MASK,
	    IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_RTS, IBV_QPS_RTS, 0,
	    IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	{ IBV_QPS_SQD, IBV_QPS_RTS, 0,
	    IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_SQD, IBV_QPS_SQD, 0,
	    IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ACCESS_FLAGS |
		IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPS_RTS, IBV_QPS_RESET, 0, 0 },
	{ IBV_QPS_SQD, IBV_QPS_ERR, 0, 0 },
};

/* origin: out33.W11 */
TEST(each_attribute_in_each_transition__as_the_specification_allows)
{
	for (size_t i = 0; i < sizeof settable / sizeof settable[0]; i++) {
		const int known = IBV_QP_STATE | settable[i].must | settable[i].may;

		for (int bit = 1; bit <= IBV_QP_RATE_LIMIT; bit <<= 1) {
			int r;

			reach(settable[i].from);
			r = go(settable[i].to, IBV_QP_STATE | settable[i].must | bit);
			ck_assert_msg(r == (known & bit ? 0 : EINVAL),
			    "from %d to %d with attribute %#x: %d", settable[i].from,
			    settable[i].to, bit, r);
		}
	}
}

TEST(values_beyond_the_limits__refused)
{
	static const struct {
		int bit;
		struct ibv_qp_attr good, bad;
	} cases[] = {
		{ IBV_QP_MAX_QP_RD_ATOMIC, { .max_rd_atomic = 128 }, { .max_rd_atomic = 129 } },
		{ IBV_QP_MAX_DEST_RD_ATOMIC, { .max_dest_rd_atomic = 128 },
		    { .max_dest_rd_atomic = 129 } },
		{ IBV_QP_TIMEOUT, { .timeout = 31 }, { .timeout = 32 } },
		{ IBV_QP_RETRY_CNT, { .retry_cnt = 7 }, { .retry_cnt = 8 } },
		{ IBV_QP_RNR_RETRY, { .rnr_retry = 7 }, { .rnr_retry = 8 } },
		{ IBV_QP_MIN_RNR_TIMER, { .min_rnr_timer = 31 }, { .min_rnr_timer = 32 } },
	};

	reach(IBV_QPS_SQD);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct ibv_qp_attr good = cases[i].good, bad = cases[i].bad;

		ck_assert_int_eq(ibv_modify_qp(a.qp, &good, cases[i].bit), 0);
		ck_assert_int_eq(ibv_modify_qp(a.qp, &bad, cases[i].bit), EINVAL);
	}
}

TEST(values_out_of_range__refused)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 2 };

	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, INIT_MASK), EINVAL);
	attr.port_num = 1;
	attr.pkey_index = 1;
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, INIT_MASK), EINVAL);
	reach(IBV_QPS_INIT);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR,
		.ah_attr = { .dlid = 1, .port_num = 1 },
		.path_mtu = (enum ibv_mtu)9 };
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, RTR_MASK), EINVAL);
	attr.path_mtu = IBV_MTU_4096;
	attr.dest_qp_num = 1 << 24;
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, RTR_MASK), EINVAL);
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_INIT);
	attr.dest_qp_num = (1 << 24) - 1;
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, RTR_MASK), 0);
}

/* Of several values one is refused: none has changed, nor has the state. */
/* origin: out33.D6 */
TEST(values__one_is_refused__all_are_as_they_were)
{
	static const struct {
		enum ibv_qp_state from, to;
		struct ibv_qp_attr attr;
	} refused[] = {
		{ IBV_QPS_RESET, IBV_QPS_INIT, { .port_num = 2 } },
		{ IBV_QPS_INIT, IBV_QPS_RTR, { .path_mtu = 9 } },
		{ IBV_QPS_INIT, IBV_QPS_RTR,
		    { .path_mtu = IBV_MTU_512, .max_dest_rd_atomic = 255 } },
		{ IBV_QPS_INIT, IBV_QPS_RTR, { .path_mtu = IBV_MTU_512, .min_rnr_timer = 32 } },
		{ IBV_QPS_RTR, IBV_QPS_RTS, { .timeout = 32 } },
		{ IBV_QPS_RTR, IBV_QPS_RTS, { .retry_cnt = 8 } },
		{ IBV_QPS_RTR, IBV_QPS_RTS, { .rnr_retry = 8 } },
		{ IBV_QPS_RTR, IBV_QPS_RTS, { .max_rd_atomic = 255 } },
		{ IBV_QPS_RTS, IBV_QPS_RTS, { .min_rnr_timer = 32, .qp_access_flags = 1 } },
	};
	struct ibv_qp_init_attr init;

	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		const int mask = refused[i].from == refused[i].to ?
				     IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER | IBV_QP_ACCESS_FLAGS :
				     masks[refused[i].to];
		struct ibv_qp_attr attr = refused[i].attr, before, after;

		reach(refused[i].from);
		memset(&before, 0, sizeof before);
		memset(&after, 0, sizeof after);
		ck_assert_int_eq(ibv_query_qp(a.qp, &before, ~0, &init), 0);
		attr.qp_state = refused[i].to;
		attr.port_num = attr.port_num ? attr.port_num : 1;
		attr.ah_attr = (struct ibv_ah_attr){ .dlid = 2, .port_num = 1 };
		attr.dest_qp_num = a.qp->qp_num + 1;
		attr.rq_psn = attr.sq_psn = 77;
		ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, mask), EINVAL);
		ck_assert_int_eq(ibv_query_qp(a.qp, &after, ~0, &init), 0);
		ck_assert_msg(!memcmp(&before, &after, sizeof before), "case %zu", i);
		ck_assert_int_eq(a.qp->state, refused[i].from);
	}
}

static void
change(enum ibv_qp_state to, struct ibv_qp_attr attr, int mask)
{
	attr.qp_state = to;
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | mask), 0);
}

/* Each value differs from all others, and from 0. */
TEST(attributes__are_asked_as_they_were_set__and_are_as_new_after_a_reset)
{
	static const struct ibv_qp_attr set = { .qp_access_flags = SIDE_ACCESS,
		.port_num = 1,
		.ah_attr = { .dlid = 1,
		    .sl = 3,
		    .src_path_bits = 2,
		    .static_rate = 5,
		    .port_num = 1 },
		.path_mtu = IBV_MTU_512,
		.dest_qp_num = 0x10007,
		.rq_psn = 0x123456,
		.max_dest_rd_atomic = 9,
		.min_rnr_timer = 13,
		.timeout = 15,
		.retry_cnt = 6,
		.rnr_retry = 4,
		.sq_psn = 0x654321,
		.max_rd_atomic = 11,
		.en_sqd_async_notify = 1 };
	struct ibv_qp_attr fresh, attr, expected = set;
	struct ibv_qp_init_attr init, init_after;

	memset(&fresh, 0, sizeof fresh);
	memset(&attr, 0, sizeof attr);
	ck_assert_int_eq(ibv_query_qp(a.qp, &fresh, ~0, &init), 0);
	ck_assert_int_eq(fresh.cur_qp_state, IBV_QPS_RESET);
	expected.cap = fresh.cap;
	for (int round = 0; round < 2; round++) {
		for (enum ibv_qp_state to = IBV_QPS_INIT; to <= IBV_QPS_SQD; to++)
			change(to, set,
			    masks[to] | (to == IBV_QPS_SQD ? IBV_QP_EN_SQD_ASYNC_NOTIFY : 0));
		expected.qp_state = expected.cur_qp_state = IBV_QPS_SQD;
		ck_assert_int_eq(ibv_query_qp(a.qp, &attr, ~0, &init_after), 0);
		ck_assert_int_eq(memcmp(&attr, &expected, sizeof attr), 0);
		ck_assert_int_eq(memcmp(&init_after, &init, sizeof init), 0);
		change(IBV_QPS_RESET, set, 0);
		ck_assert_int_eq(ibv_query_qp(a.qp, &attr, ~0, &init_after), 0);
		ck_assert_int_eq(memcmp(&attr, &fresh, sizeof attr), 0);
		ck_assert_int_eq(memcmp(&init_after, &init, sizeof init), 0);
	}
}

/* origin: out33.J6 */
TEST(sequence_numbers__are_asked__have_24_bits)
{
	const uint32_t before = side_psn;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	side_psn = 0xab000123;
	side_to_init(&a, NULL);
	side_to_rtr(&a, a.qp->qp_num);
	side_to_rts(&a, NULL);
	side_psn = before;
	ck_assert_int_eq(ibv_query_qp(a.qp, &attr, ~0, &init), 0);
	ck_assert_uint_eq(attr.rq_psn, 0x123);
	ck_assert_uint_eq(attr.sq_psn, 0x123);
}

TEST(current_state__a_wrong_one__refused)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQD };

	reach(IBV_QPS_RTS);
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE), EINVAL);
	attr.cur_qp_state = IBV_QPS_RTS;
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE), 0);
}

TEST(posting__by_state)
{
	static const struct {
		enum ibv_qp_state state;
		int send, receive;
	} rules[] = {
		{ IBV_QPS_RESET, EINVAL, EINVAL },
		{ IBV_QPS_INIT, EINVAL, 0 },
		{ IBV_QPS_RTR, EINVAL, 0 },
		{ IBV_QPS_RTS, 0, 0 },
		{ IBV_QPS_SQD, 0, 0 },
		{ IBV_QPS_ERR, 0, 0 },
	};

	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
		reach(rules[i].state);
		ck_assert_int_eq(side_try_receive(&a, 1, 0, 8), rules[i].receive);
		ck_assert_int_eq(side_try_post(&a, IBV_WR_SEND, 0, 2, 0, 8), rules[i].send);
	}
}

TEST(error__from_each_state__flushes_what_was_posted)
{
	for (enum ibv_qp_state state = IBV_QPS_INIT; state <= IBV_QPS_SQD; state++) {
		reach(state);
		side_receive(&a, state, 0, 8);
		if (state == IBV_QPS_SQD)
			side_post(&a, IBV_WR_SEND, 0, 99, 0, 8);
		side_to_error(&a);
		cq_expect(a.cq, state, IBV_WC_WR_FLUSH_ERR);
		if (state == IBV_QPS_SQD)
			cq_expect(a.cq, 99, IBV_WC_WR_FLUSH_ERR);
		cq_expect_empty(a.cq);
	}
}

TEST(reset__forgets_what_was_posted)
{
	reach(IBV_QPS_INIT);
	side_receive(&a, 1, 0, 8);
	ck_assert_int_eq(go(IBV_QPS_RESET, IBV_QP_STATE), 0);
	side_to_error(&a);
	cq_expect_empty(a.cq);
}

TEST(send_queue_drained__holds_back_and_goes_on)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct side b;

	side_make(&b, NULL);
	side_connect(&a, &b, NULL);
	side_receive(&b, 1, 0, 8);
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	async_expect(a.context, IBV_EVENT_SQ_DRAINED, a.qp);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 8);
	cq_expect_empty(b.cq);
	ck_assert_int_eq(go(IBV_QPS_RTS, IBV_QP_STATE), 0);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	side_free(&b);
}

TEST(message_in_rtr__communication_established_once_a_connection)
{
	struct side b;

	side_make(&b, NULL);
	for (int connection = 0; connection < 2; connection++) {
		side_to_init(&a, NULL);
		side_to_init(&b, NULL);
		side_to_rtr(&a, b.qp->qp_num);
		side_to_rtr(&b, a.qp->qp_num);
		side_to_rts(&a, NULL);
		side_receive(&b, 1, 0, 8);
		side_receive(&b, 2, 0, 8);
		side_post(&a, IBV_WR_SEND, 0, 1, 0, 8);
		side_post(&a, IBV_WR_SEND, 0, 2, 0, 8);
		async_expect(b.context, IBV_EVENT_COMM_EST, b.qp);
		ck_assert(!async_ready(b.context));
		cq_expect(b.cq, 1, IBV_WC_SUCCESS);
		cq_expect(b.cq, 2, IBV_WC_SUCCESS);
		ck_assert_int_eq(go(IBV_QPS_RESET, IBV_QP_STATE), 0);
		ck_assert_int_eq(
		    ibv_modify_qp(
			b.qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET }, IBV_QP_STATE),
		    0);
	}
	side_free(&b);
}

TEST(send_before_the_peer_is_ready__arrives_when_it_is)
{
	const struct side_options patient = { .patient = true };
	struct side b;

	side_make(&b, NULL);
	side_to_init(&a, NULL);
	side_to_init(&b, NULL);
	side_to_rtr(&a, b.qp->qp_num);
	side_to_rts(&a, &patient);
	side_receive(&b, 1, 0, 8);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 8);
	cq_expect_empty(b.cq);
	side_to_rtr(&b, a.qp->qp_num);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	side_free(&b);
}

TEST(connected_to_another__a_stranger_is_not_answered)
{
	struct side b, stranger;

	side_make(&b, NULL);
	side_make(&stranger, NULL);
	side_connect(&a, &b, NULL);
	side_to_init(&stranger, NULL);
	side_to_rtr(&stranger, b.qp->qp_num);
	side_to_rts(&stranger, NULL);
	side_receive(&b, 1, 0, 8);
	side_post(&stranger, IBV_WR_SEND, 0, 2, 0, 8);
	cq_expect(stranger.cq, 2, IBV_WC_RETRY_EXC_ERR);
	cq_expect_empty(b.cq);
	side_free(&stranger);
	side_free(&b);
}
