/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * transfer -- data arrives, and the completions report it
 */
#include "pair.h"

#include <sys/mman.h>

static void
setup(void)
{
	pair_make(&a, &b, NULL);
	for (int i = 0; i < SIDE_BYTES; i++)
		a.bytes[i] = (char)(i * 7 + i / 256);
}

CASE("soft-transfer:transfer", setup, pair_end);

TEST(send__lands_in_the_oldest_receive)
{
	struct ibv_wc wc;

	side_receive(&b, 11, 0, 4096);
	side_receive(&b, 12, 8192, 4096);
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 21, 100, 1000);
	wc = cq_next(b.cq);
	ck_assert_uint_eq(wc.wr_id, 11);
	ck_assert_int_eq(wc.opcode, IBV_WC_RECV);
	ck_assert_uint_eq(wc.byte_len, 1000);
	ck_assert_uint_eq(wc.qp_num, b.qp->qp_num);
	ck_assert_uint_eq(wc.src_qp, a.qp->qp_num);
	ck_assert_int_eq(memcmp(b.bytes, a.bytes + 100, 1000), 0);
	ck_assert_int_eq(b.bytes[1000], 0);
	wc = cq_next(a.cq);
	ck_assert_uint_eq(wc.wr_id, 21);
	ck_assert_int_eq(wc.opcode, IBV_WC_SEND);
	cq_expect_empty(b.cq);
}

TEST(send_with_immediate__is_delivered)
{
	struct ibv_wc wc;

	side_receive(&b, 1, 0, 64);
	side_post(&a, IBV_WR_SEND_WITH_IMM, 0, 77, 0, 0);
	wc = cq_next(b.cq);
	ck_assert_uint_eq(wc.wc_flags & IBV_WC_WITH_IMM, IBV_WC_WITH_IMM);
	ck_assert_uint_eq(ntohl(wc.imm_data), 77);
	ck_assert_uint_eq(wc.byte_len, 0);
}

TEST(scatter_gather__unequal_segments__bytes_in_order)
{
	struct ibv_sge from[3] = {
		{ (uintptr_t)a.bytes + 10, 100, a.mr->lkey },
		{ (uintptr_t)a.bytes + 500, 0, a.mr->lkey },
		{ (uintptr_t)a.bytes + 900, 57, a.mr->lkey },
	};
	struct ibv_sge to[2] = {
		{ (uintptr_t)b.bytes + 1, 33, b.mr->lkey },
		{ (uintptr_t)b.bytes + 2000, 200, b.mr->lkey },
	};
	struct ibv_send_wr send = { .sg_list = from, .num_sge = 3, .opcode = IBV_WR_SEND }, *bad;
	struct ibv_recv_wr recv = { .sg_list = to, .num_sge = 2 }, *bad_recv;
	char expected[157];

	ck_assert_int_eq(ibv_post_recv(b.qp, &recv, &bad_recv), 0);
	ck_assert_int_eq(ibv_post_send(a.qp, &send, &bad), 0);
	ck_assert_uint_eq(cq_next(b.cq).byte_len, 157);
	memcpy(expected, a.bytes + 10, 100);
	memcpy(expected + 100, a.bytes + 900, 57);
	ck_assert_int_eq(memcmp(b.bytes + 1, expected, 33), 0);
	ck_assert_int_eq(memcmp(b.bytes + 2000, expected + 33, 157 - 33), 0);
}

#define SEGMENTS 32 /* the device's limit */

static uint32_t
draw_segments(const struct side *side, size_t offset, uint32_t longer, struct ibv_sge *sge)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < SEGMENTS; i++) {
		sge[i] = (struct ibv_sge){ (uintptr_t)side->bytes + offset, 1 + (i + longer) % 7,
			side->mr->lkey };
		offset += sge[i].length + 3;
		total += sge[i].length;
	}
	return total;
}

static void
expect_segments(const struct ibv_sge *from, const struct ibv_sge *to, uint32_t total)
{
	uint32_t i = 0, at_i = 0, j = 0, at_j = 0;

	for (uint32_t n = 0; n < total; n++, at_i++, at_j++) {
		for (; at_i == from[i].length; at_i = 0)
			i++;
		for (; at_j == to[j].length; at_j = 0)
			j++;
		ck_assert_int_eq(
		    ((char *)(uintptr_t)from[i].addr)[at_i], ((char *)(uintptr_t)to[j].addr)[at_j]);
	}
}

