/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * domain -- thread and parent domains, what belongs together, and regions that are registered anew
 */
#include "pair.h"

#include <sys/mman.h>

static struct ibv_td *
make_td(void)
{
	struct ibv_td_init_attr init = { .comp_mask = 0 };
	struct ibv_td *td = ibv_alloc_td(a.context, &init);

	ck_assert_ptr_nonnull(td);
	return td;
}

static struct ibv_pd *
make_parent(struct ibv_pd *pd, struct ibv_td *td)
{
	struct ibv_parent_domain_init_attr attr = { .pd = pd, .td = td };

	return ibv_alloc_parent_domain(a.context, &attr);
}

PAIR_CASE("soft-domain:domain");

TEST(parent__of_objects__counts_and_is_counted)
{
	struct ibv_td *td = make_td();
	struct ibv_pd *pd = ibv_alloc_pd(a.context);
	struct ibv_pd *parent = make_parent(pd, td);
	struct ibv_cq_init_attr_ex init = {
		.cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = parent
	};
	struct ibv_cq_ex *cq;
	struct ibv_mr *mr;

	ck_assert_ptr_nonnull(parent);
	ck_assert_int_eq(ibv_dealloc_pd(pd), EBUSY);
	ck_assert_int_eq(ibv_dealloc_td(td), EBUSY);
	cq = ibv_create_cq_ex(a.context, &init);
	ck_assert_ptr_nonnull(cq);
	ck_assert_int_eq(ibv_dealloc_pd(parent), EBUSY);
	ck_assert_int_eq(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	mr = ibv_reg_mr(parent, a.bytes, 8, 0);
	ck_assert_ptr_nonnull(mr);
	ck_assert_ptr_eq(mr->pd, parent);
	ck_assert_int_eq(ibv_dealloc_pd(parent), EBUSY);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	ck_assert_int_eq(ibv_dealloc_pd(parent), 0);
	ck_assert_int_eq(ibv_dealloc_td(td), 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
}

/*
 * The queue pair is of the parent domain, the regions are of the plain one, and of a second parent.
 */
TEST(parent__its_objects_and_those_of_its_domain__share_keys)
{
	struct ibv_pd *plain = a.pd, *parent = make_parent(a.pd, NULL),
		      *second = make_parent(parent, NULL);
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_mr *mr;

	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	a.pd = parent;
	a.srq = ibv_create_srq(parent, &shared);
	ck_assert_ptr_nonnull(a.srq);
	side_new_qp(&a);
	side_new_qp(&b);
	side_connect(&a, &b, NULL);
	strcpy(a.bytes, "plain");
	side_rdma(&a, &b, IBV_WR_RDMA_WRITE, 1, 0, 0, 6);
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	ck_assert_str_eq(b.bytes, "plain");
	side_rdma(&b, &a, IBV_WR_RDMA_READ, 2, 64, 0, 6);
	cq_expect(b.cq, 2, IBV_WC_SUCCESS);
	ck_assert_str_eq(b.bytes + 64, "plain");
	side_receive(&a, 4, 32, 8);
	side_post(&b, IBV_WR_SEND, 0, 5, 64, 6);
	cq_expect(a.cq, 4, IBV_WC_SUCCESS);
	ck_assert_str_eq(a.bytes + 32, "plain");
	mr = ibv_reg_mr(second, a.bytes, 8, SIDE_ACCESS);
	ck_assert_int_eq(
	    side_rdma_raw(&b, IBV_WR_RDMA_READ, 3, 0, (uintptr_t)a.bytes, mr->rkey, 8), 0);
	cq_expect(b.cq, 3, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	ck_assert_int_eq(ibv_dealloc_pd(second), 0);
	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
	ck_assert_int_eq(ibv_destroy_srq(a.srq), 0);
	a.srq = NULL;
	ck_assert_int_eq(ibv_dealloc_pd(parent), 0);
	a.pd = plain;
	side_new_qp(&a);
}

/*
 * A shared receive queue of another domain than its queue pairs: its buffers are of its own.  The
 * messages are shorter than the first buffer, and longer.
 */
/* origin: out33.P1 */
TEST_LOOP(shared_receives__of_another_domain__have_the_keys_of_theirs, 4)
{
	const bool good = _i % 2;
	const uint32_t first = _i / 2 ? 64 : 4;
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = 4, .max_sge = 2 } };
	struct ibv_pd *theirs = ibv_alloc_pd(b.context);
	struct ibv_mr *mr = ibv_reg_mr(theirs, b.bytes, 128, SIDE_ACCESS);
	const uint32_t key = good ? mr->lkey : b.mr->lkey;
	struct ibv_sge sge[2] = { { (uintptr_t)b.bytes, first, key },
		{ (uintptr_t)b.bytes + 64, 64, key } };
	struct ibv_recv_wr wr = { .wr_id = 5, .sg_list = sge, .num_sge = 2 }, *bad;

	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	b.srq = ibv_create_srq(theirs, &shared);
	ck_assert_ptr_nonnull(b.srq);
	side_new_qp(&a);
	side_new_qp(&b);
	side_connect(&a, &b, NULL);
	ck_assert_int_eq(ibv_post_srq_recv(b.srq, &wr, &bad), 0);
	strcpy(a.bytes, "message");
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, 8);
	cq_expect(b.cq, 5, good ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR);
	cq_expect(a.cq, 1, good ? IBV_WC_SUCCESS : IBV_WC_REM_OP_ERR);
	ck_assert_int_eq(memcmp(b.bytes, good ? "mess" : "\0\0\0\0", 4), 0);
	if (!good)
		async_expect(b.context, IBV_EVENT_QP_LAST_WQE_REACHED, b.qp);
	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	ck_assert_int_eq(ibv_destroy_srq(b.srq), 0);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	ck_assert_int_eq(ibv_dealloc_pd(theirs), 0);
	b.srq = NULL;
	side_new_qp(&b);
}

