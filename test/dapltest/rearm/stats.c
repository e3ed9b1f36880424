/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of statistics of a program on librearm. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "evd/stats/layout.h"
#include "lib/feature.h"
#include "queue_story.h"

QUEUE_CASE("rearm_stats:page");

static char path[64];
static struct evd_stats_row rows[8];

static void
begin(const char *interval)
{
	snprintf(path, sizeof path, EVD_STATS_FOLDER "/" EVD_STATS_PREFIX "-%ld-0", (long)getpid());
	setenv("REARM_STATS", interval, 1);
}

/* How many rows the next snapshot but one has: it is all after the call. */
static uint64_t
next_rows(void)
{
	struct evd_stats_head head;
	uint64_t first = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	for (;;) {
		ck_assert_int_eq(pread(fd, &head, sizeof head, 0), sizeof head);
		if (!first && head.ended)
			first = head.ended;
		if (first && head.ended > first + 1 && head.begun == head.ended &&
		    pread(fd, rows, sizeof rows, sizeof head) > 0)
			break;
		queue_sleep_ms(1);
	}
	ck_assert_uint_eq(head.magic, EVD_STATS_MAGIC);
	ck_assert_int_eq(close(fd), 0);
	return head.count;
}

static const struct evd_stats_row *
row_of(const struct rearm_queue *queue, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (rows[i].evd == (uintptr_t)queue)
			return &rows[i];
	return NULL;
}

TEST(page__a_row_for_each_queue__with_its_counters)
{
	const struct rearm_queue_attr attr = { .cqe = 8 };
	struct rearm_queue *other, *events;
	const struct evd_stats_row *row;
	struct rearm_loop *loop;
	uint64_t n;

	if (!feature_shm()) {
		runner_skip(FEATURE_NO_SHM);
		return;
	}
	begin("10");
	ck_assert_int_eq(rearm_loop_create(NULL, &loop), 0);
	ck_assert_int_eq(rearm_queue_create(loop, qs.context, &attr, &other), 0);
	ck_assert_int_eq(rearm_queue_adopt_async(loop, qs.context, NULL, &events), 0);
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), 0);
	queue_complete(1, 3);
	notes_await(3);
	n = next_rows();
	ck_assert_uint_eq(n, 3);
	row = row_of(qs.queue, n);
	ck_assert_ptr_nonnull(row);
	ck_assert_uint_eq(row->dto_events, 3);
	ck_assert_uint_eq(row->upcalls, 3);
	ck_assert_uint_eq(row->policy, REARM_SINGLE);
	ck_assert_uint_eq(row->flags, EVD_STATS_COMPLETIONS);
	ck_assert_uint_eq(row->ia, (uintptr_t)qs.loop);
	ck_assert_uint_ge(row->arms, 1);
	ck_assert_str_eq(row->adapter, ibv_get_device_name(qs.context->device));
	row = row_of(events, n);
	ck_assert_ptr_nonnull(row);
	ck_assert_uint_eq(row->flags, EVD_STATS_ASYNC);
	ck_assert_ptr_nonnull(row_of(other, n));
	ck_assert_int_eq(rearm_queue_free(other), 0);
	n = next_rows();
	ck_assert_uint_eq(n, 2);
	ck_assert_ptr_null(row_of(other, n));
	ck_assert_int_eq(rearm_queue_free(events), 0);
	ck_assert_int_eq(rearm_loop_free(loop), 0);
	/* The loop of the story was created before the environment asked for it. */
	ck_assert_int_eq(access(path, F_OK), -1);
}

/* Nothing is printed, and no page is made. */
TEST_LOOP(page__not_asked_for__none, 4)
{
	static const char *const wrong[] = { "", "0", "9", "often" };
	struct rearm_loop *loop;

	begin(wrong[_i]);
	ck_assert_int_eq(rearm_loop_create(NULL, &loop), 0);
	ck_assert_int_eq(access(path, F_OK), -1);
	ck_assert_int_eq(rearm_loop_free(loop), 0);
}
