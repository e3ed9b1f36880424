/* SPDX-License-Identifier: BSD-3-Clause */
/* ping_verbs -- the ends of a ping-pong as loops over verbs */
#include "ping.h"

#include "measure.h"
#include "tools/perf/verbs_event.h"

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>

#define POSTED 16 /* receives of an end */
#define DEPTH 64

static struct end {
	struct ibv_comp_channel *channel;
	struct ibv_cq *receives, *sends;
	struct ibv_qp *qp;
	unsigned int unacked;
} ends[2];

static struct ibv_context *context;
static struct ibv_mr *region;
static char memory[2][64];

static void
end_receive(const struct end *end)
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
		.cap = { DEPTH, DEPTH, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};

	end->channel = ibv_create_comp_channel(context);
	measure_must(end->channel != NULL, "ibv_create_comp_channel");
	init.recv_cq = end->receives = ibv_create_cq(context, DEPTH, NULL, end->channel, 0);
	init.send_cq = end->sends = ibv_create_cq(context, DEPTH, NULL, NULL, 0);
	measure_must(end->receives && end->sends, "ibv_create_cq");
	end->qp = ibv_create_qp(domain, &init);
	measure_must(end->qp != NULL, "ibv_create_qp");
	measure_must(!ibv_modify_qp(end->qp, &attr,
			 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	    "ibv_modify_qp");
	for (unsigned int i = 0; i < POSTED; i++)
		end_receive(end);
	measure_must(!ibv_req_notify_cq(end->receives, 0), "ibv_req_notify_cq");
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

static void
verbs_open(void)
{
	struct ibv_context **devices = rdma_get_devices(NULL);
	struct ibv_pd *domain;

	measure_must(devices && devices[0], "rdma_get_devices");
	context = devices[0];
	domain = ibv_alloc_pd(context);
	measure_must(domain != NULL, "ibv_alloc_pd");
	region = ibv_reg_mr(domain, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE);
	measure_must(region != NULL, "ibv_reg_mr");
	end_open(&ends[0], domain);
	end_open(&ends[1], domain);
	end_connect(&ends[0], &ends[1]);
	end_connect(&ends[1], &ends[0]);
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

static void
verbs_send(unsigned int end)
{
	struct ibv_sge sge = { (uintptr_t)memory[0], 8, region->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED },
			   *bad;

	if (ibv_post_send(ends[end].qp, &wr, &bad))
		abort();
	verbs_poll(ends[end].sends);
}

static void
raw_wait(unsigned int number)
{
	struct end *end = &ends[number];
	struct ibv_cq *ready;
	void *own;

	do {
		if (ibv_get_cq_event(end->channel, &ready, &own))
			abort();
		verbs_event_ack(ready, &end->unacked);
		if (ibv_req_notify_cq(end->receives, 0))
			abort();
	} while (!verbs_poll(end->receives));
	end_receive(end);
}

static void
spin_wait(unsigned int end)
{
	while (!verbs_poll(ends[end].receives))
		;
	end_receive(&ends[end]);
}

const struct ping ping_raw = { verbs_open, raw_wait, verbs_send };
const struct ping ping_spin = { verbs_open, spin_wait, verbs_send };
