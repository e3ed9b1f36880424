/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * response -- what a SCSI response says beside its status: what was not moved, why nothing was done
 *
 * RFC 7143 11.4.5: a command that ends GOOD may have moved less than the initiator expected
 * (underflow), or would have moved more (overflow).
 */
#ifndef ISER_ISCSI_RESPONSE_H
#define ISER_ISCSI_RESPONSE_H

#include "iser/scsi/task.h"

#include <stdint.h>

enum response_verdict {
	RESPONSE_DONE,	    /* GOOD: `moved` bytes were moved */
	RESPONSE_BUSY,	    /* nothing was done: again, a little later */
	RESPONSE_ATTENTION, /* nothing was done, and nothing has changed: again */
	RESPONSE_RESET,	    /* nothing was done, and what was written before may be lost */
	RESPONSE_CHANGED,   /* nothing was done, and the LUN may be another one by now */
	RESPONSE_FAILED,
};

struct response {
	enum response_verdict verdict;
	/* Commands that came before this one may have been aborted, without an answer. */
	_Bool aborts;
	uint32_t moved;
	char text[160]; /* what the target says */
};

/* Of the PDU, which is there as a whole: it answers a command of `expected` bytes, one way. */
void response_take(struct response *response, const unsigned char *pdu, uint32_t expected);

/* Of a command with these flags, which expected so many bytes, of writes if it has both flags. */
void response_put_residual(
    unsigned char *bhs, const struct scsi_task *scsi, unsigned char flags, uint32_t expected);

#endif
