/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd.h"

#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "adapter.h"
#include "call.h"
#include "clock.h"
#include "cno.h"
#include "ep.h"
#include "options.h"
#include "report.h"
#include "take.h"
#include "upcall.h"

struct evd *
evd_of(struct life *life)
{
	return (struct evd *)life;
}

static void
lock(struct evd *evd)
{
	pthread_mutex_lock(&evd->life.lock);
}

static void
unlock(struct evd *evd)
{
	pthread_mutex_unlock(&evd->life.lock);
}

/* ---- create ---- */

static void
prepare(struct evd *evd, const struct evd_plan *plan)
{
	struct life *life = &evd->life;

	memset((char *)evd + sizeof *life, 0, sizeof *evd - sizeof *life);
	evd->streams = plan->streams;
	for (int i = 0; i < EVD_LANES; i++)
		stream_init(&evd->lane[i]);
	setting_init(&evd->policy, DAT_UPCALL_DISABLE);
	setting_init(&evd->cno, plan->cno ? atomic_load(&plan->cno->serial) : 0);
	setting_init(&evd->enabled, true);
	setting_init(&evd->waitable, true);
	setting_init(&evd->qlen, (uint64_t)plan->qlen);
}

static DAT_RETURN
create(struct adapter *adapter, struct evd *evd, const struct evd_plan *plan)
{
	DAT_CNO_HANDLE cno = plan->cno ? atomic_load(&plan->cno->handle) : DAT_HANDLE_NULL;
	struct call call;

	call_begin(&call, CALL_EVD_CREATE, &adapter->life, plan->cno, plan->streams);
	return call_end(
	    &call, dat_evd_create(adapter->ia, plan->qlen, cno, plan->streams, &evd->early));
}

struct evd *
evd_make_apart(struct adapter *adapter, const struct evd_plan *plan)
{
	struct life *life = life_new(LIFE_EVD, &adapter->life, plan->tame);
	struct evd *evd = evd_of(life);
	DAT_RETURN ret;

	if (!life)
		return NULL;
	prepare(evd, plan);
	trace("(new EVD)", life_name(life), life_name(&adapter->life), plan->streams);
	ret = plan->kernel_style ? policy_create(adapter, evd, plan) : create(adapter, evd, plan);
	if (ret != DAT_SUCCESS) {
		life_unborn(life);
		return NULL;
	}
	life_born(life, evd->early);
	return evd;
}

struct evd *
evd_make(struct adapter *adapter, const struct evd_plan *plan)
{
	struct evd *evd = evd_make_apart(adapter, plan);

	if (!evd)
		return NULL;
	evd_query(evd);
	if (!adapter_add(adapter, &evd->life)) {
		/* The adapter had no room, or was closed meanwhile. */
		if (life_may_be_ending(&adapter->life))
			(void)life_ended(&evd->life);
		else
			(void)evd_free_rudely(evd);
		life_unuse(&evd->life);
		return NULL;
	}
	return evd;
}

/*
 * A tame EVD must lose no event.  With connection streams it is long enough for all connection
 * events, and short enough to be often full of completions.
 */
DAT_COUNT
evd_some_length(DAT_EVD_FLAGS streams, bool tame)
{
	if (tame && (streams & DAT_EVD_CR_FLAG))
		return 128 + (DAT_COUNT)pick(64);
	if (tame && (streams & DAT_EVD_CONNECTION_FLAG))
		return 24 + (DAT_COUNT)pick(24);
	return 2 + (DAT_COUNT)pick(30);
}

struct evd *
evd_make_any(struct adapter *adapter, bool tame)
{
	static const DAT_UPCALL_POLICY policies[] = { DAT_UPCALL_DISABLE,
		DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_NORIFY, DAT_UPCALL_MANY };
	static const unsigned int streams[] = { DAT_EVD_SOFTWARE_FLAG, DAT_EVD_SOFTWARE_FLAG,
		DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DTO_FLAG, DAT_EVD_CR_FLAG,
		DAT_EVD_CR_FLAG | DAT_EVD_SOFTWARE_FLAG, DAT_EVD_CONNECTION_FLAG, DAT_EVD_DTO_FLAG,
		DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG,
		DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG,
		DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_SOFTWARE_FLAG,
		DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_SOFTWARE_FLAG };
	const unsigned int kind = pick(options.group[GROUP_CONN] ? 11 : 3);
	struct evd_plan plan = {
		.streams = (DAT_EVD_FLAGS)streams[kind],
		.qlen = evd_some_length((DAT_EVD_FLAGS)streams[kind], tame),
		.tame = tame,
		.kernel_style = chance(40),
		.policy = policies[pick(4)],
	};
	struct evd *evd;

	if (!plan.kernel_style && chance(50))
		plan.cno = adapter_pick_child(adapter, LIFE_CNO);
	evd = evd_make(adapter, &plan);
	if (plan.cno)
		life_unuse(plan.cno);
	return evd;
}

