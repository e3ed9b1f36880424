/* SPDX-License-Identifier: BSD-3-Clause */
/* consumer -- what the threads and upcalls of a scenario do, by the provider's calls */
#include <netinet/in.h>

#include "play.h"
#include "world.h"

static const struct os_site site = { "consumer", 0 };

void
consumer_result(const char *what, DAT_RETURN ret, bool allowed)
{
	trace_note("%s: %x", what, (unsigned int)ret);
	if (ret != DAT_SUCCESS && !allowed)
		violation("%s: unexpected result %x", what, (unsigned int)ret);
}

static bool
is(DAT_RETURN ret, DAT_RETURN type)
{
	return DAT_GET_TYPE(ret) == type;
}

bool
consumer_evd_may_go(DAT_RETURN ret)
{
	return is(ret, DAT_INVALID_HANDLE) && play_has(DO_FREE);
}

/* ---- data transfers ---- */

void
consumer_post(struct play_ep *ep, enum direction direction, bool mute)
{
	const DAT_COMPLETION_FLAGS flags = mute ? DAT_COMPLETION_SUPPRESS_FLAG :
	    DAT_COMPLETION_DEFAULT_FLAG;
	struct play_life *life = play_life(ep);
	const unsigned int number = life->posted[direction]++;
	DAT_DTO_COOKIE cookie = { .as_64 = (uint64_t)ep->index << 40 |
		(uint64_t)ep->life << 32 | (uint64_t)direction << 16 | number };
	DAT_RETURN ret;

	if (number == REQUESTS_MAX)
		violation("the scenario posts too much");
	if (mute)
		life->mute |= 1u << number;
	if (direction == RECEIVES)
		ret = dapl_ep_post_recv(ep->handle, 0, NULL, cookie, flags);
	else
		ret = dapl_ep_post_send(ep->handle, 0, NULL, cookie, flags);
	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS) {
		life->posted_at[direction][number] = sched.steps;
	} else {
		if (life->told[direction] >> number & 1)
			violation("a request that could not be posted has an event");
		life->told[direction] |= 1u << number;
	}
	consumer_result("post", ret, (is(ret, DAT_INVALID_HANDLE) && play_has(DO_EP_FREE)) ||
	    is(ret, DAT_INVALID_STATE));
}

/* ---- taking events ---- */

static DAT_RETURN
dequeue(struct play_evd *evd)
{
	DAT_EVENT event;
	DAT_RETURN ret;

	play.taking_since[sched.self - sched.fibers] = sched.steps;
	ret = dapl_evd_dequeue(evd->handle, &event);
	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS)
		judge_event(evd, &event);
	consumer_result("dequeue", ret, is(ret, DAT_QUEUE_EMPTY) || consumer_evd_may_go(ret) ||
	    (is(ret, DAT_INVALID_STATE) && (play_has(DO_WAIT) || play_has(DO_TAKE) ||
	    play_has(DO_CQ_ERROR) || evd->lost)));
	return ret;
}

unsigned int
consumer_drain(struct play_evd *evd)
{
	unsigned int n = 0;

	while (dequeue(evd) == DAT_SUCCESS)
		n++;
	return n;
}

static DAT_RETURN
wait(struct play_evd *evd, int threshold, int us)
{
	const DAT_TIMEOUT timeout = us < 0 ? DAT_TIMEOUT_INFINITE : (DAT_TIMEOUT)us;
	const uint32_t self = fiber_bit(sched.self);
	DAT_COUNT more;
	DAT_EVENT event;
	DAT_RETURN ret;

	play.taking_since[sched.self - sched.fibers] = sched.steps;
	evd->inside_wait |= self;
	ret = dapl_evd_wait(evd->handle, timeout, threshold, &event, &more);
	evd->inside_wait &= ~self;
	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS)
		judge_event(evd, &event);
	consumer_result("wait", ret, (is(ret, DAT_TIMEOUT_EXPIRED) && us >= 0) ||
	    consumer_evd_may_go(ret) || (is(ret, DAT_ABORT) && play_has(DO_FREE)) ||
	    is(ret, DAT_INVALID_STATE));
	return ret;
}

