/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * liar -- rearm-iser-target, whose answers are changed on their way
 *
 * Between the sessions of the target and its movers, by --wrap.
 */
#ifndef REARM_ISER_LIAR_H
#define REARM_ISER_LIAR_H

#include <stdbool.h>
#include <stdint.h>

/* What becomes of the answers to some of the commands that move data or flush. */
struct lie {
	unsigned char opcode;	   /* of the CDB; 0: READ(16) and WRITE(16) */
	unsigned int first, count; /* 1: of the first one; how many in turn */
	unsigned char response, status, flags;
	uint32_t residual, residual_in;
	uint32_t sense; /* as enum scsi_sense; 0: none */
	bool is_silent; /* no answer */
	/* So many in turn have none, and the first later command has the lie. */
	unsigned int aborts;
	int async; /* before the answer, which is right, an asynchronous event of this number + 1 */
	bool places_nothing; /* the data of the read stay where they are */
};

/* NULL: none.  From the next command on. */
void liar_tell(const struct lie *lie);

/* How many answers were changed. */
unsigned int liar_told(void);

#endif