/* ---- its length ---- */

DAT_RETURN
evd_resize(struct evd *evd, DAT_COUNT qlen)
{
	struct setting_change change;
	struct call call;
	DAT_RETURN ret;

	lock(evd);
	change = setting_begin(&evd->qlen);
	unlock(evd);
	call_begin(&call, CALL_EVD_RESIZE, &evd->life, NULL, (uint64_t)qlen);
	ret = call_end(&call, dat_evd_resize(atomic_load(&evd->life.handle), qlen));
	lock(evd);
	(void)setting_end(&evd->qlen, &change, ret == DAT_SUCCESS, (uint64_t)qlen, clock_stamp());
	unlock(evd);
	return ret;
}

/* If no other thread changed the length meanwhile, the EVD must return it. */
static void
judge_length(struct evd *evd, const DAT_EVD_PARAM *param, const struct setting *before)
{
	if (!before->sure || !evd->qlen.sure || before->begun != evd->qlen.begun)
		return;
	if ((uint64_t)param->evd_qlen < evd->qlen.value)
		report_wrong(&evd->life, NULL, "the length is %llu, but dat_evd_query returned %d",
		    (unsigned long long)evd->qlen.value, (int)param->evd_qlen);
	evd->qlen.value = (uint64_t)param->evd_qlen;
}

/* Locked.  The same for another setting that dat_evd_query() returns. */
static void
judge_shown(const struct evd *evd, const struct setting *setting, const struct setting *before,
    const char *what, uint64_t shown)
{
	if (before->sure && setting->sure && before->begun == setting->begun &&
	    setting->value != shown)
		report_wrong(&evd->life, NULL, "dat_evd_query returned %llu for %s, which is %llu",
		    (unsigned long long)shown, what, (unsigned long long)setting->value);
}

/* The serial number of the CNO with this handle, or 0. */
static uint64_t
cno_serial(DAT_CNO_HANDLE handle)
{
	const struct life *life =
	    handle == DAT_HANDLE_NULL ? NULL : life_find_handle(LIFE_CNO, handle);

	return life ? atomic_load(&life->serial) : 0;
}

void
evd_query(struct evd *evd)
{
	struct setting qlen, enabled, waitable, cno;
	DAT_EVD_PARAM param;
	struct call call;

	lock(evd);
	qlen = evd->qlen;
	enabled = evd->enabled;
	waitable = evd->waitable;
	cno = evd->cno;
	unlock(evd);
	call_begin(&call, CALL_EVD_QUERY, &evd->life, NULL, 0);
	if (call_end(
		&call, dat_evd_query(atomic_load(&evd->life.handle), DAT_EVD_FIELD_ALL, &param)))
		return;
	lock(evd);
	if (param.evd_flags != evd->streams)
		report_wrong(&evd->life, NULL, "dat_evd_query returned the streams %#x",
		    (unsigned int)param.evd_flags);
	judge_length(evd, &param, &qlen);
	if (!life_may_be_ending(&evd->life)) {
		judge_shown(evd, &evd->enabled, &enabled, "enabled",
		    (param.evd_state & DAT_EVD_STATE_ENABLED) != 0);
		judge_shown(evd, &evd->waitable, &waitable, "waitable",
		    (param.evd_state & DAT_EVD_STATE_WAITABLE) != 0);
		judge_shown(evd, &evd->cno, &cno, "the CNO", cno_serial(param.cno_handle));
	}
	unlock(evd);
}

/* ---- posting ---- */

static unsigned int
possible(const struct evd *evd)
{
	unsigned int n = 0;

	for (int i = 0; i < EVD_LANES; i++)
		n += stream_possible(&evd->lane[i]);
	return n;
}

