/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mw_error -- binds and invalidations that fail, wait, or are flushed
 */
#include "mw_story.h"
#include "pair.h"

#define RANGE 1000

/* b has the windows */

/* Request 7 failed, request 8 was posted after it. */
static void
expect_failure(void)
{
	side_post(&b, IBV_WR_SEND, 0, 8, 0, 1);
	cq_expect(b.cq, 7, IBV_WC_MW_BIND_ERR);
	cq_expect(b.cq, 8, IBV_WC_WR_FLUSH_ERR);
	cq_expect_empty(b.cq);
	ck_assert_int_eq(qp_state(b.qp), IBV_QPS_ERR);
}

/* --- binds that are not allowed */

#define WRITABLE IBV_ACCESS_LOCAL_WRITE
#define BINDABLE IBV_ACCESS_MW_BIND
#define BOTH (WRITABLE | BINDABLE)

static const struct bad_bind {
	int mr_access;
	unsigned int access;
	size_t offset, length;
	enum { SAME_DOMAIN, MR_ELSEWHERE, MW_ELSEWHERE, BOTH_ELSEWHERE } domain;
	bool allowed; /* to compare with */
} bad_binds[] = {
	{ BOTH, MW_REMOTE, 0, SIDE_BYTES, SAME_DOMAIN, true },
	{ BINDABLE, IBV_ACCESS_REMOTE_READ, 0, SIDE_BYTES, SAME_DOMAIN, true },
	{ BOTH, MW_REMOTE, SIDE_BYTES - 1, 1, SAME_DOMAIN, true },
	{ WRITABLE, IBV_ACCESS_REMOTE_READ, 0, RANGE, SAME_DOMAIN, false },
	{ BINDABLE, IBV_ACCESS_REMOTE_WRITE, 0, RANGE, SAME_DOMAIN, false },
	{ BINDABLE, IBV_ACCESS_REMOTE_ATOMIC, 0, RANGE, SAME_DOMAIN, false },
	{ BOTH, MW_REMOTE | IBV_ACCESS_LOCAL_WRITE, 0, RANGE, SAME_DOMAIN, true },
	{ BOTH, MW_REMOTE | IBV_ACCESS_MW_BIND, 0, RANGE, SAME_DOMAIN, false },
	{ BOTH, MW_REMOTE, (size_t)-1, RANGE, SAME_DOMAIN, false },
	{ BOTH, MW_REMOTE, 1, SIDE_BYTES, SAME_DOMAIN, false },
	{ BOTH, MW_REMOTE, SIDE_BYTES, 1, SAME_DOMAIN, false },
	{ BOTH, MW_REMOTE, RANGE, (size_t)-RANGE, SAME_DOMAIN, false },
	{ BOTH | IBV_ACCESS_ZERO_BASED, MW_REMOTE, 0, RANGE, SAME_DOMAIN, false },
	{ BOTH, MW_REMOTE | IBV_ACCESS_ZERO_BASED, 0, RANGE, SAME_DOMAIN, true }, /* of type 2 */
	{ BOTH, MW_REMOTE, 0, RANGE, MR_ELSEWHERE, false },
	{ BOTH, MW_REMOTE, 0, RANGE, MW_ELSEWHERE, false },
	{ BOTH, MW_REMOTE, 0, RANGE, BOTH_ELSEWHERE, false },
};
#define BAD_BINDS (sizeof bad_binds / sizeof bad_binds[0])

