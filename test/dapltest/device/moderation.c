/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The word moderation= of an adapter: the device notifies once for several completions.
 *
 * "faulty-moderated" asks for a notification after four completions.  In most tests the period does
 * not end, so the notifications can be counted, however slow the machine is: those that the device
 * has raised, and those that the EVD has read.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault/fault.h"
#include "device.h"

#define COUNT 4u
#define ROUNDS 5u

static struct ibv_cq *receives; /* the completion queue of the second side's receives */

/* The first side is not moderated: it only sends. */
static void
open_pair(struct dt_pair *pair, const char *name, bool with_cno, DAT_CNO_HANDLE *cno)
{
	static const DAT_OS_WAIT_PROXY_AGENT none = { NULL, NULL };

	setenv("SOFTVERBS_PERSONALITY", "strict", 1);
	dt_side_open(&pair->a, "faulty", DT_SEPARATE);
	dt_side_open(&pair->b, name, DT_SEPARATE);
	dt_side_listen(&pair->b);
	dt_ok(dat_ep_free(pair->b.ep));
	dt_ok(dat_evd_free(pair->b.recv));
	*cno = DAT_HANDLE_NULL;
	if (with_cno)
		dt_ok(dat_cno_create(pair->b.ia, none, cno));
	dt_ok(dat_evd_create(pair->b.ia, 64, *cno, DAT_EVD_DTO_FLAG, &pair->b.recv));
	receives = fault_cq_last();
	pair->b.ep = dt_ep(&pair->b, NULL);
}

static void
open_connected(struct dt_pair *pair, const char *name)
{
	DAT_CNO_HANDLE none;

	open_pair(pair, name, false, &none);
	dt_connect_pair(pair);
}

static DAT_CNO_HANDLE
open_with_cno(struct dt_pair *pair, const char *name)
{
	DAT_CNO_HANDLE cno;

	open_pair(pair, name, true, &cno);
	dt_connect_pair(pair);
	return cno;
}

/* A completion that finds the EVD armed, and so no poll takes it, is counted by the device. */
static void
await_arms(DAT_EVD_HANDLE evd, DAT_UINT64 arms)
{
	struct dat_rearm_evd_counters counters;

	for (int i = 0; i < DT_FOREVER_MS; i++) {
		dt_ok(dat_evd_query_upcall_counters(evd, &counters));
		if (counters.arms >= arms)
			break;
		dt_nap_ms(1);
	}
	ck_assert_uint_eq(counters.arms, arms);
}

/* The device has raised so many: a thread that should read the last one may not have run yet. */
static void
assert_raised(unsigned int n)
{
	ck_assert_uint_eq(fault_cq_notifications(receives), n);
}

/* The EVD has read all that the device has raised. */
static void
assert_notifications(DAT_EVD_HANDLE evd, DAT_UINT64 n)
{
	struct dat_rearm_evd_counters counters;

	assert_raised((unsigned int)n);
	dt_ok(dat_evd_query_upcall_counters(evd, &counters));
	ck_assert_uint_eq(counters.notifications, n);
}

/* The receive is complete when it returns. */
static void
message_with(struct dt_pair *pair, DAT_UINT64 cookie, DAT_COMPLETION_FLAGS flags)
{
	DAT_EVENT event;

	dt_recv(&pair->b, 0, 16, cookie);
	dt_ok(dt_try_send(&pair->a, 0, 16, cookie, flags));
	dt_expect_dto(pair->a.request, pair->a.ep, cookie, DAT_DTO_SUCCESS, &event);
}

static void
messages(struct dt_pair *pair, DAT_UINT64 first, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		message_with(pair, first + i, DAT_COMPLETION_DEFAULT_FLAG);
}

static void
assert_received(const DAT_EVENT *event, DAT_UINT64 cookie)
{
	ck_assert_int_eq((int)event->event_number, DAT_DTO_COMPLETION_EVENT);
	ck_assert_uint_eq(event->event_data.dto_completion_event_data.user_cookie.as_64, cookie);
}

/* ---- a thread that waits ---- */

struct waiter {
	pthread_t id;
	DAT_EVD_HANDLE evd;
	DAT_COUNT threshold;
	DAT_TIMEOUT timeout;
	DAT_RETURN ret;
	DAT_EVENT event;
	DAT_COUNT more;
};

static void *
wait_once(void *arg)
{
	struct waiter *w = arg;

	w->ret = dat_evd_wait(w->evd, w->timeout, w->threshold, &w->event, &w->more);
	return NULL;
}

