/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that waits reads a completion channel of the device. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "fault/fault.h"
#include "device.h"

struct waiter {
	pthread_t id;
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno; /* or DAT_HANDLE_NULL: it waits for the EVD */
	DAT_RETURN ret;
	_Atomic(int) waits; /* that have returned */
	_Atomic(bool) done;
	bool cancelled; /* when it reads the channel */
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

static void
waiter_ended(void *arg)
{
	struct waiter *w = arg;

	w->done = true;
}

/*
 * Waits until it has read the channel, in which it is cancelled.  If the message is there, the wait
 * returns.  If the read was of a message that a poll had found before, the thread ends in its next
 * sleep.
 */
static void *
wait_cancelled(void *arg)
{
	struct waiter *w = arg;

	fault_channel_cancel_self();
	pthread_cleanup_push(waiter_ended, w);
	do {
		w->ret = wait_once(w, DAT_TIMEOUT_INFINITE);
		w->waits++;
	} while (w->ret == DAT_SUCCESS && fault_channel_reads() == 0);
	pthread_cleanup_pop(1);
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

DEVICE_CASE("device-channel:channel");

/* origin: out33.F1 */
TEST_LOOP(wait__its_thread_is_cancelled_when_it_reads_the_channel__loses_no_message, 2)
{
	struct dt_pair pair;
	struct waiter w;
	int sent = 0;

	open_pair(&pair, _i, &w);
	ck_assert_int_eq(pthread_create(&w.id, NULL, wait_cancelled, &w), 0);
	while (!w.done) {
		message(&pair);
		for (sent++; w.waits < sent && !w.done;)
			dt_nap_ms(1);
	}
	ck_assert_int_eq(pthread_join(w.id, NULL), 0);
	ck_assert_int_ge(w.waits, sent - 1);
	if (w.waits < sent)
		dt_ok(wait_once(&w, DT_FOREVER_MS * 1000));
	dt_assert_empty(w.evd);
	/* The next wait sleeps, and is woken. */
	message(&pair);
	dt_ok(wait_once(&w, DT_FOREVER_MS * 1000));
	dt_pair_close(&pair);
}

/* ---- a channel that cannot be read any more ---- */

/* The same while no thread can wait. */
static void
message_polled(struct dt_pair *pair)
{
	DAT_EVENT event;

	dt_recv(&pair->b, 0, 64, 1);
	dt_send(&pair->a, 0, 64, 2);
	dt_poll_next(pair->a.request, &event);
}

/* One event for the adapter, whatever else is found to be broken. */
static void
expect_catastrophe(const struct dt_side *side)
{
	DAT_EVENT event;

	dt_expect(side->async, DAT_ASYNC_ERROR_IA_CATASTROPHIC, &event);
	ck_assert_ptr_eq(event.event_data.asynch_error_event_data.dat_handle, side->ia);
	ck_assert_int_eq(
	    event.event_data.asynch_error_event_data.reason, DAT_IA_CATASTROPHIC_ERROR);
	dt_assert_empty(side->async);
}

static void *
wait_to_the_end(void *arg)
{
	struct waiter *w = arg;

	if (w->cancelled)
		fault_channel_cancel_self();
	do
		w->ret = wait_once(w, DAT_TIMEOUT_INFINITE);
	while (w->ret == DAT_SUCCESS);
	w->done = true;
	return NULL;
}

/* With _i the thread is cancelled meanwhile: it ends in its next wait. */
/* origin: out36.M1 */
TEST_LOOP(wait__channel_is_broken__takes_what_is_there_and_fails, 2)
{
	const DAT_RETURN fails = DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);
	struct dt_pair pair;
	struct waiter w;
	void *end;

	open_pair(&pair, false, &w);
	w.cancelled = _i;
	ck_assert_int_eq(pthread_create(&w.id, NULL, wait_to_the_end, &w), 0);
	dt_nap_ms(20); /* it sleeps */
	fault_channel_fail(EIO);
	message_polled(&pair);
	ck_assert_int_eq(pthread_join(w.id, &end), 0);
	ck_assert_ptr_eq(end, _i ? PTHREAD_CANCELED : NULL);
	ck_assert_int_eq(w.ret, _i ? DAT_SUCCESS : fails);
	expect_catastrophe(&pair.b);
	message_polled(&pair);
	while (wait_once(&w, 0) != DAT_SUCCESS)
		;
	ck_assert_int_eq(wait_once(&w, DAT_TIMEOUT_INFINITE), fails);
	ck_assert_int_eq(wait_once(&w, 0), fails);
	dt_assert_empty(w.evd);
	ck_assert_int_eq(
	    dat_evd_modify_upcall(w.evd, DAT_UPCALL_SINGLE_INSTANCE,
		&(DAT_UPCALL_OBJECT){ NULL, (DAT_UPCALL_FUNC)abort }, DAT_UPCALL_INVOC_ANY),
	    fails);
	dt_assert_empty(pair.b.async);
	fault_channel_fail(0);
	dt_pair_close(&pair);
}

static _Atomic(int) upcalls;

static void
count_upcall(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)instance;
	(void)event;
	(void)more;
	upcalls++;
}

