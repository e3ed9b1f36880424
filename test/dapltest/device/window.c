/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls on an object that another thread frees or ends meanwhile: right after the n-th release of a
 * lock during the call, for every n, the test does what that thread would do.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

#include "fault/fault.h"
#include "device.h"

#include <dat2/dat_ib_extensions.h>

#define NOTICED_MS 5 /* a loop that does what it should not has mostly done it by then */

static struct dt_side side;
static DAT_EVD_HANDLE evd;
static DAT_CNO_HANDLE cno, next;
static DAT_RETURN freed; /* what the intruder's free returned */

/* Until n is beyond the last window of the call; play() returns whether the intruder came. */
static void
sweep(bool (*play)(int n))
{
	int n = 1;

	while (play(n))
		n++;
	ck_assert_int_gt(n, 2); /* it met windows */
}

static DAT_CNO_HANDLE
new_cno(void)
{
	const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };
	DAT_CNO_HANDLE handle;

	dt_ok(dat_cno_create(side.ia, no_agent, &handle));
	return handle;
}

/* ---- an EVD gets another CNO while it is freed ---- */

static void
free_evd(void)
{
	dt_ok(dat_evd_free(evd));
}

static bool
modify_at(int n, bool has_one, bool gets_one)
{
	DAT_RETURN ret;
	bool came;

	cno = has_one ? new_cno() : DAT_HANDLE_NULL;
	next = gets_one ? new_cno() : DAT_HANDLE_NULL;
	dt_ok(dat_evd_create(side.ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &evd));
	fault_window_at(n, free_evd);
	ret = dat_evd_modify_cno(evd, next);
	came = !fault_window_missed();
	if (ret != DAT_SUCCESS)
		dt_assert_type(ret, DAT_INVALID_HANDLE);
	if (!came)
		free_evd();
	/* Neither is in use any more. */
	if (has_one)
		dt_ok(dat_cno_free(cno));
	if (gets_one)
		dt_ok(dat_cno_free(next));
	return came;
}

static bool
first_cno_at(int n)
{
	return modify_at(n, false, true);
}

static bool
another_cno_at(int n)
{
	return modify_at(n, true, true);
}

static bool
no_cno_at(int n)
{
	return modify_at(n, true, false);
}

static bool (*const modifies[])(int n) = { first_cno_at, another_cno_at, no_cno_at };

DEVICE_CASE("device-window:window");

/* origin: outside.24 */
TEST_LOOP(modify_cno__evd_freed_in_any_window__no_cno_stays_in_use,
    (sizeof modifies / sizeof modifies[0]))
{
	dt_side_open(&side, "faulty", DT_SEPARATE);
	sweep(modifies[_i]);
	dt_side_close(&side);
}

/* ---- an EVD is freed while its CNO is ---- */

static void
expect_untriggered(DAT_CNO_HANDLE untriggered)
{
	DAT_EVD_HANDLE triggered;

	dt_assert_type(dat_cno_wait(untriggered, NOTICED_MS * 1000u, &triggered), DAT_QUEUE_EMPTY);
}

/* The CNO goes as soon as it can, another takes its place, and an event comes. */
static void
replace_cno(void)
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	freed = dat_cno_free(cno);
	if (freed == DAT_SUCCESS)
		next = new_cno();
	(void)dat_evd_post_se(evd, &event);
	if (freed == DAT_SUCCESS)
		expect_untriggered(next);
}

static bool
free_at(int n, bool triggered)
{
	bool came;

	cno = new_cno();
	freed = DAT_INVALID_STATE;
	dt_ok(dat_evd_create(side.ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &evd));
	if (triggered)
		dt_post_se(evd, 1);
	fault_window_at(n, replace_cno);
	dt_ok(dat_evd_free(evd));
	came = !fault_window_missed();
	if (freed == DAT_SUCCESS) {
		expect_untriggered(next);
		dt_ok(dat_cno_free(next));
	} else {
		dt_ok(dat_cno_free(cno));
	}
	return came;
}

static bool
free_untriggered_at(int n)
{
	return free_at(n, false);
}

static bool
free_triggered_at(int n)
{
	return free_at(n, true);
}

static bool (*const frees[])(int n) = { free_untriggered_at, free_triggered_at };

