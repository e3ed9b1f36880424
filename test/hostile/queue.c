/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "actor.h"
#include "clock.h"
#include "report.h"
#include "run.h"

static struct queue_loop loops[QUEUE_LOOPS];
static struct ibv_device **devices;
static struct ibv_context *device;
static struct ibv_pd *domain;
static _Atomic(uint64_t) serials, made, finished;
/* Read: a queue that has ended may still be named by a call.  Written: one is created. */
static pthread_rwlock_t naming = PTHREAD_RWLOCK_INITIALIZER;

static void
must(bool good, const char *what)
{
	if (!good)
		report_wrong(NULL, NULL, "%s failed", what);
}

#define MUST(condition) must(condition, #condition)

void
queues_begin(void)
{
	devices = ibv_get_device_list(NULL);
	MUST(devices && devices[0]);
	device = ibv_open_device(devices[0]);
	MUST(device);
	domain = ibv_alloc_pd(device);
	MUST(domain);
	for (int i = 0; i < QUEUE_LOOPS; i++) {
		pthread_mutex_init(&loops[i].lock, NULL);
		pthread_mutex_init(&loops[i].stepping, NULL);
		for (int j = 0; j < QUEUE_PLACES; j++) {
			loops[i].queue[j].loop = &loops[i];
			loops[i].queue[j].place = (unsigned int)(i * QUEUE_PLACES + j);
			loops[i].queue[j].life.kind = LIFE_QUEUE;
			pthread_mutex_init(&loops[i].queue[j].life.lock, NULL);
		}
	}
}

void
queues_print_counts(void)
{
	printf(
	    "librearm: %llu queues, %llu of them freed in callbacks; %llu completions and events "
	    "taken\n",
	    (unsigned long long)made, (unsigned long long)finished,
	    (unsigned long long)queues_taken());
}

bool
queue_has_events(const struct queue *queue)
{
	return queue->kind == QUEUE_ASYNC || queue->kind == QUEUE_CM;
}

/* ---- loops ---- */

static bool
loop_enter(struct queue_loop *loop)
{
	bool there;

	pthread_mutex_lock(&loop->lock);
	there = loop->loop && !loop->closing;
	loop->users += there;
	pthread_mutex_unlock(&loop->lock);
	return there;
}

struct queue_loop *
queue_loop_pick(void)
{
	struct queue_loop *loop = &loops[pick(QUEUE_LOOPS)];

	return loop_enter(loop) ? loop : NULL;
}

void
queue_loop_leave(struct queue_loop *loop)
{
	pthread_mutex_lock(&loop->lock);
	loop->users--;
	pthread_mutex_unlock(&loop->lock);
}

void
queue_loop_make(void)
{
	struct queue_loop *loop = &loops[pick(QUEUE_LOOPS)];
	const int cpu = 0;
	struct rearm_loop_attr attr = {
		.threads = (int)pick(4), .n_cpus = chance(20), .cpus = &cpu
	};
	struct rearm_loop *fresh;
	bool there;

	pthread_mutex_lock(&loop->lock);
	there = loop->loop || loop->closing;
	loop->closing = loop->closing || !there; /* it is this thread's */
	pthread_mutex_unlock(&loop->lock);
	if (there)
		return;
	loop->threads = attr.threads;
	loop->channel = ibv_create_comp_channel(device);
	MUST(loop->channel);
	(void)QUEUE_CALL(NULL, "rearm_loop_create", rearm_loop_create(&attr, &fresh), 0);
	pthread_mutex_lock(&loop->lock);
	loop->loop = fresh;
	loop->closing = false;
	pthread_mutex_unlock(&loop->lock);
}

static void queue_clear(struct queue *queue);