/* On a channel of its own, and on the one that EVDs share. */
TEST_LOOP(upcalls__channel_is_broken__go_on_after_one_event, 2)
{
	const DAT_UPCALL_OBJECT object = { NULL, count_upcall };
	struct dt_pair pair;
	struct waiter w;

	upcalls = 0;
	open_pair(&pair, _i, &w);
	dt_ok(dat_evd_modify_upcall(
	    w.evd, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_ANY));
	dt_ok(dat_evd_modify_upcall(
	    pair.b.request, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_ANY));
	fault_channel_fail(EIO);
	for (int n = 1; n <= 3; n++) {
		message_polled(&pair);
		dt_await_count(&upcalls, n);
	}
	dt_recv(&pair.a, 0, 64, 3); /* the second channel of the adapter */
	dt_send(&pair.b, 0, 64, 4);
	dt_await_count(&upcalls, 4);
	expect_catastrophe(&pair.b);
	fault_channel_fail(0);
	dt_pair_close(&pair);
}

/* The EVDs that share it, and one that is made later. */
TEST(cno__channel_is_broken__is_triggered_after_one_event)
{
	struct dt_pair pair;
	struct waiter w;
	DAT_EVD_HANDLE later;

	open_pair(&pair, true, &w);
	fault_channel_fail(EIO);
	for (int n = 1; n <= 3; n++) {
		message_polled(&pair);
		dt_ok(wait_once(&w, DT_FOREVER_MS * 1000));
	}
	expect_catastrophe(&pair.b);
	dt_ok(dat_evd_create(pair.b.ia, 8, w.cno, DAT_EVD_DTO_FLAG, &later));
	ck_assert_int_eq(
	    dat_evd_wait(later, DAT_TIMEOUT_INFINITE, 1, &(DAT_EVENT){ 0 }, &(DAT_COUNT){ 0 }),
	    DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE));
	dt_ok(dat_evd_free(later));
	dt_assert_empty(pair.b.async);
	fault_channel_fail(0);
	dt_pair_close(&pair);
}

/* The channels of the adapter itself. */
TEST_LOOP(adapter__its_channel_is_broken__one_event, 2)
{
	struct dt_pair pair;

	device_pair_open(&pair);
	if (_i) {
		fault_async_fail(EIO);
		fault_raise(IBV_EVENT_PORT_ACTIVE, NULL);
	} else {
		fault_cm_fail_reads(EIO);
		(void)device_try_connect(&pair);
	}
	expect_catastrophe(&pair.a);
	if (_i)
		expect_catastrophe(&pair.b);
	fault_async_fail(0);
	fault_cm_fail_reads(0);
	dt_pair_close(&pair);
}

/* ---- the loop of an adapter reads what is broken, once, and sleeps then ---- */

#define SPIN_MS 50 /* a loop that spins has read it again by then */

/* The second: events of connections. */
TEST_LOOP(loop__other_channel_is_broken__reads_it_once_and_sleeps, 2)
{
	unsigned int (*const failed)(void) = _i ? fault_cm_failed_reads : fault_async_failed;
	DAT_EVD_HANDLE evd;
	struct dt_pair pair;
	DAT_EVENT event;

	device_pair_open(&pair);
	if (_i) {
		fault_cm_fail_reads(EIO);
		dt_ok(device_try_connect(&pair));
	} else {
		dt_side_close(&pair.b);
		fault_async_fail(EIO);
		fault_raise(IBV_EVENT_PORT_ERR, NULL);
	}
	for (int ms = 0; ms < DT_FOREVER_MS && !failed(); ms++)
		dt_nap_ms(1);
	dt_nap_ms(SPIN_MS);
	ck_assert_uint_eq(failed(), 1);
	/* The loop goes on with all else. */
	dt_ok(dat_evd_create(pair.a.ia, 8, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd));
	dt_post_se(evd, 1);
	dt_expect(evd, DAT_SOFTWARE_EVENT, &event);
	dt_ok(dat_evd_free(evd));
	if (_i)
		dt_pair_close(&pair);
	else
		dt_side_close(&pair.a);
}
