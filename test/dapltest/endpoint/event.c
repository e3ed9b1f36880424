/* SPDX-License-Identifier: BSD-3-Clause */
/* The handles that events carry: of the right kind, and with the context that the consumer gave. */
#include "endpoint.h"

static void
set_context(DAT_HANDLE handle, DAT_UINT64 value)
{
	DAT_CONTEXT context = { .as_64 = value };

	dt_ok(dat_set_consumer_context(handle, context));
}

static void
expect(DAT_HANDLE handle, DAT_HANDLE_TYPE want, DAT_UINT64 value)
{
	DAT_CONTEXT context = { .as_64 = ~0ull };
	DAT_HANDLE_TYPE type = (DAT_HANDLE_TYPE)99;

	dt_ok(dat_get_handle_type(handle, &type));
	ck_assert_int_eq(type, want);
	dt_ok(dat_get_consumer_context(handle, &context));
	ck_assert_uint_eq(context.as_64, value);
}

enum { EP = 0x100, EVD = 0x200, PSP = 0x300, LATER = 0x1000 };

static void
set_contexts(const struct dt_side *side, DAT_UINT64 base)
{
	set_context(side->ep, base + EP);
	set_context(side->connect, base + EVD);
	set_context(side->recv, base + EVD + 1);
	set_context(side->request, base + EVD + 2);
	set_context(side->async, base + EVD + 3);
	if (side->psp) {
		set_context(side->psp, base + PSP);
		set_context(side->cr, base + EVD + 4);
	}
}

DT_CASE("event:context");

/* clause: d.0.2, d.0.3, e.8.1, e.8.2 */
TEST(connection_events__name_objects_of_the_consumer)
{
	const DAT_CR_ARRIVAL_EVENT_DATA *arrival;
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	set_contexts(&pair.a, 0);
	set_contexts(&pair.b, LATER);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_expect(pair.b.cr, DAT_CONNECTION_REQUEST_EVENT, &event);
	arrival = &event.event_data.cr_arrival_event_data;
	expect(event.evd_handle, DAT_HANDLE_TYPE_EVD, LATER + EVD + 4);
	expect(arrival->sp_handle.psp_handle, DAT_HANDLE_TYPE_PSP, LATER + PSP);
	expect(arrival->cr_handle, DAT_HANDLE_TYPE_CR, 0); /* new: it has no context yet */
	set_context(arrival->cr_handle, 9);
	expect(arrival->cr_handle, DAT_HANDLE_TYPE_CR, 9);
	ck_assert_int_eq(arrival->local_ia_address_ptr->sa_family, AF_INET);
	ck_assert_int_eq(arrival->truncate_flag, DAT_FALSE);
	dt_ok(dat_cr_accept(arrival->cr_handle, pair.b.ep, 0, NULL));
	for (int i = 0; i < 2; i++) {
		const struct dt_side *side = i ? &pair.b : &pair.a;

		dt_expect(side->connect, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
		expect(event.evd_handle, DAT_HANDLE_TYPE_EVD, (DAT_UINT64)i * LATER + EVD);
		expect(event.event_data.connect_event_data.ep_handle, DAT_HANDLE_TYPE_EP,
		    (DAT_UINT64)i * LATER + EP);
	}
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED, &event);
	expect(event.event_data.connect_event_data.ep_handle, DAT_HANDLE_TYPE_EP, LATER + EP);
	dt_expect(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED, &event);
	/* A context outlives the connection, and a reset. */
	dt_ok(dat_ep_reset(pair.a.ep));
	expect(event.event_data.connect_event_data.ep_handle, DAT_HANDLE_TYPE_EP, EP);
	dt_pair_close(&pair);
}

#define REJECTION 148 /* bytes of an answer that rejects */

static const DAT_CONNECTION_EVENT_DATA *
connection_data(const DAT_EVENT *event)
{
	return &event->event_data.connect_event_data;
}

