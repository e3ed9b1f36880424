/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "lib/dt.h"

static const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };

static DAT_EVD_HANDLE
evd_on(const struct dt_side *side, DAT_CNO_HANDLE cno, DAT_EVD_FLAGS flags)
{
	DAT_EVD_HANDLE evd;

	dt_ok(dat_evd_create(side->ia, 8, cno, flags, &evd));
	return evd;
}

/* An EVD for software events, on a CNO without an agent. */
static DAT_EVD_HANDLE
open_with_cno(struct dt_side *side, DAT_CNO_HANDLE *cno)
{
	dt_side_open(side, "soft", DT_SEPARATE);
	dt_ok(dat_cno_create(side->ia, no_agent, cno));
	return evd_on(side, *cno, DAT_EVD_SOFTWARE_FLAG);
}

DT_CASE("cno:wait");

/* clause: c.13.2 */
TEST(cno__triggered_before_the_wait__returns_at_once)
{
	DAT_EVD_HANDLE evd, triggered;
	struct dt_side side;
	DAT_CNO_HANDLE cno;

	evd = open_with_cno(&side, &cno);
	dt_post_se(evd, 1);
	dt_ok(dat_cno_wait(cno, DT_FOREVER_MS * 1000u, &triggered));
	ck_assert_ptr_eq(triggered, evd);
	dt_side_close(&side);
}

/* clause: c.13.4 */
TEST(cno__nothing_comes__times_out_with_a_null_evd)
{
	DAT_EVD_HANDLE triggered = (DAT_EVD_HANDLE)3;
	struct dt_side side;
	DAT_CNO_HANDLE cno;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_cno_create(side.ia, no_agent, &cno));
	dt_assert_type(dat_cno_wait(cno, 2000, &triggered), DAT_QUEUE_EMPTY);
	ck_assert_ptr_null(triggered);
	dt_assert_ret(
	    dat_cno_wait(cno, 0, NULL), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_side_close(&side);
}

/* clause: c.13.7 */
TEST(cno__two_evds_fire_before_the_wait__both_are_returned)
{
	DAT_EVD_HANDLE first, second, triggered[2];
	struct dt_side side;
	DAT_CNO_HANDLE cno;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_cno_create(side.ia, no_agent, &cno));
	first = evd_on(&side, cno, DAT_EVD_SOFTWARE_FLAG);
	second = evd_on(&side, cno, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(first, 1);
	dt_post_se(second, 2);
	for (int i = 0; i < 2; i++)
		dt_ok(dat_cno_wait(cno, DT_FOREVER_MS * 1000u, &triggered[i]));
	ck_assert((triggered[0] == first && triggered[1] == second) ||
		  (triggered[0] == second && triggered[1] == first));
	dt_side_close(&side);
}

/* clause: c.13.2 */
TEST(cno__of_a_dto_evd__is_woken_by_a_completion)
{
	struct dt_pair pair;
	DAT_EVD_HANDLE triggered;
	DAT_CNO_HANDLE cno;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_cno_create(pair.b.ia, no_agent, &cno));
	dt_ok(dat_evd_modify_cno(pair.b.recv, cno));
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < 3; i++) {
		dt_recv(&pair.b, 0, 64, i);
		dt_send(&pair.a, 0, 64, i);
		dt_ok(dat_cno_wait(cno, DT_FOREVER_MS * 1000u, &triggered));
		ck_assert_ptr_eq(triggered, pair.b.recv);
		dt_ok(dat_evd_dequeue(pair.b.recv, &event));
		ck_assert_uint_eq(event.event_data.dto_completion_event_data.user_cookie.as_64, i);
		dt_assert_empty(pair.b.recv);
	}
	dt_pair_close(&pair);
}

/* clause: c.6.1, c.6.2 */
TEST(cno__evd_enabled_with_events_queued__is_notified)
{
	DAT_EVD_HANDLE evd, triggered;
	struct dt_side side;
	DAT_CNO_HANDLE cno;

	evd = open_with_cno(&side, &cno);
	dt_ok(dat_evd_disable(evd));
	dt_post_se(evd, 1);
	dt_assert_type(dat_cno_wait(cno, 5000, &triggered), DAT_QUEUE_EMPTY);
	dt_ok(dat_evd_enable(evd));
	dt_ok(dat_cno_wait(cno, DT_FOREVER_MS * 1000u, &triggered));
	ck_assert_ptr_eq(triggered, evd);
	dt_side_close(&side);
}

/* Events that a waiter of the CNO left are reported to it again. */
/* origin: outside.46 */
/* clause: c.6.1, c.6.2 */
TEST(cno__evd_disabled_and_enabled_with_events_left__is_notified_again)
{
	DAT_EVD_HANDLE evd, triggered;
	struct dt_side side;
	DAT_CNO_HANDLE cno;

	evd = open_with_cno(&side, &cno);
	dt_post_se(evd, 1);
	dt_ok(dat_cno_wait(cno, DT_FOREVER_MS * 1000u, &triggered));
	dt_assert_type(dat_cno_wait(cno, 5000, &triggered), DAT_QUEUE_EMPTY);
	dt_ok(dat_evd_disable(evd));
	dt_ok(dat_evd_enable(evd));
	dt_ok(dat_cno_wait(cno, DT_FOREVER_MS * 1000u, &triggered));
	ck_assert_ptr_eq(triggered, evd);
	dt_side_close(&side);
}

