/* SPDX-License-Identifier: BSD-3-Clause */
#include "mw_story.h"
#include "pair.h"

struct ibv_mw *
mw_make(struct side *side, enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(side->pd, type);

	ck_assert_ptr_nonnull(mw);
	ck_assert_int_eq(mw->type, type);
	return mw;
}

int
mw_try_post(struct side *side, uint64_t wr_id, unsigned int flags, struct ibv_mw *mw,
    struct ibv_mr *mr, uint32_t key, size_t offset, size_t length, unsigned int access)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = flags,
		.bind_mw = { .mw = mw,
		    .rkey = key,
		    .bind_info = { mr, (uintptr_t)side->bytes + offset, length, access } },
	}, *bad;

	return ibv_post_send(side->qp, &wr, &bad);
}

void
mw_post(struct side *side, uint64_t wr_id, unsigned int flags, struct ibv_mw *mw, struct ibv_mr *mr,
    uint32_t key, size_t offset, size_t length, unsigned int access)
{
	struct ibv_mw_bind bind = {
		.wr_id = wr_id,
		.send_flags = flags,
		.bind_info = { mr, mr ? (uintptr_t)side->bytes + offset : 0, length, access },
	};

	if (mw->type == IBV_MW_TYPE_1)
		ck_assert_int_eq(ibv_bind_mw(side->qp, mw, &bind), 0);
	else
		ck_assert_int_eq(
		    mw_try_post(side, wr_id, flags, mw, mr, key, offset, length, access), 0);
}

uint32_t
mw_bind_to(struct side *side, struct ibv_mw *mw, struct ibv_mr *mr, size_t offset, size_t length,
    unsigned int access)
{
	const uint32_t key = ibv_inc_rkey(mw->rkey);
	struct ibv_wc wc;

	mw_post(side, 77, IBV_SEND_SIGNALED, mw, mr, key, offset, length, access);
	if (mw->type == IBV_MW_TYPE_2)
		mw->rkey = key;
	wc = cq_next(side->cq);
	ck_assert_uint_eq(wc.wr_id, 77);
	ck_assert_msg(wc.status == IBV_WC_SUCCESS, "bind: %s", ibv_wc_status_str(wc.status));
	ck_assert_int_eq(wc.opcode, IBV_WC_BIND_MW);
	return mw->rkey;
}

uint32_t
mw_bind(struct side *side, struct ibv_mw *mw, size_t offset, size_t length, unsigned int access)
{
	return mw_bind_to(side, mw, side->mr, offset, length, access);
}

void
mw_invalidate(struct side *side, uint64_t wr_id, uint32_t key, unsigned int flags)
{
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = flags,
		.invalidate_rkey = key,
	}, *bad;

	ck_assert_int_eq(ibv_post_send(side->qp, &wr, &bad), 0);
}

void
mw_send_with_invalidate(struct side *side, uint64_t wr_id, uint32_t key, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)side->bytes, length, side->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = length ? 1 : 0,
		.opcode = IBV_WR_SEND_WITH_INV,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
		.invalidate_rkey = key,
	}, *bad;

	ck_assert_int_eq(ibv_post_send(side->qp, &wr, &bad), 0);
}

void
mw_expect_bound(struct side *side)
{
	ck_assert_int_eq(ibv_dereg_mr(side->mr), EBUSY);
}

/* The region is registered anew. */
void
mw_expect_not_bound(struct side *side)
{
	ck_assert_int_eq(ibv_dereg_mr(side->mr), 0);
	side->mr = ibv_reg_mr(side->pd, side->bytes, SIDE_BYTES, MW_ACCESS);
	ck_assert_ptr_nonnull(side->mr);
}

static void
mw_begin(void)
{
	pair_make(&a, &b, &(struct side_options){ .mr_access = MW_ACCESS });
}

const struct runner_case mw_case = { .setup = mw_begin, .teardown = pair_end };