static void
waiter_start(struct waiter *w, DAT_EVD_HANDLE evd, DAT_COUNT threshold)
{
	*w = (struct waiter){ .evd = evd, .threshold = threshold, .timeout = DAT_TIMEOUT_INFINITE };
	ck_assert_int_eq(pthread_create(&w->id, NULL, wait_once, w), 0);
}

static void
waiter_expect(struct waiter *w, DAT_UINT64 cookie)
{
	ck_assert_int_eq(pthread_join(w->id, NULL), 0);
	dt_ok(w->ret);
	assert_received(&w->event, cookie);
}

DEVICE_CASE("device-moderation:count");

TEST(wait__one_notification_for_the_count__every_event_in_order)
{
	struct dt_pair pair;
	struct waiter w;
	DAT_EVENT event;
	DAT_COUNT more;

	fault_cq_stop_periods(true);
	open_connected(&pair, "faulty-moderated");
	for (unsigned int round = 0; round < ROUNDS; round++) {
		waiter_start(&w, pair.b.recv, 1);
		await_arms(pair.b.recv, round + 1);
		messages(&pair, round * COUNT, COUNT - 1);
		assert_raised(round);
		messages(&pair, round * COUNT + COUNT - 1, 1);
		waiter_expect(&w, round * COUNT);
		for (unsigned int i = 1; i < COUNT; i++) {
			dt_ok(dat_evd_wait(pair.b.recv, 0, 1, &event, &more));
			assert_received(&event, round * COUNT + i);
		}
		assert_notifications(pair.b.recv, round + 1);
	}
	dt_pair_close(&pair);
}

/*
 * The notification comes with fewer than are waited for; the wait arms again, and the device counts
 * anew.
 */
TEST(wait__threshold_is_above_the_count__arms_again)
{
	struct dt_pair pair;
	struct waiter w;

	fault_cq_stop_periods(true);
	open_connected(&pair, "faulty-moderated");
	waiter_start(&w, pair.b.recv, 2 * COUNT);
	await_arms(pair.b.recv, 1);
	messages(&pair, 0, COUNT);
	await_arms(pair.b.recv, 2);
	messages(&pair, COUNT, COUNT - 1);
	assert_raised(1);
	messages(&pair, 2 * COUNT - 1, 1);
	waiter_expect(&w, 0);
	ck_assert_int_eq(w.more, 2 * COUNT - 1);
	assert_notifications(pair.b.recv, 2);
	dt_pair_close(&pair);
}

/* The last poll of a wait is not before its end, so it finds what was not notified. */
TEST(wait__ends_before_the_notification__finds_the_event)
{
	unsigned long long begin, sent;
	struct dt_pair pair;
	struct waiter w;

	fault_cq_stop_periods(true);
	open_connected(&pair, "faulty-moderated");
	w = (struct waiter){ .evd = pair.b.recv, .threshold = 1, .timeout = 300000 };
	begin = dt_now_us();
	ck_assert_int_eq(pthread_create(&w.id, NULL, wait_once, &w), 0);
	await_arms(pair.b.recv, 1);
	messages(&pair, 7, 1);
	assert_raised(0);
	sent = dt_now_us();
	ck_assert_int_eq(pthread_join(w.id, NULL), 0);
	if (sent < begin + w.timeout) { /* else this machine was too slow */
		dt_ok(w.ret);
		assert_received(&w.event, 7);
	}
	dt_pair_close(&pair);
}

/* By requests for any completion, and by those for solicited ones alone. */
TEST_LOOP(wait__solicited_message__is_not_delayed, 2)
{
	DAT_CNO_HANDLE none;
	DAT_EP_ATTR attr;
	DAT_EP_PARAM param;
	struct dt_pair pair;
	struct waiter w;

	fault_cq_stop_periods(true);
	open_pair(&pair, "faulty-moderated", false, &none);
	if (_i) {
		dt_ok(dat_ep_query(pair.b.ep, DAT_EP_FIELD_ALL, &param));
		attr = param.ep_attr;
		attr.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
		dt_ok(dat_ep_free(pair.b.ep));
		pair.b.ep = dt_ep(&pair.b, &attr);
	}
	dt_connect_pair(&pair);
	waiter_start(&w, pair.b.recv, 1);
	await_arms(pair.b.recv, 1);
	message_with(&pair, 7, DAT_COMPLETION_SOLICITED_WAIT_FLAG);
	waiter_expect(&w, 7);
	assert_notifications(pair.b.recv, 1);
	dt_pair_close(&pair);
}

