/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * happens [-2] [-c N] [OPTION...] REQUEST -- posts N (3) requests of one kind to a
 * queue pair of this process, or with -2 of another one, and prints what each end has seen of it
 *
 *	requester: SUCCESS WR_FLUSH_ERR; events QP_FATAL; state 6
 *	responder: ...
 *
 *	-i MS    posts each request so long after the completion of the one before, until one fails;
 *	         of completions that are the same in a row it prints one, and then the longest time
 *	         between two
 *	-t CODE  the timeout of the queue pairs (10)
 *	-r N     how often a request is tried again that finds no receive (3; 7 is for ever)
 *	-m CODE  how long it waits then (1: 10 us; 0: 655 ms)
 *	-d N     how many reads the responder takes at a time (4)
 *	-e       the responder is not connected yet when the requests are posted
 *	-g       the queue pairs address each other by GIDs
 *	-s       the responder has a shared receive queue, with a limit that is armed
 *	-f       when a request has failed, it and the rest go to a second queue pair, at port 2
 *	-o       the responder of the same process is at port 2
 *	-p       prints what each port is like at the end
 *
 * REQUEST: send, write, write_imm, read, atomic, bind (and invalidations in turn), ud.
 */
#include "happens.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#define ACCESS \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	    IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)
#define QKEY 0x11111111
#define MOST 1024

static char memory[2][4096] __attribute__((aligned(4096)));
static unsigned int count = 3, interval, timeout = 10, rnr_retry = 3, rnr_timer = 1, depth = 4;
static bool vendor;
static bool early, global;
static struct end spare; /* at port 2 */

