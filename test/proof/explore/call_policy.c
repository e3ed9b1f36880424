/* SPDX-License-Identifier: BSD-3-Clause */
/* call_policy -- an actor changes the policy of an EVD */
#include "call.h"
#include "left.h"

static struct stage_object *
object_for(struct stage_life *l, int policy, const struct action *a)
{
	const int first = a->another ? STAGE_OBJECTS / 2 : 0;

	return &l->objects[first + (policy == EVD_POLICY_SINGLE	   ? 0 :
				       policy == EVD_POLICY_NOTIFY ? 1 :
								     2)];
}

/* What the section left in which the call decided. */
static void
check_modified(const struct stage_evd *e, int policy, const struct action *a, int r)
{
	const struct left_evd *left = left_evd();

	if (!left->alive || policy == EVD_POLICY_DISABLE || policy == EVD_POLICY_TEARDOWN)
		return;
	if (r == 0 && left->waiting)
		violation("EVD %c gets a policy that calls, and a thread waits", 'a' + e->index);
	if (r == -EBUSY && !left->waiting)
		violation("EVD %c refuses a policy, and no thread waits", 'a' + e->index);
	if (a->fresh && r == 0 && left->queued)
		violation(
		    "EVD %c is enabled for new events, and has %u", 'a' + e->index, left->queued);
	if (r == -EAGAIN && (!a->fresh || !left->queued))
		violation("EVD %c refuses a policy, and has no event", 'a' + e->index);
}

void
call_exempt(struct stage_evd *e)
{
	bool *exempted = &stage.exempted[sched.self - sched.fibers][e->index];

	e->exempt += !*exempted;
	*exempted = true;
}

int
call_modify(struct stage_evd *e, int policy, const struct action *a)
{
	const struct call c = call_begins(e);
	struct stage_object *object = object_for(&e->lives[c.serial], policy, a);
	const bool enables = policy == object->policy;
	const bool installs = enables && !a->same;
	const bool current = call_current(&c);
	int r;

	if (policy == EVD_POLICY_TEARDOWN && *stage_frames(e))
		call_exempt(e);
	if (enables && current)
		e->enabling++;
	if (installs)
		object->replaced = false;
	setting_begins(&e->policy);
	r = stage_modify(e, call_ref(&c), policy, installs ? object : NULL,
	    a->fresh ? EVD_PENDING_REFUSE : EVD_PENDING_CALL);
	call_ends_with(&c, "modify_upcall", r);
	check_modified(e, policy, a, r);
	setting_ends(&e->policy, r == 0 && call_current(&c), (uint64_t)policy);
	if (enables && current && call_current(&c))
		e->enabling--;
	if (call_current(&c) && r == 0) {
		/* If another call is in progress, either of the two may have come last. */
		if (installs && !e->enabling && stage_locked_at(e) > e->enabled_at)
			oracle_installed(e, object);
		if (enables)
			stage_later(&e->enabled_at, stage_locked_at(e));
		else if (policy == EVD_POLICY_DISABLE)
			stage_later(&e->disabled_at, stage_locked_at(e));
		else if (!call_gives_way())
			oracle_stopped(e, "TEARDOWN");
	}
	call_result("modify_upcall", r,
	    call_gone(&c, r) ||
		(enables && ((r == -EBUSY && (call_has(DO_WAIT) || call_has(DO_TAKE))) ||
				(r == -EAGAIN && a->fresh))));
	return r;
}

/* The consumer's loop that never loses an event: drain, enable for new ones, or drain again. */
void
call_rearm(struct stage_evd *e)
{
	static const struct action fresh = { .fresh = true };
	int r, tries = 0;

	do {
		(void)call_drain(e);
		r = call_modify(e, EVD_POLICY_SINGLE, &fresh);
	} while (r == -EAGAIN || (call_explained(r) && tries++ < CALL_TRIES));
}
