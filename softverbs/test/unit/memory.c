/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory -- what can be registered
 */
#include "story.h"
#include "lib/feature.h"

#include <sys/mman.h>
#include <sys/resource.h>

#define READ_ONLY 0
#define READ_WRITE IBV_ACCESS_LOCAL_WRITE

static struct side a;
static size_t page;
static char *block; /* of eight pages */

static void
setup(void)
{
	side_make(&a, NULL);
	page = (size_t)sysconf(_SC_PAGESIZE);
	block = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(block, MAP_FAILED);
}

static void
teardown(void)
{
	munmap(block, 8 * page);
	side_free(&a);
}

/* 0, or what the registration says. */
static int
try_register(const void *memory, size_t length, int access)
{
	struct ibv_mr *mr;

	errno = 0;
	mr = ibv_reg_mr(a.pd, (void *)(uintptr_t)memory, length, access);
	if (!mr)
		return errno;
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	return 0;
}

CASE("soft-memory:memory", setup, teardown);

/* origin: attack.P4 */
TEST(registration__memory_that_may_not_be_accessed_so__EFAULT)
{
	static const struct {
		int protection, read_only, read_write;
	} cases[] = {
		{ PROT_READ | PROT_WRITE, 0, 0 },
		{ PROT_READ, 0, EFAULT },
		{ PROT_READ | PROT_EXEC, 0, EFAULT },
		{ PROT_NONE, EFAULT, EFAULT },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		ck_assert_int_eq(mprotect(block, 8 * page, cases[i].protection), 0);
		ck_assert_int_eq(try_register(block, 8 * page, READ_ONLY), cases[i].read_only);
		ck_assert_int_eq(try_register(block, 8 * page, READ_WRITE), cases[i].read_write);
		ck_assert_int_eq(try_register(block + 100, 8, SIDE_ACCESS), cases[i].read_write);
		/* A window may be for writing. */
		ck_assert_int_eq(
		    try_register(block, page, IBV_ACCESS_MW_BIND), cases[i].read_write);
		ck_assert_int_eq(
		    try_register(block, page, IBV_ACCESS_REMOTE_READ), cases[i].read_only);
	}
	ck_assert_int_eq(try_register("constant", 8, IBV_ACCESS_REMOTE_READ), 0);
}

/* All sets of rights: remote writing includes local writing. */
TEST(registration__each_set_of_rights__has_local_writing_where_it_has_remote_writing)
{
	const int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND |
			   IBV_ACCESS_ZERO_BASED;
	struct ibv_mr *mr = ibv_reg_mr(a.pd, block, page, IBV_ACCESS_LOCAL_WRITE);

	for (int access = 0; access <= rights; access++) {
		const bool writes = access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
		const bool good = access & IBV_ACCESS_LOCAL_WRITE || !writes;

		if (access & ~rights)
			continue;
		ck_assert_int_eq(try_register(block, page, access), good ? 0 : EINVAL);
		ck_assert_int_eq(
		    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, access),
		    good ? 0 : IBV_REREG_MR_ERR_CMD);
	}
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
}

/* origin: attack.P4 */
TEST(registration__memory_that_is_only_partly_so__EFAULT)
{
	static const int protections[] = { PROT_READ, PROT_NONE, -1 };

	for (size_t i = 0; i < sizeof protections / sizeof protections[0]; i++) {
		if (protections[i] >= 0)
			ck_assert_int_eq(mprotect(block + 3 * page, page, protections[i]), 0);
		else
			ck_assert_int_eq(munmap(block + 3 * page, page), 0);
		ck_assert_int_eq(try_register(block, 3 * page, READ_WRITE), 0);
		ck_assert_int_eq(try_register(block, 3 * page + 1, READ_WRITE), EFAULT);
		ck_assert_int_eq(try_register(block + 4 * page - 1, 1, READ_WRITE), EFAULT);
		ck_assert_int_eq(try_register(block + 4 * page - 1, 2, READ_WRITE), EFAULT);
		ck_assert_int_eq(try_register(block + 4 * page, 4 * page, READ_WRITE), 0);
		ck_assert_int_eq(try_register(block, 8 * page, READ_WRITE), EFAULT);
	}
}

