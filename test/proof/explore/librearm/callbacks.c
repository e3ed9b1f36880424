/* SPDX-License-Identifier: BSD-3-Clause */
/* callbacks -- what librearm calls: the functions that a scenario's queues are enabled with */
#include "program.h"
#include "world.h"

static void
play(struct program_life *life)
{
	struct program_queue *queue = life->queue;

	life->upcalls++;
	program_scripts(ACTOR_UPCALL, queue->index, queue->upcalls++ == 0);
}

/* Under NOTIFY it takes what there is. */
void
program_callback(void *arg, const struct ibv_wc *wc, int n, int more)
{
	struct program_life *life = arg;
	const int most = life->queue->spec->array ? REARM_BATCH : 1;

	judge_begins(life, "a callback");
	if (wc ? n < 1 || n > most : n != 0)
		violation(
		    "a callback of queue %c gets %d completions", 'a' + life->queue->index, n);
	for (int i = 0; wc && i < n; i++)
		judge_wc(life, &wc[i]);
	if (more && life->queue->spec->sole && life->queue->n_delivered == life->produced &&
	    life->queue->life == 1)
		violation("a callback of queue %c gets more, and there is none",
		    'a' + life->queue->index);
	if (!wc)
		(void)program_drain(life);
	play(life);
	judge_ends(life);
}

void
program_event_callback(void *arg, const union rearm_event *event)
{
	struct program_life *life = arg;

	judge_begins(life, "a callback");
	if (event)
		judge_event(life, event);
	else
		(void)program_drain(life);
	play(life);
	judge_ends(life);
}

void
program_request_done(struct rearm_request *request, const struct ibv_wc *wc, void *arg)
{
	struct program_life *life = arg;

	judge_begins(life, "the callback of a request");
	if ((uintptr_t)request != wc->wr_id)
		violation("a request is called with the completion of another one");
	judge_wc(life, wc);
	play(life);
	judge_ends(life);
}

void
program_failed(void *arg, int error)
{
	struct program_life *life = arg;
	struct program_queue *queue = life->queue;

	judge_begins(life, "failed()");
	trace_note("failed: %d", error);
	if (error != -EIO)
		violation("failed() of queue %c is called with %d", 'a' + queue->index, error);
	if (!life->lost && !sched.faults)
		violation(
		    "failed() of queue %c is called, and nothing has failed", 'a' + queue->index);
	if (life->failures++ && life->lost && !sched.faults)
		violation("failed() of queue %c is called twice", 'a' + queue->index);
	queue->failures++;
	sched_touch(OP_EVENT, OBJECT_EVD(queue->index));
	sched_changed();
	program_scripts(ACTOR_FAILED, queue->index, queue->failures == 1);
	judge_ends(life);
}