static void
try_bind(const struct bad_bind *bad, enum ibv_mw_type type)
{
	struct ibv_pd *other = ibv_alloc_pd(b.context);
	struct ibv_mw *mw = ibv_alloc_mw(bad->domain & MW_ELSEWHERE ? other : b.pd, type);
	struct ibv_mr *mr = ibv_reg_mr(
	    bad->domain & MR_ELSEWHERE ? other : b.pd, b.bytes, SIDE_BYTES, bad->mr_access);
	const bool allowed =
	    bad->allowed && (type == IBV_MW_TYPE_2 || !(bad->access & IBV_ACCESS_ZERO_BASED));
	size_t offset = bad->offset;

	if (bad->mr_access & IBV_ACCESS_ZERO_BASED)
		offset -= (uintptr_t)b.bytes;
	if (type == IBV_MW_TYPE_1 && mw->pd != mr->pd) { /* verbs.h finds this itself */
		struct ibv_mw_bind bind = { .bind_info = { mr, 0, 1, 0 } };

		ck_assert_int_eq(ibv_bind_mw(b.qp, mw, &bind), EPERM);
	} else {
		mw_post(&b, 7, IBV_SEND_SIGNALED, mw, mr, ibv_inc_rkey(mw->rkey), offset,
		    bad->length, bad->access);
		if (allowed)
			cq_expect(b.cq, 7, IBV_WC_SUCCESS);
		else
			expect_failure();
	}
	ck_assert_int_eq(ibv_dereg_mr(mr), allowed ? EBUSY : 0);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	if (allowed)
		ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	ck_assert_int_eq(ibv_dealloc_pd(other), 0);
}

MW_CASE("soft-mw-error:error");

TEST_LOOP(type_1__bind_that_is_not_allowed__bind_error, BAD_BINDS)
{
	try_bind(&bad_binds[_i], IBV_MW_TYPE_1);
}

TEST_LOOP(type_2__bind_that_is_not_allowed__bind_error, BAD_BINDS)
{
	try_bind(&bad_binds[_i], IBV_MW_TYPE_2);
}

TEST(type_2_bound__bound_again__bind_error__it_stays_bound)
{
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_2);
	const uint32_t key = mw_bind(&b, mw, RANGE, RANGE, MW_REMOTE);

	mw_post(&b, 7, 0, mw, b.mr, ibv_inc_rkey(key), RANGE, RANGE, MW_REMOTE);
	expect_failure();
	mw_expect_bound(&b);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

/* ---- what was refused leaves the window as it was ---- */

/* Whether a's queue pair may do this in the window; if not, it must be connected anew. */
static bool
may(enum ibv_wr_opcode opcode, uint32_t key, size_t offset, uint32_t length)
{
	struct ibv_wc wc;

	ck_assert_int_eq(
	    side_rdma_raw(&a, opcode, 9, 0, (uintptr_t)b.bytes + offset, key, length), 0);
	wc = cq_next(a.cq);
	ck_assert(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_REM_ACCESS_ERR);
	return wc.status == IBV_WC_SUCCESS;
}

static void
connect_anew(void)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	ck_assert_int_eq(ibv_modify_qp(a.qp, &reset, IBV_QP_STATE), 0);
	ck_assert_int_eq(ibv_modify_qp(b.qp, &reset, IBV_QP_STATE), 0);
	side_connect(&a, &b, NULL);
}

/* origin: out33.D6 */
TEST_LOOP(type_1_bound__rebind_refused__it_gives_the_access_that_it_gave, BAD_BINDS)
{
	const struct bad_bind *bad = &bad_binds[_i];
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_1);
	const uint32_t key = mw_bind(&b, mw, RANGE, RANGE, IBV_ACCESS_REMOTE_WRITE);
	struct ibv_mr *mr = ibv_reg_mr(b.pd, b.bytes, SIDE_BYTES, bad->mr_access);
	size_t offset = bad->offset;

	if (!bad->allowed && bad->domain == SAME_DOMAIN) {
		if (bad->mr_access & IBV_ACCESS_ZERO_BASED)
			offset -= (uintptr_t)b.bytes;
		mw_post(&b, 7, IBV_SEND_SIGNALED, mw, mr, 0, offset, bad->length, bad->access);
		expect_failure();
		mw_expect_bound(&b);
		connect_anew();
		ck_assert(may(IBV_WR_RDMA_WRITE, key, RANGE, 1));
		ck_assert(may(IBV_WR_RDMA_WRITE, key, 2 * RANGE - 1, 1));
		ck_assert(!may(IBV_WR_RDMA_READ, key, RANGE, 1));
		connect_anew();
		ck_assert(!may(IBV_WR_RDMA_WRITE, key, RANGE, RANGE + 1));
		connect_anew();
		/* the key of the refused bind */
		ck_assert(!may(IBV_WR_RDMA_WRITE, mw->rkey, RANGE, 1));
		/* And the next is good. */
		connect_anew();
		(void)mw_bind_to(&b, mw, b.mr, 0, RANGE, IBV_ACCESS_REMOTE_READ);
		ck_assert(may(IBV_WR_RDMA_READ, mw->rkey, 0, RANGE));
	}
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

