/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kv_before -- commands of a key-value client in an event loop: the write path takes the wake-up
 *
 *	kv_before
 *
 * The lesson: an event is not for the one who reads it.  This is the shape of libvalkey before its
 * pull request 301: while the client writes commands and the server has no room for more, it waits
 * for the completion that there is room again.  Answers come meanwhile, and the event was for them,
 * too.  The event loop, which waits for input, is not woken for them.  libvalkey took these
 * completions and did not tell its loop; here they stay in the queue, where softverbs-run --check
 * sees them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>

#include "common.h"

enum { COMMANDS = 160, PIPELINE = 8, WINDOW = 4 };

static struct line line;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static int written, answered, room = WINDOW;

static void
handle(const struct ibv_wc *wc)
{
	switch (line_event(&line, wc)) {
	case LINE_ANSWER:
		answered++;
		break;
	case LINE_WINDOW:
		room += WINDOW;
		break;
	case LINE_SENT:
		break;
	}
}

/* Polls one completion: whether there was one. */
static int
poll_one(void)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(cq, 1, &wc);

	must(n >= 0, "ibv_poll_cq");
	if (n)
		handle(&wc);
	return n;
}

/* Reads the events that are there, and requests the next one. */
static void
read_events(void)
{
	struct ibv_cq *ready;
	void *context;

	while (!ibv_get_cq_event(channel, &ready, &context))
		ibv_ack_cq_events(ready, 1);
	must(errno == EAGAIN, "ibv_get_cq_event");
	must(!ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
}

static void
sleep_until_input(void)
{
	struct pollfd input = { .fd = channel->fd, .events = POLLIN };

	must(poll(&input, 1, -1) == 1, "poll");
	read_events();
}

/* A write ends when there is room for the next one. */
static void
write_command(void)
{
	room--;
	written++;
	line_request(&line);
	while (room == 0) {
		while (room == 0 && poll_one())
			; /* wrong: what is behind the message of the window stays */
		if (room == 0)
			sleep_until_input();
	}
}

/* Writes some commands, and waits for their answers. */
static void
run(void)
{
	while (answered < COMMANDS) {
		while (written < COMMANDS && written - answered < PIPELINE)
			write_command();
		sleep_until_input();
		while (poll_one())
			;
	}
}

int
main(void)
{
	line_resolve(&line, COMMANDS, WINDOW);
	channel = ibv_create_comp_channel(line.id->verbs);
	must(channel != NULL, "ibv_create_comp_channel");
	must(!fcntl(channel->fd, F_SETFL, O_NONBLOCK), "fcntl");
	cq = ibv_create_cq(line.id->verbs, 4 * OUTSTANDING, NULL, channel, 0);
	must(cq && !ibv_req_notify_cq(cq, 0), "ibv_create_cq");
	line_connect(&line, cq, cq);
	run();
	printf("%d answers\n", answered);
	line_close(&line);
	ibv_destroy_cq(cq);
	ibv_destroy_comp_channel(channel);
	return 0;
}
