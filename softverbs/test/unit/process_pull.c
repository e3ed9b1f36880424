/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_pull -- data that the other process reads from the memory of the poster
 */
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "pull_story.h"
#include "turn.h"
#include "lib/feature.h"
#include "softverbs/qp/answers.h"
#include "softverbs/qp/qp.h"
#include "softverbs/wire/input.h"
#include "softverbs/wire/peer.h"

/* --- data of all lengths and places */

/* How data goes from one process to the other. */
static const char *const ways[] = { NULL, "SOFTVERBS_NO_PULL", "SOFTVERBS_SOCKETS" };
#define WAYS 3

static void
ways_setup(void)
{
	for (int i = 1; i < WAYS; i++)
		unsetenv(ways[i]);
}

#define ROUNDS 60
#define PIECES 4

static unsigned int seed;

static uint32_t
random_below(uint32_t n)
{
	return (uint32_t)rand_r(&seed) % n;
}

/* A list of segments of the side's bytes, in their order, that holds `length` bytes in all. */
static int
draw_list(struct ibv_sge *sge, uint32_t length)
{
	const int n = 1 + (int)random_below(PIECES);
	uint64_t at = (uintptr_t)own.bytes + random_below(100);

	for (int i = 0; i < n; i++) {
		sge[i] = (struct ibv_sge){ at, i < n - 1 ? random_below(length + 1) : length,
			own.mr->lkey };
		at += sge[i].length + random_below(20);
		length -= sge[i].length;
	}
	return n;
}

static uint32_t
draw_length(void)
{
	static const uint32_t edges[] = { 8191, 8192, 8193, 65535, 65536, 65537, 131072 };
	const uint32_t which = random_below(14);

	return which < 7 ? edges[which] : 1 + random_below(200000);
}

static char
drawn(uint32_t round, uint32_t i)
{
	return (char)(round * 37 + i * 11 + (i >> 8));
}

static void
fill_list(const struct ibv_sge *sge, int n, uint32_t round)
{
	uint32_t at = 0;

	for (int i = 0; i < n; i++)
		for (uint32_t j = 0; j < sge[i].length; j++)
			((char *)(uintptr_t)sge[i].addr)[j] = drawn(round, at++);
}

/* An assertion for each byte would be a message for each, and Check takes long to read so many. */
static void
expect_list(const struct ibv_sge *sge, int n, uint32_t round)
{
	uint32_t at = 0;

	for (int i = 0; i < n; i++)
		for (uint32_t j = 0; j < sge[i].length; j++, at++)
			if (((char *)(uintptr_t)sge[i].addr)[j] != drawn(round, at))
				ck_abort_msg("byte %u of round %u", at, round);
}

/* Odd rounds: the message is a write to here, and its immediate data is received. */
static void
taking_lists(void)
{
	struct ibv_sge sge[PIECES];
	struct ibv_recv_wr wr = { .sg_list = sge }, *bad;
	uint32_t length;

	own_connect(NULL);
	pull_tell_whether_readable();
	for (uint32_t round = 0; round < ROUNDS; round++) {
		other_hear(&length, sizeof length);
		wr.wr_id = round;
		wr.num_sge = draw_list(sge, length);
		ck_assert_int_eq(ibv_post_recv(own.qp, &wr, &bad), 0);
		other_meet();
		cq_expect(own.cq, round, IBV_WC_SUCCESS);
		if (round % 2)
			sge[0] = (struct ibv_sge){ (uintptr_t)own.bytes + 13, length, 0 };
		expect_list(sge, round % 2 ? 1 : wr.num_sge, round);
		memset(own.bytes, 0, SIDE_BYTES);
		other_meet();
	}
	own_end();
}

/* A message that could not be pulled, without a reason of ours, would end it. */
static bool
is_still_pulled(void)
{
	struct soft_link *link = soft_peer_outgoing(own_peer.qpn >> 14);
	bool pulled;

	ck_assert_ptr_nonnull(link);
	pulled = link->pulled;
	soft_link_put(link);
	return pulled;
}

CASE("soft-process-pull:pull", ways_setup);

/* origin: out33.D10 */
TEST_LOOP(message__from_and_to_any_list_of_segments__arrives_whole, WAYS)
{
	bool readable;

	struct ibv_sge sge[PIECES];
	struct ibv_send_wr wr = { .sg_list = sge, .send_flags = IBV_SEND_SIGNALED }, *bad;
	uint32_t length;

	if (ways[_i])
		setenv(ways[_i], "1", 1);
	seed = 1;
	own_begin(taking_lists, NULL);
	readable = pull_hear_whether_readable();
	for (uint32_t round = 0; round < ROUNDS; round++) {
		length = draw_length();
		other_tell(&length, sizeof length);
		wr.wr_id = round;
		wr.num_sge = draw_list(sge, length);
		fill_list(sge, wr.num_sge, round);
		wr.opcode = round % 2 ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND;
		wr.wr.rdma.remote_addr = own_peer.address + 13;
		wr.wr.rdma.rkey = own_peer.rkey;
		other_meet();
		ck_assert_int_eq(ibv_post_send(own.qp, &wr, &bad), 0);
		cq_expect(own.cq, round, IBV_WC_SUCCESS);
		if (!_i)
			ck_assert_int_eq(is_still_pulled(), readable);
		other_meet();
	}
	own_end();
	other_finish();
}

