/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests for wake-ups that earlier versions of dapl and similar projects lost, see origins.txt. */
#include <signal.h>

#include "lib/contract.h"

static const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };
#define LONG (DT_FOREVER_MS * 1000u)
#define ROUNDS 400

/* Several EVDs for software events on one CNO. */
struct funnel {
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd[4];
};

static void
funnel_open(struct funnel *f)
{
	dt_side_open(&f->side, "soft", DT_SEPARATE);
	dt_ok(dat_cno_create(f->side.ia, no_agent, &f->cno));
	for (int i = 0; i < 4; i++)
		dt_ok(dat_evd_create(f->side.ia, 64, f->cno, DAT_EVD_SOFTWARE_FLAG, &f->evd[i]));
}

static int
drain(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;
	int n = 0;

	while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
		n++;
	return n;
}

DT_CASE("race-wake:wake");

/* origin: race.D1 */
/* clause: c.13.2 */
TEST(race_d1__triggered_before_the_wait__returned_at_once)
{
	unsigned long long began;
	struct funnel f;
	DAT_EVD_HANDLE triggered;

	funnel_open(&f);
	for (int i = 0; i < 4; i++) {
		dt_post_se(f.evd[i], 1);
		dt_nap_ms(5);
		began = dt_now_us();
		dt_ok(dat_cno_wait(f.cno, LONG, &triggered));
		ck_assert_uint_lt(dt_now_us() - began, 1000000);
		ck_assert_ptr_eq(triggered, f.evd[i]);
		ck_assert_int_eq(drain(triggered), 1);
	}
	dt_side_close(&f.side);
}

/* The client takes events only from the EVD that the wait returned. */
/* origin: race.D2 */
/* clause: c.13.7 */
TEST(race_d2__several_fire_before_the_wait__draining_the_returned_one_sees_all)
{
	struct funnel f;
	DAT_EVD_HANDLE triggered;
	int seen = 0;

	funnel_open(&f);
	for (int i = 0; i < 8; i++)
		dt_post_se(f.evd[i % 4], 1);
	while (seen < 8) {
		dt_ok(dat_cno_wait(f.cno, LONG, &triggered));
		seen += drain(triggered);
	}
	ck_assert_int_eq(seen, 8);
	/* A trigger may still come for an event that has been taken. */
	while (dat_cno_wait(f.cno, 1000, &triggered) == DAT_SUCCESS)
		ck_assert_int_eq(drain(triggered), 0);
	dt_side_close(&f.side);
}

struct stream {
	struct dt_pair pair;
	DAT_CNO_HANDLE cno;
	_Atomic(int) to_send;
};

/* One message at a time: a lost wake-up stops the exchange. */
static void *
send_one_by_one(void *arg)
{
	struct stream *s = arg;
	DAT_EVENT event;

	for (int sent = 0; sent < ROUNDS;) {
		if (s->to_send <= sent)
			continue;
		dt_send(&s->pair.a, 0, 16, (DAT_UINT64)sent);
		dt_poll_next(s->pair.a.request, &event);
		sent++;
	}
	return NULL;
}

static void
stream_open(struct stream *s, pthread_t *thread)
{
	dt_pair_open(&s->pair, DT_SEPARATE);
	dt_ok(dat_cno_create(s->pair.b.ia, no_agent, &s->cno));
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_recv(&s->pair.b, 0, 16, i);
	dt_connect_pair(&s->pair);
	pthread_create(thread, NULL, send_one_by_one, s);
}

/* origin: race.D3 */
/* clause: c.13.2 */
TEST(race_d3__completions_one_by_one__each_wakes_the_cno)
{
	struct stream s = { .to_send = 1 };
	DAT_EVD_HANDLE triggered;
	pthread_t thread;
	DAT_EVENT event;

	stream_open(&s, &thread);
	dt_ok(dat_evd_modify_cno(s.pair.b.recv, s.cno));
	for (int i = 0; i < ROUNDS; i++) {
		dt_ok(dat_cno_wait(s.cno, LONG, &triggered));
		while (dat_evd_dequeue(triggered, &event) != DAT_SUCCESS)
			dt_ok(dat_cno_wait(s.cno, LONG, &triggered)); /* it was returned before */
		dt_recv(&s.pair.b, 0, 16, 1);
		s.to_send = i + 2;
	}
	pthread_join(thread, NULL);
	dt_pair_close(&s.pair);
}

