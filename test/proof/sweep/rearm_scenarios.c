/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of librearm.  What is opened stands in `own`, and rearm_story_end() closes it with
 * nothing failing.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rearm/rearm.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "inject.h"
#include "story.h"

#define DEPTH 8
#define PATIENCE_US 4000000

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq[2];
	struct ibv_qp *qp;
	struct rdma_event_channel *cm;
	struct rdma_cm_id *id;
	struct rearm_loop *loop;
	struct rearm_queue *queue[2];
	atomic_int came;
} own;

/* ---- how calls are judged ---- */

static bool
explained(const char *call, int r)
{
	switch (r) {
	case -EAGAIN: /* of rearm_queue_enable() it tells that completions are there */
		return strncmp(call, "rearm_queue_enable", 18) != 0;
	case -ENOMEM:
	case -EMFILE:
	case -ENOSPC:
	case -EIO:
	case -EINTR:
	case -ENOLCK: /* of fcntl() */
		return true;
	default:
		return false;
	}
}

static bool
judge(const char *call, int r, bool again)
{
	if (r >= 0)
		return true;
	if (!inject_met())
		story_wrong("%s: %d with nothing made to fail", call, r);
	if (again)
		story_wrong("%s: %d when tried again", call, r);
	if (!explained(call, r))
		story_wrong("%s: %d is a wrong code", call, r);
	return false;
}

#define CALL(story, call) \
	(judge(#call, (call), false) || (!(story)->for_ever && judge(#call, (call), true)))

/* A call of the program's own: of verbs. */
static bool
verb(const char *name, bool good)
{
	if (!good && !inject_met())
		story_wrong("%s failed with nothing made to fail: %d", name, errno);
	return good;
}

#define VERB(call) verb(#call, (call))

/* ---- parts ---- */

/* The verb of moderation is in no library. */
static int (*modify_cq)(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);

static int
fail_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	if (inject("ibv_modify_cq", __builtin_return_address(0), INJECT_FAILS))
		return ENOMEM;
	return modify_cq(cq, attr);
}

static bool
open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct verbs_context *verbs;

	if (!VERB(list != NULL))
		return false;
	own.context = list[0] ? ibv_open_device(list[0]) : NULL;
	ibv_free_device_list(list);
	if (!VERB(own.context != NULL))
		return false;
	verbs = verbs_get_ctx(own.context);
	if (verbs->modify_cq != fail_modify_cq)
		modify_cq = verbs->modify_cq;
	verbs->modify_cq = fail_modify_cq;
	return VERB((own.pd = ibv_alloc_pd(own.context)) != NULL);
}

static bool
open_loop(struct story *story, int threads)
{
	const int cpu = 0;
	const struct rearm_loop_attr attr = { .threads = threads, .n_cpus = 1, .cpus = &cpu };

	return CALL(story, rearm_loop_create(&attr, &own.loop));
}

/* Its receives are flushed: completions. */
static bool
open_qp(struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	init.cap.max_send_wr = 1;
	init.cap.max_recv_wr = (uint32_t)cq->cqe + 1;
	own.qp = ibv_create_qp(own.pd, &init);
	return VERB(own.qp != NULL) && VERB(!ibv_modify_qp(own.qp, &attr, IBV_QP_STATE));
}

static void
close_qp(void)
{
	if (own.qp && ibv_destroy_qp(own.qp))
		story_wrong("ibv_destroy_qp");
	own.qp = NULL;
}

static bool
post(struct rearm_request *request, int n)
{
	struct ibv_recv_wr wr = { .wr_id = (uintptr_t)request }, *bad;

	for (int i = 0; i < n; i++)
		if (!VERB(!ibv_post_recv(own.qp, &wr, &bad) || !ibv_post_recv(own.qp, &wr, &bad)))
			return false;
	return true;
}

static bool
free_queue(struct story *story, int i)
{
	struct rearm_queue *queue = own.queue[i];

	own.queue[i] = NULL;
	close_qp();
	return CALL(story, rearm_queue_free(queue));
}

static bool
free_loop(struct story *story)
{
	struct rearm_loop *loop = own.loop;

	own.loop = NULL;
	return CALL(story, rearm_loop_free(loop));
}

static void
called(void *arg, const struct ibv_wc *wc, int n, int more)
{
	struct ibv_wc one;

	(void)more;
	if (!wc)
		for (n = 0; rearm_queue_take(*(struct rearm_queue **)arg, 1, &one) == 1;)
			n++;
	atomic_fetch_add(&own.came, n);
}