/* origin: out33.D6 */
TEST(region__registered_anew__refused__it_gives_the_access_that_it_gave)
{
	struct ibv_pd *other = ibv_alloc_pd(b.context);
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_1);
	const uint32_t key = mw_bind(&b, mw, RANGE, RANGE, MW_REMOTE);
	static const int flags[] = { IBV_REREG_MR_CHANGE_ACCESS, IBV_REREG_MR_CHANGE_PD,
		IBV_REREG_MR_CHANGE_TRANSLATION,
		IBV_REREG_MR_CHANGE_ACCESS | IBV_REREG_MR_CHANGE_PD |
		    IBV_REREG_MR_CHANGE_TRANSLATION };
	const struct ibv_mr before = *b.mr;

	for (size_t i = 0; i < 4; i++) {
		const int access =
		    flags[i] & IBV_REREG_MR_CHANGE_ACCESS ? IBV_ACCESS_LOCAL_WRITE : 0;

		ck_assert_int_ne(
		    ibv_rereg_mr(b.mr, flags[i], other, b.bytes + 4096, 4096, access), 0);
		ck_assert_ptr_eq(b.mr->pd, before.pd);
		ck_assert_ptr_eq(b.mr->addr, before.addr);
		ck_assert_uint_eq(b.mr->length, before.length);
		ck_assert(may(IBV_WR_RDMA_WRITE, key, RANGE, RANGE));
		ck_assert(may(IBV_WR_RDMA_WRITE, b.mr->rkey, 0, 8));
		ck_assert(may(IBV_WR_RDMA_READ, b.mr->rkey, SIDE_BYTES - 8, 8));
	}
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	/* And without a window: remote writing needs local writing. */
	ck_assert_int_ne(
	    ibv_rereg_mr(b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE),
	    0);
	ck_assert(may(IBV_WR_RDMA_READ, b.mr->rkey, 0, 8));
	ck_assert(may(IBV_WR_RDMA_WRITE, b.mr->rkey, 0, 8));
	ck_assert_int_eq(ibv_dealloc_pd(other), 0);
}

TEST_LOOP(type_2__key_with_other_upper_bits__bind_error, 24)
{
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_2);

	mw_post(&b, 7, 0, mw, b.mr, mw->rkey + (1u << (8 + _i)), RANGE, RANGE, MW_REMOTE);
	expect_failure();
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

TEST(type_2__any_lower_bits)
{
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_2);
	const uint32_t upper = mw->rkey & ~0xffu;

	for (uint32_t lower = 0; lower < 256; lower += 51) {
		mw_post(&b, 1, IBV_SEND_SIGNALED, mw, b.mr, upper | lower, 0, 10, MW_REMOTE);
		cq_expect(b.cq, 1, IBV_WC_SUCCESS);
		ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 2, 0, (uintptr_t)b.bytes,
				     upper | lower, 10),
		    0);
		cq_expect(a.cq, 2, IBV_WC_SUCCESS);
		mw_invalidate(&b, 3, upper | lower, 0);
	}
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

TEST_LOOP(type_2__of_nothing__bind_error, 2)
{
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_2);

	mw_post(&b, 7, 0, mw, _i ? b.mr : NULL, mw->rkey, RANGE, _i ? 0 : RANGE, MW_REMOTE);
	expect_failure();
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

/* --- keys that cannot be invalidated */

static struct ibv_qp *spare;

enum {
	OF_TYPE_1,
	OF_A_REGION,
	NOT_BOUND,
	OTHER_KEY,
	ON_ANOTHER_QP,
	INVALID_ALREADY,
	UNKNOWN,
	NOTS
};

