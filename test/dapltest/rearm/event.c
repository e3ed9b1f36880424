/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous events of a device, and events of the connection manager. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>

#include "evd/park.h"
#include "queue_story.h"

#define EVENTS 16

/* ---- a queue of events, whose callback takes notes ---- */

static struct rearm_queue *events;
static union rearm_event got[EVENTS * 4];
static int n_got, n_calls, n_none;
static void (*then)(const union rearm_event *event);

static void
note_event(void *arg, const union rearm_event *event)
{
	ck_assert_ptr_eq(arg, &n_got);
	if (event)
		got[__atomic_fetch_add(&n_got, 1, __ATOMIC_SEQ_CST)] = *event;
	else
		__atomic_add_fetch(&n_none, 1, __ATOMIC_SEQ_CST);
	if (then)
		then(event);
	__atomic_add_fetch(&n_calls, 1, __ATOMIC_SEQ_CST);
}

static int
enable(enum rearm_policy policy, enum rearm_pending pending)
{
	const struct rearm_event_upcall upcall = { .function = note_event, .arg = &n_got };

	return rearm_queue_enable_events(events, policy, &upcall, pending);
}

static int
read_int(const int *value)
{
	return __atomic_load_n(value, __ATOMIC_SEQ_CST);
}

static void
await_calls(int n)
{
	while (read_int(&n_calls) < n)
		queue_sleep_ms(1);
}

static void
expect_calls(int n)
{
	queue_sleep_ms(20);
	ck_assert_int_eq(read_int(&n_calls), n);
}

/* ---- completion queues of one entry, which overrun ---- */

static struct ibv_cq *cqs[EVENTS];
static int n_cqs;

static void
raise_one(void)
{
	struct ibv_cq *cq = ibv_create_cq(qs.context, 1, NULL, NULL, 0);

	ck_assert_ptr_nonnull(cq);
	queue_destroy_qp();
	queue_make_qp(cq);
	queue_complete(0, cq->cqe + 1);
	queue_destroy_qp();
	cqs[n_cqs++] = cq;
}

static void
raise_several(int n)
{
	while (n-- > 0)
		raise_one();
}

static void
ack(union rearm_event *event)
{
	ck_assert_int_eq(event->async.event_type, IBV_EVENT_CQ_ERR);
	ibv_ack_async_event(&event->async);
}

/* It has the events of these queues, in order, of which none was acknowledged. */
static void
ack_in_order(int n)
{
	ck_assert_int_eq(read_int(&n_got), n);
	for (int i = 0; i < n; i++) {
		ck_assert_ptr_eq(got[i].async.element.cq, cqs[i]);
		ack(&got[i]);
	}
}

static void
begin_async(void)
{
	const struct rearm_queue_attr attr = { .spin = 0 };

	events = NULL;
	n_got = n_calls = n_none = n_cqs = 0;
	then = NULL;
	ck_assert_int_eq(rearm_queue_adopt_async(qs.loop, qs.context, &attr, &events), 0);
	ck_assert_ptr_null(rearm_queue_cq(events));
}

/* Events that were not given out do not hold up the end of a queue. */
static void
end_async(void)
{
	ck_assert_int_eq(rearm_queue_free(events), 0);
	for (int i = 0; i < n_cqs; i++)
		ck_assert_int_eq(ibv_destroy_cq(cqs[i]), 0);
}

#define ASYNC_CASE(name, kind) CASE(name, begin_async, end_async, .outer = &(kind))

ASYNC_CASE("rearm_event:callbacks", queue_case);

TEST(async__single__each_in_order)
{
	raise_several(3);
	ck_assert_int_eq(enable(REARM_SINGLE, REARM_ANY), 0);
	await_calls(3);
	raise_several(5);
	await_calls(8);
	expect_calls(8);
	ack_in_order(8);
}

TEST(async__many__each_once)
{
	int found = 0;

	ck_assert_int_eq(enable(REARM_MANY, REARM_ANY), 0);
	raise_several(EVENTS);
	await_calls(EVENTS);
	expect_calls(EVENTS);
	for (int i = 0; i < EVENTS; i++) {
		for (int j = 0; j < EVENTS; j++)
			found += got[j].async.element.cq == cqs[i];
		ck_assert_int_eq(found, i + 1);
		ack(&got[i]);
	}
}

