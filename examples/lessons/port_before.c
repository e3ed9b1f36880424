/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * port_before -- a thread in ibv_get_cq_event(), which port_after.c has as an upcall
 *
 * The lesson: serve() has to arm the queue, sleep, acknowledge the event, arm again and then poll
 * until the queue is empty, in this order, or it sleeps one day on a queue that is not empty.
 * port_after.c has none of these steps; what a completion means is the same in both.
 *
 * The queue pair is connected to itself.  Without an RDMA device: softverbs-run port_before
 */
#include <err.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { MESSAGES = 1000, LENGTH = 64, BATCH = 16 };

static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static char bytes[2 * LENGTH]; /* [0] is received into, [LENGTH] is sent */
static int received, owed;     /* owed: of the message, its completion and its arrival */

static void
check(const char *call, int failed)
{
	if (failed)
		err(1, "%s", call);
}

static void
send_message(void)
{
	struct ibv_sge to = { (uintptr_t)bytes, LENGTH, mr->lkey };
	struct ibv_sge from = { (uintptr_t)bytes + LENGTH, LENGTH, mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr send = { .sg_list = &from, .num_sge = 1 }, *bad_send;

	send.opcode = IBV_WR_SEND;
	send.send_flags = IBV_SEND_SIGNALED;
	owed = 2; /* before handle() can run for it */
	check("ibv_post_recv", ibv_post_recv(qp, &recv, &bad_recv));
	check("ibv_post_send", ibv_post_send(qp, &send, &bad_send));
}

static void
handle(const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS)
		errx(1, "a transfer failed: %s", ibv_wc_status_str(wc->status));
	received += wc->opcode == IBV_WC_RECV;
	if (--owed == 0 && received < MESSAGES)
		send_message();
}

static void *
serve(void *unused)
{
	struct ibv_wc wc[BATCH];
	struct ibv_cq *ready;
	void *context;
	int n;

	while (received < MESSAGES || owed > 0) {
		check("ibv_get_cq_event", ibv_get_cq_event(channel, &ready, &context));
		ibv_ack_cq_events(ready, 1);
		check("ibv_req_notify_cq", ibv_req_notify_cq(ready, 0));
		while ((n = ibv_poll_cq(ready, BATCH, wc)) > 0)
			for (int i = 0; i < n; i++)
				handle(&wc[i]);
		check("ibv_poll_cq", n < 0);
	}
	return unused;
}

static void
connect_to_itself(struct ibv_context *device)
{
	struct ibv_port_attr port;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	check("ibv_query_port", ibv_query_port(device, 1, &port));
	check("INIT", ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = qp->qp_num;
	attr.max_dest_rd_atomic = attr.max_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	attr.ah_attr = (struct ibv_ah_attr){ .dlid = port.lid, .port_num = 1 };
	check("RTR", ibv_modify_qp(qp, &attr,
			 IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = attr.rnr_retry = 7;
	check("RTS", ibv_modify_qp(qp, &attr,
			 IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

int
main(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *device = devices ? ibv_open_device(devices[0]) : NULL;
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 4, 4, 1, 1, 0 } };
	struct ibv_pd *pd;
	pthread_t thread;

	if (!device)
		errx(1, "no RDMA device");
	ibv_free_device_list(devices);
	check("ibv_alloc_pd", !(pd = ibv_alloc_pd(device)));
	check("ibv_reg_mr", !(mr = ibv_reg_mr(pd, bytes, sizeof bytes, IBV_ACCESS_LOCAL_WRITE)));
	check("ibv_create_comp_channel", !(channel = ibv_create_comp_channel(device)));
	check("ibv_create_cq", !(cq = ibv_create_cq(device, 8, NULL, channel, 0)));
	init.send_cq = init.recv_cq = cq;
	check("ibv_create_qp", !(qp = ibv_create_qp(pd, &init)));
	check("ibv_req_notify_cq", ibv_req_notify_cq(cq, 0)); /* before there can be a completion */
	connect_to_itself(device);
	check("pthread_create", pthread_create(&thread, NULL, serve, NULL));
	send_message();
	pthread_join(thread, NULL);
	check("ibv_destroy_qp", ibv_destroy_qp(qp));
	check("ibv_destroy_cq", ibv_destroy_cq(cq));
	check("ibv_destroy_comp_channel", ibv_destroy_comp_channel(channel));
	check("ibv_dereg_mr", ibv_dereg_mr(mr));
	check("ibv_dealloc_pd", ibv_dealloc_pd(pd));
	check("ibv_close_device", ibv_close_device(device));
	printf("%d messages\n", received);
	return 0;
}
