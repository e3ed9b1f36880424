/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datagram -- what queue pairs of the unreliable datagram service send and receive
 *
 * A request is complete when its datagram was handed over, whether it arrives or not.  A datagram
 * is lost if its target does not exist, cannot receive, or has another key; if no receive is
 * posted, or the next one is too small; and if its process has not read for long.  While the link
 * to its process is full, it waits, and so do the requests behind it.
 */
#ifndef SOFT_DATAGRAM_H
#define SOFT_DATAGRAM_H

#include "qp_error.h"

static inline bool
soft_qp_is_datagram(const struct soft_qp *qp)
{
	return qp->ibv.qp_type == IBV_QPT_UD;
}

/*
 * For a new request: checks what makes it a datagram and copies it.  0 or -EINVAL, -EMSGSIZE.
 */
int soft_datagram_set(struct soft_qp *qp, struct soft_send *send, const struct ibv_send_wr *wr)
    REQUIRES(soft_locks.send);

/* Executes the requests of the send queue. */
void soft_datagram_run(struct soft_qp *qp, struct soft_deferred *deferred)
    REQUIRES(soft_locks.send) SOFT_NO_RECEIVE_LOCK;

/* Called on the progress thread: a datagram of another process.  False if it is malformed. */
bool soft_datagram_arrived(
    struct soft_link *link, const struct soft_frame *frame, const char *payload) SOFT_NO_SEND_LOCK;

#endif