TEST(wait__connection_ends__flushed_receive_is_not_delayed)
{
	struct dt_pair pair;
	struct waiter w;

	fault_cq_stop_periods(true);
	open_connected(&pair, "faulty-moderated");
	waiter_start(&w, pair.b.recv, 1);
	await_arms(pair.b.recv, 1);
	dt_recv(&pair.b, 0, 16, 7);
	dt_ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
	waiter_expect(&w, 7);
	ck_assert_int_eq(
	    (int)w.event.event_data.dto_completion_event_data.status, DAT_DTO_ERR_FLUSHED);
	dt_pair_close(&pair);
}

TEST_LOOP(upcall__one_notification_for_the_count__one_call_for_each_event, 2)
{
	_Atomic(int) calls = 0;
	DAT_UPCALL_OBJECT object = { (DAT_PVOID)(uintptr_t)&calls, dt_count_call };
	struct dt_pair pair;

	fault_cq_stop_periods(true);
	open_connected(&pair, "faulty-moderated");
	dt_ok(dat_evd_modify_upcall(pair.b.recv, _i ? DAT_UPCALL_MANY : DAT_UPCALL_SINGLE_INSTANCE,
	    &object, DAT_UPCALL_INVOC_ANY));
	for (unsigned int round = 0; round < ROUNDS; round++) {
		await_arms(pair.b.recv, round + 1);
		messages(&pair, 0, COUNT - 1);
		assert_raised(round);
		messages(&pair, 0, 1);
		dt_await_count(&calls, (int)((round + 1) * COUNT));
	}
	assert_notifications(pair.b.recv, ROUNDS);
	ck_assert_int_eq(calls, ROUNDS * COUNT);
	dt_pair_close(&pair);
}

/* What is held back when the policy changes is found by the poll that enabling makes. */
TEST(upcall__disabled_and_enabled__held_completions_get_theirs)
{
	_Atomic(int) calls = 0;
	DAT_UPCALL_OBJECT object = { (DAT_PVOID)(uintptr_t)&calls, dt_count_call };
	struct dt_pair pair;

	fault_cq_stop_periods(true);
	open_connected(&pair, "faulty-moderated");
	dt_ok(dat_evd_modify_upcall(
	    pair.b.recv, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_ANY));
	await_arms(pair.b.recv, 1);
	messages(&pair, 0, COUNT - 2);
	assert_raised(0);
	dt_ok(dat_evd_modify_upcall(
	    pair.b.recv, DAT_UPCALL_DISABLE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY));
	dt_ok(dat_evd_modify_upcall(
	    pair.b.recv, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_ANY));
	dt_await_count(&calls, (int)COUNT - 2);
	dt_pair_close(&pair);
}

static void
expect_by_cno(struct dt_pair *pair, DAT_CNO_HANDLE cno, DAT_UINT64 first, unsigned int n)
{
	DAT_EVD_HANDLE triggered;
	DAT_EVENT event;

	dt_ok(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &triggered));
	ck_assert_ptr_eq(triggered, pair->b.recv);
	for (unsigned int i = 0; i < n; i++) {
		dt_ok(dat_evd_dequeue(pair->b.recv, &event));
		assert_received(&event, first + i);
	}
	dt_assert_empty(pair->b.recv);
}

TEST(cno__one_notification_for_the_count__every_event_in_order)
{
	DAT_CNO_HANDLE cno;
	struct dt_pair pair;

	fault_cq_stop_periods(true);
	cno = open_with_cno(&pair, "faulty-moderated");
	for (unsigned int round = 0; round < ROUNDS; round++) {
		await_arms(pair.b.recv, round + 1);
		messages(&pair, round * COUNT, COUNT - 1);
		assert_raised(round);
		messages(&pair, round * COUNT + COUNT - 1, 1);
		expect_by_cno(&pair, cno, round * COUNT, COUNT);
		assert_notifications(pair.b.recv, round + 1);
	}
	dt_pair_close(&pair);
}

/* ---- the period ends ---- */

DEVICE_CASE("device-moderation:period");

/* No further completion comes to the help of the last one. */
TEST(last_completion__period_is_over__reaches_the_waiter)
{
	struct dt_pair pair;
	struct waiter w;

	open_connected(&pair, "faulty-moderated-short");
	for (unsigned int round = 0; round < 20; round++) {
		waiter_start(&w, pair.b.recv, 1 + (DAT_COUNT)round % 3);
		dt_nap_ms(2); /* it sleeps by then, or finds the messages itself */
		messages(&pair, 3 * round, 1 + round % 3);
		waiter_expect(&w, 3 * round);
		for (DAT_COUNT i = 0; i < w.more; i++)
			dt_ok(dat_evd_dequeue(pair.b.recv, &w.event));
	}
	dt_pair_close(&pair);
}

