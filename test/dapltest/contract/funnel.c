/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clause c.13.7: many EVDs, one CNO, many waiters.  Each drains only the EVD that its wait
 * returned.
 *
 * REARM_TEST_LOAD=2500 makes it a million events.
 */
#include "lib/contract.h"

#include <sched.h>

#define EVDS 64
#define WAITERS 8
#define POSTERS 2
#define PAIRS 4

/* On a busy machine some waiters do all the work, and the others sleep as long as that takes. */
#define PATIENCE_US 100000000u

struct funnel {
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd[EVDS];
	int n; /* the number of events */
	_Atomic(int) next, seen, timeouts, wrong, left;
};

/*
 * Returns when n waiters have left.  The end of the CNO's last EVD ends only a blocked wait.  For
 * threads between two waits, EVDs are created and freed until all have left.
 */
static void
send_away(struct funnel *f, struct dt_side *side, int n)
{
	while (f->left < n) {
		dt_ok(dat_evd_free(contract_evd(side, f->cno, DAT_EVD_SOFTWARE_FLAG, 1)));
		dt_nap_ms(1);
	}
}

static void *
post_events(void *arg)
{
	struct funnel *f = arg;
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	int i;

	while ((i = f->next++) < f->n)
		while (dat_evd_post_se(f->evd[i * 7 % EVDS], &event) != DAT_SUCCESS)
			sched_yield();
	return NULL;
}

static void
drain_what_is_handed(struct funnel *f)
{
	DAT_EVD_HANDLE triggered;
	DAT_EVENT event;
	DAT_RETURN ret;

	for (;;) {
		ret = dat_cno_wait(f->cno, PATIENCE_US, &triggered);
		if (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY) {
			f->timeouts++;
			return;
		}
		if (ret != DAT_SUCCESS) {
			f->wrong++;
			return;
		}
		if (triggered == DAT_HANDLE_NULL)
			return; /* the last EVD was freed: the end */
		while (dat_evd_dequeue(triggered, &event) == DAT_SUCCESS)
			f->seen++;
	}
}

static void *
drain_until_sent_away(void *arg)
{
	struct funnel *f = arg;

	drain_what_is_handed(f);
	f->left++;
	return NULL;
}

DT_CASE("c.13-funnel:funnel", .seconds = 120);

/* clause: c.13.7, c.13.3 */
TEST(sixty_four_evds__eight_waiters__every_event_is_seen_and_no_wait_times_out)
{
	static struct funnel f;
	pthread_t poster[POSTERS], waiter[WAITERS];
	struct dt_side side;

	memset(&f, 0, sizeof f);
	f.n = contract_load(40000);
	contract_side(&side, 0);
	f.cno = contract_cno(&side);
	for (int i = 0; i < EVDS; i++)
		f.evd[i] = contract_evd(&side, f.cno, DAT_EVD_SOFTWARE_FLAG, 64);
	for (int i = 0; i < WAITERS; i++)
		ck_assert_int_eq(pthread_create(&waiter[i], NULL, drain_until_sent_away, &f), 0);
	for (int i = 0; i < POSTERS; i++)
		ck_assert_int_eq(pthread_create(&poster[i], NULL, post_events, &f), 0);
	for (int i = 0; i < POSTERS; i++)
		pthread_join(poster[i], NULL);
	dt_await_count(&f.seen, f.n);
	for (int i = 0; i < EVDS; i++)
		dt_ok(dat_evd_free(f.evd[i]));
	send_away(&f, &side, WAITERS);
	for (int i = 0; i < WAITERS; i++)
		pthread_join(waiter[i], NULL);
	ck_assert_int_eq(f.seen, f.n);
	ck_assert_int_eq(f.timeouts, 0);
	ck_assert_int_eq(f.wrong, 0);
	dt_side_close(&side);
}

/* A connection of the test with completions: a pair of endpoints and a receive EVD. */
struct line {
	struct dt_side a, b;
	size_t at; /* of its messages in the shared buffers */
	int n;
	_Atomic(int) received;
};

static struct line lines[PAIRS];

static void *
send_messages(void *arg)
{
	struct line *line = arg;
	DAT_EVENT event;

	for (int i = 0; i < line->n; i++) {
		while (i - line->received >= 8)
			dt_nap_ms(1);
		dt_send(&line->a, line->at, 64, (DAT_UINT64)i);
		dt_poll_next(line->a.request, &event);
	}
	return NULL;
}

static void *
receive_what_is_handed(void *arg)
{
	struct funnel *f = arg;
	DAT_EVD_HANDLE triggered;
	DAT_EVENT event;
	struct line *line;

	for (;;) {
		if (dat_cno_wait(f->cno, PATIENCE_US, &triggered) != DAT_SUCCESS) {
			f->timeouts++;
			break;
		}
		if (triggered == DAT_HANDLE_NULL)
			break; /* the last EVD was taken away: the end */
		for (line = lines; line->b.recv != triggered; line++)
			;
		while (dat_evd_dequeue(triggered, &event) == DAT_SUCCESS) {
			f->wrong +=
			    event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS;
			line->received++;
			f->seen++;
		}
	}
	f->left++;
	return NULL;
}

/* clause: c.13.7, c.13.2 */
TEST_LOOP(completions_of_four_connections__two_waiters__every_one_is_seen, dt_personalities())
{
	static struct funnel f;
	pthread_t sender[PAIRS], waiter[2];
	struct dt_pair pair;

	memset(&f, 0, sizeof f);
	dt_personality(_i);
	dt_pair_open(&pair, DT_SEPARATE);
	f.cno = contract_cno(&pair.b);
	for (int i = 0; i < PAIRS; i++) {
		struct line *line = &lines[i];
		DAT_EP_ATTR attr;
		DAT_EP_PARAM param;

		dt_ok(dat_ep_query(pair.a.ep, DAT_EP_FIELD_ALL, &param));
		attr = param.ep_attr;
		line->received = 0;
		line->at = (size_t)i * 64;
		line->n = contract_load(100);
		attr.max_recv_dtos = line->n + 1;
		line->a = pair.a;
		line->b = pair.b;
		line->a.request = dt_evd(&pair.a, DAT_EVD_DTO_FLAG, 16);
		line->b.recv = contract_evd(&pair.b, f.cno, DAT_EVD_DTO_FLAG, 16);
		line->a.ep = dt_ep(&line->a, NULL);
		line->b.ep = dt_ep(&line->b, &attr);
		dt_connect_pair(&(struct dt_pair){ line->a, line->b });
		for (int r = 0; r < line->n; r++)
			dt_recv(&line->b, line->at, 64, (DAT_UINT64)r);
		f.n += line->n;
	}
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&waiter[i], NULL, receive_what_is_handed, &f), 0);
	for (int i = 0; i < PAIRS; i++)
		ck_assert_int_eq(pthread_create(&sender[i], NULL, send_messages, &lines[i]), 0);
	for (int i = 0; i < PAIRS; i++)
		pthread_join(sender[i], NULL);
	dt_await_count(&f.seen, f.n);
	for (int i = 0; i < PAIRS; i++)
		dt_ok(dat_evd_modify_cno(lines[i].b.recv, DAT_HANDLE_NULL));
	send_away(&f, &pair.b, 2);
	for (int i = 0; i < 2; i++)
		pthread_join(waiter[i], NULL);
	ck_assert_int_eq(f.seen, f.n);
	ck_assert_int_eq(f.timeouts, 0);
	ck_assert_int_eq(f.wrong, 0);
	dt_pair_close(&pair);
}
