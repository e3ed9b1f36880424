/* SPDX-License-Identifier: BSD-3-Clause */
/* ep -- the record of an endpoint: its posted transfers, its connections, and their order */
#ifndef REARM_HOSTILE_EP_H
#define REARM_HOSTILE_EP_H

#include "life.h"
#include "stream.h"
#include "take.h"

#define EP_RECORDS 512 /* a power of two: see life_find_bits() */
/* A record is not reused for so long that each thread has checked the events of it that it took. */
#define EP_REST_TICKS 300

/* In an adapter's memory, each endpoint has a slot for each record of its two streams, and a place
 * that the other side may write to.  The adapter has one more place that all may read. */
#define EP_SLOT 64
#define EP_WRITE_BYTES 256
#define EP_BUFFER_BYTES (2 * STREAM_RING * EP_SLOT + EP_WRITE_BYTES)
#define EP_COMMON_BYTES 4096

struct adapter;
struct evd;

/* The phase of one generation: from the creation, or a reset, to the next reset. */
enum ep_phase {
	EP_IDLE,
	EP_CONNECTING, /* dat_ep_connect() or dat_cr_accept() succeeded, or is in progress */
	EP_UP,	       /* ESTABLISHED was taken */
	EP_OVER,       /* the event that ends it was taken */
};

/* One direction. */
struct transfers {
	struct stream stream;
	uint32_t accepted; /* in this generation */
	uint32_t sends;	   /* of these, sends */
	uint32_t silent;   /* suppressed ones in a row, at the end */
	uint32_t excused;  /* the last number that a reset excused */
};

/* The endpoint at the other end, from the private data. */
struct mate {
	bool known;
	bool foreign;	  /* of the other process */
	uint32_t process; /* its id */
	uint64_t serial;
	uint32_t generation;
	DAT_VADDR write_address, read_address;
	DAT_RMR_CONTEXT context;
};

struct ep {
	struct life life;
	struct evd *recv, *request, *connect; /* held */
	int place;			      /* of its buffers, in the adapter's memory, or -1 */
	DAT_COMPLETION_FLAGS recv_flags, request_flags;
	DAT_COUNT depth;
	/* The rest is locked by life.lock. */
	bool busy; /* a thread connects, accepts or resets it */
	struct transfers receives, requests;
	uint32_t generation;
	enum ep_phase phase;
	bool fuzzy; /* reset before its last event was taken: events may be of either connection */
	bool active;
	bool broken;	       /* the asynchronous EVD reported it */
	bool late_established; /* it may still come after the event that ended the connection */
	bool failed;	       /* a transfer ended in an error that breaks the connection */
	unsigned int attempts, established, endings; /* in all generations */
	/* Stamps in this generation; 0: not yet. */
	uint64_t first_receive; /* a successful receive was taken */
	uint64_t established_taken, over_taken;
	uint64_t anew;		    /* the generation began with a reset */
	uint64_t disconnected;	    /* an abrupt call succeeded */
	unsigned int disconnecting; /* calls in progress */
	bool disconnect_succeeded;
	struct mate mate;
};

struct ep *ep_of(struct life *life);

void eps_begin(void);

/* How an endpoint is created. */
struct ep_plan {
	struct evd *recv, *request, *connect; /* used by the caller */
	DAT_COMPLETION_FLAGS recv_flags, request_flags;
	DAT_COUNT depth;
	bool tame;
};

/* Returns it used, or NULL. */
struct ep *ep_make(struct adapter *adapter, const struct ep_plan *plan);
DAT_RETURN ep_free_rudely(struct ep *ep);
/* Ends its connection, waits for all its events, and frees it. */
bool ep_end(struct life *life);
/* The asynchronous EVD reported that it broke. */
void ep_note_broken(struct ep *ep);
/* The endpoint has ended. */
void ep_gone(struct ep *ep);

enum ep_phase ep_phase(struct ep *ep);

/* One thread at a time connects, accepts or resets. */
bool ep_enter(struct ep *ep);
void ep_leave(struct ep *ep);

/* ---- ep_conn.c ---- */

/* Locked.  An attempt begins, before the call; or is undone, because the call failed. */
void ep_attempt(struct ep *ep, bool active, const struct mate *mate);
void ep_attempt_failed(struct ep *ep);
void ep_connect(struct ep *ep);
DAT_RETURN ep_disconnect(struct ep *ep, DAT_CLOSE_FLAGS flags);
/* The private data with which a side identifies itself. */
#define EP_HELLO_BYTES 48
void ep_hello(const struct ep *ep, char *hello);
bool ep_read_hello(const void *data, DAT_COUNT size, struct mate *mate);
void ep_judge_connection(
    const struct taking *taking, DAT_EVENT_NUMBER number, const DAT_CONNECTION_EVENT_DATA *data);

/* ---- ep_dto.c ---- */

DAT_RETURN ep_post_receive(struct ep *ep);
DAT_RETURN ep_post_request(struct ep *ep);
/* Resets it when its connection is over; earlier posts no longer count. */
void ep_reset(struct ep *ep);
void ep_judge_dto(struct ep *ep, const struct taking *taking,
    const DAT_DTO_COMPLETION_EVENT_DATA *data, unsigned int direction, uint64_t low,
    unsigned int bits);

/* ---- ep_owed.c ---- */

/* How many events of the endpoint that wake a sink must still come to this EVD. */
unsigned int ep_owes(struct ep *ep, const struct evd *evd);
/* Locked.  How many completions must still come when the connection is over. */
unsigned int ep_missing(const struct ep *ep);
void ep_print(const struct ep *ep);
/* The other end, if it is known and in this process. */
const struct life *ep_mate(const struct ep *ep);

#endif
