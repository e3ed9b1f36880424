/* SPDX-License-Identifier: BSD-3-Clause */
/* What the device reports about itself: lower limits, another device. */
#include "fault.h"
#include "poll.h"

#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fault_limits lower; /* guarded by lock, as is what follows */
static int (*real_port)(struct ibv_context *, uint8_t, struct ibv_port_attr *, size_t);

/* Only its address matters. */
static struct verbs_context another;
static _Thread_local bool finds_another;

void
fault_limit(const struct fault_limits *limits)
{
	pthread_mutex_lock(&lock);
	lower = *limits;
	pthread_mutex_unlock(&lock);
}

void
fault_other_device(bool on)
{
	finds_another = on;
}

static int
query_lower_port(
    struct ibv_context *context, uint8_t number, struct ibv_port_attr *port, size_t size)
{
	int r = real_port(context, number, port, size);

	pthread_mutex_lock(&lock);
	if (!r && lower.message)
		port->max_msg_sz = lower.message;
	pthread_mutex_unlock(&lock);
	return r;
}

int __real_ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr);
int __wrap_ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr);
/* The first call with a context, before any other thread knows it. */
int
__wrap_ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	struct verbs_context *verbs;
	int r;

	if (context == &another.context)
		return ENODEV;
	verbs = verbs_get_ctx(context);
	r = __real_ibv_query_device(context, attr);
	pthread_mutex_lock(&lock);
	cq_wrap_poll(context);
	if (verbs->query_port != query_lower_port) {
		real_port = verbs->query_port;
		verbs->query_port = query_lower_port;
	}
	if (lower.segments)
		attr->max_sge = lower.segments;
	if (lower.read_segments)
		attr->max_sge_rd = lower.read_segments;
	pthread_mutex_unlock(&lock);
	return r;
}

int __real_rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);
int __wrap_rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);
int
__wrap_rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	const int r = __real_rdma_bind_addr(id, addr);

	if (!r && finds_another)
		id->verbs = &another.context;
	return r;
}