static void *
take(struct ibv_pd *pd, void *context, size_t size, size_t alignment, uint64_t type)
{
	(void)pd, (void)context, (void)size, (void)alignment, (void)type;
	return IBV_ALLOCATOR_USE_DEFAULT;
}

static void
give_back(struct ibv_pd *pd, void *context, void *memory, uint64_t type)
{
	(void)pd, (void)context, (void)memory, (void)type;
}

static int
parent_error(struct ibv_parent_domain_init_attr attr)
{
	errno = 0;
	ck_assert_ptr_null(ibv_alloc_parent_domain(a.context, &attr));
	return errno;
}

TEST(domains__bad_requests__refused)
{
	struct ibv_td_init_attr init = { .comp_mask = 1 };
	struct ibv_parent_domain_init_attr good = { .pd = a.pd,
		.comp_mask =
		    IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
		.alloc = take,
		.free = give_back };
	struct ibv_pd *parent;

	errno = 0;
	ck_assert_ptr_null(ibv_alloc_td(a.context, &init));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(parent_error((struct ibv_parent_domain_init_attr){ .pd = NULL }), EINVAL);
	ck_assert_int_eq(
	    parent_error((struct ibv_parent_domain_init_attr){ .pd = a.pd, .comp_mask = 1u << 9 }),
	    EINVAL);
	ck_assert_int_eq(
	    parent_error((struct ibv_parent_domain_init_attr){
		.pd = a.pd, .comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS, .alloc = take }),
	    EINVAL);
	ck_assert_int_eq(parent_error((struct ibv_parent_domain_init_attr){ .pd = b.pd }), EINVAL);
	parent = ibv_alloc_parent_domain(a.context, &good);
	ck_assert_ptr_nonnull(parent);
	ck_assert_int_eq(ibv_dealloc_pd(parent), 0);
}

/* ---- ibv_rereg_mr() ---- */

static int
read_by_peer(const struct ibv_mr *mr, const void *address)
{
	int r = side_rdma_raw(&b, IBV_WR_RDMA_READ, 9, 128, (uintptr_t)address, mr->rkey, 8);

	ck_assert_int_eq(r, 0);
	return (int)cq_next(b.cq).status;
}