static void
done(struct rearm_request *request, const struct ibv_wc *wc, void *arg)
{
	(void)request;
	(void)wc;
	(void)arg;
	atomic_fetch_add(&own.came, 1);
}

/* Callbacks of a device that cannot be polled come when it can. */
static bool
comes(struct story *story, int n)
{
	return story_await(story, &own.came, n);
}

/* ---- stories ---- */

static void
loop_of_the_program(struct story *story)
{
	int timeout, r;

	if (!open_loop(story, 0) || !CALL(story, rearm_loop_fd(own.loop)))
		return;
	r = rearm_loop_trywait(own.loop, &timeout);
	if (r && r != -EAGAIN)
		story_wrong("rearm_loop_trywait: %d", r);
	if (CALL(story, rearm_loop_dispatch(own.loop, 1, 0)))
		(void)free_loop(story);
}

static bool
create_queue(struct story *story)
{
	const struct rearm_queue_attr attr = {
		.cqe = DEPTH, .spin = 1, .moderation_count = 2, .moderation_us = 100
	};

	return open_device() && open_loop(story, 2) &&
	       CALL(story, rearm_queue_create(own.loop, own.context, &attr, &own.queue[0])) &&
	       open_qp(rearm_queue_cq(own.queue[0]));
}

static void
callbacks(struct story *story)
{
	static const enum rearm_policy policies[] = { REARM_SINGLE, REARM_NOTIFY, REARM_MANY };
	struct rearm_upcall upcall = { .function = called, .arg = &own.queue[0], .batch = 2 };
	struct rearm_counters counters;

	if (!create_queue(story) || !CALL(story, rearm_queue_set_solicited(own.queue[0], 1)) ||
	    !CALL(story, rearm_queue_moderate(own.queue[0], 3, 200)))
		return;
	for (int i = 0; i < 3; i++)
		if (!CALL(
			story, rearm_queue_enable(own.queue[0], policies[i], &upcall, REARM_ANY)) ||
		    !post(NULL, 3) || !comes(story, 3 * i + 3))
			return;
	if (CALL(story, rearm_queue_disable(own.queue[0])) &&
	    CALL(story, rearm_queue_teardown(own.queue[0])) &&
	    CALL(story, rearm_queue_counters(own.queue[0], &counters, sizeof counters)) &&
	    free_queue(story, 0))
		(void)free_loop(story);
}

static void
takes(struct story *story)
{
	struct rearm_request request = { done };
	struct rearm_upcall upcall = { .function = rearm_call_requests, .batch = 2 };
	struct ibv_wc wc[4];
	int n = 0;

	if (!create_queue(story) || !post(&request, 6))
		return;
	if (!CALL(story, rearm_queue_wait(own.queue[0], 1, PATIENCE_US, 1, wc)))
		return;
	for (int i = 0; i < 100 && n < 2; i++) {
		int r = rearm_queue_take(own.queue[0], 1, wc);

		if (!judge("rearm_queue_take", r, false) && story->for_ever)
			return;
		n += r == 1;
	}
	if (n < 2 && !inject_met())
		story_wrong("completions are lost");
	if (CALL(story, rearm_queue_enable(own.queue[0], REARM_SINGLE, &upcall, REARM_ANY)) &&
	    comes(story, 3) && free_queue(story, 0))
		(void)free_loop(story);
}

/* Two queues share a channel; then one has it. */
static void
adopted(struct story *story)
{
	const struct rearm_queue_attr shared = { .flags = REARM_SHARED_CHANNEL };
	struct rearm_upcall upcall = { .function = called, .arg = &own.queue[0], .batch = 1 };

	if (!open_device() || !open_loop(story, 1) ||
	    !VERB((own.channel = ibv_create_comp_channel(own.context)) != NULL))
		return;
	for (int i = 0; i < 2; i++)
		if (!VERB((own.cq[i] = ibv_create_cq(own.context, DEPTH, NULL, own.channel, 0)) !=
			  NULL))
			return;
	for (int i = 0; i < 2; i++)
		if (!CALL(story, rearm_queue_adopt(own.loop, own.cq[i], &shared, &own.queue[i])))
			return;
	if (!open_qp(own.cq[0]) ||
	    !CALL(story, rearm_queue_enable(own.queue[0], REARM_SINGLE, &upcall, REARM_ANY)) ||
	    !post(NULL, 2) || !comes(story, 2) || !free_queue(story, 0) || !free_queue(story, 1))
		return;
	if (!CALL(story, rearm_queue_adopt(own.loop, own.cq[0], NULL, &own.queue[0])) ||
	    !open_qp(own.cq[0]) || !post(NULL, 1) ||
	    !CALL(story, rearm_queue_enable(own.queue[0], REARM_MANY, &upcall, REARM_ANY)) ||
	    !comes(story, 3) || !free_queue(story, 0))
		return;
	(void)free_loop(story);
}

