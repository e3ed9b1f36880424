/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr1() */
#include "runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sched.h>

#include "changes.h"
#include "context.h"
#include "last.h"
#include "descriptors.h"
#include "names.h"
#include "progress.h"
#include "settings.h"
#include "slot.h"
#include "teller.h"
#include "timer.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static LIST_HEAD(, soft_context) contexts = LIST_HEAD_INITIALIZER(contexts);
static bool started GUARDED_BY(soft_locks.runtime);
static atomic_uint generation;
static atomic_bool kept;
static atomic_bool stopping; /* the thread of the lock waits for the progress thread */

static const struct soft_part *const *parts; /* constant after soft_runtime_set_parts() */
static size_t part_count;

/* The memory of the oldest generation is dropped first; no program forks so often in a row. */
static void *volatile leaked[64];
static unsigned int leaked_count;

static void
runtime_lock(void) ACQUIRE(soft_locks.runtime) SOFT_NO_CM_LOCK UNCHECKED
{
	pthread_mutex_lock(&lock);
}

static bool
runtime_trylock(void) TRY_ACQUIRE(true, soft_locks.runtime) UNCHECKED
{
	return !pthread_mutex_trylock(&lock);
}

static void
runtime_unlock(void) RELEASE(soft_locks.runtime) UNCHECKED
{
	pthread_mutex_unlock(&lock);
}

/*
 * The child of a fork has one thread and descriptors that it must not keep: a peer would take the
 * child for the parent that died.  Threads of the parent may have held locks, so the locks are
 * initialised again; objects of the parent are recognised by their generation.
 */
static void
runtime_after_fork_in_child(void) UNCHECKED
{
	struct soft_context *ctx;

	pthread_mutex_init(&lock, NULL);
	LIST_FOREACH (ctx, &contexts, link)
		soft_context_disown(ctx);
	soft_runtime_leak(LIST_FIRST(&contexts));
	LIST_INIT(&contexts);
	started = false;
	stopping = false;
	generation++;
	soft_last_reset();
	soft_progress_reset();
	soft_slot_reset();
	soft_names_reset();
	soft_timer_reset();
	soft_teller_reset();
	soft_changes_reset();
	for (size_t i = 0; i < part_count; i++)
		if (parts[i]->reset)
			parts[i]->reset();
}

/* The lock is held over the fork, so that the child finds the list of contexts in order. */
static void
runtime_before_fork(void) ACQUIRE(soft_locks.runtime)
{
	runtime_lock();
}

static void
runtime_after_fork_in_parent(void) RELEASE(soft_locks.runtime)
{
	runtime_unlock();
}

static void
runtime_register_fork(void)
{
	pthread_atfork(
	    runtime_before_fork, runtime_after_fork_in_parent, runtime_after_fork_in_child);
}

/* Stops the first `count` parts, after the progress thread. */
static void
runtime_stop_parts(size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (parts[i]->stop)
			parts[i]->stop();
}

static int
runtime_start_parts(void) REQUIRES(soft_locks.runtime)
{
	size_t i;
	int r = 0;

	for (i = 0; i < part_count && !r; i++)
		if (parts[i]->start)
			r = parts[i]->start();
	if (!r)
		return 0;
	soft_progress_stop();
	runtime_stop_parts(i - 1);
	return r;
}

/*
 * From now on there are threads in this library, so it must not be unloaded.  It is not linked with
 * -z nodelete: a dlopen() that fails half-way would then leave it without its constructors.
 */
static int
runtime_pin(void)
{
	struct link_map *map;
	Dl_info info;
	void *handle;

	if (!dladdr1((const void *)&started, &info, (void **)&map, RTLD_DL_LINKMAP))
		return -ENOMEM;
	if (!map->l_name[0])
		return 0; /* it is part of the program */
	handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (!handle)
		return -ENOMEM;
	dlclose(handle);
	return 0;
}

static int
runtime_start_locked(void) REQUIRES(soft_locks.runtime)
{
	int r;

	r = runtime_pin();
	if (r)
		return r;
	r = soft_settings_read();
	if (r)
		return r;
	r = soft_names_open();
	if (r)
		return r;
	r = soft_slot_open();
	if (r)
		goto close_names;
	soft_descriptors_reserve(soft_slot_fd());
	r = soft_progress_start();
	if (r)
		goto close_slot;
	r = runtime_start_parts();
	if (!r)
		return 0;

close_slot:
	soft_slot_close();
close_names:
	soft_names_close();
	return r;
}

static void
runtime_stop_locked(void) REQUIRES(soft_locks.runtime)
{
	stopping = true;
	soft_progress_stop();
	stopping = false;
	runtime_stop_parts(part_count);
	soft_slot_close();
	soft_names_close();
}

void
soft_runtime_set_parts(const struct soft_part *const *all, size_t count)
{
	parts = all;
	part_count = count;
}

void
soft_runtime_init_context(struct soft_context *ctx)
{
	for (size_t i = 0; i < part_count; i++)
		if (parts[i]->init_context)
			parts[i]->init_context(ctx);
}

int
soft_runtime_open_context(struct soft_context *ctx)
{
	int r = 0;

	for (size_t i = 0; i < part_count && !r; i++)
		if (parts[i]->open_context)
			r = parts[i]->open_context(ctx);
	return r;
}

void
soft_runtime_attach(struct soft_context *ctx)
{
	pthread_once(&fork_once, runtime_register_fork);
	soft_last_watch();
	runtime_lock();
	LIST_INSERT_HEAD(&contexts, ctx, link);
	runtime_unlock();
}

void
soft_runtime_detach(struct soft_context *ctx)
{
	int state;

	/*
	 * runtime_stop_locked() calls pthread_join(), a cancellation point: a thread that was
	 * cancelled there would leave the lock held.
	 */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	runtime_lock();
	LIST_REMOVE(ctx, link);
	if (LIST_EMPTY(&contexts) && started && !kept) {
		runtime_stop_locked();
		started = false;
	}
	runtime_unlock();
	pthread_setcancelstate(state, NULL);
}

void
soft_runtime_each(void (*fn)(struct soft_context *ctx, int arg), int arg)
{
	struct soft_context *ctx;

	runtime_lock();
	LIST_FOREACH (ctx, &contexts, link)
		fn(ctx, arg);
	runtime_unlock();
}

bool
soft_runtime_each_now(void (*fn)(struct soft_context *ctx, void *arg), void *arg)
{
	struct soft_context *ctx;
	bool some;

	while (!runtime_trylock()) {
		if (stopping)
			return false;
		sched_yield();
	}
	some = !LIST_EMPTY(&contexts);
	LIST_FOREACH (ctx, &contexts, link)
		fn(ctx, arg);
	runtime_unlock();
	return some;
}

int
soft_runtime_start(void)
{
	int state, r = 0;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_once(&fork_once, runtime_register_fork);
	soft_last_watch();
	runtime_lock();
	if (!started)
		r = runtime_start_locked();
	started |= !r;
	runtime_unlock();
	pthread_setcancelstate(state, NULL);
	return r;
}

void
soft_runtime_keep(void)
{
	kept = true;
}

void
soft_runtime_leak(void *memory)
{
	if (memory)
		leaked[leaked_count++ % (sizeof leaked / sizeof leaked[0])] = memory;
}

unsigned int
soft_runtime_generation(void)
{
	return generation;
}

unsigned int
soft_runtime_mark(void)
{
	pthread_once(&fork_once, runtime_register_fork);
	return generation;
}