/* --- reads, several at a time */

#define READS 4

/* Before each round its bytes are those of the round. */
static void
being_read(void)
{
	own_connect(NULL);
	for (uint32_t round = 0; round < ROUNDS / READS; round++) {
		for (uint32_t i = 0; i < SIDE_BYTES; i++)
			own.bytes[i] = drawn(round, i);
		other_meet();
		other_meet();
	}
	own_end();
}

/*
 * Posts a read of bytes from 100000 * i on of the other's into a list within our bytes from 60000 *
 * i on.
 */
static int
post_read(uint32_t i, uint32_t length, struct ibv_sge *sge)
{
	struct ibv_send_wr wr = { .wr_id = i,
		.sg_list = sge,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;

	wr.num_sge = draw_list(sge, length);
	for (int j = 0; j < wr.num_sge; j++)
		sge[j].addr += 60000 * i;
	wr.wr.rdma.remote_addr = own_peer.address + 1000 * i + 7;
	wr.wr.rdma.rkey = own_peer.rkey;
	ck_assert_int_eq(ibv_post_send(own.qp, &wr, &bad), 0);
	return wr.num_sge;
}

static void
expect_read(const struct ibv_sge *sge, int n, uint32_t round, uint32_t at)
{
	for (int i = 0; i < n; i++)
		for (uint32_t j = 0; j < sge[i].length; j++, at++)
			if (((char *)(uintptr_t)sge[i].addr)[j] != drawn(round, at))
				ck_abort_msg("byte %u of round %u", at, round);
}

static void
read_rounds(uint32_t rounds)
{
	static const uint32_t lengths[] = { 8192, 100, 58000, 20000, 8191, 40000, 9000, 1 };
	struct ibv_sge sge[READS][PIECES];
	int n[READS];

	for (uint32_t round = 0; round < rounds; round++) {
		other_meet();
		for (uint32_t i = 0; i < READS; i++)
			n[i] = post_read(i, lengths[random_below(8)], sge[i]);
		for (uint32_t i = 0; i < READS; i++)
			cq_expect(own.cq, i, IBV_WC_SUCCESS);
		for (uint32_t i = 0; i < READS; i++)
			expect_read(sge[i], n[i], round, 1000 * i + 7);
		memset(own.bytes, 0, SIDE_BYTES);
		other_meet();
	}
}

TEST_LOOP(read__into_any_list_of_segments__is_whole, WAYS)
{
	if (ways[_i])
		setenv(ways[_i], "1", 1);
	seed = 2;
	own_begin(being_read, NULL);
	read_rounds(ROUNDS / READS);
	own_end();
	other_finish();
}

static void
being_read_whole(void)
{
	own_connect(NULL);
	for (uint32_t i = 0; i < SIDE_BYTES; i++)
		own.bytes[i] = drawn(3, i);
	other_meet();
	own_end();
}

TEST(read__of_many_frames__is_whole)
{
	own_begin(being_read_whole, NULL);
	other_meet();
	own_rdma(IBV_WR_RDMA_READ, 1, 0, 0, SIDE_BYTES);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	for (uint32_t i = 0; i < SIDE_BYTES; i++)
		ck_assert_int_eq(own.bytes[i], drawn(3, i));
	own_end();
	other_finish();
}

/* More data than a ring holds, of more reads than may be outstanding. */
#define MANY 12

TEST_LOOP(reads__more_than_the_limit_and_the_ring__all_are_done, WAYS)
{
	if (ways[_i])
		setenv(ways[_i], "1", 1);
	own_begin(being_read_whole, NULL);
	other_meet();
	for (uint64_t i = 0; i < MANY; i++)
		own_rdma(IBV_WR_RDMA_READ, i, 0, 0, SIDE_BYTES);
	for (uint64_t i = 0; i < MANY; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	turn_expect_idle();
	own_end();
	other_finish();
}

static void
reading_and_sending(void)
{
	own_connect(NULL);
	own_rdma(IBV_WR_RDMA_READ, 1, 0, 0, LENGTH);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	other_meet();
	soft_input_lock();
	own_rdma(IBV_WR_RDMA_READ, 2, 0, 0, LENGTH);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 3, 0, 8);
	other_meet();
	other_meet();
	soft_input_unlock();
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	cq_expect(own.cq, 3, IBV_WC_SUCCESS);
	other_meet();
	side_free(&own);
}

TEST(read_and_send__the_peer_leaves_at_the_message__both_are_done)
{
	struct ibv_wc wc;

	if (!feature_read()) {
		runner_skip(FEATURE_NO_READ);
		return;
	}
	own_begin(reading_and_sending, NULL);
	side_receive(&own, 9, 0, 8);
	other_meet();
	other_meet();
	soft_input_attend(); /* reads all that was sent */
	ck_assert_int_eq(ibv_poll_cq(own.cq, 1, &wc), 0);
	other_meet();
	cq_expect(own.cq, 9, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_destroy_qp(own.qp), 0);
	other_meet();
	side_new_qp(&own);
	side_free(&own);
	other_finish();
}

/* --- a kernel that does not allow it, or no longer */

/*
 * Gives up the effective capabilities, of which one is to read any process.  They are of a thread,
 * and threads inherit them, so this comes before the device is opened.
 */
static void
become_ordinary(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	ck_assert_int_eq(syscall(SYS_capget, &header, sets), 0);
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		sets[i].effective = 0;
	ck_assert_int_eq(syscall(SYS_capset, &header, sets), 0);
}

#define MESSAGES 8

static void
taking_what_it_may_not_read(void)
{
	become_ordinary();
	own_connect(NULL);
	for (uint64_t i = 0; i < MESSAGES; i++) {
		side_receive(&own, i, 0, LENGTH);
		other_meet();
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
		for (size_t j = 0; j < LENGTH; j++)
			ck_assert_int_eq(own.bytes[j], (char)('a' + i));
	}
	own_end();
}

TEST(reading__forbidden_by_the_kernel_on_the_way__messages_arrive)
{
	own_begin(taking_what_it_may_not_read, NULL);
	for (uint64_t i = 0; i < MESSAGES; i++) {
		if (i == MESSAGES / 2)
			ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 0), 0);
		memset(own.bytes, (int)('a' + i), LENGTH);
		other_meet();
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, 0, LENGTH);
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	}
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1), 0);
	own_end();
	other_finish();
}

