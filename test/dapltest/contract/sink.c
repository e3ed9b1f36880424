/* SPDX-License-Identifier: BSD-3-Clause */
/* Clauses c.6 and c.8: disable and enable an EVD, and move it from CNO to CNO. */
#include "lib/contract.h"

#define FOREVER (DT_FOREVER_MS * 1000u)
#define BOTH (DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG)

DT_CASE("c.8-sink:sink");

/* clause: c.6.1, c.6.2, c.6.3, c.6.4 */
TEST_LOOP(disabled__events_queue_and_enabling_reports_them, dt_personalities())
{
	const DAT_RETURN bad_handle = DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
	DAT_EVD_HANDLE evd, triggered;
	struct dt_side side;
	DAT_CNO_HANDLE cno;

	contract_side(&side, _i);
	cno = contract_cno(&side);
	evd = contract_evd(&side, cno, BOTH, 8);
	for (uintptr_t round = 0; round < 3; round++) {
		dt_ok(dat_evd_disable(evd));
		dt_ok(dat_evd_disable(evd));
		dt_post_se(evd, round);
		dt_assert_type(dat_cno_wait(cno, 5000, &triggered), DAT_QUEUE_EMPTY);
		dt_ok(dat_evd_enable(evd));
		dt_ok(dat_cno_wait(cno, FOREVER, &triggered));
		ck_assert_ptr_eq(triggered, evd);
		dt_ok(dat_evd_enable(evd)); /* changes nothing, so triggers nothing */
		dt_assert_type(dat_cno_wait(cno, 5000, &triggered), DAT_QUEUE_EMPTY);
		contract_expect_se(evd, round);
	}
	dt_ok(dat_evd_disable(evd));
	dt_ok(dat_evd_enable(evd)); /* nothing is queued */
	dt_assert_type(dat_cno_wait(cno, 5000, &triggered), DAT_QUEUE_EMPTY);
	dt_assert_ret(dat_evd_enable(side.ep), bad_handle);
	dt_assert_ret(dat_evd_disable(side.ep), bad_handle);
	dt_side_close(&side);
}

/* clause: c.6.2 */
TEST_LOOP(disabled__completions_arrive__enabling_reports_them, dt_personalities())
{
	struct dt_pair pair;
	DAT_EVD_HANDLE triggered;
	DAT_CNO_HANDLE cno;
	DAT_EVENT event;

	contract_pair(&pair, DT_SEPARATE, _i);
	cno = contract_cno(&pair.b);
	dt_ok(dat_evd_modify_cno(pair.b.recv, cno));
	dt_ok(dat_evd_disable(pair.b.recv));
	while (dat_cno_wait(cno, 1000, &triggered) == DAT_SUCCESS)
		; /* earlier spurious notifications */
	dt_recv(&pair.b, 0, 64, 1);
	dt_send(&pair.a, 0, 64, 1);
	dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
	dt_assert_type(dat_cno_wait(cno, 5000, &triggered), DAT_QUEUE_EMPTY);
	dt_ok(dat_evd_enable(pair.b.recv));
	dt_ok(dat_cno_wait(cno, FOREVER, &triggered));
	ck_assert_ptr_eq(triggered, pair.b.recv);
	dt_poll_next(pair.b.recv, &event);
	dt_pair_close(&pair);
}

