/* SPDX-License-Identifier: BSD-3-Clause */
/* Clause c.13: threads that wait on a CNO, and what the wait returns. */
#include <signal.h>

#include "lib/contract.h"

#define FOREVER (DT_FOREVER_MS * 1000u)

DT_CASE("c.13-cno:wait");

/* clause: c.13.3 */
TEST_LOOP(one_trigger__four_waiters__releases_one, dt_personalities())
{
	struct cno_waiter w[4];
	DAT_EVD_HANDLE evd[4];
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	int done;

	contract_side(&side, _i);
	cno = contract_cno(&side);
	for (int i = 0; i < 4; i++) {
		evd[i] = contract_evd(&side, cno, DAT_EVD_SOFTWARE_FLAG, 8);
		cno_waiter_start(&w[i], cno, FOREVER);
	}
	for (int released = 1; released <= 4; released++) {
		dt_post_se(evd[released - 1], 1);
		for (int t = 0; t < DT_FOREVER_MS; t++) {
			done = 0;
			for (int i = 0; i < 4; i++)
				done += w[i].done;
			if (done >= released)
				break;
			dt_nap_ms(1);
		}
		dt_nap_ms(10);
		done = 0;
		for (int i = 0; i < 4; i++)
			done += w[i].done;
		ck_assert_int_eq(done, released);
	}
	for (int i = 0; i < 4; i++) {
		dt_ok(cno_waiter_join(&w[i]));
		ck_assert_ptr_nonnull(w[i].triggered);
		for (int j = 0; j < i; j++)
			ck_assert_ptr_ne(w[i].triggered, w[j].triggered);
	}
	dt_side_close(&side);
}

/* clause: c.13.3 */
TEST(many_triggers_at_once__as_many_waiters__releases_all)
{
	struct cno_waiter w[8];
	DAT_EVD_HANDLE evd[8];
	struct dt_side side;
	DAT_CNO_HANDLE cno;

	contract_side(&side, 0);
	cno = contract_cno(&side);
	for (int i = 0; i < 8; i++) {
		evd[i] = contract_evd(&side, cno, DAT_EVD_SOFTWARE_FLAG, 8);
		cno_waiter_start(&w[i], cno, FOREVER);
	}
	for (int i = 0; i < 8; i++)
		dt_post_se(evd[i], 1);
	for (int i = 0; i < 8; i++)
		dt_ok(cno_waiter_join(&w[i]));
	dt_side_close(&side);
}

struct poster {
	DAT_EVD_HANDLE evd;
	int n;
};

static void *
post_one_by_one(void *arg)
{
	const struct poster *p = arg;
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	for (int i = 0; i < p->n;) {
		if (dat_evd_post_se(p->evd, &event) == DAT_SUCCESS)
			i++;
		if (i % 3 == 0)
			dt_nap_ms(1);
	}
	return NULL;
}

/* clause: c.13.5, c.13.4 */
TEST(wait__with_tiny_timeouts__swallows_no_trigger)
{
	struct poster p = { .n = contract_load(600) };
	int seen = 0, timeouts = 0;
	DAT_EVD_HANDLE triggered;
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	pthread_t thread;
	DAT_EVENT event;
	DAT_RETURN ret;

	contract_side(&side, 0);
	cno = contract_cno(&side);
	p.evd = contract_evd(&side, cno, DAT_EVD_SOFTWARE_FLAG, 64);
	ck_assert_int_eq(pthread_create(&thread, NULL, post_one_by_one, &p), 0);
	/* The EVD is drained only after a trigger of the CNO. */
	while (seen < p.n && timeouts < 1000000) {
		ret = dat_cno_wait(cno, (DAT_TIMEOUT)(timeouts % 300), &triggered);
		if (ret == DAT_SUCCESS) {
			ck_assert_ptr_eq(triggered, p.evd);
			while (dat_evd_dequeue(triggered, &event) == DAT_SUCCESS)
				seen++;
		} else {
			ck_assert_uint_eq(ret, 0x000D0000);
			ck_assert_ptr_null(triggered);
			timeouts++;
		}
	}
	pthread_join(thread, NULL);
	ck_assert_int_eq(seen, p.n);
	ck_assert_int_gt(timeouts, 0);
	dt_side_close(&side);
}