/* Of a request, of a receive, and of a shared receive. */
/* origin: out33.D8 */
TEST_LOOP(segments__as_many_as_the_device_takes__bytes_in_order, 2)
{
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = 4, .max_sge = SEGMENTS } };
	struct ibv_qp_init_attr init = { .cap = { 4, 4, SEGMENTS, SEGMENTS, 0 },
		.qp_type = IBV_QPT_RC };
	struct ibv_sge from[SEGMENTS], to[SEGMENTS];
	struct ibv_send_wr send = { .sg_list = from, .num_sge = SEGMENTS, .opcode = IBV_WR_SEND },
			   *bad;
	struct ibv_recv_wr recv = { .sg_list = to, .num_sge = SEGMENTS }, *bad_recv;
	uint32_t total;

	for (struct side *side = &a; side; side = side == &a ? &b : NULL) {
		ck_assert_int_eq(ibv_destroy_qp(side->qp), 0);
		init.send_cq = init.recv_cq = side->cq;
		if (_i && side == &b)
			init.srq = side->srq = ibv_create_srq(side->pd, &shared);
		side->qp = ibv_create_qp(side->pd, &init);
		ck_assert_ptr_nonnull(side->qp);
	}
	side_connect(&a, &b, NULL);
	for (int i = 0; i < SIDE_BYTES; i++)
		a.bytes[i] = (char)(i % 251);
	for (uint32_t longer = 0; longer < 7; longer++) {
		total = draw_segments(&a, 10, 6 - longer, from);
		if (draw_segments(&b, 5, longer, to) < total) {
			to[SEGMENTS - 1].length += 100;
		}
		ck_assert_int_eq(_i ? ibv_post_srq_recv(b.srq, &recv, &bad_recv) :
				      ibv_post_recv(b.qp, &recv, &bad_recv),
		    0);
		ck_assert_int_eq(ibv_post_send(a.qp, &send, &bad), 0);
		ck_assert_uint_eq(cq_next(b.cq).byte_len, total);
		expect_segments(from, to, total);
	}
}

/* origin: out33.D6 */
TEST(srq__a_change_that_is_refused__leaves_it_as_it_was)
{
	static const struct {
		int mask;
		struct ibv_srq_attr attr;
	} refused[] = { { IBV_SRQ_LIMIT, { .srq_limit = 9 } }, { IBV_SRQ_MAX_WR, { .max_wr = 4 } },
		{ IBV_SRQ_MAX_WR, { .max_wr = 0 } }, { IBV_SRQ_MAX_WR, { .max_wr = 1u << 30 } },
		{ IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, { .max_wr = 4, .srq_limit = 1 } },
		{ IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, { .max_wr = 16, .srq_limit = 17 } },
		{ IBV_SRQ_LIMIT | 1 << 9, { .srq_limit = 1 } } };
	struct ibv_srq_attr attr = { .srq_limit = 3 };
	struct ibv_sge sge[4] = { { .length = 0 } };
	struct ibv_recv_wr recv = { .wr_id = 77, .num_sge = 4 }, *bad;
	struct side c;

	side_make(&c, &(struct side_options){ .srq = 8 });
	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
	side_new_qp(&a);
	side_connect(&a, &c, NULL);
	for (uint64_t i = 0; i < 5; i++)
		side_receive(&c, i, 0, 8);
	ck_assert_int_eq(ibv_modify_srq(c.srq, &attr, IBV_SRQ_LIMIT), 0);
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		attr = refused[i].attr;
		ck_assert_int_eq(ibv_modify_srq(c.srq, &attr, refused[i].mask), EINVAL);
		ck_assert_int_eq(ibv_query_srq(c.srq, &attr), 0);
		ck_assert_uint_eq(attr.max_wr, 8);
		ck_assert_uint_eq(attr.srq_limit, 3);
	}
	for (uint64_t i = 0; i < 5; i++) {
		ck_assert(!async_ready(c.context));
		side_post(&a, IBV_WR_SEND, 0, 1, 0, 8);
		cq_expect(c.cq, i, IBV_WC_SUCCESS);
		if (i == 2)
			async_expect(c.context, IBV_EVENT_SRQ_LIMIT_REACHED, c.srq);
	}
	/* A limit of the new size, which is not reached. */
	attr = (struct ibv_srq_attr){ .max_wr = 16, .srq_limit = 12 };
	ck_assert_int_eq(ibv_modify_srq(c.srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), 0);
	async_expect(c.context, IBV_EVENT_SRQ_LIMIT_REACHED, c.srq);
	ck_assert_int_eq(ibv_query_srq(c.srq, &attr), 0);
	ck_assert_uint_eq(attr.max_wr, 16);
	ck_assert_uint_eq(attr.max_sge, 4);
	ck_assert_uint_eq(attr.srq_limit, 0);
	recv.sg_list = sge;
	ck_assert_int_eq(ibv_post_srq_recv(c.srq, &recv, &bad), 0);
	for (uint64_t i = 1; i < 16; i++)
		side_receive(&c, i, 0, 8);
	ck_assert_int_eq(side_try_receive(&c, 16, 0, 8), ENOMEM);
	side_post(&a, IBV_WR_SEND, 0, 1, 0, 0);
	cq_expect(c.cq, 77, IBV_WC_SUCCESS);
	side_free(&c);
}

