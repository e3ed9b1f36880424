/* SPDX-License-Identifier: BSD-3-Clause */
#include "take.h"

#include "actor.h"
#include "call.h"
#include "clock.h"
#include "ep.h"
#include "evd.h"
#include "owed.h"
#include "psp.h"
#include "report.h"

/* The marks: kind, lane or direction, object, number. */
#define MARK_SOFTWARE UINT64_C(0xa5)
#define MARK_DTO UINT64_C(0x5c)
#define NUMBER_BITS 24
#define NUMBER_MASK ((UINT64_C(1) << NUMBER_BITS) - 1)

static uint64_t
mark(uint64_t what, unsigned int lane, const struct life *life, uint32_t number)
{
	return what << 56 | (uint64_t)lane << 52 | life_bits(life) << NUMBER_BITS |
	       (number & NUMBER_MASK);
}

DAT_PVOID
take_mark_software(const struct evd *evd, unsigned int lane, uint32_t number)
{
	return (DAT_PVOID)(uintptr_t)mark(MARK_SOFTWARE, lane, &evd->life, number);
}

DAT_DTO_COOKIE
take_mark_dto(const struct ep *ep, unsigned int direction, uint32_t number)
{
	DAT_DTO_COOKIE cookie;

	cookie.as_64 = mark(MARK_DTO, direction, &ep->life, number);
	return cookie;
}

/* ---- checks ---- */

static void
judge_software(const struct taking *taking, const DAT_EVENT *event)
{
	const uint64_t value = (uint64_t)(uintptr_t)event->event_data.software_event_data.pointer;
	struct life *life =
	    life_find_bits(LIFE_EVD, value >> NUMBER_BITS & ((1u << LIFE_BITS) - 1));
	struct evd *evd = evd_of(life);
	unsigned int lane = (unsigned int)(value >> 52 & 15);
	struct stream *stream;
	const char *wrong;

	if (value >> 56 != MARK_SOFTWARE || !life || lane >= EVD_LANES)
		report_wrong(&taking->evd->life, NULL, "a software event with the pointer %#llx",
		    (unsigned long long)value);
	if (evd != taking->evd && !life_handle_came_back(life))
		report_wrong(&taking->evd->life, life,
		    "a software event that was posted to another EVD, lane %u, number %u", lane,
		    (unsigned int)(value & NUMBER_MASK));
	pthread_mutex_lock(&life->lock);
	stream = &evd->lane[lane];
	wrong = stream_deliver(
	    stream, stream_whole(stream, value, NUMBER_BITS), taking->begin, clock_stamp());
	evd->takings++;
	pthread_mutex_unlock(&life->lock);
	if (wrong)
		report_wrong(life, NULL, "software event of lane %u, number %u: %s", lane,
		    (unsigned int)(value & NUMBER_MASK), wrong);
}

static void
judge_dto(const struct taking *taking, const DAT_EVENT *event)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *data = &event->event_data.dto_completion_event_data;
	const uint64_t value = data->user_cookie.as_64;
	struct life *life = life_find_bits(LIFE_EP, value >> NUMBER_BITS & ((1u << LIFE_BITS) - 1));
	unsigned int direction = (unsigned int)(value >> 52 & 15);
	struct ep *ep = (struct ep *)life;

	if (value >> 56 != MARK_DTO || !life || direction > 1)
		report_wrong(&taking->evd->life, NULL, "a completion of %p with the cookie %#llx",
		    data->ep_handle, (unsigned long long)value);
	ep_judge_dto(ep, taking, data, direction, value & NUMBER_MASK, NUMBER_BITS);
}

static DAT_EVD_FLAGS
stream_of(DAT_EVENT_NUMBER number)
{
	switch (number) {
	case DAT_SOFTWARE_EVENT:
		return DAT_EVD_SOFTWARE_FLAG;
	case DAT_DTO_COMPLETION_EVENT:
		return DAT_EVD_DTO_FLAG;
	case DAT_CONNECTION_REQUEST_EVENT:
		return DAT_EVD_CR_FLAG;
	case DAT_CONNECTION_EVENT_ESTABLISHED:
	case DAT_CONNECTION_EVENT_PEER_REJECTED:
	case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
	case DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR:
	case DAT_CONNECTION_EVENT_DISCONNECTED:
	case DAT_CONNECTION_EVENT_BROKEN:
	case DAT_CONNECTION_EVENT_TIMED_OUT:
	case DAT_CONNECTION_EVENT_UNREACHABLE:
		return DAT_EVD_CONNECTION_FLAG;
	default:
		return (DAT_EVD_FLAGS)0;
	}
}