/* clause: c.8.1 */
TEST(cno__modified_away_and_back__is_notified_of_what_is_queued)
{
	DAT_EVD_HANDLE evd, triggered;
	struct dt_side side;
	DAT_EVD_PARAM param;
	DAT_CNO_HANDLE cno;

	evd = open_with_cno(&side, &cno);
	dt_ok(dat_evd_modify_cno(evd, DAT_HANDLE_NULL));
	dt_ok(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
	ck_assert_ptr_null(param.cno_handle);
	dt_post_se(evd, 1);
	dt_assert_type(dat_cno_wait(cno, 5000, &triggered), DAT_QUEUE_EMPTY);
	dt_ok(dat_evd_modify_cno(evd, cno));
	dt_ok(dat_cno_wait(cno, DT_FOREVER_MS * 1000u, &triggered));
	dt_ok(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.cno_handle, cno);
	dt_assert_ret(dat_evd_modify_cno(evd, side.ep),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
	dt_side_close(&side);
}

DT_CASE("cno:free");

/* clause: c.13.11 */
TEST(cno__in_use__cannot_be_freed)
{
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;

	evd = open_with_cno(&side, &cno);
	dt_assert_ret(
	    dat_cno_free(cno), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE));
	dt_ok(dat_evd_free(evd));
	dt_ok(dat_cno_free(cno));
	dt_assert_ret(dat_cno_free(cno), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
	dt_side_close(&side);
}

struct waiter {
	DAT_CNO_HANDLE cno;
	pthread_t thread;
	_Atomic(int) ready;
	DAT_RETURN ret;
	DAT_EVD_HANDLE triggered;
};

static void *
wait_body(void *arg)
{
	struct waiter *w = arg;

	w->ready = 1;
	w->ret = dat_cno_wait(w->cno, DT_FOREVER_MS * 1000u, &w->triggered);
	return NULL;
}

static void
start_waiter(struct waiter *w, DAT_CNO_HANDLE cno)
{
	*w = (struct waiter){ .cno = cno, .triggered = (DAT_EVD_HANDLE)3 };
	pthread_create(&w->thread, NULL, wait_body, w);
	dt_await_count(&w->ready, 1);
	dt_nap_ms(20);
}

/* clause: c.13.12, e.9.1 */
TEST(cno__closed_with_a_waiter__releases_it_with_a_null_evd)
{
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	struct waiter w;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_cno_create(side.ia, no_agent, &cno));
	start_waiter(&w, cno);
	dt_assert_ret(
	    dat_cno_free(cno), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE));
	dt_side_close(&side);
	pthread_join(w.thread, NULL);
	dt_ok(w.ret);
	ck_assert_ptr_null(w.triggered);
}

/* clause: c.13.12 */
TEST(cno__last_evd_freed__releases_the_waiter_with_a_null_evd)
{
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;
	struct waiter w;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_cno_create(side.ia, no_agent, &cno));
	evd = evd_on(&side, cno, DAT_EVD_DTO_FLAG);
	start_waiter(&w, cno);
	dt_ok(dat_evd_free(evd));
	pthread_join(w.thread, NULL);
	dt_ok(w.ret);
	ck_assert_ptr_null(w.triggered);
	dt_side_close(&side);
}

struct agent_log {
	_Atomic(int) calls;
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno;
	bool again;
};

static void
agent(DAT_PVOID instance, DAT_EVD_HANDLE evd)
{
	struct agent_log *log = instance;
	DAT_OS_WAIT_PROXY_AGENT next = { log, agent };
	DAT_EVENT event;

	log->evd = evd;
	/* The agent may make any call: no lock is held. */
	while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
		;
	if (log->again)
		(void)dat_cno_modify_agent(log->cno, next);
	log->calls++;
}

DT_CASE("cno:agent");

/* clause: c.13.8, c.13.9 */
TEST(agent__is_called_once_and_again_when_installed_again)
{
	struct agent_log log = { .again = true };
	DAT_OS_WAIT_PROXY_AGENT proxy = { &log, agent };
	DAT_CNO_PARAM param;
	struct dt_side side;
	DAT_EVD_HANDLE evd;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_cno_create(side.ia, proxy, &log.cno));
	dt_ok(dat_cno_query(log.cno, DAT_CNO_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.ia_handle, side.ia);
	ck_assert_int_eq(param.proxy_type, DAT_PROXY_TYPE_AGENT);
	evd = evd_on(&side, log.cno, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(evd, 1);
	dt_await_count(&log.calls, 1);
	ck_assert_ptr_eq(log.evd, evd);
	log.again = false;
	dt_post_se(evd, 2);
	dt_await_count(&log.calls, 2);
	dt_post_se(evd, 3); /* one-shot: no agent is set now */
	dt_nap_ms(20);
	ck_assert_int_eq(log.calls, 2);
	dt_ok(dat_cno_query(log.cno, DAT_CNO_FIELD_ALL, &param));
	ck_assert_int_eq(param.proxy_type, DAT_PROXY_TYPE_NONE);
	dt_ok(dat_cno_modify_agent(log.cno, proxy)); /* the CNO is triggered: at once */
	dt_await_count(&log.calls, 3);
	dt_side_close(&side);
}