TEST(rereg__translation__moves_the_region)
{
	struct ibv_mr *mr = ibv_reg_mr(a.pd, a.bytes, 64, SIDE_ACCESS);

	strcpy(a.bytes + 4096, "moved");
	ck_assert_int_eq(
	    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, a.bytes + 4096, 32, 0), 0);
	ck_assert_ptr_eq(mr->addr, a.bytes + 4096);
	ck_assert_uint_eq(mr->length, 32);
	ck_assert_int_eq(read_by_peer(mr, a.bytes + 4096), IBV_WC_SUCCESS);
	ck_assert_str_eq(b.bytes + 128, "moved");
	ck_assert_int_eq(read_by_peer(mr, a.bytes), IBV_WC_REM_ACCESS_ERR);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
}

TEST(rereg__access__is_what_the_peer_has)
{
	struct ibv_mr *mr = ibv_reg_mr(a.pd, a.bytes, 64, 0);

	ck_assert_int_eq(
	    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, SIDE_ACCESS), 0);
	ck_assert_int_eq(read_by_peer(mr, a.bytes), IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0), 0);
	ck_assert_int_eq(read_by_peer(mr, a.bytes), IBV_WC_REM_ACCESS_ERR);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
}

TEST(rereg__domain__is_the_one_that_is_busy)
{
	struct ibv_pd *other = ibv_alloc_pd(a.context);
	struct ibv_mr *mr = ibv_reg_mr(other, a.bytes, 64, SIDE_ACCESS);

	ck_assert_int_eq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, a.pd, NULL, 0, 0), 0);
	ck_assert_ptr_eq(mr->pd, a.pd);
	ck_assert_int_eq(ibv_dealloc_pd(other), 0);
	ck_assert_int_eq(read_by_peer(mr, a.bytes), IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
}

TEST(rereg__bad_input__the_region_is_as_it_was)
{
	struct ibv_mr *mr = ibv_reg_mr(a.pd, a.bytes, 64, SIDE_ACCESS);
	static const struct {
		int flags, length, access;
	} cases[] = {
		{ 0, 8, 0 },
		{ 1 << 10, 8, 0 },
		{ IBV_REREG_MR_CHANGE_TRANSLATION, 0, 0 },
		{ IBV_REREG_MR_CHANGE_TRANSLATION, 8, IBV_ACCESS_LOCAL_WRITE },
		{ IBV_REREG_MR_CHANGE_PD, 0, 0 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		errno = 0;
		ck_assert_int_eq(ibv_rereg_mr(mr, cases[i].flags, NULL, a.bytes,
				     (size_t)cases[i].length, cases[i].access),
		    IBV_REREG_MR_ERR_INPUT);
		ck_assert_int_eq(errno, EINVAL);
	}
	errno = 0;
	ck_assert_int_eq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, b.pd, NULL, 0, 0),
	    IBV_REREG_MR_ERR_INPUT); /* of another context */
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_eq(mr->pd, a.pd);
	ck_assert_int_eq(read_by_peer(mr, a.bytes + 16), IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
}

/*
 * Rights and domain change, and its addresses and key do not; a parent domain stands for the one it
 * is of.
 */
TEST(rereg__of_a_region_with_an_address_of_its_own__keeps_it)
{
	const uint64_t iova = 0x10000000;
	struct ibv_pd *parent = make_parent(a.pd, NULL);
	struct ibv_mr *mr = ibv_reg_mr_iova2(a.pd, a.bytes, 64, iova, 0);
	const uint32_t key = mr->rkey;

	ck_assert_int_eq(
	    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, SIDE_ACCESS), 0);
	ck_assert_int_eq(read_by_peer(mr, (void *)iova), IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, parent, NULL, 0, 0), 0);
	ck_assert_int_eq(ibv_dealloc_pd(parent), EBUSY);
	ck_assert_int_eq(read_by_peer(mr, (void *)(iova + 56)), IBV_WC_SUCCESS);
	ck_assert_uint_eq(mr->rkey, key);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	ck_assert_int_eq(ibv_dealloc_pd(parent), 0);
}

