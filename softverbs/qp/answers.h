/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answers -- what a queue pair owes a requester in another process
 *
 * Answers are sent in the order of the requests: the data of reads, then one acknowledgement of
 * what came after them, then a NAK.
 *
 * A requester that said that it can pull (softverbs/wire/pull.h) gets addresses instead of the data
 * of a large read.  The read is then *offered*: it is kept, with those that are sent after it,
 * until the requester has confirmed it.  If the requester could not pull it, all reads from this
 * one on are answered again with their data, and then what follows them; the requester ignores what
 * was sent in between.
 *
 * The receive lock is held in all of these.
 */
#ifndef SOFT_ANSWERS_H
#define SOFT_ANSWERS_H

#include "qp_error.h"

/* Whether there is something to send. */
bool soft_answers_are_owed(const struct soft_qp *qp) REQUIRES(soft_locks.receive);

/* This message and all after it were not done; those of this epoch are ignored from now on. */
void soft_answers_refuse(struct soft_qp *qp, uint32_t psn, uint8_t opcode)
    REQUIRES(soft_locks.receive);

/* Whether another read or atomic is within the limit.  The second adds it, executed. */
bool soft_answers_take_read(const struct soft_qp *qp) REQUIRES(soft_locks.receive);
void soft_answers_add_read(struct soft_qp *qp, const struct soft_pending_read *read)
    REQUIRES(soft_locks.receive);

/* The last message that was executed is `psn`; its answer has data if it is a `read`. */
void soft_answers_done(struct soft_qp *qp, uint32_t psn, bool read) REQUIRES(soft_locks.receive);

/*
 * A consumer that sees the completion of a receive may disconnect at once, or exit.  The
 * acknowledgement is therefore sent before the completion is visible, as adapters do.  If the link
 * does not take it, or the data of a read must go first, it is sent with the other answers.
 */
void soft_answers_send_ack(struct soft_qp *qp, struct soft_link *link)
    REQUIRES(soft_locks.receive) SOFT_NO_SRQ_LOCK;

/* Sends what the link takes: 0, or as soft_link_send(). */
int soft_answers_send(struct soft_qp *qp, struct soft_link *link, struct soft_deferred *deferred)
    REQUIRES(soft_locks.receive) SOFT_NO_SRQ_LOCK;

/*
 * The requester has pulled all offered reads through `psn`, or could not pull that of `psn`.  False
 * if it was not offered that one.
 */
bool soft_answers_pulled(struct soft_qp *qp, uint32_t psn, bool pulled)
    REQUIRES(soft_locks.receive);

/* The requester has begun a new epoch: it waits for no read that was sent. */
void soft_answers_begin_epoch(struct soft_qp *qp) REQUIRES(soft_locks.receive);

/* The requester can pull nothing any more that was offered. */
void soft_answers_revoke(struct soft_qp *qp) REQUIRES(soft_locks.receive);

/* The program ends the connection: memory is not read for the requester any more. */
void soft_answers_end_reads(struct soft_qp *qp) REQUIRES(soft_locks.receive);

/* Drops everything; the second refuses reads that were not sent. */
void soft_answers_drop(struct soft_qp *qp) REQUIRES(soft_locks.receive);
void soft_answers_refuse_reads(struct soft_qp *qp, uint8_t opcode) REQUIRES(soft_locks.receive);

#endif
