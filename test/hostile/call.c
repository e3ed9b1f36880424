/* SPDX-License-Identifier: BSD-3-Clause */
#include "call.h"

#include <stdio.h>

#include "actor.h"
#include "clock.h"
#include "report.h"

static struct {
	atomic_ulong made, succeeded;
} counts[CALLS];

void
call_also(struct call *call, struct life *also)
{
	if (also)
		call->on[call->n++] = also;
}

static void
begin(struct call *call, enum dat_call which, struct life *on, struct life *also, uint64_t detail,
    enum actor_manner manner)
{
	struct actor *me = actor_self();

	*call = (struct call){ .which = which };
	call_also(call, on);
	call_also(call, also);
	call->line = trace(dat_call_name(which), life_name(on), life_name(also), detail);
	atomic_store(&me->since, clock_tick());
	atomic_store(&me->doing_on, life_name(on));
	atomic_store(&me->manner, manner);
	atomic_store(&me->doing, dat_call_name(which));
	atomic_fetch_add_explicit(&counts[which].made, 1, memory_order_relaxed);
	call->signals = atomic_load(&me->signals);
	call->begin = clock_stamp();
}

void
call_begin(
    struct call *call, enum dat_call which, struct life *on, struct life *also, uint64_t detail)
{
	begin(call, which, on, also, detail, ACTOR_WORKS);
}

void
call_begin_wait(
    struct call *call, enum dat_call which, struct life *on, struct life *also, uint64_t detail)
{
	begin(call, which, on, also, detail, ACTOR_SLEEPS);
}

/* Whether the object had ended before the call began, and no other object has its handle. */
static bool
was_gone(const struct call *call, const struct life *life)
{
	const uint64_t end = life_end(life);

	return end && end < call->begin && !life_handle_came_back(life);
}

static void
judge(const struct call *call, DAT_RETURN ret)
{
	const char *name = dat_call_name(call->which);
	const struct life *on = call->on[0], *also = call->on[1];
	bool ending = false;

	if (!dat_call_may_return(call->which, ret))
		report_wrong(on, also, "%s returned %s, which the headers do not allow", name,
		    dat_name(ret));
	for (int i = 0; i < call->n; i++)
		ending =
		    ending || life_may_be_ending(call->on[i]) || call->on[i]->tried > call->begin;
	if (dat_is(ret, DAT_INVALID_HANDLE)) {
		if (!ending)
			report_wrong(on, also,
			    "%s returned %s, but no object of the call has ended", name,
			    dat_name(ret));
		return;
	}
	if (dat_is(ret, DAT_INTERRUPTED_CALL) &&
	    call->signals == atomic_load(&actor_self()->signals))
		report_wrong(on, also, "%s returned %s, but no signal came", name, dat_name(ret));
	if (dat_is(ret, DAT_ABORT) && !ending)
		report_wrong(on, also, "%s returned %s, but no object of the call was freed", name,
		    dat_name(ret));
	for (int i = 0; i < call->n; i++)
		if (was_gone(call, call->on[i]))
			report_wrong(call->on[i], NULL,
			    "%s returned %s, but the object had ended @%llu, before the call", name,
			    dat_name(ret), (unsigned long long)life_end(call->on[i]));
}

DAT_RETURN
call_end(struct call *call, DAT_RETURN ret)
{
	struct actor *me = actor_self();

	call->end = clock_stamp();
	trace_done(call->line, ret);
	atomic_store(&me->doing, NULL);
	atomic_store(&me->manner, ACTOR_WORKS);
	if (ret == DAT_SUCCESS)
		atomic_fetch_add_explicit(&counts[call->which].succeeded, 1, memory_order_relaxed);
	judge(call, ret);
	return ret;
}

void
call_print_counts(void)
{
	for (enum dat_call i = 0; i < CALLS; i++) {
		unsigned long made = atomic_load(&counts[i].made);

		if (made)
			printf("  %-26s %9lu made, %9lu succeeded\n", dat_call_name(i), made,
			    atomic_load(&counts[i].succeeded));
	}
}
