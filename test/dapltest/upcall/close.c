/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Abrupt close while upcalls and agents are blocked in waits.  The close destroys the objects that
 * they wait on, and must release them whatever the order.
 */
#include <stdlib.h>

#include "lib/upcall_story.h"
#include "lib/runner.h"

struct blocked {
	struct dt_side side;
	struct up up;	    /* its upcall, or an agent, waits */
	DAT_EVD_HANDLE evd; /* for an event of this one */
	DAT_CNO_HANDLE cno; /* or for a trigger of this one */
	DAT_RETURN ret, again;
	DAT_EVD_HANDLE triggered;
	_Atomic(int) released;
};

static void
wait_for_evd(struct blocked *b)
{
	DAT_EVENT event;
	DAT_COUNT more;

	b->ret = dat_evd_wait(b->evd, DAT_TIMEOUT_INFINITE, 1, &event, &more);
	b->again = dat_evd_wait(b->evd, DAT_TIMEOUT_INFINITE, 1, &event, &more);
	b->released++;
}

static void
waits_for_evd(struct up *up, const DAT_EVENT *event)
{
	(void)event;
	wait_for_evd(up->arg);
}

static void
agent_waits_for_evd(DAT_PVOID instance, DAT_EVD_HANDLE evd)
{
	struct blocked *b = instance;

	(void)evd;
	b->up.entered++;
	wait_for_evd(b);
}

static void
waits_for_cno(struct up *up, const DAT_EVENT *event)
{
	struct blocked *b = up->arg;
	DAT_EVD_HANDLE none;

	(void)event;
	b->ret = dat_cno_wait(b->cno, DAT_TIMEOUT_INFINITE, &b->triggered);
	b->again = dat_cno_wait(b->cno, DAT_TIMEOUT_INFINITE, &none);
	b->released++;
}

static void
begin(struct blocked *b, void (*act)(struct up *up, const DAT_EVENT *event))
{
	b->released = 0;
	b->triggered = b;
	up_init(&b->up);
	b->up.arg = b;
	b->up.act = act;
	dt_side_open(&b->side, "soft", DT_SEPARATE);
}

static void
let_wait(struct blocked *b)
{
	dt_post_se(b->up.evd, 0);
	up_await_entered(&b->up, 1);
	dt_nap_ms(20); /* it is blocked by then, most of the time */
}

static void
close_releases(struct blocked *b)
{
	dt_ok(dat_ia_close(b->side.ia, DAT_CLOSE_ABRUPT_FLAG));
	ck_assert_int_eq(b->released, 1);
	free(b->side.buffer);
}

DT_CASE("close:close");

/* clause: c.14.26, c.14.31, e.9.1 */
TEST_LOOP(close__an_upcall_waits_for_an_evd__it_gets_abort, 4 * UP_ENABLING)
{
	const bool older = _i % 2, device = _i / 2 % 2;
	const DAT_UPCALL_POLICY policy = up_policies[_i / 4];
	const DAT_EVD_FLAGS flags = DAT_EVD_SOFTWARE_FLAG | (device ? DAT_EVD_DTO_FLAG : 0);
	struct blocked b;

	begin(&b, waits_for_evd);
	if (older)
		dt_ok(dat_evd_create(b.side.ia, 8, DAT_HANDLE_NULL, flags, &b.evd));
	up_open(&b.up, &b.side, policy, DAT_EVD_SOFTWARE_FLAG);
	if (!older)
		dt_ok(dat_evd_create(b.side.ia, 8, DAT_HANDLE_NULL, flags, &b.evd));
	let_wait(&b);
	close_releases(&b);
	dt_assert_ret(b.ret, DAT_ERROR(DAT_ABORT, DAT_NO_SUBTYPE));
	dt_assert_type(b.again, DAT_INVALID_HANDLE);
}

/* clause: c.13.12, c.14.31, e.9.1 */
TEST_LOOP(close__an_upcall_waits_for_a_cno__it_gets_a_null_evd, 2 * UP_ENABLING)
{
	const bool attached = _i % 2;
	const DAT_UPCALL_POLICY policy = up_policies[_i / 2];
	DAT_OS_WAIT_PROXY_AGENT none = { NULL, NULL };
	struct blocked b;

	begin(&b, waits_for_cno);
	dt_ok(dat_cno_create(b.side.ia, none, &b.cno));
	if (attached)
		dt_ok(dat_evd_create(b.side.ia, 8, b.cno, DAT_EVD_SOFTWARE_FLAG, &b.evd));
	up_open(&b.up, &b.side, policy, DAT_EVD_SOFTWARE_FLAG);
	let_wait(&b);
	close_releases(&b);
	dt_ok(b.ret);
	ck_assert_ptr_null(b.triggered);
	ck_assert(b.again != DAT_SUCCESS);
}

/* clause: c.13.8, e.9.1 */
TEST(close__an_agent_waits_for_an_evd__it_gets_abort)
{
	DAT_OS_WAIT_PROXY_AGENT agent;
	DAT_EVD_HANDLE trigger;
	struct blocked b;
	DAT_CNO_HANDLE cno;

	begin(&b, NULL);
	agent = (DAT_OS_WAIT_PROXY_AGENT){ &b, agent_waits_for_evd };
	dt_ok(dat_cno_create(b.side.ia, agent, &cno));
	dt_ok(dat_evd_create(b.side.ia, 8, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &b.evd));
	dt_ok(dat_evd_create(b.side.ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &trigger));
	dt_post_se(trigger, 0);
	up_await_entered(&b.up, 1);
	dt_nap_ms(20);
	close_releases(&b);
	dt_assert_type(b.ret, DAT_ABORT);
	dt_assert_type(b.again, DAT_INVALID_HANDLE);
}

/* Of the running upcalls, the first one closes the adapter; the others return later. */
static _Atomic(int) closers, ended_at_close;

static void
first_closes(struct up *up, const DAT_EVENT *event)
{
	(void)event;
	if (closers++ == 0) {
		dt_ok(dat_ia_close(up->ia, DAT_CLOSE_ABRUPT_FLAG));
		ended_at_close = up->returned;
	} else {
		dt_nap_ms(30);
	}
}

/* clause: c.14.26, c.14.31, e.9.1 */
TEST(close_inside__others_of_many_stand__returns_after_them)
{
	const int n = up_standing(DAT_UPCALL_MANY);
	struct dt_side side;
	struct up up;

	closers = 0;
	up_begin(&up, &side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	up.act = first_closes;
	up_let_stand(&up, DAT_UPCALL_MANY);
	up.gate = false;
	up_await_returned(&up, n);
	ck_assert_int_eq(ended_at_close, n - 1);
	free(side.buffer);
}

/* clause: c.14.31, e.9.1 */
TEST(close_inside__another_upcall_waits_for_an_evd__it_gets_abort)
{
	struct blocked b;
	struct up closing;

	begin(&b, waits_for_evd);
	dt_ok(dat_evd_create(b.side.ia, 8, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &b.evd));
	up_open(&b.up, &b.side, DAT_UPCALL_SINGLE_INSTANCE, DAT_EVD_SOFTWARE_FLAG);
	closers = 0;
	up_init(&closing);
	closing.act = first_closes;
	up_open(&closing, &b.side, DAT_UPCALL_MANY, DAT_EVD_SOFTWARE_FLAG);
	let_wait(&b);
	dt_post_se(closing.evd, 0);
	up_await_returned(&closing, 1);
	ck_assert_int_eq(b.released, 1);
	dt_assert_type(b.ret, DAT_ABORT);
	dt_assert_type(b.again, DAT_INVALID_HANDLE);
	free(b.side.buffer);
}
