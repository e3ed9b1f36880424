/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bounds -- counts and lengths of the caller are compared with their limit before anything is read
 * by them
 *
 * What the caller gives lies at the end of a page, and the next page cannot be read.
 */
#include "story.h"

#include <sys/mman.h>

static struct side a, b;
static char *fence; /* the page that cannot be read */

static void
setup(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages =
	    mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(pages, MAP_FAILED);
	fence = pages + page;
	ck_assert_int_eq(mprotect(fence, page, PROT_NONE), 0);
	pair_make(&a, &b, NULL);
}

static void
teardown(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	pair_free(&a, &b);
	munmap(fence - page, 2 * page);
}

/* One segment before the fence. */
static struct ibv_sge *
one_segment(void)
{
	struct ibv_sge *sge = (struct ibv_sge *)(void *)fence - 1;

	*sge = (struct ibv_sge){ .addr = (uintptr_t)a.bytes, .length = 0, .lkey = a.mr->lkey };
	return sge;
}

static const int counts[] = { -1, INT32_MIN, 33, 1000, INT32_MAX };
#define COUNTS ((int)(sizeof counts / sizeof *counts))

CASE("soft-bounds:counts", setup, teardown);

/* origin: out33.SGE */
TEST_LOOP(post_send__more_segments_than_the_queue_takes__no_segment_is_read, COUNTS)
{
	static const unsigned int flags[] = { 0, IBV_SEND_INLINE };

	for (size_t i = 0; i < 2; i++) {
		struct ibv_send_wr wr = { .sg_list = one_segment(),
			.num_sge = counts[_i],
			.opcode = IBV_WR_SEND,
			.send_flags = flags[i] },
				   *bad = NULL;

		ck_assert_int_eq(ibv_post_send(a.qp, &wr, &bad), EINVAL);
		ck_assert_ptr_eq(bad, &wr);
	}
}

TEST_LOOP(post_recv__more_segments_than_the_queue_takes__no_segment_is_read, COUNTS)
{
	struct ibv_recv_wr wr = { .sg_list = one_segment(), .num_sge = counts[_i] }, *bad = NULL;
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(a.pd, &init);

	ck_assert_int_eq(ibv_post_recv(a.qp, &wr, &bad), EINVAL);
	ck_assert_ptr_eq(bad, &wr);
	ck_assert_int_eq(ibv_post_srq_recv(srq, &wr, &bad), EINVAL);
	ck_assert_int_eq(ibv_destroy_srq(srq), 0);
}

/* A list that leads back to its first request ends where the queue is full. */
TEST(post__list_without_an_end__ends_with_the_queue)
{
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND }, *bad_send = NULL;
	struct ibv_recv_wr receive = { .num_sge = 0 }, *bad_receive = NULL;

	receive.next = &receive;
	ck_assert_int_eq(ibv_post_recv(b.qp, &receive, &bad_receive), ENOMEM);
	ck_assert_ptr_eq(bad_receive, &receive);
	send.next = &send;
	ck_assert_int_eq(ibv_post_send(a.qp, &send, &bad_send), ENOMEM);
	ck_assert_ptr_eq(bad_send, &send);
}

TEST(build__more_data_than_the_queue_takes__no_more_is_read)
{
	struct ibv_qp_init_attr_ex init = { .send_cq = a.cq,
		.recv_cq = a.cq,
		.cap = { 1, 1, 1, 1, 16 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = a.pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND };
	struct ibv_qp *qp = ibv_create_qp_ex(a.context, &init);
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
	struct ibv_data_buf *buffer = (struct ibv_data_buf *)(void *)fence - 1;

	*buffer = (struct ibv_data_buf){ .addr = fence, .length = 0 };
	for (int i = 0; i < 4; i++) {
		ibv_wr_start(ex);
		ibv_wr_send(ex);
		if (i == 0)
			ibv_wr_set_sge_list(ex, 1000, one_segment());
		else if (i == 1)
			ibv_wr_set_inline_data(ex, fence - 8, SIZE_MAX);
		else if (i == 2)
			ibv_wr_set_inline_data(ex, fence - 8, init.cap.max_inline_data + 1);
		else
			ibv_wr_set_inline_data_list(ex, 1000000, buffer);
		ck_assert_int_eq(ibv_wr_complete(ex), EINVAL);
	}
	ck_assert_int_eq(ibv_destroy_qp(qp), 0);
}

CASE("soft-bounds:sizes", setup, teardown);

/* Sizes: each is refused, and nothing is made or changed. */
TEST_LOOP(create__sizes_beyond_all_limits__refused, 4)
{
	static const uint32_t sizes[] = { 1u << 21, INT32_MAX, 1u << 31, UINT32_MAX };
	const uint32_t size = sizes[_i];
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = size, .max_sge = 1 } };
	struct ibv_cq_init_attr_ex cq_init = { .cqe = size };
	struct ibv_srq_attr srq_attr = { .max_wr = size, .srq_limit = size };
	struct ibv_srq *srq;

	ck_assert_ptr_null(ibv_create_cq(a.context, (int)size, NULL, NULL, 0));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_null(ibv_create_cq_ex(a.context, &cq_init));
	ck_assert_ptr_null(ibv_create_cq(a.context, 1, NULL, NULL, (int)size));
	ck_assert_int_eq(ibv_resize_cq(a.cq, (int)size), EINVAL);
	ck_assert_ptr_null(ibv_create_srq(a.pd, &srq_init));
	srq_init.attr = (struct ibv_srq_attr){ .max_wr = 1, .max_sge = size };
	ck_assert_ptr_null(ibv_create_srq(a.pd, &srq_init));
	srq_init.attr.max_sge = 1;
	srq = ibv_create_srq(a.pd, &srq_init);
	ck_assert_ptr_nonnull(srq);
	ck_assert_int_eq(ibv_modify_srq(srq, &srq_attr, IBV_SRQ_LIMIT), EINVAL);
	ck_assert_int_eq(ibv_modify_srq(srq, &srq_attr, IBV_SRQ_MAX_WR), EINVAL);
	ck_assert_int_eq(ibv_modify_srq(srq, &srq_attr, (int)size), EINVAL);
	ck_assert_int_eq(ibv_destroy_srq(srq), 0);
	for (int i = 0; i < 5; i++) {
		struct ibv_qp_init_attr init = { .send_cq = a.cq,
			.recv_cq = a.cq,
			.cap = { 1, 1, 1, 1, 0 },
			.qp_type = IBV_QPT_RC };

		(&init.cap.max_send_wr)[i] = size; /* five members of one type */
		ck_assert_ptr_null(ibv_create_qp(a.pd, &init));
		ck_assert_int_eq(errno, EINVAL);
	}
}