/* The rights that it has now are those that the memory must allow, not those that it once had. */
TEST(rereg__translation_after_access__asks_for_the_rights_of_now)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *constant = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(a.pd, a.bytes, 64, SIDE_ACCESS);

	ck_assert_ptr_ne(constant, MAP_FAILED);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(
		    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, constant, page, 0),
		    IBV_REREG_MR_ERR_CMD);
		ck_assert_int_eq(errno, EFAULT);
		ck_assert_ptr_eq(mr->addr, a.bytes);
		ck_assert_uint_eq(mr->length, 64);
		ck_assert_int_eq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				     IBV_ACCESS_REMOTE_READ),
		    0);
		ck_assert_int_eq(
		    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, constant, page, 0), 0);
		ck_assert_int_eq(read_by_peer(mr, constant), IBV_WC_SUCCESS);
		ck_assert_int_eq(
		    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, a.bytes, 64, 0), 0);
		ck_assert_int_eq(
		    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, SIDE_ACCESS), 0);
	}
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	munmap(constant, page);
}

/* ---- each set of flags: what they name changes, the rest stays, in whatever order ---- */

/* A region as it is registered, or as it is to be. */
struct region {
	struct ibv_pd *pd;
	char *bytes;
	int access;
};

#define READABLE (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ)
#define REGION_BYTES 64

/* A request of b for the last bytes of the region, whose addresses begin at `start`. */
static void
expect_remote(const struct ibv_mr *mr, enum ibv_wr_opcode opcode, uint64_t start, bool good)
{
	const size_t last = REGION_BYTES - 8;

	ck_assert_int_eq(side_rdma_raw(&b, opcode, 9, 128, start + last, mr->rkey, 8), 0);
	cq_expect(b.cq, 9, good ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
	if (good)
		return;
	async_expect(a.context, IBV_EVENT_QP_ACCESS_ERR, a.qp);
	pair_connect_again(&a, &b);
}

/* A request of a that has its data there. */
static void
expect_local(const struct ibv_mr *mr, uint64_t start, bool good)
{
	struct ibv_sge sge = { start + REGION_BYTES - 8, 8, mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 8,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)b.bytes + 256, b.mr->rkey } },
			   *bad;

	ck_assert_int_eq(ibv_post_send(a.qp, &wr, &bad), 0);
	cq_expect(a.cq, 8, good ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR);
	if (!good)
		pair_connect_again(&a, &b);
}

static void
expect_region(struct ibv_mr *mr, const struct region *region, uint64_t start)
{
	const bool here = region->pd == a.pd, writes = region->access & IBV_ACCESS_REMOTE_WRITE;
	char *last = region->bytes + REGION_BYTES - 8;

	strcpy(last, "theirs");
	memset(b.bytes + 128, 0, 8);
	memset(b.bytes + 256, 0, 8);
	ck_assert_ptr_eq(mr->pd, region->pd);
	ck_assert_ptr_eq(mr->addr, region->bytes);
	expect_local(mr, start, here);
	ck_assert_str_eq(b.bytes + 256, here ? "theirs" : "");
	expect_remote(mr, IBV_WR_RDMA_READ, start, here);
	ck_assert_str_eq(b.bytes + 128, here ? "theirs" : "");
	strcpy(b.bytes + 128, "ours");
	expect_remote(mr, IBV_WR_RDMA_WRITE, start, here && writes);
	ck_assert_str_eq(last, here && writes ? "ours" : "theirs");
}

/*
 * The region comes to the domain of the queue pair or leaves it, may be written or may not, and
 * has addresses from 0 or its own: before, and as it is to be.
 */
