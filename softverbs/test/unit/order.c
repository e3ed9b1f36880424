/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order -- when the end of a message is visible, the rest is
 *
 * The test does not depend on a race: the process that copies runs one instruction at a time, and
 * its parent reads the shared memory after each.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "softverbs/qp/copy.h"
#include "story.h"

#define LONGEST 4096
#define SHARED (4 * LONGEST)

static unsigned char *shared;	      /* with the process that copies */
static unsigned char *order[LONGEST]; /* where the bytes of the message go */
static size_t length;

/* The byte `i` of the message; what is there before differs in each. */
static unsigned char
byte_of(size_t i)
{
	return (unsigned char)(i * 7 + 1);
}

static void
lay_out(size_t at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		order[length] = shared + at + i;
		*order[length] = (unsigned char)~byte_of(length);
		length++;
	}
}

static bool
there(size_t i)
{
	return *order[i] == byte_of(i);
}

/* How many bytes at the start of the message are all there. */
static size_t
there_from_the_start(void)
{
	size_t n = 0;

	while (n < length && there(n))
		n++;
	return n;
}

/* No byte of the last eight before all others, and the last one last. */
static void
expect_in_order(void)
{
	const size_t others = length > 8 ? length - 8 : 0;

	for (size_t i = length; i-- > others;) {
		if (!there(i))
			continue;
		ck_assert_msg(there_from_the_start() >= (i == length - 1 ? length : others),
		    "of %zu bytes number %zu is there before number %zu", length, i,
		    there_from_the_start());
	}
}

/*
 * The last 8 bytes at an address that 8 divides, if they are of the message: they are stored at
 * once.
 */
static void
expect_whole_word(void)
{
	const uintptr_t end = (uintptr_t)order[length - 1] + 1;
	const size_t behind = end % 8, first = length - behind - 8;
	unsigned char *word = (unsigned char *)(end - behind - 8), bytes[8];
	uint64_t now;
	bool is;

	if (length < behind + 8 || order[first] != word || order[length - 1] != word + 7 + behind)
		return;
	now = __atomic_load_n((uint64_t *)(void *)word, __ATOMIC_ACQUIRE);
	memcpy(bytes, &now, sizeof bytes);
	is = bytes[0] == byte_of(first);
	for (size_t i = 1; i < 8; i++)
		ck_assert_msg((bytes[i] == byte_of(first + i)) == is,
		    "of %zu bytes number %zu is there without number %zu", length,
		    is ? first : first + i, is ? first + i : first);
}

static int
await_stop(pid_t child)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFSTOPPED(status), "the process that copies: %x", status);
	return WSTOPSIG(status);
}

/* What the child stops by: few instructions, in the one thread that is traced. */
static void
stop(void)
{
	syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP);
}

