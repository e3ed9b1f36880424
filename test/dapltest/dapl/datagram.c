/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagram endpoints: they get each other's address handles, and send to them. */
#include "lib/dt.h"

#include <dat2/dat_ib_extensions.h>

#define PARAMETER(n) DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG##n)
#define BAD_EP DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP)
#define MODEL DAT_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE)
#define DEFAULT DAT_COMPLETION_DEFAULT_FLAG
#define GRH 40

static struct dt_pair pair;

static DAT_EP_ATTR
ud_attr(DAT_COUNT depth)
{
	DAT_EP_ATTR attr;

	memset(&attr, 0, sizeof attr);
	attr.service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD;
	attr.max_recv_dtos = attr.max_request_dtos = depth;
	attr.max_recv_iov = attr.max_request_iov = 2;
	return attr;
}

static DAT_EP_HANDLE
ud_ep(const struct dt_side *side)
{
	const DAT_EP_ATTR attr = ud_attr(8);

	return dt_ep(side, &attr);
}

/* The length of the longest datagram, which the device's packets determine. */
static DAT_VLEN
ud_longest(const struct dt_side *side)
{
	DAT_EP_PARAM param;

	dt_ok(dat_ep_query(side->ep, DAT_EP_FIELD_ALL, &param));
	if (dt_is_soft())
		ck_assert_uint_eq(param.ep_attr.max_message_size, 4096);
	ck_assert_uint_ge(param.ep_attr.max_message_size, 256);
	ck_assert_uint_le(param.ep_attr.max_message_size, 4096);
	return param.ep_attr.max_message_size;
}

/* Two sides with a datagram endpoint each; the second listens. */
static void
ud_open(enum dt_evds evds)
{
	dt_side_open(&pair.a, "soft", evds);
	dt_side_open(&pair.b, "soft", evds);
	dt_ok(dat_ep_free(pair.a.ep));
	dt_ok(dat_ep_free(pair.b.ep));
	pair.a.ep = ud_ep(&pair.a);
	pair.b.ep = ud_ep(&pair.b);
	dt_side_listen(&pair.b);
}

static const DAT_IB_EXTENSION_EVENT_DATA *
extension(const DAT_EVENT *event)
{
	return (const DAT_IB_EXTENSION_EVENT_DATA *)(const void *)event->event_extension_data;
}

