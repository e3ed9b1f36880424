/* SPDX-License-Identifier: BSD-3-Clause */
/* CNOs: tests for bugs of OpenFabrics dapl 2.1.10, see origins.txt. */
#include "lib/contract.h"

static const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };
#define LONG (DT_FOREVER_MS * 1000u)

/* A connected pair whose second side has a CNO; the receive EVD is attached if `attached`. */
static DAT_CNO_HANDLE
pair_with_cno(struct dt_pair *pair, DAT_OS_WAIT_PROXY_AGENT agent, bool attached)
{
	DAT_CNO_HANDLE cno;

	dt_pair_open(pair, DT_SEPARATE);
	dt_ok(dat_cno_create(pair->b.ia, agent, &cno));
	if (attached)
		dt_ok(dat_evd_modify_cno(pair->b.recv, cno));
	for (DAT_UINT64 i = 0; i < 8; i++)
		dt_recv(&pair->b, 0, 64, i);
	dt_connect_pair(pair);
	return cno;
}

static void
cno_expect(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE evd)
{
	DAT_EVD_HANDLE triggered;

	dt_ok(dat_cno_wait(cno, LONG, &triggered));
	ck_assert_ptr_eq(triggered, evd);
}

DT_CASE("peer-cno:cno");

/* origin: peer.6 */
/* clause: c.4.2, c.4.7 */
TEST(peer_06__wait_between_two_notifications__the_cno_is_notified_of_the_second)
{
	struct dt_pair pair;
	struct evd_waiter w;
	DAT_EVD_HANDLE triggered;
	DAT_EVENT event;
	DAT_CNO_HANDLE cno = pair_with_cno(&pair, no_agent, true);

	for (int i = 0; i < 3; i++) {
		evd_waiter_start(&w, pair.b.recv, LONG, 1);
		dt_send(&pair.a, 0, 64, 1);
		dt_assert_ret(evd_waiter_join(&w), DAT_SUCCESS);
		dt_assert_type(dat_cno_wait(cno, 1000, &triggered), DAT_QUEUE_EMPTY);
		dt_send(&pair.a, 0, 64, 2);
		cno_expect(cno, pair.b.recv);
		dt_ok(dat_evd_dequeue(pair.b.recv, &event));
		for (int j = 0; j < 2; j++)
			dt_recv(&pair.b, 0, 64, 9);
	}
	dt_pair_close(&pair);
}

/* origin: peer.7 */
/* clause: c.8.1 */
TEST(peer_07__cno_attached_later__is_triggered_by_completions)
{
	struct dt_pair pair;
	DAT_CNO_HANDLE cno = pair_with_cno(&pair, no_agent, false);
	DAT_EVENT event;
	DAT_COUNT more;

	dt_send(&pair.a, 0, 64, 1); /* the private channel has been in use */
	dt_ok(dat_evd_wait(pair.b.recv, LONG, 1, &event, &more));
	dt_ok(dat_evd_modify_cno(pair.b.recv, cno));
	dt_nap_ms(20); /* by then the loop has armed the queue, and waits for a notification */
	dt_send(&pair.a, 0, 64, 2);
	cno_expect(cno, pair.b.recv);
	dt_pair_close(&pair);
}

