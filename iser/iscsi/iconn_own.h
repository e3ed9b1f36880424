/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session of the initiator -- what its files share: iconn.c is the connection, ilogin.c the login,
 * iprobe.c the questions about the LUN, ijob.c the blocks of a job, icommand.c the commands of both
 *
 * All of it belongs to the thread of the mover, but for what is marked [any].
 */
#ifndef ISER_ISCSI_ICONN_OWN_H
#define ISER_ISCSI_ICONN_OWN_H

#include "iser/datamover/bell.h"
#include "iser/datamover/mover.h"
#include "iser/iscsi/iconn.h"
#include "iser/iscsi/initiator.h"
#include "iser/iscsi/pdu.h"

enum question {
	TEST_UNIT_READY,
	CAPACITY,
	LIMITS,
	QUESTIONS,
};

struct islot {
	uint32_t itt, bytes;  /* of the file */
	uint32_t given_up;    /* the tag of a command that was sent again without an answer */
	uint32_t expected;    /* bytes that the command moves */
	uint64_t at, sent_at; /* in the file; when */
	unsigned int tries;
	bool waits; /* to be sent again */
};

struct iconn {
	struct mover mover; /* first: the upcall gets its address */
	struct initiator *initiator;
	atomic_int state;
	struct mover_order orders[ICONN_ORDERS];
	struct region data;  /* a block of each slot */
	struct islot *slots; /* of --depth, and one to look */
	unsigned int *free_slots, free_count;
	uint32_t cmdsn, maxcmdsn, expstatsn, serial;
	enum question question;
	unsigned int tries, waiting; /* slots that wait */
	atomic_bool is_refused;	     /* [any] the last answer was BUSY or the like */
	atomic_ullong again_at; /* [any] bell_now() time of the next order to send them; 0: none */
	atomic_bool posted[ICONN_ORDERS]; /* [any] of AGAIN and LOOK */
	uint64_t look_at; /* of the main thread: when it looks for commands without an answer */
	bool answered;	  /* since it has looked */
	bool flushing;
	struct histogram latency;
};

void iconn_set_state(struct iconn *conn, enum iconn_state state);
/* The session ends, and the job with it. */
void iconn_fail(struct iconn *conn, const char *what);
/*
 * The header of a request, in the buffer of the send `*slot`.  NULL: no send is left, and the
 * session has failed.
 */
unsigned char *iconn_request(
    struct iconn *conn, unsigned char opcode, uint32_t itt, size_t bytes, unsigned int *slot);
/* Whether the target's window takes a command. */
_Bool iconn_has_window(struct iconn *conn);
/* The memory of a slot. */
unsigned char *iconn_buffer(struct iconn *conn, unsigned int number);

#endif
