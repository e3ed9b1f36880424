/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "actor.h"
#include "adapter.h"
#include "clock.h"
#include "cno.h"
#include "ep.h"
#include "evd.h"
#include "ops.h"
#include "options.h"
#include "owed.h"
#include "queue.h"
#include "report.h"

#define THREADS_MOST 64

/* Ticks, each of 2 ms at least. */
#define HANG_TICKS 8000	  /* for a call that returns by itself */
#define OWED_TICKS 1500	  /* in a calm, without any event taken */
#define INFINITE_TICKS 10 /* that a thread may wait without a timeout */
#define WATCH_EVERY 16

static struct {
	pthread_t thread[THREADS_MOST];
	unsigned int n;
	atomic_bool over, calm, judging;
	pthread_mutex_t lock;
	pthread_cond_t resumed;
} run = { .lock = PTHREAD_MUTEX_INITIALIZER, .resumed = PTHREAD_COND_INITIALIZER };

bool
run_is_calm(void)
{
	return run.calm || run.over;
}

static void
stand_still(struct actor *me)
{
	pthread_mutex_lock(&run.lock);
	atomic_store(&me->manner, ACTOR_PARKED);
	while (run.calm)
		pthread_cond_wait(&run.resumed, &run.lock);
	atomic_store(&me->manner, ACTOR_WORKS);
	pthread_mutex_unlock(&run.lock);
}

static void *
body(void *number)
{
	struct actor *me;

	actor_enter("op", (int)(intptr_t)number);
	me = actor_self();
	while (!run.over) {
		if (run.calm)
			stand_still(me);
		else
			ops_do_one();
	}
	actor_leave();
	return NULL;
}

void
run_start(unsigned int threads)
{
	run.n = threads;
	for (unsigned int i = 0; i < threads; i++)
		if (pthread_create(&run.thread[i], NULL, body, (void *)(intptr_t)(i + 1)))
			report_broken("cannot start a thread");
}

void
run_stop(void)
{
	run.over = true;
	for (unsigned int i = 0; i < run.n; i++)
		pthread_join(run.thread[i], NULL);
}

/* ---- the calm ---- */

static bool
all_still(void)
{
	for (const struct actor *a = actor_first(); a; a = a->next) {
		int manner = atomic_load(&a->manner);

		if (atomic_load(&a->in_use) && atomic_load(&a->role)[0] == 'o' &&
		    manner == ACTOR_WORKS)
			return false;
	}
	return !owed_inside() && !queues_inside();
}

/* The same for librearm; its loops without threads make turns here. */
static void
judge_queues(void)
{
	uint64_t takings = owed_takings(), since = clock_tick();
	const struct queue *queue;

	while (options.group[GROUP_REARM] && (queue = queues_owe())) {
		if (owed_takings() != takings) {
			takings = owed_takings();
			since = clock_tick();
		} else if (clock_tick() - since > OWED_TICKS) {
			fprintf(stderr, "the threads:\n");
			actors_print();
			report_wrong(&queue->life, NULL,
			    "nothing for %d ticks, although %u of %u are there: policy %d, "
			    "waits for %d",
			    OWED_TICKS, queue->posted - queue->taken, queue->posted, queue->policy,
			    queue->waits_for);
		}
		clock_nap_us(300);
	}
}

void
run_calm(void)
{
	uint64_t takings, since;
	struct owed owed;

	run.calm = true;
	/* run_watch() detects a thread that hangs and does not stop. */
	while (!all_still())
		clock_nap_us(100);
	run.judging = true;
	takings = owed_takings();
	since = clock_tick();
	while (owed_find(&owed)) {
		if (owed_takings() != takings) {
			takings = owed_takings();
			since = clock_tick();
		} else if (clock_tick() - since > OWED_TICKS) {
			fprintf(stderr, "the threads:\n");
			actors_print();
			report_wrong(&owed.evd->life,
			    owed.cno ? &owed.cno->life :
			    owed.ep  ? &owed.ep->life :
				       NULL,
			    "no event for %d ticks, although %s: %s", OWED_TICKS, owed.what,
			    owed.sink);
		}
		owed_release(&owed);
		owed_read_async();
		clock_nap_us(300);
	}
	judge_queues();
	run.judging = false;
	pthread_mutex_lock(&run.lock);
	run.calm = false;
	pthread_cond_broadcast(&run.resumed);
	pthread_mutex_unlock(&run.lock);
}

/* ---- the watch ---- */

static void
watch_threads(uint64_t tick)
{
	for (const struct actor *a = actor_first(); a; a = a->next) {
		const char *doing = atomic_load(&a->doing);
		uint64_t since = atomic_load(&a->since);

		if (!atomic_load(&a->in_use) || !doing || since + HANG_TICKS > tick)
			continue;
		/* Read again: the thread may have begun another call in between. */
		if (atomic_load(&a->doing) != doing || atomic_load(&a->since) != since)
			continue;
		report_hang("%s %d has been in %s for %llu ticks", a->role, a->number, doing,
		    (unsigned long long)(tick - since));
	}
}

/* For a thread that waits without a timeout.  A signal at a wrong moment does no harm. */
static void
send_away(uint64_t tick)
{
	for (const struct actor *a = actor_first(); a; a = a->next)
		if (atomic_load(&a->in_use) && atomic_load(&a->endless) &&
		    atomic_load(&a->manner) == ACTOR_SLEEPS &&
		    atomic_load(&a->since) + INFINITE_TICKS < tick)
			actor_signal(a);
}

void
run_watch(uint64_t tick)
{
	if (tick % WATCH_EVERY)
		return;
	watch_threads(tick);
	/* In a calm, events must wake the waiting threads. */
	if (run.judging)
		return;
	send_away(tick);
}