/* On to the child's next stop, or its end. */
static void
go_on(pid_t child)
{
	ck_assert_int_eq(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
}

/* From one stop of the child's own to its next, a step at a time. */
static void
watch(pid_t child)
{
	do {
		ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
		expect_in_order();
		expect_whole_word();
	} while (await_stop(child) == SIGTRAP);
	ck_assert_uint_eq(there_from_the_start(), length);
}

/*
 * Not where code is translated or each access checked, which takes up to a thousand times as many
 * steps, nor where tracing is forbidden.
 */
static bool
can_watch(void)
{
	const char *preload = getenv("LD_PRELOAD");
	int status;
	pid_t child;

	if (STORY_TSAN || STORY_ASAN || (preload && strstr(preload, "vgpreload")))
		return false;
	child = fork();
	if (child == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status == 0;
}

/* A child that does `act`, which stops before and after what is to be watched. */
static pid_t
child_that(void (*act)(void))
{
	pid_t child;

	fflush(NULL);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(1);
		act();
		_exit(0);
	}
	ck_assert_int_eq(await_stop(child), SIGSTOP);
	return child;
}

static void
expect_end(pid_t child)
{
	int status;

	go_on(child);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(status == 0, "the process that copies: %x", status);
}

static void
setup(void)
{
	shared = mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
}

static void
teardown(void)
{
	munmap(shared, SHARED);
}

/* --- the copy itself */

static const struct {
	size_t length, source, target;
} shapes[] = {
	{ 1, 0, 0 },
	{ 3, 1, 2 },
	{ 5, 0, 6 },
	{ 7, 3, 0 },
	{ 8, 0, 0 },
	{ 8, 0, 3 },
	{ 9, 0, 0 },
	{ 15, 2, 7 },
	{ 16, 0, 0 },
	{ 16, 3, 5 },
	{ 23, 0, 4 },
	{ 64, 0, 0 },
	{ 65, 0, 0 },
	{ 100, 0, 0 },
	{ 256, 0, 0 },
	{ 777, 1, 6 },
	{ 1024, 0, 0 },
	{ 1024, 5, 3 },
	{ 2047, 0, 0 },
};
#define SHAPES (sizeof shapes / sizeof shapes[0])

static void
copy_shapes(void)
{
	static char source[LONGEST + 8];

	for (size_t i = 0; i < SHAPES; i++) {
		struct soft_cursor to = { .raw = (char *)shared + shapes[i].target };
		struct soft_cursor from = { .raw = source + shapes[i].source };

		for (size_t k = 0; k < shapes[i].length; k++)
			source[shapes[i].source + k] = (char)byte_of(k);
		stop();
		soft_copy(&to, &from, shapes[i].length);
		stop();
	}
}

CASE("soft-order:order", setup, teardown, .seconds = 60);

/* origin: attack.K2, out33.D8 */
TEST(copy__the_last_8_bytes_are_stored_last)
{
	pid_t child;

	if (!can_watch())
		return;
	child = child_that(copy_shapes);
	for (size_t i = 0; i < SHAPES; i++) {
		if (i > 0) {
			go_on(child);
			ck_assert_int_eq(await_stop(child), SIGSTOP);
		}
		length = 0;
		lay_out(shapes[i].target, shapes[i].length);
		watch(child);
	}
	expect_end(child);
}

TEST(copy__ranges_that_overlap__as_memmove_does)
{
	char bytes[256], expected[256];

	for (int distance = -40; distance <= 40; distance++) {
		for (size_t n = 0; n <= 100; n++) {
			struct soft_cursor from = { .raw = bytes + 64 };
			struct soft_cursor to = { .raw = bytes + 64 + distance };

			for (size_t i = 0; i < sizeof bytes; i++)
				bytes[i] = expected[i] = (char)(i * 3);
			memmove(expected + 64 + distance, expected + 64, n);
			ck_assert_int_eq(soft_copy(&to, &from, n), SOFT_COPIED);
			ck_assert_int_eq(memcmp(bytes, expected, sizeof bytes), 0);
		}
	}
}

/* --- through the verbs: scattered, and with an end that is not a word's */

#define FIRST_PART 333
#define SECOND_PART 3 /* the last 8 bytes lie in both */

static struct side a, b;
static struct ibv_mr *target;

static void
send_and_write(void)
{
	struct ibv_sge parts[] = { { 0, FIRST_PART, 0 }, { 0, SECOND_PART, 0 } };
	struct ibv_recv_wr receive = { .sg_list = parts, .num_sge = 2 }, *bad;

	pair_make(&a, &b, NULL);
	for (size_t i = 0; i < LONGEST; i++)
		a.bytes[i] = (char)byte_of(i);
	target = ibv_reg_mr(b.pd, shared, SHARED, SIDE_ACCESS);
	parts[0].addr = (uintptr_t)shared + 5;
	parts[1].addr = (uintptr_t)shared + 2 * LONGEST;
	parts[0].lkey = parts[1].lkey = target->lkey;
	ck_assert_int_eq(ibv_post_recv(b.qp, &receive, &bad), 0);
	stop();
	side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, FIRST_PART + SECOND_PART);
	stop();
	ck_assert_int_eq(
	    side_rdma_raw(&a, IBV_WR_RDMA_WRITE, 2, 0, (uintptr_t)shared + 11, target->rkey, 1021),
	    0);
	stop();
	cq_expect(a.cq, 1, IBV_WC_SUCCESS);
	cq_expect(a.cq, 2, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_dereg_mr(target), 0);
	pair_free(&a, &b);
}

/* origin: attack.K2 */
TEST(send_and_write__the_last_8_bytes_are_stored_last)
{
	pid_t child;

	if (!can_watch())
		return;
	child = child_that(send_and_write);
	length = 0;
	lay_out(5, FIRST_PART);
	lay_out(2 * LONGEST, SECOND_PART);
	watch(child);
	length = 0;
	lay_out(11, 1021);
	watch(child);
	expect_end(child);
}

/* --- at speed */

#define ROUNDS 200

static unsigned char mark; /* of the round that the reader has seen */

static void *
read_at_the_last_byte(void *arg)
{
	const unsigned char *bytes = arg;

	for (unsigned int round = 1; round <= ROUNDS; round++) {
		const unsigned char value = (unsigned char)(round % 250 + 1);

		while (__atomic_load_n(&bytes[1023], __ATOMIC_ACQUIRE) != value)
			sched_yield();
		for (size_t i = 0; i < 1024; i++)
			ck_assert_uint_eq(bytes[i], value);
		__atomic_store_n(&mark, value, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* ThreadSanitizer sees that the last byte orders the others. */
TEST(write__polled_at_its_last_byte__is_whole)
{
	pthread_t reader;

	pair_make(&a, &b, NULL);
	ck_assert_int_eq(pthread_create(&reader, NULL, read_at_the_last_byte, b.bytes), 0);
	for (unsigned int round = 1; round <= ROUNDS; round++) {
		const unsigned char value = (unsigned char)(round % 250 + 1);

		memset(a.bytes, value, 1024);
		side_rdma(&a, &b, IBV_WR_RDMA_WRITE, round, 0, 0, 1024);
		cq_expect(a.cq, round, IBV_WC_SUCCESS);
		while (__atomic_load_n(&mark, __ATOMIC_ACQUIRE) != value)
			sched_yield();
	}
	ck_assert_int_eq(pthread_join(reader, NULL), 0);
	pair_free(&a, &b);
}