void
consumer_upcall(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	const struct scenario *s = play.scenario;
	struct play_evd *evd = instance;
	const bool first = evd->upcalls++ == 0;

	(void)more;
	world_check_call_out("an upcall");
	sched_point_minor(OP_EVENT, OBJECT_EVD(evd->index), &site);
	sched_touch(OP_EVENT, OBJECT_EVD(evd->index));
	if (evd->freed)
		violation("I6: an upcall of EVD %c begins after it was freed", 'a' + evd->index);
	evd->running++;
	play.taking_since[sched.self - sched.fibers] = 0; /* who knows when it was claimed */
	if (event)
		judge_event(evd, event);
	else
		(void)consumer_drain(evd);
	for (int i = 0; i < s->n_actors && !sched.quiet; i++)
		if (s->actors[i].kind == ACTOR_UPCALL && s->actors[i].object == evd->index &&
		    (first || s->actors[i].every))
			(void)consumer_body((void *)(uintptr_t)&s->actors[i]);
	sched_point(OP_EVENT, OBJECT_EVD(evd->index), &site);
	sched_touch(OP_EVENT, OBJECT_EVD(evd->index));
	evd->running--;
}

/* ---- EVDs ---- */

static void
modify(struct play_evd *evd, int policy, bool fresh)
{
	DAT_UPCALL_OBJECT object = { evd, consumer_upcall };
	const bool off = policy == DAT_UPCALL_DISABLE || policy == DAT_UPCALL_TEARDOWN;
	DAT_RETURN ret;

	ret = dapl_evd_modify_upcall(evd->handle, (DAT_UPCALL_POLICY)policy, off ? NULL : &object,
	    fresh ? DAT_UPCALL_INVOC_NEW : DAT_UPCALL_INVOC_ANY);
	sched_step(OP_EVENT);
	consumer_result("modify_upcall", ret,
	    consumer_evd_may_go(ret) || is(ret, DAT_INVALID_STATE));
}

static void
free_evd(struct play_evd *evd)
{
	DAT_RETURN ret = dapl_evd_free(evd->handle);

	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS) {
		if (evd->running)
			violation("I6: free of EVD %c returned while an upcall runs",
			    'a' + evd->index);
		evd->freed = true;
	}
	consumer_result("evd_free", ret, is(ret, DAT_INVALID_HANDLE) || is(ret, DAT_INVALID_STATE));
}

static void
post_software(struct play_evd *evd)
{
	const unsigned int self = (unsigned int)(sched.self - sched.fibers);
	const unsigned int number = evd->posted[self]++;
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };
	DAT_RETURN ret;

	event.event_data.software_event_data.pointer =
	    (DAT_PVOID)(uintptr_t)(self << 16 | number);
	ret = dapl_evd_post_se(evd->handle, &event);
	sched_step(OP_EVENT);
	if (ret != DAT_SUCCESS)
		evd->posted[self]--;
	consumer_result("post_se", ret, consumer_evd_may_go(ret) || is(ret, DAT_QUEUE_FULL));
}

/* ---- endpoints ---- */

static void
disconnect(struct play_ep *ep, DAT_CLOSE_FLAGS flags)
{
	DAT_RETURN ret;

	judge_ending(ep);
	ret = dapl_ep_disconnect(ep->handle, flags);
	sched_step(OP_EVENT);
	consumer_result("disconnect", ret, (is(ret, DAT_INVALID_HANDLE) && play_has(DO_EP_FREE)) ||
	    is(ret, DAT_INVALID_STATE) || is(ret, DAT_INVALID_PARAMETER));
}

DAT_RETURN
consumer_connect(struct play_ep *ep)
{
	struct sockaddr_in to = { .sin_family = AF_INET };

	return dapl_ep_connect(ep->handle, (DAT_IA_ADDRESS_PTR)&to, 7, DAT_TIMEOUT_INFINITE, 0,
	    NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

static void
connect_again(struct play_ep *ep)
{
	DAT_RETURN ret = consumer_connect(ep);

	sched_step(OP_EVENT);
	consumer_result("connect", ret, (is(ret, DAT_INVALID_HANDLE) && play_has(DO_EP_FREE)) ||
	    is(ret, DAT_INVALID_STATE));
}

static void
reset(struct play_ep *ep)
{
	const unsigned int life = ep->life;
	DAT_RETURN ret = dapl_ep_reset(ep->handle);

	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS && life + 1 < LIVES && play_life(ep)->ending_at) {
		ep->lives[life].over_at = sched.steps;
		ep->life = life + 1;
	}
	consumer_result("ep_reset", ret, (is(ret, DAT_INVALID_HANDLE) && play_has(DO_EP_FREE)) ||
	    is(ret, DAT_INVALID_STATE));
}

static void
free_ep(struct play_ep *ep)
{
	DAT_RETURN ret = dapl_ep_free(ep->handle);

	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS) {
		play_life(ep)->over_at = sched.steps;
		ep->freed = true;
	}
	consumer_result("ep_free", ret, is(ret, DAT_INVALID_HANDLE) || is(ret, DAT_INVALID_STATE));
}

