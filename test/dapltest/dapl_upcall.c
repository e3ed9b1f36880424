/* SPDX-License-Identifier: BSD-3-Clause */
/* Upcalls over the whole provider; the dispatcher's own rules are tested in test-evd. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "dapl_suites.h"
#include "dt_helpers.h"

#define LOG_MAX 4096

struct log {
	_Atomic(int) calls, inside, most_inside, nulls;
	_Atomic(int) claimed, events; /* places taken in the log, places written */
	DAT_UINT64 cookie[LOG_MAX];   /* in the order of the calls; for one caller at a time */
	DAT_EVENT_NUMBER number[LOG_MAX];
	DAT_EVD_HANDLE evd;
	DAT_RETURN rets[4];
	_Atomic(int) gate; /* upcalls wait here while it is closed */
	struct dt_side *side;
};

static void
note(struct log *log, const DAT_EVENT *event)
{
	int n = log->claimed++;

	ck_assert_int_lt(n, LOG_MAX);
	log->number[n] = event->event_number;
	log->cookie[n] = event->event_number == DAT_SOFTWARE_EVENT ?
			     (DAT_UINT64)(uintptr_t)event->event_data.software_event_data.pointer :
			     event->event_data.dto_completion_event_data.user_cookie.as_64;
	log->events++;
}

static void
enter(struct log *log)
{
	int inside = ++log->inside, most = log->most_inside;

	while (inside > most && !atomic_compare_exchange_strong(&log->most_inside, &most, inside))
		;
	for (int i = 0; log->gate && i < DT_FOREVER_MS; i++)
		dt_nap_ms(1);
}

static void
leave(struct log *log)
{
	log->inside--;
	log->calls++;
}

static void
plain(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct log *log = instance;

	(void)more;
	enter(log);
	note(log, event);
	leave(log);
}

static DAT_EVD_HANDLE
upcall_evd(struct dt_side *side, DAT_UPCALL_POLICY policy, DAT_UPCALL_FUNC func, struct log *log,
    DAT_EVD_FLAGS flags)
{
	DAT_UPCALL_OBJECT object = { log, func };

	log->side = side;
	dt_ok(dat_evd_kcreate(side->ia, 64, policy, &object, flags, &log->evd));
	return log->evd;
}