double
happens_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void
happens_make(struct end *end, enum ibv_qp_type type, void *bytes, bool shared)
{
	struct ibv_srq_init_attr queue = { .attr = { .max_wr = MOST, .max_sge = 1 } };
	struct ibv_srq_attr limit = { .srq_limit = 1 };
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;
	struct ibv_qp_init_attr init = { .qp_type = type,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = MOST,
		    .max_recv_wr = MOST,
		    .max_send_sge = 1,
		    .max_recv_sge = 1 } };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
		.port_num = end->port ? end->port : 1,
		.qkey = QKEY,
		.qp_access_flags = ACCESS & ~IBV_ACCESS_MW_BIND };

	MUST(list);
	MUST(end->context = ibv_open_device(*list));
	ibv_free_device_list(list);
	MUST(!fcntl(end->context->async_fd, F_SETFL, O_NONBLOCK));
	MUST(end->pd = ibv_alloc_pd(end->context));
	MUST(end->mr = ibv_reg_mr(end->pd, bytes, 4096, ACCESS));
	MUST(end->cq = ibv_create_cq(end->context, 2 * MOST, NULL, NULL, 0));
	init.send_cq = init.recv_cq = end->cq;
	if (shared)
		MUST(end->srq = init.srq = ibv_create_srq(end->pd, &queue));
	MUST(end->qp = ibv_create_qp(end->pd, &init));
	MUST(!ibv_modify_qp(end->qp, &attr,
	    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		(type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
	for (unsigned int i = 0; i < count; i++)
		happens_receive(end);
	if (shared)
		MUST(!ibv_modify_srq(end->srq, &limit, IBV_SRQ_LIMIT));
	end->address = (struct address){
		.qpn = end->qp->qp_num, .rkey = end->mr->rkey, .bytes = (uintptr_t)bytes
	};
	MUST(!ibv_query_port(end->context, attr.port_num, &port));
	end->address.lid = port.lid;
	MUST(!ibv_query_gid(end->context, attr.port_num, 0, &end->address.gid));
}

void
happens_receive(struct end *end)
{
	struct ibv_sge sge = { end->mr->addr ? (uintptr_t)end->mr->addr : 0, 2048, end->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!(
	    end->srq ? ibv_post_srq_recv(end->srq, &wr, &bad) : ibv_post_recv(end->qp, &wr, &bad)));
}

void
happens_connect(struct end *end, const struct address *peer)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qpn,
		.max_dest_rd_atomic = (uint8_t)depth,
		.min_rnr_timer = (uint8_t)rnr_timer,
		.ah_attr = { .port_num = end->port ? end->port : 1 } };

	end->peer = *peer;
	/* What the peer had when it said so. */
	attr.ah_attr.dlid = peer->lid;
	attr.ah_attr.is_global = global;
	if (global)
		attr.ah_attr.grh.dgid = peer->gid;
	if (end->qp->qp_type == IBV_QPT_UD) {
		MUST(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE));
		attr.qp_state = IBV_QPS_RTS;
		MUST(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
		MUST(end->ah = ibv_create_ah(end->pd, &attr.ah_attr));
		return;
	}
	MUST(!ibv_modify_qp(end->qp, &attr,
	    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
		.max_rd_atomic = 4,
		.timeout = (uint8_t)timeout,
		.retry_cnt = 1,
		.rnr_retry = (uint8_t)rnr_retry };
	MUST(!ibv_modify_qp(end->qp, &attr,
	    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		IBV_QP_MAX_QP_RD_ATOMIC));
}

/* 0, or the error of the call. */
int
happens_post(struct end *end, const char *request)
{
	struct ibv_sge sge = { (uintptr_t)end->mr->addr, 64, end->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	wr.wr.rdma.remote_addr = end->peer.bytes;
	wr.wr.rdma.rkey = end->peer.rkey;
	if (!strcmp(request, "send")) {
		wr.opcode = IBV_WR_SEND;
	} else if (!strcmp(request, "write")) {
		wr.opcode = IBV_WR_RDMA_WRITE;
	} else if (!strcmp(request, "write_imm")) {
		wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	} else if (!strcmp(request, "read")) {
		wr.opcode = IBV_WR_RDMA_READ;
	} else if (!strcmp(request, "atomic")) {
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		sge.length = 8;
		wr.wr.atomic.remote_addr = end->peer.bytes;
		wr.wr.atomic.rkey = end->peer.rkey;
	} else if (!strcmp(request, "bind")) {
		MUST(end->mw || (end->mw = ibv_alloc_mw(end->pd, IBV_MW_TYPE_2)));
		if (!end->key)
			end->key = end->mw->rkey;
		wr.num_sge = 0;
		/* A window is bound and invalidated in turn. */
		wr.opcode = end->bound ? IBV_WR_LOCAL_INV : IBV_WR_BIND_MW;
		end->bound = wr.opcode == IBV_WR_BIND_MW;
		if (wr.opcode == IBV_WR_LOCAL_INV) {
			wr.invalidate_rkey = end->key;
		} else {
			end->key = ibv_inc_rkey(end->key);
			wr.bind_mw.mw = end->mw;
			wr.bind_mw.rkey = end->key;
			wr.bind_mw.bind_info = (struct ibv_mw_bind_info){ end->mr,
				(uintptr_t)end->mr->addr, 64, IBV_ACCESS_REMOTE_WRITE };
		}
	} else {
		MUST(!strcmp(request, "ud"));
		wr.opcode = IBV_WR_SEND;
		wr.wr.ud.ah = end->ah;
		wr.wr.ud.remote_qpn = end->peer.qpn;
		wr.wr.ud.remote_qkey = QKEY;
	}
	return ibv_post_send(end->qp, &wr, &bad);
}

const char *
happens_status(enum ibv_wc_status status)
{
	static const char *const names[] = { "SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR",
		"LOC_EEC_OP_ERR", "LOC_PROT_ERR", "WR_FLUSH_ERR", "MW_BIND_ERR", "BAD_RESP_ERR",
		"LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR", "REM_OP_ERR",
		"RETRY_EXC_ERR", "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR",
		"REM_ABORT_ERR", "INV_EECN_ERR", "INV_EEC_STATE_ERR", "FATAL_ERR",
		"RESP_TIMEOUT_ERR", "GENERAL_ERR" };

	return status < sizeof names / sizeof *names ? names[status] : "?";
}

static const char *
happens_event(enum ibv_event_type type)
{
	static const char *const names[] = { "CQ_ERR", "QP_FATAL", "QP_REQ_ERR", "QP_ACCESS_ERR",
		"COMM_EST", "SQ_DRAINED", "PATH_MIG", "PATH_MIG_ERR", "DEVICE_FATAL", "PORT_ACTIVE",
		"PORT_ERR", "LID_CHANGE", "PKEY_CHANGE", "SM_CHANGE", "SRQ_ERR",
		"SRQ_LIMIT_REACHED", "QP_LAST_WQE_REACHED", "CLIENT_REREGISTER", "GID_CHANGE" };

	return type < sizeof names / sizeof *names ? names[type] : "?";
}

/* Appends the events that have come, each acknowledged; returns how many. */
unsigned int
happens_events(struct end *end, char *text, size_t size)
{
	struct ibv_async_event event;
	unsigned int n = 0;

	while (!ibv_get_async_event(end->context, &event)) {
		snprintf(text + strlen(text), size - strlen(text), " %s",
		    happens_event(event.event_type));
		ibv_ack_async_event(&event);
		n++;
	}
	return n;
}

int
happens_state(struct end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init) ? -1 : (int)attr.qp_state;
}

/*
 * A status, with -v and a "*" if a rule has made it; with -i those that are the same in a row are
 * one.
 */
static void
say(char *text, size_t size, const struct ibv_wc *wc, int *last)
{
	if (!interval || *last != (int)wc->status)
		snprintf(text + strlen(text), size - strlen(text), " %s%s",
		    happens_status(wc->status), vendor && wc->vendor_err == 1 ? "*" : "");
	*last = (int)wc->status;
}

/* Waits for `wanted` completions, or for the error state, or for some time. */
static void
report(struct end *end, const char *who, unsigned int wanted, bool error, char *text, size_t size)
{
	const double until = happens_now() + 10;
	unsigned int found = 0;
	int last = -1;
	struct ibv_wc wc;

	snprintf(text + strlen(text), size - strlen(text), "%s:", who);
	while (happens_now() < until &&
	       (found < wanted || (error && happens_state(end) != IBV_QPS_ERR))) {
		while (ibv_poll_cq(end->cq, 1, &wc) > 0) {
			say(text, size, &wc, &last);
			found++;
			end->succeeded += wc.status == IBV_WC_SUCCESS;
			/* Then the receives are flushed, too. */
			if (wc.status != IBV_WC_SUCCESS && !strcmp(who, "requester"))
				wanted = 2 * count;
			end->remote |=
			    wc.status >= IBV_WC_REM_INV_REQ_ERR && wc.status <= IBV_WC_REM_OP_ERR;
		}
	}
	while (ibv_poll_cq(end->cq, 1, &wc) > 0)
		say(text, size, &wc, &last);
	snprintf(text + strlen(text), size - strlen(text), "; events");
	happens_events(end, text, size);
	snprintf(text + strlen(text), size - strlen(text), "; state %d\n", happens_state(end));
}

void
happens_destroy(struct end *end)
{
	if (end->ah)
		MUST(!ibv_destroy_ah(end->ah));
	MUST(!ibv_destroy_qp(end->qp));
	MUST(!ibv_destroy_cq(end->cq));
	if (end->srq)
		MUST(!ibv_destroy_srq(end->srq));
	if (end->mw)
		MUST(!ibv_dealloc_mw(end->mw));
	MUST(!ibv_dereg_mr(end->mr));
	MUST(!ibv_dealloc_pd(end->pd));
	MUST(!ibv_close_device(end->context));
}

static void
one_by_one(struct end *end, const char *request, char *text, size_t size)
{
	const char *last = "";
	double begun, longest = 0;
	struct ibv_wc wc;
	int n = 0, r = 0;

	snprintf(text, size, "requester:");
	for (unsigned int i = 0; i < count; i++) {
		begun = happens_now();
		r = happens_post(end, request);
		while (!r && !(n = ibv_poll_cq(end->cq, 1, &wc)) && happens_now() < begun + 20)
			usleep(100);
		if (happens_now() - begun > longest)
			longest = happens_now() - begun;
		if (r || n <= 0) {
			last = r ? "no post" : n ? "no poll" : "nothing";
			snprintf(text + strlen(text), size - strlen(text), " %s", last);
			break;
		}
		end->succeeded += !wc.status;
		if (strcmp(last, happens_status(wc.status)) != 0)
			snprintf(text + strlen(text), size - strlen(text), " %s",
			    happens_status(wc.status));
		last = happens_status(wc.status);
		if (wc.status && (end == &spare || !spare.qp))
			break;
		if (wc.status) {
			end = &spare;
			i--; /* the same once more */
		}
		usleep(interval * 1000);
	}
	snprintf(text + strlen(text), size - strlen(text), "; events");
	happens_events(end, text, size);
	snprintf(text + strlen(text), size - strlen(text), "; state %d; longest %.0f ms\n",
	    happens_state(end), longest * 1000);
}

static void
print_port(struct end *end, uint8_t port)
{
	struct ibv_port_attr attr;
	union ibv_gid gid;
	__be16 pkey;

	if (ibv_query_port(end->context, port, &attr)) {
		printf("port: %s\n", strerror(errno));
		return;
	}
	MUST(!ibv_query_gid(end->context, port, 0, &gid) &&
	     !ibv_query_pkey(end->context, port, 0, &pkey));
	printf("port: state %d, lid %d, sm %d, pkey %04x, prefix %016llx\n", attr.state, attr.lid,
	    attr.sm_lid, be16toh(pkey), (unsigned long long)be64toh(gid.global.subnet_prefix));
}

/* 1 if the device does not answer. */
static uint8_t
ports(struct end *end)
{
	struct ibv_device_attr attr;

	return ibv_query_device(end->context, &attr) ? 1 : attr.phys_port_cnt;
}

static void
swap(int fd, const struct address *own, struct address *other)
{
	MUST(write(fd, own, sizeof *own) == sizeof *own);
	MUST(read(fd, other, sizeof *other) == sizeof *other);
}

static void
responder(int fd, enum ibv_qp_type type, bool shared)
{
	struct end end = { 0 };
	struct address peer;
	unsigned char ends[2];
	char text[2048];

	MUST(read(fd, text, 1) == 1); /* the requester is the first process */
	happens_make(&end, type, memory[1], shared);
	swap(fd, &end.address, &peer);
	happens_connect(&end, &peer);
	MUST(write(fd, "", 1) == 1);
	MUST(read(fd, ends, 2) == 2);
	*text = '\0';
	report(&end, "responder", ends[0], ends[1], text, sizeof text);
	MUST(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	happens_destroy(&end);
	exit(0);
}

static bool
takes_receive(const char *request)
{
	return !strcmp(request, "send") || !strcmp(request, "write_imm") || !strcmp(request, "ud");
}

int
main(int argc, char **argv)
{
	struct end end = { 0 }, other = { 0 }, across = { .port = 2 };
	const char *request;
	enum ibv_qp_type type;
	struct address peer;
	bool two = false, shared = false, port = false, fails_over = false;
	unsigned char ends[2];
	char text[2048];
	int fd[2], c, status;
	ssize_t n;

	while ((c = getopt(argc, argv, "2c:i:t:r:m:d:efgospv")) != -1) {
		two |= c == '2';
		shared |= c == 's';
		vendor |= c == 'v';
		port |= c == 'p';
		fails_over |= c == 'f';
		other.port |= c == 'o' ? 2 : 0;
		if (c == 'i')
			interval = (unsigned int)atoi(optarg);
		early |= c == 'e';
		global |= c == 'g';
		if (c == 'm')
			rnr_timer = (unsigned int)atoi(optarg);
		if (c == 'd')
			depth = (unsigned int)atoi(optarg);
		if (c == 'r')
			rnr_retry = (unsigned int)atoi(optarg);
		if (c == 't')
			timeout = (unsigned int)atoi(optarg);
		if (c == 'c')
			count = (unsigned int)atoi(optarg);
	}
	MUST(count <= 255 && (request = argv[optind]));
	type = !strcmp(request, "ud") ? IBV_QPT_UD : IBV_QPT_RC;
	MUST(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd));
	if (two && !fork()) {
		close(fd[0]); /* so that it ends with the requester */
		responder(fd[1], type, shared);
	}
	close(fd[1]);
	happens_make(&end, type, memory[0], false);
	if (two) {
		MUST(write(fd[0], "", 1) == 1);
		swap(fd[0], &end.address, &peer);
		MUST(read(fd[0], text, 1) == 1);
		happens_connect(&end, &peer);
	} else {
		happens_make(&other, type, memory[1], shared);
		happens_connect(&end, &other.address);
		if (!early)
			happens_connect(&other, &end.address);
	}
	if (fails_over) {
		spare.port = 2;
		happens_make(&spare, type, memory[0], false);
		happens_make(&across, type, memory[1], false);
		happens_connect(&spare, &across.address);
		happens_connect(&across, &spare.address);
	}
	*text = '\0';
	if (interval) {
		one_by_one(&end, request, text, sizeof text);
	} else {
		for (unsigned int i = 0; i < count; i++)
			MUST(!happens_post(&end, request));
		report(&end, "requester", count, false, text, sizeof text);
	}
	fputs(text, stdout);
	/* A receive may complete later than what it answers. */
	ends[0] = (unsigned char)(takes_receive(request) ? end.succeeded : 0);
	ends[1] = end.remote;
	if (two) {
		MUST(write(fd[0], ends, 2) == 2);
		n = read(fd[0], text, sizeof text);
		MUST(n > 0);
		printf("%.*s", (int)n, text);
		MUST(wait(&status) > 0 && !status);
	} else {
		*text = '\0';
		report(&other, "responder", 0, end.remote, text, sizeof text);
		fputs(text, stdout);
		happens_destroy(&other);
	}
	for (uint8_t i = 1; port && i <= ports(&end); i++)
		print_port(&end, i);
	if (fails_over) {
		happens_destroy(&spare);
		happens_destroy(&across);
	}
	happens_destroy(&end);
	return 0;
}
