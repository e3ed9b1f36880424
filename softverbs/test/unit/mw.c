/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mw -- memory windows of both types, and invalidation, within a process
 */
#include "mw_story.h"
#include "pair.h"

#define RANGE 1000 /* of a window: [RANGE, 2 * RANGE) of b's bytes */

/* b has the windows, a accesses */

static int
try_access(enum ibv_wr_opcode opcode, uint32_t key, size_t offset, uint32_t length)
{
	return side_rdma_raw(&a, opcode, 1, 0, (uintptr_t)b.bytes + offset, key, length);
}

static void
expect_access(enum ibv_wr_opcode opcode, uint32_t key, size_t offset, uint32_t length)
{
	ck_assert_int_eq(try_access(opcode, key, offset, length), 0);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
}

static void
expect_no_access(enum ibv_wr_opcode opcode, uint32_t key, size_t offset, uint32_t length)
{
	ck_assert_int_eq(try_access(opcode, key, offset, length), 0);
	cq_expect(a.cq, 1, IBV_WC_REM_ACCESS_ERR);
	async_expect(b.context, IBV_EVENT_QP_ACCESS_ERR, b.qp);
	pair_connect_again(&a, &b);
}

MW_CASE("soft-mw:mw");

TEST(device__has_windows_of_types_1_and_2B)
{
	struct ibv_device_attr attr;

	ck_assert_int_eq(ibv_query_device(a.context, &attr), 0);
	ck_assert(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW);
	ck_assert(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B);
	ck_assert(!(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2A));
	ck_assert(attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS);
	ck_assert_int_ge(attr.max_mw, 1 << 16);
	errno = 0;
	ck_assert_ptr_null(ibv_alloc_mw(a.pd, (enum ibv_mw_type)3));
	ck_assert_int_eq(errno, EINVAL);
}

TEST(windows__upper_bits_of_their_keys__are_their_own)
{
	struct ibv_mw *mw[64];

	for (int i = 0; i < 64; i++) {
		mw[i] = mw_make(&b, i & 1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
		ck_assert_uint_ne(mw[i]->rkey >> 8, 0);
		ck_assert_uint_ne(mw[i]->rkey >> 8, b.mr->rkey >> 8);
		ck_assert_ptr_eq(mw[i]->pd, b.pd);
		ck_assert_ptr_eq(mw[i]->context, b.context);
		for (int k = 0; k < i; k++)
			ck_assert_uint_ne(mw[i]->rkey >> 8, mw[k]->rkey >> 8);
	}
	for (int i = 0; i < 64; i++)
		ck_assert_int_eq(ibv_dealloc_mw(mw[i]), 0);
}

/* --- access */

static const enum ibv_mw_type types[] = { IBV_MW_TYPE_1, IBV_MW_TYPE_2 };

TEST_LOOP(window_bound__its_key_gives_access_to_its_range, 2)
{
	struct ibv_mw *mw = mw_make(&b, types[_i]);
	const uint32_t before = mw->rkey;
	uint32_t key;

	strcpy(a.bytes, "written");
	strcpy(b.bytes + RANGE + 100, "read");
	key = mw_bind(&b, mw, RANGE, RANGE, MW_REMOTE);
	ck_assert_uint_ne(key, before);
	ck_assert_uint_eq(key >> 8, before >> 8);
	expect_access(IBV_WR_RDMA_WRITE, key, RANGE, 8);
	ck_assert_str_eq(b.bytes + RANGE, "written");
	expect_access(IBV_WR_RDMA_READ, key, RANGE + 100, 5);
	ck_assert_str_eq(a.bytes, "read");
	expect_access(IBV_WR_RDMA_WRITE, key, RANGE, RANGE);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

TEST_LOOP(window_bound__atomic, 2)
{
	struct ibv_mw *mw = mw_make(&b, types[_i]);
	uint64_t *word = (uint64_t *)(void *)(b.bytes + 1024);
	struct ibv_sge sge = { (uintptr_t)a.bytes, 8, a.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = { .remote_addr = (uintptr_t)word, .compare_add = 2 },
	}, *bad;

	*word = 40;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.atomic.rkey = mw_bind(&b, mw, 1024, 8, IBV_ACCESS_REMOTE_ATOMIC);
	ck_assert_int_eq(ibv_post_send(a.qp, &wr, &bad), 0);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	ck_assert_uint_eq(*word, 42);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

TEST_LOOP(window_bound__what_it_does_not_allow__is_refused, 2)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		unsigned int access;
		size_t offset;
		uint32_t length;
	} cases[] = {
		{ IBV_WR_RDMA_WRITE, MW_REMOTE, RANGE - 1, 2 },
		{ IBV_WR_RDMA_WRITE, MW_REMOTE, 2 * RANGE - 1, 2 },
		{ IBV_WR_RDMA_READ, MW_REMOTE, RANGE, RANGE + 1 },
		{ IBV_WR_RDMA_READ, MW_REMOTE, 0, 8 },
		{ IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_WRITE, RANGE, 8 },
		{ IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_READ, RANGE, 8 },
		{ IBV_WR_RDMA_WRITE, 0, RANGE, 8 },
	};
	struct ibv_mw *mw;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		mw = mw_make(&b, types[_i]);
		expect_no_access(cases[i].opcode, mw_bind(&b, mw, RANGE, RANGE, cases[i].access),
		    cases[i].offset, cases[i].length);
		ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	}
}

