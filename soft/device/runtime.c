/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime.h"
#include "soft/cm/cm.h"
#include "context.h"
#include "soft/wire/door.h"
#include "names.h"
#include "soft/wire/peer.h"
#include "progress.h"
#include "soft/qp/qp.h"
#include "settings.h"
#include "slot.h"
#include "timer.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static LIST_HEAD(, soft_context) contexts = LIST_HEAD_INITIALIZER(contexts);
static bool started;
static atomic_uint generation;

/* The oldest of the parents' goes first; nobody uses the device in so many generations. */
static void *volatile abandoned[64];
static unsigned int abandoned_count;

/*
 * The child of a fork has one thread and descriptors that it must not keep: a peer would
 * take the child for the parent that died.  Locks may have been held by threads that are
 * no more, so they are made anew, and objects of the parent are recognised by generation.
 */
static void
forked(void)
{
	struct soft_context *ctx;

	pthread_mutex_init(&lock, NULL);
	LIST_FOREACH(ctx, &contexts, link)
		soft_context_disown(ctx);
	soft_runtime_abandon(LIST_FIRST(&contexts));
	LIST_INIT(&contexts);
	started = false;
	generation++;
	soft_progress_reset();
	soft_slot_reset();
	soft_names_reset();
	soft_timer_reset();
	soft_qp_table_reset();
	soft_door_reset();
	soft_peers_reset();
	soft_cm_reset();
}

/* So that the child finds the list of contexts in order. */
static void
before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void
after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

static void
watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, forked);
}

void
soft_runtime_enter(struct soft_context *ctx)
{
	pthread_once(&fork_once, watch_forks);
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&contexts, ctx, link);
	pthread_mutex_unlock(&lock);
}

void
soft_runtime_leave(struct soft_context *ctx)
{
	int state;

	/* Joining is a cancellation point, and this lock outlives the call. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&lock);
	LIST_REMOVE(ctx, link);
	if (LIST_EMPTY(&contexts) && started) {
		soft_progress_stop();
		soft_door_close();
		soft_peers_stop();
		soft_qp_table_free();
		soft_slot_release();
		soft_names_close();
		started = false;
	}
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(state, NULL);
}

void
soft_runtime_each(void (*fn)(struct soft_context *ctx, int arg), int arg)
{
	struct soft_context *ctx;

	pthread_mutex_lock(&lock);
	LIST_FOREACH(ctx, &contexts, link)
		fn(ctx, arg);
	pthread_mutex_unlock(&lock);
}

int
soft_runtime_start(void)
{
	int state, r = 0;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&lock);
	if (started)
		goto unlock;
	r = soft_settings_read();
	if (r)
		goto unlock;
	r = soft_names_open();
	if (r)
		goto unlock;
	r = soft_slot_claim();
	if (r)
		goto close;
	r = soft_progress_start();
	if (r)
		goto release;
	r = soft_door_open(soft_slot_fd());
	if (r)
		goto stop;
	started = true;
	goto unlock;

stop:
	soft_progress_stop();
release:
	soft_slot_release();
close:
	soft_names_close();
unlock:
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(state, NULL);
	return r;
}

void
soft_runtime_abandon(void *memory)
{
	if (memory)
		abandoned[abandoned_count++ % (sizeof abandoned / sizeof abandoned[0])] = memory;
}

unsigned int
soft_runtime_generation(void)
{
	return generation;
}