void
take_judge(const struct taking *taking, const DAT_EVENT *event)
{
	struct evd *evd = taking->evd;
	const DAT_HANDLE handle = atomic_load(&evd->life.handle);

	owed_note_taking(event->event_number);
	trace(dat_event_str(event->event_number), life_name(&evd->life), 0,
	    event->event_number == DAT_SOFTWARE_EVENT ?
		(uint64_t)(uintptr_t)event->event_data.software_event_data.pointer :
		event->event_data.dto_completion_event_data.user_cookie.as_64);
	if (event->evd_handle != (handle ? handle : evd->early))
		report_wrong(&evd->life, NULL, "an event %s with the EVD handle %p",
		    dat_event_str(event->event_number), event->evd_handle);
	if (!(stream_of(event->event_number) & evd->streams) && !taking->stale)
		report_wrong(&evd->life, NULL, "an event %s (%#x), for which it has no stream",
		    dat_event_str(event->event_number), (unsigned int)event->event_number);
	switch (stream_of(event->event_number)) {
	case DAT_EVD_SOFTWARE_FLAG:
		judge_software(taking, event);
		break;
	case DAT_EVD_DTO_FLAG:
		judge_dto(taking, event);
		break;
	case DAT_EVD_CR_FLAG:
		psp_judge_request(taking, &event->event_data.cr_arrival_event_data);
		break;
	default:
		ep_judge_connection(
		    taking, event->event_number, &event->event_data.connect_event_data);
		break;
	}
}

/* ---- taking ---- */

/* The state when a call began: whether another thread can take events or block the call. */
struct scene {
	unsigned int takes_begun, policies_begun, waits;
	bool undisturbed; /* no other call takes events, no upcalls */
	bool waitable;
	unsigned int waitables_begun;
};

/* Locked. */
static unsigned int
waits(const struct evd *evd)
{
	unsigned int n = 0;

	for (int i = 0; i < EVD_WAITS; i++)
		n += evd->waiting[i].begin != 0;
	return n;
}

static bool
is_undisturbed(const struct evd *evd, unsigned int takes)
{
	return evd->takes_in_progress == takes && !evd->ever_enabled && !evd->policy.in_flight &&
	       !evd->inside;
}

static struct scene
enter(struct evd *evd)
{
	struct scene scene;

	pthread_mutex_lock(&evd->life.lock);
	evd->takes_in_progress++;
	scene = (struct scene){
		.takes_begun = ++evd->takes_begun,
		.policies_begun = evd->policy.begun,
		.waits = waits(evd),
		.undisturbed = is_undisturbed(evd, 1),
		.waitable = evd->waitable.sure && evd->waitable.value,
		.waitables_begun = evd->waitable.begun,
	};
	pthread_mutex_unlock(&evd->life.lock);
	return scene;
}

/* Locked, after the call.  Whether no other thread took an event since the call began. */
static bool
alone(const struct evd *evd, const struct scene *scene)
{
	return scene->undisturbed && is_undisturbed(evd, 1) &&
	       evd->takes_begun == scene->takes_begun && evd->policy.begun == scene->policies_begun;
}

/* Locked.  Software events that were queued before the call and still are. */
static unsigned int
there_all_along(const struct evd *evd, uint64_t begin)
{
	unsigned int n = 0;

	for (int i = 0; i < EVD_LANES; i++)
		n += stream_waiting(&evd->lane[i], begin);
	return n;
}

static void
leave(struct evd *evd)
{
	pthread_mutex_lock(&evd->life.lock);
	evd->takes_in_progress--;
	pthread_mutex_unlock(&evd->life.lock);
}

/* After other overflows the EVD stays usable. */
static bool
never_overflows(const struct evd *evd)
{
	return !(evd->streams & DAT_EVD_CONNECTION_FLAG);
}