TEST(registration__neighbours_with_different_rights__are_one_range)
{
	ck_assert_int_eq(mprotect(block + 2 * page, 3 * page, PROT_READ), 0);
	ck_assert_int_eq(mprotect(block + 6 * page, page, PROT_READ | PROT_EXEC), 0);
	ck_assert_int_eq(try_register(block, 8 * page, READ_ONLY), 0);
	ck_assert_int_eq(try_register(block, 8 * page, READ_WRITE), EFAULT);
}

/* A device would pin what it registers, and does not get what the file does not have. */
TEST(registration__mapping_longer_than_its_file__EFAULT)
{
	char *bytes;
	int fd;

	if (!feature_read()) {
		runner_skip(FEATURE_NO_READ);
		return;
	}
	fd = memfd_create("short", MFD_CLOEXEC);
	ck_assert_int_eq(ftruncate(fd, (off_t)(2 * page)), 0);
	bytes = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(bytes, MAP_FAILED);
	ck_assert_int_eq(try_register(bytes, 2 * page, READ_WRITE), 0);
	ck_assert_int_eq(try_register(bytes, 2 * page + 1, READ_WRITE), EFAULT);
	ck_assert_int_eq(try_register(bytes + 3 * page, page, READ_ONLY), EFAULT);
	munmap(bytes, 4 * page);
	close(fd);
}

static size_t
pages_in_memory(char *bytes, size_t length)
{
	unsigned char *in_core = malloc(length / page);
	size_t n = 0;

	ck_assert_int_eq(mincore(bytes, length, in_core), 0);
	for (size_t i = 0; i < length / page; i++)
		n += in_core[i] & 1;
	free(in_core);
	return n;
}

TEST(registration__of_untouched_memory__leaves_it_so)
{
	static const int kinds[] = { MAP_PRIVATE, MAP_SHARED };
	const size_t length = 1u << 30;

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		char *bytes = mmap(NULL, length, PROT_READ | PROT_WRITE,
		    kinds[i] | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		ck_assert_ptr_ne(bytes, MAP_FAILED);
		ck_assert_int_eq(try_register(bytes, length, SIDE_ACCESS), 0);
		ck_assert_uint_eq(pages_in_memory(bytes, length), 0);
		munmap(bytes, length);
	}
}