TEST_LOOP(region_without_remote_access__its_window_has_it, 2)
{
	struct ibv_mr *mr =
	    ibv_reg_mr(b.pd, b.bytes, SIDE_BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = mw_make(&b, types[_i]);
	uint32_t key;

	ck_assert_ptr_nonnull(mr);
	key = mw_bind_to(&b, mw, mr, RANGE, RANGE, MW_REMOTE);
	expect_access(IBV_WR_RDMA_WRITE, key, RANGE, 8);
	expect_no_access(IBV_WR_RDMA_WRITE, mr->rkey, RANGE, 8);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
}

TEST_LOOP(window_not_bound__gives_no_access, 2)
{
	struct ibv_mw *mw = mw_make(&b, types[_i]);

	expect_no_access(IBV_WR_RDMA_WRITE, mw->rkey, RANGE, 8);
	expect_no_access(IBV_WR_RDMA_READ, mw->rkey, 0, 1);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

TEST_LOOP(window_freed__ends_access, 2)
{
	struct ibv_mw *mw = mw_make(&b, types[_i]);
	const uint32_t key = mw_bind(&b, mw, RANGE, RANGE, MW_REMOTE);

	expect_access(IBV_WR_RDMA_WRITE, key, RANGE, 8);
	mw_expect_bound(&b);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	mw_expect_not_bound(&b);
	expect_no_access(IBV_WR_RDMA_WRITE, key, RANGE, 8);
}

TEST_LOOP(domain_with_a_window__cannot_be_freed, 2)
{
	struct ibv_pd *pd = ibv_alloc_pd(b.context);
	struct ibv_mw *mw = ibv_alloc_mw(pd, types[_i]);

	ck_assert_int_eq(ibv_dealloc_pd(pd), EBUSY);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
}

/* The key of a window is for the peer only. */
TEST_LOOP(key_of_a_window__as_a_local_key__protection_error, 2)
{
	struct ibv_mw *mw = mw_make(&b, types[_i]);
	struct ibv_sge sge = { (uintptr_t)b.bytes + RANGE, 8, 0 };
	struct ibv_send_wr wr = { .wr_id = 3, .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_recv_wr receive = { .wr_id = 4, .sg_list = &sge, .num_sge = 1 }, *bad_receive;

	sge.lkey = mw_bind(&b, mw, RANGE, RANGE, MW_REMOTE);
	wr.opcode = IBV_WR_SEND;
	side_receive(&a, 5, 0, 100);
	ck_assert_int_eq(ibv_post_send(b.qp, &wr, &bad), 0);
	cq_expect(b.cq, 3, IBV_WC_LOC_PROT_ERR);
	pair_connect_again(&a, &b);
	ck_assert_int_eq(ibv_post_recv(b.qp, &receive, &bad_receive), 0);
	side_post(&a, IBV_WR_SEND, 0, 6, 0, 8);
	cq_expect(b.cq, 4, IBV_WC_LOC_PROT_ERR);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

TEST(type_2_zero_based__addresses_begin_at_0)
{
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_2);
	const uint32_t key = mw_bind(&b, mw, RANGE, 10, MW_REMOTE | IBV_ACCESS_ZERO_BASED);

	strcpy(a.bytes, "zero");
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 5, key, 5), 0);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	ck_assert_str_eq(b.bytes + RANGE + 5, "zero");
	expect_no_access(IBV_WR_RDMA_WRITE, key, RANGE, 5);
	ck_assert_int_eq(side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 1, 0, 6, key, 5), 0);
	cq_expect(a.cq, 1, IBV_WC_REM_ACCESS_ERR);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

/*
 * A region whose addresses are others than those of its memory: its windows have them, too, or
 * begin at 0, and are of the memory behind them.
 */
/* origin: out33.Q2 */
TEST_LOOP(region_with_addresses_of_its_own__its_window_is_of_the_memory_behind_them, 3)
{
	static const uint64_t starts[] = { 0x10000, 1ull << 60, 0 };
	static const struct {
		enum ibv_mw_type type;
		unsigned int access;
	} kinds[] = { { IBV_MW_TYPE_1, 0 }, { IBV_MW_TYPE_2, 0 },
		{ IBV_MW_TYPE_2, IBV_ACCESS_ZERO_BASED } };
	const uint64_t iova = starts[_i];
	/* What is added to the address of b's bytes. */
	const size_t there = (size_t)iova - (uintptr_t)b.bytes;
	struct ibv_mr *mr = ibv_reg_mr_iova(b.pd, b.bytes, SIDE_BYTES, iova, MW_ACCESS);

	ck_assert_ptr_nonnull(mr);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		struct ibv_mw *mw = mw_make(&b, kinds[i].type);
		const uint32_t key =
		    mw_bind_to(&b, mw, mr, there + RANGE, RANGE, MW_REMOTE | kinds[i].access);
		const size_t first =
		    kinds[i].access ? 0 - (size_t)(uintptr_t)b.bytes : there + RANGE;

		memset(b.bytes, 0, 3 * RANGE);
		strcpy(a.bytes, "written");
		expect_access(IBV_WR_RDMA_WRITE, key, first, 8);
		ck_assert_str_eq(b.bytes + RANGE, "written");
		strcpy(b.bytes + 2 * RANGE - 5, "read");
		expect_access(IBV_WR_RDMA_READ, key, first + RANGE - 5, 5);
		ck_assert_str_eq(a.bytes, "read");
		expect_no_access(IBV_WR_RDMA_WRITE, key, first - 1, 1);
		expect_no_access(IBV_WR_RDMA_WRITE, key, first + RANGE, 1);
		ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	}
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
}

