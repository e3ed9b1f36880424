/* SPDX-License-Identifier: BSD-3-Clause */
/* The program that uses the device: queue pairs in several states, and what is posted to them. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "device_id.h"

#define CQ_ENTRIES 8192
#define TICKETS 4096 /* requests of an input */
#define RNR_TRIES 2
#define INPUTS_OPEN 100

enum ticket {
	TICKET_FREE,
	TICKET_POSTED,	  /* owed one completion */
	TICKET_FORGOTTEN, /* by a reset, or of a shared queue: one at most */
	TICKET_DONE,
};

struct device_region device_regions[DEVICE_REGIONS];

static struct ibv_context *context;
static struct ibv_pd *domains[3]; /* the last is no queue pair's */
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_qp *qps[DEVICE_QPS];
static struct ibv_mw *windows[DEVICE_QPS]; /* of type 2, of the same domain */
static uint8_t tickets[TICKETS], owner[TICKETS];
static unsigned int ticket_count;

/* How a queue pair of each number begins. */
static const struct {
	enum ibv_qp_state state;
	uint8_t reads;
	bool shared; /* has the SRQ */
	unsigned int domain;
	unsigned int slot; /* of the peer */
} beginnings[DEVICE_QPS] = {
	{ IBV_QPS_RTS, 4, false, 0, 0 },
	{ IBV_QPS_INIT, 0, false, 0, 0 },
	{ IBV_QPS_RTR, 1, false, 0, 0 },
	{ IBV_QPS_RTS, 4, false, 0, 1 },
	{ IBV_QPS_RTS, 16, true, 0, 0 },
	{ IBV_QPS_RTS, 128, false, 1, 0 },
	{ IBV_QPS_RTS, 2, false, 0, 0 }, /* these two to each other */
	{ IBV_QPS_RTS, 2, false, 0, 0 },
};
#define FIRST_OF_PAIR 6

#define EVERYTHING \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	    IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)
static const struct {
	size_t length;
	unsigned int access;
	unsigned int domain;
} regions[DEVICE_REGIONS] = {
	{ 200000, EVERYTHING, 0 },
	{ 4096, IBV_ACCESS_LOCAL_WRITE, 0 },
	{ 70000, EVERYTHING, 1 },
	/* These are not written: the program posts them at most to be sent, and no peer may. */
	{ 4096, IBV_ACCESS_REMOTE_READ, 0 },
	{ 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ, 0 },
	{ 4096, EVERYTHING, 2 },
};
#define MR_ONLY (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)
#define WRITABLE 3
#define MARK 'm'

struct ibv_qp *
device_qp(unsigned int i)
{
	return qps[i];
}

uint32_t
device_peer_of(unsigned int i)
{
	if (i >= FIRST_OF_PAIR)
		return qps[i ^ 1] ? qps[i ^ 1]->qp_num : 0;
	return peer_slot(beginnings[i].slot) << 14 | i;
}

uint32_t
device_window_key(unsigned int i)
{
	return windows[i]->rkey;
}

uint16_t
device_port(void)
{
	return id_port();
}

/* --- tickets */

static uint64_t
ticket(unsigned int qp, enum ticket state)
{
	tickets[ticket_count] = (uint8_t)state;
	owner[ticket_count] = (uint8_t)qp;
	return ticket_count;
}

static void
forget(unsigned int qp)
{
	for (unsigned int i = 0; i < ticket_count; i++)
		if (owner[i] == qp && tickets[i] == TICKET_POSTED)
			tickets[i] = TICKET_FORGOTTEN;
}

static void
poll_all(void)
{
	struct ibv_async_event event;
	struct ibv_wc wc[32];
	int n;

	while ((n = ibv_poll_cq(cq, 32, wc)) > 0) {
		for (int i = 0; i < n; i++) {
			if (wc[i].wr_id >= ticket_count)
				fuzz_found("a completion of nothing: %llu",
				    (unsigned long long)wc[i].wr_id);
			if (tickets[wc[i].wr_id] == TICKET_DONE)
				fuzz_found("request %llu completed twice",
				    (unsigned long long)wc[i].wr_id);
			tickets[wc[i].wr_id] = TICKET_DONE;
		}
	}
	if (n < 0)
		fuzz_found("the completion queue is broken");
	while (!ibv_get_async_event(context, &event))
		ibv_ack_async_event(&event);
}