static void
judge_nothing(struct evd *evd, const struct scene *scene, const struct call *call, DAT_RETURN ret,
    unsigned int wanted)
{
	unsigned int n;

	if (life_may_be_ending(&evd->life))
		return;
	pthread_mutex_lock(&evd->life.lock);
	n = alone(evd, scene) ? there_all_along(evd, call->begin) : 0;
	if (n >= wanted && n && !evd->overflowed)
		report_wrong(&evd->life, NULL,
		    "%s returned %s, but %u software events were queued all the time",
		    dat_call_name(call->which), dat_name(ret), n);
	pthread_mutex_unlock(&evd->life.lock);
}

static void
judge_state(struct evd *evd, const struct scene *scene, const struct call *call, DAT_RETURN ret)
{
	bool reason;

	if (life_may_be_ending(&evd->life))
		return;
	pthread_mutex_lock(&evd->life.lock);
	if (DAT_GET_SUBTYPE(ret) == DAT_INVALID_STATE_EVD_UNWAITABLE)
		reason = !scene->waitable || evd->waitable.begun != scene->waitables_begun;
	else
		reason = !alone(evd, scene) || scene->waits || !never_overflows(evd);
	pthread_mutex_unlock(&evd->life.lock);
	if (!reason)
		report_wrong(&evd->life, NULL, "%s returned %s without a reason",
		    dat_call_name(call->which), dat_name(ret));
}

/* The mark of an event that has one, or 0. */
static uint64_t
mark_of(const DAT_EVENT *event)
{
	switch (event->event_number) {
	case DAT_SOFTWARE_EVENT:
		return (uint64_t)(uintptr_t)event->event_data.software_event_data.pointer;
	case DAT_DTO_COMPLETION_EVENT:
		return event->event_data.dto_completion_event_data.user_cookie.as_64;
	default:
		return 0;
	}
}

void
take_judge_all(const struct taking *taking, const DAT_EVENT *events, DAT_COUNT n)
{
	uint64_t now, before;

	for (DAT_COUNT i = 0; i < n; i++) {
		now = mark_of(&events[i]);
		for (DAT_COUNT j = 0; now && j < i; j++) {
			before = mark_of(&events[j]);
			if (before >> NUMBER_BITS == now >> NUMBER_BITS &&
			    ((now - before) & NUMBER_MASK) > NUMBER_MASK / 2)
				report_wrong(&taking->evd->life, NULL,
				    "an array has number %u before number %u",
				    (unsigned int)(before & NUMBER_MASK),
				    (unsigned int)(now & NUMBER_MASK));
		}
		take_judge(taking, &events[i]);
	}
}

/* One event, or up to `most` of them with one call. */
static DAT_RETURN
dequeue(struct evd *evd, struct call *call, DAT_EVENT *events, DAT_COUNT most, DAT_COUNT *n)
{
	const DAT_EVD_HANDLE handle = atomic_load(&evd->life.handle);
	DAT_RETURN ret;

	*n = 1;
	if (most <= 1) {
		call_begin(call, CALL_EVD_DEQUEUE, &evd->life, NULL, 0);
		return call_end(call, dat_evd_dequeue(handle, events));
	}
	call_begin(call, CALL_EVD_DEQUEUE_N, &evd->life, NULL, (uint64_t)most);
	ret = call_end(call, dat_evd_dequeue_n(handle, most, events, n));
	if (ret == DAT_SUCCESS && (*n < 1 || *n > most))
		report_wrong(&evd->life, NULL, "dat_evd_dequeue_n for %d events took %d", (int)most,
		    (int)*n);
	return ret;
}

DAT_RETURN
take_dequeue(struct evd *evd, bool stale)
{
	const DAT_COUNT most = chance(30) ? 2 + (DAT_COUNT)pick(TAKE_MOST - 1) : 1;
	struct taking taking = { .evd = evd, .stale = stale };
	struct scene scene = enter(evd);
	DAT_EVENT events[TAKE_MOST];
	struct call call;
	DAT_RETURN ret;
	DAT_COUNT n;

	ret = dequeue(evd, &call, events, most, &n);
	taking.begin = call.begin;
	if (ret == DAT_SUCCESS)
		take_judge_all(&taking, events, n);
	else if (dat_is(ret, DAT_QUEUE_EMPTY))
		judge_nothing(evd, &scene, &call, ret, 1);
	else if (dat_is(ret, DAT_INVALID_STATE))
		judge_state(evd, &scene, &call, ret);
	leave(evd);
	return ret;
}