/* Where the kernel's table of mappings cannot be opened, the answer is the same. */
TEST(registration__without_a_descriptor__answers_as_with_one)
{
	struct rlimit limit, none;

	ck_assert_int_eq(mprotect(block + 3 * page, page, PROT_READ), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	ck_assert_int_eq(try_register(block, 8 * page, READ_ONLY), 0);
	ck_assert_int_eq(try_register(block + 10, 20, READ_WRITE), 0);
	/* Since Linux 5.14; an emulator may do nothing. */
	if (!madvise(block, page, MADV_POPULATE_WRITE) &&
	    madvise(block + 3 * page, page, MADV_POPULATE_WRITE))
		ck_assert_int_eq(try_register(block, 8 * page, READ_WRITE), EFAULT);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

TEST(registration__of_many_kinds_of_memory__is_good)
{
	static char global[100];
	char local[100];

	ck_assert_int_eq(try_register(global, sizeof global, SIDE_ACCESS), 0);
	ck_assert_int_eq(try_register(local, sizeof local, SIDE_ACCESS), 0);
	ck_assert_int_eq(try_register(a.bytes, SIDE_BYTES, SIDE_ACCESS), 0);
	ck_assert_int_eq(try_register(block, 0, SIDE_ACCESS), 0);
	ck_assert_int_eq(try_register((void *)(uintptr_t)page, 0, SIDE_ACCESS), 0);
	ck_assert_int_eq(try_register(NULL, 1, READ_ONLY), EFAULT);
	ck_assert_int_eq(try_register((void *)-4096, 1, READ_ONLY), EFAULT);
}

/* ---- with a limit of what may be locked: eight pages beside the region of the side ---- */

static uint64_t
pages_of(const void *memory, size_t length)
{
	return length ? ((uintptr_t)memory + length - 1) / page - (uintptr_t)memory / page + 1 : 0;
}

static void
setup_locked(void)
{
	struct rlimit limit;

	setenv("SOFTVERBS_MEMLOCK", "1", 1);
	setup();
	ck_assert_int_eq(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
	limit.rlim_cur = (pages_of(a.bytes, SIDE_BYTES) + 8) * page;
	ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}

/* Whether the process may lock so much at all. */
static bool
limit_is_enough(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_MEMLOCK, &limit) &&
	       limit.rlim_max >= SIDE_BYTES + 10 * (size_t)sysconf(_SC_PAGESIZE);
}

static struct ibv_mr *
lock_pages(size_t count)
{
	return ibv_reg_mr(a.pd, block, count * page, SIDE_ACCESS | IBV_ACCESS_MW_BIND);
}

/* Exactly so many pages can be locked now. */
static void
expect_room(size_t count)
{
	struct ibv_mr *mr;

	errno = 0;
	ck_assert_ptr_null(ibv_reg_mr(a.pd, a.bytes, (count + 1) * page + 1, READ_WRITE));
	ck_assert_int_eq(errno, ENOMEM);
	if (count < 8) {
		ck_assert_ptr_null(lock_pages(count + 1));
		ck_assert_int_eq(errno, ENOMEM);
	}
	mr = lock_pages(count);
	ck_assert_msg(mr != NULL, "no %zu pages: %s", count, strerror(errno));
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
}

CASE("soft-memory:locked", setup_locked, teardown, .needs = limit_is_enough,
    .reason = "RLIMIT_MEMLOCK is small");

/* origin: outside.151 */
/* origin: outside.154 */
TEST(locked_memory__is_counted_by_page__and_returned)
{
	struct ibv_mr *mr[4];

	expect_room(8);
	mr[0] = lock_pages(3);
	expect_room(5);
	mr[1] = ibv_reg_mr(a.pd, block + page - 1, 2, READ_WRITE); /* of two pages */
	expect_room(3);
	mr[2] = ibv_reg_mr(a.pd, block, 0, READ_WRITE);
	expect_room(3);
	mr[3] = ibv_reg_mr(a.pd, block + 1, page - 1, READ_WRITE);
	expect_room(2);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(ibv_dereg_mr(mr[i]), 0);
	expect_room(8);
}

/* The region is counted as it is then, and as before if it cannot be changed. */
TEST(locked_memory__registered_anew__is_counted_anew)
{
	struct ibv_mr *mr = lock_pages(4);

	ck_assert_int_eq(
	    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, READ_WRITE), 0);
	expect_room(4);
	ck_assert_int_eq(
	    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, block, page, 0), 0);
	expect_room(7);
	/* Both are counted until it has changed. */
	ck_assert_int_eq(
	    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, block, 8 * page, 0),
	    IBV_REREG_MR_ERR_CMD);
	ck_assert_int_eq(errno, ENOMEM);
	expect_room(7);
	ck_assert_int_eq(
	    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, block, 7 * page, 0), 0);
	expect_room(1);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	expect_room(8);
}

/* origin: outside.147 */
TEST(locked_memory__refused_because_of_a_window__is_counted_as_before)
{
	struct ibv_mr *mr = lock_pages(2);
	struct ibv_mw *mw = ibv_alloc_mw(a.pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = { .wr_id = 9,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = { .mr = mr,
		    .addr = (uintptr_t)block,
		    .length = page,
		    .mw_access_flags = IBV_ACCESS_REMOTE_READ } };

	side_connect(&a, &a, NULL);
	ck_assert_int_eq(ibv_bind_mw(a.qp, mw, &bind), 0);
	cq_expect(a.cq, 9, IBV_WC_SUCCESS);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(
		    ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, block, 5 * page, 0),
		    IBV_REREG_MR_ERR_CMD);
		ck_assert_int_eq(errno, EBUSY);
		ck_assert_int_eq(ibv_dereg_mr(mr), EBUSY);
		expect_room(6);
	}
	ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	expect_room(8);
}

static bool
limit_can_be_lifted(void)
{
	const struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit before;

	return !getrlimit(RLIMIT_MEMLOCK, &before) && !setrlimit(RLIMIT_MEMLOCK, &limit) &&
	       !setrlimit(RLIMIT_MEMLOCK, &before);
}

CASE("soft-memory:unlimited", setup_locked, teardown, .needs = limit_can_be_lifted,
    .reason = "only root can raise RLIMIT_MEMLOCK", .root = true);

TEST(locked_memory__without_a_limit__is_counted_and_not_refused)
{
	struct rlimit limit, before;
	struct ibv_mr *mr;

	ck_assert_int_eq(getrlimit(RLIMIT_MEMLOCK, &before), 0);
	limit = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	mr = ibv_reg_mr(a.pd, a.bytes, SIDE_BYTES, READ_WRITE);
	ck_assert_ptr_nonnull(mr);
	ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &before), 0);
	ck_assert_ptr_null(lock_pages(1));
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	expect_room(8);
}
