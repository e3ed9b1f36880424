/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * storage_before -- one thread writes to several servers, whose queues share a channel: it hangs
 *
 *	storage_before
 *
 * The lesson: poll after the arm.  This is the shape of the BeeGFS client before its pull request
 * 133: a queue whose event came is polled until it is empty and then armed.  The completion of the
 * last chunk that came in between raises no event.  softverbs-run --check reports it.
 */
#include <stdio.h>

#include "common.h"

enum { SERVERS = 4, CHUNKS = 60, AT_A_TIME = 2 };

static struct server {
	struct line line;
	struct ibv_cq *cq;
	int sent, stored;
} servers[SERVERS];
static struct ibv_comp_channel *channel;
static int stored;

static void
send_chunk(struct server *server)
{
	if (server->sent < CHUNKS) {
		server->sent++;
		line_request(&server->line);
	}
}

static void
handle(struct server *server, const struct ibv_wc *wc)
{
	if (line_event(&server->line, wc) == LINE_ANSWER) {
		server->stored++;
		stored++;
		send_chunk(server);
	}
}

static void
poll_queue(struct server *server)
{
	struct ibv_wc wc[8];
	int n;

	while ((n = ibv_poll_cq(server->cq, 8, wc)) > 0)
		for (int i = 0; i < n; i++)
			handle(server, &wc[i]);
	must(n == 0, "ibv_poll_cq");
}

static void
run(void)
{
	struct ibv_cq *cq;
	void *context;

	while (stored < SERVERS * CHUNKS) {
		must(!ibv_get_cq_event(channel, &cq, &context), "ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
		poll_queue(context);
		must(!ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq"); /* wrong: too late */
	}
}

int
main(void)
{
	for (int i = 0; i < SERVERS; i++)
		line_resolve(&servers[i].line, CHUNKS, 0);
	channel = ibv_create_comp_channel(servers[0].line.id->verbs);
	must(channel != NULL, "ibv_create_comp_channel");
	for (int i = 0; i < SERVERS; i++) {
		struct server *server = &servers[i];

		server->cq =
		    ibv_create_cq(server->line.id->verbs, 4 * OUTSTANDING, server, channel, 0);
		must(server->cq && !ibv_req_notify_cq(server->cq, 0), "ibv_create_cq");
		line_connect(&server->line, server->cq, server->cq);
	}
	for (int i = 0; i < SERVERS * AT_A_TIME; i++)
		send_chunk(&servers[i % SERVERS]);
	run();
	printf("%d chunks\n", stored);
	for (int i = 0; i < SERVERS; i++) {
		line_close(&servers[i].line);
		ibv_destroy_cq(servers[i].cq);
	}
	ibv_destroy_comp_channel(channel);
	return 0;
}