/* origin: race.A1, race.A3 */
TEST(race_a1__message_sent_while_the_waiter_goes_to_sleep__wakes_it)
{
	struct stream s = { .to_send = 1 };
	pthread_t thread;
	DAT_EVENT event;
	DAT_COUNT more;

	stream_open(&s, &thread);
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 3 == 1)
			/* takes it before its notification is read */
			dt_poll_next(s.pair.b.recv, &event);
		else
			dt_ok(dat_evd_wait(s.pair.b.recv, LONG, 1, &event, &more));
		dt_recv(&s.pair.b, 0, 16, 1);
		s.to_send = i + 2;
	}
	pthread_join(thread, NULL);
	dt_pair_close(&s.pair);
}

/* One EVD for requests and one for receives, both on one CNO, both busy. */
/* origin: race.A2, race.A11 */
/* clause: c.13.7 */
TEST(race_a2__two_queues_of_one_cno__neither_is_forgotten)
{
	struct dt_pair pair;
	int sent = 0, received = 0;
	DAT_EVD_HANDLE triggered;
	DAT_CNO_HANDLE cno;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_cno_create(pair.b.ia, no_agent, &cno));
	dt_ok(dat_evd_modify_cno(pair.b.recv, cno));
	dt_ok(dat_evd_modify_cno(pair.b.request, cno));
	dt_recv(&pair.b, 0, 16, 1);
	dt_recv(&pair.a, 0, 16, 1);
	dt_connect_pair(&pair);
	for (int i = 1; i <= ROUNDS; i++) {
		dt_send(&pair.a, 0, 16, 1);
		dt_send(&pair.b, 0, 16, 1);
		while (sent < i || received < i) {
			int n;

			dt_ok(dat_cno_wait(cno, LONG, &triggered));
			n = drain(triggered);
			if (triggered == pair.b.recv)
				received += n;
			else
				sent += n;
		}
		drain(pair.a.recv);
		dt_recv(&pair.b, 0, 16, 1);
		dt_recv(&pair.a, 0, 16, 1);
		drain(pair.a.request);
	}
	dt_pair_close(&pair);
}

/* No pause: the next message comes while the upcall's thread polls and arms. */
static void
spin_until(const _Atomic(int) *calls, int n)
{
	const unsigned long long end = dt_now_us() + LONG;

	while (*calls < n && dt_now_us() < end)
		;
	ck_assert_int_ge(*calls, n);
}

/* The same two EVDs with upcalls. */
/* origin: race.A2 */
/* clause: c.14.11 */
TEST(race_a2__two_queues_with_upcalls__neither_is_forgotten)
{
	_Atomic(int) sent = 0, received = 0;
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_recv(&pair.a, 0, 16, 1);
	dt_recv(&pair.b, 0, 16, 1);
	dt_connect_pair(&pair);
	dt_ok(dat_evd_modify_upcall(pair.b.recv, DAT_UPCALL_SINGLE_INSTANCE,
	    &(DAT_UPCALL_OBJECT){ &received, dt_count_call }, DAT_UPCALL_INVOC_ANY));
	dt_ok(dat_evd_modify_upcall(pair.b.request, DAT_UPCALL_SINGLE_INSTANCE,
	    &(DAT_UPCALL_OBJECT){ &sent, dt_count_call }, DAT_UPCALL_INVOC_ANY));
	for (int i = 1; i <= ROUNDS; i++) {
		dt_send(&pair.a, 0, 16, 1);
		dt_send(&pair.b, 0, 16, 1);
		drain(pair.a.request);
		drain(pair.a.recv);
		dt_recv(&pair.a, 0, 16, 1);
		spin_until(&received, i);
		dt_recv(&pair.b, 0, 16, 1);
		spin_until(&sent, i);
	}
	dt_ok(dat_evd_modify_upcall(pair.b.recv, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, 0));
	dt_ok(dat_evd_modify_upcall(pair.b.request, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, 0));
	dt_pair_close(&pair);
}

