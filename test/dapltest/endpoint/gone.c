/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints that the provider creates: which objects they end with, and which they outlive. */
#include "endpoint.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#define BAD_EP DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP)

static void
expect_gone(const struct scene *s)
{
	dt_assert_ret(dat_ep_get_status(s->me->ep, NULL, NULL, NULL), BAD_EP);
	dt_assert_ret(dat_ep_free(s->me->ep), BAD_EP);
}

static void
expect_refused(const struct dt_side *client)
{
	dt_expect_connection(client->connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, client->ep);
}

DT_CASE("gone:gone");

/* clause: e.3.14, e.3.8 */
TEST_LOOP(made__its_request_rejected__goes_with_it, 2 * dt_personalities())
{
	struct scene s;

	dt_personality(_i / 2);
	scene_open(&s, _i % 2 ? SCENE_MADE_COMPLETE : SCENE_MADE);
	if (_i % 2)
		for (DAT_UINT64 i = 0; i < 8; i++)
			dt_recv(s.me, 0, 8, i);
	dt_ok(dat_cr_reject(s.cr, 0, NULL));
	dt_expect_connection(s.peer->connect, DAT_CONNECTION_EVENT_PEER_REJECTED, s.peer->ep);
	expect_gone(&s);
	dt_assert_empty(s.me->recv);
	dt_assert_stays_empty(s.me->connect);
	scene_close_empty(&s);
}

/* clause: e.3.14, e.3.4 */
TEST_LOOP(made__the_service_point_goes__later_requests_are_refused_and_it_stays, dt_personalities())
{
	struct dt_side client;
	DAT_CR_HANDLE cr;
	struct scene s;

	dt_personality(_i);
	scene_open_listening(&s, DT_SEPARATE);
	cr = scene_offer(&s);
	dt_ok(dat_psp_free(s.me->psp));
	client = *s.peer;
	client.ep = dt_ep(s.peer, NULL);
	dt_connect(&client, s.me, NULL, 0);
	expect_refused(&client);
	dt_ok(scene_give(&s, SCENE_PARTS));
	dt_ok(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
	dt_expect_established(s.me);
	dt_expect_established(s.peer);
	scene_close(&s);
}

/* clause: e.3.14, d.0.6 */
TEST_LOOP(made__the_client_goes__accepting_fails_and_rejecting_ends_it, 2 * dt_personalities())
{
	struct scene s;

	dt_personality(_i / 2);
	scene_open(&s, SCENE_MADE);
	dt_ok(dat_ep_disconnect(s.peer->ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(s.peer);
	dt_nap_ms(20);
	ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_UNCONFIGURED_TENTATIVE);
	dt_ok(scene_give(&s, SCENE_PARTS));
	if (_i % 2) {
		dt_ok(dat_cr_reject(s.cr, 0, NULL));
		expect_gone(&s);
	} else {
		dt_ok(dat_cr_accept(s.cr, DAT_HANDLE_NULL, 0, NULL));
		dt_expect_connection(
		    s.me->connect, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, s.me->ep);
		dt_ok(dat_ep_free(s.me->ep));
	}
	dt_assert_stays_empty(s.me->connect);
	scene_close_empty(&s);
}

/* clause: e.3.14, d.5.2 */
TEST_LOOP(made__the_evd_is_full__the_request_is_refused_and_nothing_is_left, dt_personalities())
{
	DAT_EVD_HANDLE evd;
	struct scene s;
	DAT_EVENT event;

	dt_personality(_i);
	scene_open_listening(&s, DT_SEPARATE);
	evd = dt_evd(s.me, DAT_EVD_CR_FLAG | DAT_EVD_SOFTWARE_FLAG, 1);
	dt_ok(dat_psp_free(s.me->psp));
	dt_ok(dat_psp_create(s.me->ia, s.me->qual, evd, DAT_PSP_PROVIDER_FLAG, &s.me->psp));
	dt_post_se(evd, 1);
	dt_connect(s.peer, s.me, NULL, 0);
	expect_refused(s.peer);
	dt_expect(s.me->async, DAT_ASYNC_ERROR_EVD_OVERFLOW, &event);
	ck_assert_ptr_eq(event.event_data.asynch_error_event_data.dat_handle, evd);
	dt_ok(dat_psp_free(s.me->psp));
	s.me->psp = DAT_HANDLE_NULL;
	dt_ok(dat_evd_free(evd));
	scene_close_empty(&s);
}

/* clause: e.3.14, e.3.9 */
TEST(made__the_evd_goes_with_the_request_queued__it_goes_too)
{
	struct scene s;

	scene_open_listening(&s, DT_SEPARATE);
	dt_connect(s.peer, s.me, NULL, 0);
	dt_nap_ms(30);
	dt_ok(dat_psp_free(s.me->psp));
	dt_ok(dat_evd_free(s.me->cr));
	expect_refused(s.peer);
	s.me->cr = dt_evd(s.me, DAT_EVD_CR_FLAG, 1);
	s.me->psp = DAT_HANDLE_NULL;
	scene_close_empty(&s);
}

/* clause: e.3.14, e.9.1, e.9.2 */
TEST_LOOP(made__adapter_closed__counts_and_goes_with_it, 2 * dt_personalities())
{
	struct scene s;

	dt_personality(_i / 2);
	scene_open(&s, _i % 2 ? SCENE_MADE_COMPLETE : SCENE_MADE);
	dt_assert_ret(dat_ia_close(s.me->ia, DAT_CLOSE_GRACEFUL_FLAG),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE));
	dt_side_close(s.me);
	expect_refused(s.peer);
	dt_side_close(s.peer);
}

/* clause: e.3.14 */
TEST(made__200_times_under_few_descriptors__leaves_nothing)
{
	struct rlimit before, few;
	struct scene s;
	DAT_CR_HANDLE cr;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ 60, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	scene_open_listening(&s, DT_SEPARATE);
	for (int i = 0; i < 200; i++) {
		cr = scene_offer(&s);
		if (i % 4)
			dt_ok(scene_give(&s, SCENE_PARTS));
		if (i % 4 < 2) {
			dt_ok(dat_cr_reject(cr, 0, NULL));
			dt_expect_connection(
			    s.peer->connect, DAT_CONNECTION_EVENT_PEER_REJECTED, s.peer->ep);
		} else {
			dt_ok(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
			dt_expect_established(s.me);
			dt_expect_established(s.peer);
			dt_ok(dat_ep_free(s.me->ep));
			dt_expect_disconnected(s.peer);
		}
		dt_ok(dat_ep_reset(s.peer->ep));
	}
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	scene_close_empty(&s);
}

static void *
gives(void *arg)
{
	struct scene *s = arg;
	DAT_RETURN ret = scene_give(s, SCENE_PARTS);

	if (ret != DAT_SUCCESS)
		dt_assert_ret(ret, BAD_EP);
	return NULL;
}

/* clause: e.3.14, e.1.19 */
TEST(made__configured_against_a_rejection_or_the_close__is_safe)
{
	for (int i = 0; i < 40; i++) {
		pthread_t thread;
		struct scene s;
		bool close = i % 4 == 3;

		scene_open(&s, SCENE_MADE);
		ck_assert_int_eq(pthread_create(&thread, NULL, gives, &s), 0);
		if (i % 4 == 1)
			sched_yield();
		if (close)
			dt_side_close(s.me);
		else
			dt_ok(dat_cr_reject(s.cr, 0, NULL));
		pthread_join(thread, NULL);
		expect_gone(&s);
		if (close)
			dt_side_close(s.peer);
		else
			scene_close_empty(&s);
	}
}