/* origin: out33.Q1 */
TEST_LOOP(rereg__each_set_of_flags__the_region_is_what_they_say, 7)
{
	const int flags = 1 + _i;
	struct ibv_pd *other = ibv_alloc_pd(a.context);
	struct region was, is;
	struct ibv_mr *mr;
	uint64_t start;

	for (int i = 0; i < 16; i++) {
		const int zero[] = { i & 1 ? IBV_ACCESS_ZERO_BASED : 0,
			i & 2 ? IBV_ACCESS_ZERO_BASED : 0 };
		const struct region to = { i & 4 ? other : a.pd, a.bytes + 4096,
			zero[1] | (i & 8 ? READABLE : SIDE_ACCESS) };

		was = (struct region){ i & 4 ? a.pd : other, a.bytes,
			zero[0] | (i & 8 ? SIDE_ACCESS : READABLE) };
		mr = ibv_reg_mr(was.pd, was.bytes, REGION_BYTES, was.access);
		start = zero[0] ? 0 : (uintptr_t)was.bytes;
		is = was;
		if (flags & IBV_REREG_MR_CHANGE_PD)
			is.pd = to.pd;
		if (flags & IBV_REREG_MR_CHANGE_ACCESS)
			is.access = to.access;
		if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
			is.bytes = to.bytes;
			start = is.access & IBV_ACCESS_ZERO_BASED ? 0 : (uintptr_t)is.bytes;
		}
		ck_assert_int_eq(ibv_rereg_mr(mr, flags, to.pd, to.bytes, REGION_BYTES,
				     flags & IBV_REREG_MR_CHANGE_ACCESS ? to.access : 0),
		    0);
		expect_region(mr, &is, start);
		ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	}
	ck_assert_int_eq(ibv_dealloc_pd(other), 0);
}

/* Wherever it lies. */
TEST(region_with_addresses_from_0__keeps_them_when_it_moves)
{
	struct ibv_mr *mr = ibv_reg_mr(a.pd, a.bytes, 64, SIDE_ACCESS | IBV_ACCESS_ZERO_BASED);

	strcpy(a.bytes + 8, "here");
	strcpy(a.bytes + 4104, "there");
	ck_assert_int_eq(read_by_peer(mr, (void *)8), IBV_WC_SUCCESS);
	ck_assert_str_eq(b.bytes + 128, "here");
	ck_assert_int_eq(
	    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, a.bytes + 4096, 32, 0), 0);
	ck_assert_int_eq(read_by_peer(mr, (void *)8), IBV_WC_SUCCESS);
	ck_assert_str_eq(b.bytes + 128, "there");
	ck_assert_int_eq(read_by_peer(mr, a.bytes + 4104), IBV_WC_REM_ACCESS_ERR);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
}

/* Each object that a new one is to be made of belongs to another context. */
TEST(object__made_of_one_of_another_context__refused)
{
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(b.pd, &shared);
	const struct ibv_qp_init_attr good = {
		.send_cq = a.cq, .recv_cq = a.cq, .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};
	struct ibv_qp_init_attr init[3] = { good, good, good }, before;
	struct ibv_qp_init_attr_ex extended = { .send_cq = b.cq,
		.recv_cq = b.cq,
		.cap = { 1, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = b.pd };

	init[0].send_cq = b.cq;
	init[1].recv_cq = b.cq;
	init[2].srq = srq;
	for (int i = 0; i < 3; i++) {
		before = init[i];
		errno = 0;
		ck_assert_ptr_null(ibv_create_qp(a.pd, &init[i]));
		ck_assert_int_eq(errno, EINVAL);
		ck_assert_int_eq(memcmp(&init[i], &before, sizeof before), 0);
	}
	errno = 0;
	ck_assert_ptr_null(ibv_create_qp_ex(a.context, &extended));
	ck_assert_int_eq(errno, EINVAL);
	errno = 0;
	ck_assert_ptr_null(ibv_create_cq(a.context, 4, NULL, b.channel, 0));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(ibv_destroy_srq(srq), 0);
}

TEST(rereg__command_fails__says_so)
{
	struct ibv_mr *mr = ibv_reg_mr(a.pd, a.bytes, 64, SIDE_ACCESS);

	errno = 0;
	ck_assert_int_eq(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, (void *)8, 8, 0),
	    IBV_REREG_MR_ERR_CMD);
	ck_assert_int_eq(errno, EFAULT);
	ck_assert_int_eq(
	    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE),
	    IBV_REREG_MR_ERR_CMD);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
}

TEST(register__relaxed_ordering__accepted)
{
	struct ibv_mr *mr =
	    ibv_reg_mr(a.pd, a.bytes, 64, SIDE_ACCESS | IBV_ACCESS_RELAXED_ORDERING);

	ck_assert_ptr_nonnull(mr);
	ck_assert_int_eq(read_by_peer(mr, a.bytes), IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
}
