/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpc_before -- calls over a socket with two queues, of which one is polled again: it hangs
 *
 *	rpc_before
 *
 * The lesson: each queue that was armed has to be polled again.  This is the shape of brpc before
 * its pull request 3425: the receive queue is polled until it is empty, then the send queue; both
 * are armed; and the loop goes on where it is, at the send queue.  An answer that came before the
 * receive queue was armed raises no event.  softverbs-run --check reports it.
 */
#include <stdio.h>

#include "common.h"

enum { CALLS = 400, AT_A_TIME = 1 };

static struct line line;
static struct ibv_comp_channel *channel;
static struct ibv_cq *recv_cq, *send_cq;
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

static int
poll_queue(struct ibv_cq *cq)
{
	struct ibv_wc wc[8];
	int n = ibv_poll_cq(cq, 8, wc);

	must(n >= 0, "ibv_poll_cq");
	for (int i = 0; i < n; i++)
		handle(&wc[i]);
	return n;
}

static void
arm(struct ibv_cq *cq)
{
	must(!ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
}

static void
sleep_until_event(void)
{
	struct ibv_cq *cq;
	void *context;

	must(!ibv_get_cq_event(channel, &cq, &context), "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
}

static void
run(void)
{
	struct ibv_cq *cq = recv_cq;
	int armed = 0;

	while (answered < CALLS) {
		if (poll_queue(cq) > 0)
			continue;
		if (cq == recv_cq) {
			cq = send_cq;
		} else if (!armed) {
			arm(recv_cq);
			arm(send_cq);
			armed = 1; /* wrong: the next poll is of the send queue alone */
		} else {
			sleep_until_event();
			armed = 0;
			cq = recv_cq;
		}
	}
}

int
main(void)
{
	line_resolve(&line, CALLS, 0);
	channel = ibv_create_comp_channel(line.id->verbs);
	must(channel != NULL, "ibv_create_comp_channel");
	recv_cq = ibv_create_cq(line.id->verbs, 4 * OUTSTANDING, NULL, channel, 0);
	send_cq = ibv_create_cq(line.id->verbs, 4 * OUTSTANDING, NULL, channel, 0);
	must(recv_cq && send_cq, "ibv_create_cq");
	line_connect(&line, send_cq, recv_cq);
	ask();
	run();
	printf("%d answers\n", answered);
	line_close(&line);
	ibv_destroy_cq(recv_cq);
	ibv_destroy_cq(send_cq);
	ibv_destroy_comp_channel(channel);
	return 0;
}
