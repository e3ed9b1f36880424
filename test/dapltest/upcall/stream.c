/* SPDX-License-Identifier: BSD-3-Clause */
/* Every stream makes upcalls: under each policy that calls, on each kind of device */

#include "lib/upcall_story.h"
#include "lib/runner.h"

#define EACH (UP_ENABLING * dt_personalities())

static DAT_UPCALL_POLICY
chosen(int index)
{
	dt_personality(index / UP_ENABLING);
	return up_policies[index % UP_ENABLING];
}

/* Under NORIFY the upcall dequeues the event, so that all tests get the events in the same way. */
static void
begin(struct up *up, DAT_UPCALL_POLICY policy)
{
	up_init(up);
	if (policy == DAT_UPCALL_NORIFY)
		up->act = up_drain;
}

/* How often an event with this number was noted; MANY may note in any order. */
static int
count_of(const struct up *up, DAT_EVENT_NUMBER number)
{
	int n = 0;

	for (int i = 0; i < up->noted; i++)
		n += up->notes[i].event.event_number == number;
	return n;
}

/* Each cookie from 0 to n-1 once, in order except under MANY, whose upcalls run in parallel. */
static void
assert_cookies(const struct up *up, DAT_UPCALL_POLICY policy, int n)
{
	bool seen[64] = { false };

	ck_assert_int_eq(up->noted, n);
	for (int i = 0; i < n; i++) {
		DAT_UINT64 value = up_value(&up->notes[i].event);

		ck_assert_uint_lt(value, (DAT_UINT64)n);
		ck_assert(!seen[value]);
		seen[value] = true;
		if (policy != DAT_UPCALL_MANY)
			ck_assert_uint_eq(value, (DAT_UINT64)i);
	}
}

static void
await_end(struct up *up, int noted)
{
	up_await_noted(up, noted);
	up_set(up, DAT_UPCALL_TEARDOWN);
	ck_assert_int_eq(up->noted, noted);
}

/* ---- completions ---- */

DT_CASE("stream:completions");

/* clause: c.14.32, c.14.4 */
TEST_LOOP(receives__each_makes_its_upcall, EACH)
{
	DAT_UPCALL_POLICY policy = chosen(_i);
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	struct dt_pair pair;
	DAT_EVENT event;
	struct up up;

	begin(&up, policy);
	up_connect(&up, &pair, policy, 12);
	for (DAT_UINT64 i = 0; i < 12; i++)
		dt_send(&pair.a, 0, 8, i);
	for (DAT_UINT64 i = 0; i < 12; i++)
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
	await_end(&up, 12);
	assert_cookies(&up, policy, 12);
	for (int i = 0; i < 12; i++) {
		dto = &up.notes[i].event.event_data.dto_completion_event_data;
		ck_assert_ptr_eq(dto->ep_handle, pair.b.ep);
		ck_assert_int_eq(dto->operation, DAT_DTO_RECEIVE);
		ck_assert_int_eq(dto->status, DAT_DTO_SUCCESS);
		ck_assert_uint_eq(dto->transfered_length, 8);
	}
	dt_pair_close(&pair);
}

/* clause: c.14.32 */
TEST_LOOP(requests__send_write_and_read_make_their_upcalls, EACH)
{
	DAT_UPCALL_POLICY policy = chosen(_i);
	DAT_LMR_TRIPLET local;
	DAT_RMR_TRIPLET remote;
	struct dt_pair pair;
	struct up up;

	begin(&up, policy);
	dt_pair_open(&pair, DT_SEPARATE);
	up_open(&up, &pair.a, policy, DAT_EVD_DTO_FLAG);
	pair.a.request = up.evd;
	pair.a.ep = dt_ep(&pair.a, NULL);
	for (DAT_UINT64 i = 0; i < 4; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_connect_pair(&pair);
	local = dt_local(&pair.a, 0, 32);
	remote = dt_remote(&pair.b, 512, 32);
	for (DAT_UINT64 i = 0; i < 12; i += 3) {
		dt_send(&pair.a, 0, 8, i);
		dt_ok(dat_ep_post_rdma_write(
		    pair.a.ep, 1, &local, dt_cookie(i + 1), &remote, DAT_COMPLETION_DEFAULT_FLAG));
		dt_ok(dat_ep_post_rdma_read(
		    pair.a.ep, 1, &local, dt_cookie(i + 2), &remote, DAT_COMPLETION_DEFAULT_FLAG));
	}
	await_end(&up, 12);
	assert_cookies(&up, policy, 12);
	dt_pair_close(&pair);
}

/* clause: c.14.32, e.2.3 */
TEST_LOOP(flushed_receives__each_makes_its_upcall, EACH)
{
	DAT_UPCALL_POLICY policy = chosen(_i);
	struct dt_pair pair;
	struct up up;

	begin(&up, policy);
	up_connect(&up, &pair, policy, 10);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&pair.b);
	await_end(&up, 10);
	assert_cookies(&up, policy, 10);
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(up.notes[i].event.event_data.dto_completion_event_data.status,
		    DAT_DTO_ERR_FLUSHED);
	dt_pair_close(&pair);
}