static uint32_t
not_to_be_invalidated(int what, struct ibv_mw *mw)
{
	uint32_t key;

	switch (what) {
	case OF_A_REGION:
		return b.mr->rkey;
	case NOT_BOUND:
		return mw->rkey;
	case UNKNOWN:
		return ~b.mr->rkey;
	default:
		key = mw_bind(&b, mw, RANGE, RANGE, MW_REMOTE);
	}
	if (what == OTHER_KEY)
		return ibv_inc_rkey(key);
	if (what == INVALID_ALREADY)
		mw_invalidate(&b, 1, key, 0);
	if (what == ON_ANOTHER_QP) {
		struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

		spare = b.qp;
		side_new_qp(&b);
		ck_assert_int_eq(ibv_modify_qp(a.qp, &reset, IBV_QP_STATE), 0);
		side_connect(&a, &b, NULL);
	}
	return key;
}

static void
free_spare(void)
{
	if (spare)
		ck_assert_int_eq(ibv_destroy_qp(spare), 0);
	spare = NULL;
}

TEST_LOOP(local_invalidate__of_no_window_that_is_bound_here__fails, NOTS)
{
	struct ibv_mw *mw = mw_make(&b, _i == OF_TYPE_1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
	const bool bound = _i == OF_TYPE_1 || _i == OTHER_KEY || _i == ON_ANOTHER_QP;

	mw_invalidate(&b, 7, not_to_be_invalidated(_i, mw), 0);
	expect_failure();
	if (bound)
		mw_expect_bound(&b);
	free_spare();
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

TEST_LOOP(send_with_invalidate__of_no_window_that_is_bound_here__fails_at_both_ends, NOTS)
{
	struct ibv_mw *mw = mw_make(&b, _i == OF_TYPE_1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
	const bool bound = _i == OF_TYPE_1 || _i == OTHER_KEY || _i == ON_ANOTHER_QP;
	const uint32_t key = not_to_be_invalidated(_i, mw);

	side_receive(&b, 1, 0, 100);
	side_receive(&b, 2, 0, 100);
	mw_send_with_invalidate(&a, 3, key, 10);
	cq_expect(a.cq, 3, IBV_WC_REM_ACCESS_ERR);
	cq_expect(b.cq, 1, IBV_WC_REM_INV_REQ_ERR);
	cq_expect(b.cq, 2, IBV_WC_WR_FLUSH_ERR);
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_ERR);
	ck_assert_int_eq(qp_state(b.qp), IBV_QPS_ERR);
	if (bound)
		mw_expect_bound(&b);
	free_spare();
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

/* --- order */

/* The peer has no receive: nothing behind this is executed until it has. */
static void
stall(void)
{
	side_post(&b, IBV_WR_SEND, 0, 1, 0, 0);
}

static void
end_stall(void)
{
	side_receive(&a, 100, 0, 1);
	cq_expect(a.cq, 100, IBV_WC_SUCCESS);
}

TEST(bind_and_invalidate__behind_a_send_that_waits__wait)
{
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_2);

	stall();
	mw_post(&b, 2, IBV_SEND_SIGNALED, mw, b.mr, mw->rkey, RANGE, RANGE, MW_REMOTE);
	cq_expect_empty(b.cq);
	mw_expect_not_bound(&b); /* the region that the bind names is no more */
	end_stall();
	cq_expect(b.cq, 2, IBV_WC_MW_BIND_ERR);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

TEST(bind_invalidate_bind__executed_in_their_order)
{
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_2);
	const uint32_t key = mw->rkey;

	stall();
	for (uint64_t i = 0; i < 5; i++) {
		mw_post(&b, 2, IBV_SEND_SIGNALED, mw, b.mr, key, RANGE, RANGE, MW_REMOTE);
		mw_invalidate(&b, 3, key, i & 1 ? IBV_SEND_SIGNALED | IBV_SEND_FENCE : 0);
	}
	mw_post(&b, 4, IBV_SEND_SIGNALED, mw, b.mr, key, RANGE, RANGE, MW_REMOTE);
	end_stall();
	for (uint64_t i = 0; i < 5; i++) {
		cq_expect(b.cq, 2, IBV_WC_SUCCESS);
		if (i & 1)
			cq_expect(b.cq, 3, IBV_WC_SUCCESS);
	}
	cq_expect(b.cq, 4, IBV_WC_SUCCESS);
	cq_expect_empty(b.cq);
	mw_expect_bound(&b);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

static const enum ibv_mw_type types[] = { IBV_MW_TYPE_1, IBV_MW_TYPE_2 };

TEST_LOOP(window_freed__before_its_bind_is_executed__bind_error, 2)
{
	struct ibv_mw *mw = mw_make(&b, types[_i]), *others[8];

	stall();
	mw_post(&b, 7, 0, mw, b.mr, mw->rkey, RANGE, RANGE, MW_REMOTE);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	for (int i = 0; i < 8; i++) /* its memory is used again */
		others[i] = mw_make(&b, types[_i]);
	end_stall();
	expect_failure();
	mw_expect_not_bound(&b);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(ibv_dealloc_mw(others[i]), 0);
}

TEST_LOOP(window_freed__its_bind_forgotten_by_a_reset__nothing_is_left, 2)
{
	struct ibv_mw *mw = mw_make(&b, types[_i]);
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	stall();
	mw_post(&b, 7, 0, mw, b.mr, mw->rkey, RANGE, RANGE, MW_REMOTE);
	ck_assert_int_eq(ibv_modify_qp(b.qp, &reset, IBV_QP_STATE), 0);
	mw_expect_not_bound(&b);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	cq_expect_empty(b.cq);
}

TEST_LOOP(queue_pair_in_error__binds_and_invalidations_are_flushed__and_not_executed, 2)
{
	struct ibv_mw *mw = mw_make(&b, types[_i]), *bound = mw_make(&b, IBV_MW_TYPE_2);
	struct ibv_mr *mr = ibv_reg_mr(b.pd, b.bytes, RANGE, MW_ACCESS);
	const uint32_t key = mw_bind_to(&b, bound, mr, 0, 8, MW_REMOTE);

	stall();
	mw_post(&b, 2, 0, mw, b.mr, mw->rkey, RANGE, RANGE, MW_REMOTE);
	mw_invalidate(&b, 3, key, 0);
	side_to_error(&b);
	mw_post(&b, 4, 0, mw, b.mr, mw->rkey, RANGE, RANGE, MW_REMOTE);
	mw_invalidate(&b, 5, key, 0);
	for (uint64_t i = 1; i <= 5; i++)
		cq_expect(b.cq, i, IBV_WC_WR_FLUSH_ERR);
	mw_expect_not_bound(&b);
	ck_assert_int_eq(ibv_dereg_mr(mr), EBUSY);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	ck_assert_int_eq(ibv_dealloc_mw(bound), 0);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
}

TEST(unsignalled__no_completion__but_of_an_error)
{
	struct ibv_mw *one = mw_make(&b, IBV_MW_TYPE_1), *two = mw_make(&b, IBV_MW_TYPE_2);

	mw_post(&b, 1, 0, one, b.mr, 0, RANGE, RANGE, MW_REMOTE);
	mw_post(&b, 2, 0, two, b.mr, two->rkey, RANGE, RANGE, MW_REMOTE);
	mw_invalidate(&b, 3, two->rkey, 0);
	cq_expect_empty(b.cq);
	mw_invalidate(&b, 7, two->rkey, 0);
	expect_failure();
	ck_assert_int_eq(ibv_dealloc_mw(one), 0);
	ck_assert_int_eq(ibv_dealloc_mw(two), 0);
}

TEST(send_queue_full__bind_refused__the_key_of_type_1_stays)
{
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = { .bind_info = { b.mr, (uintptr_t)b.bytes, 8, MW_REMOTE } };
	uint32_t key;
	int r;

	stall();
	do {
		key = mw->rkey;
		r = ibv_bind_mw(b.qp, mw, &bind);
		ck_assert(r || mw->rkey != key);
	} while (!r);
	ck_assert_int_eq(r, ENOMEM);
	ck_assert_uint_eq(mw->rkey, key);
	end_stall();
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 3, 0, (uintptr_t)b.bytes, key, 8), 0);
	cq_expect(a.cq, 3, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}
