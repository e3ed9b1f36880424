/* SPDX-License-Identifier: BSD-3-Clause */
/* calls -- what the threads and callbacks of a scenario do, by the calls of librearm */
#include <poll.h>

#include "context.h"
#include "program.h"
#include "world.h"

static const struct os_site here = { "the program", 0 };

/* The queue that the calling actor means; inside a callback, the one of that. */
static struct program_life *
meant(struct program_queue *queue)
{
	struct program_life *frame = program.frame[program_self()][queue->index];
	const int8_t acting = program.acting[program_self()];

	if (frame)
		return frame;
	return acting < 0 ? program_life(queue) :
			    &queue->lives[program.knows[acting][queue->index]];
}

/* False: a right program does not use it any more. */
static bool
call_begins(struct program_life *life)
{
	sched_see(OP_EVENT, OBJECT_EVD(life->queue->index));
	if (!life->object || life->over ||
	    (life->ending && program.frame[program_self()][life->queue->index] != life))
		return false;
	context_acquire(&life->object);
	life->users++;
	program.calling[program_self()]++;
	return true;
}

static void
call_ends(struct program_life *life, const char *what, int r, bool allowed)
{
	program.calling[program_self()]--;
	life->users--;
	context_release(&life->users);
	sched_step(OP_EVENT);
	trace_note("%s: %d", what, r);
	allowed |= r == -ENODEV && program_has(DO_FREE);
	allowed |= r == -EIO && life->lost;
	/* The library may return the error of what failed. */
	allowed |= sched.faults &&
		   (r == -EIO || r == -ENOMEM || r == -EMFILE || r == -ENOSPC || r == -EINTR);
	if (r < 0 && !allowed)
		violation("%s: unexpected result %d", what, r);
}

/* ---- taking ---- */

static int
take(struct program_life *life, int n)
{
	const unsigned int produced = life->produced;
	struct ibv_wc wc[4];
	union rearm_event event;
	int r;

	if (!call_begins(life))
		return 0;
	if (program_has_events(life->queue)) {
		r = rearm_queue_take_event(life->object, &event);
		if (r > 0)
			judge_event(life, &event);
	} else {
		r = rearm_queue_take(life->object, n, wc);
		for (int i = 0; i < r; i++)
			judge_wc(life, &wc[i]);
		if (r == 0)
			judge_empty(life, produced, 1);
	}
	if (r > n)
		violation("a take of %d returns %d", n, r);
	call_ends(life, "take", r, r == -EBUSY && (program_has(DO_WAIT) || program_has(DO_TAKE)));
	return r;
}

unsigned int
program_drain(struct program_life *life)
{
	unsigned int n = 0;
	int r;

	while ((r = take(life, 2)) > 0)
		n += (unsigned int)r;
	return n;
}

/* The thread may be cancelled in it. */
static int
wait_or_leave(struct program_life *life, int least, int us, struct ibv_wc *wc, union rearm_event *e)
{
	struct world_left left;
	int r;

	if (setjmp(left.place))
		return WORLD_CANCELLED;
	sched.self->left = world_may_be_cancelled() ? &left : NULL;
	r = program_has_events(life->queue) ? rearm_queue_wait_event(life->object, us, e) :
					      rearm_queue_wait(life->object, least, us, 2, wc);
	sched.self->left = NULL;
	return r;
}