void
take_all(struct evd *evd)
{
	while (take_dequeue(evd, false) == DAT_SUCCESS)
		;
}

void
take_until_it_ends(struct evd *evd)
{
	const DAT_EVD_HANDLE handle = atomic_load(&evd->life.handle);
	struct taking taking = { .evd = evd, .stale = true };
	DAT_EVENT event;
	struct call call;
	DAT_RETURN ret;
	int tries = 0;

	(void)enter(evd);
	do {
		call_begin(&call, CALL_EVD_DEQUEUE, &evd->life, NULL, (uint64_t)tries);
		taking.begin = call.begin;
		/* No other code of this program runs between these calls. */
		do
			ret = dat_evd_dequeue(handle, &event);
		while (dat_is(ret, DAT_QUEUE_EMPTY) && ++tries % 1000);
		(void)call_end(&call, ret);
		if (ret == DAT_SUCCESS)
			take_judge(&taking, &event);
	} while (!dat_is(ret, DAT_INVALID_HANDLE) && tries < 100000);
	leave(evd);
}

/* An entry for a waiting thread, or -1. */
static int
note_waiting(struct evd *evd, DAT_TIMEOUT timeout, DAT_COUNT threshold)
{
	int place = -1;

	pthread_mutex_lock(&evd->life.lock);
	for (int i = 0; i < EVD_WAITS; i++)
		if (!evd->waiting[i].begin)
			place = i;
	if (place >= 0)
		evd->waiting[place] = (struct waiting){ .begin = clock_stamp(),
			.tick = clock_tick(),
			.threshold = threshold,
			.infinite = timeout == DAT_TIMEOUT_INFINITE };
	pthread_mutex_unlock(&evd->life.lock);
	return place;
}

static void
forget_waiting(struct evd *evd, int place)
{
	pthread_mutex_lock(&evd->life.lock);
	evd->waiting[place].begin = 0;
	pthread_mutex_unlock(&evd->life.lock);
}

DAT_RETURN
take_wait(struct evd *evd, DAT_TIMEOUT timeout, DAT_COUNT threshold, bool stale)
{
	struct taking taking = { .evd = evd, .stale = stale };
	struct scene scene;
	DAT_COUNT more = -1;
	DAT_EVENT event;
	struct call call;
	DAT_RETURN ret;
	double seconds;
	int place;

	place = note_waiting(evd, timeout, threshold);
	if (place < 0)
		return DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE);
	scene = enter(evd);
	scene.waits--; /* this call */
	call_begin_wait(
	    &call, CALL_EVD_WAIT, &evd->life, NULL, (uint64_t)threshold << 32 | timeout);
	seconds = clock_seconds();
	atomic_store(&actor_self()->endless, timeout == DAT_TIMEOUT_INFINITE);
	ret = call_end(
	    &call, dat_evd_wait(atomic_load(&evd->life.handle), timeout, threshold, &event, &more));
	atomic_store(&actor_self()->endless, false);
	seconds = clock_seconds() - seconds;
	taking.begin = call.begin;
	if (ret == DAT_SUCCESS) {
		if (more < threshold - 1)
			report_wrong(&evd->life, NULL,
			    "dat_evd_wait for %d events took one and returned %d as nmore",
			    (int)threshold, (int)more);
		take_judge(&taking, &event);
	} else if (dat_is(ret, DAT_TIMEOUT_EXPIRED)) {
		if (timeout == DAT_TIMEOUT_INFINITE || seconds < timeout * 1e-6)
			report_wrong(&evd->life, NULL, "dat_evd_wait for %u us ended after %.0f us",
			    (unsigned int)timeout, seconds * 1e6);
		judge_nothing(evd, &scene, &call, ret, (unsigned int)threshold);
	} else if (dat_is(ret, DAT_INVALID_STATE)) {
		judge_state(evd, &scene, &call, ret);
	} else if (dat_is(ret, DAT_INVALID_PARAMETER) && threshold <= 1 && !stale) {
		report_wrong(&evd->life, NULL, "dat_evd_wait returned %s", dat_name(ret));
	}
	leave(evd);
	forget_waiting(evd, place);
	return ret;
}