/* origin: outside.27 */
TEST_LOOP(
    free__cno_replaced_in_any_window__the_evd_triggers_no_other, (sizeof frees / sizeof frees[0]))
{
	dt_side_open(&side, "faulty", DT_SEPARATE);
	sweep(frees[_i]);
	dt_side_close(&side);
}

/* ---- an adapter is opened with the EVD of another, which closes ---- */

static DAT_IA_HANDLE owner;

/* If the EVD is in use, the call that was interrupted holds it. */
static void
close_owner(void)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	freed = dat_evd_free(evd);
	dt_ok(dat_ia_close(owner, DAT_CLOSE_ABRUPT_FLAG));
	/* The owner's slot serves an adapter of another device now. */
	fault_other_device(true);
	ck_assert(dat_ia_open((DAT_NAME_PTR) "faulty", 8, &async, &ia) != DAT_SUCCESS);
	fault_other_device(false);
}

static bool
open_at(int n)
{
	DAT_EVD_HANDLE async, given;
	DAT_IA_HANDLE ia;
	DAT_RETURN ret;
	bool came;

	owner = dt_open("faulty", &async);
	dt_ok(dat_evd_create(owner, 8, DAT_HANDLE_NULL, DAT_EVD_ASYNC_FLAG, &evd));
	given = evd;
	fault_window_at(n, close_owner);
	ret = dat_ia_open((DAT_NAME_PTR) "faulty", 8, &given, &ia);
	came = !fault_window_missed();
	if (came && freed == DAT_SUCCESS)
		dt_assert_ret(ret, DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_ASYNC));
	else
		dt_ok(ret);
	if (ret == DAT_SUCCESS)
		dt_close(ia);
	if (!came)
		dt_close(owner);
	return came;
}

/* origin: attack.A1 */
TEST(open__with_the_async_evd_of_an_adapter_that_closes__judges_the_one_it_had)
{
	sweep(open_at);
}

/* ---- a failed completion is taken while its endpoint connects again ---- */

static struct dt_pair pair;
static bool connected_again;

static void
fail_sends(struct ibv_wc *wc)
{
	if (wc->opcode == IBV_WC_SEND)
		wc->status = IBV_WC_REM_ACCESS_ERR;
}

/* Once the completion breaks the old connection, the interrupted thread alone can end that. */
static void
connect_again(void)
{
	connected_again = dt_state(pair.a.ep) == DAT_EP_STATE_CONNECTED;
	if (!connected_again)
		return;
	dt_ok(dat_ep_disconnect(pair.a.ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&pair.a);
	dt_expect_disconnected(&pair.b);
	dt_ok(dat_ep_reset(pair.a.ep));
	dt_ok(dat_ep_reset(pair.b.ep));
	dt_connect_pair(&pair);
}

static bool
dequeue_at(int n)
{
	DAT_COUNT queued = 0;
	DAT_EVENT event;
	bool came;

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair.b);
	dt_connect_pair(&pair);
	fault_cq_change(fail_sends);
	dt_recv(&pair.b, 0, 64, 1);
	dt_send(&pair.a, 0, 64, 1);
	/* Polled, and nothing is taken. */
	while (queued == 0)
		dt_assert_type(
		    dat_evd_wait(pair.a.request, 1000, 2, &event, &queued), DAT_TIMEOUT_EXPIRED);
	fault_cq_change(NULL);
	connected_again = false;
	fault_window_at(n, connect_again);
	(void)dat_evd_dequeue(pair.a.request, &event);
	came = !fault_window_missed();
	if (connected_again) {
		ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_CONNECTED);
		dt_recv(&pair.b, 0, 64, 2);
		dt_send(&pair.a, 0, 64, 2);
		dt_expect_dto(pair.b.recv, pair.b.ep, 2, DAT_DTO_SUCCESS, &event);
		dt_assert_empty(pair.a.connect);
	}
	dt_pair_close(&pair);
	return came;
}

/* origin: outside.22 */
TEST(dequeue__endpoint_connects_again_in_any_window__its_new_connection_stands)
{
	ck_assert(dequeue_at(1) && connected_again);
	sweep(dequeue_at);
}

/* ---- an address handle is freed while its endpoint is reset ---- */

static DAT_IB_ADDR_HANDLE address;
static DAT_RETURN freed;

static void
free_address(void)
{
	freed = dat_ib_ud_ah_free(pair.a.ep, &address);
}

