/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cq_ex -- completion queues that are polled field by field, time stamps, moderation
 */
#include "pair.h"

#include <stdatomic.h>
#include <time.h>

#define STAMPS (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
#define SECOND 1000000000ull

static struct ibv_cq_ex *ex; /* of b */

/* Gives b a queue with these fields, and connects the two anew. */
static void
use(uint64_t fields, uint32_t flags, uint32_t cqe)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = cqe,
		.cq_context = &b,
		.channel = b.channel,
		.wc_flags = fields,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = flags,
	};

	ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
	ck_assert_int_eq(ibv_destroy_cq(b.cq), 0);
	ex = ibv_create_cq_ex(b.context, &init);
	ck_assert_ptr_nonnull(ex);
	b.cq = ibv_cq_ex_to_cq(ex);
	side_new_qp(&b);
	ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
	side_new_qp(&a);
	side_connect(&a, &b, NULL);
}

static void
setup(void)
{
	side_make(&a, NULL);
	side_make(&b, NULL);
	use(IBV_WC_STANDARD_FLAGS | STAMPS, 0, 64);
}

static void
setup_strict(void)
{
	setenv("SOFTVERBS_PERSONALITY", "strict", 1);
	setup();
}

static void
arrive(uint64_t wr_id)
{
	side_receive(&b, wr_id, 0, 8);
	side_post(&a, IBV_WR_SEND_WITH_IMM, IBV_SEND_SIGNALED, wr_id, 0, 8);
	cq_expect(a.cq, wr_id, IBV_WC_SUCCESS);
}

/* Starts a poll as soon as there is an entry. */
static void
start(void)
{
	struct ibv_poll_cq_attr attr = { .comp_mask = 0 };
	int r;

	for (int i = 0; (r = ibv_start_poll(ex, &attr)) == ENOENT && i < 10000; i++)
		sleep_ms(1);
	ck_assert_int_eq(r, 0);
}

static void
expect_none(void)
{
	struct ibv_poll_cq_attr attr = { .comp_mask = 0 };

	ck_assert_int_eq(ibv_start_poll(ex, &attr), ENOENT);
}

CASE("soft-cq-ex:poll", setup, pair_end);

TEST(poll__fields_are_those_of_the_completion)
{
	arrive(7);
	start();
	ck_assert_int_eq(ex->status, IBV_WC_SUCCESS);
	ck_assert_uint_eq(ex->wr_id, 7);
	ck_assert_int_eq(ibv_wc_read_opcode(ex), IBV_WC_RECV);
	ck_assert_uint_eq(ibv_wc_read_byte_len(ex), 8);
	ck_assert_uint_eq(ibv_wc_read_wc_flags(ex), IBV_WC_WITH_IMM);
	ck_assert_uint_eq(ibv_wc_read_imm_data(ex), htonl(7));
	ck_assert_uint_eq(ibv_wc_read_qp_num(ex), b.qp->qp_num);
	ck_assert_uint_eq(ibv_wc_read_src_qp(ex), a.qp->qp_num);
	ck_assert_uint_eq(ibv_wc_read_slid(ex), 1);
	ck_assert_uint_eq(ibv_wc_read_sl(ex), 0);
	ck_assert_uint_eq(ibv_wc_read_dlid_path_bits(ex), 0);
	ck_assert_uint_eq(ibv_wc_read_vendor_err(ex), 0);
	/* No queue has these, and a program may read them all the same. */
	ck_assert_uint_eq(ibv_wc_read_cvlan(ex), 0);
	ck_assert_uint_eq(ibv_wc_read_flow_tag(ex), 0);
	ibv_end_poll(ex);
	expect_none();
}

TEST(poll__goes_through_the_entries_in_order)
{
	for (uint64_t i = 0; i < 5; i++)
		arrive(i);
	for (uint64_t i = 0; i < 5;) {
		start();
		do
			ck_assert_uint_eq(ex->wr_id, i++);
		while (!ibv_next_poll(ex));
		ibv_end_poll(ex);
	}
	expect_none();
}

/* The status is that of each entry: of one that failed, of those that were flushed after it. */
TEST(poll__goes_through_entries_of_each_status)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	for (uint64_t i = 0; i < 2; i++)
		arrive(i);
	side_receive(&b, 2, 0, 8);
	side_receive(&b, 3, 0, 8);
	ck_assert_int_eq(ibv_modify_qp(b.qp, &attr, IBV_QP_STATE), 0);
	start();
	for (uint64_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(ex->wr_id, i);
		ck_assert_int_eq(ex->status, i < 2 ? IBV_WC_SUCCESS : IBV_WC_WR_FLUSH_ERR);
		ck_assert_int_eq(ibv_next_poll(ex), i < 3 ? 0 : ENOENT);
	}
	ibv_end_poll(ex);
	expect_none();
}

