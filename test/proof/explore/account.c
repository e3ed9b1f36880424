/* SPDX-License-Identifier: BSD-3-Clause */
/* account -- what a query of an EVD must return when no thread uses the EVD */
#include "call.h"
#include "world.h"

static void
check(const struct stage_evd *e, const char *what, uint64_t said, uint64_t is)
{
	if (said != is)
		violation("at rest EVD %c counts %llu %s, and there were %llu", 'a' + e->index,
		    (unsigned long long)said, what, (unsigned long long)is);
}

static void
check_setting(const struct stage_evd *e, const char *what, const struct setting *s, uint64_t said)
{
	if (!s->unknown && said != s->value)
		violation("at rest the %s of EVD %c is queried as %llu, and was set to %llu", what,
		    'a' + e->index, (unsigned long long)said, (unsigned long long)s->value);
}

static void
check_counters(struct stage_evd *e, const struct stage_life *l)
{
	const struct device_cq *cq = e->base == BASE_SOFTWARE ? NULL : &e->cq;
	struct evd_counters n;
	uint64_t polled = 0, entered = 0;

	if (evd_query_counters(evd_self(&e->evd), &n))
		violation("query_counters of EVD %c fails", 'a' + e->index);
	check(e, "software events", n.software, l->posts[EVD_STREAM_SOFTWARE]);
	check(e, "connection requests", n.requests, l->posts[EVD_STREAM_REQUEST]);
	check(e, "asynchronous events", n.asyncs, l->posts[EVD_STREAM_ASYNC]);
	check(e, "connection events", n.connections, l->posts[EVD_STREAM_CONNECTION]);
	check(e, "upcalls", n.upcalls, l->upcalls);
	check(e, "overflows", n.overflows, e->overflowed);
	check(e, "notifications", n.notifications, cq ? cq->gets : 0);
	check(e, "arms", n.arms, cq ? cq->arms : 0);
	check(e, "arms that failed", n.arm_failures, cq ? cq->arm_faults : 0);
	for (unsigned int s = 0; s < STREAMS; s++) {
		entered += l->produced[s];
		if (s < STREAM_ACTOR)
			polled += l->produced[s];
	}
	if (!e->purged && !e->departed && !(world_faults & FAULT_EXCESS))
		check(e, "completions", n.completions,
		    l->posts[EVD_STREAM_COMPLETION] + polled - (cq ? cq->count : 0));
	if (n.max_depth > entered)
		violation("at rest EVD %c has been %llu events long, and %llu were produced",
		    'a' + e->index, (unsigned long long)n.max_depth, (unsigned long long)entered);
	/*
	 * A poll that fails does not show whether the queue was empty.  A notification that is read
	 * while upcalls are off is counted by no poll of theirs.
	 */
	if (cq && entered == 0 && !(world_faults & FAULT_POLL) &&
	    e->spec->policy == EVD_POLICY_SINGLE && e->policy.value == EVD_POLICY_SINGLE &&
	    !e->policy.unknown && !call_has(DO_DISABLE) && !call_has(DO_TEARDOWN))
		check(e, "notifications for nothing", n.spurious_notifications, cq->gets);
	if (n.races_closed > n.arms)
		violation("at rest EVD %c closed more races than it armed", 'a' + e->index);
}

/* What is left is queued, in the device, or held. */
static int
left(const struct stage_evd *e, const struct stage_life *l)
{
	int n = e->base == BASE_SOFTWARE ? 0 : -(int)e->cq.count;

	for (unsigned int i = 0; i < l->n_entries; i++)
		n += !l->entries[i].out && !entry_is_dropped(e, l->entries[i].id);
	return n;
}

void
account_rest(struct stage_evd *e)
{
	const struct stage_life *l = stage_life(e);
	struct evd_status status;

	if (!e->evd.alive)
		return;
	check_counters(e, l);
	if (evd_query(evd_self(&e->evd), &status))
		violation("query of EVD %c fails", 'a' + e->index);
	check_setting(e, "length", &e->length, (uint64_t)status.qlen);
	check(e, "overflows", status.overflowed, e->overflowed);
	check_setting(e, "policy", &e->policy, (uint64_t)status.policy);
	check_setting(e, "link to its CNO", &e->enabled, status.enabled);
	check_setting(e, "waitability", &e->waitable, status.waitable);
	check_setting(e, "solicitation", &e->solicited, status.solicited_only);
	check_setting(e, "CNO", &e->listener, (uintptr_t)status.cno);
	if (!e->spec->holds && !call_has(DO_BARRIER) && !e->purged && !e->departed)
		check(e, "queued events", (uint64_t)status.queued, (uint64_t)left(e, l));
}
