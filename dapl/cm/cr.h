/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cr -- connection request: an incoming CM id until it is accepted or rejected
 */
#ifndef REARM_DAPL_CR_H
#define REARM_DAPL_CR_H

#include "dapl/ep/conn.h"
#include "dapl/ep/ep.h"

struct cr {
	struct object obj;
	DAT_CR_HANDLE self;
	struct conn *conn; /* NULL: being answered; guarded by the object's lock */
	bool gone;	   /* the requester gave up; likewise */
	DAT_EP_HANDLE own; /* the endpoint that came with it, if any; constant while open */
	struct sockaddr_storage remote;
	uint8_t responder, initiator; /* RDMA reads the requester offers and wants */
	DAT_COUNT size;
	uint8_t data[EP_ANSWER_MAX]; /* the consumer's to read and write until it answers */
};

/* What is kept of a CM's request event. */
struct cr_request {
	struct rdma_cm_id *id;
	DAT_EP_HANDLE own;
	uint8_t responder, initiator;
	uint8_t size;
	const void *data;
};

/*
 * A request arrived at the service point that `listener` (in its life `generation`) belongs to:
 * becomes a CR and an event, or is refused.
 */
void cr_arrived(
    struct ia *ia, struct conn *listener, uint32_t generation, const struct cr_request *request);

/* The wire has one kind of refusal; this word ahead of the data says that a consumer spoke. */
#define CR_REJECT_VERSION 0x02000200u
#define CR_REJECT_MAJOR_SHIFT 24

/* Refuses a request that the consumer has not answered.  0, or -ENODEV for a bad handle, or one that another
 * thread answers. */
int cr_destroy(DAT_HANDLE handle);

/*
 * Takes the CM id out, and so decides the request: a second caller finds none and gets NULL.  It ends with
 * cr_dispose() or cr_put_back().
 */
struct cr *cr_take(DAT_CR_HANDLE handle, struct conn **conn);
void cr_put_back(struct cr *cr, struct conn *conn);
void cr_dispose(struct cr *cr);

/* The requester went away before an answer. */
void cr_gone(struct cr *cr, const struct conn *conn, uint32_t generation);

#endif
