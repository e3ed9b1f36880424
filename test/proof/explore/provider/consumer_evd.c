/* SPDX-License-Identifier: BSD-3-Clause */
/* consumer_evd -- what a consumer does with EVDs */
#include "play.h"
#include "slots.h"

struct play_evd_life *
consumer_evd(struct play_evd *evd)
{
	const struct play_evd_life *frame = play.frame[play_self()][evd->index];
	const int8_t acting = play.acting[play_self()];

	if (frame)
		return &evd->lives[frame - evd->lives];
	return &evd->lives[acting < 0 ? evd->life : play.knows[acting][evd->index]];
}

static bool
may_go(const struct play_evd_life *evd, DAT_RETURN ret)
{
	/* Until the overflow is known a queue that overran is one that cannot be polled. */
	return consumer_gone(ret, evd->over, DO_FREE, DO_FREE) ||
	       (consumer_is(ret, DAT_INTERNAL_ERROR) && (evd->evd->lost || sched.faults));
}

/* ---- taking events ---- */

static DAT_RETURN
dequeue(struct play_evd_life *evd)
{
	const bool over = evd->over;
	DAT_EVENT event;
	DAT_RETURN ret;

	play.taking_since[play_self()] = sched.steps;
	ret = dapl_evd_dequeue(evd->handle, &event);
	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS)
		judge_event(evd, &event);
	consumer_too_late("dequeue", ret, over);
	consumer_result("dequeue", ret,
	    consumer_is(ret, DAT_QUEUE_EMPTY) || may_go(evd, ret) ||
		(consumer_is(ret, DAT_INVALID_STATE) &&
		    (play_has(DO_WAIT) || play_has(DO_TAKE) || play_has(DO_CQ_ERROR) ||
			evd->evd->lost)));
	return ret;
}

static DAT_RETURN
several(struct play_evd_life *evd, int most)
{
	const bool over = evd->over;
	DAT_EVENT events[8];
	DAT_COUNT n = -1;
	DAT_RETURN ret;

	play.taking_since[play_self()] = sched.steps;
	ret = dapl_evd_dequeue_n(evd->handle, most < 8 ? most : 8, events, &n);
	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS ? n < 1 || n > most : n > 0)
		violation("dequeue_n: %d events of at most %d", n, most);
	for (DAT_COUNT i = 0; ret == DAT_SUCCESS && i < n; i++)
		judge_event(evd, &events[i]);
	consumer_too_late("dequeue_n", ret, over);
	consumer_result("dequeue_n", ret,
	    consumer_is(ret, DAT_QUEUE_EMPTY) || may_go(evd, ret) ||
		(consumer_is(ret, DAT_INVALID_STATE) &&
		    (play_has(DO_WAIT) || play_has(DO_TAKE) || play_has(DO_CQ_ERROR) ||
			evd->evd->lost)));
	return ret;
}

unsigned int
consumer_drain(struct play_evd_life *evd)
{
	unsigned int n = 0;

	while (dequeue(evd) == DAT_SUCCESS)
		n++;
	return n;
}

static DAT_RETURN
wait(struct play_evd_life *evd, int threshold, int us)
{
	const DAT_TIMEOUT timeout = us < 0 ? DAT_TIMEOUT_INFINITE : (DAT_TIMEOUT)us;
	const uint32_t self = fiber_bit(sched.self);
	const bool over = evd->over;
	DAT_COUNT more;
	DAT_EVENT event;
	DAT_RETURN ret;

	play.taking_since[play_self()] = sched.steps;
	if (!over && evd == play_evd_life(evd->evd))
		evd->evd->inside_wait |= self;
	ret = dapl_evd_wait(evd->handle, timeout, threshold, &event, &more);
	evd->evd->inside_wait &= ~self;
	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS)
		judge_event(evd, &event);
	if (ret == DAT_SUCCESS && threshold > 1 && standing_is_narrow(evd->evd, true))
		violation("a wait for several events is allowed on EVD %c, some of whose "
			  "completions do not wake",
		    'a' + evd->evd->index);
	consumer_too_late("wait", ret, over);
	consumer_result("wait", ret,
	    (consumer_is(ret, DAT_TIMEOUT_EXPIRED) && us >= 0) || may_go(evd, ret) ||
		(consumer_is(ret, DAT_INVALID_PARAMETER) && threshold > 1 &&
		    standing_is_narrow(evd->evd, false)) ||
		(consumer_is(ret, DAT_ABORT) && (play_has(DO_FREE) || play.closing)) ||
		consumer_is(ret, DAT_INVALID_STATE));
	return ret;
}

