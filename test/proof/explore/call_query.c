/* SPDX-License-Identifier: BSD-3-Clause */
/* call_query -- queries of an EVD, and calls that must be refused */
#include "call.h"
#include "left.h"
#include "world.h"

/* It is what the section left that looked. */
static void
check_status(const struct stage_evd *e, const struct evd_status *status)
{
	const struct left_evd *left = left_evd();

	if (left->alive &&
	    (status->qlen != (int)left->qlen || status->queued != (int)left->queued ||
		(int)status->policy != left->policy || status->enabled != left->enabled ||
		status->waitable != left->waitable || status->overflowed != left->overflowed ||
		status->solicited_only != left->solicited_only))
		violation("query: the parameters returned for EVD %c are wrong", 'a' + e->index);
}

/*
 * The query must return what is the EVD's own: its length, its CNO, and never more queued than
 * there is.  While other actors change the EVD, no more than that is certain.
 */
void
call_query(struct stage_evd *e)
{
	const struct call c = call_begins(e);
	struct evd_counters counters;
	struct evd_status status;
	const int gone = entry_delivered_of(e);
	const bool lives = evd_is_alive(call_ref(&c));
	int r = evd_query(call_ref(&c), &status);

	if (r == 0 && !lives)
		violation("query: EVD %c is alive again after it was freed", 'a' + e->index);
	if (r == 0)
		check_status(e, &status);
	if (r == 0 && call_current(&c)) {
		if (!call_has(DO_RESIZE) && status.qlen != e->spec->qlen)
			violation("query: the queue length returned for EVD %c is %d",
			    'a' + e->index, status.qlen);
		if (status.cno && ((const struct stage_agent *)status.cno)->serial == 0)
			violation(
			    "query: the CNO returned for EVD %c was never created", 'a' + e->index);
		if (status.queued < 0 || status.queued > entry_most(e, gone))
			violation("query: %d events of EVD %c are reported as queued",
			    status.queued, 'a' + e->index);
		if (status.overflowed && !call_has(DO_OVERFLOW))
			violation(
			    "query: EVD %c is reported as overflowed, and is not", 'a' + e->index);
	}
	call_result("query", r, call_gone(&c, r));
	r = evd_query_counters(call_ref(&c), &counters);
	call_ends_with(&c, "query_counters", r);
	if (r == 0 && counters.max_depth > (uint64_t)e->qlen * 2 + DEVICE_DEPTH)
		violation("query: the greatest number of events of EVD %c exceeds its length",
		    'a' + e->index);
	call_result("query_counters", r, call_gone(&c, r));
}

/* The result is the error of the argument, or -ENODEV. */
static void
refused(const struct call *c, const char *what, int r, int error)
{
	if (r != error && !call_gone(c, r))
		violation("%s: returned %d, not %d", what, r, error);
}

void
call_wrong(struct stage_evd *e)
{
	const struct call c = call_begins(e);
	const struct evd_upcall none = { 0 };
	const int lengths[] = { 0, e->spec->qlen + 1000 };
	struct device_event event;
	int more;

	refused(&c, "a policy that there is not",
	    evd_modify_upcall(call_ref(&c), (enum evd_policy)77, NULL, EVD_PENDING_CALL), -EINVAL);
	refused(&c, "a flag that there is not",
	    evd_modify_upcall(call_ref(&c), EVD_POLICY_DISABLE, NULL, (enum evd_pending)77),
	    -ERANGE);
	refused(&c, "an upcall without a function",
	    evd_modify_upcall(call_ref(&c), EVD_POLICY_NOTIFY, &none, EVD_PENDING_CALL), -EFAULT);
	for (int i = 0; i < 2; i++)
		refused(&c, "a wait for too many, or none",
		    evd_wait(call_ref(&c), 0, lengths[i], &event, &more),
		    e->evd.closing ? -ENODEV : -EINVAL);
	call_ends();
}
