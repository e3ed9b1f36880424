/* SPDX-License-Identifier: BSD-3-Clause */
/* policy -- changes the upcall policy of an EVD, and tracks it */
#include "evd.h"

#include "actor.h"
#include "adapter.h"
#include "call.h"
#include "clock.h"
#include "report.h"
#include "upcall.h"

/* The number of an object has 16 bits in the instance data, the serial number of its EVD the rest.
 */
#define NUMBER_BITS 16

DAT_PVOID
evd_instance(const struct evd *evd, uint32_t number)
{
	return (DAT_PVOID)(uintptr_t)(atomic_load(&evd->life.serial) << NUMBER_BITS |
				      (number & ((1u << NUMBER_BITS) - 1)));
}

struct evd *
evd_of_instance(DAT_PVOID instance, uint32_t *number)
{
	*number = (uint32_t)((uintptr_t)instance & ((1u << NUMBER_BITS) - 1));
	return evd_of(life_find(LIFE_EVD, (uint64_t)(uintptr_t)instance >> NUMBER_BITS));
}

static bool
enables(DAT_UPCALL_POLICY policy)
{
	return policy != DAT_UPCALL_DISABLE && policy != DAT_UPCALL_TEARDOWN;
}

/* A change of policy in progress. */
struct change {
	struct setting_change setting;
	DAT_UPCALL_POLICY policy;
	uint32_t number; /* of the new object, or 0 */
	bool same;	 /* it keeps the upcall object */
	unsigned int enables_begun, enabling;
	uint64_t begin;
	/* Software events that are queued, that may be queued; and whether no thread can take them.
	 */
	unsigned int queued, possible, takes_begun, posts_begun;
	bool undisturbed;
};

/* Locked. */
static void
count_queued(struct evd *evd, struct change *change)
{
	change->queued = change->possible = 0;
	for (int i = 0; i < EVD_LANES; i++) {
		change->queued += stream_waiting(&evd->lane[i], change->begin);
		change->possible += stream_possible(&evd->lane[i]);
	}
	change->takes_begun = evd->takes_begun;
	change->posts_begun = evd->posts_begun;
	change->undisturbed = !evd->takes_in_progress && !evd->ever_enabled && !evd->inside;
}

/* Locked.  Enabling for new events must be refused if and only if events are queued. */
static void
judge_new(struct evd *evd, const struct change *change, DAT_RETURN ret, bool alone)
{
	if (!change->undisturbed || !alone || evd->takes_begun != change->takes_begun ||
	    life_may_be_ending(&evd->life))
		return;
	if (ret == DAT_SUCCESS && change->queued)
		report_wrong(&evd->life, NULL,
		    "enabled with INVOC_NEW, but %u software events are queued", change->queued);
	if (dat_is(ret, DAT_INVALID_STATE) && !change->possible &&
	    evd->posts_begun == change->posts_begun && evd->streams == DAT_EVD_SOFTWARE_FLAG)
		report_wrong(&evd->life, NULL, "enabling returned %s, but no event is queued",
		    dat_name(ret));
}

static struct object *
object_at(struct evd *evd, uint32_t number)
{
	return &evd->object[number % EVD_OBJECTS];
}

/* Locked. */
static void
begin(struct evd *evd, struct change *change, DAT_UPCALL_POLICY policy, bool same, bool array)
{
	*change = (struct change){ .policy = policy, .begin = clock_stamp() };
	change->setting = setting_begin(&evd->policy);
	change->enables_begun = evd->enables_begun;
	change->enabling = evd->enabling;
	count_queued(evd, change);
	if (!enables(policy))
		return;
	evd->enabling++;
	evd->enables_begun++;
	evd->ever_enabled = true;
	evd->torn = false;
	if (policy == DAT_UPCALL_MANY)
		evd->many_in_flight++;
	if (same) {
		/* The policy of the present object may change from now on. */
		change->same = true;
		evd->same_in_flight++;
		for (int i = 0; i < EVD_OBJECTS; i++)
			evd->object[i].unsure = true;
		return;
	}
	change->number = ++evd->objects;
	*object_at(evd, change->number) = (struct object){
		.number = change->number,
		.policy = policy,
		.array = array,
		.unsure = evd->same_in_flight != 0,
		.begin = change->begin,
	};
}

/* Locked.  A new object is in force: no upcall that starts from now on has another. */
static void
supersede(struct evd *evd, const struct change *change, uint64_t now)
{
	for (int i = 0; i < EVD_OBJECTS; i++) {
		struct object *object = &evd->object[i];

		if (object->number && object->number != change->number && !object->superseded)
			object->superseded = now;
	}
	evd->in_force = change->number;
	evd->has_object = true;
}

