/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair -- what the programs in wrong/ and right/ share: a server and a client in one process
 *
 * The client is a thread that sends bursts of messages and spins until each is answered.  The
 * server is the loop that a program is about; it answers each message.  A loop that loses a wake-up
 * hangs.
 */
#ifndef PAIR_H
#define PAIR_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define BURST 4	    /* messages at most */
#define ENTRIES 256 /* of a queue, enough for all that is outstanding */

struct end {
	struct ibv_cq *cq; /* of sends and receives */
	struct ibv_qp *qp;
	char buffer[64];
	struct ibv_mr *mr;
	unsigned int received, sent; /* completions */
};

/*
 * The device, a protection domain, and how many messages the client sends; MESSAGES sets another
 * number.
 */
extern struct ibv_context *context;
extern struct ibv_pd *domain;
extern unsigned int messages;

/* Ends the program with a message unless the condition holds. */
void must(bool condition, const char *what);

void device_open(void);

/* The device with a channel, and a queue of it. */
extern struct ibv_comp_channel *channel;
extern struct ibv_cq *cq;
void pair_open(void);

/*
 * A second queue of the channel, if the program has one.  second_pair_open() makes it, with two
 * ends that the program drives both: `third` on this queue, `fourth` on one that is only polled.
 */
extern struct ibv_cq *other;
extern struct end third, fourth;
void second_pair_open(void);

/* Waits for all clients, and closes all that there is of these. */
void pair_close(void);

/* A queue pair on this queue; max_send_wr 0 is ENTRIES. */
void end_open(struct end *end, struct ibv_cq *queue, unsigned int max_send_wr);

/* Closes two ends, their queues and the device. */
void ends_close(struct end *a, struct end *b);

/* Connects the queue pairs; `receives` are posted to each, and rnr_retry is that of both. */
void end_connect(struct end *a, struct end *b, int receives, uint8_t rnr_retry);

void post_receive(struct end *end);
void post_send(struct end *end, unsigned int flags);

/* Answers a message; counts. */
void serve(struct end *end, const struct ibv_wc *wc);

/* Polls `n` completions at most and serves them: how many it found. */
int poll_and_serve(struct end *end, int n);

/* Sends a message to an end that serves, and counts it; tidies up what was answered before. */
void poke(struct end *end);

/* True when all messages were answered. */
bool served_all(const struct end *end);

/* A server on this queue with a client that runs: the end of the server. */
struct end *pair_start(struct ibv_cq *queue);

struct ibv_cq *queue_create(struct ibv_comp_channel *of); /* NULL: of none */
void arm(struct ibv_cq *queue);

/* Reads one event of the channel and acknowledges it: its queue. */
struct ibv_cq *next_event(void);

/* From now on the channel does not block; an epoll descriptor that watches it for edges. */
int watch_edges(void);

#endif
