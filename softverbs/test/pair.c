/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

struct ibv_context *context;
struct ibv_pd *domain;
struct ibv_comp_channel *channel;
struct ibv_cq *cq, *other;
struct end third, fourth;
unsigned int messages = 60;

/* Two at most. */
static struct pair {
	struct end server, client;
	pthread_t thread;
} pairs[2];
static unsigned int started;

void
must(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

void
device_open(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	const char *number = getenv("MESSAGES");

	if (number)
		messages = (unsigned int)atoi(number);
	must(devices && devices[0], "no device");
	context = ibv_open_device(devices[0]);
	must(context != NULL, "ibv_open_device");
	ibv_free_device_list(devices);
	domain = ibv_alloc_pd(context);
	must(domain != NULL, "ibv_alloc_pd");
}

static void
device_close(void)
{
	must(!ibv_dealloc_pd(domain), "ibv_dealloc_pd");
	must(!ibv_close_device(context), "ibv_close_device");
}

struct ibv_cq *
queue_create(struct ibv_comp_channel *of)
{
	struct ibv_cq *queue = ibv_create_cq(context, ENTRIES, NULL, of, 0);

	must(queue != NULL, "ibv_create_cq");
	return queue;
}

static void
queue_destroy(struct ibv_cq *queue)
{
	must(!ibv_destroy_cq(queue), "ibv_destroy_cq");
}

void
end_open(struct end *end, struct ibv_cq *queue, unsigned int max_send_wr)
{
	struct ibv_qp_init_attr init = {
		.send_cq = queue,
		.recv_cq = queue,
		.cap = { max_send_wr ? max_send_wr : ENTRIES, ENTRIES, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};

	memset(end, 0, sizeof *end);
	end->cq = queue;
	end->qp = ibv_create_qp(domain, &init);
	must(end->qp != NULL, "ibv_create_qp");
	end->mr = ibv_reg_mr(domain, end->buffer, sizeof end->buffer, IBV_ACCESS_LOCAL_WRITE);
	must(end->mr != NULL, "ibv_reg_mr");
}

static void
end_close(struct end *end)
{
	must(!ibv_destroy_qp(end->qp), "ibv_destroy_qp");
	must(!ibv_dereg_mr(end->mr), "ibv_dereg_mr");
}

void
ends_close(struct end *a, struct end *b)
{
	end_close(a);
	end_close(b);
	queue_destroy(a->cq);
	if (b->cq != a->cq)
		queue_destroy(b->cq);
	device_close();
}

static void
modify(struct end *end, struct ibv_qp_attr *attr, int mask)
{
	errno = ibv_modify_qp(end->qp, attr, mask);
	must(!errno, "ibv_modify_qp");
}

static void
prepare(struct end *end, const struct end *peer)
{
	struct ibv_port_attr port;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	modify(end, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	must(!ibv_query_port(context, 1, &port), "ibv_query_port");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.ah_attr = { .dlid = port.lid, .port_num = 1 },
	};
	modify(end, &attr,
	    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static void
start(struct end *end, uint8_t rnr_retry)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = rnr_retry,
		.max_rd_atomic = 1,
	};

	modify(end, &attr,
	    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		IBV_QP_MAX_QP_RD_ATOMIC);
}

void
end_connect(struct end *a, struct end *b, int receives, uint8_t rnr_retry)
{
	prepare(a, b);
	prepare(b, a);
	for (int i = 0; i < receives; i++) {
		post_receive(a);
		post_receive(b);
	}
	start(a, rnr_retry);
	start(b, rnr_retry);
}

void
post_receive(struct end *end)
{
	struct ibv_sge sge = { (uintptr_t)end->buffer, 8, end->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	errno = ibv_post_recv(end->qp, &wr, &bad);
	must(!errno, "ibv_post_recv");
}

void
post_send(struct end *end, unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)end->buffer + 32, 8, end->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = flags },
			   *bad;

	errno = ibv_post_send(end->qp, &wr, &bad);
	must(!errno, "ibv_post_send");
}

void
serve(struct end *end, const struct ibv_wc *wc)
{
	must(wc->status == IBV_WC_SUCCESS, "the connection failed");
	if (!(wc->opcode & IBV_WC_RECV)) {
		end->sent++;
		return;
	}
	end->received++;
	post_receive(end);
	post_send(end, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
}

int
poll_and_serve(struct end *end, int n)
{
	struct ibv_wc wc[ENTRIES];
	int found = ibv_poll_cq(end->cq, n, wc);

	must(found >= 0, "ibv_poll_cq");
	for (int i = 0; i < found; i++)
		serve(end, &wc[i]);
	return found;
}

void
poke(struct end *end)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(end->cq, 1, &wc) == 1)
		if (wc.opcode & IBV_WC_RECV)
			post_receive(end);
	post_send(end, IBV_SEND_SIGNALED);
	end->sent++;
}