TEST(poll__of_either_kind__takes_each_entry_once)
{
	struct ibv_wc wc;

	for (uint64_t i = 0; i < 4; i++)
		arrive(i);
	start();
	ck_assert_uint_eq(ex->wr_id, 0);
	wc = cq_next(b.cq); /* as between the start and the end of a poll */
	ck_assert_uint_eq(wc.wr_id, 1);
	ck_assert_uint_eq(ex->wr_id, 0);
	ck_assert_uint_eq(ibv_wc_read_imm_data(ex), htonl(0));
	ibv_end_poll(ex);
	start();
	ck_assert_uint_eq(ex->wr_id, 2);
	ibv_end_poll(ex);
	cq_expect(b.cq, 3, IBV_WC_SUCCESS);
	expect_none();
}

TEST(poll__unknown_attributes__refused)
{
	struct ibv_poll_cq_attr attr = { .comp_mask = 1 };

	arrive(1);
	ck_assert_int_eq(ibv_start_poll(ex, &attr), EINVAL);
	start();
	ibv_end_poll(ex);
}

static atomic_int second_is_in;

static void *
second_poll(void *unused)
{
	(void)unused;
	start();
	second_is_in = 1;
	ck_assert_uint_eq(ex->wr_id, 2);
	ibv_end_poll(ex);
	return NULL;
}

/* Completions come in all the same. */
TEST(poll__by_a_second_thread__waits_for_the_end_of_the_first)
{
	pthread_t thread;

	second_is_in = 0;
	arrive(1);
	start();
	ck_assert_int_eq(pthread_create(&thread, NULL, second_poll, NULL), 0);
	arrive(2);
	sleep_ms(30);
	ck_assert_int_eq(second_is_in, 0);
	ck_assert_uint_eq(ex->wr_id, 1);
	ibv_end_poll(ex);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(second_is_in, 1);
}

/* The promise of the program is all that keeps its threads apart. */
TEST(poll__single_threaded__takes_no_lock)
{
	use(IBV_WC_STANDARD_FLAGS, IBV_CREATE_CQ_ATTR_SINGLE_THREADED, 64);
	arrive(1);
	arrive(2);
	start();
	start();
	ck_assert_uint_eq(ex->wr_id, 2);
	ibv_end_poll(ex);
}

CASE("soft-cq-ex:strict", setup_strict, pair_end);

/*
 * A program that reads an event, requests the next and polls all there is must find an entry behind
 * every event: many take an empty queue for an error.
 */
TEST(poll__stops_before_an_entry_whose_event_is_not_read)
{
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	arrive(1);
	channel_expect(b.channel, b.cq);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	arrive(2);
	start();
	ck_assert_uint_eq(ex->wr_id, 1);
	ck_assert_int_eq(ibv_next_poll(ex), ENOENT);
	ibv_end_poll(ex);
	channel_expect(b.channel, b.cq);
	start();
	ck_assert_uint_eq(ex->wr_id, 2);
	ck_assert_int_eq(ibv_next_poll(ex), ENOENT);
	ibv_end_poll(ex);
}

/*
 * Entries that were polled before, and that are there when the queue is armed.  The counters wrap
 * after three.
 */
#define POLLED 6
#define THERE 6

/*
 * What a poll goes through from its second entry on ends at the first that came after the request
 * for notification.
 */
/* origin: out33.D5 */
TEST_LOOP(poll__stops_before_that_entry__wherever_the_counters_are, POLLED *THERE)
{
	const uint64_t polled = (uint64_t)_i % POLLED, there = (uint64_t)_i / POLLED;
	uint64_t i = 0;

	for (; i < polled; i++) {
		arrive(i);
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
	}
	for (; i < polled + there; i++)
		arrive(i);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	arrive(i);
	arrive(i + 1);
	start();
	for (i = polled; i + 1 < polled + there; i++) {
		ck_assert_uint_eq(ex->wr_id, i);
		ck_assert_int_eq(ibv_next_poll(ex), 0);
	}
	ck_assert_uint_eq(ex->wr_id, i);
	ck_assert_int_eq(ibv_next_poll(ex), ENOENT);
	ibv_end_poll(ex);
	channel_expect(b.channel, b.cq);
	start();
	for (i++; i < polled + there + 1; i++) {
		ck_assert_uint_eq(ex->wr_id, i);
		ck_assert_int_eq(ibv_next_poll(ex), 0);
	}
	ck_assert_uint_eq(ex->wr_id, i);
	ck_assert_int_eq(ibv_next_poll(ex), ENOENT);
	ibv_end_poll(ex);
	channel_expect_no_event(b.channel);
}