static DAT_EP_HANDLE
datagram_ep(const struct dt_side *end)
{
	DAT_EP_ATTR attr;

	memset(&attr, 0, sizeof attr);
	attr.service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD;
	attr.max_recv_dtos = attr.max_request_dtos = 4;
	attr.max_recv_iov = attr.max_request_iov = 1;
	return dt_ep(end, &attr);
}

/* The address of the second side for the endpoint of the first. */
static DAT_IB_ADDR_HANDLE
look_up(void)
{
	DAT_EVENT event;

	dt_connect(&pair.a, &pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_datagram_request(&pair.b), pair.b.ep, 0, NULL));
	dt_expect(pair.a.connect, (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED, &event);
	return ((DAT_IB_EXTENSION_EVENT_DATA *)(void *)event.event_extension_data)->remote_ah;
}

static bool
reset_at(int n)
{
	DAT_EP_HANDLE ep;
	bool came;

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	dt_ok(dat_ep_free(pair.b.ep));
	pair.b.ep = datagram_ep(&pair.b);
	dt_side_listen(&pair.b);
	dt_ok(dat_ep_free(pair.a.ep));
	ep = pair.a.ep = datagram_ep(&pair.a);
	address = look_up();
	/* When the next lookup has its event, the loop does not use the first endpoint any more. */
	pair.a.ep = datagram_ep(&pair.a);
	(void)look_up();
	pair.a.ep = ep;
	dt_ok(dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG));
	dt_expect_disconnected(&pair.a);
	fault_window_at(n, free_address);
	dt_ok(dat_ep_reset(ep));
	came = !fault_window_missed();
	if (came)
		dt_assert_ret(freed, DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_pair_close(&pair);
	return came;
}

/* The reset has given up the handles by then. */
/* origin: outside.95 */
/* clause: f.2.8, f.2.10 */
TEST(reset__address_handle_freed_in_any_window__is_unknown)
{
	ck_assert(reset_at(1));
	sweep(reset_at);
}

/* ---- a reset waits, while its endpoint goes and another comes into the slot ---- */

#define ASLEEP_MS 50 /* the reset has mostly gone to sleep by then */

static pthread_t first, second;
static sem_t failed, goes_on;

/* The endpoint is in use meanwhile. */
static void
stay(void)
{
	sem_post(&failed);
	sem_wait(&goes_on);
}

static void
stay_a_while(void)
{
	sem_post(&failed);
	usleep(ASLEEP_MS * 1000u);
}

static void *
disconnect(void *ep)
{
	dt_ok(dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG));
	return NULL;
}

static void
disconnect_and(void (*stays)(void), pthread_t *thread)
{
	dt_connect(&pair.a, &pair.b, NULL, 0);
	fault_qp_on_error(stays);
	ck_assert_int_eq(pthread_create(thread, NULL, disconnect, pair.a.ep), 0);
	sem_wait(&failed);
}

static void
replace_endpoint(void)
{
	sem_post(&goes_on);
	pthread_join(first, NULL);
	dt_ok(dat_ep_free(pair.a.ep));
	pair.a.ep = dt_ep(&pair.a, NULL);
	disconnect_and(stay_a_while, &second);
}

/* clause: e.1.9 */
/* origin: hostile.3 */
TEST(reset__its_endpoint_is_replaced_while_it_waits__returns)
{
	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair.b);
	sem_init(&failed, 0, 0);
	sem_init(&goes_on, 0, 0);
	disconnect_and(stay, &first);
	fault_window_at(1, replace_endpoint);
	dt_assert_type(dat_ep_reset(pair.a.ep), DAT_INVALID_HANDLE);
	ck_assert(!fault_window_missed());
	pthread_join(second, NULL);
	fault_qp_on_error(NULL);
	sem_destroy(&failed);
	sem_destroy(&goes_on);
	dt_pair_close(&pair);
}

/* ---- an EVD is made while its adapter closes ---- */

static pthread_t closer;

static void *
close_abruptly(void *arg)
{
	(void)arg;
	dt_ok(dat_ia_close(side.ia, DAT_CLOSE_ABRUPT_FLAG));
	return NULL;
}

/* The close waits for the call that makes the EVD, so it has a thread of its own. */
static void
begin_close(void)
{
	ck_assert_int_eq(pthread_create(&closer, NULL, close_abruptly, NULL), 0);
	dt_nap_ms(NOTICED_MS);
}