static void
queue_loop_end(struct queue_loop *loop)
{
	bool there;
	unsigned int left;

	pthread_mutex_lock(&loop->lock);
	there = loop->loop && !loop->closing;
	loop->closing = loop->closing || there;
	pthread_mutex_unlock(&loop->lock);
	if (!there)
		return;
	do {
		/* First: a user may create a queue. */
		pthread_mutex_lock(&loop->lock);
		left = loop->users;
		pthread_mutex_unlock(&loop->lock);
		for (int i = 0; i < QUEUE_PLACES; i++) {
			struct queue *queue = &loop->queue[i];

			queue_end(queue, false, 0);
			pthread_mutex_lock(&queue->life.lock);
			left += queue->state != QUEUE_NONE && queue->state != QUEUE_ENDED;
			pthread_mutex_unlock(&queue->life.lock);
		}
		if (left)
			clock_nap_us(200);
	} while (left);
	(void)QUEUE_CALL(NULL, "rearm_loop_free", rearm_loop_free(loop->loop), 0);
	for (int i = 0; i < QUEUE_PLACES; i++)
		if (loop->queue[i].state == QUEUE_ENDED)
			queue_clear(&loop->queue[i]);
	MUST(!ibv_destroy_comp_channel(loop->channel));
	pthread_mutex_lock(&loop->lock);
	loop->loop = NULL;
	loop->closing = false;
	pthread_mutex_unlock(&loop->lock);
}

void
queue_loop_end_any(void)
{
	queue_loop_end(&loops[pick(QUEUE_LOOPS)]);
}

void
queue_loop_step(struct queue_loop *loop, int timeout)
{
	struct pollfd fd = { .events = POLLIN };
	int most, r;

	if (loop->threads || pthread_mutex_trylock(&loop->stepping))
		return;
	fd.fd = rearm_loop_fd(loop->loop);
	r = QUEUE_CALL(
	    NULL, "rearm_loop_trywait", rearm_loop_trywait(loop->loop, &most), EAGAIN, 0);
	if (r == 0)
		(void)poll(&fd, 1, most >= 0 && most < timeout ? most : timeout);
	(void)QUEUE_CALL(
	    NULL, "rearm_loop_dispatch", rearm_loop_dispatch(loop->loop, 1 + (int)pick(4), 0), 0);
	pthread_mutex_unlock(&loop->stepping);
}

/* ---- the life of a queue ---- */

static void
queue_make_qp(struct queue *queue, struct ibv_cq *cq)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = QUEUE_DEPTH },
		.qp_type = IBV_QPT_RC,
	};

	queue->qp = ibv_create_qp(queue->pd ? queue->pd : domain, &init);
	MUST(queue->qp);
	MUST(!ibv_modify_qp(queue->qp, &attr, IBV_QP_STATE));
}

static int
queue_open(struct queue *queue)
{
	struct rearm_loop *loop = queue->loop->loop;
	struct rearm_queue_attr attr = {
		.cqe = QUEUE_DEPTH,
		.spin = chance(30) ? pick(50) : 0,
		.flags = !queue_has_events(queue) && chance(20) ? REARM_SOLICITED : 0,
	};

	switch (queue->kind) {
	case QUEUE_CREATED:
		return rearm_queue_create(loop, device, &attr, &queue->queue);
	case QUEUE_SHARED:
		attr.flags |= REARM_SHARED_CHANNEL;
		queue->cq = ibv_create_cq(device, QUEUE_DEPTH, NULL, queue->loop->channel, 0);
		MUST(queue->cq);
		return rearm_queue_adopt(loop, queue->cq, &attr, &queue->queue);
	case QUEUE_ADOPTED:
		queue->channel = ibv_create_comp_channel(device);
		MUST(queue->channel);
		queue->cq = ibv_create_cq(device, QUEUE_DEPTH, NULL, queue->channel, 0);
		MUST(queue->cq);
		return rearm_queue_adopt(loop, queue->cq, &attr, &queue->queue);
	case QUEUE_ASYNC:
		queue->context = ibv_open_device(devices[0]);
		MUST(queue->context);
		queue->pd = ibv_alloc_pd(queue->context);
		MUST(queue->pd);
		return rearm_queue_adopt_async(loop, queue->context, &attr, &queue->queue);
	default:
		queue->cm = rdma_create_event_channel();
		MUST(queue->cm);
		return rearm_queue_adopt_cm(loop, queue->cm, &attr, &queue->queue);
	}
}

