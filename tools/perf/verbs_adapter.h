/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verbs_adapter -- an RDMA device with the queue pairs and completion queues of one end: the engine
 * over verbs
 */
#ifndef PERF_VERBS_ADAPTER_H
#define PERF_VERBS_ADAPTER_H

#include "engine.h"

#include <rdma/rdma_cma.h>

#define VERBS_TIMEOUT_MS 20000

struct verbs_adapter {
	struct rdma_event_channel *channel;
	/* of a server the listener, of a client the one that found the device */
	struct rdma_cm_id *id;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct sockaddr_storage peer; /* of a client, with the port */
	struct verbs_queue *queue;
	struct verbs_wire *wires;
	struct verbs_memory *memory;
	bool server;
};

struct verbs_memory {
	struct ibv_mr *mr;
	struct verbs_memory *next;
};

struct verbs_wire {
	struct verbs_adapter *adapter;
	struct rdma_cm_id *id;
	struct ibv_cq *receives; /* of its own, or NULL */
	struct ibv_cq *sends;
	struct greeting greeting;
	struct verbs_wire *next;
};

/* verbs_queue.c */
void *verbs_queue_create(void *adapter, struct end *end, uint32_t length);
struct ibv_cq *verbs_queue_cq(struct verbs_queue *queue);
void verbs_queue_free(struct verbs_queue *queue);
void verbs_queue_run(void *queue);

/* verbs_wire.c */
void *verbs_wire_create(
    void *adapter, const struct wiring *wiring, struct greeting *greeting, int ms);
void verbs_wire_join(void *wire);
void verbs_wire_free(struct verbs_wire *wire);
void verbs_watch(void *adapter);
/* Creates an id and finds the device and the route for it. */
struct rdma_cm_id *verbs_resolve(struct verbs_adapter *adapter);

/* verbs_post.c */
void verbs_receive(void *wire, const struct piece *piece, uint64_t cookie);
void verbs_send(void *wire, const struct piece *piece, uint64_t cookie, bool silent);
void verbs_write(
    void *wire, const struct piece *piece, const struct remote *to, uint64_t cookie, bool silent);
void verbs_read(void *wire, const struct piece *piece, const struct remote *from, uint64_t cookie);
uint64_t verbs_reap(void *wire);
bool verbs_arrived(void *wire, struct completion *completion);

static inline void
verbs_complete(const struct ibv_wc *wc, struct completion *completion)
{
	completion->cookie = wc->wr_id;
	completion->length = wc->byte_len;
	completion->error = wc->status == IBV_WC_SUCCESS ? NULL : ibv_wc_status_str(wc->status);
}

#endif