/* ---- connections ---- */

DT_CASE("stream:connections");

/* clause: c.14.32, e.1.16 */
TEST_LOOP(connection__established_then_disconnected, EACH)
{
	DAT_UPCALL_POLICY policy = chosen(_i);
	struct dt_pair pair;
	struct up up;

	begin(&up, policy);
	dt_pair_open(&pair, DT_SEPARATE);
	up_open(&up, &pair.b, policy, DAT_EVD_CONNECTION_FLAG);
	pair.b.connect = up.evd;
	pair.b.ep = dt_ep(&pair.b, NULL);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	up_await_noted(&up, 1);
	ck_assert_int_eq(count_of(&up, DAT_CONNECTION_EVENT_ESTABLISHED), 1);
	dt_expect_established(&pair.a);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	await_end(&up, 2);
	ck_assert_int_eq(count_of(&up, DAT_CONNECTION_EVENT_DISCONNECTED), 1);
	for (int i = 0; i < 2; i++)
		ck_assert_ptr_eq(
		    up.notes[i].event.event_data.connect_event_data.ep_handle, pair.b.ep);
	dt_pair_close(&pair);
}

/* clause: c.14.32, d.0.4, d.0.5 */
TEST_LOOP(connection__refused_by_the_peer_and_by_the_transport, UP_ENABLING)
{
	DAT_UPCALL_POLICY policy = up_policies[_i];
	struct dt_pair pair;
	struct up up;

	begin(&up, policy);
	dt_pair_open(&pair, DT_SEPARATE);
	up_open(&up, &pair.a, policy, DAT_EVD_CONNECTION_FLAG);
	pair.a.connect = up.evd;
	pair.a.ep = dt_ep(&pair.a, NULL);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_reject(dt_request(&pair.b), 0, NULL));
	up_await_noted(&up, 1);
	ck_assert_int_eq(count_of(&up, DAT_CONNECTION_EVENT_PEER_REJECTED), 1);
	dt_ok(dat_psp_free(pair.b.psp));
	pair.a.ep = dt_ep(&pair.a, NULL);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	await_end(&up, 2);
	ck_assert_int_eq(count_of(&up, DAT_CONNECTION_EVENT_NON_PEER_REJECTED), 1);
	dt_pair_close(&pair);
}

static void
accepts(struct up *up, const DAT_EVENT *event)
{
	struct dt_side *side = up->arg;
	DAT_EVENT next;

	if (!event) {
		dt_ok(dat_evd_dequeue(up->evd, &next));
		up_note_taken(up, &next);
		event = &next;
	}
	dt_ok(dat_cr_accept(event->event_data.cr_arrival_event_data.cr_handle, side->ep, 0, NULL));
}

/* clause: c.14.32, c.14.24, d.0.2 */
TEST_LOOP(connection_request__accepted_in_its_upcall, EACH)
{
	DAT_UPCALL_POLICY policy = chosen(_i);
	struct dt_side a, b;
	struct up up;

	up_init(&up);
	up.act = accepts;
	up.arg = &b;
	dt_side_open(&a, "soft", DT_SEPARATE);
	dt_side_open(&b, "soft", DT_SEPARATE);
	up_open(&up, &b, policy, DAT_EVD_CR_FLAG);
	dt_ok(dat_psp_create_any(b.ia, &b.qual, up.evd, DAT_PSP_CONSUMER_FLAG, &b.psp));
	dt_connect(&a, &b, NULL, 0);
	dt_expect_established(&a);
	dt_expect_established(&b);
	await_end(&up, 1);
	ck_assert_int_eq(count_of(&up, DAT_CONNECTION_REQUEST_EVENT), 1);
	dt_side_close(&a);
	dt_side_close(&b);
}

/* ---- software and asynchronous events ---- */

DT_CASE("stream:others");

/* clause: c.14.32 */
TEST_LOOP(software__each_makes_its_upcall_also_beside_a_device_queue, EACH)
{
	DAT_UPCALL_POLICY policy = chosen(_i);
	struct dt_side side;
	struct up up;

	begin(&up, policy);
	dt_side_open(&side, "soft", DT_SEPARATE);
	up_open(&up, &side, policy, DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DEFAULT_FLAG);
	for (uintptr_t i = 0; i < 30; i++)
		dt_post_se(up.evd, i);
	await_end(&up, 30);
	assert_cookies(&up, policy, 30);
	dt_side_close(&side);
}

