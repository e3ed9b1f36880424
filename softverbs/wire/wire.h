/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire -- the format of frames between two processes; see WIRE.md
 */
#ifndef SOFT_WIRE_H
#define SOFT_WIRE_H

#include "softverbs/device/soft.h"

#define SOFT_WIRE_MAGIC 0x54464f53u /* "SOFT" */
#define SOFT_WIRE_VERSION 5
#define SOFT_WIRE_PAYLOAD 65536u
#define SOFT_WIRE_CM_DATA 196 /* private data of a CM message, the longest */

enum soft_frame_type {
	SOFT_FRAME_HELLO = 1, /* payload: struct soft_wire_hello */
	SOFT_FRAME_REQUEST,   /* a part of a send or write, or a whole read or atomic */
	SOFT_FRAME_RESPONSE,  /* a part of what was read, or the old value of an atomic */
	SOFT_FRAME_ACK,	      /* everything through `psn` is done */
	SOFT_FRAME_NAK,	      /* `psn` and everything after it were not done */
	SOFT_FRAME_READY,     /* the reason of a NAK "not now" is over */
	SOFT_FRAME_CM,	      /* payload: struct soft_wire_cm */
	SOFT_FRAME_DATAGRAM,  /* a whole datagram; it has no answer */
	/*
	 * Answers a HELLO that came with memory; payload: struct soft_wire_grant.  On the socket.
	 */
	SOFT_FRAME_WELCOME,
	/* from the requester, which was given the address of the data of a read */
	SOFT_FRAME_PULLED,
};

#define SOFT_FRAME_FIRST 1u
#define SOFT_FRAME_LAST 2u
#define SOFT_FRAME_SOLICITED 4u
#define SOFT_FRAME_GLOBAL 8u /* DATAGRAM: with a routing header */
/*
 * REQUEST, RESPONSE: the payload is segments, where the data is.  A request to read may have such
 * an answer.
 */
#define SOFT_FRAME_PULL 16u

/* Values of `opcode` in a WELCOME. */
#define SOFT_WELCOME_RINGS 1u /* frames go through the memory */
#define SOFT_WELCOME_PULLS 2u /* and can have SOFT_FRAME_PULL */

/* Values of `opcode` in a PULLED. */
#define SOFT_PULLED 0
#define SOFT_NOT_PULLED 1

/* Values of `opcode` in a NAK besides work completion statuses. */
#define SOFT_NAK_NOT_PULLED 0xfd
#define SOFT_NAK_NOT_READY 0xfe
#define SOFT_NAK_NOT_CONNECTED 0xff

/* With the timer code: an incident has made that the responder has no receive. */
#define SOFT_RNR_MADE 0x20u

struct soft_frame {
	uint32_t length; /* of the payload that follows */
	uint8_t type;
	uint8_t opcode; /* REQUEST, DATAGRAM: enum ibv_wr_opcode; NAK: a status or SOFT_NAK_* */
	uint8_t flags;
	uint8_t rnr_timer; /* NAK, not ready; with SOFT_RNR_MADE */
	uint32_t qpn;	   /* of the queue pair addressed */
	uint32_t from;	   /* of the one that sends */
	uint32_t psn;
	uint32_t total;	   /* length of the message or read */
	uint32_t imm_data; /* or the key to invalidate */
	uint32_t rkey;	   /* DATAGRAM: the key of the queue pair */
	uint64_t address;
	uint64_t compare_add; /* with SOFT_FRAME_PULL: the number of the grant */
	/*
	 * DATAGRAM: the service level, 65536 times; with a routing header also the index of the GID
	 * of its source, and that of its target, 256 times
	 */
	uint64_t swap;
	/* of the requester, which increments it before it sends old requests again */
	uint32_t epoch;
	/*
	 * REQUEST, DATAGRAM: the number of the port addressed, 0 in the plain topology; DATAGRAM:
	 * and of the one that it was sent from (device/topology.h).
	 */
	uint16_t port, from_port;
};

/*
 * Where the grant of the process has its number, and this number; 0: its memory is not to be read.
 */
struct soft_wire_grant {
	uint64_t address;
	uint64_t number;
};

struct soft_wire_hello {
	uint32_t magic;
	uint32_t version;
	uint32_t slot;
	uint32_t rings;	 /* 1: memory is offered; 0 */
	uint32_t memory; /* the descriptor of the memory in the process that opens the link */
	uint32_t zero;
	uint64_t token; /* also in the memory */
	struct soft_wire_grant grant;
};

/* A part of the data, in the memory of the process that sends the frame. */
struct soft_wire_segment {
	uint64_t address;
	uint64_t length;
};

struct soft_wire_address {
	uint16_t family; /* 4 or 6 */
	uint16_t port;	 /* host order */
	uint32_t scope;
	uint8_t bytes[16];
};

struct soft_wire_cm {
	uint32_t type, from, to, reason;
	uint32_t port_space, port;
	struct soft_wire_address source, target;
	uint32_t qpn, psn;
	uint8_t responder_resources, initiator_depth, retry_count, rnr_retry_count;
	uint8_t flow_control, srq, data_length, zero;
	uint8_t data[SOFT_WIRE_CM_DATA];
};

_Static_assert(sizeof(struct soft_frame) == 64, "a frame header has no holes");
_Static_assert(sizeof(struct soft_wire_hello) == 48, "a hello has no holes");
_Static_assert(sizeof(struct soft_wire_cm) == 24 + 2 * 24 + 8 + 8 + SOFT_WIRE_CM_DATA,
    "a CM message has no holes");

/*
 * Copies memory of the program for another process, which orders the copy with the accesses of the
 * program: ThreadSanitizer does not see that.
 */
void soft_wire_copy(char *to, const char *from, size_t length);

/* Checks what does not depend on any state: type, lengths, flags. */
bool soft_frame_valid(const struct soft_frame *frame);

#endif