/* clause: c.8.1, c.8.3 */
TEST_LOOP(
    modify_cno__none_to_one_to_another_to_none__what_is_queued_is_reported, dt_personalities())
{
	DAT_EVD_HANDLE evd, triggered;
	DAT_CNO_HANDLE a, b;
	struct dt_side side;

	contract_side(&side, _i);
	a = contract_cno(&side);
	b = contract_cno(&side);
	evd = contract_evd(&side, DAT_HANDLE_NULL, BOTH, 8);
	dt_post_se(evd, 1);
	dt_ok(dat_evd_modify_cno(evd, a));
	ck_assert_ptr_eq(contract_query(evd).cno_handle, a);
	dt_ok(dat_cno_wait(a, FOREVER, &triggered));
	ck_assert_ptr_eq(triggered, evd);
	dt_ok(dat_evd_modify_cno(evd, b));
	dt_ok(dat_cno_wait(b, FOREVER, &triggered));
	ck_assert_ptr_eq(triggered, evd);
	dt_ok(dat_evd_modify_cno(evd, DAT_HANDLE_NULL));
	ck_assert_ptr_null(contract_query(evd).cno_handle);
	dt_post_se(evd, 2);
	dt_assert_type(dat_cno_wait(a, 2000, &triggered), DAT_QUEUE_EMPTY);
	dt_assert_type(dat_cno_wait(b, 2000, &triggered), DAT_QUEUE_EMPTY);
	dt_assert_ret(dat_evd_modify_cno(evd, side.ep),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
	dt_assert_ret(
	    dat_evd_modify_cno(side.ep, a), DAT_ERROR(DAT_INVALID_HANDLE, DAT_NO_SUBTYPE));
	dt_ok(dat_cno_free(b));
	dt_assert_ret(
	    dat_evd_modify_cno(evd, b), DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
	contract_expect_se(evd, 1);
	contract_expect_se(evd, 2);
	dt_side_close(&side);
}

struct load {
	struct dt_pair pair;
	DAT_CNO_HANDLE cno[2];
	int n;
	_Atomic(int) seen, wrong, timeouts;
	_Atomic(int) sent;
};

struct consumer {
	struct load *load;
	DAT_CNO_HANDLE cno;
};

/* Drains the EVD only after a trigger of its CNO. */
static void *
consume(void *arg)
{
	const struct consumer *c = arg;
	struct load *l = c->load;
	DAT_EVD_HANDLE triggered;
	DAT_EVENT event;

	while (l->seen < l->n) {
		/* While the EVD is attached to the other CNO, this one is not triggered. */
		if (dat_cno_wait(c->cno, 2000, &triggered) != DAT_SUCCESS || !triggered)
			continue;
		l->wrong += triggered != l->pair.b.recv;
		while (dat_evd_dequeue(triggered, &event) == DAT_SUCCESS)
			l->seen++;
	}
	return NULL;
}

static void *
send_all(void *arg)
{
	struct load *l = arg;
	DAT_EVENT event;

	for (int i = 0; i < l->n; i++) {
		dt_send(&l->pair.a, 0, 64, (DAT_UINT64)i);
		dt_poll_next(l->pair.a.request, &event);
		l->sent++;
	}
	return NULL;
}

/* A third thread moves the EVD all the time; at the end it stays with one of the two CNOs. */
static void
under_load(struct load *l, int i, void (*disturb)(struct load *l, unsigned int round))
{
	struct consumer consumer[2];
	pthread_t thread[3];
	unsigned int round = 0;
	DAT_EP_ATTR attr;
	DAT_EP_PARAM param;

	dt_personality(i);
	memset(l, 0, sizeof *l);
	l->n = contract_load(200);
	dt_pair_open(&l->pair, DT_SEPARATE);
	dt_ok(dat_ep_query(l->pair.b.ep, DAT_EP_FIELD_EP_ATTR_ALL, &param));
	attr = param.ep_attr;
	attr.max_recv_dtos = l->n;
	dt_ok(dat_ep_free(l->pair.b.ep));
	l->pair.b.ep = dt_ep(&l->pair.b, &attr);
	dt_connect_pair(&l->pair);
	for (int r = 0; r < l->n; r++)
		dt_recv(&l->pair.b, 0, 64, (DAT_UINT64)r);
	for (int c = 0; c < 2; c++) {
		l->cno[c] = contract_cno(&l->pair.b);
		consumer[c] = (struct consumer){ l, l->cno[c] };
		ck_assert_int_eq(pthread_create(&thread[c], NULL, consume, &consumer[c]), 0);
	}
	dt_ok(dat_evd_modify_cno(l->pair.b.recv, l->cno[0]));
	ck_assert_int_eq(pthread_create(&thread[2], NULL, send_all, l), 0);
	while (l->sent < l->n)
		disturb(l, round++);
	dt_ok(dat_evd_enable(l->pair.b.recv));
	dt_ok(dat_evd_modify_cno(l->pair.b.recv, l->cno[1]));
	dt_await_count(&l->seen, l->n);
	for (int t = 0; t < 3; t++)
		pthread_join(thread[t], NULL);
	ck_assert_int_eq(l->seen, l->n);
	ck_assert_int_eq(l->wrong, 0);
	dt_pair_close(&l->pair);
}

static void
give_away(struct load *l, unsigned int round)
{
	dt_ok(dat_evd_modify_cno(
	    l->pair.b.recv, round % 3 == 2 ? DAT_HANDLE_NULL : l->cno[round % 3]));
	if (round % 8 == 0)
		dt_nap_ms(1);
}

static void
switch_off_and_on(struct load *l, unsigned int round)
{
	if (round % 2)
		dt_ok(dat_evd_enable(l->pair.b.recv));
	else
		dt_ok(dat_evd_disable(l->pair.b.recv));
	if (round % 8 == 0)
		dt_nap_ms(1);
}

static void
everything(struct load *l, unsigned int round)
{
	switch_off_and_on(l, round / 3);
	give_away(l, round);
}

static void
quiet_upcall(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct load *l = instance;

	(void)event;
	(void)more;
	l->seen++;
}

/* From CNO to upcalls and back: another kind of sink. */
static void
to_upcalls_and_back(struct load *l, unsigned int round)
{
	const DAT_UPCALL_OBJECT upcall = { l, quiet_upcall };
	DAT_RETURN ret;

	ret = dat_evd_modify_upcall(l->pair.b.recv,
	    round % 2 ? DAT_UPCALL_DISABLE : DAT_UPCALL_SINGLE_INSTANCE, &upcall,
	    DAT_UPCALL_INVOC_ANY);
	dt_ok(ret);
	if (round % 4 == 0)
		dt_nap_ms(1);
	if (round % 2 == 0)
		to_upcalls_and_back(l, 1);
}

DT_CASE("c.8-sink:load");

/* clause: c.8.2 */
TEST_LOOP(modify_cno__under_load__one_of_the_two_is_notified_of_every_event, dt_personalities())
{
	static struct load l;

	under_load(&l, _i, give_away);
}

/* clause: c.6.2, c.6.1 */
TEST_LOOP(enable_and_disable__under_load__every_event_is_reported, dt_personalities())
{
	static struct load l;

	under_load(&l, _i, switch_off_and_on);
}

/* clause: c.8.2, c.6.2 */
TEST_LOOP(modify_cno_and_enable__under_load__every_event_is_reported, dt_personalities())
{
	static struct load l;

	under_load(&l, _i, everything);
}

/* clause: c.8.1 */
TEST_LOOP(upcalls_and_cno__in_turn_under_load__every_event_is_seen_once, dt_personalities())
{
	static struct load l;

	under_load(&l, _i, to_upcalls_and_back);
}
