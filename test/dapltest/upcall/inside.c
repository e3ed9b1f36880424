/* SPDX-License-Identifier: BSD-3-Clause */
#include "inside.h"

#include <stdlib.h>

#include "lib/runner.h"

static pthread_t tearer;

static void
makes_the_call(struct up *up, const DAT_EVENT *event)
{
	struct inside *in = up->arg;

	up->act = NULL; /* for the upcalls that follow */
	up_take_reported(up, event);
	in->call(in);
	in->made++;
}

/* The policy under which the upcall is made, before it is switched off. */
static DAT_UPCALL_POLICY
policy_to_enter(DAT_UPCALL_POLICY policy)
{
	return up_calls(policy) ? policy : DAT_UPCALL_SINGLE_INSTANCE;
}

static void
open_evd(struct inside *in, int index)
{
	in->policy = up_policies[index];
	up_open(&in->up, &in->pair.b, policy_to_enter(in->policy), DAT_EVD_SOFTWARE_FLAG);
}

void
inside_open(struct inside *in, int index)
{
	memset(in, 0, sizeof *in);
	up_init(&in->up);
	dt_side_open(&in->pair.b, "soft", DT_SEPARATE);
	open_evd(in, index);
}

void
inside_open_pair(struct inside *in, int index)
{
	memset(in, 0, sizeof *in);
	up_init(&in->up);
	dt_pair_open(&in->pair, DT_SEPARATE);
	dt_recv(&in->pair.a, 0, 64, 100);
	dt_recv(&in->pair.b, 0, 64, 100);
	dt_connect_pair(&in->pair);
	in->paired = true;
	open_evd(in, index);
}

static void *
tears_down(void *arg)
{
	struct inside *in = arg;

	dt_ok(up_try(&in->up, DAT_UPCALL_TEARDOWN, DAT_UPCALL_INVOC_ANY));
	ck_assert_int_eq(in->up.inside, 0);
	return NULL;
}

void
inside_begin(struct inside *in, void (*call)(struct inside *in))
{
	in->call = call;
	in->up.arg = in;
	in->up.act = makes_the_call;
	in->up.gate = true;
	dt_post_se(in->up.evd, 1);
	up_await_inside(&in->up, 1);
	if (in->policy == DAT_UPCALL_DISABLE) {
		up_set(&in->up, DAT_UPCALL_DISABLE);
	} else if (in->policy == DAT_UPCALL_TEARDOWN) {
		tearer = up_thread(tears_down, in);
		up_await_off(&in->up);
	}
	in->up.gate = false;
}

void
inside_end(struct inside *in)
{
	dt_await_count(&in->made, 1); /* under MANY another upcall may return before this one */
	up_await_returned(&in->up, 1);
	if (in->policy == DAT_UPCALL_TEARDOWN)
		up_join(tearer);
}

void
inside_do(struct inside *in, void (*call)(struct inside *in))
{
	inside_begin(in, call);
	inside_end(in);
}

void
inside_close(struct inside *in)
{
	if (!in->closed) {
		if (in->up.evd != DAT_HANDLE_NULL)
			up_assert_policy(&in->up, in->policy);
		dt_close(in->pair.b.ia);
	}
	free(in->pair.b.buffer);
	if (in->paired)
		dt_side_close(&in->pair.a);
}

/* ---- the policy of its own EVD ---- */

#define TARGETS (UP_POLICIES * 2)

static void
modifies(struct inside *in)
{
	in->ret = up_try(&in->up, in->to, in->flag);
}

DT_CASE("inside:policy");

/* clause: c.14.23, c.14.13 */
TEST_LOOP(modify_inside__to_each_policy__takes_effect, UP_POLICIES *TARGETS)
{
	struct inside in;

	inside_open(&in, _i % UP_POLICIES);
	in.to = up_policies[_i / UP_POLICIES % UP_POLICIES];
	in.flag = (DAT_UPCALL_FLAG)(_i / (UP_POLICIES * UP_POLICIES));
	inside_do(&in, modifies);
	dt_ok(in.ret);
	/* An enabling during another thread's TEARDOWN takes effect before the TEARDOWN. */
	if (in.policy != DAT_UPCALL_TEARDOWN)
		in.policy = in.to;
	inside_close(&in);
}

static void
posts_and_modifies(struct inside *in)
{
	dt_post_se(in->up.evd, 2);
	in->ret = up_try(&in->up, in->to, in->flag);
	ck_assert_int_eq(in->up.inside, 1);
}

/* Not from MANY: another of its upcalls may have the event at any time. */
static const int from_index[] = { 0, 2, 3, 4 };
#define FROM 4

