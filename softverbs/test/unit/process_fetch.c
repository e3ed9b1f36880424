/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_fetch -- processes whose memory does not answer when it is read
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "pull_story.h"
#include "starve.h"
#include "lib/feature.h"
#include "softverbs/wire/fetch.h"
#include "softverbs/wire/input.h"
#include "softverbs/wire/peer.h"

/* --- reads that last, as long as the test likes */

static atomic_int silent;	/* the process whose memory does not answer */
static atomic_int reads;	/* of that process, which have begun */
static atomic_int reads_of_all; /* of any other */

static void
last(pid_t pid)
{
	if (pid != silent) {
		reads_of_all++;
		return;
	}
	reads++;
	while (pid == silent)
		usleep(1000);
}

static void
silence(pid_t pid)
{
	reads = reads_of_all = 0;
	silent = pid;
	starve_before_read = last;
}

/* Threads whose reads are late end now; as many are left as were there before. */
static void
answer(int threads)
{
	silent = 0;
	ck_assert_int_eq(runner_await_threads(threads), threads);
	starve_before_read = NULL;
}

/* --- two other processes: one that is silent, one that is innocent */

#define ROUNDS 3

static struct side to_innocent;

static void
sending(void)
{
	own_connect(NULL);
	other_meet();
	for (uint64_t i = 0; i < ROUNDS; i++) {
		memset(own.bytes, (int)('a' + i), LENGTH);
		other_meet();
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, 0, LENGTH);
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
		other_meet();
	}
	own_end();
}

/* Its memory is what is read. */
static void
being_read(void)
{
	own_connect(NULL);
	memset(own.bytes, 'r', LENGTH);
	other_meet();
	own_end();
}

static void
expect_bytes(const struct side *side, char c)
{
	for (size_t i = 0; i < LENGTH; i++)
		if (side->bytes[i] != c)
			ck_abort_msg("byte %zu is %d and not %d", i, side->bytes[i], c);
}

static void
take_one(struct side *side, uint64_t number)
{
	side_receive(side, number, 0, LENGTH);
	other_meet();
	cq_expect(side->cq, number, IBV_WC_SUCCESS);
	expect_bytes(side, (char)('a' + number));
	other_meet();
}

/* The connection to the silent one is `own`. */
static void
begin(void (*silent_one)(void))
{
	other_start(sending);
	other_swap();
	other_start(silent_one);
	other_swap();
	own_connect(NULL);
	to_innocent = own;
	other_swap();
	own_connect(NULL);
}

static void
serve_the_innocent(void)
{
	other_swap();
	other_meet();
	for (uint64_t i = 0; i < ROUNDS; i++)
		take_one(&to_innocent, i);
	other_swap();
}

static void
end_both(void)
{
	own_end();
	other_finish();
	other_swap();
	own = to_innocent;
	own_end();
	other_finish();
}

static bool
feature_threads(void)
{
	return feature_read() && !STORY_TSAN;
}

CASE("soft-process-fetch:silent", .needs = feature_read, .reason = FEATURE_NO_READ);

/* origin: out33.G2 */
TEST(message__of_memory_that_does_not_answer__comes_with_its_data_and_others_are_served)
{
	int threads;

	begin(sending);
	threads = runner_count_threads() + 1;
	silence(other_pid());
	other_meet();
	take_one(&own, 0);
	ck_assert_int_eq(reads, 1);
	serve_the_innocent();
	take_one(&own, 1);
	memset(own.bytes, 'z', LENGTH);
	answer(threads);
	expect_bytes(&own, 'z');
	take_one(&own, 2);
	ck_assert_int_eq(reads, 1);
	end_both();
}

/* origin: out33.G2 */
TEST(message__after_one_that_did_not_come_in_time__of_another_process_is_pulled)
{
	int threads, before;

	begin(sending);
	threads = runner_count_threads() + 1;
	silence(other_pid());
	other_meet();
	take_one(&own, 0);
	before = reads_of_all;
	serve_the_innocent();
	ck_assert_int_ge(reads_of_all, before + ROUNDS);
	take_one(&own, 1);
	take_one(&own, 2);
	answer(threads);
	end_both();
}