/* origin: out33.D5 */
TEST_LOOP(queue__takes_as_many_entries_as_it_has__wherever_the_counters_are, POLLED *THERE)
{
	const uint64_t polled = (uint64_t)_i % POLLED, size = 1 + (uint64_t)_i / POLLED;
	struct ibv_wc wc[THERE + 1];
	uint64_t i = 0;

	use(IBV_WC_STANDARD_FLAGS, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN, (uint32_t)size);
	for (; i < polled; i++) {
		arrive(i);
		cq_expect(b.cq, i, IBV_WC_SUCCESS);
	}
	for (; i < polled + size + 2; i++) /* two too many */
		arrive(i);
	ck_assert_int_eq(ibv_resize_cq(b.cq, (int)size - 1), EINVAL);
	ck_assert_int_eq(ibv_resize_cq(b.cq, (int)size), 0);
	ck_assert_int_eq(ibv_poll_cq(b.cq, 1, wc), 1);
	ck_assert_int_eq(ibv_poll_cq(b.cq, (int)size, wc + 1), (int)size - 1);
	for (uint64_t j = 0; j < size; j++)
		ck_assert_uint_eq(wc[j].wr_id, polled + j);
	ck_assert_int_eq(ibv_poll_cq(b.cq, 1, wc), 0);
}

CASE("soft-cq-ex:poll", setup, pair_end);

TEST(stamps__lie_between_before_and_after_and_in_order)
{
	struct ibv_values_ex before = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK }, after = before;
	struct timespec wall;
	uint64_t last = 0, stamp;
	int64_t apart;

	ck_assert_int_eq(ibv_query_rt_values_ex(b.context, &before), 0);
	ck_assert_uint_eq(before.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	for (uint64_t i = 0; i < 3; i++)
		arrive(i);
	ck_assert_int_eq(ibv_query_rt_values_ex(b.context, &after), 0);
	for (uint64_t i = 0; i < 3; i++) {
		start();
		stamp = ibv_wc_read_completion_ts(ex);
		ck_assert_uint_ge(stamp, (uint64_t)before.raw_clock.tv_nsec);
		ck_assert_uint_le(stamp, (uint64_t)after.raw_clock.tv_nsec);
		ck_assert_uint_ge(stamp, last);
		last = stamp;
		clock_gettime(CLOCK_REALTIME, &wall);
		apart = (int64_t)((uint64_t)wall.tv_sec * SECOND + (uint64_t)wall.tv_nsec -
				  ibv_wc_read_completion_wallclock_ns(ex));
		ck_assert_int_ge(apart, 0);
		ck_assert_int_lt(apart, (int64_t)(3600 * SECOND));
		ibv_end_poll(ex);
	}
}

TEST(stamps__survive_a_resize)
{
	struct ibv_values_ex after = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	arrive(1);
	arrive(2);
	cq_expect(b.cq, 1, IBV_WC_SUCCESS);
	ck_assert_int_eq(ibv_query_rt_values_ex(b.context, &after), 0);
	ck_assert_int_eq(ibv_resize_cq(b.cq, 500), 0);
	start();
	ck_assert_uint_eq(ex->wr_id, 2);
	ck_assert_uint_gt(ibv_wc_read_completion_ts(ex), 0);
	ck_assert_uint_le(ibv_wc_read_completion_ts(ex), (uint64_t)after.raw_clock.tv_nsec);
	ibv_end_poll(ex);
}

static int
creation_error(struct ibv_cq_init_attr_ex init)
{
	init.cqe = init.cqe ? init.cqe : 16;
	errno = 0;
	ck_assert_ptr_null(ibv_create_cq_ex(b.context, &init));
	return errno;
}

TEST(create__what_the_device_does_not_have__refused)
{
	static const uint64_t fields[] = { IBV_WC_EX_WITH_CVLAN, IBV_WC_EX_WITH_FLOW_TAG,
		IBV_WC_EX_WITH_TM_INFO, 1ull << 40 };

	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		ck_assert_int_eq(
		    creation_error((struct ibv_cq_init_attr_ex){ .wc_flags = fields[i] }),
		    EOPNOTSUPP);
	ck_assert_int_eq(
	    creation_error((struct ibv_cq_init_attr_ex){ .comp_mask = 1u << 20 }), EOPNOTSUPP);
	ck_assert_int_eq(creation_error((struct ibv_cq_init_attr_ex){
			     .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = 1u << 20 }),
	    EOPNOTSUPP);
	ck_assert_int_eq(creation_error((struct ibv_cq_init_attr_ex){ .cqe = 1u << 30 }), EINVAL);
	ck_assert_int_eq(
	    creation_error((struct ibv_cq_init_attr_ex){ .comp_vector = 1000 }), EINVAL);
	ck_assert_int_eq(creation_error((struct ibv_cq_init_attr_ex){
			     .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = b.pd }),
	    EINVAL);
}