/* origin: peer.8 */
/* clause: c.8.1 */
TEST(peer_08__cno_taken_away__waiter_gets_its_own_and_others_get_theirs)
{
	unsigned long long began;
	struct dt_pair pair;
	struct evd_waiter w;
	DAT_CNO_HANDLE cno;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_ok(dat_cno_create(pair.b.ia, no_agent, &cno));
	dt_ok(dat_ep_free(pair.b.ep));
	/* Created with a CNO: both use the shared channel. */
	dt_ok(dat_evd_create(pair.b.ia, 64, cno, DAT_EVD_DTO_FLAG, &pair.b.recv));
	dt_ok(dat_evd_create(pair.b.ia, 64, cno, DAT_EVD_DTO_FLAG, &pair.b.request));
	pair.b.ep = dt_ep(&pair.b, NULL);
	for (DAT_UINT64 i = 0; i < 4; i++)
		dt_recv(&pair.b, 0, 64, i);
	dt_recv(&pair.a, 0, 64, 1);
	dt_connect_pair(&pair);
	dt_ok(dat_evd_modify_cno(pair.b.recv, DAT_HANDLE_NULL));
	for (int i = 0; i < 3; i++) {
		evd_waiter_start(&w, pair.b.recv, LONG, 1);
		began = dt_now_us();
		dt_send(&pair.a, 0, 64, 1);
		dt_assert_ret(evd_waiter_join(&w), DAT_SUCCESS);
		ck_assert_uint_lt(dt_now_us() - began, LONG / 2); /* woken, not at its deadline */
	}
	dt_send(&pair.b, 0, 64, 3);
	cno_expect(cno, pair.b.request);
	dt_pair_close(&pair);
}

/* origin: peer.9 */
/* clause: c.6.2, c.8.1 */
TEST(peer_09__enabled_or_attached_with_a_completion_queued__notified)
{
	struct dt_pair pair;
	DAT_CNO_HANDLE cno = pair_with_cno(&pair, no_agent, false);
	DAT_EVD_HANDLE triggered;
	DAT_EVENT event;

	/* Nothing was armed when these came. */
	dt_send(&pair.a, 0, 64, 1);
	dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
	dt_ok(dat_evd_modify_cno(pair.b.recv, cno));
	cno_expect(cno, pair.b.recv);
	dt_ok(dat_evd_dequeue(pair.b.recv, &event));

	dt_ok(dat_evd_disable(pair.b.request));
	dt_ok(dat_evd_modify_cno(pair.b.request, cno));
	dt_recv(&pair.a, 0, 64, 1);
	dt_send(&pair.b, 0, 64, 1);
	dt_expect_dto(pair.a.recv, pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
	dt_ok(dat_evd_enable(pair.b.request));
	cno_expect(cno, pair.b.request);
	dt_ok(dat_evd_dequeue(pair.b.request, &event));

	/* The notification of these came while there was no sink. */
	dt_ok(dat_evd_disable(pair.b.recv));
	dt_send(&pair.a, 0, 64, 1);
	dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
	dt_assert_type(dat_cno_wait(cno, 20000, &triggered), DAT_QUEUE_EMPTY);
	dt_ok(dat_evd_enable(pair.b.recv));
	cno_expect(cno, pair.b.recv);
	dt_ok(dat_evd_dequeue(pair.b.recv, &event));

	dt_ok(dat_evd_modify_cno(pair.b.recv, DAT_HANDLE_NULL));
	dt_send(&pair.a, 0, 64, 2);
	dt_expect_dto(pair.a.request, pair.a.ep, 2, DAT_DTO_SUCCESS, &event);
	dt_ok(dat_evd_modify_cno(pair.b.recv, cno));
	cno_expect(cno, pair.b.recv);
	dt_pair_close(&pair);
}

struct poster {
	DAT_EVD_HANDLE evd;
	_Atomic(int) go, posted;
};

static void *
post_when_notified(void *arg)
{
	struct poster *p = arg;

	for (int seen = 0;;) {
		int go = p->go;

		if (go < 0)
			return NULL;
		if (go == seen)
			continue;
		seen = go;
		for (volatile int spin = 0; spin < (go * 977) % 40000; spin++)
			;
		dt_post_se(p->evd, 1);
		p->posted = go;
	}
}

/* Posts come before, at and after the end of the wait. */
/* origin: peer.10 */
/* clause: c.13.5 */
TEST(peer_10__trigger_at_the_deadline__is_returned_or_stays)
{
	struct poster p = { .go = 0 };
	struct dt_side side;
	DAT_EVD_HANDLE triggered;
	DAT_CNO_HANDLE cno;
	pthread_t thread;
	DAT_EVENT event;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_cno_create(side.ia, no_agent, &cno));
	dt_ok(dat_evd_create(side.ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &p.evd));
	pthread_create(&thread, NULL, post_when_notified, &p);
	for (int i = 1; i <= 300; i++) {
		p.go = i;
		if (dat_cno_wait(cno, 60, &triggered) != DAT_SUCCESS) {
			ck_assert_ptr_null(triggered);
			dt_ok(dat_cno_wait(cno, LONG, &triggered));
		}
		ck_assert_ptr_eq(triggered, p.evd);
		dt_ok(dat_evd_dequeue(p.evd, &event));
	}
	p.go = -1;
	pthread_join(thread, NULL);
	dt_side_close(&side);
}