/* origin: race.A5 */
/* clause: c.4.3 */
TEST(race_a5__several_completions_and_one_notification__taken_one_a_wait)
{
	struct dt_pair pair;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_pair_open(&pair, DT_SEPARATE);
	for (DAT_UINT64 i = 0; i < 12; i++)
		dt_recv(&pair.b, 0, 16, i);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < 12; i++)
		dt_send(&pair.a, 0, 16, i);
	for (DAT_UINT64 i = 0; i < 12; i++)
		dt_expect_dto(pair.a.request, pair.a.ep, i, DAT_DTO_SUCCESS, &event);
	for (DAT_UINT64 i = 0; i < 12; i++) {
		dt_ok(dat_evd_wait(pair.b.recv, LONG, 1, &event, &more));
		ck_assert_uint_eq(event.event_data.dto_completion_event_data.user_cookie.as_64, i);
	}
	dt_assert_type(dat_evd_wait(pair.b.recv, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	dt_pair_close(&pair);
}

struct classic {
	DAT_EVD_HANDLE evd;
	_Atomic(int) taken, stop;
	DAT_UPCALL_OBJECT object;
};

static void
drain_and_enable(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct classic *c = instance;
	DAT_RETURN ret;

	(void)event;
	(void)more;
	c->taken++;
	(void)dat_evd_modify_upcall(c->evd, DAT_UPCALL_DISABLE, DAT_UPCALL_SAME, 0);
	do {
		c->taken += drain(c->evd);
		ret = dat_evd_modify_upcall(
		    c->evd, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW);
	} while (DAT_GET_TYPE(ret) == DAT_INVALID_STATE);
}

static void *
dequeue_too(void *arg)
{
	struct classic *c = arg;

	while (!c->stop)
		c->taken += drain(c->evd);
	return NULL;
}

/* Another thread moves completions to the queue while the upcall arms. */
/* origin: race.A7, race.A8 */
/* clause: c.14.16, c.14.17, c.14.29 */
TEST(race_a7__a_dequeuing_thread_against_the_one_that_enables__nothing_stays)
{
	struct classic c = { .taken = 0 };
	struct dt_pair pair;
	pthread_t thread;

	dt_pair_open(&pair, DT_SEPARATE);
	c.object = (DAT_UPCALL_OBJECT){ &c, drain_and_enable };
	dt_ok(dat_evd_kcreate(
	    pair.b.ia, 64, DAT_UPCALL_DISABLE, &c.object, DAT_EVD_DTO_FLAG, &c.evd));
	dt_ok(dat_ep_free(pair.b.ep));
	dt_ok(dat_ep_create(
	    pair.b.ia, pair.b.pz, c.evd, pair.b.request, pair.b.connect, NULL, &pair.b.ep));
	dt_ok(dat_evd_modify_upcall(
	    c.evd, DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_NEW));
	dt_recv(&pair.b, 0, 16, 1);
	dt_connect_pair(&pair);
	pthread_create(&thread, NULL, dequeue_too, &c);
	for (int i = 1; i <= ROUNDS; i++) {
		dt_send(&pair.a, 0, 16, 1);
		dt_await_count(&c.taken, i);
		drain(pair.a.request);
		dt_recv(&pair.b, 0, 16, 1);
		if (i == ROUNDS / 2) {
			c.stop = 1; /* from here on only upcalls take events */
			pthread_join(thread, NULL);
		}
	}
	dt_ok(dat_evd_modify_upcall(c.evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, 0));
	ck_assert_int_eq(c.taken, ROUNDS);
	dt_pair_close(&pair);
}

/* A dequeue of one polls both from the device; the other stays queued without a notification. */
/* origin: race.A7 */
/* clause: c.14.16 */
TEST(race_a7__completions_moved_to_the_queue_by_another__enabling_sees_them)
{
	_Atomic(int) calls = 0;
	DAT_UPCALL_OBJECT object = { &calls, dt_count_call };
	struct dt_pair pair;
	DAT_COUNT more = 0;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	for (DAT_UINT64 i = 0; i < 2; i++)
		dt_recv(&pair.b, 0, 16, i);
	dt_connect_pair(&pair);
	for (DAT_UINT64 i = 0; i < 2; i++)
		dt_send(&pair.a, 0, 16, i);
	while (more < 2)
		dt_assert_type(
		    dat_evd_wait(pair.b.recv, 1000, 3, &event, &more), DAT_TIMEOUT_EXPIRED);
	dt_expect_dto(pair.b.recv, pair.b.ep, 0, DAT_DTO_SUCCESS, &event);
	dt_assert_type(dat_evd_modify_upcall(
			   pair.b.recv, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_NEW),
	    DAT_INVALID_STATE);
	dt_ok(dat_evd_modify_upcall(
	    pair.b.recv, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_ANY));
	dt_await_count(&calls, 1);
	dt_ok(dat_evd_modify_upcall(pair.b.recv, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, 0));
	dt_pair_close(&pair);
}

/* origin: race.A8 */
/* clause: c.14.16 */
TEST(race_a8__enabling_with_a_completion_pending__is_refused_and_eats_nothing)
{
	struct classic c = { .taken = 0 };
	struct dt_pair pair;
	DAT_COUNT more = 0;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	c.evd = pair.b.recv;
	c.object = (DAT_UPCALL_OBJECT){ &c, drain_and_enable };
	dt_recv(&pair.b, 0, 16, 7);
	dt_connect_pair(&pair);
	dt_send(&pair.a, 0, 16, 1);
	dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
	while (more == 0) /* the device may be late; a wait for two takes no event */
		dt_assert_type(dat_evd_wait(c.evd, 1000, 2, &event, &more), DAT_TIMEOUT_EXPIRED);
	for (int i = 0; i < 5; i++)
		dt_assert_type(dat_evd_modify_upcall(c.evd, DAT_UPCALL_SINGLE_INSTANCE, &c.object,
				   DAT_UPCALL_INVOC_NEW),
		    DAT_INVALID_STATE);
	dt_nap_ms(10);
	ck_assert_int_eq(c.taken, 0);
	dt_expect_dto(c.evd, pair.b.ep, 7, DAT_DTO_SUCCESS, &event);
	dt_pair_close(&pair);
}

/* origin: race.A10 */
/* clause: c.14.11 */
TEST(race_a10__enabled_and_disabled_again_and_again__the_next_event_still_calls)
{
	struct classic c = { .taken = 0 };
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	c.evd = pair.b.recv;
	c.object = (DAT_UPCALL_OBJECT){ &c, drain_and_enable };
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_recv(&pair.b, 0, 16, i);
	dt_connect_pair(&pair);
	for (int i = 1; i <= 8; i++) {
		for (int j = 0; j < 50; j++) {
			dt_ok(dat_evd_modify_upcall(
			    c.evd, DAT_UPCALL_SINGLE_INSTANCE, &c.object, DAT_UPCALL_INVOC_ANY));
			dt_ok(dat_evd_modify_upcall(
			    c.evd, DAT_UPCALL_DISABLE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY));
			if (i % 2)
				dt_send(&pair.a, 0, j ? 0 : 16, 1);
			if (i % 2)
				break; /* busy: one message between the two */
		}
		dt_ok(dat_evd_modify_upcall(
		    c.evd, DAT_UPCALL_SINGLE_INSTANCE, &c.object, DAT_UPCALL_INVOC_ANY));
		if (i % 2 == 0)
			dt_send(&pair.a, 0, 16, 1);
		dt_await_count(&c.taken, i);
		drain(pair.a.request);
	}
	dt_ok(dat_evd_modify_upcall(c.evd, DAT_UPCALL_TEARDOWN, DAT_UPCALL_SAME, 0));
	dt_pair_close(&pair);
}

static void
nothing(int signal)
{
	(void)signal;
}

/* Wake-ups without an event: by another endpoint's unsolicited message, or below the threshold. */
/* origin: race.W1 */
/* clause: c.4.4, c.4.8 */
TEST(race_w1__woken_without_reason__waits_out_its_time)
{
	unsigned long long began, posted;
	struct dt_side side;
	struct evd_waiter w;
	DAT_EVD_HANDLE evd;
	DAT_EP_HANDLE ep;

	dt_side_open(&side, "soft", DT_SEPARATE);
	evd = dt_evd(&side, DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, 64);
	dt_ok(dat_ep_create(side.ia, side.pz, evd, side.request, side.connect, NULL, &ep));
	began = dt_now_us();
	evd_waiter_start(&w, evd, 300000, 30);
	for (int i = 0; i < 20; i++) {
		dt_post_se(evd, 1);
		dt_ok(dat_evd_disable(evd));
		dt_ok(dat_evd_enable(evd));
		dt_nap_ms(2);
	}
	posted = dt_now_us();
	dt_assert_type(evd_waiter_join(&w), DAT_TIMEOUT_EXPIRED);
	ck_assert_uint_ge(dt_now_us() - began, 300000);
	ck_assert_int_le(w.more, 20);
	if (posted - began < 300000) /* on a busy machine the wait may end first */
		ck_assert_int_eq(w.more, 20);
	dt_side_close(&side);
}

/* origin: race.W1 */
/* clause: c.4.13 */
TEST(race_w1__a_signal_during_the_wait__interrupts_it_and_nothing_is_lost)
{
	const struct sigaction action = { .sa_handler = nothing };
	struct dt_side side;
	struct evd_waiter w;
	DAT_EVENT event;

	dt_side_open(&side, "soft", DT_SEPARATE);
	sigaction(SIGUSR1, &action, NULL);
	evd_waiter_start(&w, dt_evd(&side, DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, 8),
	    DAT_TIMEOUT_INFINITE, 1);
	pthread_kill(w.thread, SIGUSR1);
	dt_assert_type(evd_waiter_join(&w), DAT_INTERRUPTED_CALL);
	dt_post_se(w.evd, 1);
	dt_ok(dat_evd_dequeue(w.evd, &event));
	dt_side_close(&side);
}
