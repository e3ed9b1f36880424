/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_pull -- data that the other process reads from the memory of the poster
 */
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "other.h"
#include "own.h"
#include "soft/qp/qp.h"
#include "soft/wire/input.h"

#define LENGTH 65536 /* of a message that is pulled */

/* --- whether the kernel lets the other process read; both are of one program */

static volatile int probe = 7;

static bool
can_read(pid_t pid)
{
	int there = 0;
	struct iovec local = { &there, sizeof there };
	struct iovec remote = { (void *)(uintptr_t)&probe, sizeof probe };

	return syscall(SYS_process_vm_readv, pid, &local, 1, &remote, 1, 0) == sizeof there;
}

/* For the other process: sends the poster what can_read() finds. */
static void
tell_whether_readable(void)
{
	const bool readable = can_read(getppid());

	other_tell(&readable, sizeof readable);
}

static bool
hear_whether_readable(void)
{
	bool readable;

	other_hear(&readable, sizeof readable);
	return readable;
}

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

static void
expect_list(const struct ibv_sge *sge, int n, uint32_t round)
{
	uint32_t at = 0;

	for (int i = 0; i < n; i++)
		for (uint32_t j = 0; j < sge[i].length; j++, at++)
			ck_assert_msg(((char *)(uintptr_t)sge[i].addr)[j] == drawn(round, at),
			    "byte %u of round %u", at, round);
}

/* Odd rounds: the message is a write to here, and its immediate data is received. */
static void
taking_lists(void)
{
	struct ibv_sge sge[PIECES];
	struct ibv_recv_wr wr = { .sg_list = sge }, *bad;
	uint32_t length;

	own_connect(NULL);
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

START_TEST(message__from_and_to_any_list_of_segments__arrives_whole)
{
	struct ibv_sge sge[PIECES];
	struct ibv_send_wr wr = { .sg_list = sge, .send_flags = IBV_SEND_SIGNALED }, *bad;
	uint32_t length;

	if (ways[_i])
		setenv(ways[_i], "1", 1);
	seed = 1;
	own_begin(taking_lists, NULL);
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
		other_meet();
	}
	own_end();
	other_finish();
}
END_TEST

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

/* Posts a read of bytes from 100000 * i on of the other's into a list within our bytes from 60000 * i on. */
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
			ck_assert_msg(((char *)(uintptr_t)sge[i].addr)[j] == drawn(round, at),
			    "byte %u of round %u", at, round);
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

START_TEST(read__into_any_list_of_segments__is_whole)
{
	if (ways[_i])
		setenv(ways[_i], "1", 1);
	seed = 2;
	own_begin(being_read, NULL);
	read_rounds(ROUNDS / READS);
	own_end();
	other_finish();
}
END_TEST

static void
being_read_whole(void)
{
	own_connect(NULL);
	for (uint32_t i = 0; i < SIDE_BYTES; i++)
		own.bytes[i] = drawn(3, i);
	other_meet();
	own_end();
}

START_TEST(read__of_many_frames__is_whole)
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
END_TEST

/* --- memory that the poster takes back */

/* One message that arrives and makes the link, and then one that may arrive, but not as 'x'. */
static void
taking_old_data(void)
{
	struct ibv_wc wc;
	int n;

	own_connect(NULL);
	tell_whether_readable();
	side_receive(&own, 1, 0, LENGTH);
	side_receive(&own, 2, 0, LENGTH);
	other_meet();
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	other_meet();
	/* It is stopped here, and the message is in the ring when it goes on. */
	other_meet();
	for (int i = 0; i < 100 && !(n = ibv_poll_cq(own.cq, 1, &wc)); i++)
		sleep_ms(1);
	for (int i = 0; n && wc.status == IBV_WC_SUCCESS && i < LENGTH; i++)
		ck_assert_int_eq(own.bytes[i], 'o');
	other_meet();
	_exit(0);
}

static void
post_to_a_stopped_peer(void)
{
	memset(own.bytes, 'o', SIDE_BYTES);
	other_meet();
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, LENGTH);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	other_meet();
	other_stop();
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 0, LENGTH);
}

static void
let_it_look(void)
{
	memset(own.bytes, 'x', SIDE_BYTES);
	other_go_on();
	other_meet();
	other_meet();
}

static void
taking_any_data(void)
{
	own_connect(NULL);
	tell_whether_readable();
	side_receive(&own, 1, 0, LENGTH);
	side_receive(&own, 2, 0, LENGTH);
	other_meet();
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	other_meet();
	other_meet();
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	other_tell(own.bytes, 1);
	own_end();
}

/* A program may not change the data of an outstanding request.  This test changes it, to see when it is read. */
START_TEST(data__is_read_when_it_is_received__if_the_kernel_allows_it)
{
	bool readable;
	char first;

	own_begin(taking_any_data, NULL);
	readable = hear_whether_readable();
	post_to_a_stopped_peer();
	memset(own.bytes, 'x', SIDE_BYTES);
	other_go_on();
	other_meet();
	other_hear(&first, 1);
	ck_assert_int_eq(first, readable ? 'x' : 'o');
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}
END_TEST

START_TEST(region__deregistered_under_a_message__is_not_read_any_more)
{
	bool readable;

	own_begin(taking_old_data, NULL);
	readable = hear_whether_readable();
	post_to_a_stopped_peer();
	ck_assert_int_eq(ibv_dereg_mr(own.mr), 0);
	let_it_look();
	cq_expect(own.cq, 2, readable ? IBV_WC_LOC_PROT_ERR : IBV_WC_SUCCESS);
	own.mr = ibv_reg_mr(own.pd, own.bytes, SIDE_BYTES, SIDE_ACCESS);
	side_free(&own);
	other_finish();
}
END_TEST