/* --- type 1 */

TEST(type_1_bound_again__the_new_key_only__of_the_new_range)
{
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_1);
	const uint32_t first = mw_bind(&b, mw, RANGE, RANGE, MW_REMOTE),
		       second = mw_bind(&b, mw, 5 * RANGE, RANGE, MW_REMOTE);

	ck_assert_uint_ne(first, second);
	expect_access(IBV_WR_RDMA_WRITE, second, 5 * RANGE, 8);
	expect_no_access(IBV_WR_RDMA_WRITE, first, 5 * RANGE, 8);
	expect_no_access(IBV_WR_RDMA_WRITE, first, RANGE, 8);
	expect_no_access(IBV_WR_RDMA_WRITE, second, RANGE, 8);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	mw_expect_not_bound(&b);
}

TEST(type_1_bound_to_nothing__is_unbound_and_has_a_new_key)
{
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_1);
	const uint32_t key = mw_bind(&b, mw, RANGE, RANGE, MW_REMOTE);
	uint32_t last;

	mw_expect_bound(&b);
	last = mw_bind_to(&b, mw, NULL, 0, 0, 0);
	ck_assert_uint_ne(last, key);
	mw_expect_not_bound(&b);
	expect_no_access(IBV_WR_RDMA_WRITE, key, RANGE, 8);
	expect_no_access(IBV_WR_RDMA_WRITE, last, RANGE, 8);
	expect_access(
	    IBV_WR_RDMA_READ, mw_bind(&b, mw, RANGE, RANGE, IBV_ACCESS_REMOTE_READ), RANGE, 8);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