/* clause: c.14.2, c.14.20 */
START_TEST(kcreate__bad_arguments__are_told_apart)
{
	DAT_UPCALL_OBJECT object = { NULL, plain }, empty = DAT_UPCALL_NULL;
	DAT_EVD_HANDLE evd = (DAT_EVD_HANDLE)5;
	struct dt_side side;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_assert_ret(dat_evd_kcreate(
			  side.ia, 0, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_EVD_DTO_FLAG, &evd),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(
	    dat_evd_kcreate(side.ia, 8, (DAT_UPCALL_POLICY)55, &object, DAT_EVD_DTO_FLAG, &evd),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_assert_ret(
	    dat_evd_kcreate(side.ia, 8, DAT_UPCALL_SINGLE_INSTANCE, &empty, DAT_EVD_DTO_FLAG, &evd),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	dt_assert_ret(
	    dat_evd_kcreate(side.ia, 8, DAT_UPCALL_SINGLE_INSTANCE, NULL, DAT_EVD_DTO_FLAG, &evd),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	dt_assert_ret(
	    dat_evd_kcreate(side.ia, 8, DAT_UPCALL_DISABLE, NULL, (DAT_EVD_FLAGS)0x8000, &evd),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
	ck_assert_ptr_eq(evd, (DAT_EVD_HANDLE)5);
	dt_ok(dat_evd_kcreate(
	    side.ia, 8, DAT_UPCALL_DISABLE, DAT_UPCALL_SAME, DAT_EVD_DTO_FLAG, &evd));
	dt_assert_ret(dat_evd_modify_upcall(
			  evd, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_assert_ret(
	    dat_evd_modify_upcall(evd, (DAT_UPCALL_POLICY)55, &object, DAT_UPCALL_INVOC_ANY),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(dat_evd_modify_upcall(evd, DAT_UPCALL_MANY, &object, (DAT_UPCALL_FLAG)9),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	dt_assert_type(
	    dat_evd_modify_upcall(side.ep, DAT_UPCALL_DISABLE, NULL, DAT_UPCALL_INVOC_ANY),
	    DAT_INVALID_HANDLE);
	dt_side_close(&side);
}
END_TEST

/* clause: c.14.8 */
START_TEST(single__completions__are_called_in_order_one_at_a_time)
{
	struct log log = { 0 };
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	pair.b.recv =
	    upcall_evd(&pair.b, DAT_UPCALL_SINGLE_INSTANCE, plain, &log, DAT_EVD_DTO_FLAG);
	pair.b.ep = dt_ep(&pair.b, NULL);
	for (DAT_UINT64 i = 0; i < 16; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < 16; i++) {
		dt_send(&pair.a, 0, 8, i);
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
	}
	dt_await_count(&log.calls, 16);
	ck_assert_int_eq(log.most_inside, 1);
	for (DAT_UINT64 i = 0; i < 16; i++)
		ck_assert_uint_eq(log.cookie[i], i);
	dt_pair_close(&pair);
	ck_assert_int_eq(log.calls, 16);
}
END_TEST

START_TEST(single__of_an_evd_made_without_a_cno__takes_over_its_private_channel)
{
	struct log log = { 0 };
	DAT_UPCALL_OBJECT object = { &log, plain };
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	for (DAT_UINT64 i = 0; i < 12; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_connect_pair(&pair);
	for (DAT_UINT64 round = 0; round < 4; round++) {
		/* By turns: a thread waits, and upcalls are made. */
		dt_send(&pair.a, 0, 8, 0);
		dt_expect_dto(pair.b.recv, pair.b.ep, 3 * round, DAT_DTO_SUCCESS, &event);
		dt_ok(dat_evd_modify_upcall(
		    pair.b.recv, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_NEW));
		dt_send(&pair.a, 0, 8, 0);
		dt_await_count(&log.calls, (int)(2 * round + 1));
		dt_send(&pair.a, 0, 8, 0);
		dt_await_count(&log.calls, (int)(2 * round + 2));
		dt_ok(dat_evd_modify_upcall(
		    pair.b.recv, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY));
		for (int i = 0; i < 3; i++)
			dt_expect(pair.a.request, DAT_DTO_COMPLETION_EVENT, &event);
	}
	dt_pair_close(&pair);
}
END_TEST

/* The pattern of an iSER target: switch off, drain, switch on; what came meanwhile refuses that. */
static void
drains(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct log *log = instance;
	DAT_EVENT next;
	DAT_RETURN ret;

	(void)more;
	enter(log);
	ret = dat_evd_modify_upcall(
	    log->evd, DAT_UPCALL_DISABLE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW);
	ck_assert_uint_eq(ret, DAT_SUCCESS);
	note(log, event);
	do {
		while (dat_evd_dequeue(log->evd, &next) == DAT_SUCCESS)
			note(log, &next);
		leave(log);
		enter(log);
		ret = dat_evd_modify_upcall(
		    log->evd, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW);
	} while (DAT_GET_TYPE(ret) == DAT_INVALID_STATE);
	ck_assert_uint_eq(ret, DAT_SUCCESS);
	leave(log);
}

struct poster {
	DAT_EVD_HANDLE evd;
	int n;
};

static void *
post_body(void *arg)
{
	struct poster *p = arg;

	for (int i = 0; i < p->n; i++) {
		DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

		event.event_data.software_event_data.pointer = (void *)(uintptr_t)i;
		while (DAT_GET_TYPE(dat_evd_post_se(p->evd, &event)) == DAT_QUEUE_FULL)
			dt_nap_ms(1);
	}
	return NULL;
}

/* clause: c.14.23, c.14.11 */
START_TEST(classic_pattern__against_a_poster__loses_and_repeats_nothing)
{
	struct log log = { 0 };
	struct poster poster = { .n = 3000 };
	struct dt_side side;
	pthread_t thread;

	dt_side_open(&side, "soft", DT_SEPARATE);
	poster.evd = upcall_evd(&side, DAT_UPCALL_SINGLE_INSTANCE, drains, &log,
	    DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG);
	pthread_create(&thread, NULL, post_body, &poster);
	pthread_join(thread, NULL);
	dt_await_count(&log.events, poster.n);
	dt_nap_ms(10);
	ck_assert_int_eq(log.events, poster.n);
	for (int i = 0; i < poster.n; i++)
		ck_assert_uint_eq(log.cookie[i], (DAT_UINT64)i);
	dt_side_close(&side);
}
END_TEST

/* As drains(), and gives every buffer back to the device. */
static void
drains_and_reposts(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct log *log = instance;
	int before = log->events;

	/* Flushed ones, at the end of the connection, would come back at once and for ever. */
	if (event->event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
		return;
	drains(instance, event, more);
	for (int i = before; i < log->events; i++)
		dt_recv(log->side, 0, 64, (DAT_UINT64)(i + 16));
}

/* clause: c.14.17, c.14.22 */
START_TEST(classic_pattern__on_completions__loses_and_repeats_nothing)
{
	enum { MESSAGES = 1500 };
	struct log log = { 0 };
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	pair.b.recv = upcall_evd(
	    &pair.b, DAT_UPCALL_SINGLE_INSTANCE, drains_and_reposts, &log, DAT_EVD_DTO_FLAG);
	pair.b.ep = dt_ep(&pair.b, NULL);
	for (DAT_UINT64 i = 0; i < 16; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < MESSAGES; i++) {
		/* At most eight on the way: bursts of every size, and pauses. */
		if (i >= 8)
			dt_expect_dto(pair.a.request, pair.a.ep, i - 8, DAT_DTO_SUCCESS, &event);
		dt_send(&pair.a, 0, 8, i);
		if (i % 64 == 0)
			dt_nap_ms(1);
	}
	dt_await_count(&log.events, MESSAGES);
	dt_nap_ms(10);
	ck_assert_int_eq(log.events, MESSAGES);
	for (int i = 0; i < MESSAGES; i++)
		ck_assert_uint_eq(log.cookie[i], (DAT_UINT64)i);
	dt_pair_close(&pair);
}
END_TEST

/* clause: c.14.9 */
START_TEST(many__upcalls__run_at_once_and_never_twice)
{
	struct log log = { .gate = 1 };
	struct dt_side side;
	DAT_EVD_HANDLE evd;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = upcall_evd(&side, DAT_UPCALL_MANY, plain, &log, DAT_EVD_SOFTWARE_FLAG);
	for (uintptr_t i = 0; i < 3; i++)
		dt_post_se(evd, i);
	dt_await_count(&log.inside, 3);
	log.gate = 0;
	dt_await_count(&log.calls, 3);
	dt_nap_ms(10);
	ck_assert_int_eq(log.calls, 3);
	dt_side_close(&side);
}
END_TEST

static void
notified(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct log *log = instance;
	DAT_EVENT next;

	(void)more;
	enter(log);
	if (!event)
		log->nulls++;
	while (dat_evd_dequeue(log->evd, &next) == DAT_SUCCESS)
		note(log, &next);
	leave(log);
}

/* clause: c.14.6 */
START_TEST(notify__tells_without_taking)
{
	struct log log = { 0 };
	struct dt_side side;
	DAT_EVD_HANDLE evd;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = upcall_evd(&side, DAT_UPCALL_NORIFY, notified, &log, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(evd, 1);
	dt_await_count(&log.events, 1);
	dt_post_se(evd, 2);
	dt_await_count(&log.events, 2);
	ck_assert_int_ge(log.nulls, 2);
	ck_assert_int_le(log.nulls, 4);
	dt_side_close(&side);
}
END_TEST

START_TEST(connections__established_and_disconnected__come_as_upcalls)
{
	struct log log = { 0 };
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	pair.b.connect =
	    upcall_evd(&pair.b, DAT_UPCALL_SINGLE_INSTANCE, plain, &log, DAT_EVD_CONNECTION_FLAG);
	pair.b.ep = dt_ep(&pair.b, NULL);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	dt_await_count(&log.calls, 1);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_await_count(&log.calls, 2);
	ck_assert_int_eq(log.number[0], DAT_CONNECTION_EVENT_ESTABLISHED);
	ck_assert_int_eq(log.number[1], DAT_CONNECTION_EVENT_DISCONNECTED);
	dt_nap_ms(20);
	ck_assert_int_eq(log.calls, 2);
	dt_pair_close(&pair);
}
END_TEST

/* clause: c.14.27 */
START_TEST(wait__while_upcalls_are_enabled__is_refused)
{
	struct log log = { 0 };
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = upcall_evd(&side, DAT_UPCALL_SINGLE_INSTANCE, plain, &log, DAT_EVD_SOFTWARE_FLAG);
	dt_assert_type(dat_evd_wait(evd, 1000, 1, &event, &more), DAT_INVALID_STATE);
	dt_ok(
	    dat_evd_modify_upcall(evd, DAT_UPCALL_DISABLE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY));
	dt_post_se(evd, 1);
	dt_ok(dat_evd_wait(evd, 1000, 1, &event, &more));
	dt_side_close(&side);
}
END_TEST

/* clause: c.14.16, c.14.14 */
START_TEST(enabling_for_new_events__with_one_pending__is_refused_until_it_is_taken)
{
	struct log log = { 0 };
	DAT_UPCALL_OBJECT object = { &log, plain };
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 8);
	dt_post_se(evd, 1);
	dt_assert_type(
	    dat_evd_modify_upcall(evd, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_NEW),
	    DAT_INVALID_STATE);
	dt_ok(dat_evd_dequeue(evd, &event));
	dt_ok(
	    dat_evd_modify_upcall(evd, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_NEW));
	dt_post_se(evd, 2);
	dt_await_count(&log.calls, 1);
	ck_assert_uint_eq(log.cookie[0], 2);
	dt_side_close(&side);
}
END_TEST

static void *
open_gate(void *arg)
{
	struct log *log = arg;

	dt_nap_ms(30);
	log->gate = 0;
	return NULL;
}

/* clause: c.14.12 */
START_TEST(teardown__waits_for_the_upcall_in_progress)
{
	struct log log = { .gate = 1 };
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	pthread_t thread;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = upcall_evd(&side, DAT_UPCALL_SINGLE_INSTANCE, plain, &log, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(evd, 1);
	dt_await_count(&log.inside, 1);
	pthread_create(&thread, NULL, open_gate, &log);
	dt_ok(
	    dat_evd_modify_upcall(evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY));
	ck_assert_int_eq(log.inside, 0);
	ck_assert_int_eq(log.calls, 1);
	pthread_join(thread, NULL);
	dt_post_se(evd, 2);
	dt_nap_ms(20);
	ck_assert_int_eq(log.calls, 1);
	dt_side_close(&side);
}
END_TEST

static void
frees_itself(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct log *log = instance;
	DAT_EVENT next;

	(void)event;
	(void)more;
	enter(log);
	log->rets[0] = dat_evd_free(log->evd);
	log->rets[1] = dat_evd_dequeue(log->evd, &next);
	leave(log);
}

/* clause: c.14.25 */
START_TEST(free__of_the_evd_from_its_own_upcall__works)
{
	struct log log = { 0 };
	struct dt_side side;
	DAT_EVD_HANDLE evd;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = upcall_evd(&side, DAT_UPCALL_SINGLE_INSTANCE, frees_itself, &log,
	    DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	dt_post_se(evd, 1);
	dt_await_count(&log.calls, 1);
	dt_ok(log.rets[0]);
	dt_assert_type(log.rets[1], DAT_INVALID_HANDLE);
	dt_side_close(&side);
}
END_TEST

static void
frees_endpoint(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct log *log = instance;

	(void)event;
	(void)more;
	enter(log);
	log->rets[0] = dat_ep_free(log->side->ep);
	log->rets[1] = dat_evd_free(log->evd);
	leave(log);
}

/* clause: c.14.24 */
START_TEST(free__of_endpoint_and_evd_from_the_disconnect_upcall__works)
{
	struct log log = { 0 };
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	pair.b.connect =
	    upcall_evd(&pair.b, DAT_UPCALL_DISABLE, frees_endpoint, &log, DAT_EVD_CONNECTION_FLAG);
	pair.b.ep = dt_ep(&pair.b, NULL);
	dt_recv(&pair.b, 0, 64, 1);
	dt_connect_pair(&pair);
	dt_ok(dat_evd_modify_upcall(
	    pair.b.connect, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW));
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_await_count(&log.calls, 1);
	dt_ok(log.rets[0]);
	dt_ok(log.rets[1]);
	dt_assert_quiet(pair.b.recv);
	dt_pair_close(&pair);
}
END_TEST

static void
closes_adapter(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct log *log = instance;

	(void)event;
	(void)more;
	enter(log);
	log->rets[0] = dat_ia_close(log->side->ia, DAT_CLOSE_ABRUPT_FLAG);
	log->rets[1] = dat_ia_close(log->side->ia, DAT_CLOSE_ABRUPT_FLAG);
	leave(log);
}

/* clause: c.14.31 */
START_TEST(close__of_the_adapter_from_an_upcall__works)
{
	struct log log = { 0 };
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	dt_recv(&pair.b, 0, 64, 1);
	dt_post_se(upcall_evd(&pair.b, DAT_UPCALL_SINGLE_INSTANCE, closes_adapter, &log,
		       DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG),
	    1);
	dt_await_count(&log.calls, 1);
	dt_ok(log.rets[0]);
	dt_assert_type(log.rets[1], DAT_INVALID_HANDLE);
	dt_expect_disconnected(&pair.a);
	dt_side_close(&pair.a);
	free(pair.b.buffer);
}
END_TEST

static void
waits_inside(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct log *log = instance;
	DAT_EVENT next;
	DAT_COUNT n;

	(void)event;
	(void)more;
	enter(log);
	/* The connection events of this adapter are read by the very thread that waits here. */
	log->rets[0] = dat_evd_wait(log->side->connect, DT_FOREVER_MS * 1000u, 1, &next, &n);
	log->number[0] = next.event_number;
	leave(log);
}

/* clause: c.14.31 */
START_TEST(wait__on_a_connection_from_an_upcall__is_served)
{
	struct log log = { 0 };
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_post_se(upcall_evd(&pair.a, DAT_UPCALL_SINGLE_INSTANCE, waits_inside, &log,
		       DAT_EVD_SOFTWARE_FLAG),
	    1);
	dt_await_count(&log.inside, 1);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	dt_await_count(&log.calls, 1);
	dt_ok(log.rets[0]);
	ck_assert_int_eq(log.number[0], DAT_CONNECTION_EVENT_ESTABLISHED);
	dt_pair_close(&pair);
}
END_TEST

START_TEST(step__upcalls_run_only_inside_the_step)
{
	struct log log = { 0 };
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_COUNT done;

	dt_side_open(&side, "soft-step", DT_SEPARATE);
	evd = upcall_evd(&side, DAT_UPCALL_SINGLE_INSTANCE, plain, &log, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(evd, 1);
	dt_nap_ms(20);
	ck_assert_int_eq(log.calls, 0);
	dt_ok(dat_extension_op(side.ia, DAT_REARM_IA_STEP_OP, 0, &done));
	ck_assert_int_eq(log.calls, 1);
	ck_assert_int_ge(done, 1);
	dt_side_close(&side);
}
END_TEST

START_TEST(loops__several__serve_evds_of_one_adapter)
{
	struct log log[6];
	struct dt_side side;

	memset(log, 0, sizeof log);
	dt_side_open(&side, "soft-loops", DT_SEPARATE);
	for (int i = 0; i < 6; i++)
		upcall_evd(&side, DAT_UPCALL_SINGLE_INSTANCE, plain, &log[i],
		    DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	for (int n = 0; n < 50; n++)
		for (int i = 0; i < 6; i++)
			dt_post_se(log[i].evd, (uintptr_t)n);
	for (int i = 0; i < 6; i++) {
		dt_await_count(&log[i].calls, 50);
		for (int n = 0; n < 50; n++)
			ck_assert_uint_eq(log[i].cookie[n], (DAT_UINT64)n);
	}
	dt_side_close(&side);
}
END_TEST

Suite *
dapl_upcall_suite(void)
{
	Suite *s = suite_create("upcall");
	TCase *tc = dt_tcase(s, "policy");

	tcase_add_test(tc, kcreate__bad_arguments__are_told_apart);
	tcase_add_test(tc, single__completions__are_called_in_order_one_at_a_time);
	tcase_add_test(tc, single__of_an_evd_made_without_a_cno__takes_over_its_private_channel);
	tcase_add_test(tc, many__upcalls__run_at_once_and_never_twice);
	tcase_add_test(tc, notify__tells_without_taking);
	tcase_add_test(tc, connections__established_and_disconnected__come_as_upcalls);
	tcase_add_test(tc, wait__while_upcalls_are_enabled__is_refused);
	tcase_add_test(tc, enabling_for_new_events__with_one_pending__is_refused_until_it_is_taken);
	tcase_add_test(tc, teardown__waits_for_the_upcall_in_progress);
	tc = dt_tcase(s, "classic");
	tcase_add_test(tc, classic_pattern__against_a_poster__loses_and_repeats_nothing);
	tcase_add_test(tc, classic_pattern__on_completions__loses_and_repeats_nothing);
	tc = dt_tcase(s, "inside");
	tcase_add_test(tc, free__of_the_evd_from_its_own_upcall__works);
	tcase_add_test(tc, free__of_endpoint_and_evd_from_the_disconnect_upcall__works);
	tcase_add_test(tc, close__of_the_adapter_from_an_upcall__works);
	tcase_add_test(tc, wait__on_a_connection_from_an_upcall__is_served);
	tc = dt_tcase(s, "loops");
	tcase_add_test(tc, step__upcalls_run_only_inside_the_step);
	tcase_add_test(tc, loops__several__serve_evds_of_one_adapter);
	return s;
}