bool
served_all(const struct end *end)
{
	return end->received == messages && end->sent == messages;
}

/*
 * Found nothing so often.  When the server has lost a wake-up there is nothing to come, and other
 * tests need the processor.
 */
static void
client_pause(unsigned int polls)
{
	const struct timespec pause = { 0, 200000 };

	if (polls < 2000)
		sched_yield();
	else
		nanosleep(&pause, NULL);
}

/* Spins, so that the only wake-ups are those of the server. */
static void *
client_run(void *end)
{
	unsigned int sent = 0, completed = 0, answered = 0, burst = 0, empty = 0;
	struct end *client = end;
	struct ibv_wc wc;
	int found;

	while (sent < messages) {
		burst = burst % BURST + 1;
		for (unsigned int i = 0; i < burst && sent < messages; i++, sent++)
			post_send(client, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
		while (completed < sent || answered < sent) {
			found = ibv_poll_cq(client->cq, 1, &wc);
			empty = found ? 0 : empty + 1;
			must(found >= 0 && (!found || wc.status == IBV_WC_SUCCESS),
			    "the client's connection failed");
			if (found && wc.opcode & IBV_WC_RECV) {
				answered++;
				post_receive(client);
			} else if (found) {
				completed++;
			} else {
				client_pause(empty);
			}
		}
	}
	return NULL;
}

struct end *
pair_start(struct ibv_cq *queue)
{
	struct pair *pair = &pairs[started++];

	end_open(&pair->server, queue, 0);
	end_open(&pair->client, queue_create(NULL), 0);
	end_connect(&pair->server, &pair->client, 2 * BURST, 7);
	must(!pthread_create(&pair->thread, NULL, client_run, &pair->client), "pthread_create");
	return &pair->server;
}

static void
pairs_stop(void)
{
	for (; started; started--) {
		struct pair *pair = &pairs[started - 1];

		pthread_join(pair->thread, NULL);
		end_close(&pair->server);
		end_close(&pair->client);
		queue_destroy(pair->client.cq);
	}
}

void
pair_open(void)
{
	device_open();
	channel = ibv_create_comp_channel(context);
	must(channel != NULL, "ibv_create_comp_channel");
	cq = queue_create(channel);
}

void
second_pair_open(void)
{
	other = queue_create(channel);
	end_open(&third, other, 0);
	end_open(&fourth, queue_create(NULL), 0);
	end_connect(&third, &fourth, ENTRIES / 2, 7);
}

void
pair_close(void)
{
	if (third.qp) {
		end_close(&third);
		end_close(&fourth);
		queue_destroy(fourth.cq);
	}
	pairs_stop();
	if (other)
		queue_destroy(other);
	if (cq)
		queue_destroy(cq);
	must(!ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	device_close();
}

void
arm(struct ibv_cq *queue)
{
	errno = ibv_req_notify_cq(queue, 0);
	must(!errno, "ibv_req_notify_cq");
}

struct ibv_cq *
next_event(void)
{
	struct ibv_cq *ready;
	void *own;

	must(!ibv_get_cq_event(channel, &ready, &own), "ibv_get_cq_event");
	ibv_ack_cq_events(ready, 1);
	return ready;
}

int
watch_edges(void)
{
	struct epoll_event watch = { .events = EPOLLIN | EPOLLET };
	int epoll = epoll_create1(0);

	must(epoll >= 0 && !fcntl(channel->fd, F_SETFL, O_NONBLOCK) &&
		 !epoll_ctl(epoll, EPOLL_CTL_ADD, channel->fd, &watch),
	    "epoll");
	return epoll;
}
