/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every event of the connection manager in every state.  The faulty device replaces the real event
 * by another.
 */
#include "endpoint.h"

#define COUNT(array) (int)(sizeof(array) / sizeof(array)[0])

/* The event that an endpoint gets and the state it is in then; 0: none, and no change. */
struct outcome {
	DAT_EVENT_NUMBER event;
	DAT_EP_STATE state;
};

#define ENDS(name) \
	{ \
		DAT_CONNECTION_EVENT_##name, DAT_EP_STATE_DISCONNECTED \
	}
#define CONNECTS \
	{ \
		DAT_CONNECTION_EVENT_ESTABLISHED, DAT_EP_STATE_CONNECTED \
	}
#define NOTHING \
	{ \
		(DAT_EVENT_NUMBER)0, (DAT_EP_STATE)0 \
	}

/*
 * A resolution that comes after the answer is an error of the connection manager; the endpoint then
 * tries the next step, which fails.
 */
static const struct {
	enum rdma_cm_event_type type;
	struct outcome connecting, accepting, connected;
} happenings[] = {
	{ RDMA_CM_EVENT_ADDR_RESOLVED, ENDS(UNREACHABLE), NOTHING, NOTHING },
	{ RDMA_CM_EVENT_ADDR_ERROR, ENDS(UNREACHABLE), NOTHING, NOTHING },
	{ RDMA_CM_EVENT_ROUTE_RESOLVED, ENDS(UNREACHABLE), NOTHING, NOTHING },
	{ RDMA_CM_EVENT_ROUTE_ERROR, ENDS(UNREACHABLE), NOTHING, NOTHING },
	{ RDMA_CM_EVENT_CONNECT_RESPONSE, NOTHING, NOTHING, NOTHING },
	{ RDMA_CM_EVENT_CONNECT_ERROR, ENDS(UNREACHABLE), ENDS(ACCEPT_COMPLETION_ERROR), NOTHING },
	{ RDMA_CM_EVENT_UNREACHABLE, ENDS(UNREACHABLE), ENDS(ACCEPT_COMPLETION_ERROR), NOTHING },
	{ RDMA_CM_EVENT_REJECTED, ENDS(PEER_REJECTED), ENDS(ACCEPT_COMPLETION_ERROR), NOTHING },
	{ RDMA_CM_EVENT_ESTABLISHED, CONNECTS, CONNECTS, NOTHING },
	{ RDMA_CM_EVENT_DISCONNECTED, ENDS(DISCONNECTED), ENDS(ACCEPT_COMPLETION_ERROR),
	    ENDS(DISCONNECTED) },
	{ RDMA_CM_EVENT_DEVICE_REMOVAL, ENDS(BROKEN), ENDS(BROKEN), ENDS(BROKEN) },
	{ RDMA_CM_EVENT_MULTICAST_JOIN, NOTHING, NOTHING, NOTHING },
	{ RDMA_CM_EVENT_MULTICAST_ERROR, NOTHING, NOTHING, NOTHING },
	{ RDMA_CM_EVENT_ADDR_CHANGE, NOTHING, NOTHING, NOTHING },
	{ RDMA_CM_EVENT_TIMEWAIT_EXIT, NOTHING, NOTHING, NOTHING },
};

#define RECEIVES 2

/* The receives of `me` and its connection events go to one EVD. */
static void
open_merged(struct scene *s, enum scene_place place)
{
	scene_open_on(s, place, DT_MERGED);
	for (DAT_UINT64 i = 0; i < RECEIVES; i++)
		dt_recv(s->me, 0, 8, i);
}

/* The event of an end comes after the receives, which it flushes. */
static void
expect_outcome(struct scene *s, const struct outcome *want)
{
	DAT_EVENT event;

	if (want->event && want->state == DAT_EP_STATE_DISCONNECTED &&
	    s->me->recv == s->me->connect)
		for (DAT_UINT64 i = 0; i < RECEIVES; i++)
			dt_expect_dto(s->me->recv, s->me->ep, i, DAT_DTO_ERR_FLUSHED, &event);
	if (want->event) {
		dt_expect(s->me->connect, want->event, &event);
		ck_assert_ptr_eq(event.event_data.connect_event_data.ep_handle, s->me->ep);
		ck_assert_int_eq(dt_state(s->me->ep), want->state);
	} else {
		dt_nap_ms(20);
		ck_assert_int_eq(dt_state(s->me->ep), s->state);
	}
	dt_assert_stays_empty(s->me->connect);
}

DT_CASE("happen:event", .teardown = fault_clear, .needs = dt_is_soft,
    .reason = "needs events of the connection manager on demand");

/* clause: d.0.3, d.0.4, d.0.7, d.0.8, d.0.10, d.4.4, e.1.16 */
/* origin: out33.Q11 */
TEST_LOOP(happening__while_connecting__makes_one_event, COUNT(happenings))
{
	struct scene s;

	/* The device flushes the receives of an attempt that it knows to be rejected. */
	if (happenings[_i].connecting.event == DAT_CONNECTION_EVENT_ESTABLISHED)
		scene_open(&s, SCENE_CONNECTING);
	else
		open_merged(&s, SCENE_CONNECTING);
	scene_replace(&s, RDMA_CM_EVENT_REJECTED, happenings[_i].type);
	dt_ok(dat_cr_reject(s.cr, 0, NULL));
	expect_outcome(&s, &happenings[_i].connecting);
	scene_close(&s);
}

