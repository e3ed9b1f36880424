/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datagram_story -- helpers of the tests of datagrams: queue pairs and address handles
 */
#ifndef SOFT_DATAGRAM_STORY_H
#define SOFT_DATAGRAM_STORY_H

#include "story.h"

#define DATAGRAM_GRH 40 /* bytes in front of what is received */
#define DATAGRAM_KEY 0x11u
#define DATAGRAM_MTU 4096

void datagram_to_state(struct ibv_qp *qp, enum ibv_qp_state state, int mask);

/* From RESET. */
void datagram_to_rts(struct ibv_qp *qp);

/* A queue pair in the state RESET. */
struct ibv_qp *datagram_qp(struct side *side);

/* Gives the side a queue pair for datagrams, which is ready, instead of the one it has. */
void datagram_side(struct side *side);

/* An address handle of the port. */
struct ibv_ah *datagram_ah(struct side *side);

#endif
