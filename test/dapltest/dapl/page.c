/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of statistics: what it says of an EVD is what the calls say. */
#include "lib/dt.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dat2/dat_ib_extensions.h>

#include "evd/stats/layout.h"

/* The device has a test of its own for this: neighbour.c. */
DT_CASE("page:standard");

/* What a program prints that has closed its standard output comes into no descriptor of ours. */
/* origin: out33.G1 */
TEST(standard_output_is_closed__no_descriptor_of_the_provider_takes_its_place)
{
	int kept[3], taken = 0;
	struct dt_pair pair;
	DAT_EVENT event;
	DAT_CNO_HANDLE cno;
	DAT_COUNT more;
	DAT_FD cno_fd;

	setenv("DAPL_STATS", "10", 1);
	for (int fd = 0; fd < 3; fd++) {
		kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		(void)close(fd);
	}
	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	dt_ok(dat_cno_fd_create(pair.a.ia, &cno_fd, &cno));
	dt_recv(&pair.b, 0, 64, 1);
	dt_send(&pair.a, 0, 64, 1);
	dt_ok(dat_evd_wait(pair.b.recv, DT_FOREVER_MS * 1000u, 1, &event, &more));
	dt_ok(dat_evd_wait(pair.a.request, DT_FOREVER_MS * 1000u, 1, &event, &more));
	for (int fd = 0; fd < 3; fd++) {
		taken += fcntl(fd, F_GETFD) >= 0;
		if (kept[fd] >= 0) {
			ck_assert_int_eq(dup2(kept[fd], fd), fd);
			close(kept[fd]);
		}
	}
	ck_assert_int_eq(taken, 0);
	dt_ok(dat_cno_free(cno));
	dt_pair_close(&pair);
}

#define MANY 200 /* more than the page and its writer have room for at first */
#define ROWS_MAX (MANY + 20)

static struct {
	struct evd_stats_head head;
	struct evd_stats_row rows[ROWS_MAX];
} page;

static int
page_open(void)
{
	char path[64];
	int fd = -1;

	for (int n = 0; n < EVD_STATS_PAGES && fd < 0; n++) {
		snprintf(path, sizeof path, EVD_STATS_FOLDER "/" EVD_STATS_PREFIX "-%ld-%d",
		    (long)getpid(), n);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	ck_assert_int_ge(fd, 0);
	return fd;
}

/* A snapshot that begins after this call. */
static void
page_read(void)
{
	struct evd_stats_head now, end;
	int fd = page_open();

	ck_assert_int_eq(pread(fd, &now, sizeof now, 0), sizeof now);
	do {
		dt_nap_ms(1);
		ck_assert_int_ge(pread(fd, &page, sizeof page, 0), (ssize_t)sizeof page.head);
		ck_assert_int_eq(pread(fd, &end, sizeof end, 0), sizeof end);
	} while (page.head.ended <= now.begun || page.head.ended != end.begun);
	close(fd);
	ck_assert_uint_eq(page.head.missing, 0);
	ck_assert_uint_le(page.head.count, ROWS_MAX);
}

static const struct evd_stats_row *
row_of(DAT_EVD_HANDLE evd)
{
	const struct evd_stats_row *found = NULL;

	for (uint64_t i = 0; i < page.head.count; i++)
		if (page.rows[i].evd == (uintptr_t)evd) {
			ck_assert_ptr_null(found);
			found = &page.rows[i];
		}
	ck_assert_ptr_nonnull(found);
	return found;
}

/* A figure of the page, and where the calls have it. */
#define COUNTER(column, member) \
	{ \
#column, offsetof(struct evd_stats_row, column), \
		    offsetof(struct dat_rearm_evd_counters, member), -1 \
	}
#define CALLS(column, which) \
	{ \
#column, offsetof(struct evd_stats_row, column), 0, which \
	}
static const struct {
	const char *name;
	size_t column, member;
	int which; /* a counter of the extension; negative: `member` */
} figures[] = {
	COUNTER(max_depth, max_depth),
	COUNTER(dto_events, dto_events),
	COUNTER(connection_events, connection_events),
	COUNTER(cr_events, cr_events),
	COUNTER(software_events, software_events),
	COUNTER(async_events, async_events),
	COUNTER(upcalls, upcalls),
	COUNTER(notifications, notifications),
	COUNTER(spurious, spurious_notifications),
	COUNTER(arms, arms),
	COUNTER(arm_failures, arm_failures),
	COUNTER(races, races_closed),
	COUNTER(busy, busy_skips),
	COUNTER(overflows, overflows),
	CALLS(waits, DCNT_EVD_WAIT),
	CALLS(sleeps, DCNT_EVD_WAIT_BLOCKED),
	CALLS(dequeues, DCNT_EVD_DEQUEUE),
	CALLS(dequeued, DCNT_EVD_DEQUEUE_FOUND),
};

/* The figure that differs now, or NULL. */
static const char *
first_difference(DAT_EVD_HANDLE evd)
{
	DAT_UINT64 calls[DCNT_EVD_ALL_COUNTERS], want;
	struct dat_rearm_evd_counters counters;
	const struct evd_stats_row *row;

	page_read();
	row = row_of(evd);
	dt_ok(dat_evd_query_upcall_counters(evd, &counters));
	dt_ok(dat_ib_query_counters(evd, DCNT_EVD_ALL_COUNTERS, calls, 0));
	for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
		want = figures[i].which < 0 ?
			   *(const DAT_UINT64 *)(const void *)((const char *)&counters +
							       figures[i].member) :
			   calls[figures[i].which];
		if (*(const uint64_t *)(const void *)((const char *)row + figures[i].column) !=
		    want)
			return figures[i].name;
	}
	return NULL;
}

