/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote -- requests and answers between queue pairs of two processes
 *
 * The requester sends requests in order, as many as the link takes, and keeps them until
 * they are answered; the responder executes them in order.  Frames are not lost, so there
 * is no timeout for an answer: a responder that cannot execute a request says so with a
 * NAK and is deaf to what was sent behind it.  The requester then goes back and starts a
 * new epoch, by which both tell old frames from new.
 */
#ifndef SOFT_REMOTE_H
#define SOFT_REMOTE_H

#include "qp.h"

struct soft_frame;
struct soft_link;

/* request.c: the requester; the send lock is held except in the last three */
void soft_remote_run(struct soft_qp *qp);
void soft_remote_go_back(struct soft_qp *qp); /* nothing is outstanding any more */
void soft_remote_continue(struct soft_qp *qp);
void soft_remote_link_lost(struct soft_qp *qp, bool gone); /* and the process is gone */

/* On the progress thread: an answer.  False if it cannot be one to anything we sent. */
bool soft_remote_response(struct soft_link *link, const struct soft_frame *frame,
    const char *payload);

/* answer.c: the responder; the receive lock is held in the first three */

/* Before soft_remote_connect(), with the number of the peer: 0 or -ENOMEM. */
int soft_remote_prepare(struct soft_qp *qp, uint32_t qpn);
void soft_remote_connect(struct soft_qp *qp);
void soft_remote_reset(struct soft_qp *qp);
void soft_remote_ready(struct soft_qp *qp);
void soft_remote_answer(struct soft_qp *qp, struct soft_link *link);
void soft_remote_requester_lost(struct soft_qp *qp);

/* On the progress thread: a request.  False if it is malformed. */
bool soft_remote_request(struct soft_link *link, const struct soft_frame *frame,
    const char *payload);

#endif