static void
take_all(const union rearm_event *event)
{
	ck_assert_ptr_null(event);
	while (rearm_queue_take_event(events, &got[n_got]) == 1)
		__atomic_add_fetch(&n_got, 1, __ATOMIC_SEQ_CST);
}

/* A callback more may find none. */
TEST(async__notify__a_callback_that_takes_them)
{
	then = take_all;
	raise_several(3);
	ck_assert_int_eq(enable(REARM_NOTIFY, REARM_ANY), 0);
	while (read_int(&n_got) < 3)
		queue_sleep_ms(1);
	queue_sleep_ms(20);
	ck_assert_int_le(read_int(&n_calls), 4);
	raise_several(1);
	while (read_int(&n_got) < 4)
		queue_sleep_ms(1);
	ck_assert_int_eq(rearm_queue_teardown(events), 0);
	ack_in_order(4);
}

static void
disable_inside(const union rearm_event *event)
{
	(void)event;
	ck_assert_int_eq(rearm_queue_disable(events), 0);
}

static void
tear_down_inside(const union rearm_event *event)
{
	(void)event;
	ck_assert_int_eq(rearm_queue_teardown(events), 0);
}

TEST_LOOP(async__disabled_inside__the_others_stay, 2)
{
	union rearm_event event;

	then = _i ? tear_down_inside : disable_inside;
	raise_several(3);
	ck_assert_int_eq(enable(REARM_SINGLE, REARM_ANY), 0);
	await_calls(1);
	expect_calls(1);
	ck_assert_int_eq(enable(REARM_SINGLE, REARM_NEW), -EAGAIN);
	ck_assert_int_eq(rearm_queue_take_event(events, &event), 1);
	got[n_got++] = event;
	then = NULL;
	ck_assert_int_eq(rearm_queue_enable_events(events, REARM_SINGLE, NULL, REARM_ANY), 0);
	await_calls(2);
	ack_in_order(3);
}

static void
free_inside(const union rearm_event *event)
{
	struct rearm_queue *queue = events;

	(void)event;
	events = NULL;
	ck_assert_int_eq(rearm_queue_free(queue), 0);
	ck_assert_int_eq(rearm_queue_take_event(queue, &got[5]), -ENODEV);
}

/* What was not given out is still there for the program. */
TEST(async__freed_inside__the_others_are_in_the_channel)
{
	struct ibv_async_event event;

	then = free_inside;
	raise_several(2);
	ck_assert_int_eq(enable(REARM_SINGLE, REARM_ANY), 0);
	await_calls(1);
	ck_assert_int_eq(read_int(&n_got), 1);
	while (fcntl(qs.context->async_fd, F_GETFL) & O_NONBLOCK)
		queue_sleep_ms(1);
	ck_assert_int_eq(ibv_get_async_event(qs.context, &event), 0);
	got[n_got++].async = event;
	ack_in_order(2);
}

static void
destroy_all(const union rearm_event *event)
{
	union rearm_event copy = *event;

	ck_assert_int_eq(rearm_queue_enable_events(events, REARM_SINGLE, NULL, REARM_ANY), 0);
	ack(&copy);
	while (n_cqs > 0)
		ck_assert_int_eq(ibv_destroy_cq(cqs[--n_cqs]), 0);
}

/* The library has not read the others, so nothing waits for an acknowledgement. */
TEST(async__destroys_all_objects_inside__the_other_events_are_gone)
{
	then = destroy_all;
	raise_several(3);
	ck_assert_int_eq(enable(REARM_SINGLE, REARM_ANY), 0);
	await_calls(1);
	expect_calls(1);
	ck_assert_int_eq(rearm_queue_take_event(events, &got[5]), 0);
}

ASYNC_CASE("rearm_event:take", queue_case);

TEST(take__in_order__then_none)
{
	ck_assert_int_eq(rearm_queue_take_event(events, &got[0]), 0);
	raise_several(3);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(rearm_queue_take_event(events, &got[n_got++]), 1);
	ck_assert_int_eq(rearm_queue_take_event(events, &got[5]), 0);
	ack_in_order(3);
}

