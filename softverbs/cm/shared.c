/* SPDX-License-Identifier: BSD-3-Clause */
#include "shared.h"

#include <string.h>

/*
 * The contexts live as long as the process; see context.h.  Their default protection domains live
 * as long as the CM has a reference to the devices.  It has one to all of them at a time: an id
 * that is bound to the wildcard address may get a request for any of them.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shared {
	struct soft_context *context;
	struct ibv_pd *pd;
} devices[SOFT_DEVICES_MAX] GUARDED_BY(soft_locks.shared);
/* The domains of devices that were removed; with more than these the device stays active. */
#define RETIRED 64
static struct ibv_pd *retired[RETIRED] GUARDED_BY(soft_locks.shared);
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

/* The device was removed: ids that are bound to it keep what they have; new ones get another. */
static void
shared_retire(struct shared *device) REQUIRES(soft_locks.shared)
{
	for (unsigned int i = 0; i < RETIRED; i++)
		if (!retired[i]) {
			retired[i] = device->pd;
			break;
		}
	*device = (struct shared){ NULL, NULL };
}

/* Without a reference the domain may be missing, and after a failure. */
static int
shared_open(unsigned int index) REQUIRES(soft_locks.shared)
{
	struct shared *device = &devices[index];

	if (device->context && !soft_context_is_stale(device->context) &&
	    soft_context_is_removed(device->context))
		shared_retire(device);
	if (!device->context || soft_context_is_stale(device->context)) {
		device->context = soft_context_create(index, true);
		device->pd = NULL;
	}
	if (!device->context)
		return -ENOMEM;
	if (!device->pd)
		device->pd = soft_ibv_alloc_pd(&device->context->verbs.context);
	return device->pd ? 0 : -errno;
}

/*
 * False if an object of the consumer still uses a domain: then that is kept, and the device with
 * it.
 */
static bool
shared_close(void) REQUIRES(soft_locks.shared)
{
	bool closed = true;

	for (unsigned int i = 0; i < SOFT_DEVICES_MAX; i++) {
		if (!devices[i].pd)
			continue;
		if (soft_ibv_dealloc_pd(devices[i].pd))
			closed = false;
		else
			devices[i].pd = NULL;
	}
	for (unsigned int i = 0; i < RETIRED; i++) {
		if (retired[i] && soft_ibv_dealloc_pd(retired[i]))
			closed = false;
		else
			retired[i] = NULL;
	}
	return closed;
}

bool
soft_cm_device_get(void)
{
	const unsigned int count = soft_topology()->count;
	int r = count ? 0 : -EINVAL;

	shared_lock();
	if (devices[0].context && soft_context_is_stale(devices[0].context))
		users = 0;
	for (unsigned int i = 0; i < count && !r; i++)
		r = shared_open(i);
	if (!r)
		users++;
	else if (!users)
		(void)shared_close();
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

struct soft_context *
soft_cm_context(unsigned int device)
{
	struct soft_context *ctx;

	shared_lock();
	ctx = devices[device].context;
	shared_unlock();
	return ctx;
}

struct ibv_pd *
soft_cm_pd(unsigned int device)
{
	struct ibv_pd *pd;

	shared_lock();
	pd = devices[device].pd;
	shared_unlock();
	return pd;
}

void
soft_cm_device_put(void)
{
	shared_lock();
	if (--users == 0 && !shared_close())
		users++;
	shared_unlock();
}

void
soft_cm_device_reset(void) UNCHECKED
{
	pthread_mutex_init(&lock, NULL);
	memset(devices, 0, sizeof devices); /* the parent's */
	memset(retired, 0, sizeof retired);
	users = 0;
}