/* ---- changing them ---- */

DAT_RETURN
consumer_modify(struct play_evd_life *evd, int policy, bool installs, DAT_UPCALL_FLAG flag)
{
	const DAT_UPCALL_ARRAY_OBJECT array = { evd, consumer_upcall_array,
		evd->evd->spec->array == 1 ? 1 : PLAY_ARRAY };
	const DAT_UPCALL_OBJECT object = { evd, consumer_upcall };

	if (evd->evd->spec->array)
		return dapl_evd_modify_upcall_array(
		    evd->handle, (DAT_UPCALL_POLICY)policy, installs ? &array : NULL, flag);
	return dapl_evd_modify_upcall(
	    evd->handle, (DAT_UPCALL_POLICY)policy, installs ? &object : NULL, flag);
}

static void
modify(struct play_evd_life *evd, int policy, bool fresh)
{
	const bool off = policy == DAT_UPCALL_DISABLE || policy == DAT_UPCALL_TEARDOWN;
	const bool over = evd->over;
	DAT_RETURN ret;

	setting_begins(&evd->policy);
	ret =
	    consumer_modify(evd, policy, !off, fresh ? DAT_UPCALL_INVOC_NEW : DAT_UPCALL_INVOC_ANY);
	setting_ends(&evd->policy, ret == DAT_SUCCESS, (uint64_t)policy);
	sched_step(OP_EVENT);
	consumer_too_late("modify_upcall", ret, over);
	consumer_result(
	    "modify_upcall", ret, may_go(evd, ret) || consumer_is(ret, DAT_INVALID_STATE));
}

static void
free_evd(struct play_evd_life *evd)
{
	const bool over = evd->over, inside = play.frames[play_self()][evd->evd->index];
	DAT_RETURN ret = dapl_evd_free(evd->handle);

	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS) {
		/* From inside it does not wait for an upcall that closes the adapter. */
		if (evd->evd->running && !inside && !(play.closing && os_in_callback()))
			violation("I6: free of EVD %c returned while an upcall runs",
			    'a' + evd->evd->index);
		evd->over = true;
		evd->stopped = !os_in_callback();
	}
	consumer_too_late("evd_free", ret, over);
	consumer_result("evd_free", ret,
	    consumer_is(ret, DAT_INVALID_HANDLE) || consumer_is(ret, DAT_INVALID_STATE));
}

static void
reopen(struct play_evd *evd, enum evd_base base)
{
	DAT_RETURN ret;

	if (!play_evd_life(evd)->over || evd->opening)
		return;
	evd->opening = true;
	ret = play_open_evd(evd->index, DAT_HANDLE_NULL, base);
	evd->opening = false;
	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS)
		play.knows[play.acting[play_self()]][evd->index] = (uint8_t)evd->life;
	consumer_result("evd_create", ret, consumer_gone(ret, false, DO_CNO_FREE, DO_CNO_FREE));
}

