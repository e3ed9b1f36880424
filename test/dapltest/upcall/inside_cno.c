/* SPDX-License-Identifier: BSD-3-Clause */
/* From inside an upcall, under every policy: calls on CNOs */
#include "inside.h"
#include "lib/runner.h"

static const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };

static void
attaches_a_cno(struct inside *in)
{
	dt_ok(dat_cno_create(in->up.ia, no_agent, &in->handle));
	in->ret = dat_evd_modify_cno(in->up.evd, in->handle);
}

DT_CASE("inside-cno:cno");

/* clause: c.14.24, c.8.1 */
TEST_LOOP(modify_cno_inside__its_own_evd__notified_if_and_only_if_no_upcall_takes, UP_POLICIES)
{
	DAT_EVD_HANDLE triggered;
	struct inside in;
	DAT_EVENT event;

	inside_open(&in, _i);
	inside_do(&in, attaches_a_cno);
	dt_ok(in.ret);
	in.up.act = in.policy == DAT_UPCALL_NORIFY ? up_drain : NULL;
	dt_post_se(in.up.evd, 2);
	if (up_calls(in.policy)) {
		up_await_noted(&in.up, 2);
		dt_assert_type(dat_cno_wait(in.handle, 1000, &triggered), DAT_QUEUE_EMPTY);
		up_await_returned(&in.up, 2);
	} else {
		dt_ok(dat_cno_wait(in.handle, DT_FOREVER_MS * 1000u, &triggered));
		ck_assert_ptr_eq(triggered, in.up.evd);
		dt_ok(dat_evd_dequeue(in.up.evd, &event));
	}
	dt_ok(dat_evd_modify_cno(in.up.evd, DAT_HANDLE_NULL));
	dt_ok(dat_cno_free(in.handle));
	inside_close(&in);
}

static void
hands_over_to_a_cno(struct inside *in)
{
	DAT_EVD_HANDLE triggered;

	dt_ok(dat_evd_modify_cno(in->up.evd, in->handle));
	dt_ok(up_try(&in->up, DAT_UPCALL_DISABLE, DAT_UPCALL_INVOC_ANY));
	in->ret = dat_cno_wait(in->handle, DT_FOREVER_MS * 1000u, &triggered);
	dt_ok(dat_evd_modify_cno(in->up.evd, DAT_HANDLE_NULL));
	up_drain(&in->up, NULL);
	if (up_calls(in->policy))
		dt_ok(up_try(&in->up, in->policy, DAT_UPCALL_INVOC_NEW));
}

/* clause: c.14.31 */
TEST_LOOP(cno_wait_inside__on_its_own_evd_handed_over__wakes, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	dt_ok(dat_cno_create(in.up.ia, no_agent, &in.handle));
	inside_begin(&in, hands_over_to_a_cno);
	up_await_off(&in.up);
	dt_nap_ms(5);
	dt_post_se(in.up.evd, 2);
	inside_end(&in);
	dt_ok(in.ret);
	ck_assert_uint_eq(up_value(&in.up.notes[in.up.noted - 1].event), 2);
	dt_ok(dat_cno_free(in.handle));
	inside_close(&in);
}

static void
waits_on_a_cno(struct inside *in)
{
	DAT_EVD_HANDLE triggered = in->up.evd;

	in->ret = dat_cno_wait(in->handle, DT_FOREVER_MS * 1000u, &triggered);
	in->handle = triggered;
}

/* clause: c.14.31 */
TEST_LOOP(cno_wait_inside__on_another_evd__wakes, UP_POLICIES)
{
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;
	struct inside in;

	inside_open(&in, _i);
	dt_ok(dat_cno_create(in.up.ia, no_agent, &cno));
	dt_ok(dat_evd_create(in.up.ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &evd));
	in.handle = cno;
	inside_begin(&in, waits_on_a_cno);
	dt_nap_ms(3);
	dt_post_se(evd, 2);
	inside_end(&in);
	dt_ok(in.ret);
	ck_assert_ptr_eq(in.handle, evd);
	inside_close(&in);
}

static void
waits_on_an_untriggered_cno(struct inside *in)
{
	DAT_EVD_HANDLE triggered = in->up.evd;

	dt_ok(dat_cno_create(in->up.ia, no_agent, &in->handle));
	in->ret = dat_cno_wait(in->handle, 3000, &triggered);
	ck_assert_ptr_eq(triggered, DAT_HANDLE_NULL);
	in->second = dat_cno_free(in->handle);
}

