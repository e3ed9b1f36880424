/* SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"

#include <string.h>

#include "context.h"
#include "stage.h"
#include "world.h"

struct program program;

static struct ibv_device device;
static const char *const names[EVDS] = { "a", "b", "c", "d" };

static void
expect(int r, const char *what)
{
	if (r)
		violation("%s failed: %d", what, r);
}

/* ---- queues ---- */

/* What the program made of its own; with nothing left behind. */
static int
open_cq(struct program_life *life)
{
	const struct evd_spec *spec = life->queue->spec;
	struct ibv_context *context = &program.contexts[life->queue->index];

	life->channel =
	    life->base == BASE_CHANNEL ? program.channel : ibv_create_comp_channel(context);
	if (!life->channel)
		return -EMFILE;
	life->cq = ibv_create_cq(context, PROGRAM_CQE, NULL, life->channel, 0);
	if (!life->cq && life->base != BASE_CHANNEL)
		ibv_destroy_comp_channel(life->channel);
	if (!life->cq)
		return -ENOMEM;
	rnic_cq(life->cq)->strict = spec->strict;
	return 0;
}

/*
 * What the queue that was freed has left in its completion queue, and what has come since, is of
 * the next one.  What it had polled is gone.
 */
static void
inherit(struct program_life *life)
{
	const struct ibv_wc *wc;

	for (unsigned int i = 0; (wc = rnic_queue_peek(life->cq, i)); i++) {
		struct program_request *left = (struct program_request *)wc->wr_id;

		if (left->life == life)
			continue;
		if (left->life != life - 1)
			violation("a completion of %c is of no queue that was freed last",
			    'a' + life->queue->index);
		left->life = life;
		left->number = life->produced++;
	}
}

/* The queue that was freed last may have asked for a notification. */
static void
open_again(struct program_life *life)
{
	struct program_life *before = life - 1;
	struct device_cq *cq = rnic_cq(before->cq);

	/* The reader of a shared channel may be about to pass one on. */
	life->unacknowledged = cq->gets - cq->acks;
	if (life->unacknowledged && life->base != BASE_CHANNEL)
		violation("queue %c was freed, and a notification is not acknowledged",
		    'a' + life->queue->index);
	cq->raised -= cq->gets;
	cq->acks -= cq->gets;
	cq->gets = 0;
	cq->arms = life->arms = cq->armed || cq->raised;
	cq->blurred = life->arms;
	life->cq = before->cq;
	life->channel = before->channel;
	life->kept = true;
	before->destroyed = before->closed = true; /* the next one does that */
}

static int
make(struct program_life *life)
{
	const struct evd_spec *spec = life->queue->spec;
	const struct rearm_queue_attr attr = { .failed = program_failed,
		.arg = life,
		.spin = spec->spins ? 1 : 0,
		.flags =
		    spec->solicited && !program_has_events(life->queue) ? REARM_SOLICITED : 0 };
	struct rearm_queue_attr own = attr;
	int r;

	switch (life->base) {
	case BASE_ADOPTED:
	case BASE_CHANNEL:
		if (life->queue->spec->kept && life->queue->life)
			open_again(life);
		else if ((r = open_cq(life)))
			return r;
		own.flags |= life->base == BASE_CHANNEL ? REARM_SHARED_CHANNEL : 0;
		r = rearm_queue_adopt(program.loop, life->cq, &own, &life->object);
		if (r && life->kept)
			life[-1].destroyed = life[-1].closed = false;
		else if (r)
			program_destroy(life);
		return r;
	case BASE_CM:
		return rearm_queue_adopt_cm(
		    program.loop, channels_cm(life->queue), &attr, &life->object);
	default:
		break;
	}
	if (spec->async)
		return rearm_queue_adopt_async(
		    program.loop, &program.contexts[life->queue->index], &attr, &life->object);
	own.cqe = PROGRAM_CQE;
	r = rearm_queue_create(
	    program.loop, &program.contexts[life->queue->index], &own, &life->object);
	if (r)
		return r;
	life->cq = rearm_queue_cq(life->object);
	rnic_cq(life->cq)->strict = spec->strict;
	return 0;
}

int
program_open(struct program_queue *queue, enum evd_base base)
{
	struct program_life *life = &queue->lives[queue->life + 1];
	int r;

	*life = (struct program_life){ .queue = queue,
		.base = base == BASE_SAME ? queue->spec->base : base };
	life->lost = life->base == BASE_CHANNEL && program.lost;
	r = make(life);
	if (r) {
		if (life->object)
			violation("a queue that was not made has a handle");
		return r;
	}
	life->serial = life->object->serial;
	world_mutex_name(&life->object->core.lock, RANK_EVD, names[queue->index]);
	if (life->cq) {
		rnic_cq(life->cq)->booked = &life->object->core.counters.notifications;
		context_release(life->cq);
	}
	context_release(&life->object);
	/* Order is that of a life. */
	if (!program_has_events(queue))
		memset(queue->last, 0, sizeof queue->last);
	queue->life++;
	if (life->kept)
		inherit(life);
	sched_touch(OP_EVENT, OBJECT_EVD(queue->index));
	return 0;
}

