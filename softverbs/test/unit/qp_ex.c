/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp_ex -- work requests that are built by one call after the other
 */
#include "mw_story.h"
#include "pair.h"

#define EVERY \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND | \
	    IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | \
	    IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | \
	    IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV)

static struct ibv_qp_ex *ex; /* of a */

static struct ibv_qp_init_attr_ex
attributes(enum ibv_qp_type type, uint64_t operations)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = a.cq,
		.recv_cq = a.cq,
		.cap = { 4, 4, 3, 4, 64 },
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = a.pd,
		.send_ops_flags = operations,
	};
}

static void
use(enum ibv_qp_type type, uint64_t operations)
{
	struct ibv_qp_init_attr_ex init = attributes(type, operations);

	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
	a.qp = ibv_create_qp_ex(a.context, &init);
	ck_assert_ptr_nonnull(a.qp);
	ex = ibv_qp_to_qp_ex(a.qp);
	ck_assert_ptr_nonnull(ex);
	ck_assert_uint_ge(init.cap.max_inline_data, 64);
}

static void
setup(void)
{
	side_make(&a, NULL);
	side_make(&b, NULL);
	use(IBV_QPT_RC, EVERY);
	side_connect(&a, &b, NULL);
	for (int i = 0; i < 4096; i++)
		a.bytes[i] = (char)(i * 7 + 1);
}

static void
name(uint64_t wr_id)
{
	ex->wr_id = wr_id;
	ex->wr_flags = IBV_SEND_SIGNALED;
}

static void
complete(uint64_t wr_id)
{
	ck_assert_int_eq(ibv_wr_complete(ex), 0);
	cq_expect(a.cq, wr_id, IBV_WC_SUCCESS);
}

static void
set(size_t offset, uint32_t length)
{
	ibv_wr_set_sge(ex, a.mr->lkey, (uintptr_t)a.bytes + offset, length);
}

CASE("soft-qp-ex:qp_ex", setup, pair_end);

TEST(requests__of_a_batch__are_executed_in_order)
{
	struct ibv_wc wc;

	side_receive(&b, 11, 8192, 100);
	side_receive(&b, 12, 8448, 100);
	ibv_wr_start(ex);
	name(1);
	ibv_wr_rdma_write(ex, b.mr->rkey, (uintptr_t)b.bytes);
	set(0, 300);
	name(2);
	ibv_wr_send(ex);
	set(0, 50);
	name(3);
	ibv_wr_send_imm(ex, htonl(77));
	set(50, 50);
	cq_expect_empty(a.cq); /* nothing is posted yet */
	cq_expect_empty(b.cq);
	ck_assert_int_eq(ibv_wr_complete(ex), 0);
	for (uint64_t i = 1; i <= 3; i++)
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
	cq_expect(b.cq, 11, IBV_WC_SUCCESS);
	wc = cq_next(b.cq);
	ck_assert_uint_eq(wc.wr_id, 12);
	ck_assert_uint_eq(wc.imm_data, htonl(77));
	ck_assert_int_eq(memcmp(a.bytes, b.bytes, 300), 0);
	ck_assert_int_eq(memcmp(a.bytes, b.bytes + 8192, 50), 0);
	ck_assert_int_eq(memcmp(a.bytes + 50, b.bytes + 8448, 50), 0);
}

