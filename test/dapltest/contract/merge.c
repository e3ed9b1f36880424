/* SPDX-License-Identifier: BSD-3-Clause */
/* Clauses c.2.8 and d.4: every pair of streams in one EVD; each delivers. */
#include "fault/fault.h"
#include "lib/contract.h"

#define STREAMS 6

static const DAT_EVD_FLAGS stream[STREAMS] = { DAT_EVD_SOFTWARE_FLAG, DAT_EVD_CR_FLAG,
	DAT_EVD_DTO_FLAG, DAT_EVD_CONNECTION_FLAG, DAT_EVD_RMR_BIND_FLAG, DAT_EVD_ASYNC_FLAG };

#define LOG_MAX 64

/* The events taken from the merged EVD, in order. */
struct merge {
	struct dt_side a, b;
	DAT_EVD_FLAGS flags;
	DAT_EVD_HANDLE evd;
	DAT_IA_HANDLE second; /* its asynchronous events go to the merged EVD */
	DAT_EVENT log[LOG_MAX];
	int n;
};

static DAT_EVD_HANDLE
evd_for(const struct merge *m, DAT_EVD_FLAGS flag)
{
	return m->flags & flag ? m->evd : dt_evd(&m->b, flag, 16);
}

static void
begin(struct merge *m, DAT_EVD_FLAGS flags)
{
	DAT_EVD_HANDLE async;

	memset(m, 0, sizeof *m);
	dt_side_open(&m->a, contract_device(), DT_SEPARATE);
	dt_side_open(&m->b, contract_device(), DT_SEPARATE);
	m->flags = flags;
	m->evd = dt_evd(&m->b, flags, 32);
	ck_assert_int_eq(contract_query(m->evd).evd_flags, flags);
	dt_ok(dat_ep_free(m->b.ep));
	m->b.recv = evd_for(m, DAT_EVD_DTO_FLAG);
	m->b.request = m->b.recv;
	m->b.connect = evd_for(m, DAT_EVD_CONNECTION_FLAG);
	m->b.cr = evd_for(m, DAT_EVD_CR_FLAG);
	m->b.ep = dt_ep(&m->b, NULL);
	dt_ok(dat_psp_create_any(m->b.ia, &m->b.qual, m->b.cr, DAT_PSP_CONSUMER_FLAG, &m->b.psp));
	async = evd_for(m, DAT_EVD_ASYNC_FLAG);
	dt_ok(dat_ia_open((DAT_NAME_PTR)(uintptr_t)contract_device(), 8, &async, &m->second));
}

static void
end(struct merge *m)
{
	dt_close(m->second);
	dt_side_close(&m->a);
	dt_side_close(&m->b);
}

/* Takes events of the merged EVD until one has this number; it stays in the log. */
static const DAT_EVENT *
await(struct merge *m, DAT_EVENT_NUMBER number)
{
	for (int i = 0; i < m->n; i++)
		if (m->log[i].event_number == number)
			return &m->log[i];
	do {
		ck_assert_int_lt(m->n, LOG_MAX);
		dt_next(m->evd, &m->log[m->n++]);
	} while (m->log[m->n - 1].event_number != number);
	return &m->log[m->n - 1];
}

static DAT_EVENT
take(struct merge *m, DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number)
{
	DAT_EVENT event;

	if (evd == m->evd)
		return *await(m, number);
	dt_expect(evd, number, &event);
	return event;
}

static int
place(const struct merge *m, DAT_EVENT_NUMBER number)
{
	int found = -1;

	for (int i = 0; i < m->n; i++)
		if (m->log[i].event_number == number) {
			ck_assert_msg(found < 0, "event 0x%x came twice", number);
			found = i;
		}
	return found;
}

/* An asynchronous event about the second adapter: a failing port where a test can raise that. */
static DAT_EVENT_NUMBER
async_number(void)
{
	return dt_is_soft() ? DAT_ASYNC_ERROR_IA_CATASTROPHIC : DAT_ASYNC_ERROR_EVD_OVERFLOW;
}

static DAT_HANDLE
raise_async(struct merge *m)
{
	if (!dt_is_soft())
		return contract_overflow(&m->a, m->second);
	fault_raise(IBV_EVENT_PORT_ERR, NULL);
	return m->second;
}