/* clause: d.0.4, d.0.5, d.0.6, d.0.8, d.0.9, e.4.3, e.8.1 */
TEST_LOOP(failures__name_the_endpoint, 5)
{
	DAT_LMR_TRIPLET iov;
	struct scene s;
	DAT_EVENT event;

	switch (_i) {
	case 0:
		scene_open(&s, SCENE_CONNECTING);
		set_context(s.me->ep, 3);
		dt_ok(dat_cr_reject(s.cr, 0, NULL));
		dt_expect(s.me->connect, DAT_CONNECTION_EVENT_PEER_REJECTED, &event);
		break;
	case 1:
		scene_open(&s, SCENE_FRESH);
		set_context(s.me->ep, 3);
		dt_ok(dat_psp_free(s.peer->psp));
		dt_connect(s.me, s.peer, NULL, 0);
		dt_expect(s.me->connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, &event);
		break;
	case 2:
		scene_open(&s, SCENE_ACCEPTING);
		set_context(s.me->ep, 3);
		dt_ok(dat_ep_free(s.peer->ep));
		dt_expect(s.me->connect, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, &event);
		break;
	case 3:
		scene_open(&s, SCENE_CONNECTED_PASSIVE);
		set_context(s.me->ep, 3);
		iov = dt_local(s.me, 0, 8);
		iov.lmr_context ^= 0x77;
		dt_recv(s.peer, 0, 8, 1);
		dt_ok(
		    dat_ep_post_send(s.me->ep, 1, &iov, dt_cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
		dt_expect(s.me->request, DAT_DTO_COMPLETION_EVENT, &event);
		dt_expect(s.me->connect, DAT_CONNECTION_EVENT_BROKEN, &event);
		break;
	default:
		scene_open(&s, SCENE_FRESH);
		set_context(s.me->ep, 3);
		dt_ok(dat_ep_connect(s.me->ep, dt_address(s.peer->ia), s.peer->qual, 20000, 0, NULL,
		    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
		dt_expect(s.me->connect, DAT_CONNECTION_EVENT_TIMED_OUT, &event);
		break;
	}
	ck_assert_ptr_eq(connection_data(&event)->ep_handle, s.me->ep);
	expect(connection_data(&event)->ep_handle, DAT_HANDLE_TYPE_EP, 3);
	/* The device pads the answers that reject. */
	ck_assert_int_eq(connection_data(&event)->private_data_size, _i < 2 ? REJECTION : 0);
	ck_assert_int_eq(connection_data(&event)->private_data != NULL, _i < 2 || _i == 4);
	dt_assert_stays_empty(s.me->connect);
	scene_close(&s);
}

/* clause: d.0.1, d.0.15, d.1.3, e.8.1, e.8.2 */
TEST(completions_and_software_events__name_their_objects)
{
	DAT_EVD_HANDLE software;
	struct scene s;
	DAT_EVENT event;

	scene_open(&s, SCENE_CONNECTED_ACTIVE);
	set_contexts(s.me, 0);
	set_contexts(s.peer, LATER);
	dt_recv(s.peer, 0, 8, 1);
	dt_send(s.me, 0, 8, 2);
	dt_expect_dto(s.me->request, s.me->ep, 2, DAT_DTO_SUCCESS, &event);
	expect(event.evd_handle, DAT_HANDLE_TYPE_EVD, EVD + 2);
	expect(event.event_data.dto_completion_event_data.ep_handle, DAT_HANDLE_TYPE_EP, EP);
	dt_expect_dto(s.peer->recv, s.peer->ep, 1, DAT_DTO_SUCCESS, &event);
	expect(event.evd_handle, DAT_HANDLE_TYPE_EVD, LATER + EVD + 1);
	expect(
	    event.event_data.dto_completion_event_data.ep_handle, DAT_HANDLE_TYPE_EP, LATER + EP);
	software = dt_evd(s.me, DAT_EVD_SOFTWARE_FLAG, 4);
	set_context(software, 6);
	dt_post_se(software, 1);
	dt_expect(software, DAT_SOFTWARE_EVENT, &event);
	expect(event.evd_handle, DAT_HANDLE_TYPE_EVD, 6);
	scene_close(&s);
}

/* clause: d.0.11, e.8.1, e.8.2 */
TEST(asynchronous_events__name_their_objects)
{
	struct scene s;
	DAT_EVENT event;

	scene_open(&s, SCENE_FRESH);
	set_context(s.me->async, 4);
	set_context(s.me->ia, 5);
	expect(s.me->ia, DAT_HANDLE_TYPE_IA, 5);
	s.me->connect = dt_evd(s.me, DAT_EVD_CONNECTION_FLAG, 1);
	set_context(s.me->connect, 7);
	s.me->ep = dt_ep(s.me, NULL);
	dt_connect(s.me, s.peer, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(s.peer), s.peer->ep, 0, NULL));
	dt_await_state(s.me->ep, DAT_EP_STATE_CONNECTED);
	dt_ok(dat_ep_disconnect(s.me->ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect(s.me->async, DAT_ASYNC_ERROR_EVD_OVERFLOW, &event);
	expect(event.evd_handle, DAT_HANDLE_TYPE_EVD, 4);
	expect(event.event_data.asynch_error_event_data.dat_handle, DAT_HANDLE_TYPE_EVD, 7);
	ck_assert_int_eq(event.event_data.asynch_error_event_data.reason, DAT_EVD_OVERFLOW_ERROR);
	scene_close(&s);
}

/* clause: e.8.1, e.8.2 */
TEST(context__bad_arguments__each_gets_its_own_code)
{
	DAT_CONTEXT context = { .as_64 = 1 };
	DAT_HANDLE_TYPE type;
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	dt_assert_ret(dat_get_consumer_context(s.me->ep, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(dat_get_handle_type(s.me->ep, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_ok(dat_ep_free(s.me->ep));
	dt_assert_type(dat_set_consumer_context(s.me->ep, context), DAT_INVALID_HANDLE);
	dt_assert_type(dat_get_consumer_context(s.me->ep, &context), DAT_INVALID_HANDLE);
	dt_assert_type(dat_get_handle_type(s.me->ep, &type), DAT_INVALID_HANDLE);
	/* The next object in its slot starts without one. */
	for (int i = 0; i < 100; i++) {
		s.me->ep = dt_ep(s.me, NULL);
		dt_ok(dat_get_consumer_context(s.me->ep, &context));
		ck_assert_uint_eq(context.as_64, 0);
		set_context(s.me->ep, 1);
		dt_ok(dat_ep_free(s.me->ep));
	}
	scene_close(&s);
}
