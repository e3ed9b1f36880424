/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include <rdma/rdma_cma.h>
#include <rearm/rearm.h>

struct worker {
	struct rearm_queue *queue;
	void (*handle)(struct worker *worker, const struct ibv_wc *wc);
	void (*broken)(struct worker *worker, int error);
	void *arg;
};

static void
drain(void *arg, const struct ibv_wc *wc, int n, int more)
{
	struct worker *worker = arg;
	struct ibv_wc next[16];
	int r;

	(void)more; /* a hint; only an empty queue ends the loop */
	(void)rearm_queue_disable(worker->queue);
	for (int i = 0; i < n; i++)
		worker->handle(worker, &wc[i]);
	do {
		while ((n = rearm_queue_take(worker->queue, 16, next)) > 0)
			for (int i = 0; i < n; i++)
				worker->handle(worker, &next[i]);
		r = rearm_queue_enable(
		    worker->queue, REARM_SINGLE, NULL, REARM_NEW);
	} while (r == -EAGAIN); /* a completion came: drain again */
	if (r)
		worker->broken(worker, r); /* callbacks are off */
}

static void
fetch(void *arg, const struct ibv_wc *wc, int n, int more)
{
	struct worker *worker = arg;
	struct ibv_wc next[16];

	(void)wc; /* NULL under NOTIFY */
	(void)more;
	while ((n = rearm_queue_take(worker->queue, 16, next)) > 0)
		for (int i = 0; i < n; i++)
			worker->handle(worker, &next[i]);
}

/* Callbacks follow for the completions that are there, too. */
static int
begin(struct worker *worker)
{
	const struct rearm_upcall upcall = { drain, worker, 16 };

	return rearm_queue_enable(
	    worker->queue, REARM_SINGLE, &upcall, REARM_ANY);
}

static void
stop(struct worker *worker)
{
	struct ibv_wc next;

	/* No callback runs when this returns, and none starts. */
	(void)rearm_queue_teardown(worker->queue);
	/* What came without one. */
	while (rearm_queue_take(worker->queue, 1, &next) == 1)
		worker->handle(worker, &next);
	(void)rearm_queue_free(worker->queue);
	free(worker);
}

/* A queue for 64 completions, and a queue pair that completes into it. */
static int
open_queue(struct rearm_loop *loop, struct ibv_pd *pd,
    struct rearm_queue **queue, struct ibv_qp **qp)
{
	const struct rearm_queue_attr attr = { .cqe = 64, .spin = 20 };
	struct ibv_qp_init_attr init = {
		.cap = { 32, 32, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	int r = rearm_queue_create(loop, pd->context, &attr, queue);

	if (r)
		return r;
	init.send_cq = init.recv_cq = rearm_queue_cq(*queue);
	*qp = ibv_create_qp(pd, &init);
	if (*qp)
		return 0;
	(void)rearm_queue_free(*queue);
	return -ENOMEM;
}

/* A queue over a completion queue that the program has already. */
static int
adopt_queue(
    struct rearm_loop *loop, struct ibv_cq *cq, struct worker *worker)
{
	const struct rearm_upcall upcall = { fetch, worker, 1 };
	int r = rearm_queue_adopt(loop, cq, NULL, &worker->queue);

