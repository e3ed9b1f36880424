/* SPDX-License-Identifier: BSD-3-Clause */
#include "timer.h"
#include "progress.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static struct soft_timer *root GUARDED_BY(soft_locks.timers);
static struct soft_timer *running GUARDED_BY(soft_locks.timers);

static void
timer_lock(void) ACQUIRE(soft_locks.timers) UNCHECKED
{
	pthread_mutex_lock(&lock);
}

static void
timer_unlock(void) RELEASE(soft_locks.timers) UNCHECKED
{
	pthread_mutex_unlock(&lock);
}

static struct soft_timer *
timer_meld(struct soft_timer *a, struct soft_timer *b)
{
	struct soft_timer *swap;

	if (!a)
		return b;
	if (!b)
		return a;
	if (b->when < a->when) {
		swap = a;
		a = b;
		b = swap;
	}
	b->next = a->child;
	if (b->next)
		b->next->prev = b;
	b->prev = a;
	a->child = b;
	a->next = a->prev = NULL;
	return a;
}

/* Melds a list of siblings in pairs, then the pairs, which keeps the heap shallow. */
static struct soft_timer *
timer_meld_siblings(struct soft_timer *first)
{
	struct soft_timer *pairs = NULL, *a, *b, *pair, *heap = NULL;

	while (first) {
		a = first;
		b = a->next;
		first = b ? b->next : NULL;
		a->next = a->prev = NULL;
		if (b)
			b->next = b->prev = NULL;
		pair = timer_meld(a, b);
		pair->next = pairs;
		pairs = pair;
	}
	while (pairs) {
		pair = pairs;
		pairs = pair->next;
		pair->next = NULL;
		heap = timer_meld(heap, pair);
	}
	return heap;
}

static void
timer_remove(struct soft_timer *timer) REQUIRES(soft_locks.timers)
{
	struct soft_timer *orphans = timer_meld_siblings(timer->child);

	timer->child = NULL;
	if (timer == root) {
		root = orphans;
	} else {
		if (timer->prev->child == timer)
			timer->prev->child = timer->next;
		else
			timer->prev->next = timer->next;
		if (timer->next)
			timer->next->prev = timer->prev;
		root = timer_meld(root, orphans);
	}
	timer->next = timer->prev = NULL;
	timer->queued = false;
}

void
soft_timer_init(struct soft_timer *timer, void (*fn)(struct soft_timer *))
{
	*timer = (struct soft_timer){ .fn = fn };
}

bool
soft_timer_start(struct soft_timer *timer, uint64_t when)
{
	bool fresh, first;

	timer_lock();
	fresh = !timer->queued;
	if (!fresh)
		timer_remove(timer);
	timer->when = when;
	timer->queued = true;
	root = timer_meld(root, timer);
	first = root == timer;
	timer_unlock();
	if (first)
		soft_progress_wake();
	return fresh;
}

bool
soft_timer_stop(struct soft_timer *timer)
{
	bool queued;

	timer_lock();
	queued = timer->queued;
	if (queued)
		timer_remove(timer);
	timer_unlock();
	return queued;
}

void
soft_timer_stop_and_wait(struct soft_timer *timer)
{
	int state;

	/* The condition wait is a cancellation point, and the caller frees the object next. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	timer_lock();
	for (;;) {
		if (timer->queued)
			timer_remove(timer);
		if (running != timer)
			break;
		pthread_cond_wait(&done, &lock);
	}
	timer_unlock();
	pthread_setcancelstate(state, NULL);
}

uint64_t
soft_timer_run(void)
{
	/* What becomes due meanwhile waits until the caller has looked at its descriptors. */
	const uint64_t now = soft_now();
	struct soft_timer *timer;
	uint64_t next;

	timer_lock();
	while (root && root->when <= now) {
		timer = root;
		timer_remove(timer);
		running = timer;
		timer_unlock();
		timer->fn(timer);
		timer_lock();
		running = NULL;
		pthread_cond_broadcast(&done);
	}
	next = root ? root->when : UINT64_MAX;
	timer_unlock();
	return next;
}

void
soft_timer_reset(void) UNCHECKED
{
	pthread_mutex_init(&lock, NULL);
	pthread_cond_init(&done, NULL);
	root = running = NULL;
}
