/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cr -- connection request: an incoming CM id until it is accepted or rejected
 */
#ifndef REARM_DAPL_CR_H
#define REARM_DAPL_CR_H

#include "dapl/ep/conn.h"
#include "dapl/ep/ep.h"

struct dapl_cr {
	struct dapl_object obj;
	DAT_CR_HANDLE self;
	struct dapl_conn *conn; /* NULL: being answered; guarded by the object's lock */
	bool gone;		/* the requester gave up; likewise */
	DAT_EP_HANDLE own;	/* the endpoint that came with it, if any; constant while open */
	struct sockaddr_storage remote;
	uint8_t responder, initiator; /* RDMA reads the requester offers and wants */
	DAT_COUNT size;
	uint8_t data[DAPL_EP_ANSWER_MAX]; /* the consumer may read and write it until it answers */
};

/* A copy of the CM event of a request. */
struct dapl_cr_request {
	struct rdma_cm_id *id;
	DAT_EP_HANDLE own;
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

/*
 * Takes the connection out of the CR, so that only this caller can answer the request; until it is
 * back other callers get NULL.  The caller must then call dapl_cr_free_detached(), which frees the
 * CR, or dapl_cr_attach_conn(), which puts the connection back.
 */
struct dapl_cr *dapl_cr_detach_conn(
    DAT_CR_HANDLE handle, struct dapl_conn **conn) DAPL_NO_OBJECT_LOCK;
void dapl_cr_attach_conn(struct dapl_cr *cr, struct dapl_conn *conn) DAPL_NO_LOCK;
void dapl_cr_free_detached(struct dapl_cr *cr) DAPL_NO_LOCK;

/* The requester withdrew the request before it was answered. */
void dapl_cr_withdrawn(
    struct dapl_cr *cr, const struct dapl_conn *conn, uint32_t generation) DAPL_NO_OBJECT_LOCK;

#endif