static int
wait(struct program_life *life, int least, int us)
{
	const uint32_t self = fiber_bit(sched.self);
	const unsigned int produced = life->produced;
	const uint64_t begun = sched.now;
	struct program_queue *queue = life->queue;
	const bool enables = queue->spec->policy != EVD_POLICY_DISABLE || program_has(DO_SINGLE) ||
			     program_has(DO_NORIFY) || program_has(DO_MANY) ||
			     program_has(DO_REARM);
	struct ibv_wc wc[2];
	union rearm_event event;
	int r;

	if (!call_begins(life))
		return -ENODEV;
	if (life == program_life(queue))
		queue->inside_wait |= self;
	r = wait_or_leave(life, least, us, wc, &event);
	queue->inside_wait &= ~self;
	if (r > 0 && program_has_events(queue)) {
		judge_event(life, &event);
	} else if (r > 0) {
		for (int i = 0; i < r; i++)
			judge_wc(life, &wc[i]);
		if (r > 2 || r < (least < 2 ? least : 2))
			violation("a wait for %d completions returns %d", least, r);
	}
	if (r == -ETIMEDOUT && sched.now < begun + (uint64_t)us * 1000u)
		violation("a wait times out early");
	if (r == -ETIMEDOUT && !program_has_events(queue))
		judge_empty(life, produced, (unsigned int)least);
	call_ends(life, "wait", r,
	    (r == -ETIMEDOUT && us >= 0) || r == -EBUSY || (r == -EACCES && enables) ||
		(r == -ECANCELED && program_has(DO_FREE)) || r == WORLD_CANCELLED ||
		(r == -EOPNOTSUPP && life->base == BASE_CHANNEL && program.scenario->stepped));
	return r;
}

static void
take_each(struct program_life *life, int n)
{
	int r, tries = 0;

	while (n > 0) {
		r = wait(life, 1, -1);
		n -= r > 0 ? r : 0;
		if (r < 0 && (life->over || !(sched.faults || r == -EBUSY) || tries++ == 64))
			return;
	}
}

/* ---- changing ---- */

static void
later(uint32_t *step, uint32_t than)
{
	if (*step < than)
		*step = than;
}

int
program_enable(struct program_life *life, int policy, const struct action *a)
{
	const struct evd_spec *spec = life->queue->spec;
	const struct rearm_upcall requests = { rearm_call_requests, life, PROGRAM_BATCH };
	const struct rearm_upcall plain = { program_callback, life,
		spec->array ? PROGRAM_BATCH : 1 };
	const struct rearm_event_upcall event = { program_event_callback, life };
	const enum rearm_pending pending = a && a->fresh ? REARM_NEW : REARM_ANY;
	const bool same = a && a->same;
	int r;

	if (!call_begins(life))
		return -ENODEV;
	life->enabling++;
	life->many |= policy == EVD_POLICY_MANY;
	if (program_has_events(life->queue))
		r = rearm_queue_enable_events(
		    life->object, (enum rearm_policy)policy, same ? NULL : &event, pending);
	else
		r = rearm_queue_enable(life->object, (enum rearm_policy)policy,
		    same					  ? NULL :
		    spec->requests && policy != EVD_POLICY_NOTIFY ? &requests :
								    &plain,
		    pending);
	life->enabling--;
	if (r == 0)
		later(&life->enabled_at, program_locked_at(life));
	call_ends(life, "enable", r,
	    (r == -EAGAIN && pending == REARM_NEW) ||
		(r == -EBUSY && (program_has(DO_WAIT) || program_has(DO_TAKE))) ||
		(r == -EINVAL && same));
	return r;
}

static void
disable(struct program_life *life, bool teardown)
{
	int r;

	if (!call_begins(life))
		return;
	if (teardown && program.frame[program_self()][life->queue->index] == life) {
		bool *exempted = &program.exempted[program_self()][life->queue->index];

		life->exempt += !*exempted;
		*exempted = true;
	}
	r = teardown ? rearm_queue_teardown(life->object) : rearm_queue_disable(life->object);
	if (r == 0)
		judge_stopped(life, teardown ? "teardown" : "disable", teardown);
	call_ends(life, teardown ? "teardown" : "disable", r, false);
}

/* Drains, enables for what is new, and drains again while this is refused. */
static void
enable_when_empty(struct program_life *life)
{
	static const struct action fresh = { .fresh = true };
	int r, tries = 0;

	do {
		(void)program_drain(life);
		r = program_enable(life, EVD_POLICY_SINGLE, &fresh);
	} while (r == -EAGAIN || (r < 0 && sched.faults && !life->over && tries++ < 64));
}