TEST(requests__of_memory__do_what_they_say)
{
	uint64_t *word = (uint64_t *)(void *)b.bytes;

	side_receive(&b, 11, 8192, 8);
	*word = 40;
	ibv_wr_start(ex);
	name(1);
	ibv_wr_atomic_fetch_add(ex, b.mr->rkey, (uintptr_t)word, 2);
	set(0, 8);
	name(2);
	ibv_wr_atomic_cmp_swp(ex, b.mr->rkey, (uintptr_t)word, 42, 9);
	set(8, 8);
	name(3);
	ibv_wr_rdma_read(ex, b.mr->rkey, (uintptr_t)word);
	set(16, 8);
	name(4);
	ibv_wr_rdma_write_imm(ex, b.mr->rkey, (uintptr_t)word + 8, htonl(5));
	set(512, 8);
	ck_assert_int_eq(ibv_wr_complete(ex), 0);
	for (uint64_t i = 1; i <= 4; i++)
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
	cq_expect(b.cq, 11, IBV_WC_SUCCESS);
	ck_assert_uint_eq(((uint64_t *)(void *)a.bytes)[0], 40);
	ck_assert_uint_eq(((uint64_t *)(void *)a.bytes)[1], 42);
	ck_assert_uint_eq(((uint64_t *)(void *)a.bytes)[2], 9);
	ck_assert_int_eq(memcmp(a.bytes + 512, b.bytes + 8, 8), 0);
}

TEST(windows__bind_send_with_invalidation_and_local_invalidation)
{
	struct ibv_mw *mw;
	struct ibv_mw_bind_info info = { .addr = (uintptr_t)a.bytes, .length = 64 };
	struct ibv_mr *mr = ibv_reg_mr(a.pd, a.bytes, SIDE_BYTES, SIDE_ACCESS | IBV_ACCESS_MW_BIND);
	uint32_t key;

	mw = ibv_alloc_mw(a.pd, IBV_MW_TYPE_2);
	ck_assert_ptr_nonnull(mw);
	key = ibv_inc_rkey(mw->rkey);
	info.mr = mr;
	info.mw_access_flags = IBV_ACCESS_REMOTE_READ;
	ibv_wr_start(ex);
	name(1);
	ibv_wr_bind_mw(ex, mw, key, &info);
	complete(1);
	ck_assert_int_eq(side_rdma_raw(&b, IBV_WR_RDMA_READ, 5, 0, (uintptr_t)a.bytes, key, 64), 0);
	cq_expect(b.cq, 5, IBV_WC_SUCCESS);
	ibv_wr_start(ex);
	name(2);
	ibv_wr_local_inv(ex, key);
	complete(2);
	side_receive(&b, 6, 0, 8);
	ibv_wr_start(ex);
	name(3);
	ibv_wr_send_inv(ex, 1);
	set(0, 8);
	ck_assert_int_eq(ibv_wr_complete(ex), 0);
	cq_expect(a.cq, 3, IBV_WC_REM_ACCESS_ERR); /* the peer has no such window */
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
}

TEST(data__of_several_places__inline_and_by_list)
{
	const struct ibv_sge list[] = { { (uintptr_t)a.bytes, 10, a.mr->lkey },
		{ (uintptr_t)a.bytes + 1000, 20, a.mr->lkey } };
	char first[] = "one ", second[] = "two";
	const struct ibv_data_buf buffers[] = { { first, 4 }, { NULL, 0 }, { second, 4 } };
	char third[] = "three";

	ibv_wr_start(ex);
	name(1);
	ibv_wr_rdma_write(ex, b.mr->rkey, (uintptr_t)b.bytes);
	ibv_wr_set_sge_list(ex, 2, list);
	name(2);
	ibv_wr_rdma_write(ex, b.mr->rkey, (uintptr_t)b.bytes + 100);
	ibv_wr_set_inline_data_list(ex, 3, buffers);
	name(3);
	ibv_wr_rdma_write(ex, b.mr->rkey, (uintptr_t)b.bytes + 200);
	ibv_wr_set_inline_data(ex, third, sizeof third);
	/* The copy was made before. */
	memset(first, 0, sizeof first);
	memset(second, 0, sizeof second);
	memset(third, 0, sizeof third);
	ck_assert_int_eq(ibv_wr_complete(ex), 0);
	for (uint64_t i = 1; i <= 3; i++)
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
	ck_assert_int_eq(memcmp(b.bytes, a.bytes, 10), 0);
	ck_assert_int_eq(memcmp(b.bytes + 10, a.bytes + 1000, 20), 0);
	ck_assert_str_eq(b.bytes + 100, "one two");
	ck_assert_str_eq(b.bytes + 200, "three");
}