static void
move(struct play_ep *ep, enum rnic_move what)
{
	if (what != RNIC_RECEIVES && what != RNIC_SENDS && what != RNIC_CONNECTS)
		judge_ending(ep);
	rnic_move(ep->object, what);
}

static bool
delivered(void *arg)
{
	const struct action *a = arg;

	return play.evds[a->object].n_delivered >= (unsigned int)a->n;
}

static void
perform(struct action *a)
{
	struct play_evd *evd = &play.evds[a->object % EVDS];
	struct play_ep *ep = &play.eps[a->object % EPS];
	struct play_cno *cno = &play.cnos[a->object % CNOS];
	unsigned int drained = 0;

	for (int i = 0; i < a->n; i++)
		switch (a->verb) {
		case DO_RECV:
			consumer_post(ep, RECEIVES, false);
			break;
		case DO_SEND:
		case DO_SEND_MUTE:
			consumer_post(ep, REQUESTS, a->verb == DO_SEND_MUTE);
			break;
		case DO_RECEIVED:
			move(ep, RNIC_RECEIVES);
			break;
		case DO_SENT:
			move(ep, RNIC_SENDS);
			break;
		case DO_POST:
			post_software(evd);
			break;
		case DO_TAKE:
			if (wait(evd, 1, -1) != DAT_SUCCESS)
				return;
			break;
		default:
			break;
		}
	switch (a->verb) {
	case DO_FAILED:
		move(ep, RNIC_FAILS);
		break;
	case DO_QP_FATAL:
		move(ep, RNIC_BREAKS);
		break;
	case DO_CM_ACCEPTS:
		connection_await(ep->object);
		move(ep, RNIC_CONNECTS);
		break;
	case DO_CM_ESTABLISHED:
		move(ep, RNIC_CONNECTS);
		break;
	case DO_CM_REJECTED:
		move(ep, RNIC_REJECTS);
		break;
	case DO_CM_DISCONNECTED:
		move(ep, RNIC_DISCONNECTS);
		break;
	case DO_CQ_ERROR:
		evd->lost = true;
		rnic_cq_fails(evd->object->cq);
		break;
	case DO_DEVICE_FATAL:
		rnic_device_fails();
		break;
	case DO_DISCONNECT:
		disconnect(ep, DAT_CLOSE_ABRUPT_FLAG);
		break;
	case DO_DISCONNECT_GRACEFUL:
		disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG);
		break;
	case DO_CONNECT:
		connect_again(ep);
		break;
	case DO_EP_RESET:
		reset(ep);
		break;
	case DO_EP_FREE:
		free_ep(ep);
		break;
	case DO_RESIZE: {
		DAT_RETURN ret = dapl_evd_resize(evd->handle, a->n);

		consumer_result("resize", ret,
		    consumer_evd_may_go(ret) || is(ret, DAT_INVALID_STATE));
		break;
	}
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
	case DO_DEQUEUE:
		(void)dequeue(evd);
		break;
	case DO_DRAIN:
		(void)consumer_drain(evd);
		break;
	case DO_WAIT:
		(void)wait(evd, a->n, a->us);
		break;
	case DO_ATTACH:
		consumer_attach(evd, &play.cnos[a->other]);
		break;
	case DO_DETACH:
		consumer_attach(evd, NULL);
		break;
	case DO_SERVE:
		consumer_serve(cno, a->n);
		break;
	case DO_CNO_WAIT:
		consumer_cno_wait(cno, a->us, &drained);
		break;
	case DO_CNO_FREE:
		consumer_cno_free(cno);
		break;
	case DO_UNTIL:
		sched_until(delivered, a, OP_UNTIL, OBJECT_EVD(evd->index));
		break;
	default:
		break;
	}
}

void *
consumer_body(void *arg)
{
	const struct actor *actor = arg;

	for (unsigned int i = 0; i < actor->n_actions; i++) {
		struct action a = actor->actions[i];

		if (actor->kind == ACTOR_THREAD)
			sched.self->ops = 4096 * (i + 1); /* as in actor.c */
		if (a.dropped)
			continue;
		trace_note("-- %s %c", verb_name(a.verb),
		    verb_prefix(a.verb) ? verb_prefix(a.verb) + a.object : ' ');
		perform(&a);
	}
	return NULL;
}