static void
post_software(struct play_evd_life *evd)
{
	const unsigned int self = play_self();
	const unsigned int number = evd->posted[self]++;
	const bool over = evd->over;
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	DAT_RETURN ret;

	event.event_data.software_event_data.pointer =
	    (DAT_PVOID)(uintptr_t)((uintptr_t)(evd - evd->evd->lives) << 24 | self << 16 | number);
	ret = dapl_evd_post_se(evd->handle, &event);
	sched_step(OP_EVENT);
	if (ret != DAT_SUCCESS)
		evd->posted[self]--;
	consumer_too_late("post_se", ret, over);
	consumer_result("post_se", ret, may_go(evd, ret) || consumer_is(ret, DAT_QUEUE_FULL));
}

static void
attach(struct play_evd_life *evd, DAT_CNO_HANDLE cno)
{
	const bool over = evd->over;
	DAT_RETURN ret;

	setting_begins(&evd->listener);
	ret = dapl_evd_modify_cno(evd->handle, cno);
	setting_ends(&evd->listener, ret == DAT_SUCCESS, (uintptr_t)cno);
	sched_step(OP_EVENT);
	consumer_too_late("modify_cno", ret, over);
	consumer_result("modify_cno", ret,
	    may_go(evd, ret) || consumer_gone(ret, false, DO_CNO_FREE, DO_CNO_ABRUPT));
}

static void
settings(struct play_evd_life *evd, enum verb verb, int n)
{
	const bool over = evd->over;
	DAT_EVD_PARAM param;
	DAT_RETURN ret;

	switch (verb) {
	case DO_RESIZE:
		setting_begins(&evd->length);
		ret = dapl_evd_resize(evd->handle, n);
		setting_ends(&evd->length, ret == DAT_SUCCESS, (uint64_t)n);
		break;
	case DO_CNO_ON:
	case DO_CNO_OFF:
		setting_begins(&evd->enabled);
		ret = verb == DO_CNO_ON ? dapl_evd_enable(evd->handle) :
					  dapl_evd_disable(evd->handle);
		setting_ends(&evd->enabled, ret == DAT_SUCCESS,
		    verb == DO_CNO_ON ? DAT_EVD_STATE_ENABLED : 0);
		break;
	case DO_UNWAITABLE:
	case DO_WAITABLE:
		setting_begins(&evd->waitable);
		ret = verb == DO_WAITABLE ? dapl_evd_clear_unwaitable(evd->handle) :
					    dapl_evd_set_unwaitable(evd->handle);
		setting_ends(&evd->waitable, ret == DAT_SUCCESS,
		    verb == DO_WAITABLE ? DAT_EVD_STATE_WAITABLE : 0);
		break;
	default:
		ret = dapl_evd_query(evd->handle, DAT_EVD_FIELD_ALL, &param);
		if (ret == DAT_SUCCESS && param.ia_handle != play.ia)
			violation("the query of an EVD returns another adapter");
		break;
	}
	sched_step(OP_EVENT);
	consumer_too_late(verb_name(verb), ret, over);
	consumer_result(
	    verb_name(verb), ret, may_go(evd, ret) || consumer_is(ret, DAT_INVALID_STATE));
}

/* ---- calls that must be refused in any situation ---- */

static void
refused(const struct play_evd_life *evd, const char *what, DAT_RETURN ret, DAT_RETURN type,
    DAT_RETURN_SUBTYPE subtype)
{
	sched_step(OP_EVENT);
	if (ret != (type | (DAT_RETURN)subtype | DAT_CLASS_ERROR) && !may_go(evd, ret))
		violation("%s with a wrong argument returned %x", what, (unsigned int)ret);
}

