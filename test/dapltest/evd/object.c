/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An upcall is made with the upcall object of the moment when its event was claimed: function and
 * instance of one object, even if the EVD gets another in between.
 */
#include "story.h"
#include "window.h"

struct user {
	int calls;
};

static struct user first, second;

static void
call_first(void *instance, const struct script_event *event, int more)
{
	(void)event;
	(void)more;
	must(instance == &first);
	first.calls++;
}

static void
call_second(void *instance, const struct script_event *event, int more)
{
	(void)event;
	(void)more;
	must(instance == &second);
	second.calls++;
}

static const struct evd_upcall of_first = { .instance = &first,
	.function = (void (*)(void))call_first };
static const struct evd_upcall of_second = { .instance = &second,
	.function = (void (*)(void))call_second };
static const struct evd_upcall of_none = { 0 };

/* What changes the object. */
struct change {
	enum evd_policy policy;
	const struct evd_upcall *object;
};

static const struct change changes[] = {
	{ EVD_POLICY_SINGLE, &of_second },
	{ EVD_POLICY_MANY, &of_second },
	{ EVD_POLICY_NOTIFY, &of_second },
	{ EVD_POLICY_DISABLE, &of_second },
	{ EVD_POLICY_DISABLE, &of_none },
};
#define CHANGES ((int)(sizeof changes / sizeof changes[0]))

static const enum evd_policy before[] = { EVD_POLICY_SINGLE, EVD_POLICY_MANY, EVD_POLICY_NOTIFY };
#define BEFORE ((int)(sizeof before / sizeof before[0]))

static const struct change *change;
static int claimed; /* upcalls before the change */

static void
set(enum evd_policy policy, const struct evd_upcall *object)
{
	must(evd_modify_upcall(evd_self(&st.dev.evd), policy, object, EVD_PENDING_CALL) == 0);
}

static int
upcalls(void)
{
	struct evd_counters counters;

	must(evd_query_counters(evd_self(&st.dev.evd), &counters) == 0);
	return (int)counters.upcalls;
}

static void
intrude(void)
{
	claimed = upcalls();
	set(change->policy, change->object);
}

/* True when the change came: right after the n-th release of the EVD's lock. */
static bool
change_at(int n, enum evd_policy policy)
{
	struct script_event event;
	bool came;

	story_begin(&st, NULL);
	first.calls = second.calls = 0;
	set(policy, &of_first);
	window_at(&st.dev.evd.lock, n, intrude);
	script_complete(&st.dev, 1);
	must(script_post(&st.dev, 100) == 0);
	story_settle(&st);
	script_complete(&st.dev, 2);
	must(script_post(&st.dev, 101) == 0);
	story_settle(&st);
	came = !window_missed();
	if (came) {
		/* The object of a DISABLE is the one that is enabled without another. */
		set(EVD_POLICY_SINGLE, change->object == &of_none ? &of_second : NULL);
		must(script_post(&st.dev, 102) == 0);
		story_settle(&st);
		ck_assert_int_eq(first.calls, claimed);
		ck_assert_int_eq(second.calls, upcalls() - claimed);
		ck_assert_int_ge(second.calls, 1);
	}
	while (evd_dequeue(evd_self(&st.dev.evd), &event) == 0)
		continue;
	story_end(&st);
	return came;
}

CASE("evd_object:object");

/* clause: c.14.18 */
/* origin: outside.05 */
TEST_LOOP(object__changed_in_any_window__upcall_keeps_the_one_it_was_claimed_under, BEFORE *CHANGES)
{
	int n = 1;

	change = &changes[_i % CHANGES];
	while (change_at(n, before[_i / CHANGES]))
		n++;
	ck_assert_int_ge(n, 8); /* it met windows */
}
