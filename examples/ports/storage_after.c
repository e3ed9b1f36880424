/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * storage_after -- storage_before on librearm: a queue for each server, and one thread for all
 *
 *	storage_after
 *
 * The lesson: the queues need no channel in common.  All queues of a loop with one thread are
 * served by that thread, in turns; `arg` names the server.
 */
#include <semaphore.h>
#include <stdio.h>

#include <rearm/rearm.h>

#include "common.h"

enum { SERVERS = 4, CHUNKS = 60, AT_A_TIME = 2 };

static struct server {
	struct line line;
	struct rearm_queue *queue;
	int sent, stored;
} servers[SERVERS];
static sem_t done;

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
		send_chunk(server);
		if (server->stored == CHUNKS)
			sem_post(&done);
	}
}

static void
completed(void *arg, const struct ibv_wc *wc, int n, int more)
{
	(void)more;
	for (int i = 0; i < n; i++)
		handle(arg, &wc[i]);
}

static void
open_server(struct rearm_loop *loop, struct server *server)
{
	const struct rearm_queue_attr attr = { .cqe = 4 * OUTSTANDING };
	struct ibv_cq *cq;

	line_resolve(&server->line, CHUNKS, 0);
	must(!rearm_queue_create(loop, server->line.id->verbs, &attr, &server->queue),
	    "rearm_queue_create");
	cq = rearm_queue_cq(server->queue);
	line_connect(&server->line, cq, cq);
}

/* The first chunks; from the end of this on the callbacks send. */
static void
begin_server(struct server *server)
{
	const struct rearm_upcall upcall = { completed, server, 8 };

	for (int i = 0; i < AT_A_TIME; i++)
		send_chunk(server);
	must(!rearm_queue_enable(server->queue, REARM_SINGLE, &upcall, REARM_ANY),
	    "rearm_queue_enable");
}

int
main(void)
{
	struct rearm_loop *loop;
	int stored = 0;

	sem_init(&done, 0, 0);
	must(!rearm_loop_create(NULL, &loop), "rearm_loop_create");
	for (int i = 0; i < SERVERS; i++)
		open_server(loop, &servers[i]);
	for (int i = 0; i < SERVERS; i++)
		begin_server(&servers[i]);
	for (int i = 0; i < SERVERS; i++)
		sem_wait(&done);
	for (int i = 0; i < SERVERS; i++) {
		rearm_queue_teardown(servers[i].queue);
		stored += servers[i].stored;
		line_close(&servers[i].line);
		rearm_queue_free(servers[i].queue);
	}
	rearm_loop_free(loop);
	printf("%d chunks\n", stored);
	return 0;
}