/* --- queue pairs */

static int
to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags =
		    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };

	return ibv_modify_qp(
	    qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int
to_rtr(struct ibv_qp *qp, uint32_t peer, uint8_t reads)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = peer,
		.rq_psn = DEVICE_PEER_PSN,
		.max_dest_rd_atomic = reads,
		.min_rnr_timer = 1,
		.ah_attr = { .port_num = 1, .dlid = 1 } };

	return ibv_modify_qp(qp, &attr,
	    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static int
to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
		.sq_psn = 0xfffffa,
		.timeout = 8,
		.retry_cnt = 2,
		.rnr_retry = RNR_TRIES,
		.max_rd_atomic = 3 };

	return ibv_modify_qp(qp, &attr,
	    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		IBV_QP_MAX_QP_RD_ATOMIC);
}

static bool
is_in_error(unsigned int i)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return !ibv_query_qp(qps[i], &attr, IBV_QP_STATE, &init) && attr.qp_state == IBV_QPS_ERR;
}

/*
 * From RESET to the state in which it begins.  The other queue pair of a pair may have waited for
 * it with a request that is wrong: then it fails as soon as it can receive.
 */
static void
connect_qp(unsigned int i)
{
	int r = to_init(qps[i]);

	if (!r && beginnings[i].state >= IBV_QPS_RTR)
		r = to_rtr(qps[i], device_peer_of(i), beginnings[i].reads);
	if (!r && beginnings[i].state >= IBV_QPS_RTS)
		r = to_rts(qps[i]);
	if (r && !(i >= FIRST_OF_PAIR && is_in_error(i)))
		fuzz_found("queue pair %u cannot be connected: %s", i, strerror(r));
	peer_restart(i);
}

static void
make_qp(unsigned int i)
{
	struct ibv_qp_init_attr init = { .send_cq = cq,
		.recv_cq = cq,
		.srq = beginnings[i].shared ? srq : NULL,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { 16, 16, 3, 3, 64 } };

	qps[i] = ibv_create_qp(domains[beginnings[i].domain], &init);
	if (!qps[i])
		fuzz_found("no queue pair: %s", strerror(errno));
}

static void
to_error(unsigned int i)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (ibv_modify_qp(qps[i], &attr, IBV_QP_STATE))
		fuzz_found("queue pair %u does not go to the error state", i);
}

static void
from_reset(unsigned int i)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	if (ibv_modify_qp(qps[i], &attr, IBV_QP_STATE))
		fuzz_found("queue pair %u is not reset", i);
	forget(i);
	connect_qp(i);
}

/* Those that failed: what comes after a failure is worth as much. */
static void
revive(void)
{
	for (unsigned int i = 0; i < DEVICE_QPS; i++)
		if (is_in_error(i))
			from_reset(i);
}

static void
modify(unsigned int i)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };

	switch (input_below(8)) {
	case 0:
		to_error(i);
		break;
	case 1:
		from_reset(i);
		break;
	case 2:
		(void)ibv_modify_qp(qps[i], &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
		break;
	case 3:
		attr.max_dest_rd_atomic = input8();
		(void)ibv_modify_qp(qps[i], &attr, IBV_QP_STATE | IBV_QP_MAX_DEST_RD_ATOMIC);
		break;
	case 4:
		attr.max_rd_atomic = input8();
		attr.timeout = input8();
		(void)ibv_modify_qp(
		    qps[i], &attr, IBV_QP_STATE | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_TIMEOUT);
		break;
	case 5:
		attr.qp_access_flags = input8();
		attr.qp_state = IBV_QPS_RTS;
		(void)ibv_modify_qp(qps[i], &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS);
		break;
	case 6:
		(void)to_rtr(qps[i], device_peer_of(i), 4);
		break;
	default:
		(void)to_rts(qps[i]);
		break;
	}
}

/* --- requests */

static struct ibv_sge
segment(unsigned int region)
{
	static const uint32_t lengths[] = { 0, 1, 7, 8, 64, 100, 4096, 65536, 65537, 150000 };
	const struct device_region *r = &device_regions[region];
	uint32_t length = lengths[input_below(sizeof lengths / sizeof lengths[0])];

	if (length > r->length)
		length = (uint32_t)r->length;
	return (struct ibv_sge){ (uintptr_t)r->bytes, length, r->mr->lkey };
}

