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

	/* It is not alive any more: who has it pinned is the last one. */
	os_lock(&queue->in_use);
	os_unlock(&queue->in_use);
	queue_close(queue);
	rearm_slot_put(queue);
	rearm_loop_leave(loop);
}

/* ---- create and free ---- */

/* It has what it takes events from. */
static int
queue_open(struct rearm_queue *queue, const struct rearm_queue_attr *attr)
{
	const bool events = !queue->cq;
	struct evd_config config = {
		.serial = queue->serial,
		.handle = queue,
		.event_size = events ? sizeof(struct rearm_taken) : sizeof(struct ibv_wc),
		.qlen = events ? EVD_TOKENS : queue->cq->cqe,
		.ops = events ? &evd_descriptor_ops : &rearm_cq_ops,
		.source = events ? (void *)&queue->events : queue,
		.channel_fd = events	    ? queue->events.epfd :
			      queue->shared ? -1 :
					      queue->fd,
		.posted_on_demand = true,
		.spin_ns = (uint64_t)attr->spin * OS_NS_PER_US,
		.fault = queue_fault,
		.fault_calls = true,
		.wants_events = (void (*)(void))rearm_call_requests,
		.call_array = events ? queue_call_event : queue_call,
		.destroyed = queue_destroyed,
	};
	int r = 0;

	if (!events && (attr->moderation_count || attr->moderation_us))
		r = rearm_cq_moderate(queue, attr->moderation_count, attr->moderation_us);
	if (r)
		return r;
	config.loop = rearm_loop_enter(queue->loop);
	r = evd_create(&queue->core, &config);
	if (r) {
		rearm_loop_freed(queue->loop);
		rearm_loop_leave(queue->loop);
		return r;
	}
	if (attr->flags & REARM_SOLICITED)
		(void)evd_set_solicited(rearm_queue_ref(queue), true);
	if (queue->shared)
		rearm_shared_add(queue);
	return 0;
}

/* What a new queue takes events from: `cq` or `cm`, which exist, or else of the device. */
struct origin {
	struct ibv_context *context;
	struct ibv_cq *cq;
	struct rdma_event_channel *cm;
	int (*open)(struct rearm_queue *queue, const struct rearm_queue_attr *attr);
	unsigned int flags; /* that its attributes may have */
};

static int
queue_new(struct rearm_loop *loop, const struct origin *origin, const struct rearm_queue_attr *attr,
    struct rearm_queue **out)
{
	REARM_UNCANCELLED;
	static const struct rearm_queue_attr none;
	struct rearm_queue *queue;
	int r;

	attr = attr ? attr : &none;
	if (!loop || !out || attr->flags & ~origin->flags || attr->reserved[0] ||
	    attr->reserved[1] || attr->reserved[2])
		return -EINVAL;
	queue = rearm_slot_get();
	if (!queue)
		return -ENOMEM;
	queue->loop = loop;
	queue->context = origin->context;
	queue->cq = origin->cq;
	queue->cm = origin->cm;
	queue->failed = attr->failed;
	queue->arg = attr->arg;
	r = origin->open(queue, attr);
	if (!r) {
		r = queue_open(queue, attr);
		if (r)
			queue_close(queue);
	}
	if (r) {
		rearm_slot_put(queue);
		return r;
	}
	*out = queue;
	return 0;
}

REARM_API int
rearm_queue_create(struct rearm_loop *loop, struct ibv_context *context,
    const struct rearm_queue_attr *attr, struct rearm_queue **out)
{
	const struct origin origin = { context, NULL, NULL, rearm_cq_create, REARM_SOLICITED };

	if (!context || !attr || attr->cqe < 1)
		return -EINVAL;
	return queue_new(loop, &origin, attr, out);
}

REARM_API int
rearm_queue_adopt(struct rearm_loop *loop, struct ibv_cq *cq, const struct rearm_queue_attr *attr,
    struct rearm_queue **out)
{
	const struct origin origin = { NULL, cq, NULL, rearm_cq_adopt,
		REARM_SOLICITED | REARM_SHARED_CHANNEL };