	if (r)
		return r;
	r = rearm_queue_enable(
	    worker->queue, REARM_NOTIFY, &upcall, REARM_ANY);
	if (r)
		(void)rearm_queue_free(worker->queue);
	return r;
}

/* All n completions, or none within a second. */
static int
await(struct rearm_queue *queue, int n, struct ibv_wc *wc)
{
	int r = rearm_queue_wait(queue, n, 1000000, n, wc);

	return r < 0 ? r : 0;
}

/* Two threads, on the processors 0 and 1. */
static int
open_loop(struct rearm_loop **loop)
{
	static const int cpus[] = { 0, 1 };
	const struct rearm_loop_attr attr = {
		.threads = 2,
		.n_cpus = 2,
		.cpus = cpus,
	};
	int r = rearm_loop_create(&attr, loop);

	/* It may not run on these: one thread, on any processor. */
	return r == -EINVAL ? rearm_loop_create(NULL, loop) : r;
}

/* All callbacks are made in here, beside the program's own descriptors. */
static void
run(struct rearm_loop *loop, int epoll, void (*serve)(void *data),
    int *left)
{
	struct epoll_event ready[8], of_loop = { .events = EPOLLIN };
	int timeout, n;

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, rearm_loop_fd(loop), &of_loop))
		return;
	while (*left > 0) {
		(void)rearm_loop_dispatch(loop, 64, 0);
		if (rearm_loop_trywait(loop, &timeout) == -EAGAIN)
			timeout = 0; /* there is more: do not sleep */
		n = epoll_wait(epoll, ready, 8, *left > 0 ? timeout : 0);
		for (int i = 0; i < n; i++)
			if (ready[i].data.ptr)
				serve(ready[i].data.ptr);
	}
}

/* The queues are freed, and the queue pairs destroyed before them. */
static int
close_loop(struct rearm_loop *loop)
{
	return rearm_loop_free(loop);
}

/* A request that knows what follows it: wr_id is its address. */
struct transfer {
	struct rearm_request request;
	int *left;
};

static void
transferred(
    struct rearm_request *request, const struct ibv_wc *wc, void *arg)
{
	struct transfer *transfer = (struct transfer *)request;

	(void)wc;
	(void)arg;
	--*transfer->left;
}

static int
begin_requests(struct rearm_queue *queue)
{
	const struct rearm_upcall upcall = { rearm_call_requests, NULL,
		16 };

	return rearm_queue_enable(queue, REARM_SINGLE, &upcall, REARM_ANY);
}

/* Fewer wake-ups: one for 8 completions, or for solicited ones alone. */
static int
wake_less(struct rearm_queue *queue)
{
	int r = rearm_queue_moderate(queue, 8, 50);

	return r == -EOPNOTSUPP ? rearm_queue_set_solicited(queue, 1) : r;
}

static void
on_async(void *arg, const union rearm_event *event)
{
	struct ibv_async_event copy = event->async;

	(void)arg;
	printf("%s\n", ibv_event_type_str(copy.event_type));
	ibv_ack_async_event(&copy);
}

/* The asynchronous events of a device. */
static int
watch_device(struct rearm_loop *loop, struct ibv_context *context,
    struct rearm_queue **queue)
{
	const struct rearm_event_upcall upcall = { on_async, NULL };
	int r = rearm_queue_adopt_async(loop, context, NULL, queue);

	if (r)
		return r;
	r = rearm_queue_enable_events(
	    *queue, REARM_SINGLE, &upcall, REARM_ANY);
	if (r)
		(void)rearm_queue_free(*queue);
	return r;
}

/* Resolves an address with an id of the channel, and waits for it. */
static int
resolve(struct rearm_loop *loop, struct rdma_event_channel *channel,
    struct rdma_cm_id *id, struct sockaddr *to)
{
	struct rearm_queue *queue;
	union rearm_event event;
	int r = rearm_queue_adopt_cm(loop, channel, NULL, &queue);

	if (r)
		return r;
	r = rdma_resolve_addr(id, NULL, to, 1000) ? -errno : 0;
	if (!r)
		r = rearm_queue_wait_event(queue, 2000000, &event);
	if (r == 1) {
		r = event.cm->event == RDMA_CM_EVENT_ADDR_RESOLVED ?
			0 :
			-EHOSTUNREACH;
		rdma_ack_cm_event(event.cm);
	}
	while (rearm_queue_take_event(queue, &event) == 1)
		rdma_ack_cm_event(event.cm);
	(void)rearm_queue_free(queue);
	return r;
}

static void
print_counters(struct rearm_queue *queue)
{
	struct rearm_counters counters;

	if (!rearm_queue_counters(queue, &counters, sizeof counters))
		printf("%llu callbacks for %llu completions\n",
		    (unsigned long long)counters.callbacks,
		    (unsigned long long)counters.events);
}