TEST(overrun__poll_reports_it_after_the_entries)
{
	struct ibv_poll_cq_attr attr = { .comp_mask = 0 };
	int r;

	use(IBV_WC_STANDARD_FLAGS, 0, 1);
	for (uint64_t i = 0; i < 2; i++) {
		side_receive(&b, i, 0, 8);
		side_post(&a, IBV_WR_SEND, 0, i, 0, 8);
	}
	start();
	ck_assert_uint_eq(ex->wr_id, 0);
	ibv_end_poll(ex);
	for (int i = 0; (r = ibv_start_poll(ex, &attr)) == ENOENT && i < 10000; i++)
		sleep_ms(1);
	ck_assert_int_eq(r, EIO);
	ck_assert_int_eq(ibv_start_poll(ex, &attr), EIO); /* no lock was left */
	async_expect(b.context, IBV_EVENT_CQ_ERR, b.cq);
}

CASE("soft-cq-ex:strict", setup_strict, pair_end);

TEST(overrun__ignored__entries_are_dropped_and_the_queue_goes_on)
{
	use(IBV_WC_STANDARD_FLAGS, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN, 1);
	arrive(1);
	arrive(2);
	start();
	ck_assert_uint_eq(ex->wr_id, 1);
	ibv_end_poll(ex);
	expect_none();
	arrive(3);
	start();
	ck_assert_uint_eq(ex->wr_id, 3);
	ibv_end_poll(ex);
	ck_assert(!async_ready(b.context));
}

/* ---- moderation ---- */

static int
moderate(struct ibv_cq *cq, uint32_t mask, uint16_t count, uint16_t period)
{
	struct ibv_modify_cq_attr attr = { .attr_mask = mask, .moderate = { count, period } };

	return ibv_modify_cq(cq, &attr);
}

TEST(moderation__event_after_that_many_completions)
{
	ck_assert_int_eq(moderate(b.cq, IBV_CQ_ATTR_MODERATE, 3, UINT16_MAX), 0);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	for (uint64_t i = 0; i < 3; i++)
		arrive(i);
	/* The fourth would find the queue not armed. */
	channel_expect(b.channel, b.cq);
	arrive(3);
	channel_expect_no_event(b.channel);
}

/* origin: out33.D6 */
TEST(moderation__a_change_that_is_refused__leaves_it_as_it_was)
{
	ck_assert_int_eq(moderate(b.cq, IBV_CQ_ATTR_MODERATE, 3, UINT16_MAX), 0);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	arrive(0);
	ck_assert_int_eq(moderate(b.cq, IBV_CQ_ATTR_MODERATE | 1u << 7, 1, 1), EOPNOTSUPP);
	ck_assert_int_eq(moderate(b.cq, 0, 1, 1), EINVAL);
	ck_assert_int_eq(ibv_resize_cq(b.cq, 0), EINVAL);
	arrive(1);
	sleep_ms(5);
	channel_expect_no_event(b.channel);
	arrive(2);
	channel_expect(b.channel, b.cq);
}

TEST(moderation__event_after_the_period_at_the_latest)
{
	ck_assert_int_eq(moderate(b.cq, IBV_CQ_ATTR_MODERATE, 100, 1000), 0);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	arrive(1);
	for (int i = 0; !channel_ready(b.channel) && i < 10000; i++)
		sleep_ms(1);
	channel_expect(b.channel, b.cq);
}

/* An event that is held back then comes at once: nothing else would bring it. */
TEST(moderation__ended__events_at_once_again)
{
	ck_assert_int_eq(moderate(b.cq, IBV_CQ_ATTR_MODERATE, 1000, UINT16_MAX), 0);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	arrive(1);
	ck_assert_int_eq(moderate(b.cq, IBV_CQ_ATTR_MODERATE, 0, 0), 0);
	channel_expect(b.channel, b.cq);
	ck_assert_int_eq(ibv_req_notify_cq(b.cq, 0), 0);
	arrive(2);
	channel_expect(b.channel, b.cq);
}

TEST(moderation__bad_requests__refused)
{
	struct ibv_device_attr_ex attr;

	ck_assert_int_eq(moderate(b.cq, 0, 1, 1), EINVAL);
	ck_assert_int_eq(moderate(b.cq, 1u << 7, 1, 1), EOPNOTSUPP);
	ck_assert_int_eq(ibv_query_device_ex(b.context, NULL, &attr), 0);
	ck_assert_int_eq(moderate(b.cq, IBV_CQ_ATTR_MODERATE, attr.cq_mod_caps.max_cq_count,
			     attr.cq_mod_caps.max_cq_period),
	    0);
}