int
program_free(struct program_life *life)
{
	const int index = life->queue->index;
	const bool inside = program.frame[program_self()][index] == life;
	bool *exempted = &program.exempted[program_self()][index];
	const bool again = life->over;
	int r;

	/* A second time only inside the callback in which it was freed. */
	if (!life->object || (again && !(inside && life->inside && *exempted)) ||
	    (life->ending && !inside))
		return -ENODEV;
	context_acquire(&life->object);
	life->ending = true;
	sched_touch(OP_EVENT, OBJECT_EVD(index));
	life->users++;
	program.calling[program_self()]++;
	life->exempt += inside && !*exempted;
	*exempted |= inside;
	r = rearm_queue_free(life->object);
	if (r == 0) {
		if (life->over)
			violation("queue %c is freed twice", 'a' + index);
		life->over = true;
		life->inside = inside;
		if (life->cq)
			rnic_cq(life->cq)->booked = NULL;
		sched_touch(OP_EVENT, OBJECT_EVD(index));
		sched_changed();
		/* Inside a callback it does not wait for others of MANY. */
		judge_stopped(life, "free", !inside || !life->many);
	}
	call_ends(life, "free", r, r == -ENODEV);
	if (r == 0 && (!inside || life->base == BASE_ADOPTED))
		program_given_back(life);
	return r;
}

/*
 * A call reads the serial number of its queue without a lock, which ThreadSanitizer reports if the
 * slot is used again meanwhile: there the slots wait for these calls.
 */
static bool
slots_are_left(void)
{
	bool left = true;

	for (int i = 0; context_is_tsan() && i < program.scenario->n_evds; i++)
		for (unsigned int l = 1; l <= program.queues[i].life; l++) {
			const struct program_life *life = &program.queues[i].lives[l];

			left &= !life->ending || !life->users;
			context_acquire((void *)(uintptr_t)&life->users);
		}
	return left;
}

static void
reopen(struct program_queue *queue, enum evd_base base)
{
	struct program_life *life = program_life(queue);
	int r;

	/* A channel of events is the library's until the callback has returned that freed it. */
	if ((life->object && !life->over) || life->users || queue->opening ||
	    queue->life + 1 == PROGRAM_LIVES || (life->inside && program_has_events(queue)) ||
	    !slots_are_left())
		return;
	context_acquire(&life->users);
	queue->opening = true;
	r = program_open(queue, base);
	queue->opening = false;
	sched_step(OP_EVENT);
	if (r && !sched.faults)
		violation("a queue cannot be made: %d", r);
	program.knows[program.acting[program_self()]][queue->index] = (uint8_t)queue->life;
}

/* ---- other calls ---- */

static void
query(struct program_life *life)
{
	struct rearm_counters counters;
	int r;

	if (!call_begins(life))
		return;
	r = rearm_queue_counters(life->object, &counters, sizeof counters);
	call_ends(life, "counters", r, false);
}

static void
solicited(struct program_life *life, int on)
{
	int r;

	if (!call_begins(life))
		return;
	r = rearm_queue_set_solicited(life->object, on);
	call_ends(life, "set_solicited", r, r == -EINVAL && program_has_events(life->queue));
}

static void
refused(int r, int expected)
{
	if (r != expected)
		violation("a wrong call returns %d, not %d", r, expected);
}

static void
call_wrongly(struct program_life *life)
{
	const struct rearm_upcall upcall = { rearm_call_requests, life, 1 };
	const bool events = program_has_events(life->queue);
	struct ibv_wc wc;
	union rearm_event event;
	int r;

	if (!call_begins(life))
		return;
	refused(rearm_queue_take(life->object, 0, &wc), -EINVAL);
	r = rearm_queue_enable(life->object, REARM_NOTIFY, &upcall, REARM_ANY);
	/* It is refused where a queue that is being freed is found first. */
	if (r != -ENODEV || !program_has(DO_FREE))
		refused(r, -EINVAL);
	refused(rearm_queue_enable(life->object, (enum rearm_policy)7, NULL, REARM_ANY), -EINVAL);
	if (events)
		refused(rearm_queue_take(life->object, 1, &wc), -EINVAL);
	else
		refused(rearm_queue_take_event(life->object, &event), -EINVAL);
	if (!program.scenario->stepped)
		refused(rearm_loop_fd(program.loop), -EINVAL);
	call_ends(life, "wrong calls", 0, true);
}

