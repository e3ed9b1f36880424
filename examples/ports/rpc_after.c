/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpc_after -- rpc_before on librearm: each queue calls the program for its completions
 *
 *	rpc_after
 *
 * The lesson: the loop is gone, and with it the order of polls and arms.  What the program did with
 * a completion has stayed as it was.  Both queues have one loop with one thread, so their callbacks
 * do not run at the same time and need no lock.
 */
#include <semaphore.h>
#include <stdio.h>

#include <rearm/rearm.h>

#include "common.h"

enum { CALLS = 400, AT_A_TIME = 1 };

static struct line line;
static struct rearm_queue *recv_queue, *send_queue;
static sem_t done;
static int due = AT_A_TIME, asked, sent, answered;

/* Calls that are due; the place of a call in the send queue is free when it was polled. */
static void
ask(void)
{
	for (; due > 0 && asked - sent < OUTSTANDING && asked < CALLS; due--, asked++)
		line_request(&line);
}

static void
handle(const struct ibv_wc *wc)
{
	if (line_event(&line, wc) == LINE_ANSWER) {
		answered++;
		due++;
	} else {
		sent++;
	}
	ask();
}

static void
completed(void *arg, const struct ibv_wc *wc, int n, int more)
{
	(void)arg;
	(void)more;
	for (int i = 0; i < n; i++)
		handle(&wc[i]);
	if (answered == CALLS)
		sem_post(&done);
}

int
main(void)
{
	const struct rearm_queue_attr attr = { .cqe = 4 * OUTSTANDING };
	const struct rearm_upcall upcall = { .function = completed, .batch = 8 };
	struct rearm_loop *loop;

	line_resolve(&line, CALLS, 0);
	sem_init(&done, 0, 0);
	must(!rearm_loop_create(NULL, &loop), "rearm_loop_create");
	must(!rearm_queue_create(loop, line.id->verbs, &attr, &recv_queue) &&
		 !rearm_queue_create(loop, line.id->verbs, &attr, &send_queue),
	    "rearm_queue_create");
	line_connect(&line, rearm_queue_cq(send_queue), rearm_queue_cq(recv_queue));
	ask();
	/* From here on the callbacks ask. */
	must(!rearm_queue_enable(recv_queue, REARM_SINGLE, &upcall, REARM_ANY) &&
		 !rearm_queue_enable(send_queue, REARM_SINGLE, &upcall, REARM_ANY),
	    "rearm_queue_enable");
	sem_wait(&done);
	rearm_queue_teardown(recv_queue);
	rearm_queue_teardown(send_queue);
	printf("%d answers\n", answered);
	line_close(&line);
	rearm_queue_free(recv_queue);
	rearm_queue_free(send_queue);
	rearm_loop_free(loop);
	return 0;
}
