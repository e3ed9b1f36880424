/* SPDX-License-Identifier: BSD-3-Clause */
/* Upcalls over the whole provider; the dispatcher's own rules are tested in test-evd. */
#include <stdlib.h>

#include "lib/runner.h"
#include "lib/upcall_story.h"

DT_CASE("upcall:policy");

/* clause: c.14.2, c.14.20 */
TEST(kcreate__bad_arguments__each_gets_its_own_code)
{
	DAT_UPCALL_OBJECT object = { NULL, up_upcall }, empty = DAT_UPCALL_NULL;
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

/* clause: c.14.8 */
TEST(single__completions__are_called_in_order_one_at_a_time)
{
	struct dt_pair pair;
	struct up up;

	up_init(&up);
	up_connect(&up, &pair, DAT_UPCALL_SINGLE_INSTANCE, 16);
	for (DAT_UINT64 i = 0; i < 16; i++)
		up_send(&pair, i);
	up_await_returned(&up, 16);
	ck_assert_int_eq(up.most_inside, 1);
	up_assert_values(&up, 0, 16);
	dt_pair_close(&pair);
	ck_assert_int_eq(up.returned, 16);
}

TEST(single__of_an_evd_made_without_a_cno__takes_over_its_private_channel)
{
	struct dt_pair pair;
	DAT_EVENT event;
	struct up up;

	up_init(&up);
	dt_pair_open(&pair, DT_SEPARATE);
	for (DAT_UINT64 i = 0; i < 12; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_connect_pair(&pair);
	for (DAT_UINT64 round = 0; round < 4; round++) {
		/* In turn: a thread waits, and upcalls are made. */
		dt_send(&pair.a, 0, 8, 0);
		dt_expect_dto(pair.b.recv, pair.b.ep, 3 * round, DAT_DTO_SUCCESS, &event);
		dt_ok(dat_evd_modify_upcall(
		    pair.b.recv, DAT_UPCALL_SINGLE_INSTANCE, &up.object, DAT_UPCALL_INVOC_NEW));
		dt_send(&pair.a, 0, 8, 0);
		up_await_returned(&up, (int)(2 * round + 1));
		dt_send(&pair.a, 0, 8, 0);
		up_await_returned(&up, (int)(2 * round + 2));
		dt_ok(dat_evd_modify_upcall(
		    pair.b.recv, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY));
		for (int i = 0; i < 3; i++)
			dt_expect(pair.a.request, DAT_DTO_COMPLETION_EVENT, &event);
	}
	dt_pair_close(&pair);
}

/* The pattern of an iSER target: disable, drain, enable; a new event refuses the last. */
static void
drains(struct up *up, const DAT_EVENT *event)
{
	DAT_RETURN ret;

	dt_ok(up_try(up, DAT_UPCALL_DISABLE, DAT_UPCALL_INVOC_NEW));
	do {
		up_drain(up, event);
		ret = up_try(up, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_INVOC_NEW);
	} while (DAT_GET_TYPE(ret) == DAT_INVALID_STATE);
	dt_ok(ret);
}

#define POSTS 3000

static void *
posts(void *arg)
{
	struct up *up = arg;

	for (uintptr_t i = 0; i < POSTS; i++)
		dt_post_se_patiently(up->evd, i);
	return NULL;
}

DT_CASE("upcall:classic");

/* clause: c.14.23, c.14.11 */
TEST(classic_pattern__against_a_poster__loses_and_repeats_nothing)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG);
	up.act = drains;
	up_join(up_thread(posts, &up));
	up_await_noted(&up, POSTS);
	dt_nap_ms(10);
	up_assert_values(&up, 0, POSTS);
	dt_side_close(&side);
}

/* As drains(), and posts every buffer again. */
static void
drains_and_reposts(struct up *up, const DAT_EVENT *event)
{
	struct dt_side *side = up->arg;
	int before = up->noted - 1; /* with the event */

	/* Flushed ones, at the end of the connection, would be flushed again for ever. */
	if (event->event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
		return;
	drains(up, event);
	for (int i = before; i < up->noted; i++)
		dt_recv(side, 0, 64, (DAT_UINT64)(i + 16));
}

/* clause: c.14.17, c.14.22 */
TEST(classic_pattern__on_completions__loses_and_repeats_nothing)
{
	enum { MESSAGES = 1500 };
	struct dt_pair pair;
	DAT_EVENT event;
	struct up up;

	up_init(&up);
	up.act = drains_and_reposts;
	up.arg = &pair.b;
	up_connect(&up, &pair, DAT_UPCALL_SINGLE_INSTANCE, 16);
	for (DAT_UINT64 i = 0; i < MESSAGES; i++) {
		/* At most eight outstanding: bursts of every size, and pauses. */
		if (i >= 8)
			dt_expect_dto(pair.a.request, pair.a.ep, i - 8, DAT_DTO_SUCCESS, &event);
		dt_send(&pair.a, 0, 8, i);
		if (i % 64 == 0)
			dt_nap_ms(1);
	}
	up_await_noted(&up, MESSAGES);
	dt_nap_ms(10);
	up_assert_values(&up, 0, MESSAGES);
	dt_pair_close(&pair);
}

DT_CASE("upcall:policy");

/* clause: c.14.9 */
TEST(many__upcalls__run_at_once_and_never_twice)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	up.gate = true;
	for (uintptr_t i = 0; i < 3; i++)
		dt_post_se(up.evd, i);
	up_await_inside(&up, 3);
	up.gate = false;
	up_await_returned(&up, 3);
	up_assert_no_more(&up, 3);
	dt_side_close(&side);
}

