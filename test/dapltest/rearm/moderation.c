/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifications for several completions. */
#include <stdatomic.h>
#include <time.h>

#include "queue_story.h"

QUEUE_CASE("rearm_moderation:call");

static struct ibv_moderate_cq got;
static struct ibv_cq *got_cq;
static int n_got, answer;

static int
modify(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	ck_assert_uint_eq(attr->attr_mask, IBV_CQ_ATTR_MODERATE);
	got = attr->moderate;
	got_cq = cq;
	n_got++;
	return answer;
}

static void
expect(int n, struct ibv_cq *cq, unsigned int count, unsigned int us)
{
	ck_assert_int_eq(n_got, n);
	ck_assert_ptr_eq(got_cq, cq);
	ck_assert_uint_eq(got.cq_count, count);
	ck_assert_uint_eq(got.cq_period, us);
}

static void
begin(int errno_of_device)
{
	verbs_get_ctx(qs.context)->modify_cq = modify;
	n_got = 0;
	answer = errno_of_device;
}

TEST(moderate__what_the_device_is_asked_for)
{
	struct ibv_cq *cq = rearm_queue_cq(qs.queue);

	begin(0);
	ck_assert_int_eq(rearm_queue_moderate(qs.queue, 16, 50), 0);
	expect(1, cq, 16, 50);
	ck_assert_int_eq(rearm_queue_moderate(qs.queue, 65535, 65535), 0);
	expect(2, cq, 65535, 65535);
	ck_assert_int_eq(rearm_queue_moderate(qs.queue, 0, 0), 0);
	expect(3, cq, 0, 0);
	ck_assert_int_eq(rearm_queue_moderate(qs.queue, 1, 0), 0);
	expect(4, cq, 1, 0);
}

/* A count without a time would keep a few completions for ever. */
TEST(moderate__wrong_arguments__refused)
{
	const struct rearm_queue_attr attr = { .cqe = 1, .moderation_count = 2 };
	struct rearm_queue *queue;

	begin(0);
	ck_assert_int_eq(rearm_queue_moderate(qs.queue, 2, 0), -EINVAL);
	ck_assert_int_eq(rearm_queue_moderate(qs.queue, 65536, 1), -EINVAL);
	ck_assert_int_eq(rearm_queue_moderate(qs.queue, 2, 65536), -EINVAL);
	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &attr, &queue), -EINVAL);
	ck_assert_int_eq(n_got, 0);
}

TEST(create__with_moderation__asked_for)
{
	const struct rearm_queue_attr attr = {
		.cqe = 1, .moderation_count = 3, .moderation_us = 7
	};
	struct rearm_queue *queue;

	begin(0);
	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &attr, &queue), 0);
	expect(1, rearm_queue_cq(queue), 3, 7);
	ck_assert_int_eq(rearm_queue_free(queue), 0);
	answer = EOPNOTSUPP;
	ck_assert_int_eq(rearm_queue_create(qs.loop, qs.context, &attr, &queue), -EOPNOTSUPP);
	ck_assert_int_eq(rearm_queue_moderate(qs.queue, 3, 7), -EOPNOTSUPP);
}

/* ---- a free on another thread while a call uses what the queue has ---- */

QUEUE_CASE("rearm_moderation:freed");

static struct rearm_queue *freed_queue;
static struct rearm_loop *freed_loop;
static pthread_t freeing;
static atomic_bool is_freed;

static void *
free_elsewhere(void *arg)
{
	(void)arg;
	ck_assert_int_eq(rearm_queue_free(freed_queue), 0);
	is_freed = true;
	return NULL;
}

/* A free begins, and has not ended after a while. */
static void
begin_to_free(void)
{
	ck_assert_int_eq(pthread_create(&freeing, NULL, free_elsewhere, NULL), 0);
	queue_sleep_ms(30);
	ck_assert(!is_freed);
}

