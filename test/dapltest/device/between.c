/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between two lock sections of an attempt to connect, or of the refusal of a request, another
 * thread uses the same objects.  Each attempt has its event, and nothing stays as if it went on.
 */
#include <pthread.h>
#include <stdatomic.h>

#include <dat2/dat_ib_extensions.h>

#include "fault/fault.h"
#include "device.h"

#define NOTICED_MS 5 /* a call that does not wait for the interrupted one has mostly returned */
#define WINDOWS_MAX 200
#define MESSAGES 4

static struct dt_pair pair;
static DAT_RETURN intruder_ret;
static pthread_t intruder_thread;
static bool apart;	     /* the intruder has a thread of its own */
static atomic_bool returned; /* it has returned, on that thread */

static void *
run_apart(void *call)
{
	DAT_RETURN (**intrude)(void) = call;

	intruder_ret = (*intrude)();
	returned = true;
	return NULL;
}

/* A call that waits for the interrupted one goes on beside it. */
static void
intrude_apart(DAT_RETURN (**call)(void))
{
	apart = true;
	returned = false;
	ck_assert_int_eq(pthread_create(&intruder_thread, NULL, run_apart, call), 0);
	dt_nap_ms(NOTICED_MS);
}

static bool
has_come(void)
{
	const bool came = !fault_window_missed();

	if (apart)
		ck_assert_int_eq(pthread_join(intruder_thread, NULL), 0);
	apart = false;
	return came;
}

static void
sweep(bool (*play)(int n))
{
	int n = 1;

	while (play(n))
		ck_assert_int_lt(n++, WINDOWS_MAX);
	ck_assert_int_gt(n, 2); /* it met windows */
}

/* The events that are queued, or come soon; no other follows the end of a connection. */
static int
count_events(DAT_EVD_HANDLE evd)
{
	bool disconnected = false;
	DAT_EVENT event;
	DAT_COUNT more;
	int n;

	for (n = 0; dat_evd_wait(evd, 20000, 1, &event, &more) == DAT_SUCCESS; n++) {
		ck_assert(!disconnected);
		disconnected = event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED;
	}
	return n;
}

/* ---- an attempt to connect, and another call on the endpoint ---- */

enum scene {
	STREAM,
	DATAGRAMS,
	DATAGRAMS_MET, /* it has the address of another endpoint, and so is CONNECTED */
	SCENES,
};

static enum scene scene;
static void (*intruder)(void);

static void
connect_too(void)
{
	intruder_ret = device_try_connect(&pair);
}

static void
disconnect_it(void)
{
	intruder_ret = dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG);
}

static DAT_RETURN
reset_call(void)
{
	return dat_ep_reset(pair.a.ep);
}

static void
reset_it(void)
{
	static DAT_RETURN (*call)(void) = reset_call;

	intrude_apart(&call);
}

static DAT_RETURN
free_call(void)
{
	return dat_ep_free(pair.a.ep);
}

static void
free_it(void)
{
	static DAT_RETURN (*call)(void) = free_call;

	intrude_apart(&call);
}

static DAT_RETURN
modify_call(void)
{
	const DAT_EP_PARAM param = { .ep_attr.max_message_size = 128 };

	return dat_ep_modify(pair.a.ep, DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE, &param);
}

static void
modify_it(void)
{
	static DAT_RETURN (*call)(void) = modify_call;

	intrude_apart(&call);
}

static void (*const intruders[])(
    void) = { connect_too, disconnect_it, reset_it, free_it, modify_it };

#define INTRUDERS ((int)(sizeof intruders / sizeof intruders[0]))

static void
give_datagrams(struct dt_side *side)
{
	const DAT_EP_ATTR attr = { .service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD,
		.max_recv_dtos = MESSAGES,
		.max_request_dtos = MESSAGES,
		.max_recv_iov = 1,
		.max_request_iov = 1 };

	dt_ok(dat_ep_free(side->ep));
	side->ep = dt_ep(side, &attr);
}

static void
open_scene(void)
{
	DAT_EVENT event;

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	if (scene != STREAM) {
		give_datagrams(&pair.a);
		give_datagrams(&pair.b);
	}
	dt_side_listen(&pair.b);
	if (scene == DATAGRAMS_MET) {
		dt_connect(&pair.a, &pair.b, NULL, 0);
		dt_ok(dat_cr_accept(dt_datagram_request(&pair.b), pair.b.ep, 0, NULL));
		dt_next(pair.a.connect, &event);
	}
	/* No service point is left: each attempt ends by itself. */
	dt_ok(dat_psp_free(pair.b.psp));
}