/* origin: out33.G2 */
TEST(read__of_memory_that_does_not_answer__is_whole_and_others_are_served)
{
	int threads;

	begin(being_read);
	own_rdma(IBV_WR_RDMA_READ, 1, 0, 0, 8);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	threads = runner_count_threads();
	silence(other_pid());
	other_meet();
	for (uint64_t i = 2; i < 2 + ROUNDS; i++) {
		own_rdma(IBV_WR_RDMA_READ, i, 0, 0, LENGTH);
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
		expect_bytes(&own, 'r');
		memset(own.bytes, 0, LENGTH);
	}
	ck_assert_int_eq(reads, 1);
	serve_the_innocent();
	answer(threads);
	expect_bytes(&own, 0);
	end_both();
}

/* The number of the grant is read when a link is made. */
/* origin: out33.G2 */
TEST(link__to_memory_that_does_not_answer__is_made_and_carries_data)
{
	other_start(sending);
	silence(other_pid());
	own_connect(NULL);
	other_meet();
	for (uint64_t i = 0; i < ROUNDS; i++)
		take_one(&own, i);
	ck_assert_int_ge(reads, 1);
	own_end();
	other_finish();
	answer(runner_threads_before());
}

/* origin: out33.G2 */
TEST(closing__while_a_read_does_not_return__does_not_wait)
{
	begin(sending);
	silence(other_pid());
	other_meet();
	for (uint64_t i = 0; i < ROUNDS; i++)
		take_one(&own, i);
	serve_the_innocent();
	end_both();
	ck_assert_int_eq(reads, 1);
	answer(runner_threads_before());
}

/* --- the kernel lets a fault wait */

static char *page_of_uffd;

/* A descriptor; nothing answers it. */
static int
uffd_begin(void *memory, size_t length)
{
	const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .range = { (uintptr_t)memory, length },
		.mode = UFFDIO_REGISTER_MODE_MISSING };

	if (fd < 0)
		return fd;
	ck_assert_int_eq(ioctl(fd, UFFDIO_API, &api), 0);
	ck_assert_int_eq(ioctl(fd, UFFDIO_REGISTER, &range), 0);
	return fd;
}

static bool
feature_uffd(void)
{
	const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0 && feature_read();
}

static void
sending_what_never_comes(void)
{
	struct ibv_sge sge = { 0, LENGTH, 0 };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_mr *mr;

	own_connect(NULL);
	page_of_uffd =
	    mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(page_of_uffd, MAP_FAILED);
	memset(page_of_uffd, 1, LENGTH);
	mr = ibv_reg_mr(own.pd, page_of_uffd, LENGTH, 0);
	ck_assert_ptr_nonnull(mr);
	ck_assert_int_ge(uffd_begin(page_of_uffd, LENGTH), 0);
	sge.addr = (uintptr_t)page_of_uffd;
	sge.lkey = mr->lkey;
	other_meet();
	ck_assert_int_eq(ibv_post_send(own.qp, &wr, &bad), 0);
	ck_assert_int_eq(madvise(page_of_uffd, LENGTH, MADV_DONTNEED), 0);
	other_meet();
	pause();
}

CASE("soft-process-fetch:userfaultfd", .needs = feature_uffd,
    .reason = "only root can keep a fault of the kernel waiting here (userfaultfd)", .root = true);

/* origin: out33.G2 */
TEST(message__of_pages_that_never_come__others_are_served_and_closing_does_not_wait)
{
	begin(sending_what_never_comes);
	side_receive(&own, 1, 0, LENGTH);
	soft_input_lock();
	other_meet();
	other_meet();
	soft_input_unlock();
	serve_the_innocent();
	cq_expect_empty(own.cq);
	side_free(&own);
	other_kill();
	other_swap();
	own = to_innocent;
	own_end();
	other_finish();
	ck_assert_int_eq(runner_await_threads(runner_threads_before()), runner_threads_before());
}

/* --- what such processes cost in all */

static char here[8192];

static int
fetch_here(struct soft_fetch_source *source)
{
	const struct iovec piece = { here, sizeof here };
	char *bytes;
	int r;

	soft_fetch_lock();
	r = soft_fetch(source, &piece, 1, &bytes);
	if (!r)
		ck_assert_int_eq(memcmp(bytes, here, sizeof here), 0);
	soft_fetch_unlock();
	return r;
}