/* clause: c.13.4 */
TEST(wait__a_timeout__is_kept_to_the_microsecond_and_not_early)
{
	static const DAT_TIMEOUT timeouts[] = { 0, 300, 700, 2500, 20000 };
	unsigned long long begun, took;
	DAT_EVD_HANDLE triggered;
	struct dt_side side;
	DAT_CNO_HANDLE cno;

	contract_side(&side, 0);
	cno = contract_cno(&side);
	for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
		begun = dt_now_us();
		dt_assert_type(dat_cno_wait(cno, timeouts[i], &triggered), DAT_QUEUE_EMPTY);
		took = dt_now_us() - begun;
		ck_assert_uint_ge(took + 1, timeouts[i]);
	}
	dt_side_close(&side);
}

static void
nothing(int number)
{
	(void)number;
}

/* clause: c.13.6 */
TEST_LOOP(wait__a_signal_comes__is_interrupted_and_loses_nothing, dt_personalities())
{
	const struct sigaction action = { .sa_handler = nothing };
	struct cno_waiter w;
	DAT_EVD_HANDLE evd, triggered;
	struct dt_side side;
	DAT_CNO_HANDLE cno;

	contract_side(&side, _i);
	cno = contract_cno(&side);
	evd = contract_evd(&side, cno, DAT_EVD_SOFTWARE_FLAG, 8);
	sigaction(SIGUSR1, &action, NULL);
	cno_waiter_start(&w, cno, DAT_TIMEOUT_INFINITE);
	while (!w.done) {
		pthread_kill(w.thread, SIGUSR1);
		dt_nap_ms(1);
	}
	dt_assert_ret(cno_waiter_join(&w), DAT_ERROR(DAT_INTERRUPTED_CALL, DAT_NO_SUBTYPE));
	dt_post_se(evd, 1);
	dt_ok(dat_cno_wait(cno, FOREVER, &triggered));
	ck_assert_ptr_eq(triggered, evd);
	dt_side_close(&side);
}