static bool
connect_at(int n)
{
	int begun, events = 0;
	bool came, waits, ended;
	DAT_EVENT event;
	DAT_RETURN ret;

	open_scene();
	intruder_ret = ~0u;
	fault_window_at(n, intruder);
	ret = device_try_connect(&pair);
	waits = apart && !returned;
	came = has_come();
	begun = (ret == DAT_SUCCESS) + (intruder == connect_too && intruder_ret == DAT_SUCCESS);
	ended = intruder != connect_too && intruder != modify_it && intruder_ret == DAT_SUCCESS;
	if (waits && intruder == modify_it && scene == STREAM && ret == DAT_SUCCESS)
		dt_assert_type(intruder_ret, DAT_INVALID_STATE);
	for (; !ended && events < begun; events++)
		dt_next(pair.a.connect, &event);
	events += count_events(pair.a.connect);
	if (!ended) /* an attempt that is reset or freed has none, a disconnection one of its own */
		ck_assert_int_eq(events, begun);
	if (intruder == disconnect_it && ended)
		ck_assert_int_ge(events, 1);
	if (intruder != free_it || !ended) {
		ck_assert_int_ne(dt_state(pair.a.ep), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
		dt_ok(dat_ep_free(pair.a.ep));
	}
	dt_pair_close(&pair);
	return came;
}

DEVICE_CASE("between:between");

/* origin: out33.R4 */
TEST_LOOP(connect__another_call_in_any_window__each_attempt_has_its_event, SCENES *INTRUDERS)
{
	scene = (enum scene)(_i / INTRUDERS);
	intruder = intruders[_i % INTRUDERS];
	sweep(connect_at);
}

/* ---- a step of an attempt on the loop, and the end of its endpoint ---- */

/* The loop of the first side runs on the thread of the test. */
static bool
free_at(int n)
{
	DAT_EVENT event;
	bool came, over;

	dt_side_open(&pair.a, "faulty-step", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair.b);
	dt_ok(dat_psp_free(pair.b.psp));
	dt_ok(device_try_connect(&pair));
	fault_window_at(n, free_it);
	do {
		dt_ok(dat_ia_step(pair.a.ia, 1, NULL));
		over = dat_evd_dequeue(pair.a.connect, &event) == DAT_SUCCESS;
	} while (!over && !apart);
	came = has_come();
	dt_ok(came ? intruder_ret : dat_ep_free(pair.a.ep));
	for (int i = 0; i < NOTICED_MS; i++)
		dt_ok(dat_ia_step(pair.a.ia, 1, NULL));
	dt_assert_empty(pair.a.connect);
	dt_pair_close(&pair);
	return came;
}

/* origin: out33.R4 */
/* clause: e.1.10 */
TEST(free__in_any_window_of_an_attempt__leaves_no_event)
{
	sweep(free_at);
}

/* ---- a request for a reserved endpoint, and the end of its service point ---- */

static DAT_RSP_HANDLE rsp;
static DAT_EVD_HANDLE other_evd; /* for requests, of another service point; if there is one */
static bool full;		 /* the EVD for requests is */

static DAT_RETURN
free_rsp_call(void)
{
	return dat_rsp_free(rsp);
}

static void
free_rsp(void)
{
	static DAT_RETURN (*call)(void) = free_rsp_call;

	intrude_apart(&call);
}

/* Until the request is refused, or at the EVD; true if it is there, where it is rejected then. */
static bool
step_to_the_end(DAT_EVD_HANDLE evd, bool other_events)
{
	DAT_EVENT event;

	for (;;) {
		dt_ok(dat_ia_step(pair.b.ia, 1, NULL));
		if (other_evd)
			dt_assert_empty(other_evd);
		if (dat_evd_dequeue(pair.a.connect, &event) == DAT_SUCCESS)
			return false;
		if (other_events || dat_evd_dequeue(evd, &event) != DAT_SUCCESS)
			continue;
		dt_ok(dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle, 0, NULL));
		return true;
	}
}

/* What is left to do of a request that was refused. */
static void
step_on(void)
{
	for (int i = 0; i < NOTICED_MS; i++)
		dt_ok(dat_ia_step(pair.b.ia, 1, NULL));
}

/* The loop of the second side runs on the thread of the test. */
static void
open_stepped(void)
{
	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty-step", DT_SEPARATE);
	dt_side_listen(&pair.b);
}

static bool
request_at(int n)
{
	DAT_EVD_HANDLE evd;
	bool came;

	open_stepped();
	dt_ok(dat_psp_free(pair.b.psp));
	evd = dt_evd(&pair.b, DAT_EVD_CR_FLAG | DAT_EVD_SOFTWARE_FLAG, 1);
	dt_ok(dat_rsp_create(pair.b.ia, pair.b.qual, pair.b.ep, evd, &rsp));
	if (full)
		dt_post_se(evd, 1);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	intruder_ret = ~0u;
	fault_window_at(n, free_rsp);
	(void)step_to_the_end(evd, full);
	came = has_come();
	dt_ok(came ? intruder_ret : dat_rsp_free(rsp));
	step_on();
	ck_assert_int_eq(dt_state(pair.b.ep), DAT_EP_STATE_UNCONNECTED);
	dt_ok(dat_ep_free(pair.b.ep));
	dt_pair_close(&pair);
	return came;
}

/* origin: out33.R4 */
/* clause: e.3.12 */
TEST_LOOP(rsp__freed_in_any_window_of_a_request__lets_its_endpoint_go, 2)
{
	full = _i;
	sweep(request_at);
}

/* ---- a request, and another service point in the place of the one that it is for ---- */

static DAT_RETURN
replace_psp_call(void)
{
	DAT_CONN_QUAL qual;

	dt_ok(dat_psp_free(pair.b.psp));
	return dat_psp_create_any(pair.b.ia, &qual, other_evd, DAT_PSP_CONSUMER_FLAG, &pair.b.psp);
}

static void
replace_psp(void)
{
	static DAT_RETURN (*call)(void) = replace_psp_call;

	intrude_apart(&call);
}

static bool
replace_at(int n)
{
	bool came;

	open_stepped();
	other_evd = dt_evd(&pair.b, DAT_EVD_CR_FLAG, 8);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	fault_window_at(n, replace_psp);
	(void)step_to_the_end(pair.b.cr, false);
	came = has_come();
	if (came)
		dt_ok(intruder_ret);
	step_on();
	dt_assert_empty(other_evd);
	dt_pair_close(&pair);
	return came;
}

/* origin: out33.R4 */
/* clause: e.3.12 */
TEST(psp__replaced_in_any_window_of_a_request__the_other_gets_none)
{
	sweep(replace_at);
}