/* Builds a write, and behind it what `spoil` does. */
static int
spoiled(void (*spoil)(void))
{
	ibv_wr_start(ex);
	name(1);
	ibv_wr_rdma_write(ex, b.mr->rkey, (uintptr_t)b.bytes);
	set(0, 8);
	spoil();
	return ibv_wr_complete(ex);
}

static void
too_many_requests(void)
{
	for (int i = 0; i < 4; i++) {
		ibv_wr_rdma_write(ex, b.mr->rkey, (uintptr_t)b.bytes);
		set(0, 8);
	}
}

static void
too_many_segments(void)
{
	struct ibv_sge list[33] = { { .length = 0 } };

	ibv_wr_send(ex);
	ibv_wr_set_sge_list(ex, 33, list);
}

static void
too_much_inline_data(void)
{
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, a.bytes, 4096);
}

static void
inline_data_of_a_read(void)
{
	ibv_wr_rdma_read(ex, b.mr->rkey, (uintptr_t)b.bytes);
	ibv_wr_set_inline_data(ex, a.bytes, 8);
}

static void
segmentation(void)
{
	ibv_wr_send_tso(ex, a.bytes, 8, 100);
}

static void
extended_connection(void)
{
	ibv_wr_send(ex);
	ibv_wr_set_xrc_srqn(ex, 3);
}

static void
atomic_write(void)
{
	ex->wr_atomic_write(ex, b.mr->rkey, (uintptr_t)b.bytes, a.bytes);
}

static void
address_of_a_datagram(void)
{
	ibv_wr_send(ex);
	ibv_wr_set_ud_addr(ex, NULL, 1, 1);
}

/* All of the requests or none: the good write before the bad request is not executed. */
TEST(batch__with_a_bad_request__posts_nothing)
{
	static const struct {
		void (*spoil)(void);
		int error;
	} cases[] = {
		{ too_many_requests, ENOMEM },
		{ too_many_segments, EINVAL },
		{ too_much_inline_data, EINVAL },
		{ inline_data_of_a_read, EINVAL },
		{ segmentation, EOPNOTSUPP },
		{ extended_connection, EOPNOTSUPP },
		{ atomic_write, EOPNOTSUPP },
		{ address_of_a_datagram, EINVAL },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		memset(b.bytes, 0, 8);
		ck_assert_int_eq(spoiled(cases[i].spoil), cases[i].error);
		ibv_wr_start(ex);
		name(2);
		ibv_wr_rdma_write(ex, b.mr->rkey, (uintptr_t)b.bytes + 64);
		set(0, 8);
		complete(2);
		ck_assert_int_eq(memcmp(b.bytes, b.bytes + 128, 8), 0);
	}
}

TEST(batch__for_which_the_queue_has_no_room__posts_nothing)
{
	/* The peer has no receive: what is posted stays. */
	for (uint64_t i = 0; i < 2; i++)
		side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, i, 0, 8);
	ibv_wr_start(ex);
	for (uint64_t i = 10; i < 13; i++) {
		name(i);
		ibv_wr_send(ex);
		set(0, 8);
	}
	ck_assert_int_eq(ibv_wr_complete(ex), ENOMEM);
	for (uint64_t i = 0; i < 5; i++)
		side_receive(&b, i, 0, 8);
	cq_expect(a.cq, 0, IBV_WC_SUCCESS);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	ibv_wr_start(ex);
	name(20);
	ibv_wr_send(ex);
	complete(20);
}

TEST(batch__aborted_or_empty__posts_nothing)
{
	ibv_wr_start(ex);
	name(1);
	ibv_wr_rdma_write(ex, b.mr->rkey, (uintptr_t)b.bytes);
	set(0, 8);
	ibv_wr_abort(ex);
	ibv_wr_start(ex);
	ck_assert_int_eq(ibv_wr_complete(ex), 0);
	side_post(&a, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 2, 0, 0);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	ck_assert_int_eq(memcmp(b.bytes, b.bytes + 64, 8), 0);
}