/* clause: d.0.3, d.0.6, d.0.8, d.4.4, e.1.16 */
/* origin: out33.Q11 */
TEST_LOOP(happening__after_the_accept__makes_one_event, COUNT(happenings))
{
	struct scene s;

	open_merged(&s, SCENE_ACCEPTING);
	scene_replace(&s, RDMA_CM_EVENT_ESTABLISHED, happenings[_i].type);
	scene_step(&s);
	expect_outcome(&s, &happenings[_i].accepting);
	scene_close(&s);
}

/* clause: d.0.7, d.0.8, d.4.4, e.1.16 */
TEST_LOOP(happening__while_connected__makes_one_event, 2 * COUNT(happenings))
{
	struct scene s;

	open_merged(&s, _i % 2 ? SCENE_CONNECTED_ACTIVE : SCENE_CONNECTED_PASSIVE);
	scene_replace(&s, RDMA_CM_EVENT_DISCONNECTED, happenings[_i / 2].type);
	dt_ok(dat_ep_disconnect(s.peer->ep, DAT_CLOSE_ABRUPT_FLAG));
	expect_outcome(&s, &happenings[_i / 2].connected);
	scene_close(&s);
}

/* clause: d.0.7, d.0.8, e.1.16, e.2.4 */
TEST_LOOP(happening__while_disconnecting__makes_one_event, COUNT(happenings))
{
	const struct outcome *want = &happenings[_i].connected;
	static const struct outcome ends = ENDS(DISCONNECTED);
	struct scene s;

	scene_open(&s, SCENE_DISCONNECTING);
	scene_replace(&s, RDMA_CM_EVENT_DISCONNECTED, happenings[_i].type);
	dt_ok(dat_ep_disconnect(s.peer->ep, DAT_CLOSE_ABRUPT_FLAG));
	if (!want->event) {
		/* It still waits for the send, which the end of the queue pair flushes. */
		dt_ok(dat_ep_disconnect(s.me->ep, DAT_CLOSE_ABRUPT_FLAG));
		want = &ends;
	}
	expect_outcome(&s, want);
	scene_close(&s);
}

/* clause: e.1.16, e.2.4 */
TEST_LOOP(happening__after_the_end__makes_none, COUNT(happenings))
{
	static const struct outcome nothing = NOTHING;
	struct scene s;

	scene_open(&s, SCENE_CONNECTED_ACTIVE);
	scene_replace(&s, RDMA_CM_EVENT_DISCONNECTED, happenings[_i].type);
	dt_ok(dat_ep_disconnect(s.me->ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(s.me);
	s.state = DAT_EP_STATE_DISCONNECTED;
	expect_outcome(&s, &nothing);
	scene_close(&s);
}

DT_CASE("happen:special", .teardown = fault_clear, .needs = dt_is_soft,
    .reason = "needs events of the connection manager on demand");

/* clause: d.0.8, d.4.4 */
/* origin: out33.Q11 */
TEST_LOOP(accepting__is_disconnected_by_this_end__after_its_receives, 2)
{
	static const struct outcome ends = ENDS(DISCONNECTED);
	struct scene s;

	open_merged(&s, SCENE_ACCEPTING);
	dt_ok(dat_ep_disconnect(s.me->ep, _i ? DAT_CLOSE_ABRUPT_FLAG : DAT_CLOSE_GRACEFUL_FLAG));
	expect_outcome(&s, &ends);
	scene_close(&s);
}

/* clause: d.0.5, e.5.2 */
TEST(rejected__not_by_a_consumer__is_a_non_peer_rejection)
{
	struct scene s;

	scene_open(&s, SCENE_CONNECTING);
	scene_drop_data(&s, RDMA_CM_EVENT_REJECTED);
	dt_ok(dat_cr_reject(s.cr, 0, NULL));
	dt_expect_connection(s.me->connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, s.me->ep);
	ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_DISCONNECTED);
	dt_assert_stays_empty(s.me->connect);
	scene_close(&s);
}

/* clause: d.0.10 */
TEST_LOOP(resolution__that_fails__ends_the_attempt_as_unreachable, 2)
{
	static const enum rdma_cm_event_type resolved[] = { RDMA_CM_EVENT_ADDR_RESOLVED,
		RDMA_CM_EVENT_ROUTE_RESOLVED };
	static const enum rdma_cm_event_type failed[] = { RDMA_CM_EVENT_ADDR_ERROR,
		RDMA_CM_EVENT_ROUTE_ERROR };
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	scene_replace(&s, resolved[_i], failed[_i]);
	/* A timeout: the step is retried on the same id, which this connection manager refuses. */
	dt_connect(s.me, s.peer, NULL, 0);
	dt_expect_connection(s.me->connect, DAT_CONNECTION_EVENT_UNREACHABLE, s.me->ep);
	dt_assert_stays_empty(s.me->connect);
	dt_ok(dat_ep_reset(s.me->ep));
	dt_connect_pair(&s.pair);
	scene_close(&s);
}
