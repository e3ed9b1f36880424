/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soft_twist -- the provider on the software device, with connection events that the test chooses
 *
 * An event of the connection manager for an endpoint is replaced by another before the provider
 * sees it, so that every event can reach an endpoint in every state.  Found by dlsym("soft_twist").
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#define CHANNELS 8

static struct {
	pthread_mutex_t lock;
	struct rdma_event_channel *channels[CHANNELS]; /* of the open adapters, in order */
	bool set, without_data;
	enum rdma_cm_event_type from, to;
	int status, channel;
} twist = { .lock = PTHREAD_MUTEX_INITIALIZER };

static enum rdma_cm_event_type
type_of(const char *name)
{
	for (int t = RDMA_CM_EVENT_ADDR_RESOLVED; t <= RDMA_CM_EVENT_TIMEWAIT_EXIT; t++)
		if (strcmp(rdma_event_str((enum rdma_cm_event_type)t) + strlen("RDMA_CM_EVENT_"),
			name) == 0)
			return (enum rdma_cm_event_type)t;
	abort();
}

/* The next event `from` of the nth open adapter becomes `to` with that status. */
void soft_twist(const char *from, const char *to, int status, int channel, bool without_data);

void
soft_twist(const char *from, const char *to, int status, int channel, bool without_data)
{
	pthread_mutex_lock(&twist.lock);
	twist.from = type_of(from);
	twist.to = type_of(to);
	twist.status = status;
	twist.channel = channel;
	twist.without_data = without_data;
	twist.set = true;
	pthread_mutex_unlock(&twist.lock);
}

struct rdma_event_channel *__real_rdma_create_event_channel(void);
struct rdma_event_channel *__wrap_rdma_create_event_channel(void);

struct rdma_event_channel *
__wrap_rdma_create_event_channel(void)
{
	struct rdma_event_channel *channel = __real_rdma_create_event_channel();

	pthread_mutex_lock(&twist.lock);
	for (int i = 0; i < CHANNELS; i++)
		if (!twist.channels[i]) {
			twist.channels[i] = channel;
			break;
		}
	pthread_mutex_unlock(&twist.lock);
	return channel;
}

void __real_rdma_destroy_event_channel(struct rdma_event_channel *channel);
void __wrap_rdma_destroy_event_channel(struct rdma_event_channel *channel);

void
__wrap_rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	pthread_mutex_lock(&twist.lock);
	for (int i = 0; i < CHANNELS; i++)
		if (twist.channels[i] == channel)
			twist.channels[i] = NULL;
	pthread_mutex_unlock(&twist.lock);
	__real_rdma_destroy_event_channel(channel);
}

int __real_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
int __wrap_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);

int
__wrap_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	int r = __real_rdma_get_cm_event(channel, event);

	if (r)
		return r;
	pthread_mutex_lock(&twist.lock);
	if (twist.set && twist.channels[twist.channel] == channel &&
	    (*event)->event == twist.from) {
		twist.set = false;
		(*event)->event = twist.to;
		(*event)->status = twist.status;
		if (twist.without_data)
			(*event)->param.conn.private_data_len = 0;
	}
	pthread_mutex_unlock(&twist.lock);
	return 0;
}
