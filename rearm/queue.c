/* SPDX-License-Identifier: BSD-3-Clause */
/* queue -- the calls of a queue: created, freed, enabled, taken from */
#include <pthread.h>

#include "rearm/internal.h"

#define SAME(value, own) _Static_assert((int)(value) == (int)(own), "the dispatcher's value")

SAME(REARM_SINGLE, EVD_POLICY_SINGLE);
SAME(REARM_NOTIFY, EVD_POLICY_NOTIFY);
SAME(REARM_MANY, EVD_POLICY_MANY);
SAME(REARM_NEW, EVD_PENDING_REFUSE);
SAME(REARM_ANY, EVD_PENDING_CALL);
SAME(REARM_BATCH, EVD_BATCH);

/* The longest part of a wait, in microseconds. */
#define WAIT_MOST 3600000000u

/* ---- the memory of queues ---- */

static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rearm_queue *slots_free;
static uint64_t slots_serial;

static struct rearm_queue *
slot_get(void)
{
	struct rearm_queue *queue;
	uint64_t serial;

	pthread_mutex_lock(&slots_lock);
	queue = slots_free;
	if (queue)
		slots_free = queue->next;
	serial = ++slots_serial;
	pthread_mutex_unlock(&slots_lock);
	if (!queue) {
		queue = os_alloc(1, sizeof *queue);
		if (!queue)
			return NULL;
		evd_slot_init(&queue->core);
	}
	queue->serial = serial;
	return queue;
}

static void
slot_put(struct rearm_queue *queue)
{
	pthread_mutex_lock(&slots_lock);
	queue->next = slots_free;
	slots_free = queue;
	pthread_mutex_unlock(&slots_lock);
}

/* ---- what the dispatcher calls ---- */

static void
queue_call(
    void *instance, const void *events, unsigned int n, int more, const struct evd_upcall *upcall)
{
	((rearm_function *)upcall->function)(instance, events, (int)n, more);
}

static void
queue_fault(struct evd *evd, int error)
{
	struct rearm_queue *queue = (struct rearm_queue *)evd->cfg.handle;

	if (queue->failed)
		queue->failed(queue->arg, error);
}

static void
queue_destroyed(struct evd *evd)
{
	struct rearm_queue *queue = (struct rearm_queue *)evd->cfg.handle;
	struct rearm_loop *loop = queue->loop;

	rearm_cq_close(queue);
	slot_put(queue);
	rearm_loop_leave(loop);
}

/* ---- create and free ---- */

static int
queue_check(
    const struct rearm_loop *loop, const struct rearm_queue_attr *attr, struct rearm_queue **out)
{
	if (!loop || !out)
		return -EINVAL;
	for (int i = 0; i < 3; i++)
		if (attr->reserved[i])
			return -EINVAL;
	return attr->flags & ~REARM_SOLICITED ? -EINVAL : 0;
}

/* It has its completion queue. */
static int
queue_open(struct rearm_loop *loop, struct rearm_queue *queue, const struct rearm_queue_attr *attr)
{
	struct evd_config config = {
		.serial = queue->serial,
		.handle = queue,
		.event_size = sizeof(struct ibv_wc),
		.qlen = queue->cq->cqe,
		.ops = &rearm_cq_ops,
		.source = queue,
		.channel_fd = queue->channel->fd,
		.posted_on_demand = true,
		.spin_ns = (uint64_t)attr->spin * OS_NS_PER_US,
		.fault = queue_fault,
		.call_array = queue_call,
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
	} else if (attr->flags & REARM_SOLICITED) {
		(void)evd_set_solicited(rearm_queue_ref(queue), true);
	}
	return r;
}

/* `r`: whether the new queue got its CQ: 0 or -errno.  If not, or if it cannot begin, it goes. */
static int
queue_begin(struct rearm_loop *loop, struct rearm_queue *queue, int r,
    const struct rearm_queue_attr *attr, struct rearm_queue **out)
{
	if (!r) {
		r = queue_open(loop, queue, attr);
		if (r)
			rearm_cq_close(queue);
	}
	if (r)
		slot_put(queue);
	else
		*out = queue;
	return r;
}

REARM_API int
rearm_queue_create(struct rearm_loop *loop, struct ibv_context *context,
    const struct rearm_queue_attr *attr, struct rearm_queue **out)
{
	struct rearm_queue *queue;

	if (!context || !attr || queue_check(loop, attr, out) || attr->cqe < 1)
		return -EINVAL;
	queue = slot_get();
	if (!queue)
		return -ENOMEM;
	return queue_begin(loop, queue, rearm_cq_create(queue, context, attr), attr, out);
}

