/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that is cancelled ends inside a wait, and in no other call. */
#include <rdma/rdma_cma.h>
#include <stdlib.h>

#include "queue_story.h"

QUEUE_CASE("rearm_cancel:cancel");

static int passed;

static int
all_calls(void)
{
	const struct rearm_queue_attr attr = { .cqe = 4 };
	struct rdma_event_channel *channel;
	struct rearm_loop *loop;
	struct rearm_queue *queue, *async, *cm;
	union rearm_event event;
	struct ibv_wc wc;
	int r = 0;

	/* A check would be a cancellation point. */
	channel = rdma_create_event_channel();
	r |= rearm_loop_create(NULL, &loop);
	r |= rearm_queue_create(loop, qs.context, &attr, &queue);
	r |= rearm_queue_adopt_async(loop, qs.context, NULL, &async);
	r |= rearm_queue_adopt_cm(loop, channel, NULL, &cm);
	r |= rearm_queue_take(queue, 1, &wc);
	r |= rearm_queue_take_event(async, &event);
	r |= rearm_queue_take_event(cm, &event);
	r |= queue_enable(REARM_MANY, 1, REARM_ANY);
	r |= rearm_queue_teardown(qs.queue);
	r |= rearm_queue_free(cm);
	r |= rearm_queue_free(async);
	r |= rearm_queue_free(queue);
	r |= rearm_loop_free(loop);
	rdma_destroy_event_channel(channel);
	return r;
}

static void *
cancelled_thread(void *arg)
{
	struct ibv_wc wc;

	(void)arg;
	(void)pthread_cancel(pthread_self());
	passed = all_calls() == 0;
	(void)rearm_queue_wait(qs.queue, 1, -1, 1, &wc);
	passed = 2;
	return NULL;
}

/* With statistics, for which files are opened and closed. */
TEST(cancelled__all_calls_return__and_a_wait_ends_the_thread)
{
	pthread_t thread;
	void *result;

	passed = 0;
	setenv("REARM_STATS", "10", 1);
	ck_assert_int_eq(pthread_create(&thread, NULL, cancelled_thread, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, &result), 0);
	ck_assert_ptr_eq(result, PTHREAD_CANCELED);
	ck_assert_int_eq(passed, 1);
	queue_complete(1, 1);
	queue_takes(1);
}

/* How often the device was armed or called back, and how often a thread could be cancelled then. */
static int met, cancellable;
static int (*arm)(struct ibv_cq *cq, int solicited_only);

static void
meet(struct notes *notes)
{
	int state;

	(void)notes;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_setcancelstate(state, NULL);
	met++;
	cancellable += state == PTHREAD_CANCEL_ENABLE;
}

static int
meet_arm(struct ibv_cq *cq, int solicited_only)
{
	meet(NULL);
	return arm(cq, solicited_only);
}

STEPPED_CASE("rearm_cancel:stepped");

/* The drivers of some devices call the kernel to arm, with a lock of the queue held. */
/* origin: out33.X2 */
TEST(program_thread__arms_and_calls_back__cannot_be_cancelled_meanwhile)
{
	struct ibv_wc wc;

	met = cancellable = 0;
	arm = qs.context->ops.req_notify_cq;
	qs.context->ops.req_notify_cq = meet_arm;
	ck_assert_int_eq(rearm_queue_wait(qs.queue, 1, 1, 1, &wc), -ETIMEDOUT);
	ck_assert_int_ge(met, 1);
	met = 0;
	qs.notes.then = meet;
	ck_assert_int_eq(queue_enable(REARM_SINGLE, 1, REARM_ANY), 0);
	queue_complete(1, 1);
	ck_assert_int_ge(rearm_loop_dispatch(qs.loop, 1, 1000), 0);
	notes_await(1);
	ck_assert_int_ge(met, 2);
	qs.context->ops.req_notify_cq = arm;
	ck_assert_int_eq(cancellable, 0);
}