TEST(last_completion__period_is_over__gets_its_upcall)
{
	_Atomic(int) calls = 0;
	DAT_UPCALL_OBJECT object = { (DAT_PVOID)(uintptr_t)&calls, dt_count_call };
	struct dt_pair pair;

	open_connected(&pair, "faulty-moderated-short");
	dt_ok(dat_evd_modify_upcall(
	    pair.b.recv, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_ANY));
	for (int i = 1; i <= 20; i++) {
		messages(&pair, 0, 1);
		dt_await_count(&calls, i);
	}
	dt_pair_close(&pair);
}

TEST(last_completion__period_is_over__triggers_the_cno)
{
	DAT_CNO_HANDLE cno;
	struct dt_pair pair;

	cno = open_with_cno(&pair, "faulty-moderated-short");
	for (unsigned int i = 0; i < 20; i++) {
		messages(&pair, i, 1);
		expect_by_cno(&pair, cno, i, 1);
	}
	dt_pair_close(&pair);
}

/* ---- the device ---- */

DEVICE_CASE("device-moderation:device");

TEST(open__word_is_given__every_queue_is_set)
{
	struct dt_side side;
	unsigned int before;
	DAT_EVD_HANDLE evd;

	dt_side_open(&side, "faulty", DT_SEPARATE);
	ck_assert_uint_eq(fault_cq_moderated(), 0);
	dt_side_close(&side);
	dt_side_open(&side, "faulty-moderated", DT_SEPARATE);
	for (int i = 0; i < 3; i++) {
		before = fault_cq_moderated();
		ck_assert_uint_gt(before, 0);
		evd = dt_evd(&side, DAT_EVD_DTO_FLAG, 8);
		ck_assert_uint_eq(fault_cq_moderated(), before + 1);
		ck_assert_uint_eq(fault_cq_last_moderation().cq_count, 4);
		ck_assert_uint_eq(fault_cq_last_moderation().cq_period, 65535);
		dt_ok(dat_evd_free(evd));
	}
	dt_side_close(&side);
}

static const struct {
	int error; /* 0: the device does not have the operation */
	const char *reason;
} refusals[] = {
	{ 0, "does not moderate completion queues\n" },
	{ EOPNOTSUPP, "does not moderate completion queues\n" },
	{ ENOSYS, "does not moderate completion queues\n" },
	{ EINVAL, "refuses it: Invalid argument\n" },
};

/* What is printed meanwhile, in `text`. */
static void
open_and_read(struct dt_pair *pair, char *text, size_t size)
{
	const int own = dup(STDERR_FILENO);
	FILE *f = tmpfile();
	ssize_t n;

	ck_assert_ptr_nonnull(f);
	fflush(NULL);
	ck_assert_int_ge(dup2(fileno(f), STDERR_FILENO), 0);
	open_connected(pair, "faulty-moderated");
	fflush(NULL);
	ck_assert_int_ge(dup2(own, STDERR_FILENO), 0);
	close(own);
	n = pread(fileno(f), text, size - 1, 0);
	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	fclose(f);
}

/*
 * One line for each adapter; its EVDs have a notification for each completion that finds them
 * armed.
 */
TEST_LOOP(open__device_does_not_moderate__prints_it_once_and_works,
    (sizeof refusals / sizeof refusals[0]))
{
	static const char begin[] = "moderation=4,65535 has no effect: the device ";
	char printed[4096], *at;
	struct dt_pair pair;
	struct waiter w;

	unsetenv("DAT_DBG_TYPE");
	fault_lack(refusals[_i].error ? 0 : FAULT_MODERATION);
	fault_cq_refuse_moderation(refusals[_i].error);
	open_and_read(&pair, printed, sizeof printed);
	at = strstr(printed, begin);
	ck_assert_msg(at && strstr(at, refusals[_i].reason), "%s", printed);
	ck_assert_msg(!strstr(at + strlen(begin), "moderation"), "%s", printed);
	for (unsigned int i = 0; i < 3; i++) {
		waiter_start(&w, pair.b.recv, 1);
		await_arms(pair.b.recv, i + 1);
		messages(&pair, i, 1);
		waiter_expect(&w, i);
		assert_notifications(pair.b.recv, i + 1);
	}
	dt_pair_close(&pair);
}