TEST(batch__of_a_queue_pair_that_is_not_ready__refused)
{
	use(IBV_QPT_RC, EVERY);
	ibv_wr_start(ex);
	name(1);
	ibv_wr_send(ex);
	ck_assert_int_eq(ibv_wr_complete(ex), EINVAL);
}

TEST(batch__after_an_error_of_the_connection__is_flushed)
{
	side_to_error(&a);
	ibv_wr_start(ex);
	name(1);
	ibv_wr_send(ex);
	ck_assert_int_eq(ibv_wr_complete(ex), 0);
	cq_expect(a.cq, 1, IBV_WC_WR_FLUSH_ERR);
}

/* origin: out33.U16 */
TEST_LOOP(request__that_was_not_asked_for__refused, 11)
{
	const struct ibv_mw_bind_info info = { .mr = a.mr };

	use(IBV_QPT_RC, _i ? IBV_QP_EX_WITH_SEND : IBV_QP_EX_WITH_RDMA_READ);
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	side_new_qp(&b);
	side_connect(&a, &b, NULL);
	ibv_wr_start(ex);
	name(1);
	switch (_i) {
	case 0:
		ibv_wr_send(ex);
		break;
	case 1:
		ibv_wr_send_imm(ex, 1);
		break;
	case 2:
		ibv_wr_send_inv(ex, 1);
		break;
	case 3:
		ibv_wr_rdma_write(ex, b.mr->rkey, (uintptr_t)b.bytes);
		break;
	case 4:
		ibv_wr_rdma_write_imm(ex, b.mr->rkey, (uintptr_t)b.bytes, 1);
		break;
	case 5:
		ibv_wr_rdma_read(ex, b.mr->rkey, (uintptr_t)b.bytes);
		break;
	case 6:
		ibv_wr_atomic_cmp_swp(ex, b.mr->rkey, (uintptr_t)b.bytes, 1, 2);
		break;
	case 7:
		ibv_wr_atomic_fetch_add(ex, b.mr->rkey, (uintptr_t)b.bytes, 1);
		break;
	case 8:
		ibv_wr_local_inv(ex, 1);
		break;
	case 9:
		ibv_wr_bind_mw(ex, NULL, 1, &info);
		break;
	default:
		ibv_wr_rdma_write(ex, 0, 0);
	}
	set(0, 8);
	ck_assert_int_eq(ibv_wr_complete(ex), EOPNOTSUPP);
}

