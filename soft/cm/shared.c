/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm.h"

#include <stdlib.h>

/*
 * The context stays where it is for the life of the process; see context.h.  Its default
 * protection domain lives as long as anybody uses the device through the CM.
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
	if (!device || soft_context_stale(device)) {
		device = soft_context_new(true);
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
soft_cm_device_more(void)
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
		/* A consumer may have left something on it: then it stays, with the device. */
		if (ibv_dealloc_pd(default_pd))
			users++;
		else
			default_pd = NULL;
	}
	pthread_mutex_unlock(&lock);
}

struct ibv_context **
rdma_get_devices(int *num_devices)
{
	struct ibv_context **list;
	struct soft_context *ctx = soft_cm_device_get();

	if (num_devices)
		*num_devices = 0;
	if (!ctx)
		return NULL;
	list = calloc(2, sizeof *list);
	if (!list) {
		soft_cm_device_put();
		return NULL;
	}
	list[0] = &ctx->verbs.context;
	if (num_devices)
		*num_devices = 1;
	return list;
}

void
rdma_free_devices(struct ibv_context **list)
{
	if (!list)
		return;
	if (!soft_context_stale(soft_context_of(list[0])))
		soft_cm_device_put();
	free(list);
}

void
soft_cm_device_reset(void)
{
	pthread_mutex_init(&lock, NULL);
	device = NULL; /* the parent's */
	users = 0;
}
