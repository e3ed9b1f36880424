/* SPDX-License-Identifier: BSD-3-Clause */
#include "contract.h"

#include <stdlib.h>

void
contract_side(struct dt_side *side, int i)
{
	dt_personality(i);
	dt_side_open(side, "soft", DT_SEPARATE);
}

void
contract_pair(struct dt_pair *pair, enum dt_evds evds, int i)
{
	dt_personality(i);
	dt_pair_open(pair, evds);
	dt_connect_pair(pair);
}

void
contract_expect_se(DAT_EVD_HANDLE evd, uintptr_t value)
{
	DAT_EVENT event;

	dt_ok(dat_evd_dequeue(evd, &event));
	ck_assert_int_eq(event.event_number, DAT_SOFTWARE_EVENT);
	ck_assert_uint_eq((uintptr_t)event.event_data.software_event_data.pointer, value);
}

DAT_EVD_PARAM
contract_query(DAT_EVD_HANDLE evd)
{
	DAT_EVD_PARAM param;

	dt_ok(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
	return param;
}

DAT_EVD_HANDLE
contract_evd(const struct dt_side *side, DAT_CNO_HANDLE cno, DAT_EVD_FLAGS flags, DAT_COUNT qlen)
{
	DAT_EVD_HANDLE evd;

	dt_ok(dat_evd_create(side->ia, qlen, cno, flags, &evd));
	return evd;
}

DAT_CNO_HANDLE
contract_cno(const struct dt_side *side)
{
	const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };
	DAT_CNO_HANDLE cno;

	dt_ok(dat_cno_create(side->ia, no_agent, &cno));
	return cno;
}

const char *
contract_device(void)
{
	return dt_is_soft() ? "faulty" : "soft";
}

DAT_EVD_HANDLE
contract_overflow(const struct dt_side *from, DAT_IA_HANDLE ia)
{
	struct dt_side client = *from, listener = { .ia = ia };
	DAT_EVENT event;

	listener.cr = dt_evd(&listener, DAT_EVD_CR_FLAG, 1);
	dt_ok(dat_psp_create_any(
	    ia, &listener.qual, listener.cr, DAT_PSP_CONSUMER_FLAG, &listener.psp));
	client.connect = dt_evd(&client, DAT_EVD_CONNECTION_FLAG, 64);
	for (int n = contract_query(listener.cr).evd_qlen; n >= 0; n--) {
		client.ep = dt_ep(&client, NULL);
		dt_connect(&client, &listener, NULL, 0);
	}
	dt_expect(client.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, &event);
	return listener.cr;
}

int
contract_load(int n)
{
	const char *load = getenv("REARM_TEST_LOAD");
	long percent = load ? atol(load) : 100;
	long scaled = (long)n * (percent > 0 ? percent : 100) / 100;

	return scaled > 0 ? (int)scaled : 1;
}

static void *
evd_body(void *arg)
{
	struct evd_waiter *w = arg;

	w->ready = 1;
	w->ret = dat_evd_wait(w->evd, w->timeout, w->threshold, &w->event, &w->more);
	w->done = 1;
	return NULL;
}

void
evd_waiter_start(struct evd_waiter *w, DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold)
{
	*w = (struct evd_waiter){
		.evd = evd, .timeout = timeout, .threshold = threshold, .more = -1
	};
	ck_assert_int_eq(pthread_create(&w->thread, NULL, evd_body, w), 0);
	dt_await_count(&w->ready, 1);
	dt_nap_ms(20);
}

DAT_RETURN
evd_waiter_join(struct evd_waiter *w)
{
	pthread_join(w->thread, NULL);
	return w->ret;
}

static void *
cno_body(void *arg)
{
	struct cno_waiter *w = arg;

	w->ready = 1;
	w->ret = dat_cno_wait(w->cno, w->timeout, &w->triggered);
	w->done = 1;
	return NULL;
}

void
cno_waiter_start(struct cno_waiter *w, DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout)
{
	*w = (struct cno_waiter){ .cno = cno, .timeout = timeout, .triggered = (DAT_EVD_HANDLE)3 };
	ck_assert_int_eq(pthread_create(&w->thread, NULL, cno_body, w), 0);
	dt_await_count(&w->ready, 1);
	dt_nap_ms(20);
}

DAT_RETURN
cno_waiter_join(struct cno_waiter *w)
{
	pthread_join(w->thread, NULL);
	return w->ret;
}