/*
 * As its manual says: dispatch, ask, sleep on the descriptor; or by dispatch alone.  Until so many
 * events came, or for so long.
 */
static void
pump(const struct program_queue *queue, unsigned int n, int us, bool turns)
{
	struct pollfd fd = { .fd = rearm_loop_fd(program.loop), .events = POLLIN };
	const uint64_t end = us < 0 ? UINT64_MAX : sched.now + (uint64_t)us * OS_NS_PER_US;
	uint64_t due;
	int r, ms;

	while (us < 0 ? queue->n_delivered < n : sched.now < end) {
		r = rearm_loop_dispatch(program.loop, 2, turns ? -1 : 0);
		if (r < 0)
			violation("dispatch: %d", r);
		if (turns || (us < 0 && queue->n_delivered >= n))
			continue;
		r = rearm_loop_trywait(program.loop, &ms);
		if (r < 0 && r != -EAGAIN)
			violation("trywait: %d", r);
		if (r)
			continue;
		due = ms < 0 ? UINT64_MAX : sched.now + (uint64_t)ms * OS_NS_PER_MS;
		(void)world_poll(&fd, 1, due < end ? due : end, &here);
	}
}

static unsigned int
open_queues(void)
{
	unsigned int open = 0;

	for (int i = 0; i < program.scenario->n_evds; i++)
		open += !program_life(&program.queues[i])->over;
	return open;
}

static void
close_loop(void)
{
	const unsigned int before = open_queues();
	const int r = rearm_loop_free(program.loop);

	trace_note("loop_free: %d", r);
	if (r == 0 ? open_queues() : r != (os_in_callback() ? -EDEADLK : before ? -EBUSY : 0))
		violation("a loop with %u queues is freed: %d", before, r);
	if (r == 0)
		program.loop = NULL;
}

/* ---- the device ---- */

/* A completion becomes visible; in which completion queue, or NULL. */
static struct device_cq *
complete(struct program_queue *queue)
{
	struct ibv_wc wc = { .opcode = IBV_WC_RECV };
	struct program_request *request;
	struct program_life *life;

	sched_point(OP_DEVICE, OBJECT_DEVICE(queue->index), &here);
	sched_see(OP_EVENT, OBJECT_EVD(queue->index));
	life = program_life(queue);
	if (!life->cq || !rnic_cq(life->cq)->alive || life->produced == PROGRAM_EVENTS ||
	    rnic_cq(life->cq)->count >= PROGRAM_CQE)
		return NULL;
	request = &life->requests[life->produced];
	wc.wr_id = (uintptr_t)request;
	*request = (struct program_request){ { program_request_done }, life, life->produced,
		!queue->spec->solicited || life->produced & 1 };
	life->produced++;
	rnic_queue_push(life->cq, NULL, &wc, request->solicited);
	return rnic_cq(life->cq);
}

/* Each decides about its notification at once, or all do when they are visible. */
static void
produce(struct program_queue *queue, const struct action *a)
{
	struct device_cq *shown[ACTIONS];

	for (int i = 0; i < a->n; i++) {
		if (program_has_events(queue)) {
			channels_raise(queue);
			continue;
		}
		shown[i] = complete(queue);
		if (shown[i] && a->verb != DO_BURST)
			device_decide(shown[i]);
	}
	for (int i = 0; i < a->n && a->verb == DO_BURST && !program_has_events(queue); i++)
		if (shown[i])
			device_decide(shown[i]);
}

static void
lose(struct program_queue *queue)
{
	struct program_life *life = program_life(queue);

	program.lost |= life->base == BASE_CHANNEL;
	for (int i = 0; i < program.scenario->n_evds; i++) {
		struct program_life *other = program_life(&program.queues[i]);

		other->lost |= other == life || (life->channel && other->channel == life->channel);
	}
	if (program_has_events(queue))
		channels_lose(queue);
	else if (life->cq && rnic_cq(life->cq)->alive)
		rnic_channel_lose(life->cq->channel);
}

/* ---- actors ---- */

struct until {
	const struct program_queue *queue;
	unsigned int n;
	bool failures;
};