/* clause: c.14.32, d.0.11 */
TEST_LOOP(async__an_overflow_of_another_evd_makes_an_upcall, UP_ENABLING)
{
	DAT_UPCALL_POLICY policy = up_policies[_i];
	struct dt_side a, b;
	DAT_EVD_HANDLE small;
	DAT_EVD_PARAM param;
	struct up up;

	begin(&up, policy);
	dt_side_open(&a, "soft", DT_SEPARATE);
	dt_side_open(&b, "soft", DT_SEPARATE);
	/* The adapter's own async EVD, which can have upcalls like any EVD. */
	up.ia = b.ia;
	up.evd = b.async;
	dt_ok(dat_evd_modify_upcall(up.evd, policy, &up.object, DAT_UPCALL_INVOC_NEW));
	small = dt_evd(&b, DAT_EVD_CR_FLAG, 1);
	dt_ok(dat_evd_query(small, DAT_EVD_FIELD_ALL, &param));
	dt_ok(dat_psp_create_any(b.ia, &b.qual, small, DAT_PSP_CONSUMER_FLAG, &b.psp));
	for (int i = 0; i <= param.evd_qlen; i++) {
		a.ep = dt_ep(&a, NULL);
		dt_connect(&a, &b, NULL, 0);
	}
	await_end(&up, 1);
	ck_assert_int_eq(count_of(&up, DAT_ASYNC_ERROR_EVD_OVERFLOW), 1);
	ck_assert_ptr_eq(up.notes[0].event.event_data.asynch_error_event_data.dat_handle, small);
	dt_side_close(&a);
	dt_side_close(&b);
}

/* ---- all on one EVD ---- */

DT_CASE("stream:merged");

/* clause: c.14.32, d.4.2, d.4.3, d.4.4 */
TEST_LOOP(merged__established_receives_disconnected__in_this_order, EACH)
{
	enum { MESSAGES = 12 };
	DAT_UPCALL_POLICY policy = chosen(_i);
	struct dt_pair pair;
	DAT_EVENT event;
	struct up up;

	begin(&up, policy);
	dt_pair_open(&pair, DT_SEPARATE);
	up_open(&up, &pair.b, policy,
	    DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_SOFTWARE_FLAG);
	pair.b.recv = pair.b.connect = up.evd;
	pair.b.ep = dt_ep(&pair.b, NULL);
	for (DAT_UINT64 i = 0; i < MESSAGES; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(&pair.b), pair.b.ep, 0, NULL));
	dt_expect_established(&pair.a);
	for (DAT_UINT64 i = 0; i < MESSAGES; i++)
		dt_send(&pair.a, 0, 8, i);
	for (DAT_UINT64 i = 0; i < MESSAGES; i++)
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	await_end(&up, MESSAGES + 2);
	ck_assert_int_eq(count_of(&up, DAT_DTO_COMPLETION_EVENT), MESSAGES);
	ck_assert_int_eq(count_of(&up, DAT_CONNECTION_EVENT_ESTABLISHED), 1);
	ck_assert_int_eq(count_of(&up, DAT_CONNECTION_EVENT_DISCONNECTED), 1);
	if (policy != DAT_UPCALL_MANY) {
		ck_assert_int_eq(up.notes[0].event.event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
		for (int i = 0; i < MESSAGES; i++)
			ck_assert_uint_eq(up_value(&up.notes[i + 1].event), (DAT_UINT64)i);
		ck_assert_int_eq(
		    up.notes[MESSAGES + 1].event.event_number, DAT_CONNECTION_EVENT_DISCONNECTED);
	}
	dt_pair_close(&pair);
}

/* clause: c.14.32, c.14.35 */
TEST(several_adapters__each_has_threads_of_its_own)
{
	static struct up ups[3];
	struct dt_side sides[3];

	for (int i = 0; i < 3; i++) {
		begin(&ups[i], DAT_UPCALL_SINGLE_INSTANCE);
		dt_side_open(&sides[i], "soft", DT_SEPARATE);
		up_open(&ups[i], &sides[i], DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
		ups[i].gate = true;
		dt_post_se(ups[i].evd, 0);
	}
	for (int i = 0; i < 3; i++)
		up_await_inside(&ups[i], 1); /* all three at once */
	for (int i = 0; i < 3; i++)
		ups[i].gate = false;
	for (int i = 0; i < 3; i++) {
		up_await_returned(&ups[i], 1);
		dt_side_close(&sides[i]);
	}
}