/* The event of an endpoint that has another's address; the private data begin with `data`. */
static DAT_IB_ADDR_HANDLE
ud_established(const struct dt_side *side, DAT_IB_EXT_TYPE type, const char *data)
{
	const DAT_CONNECTION_EVENT_DATA *connection;
	DAT_EVENT event;

	dt_expect(side->connect, (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED, &event);
	connection = &event.event_data.connect_event_data;
	ck_assert_ptr_eq(connection->ep_handle, side->ep);
	ck_assert_int_eq(extension(&event)->type, type);
	ck_assert_int_eq(extension(&event)->status, (int)DAT_OP_SUCCESS);
	ck_assert_ptr_nonnull(extension(&event)->remote_ah.ah);
	ck_assert_ptr_nonnull(extension(&event)->context.as_ptr);
	if (data) {
		ck_assert_int_ge(connection->private_data_size, (int)strlen(data) + 1);
		ck_assert_str_eq(connection->private_data, data);
	} else {
		ck_assert_int_eq(connection->private_data_size, 0);
	}
	return extension(&event)->remote_ah;
}

/* The request anew, at another service point. */
static DAT_CR_HANDLE
ud_hand_over(DAT_CR_HANDLE cr)
{
	DAT_CONN_QUAL qual;
	DAT_PSP_HANDLE psp;
	DAT_EVENT event;

	dt_ok(dat_psp_create_any(pair.b.ia, &qual, pair.b.cr, DAT_PSP_CONSUMER_FLAG, &psp));
	dt_ok(dat_cr_handoff(cr, qual));
	dt_expect(pair.b.cr, (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_REQUEST_EVENT, &event);
	ck_assert_ptr_eq(event.event_data.cr_arrival_event_data.sp_handle.psp_handle, psp);
	return event.event_data.cr_arrival_event_data.cr_handle;
}

/* The first asks the second; both have an address of the other then. */
static void
ud_meet(DAT_IB_ADDR_HANDLE *to_b, DAT_IB_ADDR_HANDLE *to_a, bool hands_over)
{
	DAT_CR_PARAM param;
	DAT_CR_HANDLE cr;

	dt_connect(&pair.a, &pair.b, "question", 9);
	cr = dt_datagram_request(&pair.b);
	if (hands_over)
		cr = ud_hand_over(cr);
	dt_ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
	ck_assert_int_ge(param.private_data_size, 9);
	ck_assert_str_eq(param.private_data, "question");
	dt_ok(dat_cr_accept(cr, pair.b.ep, 7, (DAT_PVOID)(uintptr_t) "answer"));
	*to_a = ud_established(&pair.b, DAT_IB_UD_PASSIVE_REMOTE_AH, NULL);
	*to_b = ud_established(&pair.a, DAT_IB_UD_REMOTE_AH, "answer");
}

static DAT_RETURN
ud_try_send(struct dt_side *side, size_t length, DAT_UINT64 cookie, const DAT_IB_ADDR_HANDLE *to)
{
	DAT_LMR_TRIPLET local = dt_local(side, 0, length);

	return dat_ib_post_send_ud(side->ep, 1, &local, to, dt_cookie(cookie), DEFAULT);
}

/* A completion with both of its parts. */
static void
ud_expect_dto(DAT_EVD_HANDLE evd, DAT_EP_HANDLE ep, DAT_UINT64 cookie, int operation,
    DAT_DTO_COMPLETION_STATUS status, DAT_SEG_LENGTH length)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	DAT_EVENT event;

	dt_expect(evd, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT, &event);
	dto = &event.event_data.dto_completion_event_data;
	ck_assert_ptr_eq(dto->ep_handle, ep);
	ck_assert_uint_eq(dto->user_cookie.as_64, cookie);
	ck_assert_int_eq((int)dto->operation, operation);
	ck_assert_int_eq(dto->status, status);
	ck_assert_uint_eq(dto->transfered_length, length);
	ck_assert_int_eq(extension(&event)->type,
	    operation == DAT_IB_DTO_SEND_UD ? DAT_IB_UD_SEND : DAT_IB_UD_RECV);
}

DT_CASE("datagram:datagram");

/* clause: d.0.19, f.2.8 */
TEST_LOOP(endpoints_meet__each_gets_the_address_of_the_other_and_sends, 3)
{
	DAT_IB_ADDR_HANDLE to_a, to_b;

	ud_open(_i == 1 ? DT_MERGED : DT_SEPARATE);
	dt_recv(&pair.b, 512, GRH + 100, 21);
	dt_recv(&pair.a, 512, GRH + 100, 22);
	ud_meet(&to_b, &to_a, _i == 2);
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_CONNECTED);
	memcpy(pair.a.buffer, "from a", 7);
	memcpy(pair.b.buffer, "from b", 7);
	dt_ok(ud_try_send(&pair.a, 100, 1, &to_b));
	ud_expect_dto(pair.a.request, pair.a.ep, 1, DAT_IB_DTO_SEND_UD, DAT_DTO_SUCCESS, 100);
	ud_expect_dto(pair.b.recv, pair.b.ep, 21, DAT_IB_DTO_RECV_UD, DAT_DTO_SUCCESS, GRH + 100);
	ck_assert_str_eq(pair.b.buffer + 512 + GRH, "from a");
	dt_ok(ud_try_send(&pair.b, 100, 2, &to_a));
	ud_expect_dto(pair.b.request, pair.b.ep, 2, DAT_IB_DTO_SEND_UD, DAT_DTO_SUCCESS, 100);
	ud_expect_dto(pair.a.recv, pair.a.ep, 22, DAT_IB_DTO_RECV_UD, DAT_DTO_SUCCESS, GRH + 100);
	ck_assert_str_eq(pair.a.buffer + 512 + GRH, "from b");
	dt_pair_close(&pair);
}