TEST(inline_data__is_taken_at_the_post)
{
	char text[] = "written before", copy[sizeof text];
	struct ibv_sge sge = { (uintptr_t)text, sizeof text, 0xdead };
	struct ibv_send_wr wr = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE },
			   *bad;

	memcpy(copy, text, sizeof text);
	ck_assert_int_eq(ibv_post_send(a.qp, &wr, &bad), 0); /* waits for a receive */
	memset(text, 'x', sizeof text);
	side_receive(&b, 1, 0, 64);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
	ck_assert_str_eq(b.bytes, copy);
}

TEST(rdma_write__lands_and_takes_no_receive)
{
	side_receive(&b, 1, 0, 64);
	side_rdma(&a, &b, IBV_WR_RDMA_WRITE, 5, 300, 70000, 5000);
	ck_assert_int_eq(cq_next(a.cq).opcode, IBV_WC_RDMA_WRITE);
	ck_assert_int_eq(memcmp(b.bytes + 70000, a.bytes + 300, 5000), 0);
	cq_expect_empty(b.cq);
}

TEST(rdma_write_with_immediate__takes_a_receive)
{
	struct ibv_wc wc;

	side_receive(&b, 1, 0, 0);
	side_rdma(&a, &b, IBV_WR_RDMA_WRITE_WITH_IMM, 5, 0, 4096, 512);
	wc = cq_next(b.cq);
	ck_assert_uint_eq(wc.wr_id, 1);
	ck_assert_int_eq(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	ck_assert_uint_eq(wc.byte_len, 512);
	ck_assert_uint_eq(ntohl(wc.imm_data), 5);
	ck_assert_int_eq(memcmp(b.bytes + 4096, a.bytes, 512), 0);
}

TEST(rdma_read__fetches)
{
	struct ibv_wc wc;

	side_rdma(&b, &a, IBV_WR_RDMA_READ, 9, 1000, 2000, 100000);
	wc = cq_next(b.cq);
	ck_assert_int_eq(wc.opcode, IBV_WC_RDMA_READ);
	ck_assert_uint_eq(wc.byte_len, 100000);
	ck_assert_int_eq(memcmp(b.bytes + 1000, a.bytes + 2000, 100000), 0);
	cq_expect_empty(a.cq);
}

static uint64_t
atomic(enum ibv_wr_opcode opcode, uint64_t compare_add, uint64_t swap)
{
	struct ibv_sge sge = { (uintptr_t)a.bytes, 8, a.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 3,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { (uintptr_t)b.bytes + 64, compare_add, swap, b.mr->rkey } },
			   *bad;
	uint64_t old;

	ck_assert_int_eq(ibv_post_send(a.qp, &wr, &bad), 0);
	cq_expect(a.cq, 3, IBV_WC_SUCCESS);
	memcpy(&old, a.bytes, sizeof old);
	return old;
}

TEST(atomics__return_the_old_value)
{
	uint64_t *word = (uint64_t *)(void *)(b.bytes + 64);

	*word = 40;
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0), 40);
	ck_assert_uint_eq(*word, 42);
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 41, 7), 42);
	ck_assert_uint_eq(*word, 42);
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 42, 7), 42);
	ck_assert_uint_eq(*word, 7);
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 7, 0), 7);
	ck_assert_uint_eq(*word, 0);
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, UINT64_MAX, 0), 0);
	ck_assert_uint_eq(*word, UINT64_MAX);
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, UINT64_MAX, 1ull << 63), UINT64_MAX);
	ck_assert_uint_eq(*word, 1ull << 63);
}

TEST(loopback__queue_pair_connected_to_itself)
{
	struct side self;

	side_make(&self, NULL);
	side_connect(&self, &self, NULL);
	strcpy(self.bytes, "to myself");
	side_receive(&self, 1, 1000, 100);
	side_post(&self, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 16);
	cq_expect(self.cq, 1, IBV_WC_SUCCESS);
	cq_expect(self.cq, 2, IBV_WC_SUCCESS);
	ck_assert_str_eq(self.bytes + 1000, "to myself");
	side_free(&self);
}

