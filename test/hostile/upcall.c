/* SPDX-License-Identifier: BSD-3-Clause */
#include "upcall.h"

#include "actor.h"
#include "adapter.h"
#include "clock.h"
#include "evd.h"
#include "inside.h"
#include "report.h"
#include "take.h"

/* At most so many upcalls can have been claimed when DISABLE returned. */
#define LATE_MOST 16

static struct object *
object_of(struct evd *evd, uint32_t number)
{
	for (int i = 0; i < EVD_OBJECTS; i++)
		if (evd->object[i].number && (evd->object[i].number & 0xffff) == number)
			return &evd->object[i];
	return NULL;
}

/*
 * Locked.  Whether this upcall was claimed while no other upcall of the EVD was in progress: its
 * object has such a policy, and no call that may have set MANY overlapped or followed.
 */
static bool
is_single(const struct evd *evd, const struct object *object)
{
	return object && object->policy != DAT_UPCALL_MANY && !object->unsure &&
	       !evd->many_in_flight && evd->many_end < object->begin;
}

/*
 * Locked.  Returns the stamp after which the upcall was claimed.  `array`: its function takes
 * several events.
 */
static uint64_t
judge_entry(struct evd *evd, uint32_t number, const DAT_EVENT *event, bool array)
{
	const struct object *object = object_of(evd, number);
	const bool single = is_single(evd, object);
	const uint64_t end = life_end(&evd->life);

	if (end && !(evd->ended_inside && !life_home_end(&evd->life)))
		report_wrong(&evd->life, NULL, "an upcall starts, but the EVD ended @%llu",
		    (unsigned long long)end);
	if (evd->torn)
		report_wrong(&evd->life, NULL, "an upcall starts after TEARDOWN returned");
	if (evd->policy.sure && (int)evd->policy.value == DAT_UPCALL_DISABLE &&
	    ++evd->late > LATE_MOST)
		report_wrong(&evd->life, NULL, "upcalls still start after DISABLE returned");
	if (!object)
		return 0;
	if (object->refused)
		report_wrong(&evd->life, NULL,
		    "an upcall with object %u, but the call that passed it failed", number);
	if (object->array != array)
		report_wrong(&evd->life, NULL, "an upcall of the wrong kind for object %u", number);
	if (!object->unsure && (object->policy == DAT_UPCALL_NORIFY) != !event)
		report_wrong(&evd->life, NULL, "an upcall under %s with%s event",
		    dat_policy_name(object->policy), event ? " an" : "out");
	if (!single)
		return object->begin;
	if (evd->inside)
		report_wrong(&evd->life, NULL, "an upcall under %s starts while %u still run",
		    dat_policy_name(object->policy), evd->inside);
	if (object->superseded && evd->last_exit > object->superseded)
		report_wrong(&evd->life, NULL, "an upcall with object %u, which was replaced @%llu",
		    number, (unsigned long long)object->superseded);
	return evd->last_exit > object->begin ? evd->last_exit : object->begin;
}

static struct evd *
enter(DAT_PVOID instance, const DAT_EVENT *event, bool array, struct frame *frame, uint64_t *begin)
{
	struct actor *me = actor_self();
	uint32_t number;
	struct evd *evd = evd_of_instance(instance, &number);
	struct adapter *adapter;

	if (!evd || !life_use_stale(&evd->life, atomic_load(&evd->life.serial)))
		report_wrong(NULL, NULL, "an upcall for EVD#%llu, which ended long ago",
		    (unsigned long long)((uintptr_t)instance >> 16));
	adapter = adapter_of(evd->life.home);
	if (!life_use_stale(&adapter->life, evd->life.home_serial))
		report_wrong(&evd->life, NULL, "an upcall, but the adapter ended long ago");
	atomic_fetch_add(&adapter->inside, 1);
	pthread_mutex_lock(&evd->life.lock);
	*begin = judge_entry(evd, number, event, array);
	evd->inside++;
	pthread_mutex_unlock(&evd->life.lock);
	*frame = (struct frame){ .outer = me->frame, .adapter = adapter, .evd = evd };
	me->frame = frame;
	return evd;
}

static void
leave(struct evd *evd, struct frame *frame)
{
	struct adapter *adapter = frame->adapter;

	actor_self()->frame = frame->outer;
	pthread_mutex_lock(&evd->life.lock);
	evd->inside--;
	evd->last_exit = clock_stamp();
	pthread_mutex_unlock(&evd->life.lock);
	atomic_fetch_sub(&adapter->inside, 1);
	life_unuse(&evd->life);
	life_unuse(&adapter->life);
}

static void
make(DAT_PVOID instance, const DAT_EVENT *events, DAT_COUNT n, bool array, DAT_BOOLEAN more)
{
	struct taking taking = { .evd = NULL };
	struct trace_line *line;
	struct frame frame;

	taking.evd = enter(instance, events, array, &frame, &taking.begin);
	line = trace(events ? "upcall" : "upcall without event", life_name(&taking.evd->life), 0,
	    (uint64_t)n << 32 | ((uintptr_t)instance & 0xffff));
	if (more != DAT_FALSE && more != DAT_TRUE)
		report_wrong(&taking.evd->life, NULL, "more_events is %d", (int)more);
	if (array && (events ? n < 1 || n > UPCALL_MOST : n != 0))
		report_wrong(&taking.evd->life, NULL, "an upcall with %s array of %d events",
		    events ? "an" : "no", (int)n);
	if (events)
		take_judge_all(&taking, events, n);
	inside_upcall(taking.evd, events);
	trace_done(line, DAT_SUCCESS);
	leave(taking.evd, &frame);
}

void
upcall(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	make(instance, event, event != NULL, false, more);
}

void
upcall_array(DAT_PVOID instance, const DAT_EVENT *events, DAT_COUNT n_events, DAT_BOOLEAN more)
{
	make(instance, events, n_events, true, more);
}