/* The queue has seen it, and then its object went. */
TEST(take__the_event_has_gone__none)
{
	raise_several(1);
	ck_assert_int_eq(enable(REARM_SINGLE, REARM_NEW), -EAGAIN);
	ck_assert_int_eq(ibv_destroy_cq(cqs[--n_cqs]), 0);
	ck_assert_int_eq(rearm_queue_take_event(events, &got[0]), 0);
	ck_assert_int_eq(enable(REARM_SINGLE, REARM_NEW), 0);
	raise_several(1);
	await_calls(1);
	ack_in_order(1);
}

/* The same for a callback: it is not called. */
TEST(callback__the_event_has_gone__not_called)
{
	raise_several(1);
	ck_assert_int_eq(enable(REARM_SINGLE, REARM_NEW), -EAGAIN);
	ck_assert_int_eq(ibv_destroy_cq(cqs[--n_cqs]), 0);
	ck_assert_int_eq(enable(REARM_SINGLE, REARM_ANY), 0);
	expect_calls(0);
	raise_several(1);
	await_calls(1);
	ack_in_order(1);
}

static void *
wait_thread(void *arg)
{
	*(int *)arg = rearm_queue_wait_event(events, -1, &got[n_got]);
	return NULL;
}

static pthread_t
start_wait(int *result)
{
	union rearm_event event;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, wait_thread, result), 0);
	while (rearm_queue_take_event(events, &event) != -EBUSY)
		;
	return thread;
}

TEST(wait__comes_later__wakes)
{
	pthread_t thread;
	int r;

	for (int i = 0; i < 3; i++) {
		thread = start_wait(&r);
		if (i)
			queue_sleep_ms(5);
		ck_assert_int_eq(enable(REARM_SINGLE, REARM_ANY), -EBUSY);
		raise_several(1);
		pthread_join(thread, NULL);
		ck_assert_int_eq(r, 1);
		n_got++;
	}
	ack_in_order(3);
}

TEST(wait__none__times_out)
{
	union rearm_event event;

	ck_assert_int_eq(rearm_queue_wait_event(events, 0, &event), -ETIMEDOUT);
	ck_assert_int_eq(rearm_queue_wait_event(events, 2000, &event), -ETIMEDOUT);
	raise_several(1);
	ck_assert_int_eq(rearm_queue_wait_event(events, INT64_MAX, &event), 1);
	ack(&event);
}

/* Its time goes on. */
TEST(wait__the_event_has_gone__goes_on)
{
	union rearm_event event;

	raise_several(1);
	ck_assert_int_eq(enable(REARM_SINGLE, REARM_NEW), -EAGAIN);
	ck_assert_int_eq(ibv_destroy_cq(cqs[--n_cqs]), 0);
	ck_assert_int_eq(rearm_queue_wait_event(events, 3000, &event), -ETIMEDOUT);
}

TEST(wait__freed__cancelled)
{
	pthread_t thread;
	int r;

	thread = start_wait(&r);
	ck_assert_int_eq(rearm_queue_free(events), 0);
	events = NULL;
	pthread_join(thread, NULL);
	ck_assert_int_eq(r, -ECANCELED);
}