TEST(send_before_receive__waits_and_keeps_order)
{
	for (uint64_t i = 0; i < 5; i++)
		side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, i, i * 100, 100);
	cq_expect_empty(a.cq);
	for (uint64_t i = 0; i < 5; i++) {
		side_receive(&b, 10 + i, 1000 * i, 100);
		cq_expect(b.cq, 10 + i, IBV_WC_SUCCESS);
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
		ck_assert_int_eq(memcmp(b.bytes + 1000 * i, a.bytes + i * 100, 100), 0);
	}
}

TEST(message_of_64_MiB__arrives_whole)
{
	const uint32_t length = 64u << 20;
	char *from = malloc(length), *to = malloc(length);
	struct ibv_mr *mr_from = ibv_reg_mr(a.pd, from, length, 0);
	struct ibv_mr *mr_to = ibv_reg_mr(b.pd, to, length, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge_from = { (uintptr_t)from, length, mr_from->lkey };
	struct ibv_sge sge_to = { (uintptr_t)to, length, mr_to->lkey };
	struct ibv_send_wr send = { .sg_list = &sge_from, .num_sge = 1, .opcode = IBV_WR_SEND },
			   *bad;
	struct ibv_recv_wr recv = { .sg_list = &sge_to, .num_sge = 1 }, *bad_recv;
	unsigned int wrong = 0;

	for (uint32_t i = 0; i < length; i += 61)
		from[i] = (char)(i >> 3);
	ck_assert_int_eq(ibv_post_recv(b.qp, &recv, &bad_recv), 0);
	ck_assert_int_eq(ibv_post_send(a.qp, &send, &bad), 0);
	ck_assert_uint_eq(cq_next(b.cq).byte_len, length);
	for (uint32_t i = 0; i < length; i += 61)
		wrong += to[i] != (char)(i >> 3);
	ck_assert_uint_eq(wrong, 0);
	ibv_dereg_mr(mr_from);
	ibv_dereg_mr(mr_to);
	free(from);
	free(to);
}

/* Address space of that size, over and over the same 16 MiB. */
static char *
wide_memory(size_t length)
{
	const size_t piece = 16u << 20;
	int fd = memfd_create("wide", MFD_CLOEXEC);
	char *all =
	    mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_int_eq(ftruncate(fd, (off_t)piece), 0);
	for (size_t at = 0; at < length; at += piece)
		ck_assert_ptr_ne(
		    mmap(all + at, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0),
		    MAP_FAILED);
	close(fd);
	return all;
}

TEST_LOOP(message_of_1_GiB__is_good, !STORY_TSAN ? 1 : 0)
{
	const size_t limit = 1u << 30, length = limit + (16u << 20);
	char *from = wide_memory(length), *to = wide_memory(length);
	struct ibv_mr *mr_from = ibv_reg_mr(a.pd, from, length, 0);
	struct ibv_mr *mr_to = ibv_reg_mr(b.pd, to, length, SIDE_ACCESS);
	struct ibv_sge sge = { (uintptr_t)from, (uint32_t)limit, mr_from->lkey };
	struct ibv_send_wr wr = { .wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)to, mr_to->rkey } },
			   *bad;

	from[12345] = 'x';
	ck_assert_int_eq(ibv_post_send(a.qp, &wr, &bad), 0);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	ck_assert_int_eq(to[12345], 'x');
	ibv_dereg_mr(mr_from);
	ibv_dereg_mr(mr_to);
	munmap(from, length);
	munmap(to, length);
}

/* origin: attack.P5 */
TEST(message_longer_than_the_ports_limit__refused_at_the_post)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ };
	struct ibv_sge half[2] = { { (uintptr_t)a.bytes, 0, a.mr->lkey } };
	struct ibv_send_wr good = { .wr_id = 1, .opcode = IBV_WR_SEND }, *bad;
	struct ibv_send_wr wr = { .wr_id = 2,
		.sg_list = half,
		.num_sge = 2,
		.wr.rdma = { (uintptr_t)b.bytes, b.mr->rkey } };
	struct ibv_port_attr port;

	ck_assert_int_eq(ibv_query_port(a.context, 1, &port), 0);
	half[0].length = port.max_msg_sz / 2;
	half[1] = half[0];
	half[1].length++;
	good.next = &wr;
	good.send_flags = wr.send_flags = IBV_SEND_SIGNALED;
	for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
		side_receive(&b, 3, 0, 8);
		wr.opcode = opcodes[i];
		ck_assert_int_eq(ibv_post_send(a.qp, &good, &bad), EMSGSIZE);
		ck_assert_ptr_eq(bad, &wr);
		cq_expect(a.cq, 1, IBV_WC_SUCCESS);
		cq_expect(b.cq, 3, IBV_WC_SUCCESS);
		cq_expect_empty(a.cq);
	}
}

