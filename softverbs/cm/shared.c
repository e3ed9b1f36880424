/* SPDX-License-Identifier: BSD-3-Clause */
#include "shared.h"

#include <string.h>

/*
 * The context of a device lives as long as the process, or, once the device was removed, as long as
 * an id or a list of rdma_get_devices() has it, or an object belongs to it.  The default protection
 * domains of the others live as long as the CM has a reference to the devices.  It has one to all
 * of them at a time: an id that is bound to the wildcard address may get a request for any of them.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct soft_context *devices[SOFT_DEVICES_MAX] GUARDED_BY(soft_locks.shared);
static LIST_HEAD(, soft_context) removed GUARDED_BY(soft_locks.shared);
static unsigned int users GUARDED_BY(soft_locks.shared);

static void
shared_lock(void) ACQUIRE(soft_locks.shared) UNCHECKED
{
	pthread_mutex_lock(&lock);
}

static void
shared_unlock(void) RELEASE(soft_locks.shared) UNCHECKED
{
	pthread_mutex_unlock(&lock);
}

/*
 * The context of the device as it is now; NULL without memory.  After a removal ids that have the
 * former one keep it.
 */
static struct soft_context *
shared_renew(unsigned int index) REQUIRES(soft_locks.shared)
{
	struct soft_context *before = devices[index], *now;

	if (before && soft_context_is_stale(before))
		before = NULL;
	else if (before && !soft_context_is_removed(before))
		return before;
	now = soft_context_create(index, true);
	if (!now)
		return NULL;
	if (before)
		LIST_INSERT_HEAD(&removed, before, shared.link);
	devices[index] = now;
	return now;
}

/* Without a reference the domain may be missing, after a failure, and after a removal. */
static int
shared_open(unsigned int index) REQUIRES(soft_locks.shared)
{
	struct soft_context *ctx = shared_renew(index);

	if (!ctx)
		return -ENOMEM;
	if (!ctx->shared.pd)
		ctx->shared.pd = soft_ibv_alloc_pd(&ctx->verbs.context);
	return ctx->shared.pd ? 0 : -errno;
}

/* False if an object of the consumer still uses the domain. */
static bool
shared_close_domain(struct soft_context *ctx) REQUIRES(soft_locks.shared)
{
	if (ctx->shared.pd && soft_ibv_dealloc_pd(ctx->shared.pd))
		return false;
	ctx->shared.pd = NULL;
	return true;
}

/*
 * False if an object of the consumer still uses a domain: then that is kept, and the device with
 * it.
 */
static bool
shared_close(void) REQUIRES(soft_locks.shared)
{
	bool closed = true;

	for (unsigned int i = 0; i < SOFT_DEVICES_MAX; i++)
		if (devices[i])
			closed &= shared_close_domain(devices[i]);
	return closed;
}

/* Frees what no id and no list has of devices that were removed. */
static void
shared_clean(void) REQUIRES(soft_locks.shared)
{
	struct soft_context *ctx, *next;

	for (ctx = LIST_FIRST(&removed); ctx; ctx = next) {
		next = LIST_NEXT(ctx, shared.link);
		if (ctx->shared.users || !shared_close_domain(ctx))
			continue;
		LIST_REMOVE(ctx, shared.link);
		soft_context_let_go(ctx);
	}
}

bool
soft_cm_device_get(void)
{
	const unsigned int count = soft_topology()->count;
	int r = count ? 0 : -EINVAL;

	shared_lock();
	if (devices[0] && soft_context_is_stale(devices[0]))
		users = 0;
	for (unsigned int i = 0; i < count && !r; i++)
		r = shared_open(i);
	if (!r)
		users++;
	else if (!users)
		(void)shared_close();
	shared_clean();
	shared_unlock();
	errno = r ? -r : errno;
	return !r;
}

void
soft_cm_device_get_more(void)
{
	shared_lock();
	users++;
	shared_unlock();
}

void
soft_cm_device_put(void)
{
	shared_lock();
	if (--users == 0 && !shared_close())
		users++;
	shared_clean();
	shared_unlock();
}

void
soft_cm_device_put_more(void)
{
	shared_lock();
	users--;
	shared_unlock();
}

struct soft_context *
soft_cm_context_get(unsigned int device)
{
	struct soft_context *ctx;

	shared_lock();
	ctx = shared_renew(device);
	if (!ctx)
		ctx = devices[device];
	ctx->shared.users++;
	shared_unlock();
	return ctx;
}

void
soft_cm_context_put(struct soft_context *ctx)
{
	shared_lock();
	ctx->shared.users--;
	shared_unlock();
}

void
soft_cm_device_reset(void) UNCHECKED
{
	pthread_mutex_init(&lock, NULL);
	memset(devices, 0, sizeof devices); /* the parent's */
	LIST_INIT(&removed);
	users = 0;
}