/* clause: c.14.6 */
TEST(notify__reports_without_taking)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_NORIFY, DAT_EVD_SOFTWARE_FLAG);
	up.act = up_drain;
	dt_post_se(up.evd, 1);
	up_await_noted(&up, 1);
	dt_post_se(up.evd, 2);
	up_await_noted(&up, 2);
	ck_assert_int_ge(up.nulls, 2);
	ck_assert_int_le(up.nulls, 4);
	dt_side_close(&side);
}

TEST(connections__established_and_disconnected__come_as_upcalls)
{
	struct dt_pair pair;
	struct up up;

	up_init(&up);
	dt_pair_open(&pair, DT_SEPARATE);
	up_open(&up, &pair.b, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_CONNECTION_FLAG);
	pair.b.connect = up.evd;
	pair.b.ep = dt_ep(&pair.b, NULL);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	up_await_returned(&up, 1);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	up_await_returned(&up, 2);
	ck_assert_int_eq(up.notes[0].event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	ck_assert_int_eq(up.notes[1].event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
	dt_nap_ms(20);
	ck_assert_int_eq(up.returned, 2);
	dt_pair_close(&pair);
}

/* clause: c.14.27 */
TEST(wait__while_upcalls_are_enabled__is_refused)
{
	struct dt_side side;
	DAT_EVENT event;
	DAT_COUNT more;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	dt_assert_type(dat_evd_wait(up.evd, 1000, 1, &event, &more), DAT_INVALID_STATE);
	up_set(&up, DAT_UPCALL_DISABLE);
	dt_post_se(up.evd, 1);
	dt_ok(dat_evd_wait(up.evd, 1000, 1, &event, &more));
	dt_side_close(&side);
}

/* clause: c.14.16, c.14.14 */
TEST(enabling_for_new_events__with_one_pending__is_refused_until_it_is_taken)
{
	struct dt_side side;
	DAT_EVENT event;
	struct up up;

	up_init(&up);
	dt_side_open(&side, "soft", DT_SEPARATE);
	up.evd = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 8);
	dt_post_se(up.evd, 1);
	dt_assert_type(dat_evd_modify_upcall(
			   up.evd, DAT_UPCALL_SINGLE_INSTANCE, &up.object, DAT_UPCALL_INVOC_NEW),
	    DAT_INVALID_STATE);
	dt_ok(dat_evd_dequeue(up.evd, &event));
	dt_ok(dat_evd_modify_upcall(
	    up.evd, DAT_UPCALL_SINGLE_INSTANCE, &up.object, DAT_UPCALL_INVOC_NEW));
	dt_post_se(up.evd, 2);
	up_await_returned(&up, 1);
	up_assert_values(&up, 2, 1);
	dt_side_close(&side);
}

static void *
open_gate(void *arg)
{
	struct up *up = arg;

	dt_nap_ms(30);
	up->gate = false;
	return NULL;
}

/* clause: c.14.12 */
TEST(teardown__waits_for_the_upcall_in_progress)
{
	struct dt_side side;
	pthread_t thread;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	up.gate = true;
	dt_post_se(up.evd, 1);
	up_await_inside(&up, 1);
	thread = up_thread(open_gate, &up);
	up_set(&up, DAT_UPCALL_TEARDOWN);
	ck_assert_int_eq(up.inside, 0);
	ck_assert_int_eq(up.returned, 1);
	up_join(thread);
	dt_post_se(up.evd, 2);
	dt_nap_ms(20);
	ck_assert_int_eq(up.entered, 1);
	dt_side_close(&side);
}

/* The results of calls from inside an upcall. */
static DAT_RETURN inside[2];

static void
frees_itself(struct up *up, const DAT_EVENT *event)
{
	DAT_EVENT next;

	(void)event;
	inside[0] = dat_evd_free(up->evd);
	inside[1] = dat_evd_dequeue(up->evd, &next);
}

DT_CASE("upcall:inside");

/* clause: c.14.25 */
TEST(free__of_the_evd_from_its_own_upcall__works)
{
	struct dt_side side;
	struct up up;

	up_begin(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	up.act = frees_itself;
	dt_post_se(up.evd, 1);
	up_await_returned(&up, 1);
	dt_ok(inside[0]);
	dt_assert_type(inside[1], DAT_INVALID_HANDLE);
	dt_side_close(&side);
}

static void
frees_endpoint(struct up *up, const DAT_EVENT *event)
{
	struct dt_side *side = up->arg;

	(void)event;
	inside[0] = dat_ep_free(side->ep);
	inside[1] = dat_evd_free(up->evd);
}

/* clause: c.14.24 */
TEST(free__of_endpoint_and_evd_from_the_disconnect_upcall__works)
{
	struct dt_pair pair;
	struct up up;

	up_init(&up);
	up.act = frees_endpoint;
	up.arg = &pair.b;
	dt_pair_open(&pair, DT_SEPARATE);
	up_open(&up, &pair.b, DAT_UPCALL_DISABLE, DAT_EVD_CONNECTION_FLAG);
	pair.b.connect = up.evd;
	pair.b.ep = dt_ep(&pair.b, NULL);
	dt_recv(&pair.b, 0, 64, 1);
	dt_connect_pair(&pair);
	dt_ok(up_try(&up, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_INVOC_NEW));
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	up_await_returned(&up, 1);
	dt_ok(inside[0]);
	dt_ok(inside[1]);
	dt_assert_stays_empty(pair.b.recv);
	dt_pair_close(&pair);
}

static void
closes_adapter(struct up *up, const DAT_EVENT *event)
{
	(void)event;
	inside[0] = dat_ia_close(up->ia, DAT_CLOSE_ABRUPT_FLAG);
	inside[1] = dat_ia_close(up->ia, DAT_CLOSE_ABRUPT_FLAG);
}

/* clause: c.14.31 */
TEST(close__of_the_adapter_from_an_upcall__works)
{
	struct dt_pair pair;
	struct up up;

	up_init(&up);
	up.act = closes_adapter;
	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	dt_recv(&pair.b, 0, 64, 1);
	up_open(&up, &pair.b, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	dt_post_se(up.evd, 1);
	up_await_returned(&up, 1);
	dt_ok(inside[0]);
	dt_assert_type(inside[1], DAT_INVALID_HANDLE);
	dt_expect_disconnected(&pair.a);
	dt_side_close(&pair.a);
	free(pair.b.buffer);
}

static DAT_EVENT heard_inside;

static void
waits_inside(struct up *up, const DAT_EVENT *event)
{
	struct dt_side *side = up->arg;
	DAT_COUNT n;

	(void)event;
	/* The thread that waits here also reads the connection events of this adapter. */
	inside[0] = dat_evd_wait(side->connect, DT_FOREVER_MS * 1000u, 1, &heard_inside, &n);
}

/* clause: c.14.31 */
TEST(wait__on_a_connection_from_an_upcall__is_served)
{
	struct dt_pair pair;
	struct up up;

	up_init(&up);
	up.act = waits_inside;
	up.arg = &pair.a;
	dt_pair_open(&pair, DT_SEPARATE);
	up_open(&up, &pair.a, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(up.evd, 1);
	up_await_inside(&up, 1);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	up_await_returned(&up, 1);
	dt_ok(inside[0]);
	ck_assert_int_eq(heard_inside.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
	dt_pair_close(&pair);
}

DT_CASE("upcall:loops");

TEST(step__upcalls_run_only_inside_the_step)
{
	struct dt_side side;
	DAT_COUNT done;
	struct up up;

	up_init(&up);
	dt_side_open(&side, "soft-step", DT_SEPARATE);
	up_open(&up, &side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	dt_post_se(up.evd, 1);
	dt_nap_ms(20);
	ck_assert_int_eq(up.entered, 0);
	dt_ok(dat_ia_step(side.ia, 0, &done));
	ck_assert_int_eq(up.returned, 1);
	ck_assert_int_ge(done, 1);
	dt_side_close(&side);
}

TEST(loops__several__serve_evds_of_one_adapter)
{
	static struct up ups[6];
	struct dt_side side;

	dt_side_open(&side, "soft-loops", DT_SEPARATE);
	for (int i = 0; i < 6; i++) {
		up_init(&ups[i]);
		up_open(&ups[i], &side, DAT_UPCALL_SINGLE_INSTANCE,
		    DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG);
	}
	for (uintptr_t n = 0; n < 50; n++)
		for (int i = 0; i < 6; i++)
			dt_post_se(ups[i].evd, n);
	for (int i = 0; i < 6; i++) {
		up_await_returned(&ups[i], 50);
		up_assert_values(&ups[i], 0, 50);
	}
	dt_side_close(&side);
}
