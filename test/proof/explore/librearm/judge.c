/* SPDX-License-Identifier: BSD-3-Clause */
/* judge -- what must hold of librearm's callbacks and events, at every step and in the end */
#include "invariant.h"
#include "program.h"
#include "world.h"

static const struct os_site here = { "the program", 0 };

/* ---- callbacks ---- */

void
judge_begins(struct program_life *life, const char *what)
{
	const int index = life->queue->index;

	world_check_call_out(what);
	if (program.calling[program_self()])
		violation("I8: %s of queue %c begins inside a call", what, 'a' + index);
	sched_point(OP_EVENT, OBJECT_EVD(index), &here);
	sched_step(OP_EVENT);
	trace_note("%s of %c begins", what, 'a' + index);
	if (life->stopped_at && life->stopped_at > life->enabled_at && !life->enabling &&
	    life->claimed-- <= 0)
		violation("I6: %s of queue %c begins after %s has returned", what, 'a' + index,
		    life->stopped_by);
	if (life->running && !life->many)
		violation("I5: %s of queue %c begins while another one runs", what, 'a' + index);
	/* Those of a pool, and the one that served it before. */
	if (life->running > REARM_POOL)
		violation("more callbacks of queue %c run than there are threads", 'a' + index);
	life->running++;
	if (program.frame[program_self()][index])
		violation("a callback of queue %c begins inside another one", 'a' + index);
	program.frame[program_self()][index] = life;
}

void
judge_ends(struct program_life *life)
{
	const int index = life->queue->index;
	bool *exempted = &program.exempted[program_self()][index];

	sched_point(OP_EVENT, OBJECT_EVD(index), &here);
	sched_step(OP_EVENT);
	life->running--;
	life->exempt -= *exempted;
	*exempted = false;
	program.frame[program_self()][index] = NULL;
	trace_note("it ends");
}

void
judge_stopped(struct program_life *life, const char *what, bool waits)
{
	const uint32_t since = program_locked_at(life);
	const bool inside = program.frame[program_self()][life->queue->index] == life;

	/* A call that enables and took effect since explains everything. */
	if (life->enabling || life->enabled_at > since)
		return;
	if (waits && life->running - (inside ? life->exempt : 0) > 0)
		violation("I6: %s of queue %c returns while a callback runs", what,
		    'a' + life->queue->index);
	if (life->stopped_at > since)
		return;
	life->stopped_at = since;
	life->stopped_by = what;
	if (waits && !inside)
		life->claimed = 0;
	else if (life->queue->spec->requests)
		life->claimed = life->object->core.in_progress * REARM_BATCH;
	else
		life->claimed = life->object->core.in_progress - life->running;
}

/* ---- events ---- */

/* Some action of the scenario takes completions. */
static bool
takes(void)
{
	return program_has(DO_DEQUEUE) || program_has(DO_SEVERAL) || program_has(DO_DRAIN) ||
	       program_has(DO_WAIT) || program_has(DO_TAKE) || program_has(DO_REARM);
}

void
judge_deliver(struct program_life *life, unsigned int number)
{
	struct program_queue *queue = life->queue;
	unsigned int *last = &queue->last[program_self()], *of_all = &queue->last[FIBERS];

	trace_note("event %u of %c", number, 'a' + queue->index);
	/*
	 * Each thread takes in order; if all is taken by one after the other, so do all together.
	 * What a callback of a request takes is younger than the rest of its batch.
	 */
	if (!life->many && !(queue->spec->requests && takes()) &&
	    (number < *last || (queue->spec->sole && number < *of_all)))
		violation("I2: event %u of queue %c comes after its successor", number,
		    'a' + queue->index);
	*last = *of_all = number + 1;
	queue->n_delivered++;
	sched_touch(OP_EVENT, OBJECT_EVD(queue->index));
	sched_changed();
}

void
judge_wc(struct program_life *life, const struct ibv_wc *wc)
{
	const struct program_request *request = (const struct program_request *)wc->wr_id;

	if (request->life != life)
		violation("identity: queue %c gives out a completion of another one",
		    'a' + life->queue->index);
	if (request->number >= life->produced || wc->opcode != IBV_WC_RECV ||
	    wc->status != IBV_WC_SUCCESS)
		violation("queue %c gives out what was not completed", 'a' + life->queue->index);
	if (life->delivered >> request->number & 1)
		violation("I2: completion %u of queue %c is given out twice", request->number,
		    'a' + life->queue->index);
	life->delivered |= 1ull << request->number;
	judge_deliver(life, request->number);
}

void
judge_event(struct program_life *life, const union rearm_event *event)
{
	judge_deliver(life, channels_take(life->queue, event));
}

