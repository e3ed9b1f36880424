/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process -- queue pairs of two processes of one host: successful operations
 */
#include "mw_story.h"
#include "other.h"
#include "own.h"

#include <dirent.h>
#include <fcntl.h>
#include <time.h>

static char
pattern(size_t i)
{
	return (char)(i * 31 + (i >> 9));
}

static void
paint(void)
{
	for (size_t i = 0; i < SIDE_BYTES; i++)
		own.bytes[i] = pattern(i);
}

static void
expect_painted(size_t at, size_t from, size_t length)
{
	for (size_t i = 0; i < length; i++)
		ck_assert_int_eq(own.bytes[at + i], pattern(from + i));
}

/* --- messages */

static void
receiver(void)
{
	struct ibv_wc wc;

	own_connect(NULL);
	side_receive(&own, 1, 0, 1000);
	side_receive(&own, 2, 1000, 200000);
	other_meet();
	wc = cq_next(own.cq);
	ck_assert_uint_eq(wc.wr_id, 1);
	ck_assert_uint_eq(wc.byte_len, 100);
	ck_assert_uint_eq(wc.src_qp, own_peer.qpn);
	ck_assert_uint_eq(ntohl(wc.imm_data), 7);
	expect_painted(0, 50, 100);
	wc = cq_next(own.cq);
	ck_assert_uint_eq(wc.byte_len, 200000);
	expect_painted(1000, 3, 200000);
	side_free(&own);
	other_meet();
}

CASE("soft-process:transfer");

TEST(send__small_and_of_many_frames)
{
	own_begin(receiver, NULL);
	paint();
	other_meet();
	side_post(&own, IBV_WR_SEND_WITH_IMM, IBV_SEND_SIGNALED, 7, 50, 100);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 8, 3, 200000);
	cq_expect(own.cq, 7, IBV_WC_SUCCESS);
	cq_expect(own.cq, 8, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}

static void
late_receiver(void)
{
	own_connect(NULL);
	for (uint64_t i = 0; i < 10; i++) {
		side_receive(&own, i, i * 100, 100);
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
		expect_painted(i * 100, i, 100);
	}
	own_end();
}

TEST(send_before_receive__waits_and_keeps_order)
{
	own_begin(late_receiver, NULL);
	paint();
	for (uint64_t i = 0; i < 10; i++)
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, i, 100);
	for (uint64_t i = 0; i < 10; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}

static void
srq_receiver(void)
{
	const struct side_options shared = { .srq = 4 };

	own_connect(&shared);
	sleep_ms(20);
	for (uint64_t i = 0; i < 3; i++) {
		side_receive(&own, i, 0, 100);
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	}
	own_end();
}

TEST(send_to_an_empty_srq__goes_on_with_each_receive)
{
	own_begin(srq_receiver, NULL);
	for (uint64_t i = 0; i < 3; i++)
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, i, 100);
	for (uint64_t i = 0; i < 3; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}

/* Its last deed is to have received: nothing that it still owes may get lost. */
static void
leaving_receiver(void)
{
	own_connect(NULL);
	for (uint64_t i = 0; i < 4; i++)
		side_receive(&own, i, 0, 100);
	other_meet();
	for (uint64_t i = 0; i < 4; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	_exit(0);
}

TEST_LOOP(send__the_receiver_exits_at_its_completion__the_send_succeeds, 4)
{
	own_begin(leaving_receiver, NULL);
	other_meet();
	for (uint64_t i = 0; i < 4; i++)
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, i, 0, 100);
	for (uint64_t i = 0; i < 4; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	side_free(&own);
	other_finish();
}

/* --- RDMA and atomics */

static void
painted_target(void)
{
	own_connect(NULL);
	paint();
	*(uint64_t *)(void *)own.bytes = 40;
	other_meet();
	other_meet(); /* the other is done */
	expect_painted(8, 8, 92);
	ck_assert_uint_eq(*(uint64_t *)(void *)own.bytes, 7);
	for (size_t i = 0; i < 150000; i++)
		ck_assert_int_eq(own.bytes[100 + i], (char)i);
	cq_expect_empty(own.cq);
	side_free(&own);
}

static uint64_t
atomic(enum ibv_wr_opcode opcode, uint64_t compare_add, uint64_t swap)
{
	struct ibv_sge sge = { (uintptr_t)own.bytes, 8, own.mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 3,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { own_peer.address, compare_add, swap, own_peer.rkey } },
			   *bad;
	uint64_t old;

	ck_assert_int_eq(ibv_post_send(own.qp, &wr, &bad), 0);
	cq_expect(own.cq, 3, IBV_WC_SUCCESS);
	memcpy(&old, own.bytes, sizeof old);
	return old;
}

TEST(rdma_and_atomics__reach_the_other_process)
{
	own_begin(painted_target, NULL);
	other_meet();
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0), 40);
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 1, 0), 42);
	ck_assert_uint_eq(atomic(IBV_WR_ATOMIC_CMP_AND_SWP, 42, 7), 42);
	own_rdma(IBV_WR_RDMA_READ, 1, 1000, 1000, 200000);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	expect_painted(1000, 1000, 200000);
	for (size_t i = 0; i < 150000; i++)
		own.bytes[i] = (char)i;
	own_rdma(IBV_WR_RDMA_WRITE, 2, 0, 100, 150000);
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}