#define SOURCES (SOFT_FETCH_THREADS + 3)

CASE("soft-process-fetch:bounds", .needs = feature_read, .reason = FEATURE_NO_READ);

/* origin: out33.G2 */
TEST(silent_processes__more_than_threads__are_not_read)
{
	struct soft_fetch_source sources[SOURCES], good = { .pid = getpid() };
	const int threads = runner_count_threads();

	silence(getpid());
	for (int i = 0; i < SOURCES; i++) {
		sources[i] = (struct soft_fetch_source){ .pid = getpid() };
		ck_assert_int_eq(fetch_here(&sources[i]), -ETIMEDOUT);
		ck_assert_int_eq(fetch_here(&sources[i]), -ETIMEDOUT); /* it is not read again */
		ck_assert_int_le(reads, i + 1);
	}
	ck_assert_int_le(reads, SOFT_FETCH_THREADS);
	ck_assert_int_eq(runner_count_threads(), threads + SOFT_FETCH_THREADS);
	soft_fetch_stop();
	answer(threads);
	ck_assert_int_eq(fetch_here(&good), 0);
	soft_fetch_stop();
	ck_assert_int_eq(runner_await_threads(threads), threads);
}

static void
take_time(pid_t pid)
{
	(void)pid;
	reads++;
	usleep(30000);
}

/* origin: out33.G2 */
TEST(process__that_answers_late_each_time__is_not_read_for_long)
{
	struct soft_fetch_source source = { .pid = getpid() };

	reads = 0;
	starve_before_read = take_time;
	for (int i = 0; i < 20; i++)
		(void)fetch_here(&source);
	ck_assert_int_eq(fetch_here(&source), -ETIMEDOUT);
	ck_assert_int_le(reads, 4);
	starve_before_read = NULL;
	soft_fetch_stop();
}

TEST(memory_that_is_not_there__is_refused_and_the_next_is_read)
{
	struct soft_fetch_source source = { .pid = getpid() };
	const struct iovec piece = { NULL, 8 };
	char *bytes;

	starve_creators = true; /* the thread waits for its first read */
	soft_fetch_lock();
	ck_assert_int_eq(soft_fetch(&source, &piece, 1, &bytes), -EFAULT);
	soft_fetch_unlock();
	ck_assert_int_eq(fetch_here(&source), 0);
	starve_creators = false;
	soft_fetch_stop();
}

/* --- the process forks, or ends, while a read does not return */

static void
begin_silence(void)
{
	struct soft_fetch_source source = { .pid = getpid() };

	side_make(&own, NULL);
	silence(getpid());
	ck_assert_int_eq(fetch_here(&source), -ETIMEDOUT);
	ck_assert_int_eq(reads, 1);
}

/* The one that does not return is not the one that reads now. */
static void
read_beside_it(void)
{
	struct soft_fetch_source source = { .pid = getpid() };

	starve_before_read = NULL;
	ck_assert_int_eq(fetch_here(&source), 0);
}

CASE("soft-process-fetch:ends", .needs = feature_threads,
    .reason = "no process may be read here, or the child of one with threads makes none");

/* origin: out33.G2 */
TEST(child__while_a_read_does_not_return__reads)
{
	struct soft_fetch_source source;
	int status;
	pid_t child;

	begin_silence();
	read_beside_it();
	fflush(NULL);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		source = (struct soft_fetch_source){ .pid = getpid() };
		_exit(fetch_here(&source) != 0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	side_free(&own);
	answer(runner_threads_before());
}

static void
ending(void)
{
	begin_silence();
	exit(0);
}

/* Before a sanitizer looks for memory that only the stack of the main thread pointed to. */
static void
end_at_once(void)
{
	_exit(0);
}

static void
main_thread_ending(void)
{
	atexit(end_at_once);
	begin_silence();
	other_meet();
	pthread_exit(NULL);
}

TEST(process__exits_while_a_read_does_not_return__ends)
{
	other_start(ending);
	other_finish();
}

/* origin: out33.G2 */
TEST(process__without_a_thread_of_its_own_while_a_read_does_not_return__ends)
{
	other_start(main_thread_ending);
	other_meet();
	other_finish();
}
