/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire_story -- helpers of the tests of the protocol: a peer that writes its frames by hand
 *
 * The peer is this process, too, with a slot of its own; see line.h.
 */
#ifndef SOFT_WIRE_STORY_H
#define SOFT_WIRE_STORY_H

#include "softverbs/wire/wire.h"
#include "story.h"

#define WIRE_BIG (8u << 20) /* more than a socket takes */

extern struct side wire_side;	/* connected to the peer */
extern struct ibv_mr *wire_big; /* WIRE_BIG bytes of the side */
extern int wire_line;		/* from the peer to the side */
extern uint32_t wire_peer;	/* the number of the peer's queue pair */
extern int wire_door;		/* where the peer's slot is listened on */

/*
 * The number of the first message of either side, for wire_begin().  The tests count messages from
 * 0.  They run with 0 and with the last number before the wrap.
 */
extern uint32_t wire_first;
uint32_t wire_psn(uint32_t message);

/* The fixture: a side that lets the peer have `reads` reads and atomics at a time. */
void wire_begin(uint8_t reads);
void wire_end(void);

/* A whole message of the peer. */
struct soft_frame wire_request(enum ibv_wr_opcode opcode, uint32_t psn, uint32_t total);

void wire_say(const struct soft_frame *frame, const void *payload);

/* The next answer, with what it brings; false if the line is hung up. */
bool wire_hear(struct soft_frame *answer, char *payload);

void wire_expect_read(uint32_t psn, uint32_t total, const char *bytes);
void wire_expect_nak(uint32_t psn, uint8_t reason);
void wire_expect_ack(uint32_t psn);

/* The side has closed the link, and its queue pair is in the error state. */
void wire_expect_hung_up(void);

#endif