static void
event_called(void *arg, const union rearm_event *event)
{
	struct ibv_async_event async;

	if (arg)
		(void)rdma_ack_cm_event(event->cm);
	else {
		async = event->async;
		ibv_ack_async_event(&async);
	}
	atomic_fetch_add(&own.came, 1);
}

/* A completion queue of the program overruns. */
static bool
raise_async(void)
{
	if (!VERB((own.cq[0] = ibv_create_cq(own.context, 1, NULL, NULL, 0)) != NULL) ||
	    !open_qp(own.cq[0]) || !post(NULL, own.cq[0]->cqe + 1))
		return false;
	close_qp();
	return true;
}

static bool
raise_cm(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return VERB(!rdma_create_id(own.cm, &own.id, NULL, RDMA_PS_TCP)) &&
	       VERB(!rdma_resolve_addr(own.id, NULL, (struct sockaddr *)&at, 2000));
}

/* By a callback. */
static void
events(struct story *story, bool cm)
{
	struct rearm_event_upcall upcall = { event_called, cm ? &own : NULL };

	if (CALL(
		story, rearm_queue_enable_events(own.queue[0], REARM_SINGLE, &upcall, REARM_ANY)) &&
	    (cm ? raise_cm() : raise_async()) && comes(story, 1) && free_queue(story, 0))
		(void)free_loop(story);
}

static void
async_events(struct story *story)
{
	if (open_device() && open_loop(story, 1) &&
	    CALL(story, rearm_queue_adopt_async(own.loop, own.context, NULL, &own.queue[0])))
		events(story, false);
}

static void
cm_events(struct story *story)
{
	if (open_loop(story, 1) && VERB((own.cm = rdma_create_event_channel()) != NULL) &&
	    CALL(story, rearm_queue_adopt_cm(own.loop, own.cm, NULL, &own.queue[0])))
		events(story, true);
}

/* By calls. */
static void
events_taken(struct story *story)
{
	union rearm_event event;

	if (!open_device() || !open_loop(story, 1) ||
	    !VERB((own.cm = rdma_create_event_channel()) != NULL) ||
	    !CALL(story, rearm_queue_adopt_async(own.loop, own.context, NULL, &own.queue[0])) ||
	    !CALL(story, rearm_queue_adopt_cm(own.loop, own.cm, NULL, &own.queue[1])) ||
	    !CALL(story, rearm_queue_take_event(own.queue[0], &event)) || !raise_cm() ||
	    !CALL(story, rearm_queue_wait_event(own.queue[1], PATIENCE_US, &event)))
		return;
	(void)rdma_ack_cm_event(event.cm);
	if (free_queue(story, 0) && free_queue(story, 1))
		(void)free_loop(story);
}

const struct scenario rearm_scenarios[] = {
	{ "rearm-loop", loop_of_the_program, true },
	{ "rearm-callbacks", callbacks, true },
	{ "rearm-takes", takes, false },
	{ "rearm-adopted", adopted, false },
	{ "rearm-async", async_events, false },
	{ "rearm-cm", cm_events, false },
	{ "rearm-events", events_taken, false },
	{ NULL, NULL, false },
};

void
rearm_story_end(void)
{
	int r = 0;

	close_qp();
	for (int i = 0; i < 2; i++)
		r |= own.queue[i] ? rearm_queue_free(own.queue[i]) : 0;
	r |= own.loop ? rearm_loop_free(own.loop) : 0;
	if (own.id)
		r |= rdma_destroy_id(own.id);
	if (own.cm)
		rdma_destroy_event_channel(own.cm);
	for (int i = 0; i < 2; i++)
		r |= own.cq[i] ? ibv_destroy_cq(own.cq[i]) : 0;
	r |= own.channel ? ibv_destroy_comp_channel(own.channel) : 0;
	r |= own.pd ? ibv_dealloc_pd(own.pd) : 0;
	r |= own.context ? ibv_close_device(own.context) : 0;
	if (r)
		story_wrong("the end of librearm: %d", r);
	memset(&own, 0, sizeof own);
}