void
queue_make(struct queue_loop *loop)
{
	struct queue *queue = &loop->queue[pick(QUEUE_PLACES)];
	bool there;

	pthread_mutex_lock(&queue->life.lock);
	there = queue->state != QUEUE_NONE;
	if (!there)
		queue->state = QUEUE_MADE;
	pthread_mutex_unlock(&queue->life.lock);
	if (there)
		return;
	queue->kind = pick(10) < 3 ? QUEUE_ASYNC + pick(2) : pick(QUEUE_ASYNC);
	queue->many = chance(40);
	atomic_store(&queue->life.serial, atomic_fetch_add(&serials, 1) + 1);
	pthread_rwlock_wrlock(&naming);
	(void)QUEUE_CALL(queue, "rearm_queue_create or adopt", queue_open(queue), 0);
	pthread_rwlock_unlock(&naming);
	if (!queue_has_events(queue))
		queue_make_qp(queue, rearm_queue_cq(queue->queue));
	atomic_fetch_add(&made, 1);
	pthread_mutex_lock(&queue->life.lock);
	queue->state = QUEUE_ALIVE;
	pthread_mutex_unlock(&queue->life.lock);
}

struct queue *
queue_pick(struct queue_loop *loop)
{
	struct queue *queue = &loop->queue[pick(QUEUE_PLACES)];
	bool there;

	pthread_mutex_lock(&queue->life.lock);
	there = queue->state == QUEUE_ALIVE;
	queue->users += there;
	pthread_mutex_unlock(&queue->life.lock);
	return there ? queue : NULL;
}

void
queue_leave(struct queue *queue)
{
	pthread_mutex_lock(&queue->life.lock);
	queue->users--;
	pthread_mutex_unlock(&queue->life.lock);
}

static unsigned int
queue_users(struct queue *queue)
{
	unsigned int users;

	pthread_mutex_lock(&queue->life.lock);
	users = queue->users;
	pthread_mutex_unlock(&queue->life.lock);
	return users;
}

void
queue_end(struct queue *queue, bool inside, unsigned int own)
{
	struct ibv_qp *qp;
	bool ends;

	pthread_mutex_lock(&queue->life.lock);
	ends = queue->state == QUEUE_ALIVE && !queue->setting;
	if (ends) {
		queue->state = QUEUE_ENDING;
		queue->setting = true;
		queue->freed_inside = inside;
	}
	qp = queue->qp;
	if (ends)
		queue->qp = NULL;
	pthread_mutex_unlock(&queue->life.lock);
	if (!ends)
		return;
	if (qp)
		MUST(!ibv_destroy_qp(qp));
	pthread_rwlock_rdlock(&naming);
	(void)QUEUE_CALL(queue, "rearm_queue_free", rearm_queue_free(queue->queue), 0);
	pthread_mutex_lock(&queue->life.lock);
	queue->state = QUEUE_ENDED;
	pthread_mutex_unlock(&queue->life.lock);
	while (queue_users(queue) > own)
		clock_nap_us(100);
	pthread_rwlock_unlock(&naming);
	if (inside)
		atomic_fetch_add(&finished, 1); /* cleared when its loop has gone */
	else
		queue_clear(queue);
}

