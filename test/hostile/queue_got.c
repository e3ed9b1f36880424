/* SPDX-License-Identifier: BSD-3-Clause */
/* What is posted to the queues of librearm, the calls, and what they return: the oracle. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include "actor.h"
#include "clock.h"
#include "owed.h"
#include "queue.h"
#include "report.h"

static _Atomic(uint64_t) taken;

uint64_t
queues_taken(void)
{
	return taken;
}

/* ---- calls ---- */

struct queue_call
queue_call_begin(struct queue *queue, const char *name, bool endless, bool waits)
{
	struct actor *me = actor_self();
	const uint64_t on = queue ? life_name(&queue->life) : 0;
	struct queue_call call = { .queue = queue, .name = name, .signals = me->signals };

	call.line = trace(name, on, 0, 0);
	me->doing_on = on;
	me->since = clock_tick();
	me->endless = endless;
	me->manner = waits ? ACTOR_SLEEPS : ACTOR_WORKS;
	me->doing = name;
	return call;
}

static bool
is_ending(struct queue *queue)
{
	bool ending;

	pthread_mutex_lock(&queue->life.lock);
	ending = queue->state == QUEUE_ENDING || queue->state == QUEUE_ENDED;
	pthread_mutex_unlock(&queue->life.lock);
	return ending;
}

int
queue_call_end(const struct queue_call *call, int r, const int *errors)
{
	struct actor *me = actor_self();
	bool good = r >= 0;

	trace_done(call->line, (DAT_RETURN)r);
	me->doing = NULL;
	me->endless = false;
	me->manner = ACTOR_WORKS;
	for (; *errors; errors++)
		good = good || r == -*errors;
	if (r == -ENODEV || r == -ECANCELED)
		good = call->queue && is_ending(call->queue);
	if (r == -EINTR && call->signals == me->signals)
		good = false;
	if (!good)
		report_wrong(call->queue ? &call->queue->life : NULL, NULL,
		    "%s returned %d, which does not fit", call->name, r);
	return r;
}

/* ---- what is posted ---- */