/* Ways in which a request ends without its answer. */
enum end { ERROR, RESET, DESTROY, ENDS };

START_TEST(queue_pair__ended_under_a_message__its_data_is_not_read_any_more)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	own_begin(taking_old_data, NULL);
	(void)hear_whether_readable();
	post_to_a_stopped_peer();
	if (_i == ERROR) {
		side_to_error(&own);
		cq_expect(own.cq, 2, IBV_WC_WR_FLUSH_ERR);
	} else if (_i == RESET) {
		ck_assert_int_eq(ibv_modify_qp(own.qp, &attr, IBV_QP_STATE), 0);
	} else {
		ck_assert_int_eq(ibv_destroy_qp(own.qp), 0);
		side_new_qp(&own);
	}
	let_it_look();
	side_free(&own);
	other_finish();
}
END_TEST

/* --- memory that is read, and taken back */

/* Whether our queue pair has given away the address of something that is read. */
static bool
has_offered(void)
{
	struct soft_qp *qp = soft_qp_of(own.qp);
	bool offered;

	soft_qp_lock_receive(qp);
	offered = qp->answers.granted;
	soft_qp_unlock_receive(qp);
	return offered;
}

/* Nothing that the other process sends is handled while it holds the lock. */
static void
reading_late(void)
{
	struct ibv_wc wc;

	own_connect(NULL);
	other_meet();
	own_rdma(IBV_WR_RDMA_READ, 1, 0, 0, LENGTH);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS); /* there is a link now */
	tell_whether_readable();
	soft_input_lock();
	own_rdma(IBV_WR_RDMA_READ, 2, 0, 0, LENGTH);
	other_meet();
	other_meet();
	soft_input_unlock();
	wc = cq_next(own.cq);
	ck_assert_uint_eq(wc.wr_id, 2);
	ck_assert_int_ne(wc.status, IBV_WC_WR_FLUSH_ERR);
	for (int i = 0; wc.status == IBV_WC_SUCCESS && i < LENGTH; i++)
		ck_assert_int_eq(own.bytes[i], 'o');
	other_tell(&wc.status, sizeof wc.status);
	own_end();
}

START_TEST(region__deregistered_under_a_read__is_not_read_any_more)
{
	enum ibv_wc_status status;
	bool readable;

	own_begin(reading_late, NULL);
	memset(own.bytes, 'o', SIDE_BYTES);
	other_meet();
	readable = hear_whether_readable();
	other_meet();
	while (readable && !has_offered())
		sleep_ms(1);
	ck_assert_int_eq(ibv_dereg_mr(own.mr), 0);
	memset(own.bytes, 'x', SIDE_BYTES);
	other_meet();
	other_hear(&status, sizeof status);
	if (readable)
		ck_assert_int_eq(status, IBV_WC_REM_ACCESS_ERR);
	own.mr = ibv_reg_mr(own.pd, own.bytes, SIDE_BYTES, SIDE_ACCESS);
	own_end();
	other_finish();
}
END_TEST

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
	sleep_ms(20); /* for a message that overtakes the read */
	soft_input_unlock();
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	cq_expect(own.cq, 3, IBV_WC_SUCCESS);
	other_meet();
	side_free(&own);
}

START_TEST(read_and_send__the_peer_leaves_at_the_message__both_are_done)
{
	own_begin(reading_and_sending, NULL);
	side_receive(&own, 9, 0, 8);
	other_meet();
	cq_expect(own.cq, 9, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_destroy_qp(own.qp), 0);
	other_meet();
	side_new_qp(&own);
	side_free(&own);
	other_finish();
}
END_TEST

/* --- a kernel that does not allow it, or no longer */

/*
 * Gives up the effective capabilities, of which one is to read any process.  They are of a thread, and threads
 * inherit them, so this comes before the device is opened.
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

START_TEST(reading__forbidden_by_the_kernel_on_the_way__messages_arrive)
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
END_TEST

static void
reading_what_it_may_not_read(void)
{
	become_ordinary();
	seed = 3;
	own_connect(NULL);
	read_rounds(MESSAGES);
	own_end();
}

START_TEST(reading__forbidden_by_the_kernel_on_the_way__reads_are_whole)
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
END_TEST

Suite *
soft_process_pull_suite(void)
{
	Suite *s = suite_create("soft-process-pull");
	TCase *tc = runner_tcase(s, "pull");

	tcase_add_checked_fixture(tc, ways_setup, NULL);
	tcase_add_loop_test(tc, message__from_and_to_any_list_of_segments__arrives_whole, 0, WAYS);
	tcase_add_test(tc, data__is_read_when_it_is_received__if_the_kernel_allows_it);
	tcase_add_test(tc, region__deregistered_under_a_message__is_not_read_any_more);
	tcase_add_loop_test(
	    tc, queue_pair__ended_under_a_message__its_data_is_not_read_any_more, 0, ENDS);
	tcase_add_test(tc, reading__forbidden_by_the_kernel_on_the_way__messages_arrive);
	tcase_add_loop_test(tc, read__into_any_list_of_segments__is_whole, 0, WAYS);
	tcase_add_test(tc, read__of_many_frames__is_whole);
	tcase_add_test(tc, region__deregistered_under_a_read__is_not_read_any_more);
	tcase_add_test(tc, read_and_send__the_peer_leaves_at_the_message__both_are_done);
	tcase_add_test(tc, reading__forbidden_by_the_kernel_on_the_way__reads_are_whole);
	return s;
}