static void
post_receive(unsigned int i)
{
	struct ibv_sge sge[3];
	struct ibv_recv_wr wr = { .sg_list = sge, .num_sge = (int)input_below(4) }, *bad;
	int r;

	for (int k = 0; k < wr.num_sge && k < 3; k++)
		sge[k] = segment(input_below(WRITABLE));
	if (wr.num_sge == 3)
		wr.num_sge = 1;
	if (ticket_count == TICKETS)
		return;
	wr.wr_id = ticket(i, beginnings[i].shared ? TICKET_FORGOTTEN : TICKET_POSTED);
	ticket_count++;
	r = beginnings[i].shared ? ibv_post_srq_recv(srq, &wr, &bad) :
				   ibv_post_recv(qps[i], &wr, &bad);
	if (r)
		ticket_count--;
}

/* In place of some sends: what is done with the window of the queue pair. */
static void
use_window(struct ibv_send_wr *wr, unsigned int i, unsigned int how)
{
	const struct device_region *region = &device_regions[beginnings[i].domain ? 2 : 0];
	const uint32_t key = windows[i]->rkey;

	switch (how) {
	case 1:
		wr->opcode = IBV_WR_BIND_MW;
		wr->bind_mw.mw = windows[i];
		wr->bind_mw.rkey = key;
		wr->bind_mw.bind_info = (struct ibv_mw_bind_info){ region->mr,
			(uintptr_t)region->bytes, 65536, EVERYTHING & ~MR_ONLY };
		break;
	case 2:
		wr->opcode = IBV_WR_LOCAL_INV;
		wr->invalidate_rkey = key;
		break;
	case 3:
		wr->opcode = IBV_WR_SEND_WITH_INV;
		wr->invalidate_rkey = i >= FIRST_OF_PAIR ? windows[i ^ 1]->rkey : key;
		break;
	default:
		break;
	}
}

static void
post_send(unsigned int i)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_SEND };
	const uint32_t which = input_below(8);
	struct ibv_send_wr wr = { .opcode = opcodes[which] }, *bad;
	const bool back = wr.opcode == IBV_WR_RDMA_READ || wr.opcode >= IBV_WR_ATOMIC_CMP_AND_SWP;
	const unsigned int flags = input8();
	struct ibv_sge sge[2];

	wr.sg_list = sge;
	wr.num_sge = (int)input_below(3);
	wr.send_flags = flags & (IBV_SEND_FENCE | IBV_SEND_SOLICITED);
	for (int k = 0; k < wr.num_sge; k++)
		sge[k] = segment(input_below(back ? WRITABLE : DEVICE_REGIONS));
	if (wr.opcode >= IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr.num_sge = 1;
		sge[0] = (struct ibv_sge){ (uintptr_t)device_regions[0].bytes, 8,
			device_regions[0].mr->lkey };
		wr.wr.atomic.remote_addr = (uintptr_t)device_regions[0].bytes + 64;
		wr.wr.atomic.rkey = device_regions[0].mr->rkey;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)device_regions[0].bytes + 1000;
		wr.wr.rdma.rkey = device_regions[0].mr->rkey;
	}
	if (which == 7)
		use_window(&wr, i, flags >> 6);
	if (ticket_count == TICKETS)
		return;
	wr.wr_id = ticket(i, TICKET_POSTED);
	ticket_count++;
	if (ibv_post_send(qps[i], &wr, &bad))
		ticket_count--;
}

/* --- regions */

static void
register_region(unsigned int i)
{
	struct device_region *r = &device_regions[i];

	r->mr = ibv_reg_mr_iova2(domains[regions[i].domain], r->bytes, r->length,
	    (uintptr_t)r->bytes, regions[i].access);
	if (!r->mr)
		fuzz_found("region %u is not registered: %s", i, strerror(errno));
}

static void
check_marks(void)
{
	for (unsigned int i = WRITABLE; i < DEVICE_REGIONS; i++)
		for (size_t k = 0; k < device_regions[i].length; k++)
			if (device_regions[i].bytes[k] != MARK)
				fuzz_found(
				    "region %u was written at %zu, which is not allowed", i, k);
}

/* --- the whole */

