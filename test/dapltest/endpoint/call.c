/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every call in every state.  The expected results come from the contract, not from the table of
 * the provider.
 */
#include "endpoint.h"

static DAT_RETURN
connect_it(struct scene *s)
{
	return dat_ep_connect(s->me->ep, dt_address(s->peer->ia), s->peer->qual,
	    DAT_TIMEOUT_INFINITE, 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

static DAT_RETURN
common_connect(struct scene *s)
{
	struct sockaddr_storage to;

	scene_address(s->peer, s->peer->qual ? s->peer->qual : 7, &to);
	return dat_ep_common_connect(
	    s->me->ep, (DAT_IA_ADDRESS_PTR)&to, DAT_TIMEOUT_INFINITE, 0, NULL);
}

static DAT_RETURN
dup_connect(struct scene *s)
{
	DAT_EP_HANDLE model = scene_model(s);
	DAT_RETURN ret = dat_ep_dup_connect(
	    s->me->ep, model, DAT_TIMEOUT_INFINITE, 0, NULL, DAT_QOS_BEST_EFFORT);

	if (ret == DAT_SUCCESS)
		(void)dt_request(&s->helpers.b); /* not answered */
	return ret;
}

static DAT_RETURN
be_duplicated(struct scene *s)
{
	DAT_EP_HANDLE ep = dt_ep(s->me, NULL);
	DAT_RETURN ret =
	    dat_ep_dup_connect(ep, s->me->ep, DAT_TIMEOUT_INFINITE, 0, NULL, DAT_QOS_BEST_EFFORT);

	dt_ok(dat_ep_free(ep));
	return ret;
}

static DAT_RETURN
accept_on(struct scene *s)
{
	DAT_CR_HANDLE cr = scene_request(s);
	DAT_RETURN ret = dat_cr_accept(cr, s->me->ep, 0, NULL);

	/* After a refused call the request can still be answered. */
	if (ret != DAT_SUCCESS)
		dt_ok(dat_cr_reject(cr, 0, NULL));
	else
		dt_expect_established(s->me);
	return ret;
}

static DAT_RETURN
reserve(struct scene *s)
{
	DAT_RSP_HANDLE rsp;
	struct dt_side side = *s->me;

	/* A free qualifier, and an EVD that nothing else uses. */
	dt_side_listen(&side);
	dt_ok(dat_psp_free(side.psp));
	return dat_rsp_create(side.ia, side.qual, side.ep, side.cr, &rsp);
}

static DAT_RETURN
disconnect_abruptly(struct scene *s)
{
	return dat_ep_disconnect(s->me->ep, DAT_CLOSE_ABRUPT_FLAG);
}

static DAT_RETURN
disconnect_gracefully(struct scene *s)
{
	return dat_ep_disconnect(s->me->ep, DAT_CLOSE_GRACEFUL_FLAG);
}

static DAT_RETURN
disconnect_somehow(struct scene *s)
{
	return dat_ep_disconnect(s->me->ep, (DAT_CLOSE_FLAGS)2);
}

/* Transfers posted to a disconnected endpoint are flushed. */
static void
expect_flushed(struct scene *s, DAT_EVD_HANDLE evd, DAT_UINT64 cookie, DAT_DTOS operation)
{
	DAT_EVENT event;

	if (s->state != DAT_EP_STATE_DISCONNECTED)
		return;
	dt_expect_dto(evd, s->me->ep, cookie, DAT_DTO_ERR_FLUSHED, &event);
	ck_assert_int_eq(event.event_data.dto_completion_event_data.operation, operation);
	dt_assert_empty(evd);
}

static DAT_RETURN
post_send(struct scene *s)
{
	DAT_RETURN ret = dt_try_send(s->me, 0, 8, 5, DAT_COMPLETION_DEFAULT_FLAG);

	expect_flushed(s, s->me->request, 5, DAT_DTO_SEND);
	return ret;
}

static DAT_RETURN
post_write(struct scene *s)
{
	DAT_LMR_TRIPLET local = dt_local(s->me, 0, 8);
	DAT_RMR_TRIPLET remote = dt_remote(s->peer, 0, 8);
	DAT_RETURN ret = dat_ep_post_rdma_write(
	    s->me->ep, 1, &local, dt_cookie(6), &remote, DAT_COMPLETION_DEFAULT_FLAG);

	expect_flushed(s, s->me->request, 6, DAT_DTO_RDMA_WRITE);
	return ret;
}

static DAT_RETURN
post_read(struct scene *s)
{
	DAT_LMR_TRIPLET local = dt_local(s->me, 0, 8);
	DAT_RMR_TRIPLET remote = dt_remote(s->peer, 0, 8);
	DAT_RETURN ret = dat_ep_post_rdma_read(
	    s->me->ep, 1, &local, dt_cookie(7), &remote, DAT_COMPLETION_DEFAULT_FLAG);

	expect_flushed(s, s->me->request, 7, DAT_DTO_RDMA_READ);
	return ret;
}

static DAT_RETURN
post_recv(struct scene *s)
{
	DAT_RETURN ret = dt_try_recv(s->me, 0, 8, 8);

	expect_flushed(s, s->me->recv, 8, DAT_DTO_RECEIVE);
	return ret;
}

static DAT_RETURN
reset(struct scene *s)
{
	return dat_ep_reset(s->me->ep);
}

static DAT_RETURN
modify_attributes(struct scene *s)
{
	DAT_EP_PARAM param = { .ep_attr.max_rdma_read_in = 2 };

	return dat_ep_modify(s->me->ep, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, &param);
}

static DAT_RETURN
modify_evd(struct scene *s)
{
	DAT_EP_PARAM param = { .request_evd_handle = s->me->recv };

	return dat_ep_modify(s->me->ep, DAT_EP_FIELD_REQUEST_EVD_HANDLE, &param);
}

static DAT_RETURN
modify_zone(struct scene *s)
{
	DAT_EP_PARAM param;

	dt_ok(dat_pz_create(s->me->ia, &param.pz_handle));
	return dat_ep_modify(s->me->ep, DAT_EP_FIELD_PZ_HANDLE, &param);
}

static DAT_RETURN
modify_state(struct scene *s)
{
	DAT_EP_PARAM param = { .ep_state = DAT_EP_STATE_CONNECTED };

	return dat_ep_modify(s->me->ep, DAT_EP_FIELD_EP_STATE, &param);
}

static DAT_RETURN
query(struct scene *s)
{
	DAT_EP_PARAM param;
	DAT_RETURN ret = dat_ep_query(s->me->ep, DAT_EP_FIELD_ALL, &param);

	ck_assert_int_eq(param.ep_state, s->state);
	return ret;
}

static DAT_RETURN
get_status(struct scene *s)
{
	DAT_EP_STATE state;
	DAT_RETURN ret = dat_ep_get_status(s->me->ep, &state, NULL, NULL);

	ck_assert_int_eq(state, s->state);
	return ret;
}

static DAT_RETURN
release(struct scene *s)
{
	return dat_ep_free(s->me->ep);
}

/*
 * What each call does in UNCONNECTED, RESERVED, PASSIVE_CONNECTION_PENDING, UNCONFIGURED_TENTATIVE,
 * TENTATIVE_CONNECTION_PENDING, ACTIVE_CONNECTION_PENDING, COMPLETION_PENDING, CONNECTED,
 * DISCONNECT_PENDING and DISCONNECTED:
 *
 *	- refused		= done, state stays	0 nothing to do
 *	a connects		c accepts		d disconnects
 *	u becomes unconnected	r becomes reserved	x goes
 *	t becomes tentative	f the second argument is bad
 */
static const struct {
	const char *name;
	DAT_RETURN (*make)(struct scene *s);
	const char *expected;
} calls[] = {
	{ "dat_ep_connect", connect_it, "a---------" },
	{ "dat_ep_common_connect", common_connect, "a---------" },
	{ "dat_ep_dup_connect", dup_connect, "a---------" },
	{ "dat_ep_dup_connect, as model", be_duplicated, "-------=--" },
	{ "dat_cr_accept", accept_on, "c---------" },
	{ "dat_rsp_create", reserve, "r---------" },
	{ "dat_ep_disconnect, abrupt", disconnect_abruptly, "-----dddd0" },
	{ "dat_ep_disconnect, graceful", disconnect_gracefully, "-----dddf0" },
	{ "dat_ep_disconnect, unknown flag", disconnect_somehow, "ffffffffff" },
	{ "dat_ep_post_send", post_send, "-------=-=" },
	{ "dat_ep_post_rdma_write", post_write, "-------=-=" },
	{ "dat_ep_post_rdma_read", post_read, "-------=-=" },
	{ "dat_ep_post_recv", post_recv, "===-======" },
	{ "dat_ep_reset", reset, "0--------u" },
	{ "dat_ep_modify, attributes", modify_attributes, "=====-----" },
	{ "dat_ep_modify, EVD", modify_evd, "=====-----" },
	{ "dat_ep_modify, protection zone", modify_zone, "=--t=-----" },
	{ "dat_ep_modify, state", modify_state, "ffffffffff" },
	{ "dat_ep_query", query, "==========" },
	{ "dat_ep_get_status", get_status, "==========" },
	{ "dat_ep_free", release, "x----xxxxx" },
};

#define CALLS (int)(sizeof calls / sizeof calls[0])

static char
expected_of(int call, DAT_EP_STATE state)
{
	static const DAT_EP_STATE columns[] = {
		DAT_EP_STATE_UNCONNECTED,
		DAT_EP_STATE_RESERVED,
		DAT_EP_STATE_PASSIVE_CONNECTION_PENDING,
		DAT_EP_STATE_UNCONFIGURED_TENTATIVE,
		DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING,
		DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
		DAT_EP_STATE_COMPLETION_PENDING,
		DAT_EP_STATE_CONNECTED,
		DAT_EP_STATE_DISCONNECT_PENDING,
		DAT_EP_STATE_DISCONNECTED,
	};

	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
		if (columns[i] == state)
			return calls[call].expected[i];
	ck_abort_msg("the table has no column for state %d", (int)state);
	return 0;
}

static void
expect_gone(const struct scene *s)
{
	const DAT_RETURN bad = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP);

	dt_assert_ret(dat_ep_get_status(s->me->ep, NULL, NULL, NULL), bad);
	dt_assert_ret(dat_ep_free(s->me->ep), bad);
	dt_assert_stays_empty(s->me->connect);
	/* No object of the endpoint is left that uses these. */
	dt_ok(dat_evd_free(s->me->recv));
	dt_ok(dat_evd_free(s->me->request));
	dt_ok(dat_evd_free(s->me->connect));
}

DT_CASE("call:state");

/* clause: d.0.7, e.1.2, e.1.5, e.1.6, e.1.7, e.1.8, e.1.9, e.1.10, e.1.11 */
/* clause: e.1.12, e.1.15, e.1.16, e.1.18 */
TEST_LOOP(call__in_each_state__does_what_the_table_demands, SCENE_PLACES *CALLS)
{
	const int call = _i % CALLS;
	DAT_EP_STATE next;
	struct scene s;
	DAT_RETURN ret;
	char expected;

	scene_open(&s, (enum scene_place)(_i / CALLS));
	expected = expected_of(call, s.state);
	ret = calls[call].make(&s);
	next = s.state;
	switch (expected) {
	case '-':
		dt_assert_ret(ret, scene_refusal(s.state));
		break;
	case 'f':
		dt_assert_ret(ret, DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
		break;
	default:
		dt_assert_ret(ret, DAT_SUCCESS);
		break;
	}
	if (expected == 'x') {
		expect_gone(&s);
	} else {
		if (expected == 'a')
			next = DAT_EP_STATE_ACTIVE_CONNECTION_PENDING;
		if (expected == 'c')
			next = DAT_EP_STATE_CONNECTED; /* and waited for */
		if (expected == 'd')
			next = DAT_EP_STATE_DISCONNECTED;
		if (expected == 'r')
			next = DAT_EP_STATE_RESERVED;
		if (expected == 't')
			next = DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING;
		if (expected == 'u')
			next = DAT_EP_STATE_UNCONNECTED;
		if (expected == 'd')
			dt_expect_disconnected(s.me);
		ck_assert_msg(dt_state(s.me->ep) == next, "after %s the state is %d, not %d",
		    calls[call].name, dt_state(s.me->ep), next);
		dt_assert_stays_empty(s.me->connect);
		dt_assert_empty(s.me->async);
	}
	scene_close(&s);
}