static void
idle_target(void)
{
	own_connect(NULL);
	paint();
	other_meet();
	own_end();
}

/* More reads than may be outstanding, between writes, one of them fenced. */
TEST(many_reads__complete_in_order)
{
	const struct side_options many = { .sends = 64 };

	own_begin(idle_target, &many);
	other_meet();
	for (uint64_t i = 0; i < 48; i++)
		own_rdma(i % 3 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, i, i * 1000,
		    100000 + i * 1000, 900);
	for (uint64_t i = 0; i < 48; i++)
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	for (size_t i = 0; i < 48; i++)
		if (i % 3)
			expect_painted(i * 1000, 100000 + i * 1000, 900);
	own_end();
	other_finish();
}

static void
serve_read(void)
{
	own_connect(NULL);
	paint();
	side_receive(&own, 1, 0, 100000);
	other_meet();
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	expect_painted(0, 5000, 100000); /* what was read here came back */
	own_end();
}

/* Without the fence the message would be sent while the read is under way. */
TEST(fenced_send__of_what_a_read_brings__carries_it)
{
	own_begin(serve_read, NULL);
	other_meet();
	own_rdma(IBV_WR_RDMA_READ, 1, 0, 5000, 100000);
	side_post(&own, IBV_WR_SEND, IBV_SEND_FENCE | IBV_SEND_SIGNALED, 2, 0, 100000);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	own_end();
	other_finish();
}

/* --- each kind of request: the completions of both ends */

static const struct kind {
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	uint32_t length;
	enum ibv_wc_opcode done, received;
	unsigned int wc_flags; /* of the receive */
} kinds[] = {
	{ IBV_WR_SEND, 0, 0, IBV_WC_SEND, IBV_WC_RECV, 0 },
	{ IBV_WR_SEND, IBV_SEND_SOLICITED, 100, IBV_WC_SEND, IBV_WC_RECV, 0 },
	{ IBV_WR_SEND, IBV_SEND_INLINE, 100, IBV_WC_SEND, IBV_WC_RECV, 0 },
	{ IBV_WR_SEND, IBV_SEND_SOLICITED, 100000, IBV_WC_SEND, IBV_WC_RECV, 0 },
	{ IBV_WR_SEND_WITH_IMM, 0, 0, IBV_WC_SEND, IBV_WC_RECV, IBV_WC_WITH_IMM },
	{ IBV_WR_SEND_WITH_IMM, IBV_SEND_SOLICITED, 70000, IBV_WC_SEND, IBV_WC_RECV,
	    IBV_WC_WITH_IMM },
	{ IBV_WR_SEND_WITH_INV, 0, 10, IBV_WC_SEND, IBV_WC_RECV, IBV_WC_WITH_INV },
	{ IBV_WR_SEND_WITH_INV, IBV_SEND_SOLICITED, 70000, IBV_WC_SEND, IBV_WC_RECV,
	    IBV_WC_WITH_INV },
	{ IBV_WR_RDMA_WRITE, IBV_SEND_SOLICITED, 9000, IBV_WC_RDMA_WRITE, IBV_WC_RECV, 0 },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_SOLICITED, 0, IBV_WC_RDMA_WRITE,
	    IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_SOLICITED, 100000, IBV_WC_RDMA_WRITE,
	    IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_INLINE, 64, IBV_WC_RDMA_WRITE,
	    IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM },
	{ IBV_WR_RDMA_READ, 0, 100000, IBV_WC_RDMA_READ, IBV_WC_RECV, 0 },
	{ IBV_WR_ATOMIC_CMP_AND_SWP, 0, 8, IBV_WC_COMP_SWAP, IBV_WC_RECV, 0 },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_SEND_SOLICITED, 8, IBV_WC_FETCH_ADD, IBV_WC_RECV, 0 },
};
#define KINDS (sizeof kinds / sizeof *kinds)

