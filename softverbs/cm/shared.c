/* SPDX-License-Identifier: BSD-3-Clause */
#include "shared.h"

/*
 * The context lives as long as the process; see context.h.  Its default protection domain lives
 * as long as the CM has a reference to the device.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct soft_context *device GUARDED_BY(soft_locks.shared);
static struct ibv_pd *default_pd GUARDED_BY(soft_locks.shared);
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

struct soft_context *
soft_cm_device_get(void)
{
	struct soft_context *ctx = NULL;
	int r = 0;

	shared_lock();
	if (!device || soft_context_is_stale(device)) {
		device = soft_context_create(true);
		default_pd = NULL;
		users = 0;
	}
	if (!device) {
		r = -ENOMEM;
		goto unlock;
	}
	if (!users) {
		default_pd = soft_ibv_alloc_pd(&device->verbs.context);
		if (!default_pd) {
			r = -errno;
			goto unlock;
		}
	}
	users++;
	ctx = device;
unlock:
	shared_unlock();
	errno = r ? -r : errno;
	return ctx;
}

struct soft_context *
soft_cm_device_get_more(void)
{
	struct soft_context *ctx;

	shared_lock();
	users++;
	ctx = device;
	shared_unlock();
	return ctx;
}

struct ibv_pd *
soft_cm_device_pd(void)
{
	struct ibv_pd *pd;

	shared_lock();
	pd = default_pd;
	shared_unlock();
	return pd;
}

void
soft_cm_device_put(void)
{
	shared_lock();
	if (--users == 0) {
		/*
		 * An object of the consumer may still use it: then it is kept, and the device with
		 * it.
		 */
		if (soft_ibv_dealloc_pd(default_pd))
			users++;
		else
			default_pd = NULL;
	}
	shared_unlock();
}

void
soft_cm_device_reset(void) UNCHECKED
{
	pthread_mutex_init(&lock, NULL);
	device = NULL; /* the parent's */
	users = 0;
}
