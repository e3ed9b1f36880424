/* SPDX-License-Identifier: BSD-3-Clause */
/* queue -- the calls of a queue: created, freed, enabled, taken from */
#include <rdma/rdma_cma.h>

#include "rearm/internal.h"

#define SAME(value, own) _Static_assert((int)(value) == (int)(own), "the dispatcher's value")

SAME(REARM_SINGLE, EVD_POLICY_SINGLE);
SAME(REARM_NOTIFY, EVD_POLICY_NOTIFY);
SAME(REARM_MANY, EVD_POLICY_MANY);
SAME(REARM_NEW, EVD_PENDING_REFUSE);
SAME(REARM_ANY, EVD_PENDING_CALL);
SAME(REARM_BATCH, EVD_BATCH);

/* ---- what the dispatcher calls ---- */

static void
queue_call(
    void *instance, const void *events, unsigned int n, int more, const struct evd_upcall *upcall)
{
	((rearm_function *)upcall->function)(instance, events, (int)n, more);
}

/* The same for events; one that has gone meanwhile is none. */
static void
queue_call_event(
    void *instance, const void *events, unsigned int n, int more, const struct evd_upcall *upcall)
{
	rearm_event_function *function = (rearm_event_function *)upcall->function;
	const struct rearm_taken *taken = events;

	(void)more;
	if (n == 0)
		function(instance, NULL);
	else if (taken->result.value > 0)
		function(instance, &taken->event);
}

static void
queue_fault(struct evd *evd, int error)
{
	struct rearm_queue *queue = (struct rearm_queue *)evd->cfg.handle;

	if (queue->failed)
		queue->failed(queue->arg, error);
}

void
rearm_queue_lost(struct rearm_queue *queue)
{
	atomic_store(&queue->lost, true);
	evd_channel_lost(rearm_queue_ref(queue));
}

static void
queue_close(struct rearm_queue *queue)
{
	if (queue->cq)
		rearm_cq_close(queue);
	else
		rearm_event_close(queue);
}

static void
queue_destroyed(struct evd *evd)
{
	struct rearm_queue *queue = (struct rearm_queue *)evd->cfg.handle;
	struct rearm_loop *loop = queue->loop;

	rearm_slot_set_open(queue, false);
	queue_close(queue);
	rearm_slot_put(queue);
	rearm_loop_leave(loop);
}

/* ---- create and free ---- */

static const struct rearm_queue_attr none;

static int
queue_check(const struct rearm_loop *loop, const struct rearm_queue_attr *attr, unsigned int flags,
    struct rearm_queue **out)
{
	if (!loop || !out || attr->flags & ~flags)
		return -EINVAL;
	for (int i = 0; i < 3; i++)
		if (attr->reserved[i])
			return -EINVAL;
	return 0;
}

/* The descriptor that the dispatcher watches for it; -1: none. */
static int
queue_channel_fd(const struct rearm_queue *queue)
{
	if (!queue->cq)
		return queue->events.epfd;
	return queue->shared ? -1 : queue->fd;
}

/* It has what it takes events from. */
static int
queue_open(struct rearm_loop *loop, struct rearm_queue *queue, const struct rearm_queue_attr *attr)
{
	const bool events = !queue->cq;
	struct evd_config config = {
		.serial = queue->serial,
		.handle = queue,
		.event_size = events ? sizeof(struct rearm_taken) : sizeof(struct ibv_wc),
		.qlen = events ? EVD_TOKENS : queue->cq->cqe,
		.ops = events ? &evd_descriptor_ops : &rearm_cq_ops,
		.source = events ? (void *)&queue->events : queue,
		.channel_fd = queue_channel_fd(queue),
		.posted_on_demand = true,
		.spin_ns = (uint64_t)attr->spin * OS_NS_PER_US,
		.fault = queue_fault,
		.fault_calls = true,
		.wants_events = (void (*)(void))rearm_call_requests,
		.call_array = events ? queue_call_event : queue_call,
		.destroyed = queue_destroyed,
	};
	int r;

	queue->loop = loop;
	queue->failed = attr->failed;
	queue->arg = attr->arg;
	config.loop = rearm_loop_enter(loop);
	r = evd_create(&queue->core, &config);
	if (r) {
		rearm_loop_freed(loop);
		rearm_loop_leave(loop);
		return r;
	}
	if (attr->flags & REARM_SOLICITED)
		(void)evd_set_solicited(rearm_queue_ref(queue), true);
	if (queue->shared)
		rearm_shared_add(queue);
	return 0;
}

