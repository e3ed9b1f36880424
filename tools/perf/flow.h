/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flow -- the messages of the endpoints: what an end sends when, and what it checks when one has
 * come
 *
 * The client sends messages.  The server answers each (ping), or confirms them, a half of the
 * window at a time (stream); so a receive is always posted when a message comes.  With RDMA writes
 * a message is written into a buffer of the other side, and a short notice that is sent after it
 * says how many were written.  With RDMA reads the client reads from the server, which does
 * nothing.
 */
#ifndef PERF_FLOW_H
#define PERF_FLOW_H

#include "end.h"

/* Fills the buffers from which the peer reads. */
void flow_prepare(struct end *end);

/* Sends the first messages. */
void flow_start(struct end *end);

/* Handles a completion: of a receive, or of a read.  Engines call it. */
void flow_event(struct end *end, const struct completion *completion);

/*
 * With a rate: sends what is due.  Returns when the next message is; 0 if one is that has to wait
 * for an answer, and UINT64_MAX if all were sent.
 */
uint64_t flow_pace(struct end *end);

#endif