	return cq && cq->channel ? queue_new(loop, &origin, attr, out) : -EINVAL;
}

REARM_API int
rearm_queue_adopt_async(struct rearm_loop *loop, struct ibv_context *context,
    const struct rearm_queue_attr *attr, struct rearm_queue **out)
{
	const struct origin origin = { context, NULL, NULL, rearm_event_open, 0 };

	return context ? queue_new(loop, &origin, attr, out) : -EINVAL;
}

REARM_API int
rearm_queue_adopt_cm(struct rearm_loop *loop, struct rdma_event_channel *channel,
    const struct rearm_queue_attr *attr, struct rearm_queue **out)
{
	const struct origin origin = { NULL, NULL, channel, rearm_event_open, 0 };

	return channel ? queue_new(loop, &origin, attr, out) : -EINVAL;
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
	int r;

	if (!rearm_queue_pin(queue, rearm_queue_ref(queue)))
		return -ENODEV;
	r = queue->cq ? rearm_cq_moderate(queue, count, us) : -EINVAL;
	os_unlock(&queue->in_use);
	return r;
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
	(void)more;
	for (int i = 0; i < n; i++) {
		struct rearm_request *request = (struct rearm_request *)(uintptr_t)wc[i].wr_id;

		if (request)
			request->done(request, &wc[i], arg);
	}
}

/* The threads for MANY, if there are none yet. */
static int
queue_set_pool(struct rearm_queue *queue, struct evd_ref ref)
{
	struct loop *pool;
	int r;

	if (!rearm_queue_pin(queue, ref))
		return -ENODEV;
	r = rearm_loop_pool(queue->loop, &pool);
	if (!r)
		evd_set_pool(ref, pool);
	os_unlock(&queue->in_use);
	return r == -EAGAIN ? -ENOMEM : r; /* -EAGAIN tells that completions are there */
}

/* `batch` 0: with what is installed. */
static int
queue_enable(struct rearm_queue *queue, enum rearm_policy policy, void (*function)(void), void *arg,
    int batch, enum rearm_pending pending)
{
	const struct evd_upcall upcall = { arg, function, (unsigned int)batch };
	const struct evd_ref ref = rearm_queue_ref(queue);
	int r = 0;

	if (policy != REARM_SINGLE && policy != REARM_NOTIFY && policy != REARM_MANY)
		return -EINVAL;
	if (policy == REARM_MANY)
		r = queue_set_pool(queue, ref);
	if (!r)
		r = evd_modify_upcall(ref, (enum evd_policy)policy, batch ? &upcall : NULL,
		    (enum evd_pending)pending);
	return r == -EFAULT || r == -ERANGE ? -EINVAL : r;
}

REARM_API int
rearm_queue_enable(struct rearm_queue *queue, enum rearm_policy policy,
    const struct rearm_upcall *upcall, enum rearm_pending pending)
{
	static const struct rearm_upcall same;

	if (!queue->cq || (upcall && (!upcall->function || upcall->batch < 1)))
		return -EINVAL;
	upcall = upcall ? upcall : &same;
	return queue_enable(
	    queue, policy, (void (*)(void))upcall->function, upcall->arg, upcall->batch, pending);
}

REARM_API int
rearm_queue_enable_events(struct rearm_queue *queue, enum rearm_policy policy,
    const struct rearm_event_upcall *upcall, enum rearm_pending pending)
{
	static const struct rearm_event_upcall same;

	if (queue->cq || (upcall && !upcall->function))
		return -EINVAL;
	upcall = upcall ? upcall : &same;
	return queue_enable(queue, policy, (void (*)(void))upcall->function, upcall->arg,
	    upcall->function != NULL, pending);
}

REARM_API int
rearm_queue_disable(struct rearm_queue *queue)
{
	return evd_modify_upcall(
	    rearm_queue_ref(queue), EVD_POLICY_DISABLE, NULL, EVD_PENDING_CALL);
}

REARM_API int
rearm_queue_teardown(struct rearm_queue *queue)
{
	return evd_modify_upcall(
	    rearm_queue_ref(queue), EVD_POLICY_TEARDOWN, NULL, EVD_PENDING_CALL);
}