TEST(wrong_arguments__refused)
{
	const struct rearm_queue_attr reserved = { .reserved = { 1 } };
	const struct rearm_event_upcall none = { .arg = NULL };
	const struct rearm_upcall upcall = { .function = rearm_call_requests, .batch = 1 };
	struct rearm_queue *queue;
	union rearm_event event;
	struct ibv_wc wc;

	ck_assert_int_eq(rearm_queue_adopt_async(NULL, qs.context, NULL, &queue), -EINVAL);
	ck_assert_int_eq(rearm_queue_adopt_async(qs.loop, NULL, NULL, &queue), -EINVAL);
	ck_assert_int_eq(rearm_queue_adopt_async(qs.loop, qs.context, NULL, NULL), -EINVAL);
	ck_assert_int_eq(rearm_queue_adopt_async(qs.loop, qs.context, &reserved, &queue), -EINVAL);
	ck_assert_int_eq(rearm_queue_adopt_cm(qs.loop, NULL, NULL, &queue), -EINVAL);
	ck_assert_int_eq(
	    rearm_queue_enable_events(events, REARM_SINGLE, &none, REARM_ANY), -EINVAL);
	ck_assert_int_eq(rearm_queue_enable_events(events, REARM_SINGLE, NULL, REARM_ANY), -EINVAL);
	ck_assert_int_eq(enable((enum rearm_policy)3, REARM_ANY), -EINVAL);
	ck_assert_int_eq(enable(REARM_SINGLE, (enum rearm_pending)2), -EINVAL);
	ck_assert_int_eq(rearm_queue_take_event(events, NULL), -EINVAL);
	ck_assert_int_eq(rearm_queue_wait_event(events, 0, NULL), -EINVAL);
	ck_assert_int_eq(rearm_queue_wait_event(events, -2, &event), -EINVAL);
	/* Calls of the other kind. */
	ck_assert_int_eq(rearm_queue_enable(events, REARM_SINGLE, &upcall, REARM_ANY), -EINVAL);
	ck_assert_int_eq(rearm_queue_take(events, 1, &wc), -EINVAL);
	ck_assert_int_eq(rearm_queue_wait(events, 1, 0, 1, &wc), -EINVAL);
	ck_assert_int_eq(rearm_queue_moderate(events, 0, 0), -EINVAL);
	ck_assert_int_eq(rearm_queue_set_solicited(events, 0), -EINVAL);
	ck_assert_int_eq(rearm_queue_take_event(qs.queue, &event), -EINVAL);
	ck_assert_int_eq(rearm_queue_wait_event(qs.queue, 0, &event), -EINVAL);
	ck_assert_int_eq(
	    rearm_queue_enable_events(qs.queue, REARM_SINGLE, NULL, REARM_ANY), -EINVAL);
}

ASYNC_CASE("rearm_event:stepped", queue_case_stepped);

/* Until nothing is due. */
static void
come_to_rest(void)
{
	int turns = 0;

	while (rearm_loop_dispatch(qs.loop, 1, 0) > 0)
		ck_assert_int_lt(turns++, 20);
}

/* The descriptor of the device stays readable meanwhile: the loop must not run in circles. */
TEST_LOOP(stepped__notify_and_none_is_taken__the_loop_rests, 2)
{
	union rearm_event event;

	if (_i)
		ck_assert_int_eq(enable(REARM_NOTIFY, REARM_NEW), 0);
	raise_several(2);
	if (!_i)
		ck_assert_int_eq(enable(REARM_NOTIFY, REARM_ANY), 0);
	come_to_rest();
	ck_assert_int_eq(n_calls, 1);
	ck_assert_int_eq(rearm_queue_take_event(events, &event), 1);
	ack(&event);
	come_to_rest();
	ck_assert_int_eq(n_calls, 2); /* for the other */
	ck_assert_int_eq(rearm_queue_take_event(events, &event), 1);
	ack(&event);
	come_to_rest();
	ck_assert_int_eq(n_calls, 2);
}

TEST(stepped__an_event__readable_until_dispatched)
{
	struct pollfd fd = { .fd = rearm_loop_fd(qs.loop), .events = POLLIN };
	int timeout;

	ck_assert_int_eq(enable(REARM_SINGLE, REARM_NEW), 0);
	while (rearm_loop_trywait(qs.loop, &timeout) == -EAGAIN)
		(void)rearm_loop_dispatch(qs.loop, 1, 0);
	ck_assert_int_eq(poll(&fd, 1, 0), 0);
	raise_several(2);
	ck_assert_int_eq(poll(&fd, 1, 0), 1);
	while (n_calls < 2)
		ck_assert_int_ge(rearm_loop_dispatch(qs.loop, 1, 0), 0);
	while (rearm_loop_dispatch(qs.loop, 64, 0) > 0)
		;
	ck_assert_int_eq(rearm_loop_trywait(qs.loop, &timeout), 0);
	ck_assert_int_eq(poll(&fd, 1, 0), 0);
	ack_in_order(2);
}

static void
readopt(const union rearm_event *event)
{
	ck_assert_ptr_nonnull(event);
	ck_assert_int_eq(rearm_queue_free(events), 0);
	ck_assert_int_eq(rearm_queue_adopt_async(qs.loop, qs.context, NULL, &events), 0);
	then = NULL;
	ck_assert_int_eq(enable(REARM_SINGLE, REARM_ANY), 0);
}