static void
make_another(void)
{
	const struct rearm_queue_attr attr = { .cqe = 1 };

	is_freed = false;
	ck_assert_int_eq(rearm_loop_create(NULL, &freed_loop), 0);
	ck_assert_int_eq(rearm_queue_create(freed_loop, qs.context, &attr, &freed_queue), 0);
}

static void
end_another(void)
{
	ck_assert_int_eq(pthread_join(freeing, NULL), 0);
	ck_assert_int_eq(rearm_loop_free(freed_loop), 0);
}

static int
modify_while_freed(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	(void)cq;
	(void)attr;
	begin_to_free();
	return 0;
}

/* origin: out36.V1 */
TEST(moderate__freed_meanwhile__the_completion_queue_stays_until_the_return)
{
	make_another();
	verbs_get_ctx(qs.context)->modify_cq = modify_while_freed;
	ck_assert_int_eq(rearm_queue_moderate(freed_queue, 16, 50), 0);
	end_another();
}

static uint64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

QUEUE_CASE("rearm_moderation:device");

static void
send_several(uint64_t first, int n)
{
	for (int i = 0; i < n; i++)
		queue_send(first + (uint64_t)i, 0);
}

/* Four at once.  On a machine that is too busy the time ends before they are there. */
TEST(moderated__callback_for_the_count__or_after_the_time)
{
	uint64_t begun;
	int n;

	queue_make_own_peer(rearm_queue_cq(qs.queue));
	ck_assert_int_eq(rearm_queue_moderate(qs.queue, 4, 65535), 0);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 8, REARM_NEW), 0);
	begun = now_ms();
	send_several(1, 3);
	queue_sleep_ms(10);
	n = notes_count();
	ck_assert(n == 0 || now_ms() - begun >= 65);
	send_several(4, 1);
	notes_await(4);
	ck_assert(qs.notes.calls == 1 || now_ms() - begun >= 65);
	send_several(5, 1);
	notes_await(5); /* after the time */
	ck_assert_int_eq(rearm_queue_moderate(qs.queue, 0, 0), 0);
	send_several(6, 1);
	notes_await(6);
}

QUEUE_CASE("rearm_moderation:extended");

/* One for a single thread, under callbacks of several, and with more fields than ibv_wc has. */
TEST_LOOP(adopt__an_extended_queue__all_come, 2)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(qs.context);
	struct ibv_cq_init_attr_ex init = {
		.cqe = QUEUE_CQE,
		.channel = channel,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = _i ? IBV_CREATE_CQ_ATTR_SINGLE_THREADED : 0,
	};
	const struct rearm_queue_attr attr = { .moderation_count = 4, .moderation_us = 100 };
	struct ibv_cq_ex *ex = ibv_create_cq_ex(qs.context, &init);
	struct ibv_poll_cq_attr poll = { 0 };
	int seen[120] = { 0 };

	ck_assert_ptr_nonnull(ex);
	queue_destroy_qp();
	ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
	ck_assert_int_eq(rearm_queue_adopt(qs.loop, ibv_cq_ex_to_cq(ex), &attr, &qs.queue), 0);
	queue_make_qp(ibv_cq_ex_to_cq(ex));
	ck_assert_int_eq(queue_enable(REARM_MANY, 3, REARM_ANY), 0);
	for (int i = 0; i < 120; i += 20) {
		queue_complete((uint64_t)i, 20);
		notes_await(i + 20);
	}
	ck_assert_int_eq(rearm_queue_free(qs.queue), 0);
	qs.queue = NULL;
	for (int i = 0; i < 120; i++)
		seen[qs.notes.id[i]]++;
	for (int i = 0; i < 120; i++)
		ck_assert_int_eq(seen[i], 1);
	/* It is the program's again. */
	queue_complete(7, 1);
	ck_assert_int_eq(ibv_start_poll(ex, &poll), 0);
	ck_assert_uint_eq(ex->wr_id, 7);
	ibv_end_poll(ex);
	queue_destroy_qp();
	ck_assert_int_eq(ibv_destroy_cq(ibv_cq_ex_to_cq(ex)), 0);
	ck_assert_int_eq(ibv_destroy_comp_channel(channel), 0);
}
