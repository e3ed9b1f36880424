/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * responder -- what a queue pair does with the requests of its peer
 *
 * A send or write is begun, fed with data and ended: at once by a requester of this process, frame
 * by frame by one in another.  The receive lock is held throughout each step.
 */
#ifndef SOFT_RESPONDER_H
#define SOFT_RESPONDER_H

#include "qp_error.h"

enum soft_verdict {
	SOFT_ANSWERED,	    /* done, or refused with a status */
	SOFT_NOT_READY,	    /* no receive is posted */
	SOFT_NOT_CONNECTED, /* the queue pair does not answer */
};

/* Whether the queue pair answers requests of the number `from` that were sent to this port. */
bool soft_responder_answers(struct soft_qp *qp, uint32_t from, unsigned int port)
    REQUIRES(soft_locks.receive) SOFT_NO_SRQ_LOCK;

/* What a NAK says, if no receive is posted: the timer code, with SOFT_RNR_MADE. */
uint8_t soft_responder_rnr_timer(const struct soft_qp *qp) REQUIRES(soft_locks.receive);

/* A send or write in steps; a status other than success ends it. */
enum soft_verdict soft_message_begin(struct soft_qp *qp, const struct soft_send *send,
    enum ibv_wc_status *status, struct soft_deferred *deferred)
    REQUIRES(soft_locks.receive) SOFT_NO_SRQ_LOCK;
enum ibv_wc_status soft_message_data(struct soft_qp *qp, struct soft_cursor *source,
    uint32_t length, struct soft_deferred *deferred) REQUIRES(soft_locks.receive) SOFT_NO_SRQ_LOCK;
void soft_message_end(struct soft_qp *qp, struct soft_deferred *deferred)
    REQUIRES(soft_locks.receive) SOFT_NO_SRQ_LOCK;

/* Whether the request may access the memory that it names. */
enum ibv_wc_status soft_responder_permit(struct soft_qp *qp, const struct soft_send *send,
    unsigned int access, struct soft_deferred *deferred)
    REQUIRES(soft_locks.receive) SOFT_NO_SRQ_LOCK;
enum ibv_wc_status soft_responder_atomic(struct soft_qp *qp, const struct soft_send *send,
    uint64_t *old, struct soft_deferred *deferred) REQUIRES(soft_locks.receive) SOFT_NO_SRQ_LOCK;

/*
 * The queue pair stops answering now, and enters the error state later, with the event.  Returns
 * the status, for the requester.
 */
enum ibv_wc_status soft_responder_refuse(struct soft_qp *qp, int event, enum ibv_wc_status status,
    struct soft_deferred *deferred) REQUIRES(soft_locks.receive) SOFT_NO_SRQ_LOCK;

#endif