/* Locked.  TEARDOWN returned, to a thread that is in `own` upcalls of the EVD. */
static void
torn_down(struct evd *evd, const struct change *change, int own)
{
	/* An enabling by another thread at the same time may take effect after it. */
	if (change->enabling || evd->enables_begun != change->enables_begun)
		return;
	if (!own && evd->inside)
		report_wrong(
		    &evd->life, NULL, "TEARDOWN returned while %u upcalls still run", evd->inside);
	evd->torn = true;
	evd->ever_enabled = false;
}

/* Locked. */
static void
end(struct evd *evd, const struct change *change, DAT_RETURN ret, int own, bool only_new)
{
	const bool done = ret == DAT_SUCCESS;
	const uint64_t now = clock_stamp();
	bool alone;

	if (enables(change->policy)) {
		evd->enabling--;
		evd->same_in_flight -= change->same;
		if (change->policy == DAT_UPCALL_MANY) {
			evd->many_in_flight--;
			evd->many_end = now;
		}
	}
	alone = setting_end(
	    &evd->policy, &change->setting, done, (uint64_t)(int64_t)change->policy, now);
	if (only_new && enables(change->policy))
		judge_new(evd, change, ret, alone);
	if (!done && change->number && alone)
		object_at(evd, change->number)->refused = true;
	if (done && alone && change->number)
		supersede(evd, change, now);
	else if (!alone)
		evd->in_force = 0;
	if (done && change->policy == DAT_UPCALL_TEARDOWN)
		torn_down(evd, change, own);
	if (done && alone && !enables(change->policy))
		evd->late = 0;
}

static int
own_frames(const struct evd *evd)
{
	int n = 0;

	for (const struct frame *f = actor_self()->frame; f; f = f->outer)
		n += f->evd == evd;
	return n;
}

/* With a new object of one of the two kinds, or with the one that is installed, of either kind. */
static DAT_RETURN
modify(struct evd *evd, DAT_UPCALL_POLICY policy, uint32_t number, bool array, DAT_UPCALL_FLAG flag)
{
	const DAT_UPCALL_OBJECT one = { .upcall_func = upcall,
		.instance_data = evd_instance(evd, number) };
	const DAT_UPCALL_ARRAY_OBJECT several = { .upcall_func = upcall_array,
		.instance_data = evd_instance(evd, number),
		.max_events = UPCALL_MOST };
	const DAT_EVD_HANDLE handle = atomic_load(&evd->life.handle);
	struct call call;

	call_begin(&call, array ? CALL_EVD_MODIFY_UPCALL_ARRAY : CALL_EVD_MODIFY_UPCALL, &evd->life,
	    NULL, (uint64_t)(uint32_t)policy << 32 | (uint64_t)flag << 16 | number);
	return call_end(&call,
	    array ? dat_evd_modify_upcall_array(
			handle, policy, number ? &several : DAT_UPCALL_ARRAY_SAME, flag) :
		    dat_evd_modify_upcall(handle, policy, number ? &one : DAT_UPCALL_SAME, flag));
}

DAT_RETURN
evd_set_policy(struct evd *evd, DAT_UPCALL_POLICY policy, bool same, DAT_UPCALL_FLAG flag)
{
	const bool array = chance(40);
	struct change change;
	DAT_RETURN ret;

	pthread_mutex_lock(&evd->life.lock);
	same = same && evd->has_object;
	begin(evd, &change, policy, same || !enables(policy), array);
	pthread_mutex_unlock(&evd->life.lock);

	ret = modify(evd, policy, change.number, array, flag);

	pthread_mutex_lock(&evd->life.lock);
	if (!enables(policy) && dat_is(ret, DAT_INVALID_STATE))
		report_wrong(
		    &evd->life, NULL, "%s was refused: %s", dat_policy_name(policy), dat_name(ret));
	end(evd, &change, ret, own_frames(evd), flag == DAT_UPCALL_INVOC_NEW);
	pthread_mutex_unlock(&evd->life.lock);
	return ret;
}

DAT_RETURN
policy_create(struct adapter *adapter, struct evd *evd, const struct evd_plan *plan)
{
	DAT_UPCALL_OBJECT object = { .upcall_func = upcall };
	struct change change;
	struct call call;
	DAT_RETURN ret;

	pthread_mutex_lock(&evd->life.lock);
	begin(evd, &change, plan->policy, !enables(plan->policy), false);
	pthread_mutex_unlock(&evd->life.lock);
	object.instance_data = evd_instance(evd, change.number);

	call_begin(&call, CALL_EVD_KCREATE, &adapter->life, NULL,
	    (uint64_t)(uint32_t)plan->policy << 32 | plan->streams);
	ret = call_end(
	    &call, dat_evd_kcreate(adapter->ia, plan->qlen, plan->policy,
		       change.number ? &object : DAT_UPCALL_SAME, plan->streams, &evd->early));

	pthread_mutex_lock(&evd->life.lock);
	end(evd, &change, ret, 0, false);
	pthread_mutex_unlock(&evd->life.lock);
	return ret;
}
