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
call_first(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)event;
	(void)more;
	must(instance == &first);
	first.calls++;
}

static void
call_second(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)event;
	(void)more;
	must(instance == &second);
	second.calls++;
}

static const DAT_UPCALL_OBJECT of_first = { &first, call_first };
static const DAT_UPCALL_OBJECT of_second = { &second, call_second };
static const DAT_UPCALL_OBJECT of_none = { NULL, NULL };

/* What changes the object. */
struct change {
	DAT_UPCALL_POLICY policy;
	const DAT_UPCALL_OBJECT *object;
};

static const struct change changes[] = {
	{ DAT_UPCALL_SINGLE_INSTANCE, &of_second },
	{ DAT_UPCALL_MANY, &of_second },
	{ DAT_UPCALL_NORIFY, &of_second },
	{ DAT_UPCALL_DISABLE, &of_second },
	{ DAT_UPCALL_DISABLE, &of_none },
};
#define CHANGES ((int)(sizeof changes / sizeof changes[0]))

static const DAT_UPCALL_POLICY before[] = { DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_MANY,
	DAT_UPCALL_NORIFY };
#define BEFORE ((int)(sizeof before / sizeof before[0]))

static const struct change *change;
static int claimed; /* upcalls before the change */

static void
set(DAT_UPCALL_POLICY policy, const DAT_UPCALL_OBJECT *object)
{
	must(evd_modify_upcall(evd_self(&st.dev.evd), policy, object, DAT_UPCALL_INVOC_ANY) == 0);
}

static int
upcalls(void)
{
	struct dat_rearm_evd_counters counters;

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
change_at(int n, DAT_UPCALL_POLICY policy)
{
	DAT_EVENT event;
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
		set(DAT_UPCALL_SINGLE_INSTANCE, change->object == &of_none ? &of_second : NULL);
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
