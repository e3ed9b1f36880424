/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * try_rearm -- runs the examples of the pages of librearm on the first device
 *
 * Its queue pair is in the state of errors: each receive that is posted to it completes at once.
 */
#include "rearm.c"

#include <arpa/inet.h>
#include <err.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static int passed, left, broken;
static _Atomic(int) handled;
static struct ibv_pd *pd;

static void
check(const char *what, int true_)
{
	if (!true_)
		errx(1, "%s: no", what);
	passed++;
}

/* The completions come in their order. */
static void
count(struct worker *worker, const struct ibv_wc *wc)
{
	(void)worker;
	if (wc->wr_id != (uint64_t)handled)
		errx(
		    1, "%d is expected, %d came", handled, (int)wc->wr_id);
	handled++;
	left--;
}

/* The device is armed in the end. */
static void
again(struct worker *worker, int error)
{
	check("the device has failed", error == -EIO);
	broken++;
	while (begin(worker) == -EIO)
		continue;
}

static void
post(struct ibv_qp *qp, int first, int n)
{
	struct ibv_recv_wr wr = { 0 }, *bad;

	for (int i = 0; i < n; i++) {
		wr.wr_id = (uint64_t)(first + i);
		check("ibv_post_recv", ibv_post_recv(qp, &wr, &bad) == 0);
	}
}

static void
await_handled(int n)
{
	const struct timespec time = { 0, 1000000 };

	for (int i = 0; i < 10000 && handled < n; i++)
		nanosleep(&time, NULL);
	check("all were handled", handled == n);
}

static void
fail(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	check(
	    "ibv_modify_qp", ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
}

static struct worker *
open_worker(struct rearm_loop *loop, struct ibv_qp **qp)
{
	struct worker *worker = calloc(1, sizeof *worker);

	worker->handle = count;
	worker->broken = again;
	handled = 0;
	check("open_queue", open_queue(loop, pd, &worker->queue, qp) == 0);
	fail(*qp);
	return worker;
}

/* Two threads. */
static void
try_threads(struct rearm_loop *loop)
{
	struct ibv_qp *qp;
	struct worker *worker = open_worker(loop, &qp);
	struct ibv_wc wc[3];

	post(qp, 0, 3);
	check(
	    "await", await(worker->queue, 3, wc) == 0 && wc[2].wr_id == 2);
	post(qp, 0, 10);
	check("begin", begin(worker) == 0);
	await_handled(10);
	for (int i = 0; i < 10; i++)
		post(qp, 10 + 5 * i, 5);
	await_handled(60);
	check("ibv_destroy_qp", ibv_destroy_qp(qp) == 0);
	stop(worker);
}

/* For a device that cannot be armed now and then: drain() goes on all the same. */
static void
try_failing_arms(struct rearm_loop *loop)
{
	struct ibv_qp *qp;
	struct worker *worker = open_worker(loop, &qp);

	again(worker, -EIO);
	for (int i = 0; i < 100; i++) {
		post(qp, 5 * i, 5);
		await_handled(5 * i + 5);
	}
	check("an enable has failed in drain", broken > 1);
	check("ibv_destroy_qp", ibv_destroy_qp(qp) == 0);
	stop(worker);
}

/* Requests with functions of their own, and fewer wake-ups. */
static void
try_requests(struct rearm_loop *loop)
{
	struct ibv_recv_wr wr = { 0 }, *bad;
	struct transfer transfers[4];
	struct rearm_queue *queue;
	struct ibv_qp *qp;
	int to_come = 4;

	check("open_queue", open_queue(loop, pd, &queue, &qp) == 0);
	fail(qp);
	check("wake_less", wake_less(queue) == 0);
	check("begin_requests", begin_requests(queue) == 0);
	for (int i = 0; i < 4; i++) {
		transfers[i] =
		    (struct transfer){ { transferred }, &to_come };
		wr.wr_id = (uintptr_t)&transfers[i].request;
		check("ibv_post_recv", ibv_post_recv(qp, &wr, &bad) == 0);
	}
	for (int i = 0;
	     i < 10000 && rearm_queue_teardown(queue) == 0 && to_come > 0;
	     i++) {
		check("begin_requests", begin_requests(queue) == 0);
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	}
	check("all were done", to_come == 0);
	print_counters(queue);
	check("ibv_destroy_qp", ibv_destroy_qp(qp) == 0);
	check("rearm_queue_free", rearm_queue_free(queue) == 0);
}

/* Events that are no completions. */
static void
try_events(struct rearm_loop *loop)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rearm_queue *queue;
	struct rdma_cm_id *id = NULL;

	check(
	    "watch_device", watch_device(loop, pd->context, &queue) == 0);
	check("rearm_queue_free", rearm_queue_free(queue) == 0);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check("rdma_create_id",
	    channel && !rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	check("resolve",
	    resolve(loop, channel, id, (struct sockaddr *)&to) == 0);
	check("rdma_destroy_id", rdma_destroy_id(id) == 0);
	rdma_destroy_event_channel(channel);
}

/* The program's own completion queue. */
static void
try_adopted(struct rearm_loop *loop)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC,
		.cap = { 1, 32, 1, 1, 0 } };
	struct ibv_comp_channel *channel =
	    ibv_create_comp_channel(pd->context);
	struct ibv_cq *cq =
	    ibv_create_cq(pd->context, 64, NULL, channel, 0);
	struct worker *worker = calloc(1, sizeof *worker);
	struct ibv_qp *qp;

	worker->handle = count;
	handled = 0;
	init.send_cq = init.recv_cq = cq;
	qp = ibv_create_qp(pd, &init);
	check("ibv_create_qp", qp != NULL);
	fail(qp);
	post(qp, 0, 4);
	check("adopt_queue", adopt_queue(loop, cq, worker) == 0);
	await_handled(4);
	for (int i = 0; i < 8; i++)
		post(qp, 4 + 3 * i, 3);
	await_handled(28);
	check("ibv_destroy_qp", ibv_destroy_qp(qp) == 0);
	stop(worker);
	check("ibv_destroy_cq", ibv_destroy_cq(cq) == 0);
	check("its channel", ibv_destroy_comp_channel(channel) == 0);
}

