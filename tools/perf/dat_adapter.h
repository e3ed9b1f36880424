/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_adapter -- an interface adapter, with the endpoints and EVDs of one end: the engine over DAT
 */
#ifndef PERF_DAT_ADAPTER_H
#define PERF_DAT_ADAPTER_H

#include "engine.h"
#include "fail.h"

#include <dat2/udat.h>
#include <sys/socket.h>

struct dat_adapter {
	DAT_IA_HANDLE ia;
	DAT_PZ_HANDLE pz;
	DAT_EVD_HANDLE connections, requests;
	DAT_CONN_QUAL port; /* of the server */
	bool server;
	struct sockaddr_storage peer; /* of a client */
	struct dat_queue *queue;
	struct dat_wire *wires; /* all, to be freed */
};

struct dat_wire {
	struct dat_adapter *adapter;
	DAT_EP_HANDLE ep;
	DAT_EVD_HANDLE receives; /* of its own, or none */
	DAT_EVD_HANDLE sends;
	struct greeting greeting;
	DAT_CR_HANDLE request; /* of a server */
	struct dat_wire *next;
};

/* dat_queue.c */
void *dat_queue_create(void *adapter, struct end *end, uint32_t length);
/* The EVD that the next endpoint gets its events from. */
DAT_EVD_HANDLE dat_queue_evd(struct dat_queue *queue);
void dat_queue_free(struct dat_queue *queue);
void dat_queue_run(void *queue);

/* dat_wire.c */
void *dat_wire_create(
    void *adapter, const struct wiring *wiring, struct greeting *greeting, int ms);
void dat_wire_join(void *wire);

/* dat_post.c */
void dat_receive(void *wire, const struct piece *piece, uint64_t cookie);
void dat_send(void *wire, const struct piece *piece, uint64_t cookie, bool silent);
void dat_write(
    void *wire, const struct piece *piece, const struct remote *to, uint64_t cookie, bool silent);
void dat_read(void *wire, const struct piece *piece, const struct remote *from, uint64_t cookie);
uint64_t dat_reap(void *wire);
bool dat_arrived(void *wire, struct completion *completion);

/* What an event has; fails if it is none of a completion. */
void dat_complete(const DAT_EVENT *event, struct completion *completion);

/* Fails if a call that takes an event has failed for another reason than that there is none. */
static inline void
dat_check_empty(const char *call, DAT_RETURN ret)
{
	if (DAT_GET_TYPE(ret) != DAT_QUEUE_EMPTY)
		fail_dat(call, ret);
}

#endif