/*
 * `r`: whether the new queue got what it takes events from: 0 or -errno.  If not, or if it cannot
 * begin, it goes.
 */
static int
queue_begin(struct rearm_loop *loop, struct rearm_queue *queue, int r,
    const struct rearm_queue_attr *attr, struct rearm_queue **out)
{
	if (!r) {
		r = queue_open(loop, queue, attr);
		if (r)
			queue_close(queue);
	}
	if (r) {
		rearm_slot_put(queue);
	} else {
		rearm_slot_set_open(queue, true);
		*out = queue;
	}
	return r;
}

REARM_API int
rearm_queue_create(struct rearm_loop *loop, struct ibv_context *context,
    const struct rearm_queue_attr *attr, struct rearm_queue **out)
{
	REARM_UNCANCELLED;
	struct rearm_queue *queue;

	if (!context || !attr || queue_check(loop, attr, REARM_SOLICITED, out) || attr->cqe < 1)
		return -EINVAL;
	queue = rearm_slot_get();
	if (!queue)
		return -ENOMEM;
	return queue_begin(loop, queue, rearm_cq_create(queue, context, attr), attr, out);
}

REARM_API int
rearm_queue_adopt(struct rearm_loop *loop, struct ibv_cq *cq, const struct rearm_queue_attr *attr,
    struct rearm_queue **out)
{
	REARM_UNCANCELLED;
	struct rearm_queue *queue;

	attr = attr ? attr : &none;
	if (!cq || !cq->channel ||
	    queue_check(loop, attr, REARM_SOLICITED | REARM_SHARED_CHANNEL, out))
		return -EINVAL;
	queue = rearm_slot_get();
	if (!queue)
		return -ENOMEM;
	return queue_begin(loop, queue, rearm_cq_adopt(queue, loop, cq, attr), attr, out);
}

static int
adopt_events(struct rearm_loop *loop, int fd, struct ibv_context *context,
    struct rdma_event_channel *cm, const struct rearm_queue_attr *attr, struct rearm_queue **out)
{
	REARM_UNCANCELLED;
	struct rearm_queue *queue;

	attr = attr ? attr : &none;
	if (queue_check(loop, attr, 0, out))
		return -EINVAL;
	queue = rearm_slot_get();
	if (!queue)
		return -ENOMEM;
	queue->fd = fd;
	queue->context = context;
	queue->cm = cm;
	return queue_begin(loop, queue, rearm_event_open(queue), attr, out);
}

REARM_API int
rearm_queue_adopt_async(struct rearm_loop *loop, struct ibv_context *context,
    const struct rearm_queue_attr *attr, struct rearm_queue **out)
{
	return context ? adopt_events(loop, context->async_fd, context, NULL, attr, out) : -EINVAL;
}

REARM_API int
rearm_queue_adopt_cm(struct rearm_loop *loop, struct rdma_event_channel *channel,
    const struct rearm_queue_attr *attr, struct rearm_queue **out)
{
	return channel ? adopt_events(loop, channel->fd, NULL, channel, attr, out) : -EINVAL;
}

REARM_API struct ibv_cq *
rearm_queue_cq(const struct rearm_queue *queue)
{
	return queue->cq;
}