#define KIND_AT 1000
#define KIND_IMM(i) htonl(0x01020304u + (uint32_t)(i))

static const struct side_options kind_options = { .mr_access = MW_ACCESS };

static bool
kind_fetches(const struct kind *kind)
{
	return kind->opcode >= IBV_WR_RDMA_READ && kind->opcode <= IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static bool
kind_takes_receive(const struct kind *kind)
{
	return !kind_fetches(kind) && kind->opcode != IBV_WR_RDMA_WRITE;
}

/*
 * The target of the i-th request: all its bytes differ from those of the other side.  The key that
 * is invalidated.
 */
static uint32_t
kind_prepare(struct side *to, size_t i, struct ibv_mw **mw)
{
	for (size_t at = 0; at < SIDE_BYTES; at++)
		to->bytes[at] = (char)(at * 7 + i);
	*mw = NULL;
	if (kind_takes_receive(&kinds[i]))
		side_receive(to, 100 + i, KIND_AT, 150000);
	ck_assert_int_eq(ibv_req_notify_cq(to->cq, 1), 0);
	if (kinds[i].opcode != IBV_WR_SEND_WITH_INV)
		return 0;
	*mw = mw_make(to, IBV_MW_TYPE_2);
	return mw_bind(to, *mw, 0, 8, IBV_ACCESS_REMOTE_READ);
}

static void
kind_post(struct side *from, const struct own_card *to, size_t i, uint32_t key)
{
	struct ibv_sge sge = { (uintptr_t)from->bytes + KIND_AT, kinds[i].length, from->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 200 + i,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = kinds[i].opcode,
		.send_flags = IBV_SEND_SIGNALED | kinds[i].flags,
		.imm_data = KIND_IMM(i),
		.wr.rdma = { to->address + KIND_AT, to->rkey } },
			   *bad;
	unsigned int wrong = 0;
	struct ibv_wc wc;

	for (size_t at = 0; at < SIDE_BYTES; at++)
		from->bytes[at] = (char)(at * 13 + i + 1);
	if (key)
		wr.invalidate_rkey = key;
	if (kind_fetches(&kinds[i]) && kinds[i].length == 8) {
		wr.wr.atomic.rkey = to->rkey;
		wr.wr.atomic.compare_add = 3;
		wr.wr.atomic.swap = 4;
	}
	ck_assert_int_eq(ibv_post_send(from->qp, &wr, &bad), 0);
	wc = cq_next(from->cq);
	ck_assert_uint_eq(wc.wr_id, 200 + i);
	ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
	ck_assert_int_eq(wc.opcode, kinds[i].done);
	ck_assert_uint_eq(wc.byte_len, kinds[i].length);
	ck_assert_uint_eq(wc.wc_flags, 0);
	ck_assert_uint_eq(wc.qp_num, from->qp->qp_num);
	for (size_t at = 0; at < SIDE_BYTES; at++) {
		const bool fetched =
		    kind_fetches(&kinds[i]) && at >= KIND_AT && at < KIND_AT + kinds[i].length;

		wrong +=
		    from->bytes[at] != (fetched ? (char)(at * 7 + i) : (char)(at * 13 + i + 1));
	}
	ck_assert_uint_eq(wrong, 0);
}

static void
kind_expect(struct side *to, size_t i, uint32_t from, uint32_t key, struct ibv_mw *mw)
{
	const struct kind *kind = &kinds[i];
	uint64_t word;
	unsigned int wrong = 0;
	struct ibv_wc wc;

	if (kind_takes_receive(kind)) {
		if (kind->flags & IBV_SEND_SOLICITED)
			channel_expect(to->channel, to->cq);
		wc = cq_next(to->cq);
		ck_assert_uint_eq(wc.wr_id, 100 + i);
		ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
		ck_assert_int_eq(wc.opcode, kind->received);
		ck_assert_uint_eq(wc.byte_len, kind->length);
		ck_assert_uint_eq(wc.wc_flags, kind->wc_flags);
		if (wc.wc_flags & IBV_WC_WITH_IMM)
			ck_assert_uint_eq(wc.imm_data, KIND_IMM(i));
		if (wc.wc_flags & IBV_WC_WITH_INV)
			ck_assert_uint_eq(wc.invalidated_rkey, key);
		ck_assert_uint_eq(wc.qp_num, to->qp->qp_num);
		ck_assert_uint_eq(wc.src_qp, from);
	}
	cq_expect_empty(to->cq);
	channel_expect_no_event(to->channel);
	for (size_t at = 0; at < 8; at++)
		((char *)&word)[at] = (char)((KIND_AT + at) * 7 + i);
	if (kind->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		word += 3;
	for (size_t at = 0; at < SIDE_BYTES; at++) {
		const bool stored =
		    !kind_fetches(kind) && at >= KIND_AT && at < KIND_AT + kind->length;
		char expected = stored ? (char)(at * 13 + i + 1) : (char)(at * 7 + i);

		if (at >= KIND_AT && at < KIND_AT + 8 && kind_fetches(kind))
			expected = ((char *)&word)[at - KIND_AT];
		wrong += to->bytes[at] != expected;
	}
	ck_assert_uint_eq(wrong, 0);
	if (mw) {
		mw_expect_not_bound(to);
		ck_assert_int_eq(ibv_dealloc_mw(mw), 0);
	}
}

static void
serve_kinds(void)
{
	struct ibv_mw *mw;
	uint32_t told[2];

	own_connect(&kind_options);
	for (size_t i = 0; i < KINDS; i++) {
		told[0] = kind_prepare(&own, i, &mw);
		told[1] = own.mr->rkey;
		other_tell(told, sizeof told);
		other_meet(); /* the request is done */
		kind_expect(&own, i, own_peer.qpn, told[0], mw);
	}
	own_end();
}

static void
setup_no_pull(void)
{
	setenv("SOFTVERBS_NO_PULL", "1", 1);
}

static void
setup_sockets(void)
{
	setenv("SOFTVERBS_SOCKETS", "1", 1);
}

CASE("soft-process:pull");
ALSO_CASE("soft-process:no-pull", setup_no_pull);
ALSO_CASE("soft-process:sockets", setup_sockets);

TEST(request__each_kind__both_ends_are_told_what_it_was)
{
	uint32_t told[2];

	own_begin(serve_kinds, &kind_options);
	for (size_t i = 0; i < KINDS; i++) {
		other_hear(told, sizeof told);
		own_peer.rkey = told[1];
		kind_post(&own, &own_peer, i, told[0]);
		other_meet();
	}
	own_end();
	other_finish();
}

CASE("soft-process:transfer");

TEST(request__each_kind_within_the_process__both_ends_are_told_what_it_was)
{
	struct side from, to;
	struct ibv_mw *mw;

	pair_make(&from, &to, &kind_options);
	for (size_t i = 0; i < KINDS; i++) {
		const uint32_t key = kind_prepare(&to, i, &mw);
		const struct own_card card = { to.qp->qp_num, to.mr->rkey, (uintptr_t)to.bytes };

		kind_post(&from, &card, i, key);
		kind_expect(&to, i, from.qp->qp_num, key, mw);
	}
	pair_free(&from, &to);
}

/* --- events */

#define EVENT_ROUNDS 50

static void
write_then_send(void)
{
	own_connect(NULL);
	for (uint64_t i = 0; i < EVENT_ROUNDS; i++) {
		other_meet();
		own_rdma(IBV_WR_RDMA_WRITE, 2 * i, 0, 5000, 100);
		cq_expect(own.cq, 2 * i, IBV_WC_SUCCESS);
		other_meet();
		other_meet();
		side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 2 * i + 1, 0, 100);
		cq_expect(own.cq, 2 * i + 1, IBV_WC_SUCCESS);
	}
	own_end();
}

/*
 * A program that waits as ibv_get_cq_event(3) shows fails if there is no event to read then.  What
 * another process sends need not lead to one.
 */
TEST(descriptor_that_does_not_block__is_readable_with_an_event_only)
{
	own_begin(write_then_send, NULL);
	ck_assert_int_eq(fcntl(own.channel->fd, F_SETFL, O_NONBLOCK), 0);
	for (uint64_t i = 0; i < EVENT_ROUNDS; i++) {
		side_receive(&own, i, 0, 100);
		ck_assert_int_eq(ibv_req_notify_cq(own.cq, 0), 0);
		other_meet();
		other_meet(); /* it has written */
		channel_expect_no_event(own.channel);
		other_meet();
		channel_expect(own.channel, own.cq);
		cq_expect(own.cq, i, IBV_WC_SUCCESS);
	}
	own_end();
	other_finish();
}

/* --- streams */

#define STREAM_MESSAGES 3000
#define STREAM_SIZE (SIDE_BYTES / 32)

static void
stream(void)
{
	const struct side_options many = { .sends = 16, .receives = 16, .cqe = 64 };
	uint64_t sent = 0, received = 0, done = 0;
	uint32_t length;
	struct ibv_wc wc;

	own_connect(&many);
	for (uint64_t i = 0; i < 16; i++)
		side_receive(&own, i, i * STREAM_SIZE, STREAM_SIZE);
	other_meet();
	while (done < STREAM_MESSAGES || received < STREAM_MESSAGES) {
		if (sent < STREAM_MESSAGES && sent - done < 16) {
			length = (uint32_t)(sent * 37 % STREAM_SIZE);
			memset(own.bytes + (16 + sent % 16) * STREAM_SIZE, (char)sent, length);
			side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, sent,
			    (16 + sent % 16) * STREAM_SIZE, length);
			sent++;
		}
		if (ibv_poll_cq(own.cq, 1, &wc) == 0)
			continue;
		ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
		if (wc.opcode == IBV_WC_SEND) {
			ck_assert_uint_eq(wc.wr_id, done++);
			continue;
		}
		ck_assert_uint_eq(wc.byte_len, received * 37 % STREAM_SIZE);
		for (uint32_t i = 0; i < wc.byte_len; i += 97)
			ck_assert_int_eq(own.bytes[wc.wr_id * STREAM_SIZE + i], (char)received);
		received++;
		side_receive(&own, wc.wr_id, wc.wr_id * STREAM_SIZE, STREAM_SIZE);
	}
	own_end();
}

