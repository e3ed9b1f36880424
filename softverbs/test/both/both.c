/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * both server|client PORT-FILE LOSES: one end of a ping-pong between two processes, which sleep for
 * each message.
 *
 * The end that LOSES names does not arm its queue after the twentieth message, and sleeps for ever.
 * The other one is innocent, and waits for the answer.
 */
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MESSAGES 40
#define LOST_AT 20
#define SIZE 64

static struct rdma_cm_id *id;
static struct ibv_mr *mr;
static char buffer[2 * SIZE];
static const char *role, *loses;

static void
must(bool condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(1);
}

/* Waits for completions until one is a message. */
static void
receive(struct ibv_cq *cq, unsigned int number)
{
	const bool forgets = !strcmp(role, loses) && number == LOST_AT;
	struct ibv_cq *ready;
	struct ibv_wc wc;
	void *own;

	for (;;) {
		if (!forgets)
			must(!ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
		while (!forgets && ibv_poll_cq(cq, 1, &wc) == 1) {
			if (wc.status != IBV_WC_SUCCESS) {
				fprintf(stderr, "%s: %s\n", role, ibv_wc_status_str(wc.status));
				exit(1);
			}
			if (wc.opcode == IBV_WC_RECV)
				return;
		}
		must(!ibv_get_cq_event(id->recv_cq_channel, &ready, &own), "ibv_get_cq_event");
		ibv_ack_cq_events(ready, 1);
	}
}

static void
answer(void)
{
	must(!rdma_post_recv(id, NULL, buffer, SIZE, mr), "rdma_post_recv");
	must(!rdma_post_send(id, NULL, buffer + SIZE, SIZE, mr, 0), "rdma_post_send");
}

static struct rdma_addrinfo *
address(const char *port, int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP }, *info;

	must(!rdma_getaddrinfo("127.0.0.1", port, &hints, &info), "rdma_getaddrinfo");
	return info;
}

static struct ibv_qp_init_attr
attributes(void)
{
	return (struct ibv_qp_init_attr){ .cap = { 64, 8, 1, 1, 0 }, .sq_sig_all = 1 };
}

static void
serve(const char *file)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct ibv_qp_init_attr init = attributes();
	struct rdma_cm_id *listener;
	char name[512];
	FILE *port;

	must(!rdma_create_ep(&listener, address("0", RAI_PASSIVE), NULL, &init), "rdma_create_ep");
	must(!rdma_listen(listener, 1), "rdma_listen");
	snprintf(name, sizeof name, "%s.new", file);
	port = fopen(name, "w");
	must(port && fprintf(port, "%d", ntohs(rdma_get_src_port(listener))) > 0, name);
	must(!fclose(port) && !rename(name, file), file);
	must(!rdma_get_request(listener, &id), "rdma_get_request");
	mr = rdma_reg_msgs(id, buffer, sizeof buffer);
	must(mr != NULL, "rdma_reg_msgs");
	must(!rdma_post_recv(id, NULL, buffer, SIZE, mr), "rdma_post_recv");
	must(!rdma_accept(id, &param), "rdma_accept");
	for (unsigned int i = 0; i < MESSAGES; i++) {
		receive(id->recv_cq, i);
		answer();
	}
}

static void
ask(const char *file)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct ibv_qp_init_attr init = attributes();
	char text[16] = "";
	FILE *port;

	while (!(port = fopen(file, "r")))
		usleep(10000);
	must(fgets(text, sizeof text, port) != NULL, file);
	fclose(port);
	must(!rdma_create_ep(&id, address(text, 0), NULL, &init), "rdma_create_ep");
	mr = rdma_reg_msgs(id, buffer, sizeof buffer);
	must(mr != NULL, "rdma_reg_msgs");
	must(!rdma_connect(id, &param), "rdma_connect");
	for (unsigned int i = 0; i < MESSAGES; i++) {
		answer();
		receive(id->recv_cq, i);
	}
}

int
main(int argc, char **argv)
{
	must(argc == 4, "arguments");
	role = argv[1];
	loses = argv[3];
	if (!strcmp(role, "server"))
		serve(argv[2]);
	else
		ask(argv[2]);
	return 0;
}