static void
to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 7 };

	ck_assert_int_eq(
	    ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
	    0);
	attr.qp_state = IBV_QPS_RTR;
	ck_assert_int_eq(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RTS;
	ck_assert_int_eq(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

TEST(datagram__goes_where_its_address_says)
{
	struct ibv_ah_attr address = { .dlid = 1, .port_num = 1 };
	struct ibv_ah *ah = ibv_create_ah(a.pd, &address);
	struct ibv_wc wc;

	use(IBV_QPT_UD, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM);
	to_rts(a.qp);
	side_receive(&a, 9, 8192, 200);
	ibv_wr_start(ex);
	name(1);
	ibv_wr_send_imm(ex, htonl(3));
	ibv_wr_set_ud_addr(ex, ah, a.qp->qp_num, 7);
	set(0, 100);
	ck_assert_int_eq(ibv_wr_complete(ex), 0);
	for (int i = 0; i < 2; i++) {
		wc = cq_next(a.cq);
		ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
		if (wc.opcode == IBV_WC_RECV)
			ck_assert_uint_eq(wc.imm_data, htonl(3));
	}
	ck_assert_int_eq(memcmp(a.bytes, a.bytes + 8192 + 40, 100), 0);
	ibv_wr_start(ex);
	name(2);
	ibv_wr_send(ex);
	set(0, 100);
	ck_assert_int_eq(ibv_wr_complete(ex), EINVAL); /* without an address */
	ck_assert_int_eq(ibv_destroy_ah(ah), 0);
}

static int
creation_error(struct ibv_qp_init_attr_ex init)
{
	errno = 0;
	ck_assert_ptr_null(ibv_create_qp_ex(a.context, &init));
	return errno;
}

TEST(create__what_the_device_does_not_have__refused)
{
	static const uint32_t masks[] = { IBV_QP_INIT_ATTR_XRCD, IBV_QP_INIT_ATTR_MAX_TSO_HEADER,
		IBV_QP_INIT_ATTR_IND_TABLE, IBV_QP_INIT_ATTR_RX_HASH, 1u << 20 };
	struct ibv_qp_init_attr_ex init;

	for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
		init = attributes(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
		init.comp_mask |= masks[i];
		ck_assert_int_eq(creation_error(init), EOPNOTSUPP);
	}
	init = attributes(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
	init.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	init.create_flags = IBV_QP_CREATE_SCATTER_FCS;
	ck_assert_int_eq(creation_error(init), EOPNOTSUPP);
	ck_assert_int_eq(creation_error(attributes(IBV_QPT_RC, IBV_QP_EX_WITH_TSO)), EOPNOTSUPP);
	ck_assert_int_eq(
	    creation_error(attributes(IBV_QPT_RC, IBV_QP_EX_WITH_ATOMIC_WRITE)), EOPNOTSUPP);
	ck_assert_int_eq(
	    creation_error(attributes(IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_READ)), EOPNOTSUPP);
	ck_assert_int_eq(creation_error(attributes(IBV_QPT_UC, IBV_QP_EX_WITH_SEND)), EOPNOTSUPP);
	init = attributes(IBV_QPT_RC, IBV_QP_EX_WITH_SEND);
	init.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	ck_assert_int_eq(creation_error(init), EINVAL);
}

TEST(create__without_operations__has_only_the_plain_calls)
{
	struct ibv_qp_init_attr_ex init = attributes(IBV_QPT_RC, 0);
	struct ibv_qp *qp;

	ck_assert_ptr_null(ibv_qp_to_qp_ex(b.qp));
	init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	init.create_flags = 0;
	qp = ibv_create_qp_ex(a.context, &init);
	ck_assert_ptr_nonnull(qp);
	ck_assert_ptr_null(ibv_qp_to_qp_ex(qp));
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
}

static void *
build_many(void *arg)
{
	const uint64_t mine = (uint64_t)(uintptr_t)arg;

	for (int i = 0; i < 200; i++) {
		ibv_wr_start(ex);
		for (int k = 0; k < 2; k++) {
			ex->wr_id = mine;
			ex->wr_flags = 0;
			ibv_wr_rdma_write(ex, b.mr->rkey, (uintptr_t)b.bytes + mine * 64);
			set(mine * 64, 64);
		}
		ck_assert_int_eq(ibv_wr_complete(ex), 0);
	}
	return NULL;
}

TEST(batches__of_two_threads__do_not_mix)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, build_many, (void *)1), 0);
	build_many((void *)2);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(memcmp(a.bytes + 64, b.bytes + 64, 128), 0);
	cq_expect_empty(a.cq);
}

/* origin: out33.D11 */
TEST(send__with_a_key_to_invalidate__has_that_key)
{
	struct ibv_mr *mr = ibv_reg_mr(b.pd, b.bytes, 4096, MW_ACCESS);
	struct ibv_mw *mw = mw_make(&b, IBV_MW_TYPE_2);
	uint32_t key = mw_bind_to(&b, mw, mr, 0, 64, MW_REMOTE);
	struct ibv_wc wc;

	side_receive(&b, 5, 0, 64);
	ibv_wr_start(ex);
	name(1);
	ibv_wr_send_inv(ex, key);
	set(0, 8);
	complete(1);
	wc = cq_next(b.cq);
	ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
	ck_assert_uint_eq(wc.wc_flags, IBV_WC_WITH_INV);
	ck_assert_uint_eq(wc.invalidated_rkey, key);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0); /* nothing is bound to it */
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
}