/* The library has let all go. */
static void
queue_clear(struct queue *queue)
{
	pthread_mutex_lock(&queue->life.lock);
	queue->state = QUEUE_MADE;
	pthread_mutex_unlock(&queue->life.lock);
	for (int i = 0; i < QUEUE_EVENTS; i++) {
		if (queue->overrun[i])
			MUST(!ibv_destroy_cq(queue->overrun[i]));
		if (queue->id[i])
			MUST(!rdma_destroy_id(queue->id[i]));
	}
	if (queue->cq)
		MUST(!ibv_destroy_cq(queue->cq));
	if (queue->channel)
		MUST(!ibv_destroy_comp_channel(queue->channel));
	if (queue->pd)
		MUST(!ibv_dealloc_pd(queue->pd));
	if (queue->context)
		MUST(!ibv_close_device(queue->context));
	if (queue->cm)
		rdma_destroy_event_channel(queue->cm);
	pthread_mutex_lock(&queue->life.lock);
	queue->inside = queue->posted = queue->taken = 0;
	queue->last = 0;
	queue->last_called = 0;
	queue->setting = queue->given = queue->freed_inside = false;
	queue->policy = queue->waits_for = 0;
	memset(queue->seen, 0, sizeof queue->seen);
	queue->cq = NULL;
	queue->channel = NULL;
	queue->pd = NULL;
	queue->context = NULL;
	queue->cm = NULL;
	memset(queue->overrun, 0, sizeof queue->overrun);
	memset(queue->id, 0, sizeof queue->id);
	queue->state = QUEUE_NONE;
	pthread_mutex_unlock(&queue->life.lock);
}

/* A thread of its own: one that has waited keeps a descriptor until it ends. */
static void *
end_loops(void *unused)
{
	for (int i = 0; i < QUEUE_LOOPS; i++)
		queue_loop_end(&loops[i]);
	return unused;
}

void
queues_end(void)
{
	pthread_t thread;

	MUST(!pthread_create(&thread, NULL, end_loops, NULL));
	MUST(!pthread_join(thread, NULL));
	MUST(!ibv_dealloc_pd(domain));
	MUST(!ibv_close_device(device));
	ibv_free_device_list(devices);
}

/* ---- the policy, which one thread at a time changes ---- */

bool
queue_set_begin(struct queue *queue, int *before)
{
	bool begins;

	pthread_mutex_lock(&queue->life.lock);
	begins = queue->state == QUEUE_ALIVE && !queue->setting;
	if (begins) {
		*before = queue->policy;
		queue->setting = true;
		queue->policy = 0;
	}
	pthread_mutex_unlock(&queue->life.lock);
	return begins;
}

void
queue_set_end(struct queue *queue, int policy)
{
	pthread_mutex_lock(&queue->life.lock);
	queue->setting = false;
	queue->policy = policy;
	pthread_mutex_unlock(&queue->life.lock);
}

struct queue *
queue_of_place(unsigned int place)
{
	return &loops[place / QUEUE_PLACES % QUEUE_LOOPS].queue[place % QUEUE_PLACES];
}

/* ---- the calm ---- */

/* Locked. */
static bool
owes(const struct queue *queue)
{
	const unsigned int there = queue->posted - queue->taken;

	if (queue->state != QUEUE_ALIVE || queue->setting)
		return false;
	return (queue->policy > 0 && there > 0) ||
	       (queue->waits_for && there >= (unsigned int)queue->waits_for);
}

const struct queue *
queues_owe(void)
{
	const struct queue *found = NULL;

	for (int i = 0; i < QUEUE_LOOPS; i++) {
		if (loop_enter(&loops[i])) {
			queue_loop_step(&loops[i], 0);
			queue_loop_leave(&loops[i]);
		}
		for (int j = 0; j < QUEUE_PLACES; j++) {
			struct queue *queue = &loops[i].queue[j];

			pthread_mutex_lock(&queue->life.lock);
			if (owes(queue))
				found = queue;
			pthread_mutex_unlock(&queue->life.lock);
		}
	}
	return found;
}

bool
queues_inside(void)
{
	bool inside = false;

	for (int i = 0; i < QUEUE_LOOPS; i++)
		for (int j = 0; j < QUEUE_PLACES; j++) {
			struct queue *queue = &loops[i].queue[j];

			pthread_mutex_lock(&queue->life.lock);
			inside = inside || queue->inside;
			pthread_mutex_unlock(&queue->life.lock);
		}
	return inside;
}