/* Its protection domain counts, not the queue pair that it was bound on. */
TEST(type_1__access_by_another_queue_pair)
{
	struct ibv_qp *first = b.qp;
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_1);
	const uint32_t key = mw_bind(&b, mw, RANGE, RANGE, MW_REMOTE);

	side_new_qp(&b);
	pair_connect_again(&a, &b);
	expect_access(IBV_WR_RDMA_WRITE, key, RANGE, 8);
	ck_assert_int_eq(ibv_destroy_qp(first), 0);
	expect_access(IBV_WR_RDMA_WRITE, key, RANGE, 8);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

TEST(type_1__post_fails__the_key_stays)
{
	struct ibv_mw *one = mw_make(&b, IBV_MW_TYPE_1), *two = mw_make(&b, IBV_MW_TYPE_2);
	const uint32_t key = mw_bind(&b, one, RANGE, RANGE, MW_REMOTE);
	struct ibv_mw_bind bind = { .bind_info = { b.mr, (uintptr_t)b.bytes, 8, 0 } };
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	ck_assert_int_eq(ibv_bind_mw(b.qp, two, &bind), EINVAL);
	ck_assert_int_eq(mw_try_post(&b, 1, 0, one, b.mr, key + 1, RANGE, RANGE, 0), EINVAL);
	ck_assert_int_eq(mw_try_post(&b, 1, 0, NULL, b.mr, key + 1, RANGE, RANGE, 0), EINVAL);
	bind.send_flags = IBV_SEND_INLINE;
	ck_assert_int_eq(ibv_bind_mw(b.qp, one, &bind), EINVAL);
	ck_assert_uint_eq(one->rkey, key);
	expect_access(IBV_WR_RDMA_WRITE, key, RANGE, 8);
	bind.send_flags = 0;
	ck_assert_int_eq(ibv_modify_qp(b.qp, &reset, IBV_QP_STATE), 0);
	ck_assert_int_eq(ibv_bind_mw(b.qp, one, &bind), EINVAL);
	ck_assert_uint_eq(one->rkey, key);
	ck_assert_int_eq(ibv_dealloc_mw(one), 0);
	ck_assert_int_eq(ibv_dealloc_mw(two), 0);
}

/* --- type 2 */

TEST(type_2__access_by_another_queue_pair__is_refused)
{
	struct ibv_qp *first = b.qp;
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_2);
	const uint32_t key = mw_bind(&b, mw, RANGE, RANGE, MW_REMOTE);

	expect_access(IBV_WR_RDMA_WRITE, key, RANGE, 8);
	side_new_qp(&b);
	pair_connect_again(&a, &b);
	expect_no_access(IBV_WR_RDMA_WRITE, key, RANGE, 8);
	expect_no_access(IBV_WR_RDMA_READ, key, RANGE, 8);
	ck_assert_int_eq(ibv_destroy_qp(first), 0);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

TEST(queue_pair_destroyed__its_window_of_type_2_is_not_bound_any_more)
{
	struct ibv_mw *mw[3];
	uint32_t key[3];

	for (int i = 0; i < 3; i++) {
		mw[i] = mw_make(&b, IBV_MW_TYPE_2);
		key[i] = mw_bind(&b, mw[i], RANGE, RANGE, MW_REMOTE);
	}
	ck_assert_int_eq(ibv_dealloc_mw(mw[1]), 0);
	mw_expect_bound(&b);
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	mw_expect_not_bound(&b);
	side_new_qp(&b);
	pair_connect_again(&a, &b);
	expect_no_access(IBV_WR_RDMA_WRITE, key[0], RANGE, 8);
	expect_no_access(IBV_WR_RDMA_WRITE, key[2], RANGE, 8);
	expect_access(IBV_WR_RDMA_WRITE, mw_bind(&b, mw[0], RANGE, RANGE, MW_REMOTE), RANGE, 8);
	ck_assert_int_eq(ibv_dealloc_mw(mw[0]), 0);
	ck_assert_int_eq(ibv_dealloc_mw(mw[2]), 0);
}

