/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that waits reads a completion channel of the device. */
#include <pthread.h>

#include "fault/fault.h"
#include "suites.h"

struct waiter {
	pthread_t id;
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno; /* or DAT_HANDLE_NULL: it waits for the EVD */
	DAT_RETURN ret;
	_Atomic(int) waits; /* that have returned */
	_Atomic(bool) done;
	unsigned int reads; /* of its channel */
};

static DAT_RETURN
wait_once(const struct waiter *w, DAT_TIMEOUT timeout)
{
	DAT_EVD_HANDLE triggered;
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_RETURN ret;

	if (w->cno == DAT_HANDLE_NULL)
		return dat_evd_wait(w->evd, timeout, 1, &event, &more);
	ret = dat_cno_wait(w->cno, timeout, &triggered);
	return ret == DAT_SUCCESS ? dat_evd_dequeue(w->evd, &event) : ret;
}

/* Waits until it has found a message by the channel, and not by a poll before. */
static void *
wait_cancelled(void *arg)
{
	struct waiter *w = arg;

	pthread_cancel(pthread_self());
	do {
		w->ret = wait_once(w, DAT_TIMEOUT_INFINITE);
		w->done = w->ret != DAT_SUCCESS || fault_channel_reads() > 0;
		w->waits++;
	} while (!w->done);
	return NULL;
}

/* Waits twice with a channel that is readable, and that it cannot read. */
static void *
wait_with_broken(void *arg)
{
	struct waiter *w = arg;
	int left = 2;

	pthread_cancel(pthread_self());
	do {
		w->ret = wait_once(w, 20000);
		if (fault_channel_reads() > 0)
			left--;
		w->done = left == 0;
		w->waits++;
	} while (!w->done);
	w->reads = fault_channel_reads();
	return NULL;
}

/* The receives of the second side are reported to the CNO. */
static void
open_pair(struct dt_pair *pair, bool with_cno, struct waiter *w)
{
	static const DAT_OS_WAIT_PROXY_AGENT none = { NULL, NULL };

	*w = (struct waiter){ .cno = DAT_HANDLE_NULL };
	dt_side_open(&pair->a, "faulty-no-spin", DT_SEPARATE);
	dt_side_open(&pair->b, "faulty-no-spin", DT_SEPARATE);
	dt_side_listen(&pair->b);
	if (with_cno) {
		dt_ok(dat_ep_free(pair->b.ep));
		dt_ok(dat_evd_free(pair->b.recv));
		dt_ok(dat_cno_create(pair->b.ia, none, &w->cno));
		dt_ok(dat_evd_create(pair->b.ia, 8, w->cno, DAT_EVD_DTO_FLAG, &pair->b.recv));
		pair->b.ep = dt_ep(&pair->b, NULL);
	}
	w->evd = pair->b.recv;
	dt_connect_pair(pair);
}

static void
message(struct dt_pair *pair)
{
	DAT_EVENT event;

	dt_recv(&pair->b, 0, 64, 1);
	dt_send(&pair->a, 0, 64, 2);
	dt_expect_dto(pair->a.request, pair->a.ep, 2, DAT_DTO_SUCCESS, &event);
}

START_TEST(wait__of_a_thread_that_was_cancelled__reads_the_channel_and_returns)
{
	struct dt_pair pair;
	struct waiter w;
	void *end;

	open_pair(&pair, _i, &w);
	ck_assert_int_eq(pthread_create(&w.id, NULL, wait_cancelled, &w), 0);
	for (int n = 1; !w.done; n++) {
		message(&pair);
		dt_await_count(&w.waits, n);
	}
	ck_assert_int_eq(pthread_join(w.id, &end), 0);
	ck_assert_ptr_null(end); /* it was not cancelled */
	dt_ok(w.ret);
	dt_pair_close(&pair);
}
END_TEST

START_TEST(wait__channel_is_broken__reads_it_once_and_sleeps)
{
	struct dt_pair pair;
	struct waiter w;
	DAT_EVENT event;
	void *end;

	open_pair(&pair, _i, &w);
	fault_channel_fail(EIO);
	ck_assert_int_eq(pthread_create(&w.id, NULL, wait_with_broken, &w), 0);
	for (int n = 1; !w.done; n++) {
		dt_recv(&pair.b, 0, 64, 1);
		dt_send(&pair.a, 0, 64, 2);
		dt_poll_next(pair.a.request, &event);
		dt_await_count(&w.waits, n);
	}
	ck_assert_int_eq(pthread_join(w.id, &end), 0);
	ck_assert_ptr_null(end); /* it was not cancelled */
	ck_assert_uint_eq(w.reads, 1);
	dt_pair_close(&pair);
}
END_TEST

Suite *
device_channel_suite(void)
{
	Suite *s = suite_create("device-channel");
	TCase *tc = device_tcase(s, "channel");

	tcase_add_loop_test(tc, wait__channel_is_broken__reads_it_once_and_sleeps, 0, 2);
	tcase_add_loop_test(
	    tc, wait__of_a_thread_that_was_cancelled__reads_the_channel_and_returns, 0, 2);
	return s;
}