/* clause: c.14.31, c.13.4 */
TEST_LOOP(cno_wait_inside__nothing_comes__ends_in_time, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, waits_on_an_untriggered_cno);
	dt_assert_type(in.ret, DAT_QUEUE_EMPTY);
	dt_ok(in.second);
	inside_close(&in);
}

static DAT_EVD_HANDLE neighbour;
static _Atomic(int) agent_calls;

static void
agent(DAT_PVOID instance, DAT_EVD_HANDLE evd)
{
	(void)instance;
	(void)evd;
	agent_calls++;
}

static void
installs_an_agent(struct inside *in)
{
	DAT_OS_WAIT_PROXY_AGENT counting = { NULL, agent };

	dt_ok(dat_cno_modify_agent(in->handle, counting));
	dt_post_se(neighbour, 1);
}

/* clause: c.14.24, c.13.8 */
TEST_LOOP(modify_agent_inside__then_triggered__is_called_once, UP_POLICIES)
{
	struct inside in;

	agent_calls = 0;
	inside_open(&in, _i);
	dt_ok(dat_cno_create(in.up.ia, no_agent, &in.handle));
	dt_ok(dat_evd_create(in.up.ia, 8, in.handle, DAT_EVD_SOFTWARE_FLAG, &neighbour));
	inside_do(&in, installs_an_agent);
	dt_await_count(&agent_calls, 1);
	dt_nap_ms(5);
	ck_assert_int_eq(agent_calls, 1);
	inside_close(&in);
}

/* ---- NOTIFY: events that are left queued are not reported again ---- */

struct notified {
	DAT_EVD_HANDLE evd;
	DAT_CNO_HANDLE cno;
	int change;
	_Atomic(int) calls;
};

static void
change_the_cno(struct notified *n)
{
	switch (n->change) {
	case 0: /* none, as before */
		dt_ok(dat_evd_modify_cno(n->evd, DAT_HANDLE_NULL));
		break;
	case 1:
		dt_ok(dat_evd_modify_cno(n->evd, n->cno));
		break;
	default:
		dt_ok(dat_evd_disable(n->evd));
		dt_ok(dat_evd_enable(n->evd));
		break;
	}
}

static void
leaves_the_event(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct notified *n = instance;

	(void)event;
	(void)more;
	n->calls++;
	change_the_cno(n);
}

/* origin: out33.A10 */
TEST_LOOP(cno_changed_under_notify__queued_events__are_not_reported_again, 3)
{
	struct notified n = { .change = _i };
	DAT_UPCALL_OBJECT object = { &n, leaves_the_event };
	DAT_EVD_HANDLE triggered;
	struct dt_side side;
	DAT_EVENT event;

	dt_side_open(&side, "soft", DT_SEPARATE);
	dt_ok(dat_cno_create(side.ia, no_agent, &n.cno));
	n.evd = dt_evd(&side, DAT_EVD_SOFTWARE_FLAG, 8);
	dt_ok(dat_evd_modify_upcall(n.evd, DAT_UPCALL_NOTIFY, &object, DAT_UPCALL_INVOC_ANY));
	dt_post_se(n.evd, 1);
	dt_await_count(&n.calls, 1);
	dt_nap_ms(20);
	ck_assert_int_eq(n.calls, 1);
	for (int i = 0; i < 5; i++)
		change_the_cno(&n);
	dt_nap_ms(20);
	ck_assert_int_eq(n.calls, 1);
	dt_post_se(n.evd, 2);
	dt_await_count(&n.calls, 2);
	/* Both are there for the CNO when the policy ends. */
	dt_ok(dat_evd_modify_cno(n.evd, n.cno));
	dt_ok(dat_evd_modify_upcall(n.evd, DAT_UPCALL_TEARDOWN, NULL, DAT_UPCALL_INVOC_NEW));
	dt_ok(dat_cno_wait(n.cno, DT_FOREVER_MS * 1000u, &triggered));
	ck_assert_ptr_eq(triggered, n.evd);
	dt_ok(dat_evd_dequeue(n.evd, &event));
	dt_ok(dat_evd_dequeue(n.evd, &event));
	ck_assert_int_eq(n.calls, 2);
	dt_close(side.ia);
}