/* clause: c.14.23, c.14.15, c.14.16 */
TEST_LOOP(modify_inside__an_event_queued__called_for_any_and_refused_for_new, FROM * 2 * 2)
{
	struct inside in;
	DAT_EVENT event;

	inside_open(&in, from_index[_i % FROM]);
	in.to = _i / FROM % 2 ? DAT_UPCALL_NORIFY : DAT_UPCALL_SINGLE_INSTANCE;
	in.flag = (DAT_UPCALL_FLAG)(_i / (FROM * 2));
	inside_do(&in, posts_and_modifies);
	if (in.flag == DAT_UPCALL_INVOC_NEW) {
		dt_assert_ret(in.ret, DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE));
	} else {
		dt_ok(in.ret);
		if (in.policy != DAT_UPCALL_TEARDOWN)
			in.policy = in.to;
	}
	if (up_calls(in.policy)) {
		up_await_returned(&in.up, 2); /* after the first: one at a time */
		ck_assert_int_eq(in.up.most_inside, 1);
	}
	up_assert_no_more(&in.up, up_calls(in.policy) ? 2 : 1);
	if (in.policy != DAT_UPCALL_SINGLE_INSTANCE) {
		dt_ok(dat_evd_dequeue(in.up.evd, &event));
		ck_assert_uint_eq(up_value(&event), 2);
	}
	inside_close(&in);
}

static void
makes_it_many_and_waits(struct inside *in)
{
	DAT_EVENT event;

	dt_post_se(in->up.evd, 2);
	in->ret = up_try(&in->up, DAT_UPCALL_MANY, DAT_UPCALL_INVOC_ANY);
	if (in->policy == DAT_UPCALL_TEARDOWN) {
		dt_ok(dat_evd_dequeue(in->up.evd, &event));
		return;
	}
	dt_post_se(in->up.evd, 3);
	up_await_returned(&in->up, 2); /* both, while this one runs */
}

/* clause: c.14.23, c.14.9 */
TEST_LOOP(modify_inside__to_many__others_start_while_it_stands, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, makes_it_many_and_waits);
	dt_ok(in.ret);
	if (in.policy != DAT_UPCALL_TEARDOWN)
		up_await_returned(&in.up, 3);
	if (in.policy != DAT_UPCALL_TEARDOWN)
		in.policy = DAT_UPCALL_MANY;
	inside_close(&in);
}

static struct up replacement;

static void
replaces(struct inside *in)
{
	in->ret =
	    dat_evd_modify_upcall(in->up.evd, in->to, &replacement.object, DAT_UPCALL_INVOC_NEW);
}

/* clause: c.14.23, c.14.18 */
TEST_LOOP(modify_inside__another_object__is_called_from_the_next_event_on, UP_POLICIES *UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i % UP_POLICIES);
	in.to = up_policies[_i / UP_POLICIES];
	up_init(&replacement);
	replacement.evd = in.up.evd;
	inside_do(&in, replaces);
	dt_ok(in.ret);
	if (in.policy != DAT_UPCALL_TEARDOWN) {
		up_assert_policy(&replacement, in.to);
		ck_assert_int_eq(in.up.entered, 1);
		dt_ok(dat_evd_modify_upcall(in.up.evd, in.to, &in.up.object, DAT_UPCALL_INVOC_NEW));
		in.policy = in.to;
	}
	inside_close(&in);
}

static void
modifies_wrongly(struct inside *in)
{
	DAT_UPCALL_OBJECT none = DAT_UPCALL_NULL;

	dt_assert_ret(up_try(&in->up, (DAT_UPCALL_POLICY)7, DAT_UPCALL_INVOC_ANY),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(
	    dat_evd_modify_upcall(in->up.evd, DAT_UPCALL_MANY, &none, DAT_UPCALL_INVOC_ANY),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_assert_ret(up_try(&in->up, DAT_UPCALL_MANY, (DAT_UPCALL_FLAG)7),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
}

/* clause: c.14.23, c.14.20, c.14.21 */
TEST_LOOP(modify_inside__bad_arguments__change_nothing, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, modifies_wrongly);
	inside_close(&in);
}

static void
switches_500_times(struct inside *in)
{
	for (int i = 0; i < 500; i++) {
		DAT_UPCALL_POLICY to = up_policies[i % UP_POLICIES];

		dt_ok(up_try(&in->up, to, DAT_UPCALL_INVOC_NEW));
	}
	dt_ok(up_try(&in->up, DAT_UPCALL_MANY, DAT_UPCALL_INVOC_NEW));
}

/* clause: c.14.23, c.14.7 */
TEST_LOOP(modify_inside__500_times__the_last_one_stands, UP_POLICIES)
{
	struct inside in;

	inside_open(&in, _i);
	inside_do(&in, switches_500_times);
	if (in.policy != DAT_UPCALL_TEARDOWN)
		in.policy = DAT_UPCALL_MANY;
	inside_close(&in);
}