struct agent {
	_Atomic(int) calls, taken;
	DAT_EVD_HANDLE triggered;
	DAT_EP_HANDLE ep;
	DAT_RETURN rets[2];
};

static void
count_calls(DAT_PVOID instance, DAT_EVD_HANDLE evd)
{
	struct agent *a = instance;

	a->triggered = evd;
	a->calls++;
}

/* origin: peer.11 */
/* clause: c.13.8, c.13.9 */
TEST(peer_11__agent_installed_again__is_called_again_and_again)
{
	struct agent a = { .calls = 0 };
	const DAT_OS_WAIT_PROXY_AGENT agent = { &a, count_calls };
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;
	DAT_EVENT event;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_cno_create(side.ia, agent, &cno));
	dt_ok(dat_evd_create(side.ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &evd));
	for (int i = 1; i <= 5; i++) {
		dt_post_se(evd, 1);
		dt_await_count(&a.calls, i);
		ck_assert_ptr_eq(a.triggered, evd);
		dt_ok(dat_evd_dequeue(evd, &event));
		dt_ok(dat_cno_modify_agent(cno, agent));
	}
	dt_side_close(&side);
}

static void
drain(DAT_PVOID instance, DAT_EVD_HANDLE evd)
{
	struct agent *a = instance;
	DAT_EVENT event;

	while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
		a->taken++;
	a->calls++;
}

/* origin: peer.12 */
/* clause: c.13.8 */
TEST(peer_12__agent_that_dequeues__gets_its_events)
{
	struct agent a = { .calls = 0 };
	const DAT_OS_WAIT_PROXY_AGENT agent = { &a, drain };
	struct dt_pair pair;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;

	cno = pair_with_cno(&pair, agent, true);
	dt_send(&pair.a, 0, 64, 1);
	dt_await_count(&a.taken, 1);
	dt_await_count(&a.calls, 1);
	dt_ok(dat_evd_create(pair.b.ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &evd));
	dt_ok(dat_cno_modify_agent(cno, agent));
	dt_post_se(evd, 1);
	dt_await_count(&a.taken, 2);
	dt_pair_close(&pair);
}

static void
free_both(DAT_PVOID instance, DAT_EVD_HANDLE evd)
{
	struct agent *a = instance;

	a->triggered = evd;
	a->rets[0] = dat_ep_free(a->ep);
	a->rets[1] = dat_evd_free(evd);
	a->calls++;
}

/* The notification that led to the agent has not been acknowledged when the agent frees. */
/* origin: peer.13 */
/* clause: c.13.8 */
TEST(peer_13__agent_that_frees_its_evd_on_a_completion__returns)
{
	struct agent a = { .calls = 0 };
	const DAT_OS_WAIT_PROXY_AGENT agent = { &a, free_both };
	struct dt_pair pair;
	DAT_EVENT event;

	pair_with_cno(&pair, agent, true);
	a.ep = pair.b.ep;
	dt_send(&pair.a, 0, 64, 1);
	dt_await_count(&a.calls, 1);
	ck_assert_ptr_eq(a.triggered, pair.b.recv);
	dt_ok(a.rets[0]);
	dt_ok(a.rets[1]);
	dt_assert_type(dat_evd_dequeue(pair.b.recv, &event), DAT_INVALID_HANDLE);
	dt_pair_close(&pair);
}