/* clause: c.13.1, c.13.6, c.13.10 */
TEST(bad_arguments__each_gets_its_own_code)
{
	const DAT_RETURN bad_cno = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
	const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };
	const DAT_OS_WAIT_PROXY_AGENT agent = { (DAT_PVOID)16, (DAT_AGENT_FUNC)(uintptr_t)8 };
	DAT_CNO_PARAM param;
	DAT_EVD_HANDLE triggered;
	struct dt_side side;
	DAT_CNO_HANDLE cno;

	contract_side(&side, 0);
	cno = contract_cno(&side);
	dt_assert_ret(dat_cno_create(side.ep, no_agent, &cno),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
	dt_assert_ret(dat_cno_create(side.ia, no_agent, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_assert_ret(dat_cno_wait(side.recv, 0, &triggered), bad_cno);
	dt_assert_ret(
	    dat_cno_wait(cno, 0, NULL), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_assert_ret(dat_cno_modify_agent(side.recv, no_agent), bad_cno);
	dt_assert_ret(dat_cno_query(side.recv, DAT_CNO_FIELD_ALL, &param), bad_cno);
	dt_assert_ret(dat_cno_query(cno, DAT_CNO_FIELD_ALL, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_assert_type(dat_cno_query(cno, (DAT_CNO_PARAM_MASK)5, &param), DAT_INVALID_PARAMETER);
	for (int mask = 0; mask <= 4; mask++)
		dt_ok(dat_cno_query(cno, (DAT_CNO_PARAM_MASK)mask, &param));
	ck_assert_ptr_eq(param.ia_handle, side.ia);
	ck_assert_int_eq(param.proxy_type, DAT_PROXY_TYPE_NONE);
	dt_ok(dat_cno_modify_agent(cno, agent));
	dt_ok(dat_cno_query(cno, DAT_CNO_FIELD_ALL, &param));
	ck_assert_int_eq(param.proxy_type, DAT_PROXY_TYPE_AGENT);
	ck_assert_ptr_eq(param.proxy.agent.instance_data, agent.instance_data);
	ck_assert(param.proxy.agent.proxy_agent_func == agent.proxy_agent_func);
	dt_ok(dat_cno_modify_agent(cno, no_agent));
	dt_ok(dat_cno_query(cno, DAT_CNO_FIELD_ALL, &param));
	ck_assert_int_eq(param.proxy_type, DAT_PROXY_TYPE_NONE);
	dt_assert_ret(dat_cno_free(side.recv), bad_cno);
	dt_ok(dat_cno_free(cno));
	dt_assert_ret(dat_cno_wait(cno, 0, &triggered), bad_cno);
	dt_assert_ret(dat_cno_free(cno), bad_cno);
	dt_side_close(&side);
}

/* clause: c.13.11 */
TEST(free__with_a_waiter__is_refused_and_the_waiter_stays)
{
	struct cno_waiter w;
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;

	contract_side(&side, 0);
	cno = contract_cno(&side);
	cno_waiter_start(&w, cno, FOREVER);
	dt_assert_ret(
	    dat_cno_free(cno), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE));
	evd = contract_evd(&side, cno, DAT_EVD_SOFTWARE_FLAG, 8);
	dt_post_se(evd, 1);
	dt_ok(cno_waiter_join(&w));
	ck_assert_ptr_eq(w.triggered, evd);
	dt_assert_ret(
	    dat_cno_free(cno), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE));
	dt_ok(dat_evd_modify_cno(evd, DAT_HANDLE_NULL));
	dt_ok(dat_cno_free(cno));
	dt_side_close(&side);
}

/* clause: c.13.12 */
TEST(end__last_evd_freed_or_moved_away_or_adapter_closed__all_waiters_return_null)
{
	struct cno_waiter w[3];
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;

	contract_side(&side, 0);
	cno = contract_cno(&side);
	for (int how = 0; how < 3; how++) {
		evd = contract_evd(&side, cno, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG, 8);
		for (int i = 0; i < 3; i++)
			cno_waiter_start(&w[i], cno, FOREVER);
		if (how == 0)
			dt_ok(dat_evd_free(evd));
		else if (how == 1)
			dt_ok(dat_evd_modify_cno(evd, DAT_HANDLE_NULL));
		else
			dt_side_close(&side);
		for (int i = 0; i < 3; i++) {
			dt_ok(cno_waiter_join(&w[i]));
			ck_assert_ptr_null(w[i].triggered);
		}
	}
}

/* ---- agents ---- */

struct scene {
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE triggered;
	_Atomic(int) calls;
	_Atomic(int) wrong;
};

#define IN_AGENT(scene, call, want) ((scene)->wrong += (call) != (DAT_RETURN)(want))

static void
free_everything(DAT_PVOID instance, DAT_EVD_HANDLE evd)
{
	struct scene *scene = instance;
	DAT_EVENT event;

	scene->triggered = evd;
	IN_AGENT(scene, dat_evd_dequeue(evd, &event), DAT_SUCCESS);
	IN_AGENT(scene, dat_evd_free(evd), DAT_SUCCESS);
	IN_AGENT(scene, dat_cno_free(scene->cno), DAT_SUCCESS);
	IN_AGENT(
	    scene, dat_cno_free(scene->cno), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
	scene->calls++;
}

DT_CASE("c.13-cno:agent");

/* clause: c.13.8 */
TEST_LOOP(agent__frees_its_evd_and_its_cno, dt_personalities())
{
	struct scene scene = { .calls = 0 };
	const DAT_OS_WAIT_PROXY_AGENT agent = { &scene, free_everything };
	struct dt_side side;
	DAT_EVD_HANDLE evd;

	contract_side(&side, _i);
	dt_ok(dat_cno_create(side.ia, agent, &scene.cno));
	evd = contract_evd(&side, scene.cno, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG, 8);
	dt_post_se(evd, 1);
	dt_await_count(&scene.calls, 1);
	ck_assert_int_eq(scene.wrong, 0);
	ck_assert_ptr_eq(scene.triggered, evd);
	dt_side_close(&side);
}

static void
reinstall_and_drain(DAT_PVOID instance, DAT_EVD_HANDLE evd)
{
	struct scene *scene = instance;
	const DAT_OS_WAIT_PROXY_AGENT again = { scene, reinstall_and_drain };
	DAT_EVENT event;

	IN_AGENT(scene, dat_cno_modify_agent(scene->cno, again), DAT_SUCCESS);
	while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
		scene->calls++;
}

/* clause: c.13.8, c.13.9, c.13.7 */
TEST(agent__installed_again_from_inside__sees_every_event_of_every_evd)
{
	const int n = contract_load(2000);
	struct scene scene = { .calls = 0 };
	const DAT_OS_WAIT_PROXY_AGENT agent = { &scene, reinstall_and_drain };
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	struct dt_side side;
	DAT_EVD_HANDLE evd[8];

	contract_side(&side, 0);
	dt_ok(dat_cno_create(side.ia, agent, &scene.cno));
	for (int i = 0; i < 8; i++)
		evd[i] = contract_evd(&side, scene.cno, DAT_EVD_SOFTWARE_FLAG, 64);
	for (int i = 0; i < n;)
		i += dat_evd_post_se(evd[i % 8], &event) == DAT_SUCCESS;
	dt_await_count(&scene.calls, n);
	dt_nap_ms(5);
	ck_assert_int_eq(scene.calls, n);
	ck_assert_int_eq(scene.wrong, 0);
	dt_side_close(&side);
}
