/* SPDX-License-Identifier: BSD-3-Clause */
/* ping_verbs -- the ends of a ping-pong as loops over verbs */
#include "ping_verbs.h"

#include "measure.h"
#include "tools/perf/verbs_event.h"

#include <rdma/rdma_cma.h>
#include <stdlib.h>

struct end ping_ends[2];

static struct ibv_context *context;
static struct ibv_mr *region;
static char memory[2][64];

void
ping_post(const struct end *end)
{
	struct ibv_sge sge = { (uintptr_t)memory[1], 8, region->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(end->qp, &wr, &bad))
		abort();
}

static void
end_open(struct end *end, struct ibv_pd *domain)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp_init_attr init = {
		.cap = { PING_POSTED, PING_POSTED, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};

	end->channel = ibv_create_comp_channel(context);
	measure_must(end->channel != NULL, "ibv_create_comp_channel");
	init.recv_cq = end->receives = ibv_create_cq(context, PING_POSTED, NULL, end->channel, 0);
	init.send_cq = end->sends = ibv_create_cq(context, PING_POSTED, NULL, NULL, 0);
	measure_must(end->receives && end->sends, "ibv_create_cq");
	end->qp = ibv_create_qp(domain, &init);
	measure_must(end->qp != NULL, "ibv_create_qp");
	measure_must(!ibv_modify_qp(end->qp, &attr,
			 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	    "ibv_modify_qp");
	for (unsigned int i = 0; i < PING_POSTED; i++)
		ping_post(end);
}

static void
end_connect(struct end *end, const struct end *peer)
{
	struct ibv_port_attr port;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.ah_attr = { .port_num = 1 },
	};

	measure_must(!ibv_query_port(context, 1, &port), "ibv_query_port");
	attr.ah_attr.dlid = port.lid;
	measure_must(!ibv_modify_qp(end->qp, &attr,
			 IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
	    "ibv_modify_qp");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	measure_must(!ibv_modify_qp(end->qp, &attr,
			 IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
	    "ibv_modify_qp");
}

void
ping_verbs_open(void)
{
	struct ibv_context **devices = rdma_get_devices(NULL);
	struct ibv_pd *domain;

	measure_must(devices && devices[0], "rdma_get_devices");
	context = devices[0];
	domain = ibv_alloc_pd(context);
	measure_must(domain != NULL, "ibv_alloc_pd");
	region = ibv_reg_mr(domain, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
	measure_must(region != NULL, "ibv_reg_mr");
	end_open(&ping_ends[0], domain);
	end_open(&ping_ends[1], domain);
	end_connect(&ping_ends[0], &ping_ends[1]);
	end_connect(&ping_ends[1], &ping_ends[0]);
}

static void
raw_open(void)
{
	ping_verbs_open();
	for (unsigned int i = 0; i < 2; i++)
		measure_must(!ibv_req_notify_cq(ping_ends[i].receives, 0), "ibv_req_notify_cq");
}

static int
verbs_poll(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	const int n = ibv_poll_cq(cq, 1, &wc);

	if (n < 0 || (n && wc.status != IBV_WC_SUCCESS))
		abort();
	return n;
}

void
ping_verbs_send(unsigned int end)
{
	struct ibv_sge sge = { (uintptr_t)memory[0], 8, region->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED },
			   *bad;

	if (ibv_post_send(ping_ends[end].qp, &wr, &bad))
		abort();
	verbs_poll(ping_ends[end].sends);
}

static void
raw_wait(unsigned int number)
{
	struct end *end = &ping_ends[number];
	struct ibv_cq *ready;
	void *own;

	do {
		if (ibv_get_cq_event(end->channel, &ready, &own))
			abort();
		verbs_event_ack(ready, &end->unacked);
		if (ibv_req_notify_cq(end->receives, 0))
			abort();
	} while (!verbs_poll(end->receives));
	ping_post(end);
}

static void
spin_wait(unsigned int end)
{
	while (!verbs_poll(ping_ends[end].receives))
		;
	ping_post(&ping_ends[end]);
}

/* As engine_raw16 waits: what was armed and then found empty is not polled before its event. */
static void
raw_receive(_Atomic uint64_t *received)
{
	struct end *end = &ping_ends[1];
	struct ibv_wc wc[PING_BATCH];
	struct ibv_cq *ready;
	void *own;
	int n;

	for (;;) {
		n = ibv_poll_cq(end->receives, PING_BATCH, wc);
		if (n == 0) {
			if (ibv_req_notify_cq(end->receives, 0))
				abort();
			n = ibv_poll_cq(end->receives, PING_BATCH, wc);
		}
		if (n == 0) {
			if (ibv_get_cq_event(end->channel, &ready, &own))
				abort();
			verbs_event_ack(ready, &end->unacked);
		}
		ping_count(end, wc, n, received);
	}
}

const struct ping ping_raw = { raw_open, raw_wait, ping_verbs_send, raw_receive };
const struct ping ping_spin = { .open = raw_open, .wait = spin_wait, .send = ping_verbs_send };
