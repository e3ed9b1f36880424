/* SPDX-License-Identifier: BSD-3-Clause */
/* The private data of an answer, which the connection manager pads with zeros. */
#include "fault/fault.h"
#include "device.h"

#define GIVEN 56   /* by the consumer; the device adds zeros */
#define PADDED 148 /* what the device makes of every rejection */
#define VERSION 4  /* bytes of a rejection that are the provider's own */

static char data[256];

/* A pair whose first side waits for an answer.  The answer will have so many bytes. */
static DAT_CR_HANDLE
ask(struct dt_pair *pair, int length)
{
	for (int i = 0; i < GIVEN; i++)
		data[i] = (char)(i * 7 + 1);
	dt_side_open(&pair->a, "faulty", DT_SEPARATE);
	dt_side_open(&pair->b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair->b);
	dt_connect(&pair->a, &pair->b, NULL, 0);
	fault_cm_answer_length(length);
	return dt_request(&pair->b);
}

static void
expect_data(const struct dt_side *side, DAT_EVENT_NUMBER number, bool active, int length)
{
	const DAT_CONNECTION_EVENT_DATA *got;
	DAT_EVENT event;

	dt_expect(side->connect, number, &event);
	got = &event.event_data.connect_event_data;
	ck_assert_ptr_eq(got->ep_handle, side->ep);
	ck_assert_int_eq(got->private_data_size, length);
	ck_assert_int_eq(got->private_data != NULL, active);
	if (length)
		ck_assert_mem_eq(got->private_data, data, (size_t)length);
}

static void
end(struct dt_pair *pair)
{
	fault_cm_answer_length(-1);
	dt_pair_close(pair);
}

static const int accepted[] = { 0, 1, 3, 4, GIVEN, 100, 196 };

DEVICE_CASE("answer:answer");

/* clause: d.0.3, e.4.1, e.4.3 */
/* origin: out33.R3 */
TEST_LOOP(
    established__answer_of_any_length__event_has_just_that, sizeof accepted / sizeof accepted[0])
{
	struct dt_pair pair;
	const DAT_CR_HANDLE cr = ask(&pair, accepted[_i]);

	dt_ok(dat_cr_accept(cr, pair.b.ep, GIVEN, data));
	expect_data(&pair.a, DAT_CONNECTION_EVENT_ESTABLISHED, true, accepted[_i]);
	/* The other end has the request's data from the request alone. */
	expect_data(&pair.b, DAT_CONNECTION_EVENT_ESTABLISHED, false, 0);
	dt_ok(dat_ep_disconnect(pair.b.ep, DAT_CLOSE_ABRUPT_FLAG));
	expect_data(&pair.a, DAT_CONNECTION_EVENT_DISCONNECTED, true, 0);
	expect_data(&pair.b, DAT_CONNECTION_EVENT_DISCONNECTED, false, 0);
	end(&pair);
}

static const int rejected[] = { 4, 5, 60, PADDED };

/* clause: d.0.4, e.3.8, e.4.3 */
TEST_LOOP(rejected__answer_of_any_length__event_has_what_the_consumer_gave,
    sizeof rejected / sizeof rejected[0])
{
	struct dt_pair pair;
	const DAT_CR_HANDLE cr = ask(&pair, rejected[_i]);

	dt_ok(dat_cr_reject(cr, GIVEN, data));
	expect_data(&pair.a, DAT_CONNECTION_EVENT_PEER_REJECTED, true,
	    rejected[_i] == PADDED ? PADDED : rejected[_i] - VERSION);
	end(&pair);
}

/* As programs that use the connection manager without DAT reject. */
/* clause: d.0.4, e.4.3, e.5.2 */
TEST_LOOP(rejected__without_the_version__is_the_peers_doing_if_it_has_data, 2)
{
	struct dt_pair pair;
	const DAT_CR_HANDLE cr = ask(&pair, PADDED);

	if (!_i)
		memset(data, 0, sizeof data);
	data[0] = 0;
	fault_cm_answer_data(data, PADDED);
	dt_ok(dat_cr_reject(cr, 0, NULL));
	expect_data(&pair.a,
	    _i ? DAT_CONNECTION_EVENT_PEER_REJECTED : DAT_CONNECTION_EVENT_NON_PEER_REJECTED, true,
	    PADDED);
	fault_cm_answer_data(NULL, 0);
	end(&pair);
}
