/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kv_after -- kv_before on librearm: one callback for all completions, whichever part waits
 *
 *	kv_after
 *
 * The lesson: a program with an event loop of its own has a loop of librearm without threads, and
 * watches its descriptor.  The write path waits with rearm_loop_dispatch(), which handles whatever
 * comes; what is left makes rearm_loop_trywait() answer "look first".
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include <rearm/rearm.h>

#include "common.h"

enum { COMMANDS = 160, PIPELINE = 8, WINDOW = 4 };

static struct line line;
static struct rearm_loop *loop;
static struct rearm_queue *queue;
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

static void
completed(void *arg, const struct ibv_wc *wc, int n, int more)
{
	(void)arg;
	(void)more;
	for (int i = 0; i < n; i++)
		handle(&wc[i]);
}

static void
sleep_until_input(void)
{
	struct pollfd input = { .fd = rearm_loop_fd(loop), .events = POLLIN };
	int timeout;

	if (rearm_loop_trywait(loop, &timeout) == 0)
		must(poll(&input, 1, timeout) >= 0, "poll");
	rearm_loop_dispatch(loop, 64, 0);
}

/* A write ends when there is room for the next one. */
static void
write_command(void)
{
	room--;
	written++;
	line_request(&line);
	while (room == 0)
		rearm_loop_dispatch(loop, 64, -1);
}

/* Writes some commands, and waits for their answers. */
static void
run(void)
{
	while (answered < COMMANDS) {
		while (written < COMMANDS && written - answered < PIPELINE)
			write_command();
		if (answered < written)
			sleep_until_input();
	}
}

int
main(void)
{
	const struct rearm_loop_attr none = { .threads = 0 };
	const struct rearm_queue_attr attr = { .cqe = 4 * OUTSTANDING };
	const struct rearm_upcall upcall = { .function = completed, .batch = 16 };

	line_resolve(&line, COMMANDS, WINDOW);
	must(!rearm_loop_create(&none, &loop), "rearm_loop_create");
	must(!rearm_queue_create(loop, line.id->verbs, &attr, &queue), "rearm_queue_create");
	line_connect(&line, rearm_queue_cq(queue), rearm_queue_cq(queue));
	must(!rearm_queue_enable(queue, REARM_SINGLE, &upcall, REARM_ANY), "rearm_queue_enable");
	run();
	rearm_queue_teardown(queue);
	printf("%d answers\n", answered);
	line_close(&line);
	rearm_queue_free(queue);
	rearm_loop_free(loop);
	return 0;
}