/* The device may still raise a notification that counts. */
static void
assert_figures(DAT_EVD_HANDLE evd, const char *adapter, DAT_UPCALL_POLICY policy, DAT_COUNT depth)
{
	const struct evd_stats_row *row;
	const char *different;
	DAT_EVD_PARAM param;

	for (int i = 0; (different = first_difference(evd)) && i < 100; i++)
		;
	ck_assert_msg(!different, "%s is not what the call returns", different);
	dt_ok(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
	row = row_of(evd);
	ck_assert_uint_eq(row->flags, (uint64_t)param.evd_flags);
	ck_assert_uint_eq(row->length, (uint64_t)param.evd_qlen);
	ck_assert_uint_eq(row->has_cno, param.cno_handle != DAT_HANDLE_NULL);
	ck_assert_uint_eq(row->policy, (uint64_t)policy);
	ck_assert_uint_eq(row->depth, (uint64_t)depth);
	ck_assert_str_eq(row->adapter, adapter);
	ck_assert_uint_eq(row->slow_us, 0);
	ck_assert_uint_eq(row->slow_upcalls, 0);
}

DT_CASE("page:figures");

/* origin: out33.J2 */
TEST(page__umask_takes_bits_of_the_owner__can_be_opened)
{
	DAT_IA_HANDLE ia;
	struct stat st;
	mode_t before;
	int fd;

	if (access(EVD_STATS_FOLDER, W_OK)) {
		runner_skip("needs " EVD_STATS_FOLDER);
		return;
	}
	setenv("DAPL_STATS", "10", 1);
	before = umask(0777);
	ia = dt_open("soft", NULL);
	umask(before);
	fd = page_open();
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	close(fd);
	dt_close(ia);
}

/* clause: f.2.5 */
TEST(page__each_figure_of_each_evd__is_that_of_the_calls)
{
	const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };
	DAT_EVD_HANDLE with_cno, with_upcall, many[MANY];
	_Atomic(int) calls = 0;
	DAT_UPCALL_OBJECT upcall = { &calls, dt_count_call };
	DAT_CNO_HANDLE cno;
	struct dt_pair pair;
	DAT_EVENT event;
	DAT_COUNT more;

	if (access(EVD_STATS_FOLDER, W_OK)) {
		runner_skip("needs " EVD_STATS_FOLDER);
		return;
	}
	setenv("DAPL_STATS", "10", 1);
	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	dt_ok(dat_cno_create(pair.a.ia, no_agent, &cno));
	dt_ok(dat_evd_create(pair.a.ia, 7, cno, DAT_EVD_SOFTWARE_FLAG, &with_cno));
	dt_ok(dat_evd_kcreate(pair.b.ia, 9, DAT_UPCALL_SINGLE_INSTANCE, &upcall,
	    (DAT_EVD_FLAGS)(DAT_EVD_SOFTWARE_FLAG | DAT_EVD_CONNECTION_FLAG), &with_upcall));
	/* Each count has another value. */
	for (int i = 0; i < 5; i++) {
		dt_recv(&pair.b, 0, 64, 1);
		dt_send(&pair.a, 0, 64, 1);
		dt_ok(dat_evd_wait(pair.b.recv, DT_FOREVER_MS * 1000u, 1, &event, &more));
		dt_poll_next(pair.a.request, &event);
		dt_post_se(with_cno, 1);
		dt_post_se(with_upcall, 1);
	}
	dt_assert_type(dat_evd_wait(pair.b.recv, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	dt_ok(dat_evd_dequeue(with_cno, &event));
	dt_ok(dat_evd_dequeue(with_cno, &event));
	dt_ok(dat_evd_disable(with_cno));
	dt_await_count(&calls, 5);

	for (int i = 0; i < MANY; i++)
		many[i] = dt_evd(i % 2 ? &pair.a : &pair.b, DAT_EVD_SOFTWARE_FLAG, 1 + i);
	assert_figures(pair.b.recv, "soft", DAT_UPCALL_DISABLE, 0);
	ck_assert_uint_gt(row_of(pair.b.recv)->polls, 0);
	ck_assert_uint_gt(row_of(pair.b.recv)->polls_found, 0);
	ck_assert_uint_ge(row_of(pair.b.recv)->polls, row_of(pair.b.recv)->polls_found);
	assert_figures(pair.a.request, "soft", DAT_UPCALL_DISABLE, 0);
	ck_assert_uint_eq(row_of(pair.a.request)->rnr_stalls, dt_is_soft() ? 0 : EVD_STATS_UNKNOWN);
	assert_figures(pair.a.connect, "soft", DAT_UPCALL_DISABLE, 0);
	assert_figures(pair.b.cr, "soft", DAT_UPCALL_DISABLE, 0);
	assert_figures(pair.a.async, "soft", DAT_UPCALL_DISABLE, 0);
	assert_figures(with_cno, "soft", DAT_UPCALL_DISABLE, 3);
	assert_figures(with_upcall, "soft", DAT_UPCALL_SINGLE_INSTANCE, 0);
	for (int i = 0; i < MANY; i++) {
		ck_assert_uint_eq(row_of(many[i])->length, (uint64_t)(1 + i));
		ck_assert_uint_eq(
		    row_of(many[i])->ia, row_of(i % 2 ? pair.a.async : pair.b.async)->ia);
	}
	ck_assert_uint_ne(row_of(pair.a.async)->ia, row_of(pair.b.async)->ia);
	ck_assert_uint_eq(page.head.interval_ms, 10);
	ck_assert_uint_eq(page.head.pid, (uint64_t)getpid());
	dt_ok(dat_evd_free(many[0]));
	page_read();
	ck_assert_uint_eq(page.head.count, MANY - 1 + 2 + 4 + 5);
	dt_pair_close(&pair);

	/* Another page, with nothing of the last one. */
	pair.a.ia = dt_open("soft", &pair.a.async);
	page_read();
	ck_assert_uint_eq(page.head.count, 1);
	assert_figures(pair.a.async, "soft", DAT_UPCALL_DISABLE, 0);
	dt_close(pair.a.ia);
}
