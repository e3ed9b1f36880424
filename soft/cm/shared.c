/* SPDX-License-Identifier: BSD-3-Clause */
#include "shared.h"

/*
 * The context lives as long as the process; see context.h.  Its default protection domain lives
 * as long as the CM has a reference to the device.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct soft_context *device;
static struct ibv_pd *default_pd;
static unsigned int users;

struct soft_context *
soft_cm_device_get(void)
{
	int r = 0;

	pthread_mutex_lock(&lock);
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
		default_pd = ibv_alloc_pd(&device->verbs.context);
		if (!default_pd) {
			r = -errno;
			goto unlock;
		}
	}
	users++;
unlock:
	pthread_mutex_unlock(&lock);
	errno = r ? -r : errno;
	return r ? NULL : device;
}

struct soft_context *
soft_cm_device_get_more(void)
{
	pthread_mutex_lock(&lock);
	users++;
	pthread_mutex_unlock(&lock);
	return device;
}

struct ibv_pd *
soft_cm_device_pd(void)
{
	struct ibv_pd *pd;

	pthread_mutex_lock(&lock);
	pd = default_pd;
	pthread_mutex_unlock(&lock);
	return pd;
}

void
soft_cm_device_put(void)
{
	pthread_mutex_lock(&lock);
	if (--users == 0) {
		/* An object of the consumer may still use it: then it stays, with the device. */
		if (ibv_dealloc_pd(default_pd))
			users++;
		else
			default_pd = NULL;
	}
	pthread_mutex_unlock(&lock);
}

void
soft_cm_device_reset(void)
{
	pthread_mutex_init(&lock, NULL);
	device = NULL; /* the parent's */
	users = 0;
}
