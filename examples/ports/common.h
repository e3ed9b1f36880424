/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * common -- what the ports share and no lesson is about: connections to servers
 *
 * A server is a thread of the same process that answers each message.  It never sleeps, so that all
 * wake-ups are the program's.
 */
#ifndef PORTS_COMMON_H
#define PORTS_COMMON_H

#include <pthread.h>

#include <rdma/rdma_cma.h>

/* Messages of each direction that are outstanding at most. */
#define OUTSTANDING 16

struct line {
	struct rdma_cm_id *id; /* the program's end */
	/* Of common.c: */
	pthread_t thread;
	int requests, window;
};

/* What a completion is.  The receive of a message is posted again. */
enum line_event {
	LINE_SENT,   /* a request was sent */
	LINE_ANSWER, /* the server has answered one */
	LINE_WINDOW  /* the server can take `window` more requests */
};

/*
 * A connection to a server, which answers so many requests.  After each `window` requests it also
 * sends LINE_WINDOW; 0: it never does.  `id->verbs` is the device for the completion queues.
 */
void line_resolve(struct line *line, int requests, int window);

/* Connects, with receives for OUTSTANDING messages. */
void line_connect(struct line *line, struct ibv_cq *send_cq, struct ibv_cq *recv_cq);

void line_request(struct line *line);

/* Ends the program if the request has failed. */
enum line_event line_event(struct line *line, const struct ibv_wc *wc);

/* Flushes what is outstanding, and destroys the queue pair. */
void line_close(struct line *line);

/* Ends the program with what has failed, if something has. */
void must(int ok, const char *what);

#endif