TEST(local_invalidate__ends_access__the_window_can_be_bound_again)
{
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_2);
	uint32_t key = mw_bind(&b, mw, RANGE, RANGE, MW_REMOTE);
	struct ibv_wc wc;

	expect_access(IBV_WR_RDMA_WRITE, key, RANGE, 8);
	mw_invalidate(&b, 7, key, IBV_SEND_SIGNALED);
	wc = cq_next(b.cq);
	ck_assert_uint_eq(wc.wr_id, 7);
	ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
	ck_assert_int_eq(wc.opcode, IBV_WC_LOCAL_INV);
	mw_expect_not_bound(&b);
	expect_no_access(IBV_WR_RDMA_WRITE, key, RANGE, 8);
	key = mw_bind(&b, mw, RANGE, RANGE, MW_REMOTE);
	expect_access(IBV_WR_RDMA_WRITE, key, RANGE, 8);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

/* The receive is b's own, or of an SRQ. */
TEST_LOOP(send_with_invalidate__ends_access__the_receive_has_the_key, 2)
{
	struct ibv_mw *mw;
	struct ibv_wc wc;
	uint32_t key;

	if (_i) {
		pair_end();
		pair_make(&a, &b, &(struct side_options){ .mr_access = MW_ACCESS, .srq = 4 });
		side_receive(&a, 100, 0, 8);
	}
	mw = mw_make(&b, IBV_MW_TYPE_2);
	for (uint64_t round = 0; round < 3; round++) {
		side_receive(&b, 9, 0, 100);
		key = mw_bind(&b, mw, RANGE, RANGE, MW_REMOTE);
		expect_access(IBV_WR_RDMA_WRITE, key, RANGE, 8);
		mw_send_with_invalidate(&a, 3, key, round ? 50 : 0);
		cq_expect(a.cq, 3, IBV_WC_SUCCESS);
		wc = cq_next(b.cq);
		ck_assert_uint_eq(wc.wr_id, 9);
		ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
		ck_assert_int_eq(wc.opcode, IBV_WC_RECV);
		ck_assert_uint_eq(wc.wc_flags, IBV_WC_WITH_INV);
		ck_assert_uint_eq(wc.invalidated_rkey, key);
		ck_assert_uint_eq(wc.byte_len, round ? 50 : 0);
		mw_expect_not_bound(&b);
	}
	expect_no_access(IBV_WR_RDMA_WRITE, key, RANGE, 8);
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}

/* --- rebinding under traffic */

/* Writes until the key is refused. */
static void *
write_on(void *key)
{
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS };

	for (uint64_t n = 1; wc.status == IBV_WC_SUCCESS; n++) {
		memcpy(a.bytes, &n, sizeof n);
		ck_assert_int_eq(try_access(IBV_WR_RDMA_WRITE, *(uint32_t *)key, RANGE, RANGE), 0);
		wc = cq_next(a.cq);
	}
	ck_assert_int_eq(wc.status, IBV_WC_REM_ACCESS_ERR);
	return NULL;
}

TEST(window_unbound_while_a_peer_writes__nothing_is_written_after)
{
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_1);
	char before[RANGE];
	pthread_t writer;
	uint32_t key;

	for (int i = 0; i < 20; i++) {
		key = mw_bind(&b, mw, RANGE, RANGE, IBV_ACCESS_REMOTE_WRITE);
		pthread_create(&writer, NULL, write_on, &key);
		sleep_ms(1);
		if (i & 1)
			mw_bind_to(&b, mw, NULL, 0, 0, 0);
		else
			mw_bind(&b, mw, 10 * RANGE, RANGE, IBV_ACCESS_REMOTE_WRITE);
		memcpy(before, b.bytes + RANGE, RANGE);
		pthread_join(writer, NULL);
		ck_assert_int_eq(memcmp(before, b.bytes + RANGE, RANGE), 0);
		async_expect(b.context, IBV_EVENT_QP_ACCESS_ERR, b.qp);
		pair_connect_again(&a, &b);
	}
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}
