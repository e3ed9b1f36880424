/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A graceful close while a connection request is being refused.  The sender of the request has the
 * answer by then; the CR on the closing side still exists for a moment, which the device makes
 * long.
 */
#include <pthread.h>
#include <stdlib.h>

#include "fault/fault.h"
#include "device.h"

static struct dt_side client, server;
static DAT_EP_HANDLE clients[2];
static _Atomic(bool) let_go;

/* A listener whose EVD holds one request, and two clients. */
static void
begin(void)
{
	dt_side_open(&client, "faulty", DT_SEPARATE);
	dt_side_open(&server, "faulty", DT_SEPARATE);
	server.cr = dt_evd(&server, DAT_EVD_CR_FLAG, 1);
	dt_ok(dat_psp_create_any(
	    server.ia, &server.qual, server.cr, DAT_PSP_CONSUMER_FLAG, &server.psp));
	clients[0] = client.ep;
	clients[1] = dt_ep(&client, NULL);
	let_go = false;
}

static void
request(int i)
{
	client.ep = clients[i];
	dt_connect(&client, &server, NULL, 0);
}

static void
await_answer(DAT_EVENT_NUMBER number)
{
	DAT_EVENT event;

	dt_expect(client.connect, number, &event);
}

/* What the server's consumer has besides the listener. */
static void
free_the_rest(void)
{
	dt_ok(dat_ep_free(server.ep));
	dt_ok(dat_evd_free(server.recv));
	dt_ok(dat_evd_free(server.request));
	dt_ok(dat_evd_free(server.connect));
	dt_ok(dat_lmr_free(server.lmr));
	dt_ok(dat_pz_free(server.pz));
}

static void
end(void)
{
	free(server.buffer);
	dt_side_close(&client);
}

static pthread_t
start(void *(*run)(void *))
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, run, NULL), 0);
	return thread;
}

/* Most of the time the close waits by then. */
static void *
lets_go_later(void *unused)
{
	(void)unused;
	dt_nap_ms(30);
	let_go = true;
	fault_cm_release_rejection();
	return NULL;
}

/* It waits until the thread that refuses was let go, and succeeds. */
static void
close_waits(void)
{
	const pthread_t thread = start(lets_go_later);

	dt_ok(dat_ia_close(server.ia, DAT_CLOSE_GRACEFUL_FLAG));
	ck_assert(let_go);
	pthread_join(thread, NULL);
}

/* Two come, one finds no room: the loop's thread is held while it refuses that one. */
static void
begin_refusing(void)
{
	begin();
	fault_cm_hold_rejection();
	request(0);
	request(1);
	await_answer(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
	dt_ok(dat_cr_reject(dt_request(&server), 0, NULL));
	dt_ok(dat_psp_free(server.psp));
	dt_ok(dat_evd_free(server.cr));
}

DEVICE_CASE("device-close:close");

/* origin: attack.P8 */
/* clause: d.5.2, e.9.2, e.9.8 */
TEST(close_gracefully__a_request_is_being_refused__waits_for_it)
{
	begin_refusing();
	free_the_rest();
	close_waits();
	end();
}

/* clause: e.9.2 */
TEST(close_gracefully__something_else_is_left__is_refused_at_once)
{
	begin_refusing();
	dt_assert_type(dat_ia_close(server.ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE);
	free_the_rest();
	dt_ok(dat_pz_create(server.ia, &server.pz));
	dt_assert_type(dat_ia_close(server.ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE);
	dt_ok(dat_pz_free(server.pz));
	close_waits();
	end();
}

static void *
frees_cr_evd(void *unused)
{
	(void)unused;
	dt_ok(dat_evd_free(server.cr));
	return NULL;
}

static void
await_dead(DAT_HANDLE object)
{
	DAT_HANDLE_TYPE type;

	for (int ms = 0; dat_get_handle_type(object, &type) == DAT_SUCCESS; ms++) {
		ck_assert_int_lt(ms, DT_FOREVER_MS);
		dt_nap_ms(1);
	}
}

/* A request that was not dequeued is refused by the free of its EVD. */
/* clause: e.9.2, e.9.8 */
TEST(close_gracefully__a_free_is_refusing_what_was_queued__waits_for_it)
{
	pthread_t thread;

	begin();
	request(0);
	request(1);
	await_answer(DAT_CONNECTION_EVENT_NON_PEER_REJECTED); /* so the other one is queued */
	dt_ok(dat_psp_free(server.psp));
	free_the_rest();
	fault_cm_hold_rejection();
	thread = start(frees_cr_evd);
	await_dead(server.cr);
	close_waits();
	pthread_join(thread, NULL);
	end();
}

static DAT_CR_HANDLE taken;

static void *
rejects(void *unused)
{
	(void)unused;
	dt_ok(dat_cr_reject(taken, 0, NULL));
	return NULL;
}

/* clause: e.9.2, e.9.8 */
TEST(close_gracefully__a_thread_is_rejecting__waits_for_it)
{
	pthread_t thread;

	begin();
	request(0);
	taken = dt_request(&server);
	dt_ok(dat_psp_free(server.psp));
	dt_ok(dat_evd_free(server.cr));
	free_the_rest();
	dt_assert_type(dat_ia_close(server.ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE);
	fault_cm_hold_rejection();
	thread = start(rejects);
	await_answer(DAT_CONNECTION_EVENT_PEER_REJECTED);
	close_waits();
	pthread_join(thread, NULL);
	end();
}

static _Atomic(DAT_RETURN) graceful;

static void *
closes_gracefully(void *unused)
{
	(void)unused;
	graceful = dat_ia_close(server.ia, DAT_CLOSE_GRACEFUL_FLAG);
	return NULL;
}

/* Whichever is faster: a graceful close that waits is not in the way of the other. */
/* clause: e.9.1, e.9.8 */
TEST(close_abruptly__another_thread_waits_to_close_gracefully__one_of_them_does)
{
	pthread_t closing, letting;
	DAT_RETURN abrupt;

	begin_refusing();
	free_the_rest();
	closing = start(closes_gracefully);
	dt_nap_ms(10);
	letting = start(lets_go_later);
	abrupt = dat_ia_close(server.ia, DAT_CLOSE_ABRUPT_FLAG);
	pthread_join(closing, NULL);
	pthread_join(letting, NULL);
	if (abrupt == DAT_SUCCESS)
		dt_assert_type(graceful, DAT_INVALID_HANDLE);
	else
		dt_ok(graceful);
	end();
}
