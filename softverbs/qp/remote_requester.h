/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote_requester -- sends the requests of a send queue to another process
 *
 * It sends requests in order, as many as the link takes, and keeps them until they are answered;
 * the responder executes them in order.  Frames are not lost, so no frame is sent twice for lack of
 * an answer.  A responder that cannot execute a request answers with a NAK and ignores what was
 * sent after it.  The requester then goes back to that request and starts a new epoch; both sides
 * tell old frames from new ones by the epoch.
 */
#ifndef SOFT_REMOTE_REQUESTER_H
#define SOFT_REMOTE_REQUESTER_H

#include "qp.h"

/* Sends what can be sent; the send lock is held. */
void soft_remote_requester_run(struct soft_qp *qp) REQUIRES(soft_locks.send) SOFT_NO_RECEIVE_LOCK;

/* The link has room again. */
void soft_remote_requester_continue(struct soft_qp *qp) SOFT_NO_SEND_LOCK;

/* The link is closed; `gone`: its process has ended. */
void soft_remote_requester_link_lost(struct soft_qp *qp, bool gone) SOFT_NO_SEND_LOCK;

/*
 * Called on the progress thread: handles an answer.  False if it belongs to no request that was
 * sent.
 */
bool soft_remote_requester_response(
    struct soft_link *link, const struct soft_frame *frame, const char *payload) SOFT_NO_SEND_LOCK;

#endif
