/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A listener gets more connection requests than its EVD holds: the others are rejected, and the
 * listener stays usable.
 */
#include <stdlib.h>

#include "lib/dt.h"

#define QLEN 2
#define REFUSED 4
#define QLEN_MAX 256 /* an EVD with a completion queue may be longer than requested */

struct flood {
	struct dt_pair pair; /* side a has the clients, side b the listener */
	int qlen;
	DAT_EP_HANDLE idle[QLEN_MAX + REFUSED]; /* clients that may connect */
	int n_idle;
};

static void
flood_open_long(struct flood *flood, DAT_EVD_FLAGS flags, DAT_COUNT qlen)
{
	struct dt_side *listener = &flood->pair.b;
	DAT_EVD_PARAM param;

	dt_pair_open(&flood->pair, DT_SEPARATE);
	dt_ok(dat_psp_free(listener->psp));
	dt_ok(dat_evd_free(listener->cr));
	listener->cr = dt_evd(listener, DAT_EVD_CR_FLAG | flags, qlen);
	dt_ok(dat_psp_create(
	    listener->ia, listener->qual, listener->cr, DAT_PSP_CONSUMER_FLAG, &listener->psp));
	dt_ok(dat_evd_query(listener->cr, DAT_EVD_FIELD_EVD_QLEN, &param));
	flood->qlen = param.evd_qlen;
	ck_assert_int_le(flood->qlen, QLEN_MAX);
	for (flood->n_idle = 0; flood->n_idle < flood->qlen + REFUSED; flood->n_idle++)
		flood->idle[flood->n_idle] = dt_ep(&flood->pair.a, NULL);
}

static void
flood_open(struct flood *flood, DAT_EVD_FLAGS flags)
{
	flood_open_long(flood, flags, QLEN);
}

static void
request(struct flood *flood)
{
	flood->pair.a.ep = flood->idle[--flood->n_idle];
	dt_connect(&flood->pair.a, &flood->pair.b, NULL, 0);
}

/* Waits for the answers to n requests, in any order. */
static void
expect_answers(struct flood *flood, DAT_EVENT_NUMBER number, int n)
{
	DAT_EVENT event;

	while (n-- > 0) {
		dt_expect(flood->pair.a.connect, number, &event);
		flood->idle[flood->n_idle] = event.event_data.connect_event_data.ep_handle;
		dt_ok(dat_ep_reset(flood->idle[flood->n_idle++]));
	}
}

/* Fills the EVD; requests that find no room are refused. */
static void
overflow(struct flood *flood)
{
	while (flood->n_idle > 0)
		request(flood);
	expect_answers(flood, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, REFUSED);
}

static void
reject(struct flood *flood, const DAT_EVENT *event)
{
	ck_assert_int_eq(event->event_number, DAT_CONNECTION_REQUEST_EVENT);
	dt_ok(dat_cr_reject(event->event_data.cr_arrival_event_data.cr_handle, 0, NULL));
	expect_answers(flood, DAT_CONNECTION_EVENT_PEER_REJECTED, 1);
}

static void
take_by_dequeue(struct flood *flood)
{
	DAT_EVENT event;

	for (int i = 0; i < flood->qlen; i++) {
		dt_ok(dat_evd_dequeue(flood->pair.b.cr, &event));
		reject(flood, &event);
	}
	dt_assert_type(dat_evd_dequeue(flood->pair.b.cr, &event), DAT_QUEUE_EMPTY);
}