/* The queue that was freed leaves the descriptor when the callback has returned. */
/* origin: out36.W2 */
TEST(adopted_again_inside__the_descriptor_does_not_block)
{
	const int fd = qs.context->async_fd, flags = fcntl(fd, F_GETFL);

	ck_assert(flags & O_NONBLOCK);
	then = readopt;
	ck_assert_int_eq(enable(REARM_SINGLE, REARM_ANY), 0);
	raise_several(2);
	while (n_calls < 2)
		ck_assert_int_ge(rearm_loop_dispatch(qs.loop, 1, 0), 0);
	ck_assert_int_eq(fcntl(fd, F_GETFL), flags);
	ck_assert_int_eq(rearm_queue_free(events), 0);
	ck_assert_int_eq(fcntl(fd, F_GETFL), flags & ~O_NONBLOCK);
	ck_assert_int_eq(rearm_queue_adopt_async(qs.loop, qs.context, NULL, &events), 0);
	ack_in_order(2);
}

/* ---- a channel that cannot be read ---- */

int __real_ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);
int __wrap_ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event);

static int fails; /* the errno */

int
__wrap_ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	const int error = read_int(&fails);

	if (!error)
		return __real_ibv_get_async_event(context, event);
	if (error == EINTR)
		__atomic_store_n(&fails, 0, __ATOMIC_SEQ_CST);
	errno = error;
	return -1;
}

static int told, n_told;

static void
note_failure(void *arg, int error)
{
	ck_assert_ptr_eq(arg, &told);
	__atomic_store_n(&told, error, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&n_told, 1, __ATOMIC_SEQ_CST);
}

static void
set_failure(int error)
{
	__atomic_store_n(&fails, error, __ATOMIC_SEQ_CST);
}

static void
begin_failing(void)
{
	const struct rearm_queue_attr attr = { .failed = note_failure, .arg = &told };

	begin_async();
	ck_assert_int_eq(rearm_queue_free(events), 0);
	ck_assert_int_eq(rearm_queue_adopt_async(qs.loop, qs.context, &attr, &events), 0);
	told = n_told = 0;
	__atomic_store_n(&fails, 0, __ATOMIC_SEQ_CST);
}

CASE("rearm_event:failure", begin_failing, end_async, .outer = &queue_case);

/* Told once; the callbacks go on when it works again. */
TEST(unreadable__under_callbacks__told_once_and_they_go_on)
{
	set_failure(EIO);
	ck_assert_int_eq(enable(REARM_SINGLE, REARM_ANY), 0);
	raise_several(2);
	while (!read_int(&n_told))
		queue_sleep_ms(1);
	queue_sleep_ms(100);
	ck_assert_int_eq(read_int(&n_told), 1);
	ck_assert_int_eq(read_int(&told), -EIO);
	ck_assert_int_eq(read_int(&n_calls), 0);
	set_failure(0);
	await_calls(2);
	ack_in_order(2);
}

TEST(unreadable__calls__fail_and_work_again)
{
	union rearm_event event;

	set_failure(ENOMEM);
	raise_several(1);
	ck_assert_int_eq(rearm_queue_take_event(events, &event), -EIO);
	ck_assert_int_eq(rearm_queue_wait_event(events, -1, &event), -EIO);
	ck_assert_int_eq(enable(REARM_SINGLE, REARM_ANY), -EIO);
	set_failure(0);
	while (rearm_queue_take_event(events, &event) == -EIO)
		queue_sleep_ms(1);
	ack(&event);
	ck_assert_int_eq(read_int(&n_told), 0);
}

/* Once, by a signal. */
TEST(unreadable__interrupted__read_again)
{
	union rearm_event event;

	raise_several(1);
	set_failure(EINTR);
	ck_assert_int_eq(rearm_queue_take_event(events, &event), 1);
	ack(&event);
}

/* ---- connections ---- */

static struct rdma_event_channel *channel;
static struct rdma_cm_id *ids[EVENTS], *listener;
static int n_ids, flags;
static uint16_t port;

