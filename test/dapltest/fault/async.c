/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous events: the device's own function raises them. */
#include "fault.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>

#include "softverbs/device/async.h"
#include "softverbs/device/context.h"
#include "softverbs/qp/srq.h"

static atomic_uint raised, acknowledged, failed;
static atomic_int read_error;

void
fault_async_fail(int error)
{
	read_error = error;
}

unsigned int
fault_async_failed(void)
{
	return failed;
}

int __real_ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);
int __wrap_ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);
int
__wrap_ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	const int error = read_error;

	if (!error)
		return __real_ibv_get_async_event(context, event);
	failed++;
	errno = error;
	return -1;
}

static void
raise_in(struct soft_context *ctx, struct soft_async_source *source, enum ibv_event_type type)
{
	raised++;
	soft_async_raise(ctx, source, type);
}

/* The event of a device, or of its first port. */
static void
raise_of_device(struct soft_context *ctx, int type)
{
	raise_in(ctx, type == IBV_EVENT_PORT_ERR ? &ctx->ports[0] : &ctx->device,
	    (enum ibv_event_type)type);
}

static void
raise_of_second_port(struct soft_context *ctx, int type)
{
	raise_in(ctx, &ctx->ports[1], (enum ibv_event_type)type);
}

void
fault_raise_at_second_port(enum ibv_event_type type)
{
	soft_runtime_each(raise_of_second_port, (int)type);
}

static struct soft_async_source *
source_of(enum ibv_event_type type, void *element, struct ibv_context **context)
{
	struct ibv_cq *cq = element;
	struct ibv_qp *qp = element;
	struct ibv_srq *srq = element;

	switch (type) {
	case IBV_EVENT_CQ_ERR:
		*context = cq->context;
		return &soft_cq_of(cq)->async;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		*context = srq->context;
		return &soft_srq_of(srq)->async;
	default:
		*context = qp->context;
		return &soft_qp_of(qp)->async;
	}
}

void
fault_raise(enum ibv_event_type type, void *element)
{
	struct soft_async_source *source;
	struct ibv_context *context;

	if (!element) {
		soft_runtime_each(raise_of_device, (int)type);
		return;
	}
	source = source_of(type, element, &context);
	raise_in(soft_context_of(context), source, type);
}

bool
fault_is_acknowledged(void)
{
	return acknowledged == raised;
}

void __real_ibv_ack_async_event(struct ibv_async_event *event);
void __wrap_ibv_ack_async_event(struct ibv_async_event *event);
void
__wrap_ibv_ack_async_event(struct ibv_async_event *event)
{
	__real_ibv_ack_async_event(event);
	acknowledged++;
}