static void
open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	/* The frames are the same in a ring and on a socket, and the peer has sockets only. */
	setenv("SOFTVERBS_SOCKETS", "1", 1);
	context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	if (!context)
		fuzz_found("no device: %s", strerror(errno));
	fcntl(context->async_fd, F_SETFL, O_NONBLOCK);
	for (unsigned int i = 0; i < sizeof domains / sizeof domains[0]; i++)
		domains[i] = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, CQ_ENTRIES, NULL, NULL, 0);
	if (!domains[0] || !domains[1] || !domains[2] || !cq)
		fuzz_found("the device gives no objects");
	for (unsigned int i = 0; i < DEVICE_REGIONS; i++) {
		device_regions[i].length = regions[i].length;
		device_regions[i].bytes = malloc(regions[i].length);
		memset(device_regions[i].bytes, i < WRITABLE ? 0 : MARK, regions[i].length);
		register_region(i);
	}
	for (unsigned int i = 0; i < DEVICE_QPS; i++) {
		windows[i] = ibv_alloc_mw(domains[beginnings[i].domain], IBV_MW_TYPE_2);
		if (!windows[i])
			fuzz_found("no window: %s", strerror(errno));
	}
	id_open();
}

/* The table of queue pairs grows as long as the device is open, and is walked when a peer goes. */
static void
close_device(void)
{
	id_close();
	for (unsigned int i = 0; i < DEVICE_QPS; i++)
		if (ibv_dealloc_mw(windows[i]))
			fuzz_found("window %u stays", i);
	for (unsigned int i = 0; i < DEVICE_REGIONS; i++) {
		if (ibv_dereg_mr(device_regions[i].mr))
			fuzz_found("region %u stays registered", i);
		free(device_regions[i].bytes);
	}
	if (ibv_destroy_cq(cq) || ibv_dealloc_pd(domains[0]) || ibv_dealloc_pd(domains[1]) ||
	    ibv_dealloc_pd(domains[2]) || ibv_close_device(context))
		fuzz_found("the device is not closed");
	context = NULL;
}

void
device_begin(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 64, .max_sge = 3 } };

	if (!context)
		open_device();
	ticket_count = 0;
	srq = ibv_create_srq(domains[0], &init);
	if (!srq)
		fuzz_found("no shared receive queue: %s", strerror(errno));
	for (unsigned int i = 0; i < DEVICE_QPS; i++)
		make_qp(i);
	for (unsigned int i = 0; i < DEVICE_QPS; i++)
		connect_qp(i);
}

void
device_step(uint8_t what)
{
	const unsigned int i = input_below(DEVICE_QPS);

	switch (what) {
	case DEVICE_RECEIVE:
		post_receive(i);
		break;
	case DEVICE_SEND:
		post_send(i);
		break;
	case DEVICE_MODIFY:
		modify(i);
		break;
	case DEVICE_NEW_QP:
		if (ibv_destroy_qp(qps[i]))
			fuzz_found("queue pair %u is not destroyed", i);
		forget(i);
		make_qp(i);
		connect_qp(i);
		break;
	case DEVICE_REGISTER:
		/* One that a window is bound to stays. */
		if (!ibv_dereg_mr(device_regions[i % DEVICE_REGIONS].mr))
			register_region(i % DEVICE_REGIONS);
		else if (regions[i % DEVICE_REGIONS].access != EVERYTHING)
			fuzz_found("region %u stays registered", i % DEVICE_REGIONS);
		break;
	case DEVICE_EVENTS:
		id_events();
		break;
	case DEVICE_ID:
		id_step();
		break;
	case DEVICE_REVIVE:
		revive();
		break;
	default:
		poll_all();
		break;
	}
}

void
device_end(void)
{
	id_end();
	for (unsigned int i = 0; i < DEVICE_QPS; i++)
		to_error(i);
	poll_all();
	for (unsigned int i = 0; i < ticket_count; i++)
		if (tickets[i] == TICKET_POSTED)
			fuzz_found("request %u of queue pair %u never completed", i, owner[i]);
	for (unsigned int i = 0; i < DEVICE_QPS; i++) {
		if (ibv_destroy_qp(qps[i]))
			fuzz_found("queue pair %u is not destroyed", i);
		qps[i] = NULL;
	}
	poll_all();
	if (ibv_destroy_srq(srq))
		fuzz_found("the shared receive queue is not destroyed");
	check_marks();
}

void
device_rest(void)
{
	static unsigned int inputs;

	if (++inputs % INPUTS_OPEN == 0)
		close_device();
}