void
judge_empty(const struct program_life *life, unsigned int produced, unsigned int least)
{
	const struct program_queue *queue = life->queue;
	const unsigned int left = produced - (unsigned int)__builtin_popcountll(life->delivered);

	/* Others may have taken them, or are about to call a function with them. */
	if (!queue->spec->sole || queue->spec->requests || queue->spec->solicited || life->many ||
	    life->over || program_has(DO_FREE) || sched.faults)
		return;
	if ((int)left >= (int)least)
		violation("queue %c has %u completions, and a call finds less than %u",
		    'a' + queue->index, left, least);
}

/* ---- states ---- */

static const struct evd *
core_of(const struct program_life *life)
{
	return life->object && !life->over && life->object->core.serial == life->serial ?
		   &life->object->core :
		   NULL;
}

static const struct device_cq *
cq_of(const struct program_life *life)
{
	return life->cq && rnic_cq(life->cq)->alive ? rnic_cq(life->cq) : NULL;
}

/*
 * A notification of an event is on its way, or is being read.  Under NOTIFY one may be to come for
 * an event that a call has taken: what is stranded in the end is found by judge_rest().
 */
static bool
may_be_notified(const struct program_life *life, const struct evd *core)
{
	return core->pins || core->policy == EVD_POLICY_NOTIFY ||
	       world_is_readable(life->object->events.epfd);
}

void
judge_step(void)
{
	for (int i = 0; i < program.scenario->n_evds; i++) {
		const struct program_life *life = program_life(&program.queues[i]);
		const struct device_cq *cq = cq_of(life);
		const struct evd *core = core_of(life);

		if (!core || core->lock.owner)
			continue;
		invariant_direct(core, 'a' + i);
		/* A channel that is lost: its events must come all the same, see `until`. */
		if (!core->alive || core->channel_lost)
			continue;
		if (cq)
			invariant_armed(core, cq, 'a' + i);
		if (program_has_events(life->queue) && may_be_notified(life, core))
			continue;
		invariant_sink(core, cq, program.queues[i].inside_wait, 'a' + i);
	}
}

/* When no thread can run the counters are those of what happened. */
static void
check_counters(const struct program_life *life, const struct device_cq *cq)
{
	const unsigned int delivered = (unsigned int)__builtin_popcountll(life->delivered);
	struct rearm_counters c;

	if (rearm_queue_counters(life->object, &c, sizeof c))
		violation(
		    "at rest the counters of queue %c cannot be read", 'a' + life->queue->index);
	/* It counts those for an event that had gone, too. */
	if (!life->queue->spec->requests &&
	    (program_has(DO_GONE) ? c.callbacks < life->upcalls : c.callbacks != life->upcalls))
		violation("queue %c counts %u callbacks of %u", 'a' + life->queue->index,
		    (unsigned int)c.callbacks, life->upcalls);
	if (cq && (c.events - c.depth != delivered || c.arms != cq->arms - life->arms))
		violation("queue %c counts %u completions of %u, %u arms of %u",
		    'a' + life->queue->index, (unsigned int)(c.events - c.depth), delivered,
		    (unsigned int)c.arms, cq->arms - life->arms);
	/* One for the queue that was freed may be read when this one is not of the channel yet. */
	if (cq && !life->lost &&
	    (life->kept ? c.notifications > cq->gets + life->unacknowledged :
			  c.notifications != cq->gets))
		violation("queue %c counts %u notifications of %u", 'a' + life->queue->index,
		    (unsigned int)c.notifications, cq->gets);
}

void
judge_rest(void)
{
	world_check_rest();
	for (unsigned int i = STAGE + 1; i < sched.n_fibers; i++) {
		const struct fiber *f = &sched.fibers[i];

		if (program.actor_of[i] >= 0 && f->state != FIBER_DONE)
			violation("no thread can run, and %s is still in %s", f->name,
			    f->site ? f->site->function : "?");
		if (f->n_held)
			violation("at rest %s holds a lock", f->name);
	}
	for (int i = 0; i < program.scenario->n_evds; i++) {
		const struct program_life *life = program_life(&program.queues[i]);
		const struct evd *core = core_of(life);

		if (!core)
			continue;
		invariant_rest(core, cq_of(life), false, 'a' + i);
		if (program_has_events(life->queue) && invariant_policy_calls(core->policy) &&
		    channels_unread(life->queue))
			violation("at rest an event of queue %c is stranded", 'a' + i);
		check_counters(life, cq_of(life));
	}
}

/* After everything still queued was taken. */
void
judge_end(void)
{
	for (int i = 0; i < program.scenario->n_evds; i++) {
		const struct program_life *life = program_life(&program.queues[i]);
		const uint64_t all = (1ull << life->produced) - 1;

		if (life->object && !life->over && life->delivered != all)
			violation("I2: completion %d of queue %c is lost",
			    __builtin_ctzll(all & ~life->delivered), 'a' + i);
	}
}
