/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stress -- many threads at once: nothing is lost, duplicated or freed too early
 */
#include "pair.h"

#include <sched.h>
#include <stdatomic.h>

static void
setup(void)
{
	const struct side_options many = { .sends = 64, .receives = 64, .cqe = 4096 };

	pair_make(&a, &b, &many);
}

static pthread_t
go(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, fn, arg), 0);
	return thread;
}

static atomic_bool stop;
static atomic_uint posted, completed; /* of b */
static atomic_uint sent, done;	      /* of a */

static void *
post_until_full(void *unused)
{
	(void)unused;
	while (!stop) {
		/* Flushed at once in the error state: the queue must not overrun. */
		if (posted - completed > 2000) {
			sched_yield();
			continue;
		}
		if (!side_try_receive(&b, 1, 0, 8))
			posted++;
		if (!side_try_post(&b, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 64, 8))
			posted++;
	}
	return NULL;
}

static void *
send_receive(void *unused)
{
	(void)unused;
	while (!stop) {
		if (sent - done > 2000) {
			sched_yield();
			continue;
		}
		if (!side_try_receive(&a, 1, 0, 8))
			sent++;
		if (!side_try_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, 2, 64, 8))
			sent++;
	}
	return NULL;
}

static void
drain(struct ibv_cq *cq, atomic_uint *count)
{
	struct ibv_wc wc[16];
	int n;

	while ((n = ibv_poll_cq(cq, 16, wc)) > 0)
		*count += (unsigned int)n;
	ck_assert_int_eq(n, 0);
}

CASE("soft-stress:transfer", setup, pair_end, .seconds = 60);

/* Posts race with traffic, errors and flushes: every request completes exactly once. */
TEST(error_while_posting__each_request_completes_once)
{
	pthread_t threads[3];

	threads[0] = go(post_until_full, NULL);
	threads[1] = go(post_until_full, NULL);
	threads[2] = go(send_receive, NULL);
	for (int i = 0; i < 50; i++) {
		drain(a.cq, &done);
		drain(b.cq, &completed);
		sleep_ms(1);
	}
	side_to_error(&b);
	for (int i = 0; i < 10; i++) {
		drain(a.cq, &done);
		drain(b.cq, &completed);
	}
	stop = true;
	for (int i = 0; i < 3; i++) {
		/* Flushes go on while they post: keep the queue from overrunning. */
		while (pthread_tryjoin_np(threads[i], NULL)) {
			drain(a.cq, &done);
			drain(b.cq, &completed);
		}
	}
	drain(b.cq, &completed);
	ck_assert_uint_eq(completed, posted);
}

static void *
register_and_forget(void *unused)
{
	char *memory = malloc(4096);

	(void)unused;
	while (!stop) {
		struct ibv_mr *mrs[20];

		for (int i = 0; i < 20; i++)
			mrs[i] = ibv_reg_mr(a.pd, memory, 4096, SIDE_ACCESS);
		for (int i = 0; i < 20; i++)
			ck_assert_int_eq(ibv_dereg_mr(mrs[i]), 0);
	}
	free(memory);
	return NULL;
}

TEST(registration__during_transfers__disturbs_none)
{
	pthread_t thread = go(register_and_forget, NULL);

	for (uint64_t i = 0; i < 2000; i++) {
		side_rdma(&a, &b, i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, i, 0, 0, 1000);
		cq_expect(a.cq, i, IBV_WC_SUCCESS);
	}
	stop = true;
	pthread_join(thread, NULL);
}

static void *
write_to_vanishing(void *unused)
{
	(void)unused;
	while (!stop)
		(void)side_try_post(&a, IBV_WR_SEND, 0, 1, 0, 8);
	return NULL;
}

/* The sender may find the other queue pair at any point of its destruction. */
TEST(destroy_queue_pair__under_fire__its_memory_is_safe)
{
	pthread_t thread;

	for (int i = 0; i < 30; i++) {
		stop = false;
		thread = go(write_to_vanishing, NULL);
		for (int k = 0; k < 20; k++)
			(void)side_try_receive(&b, 1, 0, 8);
		ck_assert_int_eq(ibv_destroy_qp(b.qp), 0);
		stop = true;
		pthread_join(thread, NULL);
		ck_assert_int_eq(ibv_destroy_qp(a.qp), 0);
		side_new_qp(&a);
		side_new_qp(&b);
		side_connect(&a, &b, NULL);
	}
}

/* --- connections */

static struct rdma_event_channel *server, *client;
static struct ibv_cq *server_cq, *client_cq;
static uint16_t port;

#define STORM 60

static void *
serve(void *unused)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	int disconnected[STORM] = { 0 }, gone = 0, next = 0;

	(void)unused;
	while (gone < STORM) {
		ck_assert_int_eq(rdma_get_cm_event(server, &event), 0);
		id = event->id;
		switch (event->event) {
		case RDMA_CM_EVENT_CONNECT_REQUEST:
			id->context = &disconnected[next++];
			rdma_ack_cm_event(event);
			cm_qp(id, server_cq);
			/* Fails if the caller has gone already; that event comes, too. */
			(void)rdma_accept(id, &param);
			break;
		case RDMA_CM_EVENT_ESTABLISHED:
			rdma_ack_cm_event(event);
			if ((next & 3) == 0)
				(void)rdma_disconnect(id);
			break;
		case RDMA_CM_EVENT_DISCONNECTED:
		case RDMA_CM_EVENT_REJECTED:
			ck_assert_int_eq(++*(int *)id->context, 1);
			rdma_ack_cm_event(event);
			(void)rdma_disconnect(id);
			rdma_destroy_qp(id);
			rdma_destroy_id(id);
			gone++;
			break;
		default:
			ck_abort_msg("%s", rdma_event_str(event->event));
		}
	}
	return NULL;
}

static void *
call(void *which)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	for (int i = 0; i < STORM / 3; i++) {
		id = cm_resolved(channel, port);
		cm_qp(id, client_cq);
		ck_assert_int_eq(rdma_connect(id, &param), 0);
		if ((i + *(int *)which) % 3) {
			ck_assert_int_eq(rdma_get_cm_event(channel, &event), 0);
			ck_assert_int_eq(event->event, RDMA_CM_EVENT_ESTABLISHED);
			rdma_ack_cm_event(event);
		}
		if (i % 2)
			(void)rdma_disconnect(id);
		rdma_destroy_qp(id);
		rdma_destroy_id(id);
	}
	rdma_destroy_event_channel(channel);
	return NULL;
}

CASE("soft-stress:cm", .seconds = 60);

TEST(connection_storm__one_disconnected_event_each)
{
	struct rdma_cm_id *listener;
	pthread_t threads[4];
	int which[3] = { 0, 1, 2 };

	server = cm_channel();
	client = cm_channel();
	listener = cm_listen(server, &port);
	server_cq = ibv_create_cq(listener->verbs, 4096, NULL, NULL, 0);
	client_cq = ibv_create_cq(listener->verbs, 4096, NULL, NULL, 0);
	threads[3] = go(serve, NULL);
	for (int i = 0; i < 3; i++)
		threads[i] = go(call, &which[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	cm_expect_no_event(server);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
	ck_assert_int_eq(ibv_destroy_cq(server_cq), 0);
	ck_assert_int_eq(ibv_destroy_cq(client_cq), 0);
	rdma_destroy_event_channel(server);
	rdma_destroy_event_channel(client);
}