/* clause: d.0.19 */
TEST(lookups__several_at_once__each_has_its_event_and_data)
{
	enum { MANY = 40 }; /* so that a list of address handles has several */
	DAT_IB_ADDR_HANDLE ah[MANY];
	DAT_EP_HANDLE others[MANY];
	bool seen[MANY] = { false };
	DAT_CR_PARAM param;
	DAT_CR_HANDLE cr;
	DAT_EVENT event;
	uint8_t n;

	ud_open(DT_SEPARATE);
	dt_ok(dat_evd_resize(pair.a.connect, MANY));
	dt_ok(dat_evd_resize(pair.b.cr, MANY));
	for (n = 0; n < MANY; n++) {
		others[n] = ud_ep(&pair.b);
		dt_connect(&pair.a, &pair.b, &n, 1);
	}
	for (int i = 0; i < MANY; i++) {
		cr = dt_datagram_request(&pair.b);
		dt_ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
		n = *(uint8_t *)param.private_data;
		ck_assert_uint_lt(n, MANY);
		dt_ok(dat_cr_accept(cr, others[n], 1, &n));
	}
	for (int i = 0; i < MANY; i++) {
		dt_expect(pair.a.connect, (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED,
		    &event);
		n = *(uint8_t *)event.event_data.connect_event_data.private_data;
		ck_assert(n < MANY && !seen[n]);
		seen[n] = true;
		ah[n] = extension(&event)->remote_ah;
	}
	/* Each leads to another endpoint. */
	for (n = 0; n < MANY; n++) {
		DAT_LMR_TRIPLET to = dt_local(&pair.b, 0, GRH + 8);

		dt_ok(dat_ep_post_recv(others[n], 1, &to, dt_cookie(n), DEFAULT));
		dt_ok(ud_try_send(&pair.a, 8, n, &ah[n]));
		ud_expect_dto(
		    pair.b.recv, others[n], n, DAT_IB_DTO_RECV_UD, DAT_DTO_SUCCESS, GRH + 8);
		ud_expect_dto(pair.a.request, pair.a.ep, n, DAT_IB_DTO_SEND_UD, DAT_DTO_SUCCESS, 8);
	}
	/* Each is freed alone, in another order than they came. */
	for (n = 0; n < MANY; n++) {
		const int m = (n * 7) % MANY;

		dt_ok(ud_try_send(&pair.a, 8, n, &ah[m]));
		dt_ok(dat_ib_ud_ah_free(pair.a.ep, &ah[m]));
		dt_assert_ret(ud_try_send(&pair.a, 8, n, &ah[m]), PARAMETER(5));
		ud_expect_dto(pair.a.request, pair.a.ep, n, DAT_IB_DTO_SEND_UD, DAT_DTO_SUCCESS, 8);
	}
	dt_pair_close(&pair);
}

/* clause: d.0.19 */
TEST(request__rejected__its_event_has_the_data)
{
	DAT_EVENT event;

	ud_open(DT_SEPARATE);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_reject(dt_datagram_request(&pair.b), 5, (DAT_PVOID)(uintptr_t) "busy"));
	dt_expect(pair.a.connect, (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_REJECT_EVENT, &event);
	ck_assert_int_eq(extension(&event)->type, DAT_IB_UD_CONNECT_REJECT);
	ck_assert_int_eq(extension(&event)->status, DAT_IB_OP_ERR);
	ck_assert_ptr_eq(event.event_data.connect_event_data.ep_handle, pair.a.ep);
	ck_assert_str_eq(event.event_data.connect_event_data.private_data, "busy");
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_UNCONNECTED);

	/* Nothing listens any more. */
	dt_ok(dat_psp_free(pair.b.psp));
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_expect(pair.a.connect, (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_ERROR_EVENT, &event);
	ck_assert_int_eq(extension(&event)->type, DAT_IB_UD_CONNECT_ERROR);
	ck_assert_int_eq(extension(&event)->status, DAT_IB_OP_ERR);
	ck_assert_int_eq(event.event_data.connect_event_data.private_data_size, 0);
	dt_pair_close(&pair);
}

/* origin: outside.94 */
/* clause: d.0.19 */
TEST(requests__rejected_before_an_event_is_read__each_event_has_its_data)
{
	enum { MANY = 6 };
	bool seen[MANY] = { false };
	DAT_CR_PARAM param;
	DAT_CR_HANDLE cr;
	DAT_EVENT event;
	DAT_COUNT more;
	uint8_t n;

	ud_open(DT_SEPARATE);
	for (int round = 0; round < 2; round++) {
		memset(seen, 0, sizeof seen);
		for (n = 0; n < MANY; n++)
			dt_connect(&pair.a, &pair.b, &n, 1);
		for (int i = 0; i < MANY; i++) {
			cr = dt_datagram_request(&pair.b);
			dt_ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
			n = *(uint8_t *)param.private_data;
			dt_ok(dat_cr_reject(cr, 1, &n));
		}
		for (int i = 0; i < MANY; i++) {
			/* The first is read when all of them are queued. */
			dt_ok(dat_evd_wait(
			    pair.a.connect, DAT_TIMEOUT_INFINITE, i ? 1 : MANY, &event, &more));
			ck_assert_int_eq(
			    (int)event.event_number, DAT_IB_UD_CONNECTION_REJECT_EVENT);
			n = *(uint8_t *)event.event_data.connect_event_data.private_data;
			ck_assert(n < MANY && !seen[n]);
			seen[n] = true;
		}
	}
	dt_pair_close(&pair);
}

/*
 * Around the number of requests that are refused at once; the EVD is freed, or the adapter is
 * closed.
 */
/* clause: d.5.2 */
/* origin: out35.P1 */
TEST_LOOP(requests__are_queued_and_their_evd_goes__are_refused, 8)
{
	static const int left[] = { 1, 2, 32, 33 };
	const int n = left[_i / 2];
	DAT_EVENT event;
	DAT_COUNT more;

	ud_open(DT_SEPARATE);
	dt_ok(dat_evd_resize(pair.a.connect, 64));
	dt_ok(dat_evd_resize(pair.b.cr, 64));
	for (int i = 0; i < n; i++)
		dt_connect(&pair.a, &pair.b, NULL, 0);
	/* Until so many are queued, and not one more. */
	more = 0;
	for (int ms = 0, was = -1; more != n || was != n; ms += 100) {
		ck_assert_int_lt(ms, DT_FOREVER_MS);
		was = more;
		dt_assert_type(
		    dat_evd_wait(pair.b.cr, 100000, n + 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	}
	if (_i % 2) {
		dt_ok(dat_psp_free(pair.b.psp));
		dt_ok(dat_evd_free(pair.b.cr));
	} else {
		dt_side_close(&pair.b);
	}
	for (int i = 0; i < n; i++) {
		dt_expect(
		    pair.a.connect, (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_ERROR_EVENT, &event);
		ck_assert_ptr_eq(event.event_data.connect_event_data.ep_handle, pair.a.ep);
	}
	dt_side_close(&pair.a);
	if (_i % 2)
		dt_ok(dat_ia_close(pair.b.ia, DAT_CLOSE_ABRUPT_FLAG));
}

/* Each event that a lookup may have is queued when the endpoint is freed. */
/* clause: d.0.19 */
/* origin: out33.D3 */
TEST_LOOP(events__of_lookups_are_queued_and_the_endpoint_is_freed__are_gone, 3)
{
	static const int wanted[] = { DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED,
		DAT_IB_UD_CONNECTION_REJECT_EVENT, DAT_IB_UD_CONNECTION_ERROR_EVENT };
	DAT_EP_HANDLE first, other;
	DAT_EVENT event;
	DAT_COUNT more;

	ud_open(DT_SEPARATE);
	first = pair.a.ep;
	other = ud_ep(&pair.a);
	for (int i = 0; i < 2; i++) { /* of the endpoint, then of another one */
		if (i)
			pair.a.ep = other;
		if (_i == 2)
			dt_ok(dat_ep_connect(pair.a.ep, dt_address(pair.b.ia), pair.b.qual, 20000,
			    0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
		else
			dt_connect(&pair.a, &pair.b, NULL, 0);
		if (_i == 0)
			dt_ok(dat_cr_accept(dt_datagram_request(&pair.b), pair.b.ep, 0, NULL));
		if (_i == 1)
			dt_ok(dat_cr_reject(dt_datagram_request(&pair.b), 0, NULL));
		/* Until so many are queued. */
		dt_assert_type(dat_evd_wait(pair.a.connect, 100000, i + 2, &event, &more),
		    DAT_TIMEOUT_EXPIRED);
		ck_assert_int_eq(more, i + 1);
	}
	dt_ok(dat_ep_free(first));
	dt_expect(pair.a.connect, (DAT_EVENT_NUMBER)wanted[_i], &event);
	ck_assert_ptr_eq(event.event_data.connect_event_data.ep_handle, other);
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

/* clause: d.0.19 */
TEST(request__not_answered_in_time__is_an_error)
{
	DAT_COUNT requests;
	DAT_EVENT event;

	ud_open(DT_SEPARATE);
	/* On a busy machine the time may be over before the request is sent. */
	do {
		dt_ok(dat_ep_connect(pair.a.ep, dt_address(pair.b.ia), pair.b.qual, 50000, 0, NULL,
		    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
		dt_ok(dat_ep_connect(pair.a.ep, dt_address(pair.b.ia), pair.b.qual, 90000, 5,
		    (DAT_PVOID)(uintptr_t) "late", DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
		for (int i = 0; i < 2; i++)
			dt_expect(pair.a.connect,
			    (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_ERROR_EVENT, &event);
		dt_assert_stays_empty(pair.a.connect);
		dt_assert_type(
		    dat_evd_wait(pair.b.cr, 0, 4, &event, &requests), DAT_TIMEOUT_EXPIRED);
	} while (requests < 2);
	/* The requests are still there, and nothing waits for their answers. */
	for (int i = 0; i < requests; i++)
		dt_ok(dat_cr_accept(dt_datagram_request(&pair.b), pair.b.ep, 0, NULL));
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

/* clause: d.0.19 */
TEST(lookups__under_way__end_with_their_endpoint)
{
	DAT_EP_HANDLE ep;

	ud_open(DT_SEPARATE);
	for (int i = 0; i < 3; i++)
		dt_connect(&pair.a, &pair.b, NULL, 0);
	(void)dt_datagram_request(&pair.b);
	dt_ok(dat_ep_free(pair.a.ep));
	dt_assert_stays_empty(pair.a.connect);
	ep = pair.a.ep = ud_ep(&pair.a);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_ia_close(pair.a.ia, DAT_CLOSE_ABRUPT_FLAG));
	dt_assert_ret(dat_ep_free(ep), BAD_EP);
	dt_side_close(&pair.b);
}

/* origin: outside.86 */
/* clause: f.2.9 */
TEST(service_point__made_before_the_endpoint__takes_its_requests)
{
	enum { MANY = 130 }; /* twice as many as are looked at in one go, and two */
	DAT_IB_ADDR_HANDLE to_a, to_b;
	DAT_CONN_QUAL quals[MANY];
	DAT_PSP_HANDLE psps[MANY];

	dt_side_open(&pair.a, "soft", DT_SEPARATE);
	dt_side_open(&pair.b, "soft", DT_SEPARATE);
	pair.b.cr = dt_evd(&pair.b, DAT_EVD_CR_FLAG, 8);
	for (int i = 0; i < MANY; i++)
		dt_ok(dat_psp_create_any(
		    pair.b.ia, &quals[i], pair.b.cr, DAT_PSP_CONSUMER_FLAG, &psps[i]));
	pair.a.ep = ud_ep(&pair.a);
	pair.b.ep = ud_ep(&pair.b);
	for (int i = 0; i < MANY; i++) {
		pair.b.psp = psps[i];
		pair.b.qual = quals[i];
		ud_meet(&to_b, &to_a, false);
	}
	dt_pair_close(&pair);
}

/* origin: outside.83 */
/* clause: f.2.10 */
TEST(lookups__under_way__end_with_a_disconnect)
{
	DAT_IB_ADDR_HANDLE to_a, to_b;
	DAT_CR_HANDLE cr;

	ud_open(DT_SEPARATE);
	ud_meet(&to_b, &to_a, false);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	cr = dt_datagram_request(&pair.b);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED, pair.a.ep);
	dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	dt_assert_stays_empty(pair.a.connect);
	dt_pair_close(&pair);
}

/*
 * The timer of the endpoint was set for the end of the lookup.  From the call on it looks for the
 * completions of the requests, which were not polled yet.
 */
/* origin: outside.90 */
/* clause: f.2.10 */
TEST(lookups__under_way__end_with_a_graceful_disconnect)
{
	DAT_IB_ADDR_HANDLE to_a, to_b;
	DAT_CR_HANDLE cr;

	ud_open(DT_SEPARATE);
	for (int round = 0; round < 3; round++) {
		ud_meet(&to_b, &to_a, false);
		dt_ok(dat_ep_connect(pair.a.ep, dt_address(pair.b.ia), pair.b.qual, 60000000, 0,
		    NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
		cr = dt_datagram_request(&pair.b);
		for (DAT_UINT64 cookie = 0; cookie < 3; cookie++)
			dt_ok(ud_try_send(&pair.a, 8, cookie, &to_b));
		dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_GRACEFUL_FLAG));
		dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED, pair.a.ep);
		for (DAT_UINT64 cookie = 0; cookie < 3; cookie++)
			ud_expect_dto(pair.a.request, pair.a.ep, cookie, DAT_IB_DTO_SEND_UD,
			    DAT_DTO_SUCCESS, 8);
		dt_ok(dat_cr_reject(cr, 0, NULL));
		dt_assert_empty(pair.a.connect);
		dt_ok(dat_ep_reset(pair.a.ep));
	}
	dt_pair_close(&pair);
}

/* clause: f.2.9 */
TEST(accept__an_endpoint_of_the_other_service__is_refused)
{
	const DAT_EP_HANDLE connected = (dt_side_open(&pair.a, "soft", DT_SEPARATE),
	    dt_side_open(&pair.b, "soft", DT_SEPARATE), dt_ep(&pair.b, NULL));
	DAT_CR_HANDLE cr;

	pair.a.ep = ud_ep(&pair.a);
	pair.b.ep = ud_ep(&pair.b);
	dt_side_listen(&pair.b);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	cr = dt_datagram_request(&pair.b);
	dt_assert_ret(dat_cr_accept(cr, connected, 0, NULL), BAD_EP);
	dt_ok(dat_cr_accept(cr, pair.b.ep, 0, NULL));
	(void)ud_established(&pair.b, DAT_IB_UD_PASSIVE_REMOTE_AH, NULL);
	dt_ok(dat_ep_free(pair.a.ep));
	pair.a.ep = dt_ep(&pair.a, NULL);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	cr = dt_request(&pair.b);
	dt_assert_ret(dat_cr_accept(cr, pair.b.ep, 0, NULL), BAD_EP);
	dt_ok(dat_cr_accept(cr, connected, 0, NULL));
	dt_pair_close(&pair);
}

/* origin: outside.84 */
/* clause: f.2.8 */
TEST(address_handle__freed_or_of_another__is_refused)
{
	DAT_IB_ADDR_HANDLE to_a, to_b, none = { 0 };

	ud_open(DT_SEPARATE);
	ud_meet(&to_b, &to_a, false);
	dt_assert_ret(ud_try_send(&pair.a, 8, 1, &none), PARAMETER(5));
	dt_assert_ret(ud_try_send(&pair.a, 8, 1, NULL), PARAMETER(5));
	dt_assert_ret(ud_try_send(&pair.a, 8, 1, &to_a), PARAMETER(5));
	dt_assert_ret(dat_ib_ud_ah_free(pair.a.ep, &to_a), PARAMETER(3));
	dt_assert_ret(dat_ib_ud_ah_free(pair.a.ep, NULL), PARAMETER(3));
	dt_assert_ret(dat_ib_ud_ah_free(pair.a.pz, &to_b), BAD_EP);
	dt_ok(dat_ib_ud_ah_free(pair.a.ep, &to_b));
	dt_assert_ret(dat_ib_ud_ah_free(pair.a.ep, &to_b), PARAMETER(3));
	dt_assert_ret(ud_try_send(&pair.a, 8, 1, &to_b), PARAMETER(5));
	dt_assert_empty(pair.a.request);
	/* Those that are left do not keep the protection zone. */
	dt_ok(dat_ep_free(pair.b.ep));
	dt_ok(dat_lmr_free(pair.b.lmr));
	dt_ok(dat_pz_free(pair.b.pz));
	dt_pair_close(&pair);
}

/* clause: f.2.3, f.2.8 */
TEST(calls__that_need_the_other_service__are_not_supported)
{
	DAT_EP_ATTR attr = ud_attr(4);
	DAT_SRQ_ATTR srq_attr = { 4, 1, 0 };
	DAT_IB_ADDR_HANDLE to_a, to_b;
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	DAT_EP_PARAM param;
	DAT_SRQ_HANDLE srq;
	DAT_EP_HANDLE ep;
	struct dt_pair rc;

	ud_open(DT_SEPARATE);
	local = dt_local(&pair.a, 0, 8);
	remote = dt_remote(&pair.b, 0, 8);
	/* Without an address there is nothing that a request could go to. */
	dt_assert_type(ud_try_send(&pair.a, 8, 1, &(DAT_IB_ADDR_HANDLE){ 0 }), DAT_INVALID_STATE);
	ud_meet(&to_b, &to_a, false);
	dt_assert_ret(dat_ep_post_send(pair.a.ep, 1, &local, dt_cookie(1), DEFAULT), MODEL);
	dt_assert_ret(
	    dat_ep_post_rdma_write(pair.a.ep, 1, &local, dt_cookie(1), &remote, DEFAULT), MODEL);
	dt_assert_ret(
	    dat_ib_post_rdma_write_immed(pair.a.ep, 1, &local, dt_cookie(1), &remote, 1, DEFAULT),
	    MODEL);
	/* Whatever its length. */
	remote = dt_remote(&pair.b, 0, 4);
	dt_assert_ret(
	    dat_ep_post_rdma_write(pair.a.ep, 1, &local, dt_cookie(1), &remote, DEFAULT), MODEL);
	remote.segment_length = 16;
	dt_assert_ret(
	    dat_ep_post_rdma_read(pair.a.ep, 1, &local, dt_cookie(1), &remote, DEFAULT), MODEL);
	dt_assert_ret(
	    dat_ib_post_send_ud(pair.a.ep, -1, &local, &to_b, dt_cookie(1), DEFAULT), PARAMETER(3));
	dt_assert_ret(
	    dat_ib_post_send_ud(pair.a.ep, 1, NULL, &to_b, dt_cookie(1), DEFAULT), PARAMETER(4));
	dt_assert_ret(dat_ib_post_send_ud(
			  pair.a.ep, 1, &local, &to_b, dt_cookie(1), (DAT_COMPLETION_FLAGS)0x4000),
	    PARAMETER(7));
	dt_assert_ret(dat_ib_ud_cm_free(pair.a.ep, to_b.ah), DAT_SUCCESS);
	dt_assert_ret(dat_ib_ud_cm_free(pair.a.ep, (void *)NULL), PARAMETER(3));
	dt_assert_ret(dat_ib_ud_cm_free(pair.a.ia, to_b.ah), BAD_EP);

	/* The attribute: its limits, and that it stays. */
	dt_ok(dat_ep_query(pair.a.ep, DAT_EP_FIELD_ALL, &param));
	ck_assert_int_eq((int)param.ep_attr.service_type, DAT_IB_SERVICE_TYPE_UD);
	attr.max_message_size = ud_longest(&pair.a) + 1;
	dt_assert_ret(dat_ep_create(pair.a.ia, pair.a.pz, pair.a.recv, pair.a.request,
			  pair.a.connect, &attr, &ep),
	    PARAMETER(6));
	attr.max_message_size = 0;
	dt_ok(dat_srq_create(pair.a.ia, pair.a.pz, &srq_attr, &srq));
	dt_assert_ret(dat_ep_create_with_srq(pair.a.ia, pair.a.pz, pair.a.recv, pair.a.request,
			  pair.a.connect, srq, &attr, &ep),
	    PARAMETER(7));
	ep = ud_ep(&pair.a);
	param.ep_attr.service_type = DAT_SERVICE_TYPE_RC;
	dt_assert_ret(dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, &param), PARAMETER(3));

	dt_pair_open(&rc, DT_SEPARATE);
	dt_connect_pair(&rc);
	local = dt_local(&rc.a, 0, 8);
	dt_assert_ret(dat_ib_post_send_ud(rc.a.ep, 1, &local, &to_b, dt_cookie(1), DEFAULT), MODEL);
	dt_assert_ret(dat_ib_ud_ah_free(rc.a.ep, &to_b), MODEL);
	dt_pair_close(&rc);
	dt_pair_close(&pair);
}

/* clause: f.2.8 */
TEST(datagram__longer_than_a_packet__is_a_length_error)
{
	DAT_IB_ADDR_HANDLE to_a, to_b;
	DAT_LMR_TRIPLET local[2];
	DAT_VLEN longest;

	ud_open(DT_SEPARATE);
	ud_meet(&to_b, &to_a, false);
	longest = ud_longest(&pair.a);
	local[0] = dt_local(&pair.a, 0, longest);
	local[1] = dt_local(&pair.a, 0, 1);
	dt_assert_ret(dat_ib_post_send_ud(pair.a.ep, 2, local, &to_b, dt_cookie(1), DEFAULT),
	    DAT_ERROR(DAT_LENGTH_ERROR, DAT_NO_SUBTYPE));
	/* The longest one, which no receive takes: it is lost, and the request succeeds. */
	dt_ok(dat_ib_post_send_ud(pair.a.ep, 1, local, &to_b, dt_cookie(2), DEFAULT));
	ud_expect_dto(pair.a.request, pair.a.ep, 2, DAT_IB_DTO_SEND_UD, DAT_DTO_SUCCESS, longest);
	dt_assert_empty(pair.b.recv);
	dt_pair_close(&pair);
}

/* clause: f.2.10 */
TEST_LOOP(disconnect__flushes_and_reset_begins_anew, 2)
{
	DAT_IB_ADDR_HANDLE to_a, to_b;

	ud_open(DT_SEPARATE);
	dt_recv(&pair.a, 512, GRH + 8, 3);
	dt_assert_type(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG), DAT_INVALID_STATE);
	ud_meet(&to_b, &to_a, false);
	dt_ok(dat_ep_disconnect(pair.a.ep, _i ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED, pair.a.ep);
	ud_expect_dto(pair.a.recv, pair.a.ep, 3, DAT_IB_DTO_RECV_UD, DAT_DTO_ERR_FLUSHED, 0);
	dt_ok(ud_try_send(&pair.a, 8, 4, &to_b));
	ud_expect_dto(pair.a.request, pair.a.ep, 4, DAT_IB_DTO_SEND_UD, DAT_DTO_ERR_FLUSHED, 0);
	/* The other end hears nothing of that: what it sends is lost. */
	dt_ok(ud_try_send(&pair.b, 8, 5, &to_a));
	ud_expect_dto(pair.b.request, pair.b.ep, 5, DAT_IB_DTO_SEND_UD, DAT_DTO_SUCCESS, 8);
	ck_assert_int_eq(dt_state(pair.b.ep), DAT_EP_STATE_CONNECTED);
	dt_ok(dat_ep_reset(pair.a.ep));
	dt_assert_type(ud_try_send(&pair.a, 8, 6, &to_b), DAT_INVALID_STATE);
	dt_recv(&pair.b, 512, GRH + 8, 7);
	ud_meet(&to_b, &to_a, false);
	dt_ok(ud_try_send(&pair.a, 8, 8, &to_b));
	ud_expect_dto(pair.b.recv, pair.b.ep, 7, DAT_IB_DTO_RECV_UD, DAT_DTO_SUCCESS, GRH + 8);
	dt_pair_close(&pair);
}

/* clause: f.2.5 */
TEST(counters__of_datagrams)
{
	DAT_UINT64 ia[DCNT_IA_ALL_COUNTERS], a[DCNT_EP_ALL_COUNTERS], b[DCNT_EP_ALL_COUNTERS];
	DAT_IB_ADDR_HANDLE to_a, to_b;

	ud_open(DT_SEPARATE);
	dt_recv(&pair.b, 512, GRH + 20, 1);
	ud_meet(&to_b, &to_a, false);
	dt_ok(ud_try_send(&pair.a, 10, 2, &to_b));
	ud_expect_dto(pair.b.recv, pair.b.ep, 1, DAT_IB_DTO_RECV_UD, DAT_DTO_SUCCESS, GRH + 10);
	dt_ok(dat_ib_query_counters(pair.a.ep, DCNT_EP_ALL_COUNTERS, a, 0));
	dt_ok(dat_ib_query_counters(pair.b.ep, DCNT_EP_ALL_COUNTERS, b, 0));
	ck_assert_uint_eq(a[DCNT_EP_CONNECT], 1);
	ck_assert_uint_eq(a[DCNT_EP_POST_SEND_UD], 1);
	ck_assert_uint_eq(a[DCNT_EP_POST_SEND_UD_DATA], 10);
	ck_assert_uint_eq(a[DCNT_EP_POST_SEND], 0);
	ck_assert_uint_eq(b[DCNT_EP_POST_RECV], 1);
	ck_assert_uint_eq(b[DCNT_EP_RECV_UD], 1);
	ck_assert_uint_eq(b[DCNT_EP_RECV_UD_DATA], GRH + 10);
	dt_ok(dat_ib_query_counters(pair.a.ia, DCNT_IA_ALL_COUNTERS, ia, 0));
	ck_assert_uint_eq(ia[DCNT_IA_CM_AH_REQ_TX], 1);
	ck_assert_uint_eq(ia[DCNT_IA_CM_AH_RESOLVED], 1);
	dt_ok(dat_ib_query_counters(pair.b.ia, DCNT_IA_ALL_COUNTERS, ia, 0));
	ck_assert_uint_eq(ia[DCNT_IA_CM_AH_REQ_RX], 1);
	ck_assert_uint_eq(ia[DCNT_IA_CM_REQ_RX], 0);
	ck_assert_uint_eq(ia[DCNT_IA_SP_CR_ACCEPTED], 1);
	dt_pair_close(&pair);
}