static void
take_by_wait(struct flood *flood)
{
	DAT_EVENT event;
	DAT_COUNT more;

	for (int i = flood->qlen; i > 0; i--) {
		dt_ok(dat_evd_wait(flood->pair.b.cr, DAT_TIMEOUT_INFINITE, i, &event, &more));
		ck_assert_int_eq(more, i - 1);
		reject(flood, &event);
	}
	dt_assert_type(dat_evd_wait(flood->pair.b.cr, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
}

static DAT_EVENT called_with[QLEN_MAX];
static _Atomic(int) calls;

static void
note_request(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)instance;
	(void)more;
	called_with[calls % QLEN_MAX] = *event;
	calls++;
}

static void
take_by_upcall(struct flood *flood)
{
	const DAT_UPCALL_OBJECT object = { NULL, note_request };
	DAT_EVD_HANDLE evd = flood->pair.b.cr;

	calls = 0;
	dt_ok(
	    dat_evd_modify_upcall(evd, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_ANY));
	dt_await_count(&calls, flood->qlen);
	dt_ok(
	    dat_evd_modify_upcall(evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW));
	for (int i = 0; i < flood->qlen; i++)
		reject(flood, &called_with[i]);
}

static void
expect_report(struct flood *flood)
{
	DAT_EVENT event;

	dt_expect(flood->pair.b.async, DAT_ASYNC_ERROR_EVD_OVERFLOW, &event);
	ck_assert_ptr_eq(event.event_data.asynch_error_event_data.dat_handle, flood->pair.b.cr);
}

/* A client whose request is accepted. */
static void
serve_one(struct flood *flood)
{
	request(flood);
	dt_ok(dat_cr_accept(dt_request(&flood->pair.b), flood->pair.b.ep, 0, NULL));
	dt_expect_established(&flood->pair.a);
	dt_expect_established(&flood->pair.b);
}

/* Alone, with other posted events, and on a completion queue; for each kind of sink. */
static const DAT_EVD_FLAGS merged[] = { 0, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_CONNECTION_FLAG,
	DAT_EVD_DTO_FLAG };
static void (*const actors[])(
    struct flood *flood) = { take_by_dequeue, take_by_wait, take_by_upcall };
#define KINDS 3

DT_CASE("flood:flood");

/* origin: attack.P8 */
/* clause: d.5.2 */
TEST_LOOP(flood__again_and_again__each_overflow_is_reported_once_and_the_listener_goes_on,
    KINDS *(int)(sizeof merged / sizeof merged[0]))
{
	struct flood flood;

	flood_open(&flood, merged[_i / KINDS]);
	for (int episode = 0; episode < 3; episode++) {
		overflow(&flood);
		expect_report(&flood);
		dt_assert_empty(flood.pair.b.async);
		actors[_i % KINDS](&flood);
	}
	serve_one(&flood);
	dt_assert_empty(flood.pair.b.async);
	dt_pair_close(&flood.pair);
}

/* origin: attack.P8 */
/* clause: d.5.2 */
TEST(flood__drained_in_part__is_still_the_same_episode)
{
	struct flood flood;
	DAT_EVENT event;

	flood_open(&flood, 0);
	overflow(&flood);
	expect_report(&flood);
	dt_ok(dat_evd_dequeue(flood.pair.b.cr, &event));
	reject(&flood, &event);
	/* Two requests come; there is room for one. */
	request(&flood);
	request(&flood);
	expect_answers(&flood, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, 1);
	dt_assert_stays_empty(flood.pair.b.async);
	take_by_dequeue(&flood);
	dt_pair_close(&flood.pair);
}

/* origin: attack.P8 */
/* clause: d.5.2, d.5.4 */
TEST(flood__with_the_async_evd_unread__leaves_one_report_there)
{
	struct flood flood;
	DAT_EVENT event;

	flood_open(&flood, 0);
	for (int episode = 0; episode < 16; episode++) { /* the asynchronous EVD holds 8 */
		overflow(&flood);
		take_by_dequeue(&flood);
	}
	expect_report(&flood);
	dt_assert_type(dat_evd_dequeue(flood.pair.b.async, &event), DAT_QUEUE_EMPTY);
	serve_one(&flood);
	dt_pair_close(&flood.pair);
}

/* Gracefully: this fails if a refused request left an object. */
static void
close_listener(struct dt_side *b)
{
	dt_ok(dat_psp_free(b->psp));
	dt_ok(dat_ep_free(b->ep));
	dt_ok(dat_evd_free(b->cr));
	dt_ok(dat_evd_free(b->recv));
	dt_ok(dat_evd_free(b->request));
	dt_ok(dat_evd_free(b->connect));
	dt_ok(dat_lmr_free(b->lmr));
	dt_ok(dat_pz_free(b->pz));
	dt_ok(dat_ia_close(b->ia, DAT_CLOSE_GRACEFUL_FLAG));
	free(b->buffer);
}

/* origin: attack.P8 */
/* clause: d.5.2 */
TEST(flood__2400_requests__leave_nothing_behind)
{
	struct flood flood;

	flood_open(&flood, 0);
	while (flood.n_idle > 0)
		request(&flood);
	for (int refused = 0; refused < 2400; refused++) {
		expect_answers(&flood, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, 1);
		request(&flood);
	}
	/* The last requests may still come. */
	expect_answers(&flood, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, REFUSED);
	take_by_dequeue(&flood);
	close_listener(&flood.pair.b);
	dt_side_close(&flood.pair.a);
}

/* Around the number of requests that are refused in one batch, and its double and triple. */
static const int left_queued[] = { 0, 1, 31, 32, 33, 40, 63, 64, 65, 97 };

/* Returns when so many requests are queued, all unseen by the consumer. */
static void
leave_queued(struct flood *flood, int n)
{
	DAT_EVENT event;
	DAT_COUNT more;

	flood_open_long(flood, 0, n + 1);
	dt_ok(dat_evd_resize(flood->pair.a.connect, QLEN_MAX));
	for (int i = 0; i <= n; i++)
		request(flood);
	dt_ok(dat_evd_wait(flood->pair.b.cr, DAT_TIMEOUT_INFINITE, n + 1, &event, &more));
	ck_assert_int_eq(more, n);
	reject(flood, &event);
}

DT_CASE("flood:left");

/* clause: d.5.2 */
/* origin: outside.26 */
TEST_LOOP(evd__freed_with_requests_queued__refuses_every_one,
    (sizeof left_queued / sizeof left_queued[0]))
{
	const int n = left_queued[_i];
	struct flood flood;

	leave_queued(&flood, n);
	close_listener(&flood.pair.b);
	expect_answers(&flood, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, n);
	dt_assert_empty(flood.pair.a.connect);
	dt_side_close(&flood.pair.a);
}

/* clause: d.5.2 */
/* origin: outside.26 */
TEST_LOOP(adapter__closed_with_requests_queued__refuses_every_one,
    (sizeof left_queued / sizeof left_queued[0]))
{
	const int n = left_queued[_i];
	struct flood flood;

	leave_queued(&flood, n);
	dt_side_close(&flood.pair.b);
	expect_answers(&flood, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, n);
	dt_assert_empty(flood.pair.a.connect);
	dt_side_close(&flood.pair.a);
}