TEST(modify_qp__values_and_bits_beyond_all_limits__refused)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .min_rnr_timer = 32 };

	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_MIN_RNR_TIMER), EINVAL);
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, -1), EINVAL);
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | 1 << 30), EINVAL);
	attr.qp_state = (enum ibv_qp_state)77;
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), EINVAL);
	ck_assert_int_eq(qp_state(a.qp), IBV_QPS_RTS);
}

CASE("soft-bounds:counts", setup, teardown);

TEST(connect__data_beyond_all_limits__no_byte_is_read)
{
	struct rdma_event_channel *channel = cm_channel();
	uint16_t port;
	struct rdma_cm_id *listener = cm_listen(channel, &port), *id = cm_resolved(channel, port);
	struct rdma_conn_param param = { .private_data = fence - 1, .private_data_len = UINT8_MAX };
	int value = 1;

	cm_qp(id, NULL);
	ck_assert_int_eq(rdma_connect(id, &param), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(rdma_reject(id, fence - 1, UINT8_MAX), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(
	    rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, fence - 1, SIZE_MAX), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(rdma_set_option(id, RDMA_OPTION_ID, INT32_MIN, &value, sizeof value), -1);
	ck_assert_int_eq(errno, ENOSYS);
	cm_forget(&id);
	cm_forget(&listener);
	rdma_destroy_event_channel(channel);
}

static long
resident_pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long size, resident;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%ld %ld", &size, &resident), 2);
	fclose(file);
	return resident;
}

CASE("soft-bounds:sizes", setup, teardown);

/* origin: out33.F13 */
TEST(create_cq__a_million_entries__takes_memory_as_they_are_used)
{
	struct ibv_cq_init_attr_ex stamped = { .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP };
	struct ibv_cq *cqs[8];
	long before;

	for (int round = 0; round < 2; round++) {
		before = resident_pages();
		for (size_t i = 0; i < 8; i++) {
			cqs[i] = ibv_create_cq(a.context, i ? 262144 : 1048576, NULL, NULL, 0);
			ck_assert_ptr_nonnull(cqs[i]);
		}
		/* The entries are 140 MB. */
		if (!STORY_ASAN && !STORY_TSAN)
			ck_assert_int_lt(resident_pages() - before, 4096);
		ck_assert_int_eq(ibv_resize_cq(cqs[1], 1048576), 0);
		for (size_t i = 0; i < 8; i++)
			ck_assert_int_eq(ibv_destroy_cq(cqs[i]), 0);
		/* With stamps, which have memory of their own; it ends where the queue's ends. */
		for (size_t i = 0; i < 8; i++) {
			stamped.cqe = i ? 262144 : 1048576;
			cqs[i] = ibv_cq_ex_to_cq(ibv_create_cq_ex(a.context, &stamped));
			ck_assert_ptr_nonnull(cqs[i]);
		}
		for (size_t i = 0; i < 8; i++)
			ck_assert_int_eq(ibv_destroy_cq(cqs[i]), 0);
	}
	ck_assert_ptr_null(ibv_create_cq(a.context, 1048577, NULL, NULL, 0));
	ck_assert_int_eq(errno, EINVAL);
}
