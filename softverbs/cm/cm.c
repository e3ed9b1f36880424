/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void
soft_cm_lock(void) UNCHECKED
{
	pthread_mutex_lock(&lock);
}

void
soft_cm_unlock(void) UNCHECKED
{
	pthread_mutex_unlock(&lock);
}

void
soft_cm_sleep(pthread_cond_t *condition)
{
	pthread_cond_wait(condition, &lock);
}

void
soft_cm_lock_reset(void)
{
	pthread_mutex_init(&lock, NULL);
}

bool
soft_id_refuses(const struct soft_id *id)
{
	const bool inherited = id->generation != soft_runtime_generation();

	if (!inherited && !soft_id_is_orphan(id))
		return false;
	errno = inherited ? EIO : EBADF;
	return true;
}

bool
soft_event_channel_refuses(const struct rdma_event_channel *channel)
{
	const struct soft_event_channel *own =
	    soft_container_of(channel, const struct soft_event_channel, public);

	if (own->generation == soft_runtime_generation())
		return false;
	errno = EIO;
	return true;
}

int
soft_cm_result(int r)
{
	if (!r)
		return 0;
	errno = r < 0 ? -r : r;
	return -1;
}