static void
begin_cm(void)
{
	events = NULL;
	n_got = n_calls = n_none = n_cqs = n_ids = 0;
	then = NULL;
	channel = rdma_create_event_channel();
	ck_assert_ptr_nonnull(channel);
	flags = fcntl(channel->fd, F_GETFL);
	ck_assert_int_eq(rearm_queue_adopt_cm(qs.loop, channel, NULL, &events), 0);
	ck_assert_int_eq(fcntl(channel->fd, F_GETFL), flags | O_NONBLOCK);
}

static void
end_cm(void)
{
	ck_assert_int_eq(rearm_queue_free(events), 0);
	ck_assert_int_eq(fcntl(channel->fd, F_GETFL), flags);
	for (int i = 0; i < n_ids; i++)
		ck_assert_int_eq(rdma_destroy_id(ids[i]), 0);
	rdma_destroy_event_channel(channel);
}

/* Its events may come before the call has returned, which uses it to the end. */
static pthread_mutex_t resolving = PTHREAD_MUTEX_INITIALIZER;

/* Its address is resolved: one event. */
static struct rdma_cm_id *
resolve(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = port, .sin_addr = { htonl(INADDR_LOOPBACK) }
	};
	struct rdma_cm_id *id;

	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	pthread_mutex_lock(&resolving);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 2000), 0);
	pthread_mutex_unlock(&resolving);
	ids[n_ids++] = id;
	return id;
}

CASE("rearm_event:cm", begin_cm, end_cm, .outer = &queue_case);

TEST(cm__take__in_order)
{
	union rearm_event event;

	port = htons(1);
	for (int i = 0; i < 3; i++)
		(void)resolve();
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(rearm_queue_wait_event(events, -1, &event), 1);
		ck_assert_int_eq(event.cm->event, RDMA_CM_EVENT_ADDR_RESOLVED);
		ck_assert_ptr_eq(event.cm->id, ids[i]);
		ck_assert_int_eq(rdma_ack_cm_event(event.cm), 0);
	}
	ck_assert_int_eq(rearm_queue_take_event(events, &event), 0);
}

static int n_connected, n_ended;

static void
make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	ck_assert_int_eq(rdma_create_qp(id, NULL, &init), 0);
}

static void
destroy(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
}

/* The life of a connection, all of it inside the callback: both ends have the channel. */
static void
connect_and_end(const union rearm_event *event)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct rdma_cm_id *id = event->cm->id;
	const enum rdma_cm_event_type type = event->cm->event;

	ck_assert_int_eq(event->cm->status, 0);
	/* Before anything that may end the id. */
	ck_assert_int_eq(rdma_ack_cm_event(event->cm), 0);
	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		ck_assert_int_eq(rdma_resolve_route(id, 2000), 0);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		make_qp(id);
		ck_assert_int_eq(rdma_connect(id, &param), 0);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		make_qp(id);
		ck_assert_int_eq(rdma_accept(id, &param), 0);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (__atomic_add_fetch(&n_connected, 1, __ATOMIC_SEQ_CST) % 2)
			break;
		ck_assert_int_eq(rdma_disconnect(id), 0);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		(void)rdma_disconnect(id);
		pthread_mutex_lock(&resolving);
		pthread_mutex_unlock(&resolving);
		destroy(id); /* although its TIMEWAIT_EXIT may be in the channel */
		__atomic_add_fetch(&n_ended, 1, __ATOMIC_SEQ_CST);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		ck_abort_msg("event %d", type);
	}
}

/* One end after the other, so that ids are destroyed inside while their other events come. */
TEST(cm__connections__ids_are_destroyed_inside)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };

	then = connect_and_end;
	n_connected = n_ended = 0;
	ck_assert_int_eq(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(listener, (struct sockaddr *)&here), 0);
	ck_assert_int_eq(rdma_listen(listener, 8), 0);
	port = rdma_get_src_port(listener);
	ck_assert_int_eq(enable(REARM_SINGLE, REARM_ANY), 0);
	for (int i = 1; i <= 3; i++) {
		(void)resolve();
		while (read_int(&n_ended) < 2 * i)
			queue_sleep_ms(1);
	}
	n_ids = 0; /* all are destroyed */
	ck_assert_int_eq(rearm_queue_teardown(events), 0);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
}