/* Each stream of the EVD delivers one event, or all events of a connection. */
static void
everything_happens(struct merge *m)
{
	DAT_HANDLE about;
	DAT_EVENT event;

	if (m->flags & DAT_EVD_SOFTWARE_FLAG)
		dt_post_se(m->evd, 1);
	dt_recv(&m->b, 0, 64, 7);
	dt_connect(&m->a, &m->b, NULL, 0);
	event = take(m, m->b.cr, DAT_CONNECTION_REQUEST_EVENT);
	dt_ok(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, m->b.ep, 0, NULL));
	dt_expect_established(&m->a);
	dt_send(&m->a, 0, 64, 1);
	event = take(m, m->b.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
	ck_assert_ptr_eq(event.event_data.connect_event_data.ep_handle, m->b.ep);
	event = take(m, m->b.recv, DAT_DTO_COMPLETION_EVENT);
	ck_assert_uint_eq(event.event_data.dto_completion_event_data.user_cookie.as_64, 7);
	ck_assert_int_eq(event.event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
	if (m->flags & DAT_EVD_ASYNC_FLAG) {
		about = raise_async(m);
		event = take(m, m->evd, async_number());
		ck_assert_ptr_eq(event.event_data.asynch_error_event_data.dat_handle, about);
	}
	dt_ok(dat_ep_disconnect(m->a.ep, DAT_CLOSE_ABRUPT_FLAG));
	event = take(m, m->b.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
	ck_assert_ptr_eq(event.event_data.connect_event_data.ep_handle, m->b.ep);
}

static void
each_came_once_and_in_order(const struct merge *m)
{
	const int request = place(m, DAT_CONNECTION_REQUEST_EVENT);
	const int established = place(m, DAT_CONNECTION_EVENT_ESTABLISHED);
	const int dto = place(m, DAT_DTO_COMPLETION_EVENT);
	const int disconnected = place(m, DAT_CONNECTION_EVENT_DISCONNECTED);
	const int software = place(m, DAT_SOFTWARE_EVENT);
	const int async = place(m, async_number());
	int expected = 0;

	if (m->flags & DAT_EVD_SOFTWARE_FLAG) {
		ck_assert_int_eq(software, 0);
		expected++;
	}
	if (m->flags & DAT_EVD_CR_FLAG) {
		ck_assert_int_ge(request, 0);
		expected++;
	}
	if (m->flags & DAT_EVD_CONNECTION_FLAG) {
		ck_assert_int_gt(established, request);
		ck_assert_int_gt(disconnected, established);
		ck_assert_int_gt(disconnected, dto);
		ck_assert_int_gt(disconnected, async);
		expected += 2;
	}
	if (m->flags & DAT_EVD_DTO_FLAG) {
		ck_assert_int_gt(dto, established);
		ck_assert_int_gt(dto, request);
		expected++;
	}
	if (m->flags & DAT_EVD_ASYNC_FLAG) {
		ck_assert_int_gt(async, dto);
		expected++;
	}
	ck_assert_int_eq(m->n, expected);
}

DT_CASE("c.2-merge:merge", .teardown = fault_clear);

/* clause: c.2.8, d.4.2, d.4.3, d.4.4 */
TEST_LOOP(merge__of_two_streams__each_delivers_once_and_in_order, STREAMS *STREAMS)
{
	static struct merge m;

	begin(&m, stream[_i / STREAMS] | stream[_i % STREAMS]);
	everything_happens(&m);
	if (m.flags & DAT_EVD_SOFTWARE_FLAG)
		(void)take(&m, m.evd, DAT_SOFTWARE_EVENT);
	dt_assert_stays_empty(m.evd);
	each_came_once_and_in_order(&m);
	end(&m);
}

/* clause: c.2.8, d.4.2, d.4.3, d.4.4 */
TEST_LOOP(merge__of_all_streams__in_every_personality, dt_personalities())
{
	static struct merge m;
	DAT_EVD_FLAGS all = 0;

	dt_personality(_i);
	for (int i = 0; i < STREAMS; i++)
		all |= stream[i];
	begin(&m, all);
	everything_happens(&m);
	dt_assert_stays_empty(m.evd);
	each_came_once_and_in_order(&m);
	end(&m);
}

/* clause: c.2.8 */
TEST(merge__the_attributes_say_so)
{
	DAT_PROVIDER_ATTR attr = { 0 };
	struct dt_side side;

	contract_side(&side, 0);
	dt_ok(dat_ia_query(side.ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &attr));
	for (int i = 0; i < STREAMS; i++)
		for (int j = 0; j < STREAMS; j++)
			ck_assert_int_eq(attr.evd_stream_merging_supported[i][j], DAT_TRUE);
	dt_side_close(&side);
}