static bool
create_at(int n, DAT_EVD_FLAGS flags)
{
	DAT_RETURN ret;
	bool came;

	dt_side_open(&side, "faulty", DT_SEPARATE);
	cno = new_cno();
	fault_window_at(n, begin_close);
	ret = dat_evd_create(side.ia, 8, cno, flags, &evd);
	came = !fault_window_missed();
	if (ret != DAT_SUCCESS)
		dt_assert_type(ret, DAT_INVALID_HANDLE);
	if (came)
		ck_assert_int_eq(pthread_join(closer, NULL), 0);
	else
		(void)close_abruptly(NULL);
	free(side.buffer);
	return came;
}

static bool
create_software_at(int n)
{
	return create_at(n, DAT_EVD_SOFTWARE_FLAG);
}

static bool
create_dto_at(int n)
{
	return create_at(n, DAT_EVD_DTO_FLAG);
}

static bool (*const creates[])(int n) = { create_software_at, create_dto_at };

/* origin: outside.41 */
TEST_LOOP(
    create__its_adapter_closes_in_any_window__the_close_returns, sizeof creates / sizeof *creates)
{
	sweep(creates[_i]);
}

/* ---- a receive says that a region was invalidated, and the region is bound anew meanwhile ---- */

static struct dt_pair pair;
static DAT_RMR_HANDLE rmr;
static DAT_RMR_CONTEXT context;

static void
bind_range(size_t length)
{
	DAT_LMR_TRIPLET range = dt_local(&pair.b, 0, length);

	dt_ok(dat_rmr_bind(rmr, pair.b.lmr, &range,
	    (DAT_MEM_PRIV_FLAGS)(DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG),
	    DAT_VA_TYPE_VA, pair.b.ep, dt_cookie(length), DAT_COMPLETION_DEFAULT_FLAG, &context));
}

static void
bind_anew(void)
{
	bind_range(128);
}

static void
expect_bound(void)
{
	DAT_EVENT event;

	dt_expect(pair.b.request, DAT_RMR_BIND_COMPLETION_EVENT, &event);
	ck_assert_int_eq(event.event_data.rmr_completion_event_data.status, DAT_DTO_SUCCESS);
}

static bool
invalidate_at(int n)
{
	DAT_LMR_TRIPLET local = dt_local(&pair.a, 0, 4);
	DAT_BOOLEAN idle = DAT_FALSE;
	DAT_RMR_PARAM param;
	DAT_EVENT event;
	bool came;

	bind_range(64);
	expect_bound();
	dt_recv(&pair.b, 1024, 64, 21);
	dt_ok(dat_ep_post_send_with_invalidate(
	    pair.a.ep, 1, &local, dt_cookie(1), DAT_COMPLETION_DEFAULT_FLAG, DAT_TRUE, context));
	dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
	for (int ms = 0; !idle && ms < DT_FOREVER_MS; ms++) {
		dt_ok(dat_ep_get_status(pair.b.ep, NULL, &idle, NULL));
		if (!idle)
			dt_nap_ms(1);
	}
	fault_window_at(n, bind_anew);
	dt_ok(dat_evd_dequeue(pair.b.recv, &event));
	came = !fault_window_missed();
	ck_assert_int_eq(
	    event.event_data.dto_completion_event_data.operation, DAT_DTO_RECEIVE_WITH_INVALIDATE);
	if (!came)
		bind_anew();
	expect_bound();
	dt_ok(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
	ck_assert_uint_eq(param.lmr_triplet.segment_length, 128);
	ck_assert_uint_eq(param.rmr_context, context);
	/* And the memory is that of the new binding. */
	dt_assert_type(dat_lmr_free(pair.b.lmr), DAT_INVALID_STATE);
	return came;
}

/* origin: out33.T2 */
TEST(dequeue__invalidated_region_bound_in_any_window__stays_bound)
{
	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	pair.b.request = dt_evd(&pair.b, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, 64);
	dt_ok(dat_ep_free(pair.b.ep));
	pair.b.ep = dt_ep(&pair.b, NULL);
	dt_side_listen(&pair.b);
	dt_ok(dat_rmr_create_for_ep(pair.b.pz, &rmr));
	dt_connect_pair(&pair);
	sweep(invalidate_at);
	dt_pair_close(&pair);
}