static bool
is_reached(void *arg)
{
	const struct until *until = arg;

	return (until->failures ? until->queue->failures : until->queue->n_delivered) >= until->n;
}

static void
perform(const struct action *a)
{
	struct program_queue *queue = &program.queues[a->object];
	struct program_life *life = meant(queue);
	struct until until = { queue, (unsigned int)a->n, a->verb == DO_FAILING };

	switch (a->verb) {
	case DO_COMPLETION:
	case DO_BURST:
		produce(queue, a);
		break;
	case DO_SPURIOUS:
		if (program_life(queue)->cq)
			device_spurious(rnic_cq(program_life(queue)->cq));
		break;
	case DO_GONE:
		channels_drop(queue);
		break;
	case DO_LOSE:
		lose(queue);
		break;
	case DO_DESTROY:
		if (program_life(queue)->over && program_life(queue)->base == BASE_CHANNEL)
			program_destroy(program_life(queue));
		break;
	case DO_SINGLE:
		(void)program_enable(life, EVD_POLICY_SINGLE, a);
		break;
	case DO_NORIFY:
		(void)program_enable(life, EVD_POLICY_NOTIFY, a);
		break;
	case DO_MANY:
		(void)program_enable(life, EVD_POLICY_MANY, a);
		break;
	case DO_REARM:
		enable_when_empty(life);
		break;
	case DO_DISABLE:
	case DO_TEARDOWN:
		disable(life, a->verb == DO_TEARDOWN);
		break;
	case DO_FREE:
		(void)program_free(life);
		break;
	case DO_REOPEN:
		reopen(queue, a->base);
		break;
	case DO_SEE:
		program.knows[program.acting[program_self()]][queue->index] = (uint8_t)queue->life;
		sched_see(OP_EVENT, OBJECT_EVD(queue->index));
		break;
	case DO_DEQUEUE:
		(void)take(life, 1);
		break;
	case DO_SEVERAL:
		(void)take(life, a->n < 4 ? a->n : 4);
		break;
	case DO_DRAIN:
		(void)program_drain(life);
		break;
	case DO_WAIT:
		(void)wait(life, a->n, a->us);
		break;
	case DO_TAKE:
		take_each(life, a->n);
		break;
	case DO_SOLICITED:
	case DO_ALL:
		solicited(life, a->verb == DO_SOLICITED);
		break;
	case DO_QUERY:
		query(life);
		break;
	case DO_WRONG:
		call_wrongly(life);
		break;
	case DO_PUMP:
	case DO_TURNS:
		pump(queue, (unsigned int)a->n, a->us, a->verb == DO_TURNS);
		break;
	case DO_CLOSE_LOOP:
		close_loop();
		break;
	case DO_UNTIL:
	case DO_FAILING:
		sched_until(is_reached, &until, OP_UNTIL, OBJECT_EVD(queue->index));
		break;
	default:
		violation("librearm has no call for the action '%s'", verb_name(a->verb));
	}
}

void *
program_body(void *arg)
{
	const struct actor *actor = arg;
	int8_t *acting = &program.acting[program_self()];
	const int8_t outer = *acting;

	*acting = (int8_t)(actor - program.scenario->actors);
	for (unsigned int i = 0; i < actor->n_actions; i++) {
		const struct action a = actor->actions[i];

		if (actor->kind == ACTOR_THREAD)
			sched.self->ops = 4096 * (i + 1); /* as in actor.c */
		if (a.dropped)
			continue;
		trace_note("-- %s %c", verb_name(a.verb),
		    verb_prefix(a.verb) ? verb_prefix(a.verb) + a.object : ' ');
		perform(&a);
	}
	*acting = outer;
	return NULL;
}

void
program_scripts(enum actor_kind kind, int object, bool first)
{
	const struct scenario *s = program.scenario;

	for (int i = 0; i < s->n_actors && !sched.no_choices; i++)
		if (s->actors[i].kind == kind && s->actors[i].object == object &&
		    (first || s->actors[i].every))
			(void)program_body((void *)(uintptr_t)&s->actors[i]);
}
