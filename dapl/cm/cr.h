/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cr -- connection request: an incoming CM id until it is accepted or rejected
 */
#ifndef REARM_DAPL_CR_H
#define REARM_DAPL_CR_H

#include "dapl/ep/conn.h"
#include "dapl/ep/lookup.h"

struct dapl_cr {
	struct dapl_object obj;
	DAT_CR_HANDLE self;
	struct dapl_conn *conn; /* NULL: being answered; guarded by the object's lock */
	bool gone;		/* the requester gave up; likewise */
	DAT_EP_HANDLE own;	/* the endpoint that came with it, if any; constant while open */
	bool datagram;		/* of a datagram endpoint; constant while open, as is its card */
	struct dapl_card card;
	struct sockaddr_storage remote;
	/*
	 * As the event has them: reads at a time that the requester may send, and that it answers.
	 */
	uint8_t responder, initiator;
	DAT_COUNT size;
	uint8_t data[DAPL_EP_ANSWER_MAX]; /* the consumer may read and write it until it answers */
};

/* A copy of the CM event of a request. */
struct dapl_cr_request {
	struct rdma_cm_id *id;
	DAT_EP_HANDLE own;
	bool datagram;
	struct dapl_card card;
	uint8_t responder, initiator;
	uint8_t size;
	const void *data;
};

/*
 * Handles a connection request.  `listener` belongs to the service point at which the request
 * arrived, and had the generation `generation` then.  The request becomes a CR and an event, or is
 * refused.
 */
void dapl_cr_arrived(struct dapl_ia *ia, struct dapl_conn *listener, uint32_t generation,
    const struct dapl_cr_request *request) DAPL_NO_LOCK;

/*
 * The connection manager has one kind of rejection.  This version word before the private data
 * shows that the consumer called dat_cr_reject(): neither the provider nor the transport rejected.
 */
#define DAPL_CR_REJECT_VERSION 0x02000200u
#define DAPL_CR_REJECT_MAJOR_SHIFT 24
#define DAPL_CR_REJECT_PADDED 148     /* the length of every rejection on InfiniBand and RoCE */
#define DAPL_CR_REJECT_BY_CONSUMER 28 /* the reason on InfiniBand and RoCE */

/*
 * Takes the connection out of the CR, so that only this caller can answer the request; until it is
 * back other callers get NULL.  The caller must then call dapl_cr_free_detached(), which frees the
 * CR, or dapl_cr_attach_conn(), which puts the connection back.
 */
struct dapl_cr *dapl_cr_detach_conn(
    DAT_CR_HANDLE handle, struct dapl_conn **conn) DAPL_NO_OBJECT_LOCK;
void dapl_cr_attach_conn(struct dapl_cr *cr, struct dapl_conn *conn) DAPL_NO_LOCK;
void dapl_cr_free_detached(struct dapl_cr *cr) DAPL_NO_LOCK;

/*
 * A new CR for the same request, whose connection was detached from `from`.  On success the new CR
 * has the connection, and may be freed at once, because its adapter may be closing.  0 or -errno.
 */
int dapl_cr_move(struct dapl_cr *from, struct dapl_conn *conn, DAT_EP_HANDLE own,
    DAT_CR_HANDLE *handle) DAPL_NO_LOCK;

struct dapl_sp;
/*
 * Queues the event of a new request at the EVD of a service point, if it still listens with that
 * listener.  Otherwise, or if the EVD is full, refuses the request and returns false.
 */
bool dapl_cr_post_event(struct dapl_ia *ia, struct dapl_sp *sp, const struct dapl_conn *listener,
    uint32_t generation, DAT_CR_HANDLE handle, bool datagram) DAPL_NO_LOCK;

/*
 * The requester withdrew the request before it was answered.  False: the conn has another owner by
 * now.
 */
bool dapl_cr_withdrawn(
    struct dapl_cr *cr, const struct dapl_conn *conn, uint32_t generation) DAPL_NO_OBJECT_LOCK;

#endif
