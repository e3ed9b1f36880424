/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stall -- why a send queue waits, and for how long
 *
 * The send lock is held.  The timer of the queue tries again, or gives up.
 */
#ifndef SOFT_STALL_H
#define SOFT_STALL_H

#include "qp.h"

/* What a code of the RNR NAK timer stands for, in nanoseconds. */
uint64_t soft_rnr_time(uint8_t code);

/* The peer has no receive posted; `rnr_timer` is its timer code, with SOFT_RNR_MADE. */
void soft_sq_stall_for_receive(struct soft_qp *qp, uint8_t rnr_timer) REQUIRES(soft_locks.send);
/* Whether it has stalled on that for so long that the user should know; true once a connection. */
bool soft_sq_is_to_be_told(struct soft_qp *qp) REQUIRES(soft_locks.send);
/*
 * Whether the queue has to wait on although a receive was posted: the timer of the NAK is kept, and
 * runs.
 */
bool soft_sq_keeps_stall(const struct soft_qp *qp) REQUIRES(soft_locks.send);
void soft_sq_stall_for_peer(struct soft_qp *qp) REQUIRES(soft_locks.send);

/* No link to the peer can be opened now. */
void soft_sq_stall_for_link(struct soft_qp *qp) REQUIRES(soft_locks.send);

#endif
