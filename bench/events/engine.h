/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine -- what handles the events: a loop over verbs, librearm, or a DAT provider
 *
 * A workload is written once, for all engines.  The loops over verbs, and the callbacks for
 * librearm, are in a library of their own, so that callgrind separates their instructions from
 * those of the benchmark.
 */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include <dat2/udat.h>
#include <infiniband/verbs.h>

#define ENGINE_ENDPOINTS_MAX 128
#define ENGINE_DEPTH 512 /* receives, and sends, that an endpoint may have posted */

enum queue_kind {
	QUEUE_PLAIN,	/* completions only */
	QUEUE_MERGED,	/* software and connection events, too */
	QUEUE_SOFTWARE, /* software events only */
};

/* A queue of events, and the endpoints that feed it. */
struct queue {
	unsigned int cq; /* its number in the device */
	unsigned int endpoints;
	enum queue_kind kind;
	bool drained; /* raw: armed, and empty at a poll after that */
	DAT_EVD_HANDLE evd;
	DAT_EVD_HANDLE sends; /* of ping.c */
	DAT_CNO_HANDLE cno;   /* of the EVD when it is created */
	DAT_EP_HANDLE ep[ENGINE_ENDPOINTS_MAX];
	struct ibv_cq *verbs;
	unsigned int unacked; /* raw: events of it */
	struct ibv_comp_channel *channel;
	struct ibv_qp *qp[ENGINE_ENDPOINTS_MAX];
	struct rearm_queue *rearm; /* librearm: over `verbs` */
};

/*
 * open       the device
 * create     a queue
 * feed       connects n endpoints to the queue
 * receive    posts a receive on an endpoint, send a send
 * take       takes n events that are there
 * drain      takes events until there is none, and returns how many
 * wait       waits for an event and takes it, and more than it if that costs nothing; returns how
 *            many
 * software   posts a software event; NULL: the engine has none
 * wait_any   waits for an event of any queue that was created on the channel, and takes all of its
 *            queue; NULL: the engine has a CNO for that
 * reconnect  connects two new endpoints of this process, disconnects and frees them
 * enable     has callbacks of up to n events made, one at a time, which count them in *handled;
 *            NULL: upcall.c does it, by DAT
 * disable    ends that
 */
struct engine {
	const char *name;
	void (*open)(void);
	void (*create)(struct queue *queue, unsigned int depth, enum queue_kind kind);
	void (*feed)(struct queue *queue, unsigned int n);
	void (*receive)(struct queue *queue, unsigned int endpoint);
	void (*send)(struct queue *queue, unsigned int endpoint);
	void (*take)(struct queue *queue, unsigned int n);
	unsigned int (*drain)(struct queue *queue);
	unsigned int (*wait)(struct queue *queue);
	void (*software)(struct queue *queue);
	unsigned int (*wait_any)(struct ibv_comp_channel *channel);
	void (*reconnect)(void);
	void (*enable)(struct queue *queue, unsigned int n, _Atomic uint64_t *handled);
	void (*disable)(struct queue *queue);
};

extern const struct engine engine_dat, engine_raw1, engine_raw16, engine_librearm;

/* The IA of engine_dat. */
extern DAT_IA_HANDLE engine_ia;

/* The flags of an EVD of this kind. */
DAT_EVD_FLAGS engine_dat_flags(enum queue_kind kind);

/*
 * What a consumer does with an event: it looks at the status, and finds its own data by the cookie.
 */
static inline void
engine_dat_consume(const DAT_EVENT *event)
{
	if (event->event_number == DAT_DTO_COMPLETION_EVENT &&
	    (event->event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS ||
		event->event_data.dto_completion_event_data.user_cookie.as_64 >=
		    ENGINE_ENDPOINTS_MAX))
		__builtin_trap();
}

#endif