TEST(srq__serves_two_queue_pairs_and_reports_its_limit)
{
	const struct side_options shared = { .srq = 8 };
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	struct side c, d, e, f;
	struct ibv_qp *own;

	side_make(&c, &shared);
	side_make(&d, NULL);
	side_make(&e, NULL);
	side_connect(&c, &d, NULL);
	f = c; /* a second queue pair on the same SRQ */
	struct ibv_qp_init_attr init = { .send_cq = c.cq,
		.recv_cq = c.cq,
		.srq = c.srq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RC };
	own = f.qp = ibv_create_qp(c.pd, &init);
	side_connect(&f, &e, NULL);
	for (uint64_t i = 0; i < 3; i++)
		side_receive(&c, i, 64 * i, 64);
	ck_assert_int_eq(ibv_modify_srq(c.srq, &attr, IBV_SRQ_LIMIT), 0);
	side_post(&d, IBV_WR_SEND, 0, 1, 0, 8);
	ck_assert(!async_ready(c.context));
	side_post(&e, IBV_WR_SEND, 0, 1, 0, 8);
	async_expect(c.context, IBV_EVENT_SRQ_LIMIT_REACHED, c.srq);
	ck_assert_uint_eq(cq_next(c.cq).qp_num, c.qp->qp_num);
	ck_assert_uint_eq(cq_next(c.cq).qp_num, own->qp_num);
	/* Empty: the next two wait, and one post serves one of them. */
	side_post(&d, IBV_WR_SEND, 0, 1, 0, 8);
	side_post(&d, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, 8);
	side_post(&e, IBV_WR_SEND, IBV_SEND_SIGNALED, 3, 0, 8);
	cq_expect(c.cq, 2, IBV_WC_SUCCESS);
	cq_expect_empty(d.cq);
	cq_expect_empty(e.cq);
	side_receive(&c, 4, 0, 64);
	side_receive(&c, 5, 0, 64);
	cq_expect(d.cq, 2, IBV_WC_SUCCESS);
	cq_expect(e.cq, 3, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_destroy_srq(c.srq), EBUSY);
	ck_assert_int_eq(ibv_destroy_qp(own), 0);
	side_free(&d);
	side_free(&e);
	side_free(&c);
}

TEST(resize_cq__keeps_entries_in_order)
{
	for (uint64_t i = 0; i < 6; i++) {
		side_receive(&b, i, 0, 8);
		side_post(&a, IBV_WR_SEND, 0, i, 0, 8);
	}
	cq_expect(b.cq, 0, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_resize_cq(b.cq, 4), EINVAL);
	ck_assert_int_eq(ibv_resize_cq(b.cq, 5), 0);
	ck_assert_int_eq(b.cq->cqe, 5);
	for (uint64_t i = 1; i < 6; i++)
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_resize_cq(b.cq, 1000), 0);
	cq_expect_empty(b.cq);
}

struct stream {
	struct side *from, *to;
};

static void *
pump(void *arg)
{
	struct stream *stream = arg;

	for (uint64_t i = 0; i < 5000; i++) {
		while (side_try_receive(stream->from, i, 0, 32))
			;
		while (side_try_post(
		    stream->from, IBV_WR_SEND, i % 8 ? 0 : IBV_SEND_SIGNALED, i, 4096, 32))
			;
		struct ibv_wc wc;
		while (ibv_poll_cq(stream->from->cq, 1, &wc) == 1)
			ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
	}
	return NULL;
}

/* A circle of locks would show here as a hang. */
TEST(both_directions_at_once__no_deadlock)
{
	struct stream there = { &a, &b }, back = { &b, &a };
	pthread_t threads[2];

	ck_assert_int_eq(pthread_create(&threads[0], NULL, pump, &there), 0);
	ck_assert_int_eq(pthread_create(&threads[1], NULL, pump, &back), 0);
	ck_assert_int_eq(pthread_join(threads[0], NULL), 0);
	ck_assert_int_eq(pthread_join(threads[1], NULL), 0);
}