REARM_API int
rearm_queue_adopt(struct rearm_loop *loop, struct ibv_cq *cq, const struct rearm_queue_attr *attr,
    struct rearm_queue **out)
{
	static const struct rearm_queue_attr none;
	struct rearm_queue *queue;

	if (!attr)
		attr = &none;
	if (!cq || !cq->channel || queue_check(loop, attr, out))
		return -EINVAL;
	queue = slot_get();
	if (!queue)
		return -ENOMEM;
	return queue_begin(loop, queue, rearm_cq_adopt(queue, cq, attr), attr, out);
}

REARM_API struct ibv_cq *
rearm_queue_cq(const struct rearm_queue *queue)
{
	return queue->cq;
}

REARM_API int
rearm_queue_set_solicited(struct rearm_queue *queue, int on)
{
	return on < 0 || on > 1 ? -EINVAL : evd_set_solicited(rearm_queue_ref(queue), on);
}

REARM_API int
rearm_queue_moderate(struct rearm_queue *queue, unsigned int count, unsigned int us)
{
	if (!evd_is_alive(rearm_queue_ref(queue)))
		return -ENODEV;
	return rearm_cq_moderate(queue, count, us);
}

REARM_API int
rearm_queue_free(struct rearm_queue *queue)
{
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

static bool
upcall_is_valid(const struct rearm_upcall *upcall, enum rearm_policy policy)
{
	return upcall->function && upcall->batch >= 1 &&
	       (policy != REARM_NOTIFY || upcall->function != rearm_call_requests);
}

static int
queue_modify(struct rearm_queue *queue, enum evd_policy policy, const struct rearm_upcall *upcall,
    enum evd_pending pending)
{
	struct evd_upcall own;
	int r;

	if (upcall)
		own = (struct evd_upcall){
			.instance = upcall->arg,
			.function = (void (*)(void))upcall->function,
			.most = (unsigned int)upcall->batch,
		};
	r = evd_modify_upcall(rearm_queue_ref(queue), policy, upcall ? &own : NULL, pending);
	return r == -EFAULT || r == -ERANGE ? -EINVAL : r;
}

REARM_API int
rearm_queue_enable(struct rearm_queue *queue, enum rearm_policy policy,
    const struct rearm_upcall *upcall, enum rearm_pending pending)
{
	struct loop *pool;
	int r;

	if (policy != REARM_SINGLE && policy != REARM_NOTIFY && policy != REARM_MANY)
		return -EINVAL;
	if (upcall && !upcall_is_valid(upcall, policy))
		return -EINVAL;
	if (policy == REARM_MANY) {
		r = rearm_loop_pool(queue->loop, &pool);
		if (r) /* no -EAGAIN, which tells that completions are there */
			return r == -EAGAIN ? -ENOMEM : r;
		evd_set_pool(rearm_queue_ref(queue), pool);
	}
	return queue_modify(queue, (enum evd_policy)policy, upcall, (enum evd_pending)pending);
}

REARM_API int
rearm_queue_disable(struct rearm_queue *queue)
{
	return queue_modify(queue, EVD_POLICY_DISABLE, NULL, EVD_PENDING_CALL);
}

REARM_API int
rearm_queue_teardown(struct rearm_queue *queue)
{
	return queue_modify(queue, EVD_POLICY_TEARDOWN, NULL, EVD_PENDING_CALL);
}

/* ---- taking completions ---- */

REARM_API int
rearm_queue_take(struct rearm_queue *queue, int n, struct ibv_wc *wc)
{
	int r;

	if (n < 1 || !wc)
		return -EINVAL;
	r = evd_dequeue_several(rearm_queue_ref(queue), (unsigned int)n, wc);
	return r == -EAGAIN ? 0 : r;
}

REARM_API int
rearm_queue_wait(struct rearm_queue *queue, int min, int64_t timeout, int n, struct ibv_wc *wc)
{
	const struct evd_ref ref = rearm_queue_ref(queue);
	int64_t part;
	int r;

	if (n < 1 || !wc || timeout < -1)
		return -EINVAL;
	if (timeout < 0)
		return evd_wait_several(ref, EVD_FOREVER, min, (unsigned int)n, wc);
	do {
		part = timeout < WAIT_MOST ? timeout : WAIT_MOST;
		timeout -= part;
		r = evd_wait_several(ref, (uint32_t)part, min, (unsigned int)n, wc);
	} while (r == -ETIMEDOUT && timeout > 0);
	return r;
}