static void
call_wrongly(const struct play_evd_life *evd)
{
	const DAT_EVD_HANDLE handle = evd->handle;
	DAT_EVENT event = { .event_number = DAT_CONNECTION_EVENT_ESTABLISHED };
	DAT_COUNT more;
	DAT_EVD_PARAM param;

	refused(evd, "a wait", dapl_evd_wait(handle, 1, 1, NULL, &more), DAT_INVALID_PARAMETER,
	    DAT_INVALID_ARG4);
	refused(evd, "a wait", dapl_evd_wait(handle, 1, 1, &event, NULL), DAT_INVALID_PARAMETER,
	    DAT_INVALID_ARG5);
	refused(evd, "a dequeue", dapl_evd_dequeue(handle, NULL), DAT_INVALID_PARAMETER,
	    DAT_INVALID_ARG2);
	refused(
	    evd, "a post", dapl_evd_post_se(handle, NULL), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	refused(evd, "a post", dapl_evd_post_se(handle, &event), DAT_INVALID_PARAMETER,
	    DAT_INVALID_ARG2);
	refused(evd, "a query", dapl_evd_query(handle, DAT_EVD_FIELD_ALL, NULL),
	    DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	refused(evd, "a query",
	    dapl_evd_query(handle, (DAT_EVD_PARAM_MASK)(DAT_EVD_FIELD_ALL + 1), &param),
	    DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	refused(
	    evd, "a resize", dapl_evd_resize(handle, 0), DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	refused(evd, "a resize", dapl_evd_resize(handle, 100000), DAT_INVALID_PARAMETER,
	    DAT_INVALID_ARG2);
	refused(evd, "a query of counters", dapl_evd_query_upcall_counters(handle, NULL, 8),
	    DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	if (play.pz)
		refused(evd, "a free", dapl_evd_free(play.pz), DAT_INVALID_HANDLE, DAT_NO_SUBTYPE);
}

void
consumer_act_evd(const struct action *a)
{
	struct play_evd *named = &play.evds[a->object];
	struct play_evd_life *evd = consumer_evd(named);

	switch (a->verb) {
	case DO_POST:
		for (int i = 0; i < a->n; i++)
			post_software(evd);
		break;
	case DO_TAKE:
		for (int i = 0; i < a->n; i++)
			if (wait(evd, 1, -1) != DAT_SUCCESS)
				return;
		break;
	case DO_WRONG:
		call_wrongly(evd);
		break;
	case DO_EVD_ASKED:
		for (int i = 0; i < a->n; i++)
			(void)slots_ask(play_evd_life(named)->handle);
		break;
	case DO_CQ_ERROR:
		if (play_evd_life(named)->over || !play_evd_life(named)->object->cq)
			break;
		named->lost = true;
		rnic_cq_fails(play_evd_life(named)->object->cq);
		break;
	case DO_SINGLE:
		modify(evd, DAT_UPCALL_SINGLE_INSTANCE, a->fresh);
		break;
	case DO_MANY:
		modify(evd, DAT_UPCALL_MANY, a->fresh);
		break;
	case DO_NORIFY:
		modify(evd, DAT_UPCALL_NORIFY, a->fresh);
		break;
	case DO_DISABLE:
		modify(evd, DAT_UPCALL_DISABLE, false);
		break;
	case DO_TEARDOWN:
		modify(evd, DAT_UPCALL_TEARDOWN, false);
		break;
	case DO_FREE:
		free_evd(evd);
		break;
	case DO_REOPEN:
		reopen(named, a->base);
		break;
	case DO_SEE:
		play.knows[play.acting[play_self()]][named->index] = (uint8_t)named->life;
		sched_see(OP_EVENT, OBJECT_EVD(named->index));
		break;
	case DO_DEQUEUE:
		(void)dequeue(evd);
		break;
	case DO_SEVERAL:
		(void)several(evd, a->n);
		break;
	case DO_DRAIN:
		(void)consumer_drain(evd);
		break;
	case DO_WAIT:
		(void)wait(evd, a->n, a->us);
		break;
	case DO_ATTACH:
		attach(evd, consumer_cno_handle(&play.cnos[a->other]));
		break;
	case DO_DETACH:
		attach(evd, DAT_HANDLE_NULL);
		break;
	default:
		settings(evd, a->verb, a->n);
		break;
	}
}