void
program_destroy(struct program_life *life)
{
	if (!life->destroyed)
		(void)ibv_destroy_cq(life->cq);
	life->destroyed = true;
	/* Inside a callback that freed the queue the channel is not the program's yet. */
	if (life->base == BASE_CHANNEL || life->closed || life->inside)
		return;
	life->closed = true;
	if (!channels_blocks(life->channel->fd))
		violation("an adopted channel does not block, as it did");
	(void)ibv_destroy_comp_channel(life->channel);
}

void
program_given_back(struct program_life *life)
{
	if (life->base == BASE_ADOPTED && !life->queue->spec->kept)
		program_destroy(life);
	else if (life->cq && life->base == BASE_SHARED && rnic_cq(life->cq)->alive)
		violation("the completion queue of %c outlives it", 'a' + life->queue->index);
}

/* ---- a run ---- */

void
program_idle(void)
{
	const int fd = rearm_loop_fd(program.loop);
	int ms = -1, turns = 0;

	while (rearm_loop_trywait(program.loop, &ms) || ms >= 0 || world_is_readable(fd)) {
		if (turns++ > 100)
			violation("a loop without threads is never done");
		(void)rearm_loop_dispatch(program.loop, 2, ms < 0 ? 0 : ms);
	}
}

static void
open_all(void)
{
	const struct scenario *s = program.scenario;
	const struct rearm_loop_attr attr = { .threads = s->stepped ? 0 : s->loops };

	expect(rearm_loop_create(&attr, &program.loop), "loop_create");
	world_mutex_name(&program.loop->lock, RANK_IA, "the loop of librearm");
	if (sched.settled)
		sched_rest(true);
	for (int i = 0; i < s->n_evds; i++) {
		struct program_queue *queue = &program.queues[i];

		queue->index = i;
		queue->spec = &s->evds[i];
		program.contexts[i].device = &device;
		program.contexts[i].ops.poll_cq = rnic_queue_poll;
		program.contexts[i].ops.req_notify_cq = rnic_queue_arm;
		if (program_has_events(queue))
			channels_open(queue);
		if (s->evds[i].base == BASE_CHANNEL && !program.channel)
			program.channel = ibv_create_comp_channel(&program.contexts[i]);
	}
	for (int i = 0; i < s->n_evds; i++) {
		expect(program_open(&program.queues[i], BASE_SAME), "making a queue");
		if (s->evds[i].policy != EVD_POLICY_DISABLE)
			expect(program_enable(
				   program_life(&program.queues[i]), s->evds[i].policy, NULL),
			    "enable");
	}
}

static void
close_all(void)
{
	const struct scenario *s = program.scenario;

	for (int i = 0; i < s->n_evds; i++)
		(void)program_drain(program_life(&program.queues[i]));
	judge_end();
	for (int i = 0; i < s->n_evds; i++)
		if (!program_life(&program.queues[i])->over)
			(void)program_free(program_life(&program.queues[i]));
	if (program.loop)
		expect(rearm_loop_free(program.loop), "loop_free");
	for (int i = 0; i < s->n_evds; i++)
		for (unsigned int l = 1; l <= program.queues[i].life; l++) {
			struct program_life *life = &program.queues[i].lives[l];

			life->inside = false;
			if (life->base == BASE_CHANNEL || life->base == BASE_ADOPTED)
				program_destroy(life);
			else
				program_given_back(life);
		}
	if (program.channel && !channels_blocks(program.channel->fd))
		violation("the shared channel does not block, as it did");
	if (program.channel)
		(void)ibv_destroy_comp_channel(program.channel);
	for (int i = 0; i < s->n_evds; i++)
		if (program_has_events(&program.queues[i]))
			channels_end(&program.queues[i]);
	park_close_self();
	statics_end();
	rnic_queue_check_end();
	world_check_balance();
}

static void
body(void)
{
	const struct scenario *s = program.scenario;

	rnic_queue_reset(false);
	channels_begin();
	statics_begin();
	open_all();
	sched_rest(true);
	for (int i = 0; i < s->n_actors; i++) {
		struct fiber *f;

		if (s->actors[i].kind != ACTOR_THREAD)
			continue;
		f = sched_spawn(s->actors[i].name, program_body, (void *)(uintptr_t)&s->actors[i]);
		program.actor_of[f - sched.fibers] = (int8_t)i;
	}
	sched_rest(false);
	/* What the actors did came before what the stage does now. */
	for (unsigned int i = STAGE + 1; i < sched.n_fibers; i++)
		if (sched.fibers[i].state == FIBER_DONE)
			context_acquire(&sched.fibers[i]);
	for (int i = 0; i < s->n_evds; i++)
		context_acquire(&program_life(&program.queues[i])->object);
	if (s->stepped && program.loop)
		program_idle();
	judge_rest();
	close_all();
}

enum outcome
stage_play(const struct scenario *scenario, struct strategy *strategy, uint64_t seed)
{
	memset(&program, 0, sizeof program);
	memset(program.actor_of, -1, sizeof program.actor_of);
	memset(program.acting, -1, sizeof program.acting);
	memset(program.knows, 1, sizeof program.knows);
	program.scenario = scenario;
	world_faults = scenario->faults;
	world_shipped_locks = scenario->shipped || scenario_shipped;
	strategy->max_faults = scenario->max_faults;
	sched_oracle = judge_step;
	return sched_run(strategy, seed, body);
}