TEST(both_directions__thousands_of_messages__whole_and_in_order)
{
	other_start(stream);
	stream();
	other_finish();
}

/* --- nothing to do */

/* How often the threads of the device, all but this one, have gone to sleep. */
static unsigned long
sleeps_of_others(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned long all = 0, one;
	char path[300], text[4096], *at;
	FILE *file;

	while ((entry = readdir(tasks))) {
		if (*entry->d_name == '.' || atoi(entry->d_name) == getpid())
			continue;
		snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		text[fread(text, 1, sizeof text - 1, file)] = '\0';
		fclose(file);
		at = strstr(text, "\nvoluntary_ctxt_switches:");
		ck_assert_int_eq(sscanf(at, " voluntary_ctxt_switches: %lu", &one), 1);
		all += one;
	}
	closedir(tasks);
	return all;
}

static double
processor_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void
expect_idle(void)
{
	unsigned long sleeps;
	double seconds;

	sleep_ms(30); /* what is under way ends */
	sleeps = sleeps_of_others();
	seconds = processor_seconds();
	sleep_ms(50);
	ck_assert(processor_seconds() - seconds < 0.02);
	ck_assert_uint_le(sleeps_of_others() - sleeps, 10);
}

static void
be_idle(void)
{
	own_connect(NULL);
	side_receive(&own, 1, 0, 100);
	other_meet();
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	other_meet();
	expect_idle();
	own_end();
}

/* Neither end looks whether something has come, or has timers that find nothing to do. */
TEST_LOOP(messages_have_gone_both_ways__the_threads_of_both_ends_sleep, 2)
{
	if (_i)
		setenv("SOFTVERBS_SOCKETS", "1", 1);
	own_begin(be_idle, NULL);
	other_meet();
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED, 1, 0, 100);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	own_rdma(IBV_WR_RDMA_READ, 2, 0, 0, 100000);
	cq_expect(own.cq, 2, IBV_WC_SUCCESS);
	other_meet();
	expect_idle();
	own_end();
	other_finish();
}