static void
served(void *data)
{
	*(int *)data = 1;
}

/* No threads; the program has a descriptor of its own, too. */
static void
try_epoll(void)
{
	const struct rearm_loop_attr none = { 0 };
	struct rearm_loop *loop;
	struct ibv_qp *qp;
	struct worker *worker;
	int own = eventfd(1, EFD_CLOEXEC),
	    epoll = epoll_create1(EPOLL_CLOEXEC), was_served = 0;
	struct epoll_event event = { .events = EPOLLIN,
		.data.ptr = &was_served };

	check("rearm_loop_create", rearm_loop_create(&none, &loop) == 0);
	check("epoll_ctl",
	    epoll_ctl(epoll, EPOLL_CTL_ADD, own, &event) == 0);
	worker = open_worker(loop, &qp);
	check("begin", begin(worker) == 0);
	post(qp, 0, 20);
	left = 20;
	run(loop, epoll, served, &left);
	check("all were handled", handled == 20 && was_served);
	check("ibv_destroy_qp", ibv_destroy_qp(qp) == 0);
	stop(worker);
	check("close_loop", close_loop(loop) == 0);
	close(epoll);
	close(own);
}

/* With an argument: the device cannot be armed now and then. */
int
main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context =
	    list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct rearm_loop *loop;

	check("there is a device", context != NULL);
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(context);
	check("ibv_alloc_pd", pd != NULL);
	check("open_loop", open_loop(&loop) == 0);
	(void)argv;
	if (argc > 1)
		try_failing_arms(loop);
	else {
		try_threads(loop);
		try_adopted(loop);
		try_requests(loop);
		try_events(loop);
	}
	check("close_loop", close_loop(loop) == 0);
	if (argc == 1)
		try_epoll();
	check("ibv_dealloc_pd", ibv_dealloc_pd(pd) == 0);
	check("ibv_close_device", ibv_close_device(context) == 0);
	printf("%d passed, 0 failed\n", passed);
	return 0;
}
