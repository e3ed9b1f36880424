/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote_responder -- executes the requests that come from another process, and answers them
 *
 * remote_requester.h describes the exchange.
 */
#ifndef SOFT_REMOTE_RESPONDER_H
#define SOFT_REMOTE_RESPONDER_H

#include "qp.h"

/* Before connect(), with the number of the peer: 0 or -ENOMEM.  The receive lock is held. */
int soft_remote_responder_prepare(struct soft_qp *qp, uint32_t qpn)
    REQUIRES(soft_locks.receive) SOFT_NO_SRQ_LOCK;
void soft_remote_responder_connect(struct soft_qp *qp)
    REQUIRES(soft_locks.send, soft_locks.receive) SOFT_NO_SRQ_LOCK;
void soft_remote_responder_reset(struct soft_qp *qp)
    REQUIRES(soft_locks.send, soft_locks.receive) SOFT_NO_SRQ_LOCK;

/* A receive was posted, or the queue pair is connected: sends READY if it is due. */
void soft_remote_responder_ready(struct soft_qp *qp) SOFT_NO_RECEIVE_LOCK;

/* Answers arrive again: those that are owed are sent. */
void soft_remote_responder_heal(struct soft_qp *qp) SOFT_NO_RECEIVE_LOCK;

/* On the progress thread: sends the answers that the link takes. */
void soft_remote_responder_answer(struct soft_qp *qp, struct soft_link *link) SOFT_NO_SEND_LOCK;
void soft_remote_responder_link_lost(struct soft_qp *qp) SOFT_NO_RECEIVE_LOCK;

/* Called by the thread that reads: handles a request.  False if it is malformed. */
bool soft_remote_responder_request(
    struct soft_link *link, const struct soft_frame *frame, const char *payload) SOFT_NO_SEND_LOCK;

/* The same: the requester has pulled a read, or could not. */
bool soft_remote_responder_pulled(
    struct soft_link *link, const struct soft_frame *frame) SOFT_NO_SEND_LOCK;

#endif
