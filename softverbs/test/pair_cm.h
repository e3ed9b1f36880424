/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair_cm -- connections whose peer has disconnected, for the programs in wrong/ and right/
 */
#ifndef PAIR_CM_H
#define PAIR_CM_H

#include "pair.h"

#include <rdma/rdma_cma.h>

/* The process listens, or listens no longer. */
void listen_begin(void);
void listen_end(void);

/*
 * A connection to this process, whose peer accepts it and disconnects; one receive is posted.  Its
 * queue pair completes to the queue `cq` of `channel`, which the first one makes.  The event
 * DISCONNECTED is there, and read if `read` is set.
 */
struct rdma_cm_id *ended_open(bool read);

/* Disconnects: the receive is flushed. */
void ended_close(struct rdma_cm_id *id);

#endif