static void
reading_what_it_may_not_read(void)
{
	become_ordinary();
	seed = 3;
	own_connect(NULL);
	read_rounds(MESSAGES);
	own_end();
}

TEST(reading__forbidden_by_the_kernel_on_the_way__reads_are_whole)
{
	own_begin(reading_what_it_may_not_read, NULL);
	for (uint32_t round = 0; round < MESSAGES; round++) {
		if (round == MESSAGES / 2)
			ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 0), 0);
		for (uint32_t i = 0; i < SIDE_BYTES; i++)
			own.bytes[i] = drawn(round, i);
		other_meet();
		other_meet();
	}
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1), 0);
	own_end();
	other_finish();
}

/* The answers of both reads come before it has tried to pull the first. */
static void
reading_two_that_it_may_not_read(void)
{
	become_ordinary();
	own_connect(NULL);
	other_meet();
	own_rdma(IBV_WR_RDMA_READ, 1, 0, 0, LENGTH);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS); /* there is a link now */
	other_meet();
	other_meet();
	soft_input_lock();
	own_rdma(IBV_WR_RDMA_READ, 2, 0, 0, LENGTH);
	own_rdma(IBV_WR_RDMA_READ, 3, LENGTH, LENGTH, LENGTH);
	other_meet();
	other_meet();
	soft_input_unlock();
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	cq_expect(own.cq, 3, IBV_WC_SUCCESS);
	for (uint32_t i = 0; i < 2 * LENGTH; i++)
		if (own.bytes[i] != drawn(1, i))
			ck_abort_msg("byte %u", i);
	other_meet();
	own_end();
}

/* The number of the next request, when all before it were answered; else UINT32_MAX. */
static uint32_t
number_behind_answers(void)
{
	struct soft_qp *qp = soft_qp_of(own.qp);
	uint32_t number;

	soft_qp_lock_receive(qp);
	number = soft_answers_are_owed(qp) ? UINT32_MAX : qp->answers.expected;
	soft_qp_unlock_receive(qp);
	return number;
}

TEST(reading__forbidden_after_two_were_answered__reads_are_whole)
{
	uint32_t first;

	own_begin(reading_two_that_it_may_not_read, NULL);
	for (uint32_t i = 0; i < 2 * LENGTH; i++)
		own.bytes[i] = drawn(1, i);
	other_meet();
	other_meet();
	first = number_behind_answers();
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 0), 0);
	other_meet();
	other_meet();
	while (number_behind_answers() != ((first + 2) & SOFT_PSN_MASK))
		sleep_ms(1);
	other_meet();
	other_meet();
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1), 0);
	own_end();
	other_finish();
}
