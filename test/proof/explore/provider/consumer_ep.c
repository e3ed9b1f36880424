/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * consumer_ep -- what a consumer does with endpoints, and what the device and the other end do to
 * them
 */
#include <netinet/in.h>

#include "play.h"

static unsigned int
meant(const struct play_ep *ep)
{
	const int8_t acting = play.acting[play_self()];

	if (acting < 0)
		return ep->life;
	/* A reset is a life of its own to the judge, under the same handle. */
	return ep->lives[play.knows_ep[acting][ep->index]].handle == ep->lives[ep->life].handle ?
		   ep->life :
		   play.knows_ep[acting][ep->index];
}

static bool
may_go(DAT_RETURN ret)
{
	return consumer_gone(ret, false, DO_EP_FREE, DO_EP_FREE) ||
	       consumer_is(ret, DAT_INVALID_STATE);
}

void
consumer_post(struct play_ep *ep, enum direction direction, DAT_COMPLETION_FLAGS flags)
{
	uint64_t *posting = &play.posting[play_self()];
	const uint64_t outer = *posting;
	const unsigned int l = meant(ep);
	const bool over = ep->freed && ep->lives[l].over_at;
	struct play_life *life = &ep->lives[l];
	const unsigned int depth = ep->spec->depth ? (unsigned int)ep->spec->depth : REQUESTS_MAX;
	const unsigned int delivered = (unsigned int)__builtin_popcount(life->delivered[direction]);
	const unsigned int number = life->posted[direction]++;
	DAT_DTO_COOKIE cookie = { .as_64 = (uint64_t)ep->index << 40 | (uint64_t)l << 32 |
					   (uint64_t)direction << 16 | number };
	DAT_LMR_TRIPLET buffer = { .segment_length = judge_length(cookie.as_64) };
	DAT_RETURN ret;

	if (number == REQUESTS_MAX)
		violation("the scenario posts too much");
	if (flags & DAT_COMPLETION_SUPPRESS_FLAG)
		life->mute |= 1u << number;
	if (flags & DAT_COMPLETION_UNSIGNALLED_FLAG)
		life->hushed |= 1u << number;
	*posting = cookie.as_64;
	if (direction == RECEIVES)
		ret = dapl_ep_post_recv(life->handle, 1, &buffer, cookie, flags);
	else
		ret = dapl_ep_post_send(life->handle, 1, &buffer, cookie, flags);
	*posting = outer;
	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS) {
		life->posted_at[direction][number] = sched.steps;
	} else {
		if (life->delivered[direction] >> number & 1 || life->outcomes[direction][number])
			violation("a request that could not be posted was posted");
		life->delivered[direction] |= 1u << number;
	}
	consumer_too_late("post", ret, over);
	/* Where the queue pair is in the error state already, there must be room in the EVD. */
	consumer_result("post", ret,
	    may_go(ret) || (consumer_is(ret, DAT_INSUFFICIENT_RESOURCES) &&
			       (number - delivered >= depth ||
				   ep->object->state == DAT_EP_STATE_DISCONNECTED)));
}

