/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * enemy -- an initiator that breaks a rule, or does what is seldom done: a connection on a mover
 */
#ifndef REARM_ISER_ENEMY_H
#define REARM_ISER_ENEMY_H

#include "iser/datamover/adapter.h"
#include "iser/datamover/mover.h"

#define ENEMY_TARGET "iqn.2026-11.test:target"
#define ENEMY_PORT 3971
#define ENEMY_BYTES 8192 /* of data in a PDU */
#define ENEMY_PIECE 512	 /* a tame one writes four of them: a, b, c and d */

/* What an enemy does behind its login. */
enum enemy_kind {
	NO_LOGIN,  /* sends random PDUs, and no login */
	RANDOM,	   /* random PDUs */
	IMMEDIATE, /* a write with immediate data, and no login */
	TAME,	   /* what a good initiator may do, and libiscsi does not; then it logs out */
	PATIENT,   /* waits for an order, and is tame then */
	BAD_READ,  /* a command with an STag that is none */
	BAD_WRITE,
	BUSY, /* reads without an end */
	DEAF, /* reads as much as it may, and posts no receive for the answers */
	HALF, /* begins a write, and sends no data */
	/* writes, has one or all aborted, and logs out before any of it is answered */
	HASTY_ABORT,
	HASTY_ABORT_SET,
	HASTY_RESET,
};

#define ENEMY_ENOUGH 1 /* the order to end its connection */

struct enemy {
	struct mover mover; /* first: the upcall gets its address */
	unsigned int sent;
	enum enemy_kind kind;
	unsigned int step; /* of a tame one */
	int wrong;	   /* the first step with another answer; 0: none */
	unsigned int done; /* commands of a hasty one that are answered, or aborted */
	int logout;	   /* what its logout is answered; -1: nothing */
	/* a tame one has come to its end, a hasty one has all answers; another has logged in */
	atomic_bool answered;
	atomic_uint pings; /* that a patient one has not answered */
	uint32_t cmdsn;
	struct region data;
};

/*
 * Connects; the rest is done in upcalls.  `index` becomes a part of its ISID: a session does not
 * take the place of another.
 */
void enemy_open(
    struct enemy *enemy, struct adapter *adapter, unsigned int index, enum enemy_kind kind);

/* When its connection is finished. */
void enemy_free(struct enemy *enemy);

#endif