REARM_API int
rearm_queue_set_solicited(struct rearm_queue *queue, int on)
{
	if (on < 0 || on > 1 || !queue->cq)
		return -EINVAL;
	return evd_set_solicited(rearm_queue_ref(queue), on);
}

REARM_API int
rearm_queue_moderate(struct rearm_queue *queue, unsigned int count, unsigned int us)
{
	REARM_UNCANCELLED;

	if (!evd_is_alive(rearm_queue_ref(queue)))
		return -ENODEV;
	return queue->cq ? rearm_cq_moderate(queue, count, us) : -EINVAL;
}

REARM_API int
rearm_queue_free(struct rearm_queue *queue)
{
	REARM_UNCANCELLED;
	struct rearm_loop *loop;
	int r;

	if (!queue)
		return 0;
	loop = queue->loop; /* it cannot be freed before rearm_loop_freed() */
	r = evd_free(rearm_queue_ref(queue));
	if (!r)
		rearm_loop_freed(loop);
	return r;
}

/* ---- callbacks ---- */

REARM_API void
rearm_call_requests(void *arg, const struct ibv_wc *wc, int n, int more)
{
	struct rearm_request *request;

	(void)more;
	for (int i = 0; i < n; i++) {
		request = (struct rearm_request *)(uintptr_t)wc[i].wr_id;
		if (request)
			request->done(request, &wc[i], arg);
	}
}

/* `upcall` is NULL, or valid. */
static int
queue_modify(struct evd_ref ref, enum evd_policy policy, const struct evd_upcall *upcall,
    enum evd_pending pending)
{
	const int r = evd_modify_upcall(ref, policy, upcall, pending);

	return r == -EFAULT || r == -ERANGE ? -EINVAL : r;
}

static int
queue_enable(struct rearm_queue *queue, enum rearm_policy policy, const struct evd_upcall *upcall,
    enum rearm_pending pending)
{
	const struct evd_ref ref = rearm_queue_ref(queue);
	struct loop *pool;
	int r;

	if (policy != REARM_SINGLE && policy != REARM_NOTIFY && policy != REARM_MANY)
		return -EINVAL;
	if (policy == REARM_MANY) {
		r = rearm_loop_pool(queue->loop, &pool);
		if (r) /* no -EAGAIN, which tells that completions are there */
			return r == -EAGAIN ? -ENOMEM : r;
		evd_set_pool(ref, pool);
	}
	return queue_modify(ref, (enum evd_policy)policy, upcall, (enum evd_pending)pending);
}

REARM_API int
rearm_queue_enable(struct rearm_queue *queue, enum rearm_policy policy,
    const struct rearm_upcall *upcall, enum rearm_pending pending)
{
	if (!queue->cq || (upcall && (!upcall->function || upcall->batch < 1)))
		return -EINVAL;
	if (!upcall)
		return queue_enable(queue, policy, NULL, pending);
	return queue_enable(queue, policy,
	    &(struct evd_upcall){
		upcall->arg, (void (*)(void))upcall->function, (unsigned int)upcall->batch },
	    pending);
}

REARM_API int
rearm_queue_enable_events(struct rearm_queue *queue, enum rearm_policy policy,
    const struct rearm_event_upcall *upcall, enum rearm_pending pending)
{
	if (queue->cq || (upcall && !upcall->function))
		return -EINVAL;
	if (!upcall)
		return queue_enable(queue, policy, NULL, pending);
	return queue_enable(queue, policy,
	    &(struct evd_upcall){ upcall->arg, (void (*)(void))upcall->function, 1 }, pending);
}

REARM_API int
rearm_queue_disable(struct rearm_queue *queue)
{
	return queue_modify(rearm_queue_ref(queue), EVD_POLICY_DISABLE, NULL, EVD_PENDING_CALL);
}

REARM_API int
rearm_queue_teardown(struct rearm_queue *queue)
{
	return queue_modify(rearm_queue_ref(queue), EVD_POLICY_TEARDOWN, NULL, EVD_PENDING_CALL);
}