DAT_RETURN
consumer_connect(DAT_EP_HANDLE handle, DAT_TIMEOUT timeout)
{
	struct sockaddr_in to = { .sin_family = AF_INET };

	return dapl_ep_connect(handle, (DAT_IA_ADDRESS_PTR)&to, 7, timeout, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

static void
disconnect(struct play_ep *ep, DAT_CLOSE_FLAGS flags)
{
	const unsigned int l = meant(ep);
	DAT_RETURN ret;

	if (l == ep->life)
		judge_ending(ep);
	judge_cause(ep, CAUSE_LEAVING);
	if (flags != DAT_CLOSE_GRACEFUL_FLAG)
		judge_cause(ep, CAUSE_CUT);
	if (flags == DAT_CLOSE_GRACEFUL_FLAG)
		rnic_finish(ep->object);
	ret = dapl_ep_disconnect(ep->lives[l].handle, flags);
	if (flags == DAT_CLOSE_GRACEFUL_FLAG)
		rnic_finish(ep->object); /* a reset may have made another queue pair meanwhile */
	sched_step(OP_EVENT);
	consumer_result("disconnect", ret, may_go(ret) || consumer_is(ret, DAT_INVALID_PARAMETER));
}

static void
reset(struct play_ep *ep)
{
	const unsigned int l = meant(ep);
	struct play_life *life;
	DAT_RETURN ret;

	if (ep->life + 1 == PLAY_LIVES)
		return;
	/* What is owed now does not wait for completions any longer. */
	play_life(ep)->hastened |= ep->object->owed.event || ep->object->pins;
	ret = dapl_ep_reset(ep->lives[l].handle);
	sched_step(OP_EVENT);
	life = play_life(ep);
	/* One that was not connected stays as it is; of two resets one returns first. */
	if (!ep->freed && life->generation != ep->object->generation &&
	    (ret == DAT_SUCCESS || sched.faults)) {
		judge_ending(ep);
		life->over_at = sched.steps;
		ep->life++;
		play_life(ep)->handle = life->handle;
		play_life(ep)->generation = ep->object->generation;
		/*
		 * Without a queue pair it stays disconnected, and may be reset again.  Another
		 * actor may have connected it before this call returned: then events of the new
		 * life were counted for the old one.
		 */
		play_life(ep)->vague = play_life(ep)->ended =
		    ret != DAT_SUCCESS || ep->object->state != DAT_EP_STATE_UNCONNECTED;
	}
	consumer_result("ep_reset", ret, may_go(ret));
}

static void
free_ep(struct play_ep *ep)
{
	const unsigned int l = meant(ep);
	const DAT_EP_HANDLE handle = ep->lives[l].handle;
	const bool over = ep->lives[l].over_at;
	DAT_RETURN ret = dapl_ep_free(handle);

	sched_step(OP_EVENT);
	/* The endpoint may have been reset, or another one may be in the slot already. */
	if (ret == DAT_SUCCESS && play_life(ep)->handle == handle) {
		play_life(ep)->over_at = sched.steps ? sched.steps : 1;
		ep->freed = true;
	}
	consumer_too_late("ep_free", ret, over);
	consumer_result("ep_free", ret, may_go(ret));
}

static void
new_ep(struct play_ep *ep)
{
	DAT_RETURN ret;

	if (!ep->freed || ep->opening || ep->life + 1 == PLAY_LIVES)
		return;
	ep->opening = true;
	ret = play_open_ep(ep->index);
	ep->opening = false;
	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS)
		play.knows_ep[play.acting[play_self()]][ep->index] = (uint8_t)ep->life;
	consumer_result("ep_create", ret, consumer_gone(ret, false, DO_FREE, DO_FREE));
}

/* `us`, if more than 1: how long the attempt may take. */
static void
connect_again(struct play_ep *ep, int us)
{
	struct play_life *life = play_life(ep);
	const bool first = us > 1 && !life->patience;
	DAT_RETURN ret;

	if (first)
		life->patience = sched.now + (uint64_t)us * 1000;
	ret = consumer_connect(
	    ep->lives[meant(ep)].handle, us > 1 ? (DAT_TIMEOUT)us : DAT_TIMEOUT_INFINITE);
	sched_step(OP_EVENT);
	if (first && ret != DAT_SUCCESS)
		life->patience = 0;
	consumer_result("connect", ret, may_go(ret));
}

static void
move(struct play_ep *ep, enum rnic_move what)
{
	if (what == RNIC_FAILS || what == RNIC_RECEIVE_FAILS)
		judge_ending(ep);
	rnic_move(ep->object, what);
}

void
consumer_act_ep(const struct action *a)
{
	struct play_ep *ep = &play.eps[a->object];

	for (int i = 0; i < a->n; i++)
		switch (a->verb) {
		case DO_RECV:
			consumer_post(ep, RECEIVES, DAT_COMPLETION_DEFAULT_FLAG);
			break;
		case DO_SEND:
			consumer_post(ep, REQUESTS, DAT_COMPLETION_DEFAULT_FLAG);
			break;
		case DO_SEND_MUTE:
			consumer_post(ep, REQUESTS, DAT_COMPLETION_SUPPRESS_FLAG);
			break;
		case DO_SEND_HUSHED:
			consumer_post(ep, REQUESTS, DAT_COMPLETION_UNSIGNALLED_FLAG);
			break;
		case DO_BIND:
		case DO_BIND_MUTE:
		case DO_UNBIND:
			binds_post(ep, meant(ep), a->verb == DO_UNBIND, a->verb == DO_BIND_MUTE);
			break;
		case DO_RECEIVED:
			move(ep, RNIC_RECEIVES);
			break;
		case DO_SENT:
			move(ep, RNIC_SENDS);
			break;
		default:
			break;
		}
	switch (a->verb) {
	case DO_FAILED:
	case DO_RECEIVE_FAILED:
		rnic_fail_by((unsigned int)a->n - 1);
		move(ep, a->verb == DO_FAILED ? RNIC_FAILS : RNIC_RECEIVE_FAILS);
		break;
	case DO_QP_FATAL:
		move(ep, RNIC_BREAKS);
		break;
	case DO_CM_ACCEPTS:
		connection_await(ep->object);
		connection_answer(ep->object, ANSWER_ACCEPTS);
		break;
	case DO_CM_ESTABLISHED:
		connection_answer(ep->object, ANSWER_ACCEPTS);
		break;
	case DO_CM_REJECTED:
		connection_answer(ep->object, ANSWER_DECLINES);
		break;
	case DO_CM_DISCONNECTED:
		connection_leave(ep->object);
		break;
	case DO_DISCONNECT:
		disconnect(ep, DAT_CLOSE_ABRUPT_FLAG);
		break;
	case DO_DISCONNECT_GRACEFUL:
		disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG);
		break;
	case DO_CONNECT:
		connect_again(ep, a->n);
		break;
	case DO_EP_RESET:
		reset(ep);
		break;
	case DO_EP_FREE:
		free_ep(ep);
		break;
	case DO_EP_NEW:
		new_ep(ep);
		break;
	case DO_EP_SEE:
		play.knows_ep[play.acting[play_self()]][ep->index] = (uint8_t)ep->life;
		break;
	default:
		break;
	}
}