/* Locked.  Whether a tame EVD keeps room for its other events. */
static bool
leaves_room(const struct evd *evd, unsigned int there)
{
	if (!evd->life.tame || !(evd->streams & (DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG)))
		return true;
	return evd->qlen.sure && there + 14 < evd->qlen.value && there < 24;
}

/*
 * Locked.  If the queue can only have software events: at no moment of the call did it have more
 * than those that may have been queued at the begin, plus those that other threads began to post.
 */
static void
judge_full(struct evd *evd, unsigned int there, unsigned int begun, const struct setting *qlen)
{
	unsigned int most;

	if (evd->streams != DAT_EVD_SOFTWARE_FLAG || !qlen->sure || !evd->qlen.sure ||
	    qlen->begun != evd->qlen.begun)
		return;
	most = there + (evd->posts_begun - begun);
	if (most < evd->qlen.value)
		report_wrong(&evd->life, NULL,
		    "dat_evd_post_se returned DAT_QUEUE_FULL, with %u events at most in %u places",
		    most, (unsigned int)evd->qlen.value);
}

DAT_RETURN
evd_post(struct evd *evd, bool stale)
{
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	unsigned int lane = pick(EVD_LANES), there, begun;
	struct setting qlen;
	struct record *record;
	struct call call;
	DAT_RETURN ret;
	bool ok;

	lock(evd);
	there = possible(evd);
	record = leaves_room(evd, there) ? stream_begin(&evd->lane[lane]) : NULL;
	if (!record) {
		unlock(evd);
		return DAT_ERROR(DAT_QUEUE_FULL, DAT_NO_SUBTYPE);
	}
	begun = ++evd->posts_begun;
	qlen = evd->qlen;
	event.event_data.software_event_data.pointer =
	    take_mark_software(evd, lane, record->number);
	unlock(evd);

	call_begin(&call, CALL_EVD_POST_SE, &evd->life, NULL,
	    (uint64_t)(uintptr_t)event.event_data.software_event_data.pointer);
	ret = call_end(&call, dat_evd_post_se(atomic_load(&evd->life.handle), &event));

	lock(evd);
	if (dat_is(ret, DAT_INVALID_PARAMETER) && !stale)
		report_wrong(&evd->life, NULL, "dat_evd_post_se returned %s", dat_name(ret));
	if (dat_is(ret, DAT_QUEUE_FULL))
		judge_full(evd, there, begun, &qlen);
	ok = stream_end(&evd->lane[lane], record, ret == DAT_SUCCESS, clock_stamp());
	unlock(evd);
	if (!ok)
		report_wrong(&evd->life, NULL, "an event was delivered, but its post returned %s",
		    dat_name(ret));
	return ret;
}

void
evd_print(const struct evd *evd)
{
	fprintf(stderr,
	    "  streams %#x, %u places%s, policy %s%s, %u upcalls inside%s%s, %llu events taken\n",
	    (unsigned int)evd->streams, (unsigned int)evd->qlen.value,
	    evd->qlen.sure ? "" : " (not sure)",
	    dat_policy_name((DAT_UPCALL_POLICY)(int)evd->policy.value),
	    evd->policy.sure ? "" : " (not sure)", evd->inside, evd->torn ? ", torn down" : "",
	    evd->overflowed ? ", overflowed" : "", (unsigned long long)evd->takings);
	for (int i = 0; i < EVD_LANES; i++)
		fprintf(stderr, "  software events, lane %d: %u posted, %u wait\n", i,
		    evd->lane[i].last, stream_waiting(&evd->lane[i], UINT64_MAX));
	fprintf(stderr, "  CNO %llu%s, %s%s, %s%s\n", (unsigned long long)evd->cno.value,
	    evd->cno.sure ? "" : " (not sure)", evd->enabled.value ? "enabled" : "disabled",
	    evd->enabled.sure ? "" : " (not sure)", evd->waitable.value ? "waitable" : "unwaitable",
	    evd->waitable.sure ? "" : " (not sure)");
	for (int i = 0; i < EVD_WAITS; i++)
		if (evd->waiting[i].begin)
			fprintf(stderr, "  a thread waits since @%llu for %d events\n",
			    (unsigned long long)evd->waiting[i].begin,
			    (int)evd->waiting[i].threshold);
	for (int i = 0; i < EVD_ENDPOINTS; i++)
		if (evd->ep[i])
			fprintf(
			    stderr, "  endpoint EP#%llu\n", (unsigned long long)evd->ep_serial[i]);
}