static void
post_overrun(struct queue *queue, unsigned int at)
{
	struct ibv_qp_init_attr init = { .cap = { .max_send_wr = 1 }, .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_cq *cq = ibv_create_cq(queue->context, 1, NULL, NULL, 0);
	struct ibv_recv_wr wr = { 0 }, *bad;
	struct ibv_qp *qp;

	if (!cq)
		report_wrong(&queue->life, NULL, "no completion queue that overruns");
	init.send_cq = init.recv_cq = queue->overrun[at] = cq;
	init.cap.max_recv_wr = (uint32_t)cq->cqe + 1;
	qp = ibv_create_qp(queue->pd, &init);
	if (!qp || ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		report_wrong(&queue->life, NULL, "no queue pair for one that overruns");
	for (int i = 0; i <= cq->cqe; i++)
		if (ibv_post_recv(qp, &wr, &bad))
			report_wrong(&queue->life, NULL, "a receive is refused");
	if (ibv_destroy_qp(qp))
		report_wrong(&queue->life, NULL, "ibv_destroy_qp failed");
}

static void
post_address(struct queue *queue, unsigned int at)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(1) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (rdma_create_id(queue->cm, &queue->id[at], (void *)(uintptr_t)(at + 1), RDMA_PS_TCP) ||
	    rdma_resolve_addr(queue->id[at], NULL, (struct sockaddr *)&address, 1000))
		report_wrong(&queue->life, NULL, "an address cannot be resolved: %d", errno);
}

static void
post_receive(struct queue *queue, unsigned int number)
{
	struct queue_request *request = &queue->request[number];
	struct ibv_recv_wr wr = { .wr_id = (uintptr_t)request }, *bad;

	*request = (struct queue_request){ { queue_request_done }, queue, number };
	if (ibv_post_recv(queue->qp, &wr, &bad))
		report_wrong(&queue->life, NULL, "a receive is refused");
}

void
queue_post(struct queue *queue, unsigned int n)
{
	const unsigned int most = queue_has_events(queue) ? QUEUE_EVENTS : QUEUE_MOST;
	struct trace_line *line = trace("post", life_name(&queue->life), 0, n);

	pthread_mutex_lock(&queue->life.lock);
	while (n-- > 0 && queue->state == QUEUE_ALIVE && queue->posted < most &&
	       queue->posted - queue->taken < QUEUE_DEPTH) {
		queue->posted++;
		if (queue->kind == QUEUE_ASYNC)
			post_overrun(queue, queue->posted - 1);
		else if (queue->kind == QUEUE_CM)
			post_address(queue, queue->posted - 1);
		else
			post_receive(queue, queue->posted);
	}
	trace_done(line, queue->posted);
	pthread_mutex_unlock(&queue->life.lock);
}

/* ---- what comes ---- */

unsigned int
queue_bound(struct queue *queue)
{
	unsigned int bound;

	pthread_mutex_lock(&queue->life.lock);
	bound = queue->last;
	pthread_mutex_unlock(&queue->life.lock);
	return bound;
}

static void
got_one(struct queue *queue, unsigned int number, unsigned int bound)
{
	(void)trace("got", life_name(&queue->life), 0, number);
	owed_note_taking(DAT_SOFTWARE_EVENT);
	atomic_fetch_add(&taken, 1);
	pthread_mutex_lock(&queue->life.lock);
	if (number < 1 || number > queue->posted)
		report_wrong(
		    &queue->life, NULL, "%u has come, and %u were posted", number, queue->posted);
	if (queue->seen[number])
		report_wrong(&queue->life, NULL, "%u has come twice", number);
	/* Addresses are resolved side by side. */
	if (number <= bound && queue->kind != QUEUE_CM)
		report_wrong(&queue->life, NULL, "%u has come after %u", number, bound);
	queue->seen[number] = true;
	queue->taken++;
	if (number > queue->last)
		queue->last = number;
	pthread_mutex_unlock(&queue->life.lock);
}

unsigned int
queue_got(struct queue *queue, const struct ibv_wc *wc, int n, unsigned int bound)
{
	for (int i = 0; i < n; i++) {
		const struct queue_request *request = (void *)(uintptr_t)wc[i].wr_id;

		if (request->queue != queue || wc[i].status != IBV_WC_WR_FLUSH_ERR)
			report_wrong(&queue->life, &request->queue->life,
			    "a completion of another queue, or with status %d", wc[i].status);
		got_one(queue, request->number, bound);
		bound = request->number;
	}
	return bound;
}

unsigned int
queue_got_event(struct queue *queue, const union rearm_event *event, unsigned int bound)
{
	struct ibv_async_event async;
	unsigned int number = 0;

	if (queue->kind == QUEUE_CM) {
		if (event->cm->event != RDMA_CM_EVENT_ADDR_RESOLVED)
			report_wrong(&queue->life, NULL, "an event %d", event->cm->event);
		number = (unsigned int)(uintptr_t)event->cm->id->context;
		(void)rdma_ack_cm_event(event->cm);
	} else {
		async = event->async;
		pthread_mutex_lock(&queue->life.lock);
		for (unsigned int i = 0; i < queue->posted; i++)
			if (queue->overrun[i] == async.element.cq)
				number = i + 1;
		pthread_mutex_unlock(&queue->life.lock);
		if (async.event_type != IBV_EVENT_CQ_ERR)
			report_wrong(&queue->life, NULL, "an event %d", async.event_type);
		ibv_ack_async_event(&async);
	}
	got_one(queue, number, bound);
	return number;
}

/* ---- calls that take, and others ---- */

int
queue_take(struct queue *queue)
{
	const unsigned int bound = queue_bound(queue);
	union rearm_event event;
	struct ibv_wc wc[8];
	int r;

	if (queue_has_events(queue)) {
		r = QUEUE_CALL(queue, "rearm_queue_take_event",
		    rearm_queue_take_event(queue->queue, &event), EBUSY, 0);
		if (r > 0)
			(void)queue_got_event(queue, &event, bound);
		return r;
	}
	r = QUEUE_CALL(queue, "rearm_queue_take",
	    rearm_queue_take(queue->queue, 1 + (int)pick(8), wc), EBUSY, 0);
	(void)queue_got(queue, wc, r, bound);
	return r;
}

static void
set_waits_for(struct queue *queue, int n)
{
	pthread_mutex_lock(&queue->life.lock);
	queue->waits_for = n;
	pthread_mutex_unlock(&queue->life.lock);
}

static bool
begin_wait(struct queue *queue, int n)
{
	bool first;

	pthread_mutex_lock(&queue->life.lock);
	first = queue->waits_for == 0;
	if (first)
		queue->waits_for = n;
	pthread_mutex_unlock(&queue->life.lock);
	return first;
}

int
queue_wait(struct queue *queue, int min, int64_t timeout)
{
	static const int errors[] = { ETIMEDOUT, EINTR, EBUSY, EACCES, 0 };
	static const int shared[] = { EOPNOTSUPP, 0 };
	const bool refused = queue->kind == QUEUE_SHARED && queue->loop->threads == 0;
	const bool events = queue_has_events(queue);
	const unsigned int bound = queue_bound(queue);
	const bool first = begin_wait(queue, min);
	const struct queue_call call = queue_call_begin(
	    queue, events ? "rearm_queue_wait_event" : "rearm_queue_wait", timeout < 0, true);
	union rearm_event event;
	struct ibv_wc wc[8];
	int r;

	r = events ? rearm_queue_wait_event(queue->queue, timeout, &event) :
		     rearm_queue_wait(queue->queue, min, timeout, 8, wc);
	r = queue_call_end(&call, r, refused ? shared : errors);
	if (r > 0 && events)
		(void)queue_got_event(queue, &event, bound);
	else
		(void)queue_got(queue, wc, r, bound);
	if (first)
		set_waits_for(queue, 0);
	return r;
}

void
queue_ask(struct queue *queue)
{
	const bool events = queue_has_events(queue);
	const int refused = events ? EINVAL : 0;
	struct rearm_counters counters;

	(void)QUEUE_CALL(queue, "rearm_queue_counters",
	    rearm_queue_counters(queue->queue, &counters, sizeof counters), 0);
	if (!rearm_queue_cq(queue->queue) != events)
		report_wrong(&queue->life, NULL, "rearm_queue_cq() does not fit");
	(void)QUEUE_CALL(queue, "rearm_queue_set_solicited",
	    rearm_queue_set_solicited(queue->queue, (int)pick(2)), refused, 0);
	(void)QUEUE_CALL(queue, "rearm_queue_moderate",
	    rearm_queue_moderate(queue->queue, pick(4), 1 + pick(300)), refused, 0);
}
